"""How the suite is shared out: one queue of pages and tests, the longest first.

Seconds of an earlier run stand in .ci/times.json; BOOSTLIT_TIMES=file writes those of this one.
`make test` sets BOOSTLIT_BOOK, which puts the pages of the book into the same queue."""
import json
import os
import sys
import time
from pathlib import Path
import pytest

ROOT = Path(__file__).resolve().parents[1]
TIMES = ROOT/".ci"/"times.json"
UNKNOWN, PAGE = .05, 8.                             # seconds of what was never timed
LONG = 12.                                          # a longer file is shared out by test
collect_ignore = [] if os.environ.get("BOOSTLIT_BOOK") else ["test_book.py"]


def known_times():
    "Seconds by test, as far as they are known."
    return json.loads(TIMES.read_text(encoding="utf-8")) if TIMES.exists() else {}


def name_of(item):
    return item.nodeid.removeprefix("tests/").partition("@")[0]


def guess(name, seconds):
    return seconds.get(name, PAGE if name.startswith("test_book.py") else UNKNOWN)


def shares(items, seconds):
    """The group of every test: a quick file stays in one piece, a long one is shared out by test
    function, so that what its module fixtures make is made at most once per process."""
    total = {}
    for item in items:
        file = name_of(item).partition("::")[0]
        total[file] = total.get(file, 0.) + guess(name_of(item), seconds)
    for item in items:
        file, _, rest = name_of(item).partition("::")
        whole = total[file] <= LONG
        yield file if whole else f"{file}::{rest}" if file == "test_book.py" else \
            f"{file}::{rest.partition('[')[0]}"


def pytest_collection_modifyitems(items):
    if not os.environ.get("PYTEST_XDIST_WORKER"):
        return
    seconds = known_times()
    groups = list(shares(items, seconds))
    length = {}
    for item, group in zip(items, groups):
        item.add_marker(pytest.mark.xdist_group(group))
        length[group] = length.get(group, 0.) + guess(name_of(item), seconds)
    place = {id(item): (-length[group], group, k)
             for k, (item, group) in enumerate(zip(items, groups))}
    items.sort(key=lambda item: place[id(item)])


def cpu():
    "Processor seconds of this process and of the children it waited for."
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def pytest_sessionfinish():
    if "pages" in sys.modules:
        sys.modules["pages"].NURSERY.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    before, start = cpu(), time.time()
    result = yield
    target = os.environ.get("BOOSTLIT_TIMES")
    if target:
        row = {"test": name_of(item), "cpu": cpu() - before, "wall": time.time() - start}
        with open(target, "a", encoding="utf-8") as log:
            log.write(json.dumps(row) + "\n")
    return result
