"""Every exercise of the book: its check fails on the empty answer and passes on the stored one.

An exercise is a cell that begins `#| exercise: name` and defines a stub and `check(answer)`; its
solution begins `#| solution: name` on the page of the series under nbs/solutions."""
import ast
import functools
import importlib
import json
from pathlib import Path
import pytest

BOOK = Path(__file__).parent.parent/"nbs"
WRONG = (AssertionError, TypeError, ValueError, AttributeError, KeyError, IndexError)


def code_cells(page):
    cells = json.loads(page.read_text(encoding="utf-8"))["cells"]
    return ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]


def marked(page, mark):
    "(name, source) of the cells that begin with a mark."
    for source in code_cells(page):
        if source.startswith(f"#| {mark}: "):
            yield source.split("\n")[0].split(": ", 1)[1].strip(), source


PAGES = [p for p in sorted(BOOK.rglob("*.ipynb")) if p.parent.name != "solutions"]
EXERCISES = [(page, name, source) for page in PAGES for name, source in marked(page, "exercise")]
SOLUTIONS = [(name, source) for page in sorted((BOOK/"solutions").glob("*.ipynb"))
             for name, source in marked(page, "solution")]


@functools.lru_cache(maxsize=None)
def names_of(page):
    "What a reader has at hand at the end of a page: imports, the module, functions, constants."
    space = {"__name__": "exercise"}
    for source in code_cells(page):
        if source.startswith(("#| exercise", "#| solution")):
            continue
        target = [line.split()[-1] for line in source.split("\n")
                  if line.startswith("#| default_exp")]
        if target:
            module = importlib.import_module(f"boostlit.{target[0]}")
            space.update({k: v for k, v in vars(module).items() if not k.startswith("__")})
            continue
        kinds = (ast.Import, ast.ImportFrom)
        if "#| export" not in source:
            kinds += (ast.FunctionDef, ast.ClassDef)
        for node in ast.parse(source).body:
            if isinstance(node, kinds):
                exec(compile(ast.Module([node], []), page.name, "exec"), space)
    return space


def stub_of(source):
    return next(n.name for n in ast.parse(source).body if isinstance(n, ast.FunctionDef))


def test_there_are_sixty_and_each_has_one_solution():
    names = [name for _, name, _ in EXERCISES]
    assert len(set(names)) == len(names) >= 60
    assert sorted(names) == sorted(name for name, _ in SOLUTIONS)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page, name, source", EXERCISES, ids=[e[1] for e in EXERCISES])
def test_fails_when_empty_and_passes_with_the_solution(page, name, source):
    space = dict(names_of(page))
    exec(source, space)
    stub = stub_of(source)
    with pytest.raises(WRONG):
        space["check"](space[stub])
    for solution in (s for n, s in SOLUTIONS if n == name):
        exec(solution, space)
    space["check"](space[stub])
