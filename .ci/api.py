"""The API reference: a page per public name, made from the docstrings that `help()` shows.

`write(root)` puts nbs/api/<Name>.qmd and nbs/api/index.qmd in place; `.ci/export.py` calls it. The
pages are made from the generated modules alone: nothing is imported, so the same tree gives the
same pages."""
import ast
import json
import re
import textwrap
from pathlib import Path
from numpydoc.docscrape import NumpyDocString

FILE = re.compile(r"File to edit: (?:\.\./)+(nbs/\S+\.ipynb)")
GROUPS = {
    "Classifiers for tables": ["AdaBoostClassifier", "GentleBoostClassifier",
                               "LogitBoostClassifier", "QuadraticBoostClassifier",
                               "GlassBoxClassifier", "CompositionalBoostClassifier",
                               "LPBoostClassifier", "DecisionStumpClassifier"],
    "Regressors for tables": ["GentleBoostRegressor", "QuadraticBoostRegressor"],
    "One class, and one and a half": ["OneClassLPBoost", "OneAndHalfClassLPBoost"],
    "Pairs": ["PairwiseBoostClassifier", "WeightedLDA"],
    "Matrices and pictures": ["BilinearBoostClassifier", "CorrectiveBilinearClassifier",
                              "SparseBilinearClassifier"],
    "Baskets and rules": ["closed_itemsets", "frequent_itemsets", "maximal_itemsets",
                          "association_rules", "significant_itemsets", "mine_rules",
                          "read_baskets"],
    "The loop and its parts": ["boost", "Booster", "Callback", "EarlyStopping", "Checkpoint",
                               "AdaBoost", "SAMME", "Gentle", "Logistic", "MadaBoost",
                               "Multinomial", "StumpOracle"],
    "Looking at a model": ["margins", "ShapeDisplay", "StumpDisplay", "RuleDisplay",
                           "ProductDisplay", "ProjectionDisplay", "AxisDisplay",
                           "BilinearDisplay", "PatternDisplay", "GlassBoxDisplay", "TermsDisplay",
                           "HistoryDisplay"],
    "Data and files": ["load_dataset", "list_datasets", "have_dataset", "TableEncoder",
                       "save_model", "load_model"],
    "Models in other programs": ["to_python", "to_sql", "to_onnx", "to_json", "from_json"],
}


def first_sentence(text):
    line = " ".join(text.split("\n\n")[0].split())
    return re.split(r"(?<=[.!?])\s", line)[0] if line else ""


def escaped(text):
    "Words of a docstring inside a table or a paragraph of Markdown."
    text = " ".join(text.split())
    return (
        re.sub(r"([|<>*_\[\]$#])", r"\\\1", text) if "`" not in text else text.replace("|", r"\|")
    )


def signature(module, node, name):
    "The call as a reader types it, one parameter a line where it is long."
    function = node
    if isinstance(node, ast.ClassDef):
        inits = [f for f in node.body if getattr(f, "name", "") == "__init__"]
        function = inits[0] if inits else None
    if function is None:
        return f"{name}()"
    a = function.args
    args = a.posonlyargs + a.args
    defaults = [None]*(len(args) - len(a.defaults)) + list(a.defaults)
    words = [arg_text(arg, default) for arg, default in zip(args, defaults)
             if arg.arg not in ("self", "cls")]
    words += ["*" + a.vararg.arg] if a.vararg else ["*"] if a.kwonlyargs else []
    words += [arg_text(arg, default) for arg, default in zip(a.kwonlyargs, a.kw_defaults)]
    words += ["**" + a.kwarg.arg] if a.kwarg else []
    line = f"{name}({', '.join(words)})"
    if len(line) <= 80:
        return line
    return f"{name}(\n    " + ",\n    ".join(words) + ",\n)"


def arg_text(arg, default):
    return arg.arg if default is None else f"{arg.arg}={ast.unparse(default)}"


def table_of(rows, head):
    "Parameters or attributes: name, type, meaning."
    if not rows:
        return []
    out = [f"## {head}", "", '::: {.api-list}']
    for row in rows:
        kind = f" [{escaped(row.type)}]{{.api-type}}" if row.type else ""
        out += ["", f"`{row.name}`{kind}", "", ":   " + (escaped(" ".join(row.desc)) or "—")]
    return [*out, "", ":::", ""]


def returned(doc):
    lines = []
    for head in ("Returns", "Yields", "Raises"):
        rows = doc[head]
        if rows:
            said = "; ".join(" — ".join(w for w in (f"`{r.type}`" if r.type else "",
                                                   escaped(" ".join(r.desc))) if w) for r in rows)
            lines += [f"**{head}** {said}", ""]
    return lines


def example(doc, shots):
    "The example with what it printed; it is run by the tests."
    lines = doc["Examples"]
    if not lines:
        return []
    code = []
    said = []
    for line in textwrap.dedent("\n".join(lines)).split("\n"):
        if line.startswith((">>> ", "... ")) or line in (">>>", "..."):
            code.append(line[4:])
        elif line.strip():
            said.append(line)
    block = ["## Example", "", "```python", *code, "```", ""]
    return block + (["```{.default .api-output}", *said, "```", ""] if said else [])


def method_entries(house, module, node):
    "Public methods of a class and of our bases, each with its docstring."
    seen = {}
    for _, cls in house.lineage(module, node):
        for part in cls.body:
            if isinstance(part, ast.FunctionDef) and not part.name.startswith("_"):
                marks = {ast.unparse(d) for d in part.decorator_list}
                if not marks & {"property", "cached_property"} and part.name not in seen:
                    seen[part.name] = part
    out = ["## Methods", ""] if seen else []
    for name, part in sorted(seen.items()):
        doc = NumpyDocString(ast.get_docstring(part) or "")
        summary = " ".join(doc["Summary"] + doc["Extended Summary"])
        out += [f"### {name} {{#{node.name}.{name}}}", "", "```python",
                signature(module, part, name), "```", "", escaped(summary), ""]
        if doc["Parameters"]:
            rows = "; ".join(f"`{p.name}`: {escaped(' '.join(p.desc))}" for p in doc["Parameters"])
            out += [rows, ""]
        out += returned(doc)
    return out


def pages_of(house):
    "The notebook behind every module."
    found = {}
    for name, module in house.modules.items():
        match = FILE.search(module.text)
        if match:
            found[name] = match[1]
    return found


def titles(root):
    out = {}
    for path in sorted((root/"nbs").rglob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        first = "".join(cells[0]["source"]) if cells else ""
        match = re.search(r"^# (.+)$", first, re.M)
        out[path.relative_to(root).as_posix()] = match[1] if match else path.stem
    return out


STATEMENT = re.compile(r'<a id="((?:thm|lem|prp|cor|def|alg)-[\w-]+)"></a>\s*\*\*([^*]+)\*\*')
CODE = re.compile(r"code=([\w., ]+)")


def statements(root):
    "(code it names, id, label, page) of the statements that name code."
    for path in sorted((root/"nbs").rglob("*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            text = "".join(cell["source"])
            match = STATEMENT.search(text)
            code = CODE.search(text[text.find("<!-- statement:"):]) if match else None
            if code and "<!-- statement:" in text:
                for name in re.findall(r"[\w.]+", code[1]):
                    yield name, match[1], match[2].strip(" ."), path.relative_to(root/"nbs")


def page_of(house, name, home, books, heads, said):
    module = house.modules[home]
    node = module.defined[name]
    doc = NumpyDocString(ast.get_docstring(node) or "")
    summary = " ".join(doc["Summary"])
    lines = ["---", f"title: {json.dumps(name)}",
             f"description: {json.dumps(first_sentence(summary), ensure_ascii=False)}",
             "toc-depth: 3", "---", "", f"<!-- made by .ci/api.py from {home}; do not edit -->", "",
             "```python", f"from boostlit import {name}" if name in house.top else
             f"from {home.rsplit('.', 1)[0]} import {name}", signature(module, node, name), "```",
             ""]
    if doc["Extended Summary"]:
        lines += [escaped(" ".join(doc["Extended Summary"])), ""]
    lines += where(home, books, heads, said)
    lines += table_of(doc["Parameters"], "Parameters")
    lines += returned(doc)
    lines += table_of(doc["Attributes"], "Attributes after fitting"
                      if any(a.name.endswith("_") for a in doc["Attributes"]) else "Attributes")
    lines += example(doc, house)
    if isinstance(node, ast.ClassDef):
        lines += method_entries(house, module, node)
    return "\n".join(lines).rstrip() + "\n"


def where(home, books, heads, said):
    "Where the code is written and what theory it rests on."
    page = books.get(home)
    out = []
    if page:
        out.append(f"Written on the page [{heads[page]}](../{page.removeprefix('nbs/')}).")
    links = [f"[{label}](../{path.as_posix()}#{key})" for code, key, label, path in said
             if code.startswith(home)]
    if links:
        out.append("Theory: " + ", ".join(dict.fromkeys(links)) + ".")
    return [" ".join(out), ""] if out else []


def index(house, homes, groups):
    lines = ["---", 'title: "API reference"',
             'description: "Every public name by what one does with it."', "---", "",
             "Every name here can be imported from `boostlit`, or from the room that its page "
             "names. The same words stand in `help()`; each example is run by the tests.", ""]
    for group, names in groups.items():
        lines += [f"## {group}", "", "| name | what it is |", "|:--|:--|"]
        for name in names:
            doc = NumpyDocString(ast.get_docstring(house.modules[homes[name]].defined[name]) or "")
            said = escaped(first_sentence(" ".join(doc["Summary"])))
            lines.append(f"| [`{name}`]({name}.qmd) | {said} |")
        lines += [""]
    return "\n".join(lines).rstrip() + "\n"


# what readers type, and the page that answers; Quarto's own index finds only exact words
TOPICS = {
    "how to install, pip install, extras, licence, citation": "index.html#install",
    "save model, load model, model files, pickle": "core/models.html",
    "Sauer lemma, Sauer's lemma, VC dimension, growth function": "core/bounds.html",
    "feature-sign convergence, feature-sign search": "bilinear/theory.html",
    "early stopping, validation set, subsample, warm start": "core/controls.html",
    "glass box, explainable model, shape functions, EBM": "quadratic/glass_box.html",
    "closed itemsets, frequent itemsets, baskets, apriori": "mining/itemsets.html",
    "association rules, lift, confidence, significance": "mining/rules.html",
    "relabelling, products of classifiers": "quadratic/relabelling.html",
    "VC dimension of products, capacity": "quadratic/capacity.html",
    "column generation, LPBoost algorithm": "lpboost/column_generation.html",
    "one class, outliers, novelty detection": "lpboost/one_class.html",
    "weighted LDA, discriminant analysis with weights": "pairwise/projection.html",
    "spatial pyramid, scenes, Scene-15": "bilinear/scenes.html",
    "subgraph mining, graphs, molecules, gSpan": "mining/subgraphs.html",
    "SAMME, multiclass boosting, masters, losses, custom loss": "core/masters.html",
    "ledger, reproduced numbers, verdicts": "lab/ledger.html",
    "Dask, larger than memory, several machines": "distributed/training.html",
    "probabilities, calibration, predict_proba": "core/masters.html",
    "missing values, NaN, categorical columns, dates": "core/tables.html",
    "which classifier to choose": "guide/choosing.html",
    "write your own booster, sixth method": "guide/sixth_method.html",
    "errata, mistakes in the papers": "guide/errata.html",
    "notation, glossary, symbols, terms": "guide/notation.html",
    "bibliography, citations, DOI": "guide/references.html",
    "regression, continuous target, squared loss": "quadratic/regression.html",
    "interactions, monotone constraints, waterfall, Shapley values": "quadratic/glass_box.html",
    "feature importance, explain a prediction, partial dependence": "core/explaining.html",
    "export a model, ONNX, SQL, JSON, Python source": "core/exports.html",
    "itemset lattice, support, maximal itemsets": "mining/itemsets.html",
    "speed of closed itemset mining, LCM, pyfim": "lab/mining_race.html",
    "benchmark, speed, training time": "lab/benchmarks.html",
    "LightGBM, XGBoost, EBM, comparison with other methods": "lab/atlas.html",
    "molecules, SMILES, SMARTS, chemistry": "mining/molecules.html",
    "graph classification, MUTAG": "lpboost/tables.html",
    "Fisher vectors": "bilinear/fisher_scenes.html",
    "face verification, equal error rate, ROC": "pairwise/verification.html",
    "nu parameter, soft margin": "lpboost/choosing_nu.html",
    "learning curves, plots, dark figures": "core/plots.html",
    "grid search, pipelines, cross-validation": "guide/quickstart.html",
    "examples by task": "guide/gallery.html",
    "register of theorems and proofs": "lab/register.html",
}


def address(path):
    "Where nbdev and Quarto put a page: numbers in front of names are dropped."
    parts = [re.sub(r"^\d+[a-z]?_", "", part) for part in path.as_posix().split("/")]
    return "/".join(parts).replace(".ipynb", ".html").replace(".qmd", ".html")


def entry(where, title, section="", text="", key=""):
    return dict(objectID=key or where, href=where, title=title, section=section, text=text)


def search_entries(house, homes, heads, root):
    "Entries for the index of the site: topics, public names, statements."
    names = {address(Path(path).relative_to("nbs")): title for path, title in heads.items()}
    rows = [entry(where, names[where.partition("#")[0]], words, key=f"topic-{k}")
            for k, (words, where) in enumerate(TOPICS.items())]
    for name, home in sorted(homes.items()):
        doc = NumpyDocString(ast.get_docstring(house.modules[home].defined[name]) or "")
        rows.append(entry(f"api/{name}.html", name, "", first_sentence(" ".join(doc["Summary"]))))
    for path in sorted((root/"nbs").rglob("*.ipynb")):
        page = path.relative_to(root/"nbs")
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            for key, label in STATEMENT.findall("".join(cell["source"])):
                rows.append(entry(f"{address(page)}#{key}", names[address(page)],
                                  label.strip(" ."), key))
    return json.dumps(rows, indent=0, ensure_ascii=False) + "\n"


def grouped(homes):
    "The names by group, and those that no group lists by their room."
    groups = {g: [n for n in names if n in homes] for g, names in GROUPS.items()}
    rest = sorted(set(homes) - {n for names in groups.values() for n in names})
    for name in rest:
        room = homes[name].split(".")[1]
        groups.setdefault(f"More of {room}", []).append(name)
    return {g: names for g, names in groups.items() if names}


def write(house, top):
    "All pages of the reference; pages of names that are gone are removed."
    folder = house.root/"nbs"/"api"
    folder.mkdir(exist_ok=True)
    house.top = top
    homes = {n: h for n, h in house.public().items() if n in house.modules[h].defined}
    books = pages_of(house)
    heads = titles(house.root)
    said = list(statements(house.root))
    texts = {f"{n}.qmd": page_of(house, n, h, books, heads, said) for n, h in homes.items()}
    texts["index.qmd"] = index(house, homes, grouped(homes))
    for path in folder.glob("*.qmd"):
        if path.name not in texts:
            path.unlink()
    texts["search_entries.json"] = search_entries(house, homes, heads, house.root)
    for name, text in texts.items():
        path = folder/name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8", newline="\n")
    return sorted(texts)
