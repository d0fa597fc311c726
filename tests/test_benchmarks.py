"""Every row of the benchmark runs on a small version of its problem, and work is guarded by counts;
no clock is read."""
import tracemalloc
from pathlib import Path
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from boostlit.core.datasets import have_dataset
from boostlit.lab import benchmarks
from boostlit.lab.benchmarks import (
    FIRST_CALLS, GROWTH, RACES, WORKS, exponent, first_call, numeric_problem, race_data,
    race_earlier, ratios, stored_benchmarks, take_turns, transactions,
)
from boostlit.names import PUBLIC

NEEDS = dict(
    lp_masters="kr-vs-kp", full_program="kr-vs-kp", pairwise="letter", subgraph_mutag="mutag"
)


@pytest.mark.parametrize("key", [k for k in WORKS if k != "start_up"])
def test_contenders_run(key):
    for name in ("adult", "covtype", "kr-vs-kp", "mfeat", "agaricus-lepiota", NEEDS.get(key)):
        if name and (name in key or name == NEEDS.get(key)) and not have_dataset(name):
            pytest.skip(f"needs a data set: {key}")
    work, ran = WORKS[key](small=True), 0
    for contender in work.contenders.values():
        try: result = contender()
        except ImportError: continue                        # a peer that is not installed
        quality = work.quality(result) if work.quality else None
        assert quality is None or quality >= 0
        ran += 1
    assert ran >= 1 and (work.touched is None or callable(work.touched) or work.touched > 0)


def test_ratios_are_relative_to_the_first():
    rows = [
        dict(work="w", contender=c, seconds=s, low=s, high=s)
        for c, s in (("boostlit", 2), ("peer", 6))
    ]
    assert [r["ratio"] for r in ratios(rows)] == [1, 3] and [r["ours"] for r in ratios(rows)] == [
        True,
        False,
    ]


def test_turns_alternate_and_absent_peers_are_skipped():
    said, order = [], []
    def absent(): raise ImportError("not installed")

    out = take_turns(
        {
            "a": lambda: order.append("a"),
            "b": lambda: order.append("b"),
            "gone": absent,
            "slow": lambda: order.append("s"),
        },
        2,
        show=said.append,
        cold=("slow",),
    )
    assert (
        "".join(order) == "absababs"
        and "gone" not in out
        and len(out["slow"][1]) == len(out["a"][1]) == 2
        and any("gone skipped" in s for s in said)
    )


def test_stored_table_is_complete():
    """Every stored work begins with ours, ranges hold the median, and what claims five turns had
    them."""
    table = stored_benchmarks()
    for work in {r["work"] for r in table}:
        rows = [r for r in table if r["work"] == work]
        assert rows[0]["contender"].startswith(("boostlit", "import boostlit")), work
        for r in rows:
            assert float(r["low"]) <= float(r["seconds"]) <= float(r["high"]) and (
                int(r["repeats"]) >= 5 or r["contender"] == "physical limit"
            ), r
    assert stored_benchmarks("no such file.csv") == []
    for key in {r["work"] for r in stored_benchmarks(name="growth.csv")}: assert key in GROWTH


def test_exponent():
    assert abs(exponent([dict(size=n, seconds=0.1 * n**0.7) for n in (1, 10, 50)]) - 0.7) < 1e-9


def test_first_calls_name_every_estimator_and_miner():
    import boostlit
    made = {n for n in PUBLIC if n.endswith(("itemsets", "rules")) or n not in ("TableEncoder",)
            and isinstance(getattr(boostlit, n), type)
            and hasattr(getattr(boostlit, n), "fit") and hasattr(getattr(boostlit, n), "predict")}
    assert made - set(FIRST_CALLS) <= {"Booster"}, made - set(FIRST_CALLS)


def test_a_first_call_is_measured_and_a_broken_one_is_seen(monkeypatch):
    row = first_call("DecisionStumpClassifier", rows=(40,))
    assert row["work"] == "DecisionStumpClassifier" and row["cold_40"] > 0 and row["warm_40"] > 0
    assert 0 < row["floor"] and 0 < row["imports"]
    monkeypatch.setitem(FIRST_CALLS, "DecisionStumpClassifier", "().no_such_method()")
    monkeypatch.setattr(benchmarks, "FIRST_DATA", "import sys\n")
    assert np.isnan(first_call("DecisionStumpClassifier", rows=(40,))["cold_40"])


def test_race_with_a_checkout_takes_turns_and_compares_errors(tmp_path):
    "Against itself: the same errors, a ratio with its range, and a sentence for a wrong path."
    import boostlit
    row = race_earlier("AdaBoost 50k x 50", Path(boostlit.__file__).parents[1], 2, small=True)
    assert row["version"] == row["earlier"] and row["quality"] == row["earlier_quality"]
    assert 0 < row["low"] <= row["ratio"] <= row["high"] and row["turns"] == 2
    assert not [v for v in row.values() if str(tmp_path.parent) in str(v)]
    for work, (kind, _) in RACES.items():
        data = race_data(kind, small=True)
        assert len(data["X"]) == len(data["y"]) and len(np.unique(data["y"])) == 2, work


# ---- regressions, by counts

def test_adaboost_reads_the_codes_once_a_round(monkeypatch):
    import boostlit.core.stumps as stumps
    from boostlit import AdaBoostClassifier
    calls, sums = [], stumps.column_sums
    monkeypatch.setattr(
        stumps, "column_sums", lambda oracle, g: (calls.append(len(g)), sums(oracle, g))[1]
    )
    X, y = numeric_problem(2000)
    AdaBoostClassifier(n_estimators=15).fit(X, y)
    assert calls == [2000]*15


def test_stumps_keep_one_byte_a_cell_and_allocate_little():
    from boostlit import AdaBoostClassifier, StumpOracle
    X, y = numeric_problem(20_000)
    oracle, w = StumpOracle(X), np.full(len(y), 1/len(y))
    assert oracle.codes.nbytes == X.size
    oracle.best(2.*y-1, w)
    tracemalloc.start()
    oracle.best(2.0 * y - 1, w)
    question = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # histograms and a vector of signed weights, no copy of the codes
    assert question < 500_000
    # a kernel that is compiled or read from its cache brings megabytes of the compiler's own
    AdaBoostClassifier(n_estimators=2).fit(X, y)
    tracemalloc.start()
    AdaBoostClassifier(n_estimators=5).fit(X, y)
    fit = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # the codes, a few vectors of rows, never a second copy of the input
    assert fit < 3*X.size


def test_itemset_search_visits_few_nodes():
    from boostlit import mine_rules
    B, y, stats = transactions("breast_cancer"), load_breast_cancer().target, {}
    rules = mine_rules(B, y, 212, 1.5, stats=stats)
    # fewer nodes than there are closed sets
    assert len(rules) == 11849 and stats["sets"] <= 12729 and stats["nodes"] < 13_000


def test_solver_and_program_take_few_steps():
    from boostlit.bilinear.feature_sign import c_max, feature_sign
    from boostlit.mining.weighted_search import ItemsetOracle
    from boostlit.lpboost.column_generation import column_generation
    rng = np.random.default_rng(0)
    Z = np.abs(rng.normal(size=(300, 200))) * (rng.random((300, 200)) < 0.2)
    y = np.where(Z[:, :20] @ rng.normal(size=20) > 0, 1.0, -1.0)
    w = np.full(300, 1 / 300)
    assert feature_sign(Z, y, .05*c_max(Z, y, w), w).n_iter <= 40
    B, t = transactions("breast_cancer"), np.where(load_breast_cancer().target == 1, 1., -1.)
    r = column_generation(ItemsetOracle(B, 2, allow_empty=False), t, .1)
    assert r.converged and len(r.history) <= 60 and r.history[-1]["iterations"] <= 20_000


@pytest.mark.skipif(not have_dataset("mutag"), reason="needs mutag")
def test_subgraph_fit_opens_few_patterns():
    from boostlit import load_dataset
    from boostlit.lpboost.column_generation import column_generation
    from boostlit.mining.subgraphs import PatternTree, SubgraphOracle, to_graph_set
    table = load_dataset("mutag").table
    g, y = to_graph_set(table), np.array(table["target"].to_pylist(), float)
    whole = PatternTree(g, 5)
    whole.expand_all()
    oracle = SubgraphOracle(g, 5)
    column_generation(oracle, y, 0.2)
    assert oracle.tree.size <= whole.size
