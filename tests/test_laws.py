"""Metamorphic laws: what a model must not depend on, for every estimator (guide/11_laws)."""
import os
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from boostlit import (CorrectiveBilinearClassifier, SparseBilinearClassifier, StumpOracle,
                      names)
from boostlit.bilinear.model import SparseBlocks
from boostlit.core.tables import MANY_ROWS, content_order
from boostlit.lab.laws import (EXCUSES, LARGE, LAWS, ROUNDING, at_the_end, breach_of, cases,
                               defendants, large_breach, largest_breach, many_rows, table_sample)

SOAK = bool(os.environ.get("BOOSTLIT_SOAK"))
COURT = defendants()
TRIALS = [case for case in cases() if case not in EXCUSES]


@pytest.mark.parametrize("name, law", TRIALS, ids=lambda word: word)
def test_law(name, law):
    est, sample = COURT[name]
    for seed in range(5 if SOAK else 1):
        assert breach_of(est, law, sample, seed) <= largest_breach(name, law)


def test_every_estimator_stands_trial():
    tried = {type(est).__name__ for est, _ in COURT.values()}
    public = {n for n in names.PUBLIC if n.endswith(("Classifier", "Regressor", "LPBoost", "LDA"))}
    assert tried == public and all(case in cases() for case in EXCUSES)


SLOW = ("OneClass", "OneAndHalfClass")


@pytest.mark.parametrize("name", [n for n in LARGE if SOAK or n not in SLOW])
def test_rows_in_another_order_at_fifty_thousand(name):
    assert large_breach(name) == 0


def test_rows_in_another_order_everywhere_but_where_all_pairs_are_kept():
    assert set(COURT) - set(LARGE) == {"CorrectiveBilinear"}
    blocks = np.zeros((60_000, 2, 1), np.float32)
    blocks[::2] = 1
    with pytest.raises(ValueError, match="products of all pairs of examples: 60,000"):
        CorrectiveBilinearClassifier().fit(blocks, np.arange(60_000) % 2)


@pytest.mark.parametrize("settings", [dict(early_stopping=True), dict(subsample=.5)])
@pytest.mark.parametrize("name", ["AdaBoost", "Pairwise"])
def test_rows_that_are_drawn_are_drawn_by_content(name, settings):
    est = clone(COURT[name][0]).set_params(random_state=0, n_estimators=2, **settings)
    sample = many_rows(MANY_ROWS, "pairs" if name == "Pairwise" else "table")
    assert breach_of(est, "rows permuted", sample) == 0
    few = sample._replace(X=sample.X[:MANY_ROWS - 1], y=sample.y[:MANY_ROWS - 1])
    assert breach_of(est, "rows permuted", few) > 0          # below, the order is a second seed


def test_sparse_pictures_are_sorted_by_content():
    rng = np.random.default_rng(0)
    X = (rng.random((MANY_ROWS, 3, 2)) < .3)*rng.integers(1, 9, (MANY_ROWS, 3, 2))
    y, order = (X[:, 0, 0] + rng.normal(size=len(X)) > 1).astype(int), rng.permutation(len(X))
    pictures = lambda X: sparse_pictures(X.astype(float))
    make = lambda rows: SparseBilinearClassifier(calibrate=False).fit(pictures(X[rows]), y[rows])
    one, other = make(np.arange(len(X))), make(order)
    assert (one.words_ == other.words_).all() and (one.components_ == other.components_).all()


def sparse_pictures(X):
    n, words, components = X.shape
    table = sparse.csr_matrix(X.transpose(0, 2, 1).reshape(-1, words))
    return SparseBlocks(table.indptr, table.indices, table.data, (n, words, components))


@pytest.mark.parametrize("seed", range(20))
def test_order_by_content(seed):
    "Ties, copies, missing values: the sorted table is the same, and sorted."
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (200, 4)).astype(float)
    X[rng.random(X.shape) < .1] = np.nan
    one = X[content_order(X.T, len(X))]
    shuffled = rng.permutation(X)
    other = shuffled[content_order(shuffled.T, len(X))]
    assert np.array_equal(one, other, equal_nan=True)
    rows = [tuple(r) for r in np.nan_to_num(one, nan=9.).tolist()]
    assert rows == sorted(rows)


@pytest.mark.parametrize("unit", [1e-300, 1e300])
@pytest.mark.parametrize("name", COURT)
def test_extreme_units_give_the_same_model_or_a_sentence(name, unit):
    said = at_the_end(*COURT[name], unit)
    assert said == "same" or len(said.split()) > 5


def test_a_silly_model_in_an_extreme_unit_is_seen():
    with pytest.raises(AssertionError, match="breach"):
        at_the_end(Breaker("units: 1e±100"), table_sample(), 1e300)


@pytest.mark.soak
@pytest.mark.skipif(not SOAK, reason="long form: BOOSTLIT_SOAK=1")
@pytest.mark.parametrize("name", ["AdaBoost", "GentleBoost"])
def test_soak_rows_in_another_order_where_cuts_come_from_a_sample(name):
    assert breach_of(COURT[name][0], "rows permuted", many_rows(300_000)) == 0


class Breaker(BaseEstimator):
    "Breaks one law, to show that its trial can fail."
    def __init__(self, law=None): self.law = law

    def fit(self, X, y, sample_weight=None):
        scale = np.abs(X).max() + (self.law == "units: 1e±100")
        facts = {"rows permuted": X[0, 0]/scale, "columns permuted": X[:, 0].mean()/scale,
                 "units: powers of two": np.log10(np.abs(X).max()),
                 "weights = repetition": float(len(X) < 100), "labels renamed": len(str(y[0])),
                 "column doubled": X.shape[1], "constant column": float((X == 1).all(axis=0).any()),
                 "units: 1e±100": np.abs(X).max()/scale}
        self.fact_, self.scale_ = facts.get(self.law, 0.), scale
        return self

    def decision_function(self, X): return 1 + self.fact_ + 0*X[:, 0]


@pytest.mark.parametrize("law", [law for law in LAWS if law != "threads"])
def test_every_trial_can_fail(law):
    sample = table_sample()
    assert breach_of(Breaker(law), law, sample) > ROUNDING
    assert breach_of(Breaker(), law, sample) == 0


@pytest.mark.parametrize("power", [-900, -40, -1, 3, 50, 900])
def test_least_squares_does_not_know_the_unit_of_y(power):
    "Targets in a unit of a power of two: the same cut, values in that unit, bit for bit."
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y, w = X[:, 2] + .3*rng.normal(size=300), rng.random(300)
    w /= w.sum()
    oracle = StumpOracle(X, criterion="least_squares")
    one, other = oracle.best(y, w)[0], oracle.best(np.ldexp(y, power), w)[0]
    assert one["feature"] == other["feature"] == 2 and one["threshold"] == other["threshold"]
    for side in ("left", "right", "missing"): assert np.ldexp(one[side], power) == other[side]


@pytest.mark.parametrize("unit", [1e-300, 1e-15, 3e-7, 1e-6, 1e15, 1e300])
def test_least_squares_is_sane_in_any_unit(unit):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 4))
    y, w = X[:, 2] + .3*rng.normal(size=300), np.full(300, 1/300)
    oracle = StumpOracle(X, criterion="least_squares")
    one, other = oracle.best(y, w)[0], oracle.best(y*unit, w)[0]
    assert one["feature"] == other["feature"] and one["threshold"] == other["threshold"]
    for side in ("left", "right"): assert abs(other[side]/unit/one[side] - 1) < 1e-9
