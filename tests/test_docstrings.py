"""What `help()`, `?` and editors show of the public names: nothing is left out, and the examples
run."""
import doctest
import inspect
import warnings
import pytest
import boostlit
from boostlit import names

docscrape = pytest.importorskip("numpydoc.docscrape")


def sections(obj):
    "Parameters and attributes that a docstring describes, each with its text."
    doc = docscrape.NumpyDocString(inspect.getdoc(obj) or "")
    pick = {title: {p.name.split(" :")[0].strip("*"): " ".join(p.desc) for p in doc[title]}
            for title in ("Parameters", "Attributes")}
    return pick["Parameters"], pick["Attributes"], doc


def signature(obj):
    skip = ("self", "cls")
    return [p for p in inspect.signature(obj).parameters if p not in skip]


def callables(name):
    "A public name and its public methods that are written in this package."
    thing = getattr(boostlit, name)
    yield name, thing
    if inspect.isclass(thing):
        for key in sorted(dir(thing)):
            member = inspect.getattr_static(thing, key)
            member = getattr(member, "__func__", member)
            if inspect.isfunction(member) and not key.startswith("_") \
                    and member.__module__.startswith("boostlit"):
                yield f"{name}.{key}", member


def gaps(name):
    "Everything about a public name that its docstring does not say."
    for where, thing in callables(name):
        if not (inspect.getdoc(thing) or "").strip():
            yield f"{where}: summary"
            continue
        described, _, doc = sections(thing)
        for parameter in signature(thing):
            if not described.get(parameter, "").strip():
                yield f"{where}: parameter {parameter}"
        for parameter in set(described) - set(signature(thing)):
            yield f"{where}: describes {parameter}, which it does not take"
        if where == name and not doc["Examples"]:
            yield f"{name}: example"


def run_example(name):
    "Failures of the example of a name, and the variables it leaves behind."
    thing = getattr(boostlit, name)
    text = "\n".join(sections(thing)[2]["Examples"])
    space = {}
    test = doctest.DocTestParser().get_doctest(text, space, name, None, 0)
    report = []
    flags = doctest.NORMALIZE_WHITESPACE
    runner = doctest.DocTestRunner(verbose=False, optionflags=flags)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runner.run(test, out=report.append, clear_globs=False)
    return len(test.examples), "".join(report), test.globs


def fitted_gaps(name):
    "Fitted attributes of the example's object that the docstring does not describe, and failures."
    import matplotlib
    matplotlib.use("agg")
    thing = getattr(boostlit, name)
    count, failures, space = run_example(name)
    if failures or not count:
        yield f"{name}: example fails: {failures}"
    if inspect.isclass(thing):
        made = [v for v in space.values() if isinstance(v, thing)]
        if not made:
            yield f"{name}: its example makes none"
        described = sections(thing)[1]
        for key in [k for v in made[-1:] for k in vars(v)]:
            if key.endswith("_") and not key.startswith("_") and not described.get(key, "").strip():
                yield f"{name}: attribute {key}"


@pytest.mark.parametrize("name", names.PUBLIC)
def test_docstring_is_whole(name):
    found = sorted({*gaps(name), *fitted_gaps(name)})
    assert not found, f"see CONTRIBUTING.md, Docstrings: {found}"


def test_a_gap_would_be_found(monkeypatch):
    "The test above can fail: a docstring without one of its parameters is caught."
    cls = boostlit.AdaBoostClassifier
    doc = cls.__doc__.replace("n_estimators :", "rounds :")
    monkeypatch.setattr(cls, "__doc__", doc)
    found = set(gaps("AdaBoostClassifier"))
    assert "AdaBoostClassifier: parameter n_estimators" in found
    assert "AdaBoostClassifier: describes rounds, which it does not take" in found


def test_types_and_defaults_are_those_of_the_code():
    doc = docscrape.NumpyDocString(inspect.getdoc(boostlit.QuadraticBoostClassifier))
    kinds = {p.name: p.type for p in doc["Parameters"]}
    default = inspect.signature(boostlit.QuadraticBoostClassifier).parameters["degree"].default
    assert kinds["degree"] == f"int, default={default}"
