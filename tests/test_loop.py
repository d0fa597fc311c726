"The one loop: pairs that fit, pairs that refuse, and what every booster inherits from it."
import inspect

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.metrics import log_loss

from boostlit import (
    AdaBoost, AdaBoostClassifier, Checkpoint, Gentle, GentleBoostClassifier, Logistic,
    LogitBoostClassifier, MadaBoost, Multinomial, SAMME, StumpOracle, boost,
)
import boostlit
from boostlit import Booster
from boostlit.core.masters import ExponentialStep, best_step
from test_bad_input import ESTIMATORS, estimator, good_data

BOOSTERS = [AdaBoostClassifier, GentleBoostClassifier, LogitBoostClassifier]
# every public estimator that stands on the loop; one that moves there joins by itself
EVERY = [n for n in ESTIMATORS if issubclass(getattr(boostlit, n), Booster)
         and "n_estimators" in getattr(boostlit, n)().get_params()]
ORDER = ["learning_rate", "subsample", "early_stopping", "validation_fraction", "n_iter_no_change",
         "warm_start", "class_weight", "callbacks", "n_jobs", "random_state", "verbose"]


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


def corrective(name):
    "Does its master set all coefficients anew in every round? Then nothing is shrunken or sampled."
    est = getattr(boostlit, name)()
    return est.make_master(2).corrective if type(est).make_master else False


def every(name, n=60, **parameters):
    "An estimator of the public list with these parameters, and data for it."
    kind, est = estimator(name)
    X, y, _ = good_data(kind, n)
    est = clone(est).set_params(n_estimators=6)
    if "random_state" in est.get_params():
        est.set_params(random_state=0)
    return est.set_params(**parameters), X, y


@pytest.mark.parametrize("name", EVERY)
def test_every_booster_has_every_control(name):
    cls = getattr(boostlit, name)
    lacking = {p for p in ORDER if p not in inspect.signature(cls.__init__).parameters}
    assert lacking <= ({"learning_rate", "subsample", "warm_start"} if corrective(name) else set())
    for method in ("staged_score", "staged_predict", "staged_predict_proba", "predict_log_proba"):
        assert callable(getattr(cls, method))
    parameters = inspect.signature(cls.__init__).parameters
    for new, old in (("estimator", "base_learner"), ("categorical_features", "nominal_features")):
        assert old not in parameters or new in parameters


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", EVERY)
def test_every_booster_goes_on_where_it_stopped(name):
    "n rounds, then 2n: the model of 2n rounds at once."
    whole, X, y = every(name)
    if "warm_start" not in whole.get_params():
        pytest.skip("a corrective master without warm starts")
    half = clone(whole).set_params(n_estimators=3, warm_start=True).fit(X, y)
    half.set_params(n_estimators=6).fit(X, y)
    whole.fit(X, y)
    assert half.n_iter_ == whole.n_iter_
    np.testing.assert_array_equal(half.decision_function(X), whole.decision_function(X))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", EVERY)
def test_every_booster_samples_weighs_and_listens(name):
    heard = []
    plain, X, y = every(name, callbacks=[lambda run: heard.append(len(run.history))])
    plain.fit(X, y)
    assert heard == list(range(1, len(heard) + 1)) and len(heard) >= plain.n_iter_
    if "subsample" not in plain.get_params():
        return
    drawn = [clone(plain).set_params(subsample=.5, callbacks=None, random_state=s).fit(X, y)
             for s in (0, 0)]
    np.testing.assert_array_equal(*(d.decision_function(X) for d in drawn))
    first = y == np.unique(y)[0]
    said = [clone(plain).set_params(class_weight={c: w for c, w in zip(np.unique(y), weights)},
                                    callbacks=None).fit(X, y).predict(X)
            for weights in ((50., 1.), (1., 50.))] if len(np.unique(y)) == 2 else []
    if said:
        assert (said[0] == y)[first].mean() >= (said[1] == y)[first].mean()
    *_, last = plain.staged_score(X, y)
    assert last == pytest.approx(plain.score(X, y))
    np.testing.assert_allclose(np.exp(plain.predict_log_proba(X)), plain.predict_proba(X))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", EVERY)
def test_every_booster_stops_near_its_best_round(name):
    "On noisy labels the kept round is within 5 % of the best round of the staged curve."
    est, X, y = every(name, 240)
    flip = np.random.default_rng(1).random(len(y)) < .2
    classes = np.unique(y)
    noisy = np.where(flip, classes[(np.searchsorted(classes, y) + 1) % len(classes)], y)
    valid = (X[120:], noisy[120:])
    whole = clone(est).set_params(n_estimators=40).fit(X[:120], noisy[:120])
    early = clone(est).set_params(n_estimators=40, early_stopping=True, n_iter_no_change=40)
    early.fit(X[:120], noisy[:120], validation=valid)
    losses = early.history_["validation_loss"].to_numpy()
    assert losses.argmin() == len(losses) - 1
    curve = [log_loss(valid[1], p, labels=classes) for p in whole.staged_predict_proba(valid[0])]
    if whole.n_iter_ > early.n_iter_ and not corrective(name):
        assert curve[early.n_iter_ - 1] <= 1.05*min(curve)


@pytest.mark.parametrize("kind", BOOSTERS)
@pytest.mark.parametrize("load", [noisy, lambda: load_wine(return_X_y=True)], ids=["two", "three"])
def test_colsample(kind, load, tmp_path):
    "A share of one changes no bit; less is drawn by the seed, and goes on from where it stopped."
    X, y = load()
    plain = kind(n_estimators=12).fit(X, y)
    all_of_them = kind(n_estimators=12, colsample=1.).fit(X, y)
    assert plain.stumps_.tobytes() == all_of_them.stumps_.tobytes()
    few = [kind(n_estimators=12, colsample=.3, random_state=s).fit(X, y) for s in (0, 0, 1)]
    assert few[0].stumps_.tobytes() == few[1].stumps_.tobytes() != few[2].stumps_.tobytes()
    half = kind(n_estimators=5, colsample=.3, random_state=0, warm_start=True).fit(X, y)
    half.set_params(n_estimators=12).fit(X, y)
    assert half.stumps_.tobytes() == few[0].stumps_.tobytes()
    for rounds in (5, 12):
        again = kind(n_estimators=rounds, colsample=.3, random_state=0,
                     callbacks=[Checkpoint(tmp_path/"run.npz", every=5)]).fit(X, y)
    assert again.stumps_.tobytes() == few[0].stumps_.tobytes()
    for share in (0., 1.1, True, "x"):
        with pytest.raises(ValueError, match="colsample"):
            kind(colsample=share).fit(X, y)


def test_gentle_does_nothing_without_a_gain():
    "A gain is measured against the mass of the outputs: in a small unit it is small as well."
    from boostlit.core.masters import TINY
    y = np.array([1., 1., -1., -1.])
    for size in (1., 1e-3, 1e3):
        state = Gentle().start(y, np.full(4, .25))
        outputs = size*np.array([1., 1., -1., 1.])
        mass = size**2
        assert Gentle().answer(state, outputs, .5*TINY*mass) == 0
        assert Gentle().answer(state, outputs, 2*TINY*mass) == pytest.approx(.5/size)


def test_a_master_on_its_own_knows_chance():
    "Without an oracle that sees a part of the rows, a hypothesis worse than a coin gets no weight."
    y = np.array([1., 1., -1., -1.])
    state = AdaBoost().start(y, np.full(4, .25))
    assert AdaBoost().answer(state, np.array([-1., -1., 1., -1.]), 0.) == 0
    state.sampled = True                      # it was better on the rows that were seen
    assert AdaBoost().answer(state, np.array([-1., -1., 1., -1.]), 0.) < 0


def test_masters_know_that_a_sample_was_shown():
    from boostlit.core.loop import _Talk
    from boostlit import AdaBoost, StumpOracle
    X, y = np.arange(4.)[:, None], np.array([1., -1., 1., -1.])
    assert not _Talk(StumpOracle(X), AdaBoost(), y).state.sampled
    assert _Talk(StumpOracle(X), AdaBoost(), y, sample=lambda w: w).state.sampled
    part = StumpOracle(X)
    part.partial = True
    assert _Talk(part, AdaBoost(), y).state.sampled


def test_prices_of_silence():
    from boostlit.core.masters import SILENCE
    assert [SILENCE[how](3) for how in ("guess", "mistake", "ignore")] == [2/3, 1., 0.]
