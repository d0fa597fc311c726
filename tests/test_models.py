"Model files: identical after a round trip, refused when damaged, harmless when hostile."
import json
import os
import pickle
import signal
import subprocess
import sys
import time
import traceback
import warnings
from collections import Counter
import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import LogisticRegression
from boostlit import (AdaBoostClassifier, CompositionalBoostClassifier, DecisionStumpClassifier,
                      GentleBoostClassifier, LPBoostClassifier, OneAndHalfClassLPBoost,
                      PairwiseBoostClassifier,
                      QuadraticBoostClassifier, SparseBilinearClassifier, BilinearBoostClassifier,
                      load_model, save_model)
from boostlit.core.models import (PLAIN, TABLE_FIELDS, Array, Each, Flag, Group, Labels, Names,
                                  OrMissing, OrNone, Real, Table, Text, Whole,
                                  array_bytes, array_from, build_fields,
                                  read_leaves, rebuild, write_leaves, write_whole)
from boostlit.core.stumps import STUMP
from fuzz import answer, every_estimator, graphs, mutate, signed_again, survive
from test_bad_input import BINARY, BLOCKS, PAIRS, good_data

X, y = load_breast_cancer(return_X_y=True)
SOAK = bool(os.environ.get("BOOSTLIT_SOAK"))
MODELS = [AdaBoostClassifier(n_estimators=20), GentleBoostClassifier(n_estimators=20),
          DecisionStumpClassifier()]
posix = pytest.mark.skipif(os.name != "posix", reason="needs file modes")


@pytest.mark.parametrize("est", MODELS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("labels", [y, np.where(y == 1, "benign", "malignant")],
                         ids=["int", "str"])
def test_round_trip_is_identical(est, labels, tmp_path):
    est.fit(X, labels)
    save_model(est, tmp_path/"m")
    again = load_model(tmp_path/"m")
    assert (again.predict(X) == est.predict(X)).all() and again.get_params() == est.get_params()
    if hasattr(est, "decision_function"):
        assert again.decision_function(X).tobytes() == est.decision_function(X).tobytes()
    save_model(again, tmp_path/"n")
    assert (tmp_path/"m").read_bytes() == (tmp_path/"n").read_bytes()


def test_multi_class_round_trip(tmp_path):
    wine, kinds = load_wine(return_X_y=True)
    for make in (AdaBoostClassifier, GentleBoostClassifier):
        est = make(n_estimators=10).fit(wine, kinds)
        save_model(est, tmp_path/"m")
        again = load_model(tmp_path/"m")
        assert again.decision_function(wine).tobytes() == est.decision_function(wine).tobytes()


# ------------------------------------------------------------------ the place of the file

@posix
@pytest.mark.parametrize("mask", [0o022, 0o002, 0o077])
def test_the_umask_decides_who_may_read_a_new_file(tmp_path, mask):
    old = os.umask(mask)
    try:
        save_model(DecisionStumpClassifier().fit(X, y), tmp_path/"m")
        (tmp_path/"plain").write_text("")
    finally:
        os.umask(old)
    assert (tmp_path/"m").stat().st_mode == (tmp_path/"plain").stat().st_mode


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666])
def test_a_file_keeps_its_rights(tmp_path, mode):
    est = DecisionStumpClassifier().fit(X, y)
    save_model(est, tmp_path/"m")
    os.chmod(tmp_path/"m", mode)
    save_model(est, tmp_path/"m")
    assert (tmp_path/"m").stat().st_mode & 0o777 == mode


@posix
def test_nobody_may_look_while_a_private_file_is_written(tmp_path):
    (tmp_path/"m").write_text("private")
    os.chmod(tmp_path/"m", 0o600)
    seen = []
    write_whole(tmp_path/"m", lambda t: seen.append(os.stat(t).st_mode & 0o777))
    assert seen == [0o600]


@posix
def test_links_keep_pointing_and_devices_stay_devices(tmp_path):
    est = DecisionStumpClassifier().fit(X, y)
    (tmp_path/"real").write_text("old")
    os.symlink(tmp_path/"real", tmp_path/"link")
    save_model(est, tmp_path/"link")
    assert (tmp_path/"link").is_symlink()
    assert (load_model(tmp_path/"real").predict(X) == est.predict(X)).all()
    os.symlink(os.devnull, tmp_path/"null")
    save_model(est, tmp_path/"null")
    assert not os.path.isfile(os.devnull)
    assert sorted(os.listdir(tmp_path)) == ["link", "null", "real"]


@posix
def test_a_process_told_to_end_leaves_no_part(tmp_path):
    code = ("import sys, time\nfrom boostlit.core.models import write_whole\n"
            "def write(path):\n    open(path, 'w').write('half')\n    print('now', flush=True)\n"
            "    time.sleep(60)\nwrite_whole(sys.argv[1], write)\n")
    child = subprocess.Popen([sys.executable, "-c", code, str(tmp_path/"m")],
                             stdout=subprocess.PIPE)
    child.stdout.readline()
    assert [p.suffix for p in tmp_path.iterdir()] == [".part"]
    child.send_signal(signal.SIGTERM)
    assert child.wait(60) == -signal.SIGTERM
    assert not list(tmp_path.iterdir())


def test_a_failing_write_leaves_the_old_file(tmp_path):
    (tmp_path/"m").write_text("old")
    with pytest.raises(ZeroDivisionError):
        write_whole(tmp_path/"m", lambda t: 1/0)
    assert (tmp_path/"m").read_text() == "old" and os.listdir(tmp_path) == ["m"]


# ------------------------------------------------------------------ fuzzing

def fuzz(folder, each):
    "Damaged and signed-again files of every estimator; counts of what happened."
    warnings.simplefilter("ignore")
    counts, rng = {}, np.random.default_rng(0)
    for name, est, Z in every_estimator():
        save_model(est, folder/"m")
        data, want = (folder/"m").read_bytes(), answer(est, Z)
        assert answer(load_model(folder/"m"), Z) == want, name
        header, leaves = read_leaves(folder/"m")
        damaged = Counter(survive(mutate(data, rng), folder/"hurt", lambda e: answer(e, Z) == want)
                          for _ in range(each))
        signed = Counter(signed_again(folder/"hurt", header, leaves, Z, rng) for _ in range(each))
        counts[name] = dict(damaged=dict(damaged), signed=dict(signed))
    return counts


def limited(folder, each):
    "The fuzzer in this process, with at most a gigabyte more than it has now."
    import resource
    with open("/proc/self/statm") as f:
        used = int(f.read().split()[0])*resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 30),)*2)
    (folder/"counts.json").write_text(json.dumps(fuzz(folder, each)))


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs Linux")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_fuzzed_files_are_refused_or_identical(tmp_path):
    "A crash or a file that asks for gigabytes ends the child, not the test run."
    each = 700 if SOAK else 25
    for _, est, Z in every_estimator():   # all is compiled and imported before memory is limited
        save_model(est, tmp_path/"warm")
        answer(load_model(tmp_path/"warm"), Z)
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            limited(tmp_path, each)
            code = 0
        except BaseException: traceback.print_exc()
        finally: os._exit(code)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status == 0, f"the fuzzing process ended with {status}"
    counts = json.loads((tmp_path/"counts.json").read_text())
    damaged, signed = (sum((Counter(c[way]) for c in counts.values()), Counter())
                       for way in ("damaged", "signed"))
    print("\nfuzzed model files:", *(f"{n}: {c}" for n, c in counts.items()), sep="\n  ")
    print(f"fuzzed model files: damaged {dict(damaged)}, signed again {dict(signed)}; no crash")
    assert len(counts) >= 15 and set(damaged) <= {"refused", "identical"}
    assert damaged["refused"] > .5*each*len(counts)
    if SOAK: assert sum(damaged.values()) >= 10_000


# ------------------------------------------------------------------ declarations

def test_records_are_read_by_name_and_dtype(tmp_path):
    "Fields in another order are the same stump; a field of another dtype is refused."
    est = AdaBoostClassifier(n_estimators=4).fit(X, y)
    save_model(est, tmp_path/"m")
    header, leaves = read_leaves(tmp_path/"m")
    turned = np.dtype([(n, STUMP[n]) for n in reversed(STUMP.names)])
    other = np.empty(est.stumps_.shape, turned)
    for name in STUMP.names: other[name] = est.stumps_[name]
    swap = lambda a: [(p, k, array_bytes(a, p) if p == "state.stumps_" else d)
                      for p, k, d in leaves]
    write_leaves(tmp_path/"m", json.dumps(header), swap(other))
    if hasattr(est, "file_fields"):
        assert (load_model(tmp_path/"m").decision_function(X) == est.decision_function(X)).all()
    floats = np.dtype([(n, "f8") for n in STUMP.names])
    write_leaves(tmp_path/"m", json.dumps(header), swap(est.stumps_.astype(floats)))
    with pytest.raises(ValueError, match="stumps_"): load_model(tmp_path/"m")


FIELDS = {"n_": Whole("n", 1, 9), "a_": Array("int64", ("n", 2), 0, "n"), "b_": Flag(),
          "r_": Real(0, 1), "t_": Text("x", "y"), "names_": Names("n"), "l_": Labels("k"),
          "each_": Each(Group({"w_": Array("float64", ("m",)), "v_": Array("float64", ("m",))})),
          "none_": OrNone(Real()), "free_": OrMissing(Array("float64", ("n",), None, None))}
GOOD = dict(n_=3, a_=np.array([[0, 1], [2, 0], [1, 1]]), b_=True, r_=.5, t_="y",
            names_=np.array(["p", "q", "r"]), l_=np.array([4, 5]), none_=None,
            each_=[dict(w_=np.ones(2), v_=np.ones(2)), dict(w_=np.ones(5), v_=np.ones(5))])


def test_a_good_state_is_built_anew():
    built = build_fields(FIELDS, GOOD, {})
    assert set(built) == set(GOOD) and built["a_"] is not GOOD["a_"]
    assert build_fields(FIELDS, {**GOOD, "free_": np.array([1, np.nan, np.inf])}, {})
    assert built["names_"].dtype == object and (built["a_"] == GOOD["a_"]).all()


@pytest.mark.parametrize("change", [
    dict(n_=2), dict(n_=3.), dict(n_=True), dict(n_=0), dict(n_=9), dict(a_=GOOD["a_"] + 1),
    dict(a_=-GOOD["a_"]), dict(a_=GOOD["a_"].astype(np.uint64)), dict(a_=GOOD["a_"][:, :1]),
    dict(a_=GOOD["a_"].astype(float)), dict(a_=GOOD["a_"].tolist()), dict(a_=GOOD["a_"][None]),
    dict(b_=1), dict(r_=1.5), dict(r_=np.nan), dict(r_="a"), dict(t_="z"), dict(t_=1),
    dict(names_=np.ones(3)), dict(names_=np.array(["p"])), dict(l_=np.array([1, 1])),
    dict(l_=np.array([1])), dict(l_=np.array([1, np.nan])), dict(each_=3), dict(each_=[3]),
    dict(each_=[dict(w_=np.ones(2), v_=np.ones(3))]), dict(each_=[dict(w_=np.ones(2))]),
    dict(none_="x"), dict(free_=np.ones(2)), dict(more_=1)], ids=str)
def test_a_wrong_state_is_named(change):
    with pytest.raises(ValueError, match=f"its (attribute )?{list(change)[0]}|its a_"):
        build_fields(FIELDS, {**GOOD, **change}, {})


@pytest.mark.parametrize("lost", [k for k in GOOD])
def test_nothing_may_be_missing(lost):
    with pytest.raises(ValueError, match=f"{lost} is missing"):
        build_fields(FIELDS, {k: v for k, v in GOOD.items() if k != lost}, {})


class Mean(BaseEstimator):
    "A class of a reader: the sign of the distance to the mean."
    file_fields = {**TABLE_FIELDS, "mean_": Array("float64", ("columns",)), "log_": Table()}

    def __init__(self, factor=1.): self.factor = factor

    def fit(self, X, y=None):
        import pyarrow as pa
        self.n_features_in_, self.mean_ = X.shape[1], X.mean(axis=0)
        self.log_ = pa.table({"round": [1]})
        return self

    def decision_function(self, X): return self.factor*(X - self.mean_).sum(axis=1)


class Loose(Mean):
    file_fields = PLAIN


class Undeclared(Mean):
    file_fields = None


@pytest.mark.parametrize("make", [Mean, Loose])
def test_a_class_of_ones_own(make, tmp_path):
    est = make(2.).fit(X)
    save_model(est, tmp_path/"m")
    with pytest.raises(ValueError, match="classes="): load_model(tmp_path/"m")
    with pytest.raises(ValueError, match="classes="): load_model(tmp_path/"m", classes=[Undeclared])
    again = load_model(tmp_path/"m", classes=[make])
    assert again.factor == 2. and (again.decision_function(X) == est.decision_function(X)).all()


def test_a_class_must_declare(tmp_path):
    for est in (Undeclared().fit(X), LogisticRegression(max_iter=5000).fit(X/100, y)):
        with pytest.raises(ValueError, match="declares no `file_fields`"):
            save_model(est, tmp_path/"m")
    assert not list(tmp_path.iterdir())


def test_the_trial_refuses_what_is_not_finite(tmp_path):
    est = Mean().fit(X)
    save_model(est, tmp_path/"m")
    header, leaves = read_leaves(tmp_path/"m")
    huge = [(p, k, array_bytes(np.full(30, -1.7e308), p) if p == "state.mean_" else d)
            for p, k, d in leaves]
    write_leaves(tmp_path/"m", json.dumps(header), huge)
    with pytest.raises(ValueError, match="not finite"): load_model(tmp_path/"m", classes=[Mean])


# ------------------------------------------------------------------ files that once crashed

def forged(est, path, parameters=None, state=None, **arrays):
    "The file of a model with other arrays, parameters and plain attributes, properly signed."
    save_model(est, path)
    header, leaves = read_leaves(path)
    for part, change in (("parameters", parameters), ("state", state)):
        for name, value in (change or {}).items(): header[part]["dict"][name] = {"value": value}
    def other(place, kind, data):
        hits = [f for end, f in arrays.items() if place.replace(".", "_").endswith(end)]
        return array_bytes(hits[0](array_from(data)), place) if hits else data
    leaves = [(p, k, other(p, k, d)) for p, k, d in leaves]
    write_leaves(path, json.dumps(header), leaves)
    return path


def refused(path, words):
    with pytest.raises(ValueError, match=words): load_model(path)


@pytest.mark.parametrize("make", [AdaBoostClassifier, GentleBoostClassifier, LPBoostClassifier,
                                  QuadraticBoostClassifier], ids=lambda c: c.__name__)
def test_crash_1_fields_in_another_place(make, tmp_path):
    "Checked by name, once cast by position: a threshold became the number of a feature."
    est = make(**(dict(nu=.3, oracle="stumps") if make is LPBoostClassifier else {}))
    if "n_estimators" in est.get_params(): est.set_params(n_estimators=4)
    est.fit(X[:200], y[:200])
    turned = lambda a: a[list(reversed(a.dtype.names))].astype(
        [(n, a.dtype[n]) for n in reversed(a.dtype.names)])
    again = load_model(forged(est, tmp_path/"m", stumps_=turned, patterns_stumps=turned))
    assert again.decision_function(X).tobytes() == est.decision_function(X).tobytes()
    swapped = lambda a: np.rec.fromarrays([a[n] for n in a.dtype.names],
                                          names=list(reversed(a.dtype.names)))
    forged(est, tmp_path/"m", stumps_=swapped, patterns_stumps=swapped)
    refused(tmp_path/"m", "holds|points outside")


def test_crash_2_floats_where_records_belong(tmp_path):
    est = LPBoostClassifier("stumps", nu=.3).fit(X[:200], y[:200])
    save_model(est, tmp_path/"m")
    stump = [p for p, *_ in read_leaves(tmp_path/"m")[1] if "patterns" in p]
    assert stump, "the file holds its patterns as arrays"
    floats = lambda a: np.ones((len(a), 6)) if a.dtype.names else a.astype("f4")
    for place in stump:
        end = place.replace(".", "_").replace("state_", "")
        refused(forged(est, tmp_path/"m", **{end: floats}), "patterns|models_")


def test_crash_3_unsigned_pointers(tmp_path):
    "Differences of unsigned numbers wrap."
    B, b, _ = good_data(BINARY)
    est = CompositionalBoostClassifier(n_estimators=3).fit(B, b)
    unsigned = lambda a: a[::-1].astype(np.uint64)
    refused(forged(est, tmp_path/"m", rule_pointers_=unsigned), "rule_pointers_")
    refused(forged(est, tmp_path/"m", rule_pointers_=lambda a: a[::-1].copy()), "pointers_ falls")
    refused(forged(est, tmp_path/"m", rule_pointers_=lambda a: a + 1), "points outside")


def test_crash_4_two_numbers_of_columns(tmp_path):
    "Kernels use `n_features_in_`: names or stumps of another width do not fit."
    import pandas as pd
    est = AdaBoostClassifier(n_estimators=4).fit(pd.DataFrame(X).rename(columns=str), y)
    refused(forged(est, tmp_path/"m", state=dict(n_features_in_=2)), "feature_names_in_|stumps_")
    est = AdaBoostClassifier(n_estimators=4).fit(X, y)
    refused(forged(est, tmp_path/"m", state=dict(n_features_in_=1)), "kinds_|stumps_")


def test_crash_5_axes_of_lifted_pairs(tmp_path):
    P, z, _ = good_data(PAIRS)
    est = PairwiseBoostClassifier(n_estimators=3, projection="lifted").fit(P, z)
    for name in ("mean_", "axes_"):
        refused(forged(est, tmp_path/"m", **{name: lambda a: a[:1].copy()}), name)
        refused(forged(est, tmp_path/"m", **{name: lambda a: a*np.nan}), name)


def test_crash_6_codes_of_subgraphs_that_go_back(tmp_path):
    est = LPBoostClassifier("subgraphs", nu=.3, max_length=3).fit(*graphs())
    assert est.models_[0]["patterns"]["code"].size, "the model has learnt a subgraph with edges"
    for shift in ([5, 0, 0, 0], [0, 5, 0, 0], [0, -9, 0, 0], [0, 0, 99, 0], [0, 0, 0, 99]):
        moved = lambda a: a + np.array(shift, a.dtype)
        refused(forged(est, tmp_path/"m", patterns_code=moved), "models_|patterns|code")
    longer = lambda a: a + np.array(50, a.dtype)
    refused(forged(est, tmp_path/"m", patterns_length=longer), "models_|patterns|length")


def test_crash_7_negative_items_of_a_positive_language(tmp_path):
    "With positive items only there are as many items as columns, not twice as many."
    B, b, _ = good_data(BINARY)
    est = CompositionalBoostClassifier(n_estimators=3, items="both").fit(B, b)
    above = lambda a: np.full_like(a, 5)
    forged(est, tmp_path/"m", parameters=dict(items="positive"), rule_items_=above)
    refused(tmp_path/"m", "rule_items_")


@pytest.mark.parametrize("make", [
    lambda: PairwiseBoostClassifier(n_estimators=2, projection="lifted").fit(
        np.random.default_rng(0).normal(size=(60, 2, 25)), np.arange(60) % 2*2 - 1),
    lambda: SparseBilinearClassifier(c1=1e9, c2=1e9).fit(*good_data(BLOCKS)[:2]),
    lambda: BilinearBoostClassifier(n_estimators=2, c1=1e9, c2=1e9).fit(*good_data(BLOCKS)[:2])],
    ids=["25 features", "penalty", "penalty in rounds"])
def test_models_that_once_could_not_be_saved(make, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        est = make()
    save_model(est, tmp_path/"m")
    again = load_model(tmp_path/"m")
    shape = (2, 25) if hasattr(est, "axes_") else (4, 2)
    rows = np.random.default_rng(1).normal(size=(5, *shape))
    assert again.decision_function(rows).tobytes() == est.decision_function(rows).tobytes()


@pytest.mark.parametrize("place", [3, -1, True, "0", None, 1.])
def test_leaves_that_are_not_there(place):
    with pytest.raises(ValueError, match="array that is not there"): rebuild({"leaf": place}, [0])


def test_arrays_that_must_rise():
    field = {"p_": Array("int64", ("n",), 0, 9, rising=True)}
    build_fields(field, {"p_": np.array([0, 2, 2, 8])}, {})
    with pytest.raises(ValueError, match="p_ falls"):
        build_fields(field, {"p_": np.array([0, 2, 1])}, {})


# ------------------------------------------------------------------ odd files

def test_a_model_without_rules_comes_back(tmp_path):
    "One round that found nothing, and no rules; the file must load like any other."
    coin = np.random.default_rng(0).integers(0, 2, (60, 3)).astype(float)
    with pytest.warns(UserWarning, match="no rules"):
        est = CompositionalBoostClassifier(min_support=.45, min_lift=1.9)
        est.fit(coin, np.arange(60) % 2)
    save_model(est, tmp_path/"m")
    again = load_model(tmp_path/"m")
    assert again.history_["alpha"].to_pylist() == [0.] and again.history_.equals(est.history_)
    assert again.terms_.num_rows == again.rules_.num_rows == 0
    assert np.array_equal(again.predict(coin), est.predict(coin))
    assert str(again) == str(est)


@pytest.mark.parametrize("lost", ["stumps_", "alphas_", "classes_", "kinds_", "categories_"])
def test_half_a_model_is_not_written(lost, tmp_path):
    "What load_model would refuse is refused before it replaces a good file."
    est = AdaBoostClassifier(n_estimators=3).fit(X, y)
    save_model(est, tmp_path/"m")
    before = (tmp_path/"m").read_bytes()
    delattr(est, lost)
    with pytest.raises(ValueError, match=f"{lost} is missing"): save_model(est, tmp_path/"m")
    assert (tmp_path/"m").read_bytes() == before and os.listdir(tmp_path) == ["m"]


def test_compressed_buffers_are_refused(tmp_path):
    save_model(AdaBoostClassifier(n_estimators=3).fit(X, y), tmp_path/"m")
    header, leaves = read_leaves(tmp_path/"m")
    for compression in ("zstd", "lz4"):
        write_leaves(tmp_path/"c", json.dumps(header), leaves, compression)
        with pytest.raises(ValueError, match="compressed"): load_model(tmp_path/"c")


@pytest.mark.parametrize("content", [b"", b"ARROW1\0\0", os.urandom(4096), pickle.dumps(os.getcwd)],
                         ids=["empty", "magic", "noise", "pickle"])
def test_foreign_files(content, tmp_path):
    (tmp_path/"m").write_bytes(content)
    with pytest.raises(ValueError, match="model file"): load_model(tmp_path/"m")


def test_size_and_magic_come_before_reading(tmp_path):
    "Sparse files of many gigabytes: refused at once, without being read."
    for size, words in ((6 << 30, "bytes, more than"), (1 << 30, "not a whole Arrow file")):
        with open(tmp_path/"m", "wb") as f: f.truncate(size)
        start = time.process_time()
        with pytest.raises(ValueError, match=words): load_model(tmp_path/"m")
        assert time.process_time() - start < .2


def test_missing_file_and_unfitted_model(tmp_path):
    from sklearn.exceptions import NotFittedError
    with pytest.raises(FileNotFoundError, match="no model file"): load_model(tmp_path/"nothing")
    with pytest.raises(NotFittedError): save_model(AdaBoostClassifier(), tmp_path/"m")
    assert not list(tmp_path.iterdir())


def test_same_bytes_in_another_process(tmp_path):
    code = ("import sys\nfrom sklearn.datasets import load_breast_cancer as d\n"
            "from boostlit import AdaBoostClassifier, save_model\n"
            "save_model(AdaBoostClassifier(n_estimators=15).fit(*d(return_X_y=True)), sys.argv[1])")
    for name, threads in (("a", "1"), ("b", "2")):
        env = {**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
        subprocess.run([sys.executable, "-c", code, str(tmp_path/name)], check=True, env=env)
    assert (tmp_path/"a").read_bytes() == (tmp_path/"b").read_bytes()


# ------------------------------------------------------------------ more attacks

def saved(tmp_path):
    "Header and leaves of a small model."
    save_model(AdaBoostClassifier(n_estimators=3).fit(X, y), tmp_path/"m")
    return read_leaves(tmp_path/"m")


def refused_content(tmp_path, header, leaves, words):
    write_leaves(tmp_path/"x", header if isinstance(header, str) else json.dumps(header), leaves)
    refused(tmp_path/"x", words)


@pytest.mark.parametrize("letter", [0x110000, 0xFFFFFFFF])
def test_strings_hold_letters(letter, tmp_path):
    header, leaves = saved(tmp_path)
    bad = b'{"dtype": "<U1", "shape": [2]}\0' + np.array([97, letter], "<u4").tobytes()
    leaves = [(p, k, bad if p == "state.classes_" else d) for p, k, d in leaves]
    refused_content(tmp_path, header, leaves, "no letter")


def test_text_that_would_grow_is_refused_before_it_is_read(tmp_path):
    header, leaves = saved(tmp_path)
    words = json.dumps(dict(strings=["ab"]*3_000_000, shape=[3_000_000])).encode() + b"\0"
    refused_content(tmp_path, header, [*leaves, ("state.x_", "array", words)], "bytes of text")
    refused_content(tmp_path, header, [*leaves, *[("", "array", b"")]*70_000], "too many")
    header["state"]["dict"]["x_"] = {"values": [0]*5_000_000}
    refused_content(tmp_path, header, leaves, "too many columns")


@pytest.mark.parametrize("text", [
    '{"format": ' + "["*100_000, '{"list": ['*50_000, '{"version": ' + "1"*10_000 + "}",
    '{"format": "boostlit-model", "format": "x", "version": 1}'])
def test_headers_that_are_no_headers(text, tmp_path):
    refused_content(tmp_path, text, saved(tmp_path)[1], "not a usable")


@posix
def test_any_name_that_a_file_may_have(tmp_path):
    est = AdaBoostClassifier(n_estimators=3).fit(X, y)
    for name in ("n"*255, "ü"*127, ".hidden", "a b\nc"):
        save_model(est, tmp_path/name)
        assert answer(load_model(tmp_path/name), X) == answer(est, X)
    with pytest.raises(FileNotFoundError): load_model(tmp_path/("n"*300))


def test_a_class_that_is_described_alone_goes_through_a_file(tmp_path):
    "Both of its labels are the one that was named; with less than two nothing could be said."
    est = OneAndHalfClassLPBoost(nu=.3, pos_label=1).fit(X[y == 1, :3], y[y == 1])
    save_model(est, tmp_path/"m")
    assert (load_model(tmp_path/"m").predict(X[:, :3]) == est.predict(X[:, :3])).all()
    header, leaves = read_leaves(tmp_path/"m")
    one = b'{"dtype": "<i8", "shape": [1]}\0' + np.ones(1, "<i8").tobytes()
    leaves = [(p, k, one if p == "state.classes_" else d) for p, k, d in leaves]
    refused_content(tmp_path, header, leaves, "at least 2")
