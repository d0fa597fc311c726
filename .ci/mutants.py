"""Does a test notice when the code is wrong? `make mutants` changes one operator, comparison or
number at a time and runs the tests that mirror the module; with --pages, its page, too.

The sample is fixed: a mutant is chosen by a hash of what it changes, so that an edit elsewhere
leaves it in place. What was tried stands in a file (--log) and is not tried again.

    python .ci/mutants.py --count 300 --log mutants.jsonl [--pages] [--most 60] [--list]"""
import argparse
import ast
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SKIPPED = ("lab", "data")                      # experiments are run by pages, not by pytest
LONGEST = 4.                                   # seconds: slower tests are left out
MIRRORS = {"core": ["test_core_estimators", "test_stumps", "test_loop", "test_core_statements"],
           "core.stumps": ["test_stumps", "test_core_estimators"],
           "core.stump_kernels": ["test_stumps", "test_core_estimators"],
           "core.models": ["test_models"], "core.tables": ["test_tables", "test_conventions"],
           "core.exports": ["test_exports"], "core.datasets": ["test_datasets"],
           "core.plots": ["test_plots"], "core.explaining": ["test_plots", "test_core_estimators"],
           "core.kernels": ["test_warming", "test_stumps"],
           "mining": ["test_itemsets", "test_mining_engines", "test_mining_rules"],
           "mining.subgraphs": ["test_subgraphs"], "mining.graph_kernels": ["test_subgraphs"],
           "mining.molecules": ["test_subgraphs"], "mining.rules": ["test_mining_rules"],
           "compositional": ["test_compositional"], "quadratic": ["test_quadratic"],
           "quadratic.glass_box": ["test_glass_box"], "pairwise": ["test_pairwise"],
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
        self.module, self.source, self.found = module, source, []
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
        if "\n" not in old: self.found.append(Mutant(self.module, node.lineno, old, new,
                                                     *self.place(node)))

    def visit_FunctionDef(self, node):
        for part in node.body: self.visit(part)

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

    def visit_ClassDef(self, node):
        for part in node.body: self.visit(part)

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
        elif isinstance(node.value, (int, float)): self.add(node, f"({node.value!r} + 1)")


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
    return chosen


# ------------------------------------------------------------------ trying them

class Copy:
    "The package and its tests in another folder, one mutant at a time."
    def __init__(self, folder):
        self.folder = Path(folder)
        for name in ("boostlit", "tests", ".ci", "nbs"):
            shutil.copytree(ROOT/name, self.folder/name,
                            ignore=shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints"))
        for name in ("pyproject.toml", "settings.ini", "README.md", "Makefile", "_quarto.yml"):
            shutil.copy(ROOT/name, self.folder/name)
        self.slow = [name for name, seconds in json.loads(
            (ROOT/".ci"/"times.json").read_text()).items() if seconds > LONGEST]

    def path(self, module): return self.folder/"boostlit"/(module.replace(".", "/") + ".py")

    def write(self, mutant):
        "The module with the change; with None, as it is."
        data = (ROOT/"boostlit"/(mutant.module.replace(".", "/") + ".py")).read_bytes()
        changed = data[:mutant.start] + mutant.new.encode() + data[mutant.stop:]
        self.path(mutant.module).write_bytes(changed)

    def restore(self, module):
        source = ROOT/"boostlit"/(module.replace(".", "/") + ".py")
        shutil.copy2(source, self.path(module))      # with its time: kernels in the cache stay good

    def env(self, module):
        "Kernels of a changed module, and those that call them, are compiled anew."
        has_kernels = "kernel(" in self.path(module).read_text(encoding="utf-8")
        cache = tempfile.mkdtemp(dir=self.folder) if has_kernels else str(self.folder/"cache")
        return {**os.environ, "PYTHONPATH": str(self.folder), "NUMBA_CACHE_DIR": cache,
                "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1", "BOOSTLIT_WHEEL": "",
                "PYTHONHASHSEED": "0"}

    def tests(self, module, patience=300):
        "Do the tests of a module pass? None if they take too long."
        names = MIRRORS.get(module, MIRRORS[module.partition(".")[0]])
        files = [f"tests/{name}.py" for name in names]
        left_out = [f"--deselect=tests/{n}" for n in self.slow
                    if n.partition(".py")[0] in names]
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider",
                   "--no-header", "--tb=no", *files, *left_out]
        return run(command, self.folder, self.env(module), patience)

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
        command = [sys.executable, ".ci/pages.py", str(path)]
        good = run(command, self.folder, self.env(mutant.module), patience)
        shutil.copy2(ROOT/path, there)
        return good


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


def tried(log):
    "What earlier runs found out, by name."
    lines = Path(log).read_text().splitlines() if Path(log).exists() else []
    return {row["name"]: row for row in map(json.loads, lines)}


def trial(copy, mutant, pages):
    "How a mutant ends."
    copy.write(mutant)
    try:
        how = "survives" if copy.tests(mutant.module) else "killed"
        if how == "survives" and pages and copy.page(mutant) is False: how = "killed by its page"
    finally: copy.restore(mutant.module)
    return how


def report(rows):
    "Counts, and the survivors with their places."
    counts = Counter(r["how"] for r in rows)
    by_test = counts["killed"]
    print(f"{len(rows)} mutants: {by_test} killed by pytest ({by_test/max(1, len(rows)):.0%}), "
          f"{counts['killed by its page']} more by their pages, {counts['survives']} survive")
    for r in sorted(rows, key=lambda r: r["name"]):
        if r["how"] == "survives": print(f"  {r['module']}:{r['line']}: {r['old']}  ->  {r['new']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=300, help="size of the fixed sample")
    parser.add_argument("--most", type=int, default=10**9, help="new trials of this run")
    parser.add_argument("--log", default=str(ROOT/"mutants.jsonl"))
    parser.add_argument("--pages", action="store_true", help="survivors meet their page")
    parser.add_argument("--list", action="store_true", help="print the sample and stop")
    given = parser.parse_args()
    chosen, known = sample(given.count), tried(given.log)
    if given.list:
        for m in chosen: print(f"{m.module}:{m.line}: {m.old}  ->  {m.new}")
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(folder)
        sound = {}
        for m in [m for m in chosen if m.name not in known][:given.most]:
            if sound.setdefault(m.module, copy.tests(m.module, 900)):
                how = trial(copy, m, given.pages)
                row = dict(m._asdict(), name=m.name, how=how)
                with open(given.log, "a") as out: print(json.dumps(row), file=out, flush=True)
                print(f"{how:9s} {m.module}:{m.line}: {m.old}  ->  {m.new}", flush=True)
            else: print(f"the tests of {m.module} fail without a mutant", flush=True)
    report([r for n, r in tried(given.log).items() if n in {m.name for m in chosen}])


if __name__ == "__main__": main()
