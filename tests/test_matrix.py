"""Every master and every oracle: a pair trains, with a loss that falls and scores that new rows get
too, or refuses with a sentence; and a fused conversation gives what the plain one gives."""
import ast
import re
from pathlib import Path

import numpy as np
import pytest

import boostlit
from boostlit.core.loop import FUSED, Conversation, conversation
from boostlit.lab.matrix import MASTERS, house_oracles, meet, rows_of, small_problem

PROBLEM = small_problem()
ORACLES = list(house_oracles(PROBLEM))
PAIRS = [(oracle, master) for oracle in ORACLES for master in MASTERS]


def met(oracle, master, **options):
    "The run of a pair, or None where it refuses in a sentence."
    try:
        return meet(PROBLEM, oracle, master, **options)
    except ValueError as refusal:
        assert re.match(
            r"[A-Z].* does not fit .*: it needs .*\. Use .*\.|.*two classes.*|.*linear program",
            str(refusal),
        ), refusal
        return None


@pytest.mark.parametrize("oracle, master", PAIRS)
def test_a_pair_trains_or_refuses(oracle, master):
    found = met(oracle, master)
    if found is None:
        return
    run, answers = found
    losses = [row["loss"] for row in run.history]
    if master == "linear program":
        assert all(b <= a + 1e-9 for a, b in zip(losses, losses[1:])), losses
    else:
        assert all(b < a for a, b in zip(losses, losses[1:])), losses
    assert np.isfinite(run.scores).all()
    assert np.isfinite(run.alphas).all()
    scores = 0.
    one = MASTERS[master]()
    reader = conversation(answers, one, PROBLEM.y).oracle
    for hypothesis, alpha in zip(run.hypotheses, run.alphas):
        said = reader.apply(hypothesis, rows_of(PROBLEM, oracle))
        scores = scores + one.spread(said, alpha, 2)
    np.testing.assert_allclose(scores, run.scores, atol=1e-8)


@pytest.mark.parametrize("oracle, master", PAIRS)
def test_fused_is_plain(oracle, master):
    "Where a fused conversation serves a pair, the plain loop gives the same."
    found = met(oracle, master)
    if found is None or master == "linear program":
        return
    part = conversation(house_oracles(PROBLEM)[oracle](), MASTERS[master](), PROBLEM.y)
    if type(part) is Conversation:
        return
    run, plain = found[0], met(oracle, master, plain=True)[0]
    np.testing.assert_allclose(run.scores, plain.scores, atol=1e-8)
    np.testing.assert_allclose(run.alphas, plain.alphas, atol=1e-8)


def test_most_pairs_train():
    trained = [pair for pair in PAIRS if met(*pair, n_rounds=2)]
    assert len(trained) >= .6*len(PAIRS)
    assert {oracle for oracle, _ in trained} == set(ORACLES)
    assert {master for _, master in trained} == set(MASTERS)


# the papers' algorithms, line by line; Procedure 1 of paper 1 asks its oracle until nothing changes
TRANSCRIPTIONS = {"box1", "box2", "gentle_stumps", "relabel"}
ELSEWHERE = ("lab/", "distributed/")                    # experiments, and drivers of many machines


def rounds_loop(node):
    "Does a loop count boosting rounds, or ask an oracle?"
    if not isinstance(node, (ast.For, ast.While)):
        return False
    head = ast.unparse(node.iter if isinstance(node, ast.For) else node.test)
    counts = re.search(r"range\(.*\bn_(rounds|estimators)\b", head)
    asks = {call.func.attr for part in ast.walk(node) if isinstance(part, ast.Call)
            for call in [part] if isinstance(call.func, ast.Attribute)}
    return bool(counts or asks & {"ask", "round"})


def findings(text):
    "(function, loops over rounds, handlers of interrupts) of a module."
    for function in ast.walk(ast.parse(text)):
        if isinstance(function, ast.FunctionDef):
            parts = list(ast.walk(function))
            handlers = [part for part in parts if isinstance(part, ast.ExceptHandler) and part.type
                        and re.search("INTERRUPTS|KeyboardInterrupt", ast.unparse(part.type))]
            yield function.name, sum(map(rounds_loop, parts)), len(handlers)


def library():
    "The text of every module of the library that is not an engine room."
    root = Path(boostlit.__file__).parent
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        if not name.startswith(ELSEWHERE) and "kernels" not in path.name:
            yield name, path.read_text(encoding="utf-8")


def test_one_loop_and_one_place_for_interrupts():
    "Outside of core.loop no module of the library counts boosting rounds or handles an interrupt."
    loops, handles = [], []
    for name, text in library():
        for function, rounds, handlers in findings(text):
            paper = function in TRANSCRIPTIONS or function.endswith("_reference")
            loops += [(name, function)]*(rounds > 0 and not paper)
            handles += [name]*(handlers > 0)
    assert loops == [("core/loop.py", "converse")], loops
    assert set(handles) == {"core/loop.py"}, handles
    assert FUSED


def test_the_scan_finds_a_planted_loop():
    planted = "def f(oracle):\n    for t in range(n_rounds):\n        pass\n"
    asking = "def f(oracle):\n    while True:\n        oracle.ask(y, w)\n"
    trying = "def f():\n    try:\n        g()\n    except KeyboardInterrupt:\n        pass\n"
    assert list(findings(planted)) == [("f", 1, 0)]
    assert list(findings(asking)) == [("f", 1, 0)]
    assert list(findings(trying)) == [("f", 0, 1)]
