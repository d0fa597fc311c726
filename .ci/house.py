"""What the rules of the house find, counted: `python .ci/house.py` reports (-v: by module, --graph:
the
imports between rooms), `--update` lowers the allowed numbers in .ci/house.json to today's. A number
there
may fall and never rise (tests/test_house.py)."""
import ast
import json
import re
import runpy
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STORE = ROOT/".ci"/"house.json"
ROOMS = ("compositional", "quadratic", "pairwise", "bilinear", "lpboost")
HEIGHT = {"core": 0, "testing": 0, "mining": 1, **dict.fromkeys(ROOMS, 2), "images": 3,
          "distributed": 3, "names": 4, "lab": 5, "__main__": 6}
WIDTH = 100
LONGEST, MEDIAN = 20, 12


def modules(root=ROOT):
    "Generated modules by dotted name without the package: {name: text}."
    found = {}
    for path in sorted((root/"boostlit").rglob("*.py")):
        if path.name == "_modidx.py":
            continue
        name = ".".join(path.relative_to(root/"boostlit").with_suffix("").parts)
        found[name] = path.read_text(encoding="utf-8")
    return found


def test_files(root=ROOT):
    paths = [*(root/"tests").glob("*.py"), *(root/".ci").glob("*.py"), root/"setup.py"]
    return {str(p.relative_to(root)): p.read_text(encoding="utf-8") for p in sorted(paths)}


def long_lines(text):
    return sum(len(line) > WIDTH for line in text.splitlines())


def joined_statements(text):
    "Statements that share a line by a semicolon."
    tree = ast.parse(text)
    total = 0
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list):
                total += sum(a.end_lineno == b.lineno for a, b in zip(block, block[1:]))
    return total


# ------------------------------------------------------------------ the graph of imports
def imported(name, node):
    "Modules of ours that an import statement names, as dotted names without the package."
    if isinstance(node, ast.Import):
        return [a.name.removeprefix("boostlit.") for a in node.names
                if a.name.startswith("boostlit.")]
    base = node.module or ""
    if node.level:
        parts = ["boostlit", *name.split(".")][:-node.level]
        base = ".".join([*parts, *base.split(".")] if base else parts)
    if base == "boostlit":
        return [a.name for a in node.names]
    return [base.removeprefix("boostlit.")] if base.startswith("boostlit.") else []


def imports(texts):
    "(module, imported module, is it inside a function?, names) of every import of our own."
    for name, text in texts.items():
        tree = ast.parse(text)
        inside = {id(sub) for f in ast.walk(tree)
                  if isinstance(f, (ast.FunctionDef, ast.Lambda, ast.AsyncFunctionDef))
                  for sub in ast.walk(f)}
        for node in ast.walk(tree):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                for target in imported(name, node):
                    yield name, target, id(node) in inside, [a.name for a in node.names]


def room(name):
    return name.split(".")[0]


def wrong_way(name, target):
    "Does this arrow point up, or from one of the five rooms to another?"
    a, b = room(name), room(target)
    if a == b or name.endswith("__init__") or b not in HEIGHT or a not in HEIGHT:
        return False
    return HEIGHT[b] > HEIGHT[a] or HEIGHT[a] == HEIGHT[b] and a not in ("core", "testing")


def graph(texts):
    "Arrows between modules: {(module, imported): how often}."
    return Counter((a, b) for a, b, _, _ in imports(texts))


def cycle(edges):
    "A circle of imports, or an empty list."
    after = defaultdict(set)
    for a, b in edges:
        after[a].add(b)
    state = {}

    def visit(node, path):
        state[node] = 1
        for other in sorted(after[node]):
            if state.get(other) == 1:
                return [*path[path.index(other):], other] if other in path else [other]
            if other not in state:
                found = visit(other, [*path, other])
                if found:
                    return found
        state[node] = 2
        return []

    for node in sorted(after):
        if node not in state:
            found = visit(node, [node])
            if found:
                return found
    return []


def drawing(texts):
    "The graph between rooms as Mermaid text, thickest arrows first."
    rooms = Counter((room(a), room(b)) for a, b in graph(texts) if room(a) != room(b))
    lines = [f"  {a} -->|{n}| {b}" for (a, b), n in sorted(rooms.items(), key=lambda r: -r[1])]
    return "\n".join(["graph BT", *lines])


# ------------------------------------------------------------------ names
def exported(text):
    "What `__all__` of a module lists."
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            try:
                return ast.literal_eval(node.value)
            except ValueError:
                return []
    return []


def two_homes(texts):
    "Names that more than one module exports."
    homes = defaultdict(list)
    for name, text in texts.items():
        # a front door is no home
        for export in [] if name.endswith("__init__") else exported(text):
            homes[export].append(name)
    return {k: v for k, v in homes.items() if len(v) > 1}


def crossing(texts):
    "Underscore names that are imported from another module."
    return [(a, b, n) for a, b, _, names in imports(texts) for n in names
            if n.startswith("_") and not n.startswith("__") and not n.endswith("_kernels")]


# ------------------------------------------------------------------ cells
def exported_cells(root=ROOT):
    "Lines of code of every exported cell: {page: [lines]}."
    found = {}
    for path in sorted((root/"nbs").rglob("*.ipynb")):
        if "checkpoints" in str(path):
            continue
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        sources = ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
        sizes = [sum(not line.startswith("#|") and bool(line.strip()) for line in s.split("\n"))
                 for s in sources if re.search(r"^#\|\s*exports?i?\b", s, re.M)]
        if sizes:
            found[str(path.relative_to(root/"nbs"))] = sizes
    return found


# ------------------------------------------------------------------ linter
def lint(root=ROOT):
    "ruff's findings by file, with the rules of pyproject.toml."
    command = [sys.executable, "-m", "ruff", "check", "boostlit", "tests", ".ci", "setup.py",
               "--output-format", "json", "--no-cache", "--exit-zero"]
    run = subprocess.run(command, cwd=root, capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(run.stderr)
    return Counter(str(Path(f["filename"]).resolve().relative_to(root.resolve()).as_posix())
                   for f in json.loads(run.stdout))


def types(root=ROOT):
    "mypy's findings by file."
    command = [sys.executable, "-m", "mypy", "-p", "boostlit",
               "--cache-dir", str(root/".mypy_cache"),
               "--no-error-summary", "--hide-error-context", "--no-color-output"]
    run = subprocess.run(command, cwd=root, capture_output=True, text=True)
    if run.returncode > 1:
        raise RuntimeError(run.stdout + run.stderr)
    lines = re.findall(r"^(boostlit[\\/][\w\\/.]+):\d+: error", run.stdout, re.M)
    return Counter(line.replace("\\", "/") for line in lines)


# ------------------------------------------------------------------ all together
def counts(texts, count):
    return {k: n for k, n in ((k, count(t)) for k, t in texts.items()) if n}


def measure(root=ROOT):
    "Every rule with its findings by module or page; what is not named has none."
    texts = modules(root)
    everything = {**texts, **test_files(root)}
    arrows = list(imports(texts))
    cells = exported_cells(root)
    return {
        "long lines": counts(everything, long_lines),
        "joined statements": counts(everything, joined_statements),
        "own imports in functions": dict(Counter(a for a, _, inside, _ in arrows if inside)),
        "wrong arrows": dict(Counter(f"{a} -> {b}" for a, b, _, _ in arrows if wrong_way(a, b))),
        "underscore names that cross": dict(Counter(f"{a} <- {b}" for a, b, _ in crossing(texts))),
        "names with two homes": {k: len(v) - 1 for k, v in two_homes(texts).items()},
        "lines beyond the 20th": {"all pages": sum(max(0, n - LONGEST) for v in cells.values()
                                                   for n in v)},
        "linter": dict(lint(root)),
    }


def slow_measures(root=ROOT):
    """What takes a minute: types, docstrings (the package is imported and its examples run),
    heights."""
    import height
    docs = runpy.run_path(str(root/"tests"/"test_docstrings.py"))
    names = docs["names"].PUBLIC
    gaps = {n: len({*docs["gaps"](n), *docs["fitted_gaps"](n)}) for n in names}
    sizes = sorted(s for v in exported_cells(root).values() for s in v)
    return {"types": dict(types(root)), "docstrings": {k: n for k, n in gaps.items() if n},
            "height": {k: round(1000*s) for k, s in height.shares(root).items() if s > height.MOST},
            "median": {"lines": max(MEDIAN, sizes[len(sizes)//2])}}


def lowered(old, new):
    "Allowed numbers after today: a new rule starts where it stands, an old one may only fall."
    return {rule: {k: min(n, old[rule].get(k, 0)) for k, n in found.items() if old[rule].get(k, 0)}
            if rule in old else found for rule, found in new.items()}


def main(arguments):
    old = json.loads(STORE.read_text(encoding="utf-8")) if STORE.exists() else {}
    new = measure()
    for rule, found in new.items():
        print(f"{sum(found.values()):6d}  {rule}  ({sum(old.get(rule, {}).values())} allowed)")
        if "-v" in arguments:
            rows = sorted(found.items(), key=lambda row: -row[1])
            print(*(f"          {n:4d}  {k}" for k, n in rows), sep="\n")
    sizes = sorted(s for v in exported_cells().values() for s in v)
    print(f"{sizes[len(sizes)//2]:6d}  median lines of {len(sizes)} exported cells ({MEDIAN} "
          f"allowed)")
    if "--graph" in arguments:
        print(drawing(modules()))
    if "--update" in arguments:
        new |= slow_measures()
        kept = {**old, **lowered({k: v for k, v in old.items() if k in new}, new)}
        STORE.write_text(json.dumps(kept, indent=1, sort_keys=True, ensure_ascii=False) + "\n",
                         encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
