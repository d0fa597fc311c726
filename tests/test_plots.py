"Figures are small, readable on a dark page, and drawn from the numbers given."
import io
import numpy as np
import pytest
import matplotlib
matplotlib.use("agg")
import matplotlib.pyplot as plt
from boostlit.core import plots as P


@pytest.fixture(autouse=True)
def style():
    with matplotlib.rc_context():
        P.use_style()
        yield
        plt.close("all")


def test_figures_are_small_and_opaque():
    fig, ax = plt.subplots()
    buffer = io.BytesIO()
    fig.savefig(buffer, format="png")
    buffer.seek(0)
    pixels = plt.imread(buffer)
    assert pixels.shape == (300, 500, 4) and len(buffer.getvalue()) < 30_000
    assert pixels[0, 0].tolist() == [1, 1, 1, 1] and (pixels[..., 3] == 1).all()


def luminance(colour):
    rgb = np.array(matplotlib.colors.to_rgb(colour))
    return np.where(rgb <= .04045, rgb/12.92, ((rgb+.055)/1.055)**2.4) @ [.2126, .7152, .0722]


def contrast(a, b):
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + .05)/(low + .05)


def test_words_and_lines_read_on_the_card():
    "Contrast of text, 4.5, for the ink and for every colour: a word may have its line's colour."
    for colour in [P.INK, *P.PALETTE]:
        assert contrast(colour, P.PAPER) >= 4.5, colour
    assert len(set(P.PALETTE)) == len(P.PALETTE) >= 8


def test_everything_that_says_something_is_set_in_ink():
    fig, ax = plt.subplots()
    ax.plot([0, 1], label="line")
    ax.set(xlabel="x", ylabel="y", title="title")
    words = [ax.xaxis.label, ax.yaxis.label, ax.title, *ax.get_xticklabels(),
             *ax.legend().get_texts(), ax.text(0, 0, "word")]
    for word in words:
        assert contrast(word.get_color(), fig.get_facecolor()) >= 4.5, word


def test_learning_curves():
    runs = np.random.default_rng(0).random((4, 7))
    ax = P.plot_learning_curves({"many": runs, "one": runs[0]}, xlabel="x", logx=True)
    assert ax.get_xscale() == "log" and ax.get_xlabel() == "x" and len(ax.collections) == 1
    np.testing.assert_allclose(ax.lines[0].get_ydata(), runs.mean(0))
    np.testing.assert_allclose(ax.lines[1].get_xdata(), np.arange(1, 8))
    other = plt.subplots()[1]
    assert P.plot_learning_curves({"a": [1, 2]}, ax=other) is other


def test_margins_are_a_distribution_function():
    m = np.random.default_rng(1).uniform(-1, 1, 50)
    ax = P.plot_margins({"m": m})
    x, y = ax.lines[0].get_data()
    assert y[0] == 0 and y[-1] == 1 and (np.diff(y) >= 0).all() and (np.diff(x) >= 0).all()
    assert P.plot_margins(m).get_legend() is None


@pytest.mark.parametrize("labels", [[0, 1], ["a", "b", "c"]])
def test_regions(labels):
    from boostlit.core.boosters import AdaBoostClassifier
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    y = np.array(labels)[np.digitize(X[:, 0], [-.4, .4]) % len(labels)]
    model = AdaBoostClassifier(n_estimators=10).fit(X, y)
    ax = P.plot_decision_regions(model, X, y, resolution=20)
    assert len(ax.lines) == len(labels) and ax.collections[0].get_array().size == 400
    with pytest.raises(ValueError, match="2 columns"):
        P.plot_decision_regions(model, np.zeros((3, 5)))


def test_stump_display_says_what_the_stump_does():
    import pyarrow as pa
    from boostlit import AdaBoostClassifier, DecisionStumpClassifier

    colour = np.array(["red", "green", "blue"])[np.arange(60) % 3]
    label = np.where(colour == "green", "buy", "leave")
    nominal = DecisionStumpClassifier().fit(pa.table({"colour": colour.tolist()}), label)
    assert str(P.StumpDisplay.from_estimator(nominal)).splitlines()[:2] == [
        "colour = green: buy",
        "colour ≠ green: leave",
    ]
    X = np.arange(60.0)[:, None]
    numeric = DecisionStumpClassifier().fit(X, X[:, 0] > 19.5)
    shown = P.StumpDisplay.from_estimator(numeric)
    assert (
        str(shown).splitlines()[:2] == ["x0 ≤ 19.5: False", "x0 > 19.5: True"]
        and len(shown.ax_.patches) == 2
    )
    X[::7] = np.nan                       # a third branch where something was missing in training
    shown = P.StumpDisplay.from_estimator(DecisionStumpClassifier().fit(X, np.arange(60) > 19))
    assert str(shown).splitlines()[2].startswith("x0 missing: ") and len(shown.ax_.patches) == 3
    X = np.arange(60.)[:, None]
    with pytest.raises(ValueError, match="cannot draw"):
        P.StumpDisplay.from_estimator(AdaBoostClassifier(n_estimators=1).fit(X, X[:, 0] > 19.5))


@pytest.mark.parametrize("name", ["AdaBoostClassifier", "GentleBoostClassifier"])
def test_shapes_of_every_class_and_of_words(name):
    "The parts of every class add up to its score, and a column of words is drawn over its words."
    import boostlit
    import pyarrow as pa
    from boostlit.core.explaining import shape_function

    rng = np.random.default_rng(0)
    job, age = rng.choice(["cook", "judge", "smith"], 200), rng.normal(size=200)
    y = np.where(job == "cook", "a", np.where(age > 0, "b", "c"))
    table = pa.table({"job": job, "age": age})
    est = getattr(boostlit, name)(n_estimators=12).fit(table, y)
    # votes among all, or one class against the rest
    owners = {None} if name[0] == "A" else {"a", "b", "c"}
    assert set(est.terms_["class"].to_pylist()) == owners
    columns = np.searchsorted(["cook", "judge", "smith"], job).astype(float), age
    for k in range(3):
        np.testing.assert_allclose(
            sum(shape_function(est, j, columns[j], run=k)[1] for j in (0, 1)),
            est.decision_function(table)[:, k],
            atol=1e-9,
        )
        shown = boostlit.ShapeDisplay.from_estimator(est, run=k)
        words = next(ax for ax in shown.axes_ if ax.get_xlabel() == "job")
        assert [t.get_text() for t in words.get_xticklabels()] == [
            "cook",
            "judge",
            "smith",
        ] and len(words.lines[0].get_xdata()) == 3


def test_stored_pictures_are_light_and_look_the_same(monkeypatch):
    "Few colours where nobody sees the difference; transparent ones are left alone."
    import base64
    from pathlib import Path
    monkeypatch.syspath_prepend(str(Path(__file__).parent.parent/".ci"))
    pages = pytest.importorskip("pages")
    fig, ax = plt.subplots()
    ax.plot(np.random.default_rng(0).random(60).cumsum())

    def drawn(**more):
        buffer = io.BytesIO()
        fig.savefig(buffer, format="png", dpi=200, **more)
        return base64.b64encode(buffer.getvalue()).decode()
    picture = drawn()
    light = pages.lighter(picture)
    assert len(light) < .7*len(picture) and pages.same_picture(picture, light)
    assert pages.small(light)[0] == pages.small(picture)[0]
    through = drawn(transparent=True)
    assert pages.lighter(through) == through


def test_the_heaviest_terms_come_first():
    from boostlit import AdaBoostClassifier
    X = np.random.default_rng(0).normal(size=(80, 3))
    est = AdaBoostClassifier(n_estimators=6).fit(X, X[:, 0] + X[:, 1] > 0)
    weights = [abs(row["weight"]) for row in P.term_rows(est)]
    assert weights == sorted(weights, reverse=True) and weights[0] > weights[-1]


def test_a_model_that_has_learnt_nothing_says_so():
    from boostlit import CompositionalBoostClassifier
    with pytest.warns(RuntimeWarning):
        est = CompositionalBoostClassifier().fit(np.ones((8, 2)), [0, 1]*4)
    assert "nothing learnt" in P.terms_text(est) and "nothing learnt" in str(est)


def test_shapes_of_a_regressor_are_refused():
    from boostlit import GentleBoostRegressor, ShapeDisplay
    est = GentleBoostRegressor(n_estimators=2).fit(np.arange(9.)[:, None], np.arange(9.))
    with pytest.raises(ValueError, match="fitted classifiers that are sums of stumps"):
        ShapeDisplay.from_estimator(est)


def test_another_kind_of_history_is_drawn_by_its_first_columns():
    import pyarrow as pa
    from types import SimpleNamespace
    table = pa.table({n: np.arange(3.) for n in ("a", "b", "c", "d")})
    ax = P.plot_history(SimpleNamespace(history_=table))
    assert len(ax.lines) == 3
    plt.close("all")


def test_grids_reach_beyond_the_thresholds():
    from types import SimpleNamespace
    from boostlit.core.explaining import default_grid
    est = SimpleNamespace(categories_=[None, ["a", "b"]])
    grid = default_grid(est, 0, np.array([3., 1., np.inf, 1.]))
    assert grid.tolist() == [.8, 1., np.nextafter(1., 2.), 3., np.nextafter(3., 4.), 3.2]
    assert default_grid(est, 1, np.array([0.])).tolist() == [0., 1.]
    assert default_grid(est, 0, np.array([np.inf])).tolist() == [0.]
