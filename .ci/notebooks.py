"""Export, run notebooks in place, store their outputs, clean: `make page
NB=nbs/core/02_stumps.ipynb`.

The export comes first, so that a page draws with the code that stands on it. Slow cells keep their
outputs, unless --slow is given; nothing is written when a cell fails."""
import os
import subprocess
import sys
from pathlib import Path
import nbformat
from tqdm import tqdm
from export import ROOT, export
from pages import all_pages, execute, lighter, one_thread


def wanted(arguments):
    """Paths on the command line, seen from here or from the repository; all pages when there are
    none."""
    named = [Path(a) for a in arguments if not a.startswith("--")]
    return [p.resolve() if p.exists() else ROOT/p for p in named] or all_pages()


def names(pages):
    "What the press reads of these pages: cells and their ids."
    return [[(c.get("id"), c.source) for c in nbformat.read(p, as_version=4).cells] for p in pages]


def merged(outputs):
    "Outputs of a cell in which what was printed in a row is one piece, however it arrived."
    found = []
    for output in outputs:
        stream = output.get("name")
        if stream and found and found[-1].get("name") == stream:
            found[-1]["text"] += output["text"]
        else:
            found.append(output)
    return found


def run(page, slow):
    "A page with fresh outputs, its figures made light."
    nb = execute(page, slow)
    for cell in [c for c in nb.cells if c.cell_type == "code"]:
        cell.outputs = merged(cell.get("outputs", []))
    for output in [o for c in nb.cells for o in c.get("outputs", []) if "data" in o]:
        if "image/png" in output["data"]:
            output["data"]["image/png"] = lighter(output["data"]["image/png"])
    return nb


if __name__ == "__main__":
    export()
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    os.environ.setdefault("PYTHONHASHSEED", "0")
    one_thread()
    pages = wanted(sys.argv[1:])
    before = names(pages)
    for page in tqdm(pages, desc="notebooks"):
        nbformat.write(run(page, "--slow" in sys.argv), page)
        command = [Path(sys.executable).parent/"nbdev_clean", "--fname", str(page)]
        subprocess.run(command, cwd=ROOT, check=True)
    if names(pages) != before:                  # cleaning has named cells anew
        export()
