"""Pairs on the installed package: peers as oracles, brute force, symmetry, bad input, the loop."""

import json
import os
import pickle
import subprocess
import sys
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine, make_classification
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from boostlit.core.kernels import kernels
from boostlit.core.loop import boost
from boostlit.core.masters import AdaBoost, ExponentialStep, Gentle, Logistic, MadaBoost
from boostlit.core.models import load_model, save_model
from boostlit.lab.experiments import paper_numbers, stored_results
from boostlit.lab.pair_rivals import RIVALS
from boostlit.lab.pairwise_tables import MAIN, PROTOCOLS, paper_draw
from boostlit.pairwise import kernels as engine
from boostlit.pairwise.boosting import PAIR_STUMP, PairStumpOracle, pair_scores, pairwise_reference
from boostlit.pairwise.estimator import PairwiseBoostClassifier, best_cut, plot_directions
from boostlit.pairwise.gentle_stumps import best_threshold, gentle_stumps, stump_scores
from boostlit.pairwise.kernels import corner_bound, direction, split_gain
from boostlit.pairwise.lifting import (
    LiftedOracle,
    lift_products,
    pair_axes,
    quadratic_fit,
    quadratic_scores,
    rotate_pairs,
)
from boostlit.pairwise.pairs import (
    PairTransformer,
    draw_pairs,
    split_classes,
    split_pairs,
    train_test_pairs,
)
from boostlit.pairwise.projection import WeightedLDA, fisher_direction, weighted_scatter
from boostlit.pairwise.verification import (
    error_rates,
    equal_error_rate,
    rate_at,
    verification_report,
)

KINDS = ("swlda", "lda", "difference", "concatenation", "lifted")


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    Z = PCA(8, random_state=0).fit_transform(X)
    index, z = draw_pairs(y, 300, 315, 0)
    return Z[index], z, split_pairs(z, 0.6, 0)


@parametrize_with_checks([WeightedLDA()])
def test_weighted_lda_is_an_estimator(estimator, check):
    check(estimator)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_weighted_lda_is_replication(n_classes):
    X, y = load_wine(return_X_y=True)
    X, y = X[y < n_classes], y[y < n_classes]
    w = np.random.default_rng(1).integers(0, 5, len(y))
    peer = LinearDiscriminantAnalysis(
        solver="eigen"
    )  # the svd solver changed its scale between versions of scikit-learn
    ours, theirs = WeightedLDA().fit(X, y, w), peer.fit(np.repeat(X, w, 0), np.repeat(y, w))
    A, B = ours.transform(X), theirs.transform(X) - theirs.transform(np.repeat(X, w, 0)).mean(0)
    assert np.abs(A * np.sign((A * B).sum(0)) - B).max() < 1e-10
    assert np.abs(ours.predict_proba(X) - theirs.predict_proba(X)).max() < 1e-10
    equal, plain = WeightedLDA().fit(X, y, np.full(len(y), 0.01)), peer.fit(X, y)
    assert np.abs(equal.predict_proba(X) - plain.predict_proba(X)).max() < 1e-10
    assert (equal.predict(X) == plain.predict(X)).all()


def test_weighted_lda_degenerate():
    X, y = make_classification(60, 5, random_state=0)
    with pytest.warns(RuntimeWarning, match="means coincide"):
        WeightedLDA().fit(np.r_[X, X], np.r_[np.zeros(60), np.ones(60)])
    flat = np.c_[X, np.ones(60), X[:, 0]]
    assert np.isfinite(WeightedLDA().fit(flat, y).decision_function(flat)).all()
    for bad, text in ((dict(n_components=2), "n_components"), (dict(priors=[1, 2, 3]), "priors")):
        with pytest.raises(ValueError, match=text):
            WeightedLDA(**bad).fit(X, y)
    with pytest.raises(ValueError, match="positive weight"):
        WeightedLDA().fit(X, y, (y == 1) * 1.0)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_direction_maximises_the_quotient(seed):
    r = np.random.default_rng(seed)
    x, z, w = (
        r.normal(size=(40, 2)) @ r.normal(size=(2, 2)),
        np.where(np.arange(40) % 2, 1.0, -1.0),
        r.exponential(size=40),
    )
    p = np.array(fisher_direction(x[:, 0], x[:, 1], z, w))
    _, SB, SW = weighted_scatter(x, (z > 0).astype(int), w)
    q = lambda v: (v @ SB @ v) / (v @ SW @ v)
    assert all(
        q(np.array([np.cos(t), np.sin(t)])) <= q(p) * (1 + 1e-6) for t in np.linspace(0, np.pi, 50)
    )


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6))
def test_corner_lemma(seed):
    r = np.random.default_rng(seed)
    k = r.integers(2, 10)
    w, pos = r.exponential(size=k), r.random(k) < 0.5
    p0, n0, q, m = r.exponential(size=4) * (r.random(4) < 0.7)
    p, n = w[pos].sum(), w[~pos].sum()
    P, N = p0 + p + q, n0 + n + m
    top = max(
        corner_bound(p, n, p0, n0, P, N), split_gain(p0, n0, P, N), split_gain(p0 + p, n0 + n, P, N)
    )
    assert all(
        split_gain(p0 + w[:i][pos[:i]].sum(), n0 + w[:i][~pos[:i]].sum(), P, N) <= top * (1 + 1e-9)
        for i in range(1, k)
    )


@settings(max_examples=80, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from(["difference", "concatenation"]),
    st.booleans(),
    st.sampled_from([None, 1, 3, 200]),
)
def test_kernel_is_exact(seed, kind, ties, bins):
    r = np.random.default_rng(seed)
    n, d = r.integers(3, 50), r.integers(1, 4)
    X = r.integers(0, 5, (n, 2, d)).astype(float) if ties else r.standard_cauchy(size=(n, 2, d))
    z, w = np.where(np.arange(n) % 2, 1.0, -1.0), r.exponential(size=n) ** 2
    w /= w.sum()
    o = PairStumpOracle(X, kind, n_bins=bins)
    candidates = zip(o.lines.feature, o.lines.directions)
    want = max(best_threshold(X[:, 0, f] * p + X[:, 1, f] * q, z, w)[0] for f, (p, q) in candidates)
    if want < 0:
        return
    h, edge = o.ask(z, w)
    assert edge == pytest.approx(want, abs=1e-10)
    assert (w * z * o.outputs(h)).sum() == pytest.approx(edge, abs=1e-10)


def test_kernel_is_table_1(digits):
    X, z, t = digits
    slow = pairwise_reference(X[t], z[t].astype(float), 25)
    fast = np.array(boost(PairStumpOracle(X[t]), Gentle(), z[t], 25).hypotheses)
    assert (slow["feature"] == fast["feature"]).all()
    for name in PAIR_STUMP.names[1:]:
        np.testing.assert_allclose(slow[name], fast[name], atol=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_symmetry_is_exact(digits, kind):
    X, z, t = digits
    e = PairwiseBoostClassifier(kind, n_estimators=30).fit(X[t], z[t])
    for n in (len(X), 1, 7):  # no dependence on the place of a pair in the batch either
        assert (e.pair_score(X[:n]) == e.pair_score(X[:n, ::-1])).all()
        assert (e.pair_score(X[:n]) == e.pair_score(X)[:n]).all()
    assert (e.predict(X) == e.predict(X[:, ::-1])).all()


@pytest.mark.parametrize("kind", KINDS)
def test_stages_history_terms(digits, kind):
    X, z, t = digits
    e = PairwiseBoostClassifier(kind, n_estimators=12).fit(X[t], z[t])
    stages = list(e.staged_decision_function(X))
    assert len(stages) == 12 == e.history_.num_rows
    np.testing.assert_allclose(stages[-1], e.decision_function(X), atol=1e-12)
    assert [
        (p == q).all()
        for p, q in zip(e.staged_predict(X), [np.where(s > 0, 1, -1) for s in stages])
    ] == [True] * 12
    assert {"round", "error", "edge", "alpha", "loss"} <= set(e.history_.column_names)
    assert e.terms_.num_rows == 12 and all(e.terms_["text"].to_pylist())
    P = e.predict_proba(X)
    assert np.allclose(P.sum(1), 1) and ((P[:, 1] > 0.5) == (e.predict(X) == 1)).all()


@pytest.mark.parametrize("kind", ["swlda", "lifted"])
def test_weights_are_repetitions(digits, kind):
    X, z, t = digits
    w = np.random.default_rng(0).integers(0, 3, t.sum())
    a = PairwiseBoostClassifier(kind, n_estimators=10).fit(X[t], z[t], w).pair_score(X)
    b = (
        PairwiseBoostClassifier(kind, n_estimators=10)
        .fit(np.repeat(X[t], w, 0), np.repeat(z[t], w))
        .pair_score(X)
    )
    c = PairwiseBoostClassifier(kind, n_estimators=10).fit(X[t], z[t], w * 1e-8).pair_score(X)
    np.testing.assert_allclose(a, b, atol=1e-6)
    np.testing.assert_allclose(a, c, atol=1e-6)


def test_labels_and_layouts(digits):
    X, z, t = digits
    base = PairwiseBoostClassifier(n_estimators=8).fit(X[t], z[t]).pair_score(X)
    frozen = X[t].copy()
    frozen.setflags(write=False)
    for P, y in (
        (X[t], z[t] > 0),
        (X[t], (z[t] > 0) * 1),
        (np.asfortranarray(X[t]), z[t]),
        (frozen, z[t]),
        (X[t].tolist(), z[t].tolist()),
    ):
        assert (PairwiseBoostClassifier(n_estimators=8).fit(P, y).pair_score(X) == base).all()
    assert (
        np.mean(
            PairwiseBoostClassifier(n_estimators=8).fit(X[t].astype(np.float32), z[t]).predict(X)
            == (np.where(base > 0, 1, -1))
        )
        > 0.98
    )


@pytest.mark.parametrize(
    "change,text",
    [
        (lambda X, z: (X[:, 0], z), "two samples a pair"),
        (lambda X, z: (np.repeat(X, 2, 1), z), "n_pairs, 2, n_features"),
        (lambda X, z: (X[:, :, :0], z), "0 feature"),
        (lambda X, z: (X, np.ones(len(z))), "one class"),
        (lambda X, z: (X, np.arange(len(z)) % 3), "binary"),
        (lambda X, z: (X[:5], z), "inconsistent"),
        (lambda X, z: (np.where(np.arange(8) == 2, np.nan, X), z), "NaN"),
        (lambda X, z: (np.where(np.arange(8) == 2, np.inf, X), z), "infinity"),
        (lambda X, z: (np.ones_like(X), z), "constant"),
        (lambda X, z: (X[:0], z[:0]), "0 sample"),
        (lambda X, z: (X, None), "requires y"),
    ],
)
@pytest.mark.parametrize("kind", ["swlda", "lifted"])
def test_bad_pairs(digits, change, text, kind):
    X, z, t = digits
    with pytest.raises(ValueError, match=text):
        PairwiseBoostClassifier(kind, n_estimators=3).fit(*change(X, z))


def test_bad_settings(digits):
    X, z, t = digits
    for kw, text in (
        (dict(projection="pca"), "projection"),
        (dict(n_estimators=0), "n_estimators"),
        (dict(learning_rate=2), "learning_rate"),
        (dict(ridge=-1), "ridge"),
    ):
        with pytest.raises(ValueError, match=text):
            PairwiseBoostClassifier(**kw).fit(X, z)
    for w, text in (
        (-np.ones(len(z)), "negative"),
        (np.zeros(len(z)), "zero"),
        (np.ones(3), "shape"),
        ((z > 0) * 1.0, "leaves one class"),
    ):
        with pytest.raises(ValueError, match=text):
            PairwiseBoostClassifier(n_estimators=3).fit(X, z, w)
    e = PairwiseBoostClassifier(n_estimators=3).fit(X, z)
    with pytest.raises(ValueError, match="5 features"):
        e.predict(X[:, :, :5])


@pytest.mark.parametrize("kind", KINDS)
def test_extreme_values(digits, kind):
    X, z, t = digits
    base = PairwiseBoostClassifier(kind, n_estimators=10).fit(X[t], z[t])
    for scale in (1e-100, 1e100):
        e = PairwiseBoostClassifier(kind, n_estimators=10).fit(X[t] * scale, z[t])
        assert np.mean(e.predict(X * scale) == base.predict(X)) > 0.97
    shifted = PairwiseBoostClassifier(kind, n_estimators=10).fit(X[t] + 1e6, z[t])
    assert np.mean(shifted.predict(X + 1e6) == base.predict(X)) > 0.95
    flat = X.copy()
    flat[:, :, 2] = 3.0
    assert np.isfinite(
        PairwiseBoostClassifier(kind, n_estimators=10).fit(flat[t], z[t]).pair_score(flat)
    ).all()


def test_two_pairs():
    X = np.array([[[0.0], [0.0]], [[0.0], [5.0]]])
    for kind in ("swlda", "difference", "lifted"):
        e = PairwiseBoostClassifier(kind, n_estimators=5).fit(X, [1, -1])
        assert (e.predict(X) == [1, -1]).all() or kind != "difference"


def test_scikit_learn_machinery(digits):
    X, z, t = digits
    pipe = make_pipeline(
        PairTransformer(PCA(5, random_state=0)), PairwiseBoostClassifier(n_estimators=20)
    )
    assert cross_val_score(pipe, X, z, cv=3).mean() > 0.7
    grid = GridSearchCV(
        pipe,
        {
            "pairwiseboostclassifier__projection": ["difference", "lifted"],
            "pairtransformer__transformer__n_components": [4, 6],
        },
        cv=3,
    ).fit(X[t], z[t])
    assert grid.score(X[~t], z[~t]) > 0.75
    e = clone(grid.best_estimator_).fit(X[t], z[t])
    assert (pickle.loads(pickle.dumps(e)).predict(X) == e.predict(X)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_model_file(digits, tmp_path, kind):
    X, z, t = digits
    e = PairwiseBoostClassifier(kind, n_estimators=5).fit(X[t], z[t])
    e.calibrate_threshold(X[~t], z[~t], "max_tpr", 0.95)
    save_model(e, tmp_path / "m.arrow")
    f = load_model(tmp_path / "m.arrow")
    assert (f.decision_function(X) == e.decision_function(X)).all()
    assert (f.predict(X) == e.predict(X)).all() and f.threshold_ == e.threshold_


def test_wide_lifted_models_can_be_saved(tmp_path):
    r = np.random.default_rng(0)
    X, z = r.normal(size=(80, 2, 25)), np.where(np.arange(80) % 2, 1, -1)
    e = PairwiseBoostClassifier("lifted", n_estimators=4).fit(X, z)
    assert e.difference_.shape == (20, 20)
    save_model(e, tmp_path / "m.arrow")
    assert (load_model(tmp_path / "m.arrow").decision_function(X) == e.decision_function(X)).all()


def test_interrupt_keeps_rounds(digits, monkeypatch):
    X, z, t = digits
    calls, ask = [], PairStumpOracle.ask

    def stop(self, targets, weights):
        calls.append(1)
        if len(calls) == 5:
            raise KeyboardInterrupt
        return ask(self, targets, weights)

    monkeypatch.setattr(PairStumpOracle, "ask", stop)
    with pytest.warns(RuntimeWarning, match="4 rounds"):
        e = PairwiseBoostClassifier(n_estimators=30).fit(X[t], z[t])
    assert e.n_estimators_ == 4 and len(e.predict(X)) == len(X)


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 6), st.integers(1, 4), st.integers(1, 3), st.integers(0, 10**6))
def test_draws_are_fair(K, s, t, seed):
    y = np.repeat(np.arange(K), 2 * s + (K - 1) * t + 1)
    pairs, z = draw_pairs(y, s * K, t * K * (K - 1) // 2, seed)
    assert len(np.unique(pairs)) == pairs.size
    assert (np.bincount(y[pairs[z > 0, 0]], minlength=K) == s).all()
    assert (np.unique(np.sort(y[pairs[z < 0]], 1), axis=0, return_counts=True)[1] == t).all()
    assert ((y[pairs[:, 0]] == y[pairs[:, 1]]) == (z > 0)).all()


def test_thresholds():
    r = np.random.default_rng(0)
    s = np.round(r.normal(size=200), 1)
    y = r.random(200) < 1 / (1 + np.exp(-3 * s))
    hit = lambda c: np.mean((s > c) == y)
    assert hit(best_cut(s, y)) == max(hit(c) for c in np.r_[s, s - 0.05, -99])
    assert (
        np.mean(s[~y] <= best_cut(s, y, "max_tpr", 0.9)) >= 0.9
        and np.mean(s[y] > best_cut(s, y, "max_tnr", 0.9)) >= 0.9
    )
    for a in (dict(strategy="x"), dict(strategy="max_tnr"), dict(strategy="max_tpr", min_rate=2)):
        with pytest.raises(ValueError):
            best_cut(s, y, **a)


def test_lift_is_quadratic(digits):
    X, z, t = digits
    mean, axes, ratio = pair_axes(X, z)
    R = rotate_pairs(X, mean, axes)
    c, A, B = quadratic_fit(R, z.astype(float), np.full(len(z), 1 / len(z)), 1e-9)
    L = np.c_[lift_products(R), np.ones(len(z))]
    best = L @ np.linalg.lstsq(L, z.astype(float), rcond=None)[0]
    np.testing.assert_allclose(quadratic_scores(R, c, A, B), best, atol=1e-4)
    assert np.allclose(A, A.T) and np.allclose(B, B.T)


def test_lifted_beats_the_plain_method():
    X, y = load_digits(return_X_y=True)
    Z = PCA(10, random_state=0).fit_transform(X)
    gain = []
    for seed in range(4):
        index, z = draw_pairs(y, 400, 405, seed)
        t = split_pairs(z, 0.6, seed)
        P = Z[index]
        gain.append(
            [
                PairwiseBoostClassifier(k, n_estimators=n).fit(P[t], z[t]).score(P[~t], z[~t])
                for k, n in (("swlda", 200), ("lifted", 150))
            ]
        )
    assert np.diff(np.mean(gain, 0))[0] > 0.01


def test_rivals_run(digits):
    X, z, t = digits
    for name, f in RIVALS.items():
        if "LightGBM" in name:
            pytest.importorskip("lightgbm")
        s = f(X, z, t)
        assert s.shape == z.shape and np.isfinite(s).all()


def test_ledger_holds_table_3():
    rows = [r for r in paper_numbers(2).to_pylist() if r["item"] == "Table 3"]
    assert len(rows) == 16
    stored = [r for r in stored_results(2).to_pylist() if r["item"] == "Table 3"]
    ours = {(r["dataset"], r["method"]): r["value"] for r in stored}
    for n in {r["dataset"] for r in rows}:
        assert ours[n, "concatenation"] < ours[n, "LDA"] < ours[n, "difference"] < ours[n, "swLDA"]
    gaps = [abs(ours[r["dataset"], r["method"]] - r["value"]) for r in rows]
    assert np.mean(gaps) <= 0.005, np.mean(gaps)
    assert {r["comment"] for r in stored} == {MAIN.name}


def test_protocols_are_readings():
    assert len(PROTOCOLS) == 24 and PROTOCOLS[MAIN.name] == MAIN
    halves = paper_draw("digits", 0)
    assert halves[2].sum() in (402, 403)


def test_picture(digits):
    import matplotlib

    matplotlib.use("Agg")
    X, z, t = digits
    e = PairwiseBoostClassifier(n_estimators=5).fit(X[t], z[t])
    assert plot_directions(e).get_xlabel() == "round"


def test_both_searches_give_the_same_bits():
    for seed in range(60):
        r = np.random.default_rng(seed)
        n, d = r.integers(2, 70), r.integers(1, 4)
        x = r.integers(0, 4, (2, d, n)).astype(float) if seed % 2 else r.standard_cauchy((2, d, n))
        signs = engine.signs_of(np.where(np.arange(n) % 2, 1, -1))
        w = r.exponential(size=n) * (r.random(n) < 0.8) + 1e-30
        answers = []
        for mode in ("array", "python", "compiled"):
            lines = engine.lines_of(*x, np.arange(d), [[1.0, -1.0]] * d)
            load = engine.load_of(signs, w)
            if mode == "array":
                lines.directions[:] = engine.array_directions(lines, load)
                found = engine.sorted_search(lines, load)
            elif mode == "python" and seed > 5:
                continue
            else:
                with kernels(mode):
                    found = engine.binned_search(
                        lines, load, engine.space_for(n, 2 + seed % 40), True
                    )
            answers.append((*found, *lines.directions.ravel()))
        assert all(a == answers[0] for a in answers), seed


def test_search_compares_weights():
    "A planted change of one weight turns the comparison red."
    r = np.random.default_rng(1)
    lines = engine.lines_of(*r.normal(size=(2, 2, 50)), [0, 1], [[1.0, -1.0]] * 2)
    load = engine.load_of(engine.signs_of(np.where(np.arange(50) % 2, 1, -1)), np.ones(50))
    others = [
        load._replace(weight=load.weight + (np.arange(50) == k) * 2.0**-10) for k in range(50)
    ]
    gain = engine.sorted_search(lines, load)[2]
    assert any(engine.sorted_search(lines, other)[2] != gain for other in others)


@pytest.mark.parametrize("mode", ["python", "compiled"])
def test_models_do_not_depend_on_how_kernels_run(digits, mode):
    X, z, t = digits
    base = PairwiseBoostClassifier(n_estimators=15).fit(X[t], z[t]).decision_function(X)
    with kernels(mode):
        again = PairwiseBoostClassifier(n_estimators=15).fit(X[t], z[t]).decision_function(X)
    assert (again == base).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [1e-309, 1e-300, 2.0**-900, 2.0**900, 1e299, 1e307])
def test_any_unit_works_or_is_refused(digits, kind, scale):
    X, z, t = digits
    small = X / np.abs(X).max()
    base = PairwiseBoostClassifier(kind, n_estimators=6).fit(small[t], z[t]).predict(small)
    e = PairwiseBoostClassifier(kind, n_estimators=6)
    for mode in ("python", "compiled"):
        with kernels(mode), warnings.catch_warnings():
            warnings.simplefilter("error")  # works or refuses, and says nothing on the way
            if scale in (1e-309, 1e307):
                with pytest.raises(ValueError, match="constant|too large"):
                    e.fit(small[t] * scale, z[t])
            else:
                assert np.mean(e.fit(small[t] * scale, z[t]).predict(small * scale) == base) > 0.99


def test_orders_and_powers_of_two_leave_no_trace(digits):
    X, z, t = digits
    P, y = X[t], z[t].astype(float)
    w = np.random.default_rng(0).exponential(size=len(y))
    turn = np.random.default_rng(1).permutation(len(y))
    stump, _ = PairStumpOracle(P).ask(y, w)
    assert PairStumpOracle(P[turn]).ask(y[turn], w[turn])[0] == stump
    scaled, _ = PairStumpOracle(P * 2.0**300).ask(y, w)
    assert (
        scaled["threshold"] == stump["threshold"] * 2.0**300 and scaled["above"] == stump["above"]
    )


def test_bad_questions_are_refused(digits):
    X, z, t = digits
    oracle = PairStumpOracle(X)
    with pytest.raises(ValueError, match="as many targets"):
        oracle.ask(np.ones(3), np.ones(3))
    with pytest.raises(ValueError, match="as many weights"):
        oracle.ask(z.astype(float), np.ones(3))
    with pytest.raises(ValueError, match="negative"):
        oracle.ask(z.astype(float), -np.ones(len(z)))
    with pytest.raises(ValueError, match="positive, finite"):
        oracle.ask(z.astype(float), np.zeros(len(z)))
    with pytest.raises(ValueError, match="component"):
        pair_scores(np.array([(9, 1, 0, 0, 1, -1)], PAIR_STUMP), X)
    with pytest.raises(ValueError, match="finite|large"):
        PairStumpOracle(np.full((4, 2, 1), np.nan))


@pytest.mark.parametrize("master", [Gentle, AdaBoost, Logistic, MadaBoost, ExponentialStep])
@pytest.mark.parametrize("kind", ["stumps", "lifted"])
def test_masters(digits, master, kind):
    X, z, t = digits
    oracle = PairStumpOracle(X[t]) if kind == "stumps" else LiftedOracle(X[t])
    run = boost(oracle, master(), z[t], 12)
    losses = [row["loss"] for row in run.history]
    assert len(losses) == 12 and (np.diff(losses) < 0).all()
    scores = sum(a * oracle.apply(h, X[t]) for h, a in zip(run.hypotheses, run.alphas))
    np.testing.assert_allclose(scores, run.scores, atol=1e-9)


@pytest.mark.parametrize("kind", ["swlda", "lda", "lifted"])
def test_controls(digits, kind):
    X, z, t = digits
    e = PairwiseBoostClassifier(kind, n_estimators=8, warm_start=True).fit(X[t], z[t])
    e.set_params(n_estimators=16).fit(X[t], z[t])
    whole = PairwiseBoostClassifier(kind, n_estimators=16).fit(X[t], z[t])
    assert (e.decision_function(X) == whole.decision_function(X)).all()
    half = PairwiseBoostClassifier(kind, n_estimators=8, subsample=0.5, random_state=0).fit(
        X[t], z[t]
    )
    assert (half.decision_function(X) != whole.decision_function(X)).any()
    assert half.score(X[~t], z[~t]) > 0.6
    heavy = PairwiseBoostClassifier(kind, n_estimators=8, class_weight={-1: 1, 1: 20}).fit(
        X[t], z[t]
    )
    assert (heavy.predict(X) == 1).mean() > (half.predict(X) == 1).mean()
    seen = []
    PairwiseBoostClassifier(kind, n_estimators=4, callbacks=[seen.append]).fit(X[t], z[t])
    assert len(seen) == 4


@pytest.mark.parametrize("kind", ["difference", "lifted"])
def test_early_stopping(digits, kind):
    X, z, t = digits
    noisy = np.where(np.random.default_rng(0).random(len(z)) < 0.2, -z, z)
    e = PairwiseBoostClassifier(kind, n_estimators=300, early_stopping=True, random_state=0)
    e.fit(X[t], noisy[t], validation=(X[~t], noisy[~t]))
    assert 0 < e.n_iter_ < 300 and "validation_loss" in e.history_.column_names
    full = PairwiseBoostClassifier(kind, n_estimators=300).fit(X[t], noisy[t])
    losses = [np.exp(-noisy[~t] * s).mean() for s in full.staged_decision_function(X[~t])]
    assert losses[e.n_iter_ - 1] <= 1.05 * min(losses)


def test_training_scores_are_decisions(digits):
    X, z, t = digits
    for kind, settings_ in (("swlda", dict(symmetric=False)), ("lifted", {})):
        kept = []
        e = PairwiseBoostClassifier(
            kind,
            n_estimators=20,
            **settings_,
            callbacks=[lambda run: kept.append(run.parts[0].state.scores.copy())],
        )
        e.fit(X[t], z[t])
        np.testing.assert_allclose(e.decision_function(X[t]), kept[-1], atol=1e-12)


def test_thresholds_move_predictions_only(digits):
    X, z, t = digits
    e = PairwiseBoostClassifier(n_estimators=60).fit(X[t], z[t])
    before = log_loss(z, e.predict_proba(X)), e.decision_function(X)
    labels = e.predict(X)
    e.calibrate_threshold(X[~t], z[~t], "max_tnr", 0.99)
    assert log_loss(z, e.predict_proba(X)) == before[0]
    assert (e.decision_function(X) == before[1]).all() and (e.predict(X) != labels).any()
    assert (e.set_threshold(0).predict(X) == labels).all()
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="finite"):
            e.set_threshold(bad)
    for call in (lambda m: m.calibrate_threshold(X, z), lambda m: m.set_threshold(0)):
        with pytest.raises(NotFittedError):
            call(PairwiseBoostClassifier())


def test_index_pairs_and_ranking():
    X, y = load_digits(return_X_y=True)
    index, z = draw_pairs(y, 100, 90, 0)
    direct = PairwiseBoostClassifier(n_estimators=10).fit(X[index], z)
    for source in (X, lambda rows: X[rows]):
        e = PairwiseBoostClassifier(n_estimators=10, preprocessor=source).fit(index, z)
        assert (e.decision_function(index) == direct.decision_function(X[index])).all()
    found = direct.rank(X[:3], X[10:40], k=7)
    assert found.index.shape == found.score.shape == (3, 7)
    brute = np.array(
        [[direct.pair_score(np.stack([q, g])[None])[0] for g in X[10:40]] for q in X[:3]]
    )
    assert (found.index == np.argsort(-brute, axis=1, kind="stable")[:, :7]).all()
    with pytest.raises(ValueError, match="point at"):
        PairwiseBoostClassifier(preprocessor=X).fit([[0, 10**6], [0, 1]], [1, -1])
    with pytest.raises(ValueError, match="features"):
        direct.rank(X[:3, :5], X[:4])
    with pytest.raises(ValueError, match="gallery"):
        direct.rank(X[:3], X[:4], k=0)


def test_error_rates_are_those_of_the_definition():
    r = np.random.default_rng(0)
    score, same = np.round(r.normal(size=300), 1), r.random(300) < 0.4
    curve = error_rates(score, same)
    for cut, far, frr in zip(*curve):
        assert far == pytest.approx(np.mean(score[~same] > cut), abs=1e-12)
        assert frr == pytest.approx(np.mean(score[same] <= cut), abs=1e-12)
    assert (np.diff(curve.false_match) <= 0).all()
    eer = equal_error_rate(curve)
    assert (
        abs(np.interp(0, curve.false_non_match - curve.false_match, curve.false_non_match) - eer)
        < 1e-12
    )
    assert rate_at(curve, 0.0) >= rate_at(curve, 0.5)
    report = verification_report(score, same, n_boot=100, random_state=0)
    assert report["eer"].low <= report["eer"].value <= report["eer"].high
    for bad in (np.ones(300, bool), np.zeros(300, bool)):
        with pytest.raises(ValueError, match="both"):
            error_rates(score, bad)
    with pytest.raises(ValueError, match="finite"):
        error_rates(np.r_[np.nan, score[1:]], same)


def test_splits_keep_classes_apart():
    y = load_digits().target
    p, zp, q, zq = train_test_pairs(y, n_pairs=200, random_state=0)
    assert not set(y[p].ravel()) & set(y[q].ravel()) and set(zp) == set(zq) == {-1, 1}
    p, zp, q, zq = train_test_pairs(y, n_pairs=200, disjoint=False, random_state=0)
    assert not set(p.ravel()) & set(q.ravel()) and set(y[p].ravel()) == set(y[q].ravel())
    with pytest.raises(ValueError):
        split_classes(y, 1)


COLD = """
import json
import numpy as np
from boostlit import PairwiseBoostClassifier
r = np.random.default_rng(0)
P, z = r.normal(size=(400, 2, 10)), np.where(np.arange(400) % 2, 1, -1)
PairwiseBoostClassifier().fit(P, z).predict(P)
from boostlit.pairwise.kernels import binned_search, stump_sums
print(json.dumps([k.ready for k in (binned_search, stump_sums)]))
"""


def test_small_fits_do_not_compile_the_search(tmp_path):
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    env.pop("BOOSTLIT_KERNELS", None)
    done = subprocess.run([sys.executable, "-c", COLD], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not any(json.loads(done.stdout)), done.stdout


def test_blas_threads_leave_no_trace():
    code = """
import numpy as np
from boostlit import PairwiseBoostClassifier
r = np.random.default_rng(0)
P, z = r.normal(size=(3000, 2, 30)), np.where(np.arange(3000) % 2, 1, -1)
e = PairwiseBoostClassifier("lifted", n_estimators=5).fit(P, z)
print(e.decision_function(P[:50]).tobytes().hex())
"""
    out = [
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            env={**os.environ, "OPENBLAS_NUM_THREADS": n},
        ).stdout
        for n in "12"
    ]
    assert out[0] and out[0] == out[1]


def test_bins_never_change_the_answer():
    "Outliers, clusters and tiny bulks fool the bins, which costs time and nothing else."
    r = np.random.default_rng(0)
    for seed in range(12):
        x = r.normal(size=(80, 2, 2))
        x[: 10 * (seed % 4)] *= 10.0 ** -(seed % 7)
        x[0] *= 10.0 ** (seed % 5 * 60)
        z, w = np.where(np.arange(80) % 2, 1.0, -1.0), r.exponential(size=80)
        answers = []
        for mode, bins in (("python", None), ("compiled", 2), ("compiled", 40), ("compiled", 900)):
            oracle = PairStumpOracle(x, n_bins=bins)
            with kernels(mode):
                if mode == "python":
                    oracle.lines.directions[:] = engine.array_directions(
                        oracle.lines, engine.load_of(engine.signs_of(z), w)
                    )
                answers.append(oracle.ask(z, w))
        assert all(a == answers[0] for a in answers), seed


def test_bins_are_in_order():
    "Bent bins are monotone in the projection, also where doubles are sparse."
    r = np.random.default_rng(0)
    for scale in (1e-12, 1.0, 1e6, 1e15, 1e80):
        base = np.sort(r.standard_cauchy(3000)) * scale
        t = np.sort(np.concatenate([base, np.nextafter(base, np.inf), np.nextafter(base, -np.inf)]))
        slot, out = np.zeros(len(t), np.uint32), np.zeros(len(t))
        with kernels("compiled"):
            unlabelled = np.zeros(len(t), np.int32)
            engine.place(t, t, 1.0, 0.0, 0.1, 1.0, 499.5, unlabelled, out, slot)
        bins = slot.astype(np.int64) >> 1
        assert (np.diff(bins) >= 0).all() and 0 <= bins.min() and bins.max() <= 999


# --- attacks: what a planted violation looks like to the search that should find it


def test_attack_finds_planted_stump_values():
    r = np.random.default_rng(0)
    z, w = r.choice([1.0, -1.0], 41), r.random(41)
    error = lambda c: (w * (z - c) ** 2).sum()
    others = r.uniform(-1, 1, 200)

    def beaten(c):
        return any(error(o) < error(c) for o in others)

    assert not beaten((w * z).sum() / w.sum())
    assert beaten(np.sign((w * z).sum()))  # planted: the majority label


def test_attack_finds_planted_product_bound():
    def violations(factor):
        found = 0
        for seed in range(30):
            r = np.random.default_rng(seed)
            X, z = r.normal(size=(40, 2)), r.choice([1.0, -1.0], 40)
            stumps, gains = gentle_stumps(X, z, 10)
            loss = np.exp(-z * stump_scores(stumps, X)).mean()
            found += loss > np.prod(1 - factor * np.array(gains)) + 1e-12
        return found

    assert violations(0.5) == 0
    assert violations(1.0) > 0  # planted: twice the gain


def test_attack_finds_planted_corner():
    def violations(corners):
        r, found = np.random.default_rng(0), 0
        for _ in range(300):
            k, (p0, n0, q, m) = r.integers(2, 9), r.exponential(size=4)
            w, positive = r.exponential(size=k), r.random(k) < 0.5
            p, n = w[positive].sum(), w[~positive].sum()
            P, N = p0 + p + q, n0 + n + m
            at = [(p0 + p, n0), (p0, n0 + n), (p0, n0), (p0 + p, n0 + n)]
            bound = max(split_gain(*at[c], P, N) for c in corners)
            running = zip(np.cumsum(w * positive)[:-1], np.cumsum(w * ~positive)[:-1])
            found += any(split_gain(p0 + a, n0 + b, P, N) > bound + 1e-9 for a, b in running)
        return found

    assert violations(range(4)) == 0
    for forgotten in range(2):
        assert violations([c for c in range(4) if c != forgotten]) > 0


def test_attack_finds_planted_additive():
    from scipy.optimize import minimize

    def minimum(K, prior, unfair):
        same = np.diag(1.0 + unfair * (np.arange(K) == 0))
        same, different = same / same.sum(), (1 - np.eye(K)) / (K * (K - 1))

        def loss(x):
            F = x[:K, None] + x[None, K:]
            return prior * (same * np.exp(-F)).sum() + (1 - prior) * (different * np.exp(F)).sum()

        return minimize(loss, np.zeros(2 * K), tol=1e-12).fun

    for prior in (0.5, 0.46):
        floor = 2 * np.sqrt(prior * (1 - prior))
        assert minimum(4, prior, 0.0) == pytest.approx(floor, abs=1e-6)
        assert minimum(4, prior, 1.0) < floor - 1e-3  # planted: one class favoured


def test_attack_finds_planted_difference():
    def gain(pairs, label, direction):
        return best_threshold(pairs @ np.array(direction), label, np.ones(4) / 4)[0]

    label, lost = np.array([-1.0, -1.0, 1.0, 1.0]), np.array([(0, 1), (1, 0), (2, 3), (3, 2)])
    assert gain(lost, label, (1, -1)) == 0 and gain(lost, label, (1, 1)) == 1
    kept = np.array([(0, 1), (1, 0), (2, 2), (3, 3)])  # planted: the difference does tell
    assert gain(kept, label, (1, -1)) > 0


def test_attack_finds_planted_repetition():
    def differs(scatter):
        r = np.random.default_rng(0)
        X, codes, w = r.normal(size=(40, 3)), r.integers(2, size=40), r.integers(0, 4, 40)
        once = scatter(X, codes, w)
        again = scatter(np.repeat(X, w, 0), np.repeat(codes, w), np.ones(w.sum()))
        return any(np.abs(a - b).max() > 1e-9 for a, b in zip(once, again))

    def by_rows(X, codes, w):
        means, between, within = weighted_scatter(X, codes, w)
        return means, between / len(X), within / len(X)  # planted: rows instead of weight

    assert not differs(weighted_scatter) and differs(by_rows)


def test_attack_finds_planted_direction():
    def beaten(direction):
        found = 0
        for seed in range(20):
            r = np.random.default_rng(seed)
            x = r.normal(size=(60, 2)) @ r.normal(size=(2, 2))
            z, w = r.choice([1.0, -1.0], 60), r.exponential(size=60)
            means, SB, SW = weighted_scatter(x, (z > 0).astype(int), w)
            q = lambda v: (v @ SB @ v) / (v @ SW @ v)
            fan = [np.array([np.cos(a), np.sin(a)]) for a in np.linspace(0, np.pi, 181)]
            found += max(map(q, fan)) > q(direction(x, z, w, means)) * (1 + 1e-9)
        return found

    assert beaten(lambda x, z, w, means: np.array(fisher_direction(x[:, 0], x[:, 1], z, w))) == 0
    assert beaten(lambda x, z, w, means: means[1] - means[0]) > 10  # planted: no whitening


def test_attack_finds_planted_symmetry(digits):
    X, z, t = digits
    stumps = np.array(boost(PairStumpOracle(X[t]), Gentle(), z[t], 20).hypotheses)

    def depends_on_order(symmetric):
        scores = [pair_scores(stumps, x, symmetric) for x in (X, X[:, ::-1])]
        return (scores[0] != scores[1]).any()

    assert not depends_on_order(True) and depends_on_order(False)


def test_attack_finds_planted_fair():
    def leaks(same, different):
        "Does the class of the first sample say anything about the label? In exact counts."
        K, total = len(same), sum(different.values())
        first = [Fraction(n, sum(same)) for n in same]
        both = [sum(n for pair, n in different.items() if a in pair) for a in range(K)]
        return first != [Fraction(n, 2 * total) for n in both]

    for K, s, t in ((2, 3, 5), (5, 7, 1), (10, 46, 12)):
        kinds = {(a, b): t for a in range(K) for b in range(a + 1, K)}
        assert not leaks([s] * K, kinds)
        assert leaks([s + 1] + [s] * (K - 1), kinds)  # planted: a class too often


def test_attack_finds_planted_invariants():
    r = np.random.default_rng(0)
    (u, v), (i, j) = r.normal(size=(2, 200, 3)), np.triu_indices(3)
    D, S = u - v, u + v
    even = np.c_[np.ones(200), S, D[:, i] * D[:, j], S[:, i] * S[:, j]]
    left_over = lambda basis, y: np.linalg.lstsq(basis, y, rcond=None)[1][0]
    Q = r.normal(size=(6, 6))
    form = lambda a, b: ((np.c_[a, b] @ Q) * np.c_[a, b]).sum(1)
    assert left_over(even, form(u, v) + form(v, u)) < 1e-9
    assert left_over(even, form(u, v)) > 1  # planted: not invariant
    assert left_over(even[:, :-1], form(u, v) + form(v, u)) > 1e-3  # planted: a monomial missing


def test_attack_finds_planted_whitened():
    from scipy.linalg import eigh
    from scipy.stats import multivariate_normal as normal

    r = np.random.default_rng(0)
    W, B = (a @ a.T for a in r.normal(size=(2, 3, 4)))
    D, S = r.normal(size=(2, 60, 3)) * 2
    same = normal(cov=2 * W).logpdf(D) + normal(cov=2 * W + 4 * B).logpdf(S)
    ratio = same - normal(cov=2 * W + 2 * B).logpdf(D) - normal(cov=2 * W + 2 * B).logpdf(S)

    def gap(axes, lam, sum_sign=1):
        terms = -((D @ axes) ** 2) * lam / (1 + lam)
        terms = terms + sum_sign * (S @ axes) ** 2 * lam / ((1 + lam) * (1 + 2 * lam))
        return np.ptp(ratio - 0.5 * terms.sum(1))

    lam, axes = eigh(B, W)
    assert gap(axes / np.sqrt(2), lam) < 1e-9
    plain = np.diag(1 / np.sqrt(2 * np.diag(W)))
    assert gap(plain, np.diag(B) / np.diag(W)) > 0.1  # planted: axes that interfere
    assert gap(axes / np.sqrt(2), lam, -1) > 0.1  # planted: a wrong sign


def test_attack_finds_planted_ridge_fisher():
    r = np.random.default_rng(0)
    X, z, w = r.normal(size=(60, 4)) + 1.0, r.choice([1.0, -1.0], 60), r.random(60)
    w /= w.sum()
    means, _, within = weighted_scatter(X, (z > 0).astype(int), w)

    def angle(centred, ridge=0.3):
        Y = X - w @ X if centred else X
        beta = np.linalg.solve((Y * w[:, None]).T @ Y + ridge * np.eye(4), Y.T @ (w * z))
        fisher = np.linalg.solve(within + ridge * np.eye(4), means[1] - means[0])
        return 1 - abs(beta @ fisher) / np.linalg.norm(beta) / np.linalg.norm(fisher)

    assert angle(True) < 1e-12 and angle(False) > 1e-6  # planted: the constant forgotten


def test_a_scatter_that_rounds_below_zero_has_a_direction():
    "Classes that are single points: what is left of the scatter is a rounding error of any sign."
    P, N, near = .4933802583454481, .5066197416545517, .9999999999999998
    sums = near, -near, -.013239483309103628, .013239483309103628, near**2, -near**2, near**2
    for mode in ("python", "compiled"):
        with kernels(mode): x, y = direction(P, N, *sums)
        assert abs(np.hypot(x, y) - 1) < 1e-12


def test_a_real_target_weighs_the_direction_like_a_weight():
    "Doubling the target of an example turns the learnt lines as doubling its weight would."
    rng = np.random.default_rng(0)
    P, signs = rng.normal(size=(80, 2, 3)), np.where(np.arange(80) % 2, 1., -1.)
    P[signs > 0, 1] += P[signs > 0, 0]
    size, w = rng.uniform(.2, 3, 80), rng.uniform(.5, 1, 80)
    lines = []
    for targets, weights in ((signs*size, w), (signs, w*size)):
        oracle = PairStumpOracle(P, "swlda")
        oracle.ask(targets, weights/weights.sum())
        lines.append(oracle.lines.directions.copy())
    assert np.allclose(*lines, rtol=1e-9)


def test_the_first_of_a_gallery():
    rng = np.random.default_rng(1)
    P, y = rng.normal(size=(60, 2, 3)), np.arange(60) % 2
    P[y == 1, 1] = P[y == 1, 0] + .3*rng.normal(size=(30, 3))
    est = PairwiseBoostClassifier(n_estimators=3).fit(P, 2*y - 1)
    query, gallery = P[:5, 0], P[:7, 1]
    first = est.rank(query, gallery, k=1)
    whole = est.rank(query, gallery)
    assert (np.asarray(first[0]) == np.asarray(whole[0])[:, :1]).all()
    for k in (0, -1):
        with pytest.raises(ValueError, match="positive k"): est.rank(query, gallery, k=k)


def test_cuts_lie_between_different_values():
    z, w = np.array([1., -1., 1., -1.]), np.full(4, .25)
    gain, threshold, above, below = best_threshold(np.array([0., 0., 1., 1.]), z, w)
    assert (gain, threshold, above, below) == (0., .5, 0., 0.)
    gain, threshold, above, below = best_threshold(np.array([0., 1., 3., 4.]), z, w)
    assert gain == pytest.approx(1/3) and threshold == .5
    assert below == 1. and above == pytest.approx(-1/3)
    assert best_threshold(np.zeros(4), z, w)[0] == -1


def test_the_second_stump_sees_the_weights_of_the_first():
    rng = np.random.default_rng(0)
    X, z = rng.normal(size=(40, 3)), np.where(rng.random(40) < .5, 1., -1.)
    (first, second), _ = gentle_stumps(X, z, 2)
    f, theta, a, b = first
    w = np.exp(-z*np.where(X[:, f] > theta, a, b))
    found = [best_threshold(x, z, w/w.sum()) for x in X.T]
    best = int(np.argmax([g for g, *_ in found]))
    assert second[0] == best and np.allclose(second[1:], found[best][1:])


def test_scatter_of_differences():
    from boostlit.pairwise.boosting import reference_direction
    from boostlit.pairwise.lifting import _weighted_columns, difference_scatter
    rng = np.random.default_rng(0)
    pairs, w = rng.normal(size=(9, 2, 3)), rng.random(9)
    D = pairs[:, 0] - pairs[:, 1]
    expected = sum(v*np.outer(d, d) for v, d in zip(w, D))/w.sum()
    assert np.allclose(difference_scatter(pairs, w), expected)
    axes = rng.normal(size=(3, 2))
    assert np.allclose(_weighted_columns(D, axes), D@axes)
    z = np.where(rng.random(9) < .5, 1., -1.)
    p = reference_direction(D[:, :2], z, w/w.sum())
    assert np.linalg.norm(p) == pytest.approx(1)


def test_shares_of_a_fair_draw():
    from boostlit.pairwise.pairs import pair_counts
    assert pair_counts(4, 12, 12) == (3, 2, 12)
    with pytest.raises(ValueError, match="positive multiple of 6"): pair_counts(4, 12, 7)


def test_classes_with_one_mean_have_no_axis():
    from boostlit.pairwise.projection import discriminant_axes
    X = np.array([[1., 0.], [-1., 0.], [0., 2.], [0., -2.]])
    *_, axes, spread = discriminant_axes(X, np.array([0, 0, 1, 1]), np.full(4, .25))
    assert spread.tolist() == [0.] and axes.shape == (2, 1)


def test_equal_error_rates_of_simple_curves():
    from boostlit.pairwise.verification import ErrorRates
    cuts = np.array([-np.inf, 0., 1.])
    curve = ErrorRates(cuts, np.array([1., .5, 0.]), np.array([0., .25, 1.]))
    assert equal_error_rate(curve) == pytest.approx(.4)
    assert equal_error_rate(curve._replace(false_non_match=np.array([0., .5, 1.]))) == .5


def test_exact_weights_sum_to_one():
    from boostlit.pairwise.boosting import ExactGentle
    master, y = ExactGentle(), np.array([1., 1., -1.])
    state = master.start(y, np.full(3, 1/3), 2)
    master.update(state, np.array([.5, -.5, -.25]), 1.)
    w = np.exp(-y*[.5, -.5, -.25])
    assert np.allclose(state.weights, w/w.sum()) and state.loss == pytest.approx(w.mean())


def test_drawn_pairs_are_those_of_stored_results():
    from boostlit.pairwise.pairs import train_test_pairs
    train, z, test, _ = train_test_pairs(np.repeat(np.arange(5), 4), n_pairs=6, random_state=0)
    assert train.tolist() == [[8, 11], [13, 10], [15, 14], [3, 1], [0, 12], [2, 9]]
    assert test.tolist() == [[17, 6], [19, 16], [18, 7], [5, 4]]
