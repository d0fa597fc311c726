"The repository as a reader and a packager meet it: pages, links, formulas, metadata."

import json
import re
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path
import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(p for p in (ROOT / "nbs").rglob("*.ipynb") if "checkpoints" not in str(p))
IDS = [str(p.relative_to(ROOT / "nbs")) for p in PAGES]
cells = lambda p, kind: [
    "".join(c["source"])
    for c in json.loads(p.read_text(encoding="utf-8"))["cells"]
    if c["cell_type"] == kind
]
TEXT = {p: "\n\n".join(cells(p, "markdown")) for p in PAGES}
CODE = {p: cells(p, "code") for p in PAGES}


def settings():
    cfg = ConfigParser(delimiters=["="])
    cfg.read(ROOT / "settings.ini", encoding="utf-8")
    return cfg["DEFAULT"]


def sidebar_pages():
    return re.findall(r"[\w/]+\.ipynb", (ROOT / "_quarto.yml").read_text().partition("sidebar:")[2])


def test_every_page_is_in_the_sidebar_once():
    listed = sidebar_pages()
    assert sorted(listed) == sorted(IDS)


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_page_is_whole(page):
    nb = json.loads(page.read_text(encoding="utf-8"))
    code = [c for c in nb["cells"] if c["cell_type"] == "code"]
    assert not [o for c in code for o in c["outputs"] if o["output_type"] == "error"]
    # answers to exercises may be definitions and silent checks only: no chapter, no pictures
    shows = any(c["outputs"] for c in code) or page.parent.name == "solutions" or not code
    assert shows, "no stored outputs"
    first = "".join(nb["cells"][0]["source"])
    assert first.startswith(("# ", "---")), "the first cell is the title"
    longest = max((len(s.split("\n")) for s in CODE[page] if "#| export" in s), default=0)
    # A ratchet: the longest cell there is (a class with its docments, pairwise/06), to be lowered
    # only. Cells above about 20 lines are counted page by page in .ci/house.json.
    assert longest <= 116, f"an exported cell of {longest} lines"
    assert page.stat().st_size < 1_500_000


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", TEXT[page]):
        if re.match(r"[a-z]+:|#", target):
            continue
        path = (page.parent / target.split("#")[0]).resolve()
        assert path.exists(), f"{target} does not exist"


KINDS = "eq|fig|tbl|sec|thm|lem|prp|cor|def|alg|err"


def labels(page):
    "Ids that a page gives to its formulas, statements and figures."
    found = re.findall(rf'<a id="((?:{KINDS})-[\w-]+)"></a>', TEXT[page])
    return found + [m for s in CODE[page] for m in re.findall(r"^#\|\s*label:\s*([\w-]+)", s, re.M)]


def test_labels_are_unique():
    seen = [label for p in PAGES for label in labels(p)]
    assert len(seen) == len(set(seen)), {label for label in seen if seen.count(label) > 1}


def test_references_resolve():
    """Links to formulas, statements and figures lead to an id that is there, on this page or
    another."""
    for p in PAGES:
        assert not re.search(r"\{#eq-", TEXT[p]), f"{p.name}: JupyterLab shows {{#eq-…}} as it is"
        assert not re.search(rf"(?<![\w`\\])@(?:{KINDS})-", TEXT[p]), f"{p.name}: a raw @reference"
        for target, label in re.findall(rf"\]\(([^)\s#]*)#((?:{KINDS})-[\w-]+)\)", TEXT[p]):
            page = (p.parent / target).resolve() if target else p
            assert page in TEXT and label in labels(page), (
                f"{p.name}: {target}#{label} is not there"
            )


PROGRAM = """Before
$$ a = b \\qquad(3) $$ <a id="eq-name"></a>

[Eq. (3)](#eq-name), [there](../x/02_y.ipynb#thm-q), [plain](x.html).

<a id="thm-q"></a>**Theorem 1.3** (relabelling). For all $x$, $$ x = x. $$ <a id="eq-two"></a>
"""


def test_site_wraps_what_an_anchor_names(tmp_path):
    "The filter of the site: anchors go around formulas and statements, links can preview them."
    pypandoc = pytest.importorskip("pypandoc")
    text = (ROOT / "nbs" / "reference.lua").read_text(encoding="utf-8")
    (tmp_path / "f.lua").write_text("quarto = {project = {}}\n" + text, encoding="utf-8")
    command = [
        pypandoc.get_pandoc_path(),
        "-f",
        "markdown",
        "-t",
        "native",
        "-L",
        tmp_path / "f.lua",
    ]
    run = subprocess.run(command, input=PROGRAM, capture_output=True, text=True, encoding="utf-8")
    assert run.returncode == 0, run.stderr
    native = " ".join(run.stdout.split())
    for piece in (
        'Span ( "eq-name" , [ "equation" ]',
        'Span ( "eq-two" , [ "equation" ]',
        '<div id="thm-q" class="theorem theorem">'.replace('"', '\\"'),
        '[ "quarto-xref" ]',
    ):
        assert piece in native, (piece, native)
    assert native.count("quarto-xref") == 2 and "RawInline" not in native


def test_workflows_pin_their_actions_and_ask_for_little():
    "Every action by the hash of a commit; no rights but those that a job names."
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        text = path.read_text(encoding="utf-8")
        for action in re.findall(r"uses:\s*(\S+)", text):
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action), action
        assert re.search(r"^permissions: \{\}$", text, re.M), path.name
        assert "contents: write" not in text and "secrets." not in text


def test_source_distribution_builds_and_holds_what_a_build_needs(tmp_path):
    "An sdist without settings.ini would not install."
    import shutil
    import tarfile

    pytest.importorskip("setuptools")
    keep = (
        "boostlit",
        "settings.ini",
        "setup.py",
        "pyproject.toml",
        "MANIFEST.in",
        "README.md",
        "LICENSE",
    )
    for name in keep:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    run = subprocess.run(
        [sys.executable, "setup.py", "-q", "sdist"], cwd=tmp_path, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr[-1500:]
    (archive,) = (tmp_path / "dist").glob("*.tar.gz")
    names = {n.partition("/")[2] for n in tarfile.open(archive).getnames()}
    for name in (
        "settings.ini",
        "boostlit/__init__.pyi",
        "boostlit/__main__.py",
        "boostlit/py.typed",
    ):
        assert name in names, name
    assert any(n.endswith(".csv") for n in names) and "setup.py" in names


def test_changelog_knows_this_version():
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## {settings()['version']}\n" in changes


def test_the_built_package_is_under_test():
    "`make test` builds the package and puts it first; without it, whatever is installed."
    import os

    built = os.environ.get("BOOSTLIT_WHEEL")
    if not built:
        pytest.skip("not run by make")
    import boostlit

    assert Path(boostlit.__file__).resolve().is_relative_to(Path(built).resolve())


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_figures_have_captions_and_alt_text(page):
    for source in CODE[page]:
        if re.search(r"^#\|\s*label:\s*fig-", source, re.M):
            assert re.search(r"^#\|\s*fig-cap:", source, re.M) and re.search(
                r"^#\|\s*fig-alt:", source, re.M
            ), source[:80]


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_formulas_parse(page):
    pypandoc = pytest.importorskip("pypandoc")
    text = re.sub(r"(\$\$)\s*\{#eq-[\w-]+\}", r"\1", TEXT[page])
    run = subprocess.run(
        [pypandoc.get_pandoc_path(), "-f", "markdown", "-t", "html", "--mathml"],
        input=text,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0 and "Could not convert TeX math" not in run.stderr, run.stderr[:600]


def test_nothing_of_a_machine_is_in_the_tree():
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True
    ).stdout.split() or [str(p) for p in PAGES]
    bad = re.compile(r"/(?:root|home|Users|work|farm)/[\w.-]+|/tmp/[\w.-]{6,}")
    for name in tracked:
        path = ROOT / name
        if (
            path.suffix
            in {".ipynb", ".py", ".md", ".yml", ".ini", ".toml", ".csv", ".json", ".cff", ""}
            and path.is_file()
            and path != Path(__file__)
        ):
            hit = bad.search(path.read_text(encoding="utf-8", errors="ignore"))
            assert not hit, f"{name}: {hit and hit.group(0)}"
    assert not [n for n in tracked if n.endswith(".parquet")]


def test_exported_code_needs_no_press():
    for path in (ROOT / "boostlit").rglob("*.py"):
        if path.name != "_modidx.py":
            assert not re.search(
                r"^\s*(?:from|import) (?:nbdev|fastcore|execnb)", path.read_text(), re.M
            ), path.name


def test_readme_is_in_step():
    assert subprocess.run([sys.executable, ROOT / ".ci/readme.py", "--check"]).returncode == 0


def test_processing_for_the_site_runs(tmp_path):
    import os
    import shutil

    copy, stub = tmp_path / "boostlit", tmp_path / "bin" / "quarto"
    shutil.copytree(
        ROOT,
        copy,
        ignore=shutil.ignore_patterns(
            ".venv*", ".git", "_proc", "_docs", "__pycache__", "reproduction"
        ),
    )
    stub.parent.mkdir()
    stub.write_text("#!/bin/sh\necho 1.7.31\n")
    stub.chmod(0o755)  # nbdev would try to install Quarto when it finds none
    run = subprocess.run(
        [Path(sys.executable).parent / "nbdev_proc_nbs"],
        cwd=copy,
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": f"{stub.parent}{os.pathsep}{os.environ['PATH']}"},
    )
    assert run.returncode == 0, run.stderr[-800:]
    assert "pip install" not in run.stdout and "Requirement already" not in run.stdout
    assert {str(p.relative_to(copy / "_proc")) for p in (copy / "_proc").rglob("*.ipynb")} >= set(
        IDS
    )
    check = [sys.executable, ROOT / ".ci" / "site_check.py", copy / "_proc"]
    found = subprocess.run(check, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout[-800:]


def test_versions_agree():
    import boostlit

    assert (
        boostlit.__version__ == settings()["version"]
        and f"version: {settings()['version']}" in (ROOT / "CITATION.cff").read_text()
    )


def test_import_is_light():
    heavy = {"numpy", "numba", "sklearn", "pyarrow", "matplotlib", "scipy"}
    code = f"import sys, boostlit; print(sorted(set(sys.modules) & {heavy}))"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.strip()
        == "[]"
    )
