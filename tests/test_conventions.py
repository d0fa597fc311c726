"""Every public estimator inside scikit-learn's tools, on every kind of table, seen, printed, and
the same everywhere."""
import io
import os
import pickle
import subprocess
import sys
import numpy as np
import pyarrow as pa
import pytest
import matplotlib
matplotlib.use("agg")
import sklearn
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
import boostlit
from test_bad_input import BINARY, ESTIMATORS, ONE, TABLE, estimator, fit, good_data

CLASSIFIERS = [n for n, (kind, _) in ESTIMATORS.items()
               if kind != ONE and is_classifier(getattr(boostlit, n)())]
TABULAR = [n for n, (kind, _) in ESTIMATORS.items() if kind in (TABLE, BINARY)]
GRID = {
    "DecisionStumpClassifier": dict(criterion=["error", "entropy"]),
    "WeightedLDA": dict(ridge=[1e-6, 0.1]),
    "LPBoostClassifier": dict(nu=[0.2, 0.4]),
    "OneAndHalfClassLPBoost": dict(nu=[0.2, 0.4]),
    "SparseBilinearClassifier": dict(c1=[0.05, 0.2]),
}
pytestmark = pytest.mark.filterwarnings("ignore")


def case(name, n=60):
    kind, est = estimator(name)
    X, y, _ = good_data(kind, n)
    return est, X, y


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_searches_scores_and_calibration(name):
    est, X, y = case(name)
    assert is_classifier(est)
    scores = cross_val_score(est, X, y, cv=3)
    assert scores.shape == (3,) and scores.mean() >= .5
    grid = {
        k: v for k, v in GRID.get(name, dict(n_estimators=[1, 3])).items() if k in est.get_params()
    } or {next(iter(est.get_params())): [next(iter(est.get_params().values()))]}
    search = GridSearchCV(est, grid, cv=3).fit(X, y)
    assert np.array_equal(
        search.predict(X), clone(est).set_params(**search.best_params_).fit(X, y).predict(X)
    )
    proba = (
        CalibratedClassifierCV(est, cv=3, method="sigmoid").fit(X, y).predict_proba(X)
        if X.ndim == 2 and hasattr(est, "decision_function")
        else None
    )  # calibration wants a score, and rows
    if proba is not None: assert np.allclose(proba.sum(axis=1), 1) and (proba >= 0).all()


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_pipeline_clone_pickle_and_repr(name):
    est, X, y = case(name)
    pipe = make_pipeline(
        StandardScaler() if X.ndim == 2 and ESTIMATORS[name][0] == TABLE else FunctionTransformer(),
        est,
    ).fit(X, y)
    assert pipe.predict(X).shape == (len(y),) and pipe.score(X, y) >= .5
    est.fit(X, y)
    again = pickle.loads(pickle.dumps(est))
    assert np.array_equal(again.predict(X), est.predict(X))
    fresh = clone(est)
    assert fresh.get_params() == est.get_params() and not [
        k for k in vars(fresh) if k.endswith("_")
    ]
    assert name in est._repr_html_() and "<" in est._repr_html_() and repr(fresh).startswith(name)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_metadata_routing(name):
    """With routing on, sample_weight reaches `fit` through a pipeline inside a cross-validation if
    and only if it was asked for."""
    est, X, y = case(name)
    w = np.where(np.arange(len(y)) % 3, 1., 0.)
    seen, nested, depth = [], [], []
    class Spy(type(est)):
        def fit(self, X, y, sample_weight=None):
            (nested if depth else seen).append(sample_weight)     # a fit may fit copies of itself
            depth.append(1)
            try: return super().fit(X, y, sample_weight=sample_weight)
            finally: depth.pop()
        __init__ = type(est).__init__
    Spy.__name__ = name
    spy = Spy(**est.get_params(deep=False))
    with sklearn.config_context(enable_metadata_routing=True):
        cross_validate(
            make_pipeline(
                FunctionTransformer(),
                spy.set_fit_request(sample_weight=True),
            ),
            X,
            y,
            cv=2,
            scoring=make_scorer(accuracy_score).set_score_request(sample_weight=True),
            params=dict(sample_weight=w),
            error_score="raise",
        )
        assert len(seen) == 2 and all(s is not None and len(s) == len(y)//2 for s in seen)
        assert all(s is not None for s in nested)
        seen.clear()
        nested.clear()
        cross_validate(
            clone(spy).set_fit_request(sample_weight=False).set_score_request(sample_weight=False),
            X,
            y,
            cv=2,
            error_score="raise",
        )
        assert seen == [None, None] and all(s is None for s in nested)
    heavy, light = clone(est).fit(X, y, sample_weight=w), clone(est).fit(X[w > 0], y[w > 0])
    if name != "CompositionalBoostClassifier":
        assert heavy.predict(X).shape == light.predict(X).shape


def frames(X, names):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    columns = {n: X[:, j] for j, n in enumerate(names)}
    return dict(
        numpy=X, pandas=pd.DataFrame(columns), polars=pl.DataFrame(columns), arrow=pa.table(columns)
    )


@pytest.mark.parametrize("name", TABULAR)
def test_kinds_of_tables(name):
    est, X, y = case(name)
    want = None
    for kind, table in frames(X, ["a", "b", "c"]).items():
        e = clone(est).fit(table, y)
        got = e.predict(table)
        want = got if want is None else want
        assert np.array_equal(got, want), kind
        if kind != "numpy": assert list(e.feature_names_in_) == ["a", "b", "c"], kind
        if kind == "pandas":
            with pytest.raises(ValueError, match="feature names"): e.predict(table[["b", "a", "c"]])


@pytest.mark.parametrize("name", TABULAR)
def test_every_table_after_every_other(name):
    """Fitted on one kind of table, asked about another: the same answer, whether there were names
    or not."""
    est, X, y = case(name, 40)
    tables = frames(X, ["a", "b", "c"])
    want = clone(est).fit(X, y).predict(X)
    for fitted in tables.values():
        model = clone(est).fit(fitted, y)
        assert all(np.array_equal(model.predict(asked), want) for asked in tables.values())
        with pytest.raises(ValueError): model.predict(pa.table({"a": X[:, 0], "b": X[:, 1]}))


@pytest.mark.parametrize(
    "name,why",
    [
        ("WeightedLDA", "weighted sum"),
        ("OneClassLPBoost", "distances"),
        ("OneAndHalfClassLPBoost", "distances"),
    ],
)
def test_words_where_only_numbers_make_sense(name, why):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    columns = {"x": np.arange(8.0), "job": ["cook", "smith"] * 4}
    est = estimator(name)[1]
    for table in (
        pa.table(columns),
        pd.DataFrame(columns),
        pl.DataFrame(columns),
        pd.DataFrame(columns).astype({"job": "category"}),
    ):
        with pytest.raises(ValueError, match=f"'job' does not hold numbers.*{why}"):
            fit(est, table, None if name == "OneClassLPBoost" else np.arange(8) % 2, None)


NOMINAL = [n for n in TABULAR if "nominal_features" in estimator(n)[1].get_params()]

@pytest.mark.parametrize("name", NOMINAL)
def test_words_are_nominal_in_every_table(name):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    rng = np.random.default_rng(0)
    n = 80
    word, number = rng.choice(["red", "green", "blue"], n), rng.normal(size=n)
    y = ((word == "red") ^ (number > 1.2)).astype(int)
    kind, est = estimator(
        name, **({"oracle": "itemsets"} if name == "OneAndHalfClassLPBoost" else {})
    )
    if name == "OneAndHalfClassLPBoost": number = (number > 0).astype(float)
    tables = [
        pa.table({"w": word, "x": number}),
        pd.DataFrame({"w": word, "x": number}),
        pd.DataFrame({"w": pd.Categorical(word), "x": number}),
        pl.DataFrame({"w": word, "x": number}),
        pl.DataFrame({"w": pl.Series(word, dtype=pl.Categorical), "x": number}),
        pa.table({"w": pa.array(word).dictionary_encode(), "x": number}),
    ]
    scores = [
        clone(est).fit(t, y).decision_function(t)
        if hasattr(est, "decision_function")
        else clone(est).fit(t, y).predict(t)
        for t in tables
    ]
    assert all(np.array_equal(s, scores[0]) for s in scores)
    assert clone(est).fit(tables[0], y).score(tables[0], y) > .6


def test_set_output_and_feature_names_out():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, y, _ = good_data(TABLE, 60)
    for est in (boostlit.TableEncoder(), boostlit.WeightedLDA()):
        fitted = clone(est).fit(pd.DataFrame(X, columns=["a", "b", "c"]), y)
        names = list(fitted.get_feature_names_out())
        for library, cls in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
            out = (
                clone(est)
                .set_output(transform=library)
                .fit(pd.DataFrame(X, columns=["a", "b", "c"]), y)
                .transform(pd.DataFrame(X, columns=["a", "b", "c"]))
            )
            assert isinstance(out, cls) and list(out.columns) == names
        assert len(names) == fitted.transform(pd.DataFrame(X, columns=["a", "b", "c"])).shape[1]


DISPLAYS = {
    "AdaBoostClassifier": "ShapeDisplay",
    "GentleBoostClassifier": "ShapeDisplay",
    "LogitBoostClassifier": "ShapeDisplay",
    "QuadraticBoostClassifier": "ProductDisplay",
    "GentleBoostRegressor": "TermsDisplay",
    "QuadraticBoostRegressor": "TermsDisplay",
    "GlassBoxClassifier": "GlassBoxDisplay",
    "LPBoostClassifier": "PatternDisplay",
    "OneAndHalfClassLPBoost": "PatternDisplay",
    "OneClassLPBoost": "PatternDisplay",
    "CompositionalBoostClassifier": "RuleDisplay",
    "PairwiseBoostClassifier": "ProjectionDisplay",
    "BilinearBoostClassifier": "BilinearDisplay",
    "SparseBilinearClassifier": "BilinearDisplay",
    "CorrectiveBilinearClassifier": "BilinearDisplay",
    "DecisionStumpClassifier": "StumpDisplay",
    "WeightedLDA": "AxisDisplay",
}

@pytest.mark.parametrize("name", DISPLAYS)
def test_displays_and_print(name):
    import matplotlib.pyplot as plt
    est, X, y = case(name)
    cls = getattr(boostlit, DISPLAYS[name])
    with pytest.raises(ValueError): cls.from_estimator(est)
    fit(est, X, None if ESTIMATORS[name][0] == ONE else y, None)
    d = cls.from_estimator(est)
    assert d.figure_ is not None and (getattr(d, "ax_", None) is not None or len(d.axes_))
    buffer = io.BytesIO()
    d.figure_.savefig(buffer, format="png")
    assert len(buffer.getvalue()) > 1000
    plt.close("all")
    text = str(est)
    # parameters, then what it has learnt
    assert text.startswith(name) and len(text.splitlines()) >= 2, text
    if hasattr(d, "estimator"): assert str(d) and len(str(d).splitlines()) <= d.top + 1


def test_every_boosting_estimator_has_a_display():
    boosting = {n for n in ESTIMATORS if hasattr(getattr(boostlit, n), "terms_")}
    assert boosting <= set(DISPLAYS)


@pytest.mark.parametrize("name", [n for n in DISPLAYS if hasattr(getattr(boostlit, n), "terms_")])
def test_terms_and_history_of_any_booster(name):
    import matplotlib.pyplot as plt
    est, X, y = case(name)
    fit(est, X, None if ESTIMATORS[name][0] == ONE else y, None)
    terms, history = (getattr(boostlit, d).from_estimator(est)
                      for d in ("TermsDisplay", "HistoryDisplay"))
    assert len(terms.ax_.patches) == min(10, est.terms_.num_rows)
    assert history.ax_.lines or not est.terms_.num_rows
    if isinstance(est, boostlit.Booster):
        assert issubclass(est.display, boostlit.TermsDisplay.__mro__[1])
    plt.close("all")


BYTES = """
import sys, warnings; warnings.simplefilter("ignore"); sys.path.insert(0, sys.argv[1])
import hashlib, pathlib, tempfile
from test_bad_input import ESTIMATORS, ONE, estimator, fit, good_data
from boostlit import save_model
folder = pathlib.Path(tempfile.mkdtemp())
for name in ESTIMATORS:
    kind, est = estimator(name)
    if "random_state" in est.get_params(): est.set_params(random_state=3)
    if "n_jobs" in est.get_params(): est.set_params(n_jobs=int(sys.argv[2]))
    X, y, _ = good_data(kind, 200)
    fit(est, X, None if kind == ONE else y, None)
    if "n_jobs" in est.get_params(): est.set_params(n_jobs=1)
    save_model(est, folder/"m"); print(name, hashlib.sha256((folder/"m").read_bytes()).hexdigest())
"""

def test_same_bytes_everywhere():
    "Model files of every estimator: two runs, one and two jobs, one and two threads of BLAS."
    run = lambda jobs, threads: subprocess.run(
        [sys.executable, "-c", BYTES, os.path.dirname(__file__), jobs],
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
        env={
            **os.environ,
            **dict.fromkeys(
                ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), threads
            ),
        },
    ).stdout.splitlines()
    one, two = run("1", "1"), run("2", "2")
    assert len(one) == len(ESTIMATORS) and [a for a, b in zip(one, two) if a != b] == []
