"The console command on the installed package: choosing, resuming, reporting."
import json
import os
import re
import subprocess
import sys
import textwrap
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
import pytest
from boostlit.lab import command as cli
from boostlit.lab import experiments as E
from boostlit.lab import report

ROOM = textwrap.dedent("""
    import os
    from boostlit.lab.experiments import reproduction, run_units
    def unit(n):
        with open("calls.txt", "a") as f: f.write(str(n))
        if n == 2 and os.environ.get("DIE"): os.kill(os.getpid(), 9)
        return {"value": n}
    @reproduction(paper=1, item="Table 1", full=False)
    def quick(n_jobs=1, out=None, progress=True):
        "Sizes & <kinds>."
        return [dict(dataset="labor", method="data", quantity="examples", value=57, seeds=1),
                dict(dataset="<b>&", method="data", quantity="x", value=float("nan"))]
    @reproduction(paper=2, item="Table 3", full=False)
    def units(n_jobs=1, out=None, progress=True):
        t = run_units(unit, [dict(n=n) for n in range(4)], out, progress=progress)
        return [dict(dataset="d", method="m", quantity="sum", value=sum(t["value"].to_pylist()))]
    @reproduction(paper=3, item="Table 9")
    def long(n_jobs=1, out=None, progress=True): return []
    @reproduction(paper=3, item="Fig. 9", full=False, needs="scene15")
    def images(n_jobs=1, out=None, progress=True): return []
    @reproduction(paper=4, item="Fig. 1", full=False, figure=lambda rows: 1/0)
    def broken(n_jobs=1, out=None, progress=True): raise RuntimeError("a reason")
""")


@pytest.fixture
def room(tmp_path, monkeypatch):
    # the real rooms register with the real list
    cli.load_reproductions(say=lambda words: None)
    (tmp_path/"room_of_tests.py").write_text(ROOM)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delenv("BOOSTLIT_DATA", raising=False)
    monkeypatch.setenv("BOOSTLIT_CACHE", str(tmp_path/"cache"))
    monkeypatch.setattr(E, "REPRODUCTIONS", {})
    monkeypatch.setattr(cli, "REPRODUCTIONS", E.REPRODUCTIONS)
    sys.modules.pop("room_of_tests", None)
    yield tmp_path
    sys.modules.pop("room_of_tests", None)


def run(*wanted, **kw):
    said = []
    return cli.reproduce(
        wanted, modules=("room_of_tests", "no.such.room"), progress=False, say=said.append, **kw
    ), "\n".join(said)


def test_reproduce(room):
    result, said = run()
    assert [r.item for r, _ in result["done"]] == ["Table 1", "Table 3"]
    assert (
        "left out no.such.room" in said
        and "skipped 3:Table 9 (long): long; run with --full" in said
        and "needs scene15" in said
    )
    assert (
        "FAILED 4:Fig. 1 (broken): RuntimeError: a reason" in said
        and "2 items reproduced, 2 skipped, 1 failed" in said
    )
    assert (room/"calls.txt").read_text() == "0123"
    run()
    assert (room/"calls.txt").read_text() == "0123", "finished items are read, not run"


def test_a_budget_of_nothing_begins_nothing(room, monkeypatch):
    result, said = run(budget=-1.)
    assert not result["done"] and "beyond the budget" in said
    asked = {}
    monkeypatch.setattr(cli, "reproduce", lambda *a, **more: asked.update(more) or {"failed": 0})
    for words, budget in ((["--budget", "0"], 0.), (["--budget", "7"], 7.), ([], float("inf"))):
        cli.main(["reproduce", *words])
        assert asked["budget"] == budget


def test_killed_run_resumes(room):
    code = ("from boostlit.lab.command import reproduce\n"
            "reproduce(['2'], modules=('room_of_tests',), progress=False)")
    victim = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "DIE": "1", "PYTHONPATH": os.pathsep.join(
            [str(room), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
    )
    assert victim.returncode == -9 and (room/"calls.txt").read_text() == "012"
    result, _ = run("2")
    assert (room/"calls.txt").read_text() == "01223" and result["rows"][0]["value"] == 6


def test_choice(room):
    assert [r.item for r, _ in run("pairwise")[0]["done"]] == ["Table 3"]
    assert [r.item for r, _ in run("1:table 1", "2")[0]["done"]] == ["Table 1", "Table 3"]
    assert [r.item for r, _ in run("Table 9")[0]["done"]] == ["Table 9"], (
        "a long item asked for by name is run"
    )
    with pytest.raises(ValueError, match="known: 1:Table 1, 2:Table 3"): run("Table 77")


class Look(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.outside, self.text = [], [], ""
    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "img", "br", "input"): self.open.append(tag)
        self.outside += [
            v for k, v in attrs if k in ("src", "href") and tag != "a" and not v.startswith("data:")
        ]

    def handle_endtag(self, tag): assert self.open.pop() == tag
    def handle_data(self, data): self.text += data


def test_report_is_one_wellformed_page(room):
    result, _ = run()
    look = Look()
    look.feed(Path(result["report"]).read_text(encoding="utf-8"))
    assert not look.open and not look.outside
    assert "<b>&" in look.text, "names are escaped"
    for words in ("Failed", "a reason", "Skipped", "needs scene15", "Click a heading to sort"):
        assert words in look.text


def test_report_keeps_this_run_apart_from_what_is_stored(room):
    result, said = run()
    page = Path(result["report"]).read_text(encoding="utf-8")
    line = page.index("Stored with the package, not run now")
    new = {report.row_id(r) for r in result["rows"]}
    assert new and all(page.count(f"<tr id={place} ") == 1 for place in new)
    assert all(page.index(f"<tr id={place} ") < line for place in new)
    assert said.index("this run: ") < said.index("stored with the package, not run now")
    nothing, said = run("3:Fig. 9")
    assert "this run: no numbers" in said and not nothing["rows"]


def test_every_row_has_an_address_and_a_command(room):
    rows = report.fresh_ledger([]).to_pylist()
    places = [report.row_id(r) for r in rows]
    assert len(set(places)) == len(places)
    page = report.ledger_html([r for r in rows if r["paper"] == 2])
    assert page.count("<tr id=row-") == sum(r["paper"] == 2 for r in rows)
    assert "boostlit reproduce &#x27;2:Table 3&#x27; --full" in page
    sieve = report.sieve_html(rows)
    for word in ("paper", "dataset", "kind", "verdict", "state"):
        assert f"<select name={word} " in sieve


def test_item_of_other_code_is_run_again(room):
    run("2")
    text = Path("room_of_tests.py").read_text()
    Path("room_of_tests.py").write_text(text.replace('"value": n}', '"value": n + 1}'))
    sys.modules.pop("room_of_tests", None)
    E.REPRODUCTIONS.clear()
    import linecache
    linecache.clearcache()
    from boostlit.lab.provenance import code_hash
    code_hash.cache_clear()
    assert run("2")[0]["rows"][0]["value"] == 10, "units and items are keyed by their code"


def test_verify_finds_a_planted_difference(room, monkeypatch):
    import pyarrow as pa
    fields = dict(paper=1, item="Table 1", dataset="labor", method="data", quantity="examples")
    r, = [r for r in cli.load_reproductions(("room_of_tests",)) if r.paper == 1]
    runs = {r.name: {"rows": [[fields[k] for k in E.KEY[1:]]], "seconds": 1}}
    said = []
    for value, recorded, differs in ((57., {}, 0), (57., runs, 0), (58., runs, 1)):
        stored = pa.Table.from_pylist([{**fields, "value": value}])
        monkeypatch.setattr(cli, "stored_results", lambda table=stored: table)
        monkeypatch.setattr(cli, "stored_runs", lambda paper, at=recorded: at if paper == 1 else {})
        found = cli.verify(5, modules=("room_of_tests",), say=said.append)
        assert len(found["checked"]) == len(recorded) and len(found["different"]) == differs
    assert "stored 58, now 57" in "\n".join(said)
    assert cli.main(["reproduce", "--verify", "0", "--out", "x"]) == 0


def test_a_whole_pass_compares_all_rows_and_goes_on_after_a_stop(room, tmp_path, monkeypatch):
    from boostlit.lab import provenance
    outcome, place = cli.Outcome("made"), tmp_path/"data"
    place.mkdir()
    known = cli.load_reproductions(("room_of_tests",))
    cli.run_items(known, outcome, True, True, progress=False)
    for r, _ in outcome.done: cli.store_item(r, outcome.items[r.name], lambda words: None, place)
    monkeypatch.setattr(cli, "stored_runs", lambda paper: provenance.stored_runs(paper, place))
    stored = [{**row, "paper": r.paper} for r, rows in outcome.done for row in rows]
    monkeypatch.setattr(cli, "stored_results", lambda *paper: E.pa.Table.from_pylist(stored))
    names, said = {r.name for r, _ in outcome.done}, []
    ask = partial(cli.verify_whole, modules=("room_of_tests",), say=said.append, folder=tmp_path)
    found = ask()
    assert set(found) == names and len(names) > 1
    assert not any(told["different"] or told["absent"] for told in found.values())
    log = json.loads((tmp_path/"verified_whole.json").read_text())
    assert log["items"] == found and log["rows"] == len(stored)
    monkeypatch.setattr(cli, "_make", lambda *a: pytest.fail("made twice"))
    assert ask() == found                                  # what is finished is read
    stored[0]["value"] += 1
    told = ask()[outcome.done[0][0].name]
    assert [row[:5] for row in told["different"]] == [list(E.row_key(stored[0]))]
    assert said[-1].endswith("1 differ or were not made")
    assert ask(budget=-1.) == {}                           # no item is that cheap
    monkeypatch.setattr(cli, "IMAGES", [*cli.IMAGES, "wine"])
    looks = E.Reproduction(2, "Fig. 1", print, ("wine",))
    monkeypatch.setattr(cli, "stored_runs", lambda paper: {looks.name: {"seconds": 1.}})
    assert not cli.cheap_runs([looks]) and cli.cheap_runs([looks], pictures=True)


def test_stored_rows_carry_their_run(room, tmp_path):
    from boostlit.lab import provenance
    outcome = cli.Outcome("reproduction")
    known = cli.load_reproductions(("room_of_tests",))
    cli.run_items([r for r in known if r.paper == 2], outcome, False, True, progress=False)
    place = tmp_path/"data"
    place.mkdir()
    for r, _ in outcome.done:
        cli.store_item(r, outcome.items[r.name], lambda words: None, place)
    run, = provenance.stored_runs(2, place).values()
    assert run["rows"] == [["Table 3", "d", "m", "sum"]] and len(run["code"]) == 16
    assert {"command", "function", "data", "versions", "date", "seconds", "units"} <= set(run)
    assert [u["numbers"] for u in run["units"]] == [{"value": float(u["unit"]["n"])}
                                                   for u in run["units"]]
    assert len(run["units"]) == 4 and not cli.ask_witness(run["units"][0])
    lie = {**run["units"][0], "numbers": {"value": 17.}}
    assert list(cli.ask_witness(lie)) == ["value"]
    assert str(Path.home()) not in str(run)
    rows = [{**outcome.rows[0], "paper": 2}]
    key = (2, "Table 3", "d", "m", "sum")
    assert provenance.row_states(rows, place) == {key: "current"}
    planted = [{**rows[0], "value": rows[0]["value"] + 1e-3}]
    assert provenance.row_states(planted, place) == {key: "altered"}


def test_refresh_samples_and_a_planted_difference_stays_stale(room, tmp_path, monkeypatch):
    from boostlit.lab import provenance
    outcome, place = cli.Outcome("reproduction"), tmp_path/"data"
    place.mkdir()
    known = cli.load_reproductions(("room_of_tests",))
    cli.run_items([r for r in known if r.paper == 2], outcome, False, True, progress=False)
    r, = [r for r, _ in outcome.done]
    cli.store_item(r, outcome.items[r.name], lambda words: None, place)
    monkeypatch.setattr(cli, "stored_runs", lambda paper: provenance.stored_runs(paper, place))
    monkeypatch.setattr(cli, "store_run", lambda *a: provenance.store_run(*a, place))
    monkeypatch.setattr(cli, "due", lambda *a: [(r, provenance.stored_runs(2, place)[r.name])])
    rows, said = [{**outcome.rows[0], "paper": 2}], []
    old = {**provenance.stored_runs(2, place)[r.name], "code": "0"*16, "seconds": 99.}
    provenance.store_run(2, r.name, old, place)
    assert set(provenance.row_states(rows, place).values()) == {"stale"}
    found = cli.refresh(modules=("room_of_tests",), say=said.append)
    assert found["sampled"] == [r.name] and not found["different"]
    assert set(provenance.row_states(rows, place).values()) == {"sampled again"}
    assert provenance.stored_runs(2, place)[r.name]["sampled"]["units"] == 4
    wrong = [{**u, "numbers": {"value": u["numbers"]["value"] + 1}} for u in old["units"]]
    provenance.store_run(2, r.name, {**old, "units": wrong}, place)
    found = cli.refresh(modules=("room_of_tests",), say=said.append)
    assert found["different"] == [r.name] and "DIFFERS" in "\n".join(said)
    assert set(provenance.row_states(rows, place).values()) == {"stale"}


def test_damaged_item_file_is_run_again(room):
    run("1")
    path = next(Path("reproduction/items").glob("*.json"))
    path.write_text(path.read_text()[:20])
    assert run("1")[0]["rows"][0]["value"] == 57


def test_commands(capsys, tmp_path, monkeypatch):
    from boostlit import __version__

    assert (
        cli.main(["version"]) == 0 and capsys.readouterr().out.strip() == f"boostlit {__version__}"
    )
    assert cli.main(["datasets"]) == 0 and "kr-vs-kp" in capsys.readouterr().out
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cli, "load_reproductions", lambda *a: [])
    assert (
        cli.main(["reproduce", "7", "--quiet"]) == 2
        and "nothing to reproduce is called '7'" in capsys.readouterr().err
    )
    (tmp_path/"file").write_text("")
    assert cli.main(["reproduce", "--out", "file/x"]) == 2 and capsys.readouterr().err.startswith(
        "boostlit: "
    )
    with pytest.raises(SystemExit): cli.main([])


def test_console_script_is_installed():
    script = Path(sys.executable).with_name("boostlit")
    if not script.exists(): pytest.skip("not installed with its script")
    assert (
        "boostlit"
        in subprocess.run([script, "version"], capture_output=True, text=True, check=True).stdout
    )


def test_page_links_are_those_of_the_site():
    assert report.page_link("lab/01_experiments.ipynb#sec", "") == "lab/experiments.html#sec"
    for r in E.stored_results().to_pylist():
        if r["link"]: assert re.fullmatch(r"[\w/]+\.ipynb(#[\w.-]+)?", r["link"]), r["link"]


def test_links_of_the_ledger_lead_somewhere():
    nbs = Path(__file__).parents[1]/"nbs"
    if not nbs.exists(): pytest.skip("no notebooks here")
    lost = {
        r["link"]
        for r in E.stored_results().to_pylist()
        if r["link"] and not (nbs / r["link"].split("#")[0]).exists()
    }
    assert not lost


def test_every_room_is_importable():
    said = []
    assert len(cli.experiment_modules()) >= 5
    found = cli.load_reproductions(say=said.append)
    assert not said, said
    assert {r.paper for r in found} == {0, 1, 2, 3, 4}
    from boostlit.core.datasets import registry
    for r in found: assert set(r.needs) <= set(registry()) and r.title, r.name
