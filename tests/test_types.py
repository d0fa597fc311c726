"Type hints of the public interface: mypy reads the installed package and finds them consistent."
import os, subprocess, sys
from pathlib import Path
import pytest
import boostlit
pytest.importorskip("mypy")

# what numerical code in short functions cannot promise: numpy and numba are dynamic, parameters default to None, dictionaries are plain
LENIENT = ["assignment", "var-annotated", "arg-type", "operator", "misc", "call-arg", "call-overload", "union-attr", "index", "list-item", "dict-item", "attr-defined", "no-redef", "return", "return-value", "valid-type", "has-type", "override", "import-untyped", "import-not-found", "func-returns-value"]


def test_annotations_are_consistent(tmp_path):
    "Every annotation parses, names what exists, and no call to an annotated function contradicts it in a way mypy is sure of."
    config = tmp_path/"mypy.ini"
    config.write_text("[mypy]\nignore_missing_imports = True\nfollow_imports = skip\nimplicit_optional = True\nfollow_imports_for_stubs = False\n"
                      f"disable_error_code = {', '.join(LENIENT)}\ncache_dir = {os.devnull}\n")
    run = subprocess.run([sys.executable, "-m", "mypy", "--config-file", str(config), str(Path(boostlit.__file__).parent)], capture_output=True, text=True, cwd=tmp_path)
    late = ('Name "pyarrow" is not defined', 'Name "pa" is not defined')                                               # imported inside the function
    errors = [l for l in run.stdout.splitlines() if ": error:" in l and not any(n in l for n in late)]
    assert run.returncode in (0, 1) and not errors, run.stdout + run.stderr


def test_public_functions_are_annotated():
    "Functions that can be imported from `boostlit` document every parameter: a hint, or a comment behind it in the source."
    import inspect
    from boostlit.names import PUBLIC
    bare = []
    for name in PUBLIC:
        try: thing = getattr(boostlit, name)
        except (ImportError, AttributeError): continue
        f = thing.__init__ if inspect.isclass(thing) else thing
        if not inspect.isfunction(f): continue
        source = inspect.getsource(f)
        for p in list(inspect.signature(f).parameters.values())[1 if inspect.isclass(thing) else 0:]:
            line = next((l for l in source.splitlines() if p.name in l.partition("#")[0]), "")
            if p.annotation is p.empty and "#" not in line: bare.append(f"{name}({p.name})")
    assert not bare, bare
