"""Training on a Dask cluster of two processes: the same model as on one machine, also when a worker
is killed."""
import logging
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
pytest.importorskip("distributed")
from hypothesis import given, settings, strategies as st
from boostlit import AdaBoostClassifier, GentleBoostClassifier, QuadraticBoostClassifier
from boostlit.core import stumps
from boostlit.distributed import training
from boostlit.core.datasets import have_dataset
from boostlit.core.loop import boost
from boostlit.core.masters import AdaBoost
from boostlit.distributed.training import (DistributedStumpOracle, Reading, WorkerRun, answer,
                                           class_histograms, distributed_adaboost,
                                           distributed_gentleboost, lane_histograms, load_partition,
                                           matrix_of, merge_answers, merge_summaries, plan_table,
                                           sample_partition, same_stumps, scan_stump,
                                           summarise_partition, vote)
from boostlit.distributed.search import (compare_models, distributed_closed_itemsets,
                                         distributed_quadraticboost, same_products)
from boostlit.core.stumps import StumpOracle
from boostlit.quadratic.boosting import BY_CONTENT

SOAK = bool(os.environ.get("BOOSTLIT_SOAK"))


@pytest.fixture(scope="module")
def cluster():
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def mixed_table(n=600, classes=2, seed=0):
    "Numbers, words, missing values, a constant column, weights with zeros."
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X[:, 1] = np.round(X[:, 1], 1)
    X[rng.random((n, 3)) < 0.05] = np.nan
    words = rng.choice(["red", "green", "blue"], n).astype(object)
    words[rng.random(n) < 0.05] = None
    score = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1])*(words == "red") + .3*rng.normal(size=n)
    y = np.digitize(score, np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1]))
    return pa.table(
        {
            "a": X[:, 0],
            "b": X[:, 1],
            "c": X[:, 2],
            "word": pa.array(words.tolist()),
            "flat": np.ones(n),
            "weight": rng.integers(0, 3, n).astype(float),
            "y": np.array(["no", "yes", "well"])[y],
        }
    )


def cut(table, edges): return [table[a:b] for a, b in zip([0, *edges], [*edges, len(table)])]
def features(table): return table.select(["a", "b", "c", "word", "flat"])
def weighted(table): return table.drop_columns(["weight"]), table


def plan_of(table, pieces, max_bins):
    "The plan from pieces, without a cluster."
    summary = merge_summaries([summarise_partition(p, "y", None, max_bins) for p in pieces])
    def samples(reading, wanted, n):
        return np.concatenate([sample_partition(p, None, (), reading, wanted, n) for p in pieces])
    return plan_table(summary, samples, "y", None, max_bins, ())


def plan_matrix(table, plan):
    "The table as the plan reads it."
    return matrix_of(table, Reading(plan.names, list(zip(plan.readings, plan.categories))))


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.integers(1, 299), max_size=5),
    st.sampled_from([4, 16, 256, None]),
    st.integers(0, 3),
)
def test_cuts_and_answers_do_not_depend_on_the_pieces(edges, max_bins, seed):
    table = mixed_table(300, seed=seed).drop_columns(["weight"])
    pieces = [p for p in cut(table, sorted(set(edges))) if len(p)]
    plan = plan_of(table, pieces, max_bins)
    one = StumpOracle(plan_matrix(table, plan), plan.kinds, max_bins)
    assert all(np.array_equal(a, b) for a, b in zip(plan.points, one.points)) and np.array_equal(
        plan.n_codes, one.n_codes
    )
    parts = [load_partition(p, plan, k) for k, p in enumerate(pieces)]
    assert np.array_equal(np.concatenate([p.codes for p in parts], axis=1), one.codes)
    y = 2.*(np.array(table["y"].to_pylist()) == plan.classes[1]) - 1
    run, log = WorkerRun("r", "adaboost", 1, 2), []
    reference = boost(one, AdaBoost(), y, 4)
    for h, row in zip(reference.hypotheses, reference.history):
        (total, *_), H = merge_answers(
            [answer(p, run, 0, log, lane_histograms, [[]], False) for p in parts]
        )
        stump, edge = scan_stump(plan, H[0], H[0], total, "error")
        found, factors, _ = vote((total - int(edge))//2, total, 2)
        assert (
            stump == h
            and found["weighted_error"] == row["weighted_error"]
            and found["alpha"] == row["alpha"]
        )  # to the last bit
        log.append((stump, row["alpha"], *factors))
    merge_answers([answer(p, run, 0, log, lane_histograms, [[]], False) for p in parts])
    np.testing.assert_allclose(np.concatenate([p.w for p in parts]), reference.weights, rtol=1e-14)


def test_quantile_cuts_use_the_sample_of_one_machine(monkeypatch):
    monkeypatch.setattr(stumps, "SAMPLE", 100)
    monkeypatch.setattr(stumps, "ALL_ROWS", 200)
    monkeypatch.setattr(training, "ALL_ROWS", 200)
    table = mixed_table(400).drop_columns(["weight"])
    plan = plan_of(table, cut(table, [50, 120, 390]), 8)
    one = StumpOracle(plan_matrix(table, plan), plan.kinds, 8)
    assert all(np.array_equal(a, b) for a, b in zip(plan.points, one.points))


def test_lost_memory_is_replayed_bit_for_bit():
    table = mixed_table().drop_columns(["weight"])
    plan = plan_of(table, [table], 32)
    stump = StumpOracle(plan_matrix(table, plan), plan.kinds, 32).best(
        np.where(np.array(table["y"].to_pylist()) == "yes", 1.0, -1.0), np.full(600, 1 / 600)
    )[0]
    for master in ("adaboost", "gentle", "samme"):
        run, log = WorkerRun("r", master, 1, 2), [(stump, .1*t, .9, 1.1) for t in range(1, 8)]
        question = (class_histograms, 2) if master == "samme" else (lane_histograms, [[]], True)
        if master == "samme":
            stump = stump.copy()
            log = [(stump, *rest) for _, *rest in log]
            for b in ("left", "right", "missing"): stump[b] = max(stump[b], 0)
        a, b = load_partition(table, plan, 0), load_partition(table, plan, 0)
        for t in range(len(log) + 1):
            last = answer(a, run, max(0, t - 1), log[max(0, t - 1) : t], *question)
        assert answer(b, run, 6, log[6:], *question) == {"behind": 0}
        again = answer(b, run, 0, log, *question)
        assert (
            last[0] == again[0] and np.array_equal(last[1], again[1]) and np.array_equal(a.w, b.w)
        )
        assert answer(b, WorkerRun("other", master, 1, 2), 0, [], *question)[0][0] == pytest.approx(
            stumps.UNIT
        )  # a new run starts afresh


def test_joblib_runs_on_the_cluster(cluster):
    import joblib
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import cross_val_score
    from boostlit.lab.experiments import cross_validation
    X, y = load_breast_cancer(return_X_y=True)
    est = AdaBoostClassifier(n_estimators=5)
    here, rows = (
        cross_val_score(est, X, y, cv=3),
        cross_validation((X, y), est, n_splits=3, progress=False),
    )
    with joblib.parallel_config(backend="dask"):
        assert np.array_equal(here, cross_val_score(est, X, y, cv=3, n_jobs=2))
        assert rows.equals(cross_validation((X, y), est, n_splits=3, n_jobs=2, progress=False))


@pytest.mark.parametrize("classes,weight", [(2, None), (2, "weight"), (3, "weight")])
def test_same_model(cluster, classes, weight, tmp_path):
    """Equal to the last bit for two classes and uniform weights; given weights are summed by
    partition, SAMME's errors by row, and differ in the last digits."""
    table = mixed_table(classes=classes)
    w = None if weight is None else table["weight"].to_numpy()
    stored = table if weight else table.drop_columns(["weight"])
    for k, piece in enumerate(cut(stored, [100, 101, 350])):
        pq.write_table(piece, tmp_path / f"{k}.parquet", row_group_size=200)
    oracle = DistributedStumpOracle(tmp_path, "y", cluster, weight=weight, max_bins=32)
    X, y = features(table), np.array(table["y"].to_pylist())
    one, many = (
        AdaBoostClassifier(n_estimators=12, max_bins=32).fit(X, y, sample_weight=w),
        distributed_adaboost(oracle, 12),
    )
    assert same_stumps(one.stumps_, many.stumps_) and np.allclose(
        one.alphas_, many.alphas_, rtol=0, atol=1e-12
    )
    if weight is None:
        assert (
            one.stumps_.tobytes() == many.stumps_.tobytes()
            and one.alphas_.tobytes() == many.alphas_.tobytes()
        )
    assert one.history_.column_names == many.history_.column_names
    assert all(
        np.allclose(one.history_[c], many.history_[c], rtol=0, atol=1e-11)
        for c in one.history_.column_names
    )
    assert np.array_equal(one.predict(X), many.predict(X)) and one.terms_["text"].equals(
        many.terms_["text"]
    )
    keep = np.ones(600, bool) if w is None else w > 0
    assert oracle.weights().shape == (keep.sum(),) and abs(oracle.weights().sum() - 1) < 1e-12
    one, many = (
        GentleBoostClassifier(n_estimators=6, max_bins=32).fit(X, y, sample_weight=w),
        distributed_gentleboost(oracle, 6),
    )
    assert same_stumps(one.stumps_, many.stumps_) and np.allclose(
        one.decision_function(X), many.decision_function(X), rtol=0, atol=1e-12
    )
    if weight is None: assert one.stumps_.tobytes() == many.stumps_.tobytes()
    for c in one.history_.column_names:
        if c != "error" or classes == 2:      # of several runs nobody has seen the joint error
            np.testing.assert_allclose(one.history_[c], many.history_[c], rtol=0, atol=1e-11)


def test_weights_equal_one_machine(cluster):
    table = mixed_table().drop_columns(["weight"])
    oracle = DistributedStumpOracle(cut(table, [77, 300]), "y", cluster, max_bins=32)
    one = StumpOracle(plan_matrix(table, oracle.plan), oracle.plan.kinds, 32)
    y = np.where(np.array(table["y"].to_pylist()) == "yes", 1., -1.)
    distributed_adaboost(oracle, 25)
    reference = boost(one, AdaBoost(), y, 25)
    assert np.abs(oracle.weights() - reference.weights).max() < 1e-12
    # cuts from outside; other pieces, same model
    given = DistributedStumpOracle(cut(table, [150]), "y", cluster, max_bins=32, cuts=one.points)
    far = boost(given, AdaBoost(), y, 5, plain=True)  # under a master that knows no cluster
    assert (
        far.hypotheses == reference.hypotheses[:5]
        and np.abs(far.alphas - reference.alphas[:5]).max() < 1e-12
    )
    h, edge = given.best()
    assert h == reference.hypotheses[0] and abs(edge - reference.history[0]["edge"]) < 1e-12


def test_copies_of_partitions_lag_behind(cluster):
    """A partition that lives on two workers: whichever copy is asked, rounds, weights and outputs
    are those of the log."""
    table = mixed_table().drop_columns(["weight"])
    oracle = DistributedStumpOracle(cut(table, [77, 300]), "y", cluster, max_bins=32)
    cluster.wait_for_workers(2, timeout=120)
    cluster.replicate(oracle.partitions, n=2)
    assert all(len(w) == 2 for w in cluster.who_has(oracle.partitions).values())
    one = StumpOracle(plan_matrix(table, oracle.plan), oracle.plan.kinds, 32)
    y = np.where(np.array(table["y"].to_pylist()) == "yes", 1., -1.)
    addresses, rng = sorted(cluster.scheduler_info()["workers"]), np.random.default_rng(0)
    class Restless:
        "A client whose every task goes to a worker drawn by lot, as an unlucky scheduler might."

        def submit(self, *a, **k):
            return cluster.submit(*a, workers=[addresses[rng.integers(2)]], **k)

        def gather(self, x): return cluster.gather(x)
    reference, oracle.client = boost(one, AdaBoost(), y, 9), Restless()
    for _ in range(4):
        assert same_stumps(
            distributed_adaboost(oracle, 9).stumps_[0], np.array(reference.hypotheses)
        )
        assert np.abs(oracle.weights() - reference.weights).max() < 1e-12


@pytest.mark.parametrize("degree,criterion", [(2, "error"), (2, "entropy"), (3, "error")])
def test_same_products(cluster, degree, criterion):
    table = mixed_table(400).drop_columns(["weight"])
    oracle = DistributedStumpOracle(cut(table, [90, 222]), "y", cluster, max_bins=16)
    parameters = dict(n_restarts=3, max_inner=6, degree=degree, criterion=criterion, random_state=1)
    X, y = features(table), np.array(table["y"].to_pylist())
    one = QuadraticBoostClassifier(n_estimators=7, max_bins=16, **parameters).fit(X, y)
    many = distributed_quadraticboost(oracle, 7, **parameters)
    assert same_products(one, many) and one.history_.column_names == many.history_.column_names
    assert np.allclose(one.decision_function(X), many.decision_function(X), atol=1e-11)


def kill_when(client, oracle, rounds):
    pid = sorted(client.run(os.getpid).values())[0]
    oracle.start("adaboost")
    def wait():
        while len(oracle.log) < rounds: time.sleep(.001)
        os.kill(pid, signal.SIGKILL)

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


def test_worker_killed(cluster, tmp_path):
    table = mixed_table(classes=3).drop_columns(["weight"])
    for k, piece in enumerate(cut(table, [100, 350])):
        pq.write_table(piece, tmp_path / f"{k}.parquet")
    oracle = DistributedStumpOracle(tmp_path, "y", cluster, max_bins=32)
    calm = distributed_adaboost(oracle, 20)
    oracle.traffic.clear()
    thread = kill_when(cluster, oracle, 6)
    many = distributed_adaboost(oracle, 20)
    thread.join()
    assert np.array_equal(calm.stumps_, many.stumps_) and np.array_equal(calm.alphas_, many.alphas_)
    assert calm.history_.equals(many.history_) and any(t["replayed"] for t in oracle.traffic)
    cluster.wait_for_workers(2, timeout=60)


class Here:
    "A client that does everything at once, in this process."
    class Done:
        def __init__(self, value): self.value = value
        def result(self): return self.value

    def submit(self, f, *a, **_):
        return self.Done(
            f(
                *(
                    [d.value for d in x]
                    if isinstance(x, list) and x and isinstance(x[0], self.Done)
                    else x.value
                    if isinstance(x, self.Done)
                    else x
                    for x in a
                )
            )
        )

    def gather(self, x): return [d.value for d in x]


@pytest.mark.parametrize("train", [distributed_adaboost, distributed_gentleboost])
def test_fuzzed_interrupts_of_the_master(train):
    """Ctrl-C at any line of the loop over the workers: the model of the rounds finished so far,
    each with its row of history."""
    from test_faults import Interrupt

    oracle = DistributedStumpOracle(
        cut(mixed_table(200).drop_columns(["weight"]), [70]), "y", Here(), max_bins=16
    )
    calm = train(oracle, 6)
    counter, kept = Interrupt(-1), []
    counter.run(lambda: train(oracle, 6))
    lines = (
        np.arange(counter.count) + 1
        if SOAK
        else np.random.default_rng(0).choice(counter.count, 80, replace=False) + 1
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for at in lines:
            try: est = Interrupt(int(at)).run(lambda: train(oracle, 6))
            except KeyboardInterrupt: continue
            T = est.stumps_.shape[1]
            kept.append(T)
            assert (
                est.stumps_.tobytes() == calm.stumps_[:, :T].tobytes()
                and est.history_.num_rows == T
                and est.history_.column_names == calm.history_.column_names
            )
            assert np.array_equal(est.alphas_, calm.alphas_[:T])
    print(
        f"{train.__name__}: Ctrl-C at {len(lines)} of {counter.count} lines, {len(kept)} times "
        "a model of the rounds so far"
    )
    assert len(kept) >= len(lines)//3


def test_traffic_does_not_grow_with_the_rows(cluster):
    sizes = []
    for n in (200, 2000):
        oracle = DistributedStumpOracle(
            cut(mixed_table(n).drop_columns(["weight"]), [n // 2]), "y", cluster, max_bins=16
        )
        distributed_adaboost(oracle, 4)
        sizes.append(max(t["received"] for t in oracle.traffic))
        assert max(t["sent"] for t in oracle.traffic) < 1000*2
    # ten times the rows: a few digits of the totals
    assert sizes[1] - sizes[0] < 16 and max(sizes) < 2000


def test_dask_data_frame(cluster):
    dd = pytest.importorskip("dask.dataframe")
    table = mixed_table(300).drop_columns(["weight", "word"])
    frame = dd.from_pandas(table.to_pandas(), npartitions=3)
    many = distributed_adaboost(DistributedStumpOracle(frame, "y", cluster, max_bins=16), 5)
    one = AdaBoostClassifier(n_estimators=5, max_bins=16).fit(
        table.drop_columns(["y"]), np.array(table["y"].to_pylist())
    )
    assert same_stumps(one.stumps_, many.stumps_)


@pytest.mark.parametrize(
    "change,message",
    [
        (dict(target="nothing"), "no column 'nothing'"),
        (dict(criterion="gini"), "criterion must be one of"),
        (dict(nominal=["nothing"]), "does not have"),
        (dict(data=[]), "no partition"),
        (dict(data="nowhere"), "no Parquet file"),
        (dict(cuts=[np.zeros(1)]), "cuts has 1 arrays"),
        (dict(data=[pa.table({"a": [1.0, 2.0], "y": ["no", None]})]), "missing labels"),
        (dict(data=[pa.table({"a": [1.0, 2.0], "y": ["no", "no"]})]), "at least 2 classes"),
        (dict(data=[pa.table({"a": [1.0, np.inf], "y": ["no", "yes"]})]), "infinity"),
        (
            dict(data=[pa.table({"a": [1.0], "y": ["no"]}), pa.table({"b": [1.0], "y": ["yes"]})]),
            "differ in their columns",
        ),
        (
            dict(data=[pa.table({"a": [1.0], "y": ["no"]}), pa.table({"a": ["x"], "y": ["yes"]})]),
            "in one partition",
        ),
        (
            dict(
                data=[pa.table({"a": [1.0, 2.0], "w": [1.0, -1.0], "y": ["no", "yes"]})], weight="w"
            ),
            "negative",
        ),
    ],
)
def test_bad_tables(cluster, change, message):
    arguments = (
        dict(data=[mixed_table(50).drop_columns(["weight"])], target="y", client=cluster) | change
    )
    with pytest.raises(ValueError, match=message): DistributedStumpOracle(**arguments)


def test_without_a_client():
    "In a process of its own: here the cluster of the other tests may be the current one."
    code = """
import pyarrow as pa
from boostlit.distributed.training import DistributedStumpOracle
try: DistributedStumpOracle([pa.table({"a": [1., 2.], "y": ["no", "yes"]})], "y")
except ValueError as e: assert "no Dask client" in str(e), e
else: raise SystemExit("no error")"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)


@pytest.mark.soak
@pytest.mark.skipif(not SOAK, reason="long form: BOOSTLIT_SOAK=1")
@pytest.mark.parametrize("name,rounds,spent", [("adult", 30, 12), ("covtype", 10, 4)])
def test_worker_killed_on_large_data(cluster, name, rounds, spent):
    if not have_dataset(name): pytest.skip(f"{name} is not here")
    killed = []
    def before(oracle):
        cluster.wait_for_workers(2, timeout=120)
        killed.append(1)
        pid = sorted(cluster.run(os.getpid).values())[0]
        old = oracle.run
        def wait():
            while oracle.run == old or len(oracle.log) < 2: time.sleep(.005)
            os.kill(pid, signal.SIGKILL)
        threading.Thread(target=wait, daemon=True).start()
    rows = compare_models(name, cluster, rounds=rounds, spent=spent, before=before)
    for r in rows: print(r)
    print(
        f"{name}: {len(killed)} workers killed, "
        f"{sum(r['same'] for r in rows)} of {len(rows)} models equal"
    )
    assert all(r["same"] and r["alphas"] < 1e-12 and r["weights"] < 1e-12 for r in rows)


def rows_of(t): return sorted((tuple(r["items"]), r["support"]) for r in t.to_pylist())


def test_closed_itemsets_by_prefix(cluster):
    itemsets = pytest.importorskip("boostlit.mining.itemsets")
    rng = np.random.default_rng(0)
    for n, m, density, least in (
        (80, 9, 0.6, 2), (500, 25, 0.45, 30), (6, 3, 1.0, 1), (30, 6, 0.02, 10), (40, 8, 0.5, 0.2),
    ):
        B = rng.random((n, m)) < density
        B[:, 1] |= B[:, 0]
        B[:, 2] = True
        assert rows_of(distributed_closed_itemsets(B, least, cluster, tasks=5)) == rows_of(
            itemsets.closed_itemsets(B, least)
        )
    assert rows_of(distributed_closed_itemsets(B, 2, cluster, max_length=2, tasks=3)) == rows_of(
        itemsets.closed_itemsets(B, 2, max_length=2, length="set")
    )
    with pytest.raises(ValueError): distributed_closed_itemsets(B*2., 2, cluster)


def test_prefixes_of_random_tables():
    "The split itself, without a cluster, on many small tables."
    itemsets = pytest.importorskip("boostlit.mining.itemsets")
    class Here:
        def submit(self, f, *a, **_): return f(*a)
        def gather(self, x): return x
    rng = np.random.default_rng(1)
    for _ in range(150):
        B = rng.random((rng.integers(1, 40), rng.integers(1, 10))) < rng.random()
        if rng.random() < .5: B[:, rng.integers(B.shape[1])] = True
        if rng.random() < .5: B[:, rng.integers(B.shape[1])] |= B[:, 0]
        s, L = int(rng.integers(1, 6)), None if rng.random() < .5 else int(rng.integers(1, 4))
        assert rows_of(
            distributed_closed_itemsets(B, s, Here(), L, tasks=int(rng.integers(1, 6)))
        ) == rows_of(itemsets.closed_itemsets(B, s, L, length="set"))


def parquet(path, table):
    "A file of the table, and a plan made from it."
    pq.write_table(table, path)
    source = (str(path), 0)
    return source, summarise_partition(source, "y", None, 16)


def test_a_file_that_changes_between_passes_is_noticed(tmp_path):
    table = mixed_table(200).drop_columns(["weight"])
    source, summary = parquet(tmp_path/"p.parquet", table)
    samples = lambda reading, wanted, n: matrix_of(table, reading)[:, wanted]
    plan = plan_table(merge_summaries([summary]), samples, "y", None, 16, ())
    load_partition(source, plan, 0)
    pq.write_table(table.slice(0, 199), tmp_path/"p.parquet")
    with pytest.raises(ValueError, match="has changed since it was first read"):
        load_partition(source, plan, 0)
    with pytest.raises(ValueError, match="has changed"):
        sample_partition(source, None, plan.seen[0], Reading(["a"], [("number", None)]), [0], 0)


@pytest.mark.parametrize("change, words", [
    (lambda t: t.slice(0, 100), "had 200 rows and has 100"),
    (lambda t: t.set_column(t.column_names.index("y"), "y", pa.array(["maybe"]*200)), "a label"),
    (lambda t: t.set_column(t.column_names.index("flat"), "flat", pa.nulls(200, pa.float64())),
     "'flat' of partition 0 has missing values"),
    (lambda t: t.set_column(t.column_names.index("word"), "word", pa.array(["pink"]*200)),
     "'word' of partition 0 holds a value")], ids=["rows", "labels", "missing", "words"])
def test_tables_that_change_between_passes_are_refused(change, words):
    table = mixed_table(200).drop_columns(["weight"])
    plan = plan_of(table, [table], 16)
    with pytest.raises(ValueError, match=words): load_partition(change(table), plan, 0)


def test_missing_weights_and_labels_are_refused():
    table = mixed_table(200)
    w = table["weight"].to_pylist()
    w[3] = None
    holes = table.set_column(
        table.column_names.index("weight"), "weight", pa.array(w, pa.float64())
    )
    with pytest.raises(ValueError, match="'weight' has missing values"):
        summarise_partition(holes, "y", "weight", 16)
    y = table["y"].to_pylist()
    y[3] = None
    holes = table.set_column(table.column_names.index("y"), "y", pa.array(y))
    with pytest.raises(ValueError, match="missing labels"):
        summarise_partition(holes, "y", None, 16)


def test_large_row_groups_and_tables_are_read_in_pieces(tmp_path, monkeypatch):
    "No partition holds more than a million numbers, and together they are the table."
    monkeypatch.setattr(training, "PIECE", 700)
    table = mixed_table(600)
    pq.write_table(table, tmp_path/"p.parquet")          # one row group
    for data in (tmp_path, table, [table, str(tmp_path/"p.parquet")]):
        parts = [training.read_source(s) for s in training.partition_sources(data)]
        assert len(parts) >= 6 and max(p.num_columns*len(p) for p in parts) <= 700
        whole = [table]*2 if isinstance(data, list) else [table]
        same = (str(pa.concat_tables(t).to_pydict()) for t in (parts, whole))    # NaN included
        assert next(same) == next(same)


def test_kernels_of_classes_refuse_what_does_not_fit():
    "Labels and answers are indices: the gate looks at them."
    part = load_partition(mixed_table(60, 3).drop_columns(["weight"]),
                          plan_of(mixed_table(60, 3).drop_columns(["weight"]),
                                  [mixed_table(60, 3).drop_columns(["weight"])], 16), 0)
    training.begin(part, WorkerRun("r", "samme", 1, 3))
    with pytest.raises(ValueError, match="y holds an index"): class_histograms(part, 2)
    step = training._class_step
    given = [part.w, part.w0, part.start, part.stride, part.labels, np.zeros(60), .1, .9, 1.1]
    step(*given, part.F, part.g)
    given[5] = np.full(60, 3.)
    with pytest.raises(ValueError, match="from 0 to 2"): step(*given, part.F, part.g)


@pytest.mark.soak
@pytest.mark.skipif(not SOAK, reason="long form: BOOSTLIT_SOAK=1")
def test_workers_of_half_a_gigabyte(tmp_path):
    "A table of 67 MB in one row group: workers of 500 MB read it in pieces, and do not hang."
    from distributed import Client, LocalCluster
    from boostlit.distributed import fit_on_cluster
    rng = np.random.default_rng(0)
    X = rng.normal(size=(420_000, 20))
    columns = {f"x{j}": X[:, j] for j in range(20)} | {"y": (X[:, 0] + X[:, 1] > 0).astype(int)}
    pq.write_table(pa.table(columns), tmp_path/"p.parquet", row_group_size=1 << 30)
    with (LocalCluster(n_workers=2, threads_per_worker=1, processes=True, memory_limit="500MB",
                       dashboard_address=None, silence_logs=logging.CRITICAL) as cluster,
          Client(cluster) as client):
        many = fit_on_cluster(AdaBoostClassifier(n_estimators=5), str(tmp_path), "y", client)
    one = AdaBoostClassifier(n_estimators=5).fit(X, columns["y"])
    assert one.stumps_.tobytes() == many.stumps_.tobytes()


@pytest.mark.parametrize("make", [AdaBoostClassifier, GentleBoostClassifier])
def test_dask_arrays_through_the_front_door(make, cluster):
    "Blocks of any shape, labels as words, weights: the model of one machine, without names."
    from dask import array as da
    from boostlit.distributed import fit_on_cluster
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(400, 3)), rng.integers(0, 3, 400).astype(float)
    X[rng.random(X.shape) < .05] = np.nan
    y = np.where(np.nan_to_num(X[:, 0]) + rng.normal(size=400) > 0, "yes", "no")
    rows = da.from_array(X, chunks=(130, 2))
    many = fit_on_cluster(make(n_estimators=4), rows, da.from_array(y, chunks=90), cluster, w)
    one = make(n_estimators=4).fit(X, y, sample_weight=w)
    assert many.stumps_.tobytes() == one.stumps_.tobytes()
    assert not hasattr(many, "feature_names_in_") and (many.predict(X) == one.predict(X)).all()
    with pytest.raises(ValueError, match="a label"): fit_on_cluster(make(), rows, y[1:], cluster)


@pytest.fixture(scope="module")
def here():
    "A cluster of threads in this process: quick, and in reach of a debugger."
    from distributed import Client
    with Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None,
                silence_logs=logging.CRITICAL) as client:
        yield client


@pytest.mark.parametrize("degree,criterion", [(1, "error"), (2, "error"), (3, "entropy")])
def test_same_products_in_one_process(here, degree, criterion):
    table = mixed_table(300).drop_columns(["weight"])
    oracle = DistributedStumpOracle(cut(table, [90, 222]), "y", here, max_bins=16)
    parameters = dict(n_restarts=3, max_inner=6, degree=degree, criterion=criterion, random_state=1)
    X, y = features(table), np.array(table["y"].to_pylist())
    one = QuadraticBoostClassifier(n_estimators=6, max_bins=16, **parameters).fit(X, y)
    many = distributed_quadraticboost(oracle, 6, **parameters)
    assert same_products(one, many) and same_products(many, many)
    assert np.allclose(one.decision_function(X), many.decision_function(X), atol=1e-11)
    other = QuadraticBoostClassifier(n_estimators=6, max_bins=4, **parameters).fit(X, y)
    assert not same_products(one, other)


def test_same_products_of_many_rows_in_any_order(here):
    "From 50,000 rows on random labels go by content: pieces and the order of rows do not show."
    rng = np.random.default_rng(0)
    X = rng.normal(size=(BY_CONTENT, 2))
    y, order = (X[:, 0]*X[:, 1] + rng.normal(size=len(X)) > 0).astype(int), rng.permutation(len(X))
    make = lambda: QuadraticBoostClassifier(n_estimators=4, max_bins=32, random_state=0)
    one, other = make().fit(X, y), make().fit(X[order], y[order])
    assert one.stumps_.tobytes() == other.stumps_.tobytes()
    assert one.alphas_.tobytes() == other.alphas_.tobytes() and (one.sizes_ == 2).any()
    table = pa.table({"x0": X[order, 0], "x1": X[order, 1], "y": y[order]})
    oracle = DistributedStumpOracle(cut(table, [5000, 5001, 34_000]), "y", here, max_bins=32)
    assert same_products(one, distributed_quadraticboost(oracle, 4, random_state=0))


@pytest.mark.parametrize("classes", [2, 3])
def test_same_stumps_in_one_process(here, classes):
    table = mixed_table(300, classes=classes).drop_columns(["weight"])
    oracle = DistributedStumpOracle(cut(table, [60, 200]), "y", here, max_bins=16)
    X, y = features(table), np.array(table["y"].to_pylist())
    for make, fit in ((AdaBoostClassifier, distributed_adaboost),
                      (GentleBoostClassifier, distributed_gentleboost)):
        one, many = make(n_estimators=5, max_bins=16).fit(X, y), fit(oracle, 5)
        assert same_stumps(one.stumps_, many.stumps_)
        assert np.allclose(one.decision_function(X), many.decision_function(X), atol=1e-11)
        assert np.allclose(one.alphas_, many.alphas_, atol=1e-12)
        for c in ("edge", "loss", "alpha"):
            assert np.allclose(one.history_[c], many.history_[c], atol=1e-11), c


def test_a_copy_taken_in_the_middle_of_a_round_is_whole():
    "Dask sends the memory of an array as it is when it leaves, while the next round is at work."
    import pickle
    table = mixed_table(200).drop_columns(["weight"])
    plan = plan_of(table, [table], 16)
    stump = StumpOracle(plan_matrix(table, plan), plan.kinds, 16).best(
        np.where(np.array(table["y"].to_pylist()) == "yes", 1., -1.), np.full(200, 1/200))[0]
    run, log = WorkerRun("r", "adaboost", 1, 2), [(stump, .1*t, .9, 1.1) for t in range(1, 8)]
    question = lane_histograms, [[]], False
    part, buffers = load_partition(table, plan, 0), []
    answer(part, run, 0, log[:3], *question)
    sent = pickle.dumps(part, protocol=5, buffer_callback=buffers.append)
    last = answer(part, run, 3, log[3:], *question)         # the copy has not left yet
    copy = pickle.loads(sent, buffers=buffers)
    assert answer(copy, run, 3, log[3:], *question) == {"behind": 0}
    again = answer(copy, run, 0, log, *question)
    assert again[0] == last[0] and np.array_equal(again[1], last[1])
    assert np.array_equal(copy.w, part.w) and np.array_equal(copy.F, part.F)


def test_one_question_at_a_time():
    "A question that was given up is still at work when the next one comes: it waits."
    table = mixed_table(50).drop_columns(["weight"])
    part = load_partition(table, plan_of(table, [table], 16), 0)
    run = WorkerRun("r", "gentle", 1, 2)
    inside, order = threading.Event(), []
    def slow(part):
        inside.set()
        time.sleep(.2)
        order.append("first")
    first = threading.Thread(target=answer, args=(part, run, 0, [], slow))
    first.start()
    inside.wait()
    answer(part, WorkerRun("other", "gentle", 1, 2), 0, [], lambda _: order.append("second"))
    first.join()
    assert order == ["first", "second"] and part.run.name == "other"


class Stopped(Exception): pass


class UntilStopped(Here):
    "Does so many tasks, then nothing more."
    def __init__(self, tasks): self.tasks = tasks

    def submit(self, f, *a, **how):
        self.tasks -= 1
        if self.tasks < 0: raise Stopped
        return super().submit(f, *a, **how)


def fit_with(make, pieces, client, path=None):
    from boostlit.distributed import fit_on_cluster
    return fit_on_cluster(make, pieces, "y", client, checkpoint=path)


def same_fit(a, b):
    "Models and histories, to the last bit."
    rows = [h.to_pydict() for h in (a.history_, b.history_)]
    return (a.stumps_.tobytes() == b.stumps_.tobytes()
            and a.alphas_.tobytes() == b.alphas_.tobytes() and str(rows[0]) == str(rows[1]))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("make", [
    AdaBoostClassifier(n_estimators=6, max_bins=16),
    GentleBoostClassifier(n_estimators=6, max_bins=16),
    QuadraticBoostClassifier(n_estimators=6, max_bins=16, n_restarts=3, random_state=0)],
    ids=["adaboost", "gentle", "quadratic"])
def test_a_stopped_fit_goes_on(make, classes, tmp_path):
    "Stopped again and again, after any number of tasks: the model of the undisturbed fit."
    pieces = cut(mixed_table(300, classes=classes).drop_columns(["weight"]), [90])
    calm, path, fits = fit_with(make, pieces, Here()), tmp_path/"fit.npz", 0
    for tasks in range(13, 400, 3):
        fits += 1
        try: many = fit_with(make, pieces, UntilStopped(tasks), path)
        except Stopped: continue
        break
    assert fits > 2 and same_fit(calm, many)
    client = UntilStopped(10**6)
    assert same_fit(calm, fit_with(make, pieces, client, path))
    assert client.tasks > 10**6 - 20        # plan and marks: all rounds came from the file


def test_a_killed_fit_goes_on(tmp_path):
    "The process of the master is killed in the middle; another one goes on, to the last bit."
    table, path = mixed_table(300).drop_columns(["weight"]), tmp_path/"fit.npz"
    code = f"""
import os, signal, sys
sys.path.insert(0, {os.path.dirname(__file__)!r})
import test_distributed as t
from boostlit.distributed import training
plain = training.Journal.enter
def enter(journal, hypotheses, *rest):
    plain(journal, hypotheses, *rest)
    if len(hypotheses) == 4: os.kill(os.getpid(), signal.SIGKILL)
training.Journal.enter = enter
table = t.mixed_table(300).drop_columns(["weight"])
t.fit_with(t.AdaBoostClassifier(n_estimators=9), t.cut(table, [90]), t.Here(), {str(path)!r})
"""
    died = subprocess.run([sys.executable, "-c", code], timeout=300, env=dict(
        os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p)))
    assert died.returncode == -signal.SIGKILL
    with np.load(path) as file: assert len(file["0:sizes"]) == 4
    model = AdaBoostClassifier(n_estimators=9)
    again = fit_with(model, cut(table, [90]), Here(), path)
    assert same_fit(again, fit_with(model, cut(table, [90]), Here()))


def test_an_interrupted_fit_goes_on(tmp_path):
    "Ctrl-C keeps the rounds so far, and the file of them is not spoilt by the runs that follow."
    pieces = cut(mixed_table(300, classes=3).drop_columns(["weight"]), [90])
    model = QuadraticBoostClassifier(n_estimators=6, max_bins=16, n_restarts=3, random_state=0)
    class Impatient(UntilStopped):
        def submit(self, *a, **how):
            try: return super().submit(*a, **how)
            except Stopped:
                self.tasks = 10**6
                raise KeyboardInterrupt from None
    with pytest.warns(RuntimeWarning, match="interrupted"):
        short = fit_with(model, pieces, Impatient(60), tmp_path/"fit.npz")
    calm = fit_with(model, pieces, Here())
    assert len(short.sizes_) < len(calm.sizes_)
    assert same_fit(calm, fit_with(model, pieces, Here(), tmp_path/"fit.npz"))


def test_files_of_other_fits_are_refused(tmp_path):
    table, path = mixed_table(300).drop_columns(["weight"]), tmp_path/"fit.npz"
    model, pieces = AdaBoostClassifier(n_estimators=3, max_bins=16), cut(table, [90])
    fit_with(model, pieces, Here(), path)
    longer = AdaBoostClassifier(n_estimators=4, max_bins=16)
    column = table.column_names.index("a")
    doubled = table.set_column(column, "a", pa.array(2*table["a"].to_numpy()))
    turned = table.set_column(table.column_names.index("y"), "y", table["y"].take(
        np.arange(300)[::-1].copy()))
    for estimator, data in ((longer, pieces), (GentleBoostClassifier(n_estimators=3), pieces),
                            (model, cut(doubled, [90])), (model, cut(turned, [90]))):
        with pytest.raises(ValueError, match="other data or other settings: remove it"):
            fit_with(estimator, data, Here(), path)
    whole = path.read_bytes()
    for damaged in (b"", b"no journal", whole[:len(whole)//2]):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="no check-point"):
            fit_with(model, pieces, Here(), path)
    np.savez(path, mark=np.array([object()], dtype=object))
    with pytest.raises(ValueError, match="no check-point"): fit_with(model, pieces, Here(), path)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_pages_of_a_file_are_given_back(tmp_path):
    "A large row group is read page by page: a worker does not hold what it has passed by."
    rng = np.random.default_rng(0)
    pq.write_table(pa.table({f"x{j}": rng.random(2_500_000) for j in range(4)}),
                   tmp_path/"p.parquet", row_group_size=1 << 30, use_dictionary=False)
    code = f"""
from boostlit.distributed import training
def megabytes(name):
    return int(open("/proc/self/status").read().split(name + ":")[1].split()[0])/1024
sources = training.partition_sources({str(tmp_path)!r})
before = megabytes("VmRSS")
table = training.read_source(sources[-1])
print(table.num_rows, megabytes("VmHWM") - before, megabytes("VmRSS") - before)
"""
    out = subprocess.run([sys.executable, "-c", code], check=True, timeout=300, text=True,
                         stdout=subprocess.PIPE).stdout.split()
    rows, peak, kept = map(float, out)
    assert rows > 0 and peak < 60 and kept < 30, out       # the row group has 76 MB


@pytest.mark.parametrize("rows, rounds", [([(0, 0)]*3 + [(0, 1)] + [(1, 1)]*3 + [(1, 0)], 1),
                                          ([(0, 0), (1, 1)], 1)], ids=["chance", "perfect"])
def test_fits_end_where_one_machine_ends(rows, rounds):
    "One stump only: a second round would be no better than guessing, or there is nothing left."
    x, y = np.array(rows, float).T
    table = pa.table({"x": x, "y": y.astype(int)})
    one = AdaBoostClassifier(n_estimators=5).fit(x[:, None], y.astype(int))
    many = fit_with(AdaBoostClassifier(n_estimators=5), [table], Here())
    assert one.n_iter_ == many.n_iter_ == rounds
    assert one.stumps_.tobytes() == many.stumps_.tobytes()


@pytest.mark.parametrize("name, change, words", [
    ("0:stumps", lambda a: a[:-1], "not complete"), ("0:sizes", lambda a: 0*a, "not complete"),
    ("0:h_error", lambda a: a[:-1], "not complete"), ("0:steps", lambda a: a*np.nan, "no numbers"),
    ("0:steps", lambda a: a[:, :2], "no numbers"),
    ("0:stumps", lambda a: a["left"], "other columns"),
    ("0:stumps", lambda a: np.array([(9, *tuple(s)[1:]) for s in a], a.dtype), "other columns"),
    ("0:stumps", lambda a: np.array([(-1, *tuple(s)[1:]) for s in a], a.dtype), "other columns")])
def test_files_that_were_tampered_with(name, change, words, tmp_path):
    table, path = mixed_table(300).drop_columns(["weight"]), tmp_path/"fit.npz"
    model = AdaBoostClassifier(n_estimators=3, max_bins=16)
    fit_with(model, [table], Here(), path)
    with np.load(path) as file: arrays = {n: file[n] for n in file.files}
    np.savez(path, **{**arrays, name: change(arrays[name])})
    with pytest.raises(ValueError, match=f"no check-point .* {words}"):
        fit_with(model, [table], Here(), path)


def test_a_folder_must_be_there(tmp_path):
    table = mixed_table(50).drop_columns(["weight"])
    with pytest.raises(ValueError, match="there is no folder"):
        fit_with(AdaBoostClassifier(n_estimators=2), [table], Here(), tmp_path/"not"/"there.npz")
