"""LPBoost on the installed package: optimality, estimator conventions, bad input, budgets."""
import warnings
from itertools import combinations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from sklearn.metrics import log_loss

from boostlit import Booster, load_model, save_model
from boostlit.core.loop import boost
from boostlit.lpboost.interior_point import LinearProgram, StumpFamily, noisy_rows
from boostlit.mining.weighted_search import ItemsetOracle
from boostlit.lpboost.column_generation import (ColumnOracle, HighsMaster, LinprogMaster,
                                                MasterRace, column_generation, dense_column,
                                                lpboost_reference, sparse_column)
from boostlit.lpboost.estimators import (LPBoostClassifier, OneAndHalfClassLPBoost,
                                         OneClassLPBoost, planted_graphs)
from boostlit.lpboost.choosing import MOST_ROWS, fit_link, trial_rows
from boostlit.lpboost.linear_program import (check_nu, margin_shares, soft_margin,
                                             threshold_columns, two_class_dual, two_class_lp)
from boostlit.lpboost.one_class import one_and_half_dual, one_and_half_lp, one_class_lp
from boostlit.lpboost.pattern_search import branch_and_bound, exhaustive, itemset_language


TAIL = ("a stump cuts off a tail that holds rows of the light classes only, "
        "so more than 13 % of the new rows may fall there")


def known_failures(estimator):
    "A stump may cut off a tail; copies are weights, also when nu is chosen."
    two = isinstance(estimator, LPBoostClassifier)
    return {"check_class_weight_classifiers": TAIL} if two else {}


@parametrize_with_checks([LPBoostClassifier(nu=.3), LPBoostClassifier(), OneClassLPBoost(),
                          OneAndHalfClassLPBoost()], expected_failed_checks=known_failures)
def test_scikit_learn_conventions(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


def itemset_columns(T, length):
    return np.column_stack([T[:, c].all(1) for k in range(1, length+1)
                            for c in combinations(range(T.shape[1]), k)]).astype(float)


def quiet(*args, **kw):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return column_generation(*args, **kw)


@pytest.mark.parametrize("seed", range(60))
def test_column_generation_equals_the_full_program_over_itemsets(seed):
    rng = np.random.default_rng(seed)
    n, d, length = (int(rng.integers(a, b)) for a, b in ((4, 30), (2, 7), (1, 5)))
    nu = float(rng.uniform(.05, 1))
    T, y = rng.random((n, d)) < rng.uniform(.3, .9), np.r_[1., -1., rng.choice([-1., 1.], n-2)]
    T[0] = True
    H = itemset_columns(T, length)
    H = H[:, H.any(0)]                       # the family: itemsets that occur
    full = {"two-class": two_class_lp(np.c_[2*H-1, 1-2*H, np.ones(n), -np.ones(n)], y,
                                      nu).objective,
            "one-class": one_class_lp(H, nu).objective,
            "1.5-class": one_and_half_lp(H, y, nu).objective}
    for program, goal in full.items():
        oracle = ItemsetOracle(T, length, allow_empty=False, kind="signed"
                               if program == "two-class" else "presence")
        r = quiet(oracle, np.ones(n) if program == "one-class" else y, nu, program=program,
                  gap=1e-10, columns_per_round=int(rng.integers(1, 8)),
                  stabilise=float(rng.choice([0., .5])), patience=int(rng.integers(1, 20)))
        assert abs(r.primal-goal) < 1e-8 and abs(r.dual-r.primal) < 1e-8


@pytest.mark.parametrize("seed", range(20))
def test_duality_and_the_one_class_limit(seed):
    rng = np.random.default_rng(seed)
    n, P, nu = int(rng.integers(3, 40)), int(rng.integers(1, 20)), float(rng.uniform(.05, 1))
    H, y = rng.choice([-1., 1.], (n, P)), rng.choice([-1., 1.], n)
    assert abs(two_class_lp(H, y, nu).objective - two_class_dual(H, y, nu).objective) < 1e-8
    H = (H+1)/2
    y[0] = 1.
    assert abs(one_and_half_lp(H, y, nu).objective - one_and_half_dual(H, y, nu).objective) < 1e-8
    assert abs(one_and_half_lp(H, np.ones(n), nu).objective - one_class_lp(H, nu).objective) < 1e-8


def test_itemset_oracle_agrees_with_exhaustive_search_on_thousands_of_weightings():
    rng = np.random.default_rng(0)
    T = rng.random((80, 14)) < .5
    H = itemset_columns(T, 3)
    oracles = {kind: ItemsetOracle(T, 3, allow_empty=False, kind=kind)
               for kind in ("signed", "presence")}
    for _ in range(1500):
        y, w = rng.choice([-1., 1.], 80), rng.dirichlet(np.full(80, rng.choice([.05, .3, 1.])))
        u = y*w
        for kind, gains in (("signed", np.abs(2*u@H-u.sum())), ("presence", u@H)):
            h, edge = oracles[kind].best(y, w)
            assert abs(edge-gains.max()) < 1e-12 and abs(u@oracles[kind].outputs(h)-edge) < 1e-12


def test_reference_search_visits_fewer_and_finds_the_same():
    rng = np.random.default_rng(1)
    for _ in range(30):
        T, y = rng.random((40, 8)) < .6, rng.choice([-1., 1.], 40)
        u = y*rng.dirichlet(np.ones(40))
        language = itemset_language(T, 4)
        every = exhaustive(language, u)
        top, visited, rest = branch_and_bound(*language, u, k=3)
        assert np.allclose([g for g, _ in top], sorted(every.values())[::-1][:3])
        assert len(visited) <= len(every) and rest == -np.inf


@pytest.mark.parametrize("nu", [0, -1, 1.5, np.nan, np.inf, "a", None, True])
def test_nu_out_of_range(nu):
    with pytest.raises(ValueError, match="nu must lie"): check_nu(nu)
    X, y = load_iris(return_X_y=True)
    for est in (LPBoostClassifier(nu=nu), OneAndHalfClassLPBoost(nu=nu), OneClassLPBoost(nu=nu)):
        with pytest.raises(ValueError, match="nu must lie"): est.fit(X[:100], y[:100])


@pytest.mark.parametrize("seed", range(8))
def test_nu_property_of_the_classifier(seed):
    rng = np.random.default_rng(seed)
    X, y, nu = rng.normal(size=(120, 4)), rng.integers(0, 2, 120), float(rng.uniform(.1, .9))
    w = rng.random(120)
    m = LPBoostClassifier(nu=nu).fit(X, y, sample_weight=w)
    low, high = margin_shares((2*y-1)*m.decision_function(X), m.rho_[0], w/w.sum())
    assert low <= nu+1e-7 and nu <= high+1e-7


def test_identical_columns_are_kept_once_and_do_not_loop():
    rng = np.random.default_rng(0)
    h, y = rng.choice([-1., 1.], 30), rng.choice([-1., 1.], 30)
    r = quiet(ColumnOracle(np.column_stack([h]*20)), y, .5, gap=0.)
    assert len(r.columns) <= 3 and len(r.history) < 10


def test_budgets_warn_with_the_gap_and_leave_a_usable_model():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.warns(RuntimeWarning, match="gap of"):
        m = LPBoostClassifier(nu=.1, max_rounds=2).fit(X, y)
    assert m.score(X, y) > .8 and m.history_["gap"][-1].as_py() > 1e-3
    Q = (X > np.median(X, 0)).astype(float)
    few = LPBoostClassifier("itemsets", node_budget=40, max_rounds=5)
    with pytest.warns(RuntimeWarning, match="gap of"): m = few.fit(Q, y)
    assert m.score(Q, y) > .8


def test_no_pattern_and_no_margin():
    X, y = np.zeros((10, 3)), np.array([0, 1]*5)
    with pytest.raises(ValueError, match="no column holds an item"):
        LPBoostClassifier("itemsets").fit(X, y)
    with pytest.warns(RuntimeWarning, match="no hypothesis has an edge"):
        m = LPBoostClassifier(nu=.1).fit(X, y)
    assert set(m.predict(X)) <= {0, 1}
    X[:, 0] = 1
    with pytest.warns(RuntimeWarning): OneAndHalfClassLPBoost("itemsets").fit(X, y)


def test_unreachable_programs_raise():
    y = np.r_[np.ones(5), -np.ones(5)]
    # the caps add up to 0.1
    with pytest.raises(ValueError, match="no optimum"): HighsMaster(y, np.full(10, .01)).solve()
    with pytest.raises(ValueError, match="no optimum"):
        m = LinprogMaster(y, np.full(10, .01))
        m.add([0], [sparse_column(y)])
        m.solve()
    with pytest.raises(ValueError, match="positive example"): quiet(ColumnOracle(np.ones((4, 1))),
                                                                    -np.ones(4), .5,
                                                                    program="1.5-class")


@pytest.mark.parametrize("bad",
                         [dict(max_length=0), dict(max_rounds=0), dict(columns_per_round=0),
                          dict(gap=-1), dict(stabilise=1.), dict(oracle="nothing")])
def test_bad_parameters(bad):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError): LPBoostClassifier(**bad).fit(X, y)


def test_itemsets_refuse_numbers_and_take_tables_and_sparse():
    import pyarrow as pa
    from scipy.sparse import csr_matrix
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(ValueError, match="binarise"): LPBoostClassifier("itemsets").fit(X, y)
    Q = (X > np.median(X, 0)).astype(float)
    est = LPBoostClassifier("itemsets", nu=.2, max_length=2)
    a, b = (clone(est).fit(Z, y) for Z in (Q, csr_matrix(Q)))
    assert np.allclose(a.decision_function(Q), b.decision_function(Q))
    words = pa.table({"a": np.where(Q[:, 0] > 0, "high", "low").tolist(),
                      "b": np.where(Q[:, 7] > 0, "high", "low").tolist()})
    m = LPBoostClassifier("itemsets", nu=.4, max_length=2).fit(words, y)
    assert m.score(words, y) > .8 and any("=" in t for t in m.terms_["text"].to_pylist())


def test_multi_class_stages_terms_and_history():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    m = LPBoostClassifier(nu=.1).fit(X, names)
    stages = list(m.staged_decision_function(X))
    assert np.allclose(stages[-1],
                       m.decision_function(X)) and m.decision_function(X).shape == (150, 3)
    assert m.score(X, names) > .9 and {"primal", "dual", "gap", "nodes",
                                       "round"} <= set(m.history_.column_names)
    assert set(m.terms_["class"].to_pylist()) <= set(names)
    assert np.isfinite(m.predict_proba(X)).all() and len(list(m.staged_predict(X))) == len(stages)


def test_one_and_half_without_negatives_is_one_class():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    a = OneAndHalfClassLPBoost(pos_label=1, nu=.2).fit(X, np.ones(60, int))
    b = OneClassLPBoost(nu=.2).fit(X)
    assert abs(a.offset_-b.offset_) < 1e-7
    assert abs(a.history_["primal"][-1].as_py()-b.history_["primal"][-1].as_py()) < 1e-8
    assert (b.predict(X) < 0).mean() <= .2 and np.allclose(b.decision_function(X),
                                                           b.score_samples(X)-b.offset_)


@pytest.mark.parametrize("disguised", [False, True])
def test_interrupt_keeps_the_model(disguised):
    "A Ctrl-C, also one that met the door of a compiled kernel and comes out as a SystemError."
    class Interrupting(ColumnOracle):
        asked = 0
        def best_k(self, *args, **kw):
            self.asked += 1
            if self.asked == 4 and disguised:
                raise SystemError("result with an exception set") from KeyboardInterrupt()
            if self.asked == 4: raise KeyboardInterrupt
            return super().best_k(*args, **kw)
    rng = np.random.default_rng(0)
    H, y = rng.choice([-1., 1.], (50, 40)), rng.choice([-1., 1.], 50)
    with pytest.warns(RuntimeWarning, match="interrupted"):
        r = column_generation(Interrupting(H), y, .3, columns_per_round=1)
    assert len(r.alpha) == len(r.hypotheses) and abs(r.alpha.sum()-1) < 1e-9


def test_a_real_system_error_is_not_swallowed():
    class Broken(ColumnOracle):
        def best_k(self, *args, **kw): raise SystemError("a real one")
    with pytest.raises(SystemError, match="a real one"): column_generation(Broken(np.eye(4)),
                                                                           np.array([1., -1, 1,
                                                                                     -1]), .5)


def test_examples_come_and_go():
    "With few examples at the start the warm master still has the value of the full program."
    rng = np.random.default_rng(3)
    H, y = rng.choice([-1., 1.], (600, 60)), rng.choice([-1., 1.], 600)
    H[:, :20] *= np.where(rng.random((600, 20)) < .6, y[:, None]*H[:, :20], 1.)
    masters, moves = [], []
    class Watched(HighsMaster):
        def enter(self, examples):
            moves.append(len(examples))
            super().enter(examples)
        def leave(self, *args):
            before = (self.place >= 0).sum()
            super().leave(*args)
            moves.append(int((self.place >= 0).sum()-before))
    def build(y, caps, program):
        masters.append(MasterRace([Watched(y, caps, program, start=40, far=.02),
                                   LinprogMaster(y, caps, program)]))
        return masters[-1]
    # the race raises if values differ
    r = column_generation(ColumnOracle(H), y, .2, columns_per_round=5, gap=1e-9, master=build)
    assert r.converged and min(moves) < 0 and sum(m > 0 for m in moves) > 1


def test_counts_that_do_not_depend_on_the_clock():
    X, y = load_breast_cancer(return_X_y=True)
    Q = X > np.median(X, 0)
    r = column_generation(ItemsetOracle(np.c_[Q, ~Q], 2, allow_empty=False),
                          np.where(y == 1, 1., -1.), .1)
    assert len(r.history) < 40 and r.history[-1]["iterations"] < 20_000 and len(r.columns) < 400
    nnz = [len(c[1]) for c in r.columns]
    # covers or their complements, never dense rows
    assert max(nnz) <= len(y)//2
    assert all(np.array_equal(dense_column(sparse_column(dense_column(c, len(y))), len(y)),
                              dense_column(c, len(y))) for c in r.columns)


def test_saved_and_loaded(tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    for est in (LPBoostClassifier(), OneAndHalfClassLPBoost(), OneClassLPBoost()):
        est.fit(X[:150], y[:150])
        save_model(est, tmp_path/"m")
        assert np.allclose(load_model(tmp_path/"m").decision_function(X), est.decision_function(X))


@pytest.mark.parametrize("seed", range(15))
def test_interior_point_has_the_optimum_of_the_simplex_path(seed):
    rng = np.random.default_rng(seed)
    n, P, nu = int(rng.integers(5, 80)), int(rng.integers(1, 40)), float(rng.uniform(.05, .95))
    H, y = rng.choice([-1., 0., 1.], (n, P)), rng.choice([-1., 1.], n)
    w = rng.dirichlet(np.ones(n))
    run = boost(ColumnOracle(H), LinearProgram(nu, gap=1e-8, constants=True), y, 300, weights=w)
    last, goal = run.history[-1], quiet(ColumnOracle(H), y, nu, w, gap=1e-10).primal
    assert abs(last["primal"] - goal) < 1e-7 and abs(last["dual"] - goal) < 1e-7
    assert np.allclose(run.scores @ (w*y), run.scores @ (w*y)) and last["round"] == len(run.history)


@pytest.mark.parametrize("seed", range(8))
def test_interior_point_on_presences_with_two_sums(seed):
    rng = np.random.default_rng(seed)
    n, nu = 40, float(rng.uniform(.15, .9))
    H, y = (rng.random((n, 12)) < .5).astype(float), np.r_[1., -1., rng.choice([-1., 1.], n-2)]
    run = boost(ColumnOracle(H), LinearProgram(nu, gap=1e-8, program="1.5-class"), y, 300)
    assert abs(run.history[-1]["primal"] - one_and_half_lp(H, y, nu).objective) < 1e-7


def test_the_reference_algorithm_has_the_same_value():
    X, t = load_breast_cancer(return_X_y=True)
    y, H = np.where(t == 1, 1., -1.), threshold_columns(X, 3)
    def best(u):
        j = int(np.argmax(H.T @ u))
        return j, H[:, j]
    gamma = lpboost_reference(best, y, .2)[2]
    run = boost(ColumnOracle(H), LinearProgram(.2, gap=1e-7), y, 300)
    assert abs(run.history[-1]["primal"] - gamma) < 1e-6


def test_work_grows_slowly_with_noisy_rows():
    steps = []
    for n in (500, 2000):
        X, y = noisy_rows(n)
        run = boost(StumpFamily(X), LinearProgram(.4, constants=True), y, 300)
        assert run.history[-1]["gap"] <= 1e-3
        steps.append(run.history[-1]["steps"])
    assert steps[1] <= 2*steps[0] and steps[1] < 150


def test_rows_in_any_order_give_the_same_model():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)), rng.integers(0, 2, 300)
    order = rng.permutation(300)
    a = LPBoostClassifier(nu=.4).fit(X, y)
    b = LPBoostClassifier(nu=.4).fit(X[order], y[order])
    assert np.array_equal(a.decision_function(X), b.decision_function(X))


def test_the_linear_program_refuses_what_it_cannot_do():
    H, y = np.eye(4)*2 - 1, np.array([1., -1, 1, -1])
    for settings in (dict(learning_rate=.5), dict(sample=lambda w: w), dict(plain=True)):
        with pytest.raises(ValueError): boost(ColumnOracle(H), LinearProgram(.5), y, 5, **settings)
    with pytest.raises(ValueError, match="two classes"):
        boost(ColumnOracle(H), LinearProgram(.5), y, 5, n_classes=3)


def test_chosen_nu_beats_the_prior_and_noise_gives_the_prior():
    X, t = load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng(0)
    noisy = np.where(rng.random(len(t)) < .1, 1 - t, t)
    m = LPBoostClassifier().fit(X[::2], noisy[::2])
    assert log_loss(t[1::2], m.predict_proba(X[1::2])) < .45 and m.score(X[1::2], t[1::2]) > .9
    assert np.array_equal(m.predict(X), m.classes_[m.predict_proba(X).argmax(1)])
    Z, z = rng.normal(size=(400, 3)), np.arange(400) % 4 == 0
    blank = LPBoostClassifier().fit(Z[:300], z[:300])
    prior = log_loss(z[300:], np.full(100, .25))
    assert log_loss(z[300:], blank.predict_proba(Z[300:])) < prior + .02


def test_zero_margin_says_the_prior():
    X, y = np.zeros((12, 2)), np.array([0]*4 + [1]*8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        m = LPBoostClassifier(nu=.1).fit(X, y)
    assert set(m.predict(X)) == {1} and abs(m.predict_proba(X)[0, 1] - 2/3) < .05


def test_a_pattern_that_all_rows_share_earns_nothing():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 200)
    X = np.c_[np.ones(200), a, a, 1 - a, 1 - a, rng.integers(0, 2, 200)].astype(float)
    m = OneClassLPBoost("itemsets").fit(X)
    assert "x0" not in m.terms_["text"].to_pylist()
    broken = X[:, [0, 1, 4, 3, 2, 5]]
    assert m.score_samples(X).min() > m.score_samples(broken).max()
    with pytest.warns(RuntimeWarning, match="same score"):
        OneClassLPBoost("itemsets", reference=None).fit(X)


def broken_files():
    X, y = load_iris(return_X_y=True)
    keep = y < 2
    stumps = LPBoostClassifier(nu=.3).fit(X[keep], y[keep])
    patterns = stumps.models_[0]["patterns"]
    patterns["stumps"] = np.zeros((len(patterns["stumps"]), 6))
    yield stumps
    Q = (X[keep] > X[keep].mean(0)).astype(float)
    sets = LPBoostClassifier("itemsets", nu=.3).fit(Q, y[keep])
    sets.models_[0]["patterns"]["items"][0, 0] = 2*Q.shape[1]
    yield sets
    pairs, labels = planted_graphs(30, seed=0)
    graphs = LPBoostClassifier("subgraphs", nu=.3, max_length=3).fit(pairs, labels)
    graphs.models_[0]["patterns"]["code"][0, 0, :2] = (5, 2)
    yield graphs


def test_files_that_would_leave_their_arrays_are_refused(tmp_path):
    for est in broken_files():
        with pytest.raises(ValueError):
            save_model(est, tmp_path/"m")
            load_model(tmp_path/"m")


NOISY = noisy_rows(240, 4, seed=3)
GRAPHS = planted_graphs(24, seed=2)
BOOSTERS = {
    "stumps": (LPBoostClassifier("stumps", nu=.4, gap=1e-4), *NOISY),
    "three": (LPBoostClassifier("stumps", nu=.3, gap=1e-4), *load_iris(return_X_y=True)),
    "trees": (LPBoostClassifier("trees", nu=.4, gap=1e-4), *NOISY),
    "itemsets": (LPBoostClassifier("itemsets", nu=.5, columns_per_round=1),
                 (NOISY[0] > 0).astype(float), NOISY[1]),
    "graphs": (LPBoostClassifier("subgraphs", nu=.5, columns_per_round=1), *GRAPHS),
    "one class": (OneClassLPBoost(nu=.3, columns_per_round=1), NOISY[0], None),
    "contrast": (OneClassLPBoost("itemsets", nu=.3, columns_per_round=1),
                 (NOISY[0] > 0).astype(float), None),
    "one and a half": (OneAndHalfClassLPBoost(nu=.3, columns_per_round=1), *NOISY),
}


def fitted(name, **settings):
    est, X, y = BOOSTERS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return clone(est).set_params(**settings).fit(X, y)


@pytest.mark.parametrize("name", BOOSTERS)
def test_every_estimator_is_a_booster_with_one_row_per_round(name):
    m = fitted(name)
    assert isinstance(m, Booster) and m.n_iter_ == m.history_.num_rows
    assert m.history_["round"].to_pylist() == list(range(1, m.n_iter_ + 1))
    assert {"error", "edge", "alpha", "loss", "primal", "dual", "gap"} <= set(
        m.history_.column_names)
    losses = m.history_["loss"].to_pylist()
    assert all(b <= a + 1e-9 for a, b in zip(losses, losses[1:]))
    assert ("machine" in m.history_.column_names) == (name == "three")
    *_, last = m.staged_decision_function(BOOSTERS[name][1])
    assert np.allclose(last, m.decision_function(BOOSTERS[name][1]), atol=1e-9)
    rounds = [r for r in m.terms_["round"].to_pylist() if r is not None]
    assert rounds and min(rounds) >= 1 and max(rounds) <= m.n_iter_
    assert str(m).count("\n") >= 1


@pytest.mark.parametrize("name", BOOSTERS)
def test_warm_start_is_the_fit_that_never_paused(name):
    est, X, y = BOOSTERS[name]
    m = fitted(name, max_rounds=2, warm_start=True)
    m.set_params(max_rounds=4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        m.fit(X, y)
    once = fitted(name, max_rounds=4)
    assert np.array_equal(m.decision_function(X), once.decision_function(X))
    assert m.n_iter_ == once.n_iter_ and m.terms_ == once.terms_


@pytest.mark.parametrize("name", BOOSTERS)
def test_early_stopping_and_callbacks(name):
    m = fitted(name, early_stopping=True, n_iter_no_change=2, validation_fraction=.25,
               random_state=0)
    losses = m.history_["validation_loss"].to_pylist()
    assert losses[-1] == min(losses)
    heard = []
    few = fitted(name, callbacks=[lambda run: heard.append(len(run.history)) or len(heard) == 2])
    assert heard == list(range(1, few.n_iter_ + 1)) and few.n_iter_ <= 2


def test_validation_rows_and_class_weight():
    X, y = NOISY
    m = LPBoostClassifier("stumps", nu=.4, n_iter_no_change=2).fit(X[:160], y[:160],
                                                          validation=(X[160:], y[160:]))
    assert "validation_loss" in m.history_.column_names
    rare = np.arange(160) % 8 == 0
    keep = rare | (y[:160] < 0)
    share = [LPBoostClassifier("stumps", nu=.5, class_weight=c).fit(X[:160][keep], y[:160][keep])
             .predict(X[160:]).mean() for c in (None, "balanced")]
    assert share[1] > share[0]


@pytest.mark.parametrize("name", BOOSTERS)
def test_controls_without_a_meaning_are_refused(name):
    for bad, word in ((dict(subsample=.5), "no subsample"),
                      (dict(learning_rate=.5), "no learning_rate")):
        with pytest.raises(ValueError, match=word): fitted(name, **bad)


@pytest.mark.parametrize("name", [k for k in BOOSTERS])
def test_every_language_is_saved_and_loaded(name, tmp_path):
    m, X = fitted(name), BOOSTERS[name][1]
    save_model(m, tmp_path/"m")
    again = load_model(tmp_path/"m")
    assert np.array_equal(again.decision_function(X), m.decision_function(X))
    assert again.terms_ == m.terms_


def test_a_ctrl_c_keeps_the_finished_rounds():
    def stop(run):
        if len(run.history) == 3: raise KeyboardInterrupt
    X, y = NOISY
    with pytest.warns(RuntimeWarning, match="interrupted"):
        m = LPBoostClassifier("stumps", nu=.4, gap=1e-6, callbacks=[stop]).fit(X, y)
    assert m.n_iter_ == 3 and np.isfinite(m.decision_function(X)).all()


def test_held_out_loss_is_the_programs_own():
    "The mean of the losses is one minus the soft margin, so a planted wrong rho is seen."
    rng = np.random.default_rng(0)
    f, y = rng.normal(size=50), rng.choice([-1., 1.], 50)
    value, rho = soft_margin(y*f, np.full(50, 1/(50*.3)))
    master = LinearProgram(.3)
    assert abs(master.losses(f, y).mean() - (1 - value)) < 1e-12
    planted = 1 - (rho + .1) + np.maximum(0, rho + .1 - y*f)/.3
    assert planted.mean() > 1 - value + 1e-6


def test_columns_that_matter_together_are_learnt_by_default():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (300, 5)).astype(float)
    y = ((X[:, 0] == 1) ^ (X[:, 1] == 1)).astype(int)
    m = LPBoostClassifier().fit(X[:200], y[:200])
    assert m.language_ == "trees" and m.score(X[200:], y[200:]) > .9


def test_a_tree_that_leads_in_a_circle_is_refused(tmp_path):
    m = fitted("trees")
    m.models_[0]["patterns"]["left"][:] = 0
    with pytest.raises(ValueError, match="cannot be followed"):
        save_model(m, tmp_path/"m")
        load_model(tmp_path/"m")


def test_equal_edges_go_to_the_first_column_whatever_the_threads():
    rng = np.random.default_rng(0)
    h = rng.choice([-1., 1.], 400)
    H = np.column_stack([rng.permutation(h) for _ in range(6)] + [h]*4)
    y, w = h.copy(), np.full(400, 1/400)
    assert [j for j, _ in ColumnOracle(H).best_k(y, w, 4)] == [6, 7, 8, 9]


def test_attack_finds_planted_violation_of_the_nu_property():
    "A margin that is reported too large puts more than nu below it."
    rng = np.random.default_rng(1)
    H, y = rng.normal(size=(200, 3)), rng.choice([-1., 1.], 200)
    s = two_class_lp(H, y, .25)
    margins, w = y*(H @ s.alpha), np.full(200, 1/200)
    low, high = margin_shares(margins, s.rho, w)
    assert low <= .25 <= high
    assert margin_shares(margins, s.rho + .05, w)[0] > .25
    assert margin_shares(margins, s.rho - .05, w)[1] < .25


def test_attack_finds_planted_violation_of_the_two_epsilon_rule():
    "The rule nu > epsilon, which the rule replaces, is refuted by the same search."
    for wrong in range(1, 9):
        margins = np.r_[-np.ones(wrong), np.ones(20 - wrong)]
        values = {nu: soft_margin(margins, np.full(20, 1/(20*nu)))[0]
                  for nu in np.arange(1, 21)/20}
        assert all((v > 1e-12) == (nu > 2*wrong/20 + 1e-12) for nu, v in values.items())
        assert any((v > 1e-12) != (nu > wrong/20 + 1e-12) for nu, v in values.items())


def test_attack_finds_planted_hole_in_the_sandwich():
    "An oracle that hides its best columns makes the bounds meet below the optimum."
    rng = np.random.default_rng(2)
    H, y = rng.choice([-1., 1.], (60, 20)), rng.choice([-1., 1.], 60)
    H[:, 0] = np.where(rng.random(60) < .1, -y, y)
    full = quiet(ColumnOracle(H), y, .5, gap=1e-9)
    hidden = quiet(ColumnOracle(H[:, 1:]), y, .5, gap=1e-9)
    assert hidden.dual < full.primal - 1e-3 and abs(full.dual - full.primal) < 1e-8


def test_attack_finds_planted_violation_of_dominance_and_contrast():
    "With a negative weight a superset can win; with wrong marginals a single item can earn."
    rng = np.random.default_rng(3)
    T = rng.random((30, 4)) < .6
    H, lam = itemset_columns(T, 2), rng.dirichlet(np.ones(30))
    single, every = (lam @ H[:, :4]).max(), (lam @ H).max()
    assert every <= single + 1e-12
    turned = np.where(rng.random(30) < .5, -lam, lam)
    assert (turned @ H).max() > (turned @ H[:, :4]).max() or (-turned @ H).max() > (
        -turned @ H[:, :4]).max()
    shares = T.mean(0)
    assert one_class_lp(T - shares, .6).objective <= 1e-9
    assert one_class_lp(T - .9*shares, 1.).objective > 1e-3


def test_attack_finds_planted_violation_of_the_gain_bound():
    "A bound that forgets the larger of the two sides is overtaken by a superset."
    rng = np.random.default_rng(4)
    broken = 0
    for _ in range(40):
        T, u = rng.random((20, 5)) < .7, rng.normal(size=20)/20
        gains = {c: abs(2*u[T[:, c].all(1)].sum() - u.sum()) for k in (1, 2, 3)
                 for c in combinations(range(5), k)}
        for c in gains:
            cover = T[:, c].all(1)
            pos, neg, total = u[cover & (u > 0)].sum(), -u[cover & (u < 0)].sum(), u.sum()
            for d, h in gains.items():
                if set(c) <= set(d):
                    assert h <= max(2*pos - total, 2*neg + total) + 1e-12
                    broken += h > min(2*pos - total, 2*neg + total) + 1e-9
    assert broken


@pytest.mark.parametrize("weighted", [False, True])
def test_the_width_of_a_kernel_is_that_of_scikit_learn(weighted):
    "1/(d var) over all entries, under the weights of the rows."
    rng = np.random.default_rng(0)
    X, times = 3*rng.normal(size=(40, 3)) + 2, rng.integers(1, 4, 40)
    est = OneClassLPBoost(nu=.3, random_state=0).fit(X, None, times if weighted else None)
    rows = np.repeat(X, times, axis=0) if weighted else X
    assert np.isclose(est.gamma_, 1/(3*rows.var()))


def test_more_bins_than_rows_take_no_more_room():
    X, y = load_breast_cancer(return_X_y=True)
    one, other = (LPBoostClassifier(nu=.3, max_bins=bins).fit(X[:60], y[:60])
                  for bins in (61, 10**9))
    assert np.array_equal(one.decision_function(X), other.decision_function(X))


def test_a_language_that_was_asked_for_stays():
    "Trees are tried where nothing was said; stumps that were asked for by name stay stumps."
    X = np.random.default_rng(0).normal(size=(120, 2))
    y = X[:, 0]*X[:, 1] > 0
    assert LPBoostClassifier(random_state=0).fit(X, y).language_ == "trees"
    assert LPBoostClassifier("stumps", random_state=0).fit(X, y).language_ == "stumps"


def test_many_features_answer_with_one_stump_each():
    X, y = np.random.default_rng(0).normal(size=(50, 100)), np.where(np.arange(50) % 2, 1., -1.)
    found = StumpFamily(X).best_k(y, np.full(50, .02))
    features = [int(stump["feature"]) for stump, _ in found]
    assert len(set(features)) == len(features) == 80
    found = StumpFamily(X[:, :5]).best_k(y, np.full(50, .02))
    assert max(np.bincount([int(stump["feature"]) for stump, _ in found])) == 4


def test_the_link_does_not_know_the_unit_of_the_scores():
    rng = np.random.default_rng(0)
    codes = np.arange(200) % 2
    scores, w = (codes + rng.normal(size=200))[:, None], np.full(200, 1/200)
    one, large = fit_link(scores, codes, w, 2), fit_link(1000*scores, codes, w, 2)
    assert np.allclose(one["scale"], 1000*large["scale"], rtol=1e-4)
    assert np.allclose(one["shift"], large["shift"], atol=1e-4)
    model = LogisticRegression(C=1e4).fit(scores, codes)
    assert np.allclose(one["scale"], model.coef_[0], rtol=.05)


def test_balls_and_clouds():
    from boostlit.lpboost.one_class import ball_columns, toy_points
    H = ball_columns(np.array([[0., 0.], [3., 4.]]), np.array([[0., 0.], [3., 0.]]), [1., 4.])
    assert H.tolist() == [[1, 0, 1, 1], [0, 0, 0, 1]]
    points, labels = toy_points(400, 20)
    assert np.allclose(points[labels > 0][:200].mean(0), (-2, 1), atol=.2)
    assert np.allclose(points[labels > 0][200:].mean(0), (-.5, -1.5), atol=.2)


def test_the_link_of_the_prior():
    from boostlit.lpboost.choosing import prior_link
    codes = np.array([0, 0, 0, 1, 1, 2])
    link = prior_link(codes, np.full(6, 1/6), 3)
    expected = (np.array([3, 2, 1]) + .5)/7.5
    assert np.allclose(np.exp(link["shift"]), expected) and (link["scale"] == 0).all()


def test_value_of_a_combination_against_the_positives():
    from boostlit.lpboost.column_generation import program_value
    value = program_value(np.array([-1., -2.]), np.ones(2), np.full(2, .5), "1.5-class")
    assert value == (-1.5, (0., 0.))


def test_a_constant_learner_is_a_leaf():
    from sklearn.dummy import DummyClassifier
    from boostlit.lpboost.languages import pack_tree
    tree = pack_tree(DummyClassifier(strategy="most_frequent").fit([[0.]], [-1]))
    assert tree["feature"].tolist() == [-1] and tree["value"].tolist() == [-1.]


def test_what_counts_as_no_weight():
    from boostlit.lpboost.programs import least
    assert least(np.full(200, .5)) == 1e-12 and least(np.full(201, .5)) == 5e-4
    assert least(np.zeros(201)) == 1e-12


def test_terms_of_two_classes_are_drawn_without_a_class():
    import matplotlib.pyplot as plt
    from boostlit.lpboost.estimators import plot_pattern_terms
    rng = np.random.default_rng(0)
    X = rng.random((60, 3))
    for y, named in ((X[:, 0] > .5, False), (np.digitize(X[:, 0], [.3, .6]), True)):
        est = LPBoostClassifier(nu=.2, oracle="stumps").fit(X, y)
        names = [t.get_text() for t in plot_pattern_terms(est).get_yticklabels()]
        assert names and all((n in est.terms_["text"].to_pylist()) is not named for n in names)
        plt.close("all")


def test_scores_that_are_all_alike_have_no_spread():
    from types import SimpleNamespace
    from boostlit.lpboost.choosing import spread_of
    for size, spread in ((2., 2.), (2e-9, 2e-9), (1e-9, 1.), (0., 1.)):
        part = SimpleNamespace(state=SimpleNamespace(y=np.array([1., -1.]), start=np.full(2, .5)),
                               margins=lambda _: np.full(2, size))
        assert spread_of(part, None) == spread


def test_the_dual_of_the_half_class_knows_the_weights():
    rng = np.random.default_rng(0)
    H, y = (rng.random((30, 6)) < .6).astype(float), np.where(np.arange(30) < 20, 1., -1.)
    primal, dual = one_and_half_lp(H, y, .3), one_and_half_dual(H, y, .3)
    assert dual.objective == pytest.approx(primal.objective, abs=1e-8)
    assert dual.alpha.min() >= -1e-9 and dual.alpha.sum() == pytest.approx(1)
    assert np.allclose(dual.rho, primal.rho, atol=1e-6)


def test_importances_are_shares():
    X = np.random.default_rng(0).random((60, 3))
    for y in (X[:, 0] + .2*X[:, 1] > .6, np.digitize(X[:, 0] + .2*X[:, 1], [.4, .8])):
        est = LPBoostClassifier(nu=.2, oracle="stumps").fit(X, y)    # three classes: three programs
        assert est.feature_importances_.sum() == pytest.approx(1)
        assert est.feature_importances_.argmax() == 0


def test_the_program_weighs_its_examples():
    rng = np.random.default_rng(0)
    H, y = np.where(rng.random((30, 6)) < .6, 1., -1.), np.where(rng.random(30) < .5, 1., -1.)
    found = two_class_lp(H, y, .4)
    assert found.weights.min() >= -1e-9 and found.weights.sum() == pytest.approx(1)
    best = (H.T@(y*found.weights)).max()                # no hypothesis has a larger edge
    assert best == pytest.approx(found.objective, abs=1e-7)


def test_of_many_rows_a_share_of_every_class_decides_on_nu():
    codes = np.r_[np.zeros(9000, int), np.ones(998, int), 2, 2]
    task = np.arange(len(codes))[:, None], codes, np.linspace(1, 2, len(codes))
    rows, drawn, weights = trial_rows(task, np.random.RandomState(0))
    assert np.bincount(drawn).tolist() == [3600, 400, 1]      # a class of two rows is there, too
    assert (codes[rows[:, 0]] == drawn).all() and (task[2][rows[:, 0]] == weights).all()
    again = trial_rows(task, np.random.RandomState(0))[0]
    assert (again == rows).all() and len(np.unique(rows)) == len(rows)
    few = tuple(part[:MOST_ROWS] for part in task)
    assert trial_rows(few, np.random.RandomState(0)) is few
