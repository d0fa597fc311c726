"""The book as an EPUB, for reading without a browser: `python .ci/book.py [book.epub]`.

The pages in the order of the sidebar: words, formulas, the code that the site shows in its story,
printed results and figures. Figures that move and tables that only HTML can show stay on the site.
Needs pandoc (the dev extra brings it)."""
import base64
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
import yaml

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"\]\(([^)\s#:]*\.(?:ipynb|qmd))?(#[\w.-]+)?\)")
OPTION = re.compile(r"^#\|\s*([\w-]+):?\s*\"?(.*?)\"?\s*$", re.M)


def order():
    "The notebooks of the sidebar, from first to last."
    site = yaml.safe_load((ROOT/"_quarto.yml").read_text(encoding="utf-8"))
    for part in site["website"]["sidebar"]["contents"]:
        for page in part["contents"]:
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


def shown(output, options, folder, number):
    "One output as Markdown."
    data = output.get("data", {})
    if "image/png" in data:
        (folder/f"{number}.png").write_bytes(base64.b64decode("".join(data["image/png"])))
        caption, label = options.get("fig-cap", "").replace("\\\\", "\\"), options.get("label", "")
        return f"![{caption}]({number}.png){{{'#' + label if label else '.figure'}}}"
    if "text/markdown" in data:
        return "".join(data["text/markdown"])
    text = "".join(output.get("text", data.get("text/plain", ""))).rstrip()
    if not text or "IPython.core.display" in text:
        return ""
    return f"```\n{text}\n```"


def cell_text(cell, page, folder, count):
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return [words(source, page)]
    options = dict(OPTION.findall(source))
    if cell["cell_type"] != "code" or {"hide", "default_exp"} & set(options):
        return []
    body = "\n".join(line for line in source.split("\n") if not line.startswith("#|")).strip()
    folded = options.get("code-fold") == "true" or not body
    out = [] if folded else [f"```python\n{body}\n```"]
    return out + [shown(o, options, folder, f"{count}-{k}") for k, o in enumerate(cell["outputs"])]


def write_text(folder):
    "The whole book in one file of Markdown, its pictures beside it."
    parts = []
    for count, page in enumerate(order()):
        for k, cell in enumerate(json.loads(page.read_text(encoding="utf-8"))["cells"]):
            parts += cell_text(cell, page, folder, f"{count}-{k}")
    text = "\n\n".join(p for p in parts if p.strip())
    (folder/"book.md").write_text(text + "\n", encoding="utf-8")


def make(target):
    try:
        from pypandoc import get_pandoc_path
    except ImportError:
        print("the book needs pypandoc_binary, which the dev extra brings: not made")
        return 1
    with tempfile.TemporaryDirectory() as tmp:
        write_text(Path(tmp))
        command = [get_pandoc_path(), "book.md", "-f", "markdown-auto_identifiers", "-t", "epub3",
                   "--mathml", "--toc", "--toc-depth=1", "--split-level=1", "-M", "title=boostlit",
                   "-M", "subtitle=Five boosting papers as working code", "-M", "lang=en",
                   "-o", str(target.resolve())]
        run = subprocess.run(command, cwd=tmp, capture_output=True, text=True, encoding="utf-8")
    for line in run.stderr.split("\n")[:20]:
        print(line)
    return run.returncode


if __name__ == "__main__":
    sys.exit(make(Path(sys.argv[1] if len(sys.argv) > 1 else "book.epub")))
