"The ten lines on the front page of each series: fitted, printed, plotted, saved, reloaded. Short form on the installed package; long form from the built wheel in an empty environment."

import json, os, shutil, subprocess, sys, venv
from pathlib import Path
import pytest

ROOT = Path(__file__).resolve().parents[1]
SOAK = bool(os.environ.get("BOOSTLIT_SOAK"))
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
import json, sys, time, warnings
warnings.simplefilter("ignore")
import matplotlib; matplotlib.use("agg")
import matplotlib.pyplot as plt
for page, code in json.loads(open(sys.argv[1], encoding="utf-8").read()).items():
    start, space = time.time(), {}
    exec(compile(code, page, "exec"), space)
    assert type(space["again"]) is type(space["model"]) and plt.get_fignums(), page
    assert str(space["again"]) == str(space["model"]) and len(str(space["model"]).splitlines()) > 2
    plt.close("all"); print(f"{page}: {time.time() - start:.1f} s")
import boostlit; print(boostlit.__file__)
"""


CLEAN = {
    k: v
    for k, v in os.environ.items()
    if k not in ("PYTHONPATH", "BOOSTLIT_DATA", "NUMBA_CACHE_DIR", "VIRTUAL_ENV")
}  # nothing of this machine's own


def run(python, folder):
    (folder / "pages.json").write_text(
        json.dumps({p: ten_lines(p) for p in FRONT}), encoding="utf-8"
    )
    (folder / "run.py").write_text(RUN)
    done = subprocess.run(
        [python, "-P", "run.py", "pages.json"]
        if sys.version_info >= (3, 11)
        else [python, "run.py", "pages.json"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=900,
        env=CLEAN,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def test_ten_lines_run(tmp_path):
    print(run(sys.executable, tmp_path))


@pytest.mark.soak
@pytest.mark.skipif(not SOAK, reason="long form: BOOSTLIT_SOAK=1")
def test_soak_from_the_wheel_in_an_empty_environment(tmp_path):
    shutil.copytree(
        ROOT,
        tmp_path / "tree",
        ignore=shutil.ignore_patterns(
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
        ),
    )  # built aside: no old build folder gets in
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "-q",
            "--no-deps",
            "-w",
            str(tmp_path / "dist"),
            str(tmp_path / "tree"),
        ],
        check=True,
        env=CLEAN,
    )
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    venv.create(tmp_path / "empty", with_pip=True)
    python = tmp_path / "empty" / ("Scripts" if os.name == "nt" else "bin") / "python"
    install = subprocess.run(
        [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", str(wheel)],
        capture_output=True,
        text=True,
        env=CLEAN,
    )
    if install.returncode and "connection" in install.stderr.lower():
        pytest.skip("no package index within reach")
    assert install.returncode == 0, install.stderr[-2000:]
    out = run(str(python), tmp_path)
    packages = subprocess.run(
        [python, "-m", "pip", "list", "--format=freeze", "--disable-pip-version-check"],
        capture_output=True,
        text=True,
        check=True,
        env=CLEAN,
    ).stdout.split()
    assert str(tmp_path) in out and not [
        p for p in packages if p.startswith(("nbdev", "pytest", "dask", "opencv", "pandas"))
    ]  # nothing but what it asks for
    print(
        f"ten lines of {len(FRONT)} series from {wheel.name} in an empty environment of {len(packages)} packages:",
        *(l for l in out.splitlines() if l.startswith(tuple(FRONT))),
        sep="\n  ",
    )
