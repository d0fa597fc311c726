"Baskets in every form, rules against mlxtend, and significance against its definition."
import gzip
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.stats import fisher_exact
from boostlit.mining.baskets import read_baskets
from boostlit.mining.drop_in import frequent_patterns
from boostlit.mining.itemsets import closed_itemsets, mine_itemsets
from boostlit.mining.rules import (
    association_rules, corrected, association_measures, significant_itemsets,
)

BASKETS = [["Milk", "Onion", "Nutmeg", "Kidney Beans", "Eggs", "Yogurt"],
           ["Dill", "Onion", "Nutmeg", "Kidney Beans", "Eggs", "Yogurt"],
           ["Milk", "Apple", "Kidney Beans", "Eggs"],
           ["Milk", "Unicorn", "Corn", "Kidney Beans", "Yogurt"],
           ["Corn", "Onion", "Onion", "Kidney Beans", "Ice cream", "Eggs"]]


def one_hot(baskets):
    items = sorted({item for basket in baskets for item in basket})
    return pd.DataFrame([[item in basket for item in items] for basket in baskets], columns=items)


def random_frame(seed):
    rng = np.random.default_rng(seed)
    X = rng.random((int(rng.integers(5, 60)), int(rng.integers(2, 8)))) < rng.uniform(.2, .8)
    return pd.DataFrame(X, columns=[f"item {k}" for k in range(X.shape[1])])


@pytest.mark.parametrize("seed", range(12))
def test_frequent_sets_are_those_of_mlxtend(seed):
    theirs = pytest.importorskip("mlxtend.frequent_patterns")
    frame = random_frame(seed)
    for support, length in ((.2, None), (.5, None), (.1, 2)):
        want = theirs.fpgrowth(frame, support, use_colnames=True, max_len=length)
        got = frequent_patterns.fpgrowth(frame, support, use_colnames=True, max_len=length)
        pairs = [dict(zip(t["itemsets"], t["support"])) for t in (want, got)]
        assert pairs[0].keys() == pairs[1].keys()
        assert all(abs(pairs[0][k] - pairs[1][k]) < 1e-12 for k in pairs[0])


def test_the_example_of_mlxtends_manual():
    got = frequent_patterns.apriori(one_hot(BASKETS), .6, use_colnames=True)
    sets = dict(zip(got["itemsets"], got["support"]))
    assert len(sets) == 11
    assert (
        sets[frozenset(["Kidney Beans"])] == 1.0
        and sets[frozenset(["Onion", "Kidney Beans", "Eggs"])] == 0.6
    )
    assert set(frequent_patterns.apriori(one_hot(BASKETS), .6)["itemsets"]) == {
        frozenset(sorted(one_hot(BASKETS).columns).index(i) for i in s) for s in sets}
    with pytest.raises(ValueError, match="min_support"):
        frequent_patterns.apriori(one_hot(BASKETS), 0.)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("metric, least", [("confidence", .5), ("lift", 1.1), ("leverage", .01)])
def test_rules_are_those_of_mlxtend(seed, metric, least):
    theirs = pytest.importorskip("mlxtend.frequent_patterns")
    frame = random_frame(seed)
    sets = theirs.apriori(frame, .15, use_colnames=True)
    if not len(sets):
        return
    want = theirs.association_rules(
        sets, num_itemsets=len(frame), metric=metric, min_threshold=least
    )
    got = frequent_patterns.association_rules(
        sets, len(frame), metric=metric, min_threshold=least
    )
    key = lambda t, a, b: {
        (frozenset(x), frozenset(y)): i for i, (x, y) in enumerate(zip(t[a], t[b]))
    }
    left, right = key(want, "antecedents", "consequents"), key(got, "antecedents", "consequents")
    border = {r for r, i in left.items() if abs(want[metric].iloc[i] - least) < 1e-9}
    border |= {r for r, i in right.items() if abs(got[metric].iloc[i] - least) < 1e-9}
    assert left.keys() - border == right.keys() - border
    for rule in left.keys() & right.keys():
        for name in ("confidence", "lift", "leverage", "conviction", "zhangs_metric"):
            a, b = want[name].iloc[left[rule]], got[name].iloc[right[rule]]
            assert a == b or abs(a - b) < 1e-9, (rule, name)


def test_every_form_gives_the_same_sets(tmp_path):
    want = {frozenset(s): n for s, n in zip(*closed_itemsets(BASKETS, 2).to_pydict().values())}
    hot = one_hot(BASKETS)
    long = pd.DataFrame(
        [(k, item) for k, row in enumerate(BASKETS) for item in row], columns=["order", "what"]
    )
    (tmp_path/"rows.csv").write_text("\n".join(",".join(row) for row in BASKETS))
    long.to_csv(tmp_path/"long.csv", index=False)
    forms = [
        BASKETS, pd.Series(BASKETS), hot, hot.astype(float), pa.array(BASKETS), pa.table(hot),
        pa.chunked_array([pa.array(BASKETS[:2]), pa.array(BASKETS[2:])]),
        str(tmp_path / "rows.csv"),
        read_baskets(long, "order", "what"),
        read_baskets(str(tmp_path / "long.csv"), "order", "what"),
        read_baskets(pa.table(long), "order", "what"),
    ]
    try:
        import polars as pl
        forms += [pl.Series(BASKETS), pl.from_pandas(hot), pl.DataFrame({"basket": BASKETS}),
                  read_baskets(pl.from_pandas(long), "order", "what")]
    except ImportError:
        pass
    for form in forms:
        got = {frozenset(s): n for s, n in zip(*closed_itemsets(form, 2).to_pydict().values())}
        assert got == want


def test_a_fimi_file(tmp_path):
    (tmp_path/"x.dat").write_text("3 1 2\n\n2 3 \n1\n")
    baskets = read_baskets(tmp_path/"x.dat")
    assert baskets.pointers.tolist() == [0, 3, 3, 5, 6] and baskets.items.tolist() == [
        3, 1, 2, 2, 3, 1,
    ]


@pytest.mark.parametrize("name, text, want", [
    ("remarks.dat", "# from a till\n1 2\n% more\n1 2\n", [1, 2]),
    ("mark.dat", "\ufeff1 2\r\n1 2\r\n", [1, 2]),
    ("quotes.csv", '"bread, dark",käse\n"bread, dark",käse\n', ["bread, dark", "käse"]),
    ("semicolons.csv", "bread;käse\nbread;käse\n", ["bread", "käse"]),
    ("commas.csv", "bread, käse,,\nbread,käse,\n", ["bread", "käse"]),
    ("packed.dat.gz", "1 2\n1 2\n", [1, 2]),
    ("hashtags.csv", "#cats,#love\n#cats,#love\n", ["#cats", "#love"]),
    ("zeros.dat", "007 7\n7 007\n", ["007", "7"]),
    ("barcodes.dat", "4006381333931 5\n5 4006381333931 \n", ["4006381333931", "5"]),
    ("strange.csv", "a\u2028b,c\na\u2028b,c\n", ["a\u2028b", "c"]),
])
def test_files_as_people_have_them(tmp_path, name, text, want):
    pack = gzip.compress if name.endswith(".gz") else bytes
    (tmp_path/name).write_bytes(pack(text.encode()))
    assert closed_itemsets(tmp_path/name, 2).to_pylist() == [{"items": want, "support": 2}]


def test_parquet_files_and_texts_that_are_not_utf_8(tmp_path):
    pq.write_table(pa.table({"basket": BASKETS}), tmp_path/"x.parquet")
    assert closed_itemsets(tmp_path/"x.parquet", 2).equals(closed_itemsets(BASKETS, 2))
    (tmp_path/"x.csv").write_bytes("k\xe4se,brot".encode("latin-1"))
    with pytest.raises(ValueError, match="UTF-8"):
        read_baskets(tmp_path/"x.csv")


def test_more_forms_of_lists():
    want = closed_itemsets(BASKETS, 2).to_pylist()
    views = pa.array(BASKETS, pa.list_view(pa.string()))
    short = pa.array(BASKETS, pa.list_(pa.string_view()))
    forms = iter(BASKETS), dict(enumerate(BASKETS)), pd.DataFrame({"basket": BASKETS}), views, short
    for form in forms:
        assert closed_itemsets(form, 2).to_pylist() == want
    pairs = pa.array([[1, 2], [1, 2]], pa.list_(pa.int64(), 2))
    assert closed_itemsets(pairs, 2).to_pylist() == [{"items": [1, 2], "support": 2}]
    assert len(closed_itemsets([], 1)) == len(association_rules([], 1)) == 0
    assert closed_itemsets(pd.Series([["a"], None, float("nan"), ["a"]]), 2).num_rows == 1


def test_long_tables_with_holes_and_labels_with_holes():
    long = pd.DataFrame({"order": [1, 1, None, 2], "what": ["a", None, "a", "a"]})
    with pytest.raises(ValueError, match="null"):
        read_baskets(long, "order", "what")
    with pytest.raises(ValueError, match="label is missing"):
        closed_itemsets(BASKETS, 2, y=[float("nan")]*len(BASKETS))
    with pytest.raises(ValueError, match="min_confidence"):
        association_rules(BASKETS, 2, 2.)


@pytest.mark.parametrize(
    "data, word",
    [
        ([["a", 1]], "both"),
        ([[1.5]], "integers"),
        (np.ones(3), "two-dim"),
        (pa.array([[None, "a"]]), "null"),
        (pa.array([1, 2]), "list"),
        (pd.DataFrame({"a": [0, 2]}), "0 and 1"),
        (pa.table({"a": ["x"], "b": ["y"]}), "order"),
        (pd.DataFrame({"order": [1], "what": ["a"]}), "order"),
        ([["a", None]], "missing"),
        ([["a", float("nan")]], "missing"),
        ([[("a", 1)]], "'a', 1"),
        ([[True]], "True"),
        (["bread", "milk"], "'bread'"),
    ],
)
def test_bad_baskets_are_told_why(data, word):
    with pytest.raises(ValueError, match=word):
        read_baskets(data)


def test_rules_with_names_and_corrections():
    table = association_rules(BASKETS, 3, .8)
    assert table.column_names[:2] == ["antecedent", "consequent"]
    first = table.to_pylist()[0]
    assert first["confidence"] == 1. and isinstance(first["antecedent"][0], str)
    for method in ("holm", "bonferroni", "bh"):
        assert (corrected([.2, .01, .5], method) >= [.2, .01, .5]).all()
    for more, word in (
        (dict(consequents="two"), "consequents"),
        (dict(correction="none"), "correction"),
    ):
        with pytest.raises(ValueError, match=word):
            association_rules(BASKETS, 3, **more)
    assert association_rules([[], []], 1).num_rows == 0
    assert association_measures(10, 5, 5, 5)["conviction"] == np.inf


def test_significance_finds_what_was_planted_and_keeps_its_level():
    wrong = 0
    for trial in range(60):
        rng = np.random.default_rng([2, trial])
        X, y = rng.random((60, 8)) < .4, np.arange(60) < 30
        wrong += (
            significant_itemsets(X, rng.permutation(y), 0.2, n_permutations=99, seed=trial).num_rows
            > 0
        )
    # 12 expected at most; 22 is beyond three deviations
    assert wrong <= 22
    X[:, 3] |= y & (np.arange(60) % 8 > 0)
    for method in ("westfall-young", "tarone"):
        found = significant_itemsets(X, y, method=method, n_permutations=199)
        assert [3] in found["items"].to_pylist()
        assert float(found.schema.metadata[b"threshold"]) > 0


def test_significance_is_told_bad_input():
    X = np.eye(6, dtype=bool)
    for y, more, word in (
        ([0] * 6, {}, "two classes"),
        ([0, 1], {}, "6 labels"),
        ([0, 1] * 3, dict(alpha=2), "alpha"),
        ([0, 1] * 3, dict(method="t"), "method"),
    ):
        with pytest.raises(ValueError, match=word):
            significant_itemsets(X, y, **more)
    assert significant_itemsets(X, [0, 1]*3).num_rows == 0


def redundant(rules):
    "The attack on Proposition M.6: rules that another one of the same numbers makes needless."
    return {r for r, v in rules.items() for q, w in rules.items()
            if q != r and v == w and set(q[0]) <= set(r[0]) and set(r[1]) <= set(q[1])}


def test_attack_finds_planted_redundant_rule():
    rng = np.random.default_rng(0)
    planted = 0
    for _ in range(30):
        X = rng.random((int(rng.integers(4, 12)), 4)) < .6
        def numbers(more):
            table = association_rules(X, 1, 0., "any", redundant=more)
            rows = table.select(["antecedent", "consequent", "support", "confidence"]).to_pylist()
            return {(tuple(r["antecedent"]), tuple(r["consequent"])):
                    (r["support"], r["confidence"]) for r in rows}
        assert not redundant(numbers(False))
        planted += bool(redundant(numbers(True)))
    assert planted


def test_attack_finds_planted_uncorrected_level():
    "Shuffled labels: the share of tables with any claim, for each way to set the level."
    rng = np.random.default_rng(1)
    claims = {"westfall-young": 0, "tarone": 0, "plain": 0}
    tables = 60
    for trial in range(tables):
        X, y = rng.random((40, 8)) < .4, rng.permutation(np.arange(40) < 20)
        for method in ("westfall-young", "tarone"):
            found = significant_itemsets(X, y, method=method, n_permutations=99, seed=trial)
            claims[method] += bool(found.num_rows)
        p = [fisher_exact([[(c & y).sum(), (c & ~y).sum()], [(~c & y).sum(), (~c & ~y).sum()]])[1]
             for c in (X[:, items].all(1) for items in mine_itemsets(X, 2)["items"].to_pylist())]
        claims["plain"] += min(p) <= .05
    most = tables*(.05 + 3*np.sqrt(.05*.95/tables))
    assert claims["westfall-young"] <= most and claims["tarone"] <= most
    assert claims["plain"] > most            # the attack sees a level that is not kept


def test_too_many_rules_are_refused_before_they_are_made():
    wide = [list(range(12))]*3
    with pytest.raises(ValueError, match="rules"):
        association_rules(wide, 3, .5, "any", max_sets=5000)
    assert len(association_rules(wide, 3, .5, max_sets=5000, redundant=True)) == 12*(2**11 - 1)


def test_measures_of_the_drop_in():
    from boostlit.mining.drop_in import _MEASURES, _confidences, _measures
    s, a, c = .2, .5, .4
    forth, back = s/a, s/c
    found = _measures(*map(np.array, (s, a, c, forth, back, 1.)))
    expected = (a, c, s, forth, forth/c, 1., s - a*c, (1 - c)/(1 - forth),
                (s - a*c)/max(s*(1 - a), a*(c - s)), s/(a + c - s), (forth - c)/(1 - c),
                (forth + back)/2)
    assert all(np.isclose(found[name], e) for name, e in zip(_MEASURES, expected))
    frame = pd.DataFrame({"x": [1, 1, 0, np.nan, 1], "y": [1, 0, 1, 1, np.nan]})
    forth, back, known = _confidences([(("x",), ("y",))], frame)
    assert forth == [1/2] and back == [1/2] and known == [3/5]


def test_sparse_frames_of_the_drop_in():
    import scipy.sparse as sp
    frame = pd.DataFrame.sparse.from_spmatrix(sp.csr_matrix(np.eye(3, dtype=bool)))
    assert len(frequent_patterns.apriori(frame, .3)) == 3
    frame.columns = [1, 2, 3]
    with pytest.raises(ValueError, match="start with `0`"): frequent_patterns.apriori(frame, .3)
    frame.columns = ["a", 5, 6]                    # the first name decides
    assert len(frequent_patterns.apriori(frame, .3)) == 3


def test_rules_of_the_drop_in_need_sets():
    sets = frequent_patterns.apriori(one_hot(BASKETS), .4, use_colnames=True)
    rules = frequent_patterns.association_rules(sets, metric="jaccard", min_threshold=0.)
    assert len(rules) and np.allclose(rules["jaccard"], rules["support"]/(
        rules["antecedent support"] + rules["consequent support"] - rules["support"]))
    with pytest.raises(ValueError, match="expected a frame of frequent sets"):
        frequent_patterns.association_rules(sets.iloc[:0])
