"""Types of the public API: everything is annotated, every annotation resolves, and a type
checker tells right use from wrong."""

import ast
import inspect
import shutil
import subprocess
import sys
import typing
from pathlib import Path
import pytest
import boostlit
from boostlit import names


def functions(obj):
    """Functions and methods that a user can call, with their names; for a class also its
    constructor and properties."""
    if inspect.isfunction(obj):
        yield obj.__name__, obj
        return
    for k in sorted(dir(obj)):
        if k.startswith("_") and k != "__init__":
            continue
        m = inspect.getattr_static(obj, k)
        f = (
            m.fget
            if isinstance(m, property)
            else m.__func__
            if isinstance(m, (classmethod, staticmethod))
            else m
        )
        if inspect.isfunction(f) and f.__module__.startswith("boostlit"):
            yield f"{obj.__name__}.{k}", f


def holes(f):
    s = inspect.signature(f)
    out = [
        p.name
        for p in s.parameters.values()
        if p.name not in ("self", "cls") and p.annotation is p.empty
    ]
    return out + ["return"] * (s.return_annotation is s.empty and f.__name__ != "__init__")


@pytest.mark.parametrize("name", names.PUBLIC)
def test_annotated(name):
    found = list(functions(getattr(boostlit, name)))
    assert found
    for where, f in found:
        assert not holes(f), f"{where} has no type for {holes(f)}"
        typing.get_type_hints(f)  # every name in an annotation can be looked up


@pytest.mark.parametrize("name", names.PUBLIC)
def test_documented(name):
    obj = getattr(boostlit, name)
    assert (obj.__doc__ or "").strip(), f"{name} has no docstring"
    for where, f in functions(obj):
        assert (
            where.endswith("__init__")
            or (f.__doc__ or "").strip()
            or len(inspect.getsource(f).strip().splitlines()) <= 2
        ), f"{where} has no docstring"


CALLS = """
import numpy as np
from pathlib import Path
from boostlit import AdaBoostClassifier, BilinearBoostClassifier, CompositionalBoostClassifier
from boostlit import GentleBoostClassifier, LPBoostClassifier, PairwiseBoostClassifier
from boostlit import QuadraticBoostClassifier, ShapeDisplay, closed_itemsets, load_model, margins
from boostlit import save_model
X, y = np.ones((4, 2)), [0, 1, 0, 1]
a: AdaBoostClassifier = AdaBoostClassifier(n_estimators=5, max_bins=None, random_state=3)
a.fit(X, y, sample_weight=[1., 2., 3., 4.])
p: np.ndarray = a.predict(X)
for stage in a.staged_decision_function([[1., 2.]]): stage.sum()
rows: int = a.terms_.num_rows
save_model(a, Path("m")); est = load_model("m")
m: np.ndarray = margins(a, X, y)
QuadraticBoostClassifier(degree=2, search="exact").fit(X, y)
LPBoostClassifier(nu=.1).fit(X, y)
PairwiseBoostClassifier().fit(X, y)
BilinearBoostClassifier(c1=.1).fit(X, y)
"""
WRONG = {
    'AdaBoostClassifier(n_estimators="many")': "arg-type",
    "save_model(a)": "call-arg",
    'LPBoostClassifier(nu="a")': "arg-type",
    "x: int = a.predict(X)": "assignment",
    'closed_itemsets([[1]], "a")': "arg-type",
}


def test_editors_see_every_public_name():
    "The stub beside the package names what __getattr__ finds, each in its module."
    tree = ast.parse(Path(boostlit.__file__).with_suffix(".pyi").read_text())
    found = {
        (node.module, alias.name, alias.asname)
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert found == {(home, name, name) for name, home in names.HOME_OF.items()}


def test_mypy(tmp_path):
    """What a type checker sees of the public API: a program that uses it passes, and one that
    misuses it does not, line by line."""
    pytest.importorskip("mypy")
    home = Path(boostlit.__file__).parent  # the installed package, as a source tree
    shutil.copytree(
        home,
        tmp_path / "boostlit",
        ignore=lambda d, fs: [
            f
            for f in fs
            if not f.endswith((".py", ".pyi")) and not (Path(d) / f).is_dir() or f == "__pycache__"
        ],
    )
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    good.write_text(CALLS)
    bad.write_text(CALLS + "\n".join(WRONG) + "\n")
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--ignore-missing-imports",
            "--implicit-optional",
            "--follow-imports",
            "silent",
            "--cache-dir",
            str(tmp_path / "cache"),
            "--no-error-summary",
            "good.py",
            "bad.py",
        ],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    lines, start = run.stdout.splitlines(), len(CALLS.splitlines())
    assert run.returncode == 1 and not [l for l in lines if l.startswith("good.py")], (
        run.stdout + run.stderr
    )
    for k, (text, code) in enumerate(WRONG.items()):
        assert any(f"bad.py:{start + k + 1}:" in l and code in l for l in lines), (text, lines)
    assert len(lines) == len(WRONG), lines
