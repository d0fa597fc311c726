"A clone in a folder of any name: what depends on paths runs there as it does here."
import os
import shutil
import subprocess
import sys
from pathlib import Path
import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ["boostlit", "päpers & more"]
CODE = """
import sys
sys.path.insert(0, ".ci")
import check
assert check.press() == (1, 0)
"""


@pytest.fixture(scope="module", params=FOLDERS)
def clone(request, tmp_path_factory):
    "The tracked files, as they stand, in a fresh folder."
    folder = tmp_path_factory.mktemp("a place")/request.param
    tracked = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT,
                             capture_output=True)
    names = [n for n in tracked.stdout.decode().split("\0") if n and (ROOT/n).is_file()]
    if tracked.returncode or not names:
        pytest.skip("not a git checkout")
    for name in names:
        (folder/name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT/name, folder/name)
    return folder


def run(command, folder, **more):
    env = {**os.environ, "PYTHONPATH": str(folder), "BOOSTLIT_WHEEL": "", **more}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def test_press_and_readme(clone):
    if clone.name != "boostlit":           # `make test` runs the press in a folder of that name
        run([sys.executable, "-c", CODE], clone)
    run([sys.executable, ".ci/readme.py", "--check"], clone)


def test_faults_are_found_in_the_package_only(clone):
    "The tracer of tests/test_faults.py, with the clone itself as the package."
    out = run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "tests/test_faults.py",
               "-k", "only_the_package or (fuzzed_interrupts and AdaBoost)"], clone)
    assert "2 passed" in out


def test_make_knows_its_way(clone):
    "Every recipe can be planned, and the quoted ones find their folder."
    if not shutil.which("make"):
        pytest.skip("no make")
    plan = run(["make", "-n", "test", "reproduce", "lab", "page", "NB=nbs/index.ipynb"], clone)
    assert ".ci/check.py" in plan and "jupyterlab" in plan
    said = run(["sh", "-c", 'BUILT="$PWD/.venv/wheel"; cd "$PWD" && printf %s "$BUILT"'], clone)
    assert said == f"{clone}/.venv/wheel"


def test_command_answers(clone):
    out = run([sys.executable, "-m", "boostlit", "--version"], clone)
    assert out.strip().startswith("boostlit ")
