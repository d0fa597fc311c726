"""The ten lines on the front page of each series: fitted, printed, plotted, saved, reloaded.
Short form on the installed package; long form from the built wheel in an empty environment."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import venv
from configparser import ConfigParser
from importlib import metadata
from pathlib import Path
import pytest

ROOT = Path(__file__).resolve().parents[1]
SOAK = bool(os.environ.get("BOOSTLIT_SOAK"))


def settings(key):
    "A list of settings.ini."
    parser = ConfigParser(delimiters=["="])
    parser.read(ROOT/"settings.ini", encoding="utf-8")
    return parser["DEFAULT"][key].split()


FRONT = {
    "compositional/01_transactions": "CompositionalBoostClassifier",
    "quadratic/01_products": "QuadraticBoostClassifier",
    "pairwise/01_gentle_stumps": "PairwiseBoostClassifier",
    "bilinear/01_model": "BilinearBoostClassifier",
    "lpboost/01_linear_program": "LPBoostClassifier",
}


def ten_lines(page):
    "Imports and program that stand under the heading, as a reader would copy them."
    cells = json.loads((ROOT / "nbs" / f"{page}.ipynb").read_text(encoding="utf-8"))["cells"]
    at = next(
        k
        for k, c in enumerate(cells)
        if c["cell_type"] == "markdown" and "## In ten lines" in "".join(c["source"])
    )
    code = ["".join(c["source"]) for c in cells[at + 1 : at + 3]]
    assert all(c["cell_type"] == "code" for c in cells[at + 1 : at + 3])
    return "\n".join(code)


@pytest.mark.parametrize("page", FRONT)
def test_ten_lines_are_ten_and_whole(page):
    code = ten_lines(page)
    assert (
        len([l for l in code.splitlines() if l.strip() and not l.startswith("#|")]) <= 10
    )  # directives of the press are not program
    for word in (FRONT[page], "Display.from_estimator", "save_model", "load_model", ".fit("):
        assert word in code, word


RUN = """
import json, sys, warnings
warnings.simplefilter("ignore")
import matplotlib; matplotlib.use("agg")
import matplotlib.pyplot as plt
for page, code in json.loads(open(sys.argv[1], encoding="utf-8").read()).items():
    space = {}
    exec(compile(code, page, "exec"), space)
    assert type(space["again"]) is type(space["model"]) and plt.get_fignums(), page
    assert str(space["again"]) == str(space["model"]) and len(str(space["model"]).splitlines()) > 2
    plt.close("all")
    print(page)
import boostlit; print(boostlit.__file__)
"""


CLEAN = {
    k: v
    for k, v in os.environ.items()
    if k not in ("PYTHONPATH", "BOOSTLIT_DATA", "NUMBA_CACHE_DIR", "VIRTUAL_ENV")
}  # nothing of this machine's own
if os.environ.get("BOOSTLIT_WHEEL"):
    CLEAN["PYTHONPATH"] = os.environ["BOOSTLIT_WHEEL"]


def run(python, folder, env=None):
    pages = {p: ten_lines(p) for p in FRONT}
    (folder / "pages.json").write_text(json.dumps(pages), encoding="utf-8")
    (folder / "run.py").write_text(RUN)
    safe = ["-P"] * (sys.version_info >= (3, 11))
    command = [python, *safe, "run.py", "pages.json"]
    env = CLEAN if env is None else env
    if "PYTHONPATH" in os.environ and python == sys.executable:
        env = {**env, "PYTHONPATH": os.environ["PYTHONPATH"]}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def test_ten_lines_run(tmp_path):
    print(run(sys.executable, tmp_path))


def empty_environment(folder, *more):
    "The Python of a new environment that holds the built wheel and what it asks for."
    skip = shutil.ignore_patterns(
        ".*",
        "_docs",
        "_proc",
        "build",
        "dist",
        "*.egg-info",
        "__pycache__",
        "nbs",
        "tests",
        "reproduction",
    )
    shutil.copytree(ROOT, folder / "tree", ignore=skip)  # built aside: no old build folder gets in
    clean = {k: v for k, v in CLEAN.items() if k != "PYTHONPATH"}
    wheel = [
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "-w",
        str(folder / "dist"),
        str(folder / "tree"),
    ]
    subprocess.run([sys.executable, *wheel], check=True, env=clean)
    (built,) = (folder / "dist").glob("*.whl")
    venv.create(folder / "empty", with_pip=True)
    python = folder / "empty" / ("Scripts" if os.name == "nt" else "bin") / "python"
    install = [
        python,
        "-m",
        "pip",
        "install",
        "-q",
        "--disable-pip-version-check",
        str(built),
        *more,
    ]
    run = subprocess.run(install, capture_output=True, text=True, env=clean)
    if run.returncode and "connection" in run.stderr.lower():
        pytest.skip("no package index within reach")
    assert run.returncode == 0, run.stderr[-2000:]
    return str(python)


@pytest.mark.soak
@pytest.mark.skipif(not SOAK, reason="long form: BOOSTLIT_SOAK=1")
def test_soak_from_the_wheel_in_an_empty_environment(tmp_path):
    python = empty_environment(tmp_path)
    clean = {k: v for k, v in CLEAN.items() if k != "PYTHONPATH"}
    out = run(python, tmp_path, clean)
    listing = [python, "-m", "pip", "list", "--format=freeze", "--disable-pip-version-check"]
    listed = subprocess.run(listing, capture_output=True, text=True, check=True, env=clean)
    packages = listed.stdout.split()
    strangers = ("nbdev", "pytest", "dask", "opencv", "pandas")
    assert str(tmp_path) in out and not [p for p in packages if p.startswith(strangers)]
    print(f"ten lines of {len(FRONT)} series in an empty environment of {len(packages)} packages")


# ---------------------------------------------------------------- pages with the package and
# JupyterLab alone
READ = {
    "core": "core/07_bounds",
    "quadratic": "quadratic/01_products",
    "pairwise": "pairwise/01_gentle_stumps",
    "compositional": "compositional/03_theorem",
    "lpboost": "lpboost/01_linear_program",
}
ASKED = [r for r in settings("requirements")] + ["jupyterlab"]


def closure(asked):
    "Distributions that pip would install for these requirements, by what is installed here."
    from packaging.requirements import Requirement
    wanted, found = [Requirement(r) for r in asked], set()
    while wanted:
        one = wanted.pop()
        name = canonical(one.name)
        extras = {"", *one.extras}
        if one.marker and not any(one.marker.evaluate({"extra": e}) for e in extras):
            continue
        if (name, frozenset(extras)) in found:
            continue
        found.add((name, frozenset(extras)))
        try:
            needs = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue
        for line in needs:
            need = Requirement(line)
            if need.marker is None or any(need.marker.evaluate({"extra": e}) for e in extras):
                need.marker = None
                wanted.append(need)
    return {name for name, _ in found}


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def refused():
    "Top-level modules that are installed here and would not be with the wheel and JupyterLab."
    allowed = closure(ASKED) | {"boostlit", "pip", "setuptools"}
    homes: dict = {}
    for dist in metadata.distributions():
        for module in modules_of(dist):
            homes.setdefault(module, set()).add(canonical(dist.metadata["Name"]))
    return sorted(module for module, names in homes.items() if not allowed & names)


def modules_of(dist):
    "Top-level modules of a distribution, by its list of them or by its files."
    told = (dist.read_text("top_level.txt") or "").split()
    parts = [f.parts[0].partition(".")[0] for f in dist.files or [] if f.suffix in (".py", ".so")]
    return set(told) or {name for name in parts if name.isidentifier()}


BLOCK = """
import sys
class Absent:
    "Packages that are not there, for this process."
    names = set(ABSENT)
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
"""


def test_closure_knows_what_a_reader_has():
    "The refusal is worth something: it lets the wheel's needs through and stops the dev extra's."
    gone, here = set(refused()), closure(ASKED)
    assert {"numpy", "numba", "scikit-learn", "jupyterlab", "ipykernel"} <= here
    for name in ("fastcore", "nbdev", "pytest", "hypothesis", "pandas", "polars", "dask", "cv2"):
        if importlib.util.find_spec(name): assert name in gone, name
    assert not gone & {"numpy", "scipy", "sklearn", "IPython", "matplotlib", "pyarrow", "highspy"}


PAGE = """
import json, sys, warnings
sys.path.insert(0, ".")
import block
import matplotlib; matplotlib.use("agg")
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for source in json.load(open(sys.argv[1], encoding="utf-8")):
    result = shell.run_cell(source, silent=True)
    if not result.success:
        print(source[:300], repr(result.error_before_exec or result.error_in_exec), sep="\\n")
        sys.exit(1)
loaded = sorted(block.Absent.names & {m.partition(".")[0] for m in sys.modules})
assert not loaded, loaded
"""


@pytest.mark.parametrize("page", READ.values())
def test_page_runs_with_the_package_and_jupyterlab_alone(page, tmp_path):
    """Quick cells of a page, in a process that can import what the wheel and JupyterLab bring and
    nothing else that is installed here."""
    path = ROOT / "nbs" / f"{page}.ipynb"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
    quick = [s for s in code if "#| slow" not in s and "#| eval: false" not in s]
    (tmp_path / "block.py").write_text(BLOCK.replace("ABSENT", repr(refused())))
    (tmp_path / "page.py").write_text(PAGE)
    (tmp_path / "cells.json").write_text(json.dumps(quick), encoding="utf-8")
    env = {**CLEAN, "IPYTHONDIR": str(tmp_path), "PYTHONHASHSEED": "0"}
    if not os.environ.get("BOOSTLIT_WHEEL"):
        env["PYTHONPATH"] = os.environ.get("PYTHONPATH", "")
    run = subprocess.run(
        [sys.executable, "page.py", "cells.json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=env,
    )
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-2000:]


@pytest.mark.soak
@pytest.mark.skipif(not SOAK, reason="long form: BOOSTLIT_SOAK=1")
def test_soak_pages_from_the_wheel_with_jupyterlab(tmp_path):
    "The same pages in an environment that holds the wheel, JupyterLab and nothing else."
    python = empty_environment(tmp_path, "jupyterlab")
    for page in READ.values():
        target = tmp_path / f"{Path(page).name}.ipynb"
        nb = json.loads((ROOT / "nbs" / f"{page}.ipynb").read_text(encoding="utf-8"))
        nb["cells"] = [c for c in nb["cells"] if "#| slow" not in "".join(c["source"])]
        target.write_text(json.dumps(nb), encoding="utf-8")
        command = [python, "-m", "nbconvert", "--to", "notebook", "--execute", "--stdout", target]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=CLEAN)
        assert done.returncode == 0, done.stderr[-3000:]
