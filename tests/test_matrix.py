"""Every master and every oracle: a pair trains, with a loss that falls and scores that new rows get
too, or refuses with a sentence; and a fused conversation gives what the plain one gives."""
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


def test_one_loop_and_one_place_for_interrupts():
    "Outside the loop no module of the library handles an interrupt or counts boosting rounds."
    root = Path(boostlit.__file__).parent
    handles, loops = [], []
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        if name.startswith(("lab/", "distributed/")) or name == "core/loop.py":
            continue
        text = path.read_text(encoding="utf-8")
        handles += [name] if re.search(r"except .*(INTERRUPTS|KeyboardInterrupt)", text) else []
        for match in re.finditer(
            r"^def (\w+)|for \w+ in (?:progress_bar\()?range\((?:self\.|est\.)?(?:n_rounds|n_estimators)",
            text,
            re.M,
        ):
            if match[1]:
                inside = match[1]
            else:
                loops.append((name, inside))
    transcriptions = {
        "adaboost_reference", "box1", "box2", "boost_rules_reference", "boost_reference",
        "lpboost_reference", "gentle_stumps",
    }
    assert not [
        loop
        for loop in loops
        if loop[1] not in transcriptions and not loop[1].endswith("_reference")
    ], loops
    assert not handles, handles
    assert FUSED
