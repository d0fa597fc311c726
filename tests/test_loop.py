"The one loop: pairs that fit, pairs that refuse, and what every booster inherits from it."
import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.metrics import log_loss

from boostlit import (
    AdaBoost, AdaBoostClassifier, Checkpoint, Gentle, GentleBoostClassifier, Logistic,
    LogitBoostClassifier, MadaBoost, Multinomial, SAMME, StumpOracle, boost,
)
from boostlit.core.masters import ExponentialStep, best_step

BOOSTERS = [AdaBoostClassifier, GentleBoostClassifier, LogitBoostClassifier]


def noisy(n=600, noise=.2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    clean = X[:, 0] + np.abs(X[:, 1]) > .5
    return X, clean ^ (rng.random(n) < noise)


@pytest.mark.parametrize("kind", BOOSTERS)
def test_early_stopping_is_near_the_best_round(kind):
    "The chosen round's held-out loss is within 5 % of the best that the staged curve shows."
    X, y = noisy(1200)
    valid = (X[400:800], y[400:800])
    model = kind(n_estimators=150).fit(X[:400], y[:400], validation=valid)
    whole = kind(n_estimators=150).fit(X[:400], y[:400])
    curve = [log_loss(valid[1], p) for p in whole.staged_predict_proba(valid[0])]
    assert log_loss(valid[1], model.predict_proba(valid[0])) <= 1.05*min(curve)
    assert model.n_iter_ < 150
    seen = model.history_["validation_loss"].to_numpy()
    assert seen.argmin() == len(seen) - 1


@pytest.mark.parametrize("kind", BOOSTERS)
@pytest.mark.parametrize("load", [noisy, lambda: load_wine(return_X_y=True)], ids=["two", "three"])
def test_controls(kind, load):
    X, y = load()
    whole = kind(n_estimators=12).fit(X, y)
    parts = kind(n_estimators=5, warm_start=True).fit(X, y)
    parts.set_params(n_estimators=12).fit(X, y)
    assert np.array_equal(whole.decision_function(X), parts.decision_function(X))
    with pytest.raises(ValueError, match="other data"):
        parts.fit(X[:-1], y[:-1])
    with pytest.raises(ValueError, match="can only add rounds"):
        parts.set_params(n_estimators=3).fit(X, y)
    weighted = kind(n_estimators=12, class_weight="balanced").fit(X, y)
    counts = {c: (y == c).sum() for c in np.unique(y)}
    by_hand = kind(n_estimators=12).fit(X, y, sample_weight=[1/counts[c] for c in y])
    np.testing.assert_allclose(
        weighted.decision_function(X), by_hand.decision_function(X), atol=1e-6
    )
    sampled = [kind(n_estimators=12, subsample=.5, random_state=s).fit(X, y) for s in (0, 0, 1)]
    assert np.array_equal(sampled[0].decision_function(X), sampled[1].decision_function(X))
    assert not np.array_equal(sampled[0].decision_function(X), sampled[2].decision_function(X))
    assert sampled[0].score(X, y) > .6
    slow = kind(n_estimators=12, learning_rate=.1).fit(X, y)
    assert slow.history_["loss"].to_numpy()[-1] > whole.history_["loss"].to_numpy()[-1]


@pytest.mark.parametrize("kind", BOOSTERS)
def test_history_and_staged_scores_agree(kind):
    X, y = noisy()
    model = kind(n_estimators=25).fit(X, y)
    errors = 1 - np.array(list(model.staged_score(X, y)))
    np.testing.assert_allclose(model.history_["error"].to_numpy(), errors, atol=.02)
    losses = model.history_["loss"].to_numpy()
    assert (np.diff(losses) < 0).all()
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))
    assert model.feature_importances_.argmax() in (0, 1)


def test_a_run_goes_on_from_its_checkpoint(tmp_path):
    X, y = noisy()
    path = tmp_path/"run.npz"
    whole = AdaBoostClassifier(n_estimators=40).fit(X, y)
    AdaBoostClassifier(n_estimators=15, callbacks=[Checkpoint(path, every=5)]).fit(X, y)
    rest = AdaBoostClassifier(n_estimators=40, callbacks=[Checkpoint(path)]).fit(X, y)
    assert np.array_equal(whole.decision_function(X), rest.decision_function(X))
    path.write_bytes(b"not a file")
    with pytest.raises(ValueError):
        AdaBoostClassifier(n_estimators=40, callbacks=[Checkpoint(path)]).fit(X, y)


def test_best_step_minimises():
    rng = np.random.default_rng(0)
    for _ in range(200):
        weights = rng.dirichlet(np.ones(7))
        margins = rng.normal(size=7)*rng.choice([1e-3, 1., 1e3])
        a = best_step(weights, margins)
        value = lambda s: weights @ np.exp(np.minimum(-s*margins, 700))
        if (margins > 0).all() or (margins < 0).all():
            continue
        size = np.abs(margins).max()
        if abs(a)*size < 11:
            assert value(a) <= min(value(a*(1 + 1e-4)), value(a*(1 - 1e-4))) + 1e-12
    assert best_step(np.ones(3)/3, np.zeros(3)) == 0.


def test_multinomial_loss_bounds_the_error():
    X, y = load_wine(return_X_y=True)
    run = boost(StumpOracle(X, criterion="least_squares"), Multinomial(), y, 10, n_classes=3)
    assert all(row["error"] <= row["loss"] for row in run.history)


def test_class_oracles_serve_two_class_masters():
    X, y = noisy()
    signs = np.where(y, 1., -1.)
    for master in (AdaBoost(), Gentle(), Logistic(), MadaBoost()):
        direct = boost(StumpOracle(X), master, signs, 6, plain=True)
        through = boost(StumpOracle(X, n_classes=2), master, signs, 6)
        np.testing.assert_allclose(direct.scores, through.scores, atol=1e-9)
    with pytest.raises(ValueError, match="Use Gentle, Logistic or AdaBoost"):
        boost(StumpOracle(X, criterion="least_squares"), SAMME(), signs, 6)
    with pytest.raises(ValueError, match="ExponentialStep does not fit"):
        boost(StumpOracle(X), ExponentialStep(), signs, 6)
    with pytest.raises(ValueError, match="one class against the rest"):
        boost(StumpOracle(X), AdaBoost(), signs, 6, n_classes=3)
