"The gate in front of the kernels: what it lets through, what it refuses, what it remembers."
import numpy as np
import pytest
from boostlit.core.kernels import Arg, kernel, kernels
from boostlit.core.loop_kernels import stump_step, sum_stumps
from boostlit.core.stump_kernels import (
    best_split, exponential_step, outputs_of_stumps, sorted_values,
)
from boostlit.core.stumps import STUMP, UNIT


@kernel(work=lambda values, index, out, k: len(index), values=Arg("float64", "k"),
        index=Arg("int64 uint8", "n", below="k"), out=Arg("float64", "n"))
def look_up(values, index, out, k):
    for i in range(len(index)):
        out[i] = values[index[i]]


def call(**changes):
    good = dict(values=np.arange(3.), index=np.array([2, 0, 1]), out=np.zeros(3), k=3)
    arguments = {**good, **changes}
    look_up(*arguments.values())
    return arguments["out"].tolist()


def test_a_size_that_cannot_be_remembered_is_looked_at_each_time():
    "An array has no hash, and comparing one is no answer: it passes by its value, or is refused."
    for size in (np.array(3), np.array([3])):
        for _ in range(2):
            assert call(k=size) == [2, 0, 1]
    with pytest.raises(ValueError, match="3 entries where k is 4"):
        call(k=np.array(4))
    with pytest.raises((ValueError, TypeError)):
        call(k=[3])
    assert call() == [2, 0, 1]


@pytest.mark.parametrize("mode", ["python", "compiled"])
def test_what_passed_before_opens_the_gate_for_nothing_else(mode):
    "After a good call: other dtypes, shapes, sizes and indices of the same shape are refused."
    hostile = [dict(index=np.array([2, 0, 3])), dict(index=np.array([2, 0, -1])),
               dict(index=np.array([2., 0, 1])), dict(index=np.array([2, 0, 1], np.int32)),
               dict(index=np.array([2, 0, 200], np.uint8)), dict(out=np.zeros(2)), dict(k=2),
               dict(out=np.zeros((3, 1))), dict(values=[0., 1, 2]), dict(values=np.arange(3)),
               dict(index=np.array([2, 0, 1], ">i8"))]
    with kernels(mode):
        for changes in hostile:
            assert call() == [2, 0, 1]
            with pytest.raises(ValueError):
                call(**changes)
        assert call() == [2, 0, 1]


def test_arrays_that_lie_otherwise_in_memory_pass():
    steps, read_only = np.array([2, 9, 0, 9, 1, 9])[::2], np.arange(3.)
    read_only.flags.writeable = False
    assert call(values=read_only, index=steps) == [2, 0, 1]
    with pytest.raises(ValueError, match="outside of 0..2"):
        call(values=read_only, index=np.array([2, 9, 0, 9, 1, 9])[1::2])


def test_the_number_of_arguments_is_looked_at():
    with pytest.raises(TypeError, match="4 arguments was given 2"):
        look_up(np.arange(3.), np.array([0]))


@pytest.mark.parametrize("n", [0, 1, 2, 1000])
def test_sorting_by_digits_is_sorting(n):
    rng = np.random.default_rng(n)
    column = rng.normal(size=n)*10.**rng.integers(-300, 300, n)
    column[rng.random(n) < .1] = rng.choice([np.nan, -np.nan, np.inf, -np.inf, 0., -0.])
    with kernels("compiled"):
        found = sorted_values(column[::-1])
    np.testing.assert_array_equal(found, np.sort(column))


def problems(rng):
    "(kernel, a call of it) with ties, missing values, zeros, one code and one row."
    n, d, top = int(rng.choice([1, 40, 1500])), 5, int(rng.integers(1, 9))
    HS = rng.integers(-3, 4, (d, top + 1))*int(rng.choice([1, 2**45]))
    HW = np.abs(HS) + rng.integers(0, 2, HS.shape)
    n_codes, has_nan = np.full(d, top + 1), rng.random(d) < .5
    total = int(HW[0].sum())
    for criterion in (0, 1, 2):
        yield best_split, (HS, HW, n_codes, has_nan, rng.random(d) < .4, 0, d, int(HS[0].sum()),
                           total, criterion)
    y, start = np.where(rng.random(n) < .5, 1., -1.), rng.random(n)
    yield exponential_step, (np.empty(n), start, y, rng.normal(size=n)*100, rng.normal(size=n))
    codes, sign = rng.integers(0, top, n).astype(np.uint8), y.astype(np.int8)
    for whole, stride in ((np.ones(1, np.int64), 0), (np.rint(start*UNIT).astype(np.int64), 1)):
        margin = rng.integers(-1, 2, n).astype(float)
        yield stump_step, (codes, rng.normal(size=2*top), rng.random(2*top), sign, start.copy(),
                           margin, np.empty(n, np.int64), whole, stride)
    X = np.where(rng.random((n, d)) < .2, np.nan, rng.integers(0, 4, (n, d))*1.)
    stumps = np.zeros(top, STUMP)
    for name in STUMP.names:
        stumps[name] = rng.integers(0, 2 if name == "nominal" else 4, top)
    yield sum_stumps, (stumps.view(np.recarray), rng.normal(size=top), X, np.empty(n))
    yield outputs_of_stumps, (stumps, X, np.empty((top, n)))


@pytest.mark.parametrize("seed", range(20))
def test_a_loop_its_twin_in_arrays_and_the_compiled_loop_give_the_same_bits(seed):
    rng = np.random.default_rng(seed)
    for one, args in problems(rng):
        assert one.twin is not one.function
        said = []
        for form in (one.function, one.twin, one.dispatcher()):
            copies = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
            with np.errstate(all="ignore"):
                said.append((form(*copies), [a.tobytes() for a in copies
                                             if isinstance(a, np.ndarray)]))
        assert said[0] == said[1] == said[2], one.__name__
