"""The atlas: tables, units that are read again, rows that go to disk and back, ranks."""
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from boostlit.lab import atlas


def made_rows():
    "Three methods on four tables, the first always ahead."
    values = {"glass box": .9, "LightGBM": .8, "EBM": .7}
    same = dict(fold=0, prior=.6, majority=.5, terms=5, seconds=1., code="x")
    return [dict(same, table=f"t{t}", method=m, accuracy=v, logloss=round(1 - v, 2), auc=v)
            for t in range(4) for m, v in values.items()]


@pytest.mark.parametrize("name", atlas.MADE)
def test_made_tables_are_the_same_every_time(name):
    (one, y, nominal), (again, z, _) = atlas.atlas_table(name), atlas.atlas_table(name)
    assert one.equals(again) and (y == z).all() and nominal == []
    assert set(np.unique(y)) == {0, 1} and .15 < y.mean() < .85


def test_a_unit_is_run_once(tmp_path):
    call = lambda: atlas.run_method("Gentle", 0, tmp_path, progress=False, tables=["slopes"])
    first = call()
    assert call() == first                           # the seconds, too
    row = first[0]
    assert row["accuracy"] > row["majority"] + .2 and row["logloss"] < row["prior"]
    assert len(row["code"]) == 16 and row["terms"] > 0


class Endless(ClassifierMixin, BaseEstimator):
    "Learns until it is stopped."

    def fit(self, X, y):
        while True:
            sum(range(1000))


def test_a_slow_fit_is_stopped_and_an_error_is_a_sentence():
    entry = atlas.our_entry("quadratic")
    slow = atlas.fit_one_fold(Endless(), "numbers", "epistasis", "quadratic", 0, limit=.02)
    assert slow == {"failed": "over 0.02 s"}
    bad = atlas.fit_one_fold(entry.model.set_params(degree=0), "numbers", "slopes", "quadratic", 0)
    assert bad["failed"].startswith("ValueError: degree")


def test_rows_go_to_disk_and_back_and_new_ones_win(tmp_path):
    rows = made_rows()
    first = atlas.write_atlas(tmp_path/"run.csv", rows)
    assert atlas.atlas_rows(first) == rows
    home = atlas.store_atlas(first, tmp_path)
    newer = atlas.write_atlas(tmp_path/"newer.csv", [{**rows[0], "accuracy": .95}])
    atlas.store_atlas(newer, tmp_path)
    kept = {(r["table"], r["method"]): r["accuracy"] for r in atlas.atlas_rows(home)}
    assert len(kept) == 12 and kept["t0", "glass box"] == .95 and kept["t1", "glass box"] == .9
    assert atlas.atlas_rows(tmp_path/"nothing.csv") == []


def test_means_gaps_and_ranks():
    rows = made_rows()
    assert atlas.table_gaps(rows, "glass box", "LightGBM") == pytest.approx(dict.fromkeys(
        ("t0", "t1", "t2", "t3"), .1))
    ranks, tables = atlas.mean_ranks(rows, "logloss")
    assert tables == 4 and ranks == {"glass box": 1, "LightGBM": 2, "EBM": 3}
    unfinished = [r for r in rows if (r["table"], r["method"]) != ("t0", "EBM")]
    assert set(atlas.mean_ranks(unfinished)[0]) == {"glass box", "LightGBM"}
    table = atlas.side_by_side(unfinished)
    assert table.loc["EBM", "folds"] == 3
    assert table.loc["glass box", "points ahead"].startswith("+10")


def test_debts_name_the_tables():
    rows = made_rows()
    assert not any(atlas.debts(rows, "glass box").values())
    for change, what in ((dict(auc=.5), "constant"), (dict(logloss=.7), "above the prior"),
                         (dict(seconds=61.), "slow")):
        worse = [{**r, **change} if (r["table"], r["method"]) == ("t2", "glass box") else r
                 for r in rows]
        assert atlas.debts(worse, "glass box")[what] == ["t2"]
    lost = rows + [dict(table="t9", method="glass box", fold=0, failed="over 90 s", code="x")]
    assert atlas.debts(lost, "glass box")["error"] == ["t9"]
    assert atlas.coverage(lost).loc["glass box", "not finished"] == 1


def test_the_plan_covers_every_method_once_per_fold():
    plan = atlas.atlas_plan()
    every = {(m, f) for m in (*atlas.OUR_METHODS, *atlas.RIVAL_METHODS) for f in range(3)}
    assert len(plan) == len(every) and set(plan) == every
