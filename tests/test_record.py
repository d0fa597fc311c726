"""The record: every number in prose has a source, every stored table can be made again, and some of
each is."""
import ast
import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path
import pytest
from boostlit.lab import command as cli
from boostlit.lab import experiments as E
from boostlit.lab import provenance

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT/".ci"))
import prose  # noqa: E402

SECONDS = 8.          # for witnesses that take a second and more, per run of the tests


def page(tmp, text, code="", printed=""):
    "A notebook with a paragraph and a cell, inside a copy of the tree's shape."
    cell = dict(cell_type="code", source=[code], outputs=[dict(text=[printed])])
    path = tmp/"nbs"/"core"/"01_x.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"cells": [dict(cell_type="markdown", source=[text]), cell]}))
    prose.page_numbers.cache_clear()
    return path


# ------------------------------------------------------------------ prose

def test_every_number_in_prose_has_a_source():
    found = prose.all_unfounded()
    lines = [f"{name}: {word} in {sentence[:90]!r}" for name, what in found.items()
             for word, sentence in what]
    assert not lines, "\n".join(lines)


@pytest.mark.parametrize("text, code, printed, found", [
    ("The error falls to 17.93 %.", "", "", ["17.93 %"]),
    ("The error falls to 17.93 %.", "", "error 0.17931", []),
    ("The error falls to 17.93 %.", "", "error 17.94", ["17.93 %"]),
    ("The error falls to 17.93 %.", "assert abs(e - .1793) < 1e-4", "", []),
    ("The error falls to 17.93 %.", "ax.plot(.1793, alpha=17.93)", "", ["17.93 %"]),
    ("In the paper the error falls to 17.93 %.", "", "", ["17.93 %"]),
    ("In the paper the error falls to 22.5 %.", "", "", []),
    ("The error falls to 22.5 %.", "", "", ["22.5 %"]),
    ("In the paper it is 17.93 %.\n<!-- printed: 17.93 % -->", "", "", []),
    ("It falls to 17.93 %.\n<!-- given: 17.93 % -->", "", "", []),
    ("Take `17.93`, or $17.93$, or Eq. (17), as in Sec. 17.93 of 2017.", "", "", []),
    ("Some 98,765 rows, and 4321 more.", "", "", ["98,765", "4321"]),
    ("There are 7 of them.", "", "", []),
    ("# 17.93 in a heading", "", "", []),
    ("## A heading\n\nThe error falls to 17.93 %.", "", "", ["17.93 %"]),
])
def test_the_check_of_prose_sees_what_it_should(tmp_path, monkeypatch, text, code, printed, found):
    monkeypatch.setattr(prose, "rows", lambda paper: [])
    monkeypatch.setattr(prose, "data_sizes", list)
    monkeypatch.setattr(prose, "printed", lambda paper: [22.48])
    path = page(tmp_path, text, code, printed)
    monkeypatch.setattr(prose, "ROOT", tmp_path)
    assert [word for word, _ in prose.unfounded(path)] == found


@pytest.mark.parametrize("name, sentence, number", [
    ("quadratic/07_tables", "On cleve the error falls to 23.57 %.", "23.57 %"),
    ("bilinear/05_scenes", "The boosted model of the paper comes to 93.7 %.", "93.7 %"),
    ("guide/03_testing", "There are 4,718 checks.", "4,718"),
])
def test_a_number_planted_on_a_page_of_the_book_is_seen(tmp_path, monkeypatch, name, sentence,
                                                        number):
    copy = tmp_path/"nbs"/f"{name}.ipynb"
    copy.parent.mkdir(parents=True)
    (tmp_path/"boostlit").symlink_to(ROOT/"boostlit")
    nb = json.loads((ROOT/"nbs"/f"{name}.ipynb").read_text(encoding="utf-8"))
    nb["cells"].append(dict(cell_type="markdown", source=[sentence]))
    copy.write_text(json.dumps(nb), encoding="utf-8")
    monkeypatch.setattr(prose, "ROOT", tmp_path)
    assert (number, sentence) in prose.unfounded(copy)


# ------------------------------------------------------------------ sentences

CLOCK = re.compile(r"perf_counter|process_time|time\.time\(|timeit|monotonic\(")
UNCHECKED = re.compile(r"^#\|\s*(slow\b|eval:\s*false|varies\b)", re.M)


def clocked_asserts(source):
    "Asserts of a cell on names that a clock of the same cell has touched, functions left out."
    try: tree = ast.parse(re.sub(r"^[%!].*$", "", source, flags=re.M))
    except SyntaxError: return []
    inside = {id(n) for f in ast.walk(tree) if isinstance(f, (ast.FunctionDef, ast.ClassDef))
              for n in ast.walk(f)}
    tainted, found = set(), []
    for node in ast.walk(tree):
        if id(node) in inside: continue
        names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        if isinstance(node, ast.Assign):
            used = {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)}
            if CLOCK.search(ast.unparse(node.value)) or used & tainted:
                tainted |= {n.id for t in node.targets for n in ast.walk(t)
                            if isinstance(n, ast.Name)}
        if isinstance(node, ast.Assert) and names & tainted: found.append(ast.unparse(node))
    return found


def test_no_page_asserts_a_time():
    "What the guide says of timings: shown, never asserted."
    planted = "t = process_time()\nf()\ns = process_time() - t\nassert s < 3"
    assert clocked_asserts(planted) == ["assert s < 3"]
    found = {}
    for path in sorted((ROOT/"nbs").rglob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        sources = ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
        told = [a for s in sources if not UNCHECKED.search(s) for a in clocked_asserts(s)]
        if told: found[path.name] = told
    assert not found, found


def test_products_of_two_signs_have_an_even_number_of_plus_cells():
    "Three cells of one sign and a fourth of the other is no product."
    signs = (-1, 1)
    seen = {sum(a[i]*b[j] > 0 for i in (0, 1) for j in (0, 1))
            for a in [(x, y) for x in signs for y in signs] for b in [(x, y) for x in signs
                                                                      for y in signs]}
    assert seen == {0, 2, 4}
    pages = (ROOT/"nbs"/"quadratic").glob("*.ipynb")
    texts = [" ".join("".join(c["source"]).split()) for p in pages for c in json.loads(
        p.read_text(encoding="utf-8"))["cells"] if c["cell_type"] == "markdown"]
    assert not [t for t in texts if "three cells carry one sign" in t]


# ------------------------------------------------------------------ rows

def test_every_stored_item_has_a_command():
    known = cli.load_reproductions(say=lambda words: None)
    able = {(r.paper, item) for r in known for item in r.items}
    lost = {(r["paper"], r["item"]) for r in E.stored_results().to_pylist()} - able
    assert not lost, f"stored rows that no command makes: {sorted(lost)}"


def test_recorded_rows_are_stored_and_made_by_one_run():
    stored = {E.row_key(r) for r in E.stored_results().to_pylist()}
    seen = {}
    for paper in range(5):
        for name, run in provenance.stored_runs(paper).items():
            for key in run["rows"]:
                assert (paper, *key) in stored, (name, key)
                assert seen.setdefault((paper, *key), name) == name, (name, key)
            assert {"code", "data", "values", "versions", "date", "command", "units",
                    "of"} <= set(run), name


def test_no_stored_value_was_changed_by_hand():
    "A number of the files that is not the one its recorded run gave is called altered."
    rows = E.stored_results().to_pylist()
    states = provenance.row_states(rows)
    altered = [key for key, state in states.items() if state == "altered"]
    assert not altered, altered[:5]
    key = next((k for k, state in states.items() if state != "earlier run"), None)
    if key is not None:
        planted = [{**r, "value": r["value"] + 1} if E.row_key(r) == key else r for r in rows]
        assert provenance.row_states(planted)[key] == "altered"


def test_rows_of_other_code_or_data_are_stale(tmp_path):
    "A stored run with another fingerprint of its code, or of its data."
    paper, name, run = next((k, name, run) for k in range(5) for name, run in
                            provenance.stored_runs(k).items() if run["data"] and run["rows"])
    stored = {E.row_key(r): r for r in E.stored_results(paper).to_pylist()}
    rows = [stored[(paper, *key)] for key in run["rows"]]
    today = {**run, "code": provenance.named_hash(run["function"])}
    for planted, state in ((today, "current"), ({**today, "code": "0"*16}, "stale"),
                           ({**today, "data": dict.fromkeys(run["data"], "0")}, "stale")):
        bare = {k: v for k, v in planted.items() if k != "sampled"}
        provenance.store_run(paper, name, bare, tmp_path)
        assert set(provenance.row_states(rows, tmp_path).values()) == {state}


def test_every_stored_run_can_be_asked():
    "A stored table has a witness, unless it is made whole in a minute."
    for paper in range(5):
        for name, run in provenance.stored_runs(paper).items():
            assert run["units"] or run["seconds"] <= 60, name


def commit_seed():
    "A number that changes with the commit."
    git = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    return int(git.stdout.strip()[:8] or "0", 16) if git.returncode == 0 else 0


# columns of thousands of pictures are made first, which takes minutes: asked by --verify only
PREPARED = "boostlit.lab.fisher_scenes:"


def chosen_witness(units, rng):
    "One of the units that take less than a second, by chance; the cheapest if there is none."
    return rng.choice([u for u in units if u["seconds"] < 1] or
                      [min(units, key=lambda u: u["seconds"])])


def test_a_sample_of_every_stored_table_comes_out_again():
    "One witness of each stored run, chosen by the commit; those that take long, in their turn."
    if not os.environ.get("BOOSTLIT_DATA"): pytest.skip("no data here")
    rng, spent, left = random.Random(commit_seed()), 0., []
    runs = [(name, units) for name, units in cli.stored_witnesses().items() if units]
    for name, units in rng.sample(runs, len(runs)):
        unit = chosen_witness(units, rng)
        late = unit["seconds"] >= 1 and spent + unit["seconds"] > SECONDS
        if late or unit["function"].startswith(PREPARED):
            left.append(name)
            continue
        spent += unit["seconds"] if unit["seconds"] >= 1 else 0.
        differs = cli.ask_witness(unit)
        assert not differs, f"{name}: {unit['unit']} gives {differs}"
    print(f"{len(runs) - len(left)} of {len(runs)} stored tables asked; not this time: {left}")


def test_cheap_tables_come_out_whole(tmp_path):
    "Rows that need no download and little time, all of them, always."
    stored = {E.row_key(r): r["value"] for r in E.stored_results().to_pylist()}
    cheap = [r for r in cli.load_reproductions(say=lambda words: None)
             if not r.full and r.run.__name__ in ("table1", "equalities", "small_facts")]
    assert len(cheap) == 3
    for r in cheap:
        for row in cli._make(r, tmp_path, 1, False, None)["rows"]:
            value = stored[E.row_key(row)]
            near = abs(value - row["value"]) < 1e-7 if r.paper == 4 else \
                cli.promised(value, float(row["value"]))
            assert near or E.is_timed(row["quantity"]), (E.row_key(row), value, row["value"])


def test_a_changed_constant_is_seen(monkeypatch):
    "The witness of a table fails when a default deep below it changes."
    from boostlit.lab import pairwise_tables
    unit = dict(name="digits", seed=0, method="swLDA", rounds=[12])
    with E.watching() as units:
        E.run_units(pairwise_tables.pair_experiment, [unit], progress=False)
    witness, = E.witnesses(units, limit=1e9)
    assert not cli.ask_witness(witness)
    monkeypatch.setitem(pairwise_tables.TABLE2, "digits", (3, 400, 405))
    pairwise_tables.reduced.cache_clear()
    assert cli.ask_witness(witness)
    pairwise_tables.reduced.cache_clear()
