"""Reads the rendered site as a browser does: `python .ci/browser.py _docs [--shots folder]`.

Opens pages from a static server with all other hosts cut off, in light and dark, on a desktop and a
phone, and reports what a reader would stumble over: errors in the console, requests to other hosts,
dead links, pages wider than the screen, wrapped code, findings of axe (serious or critical, and
contrast of any kind), figures that do not move, searches that miss. The numbers of the figures are
compared with Python's by tests/test_live.py, run in this browser. Needs playwright,
axe-playwright-python and a Chromium; says so and stops where they are missing."""
import argparse
import collections
import functools
import gzip
import hashlib
import http.server
import json
import os
import shutil
import statistics
import subprocess
import sys
import threading
import urllib.parse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CHROMIUM = next((p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))
                 if p), None)
SIZES = {"desktop": (1280, 900), "phone": (390, 844)}
# what a reader types, and a part of the address of the page that answers
QUERIES = {
    "save model": "core/models", "Sauer lemma": "core/bounds", "how to install": "index",
    "feature-sign convergence": "bilinear/theory", "LPBoostClassifier": "LPBoostClassifier",
    "QuadraticBoostClassifier": "QuadraticBoostClassifier", "glass box": "glass_box",
    "closed itemsets": "itemset", "association rules": "rules", "relabelling": "relabelling",
    "VC dimension": "capacity", "early stopping": "controls", "column generation": "column",
    "one class": "one_class", "weighted LDA": "projection", "spatial pyramid": "scenes",
    "subgraph": "subgraphs", "SAMME": "masters", "ledger": "ledger", "Dask": "training",
    "install": "index", "predict_proba calibration": "core/masters", "errata": "guide/errata",
    "theorem 1 compositional": "compositional/theorem", "missing values": "core/tables",
    "itemset lattice": "mining/itemsets", "export onnx": "core/exports", "one-class": "one_class",
    "VC dimension of products": "capacity", "closed itemset mining speed": "mining_race",
    "monotone constraints": "glass_box", "shapley values": "glass_box", "glossary": "notation",
    "feature importance": "core/explaining", "Lemma 2": "capacity", "to_sql": "api/to_sql",
    "thm-comp-bound": "compositional/theorem", "LightGBM": "lab/atlas", "pickle": "core/models",
    "which classifier should I use": "guide/choosing", "Table 2": "quadratic/tables",
    "multiclass": "core/masters", "regression": "quadratic/regression", "gSpan": "subgraphs",
    "molecules SMILES": "molecules", "face verification": "verification", "adult": "tables",
    "benchmark": "lab/benchmarks", "categorical features": "core/tables", "citation": "references",
}
SHOTS = [("index.html", "desktop", False), ("index.html", "phone", False),
         ("index.html", "desktop", True), ("quadratic/index.html", "desktop", False),
         ("quadratic/index.html", "phone", True),
         ("compositional/theorem.html", "desktop", False),
         ("api/QuadraticBoostClassifier.html", "desktop", False),
         ("lab/ledger.html", "desktop", False), ("quadratic/tables.html", "phone", False),
         ("lpboost/index.html", "desktop", True)]
# where a picture shows more than the top of the page: what to scroll to, or to hover
SCROLL = {"compositional/theorem.html": ".theorem", "lpboost/index.html": ".live",
          "quadratic/tables.html": "table.numbers"}


# pages with figures that move
LIVE = [f"{room}/index.html" for room in
        ("compositional", "quadratic", "pairwise", "bilinear", "lpboost")]


class Quiet(http.server.SimpleHTTPRequestHandler):
    "The site below /boostlit, as its public home has it: the page for wrong addresses says so."
    def log_message(self, *words):
        pass

    def translate_path(self, path):
        return super().translate_path(path.removeprefix("/boostlit"))


def serve(folder):
    handler = functools.partial(Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_port}/boostlit"


def pages_of(folder):
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*.html")
                  if "site_libs" not in p.parts)


MEASURE = """() => {
  const main = document.querySelector("main");
  const seen = n => n.checkVisibility();
  const high = n => n.getBoundingClientRect().height;
  const blocks = main ? [...main.querySelectorAll(".cell div.sourceCode")].filter(n =>
    seen(n) && !n.parentElement.closest("div.sourceCode")) : [];
  const lines = [...document.querySelectorAll("main code.sourceCode > span")].filter(seen);
  return {
    wide: document.documentElement.scrollWidth - window.innerWidth,
    height: main ? high(main) : 0,
    code: blocks.reduce((s, n) => s + high(n), 0),
    wrapped: lines.filter(n => new Set([...n.getClientRects()].map(r => Math.round(r.top))).size > 1
      && high(n) > 32).length,
    links: [...document.querySelectorAll("a[href]")].filter(a => a.pathname !== location.pathname
      || !document.getElementById(decodeURIComponent(a.hash.slice(1)))).map(a => a.href),
  };
}"""

# every slider of every figure to both ends and back; what the figure then says
MOVE = """() => [...document.querySelectorAll(".live[data-figure]")].map(place => {
  const said = [place.dataset.answer || ""];
  place.querySelectorAll("input").forEach(input => {
    const start = input.value;
    [input.min, input.max, start].forEach(value => {
      if (input.type === "checkbox") input.checked = !input.checked;
      else input.value = value;
      input.dispatchEvent(new Event("input"));
      said.push(place.dataset.answer || "");
    });
  });
  const drawn = place.querySelectorAll("svg *").length;
  return [place.dataset.figure, said, drawn];
})"""

# axe takes a minute for a page of thousands of coloured words. What is closed it would not look at;
# words of code of a kind that was seen thrice on the page join neighbours, symbols of formulas
# seen thrice are hidden, and of long tables the ninth and later rows of plain words are left out
THIN = """() => {
  const closed = ["main details:not([open]) > *:not(summary)", ".dropdown-menu > *",
                  "#quarto-sidebar ul.collapse:not(.show) > *"];
  document.querySelectorAll(closed.join()).forEach(n => n.remove());
  const seen = {};
  const thrice = (n, box) => {
    const key = [n.tagName, n.className, n.closest(box).className].join();
    seen[key] = (seen[key] || 0) + 1;
    return seen[key] > 3;
  };
  document.querySelectorAll("main code.sourceCode a, main code.sourceCode span").forEach(n => {
    if (!n.childElementCount && thrice(n, "pre")) n.replaceWith(n.textContent);
  });
  document.querySelectorAll("main code.sourceCode > span").forEach(n => {
    if (!n.childElementCount && thrice(n, "pre")) n.replaceWith(n.textContent);
  });
  document.querySelectorAll("main tbody tr:nth-child(n + 9)").forEach(n => {
    if (!n.querySelector("a, code, math, [class]")) n.remove();
  });
  document.querySelectorAll("main math *").forEach(n => {
    if (!n.childElementCount && thrice(n, "p, li, td, div")) n.style.visibility = "hidden";
  });
}"""


def context_of(browser, size, dark):
    "A window of a size and a theme."
    context = browser.new_context(viewport=dict(zip(("width", "height"), SIZES[size])),
                                  color_scheme="dark" if dark else "light")
    if dark:
        context.add_init_script("localStorage.setItem('quarto-color-scheme', 'alternate')")
    return context


def watched(context, base, trouble):
    "A tab; what its pages ask of others and complain of goes to `trouble`."
    tab = context.new_page()
    tab.on("console", lambda m: trouble.append(f"console: {m.text}") if m.type == "error" else None)
    tab.on("pageerror", lambda e: trouble.append(f"error: {e}"))

    def gate(route):
        if route.request.url.startswith((base, "data:", "blob:")):
            route.continue_()
        else:
            trouble.append(f"asks {route.request.url}")
            route.abort()
    tab.route("**/*", gate)
    return tab


def visit(context, base, page, trouble):
    "A tab of its own with the page in it."
    tab = watched(context, base, trouble)
    tab.goto(f"{base}/{page}", wait_until="load")
    tab.wait_for_timeout(150)
    return tab


def axe_findings(axe, tab, dark):
    "Serious and critical findings, and all of contrast; a dark page differs in its colours alone."
    mild = ("region", "heading-order", "landmark-unique", "landmark-one-main", "skip-link")
    options = {"resultTypes": ["violations"], "preload": False,
               "rules": {rule: {"enabled": False} for rule in mild}}
    if dark:
        options = {**options, "rules": {}, "runOnly": ["color-contrast", "link-in-text-block"]}
    for rule in axe.run(tab, options=options).response["violations"]:
        if rule["impact"] in ("serious", "critical") or rule["id"] == "color-contrast":
            yield from (f"axe {rule['id']}: {n['target']} {colours(n)}" for n in rule["nodes"])


def colours(node):
    "The two colours that a finding of contrast is about."
    data = (node["any"] or [{}])[0].get("data")
    data = data if isinstance(data, dict) else {}
    return f"{data['fgColor']} on {data['bgColor']}" if "bgColor" in data else ""


def figure_findings(tab):
    for name, said, drawn in tab.evaluate(MOVE):
        if not all(said) or drawn < 3 or any("NaN" in s for s in said):
            yield f"figure {name} does not draw"
        if len(set(said)) < 2:
            yield f"figure {name} does not move"


def resize(tab, size):
    tab.set_viewport_size(dict(zip(("width", "height"), SIZES[size])))
    tab.wait_for_timeout(100)


def four_views(axe, tab):
    "What axe finds in light and dark, on a phone and on a desktop, without loading the page again."
    tab.evaluate(THIN)
    for dark in (False, True):
        if dark:
            tab.evaluate("() => window.quartoToggleColorScheme()")
            tab.wait_for_timeout(100)
        for size in reversed(SIZES):
            resize(tab, size)
            words = f"{size}, {'dark' if dark else 'light'}"
            yield from (f"{words}: {t}" for t in axe_findings(axe, tab, dark))


def look(tab, address, trouble, axe):
    "What one visit of one page tells, and what of it is bad."
    trouble.clear()
    resize(tab, "desktop")
    tab.goto(address, wait_until="load")
    tab.wait_for_timeout(150)
    found = tab.evaluate(MEASURE)
    if found["wrapped"]:
        trouble.append(f"{found['wrapped']} lines of code wrap")
    trouble += figure_findings(tab)
    for size in SIZES:
        resize(tab, size)
        wide = tab.evaluate(MEASURE)["wide"]
        if wide > 1:
            trouble.append(f"{size}: {wide} px wider than the screen")
    if axe is not None:
        trouble += four_views(axe, tab)
    tab.evaluate("() => localStorage.clear()")
    return found, list(trouble)


def dead_links(rows, folder):
    "Links within the site whose page or anchor does not exist."
    seen = {}
    for page, row in rows.items():
        for link in sorted({h for h in row["links"] if h.startswith("/")}):
            path, _, anchor = urllib.parse.unquote(link[1:]).partition("#")
            target = folder/(path.partition("?")[0] or "index.html")
            target = target/"index.html" if target.is_dir() else target
            if target not in seen:
                seen[target] = target.read_text(encoding="utf-8") if target.is_file() else None
            if seen[target] is None or anchor and f'id="{anchor}"' not in seen[target]:
                yield f"{page}: {link}"


def search(browser, base):
    "The queries whose right page is not among the first three answers."
    tab = browser.new_page()
    tab.goto(f"{base}/index.html")
    missed = []
    for query, wanted in QUERIES.items():
        tab.keyboard.press("Escape")
        tab.click("#quarto-search button")
        tab.fill(".aa-Input", "")
        tab.fill(".aa-Input", query)
        tab.wait_for_timeout(700)
        links = tab.eval_on_selector_all(".aa-Item a", "ns => ns.map(n => n.href)")
        first = list(dict.fromkeys(link.split("#")[0].split("?")[0] for link in links))[:3]
        if not any(wanted.lower() in link.lower() for link in first):
            missed.append(f"{query!r}: {[link[len(base):] for link in first]}")
    tab.close()
    return missed


def as_files(browser, folder, pages):
    "Pages opened without a server: styles, formulas and figures work, and what cannot is said."
    trouble = []
    for page in pages:
        tab = browser.new_page()
        tab.on("pageerror", lambda e, page=page: trouble.append(f"{page} as a file: {e}"))
        tab.goto((folder/page).resolve().as_uri())
        tab.wait_for_timeout(300)
        if not tab.evaluate("() => getComputedStyle(document.body).margin === '0px'"):
            trouble.append(f"{page} as a file has no style")
        if not tab.query_selector(".as-file"):
            trouble.append(f"{page} does not say what files cannot do")
        trouble += [f"{page} as a file: {t}" for t in figure_findings(tab)]
        tab.close()
    return [t for t in trouble if "fetch" not in t]


def take_shots(browser, base, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for page, size, dark in SHOTS:
        context = context_of(browser, size, dark)
        tab = visit(context, base, page, [])
        place = tab.query_selector(SCROLL[page]) if page in SCROLL else None
        if place is not None:
            place.evaluate("n => n.scrollIntoView({block: 'center'})")
        if page == "compositional/theorem.html":
            link = tab.query_selector("main a.quarto-xref")
            if link is not None:
                link.scroll_into_view_if_needed()
                link.hover()
                tab.wait_for_timeout(700)
        name = page.replace("/", "-").removesuffix(".html")
        tab.screenshot(path=str(folder/f"{name}-{size}{'-dark' if dark else ''}.png"))
        context.close()


def figures_in_chromium(folder):
    "The tests of the figures' numbers, computed by the script of the rendered site in Chromium."
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_live.py"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True,
                         env={**os.environ, "BOOSTLIT_SITE": str(folder.resolve())})
    print("figures in Chromium:", run.stdout.strip().split("\n")[-1])
    return [] if run.returncode == 0 else ["figures that move: " + run.stdout[-600:]]


def launch(play):
    root = hasattr(os, "geteuid") and not os.geteuid()
    flags = ["--disable-gpu", "--disable-extensions", *(["--no-sandbox"] if root else [])]
    return play.chromium.launch(executable_path=CHROMIUM, args=flags)


def fingerprint(folder, page, quick):
    "Of what decides what a visit tells: the page, and what all pages share."
    parts = [folder/page, folder/"styles.css", folder/"live.js"]
    data = b"".join(p.read_bytes() for p in parts if p.is_file())
    return hashlib.sha256(data + bytes([quick])).hexdigest()


def known(log):
    "Visits that an earlier run wrote down."
    if log is None or not log.is_file():
        return {}
    rows = map(json.loads, log.read_text(encoding="utf-8").splitlines())
    return {row["page"]: row for row in rows}


def sweep(browser, base, pages, chosen, axe):
    "All visits, told at once; pages that are as the log has them are not visited again."
    context, done, rows, trouble = context_of(browser, "desktop", False), known(chosen.log), {}, []
    tab = watched(context, base, trouble)
    for k, page in enumerate(pages):
        mark = fingerprint(chosen.folder, page, axe is None)
        row = done.get(page)
        if row is None or row["mark"] != mark:
            found, bad = look(tab, f"{base}/{page}", trouble, axe)
            links = [link.removeprefix(base) for link in found.pop("links")]
            row = {"page": page, "mark": mark, "trouble": bad, "links": links, **found}
            if chosen.log is not None:
                with chosen.log.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
        for t in row["trouble"]:
            print(f"{page}: {t}", flush=True)
        rows[page] = row
        print(f"\r{k + 1} of {len(pages)} pages", end="", file=sys.stderr, flush=True)
    context.close()
    return rows


def weight(folder, page):
    "Bytes of a page and the pictures it shows."
    text = (folder/page).read_text(encoding="utf-8")
    here = (folder/page).parent
    shown = {here/part.split('"')[0] for part in text.split('<img src="')[1:]
             if not part.startswith("data:")}
    return len(text.encode("utf-8")) + sum(p.stat().st_size for p in shown if p.is_file())


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--shots", type=Path, help="folder for ten screenshots")
    parser.add_argument("--pages", nargs="*", help="these instead of all")
    parser.add_argument("--part", help="k/n: only every n-th page, from the k-th")
    parser.add_argument("--quick", action="store_true", help="light only, no axe")
    parser.add_argument("--log", type=Path, help="file of visits, by which a stopped run goes on")
    chosen = parser.parse_args(arguments)
    try:
        from playwright.sync_api import sync_playwright
        from axe_playwright_python.sync_playwright import Axe
    except ImportError:
        print("browser tests need playwright and axe-playwright-python: not run")
        return 0
    if CHROMIUM is None:
        print("browser tests need a Chromium on the PATH: not run")
        return 0
    server, base = serve(chosen.folder)
    pages = chosen.pages or pages_of(chosen.folder)
    if chosen.part:
        start, step = map(int, chosen.part.split("/"))
        pages = pages[start::step]
    with sync_playwright() as play:
        browser = launch(play)
        rows = sweep(browser, base, pages, chosen, None if chosen.quick else Axe())
        bad = [f"{page}: {t}" for page, row in rows.items() for t in row["trouble"]]
        dead = [f"dead link {d}" for d in dead_links(rows, chosen.folder)]
        print(*dead, sep="\n")
        bad += dead
        missed = []
        if not chosen.part:
            files = [p for p in pages if p != "404.html"]      # that one knows only its server
            bad += as_files(browser, chosen.folder, files[::8] + LIVE)
            missed = search(browser, base)
        if chosen.shots:
            take_shots(browser, base, chosen.shots)
        browser.close()
    if not chosen.part:
        bad += figures_in_chromium(chosen.folder)
    server.shutdown()
    return report(chosen.folder, rows, bad, missed)


def report(folder, rows, bad, missed):
    shares = {p: r["code"]/r["height"] for p, r in rows.items() if r["code"]}
    print("", *(f"search misses {m}" for m in missed), sep="\n")
    kinds = collections.Counter(" ".join(t.split(": ")[1:3]) for t in bad)
    index = folder/"search.json"
    print(json.dumps({
        "pages": len(rows), "findings": len(bad), "kinds": kinds,
        "searches missed": len(missed), "of": len(QUERIES),
        "median share of code": round(statistics.median(shares.values() or [0.]), 3),
        "largest share of code": round(max(shares.values(), default=0.), 3),
        "median page in kB": round(statistics.median(weight(folder, p) for p in rows)/1000),
        "search index in kB, gzipped":
            index.is_file() and round(len(gzip.compress(index.read_bytes()))/1000)}))
    return int(bool(bad or missed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
