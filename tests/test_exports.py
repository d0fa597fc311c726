"Models taken away: JSON, Python, SQL and ONNX give the probabilities of the estimator."
import json
import sqlite3
import numpy as np
import pyarrow as pa
import pytest
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
import boostlit
from boostlit import from_json, to_json, to_onnx, to_python, to_sql
from boostlit.core.exports import scorecard_of


def table(n, seed, unseen=False):
    "Numbers, words with quotes, an ordered column, holes, and words never seen."
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=n), rng.integers(0, 4, n).astype(float)
    c, s = rng.integers(0, 3, n), rng.integers(0, 3, n)
    label = np.array(["a", "b", "it's c"])[(x > .3)*1 + ((c == 1) ^ (s > 1))*1]
    hole = rng.random((4, n)) < .1
    words = ["red", "o'green", 'say "blue"']
    colour = [None if h else "violet" if unseen and k % 5 == 0 else words[v]
              for k, (v, h) in enumerate(zip(c, hole[1]))]
    size = pa.DictionaryArray.from_arrays(
        pa.array([None if h else int(v) for v, h in zip(s, hole[2])], pa.int32()),
        pa.array(["small", "medium", "large"]), ordered=True)
    numbers = [[None if h else float(v) for v, h in zip(values, hole[k])]
               for k, values in ((0, x), (3, z))]
    return pa.table({"x": numbers[0], "the colour": colour, "size": size, "z": numbers[1]}), label


MAKE = {
    "ada": lambda: boostlit.AdaBoostClassifier(n_estimators=25),
    "entropy": lambda: boostlit.AdaBoostClassifier(n_estimators=25, criterion="entropy"),
    "gentle": lambda: boostlit.GentleBoostClassifier(n_estimators=25),
    "logit": lambda: boostlit.LogitBoostClassifier(n_estimators=25),
    "quadratic": lambda: boostlit.QuadraticBoostClassifier(n_estimators=20, random_state=0),
    "cubic": lambda: boostlit.QuadraticBoostClassifier(n_estimators=12, degree=3, random_state=0),
    "logistic": lambda: boostlit.QuadraticBoostClassifier(n_estimators=20, loss="logistic",
                                                          random_state=0),
    "glass": lambda: boostlit.GlassBoxClassifier(n_bags=2, max_cycles=60),
    "rules": lambda: boostlit.CompositionalBoostClassifier(n_estimators=15),
    "program": lambda: boostlit.LPBoostClassifier("stumps", nu=.3),
    "linked": lambda: boostlit.LPBoostClassifier("stumps", nu=.3, calibrate=True),
}
CASES = [(name, many) for name in MAKE for many in (False, True)
         if not (name == "entropy" and many)]


@pytest.fixture(scope="module", params=CASES, ids=lambda c: f"{c[0]}-{'three' if c[1] else 'two'}")
def model(request):
    name, many = request.param
    rows, label = table(300, 0)
    return MAKE[name]().fit(rows, label if many else label == "a")


NEW = table(80, 1, unseen=True)[0]


def by_json(m, rows):
    return from_json(to_json(m)).predict_proba(rows)


def by_python(m, rows):
    space = {}
    exec(to_python(m), space)
    dicts = [space["predict_proba"](row) for row in rows.to_pylist()]
    lists = [space["predict_proba"](list(row.values())) for row in rows.to_pylist()]
    assert dicts == lists
    return np.array(dicts)


def by_sqlite(m, rows):
    base = sqlite3.connect(":memory:")
    quoted = ", ".join(f'"{n}"' for n in rows.column_names)
    base.execute(f"CREATE TABLE data ({quoted})")
    marks = ", ".join("?"*rows.num_columns)
    base.executemany(f"INSERT INTO data VALUES ({marks})",
                     zip(*(c.to_pylist() for c in rows.columns)))
    return np.array([row[-len(m.classes_):] for row in base.execute(to_sql(m))])


def by_duckdb(m, rows):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as base:
        base.register("data", rows)
        found = base.execute(to_sql(m)).fetchall()
    return np.array([row[-len(m.classes_):] for row in found], dtype=float)


def by_onnx(m, rows):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    session, feed = runtime.InferenceSession(to_onnx(m).SerializeToString()), {}
    for j, words in enumerate(scorecard_of(m).words):
        values = rows.column(j).to_pylist()
        values = ([v or "" for v in values] if words
                  else [np.nan if v is None else v for v in values])
        feed[f"x{j}"] = np.array(values, dtype=object if words else np.float64)[:, None]
    label, proba = session.run(["label", "probabilities"], feed)
    best = m.classes_[proba.argmax(axis=1)]
    assert [str(v) for v in label] == [str(v if isinstance(v, str) else int(v)) for v in best]
    return proba


@pytest.mark.parametrize("way", [by_json, by_python, by_sqlite, by_duckdb, by_onnx])
def test_same_probabilities(model, way):
    assert np.abs(way(model, NEW) - model.predict_proba(NEW)).max() < 1e-9


def test_nothing_learnt_and_arrays():
    X, y = load_wine(return_X_y=True)
    flat = boostlit.AdaBoostClassifier(n_estimators=3).fit(X, y)
    assert np.abs(by_json(flat, X) - flat.predict_proba(X)).max() < 1e-9
    Z = np.zeros((20, 1))
    nothing = boostlit.GlassBoxClassifier(n_bags=2).fit(Z, [0, 1]*10)
    assert np.abs(by_json(nothing, Z) - nothing.predict_proba(Z)).max() < 1e-9


def test_refusals():
    rows, label = table(100, 0)
    X, y = load_wine(return_X_y=True)
    box = boostlit.QuadraticBoostClassifier(LogisticRegression(), n_estimators=2, n_restarts=1)
    for est, word in ((box.fit(X, y), "black-box"),
                      (boostlit.WeightedLDA().fit(X, y), "not made of cells")):
        with pytest.raises(ValueError, match=word):
            to_json(est)
    with pytest.raises(ValueError):
        to_json(boostlit.AdaBoostClassifier())
    for bad in ("{}", "[]", '{"format": "boostlit scorecard 1"}'):
        with pytest.raises(ValueError, match="scorecard"):
            from_json(bad)
    whole = json.loads(to_json(boostlit.AdaBoostClassifier(n_estimators=3).fit(rows, label)))
    whole["terms"][0]["axes"][0]["missing"] = 99
    with pytest.raises(ValueError, match="outside"):
        from_json(json.dumps(whole))


def test_codes_without_words_that_were_not_seen():
    "A nominal column of plain numbers: a number that training did not have is none of the others."
    rng = np.random.default_rng(0)
    X = np.c_[rng.integers(0, 4, 200), rng.normal(size=200)].astype(float)
    y = (X[:, 0] == 2) ^ (X[:, 1] > 1)
    est = boostlit.AdaBoostClassifier(n_estimators=5, categorical_features=[0]).fit(X, y)
    new = np.array([[v, u] for v in (-1., 0., 1., 2., 3., 4., 9.) for u in (0., 2.)])
    space = {}
    exec(to_python(est), space)
    told = [space["predict_proba"](row) for row in new.tolist()]
    assert np.allclose(told, est.predict_proba(new))


def test_long_sums_are_written_with_little_depth():
    from boostlit.core.exports import balanced
    text = balanced([str(k) for k in range(100)])
    assert eval(text) == 4950 and text.count("((((((") == 0 and balanced([]) == "0e0"
    assert balanced(["1", "2"]) == "(1 + 2)"


def test_a_program_over_trees_refuses_with_a_sentence():
    X, y = load_wine(return_X_y=True)
    model = boostlit.LPBoostClassifier("trees", nu=.3).fit(X, y)
    with pytest.raises(ValueError, match="over trees cannot be taken away, one over stumps can"):
        to_json(model)
