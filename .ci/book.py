"""The book as one file, for reading without a browser: `python .ci/book.py book.epub book.pdf`.

The pages in the order of the sidebar: words, formulas, the code that the site shows in its story,
printed results, small tables and figures. Figures that move and long tables stay on the site.
Needs pandoc (the dev extra brings it); a PDF also needs `pip install typst`, which sets it."""
import base64
import html
import importlib.util
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
import yaml

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"\]\(([^)\s#:]*\.(?:ipynb|qmd))?(#[\w.-]+)?\)")
ANCHOR = re.compile(r'<a id="([\w.-]+)"></a>')
INWARD = re.compile(r"\[([^\[\]]+)\]\(#([\w.-]+)\)")
OPTION = re.compile(r"^#\|\s*([\w-]+):?\s*\"?(.*?)\"?\s*$", re.M)


def order():
    "The notebooks of the sidebar, from first to last."
    site = yaml.safe_load((ROOT/"_quarto.yml").read_text(encoding="utf-8"))
    for part in site["website"]["sidebar"]["contents"]:
        for page in [part.get("href", ""), *part["contents"]]:
            if page.endswith(".ipynb"):
                yield ROOT/"nbs"/page


def name_of(path):
    return "page-" + re.sub(r"\W+", "-", path.relative_to(ROOT/"nbs").with_suffix("").as_posix())


def words(text, page):
    "Markdown of a cell: links lead within the book."
    def target(match):
        path, anchor = match.groups()
        if anchor and not path:
            return match[0]
        other = (page.parent/path).resolve() if path else page
        if not other.is_file() or other.suffix != ".ipynb":
            return "](https://boostlit.github.io/boostlit)"
        return f"]({anchor or '#' + name_of(other)})"
    text = re.sub(r'<div class="live".*?</div>|<!--.*?-->', "", text, flags=re.S)
    text = LINK.sub(target, text)
    return re.sub(r"^# (.+)$", rf"# \1 {{#{name_of(page)}}}", text, count=1, flags=re.M)


def cells_of(row):
    "Words of a row of an HTML table; a cell over two columns leaves the second empty."
    for marks, words in re.findall(r"<t[hd]([^>]*)>(.*?)</t[hd]>", row, re.S):
        wide = re.search(r'colspan="(\d+)"', marks)
        yield html.unescape(" ".join(re.sub(r"<[^>]+>", "", words).split()))
        yield from [""]*(int(wide[1]) - 1 if wide else 0)


def table_text(source):
    "A small HTML table as lines of columns; nothing where it is long or has sentences."
    rows = [list(cells_of(row)) for row in re.findall(r"<tr.*?>(.*?)</tr>", source, re.S)]
    most = max(map(len, rows), default=0)
    rows = [[""]*(most - len(row)) + row for row in rows]
    widths = [max(len(row[k]) for row in rows) for k in range(most)]
    if not rows or len(rows) > 40 or sum(widths) + 2*most > 110:
        return ""
    lines = ["  ".join(word.rjust(w) if k else word.ljust(w)
                       for k, (word, w) in enumerate(zip(row, widths))) for row in rows]
    return "```\n" + "\n".join(line.rstrip() for line in lines) + "\n```"


def shown(output, options, folder, number):
    "One output as Markdown."
    data = output.get("data", {})
    if "image/png" in data:
        (folder/f"{number}.png").write_bytes(base64.b64decode("".join(data["image/png"])))
        caption, label = options.get("fig-cap", "").replace("\\\\", "\\"), options.get("label", "")
        size = output.get("metadata", {}).get("image/png", {}).get("width")
        marks = [f"#{label}" if label else ".figure"]
        if size: marks.append(f"width={size*.75:.0f}pt")
        return f"![{caption}]({number}.png){{{' '.join(marks)}}}"
    if "text/markdown" in data:
        return "".join(data["text/markdown"])
    text = "".join(output.get("text", data.get("text/plain", ""))).rstrip()
    if "<table" in "".join(data.get("text/html", "")):
        return table_text("".join(data["text/html"]))
    if not text or "IPython.core.display" in text:
        return ""
    return f"```\n{text}\n```"


def checks(body):
    "How many checks a cell has that has nothing else, as the site's story counts them."
    lines = [line for line in body.split("\n") if re.match(r"[^\s#)\]}]", line)]
    return len(lines) if all(re.match(r"assert\b|test_\w+\(", line) for line in lines) else 0


def cell_text(cell, page, folder, count):
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return [words(source, page)]
    options = dict(OPTION.findall(source))
    if cell["cell_type"] != "code" or {"hide", "default_exp"} & set(options):
        return []
    body = "\n".join(line for line in source.split("\n") if not line.startswith("#|")).strip()
    imports = [line for line in body.split("\n") if re.match(r"\S", line) and line[0] not in "#)"]
    folded = options.get("code-fold") == "true" or all(re.match(r"import |from (?!boostlit import)",
                                                                line) for line in imports)
    count_checks = checks(body)
    story = f"```python\n{body}\n```"
    if count_checks: story = f"✓ {count_checks} check{'s'*(count_checks > 1)}"
    out = [] if folded else [story]
    return out + [shown(o, options, folder, f"{count}-{k}") for k, o in enumerate(cell["outputs"])]


def write_text(folder):
    "The whole book in one file of Markdown, its pictures beside it."
    parts = []
    for count, page in enumerate(order()):
        for k, cell in enumerate(json.loads(page.read_text(encoding="utf-8"))["cells"]):
            parts += cell_text(cell, page, folder, f"{count}-{k}")
    text = without_dead_links("\n\n".join(p for p in parts if p.strip()))
    (folder/"book.md").write_text(text + "\n", encoding="utf-8")


def without_dead_links(text):
    "Links within the book whose target only the site has become their words."
    known = set(ANCHOR.findall(text)) | set(re.findall(r"\{#([\w.-]+)", text))
    return INWARD.sub(lambda m: m[0] if m[2] in known else m[1], text)


def pandoc(folder, *options):
    "Runs pandoc on the book's text and prints what it complains of."
    from pypandoc import get_pandoc_path
    command = [get_pandoc_path(), "book.md", "-f", "markdown-auto_identifiers", "--toc",
               "--toc-depth=1", "--columns=10000", "-M", "title=boostlit", "-M", "lang=en",
               "-M", "subtitle=Five boosting papers as working code", *options]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8")
    print(*run.stderr.split("\n")[:20], sep="\n")
    run.check_returncode()


def epub(folder, target):
    pandoc(folder, "-t", "epub3", "--mathml", "--split-level=1", "-o", str(target))


# how the PDF is set; a sign that pandoc still calls by the name of an earlier typst
SETTING = """#let sect = sym.inter
#set page(paper: "a4", margin: (x: 2.2cm, y: 2.4cm))
#set par(justify: true)
#set text(size: 10pt)
#show raw.where(block: true): set text(size: 7pt)
#show raw.where(block: true): set par(justify: false)
#show raw.where(block: true): block.with(inset: (left: 6pt), stroke: (left: .6pt + gray))
#show table: set text(size: 8pt)
#show table: set par(justify: false)
#show table: set align(left)
#show figure: set block(breakable: true)
#show figure.caption: set text(size: 9pt)
#show link: set text(fill: rgb("#0b5c8c"))
#show heading.where(level: 1): it => pagebreak(weak: true) + block(below: 1.2em, it)
"""


def pdf(folder, target):
    import typst
    text = (folder/"book.md").read_text(encoding="utf-8")
    text = ANCHOR.sub(r'`#metadata("\1")<\1>`{=typst}', text)
    (folder/"book.md").write_text(text, encoding="utf-8")
    (folder/"setting.typ").write_text(SETTING, encoding="utf-8")
    pandoc(folder, "-t", "typst", "-s", "-V", "papersize=a4", "-B", "setting.typ", "-o", "book.typ")
    typst.compile(str(folder/"book.typ"), output=str(target), root=str(folder))


def make(target):
    "The book in the form that the target's ending asks for; says what is missing."
    wants = {".epub": "pypandoc", ".pdf": "typst"}[target.suffix]
    if importlib.util.find_spec(wants) is None or importlib.util.find_spec("pypandoc") is None:
        print(f"{target.name} needs `pip install pypandoc_binary typst`: not made")
        return
    with tempfile.TemporaryDirectory() as tmp:
        write_text(Path(tmp))
        (epub if target.suffix == ".epub" else pdf)(Path(tmp), target.resolve())
    print(f"{target.name}: {target.stat().st_size/1e6:.1f} MB")


if __name__ == "__main__":
    for name in sys.argv[1:] or ["book.epub", "book.pdf"]:
        make(Path(name))
