"Re-execute notebooks in place and store their outputs. Slow cells keep theirs, unless --slow is given."
import re, subprocess, sys
from pathlib import Path
import nbformat
from nbclient import NotebookClient
from tqdm import tqdm

ROOT = Path(__file__).resolve().parents[1]
SLOW = re.compile(r"^#\|\s*slow", re.M)


def execute(path, slow):
    "Run one notebook from top to bottom; nothing is written when a cell fails."
    nb = nbformat.read(path, as_version=4)
    held = [c for c in nb.cells if c.cell_type == "code" and SLOW.search(c.source) and not slow]
    for c in held: c.cell_type = "raw"
    NotebookClient(nb, timeout=24*3600, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}).execute()
    for c in held: c.cell_type = "code"
    for c in nb.cells:
        if c.cell_type == "code": c.outputs = [o for o in c.get("outputs", []) if not (o.output_type == "stream" and o.name == "stderr")]
    nbformat.write(nb, path)


if __name__ == "__main__":
    wanted = [ROOT/a for a in sys.argv[1:] if not a.startswith("--")] or sorted(p for p in (ROOT/"nbs").rglob("*.ipynb") if "checkpoints" not in str(p))
    for path in tqdm(wanted, desc="notebooks"): execute(path, "--slow" in sys.argv)
    for command in ("nbdev_clean", "nbdev_export"): subprocess.run([Path(sys.executable).parent/command], cwd=ROOT, check=True)
