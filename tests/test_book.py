"Every page of the book, run and compared with what is stored: part of `make test` only."
import sys
from pathlib import Path
import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT/".ci"))
import pages  # noqa: E402

BOOK = {str(p.relative_to(ROOT/"nbs")): p for p in pages.all_pages()}


@pytest.mark.parametrize("name", BOOK)
def test_page(name):
    found = pages.check_page(BOOK[name])[2]
    assert not found, "\n".join(found)
