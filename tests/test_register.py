"""The register of statements: none of the papers' statements is absent, and every name in it leads
somewhere. What is missing comes as one readable list."""
import json
import re
from pathlib import Path
import pytest
from boostlit.lab.register import (COLUMNS, bare_mentions, broken_links, missing_names,
                                   read_statements, repeated, statement_table, statements)

ROOT = Path(__file__).resolve().parents[1]
BOOK = ROOT/"nbs"
ROWS = read_statements(BOOK)

# (paper, label): every numbered equation, definition, lemma, proposition, theorem and algorithm
# that
# the papers print, every table and figure that carries a claim, and claims of their prose
PRINTED = [
    *[(paper, f"Eq. {number}") for paper, last in enumerate((19, 30, 8, 16, 6))
      for number in range(1, last + 1)],
    *[(0, label) for label in (
        "Definition 1", "Definition 2", "Proposition 1", "Theorem 1", "tight", "Algorithm 1",
        "Algorithm 2", "AdaBoost.MH", "weak classifiers better than random guess",
        "functional ANOVA", "step 8", "K = 2", "better than random guess if the error bound",
        "number of rules", "Table 1", "Table 2", "Table 3", "Fig. 3", "Fig. 4", "Fig. 5",
        "Sec. 6")],
    *[(1, label) for label in (
        "Box 1", "Procedure 1", "Lemma 1", "Lemma 2", "Box 2", "diameter", "calls", "logistic",
        "third order", "Table 1", "Table 2", *(f"Fig. {number}" for number in range(1, 13)))],
    *[(2, label) for label in ("Table 1", "Table 2", "Table 3", "abstract")],
    *[(3, label) for label in ("Algorithm 1", "Algorithm 2", "Lemma 1", "Lemma 2", "Theorem 1",
                               "Theorem 2", "Table 1", "Fig. 4", "Fig. 5")],
    *[(4, label) for label in ("Algorithm 1", "complement", "gain", "M = 0", "convergence",
                               *(f"Fig. {number}" for number in range(1, 6)))],
]


def equations(text):
    "Numbers of the equations that a text names, ranges spelt out."
    found = set()
    for part in re.findall(r"Eqs?\.\s*\(?((?:\d+\)?\s*(?:[-–,]|and|to)?\s*\(?)+)", text):
        for a, b in re.findall(r"(\d+)\)?(?:\s*(?:[-–]|to)\s*\(?(\d+))?", part):
            found |= set(range(int(a), int(b or a) + 1))
    return found


def names(row, label):
    "Does a statement speak of a label of its paper?"
    text = f"{row['title'] or ''} {row['source'] or ''}"
    if label.startswith("Eq. "):
        return int(label[4:]) in equations(text)
    plain = lambda t: re.sub(r"\s*=\s*", "=", re.sub(r"[$\\]", "", t)).lower()
    return re.search(rf"(?<![\w.]){re.escape(plain(label))}(?![\d]|\.\d)", plain(text)) is not None


def absent(rows):
    "Labels of the papers that no statement names."
    return [f"paper {paper}: {label}" for paper, label in PRINTED
            if not any(r["paper"] == paper and names(r, label) for r in rows)]


def readable(found):
    return f"{len(found)} missing:\n  " + "\n  ".join(found)


def room(row):
    return row["page"].split("/")[0]


ROOMS = sorted({room(r) for r in ROWS})


def test_equations_are_read_with_their_ranges():
    assert equations("paper 1, Eqs. 26–28 and Eq. 4, p. 5") == {4, 26, 27, 28}
    assert equations("Eq. (3), Eqs. 6, 7 and 9; Eqs. 11 to 13") == {3, 6, 7, 9, 11, 12, 13}
    assert names(dict(title="x; paper 1, Lemma 1, p. 4", source=None), "Lemma 1")
    assert not names(dict(title="x; paper 1, Lemma 1.9 and Lemma 12", source=None), "Lemma 1")


@pytest.mark.parametrize("paper", range(5))
def test_no_statement_of_a_paper_is_absent(paper):
    found = [label for label in absent(ROWS) if label.startswith(f"paper {paper}:")]
    assert not found, readable(found)


def test_a_dropped_statement_is_found_out():
    without = [r for r in ROWS if r["id"] != "def-comp-perfect"]
    assert "paper 0: Definition 1" in absent(without)
    assert "paper 0: Definition 1" not in absent(ROWS)


@pytest.mark.parametrize("name", ROOMS)
def test_every_name_leads_somewhere(name):
    ids = {r["id"] for r in ROWS}
    rows = [r for r in ROWS if room(r) == name]
    alone = {u for r in rows for u in r["uses"]} & ids
    known = rows + [r for r in ROWS if r["id"] in alone and room(r) != name]
    found = [s for s in missing_names(known, ROOT) if s.startswith(name + "/")]
    assert not found, readable(found)


def test_no_id_and_no_number_stands_twice():
    found = repeated(ROWS)
    assert not found, readable(found)


def test_every_link_to_a_statement_leads_to_it():
    found = broken_links(BOOK, ROWS)
    assert not found, readable(found)


def test_every_mention_of_a_statement_is_a_link():
    found = bare_mentions(BOOK)
    assert not found, readable(found)


def test_the_stored_register_is_the_book():
    stored = statements().to_pylist()
    assert stored == statement_table(ROWS).to_pylist(), "run the register page again"
    assert statements().column_names == list(COLUMNS)


def test_at_least_five_statements_are_stronger_than_printed():
    sharper = [r["id"] for r in ROWS if (r["sharper"] or "").startswith("yes")]
    assert len(sharper) >= 5 and all(r["attack"] or r["status"] != "proved" for r in ROWS
                                     if r["id"] in sharper)


def unplanted(rows):
    "Statements that say proved or refuted and name no test that plants a violation."
    plants = re.compile(r"::\w*(planted|_finds_|refutes)")
    return [r["id"] for r in rows if r["status"] in ("proved", "refuted")
            and not plants.search(r["attack"] or "")]


def test_every_attack_has_a_planted_violation():
    found = unplanted(ROWS)
    assert not found, readable(found)
    assert unplanted([dict(id="thm-x", status="proved", attack="page cell")]) == ["thm-x"]


def test_statuses_are_words_that_mean_something():
    known = ("proved", "refuted", "algorithm", "definition", "erratum", "measured", "not run",
             "quoted")
    odd = [f"{r['id']}: {r['status']}" for r in ROWS
           if r["status"] and not r["status"].startswith(known)]
    assert not odd, readable(odd)


def test_pages_are_notebooks_that_exist():
    assert all((BOOK/r["page"]).exists() for r in ROWS)
    assert json.loads((ROOT/"boostlit/lab/statements.json").read_text(encoding="utf-8"))
