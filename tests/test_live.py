"""The figures that move compute what the pages compute: JavaScript against Python, to 1e-9.

Run by node; with BOOSTLIT_SITE, the folder of a rendered site, by the script of that site in a real
Chromium (.ci/browser.py does so)."""
import json
import math
import os
import shutil
import subprocess
from pathlib import Path
import numpy as np
import pytest
from boostlit import closed_itemsets, frequent_itemsets, maximal_itemsets
from boostlit.bilinear.feature_sign import quadratic_l1
from boostlit.compositional.theorem import paper_bound
from boostlit.core.bounds import product_bound, sauer, stump_dichotomies
from boostlit.core.stumps import StumpOracle
from boostlit.lpboost.linear_program import soft_margin
from boostlit.pairwise.projection import fisher_direction
from boostlit.pairwise.verification import equal_error_rate, error_rates
from boostlit.quadratic.products import pair_edges
from boostlit.quadratic.relabelling import relabel

SCRIPT = Path(__file__).parent.parent/"nbs"/"live.js"
SITE = os.environ.get("BOOSTLIT_SITE")
pytestmark = pytest.mark.skipif(shutil.which("node") is None and not SITE, reason="needs node")


def in_node(name, settings):
    program = (f"const f = require({json.dumps(str(SCRIPT))});"
               f"const r = f[{json.dumps(name)}]({json.dumps(settings)});"
               "console.log(JSON.stringify(r));")
    run = subprocess.run(["node", "-e", program], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


@pytest.fixture(scope="module")
def tab():
    "An empty page of the site with its script, or nothing where node computes."
    if not SITE:
        yield None
        return
    driver = pytest.importorskip("playwright.sync_api")
    found = [p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p]
    flags = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with driver.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=found[0], args=flags)
        page = browser.new_page()
        page.goto((Path(SITE)/"api"/"index.html").resolve().as_uri())
        page.add_script_tag(path=str(Path(SITE)/"live.js"))
        yield page
        browser.close()


@pytest.fixture
def figure(tab):
    "What a figure of the site computes: figure(name, settings)."
    if tab is None:
        return in_node
    return lambda name, settings: tab.evaluate(
        "([name, settings]) => JSON.parse(JSON.stringify(boostlitFigures[name](settings)))",
        [name, settings])


def numbers(seed):
    "The generator of the figures."
    while True:
        seed = 16807*seed % 2147483647
        yield seed/2147483647


def plane(seed=7, n=60):
    draw = numbers(seed)
    X = np.array([[2*next(draw) - 1, 2*next(draw) - 1] for _ in range(n)])
    flips = np.array([-1. if next(draw) < .1 else 1. for _ in range(n)])
    weights = np.array([.5 + next(draw) for _ in range(n)])
    return X, np.where(X[:, 0]*X[:, 1] > 0, 1., -1.)*flips, weights/weights.sum()


def close(a, b):
    assert np.allclose(a, b, rtol=0, atol=1e-9), (a, b)


@pytest.mark.parametrize("support, lift, prior", [(.3, 1.6, .4), (.1, 3., .25), (.9, 1.05, .5)])
def test_bound(figure, support, lift, prior):
    answer = figure("bound", dict(support=support, lift=lift, prior=prior))
    close(answer["bound"], paper_bound(support, lift, prior))


def adaboost_edges(X, y, w, rounds, products):
    "AdaBoost as the page has it, on the best stump or the best product of two."
    oracle = StumpOracle(X, max_bins=None)
    cuts = [(j, (a + b)/2) for j in range(2)
            for a, b in zip(np.unique(X[:, j]), np.unique(X[:, j])[1:])]
    S = np.array([np.where(X[:, j] <= t, 1., -1.) for j, t in cuts])
    edges = []
    for _ in range(rounds):
        stump, edge = oracle.best(y, w)
        out = oracle.outputs(stump)
        if products:
            pairs = np.abs(pair_edges(S, y, w))
            np.fill_diagonal(pairs, 0)
            i, j = np.unravel_index(pairs.argmax(), pairs.shape)
            if pairs[i, j] > edge + 1e-12:
                edge = pairs[i, j]
                out = S[i]*S[j]*np.sign((w*y*S[i]*S[j]).sum())
        edges.append(float(edge))
        w = w*np.exp(-.5*math.log((1 + edge)/(1 - edge))*y*out)
        w = w/w.sum()
    return edges


@pytest.mark.parametrize("products", [False, True])
def test_boosting_of_the_exclusive_or(figure, products):
    answer = figure("xor", dict(rounds=5, products=products))
    edges = adaboost_edges(*plane(), 5, products)
    close(answer["edges"], edges)
    close(answer["losses"], product_bound(edges))


@pytest.mark.parametrize("start", [3, 4, 5])
def test_relabelling(figure, start):
    X, y, w = plane()
    draw = numbers(start)
    signs = np.array([[1. if next(draw) < .5 else -1. for _ in y]])
    edges = relabel(StumpOracle(X, max_bins=None), y, w, signs, max_inner=6, tol=-1.)[2]
    close(figure("relabelling", dict(steps=6, start=start))["edges"], edges)


@pytest.mark.parametrize("seed", range(4))
def test_dichotomies(figure, seed):
    points = np.random.default_rng(seed).random((2 + seed, 2)).round(3)
    answer = figure("shatter", dict(points=points.tolist()))
    assert answer["count"] == len(stump_dichotomies(points))
    assert answer["shattered"] == (answer["count"] == 2**len(points))
    assert len(answer["missing"]) == 2**len(points) - answer["count"]


@pytest.mark.parametrize("share", [.05, .5, .9])
def test_direction_of_the_discriminant(figure, share):
    answer = figure("lda", dict(share=share))
    u, v, z = (np.array([r[k] for r in answer["rows"]], float) for k in "uvz")
    mine = np.array(fisher_direction(u, v, z, np.array(answer["weights"])))
    close(mine*np.sign(mine@answer["direction"]), answer["direction"])


@pytest.mark.parametrize("nu", [.025, .2, .55, 1.])
def test_soft_margin(figure, nu):
    answer = figure("softMargin", dict(nu=nu))
    margins = np.array(answer["margins"])
    objective, rho = soft_margin(margins, np.full(len(margins), 1/(nu*len(margins))))
    close([answer["objective"], answer["rho"]], [objective, rho])
    assert answer["below"] <= nu <= answer["notAbove"] + 1e-12


@pytest.mark.parametrize("penalty, correlation", [(0., .6), (.25, .6), (.3, -.9), (.6, .2),
                                                  (1.05, 0.), (.01, .9)])
def test_feature_sign(figure, penalty, correlation):
    H = np.array([[1., correlation], [correlation, 1.]])
    mine = quadratic_l1(H, np.array([1., .55]), np.full(2, penalty), np.zeros(2), 1e-13)
    close(figure("featureSign", dict(penalty=penalty, correlation=correlation))["solution"], mine)


@pytest.mark.parametrize("support", [1, 3, 5])
def test_lattice(figure, support):
    answer = figure("lattice", dict(support=support))
    baskets = [list(b) for b in "abc abd ab acd abcd bc ad bd abc cd".split()]
    for kind, mine in (("frequent", frequent_itemsets), ("closed", closed_itemsets),
                       ("maximal", maximal_itemsets)):
        assert answer[kind] == mine(baskets, support).num_rows


def test_error_rates_of_pairs(figure):
    answer = figure("roc", dict(threshold=.1))
    draw = numbers(21)

    def bell():
        return sum(next(draw) for _ in range(4)) - 2
    same = [.6 + bell()*.8 for _ in range(60)]
    other = [-.4 + bell()*.8 for _ in range(60)]
    curve = error_rates(np.r_[same, other], np.arange(120) < 60)
    close(answer["equal"], equal_error_rate(curve))
    at = np.searchsorted(curve.threshold, .1, "right") - 1
    close([answer["falseMatch"], answer["falseNonMatch"]],
          [curve.false_match[at], curve.false_non_match[at]])


@pytest.mark.parametrize("points, dimension", [(10, 3), (4, 9), (20, 1)])
def test_sauer(figure, points, dimension):
    answer = figure("sauer", dict(points=points, dimension=dimension))
    assert answer["count"] == sauer(points, dimension)


@pytest.mark.parametrize("margin", [-1.5, 0., 2.])
def test_weights_of_three_masters(figure, margin):
    answer = figure("weighing", dict(margin=margin))
    close(answer["exponential"], math.exp(-margin))
    close(answer["mada"], min(1., math.exp(-margin)))
    step = 1e-6                   # the logistic weight is minus half the slope of its loss

    def loss(m):
        return math.log1p(math.exp(-2*m))
    assert abs(answer["logistic"] + (loss(margin + step) - loss(margin - step))/(4*step)) < 1e-6
