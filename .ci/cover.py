"""How many lines of the installed package pytest and the notebooks run: `make coverage` (by hand;
about twice as long as `make test`).

A notebook holds the code of its module and would run its own copy of it. Here each exported cell is
replaced by the names of the installed module, so that the page's checks
run the package. A page that depends on its own copy (it replaces a function that its exported code
calls) may fail in this form; such pages are named, and count as far as they ran.
Compiled kernels (`@njit`) cannot be traced: their lines are left out of the count, and how many
there are is printed."""

import ast
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
import coverage

ROOT = Path(__file__).resolve().parents[1]
EXPORT, MODULE, SKIP = (
    re.compile(r"^#\|\s*exports?i?\b", re.M),
    re.compile(r"^#\|\s*default_exp\s+(\S+)", re.M),
    re.compile(r"^#\|\s*(slow|eval:\s*false)", re.M),
)
say = lambda *a, **k: print(*a, **k, flush=True)


def script(path):
    "Cells of a notebook that run against the installed module: (name, code)."
    import nbformat

    cells = [
        c.source
        for c in nbformat.read(path, as_version=4).cells
        if c.cell_type == "code" and not SKIP.search(c.source)
    ]
    module = next((m[1] for c in cells if (m := MODULE.search(c))), None)
    names = (
        f"import boostlit.{module} as _module\n"
        "globals().update({k: v for k, v in vars(_module).items() if not k.startswith('__')})"
    )
    return [names if EXPORT.search(c) else c for c in cells]


def run_notebook(path):
    "Run one page in this process, in a shell like Jupyter's."
    from execnb.shell import CaptureShell

    os.chdir(path.parent)
    shell = CaptureShell()
    for code in script(path):
        shell.run(code)
        if shell.exc:
            say(
                f"  {path.relative_to(ROOT / 'nbs')} stopped at "
                f"{code.strip().splitlines()[-1][:60]!r}: {shell.exc!r:.200}"
            )
            return 1
    return 0


def measured(command, settings, cwd):
    "Run a command whose processes, and theirs, write what they covered."
    return subprocess.run(
        command,
        cwd=cwd,
        env={
            **os.environ,
            "COVERAGE_PROCESS_START": str(settings),
            "MPLBACKEND": "agg",
            "PYTHONHASHSEED": "0",
        },
    ).returncode


def left_out(path):
    "Lines of compiled functions."
    compiled = lambda f: (
        isinstance(f, ast.FunctionDef) and any("njit" in ast.dump(d) for d in f.decorator_list)
    )
    return sum(
        f.end_lineno - f.lineno + 1
        for f in ast.walk(ast.parse(Path(path).read_text(encoding="utf-8")))
        if compiled(f)
    )


def report(cov):
    "One line a module, the least covered first, then the total."
    rows, kernels = [], 0
    for file in sorted(cov.get_data().measured_files()):
        _, lines, _, missing, _ = cov.analysis2(file)
        kernels += left_out(file)
        rows.append(
            (
                1 - len(missing) / len(lines) if lines else 1.0,
                len(lines),
                len(missing),
                file.rpartition("boostlit/")[2],
                missing,
            )
        )
    for share, n, lost, name, missing in sorted(rows):
        say(
            f"{share:7.1%}  {n - lost:5d} of {n:5d}  {name}"
            + (
                "  not run: " + ", ".join(map(str, missing[:12])) + (" …" if lost > 12 else "")
                if "-v" in sys.argv and lost
                else ""
            )
        )
    n, lost = sum(r[1] for r in rows), sum(r[2] for r in rows)
    say(
        f"{1 - lost / n:7.1%}  {n - lost:,} of {n:,} lines of {len(rows)} modules; {kernels:,} "
        f"lines of compiled kernels are left out"
    )


def main(parts):
    failed = []
    with tempfile.TemporaryDirectory() as tmp:
        settings = Path(tmp) / "coverage.toml"
        settings.write_text(
            f'[tool.coverage.run]\nsource_pkgs = ["boostlit"]\nomit = ["*/_modidx.py"]\nparallel '
            f'= true\ndata_file = "{tmp}/data"\nsigterm = true\n'
            'concurrency = ["thread", "multiprocessing"]\n[tool.coverage.report]\nexclude_also = '
            '["@njit"]\n'
        )
        if "pytest" in parts:
            failed += measured(
                [
                    sys.executable,
                    "-m",
                    "pytest",
                    str(ROOT / "tests"),
                    "--rootdir",
                    str(ROOT),
                    "-c",
                    str(ROOT / "pyproject.toml"),
                    "-p",
                    "no:cacheprovider",
                    "-n",
                    "2",
                    "--dist",
                    "loadfile",
                ],
                settings,
                tmp,
            ) * ["pytest"]
        if "notebooks" in parts:
            pages = sorted(
                p for p in (ROOT / "nbs").rglob("*.ipynb") if "checkpoints" not in str(p)
            )
            with ThreadPoolExecutor(2) as pool:
                codes = list(
                    pool.map(
                        lambda p: measured([sys.executable, __file__, str(p)], settings, tmp), pages
                    )
                )
            failed += [p.stem for p, code in zip(pages, codes) if code]
        cov = coverage.Coverage(data_file=str(ROOT / ".coverage"), config_file=str(settings))
        cov.combine([str(p) for p in Path(tmp).glob("data.*")])
        cov.save()
        report(cov)
    if failed:
        say("did not run to their end:", *failed)


if __name__ == "__main__":
    if sys.argv[-1].endswith(".ipynb"):
        sys.exit(run_notebook(Path(sys.argv[-1])))
    main([a for a in sys.argv[1:] if not a.startswith("-")] or ["pytest", "notebooks"])
