"The engines of the miner against a brute-force enumerator, each other, and other people's code."
import itertools
import os
import subprocess
import sys
import numpy as np
import pyarrow as pa
import pytest
from boostlit.core.kernels import kernels
from boostlit.mining import bit_kernels, itemsets as module
from boostlit.mining.itemsets import (closed_itemsets, generator_itemsets, iter_itemsets,
                                      mine_itemsets, top_itemsets)

FORMS = ("integers", "lists", "bits")


def as_dict(table):
    return dict(zip(map(tuple, table["items"].to_pylist()), table["support"].to_pylist()))


def random_table(rng):
    "Every density and shape: tall, wide, empty and full lines, copies of rows and columns."
    n, d = int(rng.integers(1, [6, 30, 200][rng.integers(3)])), int(rng.integers(1, 10))
    X = rng.random((n, d)) < rng.choice([rng.random(), .02, .98])
    for _ in range(rng.integers(0, 4)):
        kind = rng.integers(6)
        if kind == 0:
            X[rng.integers(n)] = rng.random() < .5
        elif kind == 1:
            X[:, rng.integers(d)] = rng.random() < .5
        elif kind == 2:
            X[:, rng.integers(d)] = X[:, rng.integers(d)]
        elif kind == 3:
            X[rng.integers(n, size=n//2)] = X[rng.integers(n)]
    return X


class Brute:
    "All subsets of at most ten items, one after the other."
    def __init__(self, X, support):
        n, d = X.shape
        rows = X @ (1 << np.arange(d))
        masks = np.arange(1 << d)
        inside = (rows[None] & masks[:, None]) == masks[:, None]
        self.count = inside.sum(1)
        common = np.full(1 << d, (1 << d) - 1)
        for r in range(n):
            common[inside[:, r]] &= rows[r]
        self.d, self.n, self.masks, self.closure = d, n, masks, common
        self.frequent = (self.count >= support) & (masks > 0)

    def sets(self, keep):
        return {tuple(k for k in range(self.d) if m >> k & 1): int(self.count[m])
                for m in self.masks[keep & self.frequent]}

    def shortest(self):
        "Length of the smallest generator of every set's closure."
        size = np.bitwise_count(self.masks)
        best = np.full(len(self.masks), 99)
        np.minimum.at(best, self.closure, size)
        return best[self.masks]

    def answers(self, length):
        size, own = np.bitwise_count(self.masks), self.closure == self.masks
        grows = np.zeros(len(self.masks), bool)
        free = np.ones(len(self.masks), bool)
        for k in range(self.d):
            without = self.masks[self.masks >> k & 1 == 0]
            grows[without] |= self.frequent[without | 1 << k]
            free[without | 1 << k] &= self.count[without] > self.count[without | 1 << k]
        return {
            "closed": self.sets(own),
            "frequent": self.sets(size >= 0),
            "maximal": self.sets(~grows),
            "generators": self.sets(free),
            "short": self.sets(own & (size <= length)),
            "short generator": self.sets(own & (self.shortest() <= length)),
        }


def compare(first, last):
    for seed in range(first, last):
        rng = np.random.default_rng(seed)
        X, support, length = random_table(rng), int(rng.integers(1, 7)), int(rng.integers(1, 5))
        want = Brute(X, support).answers(length)
        for form in FORMS:
            asked = {name: as_dict(mine_itemsets(X, support, name, form=form))
                     for name in ("closed", "frequent", "maximal", "generators")}
            asked["short"] = as_dict(mine_itemsets(X, support, max_length=length, form=form))
            asked["short generator"] = as_dict(
                mine_itemsets(X, support, max_length=length, form=form, length="generator")
            )
            assert asked == want, (seed, form)


def test_random_matrices_against_brute_force():
    compare(0, 150)


@pytest.mark.soak
def test_soak_thirty_thousand_matrices():
    compare(0, 30_000)


def sparse_rows(seed, n=3000, d=400, mean=8):
    "Baskets with popular and rare items, and groups that come together."
    rng = np.random.default_rng(seed)
    weight = 1/np.arange(1, d + 1)
    rows = [
        set(rng.choice(d, size=rng.poisson(mean), p=weight / weight.sum()).tolist())
        for _ in range(n)
    ]
    for row in rows:
        if rng.random() < .2:
            row |= {(7*k) % d for k in range(int(rng.integers(3, 9)))}
    return [sorted(row) for row in rows]


@pytest.mark.parametrize("support", [3, 20, 150])
def test_sparse_baskets_agree_with_pyfim(support):
    fim = pytest.importorskip("fim")
    rows = sparse_rows(1)
    want = {tuple(sorted(f)): n for f, n in fim.eclat(rows, target="c", supp=-support)}
    got = mine_itemsets(rows, support, form="lists")
    assert as_dict(got) == want and len(got) == len(want)


def test_threads_give_the_same_rows_in_the_same_order():
    rows = sparse_rows(2)
    y = np.arange(len(rows)) % 3
    for more in (
        dict(),
        dict(y=y),
        dict(target="frequent"),
        dict(max_length=2, length="generator"),
    ):
        one = mine_itemsets(rows, 5, form="lists", **more)
        for jobs in (2, 3):
            assert one.equals(mine_itemsets(rows, 5, form="lists", n_jobs=jobs, **more))


def test_class_counts_and_confidence_in_every_form():
    rng = np.random.default_rng(3)
    for _ in range(40):
        X = random_table(rng)
        y = rng.integers(0, 3, len(X))
        classes, support = np.unique(y), int(rng.integers(1, 5))
        need = rng.uniform(.3, 1, len(classes))
        for form in FORMS:
            full = mine_itemsets(X, support, y=y, form=form).to_pylist()
            for row in full:
                inside = X[:, row["items"]].all(1)
                assert row["counts"] == [int((inside & (y == k)).sum()) for k in classes]
            cut = mine_itemsets(X, support, y=y, min_confidence=need, form=form).to_pylist()
            good = [
                r
                for r in full
                if any(c >= k * r["support"] - 1e-9 for c, k in zip(r["counts"], need))
            ]
            key = lambda r: r["items"]
            assert sorted(cut, key=key) == sorted(good, key=key)


def test_lists_and_integers_have_one_order():
    rng = np.random.default_rng(4)
    for _ in range(60):
        X = random_table(rng)
        one, two = (mine_itemsets(X, 2, form=form) for form in ("integers", "lists"))
        assert one.equals(two)


def test_interpreted_kernels_give_the_same_rows(monkeypatch):
    rows = sparse_rows(5, 120, 40, 5)
    monkeypatch.setattr(module, "_SMALL", 0)
    for form in ("lists", "bits"):
        want = mine_itemsets(rows, 4, form=form)
        with kernels("python"):
            assert want.equals(mine_itemsets(rows, 4, form=form))


def test_arenas_grow(monkeypatch):
    from boostlit.mining import list_kernels
    whole = list_kernels.new_columns
    def tiny(m, deepest):
        parts = {name: getattr(whole(m, deepest), name)[:4].copy()
                 for name in ("bits", "local", "size", "name")}
        return whole(m, deepest)._replace(**parts)
    monkeypatch.setattr(list_kernels, "new_columns", tiny)
    rows = sparse_rows(6, 800, 60, 6)
    fim = pytest.importorskip("fim")
    want = {tuple(sorted(f)): n for f, n in fim.eclat(rows, target="c", supp=-4)}
    assert as_dict(mine_itemsets(rows, 4, form="lists")) == want


def test_huge_baskets_do_not_fill_the_memory():
    code = """
import re, numpy as np
from boostlit.mining.itemsets import closed_itemsets, iter_itemsets
peak = lambda: int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])/1024
assert closed_itemsets([range(100_000)], 1)["support"].to_pylist() == [1]
rng = np.random.default_rng(0)
rows = [np.flatnonzero(rng.random(100_000) < .5) for _ in range(4)]
assert len(closed_itemsets(rows, 1)) == 15
rows = [np.flatnonzero(rng.random(50_000) < .5) for _ in range(12)]
assert next(iter_itemsets(rows, 1)).num_rows > 0
print(peak())
"""
    if not os.path.exists("/proc/self/status"):
        pytest.skip("no /proc")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0 and float(run.stdout) < 3000, (run.stdout, run.stderr)


def test_item_numbers_with_gaps():
    table = closed_itemsets([[5, 2**31 - 2], [2**31 - 2], [5]], 1)
    assert as_dict(table) == {(5,): 2, (2**31 - 2,): 2, (5, 2**31 - 2): 1}
    with pytest.raises(ValueError, match="renumber"):
        closed_itemsets([[0, 2**31]], 1)


def test_a_copied_column_changes_no_generator_length():
    rng = np.random.default_rng(7)
    for _ in range(30):
        X = rng.random((20, 6)) < .5
        wide = np.hstack([X, X[:, :3]])
        for length in (1, 2, 3):
            a = closed_itemsets(X, 2, max_length=length)
            b = closed_itemsets(wide, 2, max_length=length)
            assert sorted(a["support"].to_pylist()) == sorted(b["support"].to_pylist())


def test_top_by_support_and_by_score():
    rows = sparse_rows(8, 500, 50, 5)
    y = np.arange(500) % 2
    every = sorted(mine_itemsets(rows, 1)["support"].to_pylist(), reverse=True)
    for k in (1, 7, 60):
        assert top_itemsets(rows, k)["support"].to_pylist() == every[:k]
    lean = lambda support, counts, n: np.abs(counts[:, 0] - counts[:, 1])
    best = top_itemsets(rows, 5, y=y, score=lean, min_support=5)
    full = mine_itemsets(rows, 5, y=y)["counts"].to_pylist()
    assert [abs(a - b) for a, b in best["counts"].to_pylist()] == sorted(
        (abs(a - b) for a, b in full), reverse=True
    )[:5]
    with pytest.raises(ValueError, match="k must"):
        top_itemsets(rows, 0)


def test_generators_name_every_closed_set():
    rng = np.random.default_rng(9)
    for _ in range(30):
        X = random_table(rng)
        closed = as_dict(mine_itemsets(X, 2))
        hulls = set()
        for items in generator_itemsets(X, 2)["items"].to_pylist():
            hulls.add(tuple(np.flatnonzero(X[X[:, items].all(1)].all(0)).tolist()))
        assert hulls == {s for s in closed if not X[:, list(s)].all()}


def test_bad_questions_are_told_why():
    X = np.eye(4, dtype=bool)
    for more, word in ((dict(form="trees"), "form"), (dict(length="long"), "length"),
                       (dict(target="best"), "target"), (dict(max_length=0), "max_length")):
        with pytest.raises(ValueError, match=word):
            mine_itemsets(X, 1, **more)


def test_names_come_out():
    table = closed_itemsets([["b", "a"], ["a"], ["c", "a", "b"]], 1)
    assert table["items"].to_pylist() == [["a"], ["a", "b"], ["a", "b", "c"]]
    assert pa.types.is_dictionary(table["items"].type.value_type)
    assert sum(b.num_rows for b in iter_itemsets([["x"], ["y"]], 1)) == 2
    assert list(itertools.chain(*table.to_pandas()["items"][1:2])) == ["a", "b"]


@pytest.mark.parametrize("support", [600, 60, 15])
def test_very_frequent_items_drop_exclusions_and_lose_nothing(support):
    "A long tail, where most exclusions of the first items get no column: as bits, which keep all."
    rng, share = np.random.default_rng(0), 1/np.arange(1, 120)**1.1
    rows = [np.unique(rng.choice(119, rng.integers(1, 20), p=share/share.sum())).tolist()
            for _ in range(4000)]
    for target in ("closed", "maximal"):
        forms = ("lists", "bits")
        lists, bits = (mine_itemsets(rows, support, target, form=form) for form in forms)
        found = [sorted(zip(map(tuple, t["items"].to_pylist()), t["support"].to_pylist()))
                 for t in (lists, bits)]
        assert found[0] == found[1] and len(found[0])
        assert lists.equals(mine_itemsets(rows, support, target, form="lists", n_jobs=2))


@pytest.mark.parametrize("form", ["integers", "lists", "bits"])
def test_an_item_named_twice_counts_once(form):
    "Rows out of order and with repetitions, in every form and for every target."
    rng = np.random.default_rng(1)
    once = [rng.permutation(np.flatnonzero(rng.random(12) < .4)).tolist() for _ in range(400)]
    twice = [row + row[:3] for row in once]
    for target in ("closed", "frequent", "maximal", "generators"):
        assert mine_itemsets(twice, 30, target, form=form).equals(
            mine_itemsets([sorted(row) for row in once], 30, target, form=form))


@pytest.mark.parametrize("room", [1, 400, 900])
def test_merged_rows_without_room_change_nothing(monkeypatch, room):
    "Where the lists of merged rows end, the rows of the covers are read instead."
    X = np.random.default_rng(2).random((900, 24)) < .7
    want = as_dict(mine_itemsets(X, 200, form="lists"))
    merge = bit_kernels._merged
    def cut(*arguments):
        merged, copies, different = merge(*arguments)
        return merged[:different + room], copies[:different + room], different
    monkeypatch.setattr(bit_kernels, "_merged", cut)
    assert as_dict(mine_itemsets(X, 200, form="bits")) == want
