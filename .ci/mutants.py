"""Does a test notice when the code is wrong? `make mutants` changes one operator, comparison or
number at a time and runs the tests that mirror the module until one fails, those that name the
function first; with --pages, survivors meet the page of their module, too.

The sample is fixed: a mutant is chosen by a hash of what it changes, so that an edit elsewhere
leaves it in place, and the order is that of the hashes, so that a part of the sample speaks for
the whole. What was tried stands in a file (--log) and is not tried again; what is listed as
changing nothing (equivalent.json) is not tried at all and counts as a survivor.

    python .ci/mutants.py --count 300 --log mutants.jsonl [--pages] [--most 60] [--list] [--store]

A process that has imported what tests import forks for every mutant. Kernels come from a cache,
but for those of the changed module and those that call them. A test that kills is run without the
mutant, too, once, and must pass."""
import argparse
import ast
import datetime
import hashlib
import importlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SKIPPED = ("lab", "data")                      # experiments are run by pages, not by pytest
LONGEST = 4.                                   # seconds: slower tests are left out
PATIENCE = 100                                 # processor seconds of tests for a mutant
STORED = ROOT/"boostlit"/"data"/"mutants.json"
EQUIVALENT = ROOT/".ci"/"equivalent.json"      # changes that change nothing, with the reason
READY = """numpy scipy.optimize scipy.sparse scipy.stats scipy.linalg sklearn.base sklearn.datasets
sklearn.tree sklearn.linear_model sklearn.svm sklearn.naive_bayes sklearn.model_selection
sklearn.pipeline sklearn.utils.estimator_checks sklearn.ensemble sklearn.cluster sklearn.mixture
pyarrow pyarrow.parquet pyarrow.compute pandas polars matplotlib.pyplot networkx numba highspy
hypothesis pytest joblib PIL.Image onnx onnxruntime distributed dask.dataframe""".split()
MIRRORS = {"core": ["test_core_estimators", "test_stumps", "test_loop", "test_core_statements"],
           "core.stumps": ["test_stumps", "test_core_estimators"],
           "core.stump_kernels": ["test_stumps", "test_core_estimators"],
           "core.models": ["test_models"], "core.tables": ["test_tables", "test_conventions"],
           "core.exports": ["test_exports"], "core.datasets": ["test_datasets"],
           "core.bounds": ["test_core_statements", "test_planted"],
           "core.plots": ["test_plots"], "core.explaining": ["test_plots", "test_core_estimators"],
           "core.kernels": ["test_warming", "test_stumps"], "core.hidden": ["test_glass_box"],
           "mining": ["test_itemsets", "test_mining_engines", "test_mining_rules"],
           "mining.subgraphs": ["test_subgraphs"], "mining.graph_kernels": ["test_subgraphs"],
           "mining.molecules": ["test_subgraphs"], "mining.rules": ["test_mining_rules"],
           "compositional": ["test_compositional"], "quadratic": ["test_quadratic"],
           "quadratic.glass_box": ["test_glass_box"], "quadratic.regression": ["test_regression"],
           "pairwise": ["test_pairwise"],
           "bilinear": ["test_bilinear"], "lpboost": ["test_lpboost"], "images": ["test_images"],
           "distributed": ["test_distributed"]}
OPERATORS = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "*",
             ast.Mod: "*", ast.Pow: "*", ast.BitAnd: "|", ast.BitOr: "&", ast.LShift: ">>",
             ast.RShift: "<<", ast.MatMult: "*"}
COMPARISONS = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=",
               ast.NotEq: "==", ast.Is: "is not", ast.IsNot: "is", ast.In: "not in",
               ast.NotIn: "in"}
DRAWING = {"ax", "fig", "plt", "axes"}         # no test looks at the width of a line


class Mutant(NamedTuple):
    "One change of one expression."
    module: str     # as `core.stumps`
    line: int       # where it stands
    old: str        # text of the expression
    new: str        # what it becomes
    home: str       # qualified name of the function it stands in; empty at the top
    start: int      # place of the expression in the file
    stop: int

    @property
    def name(self):
        "What stays the same when other lines change."
        return f"{self.module}: {self.old} -> {self.new}"


# ------------------------------------------------------------------ finding them

class Finder(ast.NodeVisitor):
    "Collects the mutants of a module: code only, no annotations, decorators or messages."
    def __init__(self, module, source):
        self.module, self.source, self.found, self.home = module, source, [], []
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line.encode()))
        self.bytes = source.encode()

    def place(self, node):
        return (self.starts[node.lineno - 1] + node.col_offset,
                self.starts[node.end_lineno - 1] + node.end_col_offset)

    def text(self, node):
        start, stop = self.place(node)
        return self.bytes[start:stop].decode()

    def add(self, node, new):
        old = self.text(node)
        home = ".<locals>.".join(self.home)
        if "\n" not in old: self.found.append(Mutant(self.module, node.lineno, old, new, home,
                                                     *self.place(node)))

    def visit_FunctionDef(self, node):
        self.home.append(self.inside + node.name)
        before, self.inside = self.inside, ""
        for part in node.body: self.visit(part)
        self.inside = before
        self.home.pop()

    def visit_AnnAssign(self, node):
        if node.value is not None: self.visit(node.value)

    def visit_Call(self, node):
        root = node.func
        while isinstance(root, ast.Attribute): root = root.value
        if getattr(root, "id", "") not in DRAWING: self.generic_visit(node)

    def visit_Raise(self, node): pass
    def visit_JoinedStr(self, node): pass
    def visit_Import(self, node): pass
    def visit_ImportFrom(self, node): pass

    inside = ""

    def visit_ClassDef(self, node):
        before, self.inside = self.inside, f"{self.inside}{node.name}."
        for part in node.body: self.visit(part)
        self.inside = before

    def visit_BinOp(self, node):
        words = isinstance(node.left, (ast.Constant, ast.JoinedStr)) and not isinstance(
            getattr(node.left, "value", ""), (int, float))
        if not words and type(node.op) in OPERATORS:
            other = OPERATORS[type(node.op)]
            self.add(node, f"(({self.text(node.left)}) {other} ({self.text(node.right)}))")
        self.generic_visit(node)

    def visit_Compare(self, node):
        if len(node.ops) == 1:
            other = COMPARISONS[type(node.ops[0])]
            right = self.text(node.comparators[0])
            self.add(node, f"(({self.text(node.left)}) {other} ({right}))")
        self.generic_visit(node)

    def visit_BoolOp(self, node):
        word = " or " if isinstance(node.op, ast.And) else " and "
        self.add(node, "(" + word.join(f"({self.text(v)})" for v in node.values) + ")")
        self.generic_visit(node)

    def visit_UnaryOp(self, node):
        if isinstance(node.op, (ast.Not, ast.USub)): self.add(node, f"({self.text(node.operand)})")
        self.generic_visit(node)

    def visit_Constant(self, node):
        if isinstance(node.value, bool): self.add(node, str(not node.value))
        elif isinstance(node.value, (int, float)):
            self.add(node, f"({node.value!r} {'+ 1' if abs(node.value) < 1e15 else '/ 2'})")


def modules():
    "Names and paths of the modules under trial."
    for path in sorted((ROOT/"boostlit").rglob("*.py")):
        parts = path.relative_to(ROOT/"boostlit").with_suffix("").parts
        if len(parts) == 2 and parts[0] not in SKIPPED and parts[1][0] != "_":
            yield ".".join(parts), path


def mutants_of(module, path):
    "All mutants of a module, in the order of their hashes."
    source = path.read_text(encoding="utf-8")
    finder = Finder(module, source)
    finder.visit(ast.parse(source))
    once = {m.name: m for m in reversed(finder.found)}
    return [once[n] for n in sorted(once, key=lambda n: hashlib.sha256(n.encode()).digest())]


def sample(count):
    "The first mutants of every module, the same number of each as far as there are so many."
    lists = [mutants_of(*m) for m in modules()]
    chosen, depth = [], 0
    while len(chosen) < count and any(len(found) > depth for found in lists):
        layer = [found[depth] for found in lists if len(found) > depth]
        layer.sort(key=lambda m: hashlib.sha256(m.name.encode()).digest())
        chosen += layer[:count - len(chosen)]
        depth += 1
    return sorted(chosen, key=lambda m: hashlib.sha256(m.name.encode()).digest())


# ------------------------------------------------------------------ a copy to be spoilt

class Copy:
    "The package and its tests in another folder, one mutant at a time."
    def __init__(self, folder):
        self.folder = Path(folder)
        for name in ("boostlit", "tests", ".ci", "nbs"): copy_changed(ROOT/name, self.folder/name)
        for name in ("pyproject.toml", "settings.ini", "README.md", "Makefile", "_quarto.yml"):
            shutil.copy(ROOT/name, self.folder/name)

    def path(self, module): return self.folder/"boostlit"/(module.replace(".", "/") + ".py")

    def write(self, mutant):
        "The module with the change."
        data = (ROOT/"boostlit"/(mutant.module.replace(".", "/") + ".py")).read_bytes()
        if data[mutant.start:mutant.stop] != mutant.old.encode():
            sys.exit(f"{mutant.module} was changed under way: start again")
        changed = data[:mutant.start] + mutant.new.encode() + data[mutant.stop:]
        self.path(mutant.module).write_bytes(changed)

    def restore(self, module):
        source = ROOT/"boostlit"/(module.replace(".", "/") + ".py")
        shutil.copy2(source, self.path(module))      # with its time: kernels in the cache stay good

    def page(self, mutant, patience=300):
        "Does the page of a module run with the mutant in its own cell, too?"
        found = page_of(mutant)
        if found is None: return None
        path, cell = found
        there = self.folder/path
        book = json.loads((ROOT/path).read_text(encoding="utf-8"))
        for c in book["cells"]:
            if c.get("id") == cell:
                c["source"] = "".join(c["source"]).replace(mutant.old, mutant.new, 1)
        there.write_text(json.dumps(book), encoding="utf-8")
        has_kernels = "kernel" in self.path(mutant.module).read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as cache:
            more = {"NUMBA_CACHE_DIR": cache} if has_kernels else {}
            command = [sys.executable, ".ci/pages.py", str(path)]
            good = run(command, self.folder, {**os.environ, **more}, patience)
        shutil.copy2(ROOT/path, there)
        return good


def copy_changed(source, goal):
    "A folder as it is now; files that are there already, with the same bytes, keep their time."
    here = {f.relative_to(source) for f in source.rglob("*")
            if f.is_file() and not {"__pycache__", ".ipynb_checkpoints"} & set(f.parts)}
    for name in here:
        if not (goal/name).exists() or (goal/name).read_bytes() != (source/name).read_bytes():
            (goal/name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source/name, goal/name)
    for old in [f for f in goal.rglob("*") if f.is_file()]:
        if "__pycache__" not in old.parts and old.relative_to(goal) not in here: old.unlink()


def run(command, folder, env, patience):
    "True if a command ends well, False if not or not in time."
    try: return subprocess.run(command, cwd=folder, env=env, timeout=patience,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
    except subprocess.TimeoutExpired: return False


def page_of(mutant):
    "Page and cell that a line of a module comes from."
    lines = (ROOT/"boostlit"/(mutant.module.replace(".", "/") + ".py")).read_text().split("\n")
    for line in reversed(lines[:mutant.line]):
        mark = re.match(r"# %% (?:\.\./)*(nbs/\S+\.ipynb) #(\w+)", line)
        if mark: return Path(mark[1]), mark[2]
    return None


# ------------------------------------------------------------------ tests in a fork

def get_ready(folder):
    "Import what tests import, but nothing of ours."
    os.environ.update(NUMBA_CACHE_DIR=str(folder/"cache"), PYTHONPATH=str(folder),
                      PYTHONDONTWRITEBYTECODE="1", BOOSTLIT_WHEEL="", MPLBACKEND="agg")
    sys.dont_write_bytecode = True
    for name in READY:
        try: importlib.import_module(name)
        except ImportError: print(f"without {name}")
    sys.path[:0] = [str(folder), str(folder/"tests")]
    os.chdir(folder)
    assert not [name for name in sys.modules if name.split(".")[0] == "boostlit"]


def forked(work, seconds):
    "The exit code of `work` in a child; None if it takes more processor time, or far more time."
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in range(3): os.dup2(quiet, stream)
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1,)*2)
        code = 99
        try: code = int(work())
        finally: os._exit(code)
    try: return waited(child, time.monotonic() + 10*seconds)
    finally:
        try: os.killpg(child, signal.SIGKILL)          # and its children
        except ProcessLookupError: pass


def waited(child, until):
    "The exit code of a child; None when it is killed, or does not end in time."
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done: return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else None
        time.sleep(.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def pytest_in(folder, files, plugin):
    "Run pytest on some files, here and now."
    import boostlit
    import pytest
    assert Path(boostlit.__file__).is_relative_to(folder)
    return pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header",
                        "--tb=no", *[f"tests/{name}.py" for name in files]], plugins=[plugin])


class Choose:
    "A plugin of pytest that runs some tests, in their order, and notes the one that fails."
    def __init__(self, tests, note):
        self.place, self.note = {test: k for k, test in enumerate(tests)}, note

    def pytest_collection_modifyitems(self, items):
        kept = [item for item in items if function_of(item.nodeid) in self.place]
        items[:] = sorted(kept, key=lambda item: self.place[function_of(item.nodeid)])

    def pytest_runtest_logreport(self, report):
        if report.failed: self.note.write_text(report.nodeid)


def function_of(test): return test.partition("[")[0]


def tests_for(mutant, broken=()):
    "Quick tests that mirror the module: those that name the function first, then the quickest."
    names = MIRRORS.get(mutant.module, MIRRORS[mutant.module.partition(".")[0]])
    times = json.loads((ROOT/".ci"/"times.json").read_text())
    words = set(re.findall(r"\w+", mutant.home)) - {"locals", "self", "fit", "__init__", ""}
    chosen = {}
    for name in names:
        path = ROOT/"tests"/f"{name}.py"
        for test in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(test, ast.FunctionDef) and test.name.startswith("test"):
                known = words & set(re.findall(r"\w+", ast.unparse(test)))
                spent = sum(t for n, t in times.items()
                            if n.partition("[")[0] == f"{name}.py::{test.name}")
                if spent <= LONGEST: chosen[f"tests/{name}.py::{test.name}"] = not known, spent
    return [test for test in sorted(chosen, key=lambda t: chosen[t]) if test not in broken]


def compile_anew(module):
    "Kernels of a module, and those that call them, are compiled without the cache."
    import numba
    plain, tainted = numba.njit, set()
    def njit(*args, **settings):
        def make(function):
            inner = [getattr(function.__globals__.get(name), "py_func", None)
                     for name in function.__code__.co_names]
            if function.__module__ == f"boostlit.{module}" or tainted & set(inner):
                settings.pop("cache", None)
                tainted.add(function)
            return plain(**settings)(function)
        return make if not args else make(args[0])
    numba.njit = njit


def failing(folder, module, tests):
    "The test that fails, 'import', 'time', or nothing."
    if not tests: return ""
    files = sorted({test.partition("::")[0][len("tests/"):-len(".py")] for test in tests})
    note = folder/"failed"
    note.unlink(missing_ok=True)
    def work():
        compile_anew(module)
        return pytest_in(folder, files, Choose(tests, note))
    code = forked(work, PATIENCE)
    if code == 0: return ""
    if note.exists(): return note.read_text()
    return "time" if code is None else "import"


# ------------------------------------------------------------------ the run

def tried(log):
    "What earlier runs found out, by name."
    lines = Path(log).read_text().splitlines() if Path(log).exists() else []
    return {row["name"]: row for row in map(json.loads, lines)}


def trial(copy, mutant, sound, pages):
    "How a mutant ends, and the test that killed it; a test that fails without it is left out."
    while True:
        copy.write(mutant)
        try:
            killer = failing(copy.folder, mutant.module, tests_for(mutant, broken(sound)))
            if not killer and pages and copy.page(mutant) is False:
                return "killed by its page", ""
        finally: copy.restore(mutant.module)
        if not killer: return "survives", ""
        whole = killer in ("time", "import")
        test = f"{mutant.module}: {killer}" if whole else function_of(killer)
        if test not in sound:
            tests = tests_for(mutant, broken(sound)) if whole else [test]
            sound[test] = not failing(copy.folder, mutant.module, tests)
        if sound[test]: return "killed", killer
        if killer == "import": sys.exit(f"{mutant.module} cannot be tried: its tests do not begin")
        if killer == "time": return "survives", "slow tests"


def broken(sound): return {test for test, good in sound.items() if not good}


def report(rows):
    "Counts, and the survivors with their places and reasons."
    counts, reasons = Counter(r["how"] for r in rows), known_equivalents()
    n, by_test = max(1, len(rows)), counts["killed"]
    both = by_test + counts["killed by its page"]
    alike = sum(r["how"] == "survives" and r["name"] in reasons for r in rows)
    print(f"{len(rows)} mutants: {by_test} killed by pytest ({by_test/n:.1%}), "
          f"{both} with their pages ({both/n:.1%}), {alike} listed as changing nothing, "
          f"{counts['survives'] - alike} open; of those that change something, "
          f"{both/max(1, n - alike):.1%} are killed")
    for r in sorted(rows, key=lambda r: r["name"]):
        if r["how"] != "killed":
            reason = reasons.get(r["name"], "")
            print(f"  {r['how']}: {r['module']}:{r['line']}: {r['old']}  ->  {r['new']}  {reason}")


def known_equivalents():
    return json.loads(EQUIVALENT.read_text()) if EQUIVALENT.exists() else {}


def store(rows, count):
    "Keep the outcome for the page about testing."
    source = hashlib.sha256(b"".join(path.read_bytes() for _, path in modules())).hexdigest()
    reasons = known_equivalents()
    kept = [dict(change=r["name"], how=r["how"], **({"reason": reasons[r["name"]]}
                 if r["how"] == "survives" and r["name"] in reasons else {})) for r in rows]
    facts = dict(command=f"make mutants ({count} in the sample)", date=str(datetime.date.today()),
                 python=sys.version.split()[0], modules=source[:16])
    STORED.write_text(json.dumps(dict(**facts, rows=kept), indent=0) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=300, help="size of the fixed sample")
    parser.add_argument("--most", type=int, default=10**9, help="new trials of this run")
    parser.add_argument("--minutes", type=float, default=10**6, help="no new trial after these")
    parser.add_argument("--log", default=str(ROOT/".venv"/"mutants.jsonl"))
    parser.add_argument("--pages", action="store_true", help="survivors meet their page")
    parser.add_argument("--list", action="store_true", help="print the sample and stop")
    parser.add_argument("--store", action="store_true", help="keep the outcome for the page")
    parser.add_argument("--again", action="store_true", help="survivors are tried first, once more")
    given = parser.parse_args()
    chosen = sample(given.count)
    if given.list:
        for m in chosen: print(f"{m.module}:{m.line}: {m.old}  ->  {m.new}")
        return
    try_all(chosen, given)
    names = {m.name for m in chosen}
    rows = [r for name, r in tried(given.log).items() if name in names]
    report(rows)
    if given.store: store(rows, given.count)


def try_all(chosen, given):
    "Try what was not tried yet, in the order of the sample."
    log, until = Path(given.log).resolve(), time.monotonic() + 60*given.minutes
    known = tried(log)
    old = [m for m in chosen if given.again and m.name in known and known[m.name]["how"] != "killed"
           and m.name not in known_equivalents()]
    left = (old + [m for m in chosen if m.name not in known])[:given.most]
    if not left: return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))      # children end with us
    copy, sound = Copy(log.with_suffix(".copy")), {}
    get_ready(copy.folder)
    for m in left:
        if time.monotonic() > until: break
        start, listed = time.monotonic(), m.name in known_equivalents()
        how, killer = ("survives", "") if listed else trial(copy, m, sound, given.pages)
        row = dict(m._asdict(), name=m.name, how=how, killer=killer)
        with open(log, "a") as out: print(json.dumps(row), file=out, flush=True)
        print(f"{how:9s} {time.monotonic() - start:5.1f} s  {m.module}:{m.line}: {m.old}  ->  "
              f"{m.new}   {killer}", flush=True)
    if broken(sound): print("fail without a mutant:", *broken(sound))


if __name__ == "__main__": main()
