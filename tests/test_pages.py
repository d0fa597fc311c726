"Pages that cannot lie: stored outputs are compared with fresh ones, and a planted change is found."
import re
import sys
from pathlib import Path
import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT/".ci"))
pages = pytest.importorskip("pages")

CONSTANT = "#| export\nRATE = 0.5\n\ndef decay(x):\n    return (1 - RATE)**x"
DRAWN = """import numpy as np
import matplotlib.pyplot as plt
x = np.linspace(0, 6, 60)
fig, ax = plt.subplots(figsize=(4, 2.5))
ax.plot(x, decay(x))
ax.set(xlabel="round", ylabel="what is left", ylim=(0, 1))
plt.show()"""


def page(folder, *sources):
    "A page with these cells, run and stored."
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(s) for s in sources])
    path = folder/"page.ipynb"
    nbformat.write(nb, path)
    nbformat.write(pages.execute(path), path)
    return path


def plant(path, old, new):
    nb = nbformat.read(path, as_version=4)
    hits = [c for c in nb.cells if old in c.source]
    assert len(hits) == 1
    hits[0].source = hits[0].source.replace(old, new)
    nbformat.write(nb, path)


def test_planted_constant_is_found_in_words_and_in_pictures(tmp_path):
    "One constant of an exported cell: the printed number, and a figure alone, give it away."
    path = page(tmp_path, CONSTANT, DRAWN, "print(f'{decay(3):.3f}')",
                "#| varies\nprint(decay(2))", "import time\nprint(time.perf_counter())",
                "#| slow\nprint('not run')")
    assert pages.check_page(path)[2] == []
    plant(path, "RATE = 0.5", "RATE = 0.45")
    found = pages.check_page(path)[2]
    assert len(found) == 2 and "another picture" in found[0] and "prints something else" in found[1]
    nbformat.write(pages.execute(path), path)            # run again: the page is true once more
    assert pages.check_page(path)[2] == []
    plant(path, "RATE = 0.45", "RATE = 1/0")
    assert "stopped" in pages.check_page(path)[2][0]


def test_kernels_of_a_page_are_shared_only_when_they_are_equal(monkeypatch):
    "A page takes the compiled kernel of its module; one changed constant and it does not."
    import types
    import boostlit.core.kernels as press
    import boostlit.core.stump_kernels as home
    monkeypatch.setattr(press, "compiled_function", lambda function: "compiled anew")
    space = {}
    exec(pages.SHARE.replace("HOME", repr("boostlit.core.stump_kernels")), space)
    function = home.branch_score.function
    monkeypatch.setattr(home.branch_score, "fast", "from the module")

    def on_page(code, **names):
        copy = types.FunctionType(code, {**vars(home), **names}, function.__name__)
        copy.__module__ = "__main__"
        return space["shared"](copy)
    assert on_page(function.__code__) == "from the module"
    other = function.__code__.replace(co_consts=(*function.__code__.co_consts, 7))
    assert on_page(other) == "compiled anew"
    changed = home.branch_entropy.function
    inner = types.FunctionType(changed.__code__.replace(co_consts=(*changed.__code__.co_consts, 7)),
                               vars(home), "branch_entropy")
    assert "branch_entropy" in function.__code__.co_names
    assert on_page(function.__code__, branch_entropy=press.Kernel(inner)) == "compiled anew"


@pytest.mark.parametrize("a, b, same", [
    ("score 0.923", "score 0.923", True), ("score 0.923", "score 0.924", False),
    ("loss 0.1234567", "loss 0.1234568", True), ("loss 0.12", "loss 0.13", False),
    ("1,000 rows", "1,001 rows", False), ("a  b\n", "a b", True), ("rules", "rule", False),
    ("x 1e-17", "x 3e-17", True), ("[1 2 3]", "[1 2]", False), ("nan", "0.5", False)])
def test_words_and_numbers(a, b, same):
    assert pages.same_text(a, b) is same


def picture(shift=0., width=1.5, label="x"):
    import base64
    import io
    import matplotlib
    matplotlib.use("agg")
    import matplotlib.pyplot as plt
    import numpy as np
    x = np.linspace(0, 1, 50)
    fig, ax = plt.subplots(figsize=(4, 3))
    ax.plot(x, x**2 + shift, lw=width)
    ax.set(ylim=(0, 1.2), xlabel=label)
    out = io.BytesIO()
    fig.savefig(out, format="png", dpi=72)
    plt.close(fig)
    return base64.b64encode(out.getvalue()).decode()


def test_a_curve_that_moves_is_seen():
    assert pages.same_picture(picture(), picture())
    assert not pages.same_picture(picture(), picture(shift=.04))
    assert not pages.same_picture(picture(), picture(shift=.3))
    assert pages.same_picture(picture(), picture(width=1.55))


def test_marks_are_known():
    "Marks of cells that the runner does not know would be passed over in silence."
    known = {"slow", "varies", "example", "hide", "export", "exporti", "exports", "default_exp",
             "eval", "echo", "output", "include", "label", "code-fold", "code-summary",
             "hide_input", "exec_doc", "notest", "skip_showdoc", "hide_line",
             "layout-ncol", "column", "warning", "classes", "fig-cap", "fig-alt", "fig-width",
             "tbl-cap", "tbl-colwidths", "fig-subcap", "hide_output", "code-overflow", "layout",
             "exercise", "solution"}  # read by the tests of the series
    for path in pages.all_pages():
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "code":
                marks = set(re.findall(r"^#\|\s*([\w-]+)", cell.source, re.M))
                assert marks <= known, (path.name, marks - known)


def test_another_matplotlib_is_asked_for_the_frame_alone(tmp_path, monkeypatch):
    "Pictures of the book are compared closely only with the Matplotlib that drew them."
    monkeypatch.setattr(pages, "DRAWN_BY", "0.0")
    assert pages.judge_of(pages.ROOT/"nbs"/"index.ipynb") is pages.same_frame
    assert pages.judge_of(tmp_path/"page.ipynb") is pages.same_picture
    assert pages.same_frame(picture(), picture(shift=.3))
    from PIL import Image
    import io
    import base64
    buffer = io.BytesIO()
    Image.new("RGB", (40, 20)).save(buffer, "png")
    assert not pages.same_frame(picture(), base64.b64encode(buffer.getvalue()).decode())
