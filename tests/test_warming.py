"`boostlit warm-up` leaves nothing to compile; numba's counters of its cache say so."
import json
import os
import subprocess
import sys
from pathlib import Path
import numpy as np
import pytest

HERE = Path(__file__).parent
# other work than that of the warm-up: the estimators of tests/test_bad_input.py on their own data
WORK = """
import json
import warnings
import boostlit
from boostlit.core.kernels import kernels
from boostlit.lab.warming import all_kernels, compiled_now
from test_bad_input import ESTIMATORS, estimator, fit, good_data
warnings.simplefilter("ignore")
with kernels("compiled"):
    for name in ESTIMATORS:
        kind, model = estimator(name)
        X, y, w = good_data(kind)
        fit(model, X, y, w)
        if hasattr(model, "predict"):
            model.predict(X)
used = sum(k.fast is not None for k in all_kernels().values())
print(json.dumps(dict(used=used, made=compiled_now())))
"""


def run(*command, **env):
    path = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH", ""), str(HERE)]))
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, cwd=HERE,
                          env={**os.environ, "PYTHONPATH": path, **env})
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done


def test_warm_up_leaves_nothing_to_compile():
    warm = run("-m", "boostlit", "warm-up")
    assert "kernels are ready" in warm.stdout and "compiling" in warm.stderr
    found = json.loads(run("-c", WORK).stdout.splitlines()[-1])
    assert found["used"] > 20 and not found["made"], found


def test_the_counter_can_fail(tmp_path):
    "With an empty cache a fit of one estimator is seen to compile."
    code = WORK.replace("for name in ESTIMATORS:", 'for name in ["AdaBoostClassifier"]:')
    found = json.loads(run("-c", code, NUMBA_CACHE_DIR=str(tmp_path)).stdout.splitlines()[-1])
    assert found["made"]


def test_kernels_run_as_they_are_told():
    from boostlit.core.kernels import Budget
    budget = Budget(100)
    for mode, steps, pays in (("python", 10**9, True), ("compiled", 1, False), ("auto", 60, True),
                              ("auto", 60, False), ("auto", 40, True)):
        budget.mode = mode
        assert budget.pays(steps) is pays, (mode, steps)


def test_signed_indices_are_looked_at():
    from boostlit.core.kernels import Arg, kernel
    @kernel(x=Arg("float64", "n"), k=Arg("int64 uint8", "m", below="n"))
    def picked(x, k):
        total = 0.
        for i in k: total += x[i]
        return total
    x = np.arange(3.)
    assert picked(x, np.array([2, 2])) == 4 and picked(x, np.array([1], np.uint8)) == 1
    for wrong in (np.array([3]), np.array([-1]), np.array([3], np.uint8)):
        with pytest.raises(ValueError, match="k holds an index"): picked(x, wrong)
