"""Pages that cannot lie: run the quick cells of every page and compare what they print and draw
with
what is stored. `python .ci/pages.py [page …]` checks, `make page NB=…` runs a page again and
stores.

A cell is not run when it is marked `#| slow` or `#| eval: false`, nor when its page says
`skip_exec: true`.
It is run but not compared when it is marked `#| varies` or reads a clock itself. Everything else
must come
out as it is stored: words exactly, numbers to a relative 1e-6 (or one unit of the last of at least
five
printed digits), pictures by a small copy."""
import base64
import contextlib
import difflib
import html
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
import nbformat
import numpy as np
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
SLOW = re.compile(r"^#\|\s*(slow\b|eval:\s*false)", re.M)
VARIES = re.compile(r"^#\|\s*varies\b|perf_counter|process_time|time\.time\(|timeit|monotonic\(",
                    re.M)
SKIP = re.compile(r"^skip_exec:\s*true", re.M)
NUMBER = re.compile(r"[-+]?(?:\d[\d,_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
DRAWN_BY = "3.11"                     # the Matplotlib of the stored pictures
# cells of the small copy, a change of one, how many may change
GRID, CHANGED, MOVED = 96, .08, .004


def one_thread():
    """Pages and tests take their cores one each: linear algebra on several threads would have them
    wait for one another, and its last digits would depend on the machine."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")


def all_pages(root=ROOT):
    return sorted(p for p in (root/"nbs").rglob("*.ipynb") if "checkpoints" not in str(p))


# ------------------------------------------------------------------ running
# A page carries the source of its module's kernels and would compile them a second time. Where the
# compiled function of the module has the same code, down to the kernels it calls and the constants
# it uses, that one is taken: it stands in the cache.
SHARE = """
import importlib
import boostlit.core.kernels as press
def same_value(a, b):
    if isinstance(a, press.Kernel) or isinstance(b, press.Kernel):
        return isinstance(a, press.Kernel) and isinstance(b, press.Kernel) \\
            and same_code(a.function, b.function)
    if callable(a) or hasattr(a, "__array__") or hasattr(a, "__file__"):
        return a is b
    return type(a) is type(b) and a == b
def bare(code):
    inner = [bare(c) if hasattr(c, "co_code") else repr(c) for c in code.co_consts]
    return code.co_code, code.co_names, code.co_varnames, inner
def same_code(f, g):
    return bare(f.__code__) == bare(g.__code__) and f.__defaults__ == g.__defaults__ and all(
        same_value(f.__globals__.get(n), g.__globals__.get(n)) for n in f.__code__.co_names
        if n in f.__globals__ or n in g.__globals__)
def shared(function, make=press.compiled_function):
    if function.__module__ == "__main__":
        twin = getattr(importlib.import_module(HOME), function.__name__, None)
        if isinstance(twin, press.Kernel) and same_code(twin.function, function):
            return twin.dispatcher()
    return make(function)
press.compiled_function = shared
"""
HOME = re.compile(r"^#\|\s*default_exp\s+([\w.]+)", re.M)
# Figures are drawn at two dots per point; the notebook keeps the size they are shown at.
SHARP = """
from IPython import get_ipython
from matplotlib_inline.config import InlineBackend
get_ipython().config.InlineBackend.figure_formats = {"retina"}
if InlineBackend.initialized():
    InlineBackend.instance().figure_formats = {"retina"}
"""


def quietly(code):
    "A cell that leaves no name on the page."
    return nbformat.v4.new_code_cell(f"exec({code!r}, {{}})")


def first_cells(cells):
    "What runs before a page."
    return [quietly(SHARP), *sharing(cells)]


def sharing(cells):
    "The cell that lets a page use the compiled kernels of its module, if it has any kernels."
    home = next((HOME.search(c.source) for c in cells if HOME.search(c.source)), None)
    if home is None or not any("@kernel(" in c.source and "#| export" in c.source for c in cells):
        return []
    code = SHARE.replace("HOME", repr(f"boostlit.{home[1]}"))
    return [quietly(code)]


class Nursery:
    "A process that has imported what all pages import; pages run in forks of it (nursery.py)."
    def __init__(self):
        self.process = None

    def run(self, cells, folder):
        "Outputs of every cell, and what stopped the page."
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(
                [sys.executable, str(ROOT/".ci"/"nursery.py")], stdin=subprocess.PIPE, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8")
        with tempfile.TemporaryDirectory() as tmp:
            target = Path(tmp)/"answer.json"
            request = dict(cells=cells, folder=str(folder), target=str(target))
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            self.process.stdout.readline()
            found = json.loads(target.read_text(encoding="utf-8"))
        return found["sheets"], found["stopped"]

    def close(self):
        if self.process is not None:
            self.process.communicate()
            self.process = None


NURSERY = Nursery()
CAN_FORK = hasattr(os, "fork")


def execute_quickly(path):
    "A page run in a fork; raises when it stops."
    nb = nbformat.read(path, as_version=4)
    if nb.cells and SKIP.search(nb.cells[0].source):
        return nb
    run = [c for c in nb.cells if c.cell_type == "code" and not SLOW.search(c.source)]
    before = [c.source for c in first_cells(nb.cells)]
    sheets, stopped = NURSERY.run([*before, *(c.source for c in run)], path.parent)
    if stopped:
        raise RuntimeError(stopped)
    for cell, outputs in zip(run, sheets[len(before):]):
        cell.outputs = [nbformat.from_dict(o) for o in outputs if o.get("name") != "stderr"]
    return nb


def execute(path, slow=False):
    """A page run from top to bottom, in a kernel of its own; cells that are not run keep their
    outputs."""
    nb = nbformat.read(path, as_version=4)
    if not slow and nb.cells and SKIP.search(nb.cells[0].source):
        return nb
    held = [c for c in nb.cells if c.cell_type == "code" and SLOW.search(c.source) and not slow]
    for cell in held:
        cell.cell_type = "raw"
    place = {"metadata": {"path": str(path.parent)}}
    before = first_cells(nb.cells)
    nb.cells = before + nb.cells
    NotebookClient(nb, timeout=None, kernel_name="python3", resources=place).execute()
    nb.cells = nb.cells[len(before):]
    for cell in held:
        cell.cell_type = "code"
    for cell in nb.cells:
        if cell.cell_type == "code":
            cell.outputs = [o for o in cell.get("outputs", [])
                            if not (o.output_type == "stream" and o.name == "stderr")]
    return nb


# ------------------------------------------------------------------ comparing words and numbers
def text_of(cell):
    "What a cell prints and shows, without pictures: one text."
    parts = []
    for output in cell.get("outputs", []):
        if output["output_type"] == "stream":
            parts.append(joined(output["text"]) if output["name"] == "stdout" else "")
        elif output["output_type"] in ("execute_result", "display_data"):
            data = output["data"]
            plain = joined(data.get("text/plain", ""))
            rich = joined(data.get("text/html", data.get("text/markdown", "")))
            shown = rich if "IPython.core.display" in plain else plain
            parts.append(re.sub(r"<[^<>]*>", " ", html.unescape(shown)) if rich == shown else shown)
    text = re.sub(r" at 0x[0-9a-f]{6,}|0x[0-9a-f]{6,}", "", "".join(parts))
    return re.sub(r"/(?:tmp|var/folders)/[\w./-]+", "/tmp/…", text)


def joined(text):
    return text if isinstance(text, str) else "".join(text)


def same_number(a, b):
    "Do two printed numbers say the same?"
    if a == b:
        return True
    x, y = (float(t.replace(",", "").replace("_", "") or 0) for t in (a, b))
    places = len(b.partition(".")[2].partition("e")[0].partition("E")[0])
    digits = len(re.sub(r"\D", "", re.split("[eE]", b)[0]).lstrip("0"))
    unit = 10.**-places*1.01 if digits >= 5 and "e" not in b.lower() and "." in b else 0.
    return abs(x - y) <= max(1e-6*abs(y), unit, 1e-12)


def same_text(stored, fresh):
    "Words equal, numbers as good as equal; spaces do not count."
    a, b = (NUMBER.split(t) for t in (stored, fresh))
    squeeze = [" ".join(t.split()) for t in a], [" ".join(t.split()) for t in b]
    return squeeze[0] == squeeze[1] and all(map(same_number, NUMBER.findall(stored),
                                                NUMBER.findall(fresh)))


# ------------------------------------------------------------------ comparing pictures
def pictures(cell):
    return [joined(o["data"]["image/png"]) for o in cell.get("outputs", [])
            if "image/png" in o.get("data", {})]


def small(picture):
    "Size of a picture and a small copy of it, four channels from 0 to 1."
    image = Image.open(io.BytesIO(base64.b64decode(picture))).convert("RGBA").convert("RGBa")
    return image.size, np.asarray(image.resize((GRID, GRID), Image.Resampling.BOX))/255


def same_picture(stored, fresh):
    "Do two pictures show the same? Text may be set a hair differently, a curve may not move."
    if stored == fresh:
        return True
    (size, a), (other, b) = small(stored), small(fresh)
    if any(abs(s - t) > 3 + .02*s for s, t in zip(size, other)):
        return False
    return float((np.abs(a - b).max(axis=2) > CHANGED).mean()) <= MOVED


def same_frame(stored, fresh):
    "Have two pictures the same size, give or take a twentieth?"
    sizes = [small(picture)[0] for picture in (stored, fresh)]
    return all(abs(s - t) <= 3 + .05*s for s, t in zip(*sizes))


def judge_of(path):
    """How pictures of a page are compared: those of the book by their frame alone where another
    Matplotlib is installed than drew them; it sets text and ticks its own way."""
    here = ".".join(version("matplotlib").split(".")[:2])
    return same_picture if here == DRAWN_BY or ROOT not in path.parents else same_frame


def lighter(picture):
    "A picture with at most 256 colours where nobody sees the difference, or as it is."
    data = base64.b64decode(joined(picture))
    image = Image.open(io.BytesIO(data))
    if image.mode not in ("RGB", "RGBA") or np.asarray(image.convert("RGBA"))[..., 3].min() < 255:
        return picture
    full = image.convert("RGB")
    few = full.quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    error = np.abs(np.asarray(full, int) - np.asarray(few.convert("RGB"), int)).max(axis=2)
    buffer = io.BytesIO()
    few.save(buffer, "png", optimize=True, dpi=image.info.get("dpi", (200, 200)))
    seen = np.mean(error > 24) > .002 or error.mean() > 3
    if seen or buffer.tell() >= len(data):
        return picture
    return base64.b64encode(buffer.getvalue()).decode() + "\n"


# ------------------------------------------------------------------ a page
def compared(cell):
    "Is this a cell whose outputs must come out as stored?"
    return cell["cell_type"] == "code" and not SLOW.search(cell["source"]) \
        and not VARIES.search(cell["source"])


def differences(stored, fresh, alike=same_picture):
    "A few lines for every cell of a page whose outputs are not those stored."
    for number, (old, new) in enumerate(zip(stored.cells, fresh.cells)):
        if not compared(new):
            continue
        a, b = text_of(old), text_of(new)
        name = next((line for line in new.source.split("\n") if not line.startswith("#|")), "")[:70]
        if not same_text(a, b):
            lines = difflib.unified_diff(a.splitlines(), b.splitlines(), "stored", "fresh", n=0,
                                         lineterm="")
            yield f"cell {number} ({name}) prints something else:\n    " + \
                "\n    ".join(line[:160] for line in [*lines][2:10])
        old_ones, new_ones = pictures(old), pictures(new)
        if len(old_ones) != len(new_ones):
            yield (f"cell {number} ({name}) draws {len(new_ones)} pictures, "
                   f"{len(old_ones)} are stored")
        elif not all(map(alike, old_ones, new_ones)):
            yield f"cell {number} ({name}) draws another picture"


def check_page(path, quick=CAN_FORK):
    """(path, seconds, what is wrong): empty when the page runs and comes out as stored. A page that
    comes out otherwise in a fork is run again in a kernel of Jupyter, whose word is final."""
    start = time.time()
    stored, alike = nbformat.read(path, as_version=4), judge_of(path)
    if quick:
        with contextlib.suppress(Exception):
            if not list(differences(stored, execute_quickly(path), alike)):
                return path, time.time() - start, []
    try:
        found = list(differences(stored, execute(path), alike))
    except CellExecutionError as error:
        found = ["stopped: " + re.sub(r"\x1b\[[\d;]*m", "", str(error))[-1500:]]
    except Exception as error:                      # a kernel that died
        found = [f"stopped: {type(error).__name__}: {error}"]
    return path, time.time() - start, found


def check(paths, root=ROOT, workers=2, say=print):
    "Check pages two at a time; returns how many are wrong."
    wrong = 0
    order = sorted(paths, key=lambda p: -weight(p))
    with ThreadPoolExecutor(workers) as pool:
        for path, seconds, found in pool.map(check_page, order):
            say(f"{seconds:6.1f} s  {path.relative_to(root/'nbs')}" + "  WRONG"*bool(found))
            if found:
                wrong += 1
                say("  " + "\n  ".join(found))
    return wrong


def weight(path):
    "A guess at how long a page takes: the long ones start first."
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return sum(c["cell_type"] == "code" and not SLOW.search("".join(c["source"])) for c in cells)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONHASHSEED", "0")
    one_thread()
    named = [Path(a).resolve() for a in sys.argv[1:] if not a.startswith("-")]
    sys.exit(bool(check(named or all_pages())))
