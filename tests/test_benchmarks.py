"Every row of the benchmark runs on a small version of its problem; no clock is read."
import pytest
from boostlit.core.datasets import have_dataset
from boostlit.results.benchmarks import WORKS, ratios, take_turns


@pytest.mark.parametrize("key", [k for k in WORKS if k != "start_up"])
def test_contenders_run(key):
    for name in ("adult", "covtype", "kr-vs-kp", "mfeat", "agaricus-lepiota"):
        if name in key and not have_dataset(name) or key == "lp_masters" and not have_dataset("kr-vs-kp"): pytest.skip(f"needs a data set: {key}")
    work, ran = WORKS[key](small=True), 0
    for contender in work.contenders.values():
        try: result = contender()
        except ImportError: continue
        if work.quality: assert work.quality(result) >= 0
        ran += 1
    assert ran >= 1


def test_ratios_are_relative_to_the_first():
    rows = [dict(work="w", contender=c, seconds=s, low=s, high=s) for c, s in (("boostlit", 2), ("peer", 6))]
    assert [r["ratio"] for r in ratios(rows)] == [1, 3] and [r["ours"] for r in ratios(rows)] == [True, False]
