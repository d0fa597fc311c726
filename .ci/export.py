"""The press: notebooks to modules, then docstrings that `help()`, `?`, editors and the site share.

nbdev writes the code cells of `nbs/` into `boostlit/`. What it leaves behind a parameter is a
comment,
which `help()` never sees. The second half of this script reads those comments and writes a numpydoc
docstring for every public class and function, and for their public methods, into the generated
file:
summary, parameters with types and defaults, returns, fitted attributes, an example with its output.
Notebooks stay as they are. CONTRIBUTING.md says what to write where."""
import ast
import functools
import io
import json
import os
import re
import runpy
import subprocess
import sys
import textwrap
import tokenize
from pathlib import Path
import api

ROOT = Path(__file__).resolve().parents[1]
ATTRIBUTE = re.compile(r"#:\s*(\w+)\s*(?:\(((?:[^()]|\([^()]*\))*)\))?\s*:\s*(.+)")
EXAMPLE = re.compile(r"^#\|\s*example\s+(.+)$", re.M)

# Words that mean the same everywhere; a comment behind a parameter goes before them.
WORDS = {
    "X": "rows, one per example: an array, or a table with named columns",
    "y": "label of every row",
    "sample_weight": "weight of every row; None: all the same",
    "est": "a fitted estimator",
    "estimator": "a fitted estimator",
    "ax": "axes to draw on; None: new ones",
    "path": "where the file is",
    "deep": "also the parameters of estimators inside",
    "kwargs": "passed on",
    "n_jobs": "threads or processes to share the work; None: one",
    "random_state": "seed or generator of random numbers",
    "verbose": "show a progress bar",
    "progress": "show a progress bar",
    "input_features": "names of the input columns; None: those seen by `fit`",
    "y_true": "labels to compare with",
    "normalize": "shares instead of counts",
    "classes_": "the classes, sorted; columns of probabilities are in this order",
    "n_classes_": "how many classes there are",
    "n_features_in_": "number of columns seen by `fit`",
    "ax_": "the axes that were drawn on",
    "axes_": "the axes that were drawn on",
    "figure_": "the figure they belong to",
    "axes": "axes to draw on; None: new ones",
    "top": "how many of the strongest terms to show",
    "kinds_": "\"numeric\" or \"nominal\", one per column",
    "categories_": "words of every nominal column, None for a numeric one",
    "history_": "one row per round, as an Arrow table",
    "terms_": "the model in words, one row per term, as an Arrow table",
    "alphas_": "weight of every round",
    "estimators_": "the base classifiers, where they are not stumps",
    "stumps_": "the stumps, as records",
    "targets": "what the hypothesis should answer, one number per row",
    "w": "weight of every row",
    "weights": "weight of every row",
    "stump": "a hypothesis that the oracle has answered with",
    "hypothesis": "a hypothesis that the oracle has answered with",
    "run": "the conversation so far: its parts, its history, its settings",
    "state": "where the master stands: labels, weights, scores",
    "outputs": "answers of the hypothesis on the training rows",
    "gain": "what the oracle says the hypothesis is worth",
    "codes": "class number of every row",
    "callbacks": "functions of the run, called after every round",
    "classes": "the classes, in order",
    "columns": "hypotheses of every part, round by round",
    "parameters": "parameters of the estimator, by name",
    "k": "number of the part",
    "part": "a part of the run: one labelling of the rows",
    "step": "length of the step that is tried",
    "contribution": "what the feature adds to the score, along the grid",
    "feature": "number of the feature",
    "grid": "values of the feature",
    "missing_": "which columns had missing values in training",
    "readings_": "how every column of the table was read",
    "coef_": "weights of the features, one row per class",
    "intercept_": "constant of every class",
    "means_": "mean of every class",
    "priors_": "share of every class",
    "scalings_": "the axes, one per column",
    "xbar_": "mean of all rows",
    "explained_variance_ratio_": "share of the spread between classes along every axis",
    "models_": "the fitted programs, one per class against the rest",
    "offset_": "the score below which a row is a stranger",
    "coefficient": "what the hypothesis counts for",
    "hypotheses": "what the oracle has answered so far",
    "names": "names of the columns",
    "loss": "which loss is minimised",
    "coefficients": "what the hypothesis counts for",
    "scores": "score of every row so far",
    "n_classes": "how many classes there are",
    "feature_names_in_": "names of the columns seen by `fit`, where it was given a table",
}
# What the methods of scikit-learn's protocol do, where the notebook leaves it unsaid.
METHODS = {
    "predict": "Class of every row.",
    "predict_proba": "Probability of every class, one row per example.",
    "decision_function": "Score of every row; its sign, or its largest column, is the class.",
    "staged_predict": "Classes of every row, after each round.",
    "staged_predict_proba": "Probabilities of every row, after each round.",
    "staged_decision_function": "Scores of every row, after each round.",
    "staged_score": "Accuracy after each round.",
    "score": "Share of rows whose class is predicted rightly.",
    "transform": "The rows in their new form.",
    "inverse_transform": "Rows in their old form.",
    "fit_transform": "Fit, then transform the same rows.",
    "fit_predict": "Fit, then predict the same rows.",
    "get_feature_names_out": "Names of the columns that `transform` makes.",
    "set_params": "Change parameters by name.",
    "get_params": "Parameters by name.",
    "question": "Targets and weights of the next question to the oracle.",
    "spread": "What a hypothesis adds to the score of every class.",
    "proba": "Probabilities of the classes, from scores.",
}


# ------------------------------------------------------------------ reading the generated modules
class Module:
    "A generated module: its text, tree, comments by line, and where its names come from."

    def __init__(self, path, root):
        self.path = path
        self.text = path.read_text(encoding="utf-8")
        parts = path.relative_to(root).with_suffix("").parts
        self.package = parts if path.name == "__init__.py" else parts[:-1]
        self.name = ".".join(parts)
        self.lines = self.text.split("\n")
        self.tree = ast.parse(self.text)
        self.imports = dict(self._imports())
        self.defined = {node.name: node for node in self.tree.body
                        if isinstance(node, (ast.ClassDef, ast.FunctionDef))}

    @functools.cached_property
    def comments(self):
        return {t.start[0]: t.string for t in _tokens(self.text) if t.type == tokenize.COMMENT}

    def _imports(self):
        for node in self.tree.body:
            if not isinstance(node, ast.ImportFrom):
                continue
            home = node.module or ""
            if node.level:
                base = self.package[:len(self.package) - node.level + 1]
                home = ".".join([*base, *home.split(".")] if home else base)
            for alias in node.names:
                yield alias.asname or alias.name, (home, alias.name)


def _tokens(text):
    return tokenize.generate_tokens(io.StringIO(text).readline)


class House:
    "All generated modules, what is public, and the examples on the pages."

    def __init__(self, root=ROOT):
        self.root = root
        paths = [p for p in (root/"boostlit").rglob("*.py") if p.name != "_modidx.py"]
        self.modules = {m.name: m for m in (Module(p, root) for p in sorted(paths))}
        self.examples = examples(root)
        self.missing = []

    def public(self):
        "Where each public name lives: {name: module}."
        home_of = runpy.run_path(str(self.root/"boostlit"/"names.py"))["HOME_OF"]
        found = {name: "boostlit." + home for name, home in home_of.items()}
        for module in self.modules.values():
            if module.path.name == "__init__.py" and len(module.package) == 2:
                found |= self._offered(module)
        return found

    def _offered(self, module):
        "Names that a room's `__init__` hands on, eagerly or by a table HOMES."
        homes = {n: home for n, (home, n2) in module.imports.items() if n == n2}
        for node in module.tree.body:
            target = node.targets[0] if isinstance(node, ast.Assign) else None
            if getattr(target, "id", "").endswith("HOMES"):
                table = ast.literal_eval(node.value)
                homes |= {n: f"{'.'.join(module.package)}.{home}" for home, names in table.items()
                          for n in names}
        return {n: home for n, home in homes.items()
                if home in self.modules and n in self.modules[home].defined}

    def find(self, module, name):
        "The class `name` as seen from `module`: (its module, its tree), or None."
        if name in module.defined:
            return module, module.defined[name]
        home, original = module.imports.get(name, (None, None))
        if home not in self.modules:
            return None
        return self.find(self.modules[home], original)

    def lineage(self, module, node):
        "A class of ours and its bases that are ours, in about the order Python looks them up."
        found = [(module, node)]
        for base in node.bases:
            name = base.id if isinstance(base, ast.Name) else ""
            place = self.find(module, name)
            if place:
                found += [p for p in self.lineage(*place) if p not in found]
        return found


def examples(root):
    "Code cells marked `#| example Name`, as (source, printed text) by name."
    found = {}
    for path in sorted((root/"nbs").rglob("*.ipynb")):
        if "checkpoints" in str(path):
            continue
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            source = "".join(cell["source"])
            marks = EXAMPLE.findall(source) if cell["cell_type"] == "code" else []
            for name in " ".join(marks).split():
                found.setdefault(name, (source, printed(cell)))
    return found


def printed(cell):
    "What a cell printed, and the value it ended with."
    text = ""
    for output in cell.get("outputs", []):
        if output["output_type"] == "stream" and output.get("name") == "stdout":
            text += "".join(output["text"])
        elif output["output_type"] == "execute_result":
            text += "".join(output["data"].get("text/plain", ""))
    return text


# ------------------------------------------------------------------ what a name takes and gives
def annotation(node):
    "A type as a reader writes it."
    if node is None:
        return ""
    text = node.value if isinstance(node, ast.Constant) and node.value else ast.unparse(node)
    return re.sub(r"\s*\|\s*", " | ", str(text).replace("np.ndarray", "ndarray"))


def parameters(module, function):
    "(name, type, default, comment) of every parameter but self."
    a = function.args
    args = a.posonlyargs + a.args
    defaults = [None]*(len(args) - len(a.defaults)) + list(a.defaults)
    rows = list(zip(args, defaults))
    rows += [(a.vararg, None)]*(a.vararg is not None)
    rows += list(zip(a.kwonlyargs, a.kw_defaults))
    rows += [(a.kwarg, None)]*(a.kwarg is not None)
    last = {arg.lineno: arg for arg, _ in rows}     # a comment belongs to the last name on its line
    body = function.body[0].lineno
    out = []
    for arg, default in rows:
        if arg.arg in ("self", "cls"):
            continue
        end = (default or arg).end_lineno
        said = module.comments.get(end, "") if last[arg.lineno] is arg and end < body else ""
        said = said or comment_above(module, arg, function)
        stars = "*"*(arg is a.vararg) + "**"*(arg is a.kwarg)
        value = source(module, default)
        out.append((stars + arg.arg, annotation(arg.annotation), value, meaning(said)))
    return out


def comment_above(module, arg, function):
    "The lines of comment straight above a parameter that begins its line."
    words = []
    line = arg.lineno - 1
    while line > function.lineno and module.lines[line - 1].lstrip().startswith("#"):
        words.insert(0, meaning(module.comments[line]))
        line -= 1
    return " ".join(words)


def source(module, node):
    "An expression as it is written in the notebook (columns of a tree count bytes)."
    if node is None:
        return ""
    lines = [line.encode() for line in module.lines[node.lineno - 1:node.end_lineno]]
    lines[-1] = lines[-1][:node.end_col_offset]
    lines[0] = lines[0][node.col_offset:]
    return " ".join(b"\n".join(lines).decode().split())


def fields(module, node):
    "The same for a NamedTuple or a dataclass, from the lines of its body."
    return [(s.target.id, annotation(s.annotation), source(module, s.value),
             meaning(module.comments.get(s.end_lineno, "")))
            for s in node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]


def meaning(comment):
    return re.sub(r"^#+\s*", "", comment).strip()


def returned(module, function):
    "(type, comment) of what a function gives back."
    if function.returns is None:
        return "", ""
    line = function.returns.end_lineno
    said = module.comments.get(line, "") if line < function.body[0].lineno else ""
    return annotation(function.returns), meaning(said)


def methods(node):
    return {s.name: s for s in node.body if isinstance(s, ast.FunctionDef)}


def is_property(function):
    marks = {ast.unparse(d) for d in function.decorator_list}
    return bool(marks & {"property", "cached_property", "functools.cached_property"})


def attributes(house, module, node):
    "(name, type, meaning) of what a class leaves on itself, its bases included."
    found = {}
    for home, cls in house.lineage(module, node):
        for line in range(cls.lineno, cls.end_lineno + 1):
            match = ATTRIBUTE.match(home.comments.get(line, ""))
            if match:
                found.setdefault(match[1], (match[2] or "", match[3]))
        for name, function in methods(cls).items():
            if is_property(function) and not name.startswith("_"):
                said = ast.get_docstring(function) or returned(home, function)[1]
                found.setdefault(name, (returned(home, function)[0], said))
        for part in ast.walk(cls):
            fitted = isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store)
            if fitted and getattr(part.value, "id", "") == "self" and \
                    re.fullmatch(r"[a-z]\w*[a-z0-9]_", part.attr):
                found.setdefault(part.attr, ("", WORDS.get(part.attr, "")))
    if is_estimator(house, module, node):
        for name in usual_attributes(house, module, node):
            found.setdefault(name, ("", WORDS[name]))
    return [(name, kind, said) for name, (kind, said) in found.items()]


def usual_attributes(house, module, node):
    "What scikit-learn, its discriminant analysis and our reading of tables leave on an estimator."
    line = house.lineage(module, node)
    bases = {ast.unparse(b).rpartition(".")[2] for _, c in line for b in c.bases}
    names = ["n_features_in_", "feature_names_in_"]
    if bases & {"ClassifierMixin", "LinearDiscriminantAnalysis"}:
        names.append("classes_")
    if any("tabular_input" in home.text for home, _ in line):
        names += ["kinds_", "categories_", "missing_", "readings_"]
    if node.name == "WeightedLDA" or "LinearDiscriminantAnalysis" in bases:
        names += ["coef_", "intercept_", "means_", "priors_", "scalings_", "xbar_",
                  "explained_variance_ratio_"]
    return names


def is_estimator(house, module, node):
    return any(
        ast.unparse(b).endswith(("BaseEstimator", "LinearDiscriminantAnalysis"))
        for _, c in house.lineage(module, node)
        for b in c.bases
    )


# ------------------------------------------------------------------ writing a docstring
def wrapped(text, indent):
    text = re.sub(r"\s+", " ", text).strip()
    return textwrap.wrap(text, 92 - indent, initial_indent="    ", subsequent_indent="    ",
                         break_long_words=False, break_on_hyphens=False)


def section(title, rows, indent):
    "A section of numpydoc: name : type, then its meaning further in."
    if not rows:
        return []
    lines = ["", title, "-"*len(title)]
    for head, said in rows:
        lines += [head, *wrapped(said, indent)]
    return lines


def as_elsewhere(house, module, rows):
    "Meanings behind the parameters of a function or class that a comment names: \"as for `f`\"."
    for *_, said in rows:
        match = re.search(r"as (?:for|in) `(\w+)`", said)
        place = house.find(module, match[1]) if match else None
        if place:
            home, node = place
            node = methods(node).get("__init__") if isinstance(node, ast.ClassDef) else node
            return {n.strip("*"): s for n, _, _, s in parameters(home, node)} if node else {}
    return {}


def heads(house, where, module, rows, inherited=()):
    "Rows of a Parameters section; a missing meaning is taken from a base, then from the words."
    inherited = as_elsewhere(house, module, rows) | dict(inherited)
    for name, kind, default, said in rows:
        bare = name.strip("*")
        if re.search(r"as (?:for|in) `(\w+)`$", said) and bare in inherited:
            said = ""
        said = said or inherited.get(bare, "") or WORDS.get(bare, "")
        if not said:
            house.missing.append(f"{where}: parameter {name}")
        kind = ", ".join(t for t in (kind, f"default={default}" if default else "") if t)
        yield f"{name} : {kind}" if kind else name, said


def example_lines(source, output):
    "A cell as a doctest: prompts, and what the last statement printed."
    rows = [line for line in source.split("\n") if not re.match(r"#\s*\|", line)]
    code = "\n".join(rows).strip("\n")
    rows = code.split("\n")
    starts = {node.lineno for node in ast.parse(code).body}
    lines = []
    for number, row in enumerate(rows, 1):
        if number in starts or row.startswith("#"):
            lines.append(">>> " + row)
        elif row or number < len(rows) and number + 1 not in starts and rows[number][:1] != "#":
            lines.append(("... " + row).rstrip())
    return lines + [line.rstrip() or "<BLANKLINE>" for line in output.rstrip("\n").split("\n")
                    if output.strip()]


def class_doc(house, module, node, name):
    "Docstring of a public class."
    summary = ast.get_docstring(node) or ""
    init = next(((m, methods(c)["__init__"]) for m, c in house.lineage(module, node)
                 if "__init__" in methods(c)), None)
    rows = parameters(*init) if init else fields(module, node)
    lines = summary.split("\n")
    indent = 4
    place = init[0] if init else module
    inherited = inherited_comments(house, module, node, "__init__")
    lines += section("Parameters", list(heads(house, name, place, rows, inherited)), indent)
    found = attributes(house, module, node)
    house.missing += [f"{name}: attribute {n}" for n, _, said in found if not said]
    lines += section("Attributes", [(f"{n} : {k}" if k else n, s) for n, k, s in found], indent)
    return lines + example_section(house, name)


def example_section(house, name):
    if name not in house.examples:
        house.missing.append(f"{name}: example")
        return []
    return ["", "Examples", "--------", *example_lines(*house.examples[name])]


def function_doc(house, module, function, where, inherited=(), example=True, indent=4, base=""):
    "Docstring of a public function, or of a method; `base` is what an overridden method says."
    summary = ast.get_docstring(function) or base or METHODS.get(function.name, "")
    if not summary:
        house.missing.append(f"{where}: summary")
        return []
    lines = summary.split("\n")
    if is_property(function):
        return lines
    rows = parameters(module, function)
    kind, said = returned(module, function)
    inherited = as_elsewhere(house, module, [(said,)]) | dict(inherited)
    lines += section("Parameters", list(heads(house, where, module, rows, inherited)), indent)
    if kind and kind != "None":
        if not said and kind in (where.split(".")[0], "Self"):
            said = "the estimator itself"
        title = "Yields" if kind.startswith(("Iterator", "Generator")) else "Returns"
        lines += section(title, [(kind, said)], indent)
    return lines + (example_section(house, where) if example else [])


def inherited_comments(house, module, node, method):
    "Comments behind the parameters of the methods that this one overrides."
    found = {}
    for home, cls in house.lineage(module, node)[1:]:
        if method in methods(cls):
            for name, _, _, said in parameters(home, methods(cls)[method]):
                if said:
                    found.setdefault(name.strip("*"), said)
    return found


def inherited_summary(house, module, node, method):
    "What the nearest overridden method says of itself."
    said = [ast.get_docstring(methods(cls)[method]) for _, cls in house.lineage(module, node)[1:]
            if method in methods(cls)]
    return next((s for s in said if s), "")


# ------------------------------------------------------------------ putting it into the file
def edit(node, lines, text_lines):
    "The change that gives `node` this docstring: (first line, last line, new lines)."
    body = node.body[0]
    indent = " "*(node.col_offset + 4)
    text = "\n".join(lines).replace("\\", "\\\\").replace('"""', r'\"\"\"').strip()
    single = "\n" not in text and len(indent) + len(text) < 92
    quoted = f'"""{text}"""' if single else f'"""{text}\n"""'
    new = [(indent + line).rstrip() for line in quoted.split("\n")]
    has_one = isinstance(body, ast.Expr) and isinstance(getattr(body.value, "value", None), str)
    first = text_lines[body.lineno - 1]
    head = first[:body.col_offset].rstrip()
    if has_one:
        rest = text_lines[body.end_lineno - 1][body.end_col_offset:].strip().lstrip(";").strip()
        new = [head]*bool(head) + new + [indent + rest]*bool(rest and not rest.startswith("#"))
        return body.lineno, body.end_lineno, new
    if head:                               # a body on the line of its head
        return body.lineno, body.lineno, [head, *new, indent + first[body.col_offset:]]
    return body.lineno, body.lineno - 1, new


def documented(house):
    "The new text of every module that holds a public name: {module name: text}."
    edits = {}
    done = set()
    for name, home in house.public().items():
        module = house.modules[home]
        node = module.defined.get(name)
        if node is None:
            house.missing.append(f"{name}: is not a class or function of {home}")
            continue
        if isinstance(node, ast.FunctionDef):
            put(edits, done, module, node, function_doc(house, module, node, name))
            continue
        put(edits, done, module, node, class_doc(house, module, node, name))
        for place, cls in house.lineage(module, node):
            for method, function in methods(cls).items():
                if not method.startswith("_"):
                    words = inherited_comments(house, place, cls, method)
                    where = f"{cls.name}.{method}"
                    if (place.name, function.lineno) not in done:
                        base = inherited_summary(house, place, cls, method)
                        lines = function_doc(house, place, function, where, words, False, 8, base)
                        put(edits, done, place, function, lines)
    return {name: apply(house.modules[name], changes) for name, changes in edits.items()}


def put(edits, done, module, node, lines):
    if lines and (module.name, node.lineno) not in done:
        done.add((module.name, node.lineno))
        edits.setdefault(module.name, []).append(edit(node, lines, module.text.split("\n")))


def apply(module, changes):
    "The text of a module after its changes, from the last to the first."
    lines = module.text.split("\n")
    for first, last, new in sorted(changes, reverse=True):
        lines[first - 1:last] = new
    text = "\n".join(lines)
    bare = [strip_docstrings(ast.parse(t)) for t in (module.text, text)]
    if bare[0] != bare[1]:
        raise RuntimeError(f"docstrings changed the code of {module.name}")
    return text


def strip_docstrings(tree):
    "A module as code alone, to compare before and after."
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr) and \
                isinstance(getattr(body[0].value, "value", None), str):
            body[:1] = []
    return ast.dump(tree)


def stub(root=ROOT):
    "Text of `boostlit/__init__.pyi`: what `import boostlit` offers, for editors and type checkers."
    homes = runpy.run_path(str(root/"boostlit"/"names.py"))["HOMES"]
    lines = [f"from .{home} import " + ", ".join(f"{n} as {n}" for n in names)
             for home, names in homes.items()]
    head = ('"What `import boostlit` offers, for editors and type checkers; '
            'made by the page Names."')
    return "\n".join([head, *lines, "__version__: str", "__all__: list[str]", ""])


MAIN = '''"`python -m boostlit`: the command line, without its script on the path."
from .lab.command import main

if __name__ == "__main__":
    raise SystemExit(main())
'''


def narrow(text):
    "A generated module without options of cells, docstring and `__all__` at most 100 columns wide."
    text = re.sub(r"^#\| .*\n", "", text, flags=re.M)
    line = next((n for n in text.split("\n") if n.startswith('"""') and n.endswith('"""')), "")
    if len(line) > 100:
        text = text.replace(line, "\n".join(textwrap.wrap(line, 100, break_on_hyphens=False)), 1)
    found = re.search(r"^__all__ = \[.*?\]\n", text, re.M | re.S)
    if not found:
        return text
    words = " ".join(found[0].split())
    lines = textwrap.wrap(words, 100, subsequent_indent=" "*11, break_on_hyphens=False)
    return text.replace(found[0], "\n".join(lines) + "\n", 1)


def decorate(root=ROOT):
    "Write the docstrings, the stub and `__main__`; returns what is not documented yet."
    house = House(root)
    for name, text in documented(house).items():
        house.modules[name].path.write_text(text, encoding="utf-8", newline="\n")
    for path in (root/"boostlit").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        path.write_text(narrow(text), encoding="utf-8", newline="\n")
    for name, text in (("__init__.pyi", stub(root)), ("__main__.py", MAIN)):
        (root/"boostlit"/name).write_text(text, encoding="utf-8", newline="\n")
    api.write(House(root), set(runpy.run_path(str(root/"boostlit"/"names.py"))["PUBLIC"]))
    return sorted(set(house.missing))


def export(root=ROOT):
    "Notebooks to modules, and docstrings into them; a file that stays as it was keeps its date."
    before = {p: (p.read_bytes(), p.stat()) for p in (root/"boostlit").rglob("*.py*")
              if p.suffix in (".py", ".pyi")}
    subprocess.run([Path(sys.executable).parent/"nbdev_export"], cwd=root, check=True)
    missing = decorate(root)
    for path, (content, stat) in before.items():        # compiled kernels are kept by date
        if path.exists() and path.read_bytes() == content:
            os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    return missing


if __name__ == "__main__":
    missing = export(Path.cwd() if (Path.cwd()/"settings.ini").is_file() else ROOT)
    if "--report" in sys.argv:
        print(*missing, f"{len(missing)} gaps", sep="\n")
