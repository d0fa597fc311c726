"""What of the site can be checked without Quarto: menus, links, ids, figures, width of code,
reference pages, figures that move, the filter."""
import ast
import base64
import builtins
import io
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
import pytest
from boostlit import names

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT/".ci"))
import api  # noqa: E402
import browser  # noqa: E402
import site_check as site  # noqa: E402

BOOK = ROOT/"nbs"
PAGES = [p for p in sorted(BOOK.rglob("*.ipynb")) if "checkpoints" not in str(p)]
IDS = [p.relative_to(BOOK).as_posix() for p in PAGES]
yaml = pytest.importorskip("yaml")
SITE = yaml.safe_load((ROOT/"_quarto.yml").read_text(encoding="utf-8"))


def sources(page, kind):
    cells = json.loads(page.read_text(encoding="utf-8"))["cells"]
    return ["".join(c["source"]) for c in cells if c["cell_type"] == kind]


def hrefs(node):
    "All pages that a menu names."
    if isinstance(node, str):
        return [node]
    if isinstance(node, list):
        return [h for part in node for h in hrefs(part)]
    out = [node["href"]] if "href" in node else []
    return out + hrefs(node.get("contents", [])) + hrefs(node.get("menu", []))


def test_menus_lead_to_pages():
    bar = SITE["website"]["navbar"]
    listed = hrefs(bar["left"]) + hrefs(SITE["website"]["sidebar"]["contents"])
    missing = [h for h in listed if not h.startswith("http") and not (BOOK/h).is_file()]
    assert not missing


def test_every_page_is_in_the_sidebar():
    listed = set(hrefs(SITE["website"]["sidebar"]["contents"]))
    assert sorted(set(IDS) - listed) == []


def test_first_page_of_every_paper_is_one_menu_away():
    learn = hrefs(SITE["website"]["navbar"]["left"][0])
    rooms = ("compositional", "quadratic", "pairwise", "bilinear", "lpboost")
    assert all(f"{room}/index.ipynb" in learn for room in rooms)


@pytest.mark.parametrize("room", ["compositional", "quadratic", "pairwise", "bilinear", "lpboost"])
def test_the_map_of_a_paper_has_all_its_pages_in_the_order_of_the_menu(room):
    text = "\n".join(sources(BOOK/room/"index.ipynb", "markdown"))
    mapped = re.findall(r"^\| (\d+) \| \[[^\]]+\]\(([^)#]+)\)", text, re.M)
    part = next(p for p in SITE["website"]["sidebar"]["contents"]
                if p.get("href") == f"{room}/index.ipynb")
    assert [f"{room}/{page}" for _, page in mapped] == part["contents"]
    assert [int(k) for k, _ in mapped] == list(range(1, len(mapped) + 1))
    assert {p.name for p in PAGES if p.parent.name == room} == {"index.ipynb"} | {
        page for _, page in mapped}


@pytest.mark.parametrize("room", ["compositional", "quadratic", "pairwise", "bilinear", "lpboost"])
def test_a_landing_page_cites_its_paper(room):
    text = "\n".join(sources(BOOK/room/"index.ipynb", "markdown"))
    paper = re.search(r"\*\*The paper\.\*\* (.+)", text)[1]
    assert re.search(r"\[doi:(10\.\S+?)\]\(https://doi\.org/\1\)", paper) or "no DOI" in paper
    assert re.search(r"(19|20)\d\d", paper)
    assert all(f"**{word}" in text for word in ("What it claims.", "Before you read."))


def test_a_page_of_the_reference_for_every_public_name():
    pages = {p.stem for p in (BOOK/"api").glob("*.qmd")} - {"index"}
    assert set(names.PUBLIC) <= pages
    index = (BOOK/"api"/"index.qmd").read_text(encoding="utf-8")
    assert all(f"({name}.qmd)" in index for name in pages)


@pytest.mark.parametrize("name", names.PUBLIC)
def test_reference_pages_say_what_help_says(name):
    text = (BOOK/"api"/f"{name}.qmd").read_text(encoding="utf-8")
    assert "Written on the page [" in text
    assert "## Example" in text
    for link in re.findall(r"\]\((\.\./[^)#]+)", text):
        assert (BOOK/"api"/link).resolve().is_file(), link


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_nothing_is_wrong_with_a_page(page):
    "Links, ids, statements, words for pictures, their ink, width of code."
    assert [*site.text_faults(page), *site.link_faults(page, {}), *site.code_faults(page)] == []


def written(folder, *cells):
    "A page of one paragraph or cell each."
    made = [dict(cell_type="code" if c.startswith(("#|", "a =")) else "markdown", source=c,
                 outputs=[]) for c in cells]
    page = folder/"core"/"02_page.ipynb"
    page.parent.mkdir(exist_ok=True)
    page.write_text(json.dumps(dict(cells=made)), encoding="utf-8")
    return page


PLANTED = {
    "no page": "See [there](03_nowhere.ipynb).",
    "no page core/gone.html": "[`boost`](https://boostlit.github.io/boostlit/core/gone.html#boost)",
    "no anchor": "See [Theorem 1](#thm-gone).",
    "no anchor 02_page.ipynb": "See [a part](02_page.ipynb#no-such-heading).",
    "twice": '<a id="thm-a"></a>**Theorem 1.1** (one).\n\n<a id="thm-a"></a>**Theorem 1.2** (two).',
    "statement without an id": "**Lemma 1.4** (nameless). It holds.",
    "picture without words: ![]": "![](picture.png)",
    "wide line": "a = " + "1 + "*30 + "1",
}


@pytest.mark.parametrize("word", PLANTED)
def test_the_check_finds_a_planted_fault(tmp_path, word):
    sound = '# A page\n\n## A part\n\n[back](#a-part), <a id="eq-x"></a> and [on](#eq-x)'
    written(tmp_path, sound)
    assert list(site.faults(tmp_path)) == []
    written(tmp_path, sound, PLANTED[word])
    assert any(word in fault for fault in site.faults(tmp_path))


@pytest.mark.parametrize("words, ink, wrong", [
    ('#| fig-cap: "A line."\n#| fig-alt: "A line that rises to the right."', "#33383d", ""),
    ('#| fig-cap: "A line."\n#| fig-alt: "A line that rises to the right."', "#808080", "pale"),
    ('#| fig-cap: "A line."', "#33383d", "without words"),
    ('#| fig-alt: "A line that rises to the right."', "#33383d", "without a caption")])
def test_the_check_looks_at_pictures(tmp_path, words, ink, wrong):
    from matplotlib.figure import Figure
    page = written(tmp_path, f"#| label: fig-x\n{words}\ndraw = 1")
    fig, picture = Figure(figsize=(3, 2)), io.BytesIO()
    fig.text(.1, .5, "words of a figure", color=ink)
    fig.savefig(picture, facecolor="white")
    stored = json.loads(page.read_text(encoding="utf-8"))
    shown = base64.b64encode(picture.getvalue()).decode()
    stored["cells"][0]["outputs"] = [dict(data={"image/png": shown})]
    page.write_text(json.dumps(stored), encoding="utf-8")
    found = list(site.faults(tmp_path))
    assert (len(found) == 1 and wrong in found[0]) if wrong else not found


def test_figures_that_move_exist():
    script = (BOOK/"live.js").read_text(encoding="utf-8")
    have = set(re.findall(r"^    (\w+): \{\n      title:", script, re.M))
    asked = {name for page in PAGES for text in sources(page, "markdown")
             for name in re.findall(r'data-figure="(\w+)"', text)}
    assert asked <= have
    assert len(have) >= 10 and have == asked
    assert "http" not in script.replace("http://www.w3.org/2000/svg", "")     # asks for nothing


def test_pages_load_the_figures_from_the_top_of_the_site():
    script = (BOOK/"site.html").read_text(encoding="utf-8")
    assert 'meta[name="quarto:offset"]' in script and 'load("live.js")' in script
    assert {"live.js", "search.js"} <= set(SITE["project"]["resources"])


def test_site_asks_no_other_server():
    for name in ("site.html", "styles.css", "fonts.scss"):
        assert not re.search(r"(src|url|href)\s*[=(]\s*[\"']?https?:",
                             (BOOK/name).read_text(encoding="utf-8"))


PROGRAM = """\
[`boost`](https://boostlit.github.io/boostlit/core/loop.html#boost) and
[`else`](https://boostlit.github.io/boostlit/core/loop.html#else)

<a id="thm-one"></a>**Theorem 1** (a case). *Then*

$$ a = b \\qquad(1) $$ <a id="eq-one"></a>

After it.
"""


def test_the_filter_leads_names_to_the_reference(tmp_path):
    pypandoc = pytest.importorskip("pypandoc")
    place = json.dumps(BOOK.as_posix(), ensure_ascii=False)      # Lua reads no \\u00e4
    stub = "quarto = {project = {directory = %s, offset = '..'}}\n" % place
    text = (BOOK/"reference.lua").read_text(encoding="utf-8")
    (tmp_path/"f.lua").write_text(stub + text, encoding="utf-8")
    command = [pypandoc.get_pandoc_path(), "-f", "markdown", "-t", "html", "-L", tmp_path/"f.lua"]
    run = subprocess.run(command, input=PROGRAM, capture_output=True, text=True, encoding="utf-8")
    assert run.returncode == 0, run.stderr
    assert 'href="../api/boost.html"' in run.stdout
    assert 'href="../core/loop.html#else"' in run.stdout
    statement = run.stdout.split('<div id="thm-one" class="theorem theorem">')[1].split("</div>")[0]
    assert 'id="eq-one"' in statement and "After it" not in statement


LONG = "```{.python .cell-code}\ndef long_one(x):\n%s```\n"


@pytest.mark.parametrize("page, lines, folded", [("core/02_stumps.ipynb", 20, False),
                                                 ("core/02_stumps.ipynb", 40, True),
                                                 ("core/12_kernels.ipynb", 20, True),
                                                 ("lab/02_command.ipynb", 20, True)])
def test_the_filter_folds_plumbing(tmp_path, page, lines, folded):
    pypandoc = pytest.importorskip("pypandoc")
    stub = f"quarto = {{doc = {{input_file = {json.dumps('/site/' + page)}}}}}\n"
    text = (BOOK/"reference.lua").read_text(encoding="utf-8")
    (tmp_path/"f.lua").write_text(stub + text, encoding="utf-8")
    command = [pypandoc.get_pandoc_path(), "-f", "markdown", "-t", "json", "-L", tmp_path/"f.lua"]
    text = LONG % ("    x += 1\n"*lines)
    run = subprocess.run(command, input=text, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert (f"`long_one`, {lines + 1} lines" in run.stdout) == folded


FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![\\$\w])\$(?!\s)([^$\n]+?)(?<![\s\\])\$(?!\d)", re.S)


def test_every_formula_becomes_mathml():
    "What pandoc cannot convert would stand on the site as bare TeX."
    pypandoc = pytest.importorskip("pypandoc")
    lines = []
    for page in PAGES:
        for text in sources(page, "markdown"):
            text = re.sub(r"```.*?```|`[^`\n]+`", "", text, flags=re.S)
            for display, inline in FORMULA.findall(text):
                lines.append(f"$${' '.join(display.split())}$$" if display else f"${inline}$")
    command = [pypandoc.get_pandoc_path(), "-f", "markdown", "-t", "html", "--mathml"]
    run = subprocess.run(command, input="\n\n".join(dict.fromkeys(lines)), capture_output=True,
                         text=True, encoding="utf-8")
    assert len(lines) > 1000 and run.stdout.count("<math") > 1000
    assert "Could not convert" not in run.stderr, run.stderr[:800]


def test_bundled_files_are_there_and_small():
    "The font of the formulas with its licence, the mark, the card, the search entries."
    for name in SITE["project"]["resources"]:
        assert (BOOK/name).is_file(), name
    assert (BOOK/"math.woff2").read_bytes()[:4] == b"wOF2"
    assert (BOOK/"math.woff2").stat().st_size < 120_000
    assert "SIL OPEN FONT LICENSE" in (BOOK/"math-font-licence.txt").read_text(encoding="utf-8")
    assert 'url("math.woff2")' in (BOOK/"styles.css").read_text(encoding="utf-8")


def test_search_knows_names_and_statements():
    rows = json.loads((BOOK/"api"/"search_entries.json").read_text(encoding="utf-8"))
    titles = {row["title"] for row in rows}
    assert set(names.PUBLIC) <= titles
    said = {m for page in PAGES for text in sources(page, "markdown")
            for m in re.findall(r'<a id="((?:thm|lem|prp|cor|def|alg)-[\w-]+)"></a>\s*\*\*', text)}
    assert said <= {row["text"] for row in rows}
    assert len({row["objectID"] for row in rows}) == len(rows)


RANK = """const search = require(%s), rows = JSON.parse(require("fs").readFileSync(0));
const places = search.indexed(rows.index);
console.log(JSON.stringify(rows.queries.map(query => search.ranked(rows.index, places, query)
  .map(found => found.item.href.split("#")[0]))));"""


def index_of_the_book():
    "What the site's index has: topics, names and statements, then headings with their words."
    rows = json.loads((BOOK/"api"/"search_entries.json").read_text(encoding="utf-8"))
    for page in PAGES:
        text = re.sub(r"\$[^$]*\$|<[^>]*>", " ", "\n\n".join(sources(page, "markdown")))
        first, *parts = re.split(r"^#{2,4} ", text, flags=re.M)
        title = re.search(r"^# (.+)", first, re.M)[1]
        where = api.address(page.relative_to(BOOK))
        rows.append(dict(href=where, title=title, section="", text=first[len(title) + 2:][:900]))
        for part in parts:
            heading, _, words = part.partition("\n")
            rows.append(dict(href=where, title=title, section=heading, text=words[:900]))
    return rows


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_the_search_answers_what_readers_ask():
    program = RANK % json.dumps(str(BOOK/"search.js"))
    asked = json.dumps({"index": index_of_the_book(), "queries": list(browser.QUERIES)})
    run = subprocess.run(["node", "-e", program], input=asked, capture_output=True, text=True,
                         encoding="utf-8", check=True)
    answers = dict(zip(browser.QUERIES, json.loads(run.stdout)))
    assert len(answers) >= 40
    missed = {query: list(dict.fromkeys(answers[query]))[:3]
              for query, wanted in browser.QUERIES.items()
              if not any(wanted.lower() in link.lower()
                         for link in list(dict.fromkeys(answers[query]))[:3])}
    assert not missed


def luminance(colour):
    parts = [int(colour[i:i + 2], 16)/255 for i in (1, 3, 5)]
    linear = [c/12.92 if c <= .03928 else ((c + .055)/1.055)**2.4 for c in parts]
    return .2126*linear[0] + .7152*linear[1] + .0722*linear[2]


def contrast(a, b):
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + .05)/(low + .05)


def test_words_can_be_read_in_both_themes():
    "Colours of text in styles.css against the pages they stand on."
    text = re.sub(r"/\*.*?\*/", "", (BOOK/"styles.css").read_text(encoding="utf-8"), flags=re.S)
    rules = re.findall(r"([^{}]+)\{[^{}]*?(?<![-\w])color:\s*(#[0-9a-f]{3,6})\b", text)
    assert rules
    for selector, colour in rules:
        full = "#" + "".join(2*c for c in colour[1:]) if len(colour) == 4 else colour
        page = "#222222" if "quarto-dark" in selector else "#ffffff"
        if "aria-pressed" in selector:
            page = "#0b5c8c"
        assert contrast(full, page) >= 4.5, (selector.strip(), colour)


class Reads(ast.NodeVisitor):
    "Names that a cell reads before it has them; what stands in functions is read later."
    def __init__(self, have):
        self.have, self.missing = have, []

    def visit_FunctionDef(self, node):
        self.have.add(node.name)

    visit_ClassDef = visit_FunctionDef

    def visit_Lambda(self, node):
        pass

    def visit_Import(self, node):
        self.have.update((a.asname or a.name).split(".")[0] for a in node.names)

    visit_ImportFrom = visit_Import

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Store):
            self.have.add(node.id)
        elif node.id not in self.have:
            self.missing.append(node.id)

    def visit_values_first(self, node):
        "Assignments, loops and comprehensions read what stands behind before they set names."
        first = node.value if isinstance(node, ast.Assign) else node.iter
        self.visit(first)
        for part in ast.iter_child_nodes(node):
            if part is not first:
                self.visit(part)

    def visit_comprehension_first(self, node):
        for part in node.generators:
            self.visit_values_first(part)
        for name in ("elt", "key", "value"):
            if hasattr(node, name):
                self.visit(getattr(node, name))

    visit_Assign = visit_For = visit_comprehension = visit_values_first
    visit_ListComp = visit_SetComp = visit_DictComp = visit_comprehension_first
    visit_GeneratorExp = visit_comprehension_first


def pressed(source):
    "Cells that the press runs when it makes the site: exported ones and those that import."
    if re.search(r"^#\|\s*(exports?|exporti|exec_doc)\b", source, re.M):
        return True
    return any(isinstance(n, (ast.Import, ast.ImportFrom)) for n in ast.walk(ast.parse(source)))


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_the_press_can_run_the_cells_it_needs(page):
    "An import amid a cell makes the press run that cell, without the cells before it."
    cells = [re.sub(r"^[%!].*", "pass", s, flags=re.M) for s in sources(page, "code")]
    if not any(re.search(r"^#\|\s*export", s, re.M) for s in cells):
        return
    reads = Reads(set(dir(builtins)) | {"show_doc", "__name__", "__file__", "get_ipython"})
    for source in filter(pressed, cells):
        reads.visit(ast.parse(source))
    assert not reads.missing
