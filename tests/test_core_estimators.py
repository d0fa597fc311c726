"scikit-learn's common checks on the estimators of the core."
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks
import boostlit
from boostlit import (AdaBoostClassifier, DecisionStumpClassifier, GentleBoostClassifier,
                      LogitBoostClassifier)
from boostlit.core.loop_kernels import StumpRows
from boostlit.core.stumps import LearnerOracle

ESTIMATORS = [
    DecisionStumpClassifier(),
    DecisionStumpClassifier(max_bins=16),
    AdaBoostClassifier(n_estimators=8),
    GentleBoostClassifier(n_estimators=8),
    LogitBoostClassifier(n_estimators=8),
    AdaBoostClassifier(n_estimators=8, learning_rate=0.5, subsample=0.8, random_state=0),
    LogitBoostClassifier(n_estimators=8, early_stopping=True, random_state=0),
    AdaBoostClassifier(GaussianNB(), n_estimators=5),
]

TAIL = ("a stump cuts off a tail that holds rows of the light classes only, "
        "so more than 13 % of the new rows may fall there")
CHANCE = "rows are drawn at random: repeating a row draws others"
WEIGHTS = ("check_sample_weight_equivalence_on_dense_data",
           "check_sample_weight_equivalence_on_sparse_data")


def expected_failures(estimator):
    "Checks that cannot hold, each with its reason."
    if getattr(estimator, "max_bins", None) == 16:
        why = "quantile bins are chosen before weights are known, so repeating a row moves them"
        return dict.fromkeys(WEIGHTS, why)
    expected = {}
    if hasattr(estimator, "class_weight") and estimator.estimator is None:
        expected["check_class_weight_classifiers"] = TAIL
    if getattr(estimator, "subsample", 1) < 1 or getattr(estimator, "early_stopping", False):
        expected.update({name: CHANCE for name in WEIGHTS})
    return expected


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_conventions(estimator, check): check(estimator)


@pytest.mark.parametrize("learner", [None, DecisionTreeRegressor(max_depth=1)])
@pytest.mark.parametrize("call, rounds", [(2, 0), (4, 1), (6, 1), (11, 3)])
def test_an_interrupt_in_any_class_leaves_whole_rounds(monkeypatch, learner, call, rounds):
    """Three classes are boosted in step: a Ctrl-C in a later class keeps the rounds that all of
    them have finished."""
    X, y = load_wine(return_X_y=True)
    owner = StumpRows if learner is None else LearnerOracle
    asked, best = [0], owner.best
    def impatient(self, *a):
        asked[0] += 1
        if asked[0] == call: raise KeyboardInterrupt
        return best(self, *a)
    want = GentleBoostClassifier(learner, n_estimators=max(rounds, 1), random_state=0).fit(X, y)
    monkeypatch.setattr(owner, "best", impatient)
    est = GentleBoostClassifier(learner, n_estimators=5, random_state=0)
    if not rounds:
        with pytest.raises(KeyboardInterrupt): est.fit(X, y)
        with pytest.raises(NotFittedError): est.predict(X)
        return
    with pytest.warns(RuntimeWarning, match=f"keeps the {rounds} rounds"): est.fit(X, y)
    assert (
        len(list(est.staged_predict(X))) == rounds
        and est.alphas_.shape == (3, rounds)
        and len(est.history_) == rounds
    )
    if learner is None: assert (est.decision_function(X) == want.decision_function(X)).all()


@pytest.mark.parametrize("name", ["AdaBoostClassifier", "GentleBoostClassifier",
                                  "LogitBoostClassifier", "QuadraticBoostClassifier"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_where_no_stump_has_an_edge_probabilities_are_modest(name, n_classes, tmp_path):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(500, 4)), rng.integers(0, n_classes, 500)*(rng.random(500) < .9)
    est = getattr(boostlit, name)(n_estimators=20, random_state=0).fit(X[:400], y[:400])
    assert est.link_scale_ < .2
    P, prior = est.predict_proba(X[400:]), np.bincount(y[:400])/400
    assert -np.log(P[np.arange(100), y[400:]]).mean() < -np.log(prior[y[400:]]).mean() + 1e-4
    votes = est.predict(X[400:])
    assert len(set(votes)) > 1                           # labels stay those of the vote
    order = rng.permutation(400)
    again = getattr(boostlit, name)(n_estimators=20, random_state=0).fit(X[order], y[order])
    assert again.link_scale_ == est.link_scale_
    boostlit.save_model(est, tmp_path/"model")
    assert (boostlit.load_model(tmp_path/"model").predict_proba(X[400:]) == P).all()
    spoken = {}
    exec(boostlit.to_python(est), spoken)
    own = np.array([spoken["predict_proba"](list(row)) for row in X[400:410]])
    assert np.abs(own - P[:10]).max() < 1e-9
    assert [spoken["predict"](list(row)) for row in X[400:410]] == votes[:10].tolist()
    again = boostlit.from_json(boostlit.to_json(est))
    assert np.abs(again.predict_proba(X[400:]) - P).max() < 1e-9
    assert (again.predict(X[400:]) == votes).all()


@pytest.mark.parametrize("name", ["AdaBoostClassifier", "GentleBoostClassifier",
                                  "LogitBoostClassifier", "QuadraticBoostClassifier"])
def test_luck_in_clusters_is_not_found_again_in_rows_held_out(name):
    "Labels in runs along a sorted column: dealt out in turn, the thirds would share the runs."
    rng = np.random.default_rng(3)
    X = rng.normal(size=(600, 1))*10.**rng.uniform(0, 5, (600, 1)) + rng.normal(size=(600, 60))
    y = rng.integers(0, 2, 600)
    est = getattr(boostlit, name)(n_estimators=60, random_state=0).fit(X[:400], y[:400])
    P = est.predict_proba(X[400:])
    assert -np.log(P[np.arange(200), y[400:]]).mean() < np.log(2) + .01


@pytest.mark.parametrize("model", [AdaBoostClassifier(), GentleBoostClassifier()],
                         ids=lambda m: type(m).__name__)
def test_few_rows_are_not_shouted_about(model):
    "On few noisy rows probabilities stay better than the prior's, and no label changes."
    g = np.random.default_rng(0)
    X = g.normal(size=(150, 8))
    y = (X[:, 0] + .5*g.normal(size=150) > 0).astype(int)
    fitted = clone(model).fit(X[:50], y[:50])
    P = fitted.predict_proba(X[50:])
    loss = -np.log(P[np.arange(100), y[50:]]).mean()
    assert fitted.link_scale_ < 1 and loss < np.log(2)
    assert (fitted.predict(X) == (fitted.decision_function(X) > 0)).all()
    twice = clone(model).fit(np.repeat(X[:50], 2, axis=0), np.repeat(y[:50], 2))
    assert np.allclose(twice.predict_proba(X), fitted.predict_proba(X))


def test_margins_are_signed_shares_of_the_vote():
    X, y = load_wine(return_X_y=True)
    X, y = X[y < 2][:, :2], y[y < 2]
    model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    expected = np.where(y == 1, 1, -1)*model.decision_function(X)/model.alphas_.sum()
    assert np.allclose(boostlit.margins(model, X, y), expected)
    assert len(np.unique(np.abs(expected))) > 1


def test_a_share_of_every_class_is_held_out():
    from boostlit.core.controls import hold_out
    codes = np.repeat([0, 1, 2], [20, 10, 1])
    held = hold_out(codes, .2, np.random.RandomState(0))
    assert np.bincount(codes[held], minlength=3).tolist() == [4, 2, 0]
    most = hold_out(codes, .99, np.random.RandomState(0))
    assert np.bincount(codes[most], minlength=3).tolist() == [19, 9, 0]
    with pytest.raises(ValueError, match="too few rows"):
        hold_out(np.array([0, 1]), .5, np.random.RandomState(0))


def test_hashes_of_arrays_are_hashes_of_their_content():
    from boostlit.core.controls import hash_arrays
    words = lambda: np.array(["".join(["wo", "rd"]), 10**30], dtype=object)
    assert hash_arrays(words()) == hash_arrays(words())
    a = np.arange(4.)
    assert hash_arrays(a) == hash_arrays(a.copy()) != hash_arrays(a[::-1])
    tiny = np.array([1., 2.]), np.array([1., np.nextafter(2., 3.)])
    assert hash_arrays(tiny[0]) != hash_arrays(tiny[1])
    assert hash_arrays(np.zeros(2, np.int32)) != hash_arrays(np.zeros(2, np.int64))


def test_the_most_surprising_cut():
    from boostlit.core.edges import best_surprise
    rng = np.random.default_rng(0)
    codes, labels = rng.integers(0, 6, (3, 60)), rng.integers(0, 3, 60)
    best, looked = 0., 0
    for code in codes:
        for c in range(5):
            left = code <= c
            if not 5 <= left.sum() <= 55: continue
            for k in range(3):
                p, m = np.mean(labels == k), left.sum()
                spread = np.sqrt(m*(1 - m/60)*p*(1 - p))
                best = max(best, abs((labels[left] == k).sum() - m*p)/spread)
                looked += 1
    assert best_surprise(codes, labels) == (pytest.approx(best), looked)
    level = np.repeat([[0, 1]], 10, axis=0).T.ravel()[None]
    assert best_surprise(level, np.tile([0, 1], 10))[0] == 0.      # nothing to be seen


def test_learners_without_a_second_class_are_constants():
    from boostlit.core.stumps import fit_learner
    X, y = np.arange(6.)[:, None], np.array([1., 1., 1., -1., -1., -1.])
    w = np.where(y > 0, 1/3, 0.)
    h = fit_learner(GaussianNB(), X, y, w, np.random.RandomState(0))
    assert type(h).__name__ == "DummyClassifier" and (h.predict(X) == 1).all()


def test_scales_of_fixed_point():
    from boostlit.core.stumps import UNIT, _scale
    assert _scale(1.) == _scale(.3) == UNIT
    assert _scale(1000.) == 2.**51 and _scale(.3, window=False) == 2.**62
    with pytest.raises(ValueError, match="finite"): _scale(np.inf)


def test_a_cut_needs_a_row_for_the_missing_values():
    from boostlit.core.stump_kernels import class_cut
    H, votes = np.ones((4, 2), np.int64), np.zeros((3, 2), np.int64)
    class_cut(H, 3, True, False, -1, 0, votes)
    with pytest.raises(ValueError, match="no 4 codes"):
        class_cut(H, 4, True, False, -1, 0, votes)


def test_gentle_starts_without_a_shift():
    "A sum of one is one, rounding or not: the first weights are not halved."
    from boostlit import Gentle, StumpOracle
    from boostlit.core.loop import conversation
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(64, 2)), np.where(rng.random(64) < .5, 1., -1.)
    part = conversation(StumpOracle(X, criterion="least_squares"), Gentle(), y)
    part.round()
    assert part.shift == 0 and abs(part.state.weights.sum() - 1) < 1e-12


def test_sums_of_stumps_row_by_row():
    "The form that is compiled for many rows, interpreted here."
    from boostlit.core.loop_kernels import ensemble_scores, sum_stumps
    from boostlit.core.stumps import STUMP
    stumps = np.array([(0, False, 1., .5, -.25, 2.), (1, True, 2., 1., -1., 0.)], STUMP)
    X = np.array([[0., 2.], [1., 1.], [3., 2.], [np.nan, np.nan], [2., 0.]])
    alphas, out = np.array([1., .5]), np.empty(5)
    sum_stumps.function(stumps.view(np.recarray), alphas, X, out)
    assert out.tolist() == [1., 0., .25, 2., -.75]
    assert np.array_equal(ensemble_scores(stumps, alphas, X), out)


def test_stumps_of_a_class_sum_to_its_score():
    "For masters of all classes at once the stumps of the others take part, too."
    from boostlit.core.explaining import class_stumps
    from boostlit.core.loop_kernels import ensemble_scores
    X, y = load_wine(return_X_y=True)
    model = boostlit.LogitBoostClassifier(n_estimators=4).fit(X[:, :3], y)
    scores = model.decision_function(X[:, :3])
    for k in range(3):
        stumps, weights = class_stumps(model, k)
        found = ensemble_scores(stumps, weights, np.ascontiguousarray(X[:, :3]))
        assert np.ptp(found - scores[:, k]) < 1e-9
