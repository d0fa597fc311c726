"""Boosted stumps and products for numbers."""
import sqlite3
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.utils.estimator_checks import check_estimator
from boostlit import (
    from_json, load_model, save_model, to_json, to_onnx, to_python, to_sql,
)
from boostlit.quadratic.regression import (
    AbsoluteLoss, GentleBoostRegressor, QuadraticBoostRegressor, SquaredLoss, weighted_median,
)

MODELS = [GentleBoostRegressor(8), QuadraticBoostRegressor(8, n_restarts=2, random_state=0)]


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_scikit_learn_takes_it(model):
    failed = [r for r in check_estimator(model, on_fail=None) if r["status"] == "failed"]
    assert not failed, [(r["check_name"], r["exception"]) for r in failed]


def test_stumps_are_gradient_boosting_with_one_cut():
    X, z = load_diabetes(return_X_y=True)
    ours = GentleBoostRegressor(30, learning_rate=.1, max_bins=None).fit(X, z)
    peer = GradientBoostingRegressor(n_estimators=30, learning_rate=.1, max_depth=1).fit(X, z)
    assert np.allclose(ours.predict(X), peer.predict(X), atol=1e-8)


@pytest.mark.parametrize("loss", [SquaredLoss(), AbsoluteLoss()])
def test_no_step_is_better(loss):
    g = np.random.default_rng(0)
    for _ in range(50):
        r, w, h = g.normal(size=7), g.random(7), g.choice([-1., 0., 1.], 7)
        total = lambda c: w @ loss.losses(c*h, r)
        c = loss.step(r, h, w)
        assert total(c) <= min(total(c + d) for d in g.normal(size=30)) + 1e-12


def test_weights_are_rows_that_stand_several_times():
    g = np.random.default_rng(1)
    X, z, times = g.normal(size=(40, 3)), g.normal(size=40), g.integers(0, 4, 40)
    often = GentleBoostRegressor(20).fit(np.repeat(X, times, 0), np.repeat(z, times))
    heavy = GentleBoostRegressor(20).fit(X, z, sample_weight=times)
    assert np.allclose(often.predict(X), heavy.predict(X))
    assert weighted_median(np.array([1., 2., 9.]), np.array([1., 1., 3.])) == 9


@pytest.mark.parametrize("bad, word", [
    (dict(loss="huber"), "loss"), (dict(learning_rate=-1.), "learning_rate"),
    (dict(n_estimators=0), "n_estimators"),
])
def test_nonsense_is_refused_with_its_name(bad, word):
    with pytest.raises(ValueError, match=word):
        GentleBoostRegressor(**bad).fit(np.eye(4), np.arange(4.))


def test_holes_words_and_sparse_matrices():
    g = np.random.default_rng(2)
    X, z = g.normal(size=(60, 2)), g.normal(size=60)
    X[::7, 0] = np.nan
    assert np.isfinite(GentleBoostRegressor(5).fit(X, z).predict(X)).all()
    full = np.where(np.abs(X) < 1, 0., X)
    thin = sparse.csr_array(full)
    ours = GentleBoostRegressor(5).fit(thin, z)
    assert (ours.predict(thin) == GentleBoostRegressor(5).fit(full, z).predict(full)).all()
    with pytest.raises(ValueError, match="GB as a dense table"):
        GentleBoostRegressor(5).fit(sparse.csr_array((20_000, 20_000)), np.zeros(20_000))
    with pytest.raises(ValueError, match="NaN"):
        GentleBoostRegressor(5).fit(np.ones((3, 1)), [1., np.nan, 2.])


@pytest.mark.parametrize("model", [*MODELS, QuadraticBoostRegressor(12, degree=3, random_state=0)],
                         ids=lambda m: f"{type(m).__name__}-{getattr(m, 'degree', 1)}")
def test_a_model_is_kept_and_taken_away(model, tmp_path):
    X, z = load_diabetes(return_X_y=True)
    X = np.where(np.random.default_rng(0).random(X.shape) < .05, np.nan, X)
    model = clone(model).fit(X, z)
    says = model.predict(X)
    save_model(model, tmp_path/"numbers.arrow")
    assert (load_model(tmp_path/"numbers.arrow").predict(X) == says).all()
    assert np.abs(from_json(to_json(model)).predict(X) - says).max() < 1e-9
    with pytest.raises(ValueError, match="no classes"):
        from_json(to_json(model)).predict_proba(X)
    space = {}
    exec(to_python(model), space)
    assert np.abs([space["predict"](row) for row in X.tolist()] - says).max() < 1e-9
    base = sqlite3.connect(":memory:")
    base.execute(f"CREATE TABLE data ({', '.join(f'x{j} REAL' for j in range(10))})")
    rows = [[None if v != v else v for v in row] for row in X.tolist()]
    base.executemany(f"INSERT INTO data VALUES ({', '.join('?'*10)})", rows)
    assert np.abs([row[-1] for row in base.execute(to_sql(model))] - says).max() < 1e-9


def test_onnx_says_the_same_number():
    onnxruntime = pytest.importorskip("onnxruntime")
    X, z = load_diabetes(return_X_y=True)
    model = QuadraticBoostRegressor(12, random_state=0).fit(X, z)
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    feed = {f"x{j}": X[:, [j]] for j in range(10)}
    assert np.abs(session.run(["prediction"], feed)[0][:, 0] - model.predict(X)).max() < 1e-9


def test_a_damaged_sum_is_refused(tmp_path):
    model = GentleBoostRegressor(4).fit(np.eye(6), np.arange(6.))
    model.sizes_ = model.sizes_ + 1
    save_model(model, tmp_path/"odd.arrow")
    with pytest.raises(ValueError, match="sizes_"): load_model(tmp_path/"odd.arrow")


def test_targets_that_are_not_finite_are_refused():
    for bad in (np.nan, np.inf, None):
        y = np.array([1., 2., bad]*10, dtype=object)
        with pytest.raises(ValueError, match="contains NaN"):
            GentleBoostRegressor(n_estimators=2).fit(np.arange(30.)[:, None], y)


@pytest.mark.parametrize("loss", ["squared", "absolute"])
@pytest.mark.parametrize("make", [GentleBoostRegressor, QuadraticBoostRegressor])
@pytest.mark.parametrize("power", [-1000, -301, -100, -19, 18, 100, 900])
def test_the_unit_of_the_labels_does_not_show(make, loss, power):
    "Labels in a unit of a power of two: the same model in that unit, bit for bit, history too."
    X = np.random.default_rng(0).normal(size=(60, 4))
    fit = lambda y: make(n_estimators=4, random_state=0, loss=loss).fit(X, y)
    one, other = fit(X[:, 2]), fit(np.ldexp(X[:, 2], power))
    assert (np.ldexp(one.predict(X), power) == other.predict(X)).all()
    scale = power*(2 if loss == "squared" else 1)
    with np.errstate(over="ignore"): want = np.ldexp(np.array(one.history_["loss"]), scale)
    assert np.array_equal(want, np.array(other.history_["loss"]))
