"""Methods that nobody here has written, with the public names alone: each is short, passes
scikit-learn's checks, inherits the controls, and can be saved."""
import inspect
import warnings

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from boostlit import (AdaBoost, Booster, Gentle, Logistic, SAMME, StumpOracle, load_model,
                      save_model)
from boostlit.core.stumps import STUMP


class UndersampledStumps(StumpOracle):
    """RUSBoost's oracle: each question is asked with as many rows of the larger class as of the
    smaller."""
    def __init__(self, X, kinds, seed):
        super().__init__(X, kinds)
        self.rng = np.random.RandomState(seed)

    def ask(self, targets, weights):
        sides = [np.flatnonzero(targets > 0), np.flatnonzero(targets < 0)]
        few = min(len(s) for s in sides)
        seen = np.concatenate([self.rng.permutation(s)[:few] for s in sides])
        shown = np.zeros(len(weights))
        shown[seen] = weights[seen]
        return super().ask(targets, shown/shown.sum() if shown.sum() > 0 else weights)


class RUSBoostClassifier(Booster):
    "Seiffert and others 2010: random undersampling inside AdaBoost."
    hypothesis, oracle_class, term = STUMP, StumpOracle, "undersampled stump"

    def make_oracle(self, X, codes):
        seed = 0 if self.random_state is None else self.random_state
        return UndersampledStumps(X, self.kinds_, seed)


OBLIQUE = np.dtype(
    [("first", "i8"), ("second", "i8"), ("slope", "f8"), ("cut", "f8"), ("sign", "f8")]
)


class ObliqueStumps:
    "Thresholds on the sum of a feature and a multiple of another."
    kind = "sign"

    def __init__(self, X):
        self.X, d = X, X.shape[1]
        self.lines = [(i, j, s) for i in range(d) for j in range(i, d) for s in (-1., 1.)][:40]

    def ask(self, targets, weights):
        best, gain = None, -np.inf
        for i, j, slope in self.lines:
            line = self.X[:, i] + slope*self.X[:, j]
            order = np.argsort(line, kind="stable")
            sums = np.cumsum((targets*weights)[order])
            edges = 2*sums - sums[-1]
            k = int(np.argmax(np.abs(edges)))
            if abs(edges[k]) > gain + 1e-12:
                best = np.array((i, j, slope, line[order[k]], np.sign(edges[k]) or 1.), OBLIQUE)
                gain = float((weights*targets) @ self.apply(best, self.X))
        return best, gain

    def outputs(self, h): return self.apply(h, self.X)

    @staticmethod
    def apply(h, X):
        return np.where(
            X[:, h["first"]] + h["slope"] * X[:, h["second"]] <= h["cut"], h["sign"], -h["sign"]
        )


class ObliqueBoostClassifier(Booster):
    "Logistic boosting of oblique stumps."
    hypothesis, oracle_class, master = OBLIQUE, ObliqueStumps, Logistic

    def make_oracle(self, X, codes): return ObliqueStumps(np.nan_to_num(X))

    def apply(self, h, X): return ObliqueStumps.apply(h, np.nan_to_num(X))


class SquaredHinge(AdaBoost):
    "A master for max(0, 1 - m)^2: the weights are what is missing to a margin of one."
    def answer(self, state, outputs, gain):
        outputs = np.asarray(outputs, float)
        missing = state.start*np.maximum(0., 1 - state.y*state.scores)
        slope = (missing*state.y) @ outputs
        return 0. if abs(slope) < 1e-10 else float(slope/(state.start @ outputs**2))

    def update(self, state, outputs, coefficient):
        state.scores += coefficient*np.asarray(outputs, float)
        missing = state.start*np.maximum(0., 1 - state.y*state.scores)
        state.weights = missing/missing.sum() if missing.sum() > 0 else state.start
        state.loss = float(state.start @ self.losses(state.scores, state.y))
        state.error = float(state.start @ (state.y*state.scores <= 0))
        state.finished = state.loss == 0

    def losses(self, scores, y): return np.maximum(0., 1 - y*scores)**2


class HingeBoostClassifier(Booster):
    "Stumps under the squared hinge loss."
    hypothesis, oracle_class, master, term = STUMP, StumpOracle, SquaredHinge, "stump"

    def make_oracle(self, X, codes): return StumpOracle(X, self.kinds_)


class MislabelBoost(SAMME):
    "The master of AdaBoost.M2: every row has a weight for each wrong label."
    def mislabels(self, scores, y):
        wrong = np.arange(len(scores))[:, None] != y
        gaps = np.clip(scores - scores[y, np.arange(len(y))], -700, 700)
        return wrong*np.exp(gaps/2)/(len(scores) - 1)

    def losses(self, scores, y): return self.mislabels(scores, y).sum(axis=0)

    def question(self, state):
        weights = state.start*self.losses(state.scores, state.y)
        return state.y, weights/weights.sum()

    def answer(self, state, outputs, gain):
        mass = state.start*self.mislabels(state.scores, state.y)
        votes = self.spread(outputs, 1., state.n_classes)
        own = votes[state.y, np.arange(len(state.y))]
        error = .5*(mass/mass.sum()*(1 - own + votes)).sum()      # the pseudo-loss
        return 0. if error >= .5 - 1e-10 else float(np.log((1 - error)/max(error, 1e-10)))

    def update(self, state, outputs, coefficient):
        state.scores += self.spread(outputs, coefficient, state.n_classes)
        self.measure(state)

    def spread(self, outputs, coefficient, n_classes):
        return coefficient*(np.arange(n_classes)[:, None] == outputs)


class AdaBoostM2Classifier(Booster):
    "Freund and Schapire 1996, over stumps that name a class."
    hypothesis, oracle_class, master, term = STUMP, StumpOracle, MislabelBoost, "stump"

    def make_oracle(self, X, codes):
        return StumpOracle(X, self.kinds_, n_classes=len(self.classes_))


WAVE = np.dtype([("direction", "f8", (8,)), ("phase", "f8"), ("height", "f8")])


class Waves:
    "Cosines along random directions, with least-squares heights."
    kind = "real"

    def __init__(self, X, seed): self.X, self.rng = X, np.random.RandomState(seed)

    def ask(self, targets, weights):
        best, gain = None, -np.inf
        for _ in range(15):
            wave = np.array((self.rng.normal(size=8), self.rng.uniform(0, 7), 1.), WAVE)
            says = self.outputs(wave)
            slope, mass = (weights*targets) @ says, weights @ says**2
            if slope**2/mass > gain:
                wave["height"], best, gain = slope/mass, wave, slope**2/mass
        return best, gain

    def outputs(self, wave): return self.apply(wave, self.X)

    @staticmethod
    def apply(wave, X):
        X = np.nan_to_num(X[:, :8])
        return wave["height"]*np.cos(X @ wave["direction"][:X.shape[1]] + wave["phase"])


class WaveBoostClassifier(Booster):
    "Gentle boosting of waves; the hypotheses are records with a row of numbers in them."
    hypothesis, oracle_class, master = WAVE, Waves, Gentle

    def make_oracle(self, X, codes): return Waves(X, self.random_state or 0)


METHODS = [
    RUSBoostClassifier(n_estimators=6, random_state=0),
    ObliqueBoostClassifier(n_estimators=6),
    HingeBoostClassifier(n_estimators=6),
    AdaBoostM2Classifier(n_estimators=6),
    WaveBoostClassifier(n_estimators=40, random_state=0),
]
PARTS = [(UndersampledStumps, RUSBoostClassifier), (ObliqueStumps, ObliqueBoostClassifier),
         (SquaredHinge, HingeBoostClassifier), (MislabelBoost, AdaBoostM2Classifier),
         (Waves, WaveBoostClassifier)]


@pytest.mark.parametrize("parts", PARTS, ids=lambda p: p[1].__name__)
def test_a_method_has_at_most_thirty_lines(parts):
    written = [line.strip() for part in parts for line in inspect.getsource(part).splitlines()]
    assert len([line for line in written if line and not line.startswith('"')]) <= 30


def test_a_master_of_classes_need_not_centre_its_votes():
    "Two classes and three, under a master whose votes are not negative."
    X, y = problem()
    for labels in (y, np.where(X[:, 2] > .5, "third", y)):
        model = AdaBoostM2Classifier(n_estimators=30).fit(X, labels)
        assert model.score(X, labels) > .85 and (np.diff(model.history_["loss"]) < 0).all()
        assert (model.predict(X) == model.classes_[model.predict_proba(X).argmax(1)]).all()
        text = model.terms_["text"][0].as_py()
        assert " : " in text and "+" not in text


def test_what_a_method_does_not_say_is_asked_for():
    X, y = problem()
    with pytest.raises(AttributeError, match="features"):
        print(WaveBoostClassifier(n_estimators=2).fit(X, y).feature_importances_)
    nameless = type("Nameless", (WaveBoostClassifier,), {"oracle_class": None})
    with pytest.raises(AttributeError, match="set oracle_class"):
        nameless(n_estimators=2).fit(X, y).predict(X)


def expected_failures(estimator):
    "What cannot hold for stumps, or for rows drawn by chance."
    expected = {"check_class_weight_classifiers": "a cut may take off a tail of light classes"}
    if isinstance(estimator, RUSBoostClassifier):
        expected["check_sample_weight_equivalence_on_dense_data"] = "rows are drawn by chance"
        expected["check_sample_weight_equivalence_on_sparse_data"] = "rows are drawn by chance"
        expected["check_sample_weights_invariance"] = "rows are drawn by chance"
    return expected


@parametrize_with_checks(METHODS, expected_failed_checks=expected_failures)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def problem(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, np.where(X[:, 0] + X[:, 1] + .5*rng.normal(size=n) > .8, "rare", "common")


@pytest.mark.parametrize("model", METHODS, ids=lambda m: type(m).__name__)
def test_what_is_inherited(model, tmp_path):
    X, y = problem()
    fitted = type(model)(n_estimators=20, random_state=0).fit(X, y)
    assert fitted.score(X, y) > .8
    assert len(fitted.terms_) == fitted.n_iter_ == len(fitted.history_)
    save_model(fitted, tmp_path/"a.model")
    again = load_model(tmp_path/"a.model", classes=[type(model)])
    assert np.array_equal(again.predict_proba(X), fitted.predict_proba(X))
    with pytest.raises(ValueError, match=type(model).__name__):
        load_model(tmp_path/"a.model")
    half = type(model)(n_estimators=10, random_state=0, warm_start=True).fit(X, y)
    half.set_params(n_estimators=20).fit(X, y)
    assert np.array_equal(half.decision_function(X), fitted.decision_function(X))
    early = type(model)(n_estimators=60, early_stopping=True, random_state=0).fit(X, y)
    assert "validation_loss" in early.history_.column_names


@pytest.mark.parametrize("model", METHODS, ids=lambda m: type(m).__name__)
def test_an_interrupt_keeps_finished_rounds(model):
    X, y = problem()
    def ctrl_c(run):
        if len(run.history) == 4:
            raise KeyboardInterrupt
    with pytest.warns(RuntimeWarning, match="keeps the 4 rounds"):
        fitted = type(model)(n_estimators=20, random_state=0, callbacks=[ctrl_c]).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        short = type(model)(n_estimators=4, random_state=0).fit(X, y)
    assert np.array_equal(fitted.decision_function(X), short.decision_function(X))
