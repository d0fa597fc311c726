"scikit-learn's common checks on the estimators of the core."
import numpy as np, pytest
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks
from boostlit import AdaBoostClassifier, DecisionStumpClassifier, GentleBoostClassifier
from boostlit.core import boosting

ESTIMATORS = [DecisionStumpClassifier(), DecisionStumpClassifier(max_bins=16), AdaBoostClassifier(n_estimators=8), GentleBoostClassifier(n_estimators=8),
              AdaBoostClassifier(GaussianNB(), n_estimators=5)]

def expected_failures(estimator):
    if getattr(estimator, "max_bins", None) == 16:
        return {"check_sample_weight_equivalence_on_dense_data": "quantile bins are chosen before weights are known, so repeating a row moves them"}
    return {}

@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_conventions(estimator, check): check(estimator)


@pytest.mark.parametrize("learner", [None, DecisionTreeRegressor(max_depth=1)])
@pytest.mark.parametrize("call, rounds", [(2, 0), (4, 1), (6, 1), (11, 3)])
def test_an_interrupt_in_any_class_leaves_whole_rounds(monkeypatch, learner, call, rounds):
    "Three classes are boosted in step: a Ctrl-C in a later class keeps the rounds that all of them have finished."
    X, y = load_wine(return_X_y=True)
    owner = boosting.StumpRows if learner is None else boosting.RealOracle
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
    assert len(list(est.staged_predict(X))) == rounds and est.alphas_.shape == (3, rounds) and len(est.history_) == 3*rounds
    if learner is None: assert (est.decision_function(X) == want.decision_function(X)).all()
