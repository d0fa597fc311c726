"""Pages run quickly: one process imports what all pages import, and each page runs in a fork of it.

Starting a kernel and importing numpy, scikit-learn, numba and the rest takes some four seconds of
processor time per page, a third of what the pages take together. Nothing of ours is imported before
the fork. `python .ci/nursery.py` reads requests, one JSON document a line on standard input, and
answers with one line each; pages.py starts it, and asks the kernel of Jupyter when in doubt."""
import base64
import importlib
import json
import os
import sys
import tempfile
import traceback

SHELF = ["numpy", "scipy.stats", "scipy.sparse.linalg", "scipy.optimize", "sklearn.base",
         "sklearn.datasets", "sklearn.model_selection", "sklearn.tree", "sklearn.ensemble",
         "sklearn.linear_model", "pyarrow", "pyarrow.compute", "pyarrow.parquet", "numba",
         "matplotlib.pyplot", "matplotlib_inline.backend_inline", "joblib", "tqdm.auto",
         "IPython.core.interactiveshell", "IPython.display"]


class Sheet(list):
    "Outputs of a cell, in order; text that follows text is joined to it."
    def text(self, name, words):
        if self and self[-1]["output_type"] == "stream" and self[-1]["name"] == name:
            self[-1]["text"] += words
        elif words:
            self.append(dict(output_type="stream", name=name, text=words))

    def show(self, kind, data, metadata):
        plain = {k: base64.b64encode(v).decode() if isinstance(v, bytes) else v
                 for k, v in data.items()}
        more = dict(execution_count=None) if kind == "execute_result" else {}
        self.append(dict(output_type=kind, data=plain, metadata=metadata or {}, **more))


class Pen:
    "Standard output or standard error of a page."
    encoding, errors = "utf-8", "strict"

    def __init__(self, shell, name, number):
        self.shell, self.name, self.number = shell, name, number

    def write(self, words):
        self.shell.sheet.text(self.name, words)
        return len(words)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def flush(self):
        pass

    def isatty(self):
        return False

    def fileno(self):
        return self.number


def make_shell():
    from IPython.core.displayhook import DisplayHook
    from IPython.core.displaypub import DisplayPublisher
    from IPython.core.interactiveshell import InteractiveShell

    class Publisher(DisplayPublisher):
        def publish(self, data, metadata=None, **_):
            self.shell.sheet.show("display_data", data, metadata)

        def clear_output(self, wait=False):
            self.shell.sheet.clear()

    class Hook(DisplayHook):
        def __call__(self, result=None):
            if result is not None and not self.quiet():
                data, metadata = self.compute_format_data(result)
                self.update_user_ns(result)
                if data:
                    self.shell.sheet.show("execute_result", data, metadata)

    class Shell(InteractiveShell):
        displayhook_class, display_pub_class = Hook, Publisher
        sheet = Sheet()

        def enable_gui(self, gui=None):
            pass

        def showtraceback(self, *args, **kwargs):
            pass

    shell = Shell.instance()
    shell.history_manager.enabled = False
    shell.display_formatter.active = True
    shell.enable_matplotlib("inline")
    return shell


def run_page(cells, folder):
    "Outputs of every cell, and what stopped the page (None if nothing did)."
    os.chdir(folder)
    sys.path[0] = ""
    shell = make_shell()
    sys.stdout, sys.stderr = Pen(shell, "stdout", 1), Pen(shell, "stderr", 2)
    sheets = []
    for source in cells:
        shell.sheet = Sheet()
        with tempfile.TemporaryFile() as below:         # what programs of a page print themselves
            os.dup2(below.fileno(), 1)
            result = shell.run_cell(source, store_history=True)
            below.seek(0)
            shell.sheet.text("stdout", below.read().decode("utf-8", "replace"))
        sheets.append(list(shell.sheet))
        error = result.error_before_exec or result.error_in_exec
        if error is not None:
            lines = traceback.format_exception(type(error), error, error.__traceback__)
            return sheets, source[:300] + "\n" + "".join(lines[-6:])
    return sheets, None


def answer(request, target):
    "Run a page in a fork, which writes its answer to a file."
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        return status
    code = 1
    try:
        os.setsid()
        sheets, stopped = run_page(request["cells"], request["folder"])
        with open(target, "w", encoding="utf-8") as file:
            json.dump(dict(sheets=sheets, stopped=stopped), file)
        code = 0
    except BaseException:
        traceback.print_exc(file=sys.__stderr__)
    finally:
        os._exit(code)


def main():
    for name in SHELF:
        try:
            importlib.import_module(name)
        except ImportError:
            pass
    voice = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        request = json.loads(line)
        status = answer(request, request["target"])
        voice.write(json.dumps(dict(status=status)) + "\n")
        voice.flush()


if __name__ == "__main__":
    main()
