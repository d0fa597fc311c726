"Model files: identical after a round trip, refused when damaged, harmless when hostile."
import json, os, pickle, subprocess, sys, traceback, warnings
from collections import Counter
import numpy as np, pytest
from sklearn.datasets import load_breast_cancer, load_wine
from boostlit import AdaBoostClassifier, DecisionStumpClassifier, GentleBoostClassifier, load_model, save_model
from boostlit.core.models import mutate, mutate_leaves, read_leaves, survive, write_leaves

X, y = load_breast_cancer(return_X_y=True)
SOAK = bool(os.environ.get("BOOSTLIT_SOAK"))
MODELS = [AdaBoostClassifier(n_estimators=20), GentleBoostClassifier(n_estimators=20), DecisionStumpClassifier()]


@pytest.mark.parametrize("est", MODELS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("labels", [y, np.where(y == 1, "benign", "malignant")], ids=["int", "str"])
def test_round_trip_is_identical(est, labels, tmp_path):
    est.fit(X, labels); save_model(est, tmp_path/"m"); again = load_model(tmp_path/"m")
    assert (again.predict(X) == est.predict(X)).all() and again.get_params() == est.get_params()
    if hasattr(est, "decision_function"): assert again.decision_function(X).tobytes() == est.decision_function(X).tobytes()
    save_model(again, tmp_path/"n"); assert (tmp_path/"m").read_bytes() == (tmp_path/"n").read_bytes()


def test_multi_class_round_trip(tmp_path):
    Xw, yw = load_wine(return_X_y=True)
    for make in (AdaBoostClassifier, GentleBoostClassifier):
        est = make(n_estimators=10).fit(Xw, yw); save_model(est, tmp_path/"m")
        assert load_model(tmp_path/"m").decision_function(Xw).tobytes() == est.decision_function(Xw).tobytes()


@pytest.mark.skipif(os.name != "posix", reason="needs file modes")
@pytest.mark.parametrize("mask", [0o022, 0o002, 0o077])
def test_the_umask_decides_who_may_read(tmp_path, mask):
    "A file written aside and renamed is as open as one written by open(): not closed to the group because it had a temporary name."
    old = os.umask(mask)
    try: save_model(DecisionStumpClassifier().fit(X, y), tmp_path/"m"); (tmp_path/"plain").write_text("")
    finally: os.umask(old)
    assert (tmp_path/"m").stat().st_mode == (tmp_path/"plain").stat().st_mode


def every_estimator():
    "One small fitted model of each public estimator, LPBoost in each of its languages, and an input to use it on."
    from test_bad_input import ESTIMATORS, BINARY, ONE, estimator, fit, good_data
    for name in ESTIMATORS:
        kind, est = estimator(name); Z, z, _ = good_data(kind)
        yield name, fit(est, Z, None if kind == ONE else z, None), Z
    from boostlit import LPBoostClassifier, QuadraticBoostClassifier
    B, b, _ = good_data(BINARY)
    yield "LPBoostClassifier on itemsets", LPBoostClassifier(oracle="itemsets", nu=.3).fit(B, b), B
    Xw, yw = load_wine(return_X_y=True)
    for make in (AdaBoostClassifier, GentleBoostClassifier): yield f"{make.__name__} of three classes", make(n_estimators=4).fit(Xw, yw), Xw[:20]
    yield "QuadraticBoostClassifier of three classes", QuadraticBoostClassifier(n_estimators=4, random_state=0).fit(Xw, yw), Xw[:20]
    yield "LPBoostClassifier on subgraphs", LPBoostClassifier(oracle="subgraphs", nu=.3, max_length=3).fit(*graphs()), graphs()[0]


def graphs():
    import networkx as nx
    out = []
    for k in range(24):
        g = nx.cycle_graph(5 + k % 3) if k % 2 else nx.path_graph(5 + k % 3)
        nx.set_node_attributes(g, "C", "label"); nx.set_edge_attributes(g, "1", "label"); out.append(g)
    return out, np.arange(24) % 2


def answer(est, Z):
    out = est.decision_function(Z) if hasattr(est, "decision_function") else est.predict(Z) if hasattr(est, "predict") else est.transform(Z)
    return np.asarray(out).tobytes()


def fuzz(folder, each):
    "Damaged and signed-again files of every estimator; counts of what happened. Raises if a damaged file gives another model."
    warnings.simplefilter("ignore")
    counts, rng = {}, np.random.default_rng(0)
    for name, est, Z in every_estimator():
        save_model(est, folder/"m"); data = (folder/"m").read_bytes(); want = answer(est, Z)
        again = load_model(folder/"m"); assert answer(again, Z) == want, name
        save_model(again, folder/"n"); assert (folder/"n").read_bytes() == data, name                    # the same model, the same bytes
        header, leaves = read_leaves(folder/"m")
        damaged = Counter(survive(mutate(data, rng), folder/"hurt", lambda e: answer(e, Z) == want) for _ in range(each))
        signed = Counter()
        for _ in range(each):
            h, l = mutate_leaves(header, leaves, rng)
            write_leaves(folder/"hurt", json.dumps(h), l, rng.choice(["zstd", None], p=[.05, .95]))
            try: hurt = load_model(folder/"hurt")
            except ValueError: signed["refused"] += 1; continue
            try: answer(hurt, Z); signed["usable"] += 1
            except Exception: signed["raises in use"] += 1
        counts[name] = dict(damaged=dict(damaged), signed=dict(signed))
    return counts


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_fuzzed_files_are_refused_or_identical(tmp_path):
    "In a child process whose memory is limited: a crash or a file that asks for gigabytes ends the child, not the test run."
    each = 700 if SOAK else 25
    for _, est, Z in every_estimator(): save_model(est, tmp_path/"warm"); answer(load_model(tmp_path/"warm"), Z)      # everything compiled and imported before memory is limited
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            import resource
            used = int(open("/proc/self/statm").read().split()[0])*resource.getpagesize() if os.path.exists("/proc/self/statm") else 4 << 30
            resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 30),)*2)
            (tmp_path/"counts.json").write_text(json.dumps(fuzz(tmp_path, each))); code = 0
        except BaseException: traceback.print_exc()
        finally: os._exit(code)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status == 0, f"the fuzzing process ended with {status}"
    counts = json.loads((tmp_path/"counts.json").read_text())
    total = {way: sum((Counter(c[way]) for c in counts.values()), Counter()) for way in ("damaged", "signed")}
    print("\nfuzzed model files:", *(f"{n}: {c}" for n, c in counts.items()), sep="\n  ")
    print(f"fuzzed model files: {sum(sum(t.values()) for t in total.values()):,} over {len(counts)} models, {sum(total['damaged'].values()):,} damaged {dict(total['damaged'])}, {sum(total['signed'].values()):,} signed again {dict(total['signed'])}; no crash, memory within 1 GB")
    assert len(counts) >= 15 and set(total["damaged"]) <= {"refused", "identical"} and total["damaged"]["refused"] > .5*each*len(counts)
    if SOAK: assert sum(total["damaged"].values()) >= 10_000


def test_a_model_without_rules_comes_back(tmp_path):
    "Compositional boosting that found no rule has a history of no rounds; its file must load like any other."
    from boostlit import CompositionalBoostClassifier
    coin = np.random.default_rng(0).integers(0, 2, (60, 3)).astype(float)
    with pytest.warns(UserWarning, match="no rules"): est = CompositionalBoostClassifier(min_support=.45, min_lift=1.9).fit(coin, np.arange(60) % 2)
    save_model(est, tmp_path/"m"); again = load_model(tmp_path/"m")
    assert again.history_.num_rows == 0 and np.array_equal(again.predict(coin), est.predict(coin)) and str(again) == str(est)


@pytest.mark.parametrize("lost", ["stumps_", "alphas_", "classes_"])
def test_half_a_model_is_not_written(lost, tmp_path):
    "What load_model would refuse is refused before it replaces a good file."
    est = AdaBoostClassifier(n_estimators=3).fit(X, y); save_model(est, tmp_path/"m"); before = (tmp_path/"m").read_bytes()
    delattr(est, lost)
    with pytest.raises(ValueError, match=f"{lost} is missing"): save_model(est, tmp_path/"m")
    assert (tmp_path/"m").read_bytes() == before and os.listdir(tmp_path) == ["m"]


def test_compressed_buffers_are_refused(tmp_path):
    est = AdaBoostClassifier(n_estimators=3).fit(X, y); save_model(est, tmp_path/"m"); header, leaves = read_leaves(tmp_path/"m")
    for compression in ("zstd", "lz4"):
        write_leaves(tmp_path/"c", json.dumps(header), leaves, compression)
        with pytest.raises(ValueError, match="compressed"): load_model(tmp_path/"c")


@pytest.mark.parametrize("content", [b"", b"ARROW1\0\0", os.urandom(4096), pickle.dumps(os.getcwd)], ids=["empty", "magic", "noise", "pickle"])
def test_foreign_files(content, tmp_path):
    (tmp_path/"m").write_bytes(content)
    with pytest.raises(ValueError, match="model file"): load_model(tmp_path/"m")


def test_missing_file_and_unfitted_model(tmp_path):
    with pytest.raises(FileNotFoundError, match="no model file"): load_model(tmp_path/"nothing")
    from sklearn.exceptions import NotFittedError
    with pytest.raises(NotFittedError): save_model(AdaBoostClassifier(), tmp_path/"m")
    assert not list(tmp_path.iterdir())


def test_same_bytes_in_another_process(tmp_path):
    code = ("import sys; from sklearn.datasets import load_breast_cancer as d; from boostlit import AdaBoostClassifier, save_model\n"
            "save_model(AdaBoostClassifier(n_estimators=15).fit(*d(return_X_y=True)), sys.argv[1])")
    for name, threads in (("a", "1"), ("b", "2")):
        subprocess.run([sys.executable, "-c", code, str(tmp_path/name)], check=True, env={**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads})
    assert (tmp_path/"a").read_bytes() == (tmp_path/"b").read_bytes()
