"""The whole test run: press, then pages and tests. The last line counts what passed and failed.

`--quick` leaves the pages out and runs the quick tests only: that is `make check`."""
import os
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from pathlib import Path
from export import ROOT, export
from pages import one_thread

BIN = Path(sys.executable).parent
QUICK = ["test_house.py", "test_repository.py", "test_docstrings.py", "test_types.py",
         "test_core_estimators.py", "test_newcomer.py"]
IGNORED = (".venv*", ".git", "_proc", "_docs", "__pycache__", "reproduction", ".mypy_cache",
           ".ruff_cache", "build", "dist", "*.egg-info")


def say(*words, **how):
    print(*words, **how, flush=True)


def files(folder):
    "Path and content of what the press writes."
    return {
        str(p.relative_to(folder)): p.read_bytes()
        for sub in ("nbs", "boostlit")
        for p in sorted((folder / sub).rglob("*"))
        if p.suffix in (".ipynb", ".py", ".pyi", ".qmd", ".json") and "checkpoints" not in str(p)
    }


def press():
    "Cleaning and exporting a copy of the tree must change nothing."
    with tempfile.TemporaryDirectory() as tmp:
        copy = Path(tmp)/"boostlit"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*IGNORED))
        before = files(copy)
        subprocess.run([BIN/"nbdev_clean"], cwd=copy, check=True)
        export(copy)
        after = files(copy)
    changed = sorted(k for k in before.keys() | after.keys() if before.get(k) != after.get(k))
    if changed:
        say("not clean or not exported (run `make export`):", *changed, sep="\n  ")
    return 1, int(bool(changed))


def pytests(wanted=(), book=False):
    """pytest on the installed package, away from the source tree; with `book` the pages stand in
    the same queue (tests/conftest.py), two at a time, the longest first."""
    chosen = [str(ROOT/"tests"/name) for name in wanted] or [str(ROOT/"tests")]
    env = {**os.environ, "BOOSTLIT_BOOK": "1"} if book else dict(os.environ)
    with tempfile.TemporaryDirectory() as tmp:
        report = Path(tmp)/"report.xml"
        command = [sys.executable, "-m", "pytest", *chosen, "--rootdir", str(ROOT),
                   "-c", str(ROOT/"pyproject.toml"), f"--junitxml={report}",
                   "-p", "no:cacheprovider", "--durations=12", "-n", "2",
                   "--dist", "loadgroup", "--no-loadscope-reorder"]
        run = subprocess.run(command, cwd=tmp, env=env)
        suite = dict(tests=1, failures=1, errors=0, skipped=0)
        if report.exists():
            suite = ET.parse(report).getroot().find("testsuite").attrib
    bad = int(suite["failures"]) + int(suite["errors"])
    skipped = int(suite["skipped"])
    return int(suite["tests"]) - skipped, max(bad, int(run.returncode != 0)), skipped


def pages_and_tests():
    return pytests(book=True)


def quick_tests():
    return pytests(name for name in QUICK if (ROOT/"tests"/name).is_file())


if __name__ == "__main__":
    one_thread()
    counts = [0, 0, 0]
    quick = (press, quick_tests)
    steps = quick if "--quick" in sys.argv else (press, pages_and_tests)
    for step in steps:
        start = time.time()
        good, bad, skipped = (*step(), 0)[:3]
        counts = [counts[0] + good, counts[1] + bad, counts[2] + skipped]
        say(f"[{step.__name__}] {good - bad} of {good} good, {time.time() - start:.0f} s")
    say(f"{counts[0] - counts[1]} passed, {counts[1]} failed, {counts[2]} skipped")
    sys.exit(bool(counts[1]))
