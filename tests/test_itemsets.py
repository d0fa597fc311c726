"Closed itemsets and weighted search against other people's code, brute force and bad input."
import fractions
import itertools
import os
import signal
import subprocess
import sys
import time
import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from boostlit.mining.bitsets import item_bits, row_bits, unpack_bits
from boostlit.core.datasets import have_dataset, load_dataset
from boostlit.mining.itemsets import (
    closed_itemsets, closed_reference, frequent_itemsets, iter_itemsets, maximal_itemsets,
    mine_itemsets,
)
from boostlit.mining.weighted_search import (ItemsetOracle, best_itemsets,
                                             count_patterns, pattern_gain)

fim = pytest.importorskip("fim")

def as_dict(t): return dict(zip(map(tuple, t["items"].to_pylist()), t["support"].to_pylist()))
def peer(X, s, target="c"):
    """pyfim's answer, completed by the sets with full support, which its fpgrowth leaves out (its
    sam reports them)."""
    found = {
        tuple(sorted(f)): n
        for f, n in fim.fpgrowth([np.flatnonzero(r).tolist() for r in X], target=target, supp=-s)
    }
    full = tuple(np.flatnonzero(X.all(0)).tolist())
    if full and len(X) >= s:
        if target == "s":
            found |= {
                f: len(X) for l in range(1, len(full) + 1) for f in itertools.combinations(full, l)
            }
        elif target == "c" or not ((X.sum(0) >= s) & (X.sum(0) < len(X))).any():
            found[full] = len(X)
    return found
def one_hot(X):
    return np.concatenate(
        [X[:, [j]] == np.unique(X[:, j][~np.isnan(X[:, j])]) for j in range(X.shape[1])], axis=1
    )


def both(X): return np.hstack([X >= X.mean(0), X < X.mean(0)])

def random_matrix(rng):
    n, d = int(rng.integers(1, 30)), int(rng.integers(1, 9))
    X = rng.random((n, d)) < rng.random()
    kind = rng.integers(6)
    if kind == 0: X[rng.integers(n)] = False               # empty row
    if kind == 1: X[:, rng.integers(d)] = False            # empty column
    if kind == 2: X[:, rng.integers(d)] = True             # full column
    if kind == 3: X[:, rng.integers(d)] = X[:, rng.integers(d)]   # duplicate column
    if kind == 4: X = X[:1]                                # one row
    return X

def test_random_matrices_agree_with_pyfim():
    rng = np.random.default_rng(0)
    for _ in range(3000):
        X, s = random_matrix(rng), int(rng.integers(1, 6))
        assert as_dict(closed_itemsets(X, s)) == peer(X, s), (X.astype(int).tolist(), s)

def test_other_targets_agree_with_pyfim():
    rng = np.random.default_rng(1)
    for _ in range(400):
        X, s = random_matrix(rng), int(rng.integers(1, 6))
        assert as_dict(frequent_itemsets(X, s)) == peer(X, s, "s")
        assert as_dict(maximal_itemsets(X, s)) == peer(X, s, "m")

@pytest.mark.parametrize(
    "name, supports",
    [
        ("breast_cancer", (300, 250, 212, 180)),
        ("wine", (80, 48, 30)),
        ("kr-vs-kp", (2600, 2300)),
        ("agaricus-lepiota", (2400, 1600)),
        ("mfeat", (260, 220)),
    ],
)
def test_real_data_agree_with_pyfim(name, supports):
    if not have_dataset(name): pytest.skip(f"{name} is not here")
    X = load_dataset(name).X
    B = (
        one_hot(X)
        if name in ("kr-vs-kp", "agaricus-lepiota")
        else X >= X.mean(0) + X.std(0, ddof=1)
        if name == "mfeat"
        else both(X)
    )
    for s in supports: assert as_dict(closed_itemsets(B, s)) == peer(B, s)

def test_work_is_linear_in_the_output():
    B, seen = both(load_dataset("breast_cancer").X), []
    for s in (250, 212, 170):
        stats = {}
        n = sum(b.num_rows for b in iter_itemsets(B, s, stats=stats, form="bits"))
        seen.append((stats["nodes"]/n, stats["cells"]/n))
    assert max(a for a, _ in seen) < 1.1 and max(b for _, b in seen) < 5, seen

def test_dense_data_go_through_tables():
    rng = np.random.default_rng(3)
    for n, d, density, share in [
        (90, 12, 0.85, 0.4), (300, 16, 0.9, 0.6), (700, 14, 0.8, 0.3), (150, 70, 0.5, 0.25), (64,
        130, 0.4, 0.2),
    ]:  # one, two and three words of items
        X = rng.random((n, d)) < density
        X[:, 1] &= X[:, 0]
        X[:, 2] = True
        y = rng.integers(0, 3, n)
        s = int(share * n)
        stats = {}
        tables = sum(b.num_rows for b in iter_itemsets(X, s, stats=stats, form="bits"))
        closed = peer(X, s)
        assert (
            as_dict(closed_itemsets(X, s)) == closed
            and tables == len(closed)
            and (d > 64 or stats["cells"] > 0)
        )
        for L in (2, 4):
            assert as_dict(closed_itemsets(X, s, max_length=L, length="set")) == {
                f: c for f, c in closed.items() if len(f) <= L
            }
        if d < 64:
            assert as_dict(frequent_itemsets(X, s, max_length=5)) == {
                f: c for f, c in as_dict(frequent_itemsets(X, s)).items() if len(f) <= 5
            }
        for r in closed_itemsets(X, s, y=y).to_pylist()[::7]:
            assert r["counts"] == [
                int((X[:, r["items"]].all(1) & (y == k)).sum()) for k in range(3)
            ]
        need = [0.5, 0.4, 0.45]
        full = closed_itemsets(X, s, y=y).to_pylist()
        cut = {tuple(r["items"]) for r in mine_itemsets(X, s, y=y, min_confidence=need).to_pylist()}
        assert cut == {
            tuple(r["items"])
            for r in full
            if any(c >= k * r["support"] - 1e-9 for c, k in zip(r["counts"], need))
        }
    small = [b.num_rows for b in iter_itemsets(X, s, chunk=16)]
    assert sum(small) == len(closed)  # chunks smaller than a table


def test_forms_of_input():
    B = both(load_dataset("wine").X)
    want = closed_itemsets(B, 48)
    lists = [np.flatnonzero(r).tolist() for r in B]
    ro = B.copy()
    ro.setflags(write=False)
    for form in (
        ro, B.astype(np.int8), np.asfortranarray(B), sp.csr_matrix(B),
        sp.csc_array(B.astype(float)), pa.array(lists),
        pa.array(lists, pa.large_list(pa.int64())),
        lists,
    ):
        assert closed_itemsets(form, 48).equals(want)
    assert (
        want.num_rows == 342
        and want.schema.field("items").type == pa.list_(pa.int32())
        and want.schema.field("support").type == pa.int64()
    )


@pytest.mark.parametrize(
    "call, word",
    [
        (lambda: closed_itemsets(np.ones((3, 2)), 1.5), "fraction"),
        (lambda: closed_itemsets(np.ones((3, 2)), -1), "negative"),
        (lambda: closed_itemsets(np.full((3, 2), np.nan), 1), "0 and 1"),
        (lambda: closed_itemsets(np.ones(3), 1), "two-dimensional"),
        (lambda: closed_itemsets([["a", 1]], 1), "integers"),
        (lambda: closed_itemsets(np.ones((3, 2)), 1, y=[0]), "labels"),
        (lambda: closed_itemsets(np.ones((3, 2)), 1, max_length=0), "max_length"),
        (lambda: mine_itemsets(np.ones((3, 2)), 1, target="best"), "target"),
        (lambda: closed_itemsets(~np.eye(40, dtype=bool), 1, max_sets=50_000), "max_sets"),
        (lambda: item_bits(pa.array([[None, 1]])), "null"),
    ],
)
def test_bad_input_is_told_why(call, word):
    with pytest.raises(ValueError, match=word): call()

@pytest.mark.parametrize(
    "support, rows",
    [
        (0, 1), (1, 1), (3, 3), (np.int8(3), 3), (np.uint64(3), 3), (np.array(3), 3), (0.25, 3),
        (np.float32(0.25), 3), (np.array(0.25), 3), (fractions.Fraction(1, 4), 3), (1e-12, 1), (1.0,
        12), (10**12, None),
    ],
)
def test_support_is_a_count_or_a_fraction(support, rows):
    X = np.random.default_rng(8).random((12, 6)) < 0.6
    X[:, 2] = True
    want = {} if rows is None else {f: n for f, n in closed_reference(X, 1).items() if n >= rows}
    assert as_dict(closed_itemsets(X, support)) == want

@pytest.mark.parametrize(
    "support",
    [True, np.True_, "2", None, [2], 2 + 0j, 0.0, 1.0000001, -0.5, float("nan"), float("inf"), -1],
)
def test_support_that_is_neither_is_told_why(support):
    with pytest.raises(ValueError, match="min_support"): closed_itemsets(np.eye(4), support)

def interrupted(work):
    """Runs `work` in a process of its own, presses Ctrl-C once it is under way, and returns what
    the process said."""
    code = f"""
import signal, numpy as np
from boostlit.core.kernels import kernels
from boostlit.mining.itemsets import closed_itemsets, mine_itemsets
from boostlit.mining.weighted_search import best_itemsets, count_patterns
# a test run in the background ignores it
signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(0)
X = rng.random((2000, 400)) < .5
with kernels("compiled"):
    for form in ("lists", "bits"): mine_itemsets(np.eye(3), 1, form=form)
    best_itemsets(np.eye(3), np.ones(3))
    count_patterns(np.eye(3), 2)
print("go", flush=True)
{work}
"""
    p = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert p.stdout.readline() == "go\n", p.communicate()[1]
        time.sleep(3)
        assert p.poll() is None
        p.send_signal(signal.SIGINT)
        return p.communicate(timeout=120)[1]
    finally:
        p.kill()
        p.wait()


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize(
    "work",
    [
        "best_itemsets(X, rng.normal(size=2000))",
        "closed_itemsets(X, 1, max_sets=10**12)",
        "mine_itemsets(~np.eye(60, dtype=bool), 1, callback=len)",
        "mine_itemsets(rng.random((20000, 400)) < .05, 1, callback=len)",
        "count_patterns(X, 40)",
    ],
)
def test_a_search_without_end_can_be_cancelled(work):
    assert interrupted(work).rstrip().endswith("KeyboardInterrupt")

def test_streaming_keeps_memory_bounded():
    code = """
import re, itertools, numpy as np
from boostlit.mining.itemsets import iter_itemsets
peak = lambda: int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])/1024
stream, size, sets = iter_itemsets(~np.eye(50, dtype=bool), 1), 0, 0
for _ in range(8): next(stream)
base = peak()
for b in itertools.islice(stream, 60): size += b.nbytes; sets += b.num_rows
print(sets, size/2**20, peak() - base)
"""
    if not os.path.exists("/proc/self/status"): pytest.skip("no /proc")
    sets, written, more = map(
        float,
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.split(),
    )
    assert sets > 1e6 and more < .2*written, (sets, written, more)

def test_streams_and_callbacks():
    B = both(load_dataset("wine").X)
    seen = []
    n = mine_itemsets(B, 48, callback=lambda b: seen.append(b.num_rows))
    assert n == sum(seen) == 342
    # 2^60 sets: the first chunk comes at once, the rest never has to
    stream = iter_itemsets(~np.eye(60, dtype=bool), 1)
    assert next(stream).num_rows > 0
    stream.close()

def test_class_counts_and_confidence_cut():
    rng = np.random.default_rng(2)
    for _ in range(200):
        X, s = random_matrix(rng), int(rng.integers(1, 5))
        y = rng.integers(0, 3, len(X))
        K = len(np.unique(y))
        need = rng.uniform(.3, 1, K)
        full = {tuple(r["items"]): r["counts"] for r in closed_itemsets(X, s, y=y).to_pylist()}
        for f, c in full.items():
            assert c == [int((X[:, list(f)].all(1) & (y == k)).sum()) for k in np.unique(y)]
        cut = {
            tuple(r["items"]): r["counts"]
            for r in mine_itemsets(X, s, y=y, min_confidence=need).to_pylist()
        }
        assert cut == {
            f: c for f, c in full.items() if any(a >= b * sum(c) - 1e-9 for a, b in zip(c, need))
        }


def test_bits_round_trip():
    rng = np.random.default_rng(3)
    for n, d in ((0, 2), (1, 1), (64, 64), (65, 3), (130, 70)):
        X = rng.random((n, d)) < .5
        assert (unpack_bits(item_bits(X)[0], n).T == X).all() and (
            unpack_bits(row_bits(X)[0], d) == X
        ).all()


def exhaustive(X, u, L, kind, empty=True, support=1):
    sets = [
        t
        for l in range(0 if empty else 1, L + 1)
        for t in itertools.combinations(range(X.shape[1]), l)
        if not t or X[:, list(t)].all(1).sum() >= support
    ]
    return max(
        [
            pattern_gain(X, u, t, o, kind)
            for t in sets
            for o in ((1, -1) if kind == "signed" else (1,))
        ],
        default=-np.inf,
    )


@pytest.mark.parametrize("kind", ["signed", "presence"])
def test_search_equals_exhaustive(kind):
    rng = np.random.default_rng(4)
    for _ in range(800):
        X = random_matrix(rng)
        u = rng.normal(size=len(X)) * (rng.random(len(X)) < 0.8)
        L, s, empty = int(rng.integers(1, 5)), int(rng.integers(1, 3)), bool(rng.integers(2))
        got, _, done = best_itemsets(X, u, L, kind=kind, min_support=s, allow_empty=empty)
        want = exhaustive(X, u, min(L, X.shape[1]), kind, empty, s)
        if np.isinf(want):
            assert got == []
            continue
        assert (
            done
            and abs(got[0][2] - want) < 1e-12
            and abs(pattern_gain(X, u, *got[0][:2], kind) - want) < 1e-12
        )


@pytest.mark.parametrize("L", [2, 3, 4, None])
def test_best_k_are_the_best_distinct_covers(L):
    rng = np.random.default_rng(5)
    for _ in range(300):
        X = random_matrix(rng)
        u = rng.normal(size=len(X))
        gains = {}
        for l in range(min(L or 9, X.shape[1]) + 1):
            for t in itertools.combinations(range(X.shape[1]), l):
                c = X[:, list(t)].all(1)
                if not t or c.any():
                    gains[c.tobytes()] = max(pattern_gain(X, u, t, o) for o in (1, -1))
        got, _, _ = best_itemsets(X, u, L, k=6)
        np.testing.assert_allclose(
            [g for *_, g in got], sorted(gains.values(), reverse=True)[:6], atol=1e-12
        )


def test_search_prunes():
    if not have_dataset("kr-vs-kp"): pytest.skip("kr-vs-kp is not here")
    ds = load_dataset("kr-vs-kp")
    X = one_hot(ds.X)
    y = np.where(ds.y == ds.y[0], 1.0, -1.0)
    oracle, w = ItemsetOracle(X, 3), np.full(len(y), 1/len(y))
    for _ in range(5):
        h, edge = oracle.best(y, w)
        assert (
            abs(edge - (w * y) @ oracle.outputs(h)) < 1e-9
            and oracle.nodes_ < 0.1 * count_patterns(X, 3)
            and oracle.complete_
        )
        w *= np.exp(-0.5 * np.log((1 + edge) / (1 - edge)) * y * oracle.outputs(h))
        w /= w.sum()


def test_search_bad_input_and_budget():
    X = np.random.default_rng(6).random((60, 20)) < 0.5
    u = np.random.default_rng(7).normal(size=60)
    for kw, word in (
        (dict(kind="both"), "kind"),
        (dict(max_length=0), "max_length"),
        (dict(k=0), "k must"),
    ):
        with pytest.raises(ValueError, match=word): best_itemsets(X, u, **kw)
    with pytest.raises(ValueError, match="60 weights"): best_itemsets(X, u[:5])
    with pytest.raises(ValueError, match="finite"): best_itemsets(X, u*np.nan)
    found, nodes, done = best_itemsets(X, u, node_budget=50)
    assert not done and found
    for L in (2.5, "2", -1):
        with pytest.raises(ValueError, match="max_length"): best_itemsets(X, u, L)
    assert best_itemsets(np.zeros((5, 3)), np.ones(5), allow_empty=False)[0] == []
    assert best_itemsets(np.zeros((5, 0)), np.ones(5))[0] == [((), 1, 5.)]


def test_slices_take_the_path_of_one_stretch(monkeypatch):
    from boostlit.mining import search_kernels

    rng = np.random.default_rng(8)
    X = rng.random((300, 30)) < 0.5
    u = rng.normal(size=300)
    for kw in (
        dict(max_length=4),
        dict(max_length=4, k=5, kind="presence", min_support=3),
        dict(node_budget=3000),
    ):
        runs = []
        for size in (1, 17, 1 << 40):
            monkeypatch.setattr(search_kernels, "_SLICE", size)
            runs.append(best_itemsets(X, u, **kw))
        assert runs[0] == runs[1] == runs[2]

@pytest.mark.soak
def test_soak_without_the_gather_instruction(tmp_path):
    "On a processor without pext the six moves give the same sets; houses move, tables fill."
    code = """
import numpy as np
from boostlit.mining.itemsets import mine_itemsets, closed_reference
X = np.random.default_rng(0).random((300, 14)) < .55
t = mine_itemsets(X, 30, form="bits")
found = dict(zip(map(tuple, t["items"].to_pylist()), t["support"].to_pylist()))
assert found == closed_reference(X, 30)
print(t.num_rows)
"""
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "NUMBA_CPU_NAME": "generic",
            "NUMBA_CPU_FEATURES": "-bmi2",
            "NUMBA_CACHE_DIR": str(tmp_path),
        },
    )
    assert run.returncode == 0 and int(run.stdout) > 500, run.stderr


@pytest.mark.parametrize(
    "bad, word", [(dict(max_length=2.5), "integer"), (dict(max_length=0), "at least 1")]
)
def test_max_length_is_a_count(bad, word):
    with pytest.raises(ValueError, match=word): closed_itemsets(np.eye(4, dtype=bool), 1, **bad)


def test_max_length_may_be_huge():
    X = np.random.default_rng(0).random((40, 7)) < .5
    assert closed_itemsets(X, 2, max_length=10**30).equals(closed_itemsets(X, 2))


def test_item_numbers_that_need_absurd_memory_are_refused_at_once():
    for item in (2**31, 2**40):
        with pytest.raises(ValueError, match="renumber"): closed_itemsets([[0, item], [item]], 1)


def test_negative_entries_of_a_sparse_matrix_are_refused():
    import scipy.sparse as sp

    with pytest.raises(ValueError, match="negative"):
        closed_itemsets(sp.csr_matrix(np.array([[1, -1], [0, 1]])), 1)
    counts = sp.csr_matrix(np.array([[3, 0], [1, 2]]))
    assert closed_itemsets(counts, 1).equals(closed_itemsets(counts > 0, 1))


def no_larger_support(X, support):
    "The attack on monotone supports: the first pair F in G with a larger count for G."
    sets = [t for k in range(X.shape[1] + 1) for t in itertools.combinations(range(X.shape[1]), k)]
    pairs = ((f, g) for f in sets for g in sets if set(f) <= set(g))
    return next(((f, g) for f, g in pairs if support(X, g) > support(X, f)), None)


def test_attack_finds_planted_support_that_grows():
    rng = np.random.default_rng(0)
    every = lambda X, items: X[:, list(items)].all(1).sum()
    some = lambda X, items: X[:, list(items)].any(1).sum()
    tables = [rng.random((8, 4)) < .5 for _ in range(20)]
    assert all(no_larger_support(X, every) is None for X in tables)
    assert any(no_larger_support(X, some) for X in tables)


def visits(X, support, admits):
    "Sets in the order of closure extension; `admits` decides on a child from what it may not hold."
    met = []
    def visit(closed, rows, candidates, excluded):
        count = {j: int((rows & X[:, j]).sum()) for j in candidates}
        frequent = sorted((j for j in candidates if count[j] >= support), key=count.__getitem__)
        for at, j in enumerate(frequent):
            inside = rows & X[:, j]
            child = set(np.flatnonzero(X[inside].all(0)).tolist())
            if admits(child, excluded | set(frequent[:at]), set(frequent[at + 1:])):
                met.append(tuple(sorted(child)))
                visit(child, inside, [c for c in frequent[at + 1:] if c not in child],
                      excluded | set(frequent[:at]))
    root = set(np.flatnonzero(X.all(0)).tolist())
    visit(root, np.ones(len(X), bool), [j for j in range(X.shape[1]) if j not in root], set())
    return met, root


def once_each(X, support, admits):
    "The attack on Theorem M.4: how many sets come twice, and how many are missing."
    met, root = visits(X, support, admits)
    want = {t for t in closed_reference(X, support) if set(t) != root}
    return len(met) - len(set(met)), len(want - set(met))


def test_attack_finds_planted_repetition_and_omission():
    rng = np.random.default_rng(1)
    right = lambda child, before, after: not child & before
    twice = lambda child, before, after: True
    missed = lambda child, before, after: not child & (before | after)
    tables = [rng.random((int(rng.integers(3, 12)), 6)) < .6 for _ in range(40)]
    assert all(once_each(X, 2, right) == (0, 0) for X in tables)
    assert any(once_each(X, 2, twice)[0] for X in tables)
    assert any(once_each(X, 2, missed)[1] for X in tables)


def longest_gap(X, support, late):
    "Most steps between two reports, and the bound of Theorem M.5; `late` reports at the end only."
    gaps, state = [], dict(steps=0)
    def report():
        gaps.append(state["steps"])
        state["steps"] = 0
    def visit(rows, candidates, excluded, level):
        for at, j in enumerate(candidates):
            inside = rows & X[:, j]
            state["steps"] += int(X[inside].sum())
            child = set(np.flatnonzero(X[inside].all(0)).tolist())
            if inside.sum() < support or child & (excluded | set(candidates[:at])):
                continue
            if level % 2 == 0 and not late:
                report()
            visit(inside, [c for c in candidates[at + 1:] if c not in child],
                  excluded | set(candidates[:at]), level + 1)
            if level % 2 == 1 and not late:
                report()
    root = set(np.flatnonzero(X.all(0)).tolist())
    visit(np.ones(len(X), bool), [j for j in range(X.shape[1]) if j not in root], set(), 0)
    report()
    return max(gaps), 2*X.shape[1]*int(X.sum())


def test_attack_finds_planted_late_reports():
    rng = np.random.default_rng(2)
    broken = 0
    for _ in range(30):
        X = rng.random((int(rng.integers(4, 14)), 8)) < rng.uniform(.4, .9)
        gap, bound = longest_gap(X, 1, False)
        assert gap <= bound
        broken += longest_gap(X, 1, True)[0] > bound
    assert broken


def test_attack_finds_planted_bound_that_is_too_small():
    rng = np.random.default_rng(3)
    broken = 0
    for _ in range(300):
        X, u = rng.random((8, 5)) < .6, rng.normal(size=8)
        items = rng.permutation(5)
        small = items[:rng.integers(0, 4)]
        inside = u[X[:, small].all(1)]
        bound = max(2*inside[inside > 0].sum() - u.sum(), u.sum() - 2*inside[inside < 0].sum())
        gain = abs(2*u[X[:, items[:4]].all(1)].sum() - u.sum())
        assert gain <= bound + 1e-12
        broken += gain > .5*bound + 1e-12
    assert broken


def test_counting_patterns_keeps_to_a_budget_and_shows_progress(capsys):
    X = np.ones((2, 16), bool)
    whole = count_patterns(X, 16)
    assert whole == 2**16 - 1
    assert 100 <= count_patterns(X, 16, node_budget=100) < whole
    count_patterns(X, 4, progress=True)
    assert "patterns" in capsys.readouterr().err


def test_counting_patterns_hears_ctrl_c(monkeypatch):
    from boostlit.mining import weighted_search
    calls = []
    def interrupted(*args):
        calls.append(args)
        raise KeyboardInterrupt
    monkeypatch.setattr(weighted_search, "count_walk", interrupted)
    with pytest.raises(KeyboardInterrupt):
        count_patterns(np.ones((2, 4), bool), 4)
    assert len(calls) == 1 and calls[0][-1] < 2**62      # slices, not one endless call


def test_level_by_level():
    from boostlit.mining.itemsets import apriori
    rng = np.random.default_rng(0)
    X = rng.random((30, 5)) < .6
    expected = {frozenset(s): int(X[:, list(s)].all(1).sum()) for k in range(1, 6)
                for s in itertools.combinations(range(5), k)}
    found = apriori([set(np.flatnonzero(row)) for row in X], 6)
    assert found == {s: n for s, n in expected.items() if n >= 6} and max(map(len, found)) > 2


def test_as_many_sets_as_are_allowed():
    X = np.random.default_rng(0).random((20, 5)) < .7
    count = len(mine_itemsets(X, 3))
    assert len(mine_itemsets(X, 3, max_sets=count)) == count
    with pytest.raises(ValueError, match="more than"): mine_itemsets(X, 3, max_sets=count - 1)


def test_searches_of_more_than_a_few_nodes_end():
    from boostlit.mining.weighted_search import best_itemset_reference
    rng = np.random.default_rng(0)
    X, u = rng.random((80, 18)) < .5, rng.normal(size=80)
    found, nodes, done = best_itemsets(X, u)
    (items, omega, gain), _ = best_itemset_reference(X, u)
    assert done and nodes > 130 and found[0][1] == omega and found[0][2] == pytest.approx(gain)
    assert best_itemset_reference(np.zeros((3, 2), bool), -np.ones(3))[0] == ((), -1, 3.)
