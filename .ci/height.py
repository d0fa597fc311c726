"""How much of a page is code to the eye: `make height` lists pages, the fullest first.

Measured without a browser: lines times the height of a line, with the widths and sizes that the
site uses (styles.css). Folded and hidden cells count as the one line that opens them, or nothing.
An estimate: a browser sets fonts its own way."""
import base64
import json
import math
import re
import struct
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MOST = .35
# pixels of the site: body 900 wide, 17 px prose, 14 px code, 12.5 px outputs
PROSE_LINE, PROSE_COLUMNS, PARAGRAPH = 25.5, 112, 17
CODE_LINE, CODE_COLUMNS, CODE_FRAME = 21, 100, 22
OUTPUT_LINE, OUTPUT_COLUMNS, OUTPUT_FRAME = 18, 118, 12
TABLE_LINE, HEADING, FORMULA, FOLD, CAPTION = 26, 58, 62, 26, 40
HIDDEN = re.compile(r"^#\|\s*(hide\b|hide_input\b|echo:\s*false|include:\s*false|default_exp\b)",
                    re.M)
FOLDED = re.compile(r"^#\|\s*code-fold:\s*true", re.M)
IMPORTS = re.compile(r"(?:import |from [\w.]+ import )")
THEORY = ("core", "mining", "compositional", "quadratic", "pairwise", "bilinear", "lpboost",
          "guide")
NOT_METHOD = re.compile(r"kernels|names|reference|gallery|_tables|datasets|plots|rivals|caltech|"
                        r"race|scenes|events|ranking|detection|synthetic|matrices")


def lines(text, columns):
    return sum(max(1, math.ceil(len(line)/columns)) for line in text.split("\n"))


def prose(text):
    "Height of markdown: headings, formulas, tables, paragraphs."
    total = 0.
    for block in re.split(r"\n\s*\n", text.strip()):
        block = re.sub(r"<a id=\"[\w-]+\"></a>", "", block)
        displays = re.findall(r"\$\$.*?\$\$", block, re.S)
        rest = re.sub(r"\$\$.*?\$\$", "", block, flags=re.S).strip()
        total += sum(FORMULA + 22*d.count(r"\\") for d in displays)
        if rest.startswith("#"):
            total += HEADING
        elif rest.startswith("|"):
            total += TABLE_LINE*(rest.count("\n") + 1) + PARAGRAPH
        elif rest.startswith("```"):
            total += CODE_LINE*(rest.count("\n") - 1) + CODE_FRAME
        elif rest:
            rest = re.sub(r"\]\([^)]*\)", "]", rest)
            joined = rest if re.match(r"[-*\d]", rest) else " ".join(rest.split())
            total += PROSE_LINE*lines(joined, PROSE_COLUMNS) + PARAGRAPH
    return total


def code(source):
    "Visible height of a code cell: (what is read as code, the line that opens a folded one)."
    body = "\n".join(line for line in source.split("\n") if not re.match(r"#\s*\|", line)).strip()
    if HIDDEN.search(source) or not body:
        return 0., 0.
    rows = [row for row in body.split("\n") if row.strip() and not row.startswith("#")]
    imports = all(IMPORTS.match(row) or row.startswith((" ", ")")) for row in rows) \
        and "from boostlit import" not in body
    if FOLDED.search(source) or imports or body.startswith("@reproduction"):
        return 0., FOLD
    return CODE_LINE*lines(body, CODE_COLUMNS) + CODE_FRAME, 0.


def png_size(output):
    "Width and height that a picture is shown at; without a word, a dot is a point."
    shown = output.get("metadata", {}).get("image/png", {})
    if "width" in shown:
        return shown["width"], shown["height"]
    head = base64.b64decode("".join(output["data"]["image/png"])[:64])
    return struct.unpack(">II", head[16:24])


def outputs(cell):
    total = 0.
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if "image/png" in data:
            width, height = png_size(output)
            total += height*min(1, 900/width) + CAPTION
        elif "text/html" in data:
            rows = "".join(data["text/html"]).count("<tr")
            total += TABLE_LINE*max(rows, 1) + PARAGRAPH
        else:
            text = "".join(output.get("text", data.get("text/plain", ""))).rstrip()
            total += OUTPUT_LINE*lines(text, OUTPUT_COLUMNS) + OUTPUT_FRAME if text else 0
    return total


def share(cells):
    "Share of the visible height of a page that is code."
    of_code = other = 0.
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            other += prose(source)
        elif cell["cell_type"] == "code":
            seen, fold = code(source)
            of_code += seen
            if not re.search(r"^#\|\s*hide\b|include:\s*false", source, re.M):
                other += fold + outputs(cell)
    return of_code/max(of_code + other, 1)


def shares(root=ROOT, every=False):
    "Share of code of the pages of theory and method, or of all: {page: share}."
    found = {}
    for path in sorted((root/"nbs").rglob("*.ipynb")):
        name = str(path.relative_to(root/"nbs").as_posix())
        method = name.split("/")[0] in THEORY and not NOT_METHOD.search(name)
        if "checkpoints" not in name and (method or every):
            found[name] = share(json.loads(path.read_text(encoding="utf-8"))["cells"])
    return found


if __name__ == "__main__":
    found = shares(every="--all" in sys.argv)
    for name, value in sorted(found.items(), key=lambda r: -r[1]):
        print(f"{value:6.1%}{'  *' if value > MOST else '   '}  {name}")
    above = sum(v > MOST for v in found.values())
    print(f"{above} of {len(found)} pages above {MOST:.0%}")
