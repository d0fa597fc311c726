"The whole test run: press, notebooks, pytest. The last line counts what passed and failed."
import os, re, shutil, subprocess, sys, tempfile, time
import xml.etree.ElementTree as ET
from pathlib import Path

ROOT, BIN = Path(__file__).resolve().parents[1], Path(sys.executable).parent
say = lambda *a, **k: print(*a, **k, flush=True)


def files(folder):
    "Path and content of what nbdev writes."
    return {str(p.relative_to(folder)): p.read_bytes() for sub in ("nbs", "boostlit") for p in sorted((folder/sub).rglob("*"))
            if p.suffix in (".ipynb", ".py") and "checkpoints" not in str(p)}


def press():
    "Cleaning and exporting a copy of the tree must change nothing."
    with tempfile.TemporaryDirectory() as tmp:
        copy = Path(tmp)/"boostlit"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".venv*", ".git", "_proc", "_docs", "__pycache__", "reproduction"))
        before = files(copy)
        for command in ("nbdev_clean", "nbdev_export"): subprocess.run([BIN/command], cwd=copy, check=True)
        after = files(copy)
    changed = sorted(k for k in before.keys() | after.keys() if before.get(k) != after.get(k))
    if changed: say("not clean or not exported (run nbdev_clean and nbdev_export):", *changed, sep="\n  ")
    return 1, int(bool(changed))


def notebooks():
    "nbdev_test over all notebooks, two at a time."
    total = len([p for p in (ROOT/"nbs").rglob("*.ipynb") if "checkpoints" not in str(p)])
    run = subprocess.run([BIN/"nbdev_test", "--n_workers", str(min(2, os.cpu_count() or 1)), "--pause", "0.05", "--timing"], cwd=ROOT, capture_output=True, text=True)
    text = run.stdout + run.stderr
    failed = sorted(set(re.findall(r"^\s+([\w./-]+\.ipynb)\s*$", text.partition("Failed On The Following Notebooks")[2], re.M)))
    say(text[-6000:] if run.returncode else "\n".join(text.splitlines()[-60:]))
    return total, max(len(failed), int(run.returncode != 0))


def pytests():
    "pytest on the installed package, away from the source tree."
    with tempfile.TemporaryDirectory() as tmp:
        report = Path(tmp)/"report.xml"
        run = subprocess.run([sys.executable, "-m", "pytest", str(ROOT/"tests"), "--rootdir", str(ROOT), "-c", str(ROOT/"pyproject.toml"),
                              f"--junitxml={report}", "-p", "no:cacheprovider", "--durations=8", "-n", "2", "--dist", "loadfile"], cwd=tmp)
        suite = ET.parse(report).getroot().find("testsuite").attrib if report.exists() else dict(tests=1, failures=1, errors=0, skipped=0)
    bad = int(suite["failures"]) + int(suite["errors"])
    return int(suite["tests"]) - int(suite["skipped"]), max(bad, int(run.returncode != 0)), int(suite["skipped"])


if __name__ == "__main__":
    counts = [0, 0, 0]
    for step in (press, notebooks, pytests):
        start = time.time(); result = step(); counts = [a + b for a, b in zip(counts, (*result, 0)[:3])]
        say(f"[{step.__name__}] {result[0] - result[1]} of {result[0]} good, {time.time() - start:.0f} s")
    say(f"{counts[0] - counts[1]} passed, {counts[1]} failed, {counts[2]} skipped")
    sys.exit(bool(counts[1]))
