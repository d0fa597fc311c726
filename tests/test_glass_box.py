"""The glass box on the installed package: sums, margins, Shapley values, monotone curves, edits,
odd input."""

import pickle
from itertools import combinations
from math import factorial

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.utils.estimator_checks import parametrize_with_checks

import boostlit
from boostlit.core.kernels import kernels
from boostlit.core.models import load_model, save_model
from boostlit.quadratic.glass_box import GlassBoxClassifier, plot_glass_box, plot_waterfall, purify

SPLITS = "held-out rows are drawn by row, so a row of weight two is not two rows"


@parametrize_with_checks(
    [GlassBoxClassifier(n_bags=2, max_cycles=20)],
    expected_failed_checks=lambda est: {
        f"check_sample_weight_equivalence_on_{kind}_data": SPLITS for kind in ("dense", "sparse")},
)
def test_sklearn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, [20, 21, 22, 24]].copy()
    X[::9, 1] = np.nan
    return X, y


@pytest.fixture(scope="module")
def model(cancer):
    return GlassBoxClassifier(n_bags=3, n_pairs=4).fit(*cancer)


def test_purify_has_zero_margins_and_loses_nothing():
    rng = np.random.default_rng(0)
    for _ in range(30):
        shape = tuple(rng.integers(1, 9, 2))
        table = rng.normal(size=(*shape, 2))*10.**rng.integers(-3, 4)
        mass = rng.random(shape)*(rng.random(shape) > .4)
        mass = mass/max(mass.sum(), 1e-9)
        rest, rows, columns = purify(table, mass)
        scale = np.abs(table).max()
        np.testing.assert_allclose(rest + rows[:, None] + columns[None], table, atol=1e-10*scale)
        for axis in (0, 1):
            assert np.abs((mass[:, :, None]*rest).sum(axis)).max() < 1e-10*scale


def test_terms_add_up_and_margins_vanish(cancer, model):
    X, y = cancer
    table = model.explain(X[:20])
    total = np.bincount(table["row"].to_numpy(), table["value"].to_numpy())
    np.testing.assert_allclose(total, model.decision_function(X[:20]), atol=1e-12)
    assert len(model.maps_) and model.score(X, y) > .95
    for mass, curve in zip(model.mass_, model.curves_):
        assert np.abs(mass @ curve).max() < 1e-10
    for joint, heat in zip(model.joint_, model.maps_):
        for axis in (0, 1):
            assert np.abs((joint[:, :, None]*heat).sum(axis)).max() < 1e-10


def brute_shapley(est, X, x):
    d = len(x)

    def worth(S):
        rows = X.copy()
        rows[:, list(S)] = x[list(S)]
        return est.decision_function(rows).mean(axis=0)

    value = {S: worth(S) for k in range(d + 1) for S in combinations(range(d), k)}
    phi = []
    for j in range(d):
        rest = [k for k in range(d) if k != j]
        phi.append(
            sum(
                factorial(k)
                * factorial(d - 1 - k)
                / factorial(d)
                * (value[tuple(sorted((*S, j)))] - value[S])
                for k in range(d)
                for S in combinations(rest, k)
            )
        )
    return np.array(phi)


def test_shapley_values_equal_brute_force(cancer, model):
    X, _ = cancer
    for i in (0, 9, 77):
        phi = model.shapley_values(X[i:i+1])[0]
        np.testing.assert_allclose(phi, brute_shapley(model, X, X[i]), atol=1e-10)
    W, wine = load_wine(return_X_y=True)
    W = W[:, [0, 6, 9]]
    est = GlassBoxClassifier(n_bags=2).fit(W, wine)
    np.testing.assert_allclose(
        est.shapley_values(W[:1])[0], brute_shapley(est, W, W[0]), atol=1e-10
    )


def test_partial_dependence_is_the_mean(cancer, model):
    X, _ = cancer
    for j in range(4):
        for i in (3, 90):
            rows = X.copy()
            rows[:, j] = X[i, j]
            points = model.points_[j]
            at = len(points) + 1 if np.isnan(X[i, j]) else np.searchsorted(points, X[i, j])
            mean = model.decision_function(rows).mean()
            np.testing.assert_allclose(model.partial_dependence(j)[at], mean, atol=1e-10)


@pytest.mark.parametrize("direction", [1, -1])
def test_monotone_everywhere(direction):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    X[::11, 1] = np.nan
    y = direction*X[:, 0] + X[:, 0]*np.nan_to_num(X[:, 1]) + rng.normal(size=400) > 0
    est = GlassBoxClassifier(n_bags=3, monotonic_cst=[direction, 0, 0]).fit(X, y)
    for row in X[:40]:
        grid = np.tile(row, (60, 1))
        grid[:, 0] = np.linspace(-3, 3, 60)
        assert (direction*np.diff(est.decision_function(grid)) >= -1e-12).all()
    # a planted violation: without the constraint it bends
    free = GlassBoxClassifier(n_bags=3).fit(X, y)
    bends = False
    for row in X[:40]:
        grid = np.tile(row, (60, 1))
        grid[:, 0] = np.linspace(-3, 3, 60)
        bends |= (direction*np.diff(free.decision_function(grid)) < -1e-9).any()
    assert bends


def test_edit(cancer, model):
    X, _ = cancer
    est = pickle.loads(pickle.dumps(model))
    before = est.decision_function(X)
    est.edit(0, lambda scores: scores + 1)
    np.testing.assert_allclose(est.decision_function(X), before + 1, atol=1e-12)
    est.edit(1, 0., missing=True)
    assert est.curves_[1][-1, 0] == 0 and len(est.edits_) == 2
    est.edit(2, "increasing")
    assert (np.diff(est.curves_[2][:-1, 0]) >= 0).all()
    with pytest.raises(ValueError, match="no bin"):
        est.edit(0, 1., low=5., high=5.01)
    with pytest.raises(ValueError, match="no feature"):
        est.edit("height", 1.)


def test_interaction_is_found_and_nothing_learns_the_prior():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (800, 4))
    est = GlassBoxClassifier(n_bags=3).fit(X, X[:, 1]*X[:, 3] > 0)
    assert est.terms_["text"][0].as_py() == "x1 × x3" and est.score(X, X[:, 1]*X[:, 3] > 0) > .95
    assert est.interaction_(3, 1).num_rows == est.interaction_(1, 3).num_rows
    noise = rng.integers(0, 2, 800)
    flat = GlassBoxClassifier(n_bags=3).fit(X[:400], noise[:400])
    prior = noise[:400].mean()
    p = flat.predict_proba(X[400:])[np.arange(400), noise[400:]]
    limit = -np.log(np.where(noise[400:] == 1, prior, 1 - prior)).mean()
    assert -np.log(p).mean() < limit + .02


def test_same_result_for_any_number_of_threads_and_twice(cancer):
    X, y = cancer
    a, b = (GlassBoxClassifier(n_bags=3, n_jobs=n).fit(X, y).decision_function(X) for n in (1, 2))
    np.testing.assert_array_equal(a, b)


def test_kernel_interpreted_equals_compiled():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    X[::7, 0] = np.nan
    y = rng.integers(0, 3, 40)
    scores = []
    for mode in ("python", "compiled"):
        with kernels(mode):
            est = GlassBoxClassifier(
                n_bags=1, max_cycles=10, n_iter_no_change=1, categorical_features=[2]
            )
            scores.append(est.fit(X.round(1), y).decision_function(X.round(1)))
    np.testing.assert_array_equal(*scores)


def test_files(cancer, model, tmp_path):
    X, _ = cancer
    save_model(model, tmp_path/"glass.arrow")
    twin = load_model(tmp_path/"glass.arrow", classes=[GlassBoxClassifier])
    np.testing.assert_array_equal(twin.decision_function(X), model.decision_function(X))
    assert twin.terms_.equals(model.terms_)


def test_odd_input():
    X = np.array([[1., 2], [1, 2], [1, 2], [1, 2]])
    est = GlassBoxClassifier(n_bags=2).fit(X, [0, 1, 0, 1])
    np.testing.assert_allclose(est.predict_proba(X), .5)
    hole = np.array([[np.nan], [1.]]*30)  # a feature that tells only by missing
    assert GlassBoxClassifier(n_bags=2).fit(hole, [0, 1]*30).score(hole, [0, 1]*30) == 1
    huge = np.array([[-1e308], [1e308]]*30)
    assert GlassBoxClassifier(n_bags=2).fit(huge, [0, 1]*30).score(huge, [0, 1]*30) == 1
    two = GlassBoxClassifier(n_bags=2).fit([[0.], [1.]], ["a", "b"])
    assert np.isfinite(two.predict_proba([[0.], [np.nan]])).all()
    with pytest.raises(ValueError):
        GlassBoxClassifier().fit(X, [1, 1, 1, 1])
    with pytest.raises(ValueError):
        GlassBoxClassifier().fit(np.array([[np.inf, 1]]*4), [0, 1, 0, 1])


@pytest.mark.parametrize(
    "bad, word",
    [
        (dict(n_bags=0), "n_bags"),
        (dict(learning_rate=0), "learning_rate"),
        (dict(max_bins=300), "max_bins"),
        (dict(bar=1.0), "bar"),
        (dict(n_pairs=-1), "n_pairs"),
        (dict(validation_fraction=2.0), "validation_fraction"),
        (dict(monotonic_cst=[1]), "monotonic_cst"),
        (dict(monotonic_cst={0: 3}), "monotonic_cst"),
    ],
)
def test_bad_parameters(cancer, bad, word):
    with pytest.raises(ValueError, match=word):
        GlassBoxClassifier(**bad).fit(*cancer)


def test_pictures_and_stages(cancer, model):
    import matplotlib

    matplotlib.use("Agg")
    X, _ = cancer
    assert len(plot_glass_box(model, top=4)) >= 4
    plot_waterfall(model, X[0])
    *_, last = model.staged_decision_function(X)
    np.testing.assert_allclose(last, model.decision_function(X), atol=1e-12)
    assert clone(model).get_params() == model.get_params()
    assert np.isclose(model.feature_importances_.sum(), 1)


def test_attack_finds_planted_margin():
    "The check of zero margins sees a table that was purified with the wrong weights."
    rng = np.random.default_rng(0)
    table, mass = rng.normal(size=(5, 7, 1)), rng.random((5, 7))
    margins = lambda t: max(np.abs((mass[:, :, None]*t).sum(k)).max() for k in (0, 1))
    wrong = purify(table, mass.T.reshape(5, 7))[0]
    assert margins(purify(table, mass)[0]) < 1e-12 < 1e-3 < margins(wrong)


def test_display_progress_and_hill(capsys):
    X, y = load_breast_cancer(return_X_y=True)
    model = GlassBoxClassifier(n_bags=2, max_cycles=20, verbose=True).fit(X[:, :4], y)
    assert "cycles" in capsys.readouterr().err
    display = boostlit.GlassBoxDisplay.from_estimator(model, top=3)
    assert len(display.figure_.axes) >= 3 and "×" in str(display) or str(display)
    rng = np.random.default_rng(0)
    # noise in many columns: thousands of useless pairs must not move the model from the prior
    X, y = rng.normal(size=(300, 60)), rng.integers(0, 2, 300)
    noise = GlassBoxClassifier(n_bags=4).fit(X[:200], y[:200])
    p = noise.predict_proba(X[200:])[np.arange(100), y[200:]]
    assert -np.log(p).mean() < .72


@pytest.mark.parametrize("classes,link", [(2, "logistic"), (3, "softmax")])
def test_the_scorecard_names_its_link(classes, link):
    X, y = load_wine(return_X_y=True)
    est = GlassBoxClassifier(n_bags=1, max_cycles=5).fit(X[y < classes, :3], y[y < classes])
    assert est.scorecard().link == link


def test_shares_of_products_add_up():
    "Products that no curve and no map can hold: what the features get is the score."
    bits = np.random.default_rng(0).integers(0, 2, (300, 5)).astype(float)
    est = GlassBoxClassifier(n_bags=2, max_cycles=30).fit(bits, bits[:, :3].sum(1) % 2)
    assert len(est.products_)
    told, total = est.shapley_values(bits[:40]), est.decision_function(bits[:40])
    told = np.reshape(told, (40, 5))
    assert np.allclose(told.sum(axis=1) + est.intercept_, total) and np.abs(told[:, :3]).min() > .1


def parity(n, d, features, seed=0):
    signs = np.where(np.random.default_rng(seed).random((n, d)) < .5, 1., -1.)
    return signs, np.prod(signs[:, features], axis=1)[:, None]


def test_hidden_products_are_found():
    from boostlit.core.hidden import hidden_products
    signs, residual = parity(400, 3, [0, 1, 2])
    assert hidden_products(signs, residual) == [(0, 1, 2)]       # all bits there are
    assert hidden_products(signs, 1e-4*residual) == [(0, 1, 2)]  # in any unit
    signs, one = parity(500, 7, [0, 2, 5])
    both = one + .7*np.prod(signs[:, [1, 3, 4, 6]], axis=1)[:, None]
    assert hidden_products(signs, both) == [(0, 2, 5), (1, 3, 4, 6)]
    assert hidden_products(signs, both, most=1) == [(0, 2, 5)]
    noise = np.random.default_rng(1).normal(size=(500, 1))
    assert hidden_products(signs, noise) == []


def test_shares_of_a_hidden_product_are_shapley_values():
    from boostlit.core.hidden import product_shares, sign_moments
    signs, _ = parity(60, 3, [0])
    signs[:, 2] = np.where(np.arange(60) < 40, signs[:, 0], signs[:, 2])
    moments = sign_moments(signs, np.full(60, 1/60))
    share = product_shares(signs, moments)
    worth = lambda part: np.prod(signs[:, part], axis=1)*np.prod(
        signs[:, [j for j in range(3) if j not in part]], axis=1).mean()
    for j in range(3):
        rest = [i for i in range(3) if i != j]
        expected = (worth([0, 1, 2]) - worth(rest))/3 + (worth([j]) - worth([]))/3
        for i in rest: expected = expected + (worth([i, j]) - worth([i]))/6
        assert np.allclose(share[:, j], expected)
