"The stump oracle against brute force that shares none of its code."
import itertools
import pickle
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from boostlit import AdaBoostClassifier, DecisionStumpClassifier, GentleBoostClassifier, StumpOracle
from boostlit.core import stumps
from boostlit import AdaBoost, Gentle, boost
from boostlit.core.stumps import (
    Joint, LearnerOracle, code_values, column_sums, fixed_scale, join_columns, stump_outputs,
    to_fixed,
)


@st.composite
def problems(draw):
    n, d = draw(st.integers(1, 10)), draw(st.integers(1, 3))
    cell = st.one_of(
        st.integers(-2, 2).map(float), st.just(np.nan), st.sampled_from([1e300, -1e300, 0.1])
    )
    X = np.array(draw(st.lists(st.lists(cell, min_size=d, max_size=d), min_size=n, max_size=n)))
    y = np.array(draw(st.lists(st.sampled_from([-1., 1.]), min_size=n, max_size=n)))
    w = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), dtype=float)
    return (
        X,
        y,
        (w if w.sum() else w + 1) / (w.sum() or n),
        draw(st.lists(st.sampled_from(["numeric", "nominal"]), min_size=d, max_size=d)),
    )


def least_error(X, y, w, kinds):
    "Every feature, every cut, every one of the eight sign patterns, by the definition."
    best = 1.
    for j, kind in enumerate(kinds):
        x = X[:, j]
        for t in np.unique(x[~np.isnan(x)]):
            with np.errstate(invalid="ignore"): left = x == t if kind == "nominal" else x <= t
            for l, r, m in itertools.product((-1, 1), repeat=3):
                best = min(best, w[np.where(np.isnan(x), m, np.where(left, l, r)) != y].sum())
    return best


@settings(max_examples=1500, deadline=None)
@given(problems())
def test_error_stump_is_the_exact_minimiser(problem):
    X, y, w, kinds = problem
    stump, edge = StumpOracle(X, kinds, None).best(y, w)
    h = stump_outputs(stump, X)[0]
    assert w[h != y].sum() == pytest.approx((1 - edge)/2, abs=1e-9)
    if not np.isnan(X).all():
        assert (1 - edge) / 2 == pytest.approx(least_error(X, y, w, kinds), abs=1e-9)


@settings(max_examples=300, deadline=None)
@given(problems(), st.sampled_from(["error", "entropy", "least_squares"]))
def test_binning_loses_nothing_when_values_are_few(problem, criterion):
    X, y, w, kinds = problem
    a, b = (
        StumpOracle(X, kinds, None, criterion).best(y, w),
        StumpOracle(X, kinds, 256, criterion).best(y, w),
    )
    assert a[0] == b[0] and a[1] == b[1]


@settings(max_examples=200, deadline=None)
@given(problems())
def test_least_squares_stump_beats_every_other_split(problem):
    X, y, w, kinds = problem
    h = stump_outputs(StumpOracle(X, kinds, None, "least_squares").best(y, w)[0], X)[0]
    loss = (w*(y - h)**2).sum()
    for j, kind in enumerate(kinds):
        x = X[:, j]
        for t in np.unique(x[~np.isnan(x)]):
            with np.errstate(invalid="ignore"):
                branch = np.where(
                    np.isnan(x), 2, np.where(x == t if kind == "nominal" else x <= t, 0, 1)
                )
            mean = [
                np.average(y[branch == b], weights=w[branch == b])
                if w[branch == b].sum() > 0
                else 0
                for b in range(3)
            ]
            assert loss <= (w*(y - np.array(mean)[branch])**2).sum() + 1e-9


def test_wide_codes_and_many_categories():
    rng = np.random.default_rng(0)
    X = np.c_[rng.permutation(3000), rng.normal(size=3000)].astype(float)
    y = np.where(X[:, 1] > 0.3, 1.0, -1.0)
    oracle = StumpOracle(X, ["nominal", "numeric"], None)
    assert oracle.codes.dtype == np.uint16 and oracle.best(y, np.full(3000, 1 / 3000))[
        1
    ] == pytest.approx(1.0)


def test_read_only_fortran_and_float32_input():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = X[:, 1] > 0
    want = AdaBoostClassifier(n_estimators=5).fit(X, y)
    for Z in (np.asfortranarray(X), np.ascontiguousarray(X[::-1])[::-1]):
        Z.flags.writeable = False
        assert (AdaBoostClassifier(n_estimators=5).fit(Z, y).stumps_ == want.stumps_).all()
    assert AdaBoostClassifier(n_estimators=5).fit(X.astype(np.float32), y).score(X, y) == 1


def test_unseen_category_falls_to_the_rest():
    est = DecisionStumpClassifier(nominal_features=[0]).fit([[0.], [0], [1], [2]], [1, 1, 0, 0])
    assert est.predict([[7.]]) == [0]


def box_one(oracle, y, n_rounds):
    "Box 1 of paper 1 as printed: (hypotheses, alphas)."
    w, hypotheses, alphas = np.full(len(y), 1/len(y)), [], []
    for _ in range(n_rounds):
        h, _ = oracle.ask(y, w)
        error = w[oracle.outputs(h) != y].sum()
        hypotheses.append(h)
        alphas.append(.5*np.log((1 - error)/error))
        w = w*np.exp(-alphas[-1]*y*oracle.outputs(h))
        w = w/w.sum()
    return hypotheses, np.array(alphas)


def test_fast_loop_equals_box_one():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 5))
    y = np.sign(X[:, 0]*X[:, 1] + .2*rng.normal(size=200))
    hypotheses, alphas = box_one(StumpOracle(X), y, 25)
    run = boost(StumpOracle(X), AdaBoost(), y, 25)
    assert np.allclose(run.alphas, alphas)
    assert all(a == b for a, b in zip(run.hypotheses, hypotheses))


@pytest.mark.parametrize("make", [AdaBoostClassifier, GentleBoostClassifier])
def test_tables_of_every_maker_agree(make):
    pd, pl, pa = (
        pytest.importorskip("pandas"),
        pytest.importorskip("polars"),
        pytest.importorskip("pyarrow"),
    )
    rng = np.random.default_rng(0)
    job = rng.choice(["cook", "smith", "clerk"], 200)
    age = rng.uniform(20, 70, 200)
    age[::9] = np.nan
    y = np.where((job == "smith") | (age > 50), "rich", "poor")
    frames = [
        pa.table({"job": job, "age": pa.array(age, from_pandas=True)}),
        pd.DataFrame({"job": job, "age": age}),
        pd.DataFrame({"job": pd.Categorical(job), "age": age}),
        pl.DataFrame({"job": job, "age": pl.Series(age).fill_nan(None)}),
    ]
    scores = [make(n_estimators=10).fit(f, y).decision_function(f) for f in frames]
    assert all((s == scores[0]).all() for s in scores)
    est = make(n_estimators=10).fit(frames[0], y)
    for f in frames: assert (est.predict(f) == est.predict(frames[0])).all()


@pytest.mark.parametrize(
    "bad, word",
    [
        (dict(n_estimators=0), "n_estimators"),
        (dict(n_estimators=1.5), "n_estimators"),
        (dict(nominal_features=[9]), "categorical_features"),
    ],
)
def test_bad_parameters(bad, word):
    with pytest.raises(ValueError, match=word):
        AdaBoostClassifier(**bad).fit([[0.0, 1], [1, 0]], [0, 1])


def test_learner_without_weights_is_refused():
    from sklearn.neighbors import KNeighborsClassifier

    with pytest.raises(ValueError, match="sample_weight"):
        LearnerOracle(KNeighborsClassifier(), np.zeros((2, 1)))


def test_threads_and_runs_give_the_same_bytes(monkeypatch):
    # share out even this little
    monkeypatch.setattr(stumps, "WORTH", 0)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 7))
    y = rng.random(500) < 0.4
    for make in (AdaBoostClassifier, GentleBoostClassifier):
        a, *others = (make(n_estimators=30, n_jobs=j).fit(X, y) for j in (1, 3, -1))
        for b in others:
            assert (
                a.stumps_.tobytes() == b.stumps_.tobytes()
                and a.alphas_.tobytes() == b.alphas_.tobytes()
            )


# ---- exact sums: no order of rows, no joining of columns, no number of threads can be seen in the
# answer

def alone(oracle):
    "The same oracle with every column summed on its own."
    oracle.joint = Joint(
        oracle.codes, oracle.n_codes, np.arange(len(oracle.codes)), np.empty((0, 0), np.int64)
    )
    return oracle


@settings(max_examples=300, deadline=None)
@given(
    problems(), st.sampled_from(["error", "entropy", "least_squares"]), st.integers(0, 2**32 - 1)
)
def test_joint_columns_and_the_order_of_rows_change_no_bit(problem, criterion, seed):
    X, y, w, kinds = problem
    mixed = np.random.default_rng(seed).permutation(len(y))
    a, b, c = (
        StumpOracle(X, kinds, 256, criterion),
        alone(StumpOracle(X, kinds, 256, criterion)),
        StumpOracle(X[mixed], kinds, 256, criterion),
    )
    a.joint = join_columns(a.codes, a.n_codes)
    want = a.best(y, w)
    assert want == b.best(y, w) and want == c.best(y[mixed], w[mixed])
    assert (
        code_values(a, want[0])[a.codes[want[0]["feature"]]] == stump_outputs(want[0], X)[0]
    ).all()


def test_columns_with_few_combinations_share_a_byte(monkeypatch):
    monkeypatch.setattr(stumps, "WORTH", 0)
    rng = np.random.default_rng(0)
    n = 4000
    job, grade = rng.integers(40, size=n), rng.integers(4, size=n)
    X = np.c_[
        rng.normal(size=n),
        np.eye(40)[job],
        grade,
        grade**2,
        np.where(rng.random(n) < 0.1, np.nan, grade % 2),
        np.full(n, 7.0),
        rng.integers(200, size=n),
    ]
    oracle = StumpOracle(X)
    J = oracle.join()
    assert len(J.codes) < 6 and (J.sizes <= 256).all()
    for j in range(X.shape[1]): assert (J.part[j][J.codes[J.home[j]]] == oracle.codes[j]).all()
    g = rng.integers(-2**50, 2**50, n)
    assert (column_sums(oracle, g) == column_sums(alone(StumpOracle(X)), g)).all()
    assert (column_sums(oracle, g) == column_sums(StumpOracle(X, n_jobs=3), g)).all()
    for j in range(X.shape[1]):
        assert (
            column_sums(oracle, g)[j, : oracle.n_codes[j]]
            == [g[oracle.codes[j] == c].sum() for c in range(oracle.n_codes[j])]
        ).all()


@pytest.mark.parametrize("make", [AdaBoostClassifier, GentleBoostClassifier])
def test_shuffled_rows_give_the_same_bytes(make, monkeypatch):
    monkeypatch.setattr(stumps, "WORTH", 0)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 6))
    X[:, 4:] = X[:, 4:].round()
    y = X[:, 0] + X[:, 0] * X[:, 1] + rng.normal(size=3000) > 0
    mixed = rng.permutation(3000)
    a, b = make(n_estimators=80).fit(X, y), make(n_estimators=80, n_jobs=2).fit(X[mixed], y[mixed])
    assert (
        a.stumps_.tobytes() == b.stumps_.tobytes()
        and a.alphas_.tobytes() == b.alphas_.tobytes()
        and a.history_.equals(b.history_)
    )


@pytest.mark.parametrize("total", [1., 1 + 1e-15, .3, 1e-200, 5e-324, 37., 1e300])
def test_fixed_point_leaves_room_and_precision(total):
    scale = fixed_scale(total)
    assert (
        total * scale < 2**62
        and (total * scale > 2**57 or total < 1e-280)
        and np.log2(scale) % 1 == 0
    )
    w = np.random.default_rng(0).dirichlet(np.ones(999)) * total
    k = to_fixed(w, scale)
    if total > 1e-280: assert abs(int(k.sum())/scale - total) <= 1e-13*total


def test_weights_that_cannot_be_summed_are_refused():
    with pytest.raises(ValueError, match="finite"):
        StumpOracle(np.zeros((2, 1))).best(np.ones(2), np.array([1.0, np.nan]))


@pytest.mark.parametrize("master, criterion", [(AdaBoost, "error"), (AdaBoost, "entropy"),
                                               (Gentle, "least_squares")])
def test_stump_loops_equal_the_plain_loop(master, criterion):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 5)).round(1)
    y = np.where(X[:, 0]*X[:, 1] > 0, 1., -1.)
    w = rng.integers(1, 4, 400)
    oracle = StumpOracle(X, criterion=criterion)
    fast = boost(oracle, master(), y, 40, w)
    slow = boost(oracle, master(), y, 40, w, plain=True)
    for field in ("feature", "threshold"):
        assert (np.array(fast.hypotheses)[field] == np.array(slow.hypotheses)[field]).all()
    for a, b in zip(fast[1:2] + fast[3:], slow[1:2] + slow[3:]):
        assert np.allclose(a, b, rtol=1e-10, atol=1e-12)
    for a, b in zip(fast.history, slow.history):
        assert a.keys() == b.keys()
        assert np.allclose(list(a.values()), list(b.values()), rtol=1e-10, atol=1e-12)


def test_small_questions_stay_with_one_thread_and_oracles_travel():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = np.sign(X[:, 0])
    w = np.full(300, 1 / 300)
    oracle = StumpOracle(X, n_jobs=4)
    want = oracle.best(y, w)
    assert oracle.pool is None
    # would not survive a trip
    oracle.pool = object()
    assert pickle.loads(pickle.dumps(oracle)).best(y, w) == want
