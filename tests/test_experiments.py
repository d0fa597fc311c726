"""Units that survive a kill, tables that do not depend on the number of processes, and the ledger's
arithmetic."""
import csv
import math
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from boostlit.lab import experiments as E
from boostlit.core.boosters import AdaBoostClassifier

nan = math.nan
SCRIPT = textwrap.dedent("""
    import sys, time, numpy as np, pyarrow.parquet as pq
    from boostlit.lab.experiments import run_units
    def slow(fold, seed):
        with open("calls.txt", "a") as f: f.write("x")
        time.sleep(.15)
        e = np.random.default_rng([seed, fold]).random(20)
        return {"error": e[-1], "errors": e}
    if __name__ == "__main__":
        out, jobs = sys.argv[1], int(sys.argv[2])
        units = [dict(fold=f, seed=7) for f in range(10)]
        table = run_units(slow, units, out, n_jobs=jobs, progress=False)
        pq.write_table(table, out + ".parquet")
""")


@pytest.mark.parametrize("jobs", [1, 2])
def test_killed_experiment_resumes_to_the_same_table(tmp_path, jobs):
    (tmp_path/"job.py").write_text(SCRIPT)
    start = lambda out, n: subprocess.Popen(
        [sys.executable, "job.py", out, str(n)], cwd=tmp_path, start_new_session=True
    )
    victim, limit = start("broken", jobs), time.time()+120
    while len(list(tmp_path.glob("broken/*.parquet"))) < 3:
        assert time.time() < limit and victim.poll() is None
        time.sleep(.005)
    os.killpg(victim.pid, signal.SIGKILL)      # the whole session: the parent and its workers
    victim.wait()
    done = len(list(tmp_path.glob("broken/*.parquet")))
    assert done < 10 and not (tmp_path/"broken.parquet").exists()
    (tmp_path/"calls.txt").unlink()
    assert start("broken", jobs).wait() == 0
    assert len((tmp_path/"calls.txt").read_text()) == 10-done, "finished units are not run again"
    assert start("unbroken", 1).wait() == 0
    assert pq.read_table(tmp_path / "broken.parquet").equals(
        pq.read_table(tmp_path / "unbroken.parquet")
    )


def unit(a, b=0): return [{"sum": a+b, "curve": [a/3, b/7]}, {"sum": a-b, "curve": []}]


def test_rows_in_order_of_units(tmp_path):
    units = [dict(a=i, b=j) for i in range(6) for j in range(2)]
    want = [r["sum"] for u in units for r in unit(**u)]
    tables = [
        E.run_units(unit, units, n_jobs=n, out=out, progress=False)
        for n in (1, 2)
        for out in (None, tmp_path / str(n))
    ]
    assert all(t["sum"].to_pylist() == want for t in tables) and all(
        t.equals(tables[0]) for t in tables
    )
    again = E.run_units(unit, units[::-1], out=tmp_path/"1", progress=False)
    assert sorted(again["sum"].to_pylist()) == sorted(want) and again["a"].to_pylist()[0] == 5
    assert not [p for p in (tmp_path / "1").iterdir() if p.suffix != ".parquet"], (
        "no temporary file is left"
    )


def test_broken_unit_file_is_run_again(tmp_path):
    units = [dict(a=i) for i in range(3)]
    first = E.run_units(unit, units, tmp_path, progress=False)
    path = next(tmp_path.glob("*.parquet"))
    path.write_bytes(path.read_bytes()[:50])
    assert E.run_units(unit, units, tmp_path, progress=False).equals(first)


def fails(a):
    if a == 1: raise KeyError("no")
    return {"a2": a*a}


@pytest.mark.parametrize("jobs", [1, 2])
def test_failing_unit_is_named(tmp_path, jobs):
    with pytest.raises(RuntimeError, match=r"unit \{'a': 1\} failed with KeyError"):
        E.run_units(fails, [dict(a=i) for i in (0, 2, 1)], tmp_path, n_jobs=jobs, progress=False)
    if jobs == 1: assert len(list(tmp_path.glob("*.parquet"))) == 2


def test_edges():
    assert E.run_units(unit, [], progress=False).num_rows == 0
    assert E.run_units(lambda a: [], [dict(a=1)], progress=False).num_rows == 0
    with pytest.raises(ValueError, match="plain values"):
        E.run_units(unit, [dict(a=object())], out="x", progress=False)


def test_progress_bar_is_shown(capfd):
    E.run_units(unit, [dict(a=1)], desc="squares", progress=True)
    assert "squares" in capfd.readouterr().err
    E.run_units(unit, [dict(a=1)], desc="squares", progress=False)
    assert capfd.readouterr().err == ""


def test_same_table_whatever_the_jobs():
    models = {"a": AdaBoostClassifier(n_estimators=8), "b": AdaBoostClassifier(n_estimators=4)}
    run = lambda **kw: E.random_trials(
        "wine", models, n_trials=4, test_size=0.3, progress=False, **kw
    )
    one = run(n_jobs=1)
    assert one.equals(run(n_jobs=2)) and not one.equals(run(seed=1))
    assert one["method"].to_pylist() == ["a"]*4+["b"]*4
    assert [len(e) for e in one["errors"].to_pylist()] == [8]*4+[4]*4
    assert all(e[-1] == x for e, x in zip(one["errors"].to_pylist(), one["error"].to_pylist()))


def test_methods_share_their_splits_and_folds_cover():
    seen = []
    class Spy(AdaBoostClassifier):
        def predict(self, X):
            seen.append(len(X))
            return super().predict(X)

    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 3
    t = E.cross_validation(
        (X, y),
        {"a": AdaBoostClassifier(n_estimators=3), "b": AdaBoostClassifier(n_estimators=3)},
        n_splits=6,
        progress=False,
    )
    a, b = (t.filter(pa.compute.equal(t["method"], m)).drop_columns(["method"]) for m in "ab")
    assert a.equals(b) and sum(a["n_test"].to_pylist()) == 60
    parts = [E._fold(y, 0, 0, f, None, n_splits=6) for f in range(6)]
    assert sorted(np.concatenate([test for _, test in parts])) == list(range(60)) and all(
        not set(i) & set(j) for i, j in parts
    )


def test_tables_and_learning_curve():
    X = pa.table({"s": ["a", "b", "c", None]*20, "x": np.arange(80.)})
    y = np.array(["u", "v"])[(np.arange(80) % 4 == 1).astype(int)]
    t = E.learning_curve(
        (X, y), AdaBoostClassifier(n_estimators=5), [20, 40], n_trials=2, progress=False
    )
    assert t["n_train"].to_pylist() == [20, 20, 40, 40] and max(t["error"].to_pylist()) < .3
    s = E.summarise(t, ("train_size",)).to_pylist()
    assert [r["runs"] for r in s] == [2, 2] and s[0]["spread"] >= 0


def test_random_state_is_set_by_the_seed():
    from sklearn.tree import DecisionTreeClassifier
    model = DecisionTreeClassifier(max_features=1)
    run = lambda seed: E.cross_validation("wine", model, n_splits=3, seed=seed, progress=False)[
        "error"
    ].to_pylist()
    assert run(0) == run(0) and model.random_state is None


def test_dask_runs_the_units():
    distributed = pytest.importorskip("distributed")
    import joblib

    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
    ):
        with joblib.parallel_config(backend="dask"):
            t = E.run_units(unit, [dict(a=i) for i in range(4)], n_jobs=2, progress=False)
    assert t["sum"].to_pylist() == [x for i in range(4) for x in (i, i)]


# ---------------------------------------------------------------- the ledger

def test_package_data_is_sound():
    for kind, fields in (("paper", E.PAPER_FIELDS), ("ours", E.OURS_FIELDS)):
        for k in range(5):
            rows = E._data_rows(kind, k)
            assert all(tuple(r) == fields for r in rows), (kind, k)
            assert all(
                int(r["paper"]) == k and r["item"] and r["method"] and r["quantity"] for r in rows
            ), (kind, k)
            assert len({E.row_key(r) for r in rows}) == len(rows), f"{kind}{k}.csv has a key twice"
            for r in rows:
                if kind == "ours" or r["value"]: float(r["value"])
                if r["spread"]: assert float(r["spread"]) >= 0


def test_every_result_of_ours_has_a_printed_partner_or_says_so():
    printed = {E.row_key(r) for r in E.paper_numbers().to_pylist()}
    lonely = [
        r
        for r in E.stored_results().to_pylist()
        if E.row_key(r) not in printed and not (r["comment"] or r["link"])
    ]
    assert not lonely, lonely[:3]


def test_differences_are_explained():
    "A number that differs links the page that says why."
    bare = [r for r in E.ledger().to_pylist() if r["verdict"] == "differs" and not r["link"]]
    assert not bare, bare[:3]


def test_printed_numbers_agree_with_each_other():
    "Sums and shares that the papers' own texts state."
    rows = lambda paper, item: [r for r in E.paper_numbers(paper).to_pylist() if r["item"] == item]
    confusion = {
        r["quantity"]: r["value"]
        for r in rows(0, "Table 2")
        if r["quantity"].startswith("confusion")
    }
    right = sum(
        v for q, v in confusion.items() if len(set(q.removeprefix("confusion ").split(" as "))) == 1
    )
    assert sum(confusion.values()) == 88 and round(100*right/88, 1) == 80.7
    assert (
        len(rows(1, "Table 1")) == 18 * 4
        and len(rows(1, "Table 2")) == 18 * 3
        and len(rows(2, "Table 2")) == 4 * 6
        and len(rows(2, "Table 3")) == 4 * 4
        and len(rows(3, "Table 1")) == 6
    )
    assert len(rows(0, "Table 1")) == 11*3 and len(rows(0, "Table 3")) == 12


@pytest.mark.parametrize(
    "args, want",
    [
        (("0.561", nan, 0.5614, nan), "exact"),
        (("0.561", nan, 0.5616, nan), "differs"),
        (("12", nan, 12.4, nan), "exact"),
        (("4.3", 0.9, 3.5, 0.1), "differs"),             # one run each: nothing is known of noise
        (("4.3", 0.9, 4.2, 0.9, None, (50, 50)), "equivalent"),
        (("4.3", 0.9, 4.2, 9.9, None, (50, 50)), "compatible"),      # noise does not help
        (("4.3", 0.9, 3.5, 0.9, None, (10, 10)), "compatible"),
        (("4.3", nan, 3.9, 0.5, None, (10, 10)), "compatible"),
        (("4.3", 0.9, 3.5, 0.9, None, (200, 200)), "differs"),
        (("4.3", 0.9, 3.95, 0.9, None, (100, 100)), "differs"),      # small, and yet a difference
        (("4.3", 0.1, 3.7, 0.5, True), "same order"),
        (("4.3", 0.1, 3.7, 0.5, False), "differs"),
        (("4.3", 0.1, nan, nan), "not run"),
    ],
)
def test_verdict(args, want): assert E.verdict(*args) == want


def test_ledger_from_fresh_rows():
    paper = E.paper_numbers().to_pylist()
    if not paper: pytest.skip("no numbers entered")
    rows = [
        dict({k: r[k] for k in E.KEY}, value=r["value"], spread=nan, seeds=1)
        for r in paper
        if not math.isnan(r["value"])
    ]
    t = E.ledger(results=rows).to_pylist()
    assert {r["verdict"] for r in t if not math.isnan(r["paper_value"])} == {"exact"}
    one = E.ledger(paper[0]["paper"], rows)
    assert set(one["paper"].to_pylist()) == {paper[0]["paper"]}


def test_store_results_merges(tmp_path):
    row = dict(
        item="T",
        dataset="d",
        method="m",
        quantity="q",
        value=1 / 3,
        spread=nan,
        seeds=5,
        link="a.ipynb",
    )
    p = E.store_results(3, [row, dict(row, dataset="e, \"f\"")], tmp_path/"o.csv")
    E.store_results(
        3,
        pa.Table.from_pylist(
            [dict(item="T", dataset="d", method="m", quantity="q", value=2.0, comment="new")]
        ),
        p,
    )
    rows = list(csv.DictReader(p.open()))
    assert (
        [r["value"] for r in rows] == ["2", "0.333333"]
        and rows[0]["link"] == "a.ipynb"
        and rows[0]["comment"] == "new"
        and rows[1]["dataset"] == 'e, "f"'
        and rows[0]["spread"] == ""
    )
    assert [q.name for q in tmp_path.iterdir()] == ["o.csv"]


def test_kinds_of_rows_are_counted_apart():
    rows = E.ledger().to_pylist()
    assert {r["kind"] for r in rows} <= set(E.ROW_KINDS)
    kind = {(r["paper"], r["item"], r["dataset"], r["method"], r["quantity"]): r["kind"]
            for r in rows}
    assert kind[1, "Table 1", "labor", "data", "examples"] == "input"
    assert kind[1, "Table 2", "labor", "stump", "test error"] == "result"
    assert all(r["kind"] != "result" for r in rows if r["dataset"] in ("events", "mit-cars"))
    assert all(r["verdict"] == "not run" for r in rows if r["kind"] == "not run")


def test_more_noise_never_makes_a_verdict_better():
    order = [*E.VERDICTS[:3], "same order", "differs"]
    rng = np.random.default_rng(0)
    for _ in range(300):
        ours, spread = rng.normal(4.3, 1), rng.uniform(.1, 2)
        said = [E.verdict("4.3", 1., ours, s, None, (10, 10)) for s in (spread, 3*spread)]
        if said[0] == "equivalent": assert said[1] in ("equivalent", "compatible")
        assert set(said) <= set(order)


def test_code_hash_sees_a_planted_constant_and_no_comment(tmp_path, monkeypatch):
    "Deep below a table of paper 1, and nowhere near those of paper 2."
    import boostlit
    from boostlit.lab import command, provenance
    rooms = ["boostlit.lab.quadratic_tables", "boostlit.lab.pairwise_tables"]
    runs = {(r.paper, r.item): r.run for r in command.load_reproductions(rooms)
            if r.item in ("Table 2", "Table 3") and r.paper in (1, 2)}
    copy = tmp_path/"boostlit"
    shutil.copytree(Path(boostlit.__file__).parent, copy,
                    ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(provenance, "files", lambda name: copy)

    def hashes():
        provenance.definitions.cache_clear()
        provenance.code_hash.cache_clear()
        return {name: provenance.code_hash(run) for name, run in runs.items()}
    try:
        before = hashes()
        file = copy/"quadratic"/"boosting.py"
        text = file.read_text(encoding="utf-8")
        file.write_text(text + "\n# a remark\n", encoding="utf-8")
        assert hashes() == before
        assert "n_restarts:int=5," in text
        file.write_text(text.replace("n_restarts:int=5,", "n_restarts:int=6,"), encoding="utf-8")
        after = hashes()
    finally:
        provenance.definitions.cache_clear()
        provenance.code_hash.cache_clear()
    assert after[1, "Table 2"] != before[1, "Table 2"]
    assert all(after[k] == before[k] for k in before if k[0] == 2)
