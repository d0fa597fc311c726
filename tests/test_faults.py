"""Ctrl-C, a full disk, kill -9 and two processes at once: nothing that was finished is lost,
nothing half-finished is left."""

import ast
import contextlib
import errno
import gzip
import http.server
import importlib
import importlib.util
import io
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings
import zipfile
from pathlib import Path
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone
import boostlit
from boostlit import AdaBoostClassifier, load_model, save_model
from boostlit.core import datasets, models
from boostlit.core.kernels import kernels

SOAK = bool(os.environ.get("BOOSTLIT_SOAK"))
MAIN = threading.current_thread() is threading.main_thread()


# ---------------------------------------------------------------- Ctrl-C
def noise(n=190, d=12, seed=0):      # too few rows for a booster to look into its doubts
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.integers(0, 2, n)


def noisy_pairs(n=300, d=8):
    X, y = noise(2 * n, d)
    return X.reshape(n, 2, d), np.where(y[:n] > 0, 1, -1)


def noisy_blocks(n=120):
    X, y = noise(n, 40)
    return np.abs(X).reshape(n, 10, 4), y


def noisy_items(n=400):
    """Fourteen coins and a label that leans on one of them: every conjunction has some edge, and
    the search for the best goes on for ever."""
    X, y = noise(n, 14)
    return (X > 0).astype(float), np.where(
        np.random.default_rng(1).random(n) < 0.6, X[:, 0] > 0, y
    ).astype(int)


LONG = {  # name -> data, parameters that would take very long, the parameter that counts rounds
    "AdaBoostClassifier": (noise, dict(n_estimators=10**6)),
    "GentleBoostClassifier": (noise, dict(n_estimators=10**6)),
    "QuadraticBoostClassifier": (noise, dict(n_estimators=10**6, random_state=0)),
    "PairwiseBoostClassifier": (noisy_pairs, dict(n_estimators=10**6)),
    "BilinearBoostClassifier": (noisy_blocks, dict(n_estimators=10**6)),
    "CompositionalBoostClassifier": (
        noisy_items,
        dict(n_estimators=10**6, pool="open", node_budget=5000),
    ),
    "LPBoostClassifier": (lambda: noise(900, 60), dict(nu=0.6, columns_per_round=1, gap=1e-12)),
    "OneAndHalfClassLPBoost": (
        lambda: noise(500, 20),
        dict(nu=0.3, columns_per_round=1, gap=1e-12),
    ),
}


def fit_with_signal(est, X, y, at):
    """Fit, with a real SIGINT sent at the `at`-th line: 'interrupted', 'too early', 'finished'
    or 'lost'."""

    def handler(*_):
        if armed:
            armed.clear()
            raise KeyboardInterrupt

    armed = [True]
    old = signal.signal(signal.SIGINT, handler)
    trap = Interrupt(at, lambda: os.kill(os.getpid(), signal.SIGINT))
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            trap.run(lambda: est.fit(X, y))
        sent = not armed
        if not sent:
            return "finished"
        said = any("interrupt" in str(w.message).lower() for w in caught)
        return "interrupted" if said else "lost"  # Python drops what is raised inside a destructor
    except KeyboardInterrupt:
        return "too early"
    except SystemError as e:  # an interrupt at the door of a compiled kernel
        cause = e.__cause__ or e.__context__
        if isinstance(cause, (KeyboardInterrupt, SystemError)) and not hasattr(est, "history_"):
            return "too early"
        raise
    finally:
        armed.clear()
        signal.signal(signal.SIGINT, old)


@pytest.mark.parametrize("name", LONG)
def test_interrupted_fit_is_usable(name):
    "A signal in the middle of a fit that would take for ever; when it comes is counted in lines."
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals need the main thread")
    cls = getattr(boostlit, name)
    make, parameters = LONG[name]
    X, y = make()
    few = {**parameters, **rounds_of(parameters, 6)}
    with warnings.catch_warnings(), kernels("compiled"):
        warnings.simplefilter("ignore")
        for _ in range(2):  # twice: the first call imports and compiles
            counter = Interrupt(-1)
            counter.run(lambda: cls(**few).fit(X, y))
        seen = []
        for share in (0.7, 0.8, 0.6, 0.9, 0.65, 0.75, 0.85, 0.5):
            est = cls(**parameters)
            seen.append(fit_with_signal(est, X, y, int(share * counter.count)))
            if seen[-1] == "interrupted":
                break
        assert seen[-1] == "interrupted", seen
        usable_up_to(est, X, y, cls, parameters, name)


def rounds_of(parameters, rounds):
    "The parameter that counts rounds, set to a few."
    return {"n_estimators" if "n_estimators" in parameters else "max_rounds": rounds}


def usable_up_to(est, X, y, cls, parameters, name):
    "The estimator predicts, and its rounds are the first rounds of a longer fit."
    rounds = est.history_.num_rows
    assert (
        rounds >= 1
        and np.isfinite(est.decision_function(X)).all()
        and set(np.unique(est.predict(X)).tolist()) <= set(est.classes_.tolist())
    )
    if hasattr(est, "staged_predict"):
        assert np.array_equal([*est.staged_predict(X)][-1], est.predict(X))
    if "n_estimators" in parameters and name != "QuadraticBoostClassifier":
        short = cls(**{**parameters, "n_estimators": rounds}).fit(
            X, y
        )  # the rounds kept are the first rounds
        assert np.allclose(short.decision_function(X), est.decision_function(X))
    assert est.terms_.num_rows >= 1


HOME = os.path.realpath(os.path.dirname(boostlit.__file__)) + os.sep


def is_ours(frame):
    """Does a frame run Python of the installed package? Asked by its module and file, not by a
    word in a path."""
    name = frame.f_globals.get("__name__", "")
    return name.partition(".")[0] == "boostlit" and os.path.realpath(
        frame.f_code.co_filename
    ).startswith(HOME)


def stop():
    raise KeyboardInterrupt


class Interrupt:
    """A Ctrl-C at the n-th line of boostlit's own Python that a call runs: no clock, so every
    place can be tried."""

    def __init__(self, at, then=stop):
        self.at, self.then, self.count, self.where = at, then, 0, None
        self.known = {}

    def __call__(self, frame, event, arg):
        code = frame.f_code
        if code not in self.known:
            self.known[code] = is_ours(frame)
        if not self.known[code]:
            return None
        if event == "line":
            self.count += 1
            if self.count == self.at:
                self.where = f"{os.path.basename(code.co_filename)}:{frame.f_lineno}"
                self.then()
        return self

    def run(self, call):
        old = sys.gettrace()
        sys.settrace(self)
        try:
            return call()
        finally:
            sys.settrace(old)


def test_only_the_package_is_traced(tmp_path, monkeypatch):
    "A module of another package under a folder called boostlit is none of ours."
    folder = tmp_path / "boostlit" / "site-packages"
    folder.mkdir(parents=True)
    (folder / "stranger_here.py").write_text("def run():\n    x = 1\n    return x\n")
    monkeypatch.syspath_prepend(str(folder))
    import stranger_here

    counter = Interrupt(-1)
    counter.run(stranger_here.run)
    assert counter.count == 0
    counter.run(lambda: dir(boostlit))
    assert counter.count > 0  # our own `__dir__` is


@pytest.mark.parametrize("name", LONG)
def test_fuzzed_interrupts(name):
    cls, (make, parameters) = getattr(boostlit, name), LONG[name]
    X, y = make()
    X, y = X[:80], y[:80]
    parameters = {**parameters, **rounds_of(parameters, 6)}
    fit = lambda est: est.fit(X, y)
    with warnings.catch_warnings(), kernels("compiled"):
        warnings.simplefilter("ignore")
        for _ in range(2):
            est, counter = cls(**parameters), Interrupt(-1)
            counter.run(
                lambda: fit(est)
            )  # twice: the first call imports; the constructor is not counted
        seen, rng = [], np.random.default_rng(0)
        for at in (
            rng.choice(counter.count, min(counter.count, 3000 if SOAK else 60), replace=False) + 1
        ):
            est, trap = cls(**parameters), Interrupt(int(at))
            try:
                trap.run(lambda: fit(est))
            except (
                KeyboardInterrupt,
                SystemError,
            ) as e:  # before the first round was finished, or while the model was packed
                assert isinstance(e, KeyboardInterrupt) or isinstance(
                    e.__cause__ or e.__context__, KeyboardInterrupt
                )
                assert vars(est) == vars(cls(**parameters)) and str(est) == repr(est), trap.where
                seen.append("raised")
                continue
            assert (
                trap.where or counter.count - at < 20
            )  # the same call runs the same lines, but for a few of the last
            if trap.where is None:
                continue
            seen.append("kept")
            try:
                usable_up_to(est, X, y, cls, parameters, name)
            except Exception as e:
                raise AssertionError(f"interrupted at {trap.where}: {type(e).__name__}: {e}") from e
    print(
        f"{name}: Ctrl-C at {len(seen)} of {counter.count} lines, {seen.count('kept')} times a "
        f"model of the rounds so far"
    )
    assert seen.count("kept") >= len(seen) // 5


class Late:
    """Ctrl-C at a question of a later class: the oracle raises it after `asked` questions."""

    def __init__(self, ask, asked):
        self.ask, self.stop, self.calls = ask, asked, 0

    def __call__(self, oracle, *a, **k):
        self.calls += 1
        if self.calls > self.stop:
            raise KeyboardInterrupt
        return self.ask(oracle, *a, **k)


@pytest.mark.parametrize("at", [0, 1, 2])
def test_interrupt_at_a_later_class(monkeypatch, at):
    """One against the rest, class beside class: whatever class is asked, the rounds that all of
    them have finished are kept; before the first such round there is no model."""
    from sklearn.datasets import load_wine
    from sklearn.exceptions import NotFittedError
    from boostlit.quadratic.boosting import ProductOracle, QuadraticBoostClassifier

    X, y = load_wine(return_X_y=True)
    make = lambda: QuadraticBoostClassifier(n_estimators=3, degree=1)  # a round costs one
    whole, ask = make().fit(X, y), ProductOracle.ask
    for rounds in (0, 1, 2):
        est, trap = make(), Late(ask, 3 * rounds + at)
        monkeypatch.setattr(ProductOracle, "ask", lambda oracle, *a: trap(oracle, *a))
        if rounds == 0:
            with pytest.raises(KeyboardInterrupt):
                est.fit(X, y)
            with pytest.raises(NotFittedError):
                est.predict(X)
            continue
        with pytest.warns(RuntimeWarning, match=f"keeps the {rounds} rounds"):
            est.fit(X, y)
        assert est.history_.equals(whole.history_.slice(0, rounds))
        assert np.array_equal(est.machine_, np.repeat([0, 1, 2], rounds))
        assert np.array_equal(est.alphas_.reshape(3, -1), whole.alphas_.reshape(3, -1)[:, :rounds])
        assert np.array_equal(est.stumps_.reshape(3, -1), whole.stumps_.reshape(3, -1)[:, :rounds])
        stages = [*whole.staged_decision_function(X)]
        assert np.array_equal(est.decision_function(X), stages[rounds - 1])
        assert np.array_equal([*est.staged_predict(X)][-1], est.predict(X))


def terms_of(est, k):
    "(coefficient, bytes of the stumps) of every product of class `k`."
    products = np.split(est.stumps_, np.cumsum(est.sizes_)[:-1])
    terms = zip(est.machine_, est.alphas_, products)
    return [(alpha, product.tobytes()) for machine, alpha, product in terms if machine == k]


@pytest.mark.parametrize("name", ["GentleBoostClassifier", "QuadraticBoostClassifier"])
def test_fuzzed_interrupts_of_several_classes(name):
    """A Ctrl-C at any line of a three-class fit: lost only before the first round is finished or
    while the model is packed, else a prefix of the whole model."""
    from sklearn.datasets import load_wine

    X, y = load_wine(return_X_y=True)
    cls = getattr(boostlit, name)
    make = lambda: cls(n_estimators=4, **({"random_state": 0} if name[0] == "Q" else {}))
    with warnings.catch_warnings(), kernels("compiled"):
        warnings.simplefilter("ignore")
        whole = make().fit(X, y)
        make().fit(X, y)
        counter = Interrupt(-1)
        counter.run(lambda: make().fit(X, y))
        kept = []
        lines = (
            np.random.default_rng(0).choice(
                counter.count, min(counter.count, 2000 if SOAK else 40), replace=False
            )
            + 1
        )
        for at in lines:
            est, trap = make(), Interrupt(int(at))
            try:
                trap.run(lambda: est.fit(X, y))
            except (KeyboardInterrupt, SystemError):
                assert vars(est) == vars(make()), trap.where
                # before the first round, or while the model was packed: as if never fitted
                continue
            if name[0] == "G":
                T = est.stumps_.shape[1]
                assert (
                    est.stumps_.tobytes() == whole.stumps_[:, :T].tobytes()
                    and est.history_.num_rows == T
                )
            else:
                T = est.n_iter_
                assert est.history_.equals(whole.history_.slice(0, T))
                for k in range(3):  # the terms of every class are the first of the whole model
                    mine, all_mine = terms_of(est, k), terms_of(whole, k)
                    assert 1 <= len(mine) <= T and mine == all_mine[: len(mine)]
                    assert len(mine) == min(T, len(all_mine))
            assert np.isfinite(est.decision_function(X)).all() and est.terms_.num_rows >= 1
            kept.append(T)
    print(
        f"{name} of three classes: Ctrl-C at {len(lines)} of {counter.count} lines, {len(kept)} "
        f"times a model of the rounds so far"
    )
    assert len(kept) >= len(lines) // 3


@pytest.mark.parametrize("name", LONG)
def test_a_fit_that_fails_leaves_the_earlier_model(name, tmp_path):
    """Whole or not at all: an error or a Ctrl-C in the middle of a second fit, on other data,
    and the first model answers as before."""
    cls, (make, parameters) = getattr(boostlit, name), LONG[name]
    parameters = {**parameters, **rounds_of(parameters, 3)}
    X, y = make()
    A, a, B, b = X[:60], y[:60], X[60:100, ..., 1:], y[60:100]
    with warnings.catch_warnings(), kernels("compiled"):
        warnings.simplefilter("ignore")
        est = cls(**parameters).fit(A, a)
        clone(est).fit(B, b)
        before, text = est.decision_function(A), str(est)
        counter = Interrupt(-1)
        counter.run(lambda: clone(est).fit(B, b))
        for at in np.linspace(2, counter.count // 2, 8).astype(int):
            try:
                Interrupt(int(at)).run(lambda: est.fit(B, b))
                est.fit(A, a)
            except (KeyboardInterrupt, SystemError):
                pass
            assert np.array_equal(est.decision_function(A), before) and str(est) == text
        with pytest.raises(ValueError):
            est.fit(B, np.full(len(b), np.nan))
        assert np.array_equal(est.decision_function(A), before)
    save_model(est, tmp_path / "m")
    assert np.array_equal(load_model(tmp_path / "m").decision_function(A), before)


# ---------------------------------------------------------------- a full disk
@pytest.fixture
def two_models():
    X, y = noise(d=4)
    return [AdaBoostClassifier(n_estimators=k).fit(X, y) for k in (2, 40)]


def full(*_, **__):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class FullFile(io.FileIO):
    "A file that opens, and takes a hundred bytes."

    def write(self, data):
        if self.tell() + len(data) > 100:
            full()
        return super().write(data)


@pytest.mark.parametrize("step", ["fsync", "replace", "open", "write"])
def test_disk_full_keeps_the_old_file(two_models, tmp_path, monkeypatch, step):
    old, new = two_models
    path = tmp_path / "model.arrow"
    save_model(old, path)
    before = path.read_bytes()
    with monkeypatch.context() as m:
        if step == "fsync":
            m.setattr(os, "fsync", full)
        elif step == "replace":
            m.setattr(os, "replace", full)
        elif step == "open":
            m.setattr(models.os, "open", full)
        else:
            m.setattr(models, "open", FullFile, raising=False)
        with pytest.raises(OSError, match="No space left"):
            save_model(new, path)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["model.arrow"]
    save_model(new, path)
    assert len(load_model(path).alphas_) == len(new.alphas_)


@pytest.mark.skipif(sys.platform == "win32", reason="needs resource limits")
def test_write_that_stops_half_way(two_models, tmp_path):
    import resource

    old, new = two_models
    path = tmp_path / "model.arrow"
    save_model(old, path)
    before = path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.getsignal(signal.SIGXFSZ)
    try:
        if MAIN:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
        with pytest.raises(OSError):
            save_model(new, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        if MAIN:
            signal.signal(signal.SIGXFSZ, handler)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["model.arrow"]


# ---------------------------------------------------------------- kill -9
def child(work):
    "A forked child that works until it is killed."
    pid = os.fork()
    if pid == 0:
        try:
            work()
        finally:
            os._exit(1)
    return pid


def kill(pid):
    os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL, (
        "the child stopped by itself"
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_kill_during_save(two_models, tmp_path):
    path, kinds, rng = tmp_path / "model.arrow", set(), np.random.default_rng(0)
    sizes = {len(m.alphas_): m for m in two_models}
    save_model(two_models[0], path)

    def work():
        while True:
            for m in two_models:
                save_model(m, path)

    kills = 500 if SOAK else 12
    for _k in range(kills):
        pid = child(work)
        time.sleep(0.002 + 0.06 * rng.random())
        kill(pid)
        est = load_model(path)  # whole, always
        kinds.add(len(est.alphas_))
        assert np.array_equal(est.stumps_, sizes[len(est.alphas_)].stumps_)
    save_model(two_models[0], path)
    assert len(load_model(path).alphas_) == len(two_models[0].alphas_)
    print(f"kill during save: {kills} kills, file whole every time, versions seen {sorted(kinds)}")


def slow_download(table):
    "A download that takes a moment and leaves its pieces in its own folder first."

    def download(name, info, folder, progress):
        for k in range(5):
            (folder / str(k)).write_bytes(b"x" * 1000)
            time.sleep(0.002)
        return table

    return download


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_kill_during_download(tmp_path, monkeypatch):
    monkeypatch.setenv("BOOSTLIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("BOOSTLIT_DATA", raising=False)
    table, rng = pa.table({"a": np.arange(5000)}), np.random.default_rng(0)
    monkeypatch.setattr(datasets, "_download", slow_download(table))

    def work():
        while True:
            datasets.fetch_dataset("labor", progress=False)

    kills, whole = 200 if SOAK else 10, 0
    for _k in range(kills):
        pid = child(work)
        time.sleep(0.002 + 0.05 * rng.random())
        kill(pid)
        file = tmp_path / "cache" / "labor.parquet"
        if file.exists():
            whole += 1
            assert pq.read_table(file).equals(table)
    assert pq.read_table(datasets.fetch_dataset("labor", progress=False)).equals(
        table
    )  # the next run goes on
    print(f"kill during download: {kills} kills, {whole} times a whole file, never a part of one")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_two_processes_share_a_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("BOOSTLIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("BOOSTLIT_DATA", raising=False)
    table = pa.table({"a": np.arange(5000)})
    monkeypatch.setattr(datasets, "_download", slow_download(table))

    def work():
        try:
            for _ in range(15):
                assert pq.read_table(datasets.fetch_dataset("labor", progress=False)).equals(table)
        except BaseException:
            os._exit(3)
        os._exit(0)

    pids = [child(work) for _ in range(3)]
    assert [os.waitstatus_to_exitcode(os.waitpid(p, 0)[1]) for p in pids] == [0, 0, 0]
    assert os.listdir(tmp_path / "cache") == ["labor.parquet"]  # no temporary folder stays behind


ROOM = """
import os, time
from boostlit.lab.experiments import reproduction, run_units
def unit(n):
    if n == 5 and os.path.exists("hold.txt"):
        open("held.txt", "w").close()
        while True: time.sleep(1)
    time.sleep(.004)
    with open("calls.txt", "a") as f: f.write(f"{n}\\n")
    return {"value": n}
@reproduction(paper=2, item="Table 3", full=False)
def units(n_jobs=1, out=None, progress=True):
    t = run_units(unit, [dict(n=n) for n in range(12)], out, progress=progress)
    return [dict(dataset="d", method="m", quantity="sum", value=sum(t["value"].to_pylist()))]
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_kill_during_reproduce(tmp_path, monkeypatch):
    """kill -9 at random moments of `boostlit reproduce`: what was finished is never computed
    again, the result is that of a calm run."""
    from boostlit.lab import command as cli
    from boostlit.lab import experiments as E
    from tqdm.auto import tqdm

    tqdm.set_lock(
        threading.RLock()
    )  # its usual lock is shared with forked children, and a killed one would keep it for ever
    (tmp_path / "room_to_kill.py").write_text(ROOM)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(E, "REPRODUCTIONS", {})
    monkeypatch.setattr(cli, "REPRODUCTIONS", E.REPRODUCTIONS)
    sys.modules.pop("room_to_kill", None)
    (table3,) = cli.select(cli.load_reproductions(("room_to_kill",)), ["2"])
    run = lambda: cli.run_item(
        table3, tmp_path / "out", progress=False
    )  # the report at the end of `reproduce` is written whole or not at all, like every file here
    rng, kills, finished, rounds = np.random.default_rng(0), 0, 0, 50 if SOAK else 2
    for _r in range(rounds):
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        (tmp_path / "calls.txt").write_text("")
        deaths = 0
        for k in range(8):
            if k == 0:
                (
                    tmp_path / "hold.txt"
                ).touch()  # the first kill comes in the sixth unit, however busy the machine is
            pid = os.fork()
            if pid == 0:
                try:
                    run()
                finally:
                    os._exit(0)
            if k == 0:
                while not (tmp_path / "held.txt").exists():
                    time.sleep(0.002)
                (tmp_path / "hold.txt").unlink()
                (tmp_path / "held.txt").unlink()
            else:
                time.sleep(0.01 + 0.06 * rng.random())
            os.kill(pid, signal.SIGKILL)
            _, status = os.waitpid(pid, 0)
            if os.WIFSIGNALED(status):
                deaths += 1
            else:
                finished += 1
        result = run()
        calls = [int(c) for c in (tmp_path / "calls.txt").read_text().split()]
        assert (
            result["rows"][0]["value"] == 66
            and set(calls) == set(range(12))
            and len(calls) <= 12 + deaths
        ), (calls, deaths)  # at most the unit under way is lost
        kills += deaths
        assert (
            len([*(tmp_path / "out").rglob("*.part")]) <= deaths
        )  # a killed write may leave its temporary file, never half a result
    sys.modules.pop("room_to_kill", None)
    print(
        f"kill during reproduce: {kills} kills in {rounds} runs, {finished} runs were faster than "
        f"the kill, every result right, no finished unit computed twice"
    )
    assert kills >= rounds


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_threads_in_a_forked_child(monkeypatch):
    "A pool of threads does not survive a fork: the child makes its own, and does not hang."
    from boostlit.core import stumps
    monkeypatch.setattr(stumps, "WORTH", 0)
    X, y = noise(200, 6)
    oracle = boostlit.StumpOracle(X, n_jobs=2)
    question = 2.*y - 1, np.full(200, 1/200)
    here = oracle.best(*question)
    pid = child(lambda: os._exit(0 if oracle.best(*question) == here else 3))
    end = time.monotonic() + 60
    while (state := os.waitpid(pid, os.WNOHANG)) == (0, 0) and time.monotonic() < end:
        time.sleep(.02)
    if state == (0, 0): kill(pid)
    assert state[0] == pid and os.waitstatus_to_exitcode(state[1]) == 0


# ---------------------------------------------------------------- hostile servers

class Answer(http.server.BaseHTTPRequestHandler):
    "A server that says what the test wants it to say."
    def do_GET(self):
        self.send_response(200)
        if self.server.length is not None: self.send_header("Content-Length", self.server.length)
        self.end_headers()
        with contextlib.suppress(OSError):
            for _ in range(self.server.chunks): self.wfile.write(b"x"*65536)

    def log_message(self, *words): pass


@pytest.fixture
def liar():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    server.length, server.chunks = None, 2
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("length, chunks, words", [
    ("many", 2, "announces 'many' bytes"), ("-5", 2, "announces '-5' bytes"),
    (str(1 << 40), 2, "too many"), (None, 10**6, "does not come to an end")])
def test_servers_that_lie_about_their_length(liar, tmp_path, monkeypatch, length, chunks, words):
    monkeypatch.setattr(datasets, "_MOST", 1 << 20)
    liar.length, liar.chunks = length, chunks
    with pytest.raises(datasets.DatasetError, match=words):
        datasets.fetch_file(f"http://127.0.0.1:{liar.server_port}/", tmp_path/"f", progress=False)
    assert not (tmp_path/"f").exists() or (tmp_path/"f").stat().st_size < 1 << 21


def test_a_download_has_an_end(liar, tmp_path):
    liar.chunks = 10**6
    with pytest.raises(datasets.DatasetError, match="does not come to an end"):
        datasets.fetch_file(f"http://127.0.0.1:{liar.server_port}/", tmp_path/"f", progress=False,
                            patience=.2)


def test_bombs_are_not_unpacked(monkeypatch):
    "A kilobyte that unpacks to a megabyte, with a limit of a hundred kilobytes."
    monkeypatch.setattr(datasets, "_UNPACKED", 100_000)
    with pytest.raises(datasets.DatasetError, match="too many bytes"):
        datasets.parse_uci([gzip.compress(bytes(1 << 20))], {"fetch": {}})
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as z: z.writestr("A", bytes(1 << 20))
    with pytest.raises(datasets.DatasetError, match="too many bytes"):
        datasets.parse_graphs(packed.getvalue(), {"fetch": {"graphs": "A"}})


# ---------------------------------------------------------------- odd places

FIRST_FIT = """
import sys, warnings
warnings.simplefilter("error", RuntimeWarning)
import numpy as np
from boostlit import AdaBoostClassifier, GentleBoostClassifier
from boostlit.core.kernels import kernels
X = np.random.default_rng(0).normal(size=(60, 3))
y = (X[:, 0] > 0).astype(int)
with kernels(sys.argv[1]):
    est = AdaBoostClassifier(n_estimators=3).fit(X, y)
    assert (est.predict(X) == y).mean() > .8
    print(est)
print("done")
"""


ALL_FITS = """
import os, tempfile
import numpy as np
import boostlit as b
rng = np.random.default_rng(0)
y = np.arange(80) % 2
X = rng.normal(size=(80, 3)) + y[:, None]
P = rng.normal(size=(80, 2, 3))
P[y == 1, 1] = P[y == 1, 0] + .1*rng.normal(size=(40, 3))
B = np.abs(rng.normal(size=(80, 4, 2))) + y[:, None, None]
few = dict(n_estimators=3)
for est, Z, z in [(b.AdaBoostClassifier(**few), X, y), (b.GentleBoostClassifier(**few), X, y),
                  (b.QuadraticBoostClassifier(random_state=0, **few), X, y),
                  (b.CompositionalBoostClassifier(**few), (X > .5).astype(float), y),
                  (b.LPBoostClassifier(nu=.3), X, y),
                  (b.SparseBilinearClassifier(fit_intercept=True), B, y),
                  (b.PairwiseBoostClassifier(**few), P, 2*y - 1)]:
    est.fit(Z, z)
    assert (est.predict(Z) == z).mean() > .6, est
    with tempfile.TemporaryDirectory(dir=os.environ.get("PLACE")) as folder:
        b.save_model(est, folder + "/model")
        assert (b.load_model(folder + "/model").predict(Z) == est.predict(Z)).all()
assert len(b.closed_itemsets(X > 1, 5))
print("done")
"""


def run_first_fit(mode="compiled", **env):
    keep = {k: v for k, v in os.environ.items() if k in ("PATH", "PYTHONPATH", "SYSTEMROOT")}
    done = subprocess.run([sys.executable, "-B", "-c", FIRST_FIT, mode], capture_output=True,
                          env={**keep, "OMP_NUM_THREADS": "1", **env}, timeout=300)
    assert done.returncode == 0 and b"done" in done.stdout, done.stderr.decode()[-1500:]
    return done.stdout


@pytest.mark.skipif(os.name != "posix" or not os.path.exists("/dev/full"), reason="needs Linux")
def test_no_home_and_a_cache_that_cannot_be_written(tmp_path):
    "The cache folder is a file, and there is no home: kernels compile, use, and are not kept."
    (tmp_path/"cache").write_text("not a folder")
    run_first_fit(NUMBA_CACHE_DIR=str(tmp_path/"cache"), HOME="/nonexistent")


def test_a_full_cache_disk(monkeypatch, tmp_path):
    "What cannot be stored is used all the same."
    numba = pytest.importorskip("numba")
    from numba.core import caching
    from boostlit.core import kernels as press, stump_kernels
    asked = []
    def no_space(*words):
        asked.append(words)
        full()
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(caching.Cache, "_save_overload", no_space)
    fast = press.compiled_function(stump_kernels.branch_entropy.function)
    assert fast(1., 2.) == stump_kernels.branch_entropy.function(1., 2.) and asked


@pytest.mark.parametrize("page", ["cp1252", "cp437", "ascii"])
def test_models_print_on_any_terminal(page):
    "Words of a model are letters that old terminals know."
    run_first_fit("python", PYTHONIOENCODING=page, PYTHONUTF8="0")


def test_what_is_printed_is_plain():
    "Every estimator's words can be encoded by an old terminal."
    from fuzz import every_estimator
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _, est, _ in every_estimator():
            for page in ("cp1252", "cp437"):
                with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), page)): print(est)
        constant = boostlit.WeightedLDA().fit(np.ones((10, 3)), np.arange(10) % 2)
    assert "WeightedLDA" in str(constant)


PYTHONS = [p for p in os.environ.get("BOOSTLIT_PYTHONS", sys.executable).split(os.pathsep) if p]


@pytest.mark.soak
@pytest.mark.skipif(not SOAK, reason="long form: BOOSTLIT_SOAK=1")
@pytest.mark.parametrize("lowest", [True, False], ids=["lowest", "newest"])
@pytest.mark.parametrize("python", PYTHONS)
def test_soak_sdist_and_wheel_in_an_empty_environment(python, lowest, tmp_path):
    "Built from the sdist, installed with the lowest or newest dependencies, fitted once."
    root = Path(__file__).resolve().parents[1]
    run = lambda *words: subprocess.run(words, check=True, cwd=tmp_path, capture_output=True)
    run(python, "-m", "venv", "env")
    own = str(tmp_path/"env"/"bin"/"python")
    run(own, "-m", "pip", "install", "-q", "--upgrade", "pip", "build", "uv", "setuptools")
    shutil.copytree(root, tmp_path/"source", ignore=shutil.ignore_patterns(
        ".venv*", ".git", "nbs", "tests", "__pycache__"))
    run(own, "-m", "build", "-q", "--outdir", "dist", "source")     # the wheel from the sdist
    wheel, = (tmp_path/"dist").glob("*.whl")
    assert len(list((tmp_path/"dist").glob("*.tar.gz"))) == 1
    lines = (root/"settings.ini").read_text(encoding="utf-8").splitlines()
    needs, = [line.split()[2:] for line in lines if line.startswith("requirements = ")]
    run(own, "-m", "uv", "pip", "install", "-q", "--python", own, "--only-binary", ":all:",
        "--resolution", "lowest-direct" if lowest else "highest", *needs, str(wheel))
    run(own, "-m", "pip", "check")
    with bare(tmp_path) as poor:
        for code, env in ((FIRST_FIT, os.environ), (ALL_FITS, os.environ), (ALL_FITS, poor)):
            done = subprocess.run([own, "-c", code, "compiled"], cwd="/", capture_output=True,
                                  env=env)
            assert done.returncode == 0 and b"done" in done.stdout, done.stderr.decode()[-1500:]
    run(own, "-m", "boostlit", "--version")


@contextlib.contextmanager
def bare(folder):
    "No home, and a cache on a disk of one megabyte, or a device that is full."
    disk = folder/"disk"
    disk.mkdir()
    small = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk],
                           capture_output=True).returncode == 0
    try: yield {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "BOOSTLIT_KERNELS": "compiled",
                "NUMBA_CACHE_DIR": str(disk) if small else "/dev/full"}
    finally:
        if small: subprocess.run(["umount", disk], check=True)


@pytest.mark.soak
@pytest.mark.skipif(not SOAK or not hasattr(os, "geteuid") or os.geteuid() != 0,
                    reason="long form: BOOSTLIT_SOAK=1, and mounts need root")
def test_soak_a_system_that_cannot_be_written(tmp_path):
    "All disks are read-only; only memory can be written, and only the model goes there."
    script = ("mount --make-rprivate / && mount -t tmpfs tmpfs /mnt && mount -o remount,ro,bind / "
              "&& ! touch /tmp/w 2>/dev/null && exec \"$@\"")
    env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "BOOSTLIT_KERNELS": "compiled",
           "PYTHONPATH": str(Path(boostlit.__file__).parents[1]), "PLACE": "/mnt", "TMPDIR": "/mnt"}
    done = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", sys.executable, "-c",
                           ALL_FITS], capture_output=True, env=env, cwd="/")
    if done.returncode != 0 and b"mount" in done.stderr: pytest.skip(done.stderr.decode()[:200])
    assert done.returncode == 0 and b"done" in done.stdout, done.stderr.decode()[-1500:]


# ---------------------------------------------------------------- one gate

NUMBERS_ONLY = {"direction", "split_gain"}     # kernels without arrays cannot leave them


def test_compiled_code_is_entered_through_a_gate():
    "A kernel without a gate is called by kernels only, or interpreted when Python calls it."
    from boostlit.core.kernels import Kernel
    from boostlit.lab.warming import all_kernels
    modules = {name.rpartition(".")[0] for name in all_kernels() if ".lab." not in name}
    found = []
    for module in map(importlib.import_module, sorted(modules)):
        known = {n: k for n, k in vars(module).items() if isinstance(k, Kernel)}
        open_ = {n for n, k in known.items()
                 if k.check is None and type(k).__call__ is Kernel.__call__} - NUMBERS_ONLY
        for function in ast.walk(ast.parse(Path(module.__file__).read_text(encoding="utf-8"))):
            plain = isinstance(function, ast.FunctionDef) and function.name not in known
            if plain and not function.name.endswith("_in_numpy"):    # a form of an inner kernel
                found += [f"{module.__name__}.{function.name} calls {call.func.id}"
                          for call in ast.walk(function) if isinstance(call, ast.Call)
                          and getattr(call.func, "id", "") in open_]
    assert len(modules) > 8 and not found


# ---------------------------------------------------------------- hostile inputs

def test_hostile_inputs_in_short(tmp_path):
    "Every function of the long run a few times, interpreted: it works, or refuses with a sentence."
    from fuzz import Inputs
    cases = Inputs(tmp_path)
    first = 10**6                                   # not among the numbers of the long run
    with warnings.catch_warnings(), np.errstate(all="ignore"), kernels("python"):
        warnings.simplefilter("ignore")
        ended = [cases.run(first + k) for k in range(4*len(cases.names))]
    odd = [(first + k, *end) for k, end in enumerate(ended) if end[1] not in ("works", "refused")]
    assert not odd, odd
    assert {name for name, _ in ended} == set(cases.names)
    assert len([1 for _, how in ended if how == "works"]) > .2*len(ended)


# ---------------------------------------------------------------- mutants

def test_mutants_are_a_fixed_sample_of_programs():
    "`make mutants`: every module has some, each is a change that can be compiled."
    root = Path(__file__).resolve().parents[1]
    spec = importlib.util.spec_from_file_location("mutants", root/".ci"/"mutants.py")
    mutants = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(mutants)
    chosen = mutants.sample(120)
    assert len({m.name for m in chosen}) == 120 and set(mutants.sample(50)) <= set(chosen)
    assert len({m.module for m in chosen}) > 40
    for m in chosen[::6]:
        source = (root/"boostlit"/(m.module.replace(".", "/") + ".py")).read_bytes()
        assert source[m.start:m.stop].decode() == m.old
        changed = source[:m.start] + m.new.encode() + source[m.stop:]
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source)), m.name
    assert all(m.module in mutants.MIRRORS or m.module.partition(".")[0] in mutants.MIRRORS
               for m in chosen)
