"How these files were made: run once with boostlit 0.1.0; `python make.py FOLDER`."
import json
import sys
import warnings
from pathlib import Path
import networkx
import numpy as np
import pandas as pd
import boostlit
from boostlit import (AdaBoostClassifier, BilinearBoostClassifier, CompositionalBoostClassifier,
                      DecisionStumpClassifier, GentleBoostClassifier, LPBoostClassifier,
                      OneAndHalfClassLPBoost, OneClassLPBoost, PairwiseBoostClassifier,
                      QuadraticBoostClassifier, SparseBilinearClassifier, TableEncoder, WeightedLDA)


def inputs():
    "Small inputs by name, as plain JSON: rows of numbers, columns of a table, or graphs."
    rng = np.random.default_rng(1)
    n = 36
    base = rng.normal(size=(n, 3)).round(3)
    with_gaps = base.copy()
    with_gaps[rng.random((n, 3)) < .15] = np.nan
    colour = rng.choice(["red", "green", "blue"], n)
    size = np.where(rng.random(n) < .1, None, rng.choice(["s", "m", "l"], n))
    pairs = rng.normal(size=(n, 2, 3)).round(3)
    pairs[::2, 1] = pairs[::2, 0] + .1*rng.normal(size=(n//2, 3)).round(3)
    yield "numbers", "array", base.tolist()
    yield "gaps", "array", with_gaps.tolist()
    yield "codes", "array", np.c_[base[:, :1], rng.integers(0, 4, (n, 2))].tolist()
    yield "signs", "array", (base > 0).astype(int).tolist()
    table = {"length": with_gaps[:, 0].tolist(), "colour": colour.tolist(), "size": size.tolist()}
    yield "words", "table", table
    yield "letters", "table", {"colour": table["colour"], "size": table["size"]}
    yield "pairs", "array", pairs.tolist()
    yield "matrices", "array", np.abs(rng.normal(size=(n, 4, 3))).round(3).tolist()
    yield "graphs", "graphs", [graph(k) for k in range(24)]


def graph(k):
    "A cycle or a path with one odd node, as (labels of nodes, edges with labels)."
    g = networkx.cycle_graph(5 + k % 3) if k % 2 else networkx.path_graph(5 + k % 3)
    nodes = ["N" if v == k % 5 else "C" for v in g]
    return [nodes, [[int(a), int(b), "1" if (a + b) % 3 else "2"] for a, b in g.edges]]


def build(kind, value):
    "What an estimator is given."
    if kind == "array": return np.array(value, dtype=float)
    if kind == "table": return pd.DataFrame(value)
    out = []
    for nodes, edges in value:
        g = networkx.Graph()
        g.add_nodes_from((i, {"label": s}) for i, s in enumerate(nodes))
        g.add_edges_from((a, b, {"label": s}) for a, b, s in edges)
        out.append(g)
    return out


def labels(X, kind, classes):
    "Labels that can be learnt from the input."
    n = len(X)
    if kind == "table":
        score = (X["colour"] == "red") + np.arange(n)/n
        if "length" in X: score += X["length"].fillna(0)
    elif kind == "graphs": return np.arange(n) % 2
    elif np.ndim(X) == 3 and X.shape[1] == 2: return np.where(np.arange(n) % 2, -1, 1)
    else:
        flat = np.nan_to_num(X).reshape(n, -1)
        score = flat[:, 0] + .5*(flat[:, 1] > .3) - .3*flat[:, 0]*flat[:, -1]
    code = np.searchsorted(np.quantile(score, np.arange(1, len(classes))/len(classes)), score)
    return np.array(classes)[code]


few = dict(n_estimators=6, n_restarts=2, random_state=0)
two, three, words = [0, 1], [0, 1, 2], ["high", "low", "mid"]
PLAN = [
    ("stump", DecisionStumpClassifier(), "gaps", two),
    ("stump_words", DecisionStumpClassifier(criterion="entropy"), "words", ["no", "yes"]),
    ("adaboost", AdaBoostClassifier(n_estimators=6), "gaps", two),
    ("adaboost_three", AdaBoostClassifier(n_estimators=6), "numbers", words),
    ("adaboost_words", AdaBoostClassifier(n_estimators=6), "words", ["no", "yes"]),
    ("adaboost_nominal", AdaBoostClassifier(n_estimators=6, nominal_features=[1, 2]), "codes", two),
    ("gentle", GentleBoostClassifier(n_estimators=6), "gaps", two),
    ("gentle_three", GentleBoostClassifier(n_estimators=5), "numbers", three),
    ("gentle_words", GentleBoostClassifier(n_estimators=6), "words", words),
    ("quadratic", QuadraticBoostClassifier(**few), "gaps", two),
    ("quadratic_exact", QuadraticBoostClassifier(n_estimators=6, search="exact"), "numbers", two),
    ("quadratic_three", QuadraticBoostClassifier(**few), "numbers", words),
    ("quadratic_words", QuadraticBoostClassifier(**few), "words", ["no", "yes"]),
    ("compositional", CompositionalBoostClassifier(n_estimators=5), "signs", two),
    ("compositional_three", CompositionalBoostClassifier(n_estimators=5), "numbers", words),
    ("compositional_words", CompositionalBoostClassifier(n_estimators=5), "words", ["no", "yes"]),
    ("compositional_open",
     CompositionalBoostClassifier(n_estimators=5, pool="open", items="positive"), "numbers", two),
    ("pairwise", PairwiseBoostClassifier(n_estimators=5), "pairs", None),
    ("pairwise_difference",
     PairwiseBoostClassifier(n_estimators=5, projection="difference", symmetric=False),
     "pairs", None),
    ("pairwise_lifted", PairwiseBoostClassifier(n_estimators=5, projection="lifted"),
     "pairs", None),
    ("lda", WeightedLDA(), "numbers", words),
    ("bilinear", BilinearBoostClassifier(n_estimators=3, random_state=0), "matrices", two),
    ("bilinear_three", BilinearBoostClassifier(n_estimators=2, random_state=0), "matrices", words),
    ("sparse_bilinear", SparseBilinearClassifier(c1=.02, c2=.02), "matrices", two),
    ("lp_stumps", LPBoostClassifier(nu=.3), "gaps", two),
    ("lp_stumps_words", LPBoostClassifier(nu=.3), "words", words),
    ("lp_itemsets", LPBoostClassifier(oracle="itemsets", nu=.3), "signs", two),
    ("lp_itemsets_words", LPBoostClassifier(oracle="itemsets", nu=.3), "letters", ["no", "yes"]),
    ("lp_subgraphs", LPBoostClassifier(oracle="subgraphs", nu=.3, max_length=3), "graphs", None),
    ("one_class", OneClassLPBoost(nu=.3), "numbers", None),
    ("one_class_itemsets", OneClassLPBoost(oracle="itemsets", nu=.3), "signs", None),
    ("one_and_half", OneAndHalfClassLPBoost(nu=.3), "numbers", two),
    ("one_and_half_subgraphs", OneAndHalfClassLPBoost(oracle="subgraphs", nu=.3), "graphs", None),
    ("table_encoder", TableEncoder(), "words", None),
]


def outputs(est, X):
    "What each method says of the input, as lists."
    found = {}
    for method in ("predict", "decision_function", "predict_proba", "transform"):
        if hasattr(est, method):
            found[method] = np.asarray(getattr(est, method)(X)).tolist()
    return found


def main(folder):
    assert boostlit.__version__ == "0.1.0"
    warnings.simplefilter("ignore")
    data = {name: [kind, value] for name, kind, value in inputs()}
    answers = {}
    for name, est, source, classes in PLAN:
        kind, value = data[source]
        X = build(kind, value)
        y = None if name in ("table_encoder",) else labels(X, kind, classes or two)
        est.fit(X, y)
        boostlit.save_model(est, folder/f"{name}.arrow")
        answers[name] = dict(input=source, outputs=outputs(est, X))
    (folder/"inputs.json").write_text(json.dumps(data))
    (folder/"answers.json").write_text(json.dumps(answers))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
