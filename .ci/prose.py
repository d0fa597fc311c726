"""Numbers in prose: each must come from somewhere. `python .ci/prose.py [-v] [page …]`.

Goes through the markdown of all pages for numbers that claim a result (decimals, percentages,
counts of two digits and more) and asks for one of:

- a cell of the page, or of a page that the paragraph links, that prints or asserts the number
  (what it prints may have more digits; 24 % may be printed as 0.24);
- a stored row that links the page or one that the paragraph links, or one of the paper for numbers
  of four digits and more, which shares a word with the sentence (data set, method or quantity): a
  value alone may be a coincidence;
- the paper, where the sentence speaks of what the paper says, prints or reports: a row of
  `paper<k>.csv`, or a comment `<!-- printed: 1.4 -->` in the same cell for what stands in its text;
- a mark: backticks, a formula, a reference such as Sec. 5.2, a year, a version, or a comment
  `<!-- given: 24 %, 0.4 -->` in the same cell for numbers that are assumed or worked out there.

Prints the number of claims without any of these; 0 is what the tests ask for."""
import csv
import json
import re
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROOMS = {"compositional": 0, "quadratic": 1, "pairwise": 2, "bilinear": 3, "lpboost": 4}
SKIPPED = ("10_references",)                      # volumes, pages and years
HIDDEN = re.compile(r"```.*?```|`[^`]*`|<!--.*?-->|\$\$.*?\$\$|\$[^$\n]*?\$|<[^<>]*>"
                    r"|\]\([^()]*\)|^#[^\n]*$|^\|[-:| ]+\|$", re.S | re.M)
LABELS = re.compile(
    r"\b(?:Eqs?|Secs?|Sections?|Figs?|Figures?|Tables?|Algorithms?|Theorems?|Lemmas?|Lemma|Cor"
    r"|Corollary|Propositions?|Definitions?|Errat(?:um|a)|Exercises?|Steps?|pp?|pages?|Vol|vol|no"
    r"|papers?|chapters?|versions?|boostlit|Python|nbdev|scikit-learn|Quarto|numpy|release|seeds?"
    r"|splits?|rounds?|MIT|Scene|Caltech|SHA|ISO|UTF|PEP|CVPR|ICCV|Letters|Recognition|Learning"
    r"|Claims?|Review|Research|Science|Statistics"
    r"|Systems|iter|item|step|row|line|column|part)\.?\s*"
    r"[A-Z]?\(?\d+(?:\.\d+)*\)?(?:\s*(?:,|–|-|and|to|or|/)\s*[A-Z]?\(?\d+(?:\.\d+)*\)?)*",
    re.I)
YEARS = re.compile(r"\b(?:19|20)\d\d\b")
MEASURES = re.compile(r"\b\d+\.\d+\.\d+\b|\bdoi[:\s]*10\.\S+|\b\d+[- ]bits?\b|\b\d+°"
                      r"|\b\d+ ?% interval|\bApache 2\.0"
                      r"|\(\d{4}\) \d+–\d+|\b(?:in|of|from|than) 0\.[12]\b(?!\s*%)|minus 35 box"
                      r"|MultiMedia \d+")
NAMES = re.compile(r"\b1\.5-class|\b\w*[A-Za-z_-]\d[\w.-]*|\b\d+(?:th|st|nd|rd|D|d|x)\b|\bx86\w*")
NUMBER = re.compile(r"(?<![\w.,/^])[-+−±]?(\d{1,3}(?:,\d{3})+|\d+)?(\.\d+)?(?:e-?\d+)?\s?"
                    r"(%|per cent)?(?![\w/^])")
PAPERS_WORD = re.compile(r"\bpaper|\bprint|\bpublished|\breport(?:s|ed)\b|\bauthors?\b", re.I)
BREAK = re.compile(r"\.\s|\n\n|\n[-*|]")
GIVEN = re.compile(r"<!--\s*(?:given|printed):(.*?)-->", re.S)
LINKED = re.compile(r"\]\(([^()#\s]+\.ipynb)")
DIGITS = re.compile(r"(?<![\w.])[-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?:e[-+]?\d+)?")


def values(text):
    "All numbers in a text."
    found = set()
    for word in DIGITS.findall(text):
        try:
            found.add(abs(float(word.replace(",", "").replace("−", "-"))))
        except ValueError:
            continue
    return found


DRAWN = re.compile(r"\bax\d?\.|\baxes|\bplt\.|\bfig\b|figsize|color|label|alpha=|\blw=|#\|")


def shown(cell):
    "What a code cell prints, and its own text but for what only draws."
    source = "".join(cell["source"]).splitlines()
    parts = [line.partition("  # ")[0] for line in source if not DRAWN.search(line)]
    for out in cell.get("outputs", []):
        data = out.get("data", {})
        for text in (out.get("text"), data.get("text/plain"), data.get("text/html")):
            text = "".join(text or "")
            if "<svg" not in text and "<script" not in text and "matplotlib" not in text:
                parts.append(re.sub(r"<[^<>]*>", " ", text))
    return "\n".join(parts)


@cache
def page_numbers(path):
    "Numbers that the code cells of a page print or hold."
    cells = json.loads(Path(path).read_text(encoding="utf-8"))["cells"]
    return values("\n".join(shown(c) for c in cells if c["cell_type"] == "code"))


def page_sections(path):
    "Numbers of code cells by section, and the section of every cell; 0 is the opening."
    texts, at, section = {0: []}, [], 0
    for cell in json.loads(Path(path).read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown" and re.search(r"^## ", source, re.M):
            section += 1
            texts[section] = []
        at.append(section)
        if cell["cell_type"] == "code":
            texts[section].append(shown(cell))
            if section and re.search(r"\n## ", source):
                texts[section - 1].append(shown(cell))
    return {k: values("\n".join(v)) for k, v in texts.items()}, at


def words_of(text):
    "Words of four letters and more, plural endings dropped."
    return {w.lower().rstrip("s") for w in re.findall(r"[A-Za-z][A-Za-z0-9]{3,}", text)}


@cache
def rows(paper):
    "Stored numbers: [(value, link, words of the key)] of a paper, or of all."
    found = []
    for kind in ("ours", "paper"):
        for k in range(5) if paper is None else [paper]:
            path = ROOT/"boostlit"/"data"/f"{kind}{k}.csv"
            for r in csv.DictReader(path.open(encoding="utf-8")):
                key = " ".join(r[k] for k in ("dataset", "method", "quantity"))
                told = words_of(key.replace("agaricus-lepiota", "mushroom"))
                for text in (r["value"], r["spread"]):
                    if text:
                        found.append((abs(float(text)), r.get("link", ""), told))
    return found


@cache
def printed(paper):
    "Numbers that a paper prints, or that any of them does."
    folder, papers = ROOT/"boostlit"/"data", range(5) if paper is None else [paper]
    return [abs(float(text)) for k in papers
            for r in csv.DictReader((folder/f"paper{k}.csv").open(encoding="utf-8"))
            for text in (r["value"], r["spread"]) if text]


@cache
def data_sizes():
    "Rows, features and classes of the registered data sets."
    text = (ROOT/"boostlit"/"data"/"datasets.json").read_text(encoding="utf-8")
    return values(" ".join(f"{d.get('rows', '')} {d.get('features', '')}"
                           for d in json.loads(text).values()))


def agrees(claim, decimals, percent, numbers):
    "Does one of the numbers round to the claim?"
    reach = .5000001*10.**-decimals
    scales = (1, 100) if percent else (1,)
    return any(abs(claim - scale*x) <= reach for x in numbers for scale in scales)


def claims(text):
    "(number as written, value, decimals, percent, sentence) of a markdown cell."
    plain = HIDDEN.sub(lambda m: re.sub(r"[^\n]", "~", m[0]), text)
    plain = MEASURES.sub(lambda m: "~"*len(m[0]), plain)
    plain = NAMES.sub(lambda m: "~"*len(m[0]), plain)
    plain = LABELS.sub(lambda m: "~"*len(m[0]), plain)
    plain = YEARS.sub(lambda m: "~"*len(m[0]), plain)
    for m in NUMBER.finditer(plain):
        whole, part, percent = m.groups()
        if not whole and not part:
            continue
        value = float((whole or "0").replace(",", "") + (part or ""))
        plain_count = not part and not percent
        if plain_count and value < 10 or value in (0, .5, 100) or value == 1 and not part:
            continue
        before, after = plain[:m.start()], plain[m.end():]
        start = max(e.end() for e in [*BREAK.finditer(before), re.match("", before)])
        stop = BREAK.search(after)
        end = m.end() + stop.start() if stop else len(plain)
        yield m[0].strip(), value, len(part or ".") - 1, bool(percent), text[start:end].strip()


def paragraph_links(text, sentence, folder):
    "Pages that the paragraph of a sentence links."
    for paragraph in text.split("\n\n"):
        if sentence[:60] in paragraph:
            return [(folder/name).resolve() for name in LINKED.findall(paragraph)]
    return []


def rows_of(pages):
    "Stored numbers that link some pages."
    names = {p.relative_to(ROOT/"nbs").as_posix() for p in pages if (ROOT/"nbs") in p.parents}
    return [r for r in rows(None) if r[1].split("#")[0] in names] if names else []


def unfounded(path):
    "Claims of a page that come from nowhere: (number, sentence)."
    path = Path(path).resolve()
    if any(word in path.name for word in SKIPPED):
        return []
    paper = ROOMS.get(path.parent.name)
    sections, at = page_sections(path)
    linked = rows_of([path])
    found = []
    for k, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
        if cell["cell_type"] != "markdown":
            continue
        text = "".join(cell["source"])
        own = sections[at[k]] if at[k] else page_numbers(path)
        given = {v for words in GIVEN.findall(text) for v in values(words)}
        for word, value, decimals, percent, sentence in claims(text):
            many = len(re.sub(r"\D", "", word).strip("0")) >= 4
            others = paragraph_links(text, sentence, path.parent)
            told = words_of(sentence)
            able = linked + rows_of(others) + (rows(paper) if many else [])
            sources = [own, given, [v for v, _, key in able if key & told]]
            if not decimals and not percent:
                sources.append(data_sizes())
            sources += [page_numbers(p) for p in others if p.is_file()]
            if PAPERS_WORD.search(sentence):
                sources.append(printed(paper))
            if any(agrees(value, decimals, percent, s) for s in sources):
                continue
            found.append((word, " ".join(sentence.split())))
    return found


def all_unfounded(pages=None):
    "Page -> its claims that come from nowhere."
    pages = pages or sorted(p for p in (ROOT/"nbs").rglob("*.ipynb") if "checkpoints" not in str(p))
    found = {Path(p).resolve().relative_to(ROOT/"nbs").as_posix(): unfounded(p) for p in pages}
    return {page: claims for page, claims in found.items() if claims}


if __name__ == "__main__":
    words = sys.argv[1:]
    found = all_unfounded([w for w in words if not w.startswith("-")])
    for page, what in found.items():
        print(f"{len(what):4} {page}")
        if "-v" in words:
            for word, sentence in what:
                print(f"       {word:>10}  {sentence[:150]}")
    print(sum(map(len, found.values())), "numbers in prose without a cell, a row or a citation")
    sys.exit(bool(found))
