"""What of the site can be checked without Quarto, page by page: `python .ci/site_check.py nbs`.

Reads notebooks as they are written (`nbs`) or as nbdev hands them to Quarto (`_proc`): links and
their anchors, ids that occur twice, statements without an id, pictures without words for those who
cannot see them or with ink too pale to read, lines of code wider than the page."""
import base64
import io
import json
import re
import sys
from pathlib import Path
import numpy as np
from PIL import Image

WIDEST = 100
LINK = re.compile(r"(?<!!)\]\(([^)\s#]*)(?:#([^)\s]+))?\)")
NAMED = re.compile(r"https://boostlit\.github\.io/boostlit/([\w/]+\.html)")
ANCHOR = re.compile(r'<a id="([^"]+)"')
LABEL = re.compile(r"^#\|\s*label:\s*(\S+)", re.M)
STATEMENT = re.compile(r"^\*\*(?:Definition|Lemma|Theorem|Proposition|Corollary|Algorithm|Erratum) "
                       r"[\d.]+\*\*", re.M)
INK = 95                      # grey of 4.5 to 1 on white is 118; letters have pale edges


def notebooks(folder):
    return [p for p in sorted(Path(folder).rglob("*.ipynb")) if "checkpoints" not in str(p)]


def cells(page, kind):
    found = json.loads(page.read_text(encoding="utf-8"))["cells"]
    return [c for c in found if c["cell_type"] == kind]


def source(cell):
    return "".join(cell["source"])


def prose(page):
    "Markdown of a page without what stands in code."
    text = "\n\n".join(source(c) for c in cells(page, "markdown"))
    return re.sub(r"```.*?```|`[^`\n]*`", "`code`", text, flags=re.S)


def slug(heading):
    "The id that pandoc gives a heading."
    words = re.sub(r"[`*$]|\]\([^)]*\)|\[", "", heading).strip().lower()
    return re.sub(r"^[^a-z]+", "", re.sub(r"\s", "-", re.sub(r"[^\w\s.-]", "", words)))


def anchors(page):
    "What a link to a page may name."
    if page.suffix != ".ipynb":
        return None
    text = "\n\n".join(source(c) for c in cells(page, "markdown"))
    code = "\n".join(source(c) for c in cells(page, "code"))
    headings = re.findall(r"^#+ (.+)$", text, re.M)
    return set(ANCHOR.findall(text)) | set(LABEL.findall(code)) | set(map(slug, headings))


def address(path):
    "Where nbdev and Quarto put a page: numbers in front of names are dropped."
    parts = [re.sub(r"^\d+[a-z]?_", "", part) for part in path.as_posix().split("/")]
    return "/".join(parts).rsplit(".", 1)[0] + ".html"


def link_faults(page, known):
    for path, key in LINK.findall(prose(page)):
        if path.startswith(("http", "mailto")):
            continue
        target = (page.parent/path).resolve() if path else page.resolve()
        if target not in known:
            known[target] = anchors(target) if target.is_file() else False
        if known[target] is False:
            yield f"no page {path}"
        elif key and known[target] is not None and key not in known[target]:
            yield f"no anchor {path}#{key}"


def text_faults(page):
    text = "\n\n".join(source(c) for c in cells(page, "markdown"))
    ids = ANCHOR.findall(text)
    yield from (f"id {i} twice" for i in sorted({i for i in ids if ids.count(i) > 1}))
    yield from (f"statement without an id: {m[0]}" for m in STATEMENT.finditer(text))
    yield from (f"picture without words: {m[0]}" for m in re.finditer(r"!\[\s*\]\([^)]*\)", text))


def pale(picture):
    "Is the darkest ink of a drawing too light, or does the page shine through it?"
    rgba = np.asarray(Image.open(io.BytesIO(picture)).convert("RGBA")).reshape(-1, 4).astype(int)
    if (rgba[:, 3] < 250).mean() > .05:
        return True
    grey = rgba[(rgba[:, :3].max(1) - rgba[:, :3].min(1)) < 14, :3].mean(1)
    return len(grey) > 60 and np.partition(grey, 60)[:60].mean() > INK


def option(code, name):
    "An option of a cell, without quotation marks."
    found = re.search(rf'^#\|\s*{name}:\s*"?(.*?)"?\s*$', code, re.M)
    return found[1] if found else ""


def picture_faults(cell):
    code = source(cell)
    pictures = [o["data"]["image/png"] for o in cell.get("outputs", [])
                if "image/png" in o.get("data", {})]
    if not pictures or re.search(r"^#\|\s*hide\b", code, re.M):
        return
    name = option(code, "label") or code[:40]
    alt, caption = option(code, "fig-alt"), option(code, "fig-cap")
    if len(alt) < 21 or alt == caption:
        yield f"picture without words: {name}"
    if "fig-" in option(code, "label") and not caption:
        yield f"picture without a caption: {name}"
    if any(pale(base64.b64decode("".join(p))) for p in pictures):
        yield f"pale picture: {name}"


def code_faults(page):
    for cell in cells(page, "code"):
        yield from picture_faults(cell)
        for line in source(cell).split("\n"):
            if len(line) > WIDEST and not line.startswith("#|"):
                yield f"wide line: {line[:60]}"


def name_faults(page, homes):
    "Links that nbdev put behind names lead to pages of the site."
    text = "\n\n".join(source(c) for c in cells(page, "markdown"))
    yield from (f"no page {path}" for path in sorted(set(NAMED.findall(text)) - homes))


def faults(folder):
    "All of them, as `page: what`."
    folder, known = Path(folder), {}
    files = [*notebooks(folder), *folder.rglob("*.qmd")]
    homes = {address(p.relative_to(folder)) for p in files}
    for page in notebooks(folder):
        found = [*text_faults(page), *link_faults(page, known), *code_faults(page),
                 *name_faults(page, homes)]
        yield from (f"{page.relative_to(folder).as_posix()}: {f}" for f in found)


if __name__ == "__main__":
    wrong = list(faults(sys.argv[1]))
    print(*wrong, f"{len(wrong)} faults", sep="\n")
    sys.exit(bool(wrong))
