"""Reads the rendered site as a browser does: `python .ci/browser.py _docs [--shots folder]`.

Opens every page from a static server with all other hosts cut off, in light and dark, on a desktop
and a phone, and reports what a reader would stumble over: errors in the console, requests to other
hosts, dead links, pages wider than the screen, wrapped code, findings of axe (serious or critical,
and contrast), figures that move and do not, searches that miss. Needs playwright,
axe-playwright-python and a Chromium; says so and stops where they are missing."""
import argparse
import functools
import http.server
import json
import os
import shutil
import statistics
import sys
import threading
from pathlib import Path

CHROMIUM = next((p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))
                 if p), None)
SIZES = {"desktop": (1280, 900), "phone": (390, 844)}
QUERIES = {
    "save model": "core/models", "Sauer lemma": "core/bounds", "how to install": "index",
    "feature-sign convergence": "bilinear/theory", "LPBoostClassifier": "LPBoostClassifier",
    "QuadraticBoostClassifier": "QuadraticBoostClassifier", "glass box": "glass_box",
    "closed itemsets": "itemset", "association rules": "rules", "relabelling": "relabelling",
    "VC dimension": "capacity", "early stopping": "controls", "column generation": "column",
    "one class": "one_class", "weighted LDA": "projection", "spatial pyramid": "scenes",
    "subgraph": "subgraphs", "SAMME": "masters", "ledger": "ledger", "Dask": "training",
}


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *words):
        pass


def serve(folder):
    handler = functools.partial(Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_port}"


def pages_of(folder):
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*.html")
                  if "site_libs" not in p.parts)


MEASURE = """() => {
  const main = document.querySelector("main");
  const area = nodes => [...nodes].reduce((s, n) => s + n.getBoundingClientRect().height, 0);
  const code = main ? main.querySelectorAll(".cell-code, .cell div.sourceCode") : [];
  const shown = [...code].filter(n => n.checkVisibility() && !n.parentElement.closest(".cell-code"));
  const lines = [...document.querySelectorAll("main code.sourceCode > span")].filter(n => n.checkVisibility());
  return {
    wide: document.documentElement.scrollWidth - window.innerWidth,
    height: main ? main.getBoundingClientRect().height : 0, code: area(shown),
    wrapped: lines.filter(n => n.getClientRects().length > 1).length,
    links: [...document.querySelectorAll("a[href]")].map(a => a.href),
    live: [...document.querySelectorAll(".live")].map(n => [n.dataset.figure, n.dataset.answer || ""]),
  };
}"""


def look(browser, base, page, size, dark, axe):
    "Everything one visit of one page tells."
    context = browser.new_context(viewport=dict(zip(("width", "height"), SIZES[size])),
                                  color_scheme="dark" if dark else "light")
    if dark:
        context.add_init_script("localStorage.setItem('quarto-color-scheme', 'alternate')")
    tab = context.new_page()
    trouble = []
    tab.on("console", lambda m: trouble.append(f"console: {m.text}") if m.type == "error" else None)
    tab.on("pageerror", lambda e: trouble.append(f"error: {e}"))

    def gate(route):
        if route.request.url.startswith((base, "data:", "blob:")):
            route.continue_()
        else:
            trouble.append(f"asks {route.request.url}")
            route.abort()
    tab.route("**/*", gate)
    tab.goto(f"{base}/{page}")
    tab.wait_for_load_state("networkidle")
    found = tab.evaluate(MEASURE)
    if axe is not None:
        for rule in axe.run(tab).response["violations"]:
            if rule["impact"] in ("serious", "critical") or rule["id"] == "color-contrast":
                trouble += [f"axe {rule['id']}: {n['target']}" for n in rule["nodes"][:4]]
    if found["wide"] > 1:
        trouble.append(f"{found['wide']} px wider than the screen")
    if size == "desktop" and found["wrapped"]:
        trouble.append(f"{found['wrapped']} lines of code wrap")
    trouble += [f"figure {name} did not draw" for name, answer in found["live"] if not answer]
    context.close()
    return found, trouble


def dead_links(found, base, folder):
    "Links within the site whose page or anchor does not exist."
    seen = {}
    for page, links in found.items():
        for link in {h for h in links if h.startswith(base)}:
            path, _, anchor = link[len(base) + 1:].partition("#")
            target = folder/(path or "index.html")
            target = target/"index.html" if target.is_dir() else target
            if target not in seen:
                seen[target] = target.read_text(encoding="utf-8") if target.is_file() else None
            if seen[target] is None or anchor and f'id="{anchor}"' not in seen[target]:
                yield f"{page}: {link[len(base):]}"


def search(browser, base):
    "Which of the first three answers to each query is the right page."
    tab = browser.new_page()
    tab.goto(f"{base}/index.html")
    tab.wait_for_load_state("networkidle")
    missed = []
    for query, wanted in QUERIES.items():
        tab.click("#quarto-search button")
        tab.fill("#quarto-search input, .aa-Input", query)
        tab.wait_for_timeout(900)
        links = tab.eval_on_selector_all(".aa-Item a, .search-result-doc, .aa-Item",
                                         "ns => ns.map(n => n.href || '').filter(Boolean)")
        first = list(dict.fromkeys(link.split("#")[0] for link in links))[:3]
        if not any(wanted.lower() in link.lower() for link in first):
            missed.append(f"{query!r}: {[link[len(base):] for link in first]}")
        tab.keyboard.press("Escape")
    return missed


SHOTS = [("index.html", "desktop", False), ("index.html", "phone", False),
         ("index.html", "desktop", True), ("quadratic/index.html", "desktop", False),
         ("quadratic/index.html", "phone", True), ("compositional/theorem.html", "desktop", False),
         ("api/QuadraticBoostClassifier.html", "desktop", False),
         ("lab/ledger.html", "desktop", False), ("lab/ledger.html", "phone", False),
         ("lpboost/index.html", "desktop", True)]


def take_shots(browser, base, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for page, size, dark in SHOTS:
        context = browser.new_context(viewport=dict(zip(("width", "height"), SIZES[size])))
        if dark:
            context.add_init_script("localStorage.setItem('quarto-color-scheme', 'alternate')")
        tab = context.new_page()
        tab.goto(f"{base}/{page}")
        tab.wait_for_load_state("networkidle")
        name = page.replace("/", "-").removesuffix(".html")
        tab.screenshot(path=str(folder/f"{name}-{size}{'-dark' if dark else ''}.png"))
        context.close()


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--shots", type=Path)
    parser.add_argument("--pages", nargs="*")
    parser.add_argument("--quick", action="store_true", help="desktop and light only, no axe")
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
    views = [("desktop", False)] if chosen.quick else [(s, d) for s in SIZES for d in (False, True)]
    bad, links, shares = [], {}, {}
    with sync_playwright() as play:
        flags = ["--no-sandbox", "--disable-gpu"] if os.geteuid() == 0 else []
        browser = play.chromium.launch(executable_path=CHROMIUM, args=flags)
        for k, page in enumerate(pages):
            for size, dark in views:
                found, trouble = look(browser, base, page, size, dark,
                                      None if chosen.quick else Axe())
                bad += [f"{page} ({size}{', dark' if dark else ''}): {t}" for t in trouble]
                links[page] = found["links"]
                if size == "desktop" and not dark and found["height"]:
                    shares[page] = found["code"]/found["height"]
            print(f"\r{k + 1} of {len(pages)} pages", end="", file=sys.stderr, flush=True)
        bad += [f"dead link {d}" for d in dead_links(links, base, chosen.folder)]
        missed = search(browser, base)
        if chosen.shots:
            take_shots(browser, base, chosen.shots)
        browser.close()
    server.shutdown()
    print(*bad, sep="\n")
    print(*(f"search misses {m}" for m in missed), sep="\n")
    weights = [(chosen.folder/p).stat().st_size for p in pages]
    print(json.dumps({"pages": len(pages), "findings": len(bad), "searches missed": len(missed),
                      "median share of code": round(statistics.median(shares.values()), 3),
                      "median page in kB": round(statistics.median(weights)/1000)}))
    return int(bool(bad or missed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
