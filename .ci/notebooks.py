"""Export, execute notebooks in place, store their outputs, clean. Slow cells keep theirs, unless --slow is given.

The export comes first: a page draws with the code that stands on it."""
import os
import re
import subprocess
import sys
from pathlib import Path
import nbformat
from nbclient import NotebookClient
from tqdm import tqdm
from export import ROOT, export

SLOW = re.compile(r"^#\|\s*slow", re.M)
SKIP = re.compile(r"^skip_exec:\s*true", re.M)


def execute(path, slow):
    "Run one notebook from top to bottom; nothing is written when a cell fails."
    nb = nbformat.read(path, as_version=4)
    if not slow and nb.cells and SKIP.search(nb.cells[0].source):
        return
    held = [c for c in nb.cells if c.cell_type == "code" and SLOW.search(c.source) and not slow]
    for cell in held:
        cell.cell_type = "raw"
    client = NotebookClient(nb, timeout=24*3600, kernel_name="python3",
                            resources={"metadata": {"path": str(path.parent)}})
    client.execute()
    for cell in held:
        cell.cell_type = "code"
    for cell in nb.cells:
        if cell.cell_type == "code":
            cell.outputs = [o for o in cell.get("outputs", [])
                            if not (o.output_type == "stream" and o.name == "stderr")]
    nbformat.write(nb, path)


def wanted(arguments):
    "Paths on the command line, relative to here or to the repository; all pages when there are none."
    named = [Path(a) for a in arguments if not a.startswith("--")]
    if named:
        return [p.resolve() if p.exists() else ROOT/p for p in named]
    return sorted(p for p in (ROOT/"nbs").rglob("*.ipynb") if "checkpoints" not in str(p))


if __name__ == "__main__":
    export()
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    for page in tqdm(wanted(sys.argv[1:]), desc="notebooks"):
        execute(page, "--slow" in sys.argv)
    subprocess.run([Path(sys.executable).parent/"nbdev_clean"], cwd=ROOT, check=True)
    export()
