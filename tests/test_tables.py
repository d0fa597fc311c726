"Tables as people have them: the same matrix from pandas, polars and Arrow, and models that learn."
import datetime
import numpy as np
import pyarrow as pa
import pytest
import boostlit
from boostlit import (AdaBoostClassifier, DecisionStumpClassifier, QuadraticBoostClassifier,
                      load_model, save_model)
from boostlit.core.tables import normalise_weights, tabular_input, to_arrow

pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
N = 400
RNG = np.random.default_rng(0)
HOURS = RNG.permutation(N)
START = np.datetime64("2024-01-01T00:00:00", "us")
TIMES = START + HOURS.astype("timedelta64[h]")
GRADES = ["poor", "fair", "good", "great"]
GRADE = RNG.integers(0, 4, N)
LATE = HOURS >= 200
HIGH = GRADE >= 2


def tables(name):
    "One column in the forms that people have it in, and the labels it decides."
    half_known = [None if i % 10 == 0 else bool(v) for i, v in enumerate(LATE)]
    wait = HOURS.astype("timedelta64[h]").astype("timedelta64[us]")
    tokyo = pd.Series(TIMES).dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")
    times, days = pa.array(TIMES), pa.array(TIMES.astype("datetime64[D]"))
    words = [GRADES[g] for g in GRADE]
    order = pa.DictionaryArray.from_arrays(pa.array(GRADE, pa.int8()), GRADES, ordered=True)
    whole = pa.array([None if i % 10 == 0 else int(h) for i, h in enumerate(HOURS)], pa.int64())
    forms = {
        "time": (times, LATE, dict(pandas=TIMES, polars=pl.Series(TIMES))),
        "zoned time": (times.cast(pa.timestamp("us", "Asia/Tokyo")), LATE,
                       dict(pandas=tokyo, polars=pl.Series(TIMES).dt.replace_time_zone("UTC")
                            .dt.convert_time_zone("Asia/Tokyo"))),
        "date": (days, TIMES >= TIMES.min() + np.timedelta64(9, "D"),
                 dict(pandas=[t.astype(datetime.datetime).date() for t in TIMES],
                      polars=pl.Series(TIMES).cast(pl.Date))),
        "duration": (pa.array(wait), LATE, dict(pandas=wait, polars=pl.Series(wait))),
        "order": (order, HIGH, dict(pandas=pd.Categorical(words, GRADES, ordered=True),
                                    polars=pl.Series(words, dtype=pl.Enum(GRADES)))),
        "words": (pa.array(words), HIGH, dict(pandas=pd.Categorical(words),
                                              polars=pl.Series(words, dtype=pl.Categorical))),
        "dictionary": (pa.array(words).dictionary_encode(), HIGH,
                       dict(pandas=words, polars=pl.Series(words))),
        "nullable": (whole, LATE, dict(pandas=pd.array(whole.to_pylist(), "Int64"),
                                       polars=pl.Series(whole.to_pylist()))),
        "arrow-backed": (whole, LATE, dict(pandas=pd.array(whole.to_pylist(), "int64[pyarrow]"),
                                           polars=pl.Series(whole.to_pylist()))),
        "boolean": (pa.array(LATE), LATE, dict(pandas=pd.array(LATE, "boolean"),
                                               polars=pl.Series(LATE))),
        "boolean with gaps": (pa.array(half_known), LATE,
                              dict(pandas=pd.array(half_known, "boolean"),
                                   polars=pl.Series(half_known))),
        "decimal": (pa.array(HOURS).cast(pa.decimal128(24, 2)), LATE,
                    dict(pandas=pa.array(HOURS).cast(pa.decimal128(24, 2)).to_pylist(),
                         polars=pl.Series(HOURS.tolist()))),
    }
    ends = pd.cut(HOURS, [-1, 99, 199, 299, 400])
    forms["category of times"] = (times.dictionary_encode(), LATE,
                                  dict(pandas=pd.Categorical(TIMES), polars=pl.Series(TIMES)))
    forms["intervals"] = (pa.Table.from_pandas(pd.DataFrame({"c": ends}))["c"], LATE,
                          dict(pandas=ends, polars=None))
    arrow, y, others = forms[name]
    noise = RNG.normal(size=N)
    found = [pa.table({"c": arrow, "noise": noise}),
             pd.DataFrame({"c": others["pandas"], "noise": noise})]
    if others["polars"] is not None:
        found.append(pl.DataFrame({"c": others["polars"], "noise": noise}))
    return y, found


NAMES = ["time", "zoned time", "date", "duration", "order", "words", "dictionary", "nullable",
         "arrow-backed", "boolean", "boolean with gaps", "decimal", "category of times",
         "intervals"]


@pytest.mark.parametrize("name", NAMES)
def test_the_same_matrix_from_everywhere_and_a_model_that_knows(name):
    y, forms = tables(name)
    matrices = [tabular_input(DecisionStumpClassifier(), X, y, reset=True)[0] for X in forms]
    for M in matrices[1:]: np.testing.assert_array_equal(M, matrices[0])
    half = np.arange(N) % 2 == 0
    want = .99 if name not in ("nullable", "arrow-backed", "boolean with gaps") else .93
    for X in forms:
        arrow = to_arrow(X)
        train, test = arrow.filter(pa.array(half)), arrow.filter(pa.array(~half))
        est = AdaBoostClassifier(n_estimators=12).fit(train, y[half])
        assert est.score(test, y[~half]) >= want, name
    est = AdaBoostClassifier(n_estimators=12).fit(forms[0], y)
    scores = [est.decision_function(X) for X in forms]
    for s in scores[1:]: np.testing.assert_array_equal(s, scores[0])


@pytest.mark.parametrize("name", NAMES)
def test_readings_survive_a_file(name, tmp_path):
    y, forms = tables(name)
    est = DecisionStumpClassifier().fit(forms[0], y)
    save_model(est, tmp_path/"m")
    again = load_model(tmp_path/"m")
    assert (again.readings_, again.missing_) == (est.readings_, est.missing_)
    for X in forms: np.testing.assert_array_equal(again.predict(X), est.predict(X))


def test_a_duration_is_a_number_beside_words_too():
    wait = HOURS.astype("timedelta64[h]").astype("timedelta64[us]")
    alone = tabular_input(DecisionStumpClassifier(), pd.DataFrame({"w": wait}), LATE, reset=True)[0]
    both = pd.DataFrame({"w": wait, "s": ["a", "b"]*(N//2)})
    est = DecisionStumpClassifier()
    np.testing.assert_array_equal(tabular_input(est, both, LATE, reset=True)[0][:, :1], alone)
    assert est.kinds_ == ["numeric", "nominal"]


@pytest.mark.parametrize("column", [[[1], [2]]*2, [{"a": 1}]*4, [b"x"]*4, [1, "x", 2, 3],
                                    [1 + 2j]*4, [object()]*4],
                         ids=["lists", "dicts", "bytes", "mixed", "complex", "objects"])
def test_what_cannot_be_used_is_named(column):
    X = pd.DataFrame({"fine": [1., 2, 3, 4], "odd": pd.Series(column, dtype=object)})
    with pytest.raises(ValueError, match="'odd'"): AdaBoostClassifier().fit(X, [0, 1, 0, 1])


def test_columns_keep_their_kind():
    y, (arrow, frame, _) = tables("time")
    est = AdaBoostClassifier(n_estimators=3).fit(arrow, y)
    with pytest.raises(ValueError, match="'c' was read as time in training and is number now"):
        est.predict(pa.table({"c": [1., 2.], "noise": [0., 0.]}))
    with pytest.raises(ValueError, match="'c' was read as time"):
        est.predict(pa.table({"c": ["a", "b"], "noise": [0., 0.]}))
    nothing = pa.table({"c": pa.nulls(2), "noise": [0., 0.]})
    assert est.predict(nothing).shape == (2,)
    missing = frame.assign(c=pd.NaT)
    assert est.predict(missing.astype({"c": "datetime64[us]"})).shape == (N,)


@pytest.mark.parametrize("name, said", [
    ("time", "c <= 2024-01-09 07:30 ? -1 : +1"), ("duration", "c <= 8 days, 7:30:00 ? -1 : +1"),
    ("order", "c <= fair ? -1 : +1"), ("intervals", "c <= 99 to 199 ? -1 : +1"),
    ("nullable", "c <= 199.5 ? -1 : +1 (missing +1)"), ("boolean", "c <= 0.5 ? -1 : +1")])
def test_a_cut_is_told_in_the_words_of_its_column(name, said):
    y, (arrow, *_) = tables(name)
    assert AdaBoostClassifier(n_estimators=1).fit(arrow, y).terms_["text"][0].as_py() == said
    product = QuadraticBoostClassifier(n_estimators=1, degree=1).fit(arrow, y)
    assert product.terms_["text"][0].as_py() == f"({said})"


def test_a_category_that_is_not_in_the_order_is_missing():
    y, (arrow, *_) = tables("order")
    est = DecisionStumpClassifier().fit(arrow, y)
    assert est.kinds_[0] == "numeric" and est.categories_[0] == GRADES
    new = pa.table({"c": ["great", "unheard of"], "noise": [0., 0.]})
    assert np.isnan(tabular_input(est, new)[1, 0]) and tabular_input(est, new)[0, 0] == 3


@pytest.mark.parametrize("given", [["c"], [0], [True, False], [-2]], ids=str)
def test_categorical_features_as_in_scikit_learn(given):
    X = pd.DataFrame({"c": GRADE, "noise": RNG.normal(size=N)})
    y = np.isin(GRADE, [1, 3])
    for name in ("categorical_features", "nominal_features"):
        est = DecisionStumpClassifier(**{name: given}).fit(X, y)
        assert est.kinds_ == ["nominal", "numeric"]
    est = DecisionStumpClassifier(categorical_features="from_dtype").fit(X, y)
    assert est.kinds_ == ["numeric", "numeric"]


@pytest.mark.parametrize("given", [["no"], [5], [True], "all", [.5], [None]], ids=str)
def test_categorical_features_that_make_no_sense(given):
    X = pd.DataFrame({"c": GRADE, "noise": RNG.normal(size=N)})
    with pytest.raises(ValueError, match="categorical_features"):
        DecisionStumpClassifier(categorical_features=given).fit(X, LATE)
    with pytest.raises(ValueError, match="give one"):
        DecisionStumpClassifier(categorical_features=[0], nominal_features=[0]).fit(X, LATE)


def test_many_categories_are_codes_not_columns():
    "Seventy thousand words: a column of codes, and a model within a gigabyte."
    n = 70_000
    X = pa.table({"word": [f"w{i}" for i in range(n)], "x": np.arange(n) % 7})
    est = AdaBoostClassifier(n_estimators=2).fit(X, (np.arange(n) % 7 > 3).astype(int))
    assert est.score(X, (np.arange(n) % 7 > 3).astype(int)) == 1


def test_weights_do_not_depend_on_the_order_of_rows():
    w = RNG.exponential(size=10_001)
    order = RNG.permutation(len(w))
    assert (normalise_weights(w, len(w))[order] == normalise_weights(w[order], len(w))).all()


@pytest.mark.parametrize("kind", ["AdaBoostClassifier", "GentleBoostClassifier",
                                  "LogitBoostClassifier", "LPBoostClassifier",
                                  "QuadraticBoostClassifier"])
def test_missing_values_are_told_where_there_were_some(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = X[:, 0] + .5*X[:, 1] > 0
    est = getattr(boostlit, kind)(**({"oracle": "stumps"} if kind == "LPBoostClassifier" else {}))
    assert not any("missing" in text for text in est.fit(X, y).terms_["text"].to_pylist())
    X[:20, 0] = np.nan
    texts = est.fit(X, y).terms_["text"].to_pylist()
    assert all(("missing" in text) == ("x0" in text) for text in texts)
