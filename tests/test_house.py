"The rules of the house, counted: what is allowed stands in .ci/house.json and may only fall."
import json
import sys
from pathlib import Path
import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT/".ci"))
import height  # noqa: E402
import house  # noqa: E402

# Rules that are not yet at zero everywhere: what .ci/house.json allows may only fall. All other
# rules allow nothing. Take a rule out of this list when its last finding is gone.
RATCHET = ["lines beyond the 20th"]
STORED = json.loads(house.STORE.read_text(encoding="utf-8"))
ALLOWED = {rule: STORED.get(rule, {}) for rule in RATCHET}
SURFACE = 70                                             # public names, at most


@pytest.fixture(scope="module")
def found():
    return house.measure()


RULES = ["long lines", "joined statements", "own imports in functions", "wrong arrows",
         "underscore names that cross", "names with two homes", "lines beyond the 20th",
         "linter"]


def above(found, rule):
    "What a rule finds beyond what it allows: {place: (found, allowed)}."
    allowed = ALLOWED.get(rule, {})
    return {k: (n, allowed.get(k, 0)) for k, n in found.items() if n > allowed.get(k, 0)}


@pytest.mark.parametrize("rule", RULES)
def test_rule(rule, found):
    more = above(found[rule], rule)
    assert not more, f"{rule}, (found, allowed): {more}; `make house` lists them"


def test_types():
    "mypy over the library."
    pytest.importorskip("mypy")
    more = above(house.types(), "types")
    assert not more, f"mypy, (found, allowed): {more}"


def test_a_rule_without_ratchet_allows_nothing(monkeypatch):
    monkeypatch.setitem(STORED, "joined statements", {"core.stumps": 5})
    assert "joined statements" not in RATCHET
    assert above({"core.stumps": 1}, "joined statements") == {"core.stumps": (1, 0)}


def test_imports_make_no_circle():
    texts = house.modules()
    top = {(a, b) for a, b, inside, _ in house.imports(texts) if not inside and b in texts}
    assert not house.cycle(top)


def test_library_never_imports_the_laboratory():
    arrows = house.graph(house.modules())
    bad = {f"{a} -> {b}" for a, b in arrows
           if house.room(b) == "lab" and house.room(a) not in ("lab", "__main__")}
    allowed = set(ALLOWED.get("wrong arrows", {}))
    assert not bad - allowed


def test_wrong_arrows_would_be_seen():
    "The counters can fail: a planted arrow, semicolon, circle and second home are found."
    texts = {"core.a": "from ..quadratic.b import f\n__all__ = ['x']\n",
             "quadratic.b": "def f():\n    from boostlit.pairwise import c\n    y = 1; z = 2\n",
             "pairwise.c": "from ..core.a import _g\n__all__ = ['x']\n"}
    arrows = list(house.imports(texts))
    wrong = {(a, b) for a, b, _, _ in arrows if house.wrong_way(a, b)}
    assert wrong == {("core.a", "quadratic.b"), ("quadratic.b", "pairwise")}
    assert [a for a, _, inside, _ in arrows if inside] == ["quadratic.b"]
    assert house.joined_statements(texts["quadratic.b"]) == 1
    assert set(house.two_homes(texts)) == {"x"} and house.crossing(texts)
    assert house.cycle({("a", "b"), ("b", "c"), ("c", "a")}) and not house.cycle({("a", "b")})


def test_right_arrows_are_let_through():
    texts = {"mining.a": "from ..core.b import f\n", "lab.c": "from ..quadratic.d import g\n",
             "quadratic.d": "from .e import h\nfrom boostlit.mining.a import f\n"}
    assert not [1 for a, b, _, _ in house.imports(texts) if house.wrong_way(a, b)]


def test_public_surface_is_small():
    from boostlit import names
    assert len(names.PUBLIC) == len(set(names.PUBLIC)) <= SURFACE
    import boostlit
    for name in names.PUBLIC:
        assert getattr(boostlit, name).__module__.startswith("boostlit.")


def test_exported_cells_are_short():
    sizes = sorted(n for v in house.exported_cells().values() for n in v)
    median = sizes[len(sizes)//2]
    assert median <= ALLOWED.get("median", {}).get("lines", house.MEDIAN), median


def test_little_of_a_page_is_code():
    "On pages of theory and method, what is folded does not count."
    allowed = ALLOWED.get("height", {})
    shares = height.shares()
    more = {k: round(s, 3) for k, s in shares.items()
            if s > max(height.MOST, allowed.get(k, 0)/1000 + 5e-4)}
    assert not more, f"more than {height.MOST:.0%} of the visible height is code: {more}"


def test_height_sees_code_and_ignores_what_is_folded():
    def cell(kind, source):
        return {"cell_type": kind, "source": source, "outputs": []}
    prose = cell("markdown", "word "*200)
    code = "\n".join(f"x{i} = {i}" for i in range(20))
    open_page = [prose, cell("code", code)]
    folded = [prose, cell("code", "#| code-fold: true\n" + code)]
    assert height.share(open_page) > .4 and height.share(folded) < .15
