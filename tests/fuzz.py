"""Injuries to model files and to inputs, and the two long runs that count what comes of them.

    python tests/fuzz.py files --count 10000
    python tests/fuzz.py inputs --count 10000

Half of the files and all of the inputs meet kernels compiled with bounds checks. Every case has a
number and depends on nothing else: `--only 4711` tries one again. Cases run in a child, which may
crash, hang or ask for memory without ending the run; a run that is stopped goes on where it was."""
import argparse
import contextlib
import datetime
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path
import numpy as np
import pyarrow as pa
from scipy import sparse
from sklearn.datasets import load_wine
import boostlit
from boostlit import (AdaBoostClassifier, GentleBoostClassifier, LPBoostClassifier,
                      PairwiseBoostClassifier, QuadraticBoostClassifier, load_model, save_model)
from boostlit.core.kernels import kernels
from boostlit.core.models import array_bytes, array_from, read_leaves, write_leaves
from boostlit.images import (Census, Codebook, Components, DenseSIFT, FisherVector,
                             SpatialPyramid, Waves)
from boostlit.lab.warming import warm_up
from boostlit.names import PUBLIC
from test_bad_input import (BINARY, ESTIMATORS, INJURIES, ONE, PAIRS, clear, estimator, fit,
                            good_data)

ODD = np.array([0, 1, -1, 2, 7, 2**31 - 1, 2**31, -2**31, 2**40, 2**63 - 1, -2**63], dtype=np.int64)
FLOATS = np.array([0, -0., 1, -1, np.nan, np.inf, -np.inf, 1.7e308, -1.7e308, 5e-324, 1e-300, 1e16,
                   .1])
PATIENCE = 20     # seconds after which a case counts as hanging
STORED = Path(__file__).resolve().parents[1]/"boostlit"/"data"/"soak.json"
SPARE = 200 << 20  # bytes that loading may take beyond four times the file


# ------------------------------------------------------------------ bytes

def mutate(data, rng):
    "One random injury: a flipped bit, a cut, a wiped range, a repeated piece."
    out = bytearray(data)
    kind, i, j = rng.integers(4), int(rng.integers(len(data))), int(rng.integers(len(data)))
    low = min(i, j)
    if kind == 0: out[i] ^= 1 << int(rng.integers(8))
    elif kind == 1: out = out[:i]
    elif kind == 2: out[low:low + 64] = rng.bytes(len(out[low:low + 64]))
    else: out[i:i] = out[low:low + 32]
    return bytes(out)


def survive(data, path, same):
    "Load mutated bytes: 'refused', or 'identical' when `same(est)`; anything else is a failure."
    Path(path).write_bytes(data)
    try: est = load_model(path)
    except ValueError as error: return told("refused", error)
    assert same(est), "a damaged file gave a different model"
    return "identical"


def told(word, error):
    "A refusal; 'out of bounds' if a kernel (or numpy) met a wrong index on the way to it."
    while error is not None:
        if isinstance(error, IndexError): return "out of bounds"
        error = error.__context__
    return word


# ------------------------------------------------------------------ structure

def mutate_array(data, rng):
    "Other numbers, another dtype, another shape, or noise."
    head, _, raw = data.partition(b"\0")
    change = rng.integers(8)
    if change == 0: return mutate(data, rng)
    if change == 1:
        raw = bytearray(raw)
        raw[:8*(len(raw)//8)] = rng.choice(ODD, len(raw)//8).astype("<i8").tobytes()
        return head + b"\0" + bytes(raw)
    if change == 2:
        kinds = [b"<f8", b"<i8", b"<i4", b"<u8", b"<U2", b"|O"]
        return head.replace(rng.choice(kinds[:3]), rng.choice(kinds)) + b"\0" + raw
    if change == 3:
        form = json.loads(head)
        if isinstance(form.get("dtype"), list):   # records: the same fields in another order
            rng.shuffle(form["dtype"])
        return json.dumps(form).encode() + b"\0" + raw
    if change == 4:
        shape = rng.choice([0, 1, 2, 3, 2**31, 10**12], rng.integers(0, 4)).tolist()
        return json.dumps({**json.loads(head), "shape": shape}).encode() + b"\0" + raw
    with np.errstate(all="ignore"): return array_bytes(other_array(array_from(data), rng), "x")


def other_array(array, rng):
    "A whole array that differs: in some values, its dtype, its order, its shape or its length."
    change, array = rng.integers(9), array.copy()
    names = array.dtype.names
    if change <= 2 and array.size and array.dtype.kind != "O":      # one value, a few or all
        part = array[str(rng.choice(names))] if names else array
        at = rng.integers(0, part.size, 1 + int(rng.integers(3))*change)
        part.flat[slice(None) if change == 2 else at] = odd_value(part, rng)
        return array
    if change == 3 and not names and array.dtype.kind in "iufb":
        kinds = ["u1", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "?", ">f8", "U1"]
        return array.astype(rng.choice(kinds))
    if change == 4 and names: return array.astype([(n, "<f8") for n in names])
    if change == 5 and names: return array[rng.permutation(names).tolist()]
    if change == 5 and array.ndim: return rng.permutation(array)
    if change == 6: return array[::-1] if array.ndim else array[None]
    if change == 7: return [array.T, array[None], array.ravel(), array.ravel()[:0]][rng.integers(4)]
    length = int(rng.choice([0, 1, max(0, len(array) - 1), len(array) + 1])) if array.ndim else 0
    return np.resize(array, (length, *array.shape[1:])) if array.size else array[None]


def odd_value(part, rng):
    "A value that does not belong there: extreme, or just beyond the others."
    if part.dtype.kind == "U": return "\U0010ffff"
    if part.dtype.kind == "f": return rng.choice(FLOATS).astype(part.dtype)
    beyond = [int(part.max()) + 1, int(part.min()) - 1, part.size, len(part)]
    chosen = rng.choice(ODD) if rng.random() < .5 else np.int64(beyond[rng.integers(4)])
    return chosen.astype(part.dtype)


def mutate_state(state, rng):
    "An attribute that is doubled, dropped, moved by one, or replaced by something odd."
    a, b = (str(rng.choice(list(state))) for _ in range(2))
    change = rng.integers(5)
    nested = {"value": 0}
    for _ in range(int(rng.choice([3, 30, 300]))): nested = {"list": [nested]}
    odd = [{"value": int(rng.choice(ODD))}, {"value": "x"}, {"float": "nan"}, {"list": []},
           {"leaf": int(rng.integers(99))}, {"leaf": -1}, {"leaf": True}, {"dict": {}},
           {"values": [1, "a", None]}, {"value": [[1]]}, {"float": "1e999"}, {"value": None},
           {"value": True}, {"value": 1e308}, {"value": 2**70}, {}, {"leaf": 0, "value": 1}, nested]
    whole = [k for k, v in state.items() if type(v.get("value")) is int]
    if change == 0: state[a] = state[b]
    elif change == 1: del state[a]
    elif change == 2 and whole:
        name = str(rng.choice(whole))
        state[name]["value"] += int(rng.choice([-2, -1, 1, 2, 63, 10**6]))
    elif change == 3: state[a], state[b] = state[b], state[a]
    else: state[a] = odd[rng.integers(len(odd))]


def mutate_header(header, rng):
    "The name of another class, a wrong format or version, a part that is not there."
    others = [*ESTIMATORS, "Booster", "StumpOracle", "load_model", "object", "", None, 7, ["a"]]
    ways = [("estimator", others[rng.integers(len(others))]), ("version", 2), ("version", True),
            ("format", None), ("state", []), ("parameters", {"list": []}), ("state", {"dict": {}})]
    key, value = ways[rng.choice([0, 0, 0, rng.integers(len(ways))])]
    header[key] = value


def mutate_leaves(header, leaves, rng):
    "A random change of content, to be signed again: of an array, a parameter or an attribute."
    header, leaves = json.loads(json.dumps(header)), list(leaves)
    way = rng.random()
    if way < .7 and leaves:
        for _ in range(int(rng.choice([1, 1, 1, 2, 3]))):
            k = int(rng.integers(len(leaves)))
            path, kind, data = leaves[k]
            spoil = mutate_array if kind == "array" else mutate
            with contextlib.suppress(Exception):     # hurt twice, it may be no array
                leaves[k] = path, kind, spoil(data, rng)
    elif way < .72: mutate_header(header, rng)
    else: mutate_state(header[str(rng.choice(["state", "state", "parameters"]))]["dict"], rng)
    return header, leaves


# ------------------------------------------------------------------ models

def every_estimator():
    "One small fitted model of each estimator and language, and an input to use it on."
    for name in ESTIMATORS:
        kind, est = estimator(name)
        Z, z, _ = good_data(kind)
        yield name, fit(est, Z, None if kind == ONE else z, None), Z
    P, p, _ = good_data(PAIRS)
    est = PairwiseBoostClassifier(n_estimators=3, projection="lifted").fit(P, p)
    yield "PairwiseBoostClassifier, lifted", est, P
    B, b, _ = good_data(BINARY)
    yield "LPBoostClassifier on itemsets", LPBoostClassifier("itemsets", nu=.3).fit(B, b), B
    yield "LPBoostClassifier on trees", LPBoostClassifier("trees", nu=.3).fit(B, b), B
    wine, kinds = load_wine(return_X_y=True)
    for make in (AdaBoostClassifier, GentleBoostClassifier):
        yield f"{make.__name__} of three classes", make(n_estimators=4).fit(wine, kinds), wine[:20]
    est = QuadraticBoostClassifier(n_estimators=4, random_state=0).fit(wine, kinds)
    yield "QuadraticBoostClassifier of three classes", est, wine[:20]
    yield from more_models(wine, kinds)
    est = LPBoostClassifier("subgraphs", nu=.3, max_length=3).fit(*graphs())
    yield "LPBoostClassifier on subgraphs", est, graphs()[0]


def more_models(wine, kinds):
    "Models with words, missing values, products of three, maps; regressors."
    table, t = wine[:, :4].copy(), kinds > 0
    table[::7, 1] = np.nan
    words = pa.table({"w": [("red", "green", None)[int(v) % 3] for v in wine[:, 4]],
                      **{f"c{j}": table[:, j] for j in range(4)}})
    few = dict(n_estimators=4)
    for est, Z, z in [
            (AdaBoostClassifier(criterion="entropy", **few), words, t),
            (boostlit.LogitBoostClassifier(**few), words, kinds),
            (boostlit.DecisionStumpClassifier(), words, kinds),
            (QuadraticBoostClassifier(search="exact", **few), table, t),
            (QuadraticBoostClassifier(degree=3, random_state=0, **few), words, t),
            (boostlit.GlassBoxClassifier(n_bags=2, max_cycles=20, n_pairs=2), words, kinds),
            (boostlit.CompositionalBoostClassifier(cuts=3, **few), words, kinds),
            (boostlit.CompositionalBoostClassifier(items="positive", settle=False, **few),
             wine > wine.mean(axis=0), kinds),
            (boostlit.OneClassLPBoost("itemsets", nu=.3), wine > wine.mean(axis=0), None),
            (LPBoostClassifier("stumps", nu=.3), words, t)]:
        yield f"{type(est).__name__} {len(kinds)} rows", est.fit(Z, z), Z[:20]
    bits = np.random.default_rng(0).integers(0, 2, (200, 4)).astype(float)
    est = boostlit.GlassBoxClassifier(n_bags=2, max_cycles=20)
    yield "GlassBoxClassifier of products", est.fit(bits, bits[:, :3].sum(1) % 2), bits[:20]
    est = boostlit.GlassBoxClassifier(n_bags=2, max_cycles=20, monotonic_cst={"c0": 1})
    est = est.fit(words, t).edit("c2", .5, low=0.)
    yield "GlassBoxClassifier with edits", est, words[:20]
    yield from more_blocks(wine, kinds)


def more_blocks(wine, kinds):
    "Bilinear models of three classes; one and a half classes of item sets; a chosen nu."
    blocks = np.abs(wine[:, :12].reshape(-1, 4, 3))/wine[:, :12].max()
    for make in (boostlit.BilinearBoostClassifier, boostlit.CorrectiveBilinearClassifier):
        est = make(n_estimators=2, random_state=0).fit(blocks, kinds)
        yield f"{make.__name__} of three classes", est, blocks[:20]
    items = wine > wine.mean(axis=0)
    est = boostlit.OneAndHalfClassLPBoost("itemsets", nu=.3).fit(items, kinds > 0)
    yield "OneAndHalfClassLPBoost on itemsets", est, items[:20]
    yield "LPBoostClassifier, nu chosen", LPBoostClassifier().fit(wine, kinds), wine[:20]


def graphs():
    "Cycles with two double bonds, and paths."
    import networkx as nx
    out = []
    for k in range(24):
        g = nx.cycle_graph(5 + k % 3) if k % 2 else nx.path_graph(5 + k % 3)
        nx.set_node_attributes(g, "C", "label")
        nx.set_edge_attributes(g, {e: "2" if k % 2 and 1 in e else "1" for e in g.edges}, "label")
        out.append(g)
    return out, np.arange(24) % 2


def said(est, Z):
    "What a model says of an input."
    for method in ("decision_function", "predict", "transform"):
        if hasattr(est, method): return np.asarray(getattr(est, method)(Z))


def answer(est, Z):
    "The same as bytes."
    return said(est, Z).tobytes()


WAYS = ("decision_function", "predict", "predict_proba", "transform", "explain",
        "staged_decision_function", "__str__", "terms_", "feature_importances_")


def use(est, Z):
    "How using a model in every way ends: with finite numbers, others, or an exception."
    ended = "usable"
    for way in WAYS:
        try:
            found = getattr(est, way, None)
            if way == "staged_decision_function" and found: found = list(found(Z))[-1]
            elif callable(found): found = found() if way == "__str__" else found(Z)
        except IndexError as error: return f"out of bounds: {way}: {error}"
        except ValueError as error:        # columns with other names, say
            if not clear(error): return f"unclear: {way}: {error!r}"
            ended = "refused in use"
        except Exception as error: return f"other: {way}: {error!r}"
        else:
            if not finite_numbers(found): return f"not finite: {way}"
    return ended


def finite_numbers(out):
    "Is everything that is an array of floats finite?"
    return not isinstance(out, np.ndarray) or out.dtype.kind != "f" or np.isfinite(out).all()


def signed_again(path, header, leaves, Z, rng):
    "What happens to a file with changed content and a proper signature."
    changed, given = mutate_leaves(header, leaves, rng)
    write_leaves(path, json.dumps(changed), given, rng.choice(["zstd", None], p=[.05, .95]))
    try: hurt = load_model(path)
    except ValueError as error: return told("refused", error)
    return use(hurt, Z)


class Files:
    "Cases of damaged model files; even numbers are hurt in their bytes, odd ones in their content."
    def __init__(self, folder):
        self.path, self.models = Path(folder)/"hurt", []
        with kernels("auto"): fitted = list(every_estimator())    # what loads is to be compiled
        for name, est, Z in fitted:
            save_model(est, self.path)
            data, want = self.path.read_bytes(), answer(est, Z)
            assert answer(load_model(self.path), Z) == want, name
            self.models.append((name, data, want, Z, *read_leaves(self.path)))
        self.room = SPARE + 4*max(len(m[1]) for m in self.models)

    def run(self, number):
        "What comes of one case."
        rng = np.random.default_rng([1, number])
        name, data, want, Z, header, leaves = self.models[number//2 % len(self.models)]
        if number % 2: return name, "signed: " + signed_again(self.path, header, leaves, Z, rng)
        return name, "damaged: " + survive(mutate(data, rng), self.path,
                                           lambda est: answer(est, Z) == want)


# ------------------------------------------------------------------ inputs

def extremes(X, rng):
    "Some cells become extreme."
    X = np.array(X, float)
    X[rng.random(X.shape) < rng.choice([.02, .5, 1.])] = rng.choice(FLOATS)
    return X


def as_something(X, rng):
    "The same numbers in another container or dtype."
    import pandas as pd
    import polars as pl
    X = np.asarray(X)
    flat = X.reshape(len(X), -1)
    ways = [lambda: X.astype(rng.choice(["?", "i1", "u1", "u8", "i8", "f2", "f4", ">f8", "c16",
                                         "U3", "O", "M8[s]", "m8[s]", "S4"])),
            lambda: X[::-1], lambda: X[..., ::-1], lambda: np.asfortranarray(X),
            lambda: X[:, ::2], lambda: np.ma.masked_array(X, rng.random(X.shape) < .1),
            lambda: pd.DataFrame(flat), lambda: pl.DataFrame(flat), lambda: np.matrix(flat),
            lambda: pa.table({f"c{j}": column for j, column in enumerate(flat.T)}),
            lambda: pd.DataFrame(flat).astype("category"), lambda: X.tolist(),
            lambda: sparse.random(len(X), 3, .3, random_state=0), lambda: X[..., None],
            lambda: X.ravel(), lambda: X[0], lambda: np.broadcast_to(X[:1], X.shape),
            lambda: odd_table(flat, rng), lambda: odd_table(flat, rng),
            lambda: [*X.tolist(), None], lambda: {"a": X}, lambda: iter(X), lambda: "words"]
    return ways[rng.integers(len(ways))]()


def odd_table(X, rng):
    "A table in which one column is of an odd type, or has the name of another."
    import pandas as pd
    n = len(X)
    columns = [np.arange(n).astype("M8[D]"), np.arange(n).astype("m8[s]"), ["a", None]*n, [b"x"]*n,
               [[1, 2]]*n, [{"a": 1}]*n, [True, None]*n, [None]*n, [2**63]*n, [-2**63, 1]*n, [""]*n,
               pa.array(["u", "v"]*n)[:n].dictionary_encode(), pa.array([1]*n, pa.decimal128(9, 2)),
               pa.nulls(n), pa.array([1, None]*n, pa.uint8())[:n], pa.array([.1]*n, pa.float16())]
    chosen = columns[rng.integers(len(columns))]
    names = [f"c{j}" for j in range(X.shape[1])] + [["odd", "c0", ""][rng.integers(3)]]
    table = pa.table([*map(pa.array, X.T), pa.array(chosen[:n])], names=names)
    ways = [lambda: table, lambda: table.to_pandas(), lambda: table.to_pandas().convert_dtypes(),
            lambda: pd.concat([table.to_pandas()]*2, axis=1),
            lambda: table.to_pandas().set_index(names[-1])]
    return ways[rng.integers(len(ways))]()


def labels(y, rng):
    "Labels of many kinds."
    n = len(y)
    ways = [np.arange(n), np.zeros(n), np.arange(n) % 5, np.arange(n) % 2 + 255,
            rng.choice(FLOATS, n), np.array(["a", "b", "ü", ""]*n)[:n], y.astype("u1"), y > 0,
            y.astype("O"), np.array([None, 1]*n, "O")[:n], -y, y*2**62, y[:-1], np.r_[y, y],
            y[:, None], y.tolist(), set(y.tolist()), np.array([(1, 2)]*n), y + 1j, y*.5]
    return ways[rng.integers(len(ways))]


def weights(n, rng):
    "Weights of many kinds."
    ways = [None, np.zeros(n), np.ones(n), np.full(n, 5e-324), np.full(n, 1.7e308), -np.ones(n),
            rng.choice(FLOATS, n), rng.random(n) < .5, np.arange(n), np.eye(1, n)[0],
            np.ones(n + 1), 1., "w", np.full(n, "1"), np.ones((n, 1)),
            np.geomspace(1e-308, 1e308, n)]
    return ways[rng.integers(len(ways))]


VALUES = [0, -1, 1, 2, 2.5, .5, 1e-9, 1e300, np.nan, np.inf, True, None, "x", "", [], {}, (1,), 7,
          np.int8(3), np.float32(.3), [0], ["a"], np.array([1, 0]), object, "auto", 100]
SLOW = {"n_estimators", "max_cycles", "n_bags", "n_restarts", "max_inner", "max_iter", "verbose",
        "callbacks", "n_jobs", "degree"}    # large values are allowed and take their time


def hostile_data(kind, rng):
    "Rows, labels and weights after one to three injuries."
    X, y, w = good_data(kind, int(rng.choice([1, 2, 3, 7, 36, 64, 65])), int(rng.integers(9)))
    for _ in range(int(rng.integers(1, 4))):
        way = rng.integers(6)
        if way == 0: X, y, w = INJURIES[str(rng.choice(list(INJURIES)))][0](X, y, w)
        elif way == 1: X = extremes(X, rng)
        elif way == 2: X = X*10.**rng.uniform(-322, 308)
        elif way == 3: X = as_something(X, rng)
        elif way == 4: y = labels(y, rng)
        else: w = weights(len(y), rng)
    return X, y, w


def hostile_estimator(name, rng):
    "Fit an estimator to hostile data, or to good data with a hostile parameter, and use it."
    kind, est = estimator(**LANGUAGES.get(name, dict(name=name)))
    if getattr(est, "oracle", "") == "itemsets": kind = BINARY
    X, y, w = good_data(kind) if rng.random() < .3 else hostile_data(kind, rng)
    if rng.random() < .3:
        names = sorted(set(est.get_params(deep=False)) - SLOW)
        est.set_params(**{str(rng.choice(names)): VALUES[rng.integers(len(VALUES))]})
    Z = X if rng.random() < .5 else hostile_data(kind, rng)[0]
    def call():
        fit(est, X, None if kind == ONE else y, w)
        str(est)
        for method in ("predict", "predict_proba", "decision_function", "transform", "explain"):
            if not hasattr(est, method): continue
            out = getattr(est, method)(Z)
            if name != "TableEncoder": finite(out)       # which hands on what is missing as NaN
    return call


def finite(out):
    "Raise ArithmeticError for numbers that are not finite."
    if not finite_numbers(out): raise ArithmeticError("numbers that are not finite")


def hostile_baskets(rng):
    "Transactions of many kinds."
    n, d = int(rng.integers(0, 70)), int(rng.integers(0, 9))
    T = rng.random((n, d)) < rng.choice([.1, .5, 1.])
    lists = [np.flatnonzero(row).tolist() for row in T]
    ways = [T, T.astype(rng.choice(["i1", "f8", "O", "U1", "c8", "u8"])), lists, pa.array(lists),
            sparse.csr_matrix(T), sparse.coo_matrix(T.astype("f4")), T[::-1], T.T, T*np.nan, T[:1],
            [[str(i) for i in row] for row in lists], [set(row) for row in lists], [*lists, None],
            [[-1]], [[2**40]], [[1.5]], [["a", 1]], pa.array([[1, None]]), pa.array([None, [1]]),
            {"a": [1]}, 7, None, "abc", iter(lists), np.ma.masked_array(T, T)]
    return ways[rng.integers(len(ways))], n


def hostile_mining(name, rng):
    "An itemset function on hostile baskets."
    T, n = hostile_baskets(rng)
    supports = [1, 2, 0, -1, .1, 0., 1., 1.5, np.nan, np.inf, "1", None, True, 10**9]
    support = supports[rng.integers(len(supports))]
    more = {} if rng.random() < .6 else dict(max_length=VALUES[rng.integers(len(VALUES))])
    y = labels(np.arange(n) % 2, rng) if n else np.zeros(0)
    function = getattr(boostlit, name)
    if name == "mine_rules": return lambda: function(T, y, support, 1.1, **more)
    if name == "significant_itemsets": return lambda: function(T, y, n_permutations=20)
    if name == "read_baskets": return lambda: function(T)
    return lambda: function(T, support, **more)


def hostile_graphs(rng):
    "Graphs with odd nodes and edges."
    n = int(rng.integers(0, 6))
    nodes = [["C", "N", "", None, 1, 2.5, "C", ("a",), []][rng.integers(9)] for _ in range(n)]
    ends = [0, 1, 2, n - 1, n, -1, 10**9, .5, "a", None]
    edge = lambda: tuple([ends[rng.integers(10)], ends[rng.integers(10)], "1"][:rng.integers(1, 4)])
    return [nodes, [edge() for _ in range(int(rng.integers(0, 5)))]][:rng.choice([1, 2, 2, 2])]


def hostile_subgraphs(rng):
    "Learning from, or looking at, hostile graphs."
    good, y = graphs()
    bad = [tuple(hostile_graphs(rng)) for _ in range(3)]
    est = LPBoostClassifier("subgraphs", nu=.3, max_length=2)
    if rng.random() < .5: return lambda: est.fit(good[:10] + bad, np.arange(13) % 2)
    return lambda: finite(est.fit(good, y).decision_function(bad))


def hostile_oracle(rng):
    "The stump oracle, asked anything."
    X, y, w = hostile_data("table", rng)
    more = {str(rng.choice(["kinds", "max_bins", "criterion", "n_classes", "colsample"])):
            VALUES[rng.integers(len(VALUES))]} if rng.random() < .5 else {}
    more.setdefault("criterion", str(rng.choice(["error", "entropy", "least_squares"])))
    return lambda: boostlit.StumpOracle(X, **more).ask(labels(np.arange(36) % 2, rng), w)


def hostile_loop(rng):
    "The loop with any labels and weights under any master."
    X, _, _ = good_data("table")
    masters = ["AdaBoost", "Gentle", "Logistic", "MadaBoost", "SAMME", "Multinomial"]
    master, kind = str(rng.choice(masters)), str(rng.choice(["error", "entropy", "least_squares"]))
    y, w, rounds = labels(np.arange(36) % 2, rng), weights(36, rng), VALUES[rng.integers(7)]
    return lambda: boostlit.boost(boostlit.StumpOracle(X, criterion=kind),
                                  getattr(boostlit, master)(), y, rounds, weights=w)


def hostile_exports(name, rng):
    "Exports of a model that met odd but accepted data."
    X, y, _ = good_data("table")
    est = AdaBoostClassifier(n_estimators=3).fit(extremes(X, rng) if rng.random() < .5 else X, y)
    if name != "from_json": return lambda: getattr(boostlit, name)(est)
    text = boostlit.to_json(est)
    cut, more = int(rng.integers(len(text))), str(rng.choice(["", "0", "\"", "null", "1e999"]))
    return lambda: boostlit.from_json(text[:cut] + more + text[cut + len(more):])


def hostile_margins(rng):
    "Margins on anything."
    X, y, _ = good_data("table")
    est = GentleBoostClassifier(n_estimators=2).fit(X, y)
    Z, z, _ = hostile_data("table", rng)
    return lambda: finite(boostlit.margins(est, Z, z))


def hostile_pictures(rng):
    "Pictures through the pipeline of the images' room."
    shapes = [(40, 32), (32, 40, 3), (16, 16), (1, 1), (5, 90), (0, 8), (40, 32, 4), (40,)]
    pictures = [rng.integers(0, 256, shapes[rng.choice([0, 0, 0, 1, rng.integers(8)])])
                for _ in range(int(rng.integers(0, 5)))]
    kinds = ["u1", "f4", "f8", "i8", "?", "U3", "c8"]
    for k, picture in enumerate(pictures):
        if rng.random() < .3: pictures[k] = picture.astype(rng.choice(kinds))
        if rng.random() < .2: pictures[k] = extremes(picture, rng)
    if rng.random() < .1: pictures = [pictures, None, 7, {"a": pictures}][rng.integers(4)]
    odd = lambda: VALUES[rng.integers(len(VALUES))] if rng.random() < .1 else None
    some = lambda **values: {k: v if (o := odd()) is None else o for k, v in values.items()}
    sift = DenseSIFT(**some(size=16, step=8, sigma=1., scales=(1.,), max_pixels=None, mirror=False))
    book = Codebook(**some(n_words=4, sample=1000, batch=False), random_state=0)
    ways = [Components(**some(grid=(4, 3), side=8, normalise=False)),
            SpatialPyramid(**some(levels=2, normalise=True, flat=False)),
            FisherVector(**some(n_gaussians=2, n_axes=3, sample=1000), random_state=0)]
    way = ways[rng.integers(3)]
    def call():
        patches = sift.fit_transform(pictures)
        words = patches if way is ways[2] else book.fit(patches).transform(patches)
        finite(way.fit_transform(words))
    return call


def hostile_displays(rng):
    "Any display of any model, with any number of parts."
    name = str(rng.choice([n for n in PUBLIC if n.endswith("Display")]))
    kind, est = estimator(str(rng.choice(list(ESTIMATORS))))
    X, y, _ = good_data(kind)
    if rng.random() < .9: fit(est, X, None if kind == ONE else y, None)
    est = est if rng.random() < .9 else VALUES[rng.integers(len(VALUES))]
    more = {} if rng.random() < .5 or name == "ShapeDisplay" else dict(
        top=VALUES[rng.integers(len(VALUES))])
    def call():
        from matplotlib import pyplot
        try: getattr(boostlit, name).from_estimator(est, **more)
        finally: pyplot.close("all")
    return call


def hostile_controls(rng):
    "The loop with odd listeners and numbers."
    X, y, _ = good_data("table")
    value = lambda: VALUES[rng.integers(len(VALUES))]
    v, w, folder = value(), value(), tempfile.gettempdir()
    ways = [lambda: [boostlit.EarlyStopping(X, y if v is None else v, w)],
            lambda: [boostlit.EarlyStopping(X, [2.*y - 1], patience=v)],
            lambda: [boostlit.Checkpoint(folder + "/nowhere/at/all", v)], lambda: [v], lambda: v,
            lambda: [boostlit.Callback(), v]]
    way, name = ways[rng.integers(len(ways))], str(rng.choice(["AdaBoost", "Logistic", "Gentle"]))
    kind = "error" if name == "AdaBoost" else "least_squares"
    return lambda: boostlit.boost(boostlit.StumpOracle(X, criterion=kind),
                                  getattr(boostlit, name)(), 2.*y - 1, 2, callbacks=way())


def hostile_views(rng):
    "The image transformers that need no training."
    shapes = [(40, 32), (32, 40, 3), (16, 16), (1, 1), (5, 90), (0, 8), (40, 32, 4), (40,)]
    pictures = [rng.integers(0, 256, shapes[rng.choice([0, 1, rng.integers(8)])]).astype(
        rng.choice(["u1", "u1", "f8", "i2", "U2"])) for _ in range(int(rng.integers(0, 3)))]
    make = [Census, Waves][rng.integers(2)]
    settings = {} if make is Census else dict(side=32)
    if rng.random() < .5:
        name = str(rng.choice(sorted(set(make().get_params()) - {"n_jobs", "memory"})))
        settings[name] = VALUES[rng.integers(len(VALUES))]
    return lambda: finite(np.asarray(make(**settings).fit_transform(pictures)))


def hostile_names(rng):
    "Functions that take a name or a path."
    values = [*VALUES, "wine", "../wine", "/", "\0", "a/b", "wine\n", b"wine", "w"*5000]
    value = values[rng.integers(len(values))]
    functions = [boostlit.have_dataset, boostlit.load_dataset, load_model,
                 lambda v: save_model(v, "/nowhere/at/all")]
    function = functions[rng.integers(len(functions))]
    return lambda: function(value)


MINING = ["closed_itemsets", "frequent_itemsets", "maximal_itemsets", "mine_rules",
          "association_rules", "significant_itemsets", "read_baskets"]
OTHERS = {"StumpOracle": hostile_oracle, "boost": hostile_loop, "subgraphs": hostile_subgraphs,
          "margins": hostile_margins, "images": hostile_pictures, "names": hostile_names,
          "displays": hostile_displays, "controls": hostile_controls, "views": hostile_views}
LANGUAGES = {f"LPBoostClassifier on {oracle}": dict(name="LPBoostClassifier", oracle=oracle)
             for oracle in ("itemsets", "trees", "kernels", "stumps")} | {
    "PairwiseBoostClassifier, lifted": dict(name="PairwiseBoostClassifier", projection="lifted"),
    "QuadraticBoostClassifier, exact": dict(name="QuadraticBoostClassifier", search="exact"),
    "AdaBoostClassifier, entropy": dict(name="AdaBoostClassifier", criterion="entropy")}
EXPORTS = ["to_json", "to_python", "to_sql", "to_onnx", "from_json"]


class Inputs:
    "Cases of hostile input; every public estimator and function has its turn."
    room = 3 << 30

    def __init__(self, folder):
        self.names = [*ESTIMATORS, *LANGUAGES, *MINING, *ESTIMATORS, *OTHERS, *EXPORTS]

    def make(self, number, name):
        "The call of a case; building the injury itself may fail, then the next one is taken."
        for more in range(100):
            rng = np.random.default_rng([2, number, more])
            with contextlib.suppress(Exception):
                if name in MINING: return hostile_mining(name, rng)
                if name in EXPORTS: return hostile_exports(name, rng)
                if name in OTHERS: return OTHERS[name](rng)
                return hostile_estimator(name, rng)
        raise AssertionError(f"no case of {name}")

    def run(self, number, name=None):
        "What comes of one case."
        name = name or self.names[number % len(self.names)]
        call = self.make(number, name)
        try: call()
        except (ValueError, TypeError) as error:
            return name, "refused" if clear(error) else f"unclear: {error!r}"
        except FileNotFoundError: return name, "refused"      # a word may be the name of a file
        except IndexError as error: return name, f"out of bounds: {error}"
        except Exception as error: return name, f"other: {error!r}"
        return name, "works"


# ------------------------------------------------------------------ long runs

def child(kind, checked, first, last, log):
    "Run cases and write a line for each; memory is limited once everything is compiled."
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    with tempfile.TemporaryDirectory(dir=shared_memory()) as folder, open(log, "a") as out:
        warm_up(False)        # kernels come from the cache, or are compiled before the first case
        cases = dict(files=Files, inputs=Inputs)[kind](folder)
        limit_memory(cases.room)
        print("ready", file=out, flush=True)
        for number in range(first, last):
            name, what = cases.run(number)
            print(number, name, what.replace("\n", " ")[:200], sep="\t", file=out, flush=True)
    os._exit(0)      # without the long good-bye of an interpreter that has compiled a lot


def shared_memory():
    "A folder in memory where there is one: files are written and synced thousands of times."
    return "/dev/shm" if os.path.isdir("/dev/shm") else None


def limit_memory(room):
    "At most this much more address space than now."
    if not os.path.exists("/proc/self/statm"): return
    import resource
    with open("/proc/self/statm") as f: used = int(f.read().split()[0])*resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + room,)*2)


def done_cases(log):
    "Lines of finished cases."
    lines = Path(log).read_text().splitlines() if Path(log).exists() else []
    return [line.split("\t") for line in lines if line.count("\t") == 2]


def run_half(kind, checked, first, last, folder):
    "Run a range of cases to its end, over crashes and hangs."
    log = Path(folder)/f"{kind}-{'checked' if checked else 'plain'}.txt"
    env = {**os.environ, "BOOSTLIT_KERNELS": "compiled", "OMP_NUM_THREADS": "1",
           "NUMBA_BOUNDSCHECK": str(int(checked)),
           "NUMBA_CACHE_DIR": str(Path(folder)/f"kernels-{int(checked)}")}
    while True:
        done = done_cases(log)
        start = max((int(row[0]) + 1 for row in done), default=first)
        if start >= last: return done
        ended = one_child([kind, str(int(checked)), str(start), str(last), str(log)], env, log)
        if ended:
            now = max((int(row[0]) + 1 for row in done_cases(log)), default=first)
            with open(log, "a") as out: print(now, "?", ended, sep="\t", file=out)


def one_child(arguments, env, log):
    "One child to its end: '' or how it failed. A case has 20 s, compiling before it 15 minutes."
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import fuzz; " \
           "a = sys.argv[1:]; fuzz.child(a[0], a[1] == '1', int(a[2]), int(a[3]), a[4])"
    before = log.stat().st_size if log.exists() else 0
    process = subprocess.Popen([sys.executable, "-c", code, *arguments], env=env)
    try: return watch(process, log, before)
    finally:
        process.kill()
        process.wait()


def watch(process, log, before):
    "How a child ends: '' when all is well."
    size = -1
    while process.poll() is None:
        time.sleep(.2)
        now = log.stat().st_size if log.exists() else 0
        if now != size: size, since, used = now, time.monotonic(), processor_time(process)
        patience = PATIENCE if size > before else 900
        if processor_time(process) - used > patience: return "hang"
        if time.monotonic() - since > 20*patience: return "hang"      # waits for something
    return "" if process.returncode == 0 else f"crash: exit {process.returncode}"


def processor_time(process):
    "Seconds that a child has worked: the machine may be busy with something else."
    try: fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    except OSError: return time.monotonic()
    return (int(fields[11]) + int(fields[12]))/os.sysconf("SC_CLK_TCK")


def report(rows):
    "Counts by outcome, and the names of what must not be."
    bad = ("out of bounds", "not finite", "hang", "crash", "unclear", "other", "damaged: other")
    counts = Counter(what.split(": {")[0].split(":")[0] if what.startswith(bad) else what
                     for _, _, what in rows)
    worst = [row for row in rows if any(word in row[2] for word in bad)]
    return counts, worst


def store(kind, counts, rows, worst):
    "Keep the outcome of a long run for the page about testing."
    kept = json.loads(STORED.read_text()) if STORED.exists() else {}
    kept[kind] = dict(date=str(datetime.date.today()), cases=len(rows), wrong=len(worst),
                      outcomes=dict(counts.most_common()))
    STORED.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kind", choices=["files", "inputs"])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--folder", default=None, help="keeps what was done, to go on later")
    parser.add_argument("--store", action="store_true", help="keep the counts for the page")
    parser.add_argument("--only", type=int, default=None, help="one case, in this process")
    given = parser.parse_args()
    if given.only is not None:
        with tempfile.TemporaryDirectory() as folder:
            cases = dict(files=Files, inputs=Inputs)[given.kind](folder)
            print(*cases.run(given.only), sep="\t")
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))      # the child ends with us
    folder = Path(given.folder or tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    halves = [(False, 0, given.count//2), (True, given.count//2, given.count)]
    if given.kind == "inputs": halves = [(True, 0, given.count)]
    rows = [row for half in halves for row in run_half(given.kind, *half, folder)]
    counts, worst = report(rows)
    print(f"{given.kind}: {len(rows):,} cases, {len(rows) - len(worst):,} as they should be")
    for what, count in counts.most_common(): print(f"  {count:7,} {what}")
    for row in worst[:40]: print("  !", *row)
    if given.store: store(given.kind, counts, rows, worst)
    return int(bool(worst))


if __name__ == "__main__": sys.exit(main())
