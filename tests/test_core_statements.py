"""Attacks on the statements of the core can fail: each finds a violation that is planted, and none
in the statement itself."""
from itertools import combinations, product

import numpy as np
import pytest

from boostlit import AdaBoost, AdaBoostClassifier, Gentle, Multinomial, SAMME, StumpOracle, boost
from boostlit.core.bounds import (
    margin_gap, most_dichotomies, sauer, stump_dichotomies, stump_vc, stumps_shatter,
    vc_dimension,
)
from boostlit.core.boosters import loss_shares
from boostlit.core.loop import Run, conversation, converse
from boostlit.core.stumps import random_problem


def excess(bound, trials=60, seed=0):
    "Largest training error minus a bound from the edges, over runs on random problems."
    rng, worst = np.random.default_rng(seed), -np.inf
    for _ in range(trials):
        X, y, weights, kinds = random_problem(rng)
        run = boost(StumpOracle(X, kinds, None), AdaBoost(), y, 6, weights)
        edges = np.array([row["edge"] for row in run.history])
        bounds = bound(edges)
        worst = max(worst, max(row["error"] - b for row, b in zip(run.history, bounds)))
    return worst


def test_attack_finds_planted_product_bound():
    product = lambda edges: np.cumprod(np.sqrt(np.maximum(0, 1 - edges**2)))
    assert excess(product) <= 1e-9
    assert excess(lambda edges: product(edges)**2) > .01         # without the square root


def test_attack_finds_planted_step():
    "The step of Lemma C.2 is the best one; a step of twice that length is found out."
    rng = np.random.default_rng(0)
    lost = []
    for _ in range(200):
        right, wrong, silent = rng.dirichlet(np.ones(3))
        value = lambda a: silent + right*np.exp(-a) + wrong*np.exp(a)
        best = .5*np.log(right/wrong)
        others = value(best + rng.normal(size=50))
        assert value(best) <= others.min() + 1e-12
        np.testing.assert_allclose(value(best), silent + 2*np.sqrt(right*wrong))
        lost.append(value(2*best) - others.min())
    assert max(lost) > .01


def test_attack_finds_planted_gentle_value():
    "Weighted means never raise the loss; three times the mean does somewhere."
    raised = {}
    for factor in (1., 3.):
        means = np.linspace(-1, 1, 201)
        up, down = (1 + means)/2, (1 - means)/2
        value = factor*means
        raised[factor] = (up*np.exp(-value) + down*np.exp(value)).max()
    assert raised[1.] <= 1 + 1e-12
    assert raised[3.] > 1.01
    X, y = np.random.default_rng(0).normal(size=(80, 2)), np.tile([1., -1.], 40)
    losses = [r["loss"] for r in boost(StumpOracle(X, criterion="least_squares"), Gentle(), y,
                                       10).history]
    assert all(b < a for a, b in zip([1., *losses], losses))


def multiclass_excess(bound, trials=80, seed=0):
    rng, worst = np.random.default_rng(seed), -np.inf
    for _ in range(trials):
        K = int(rng.integers(3, 6))
        X, labels = rng.integers(0, 4, size=(12, 2)).astype(float), rng.integers(0, K, 12)
        run = boost(StumpOracle(X, n_classes=K), SAMME(), labels, 5, n_classes=K)
        for t, row in enumerate(run.history):
            worst = max(worst, row["error"] - bound(row["loss"], run.alphas[:t + 1].sum(), K))
    return worst


def test_attack_finds_planted_multiclass_bound():
    true = lambda loss, total, K: loss*np.exp((K - 2)/(2*K)*total)
    assert multiclass_excess(true) <= 1e-9
    assert multiclass_excess(lambda loss, total, K: loss) > .01
    # the closed form of the product
    X, labels = np.random.default_rng(1).normal(size=(60, 3)), np.arange(60) % 3
    run = boost(StumpOracle(X, n_classes=3), SAMME(), labels, 6, n_classes=3)
    errors = np.array([row["weighted_error"] for row in run.history])
    factors = 3*np.sqrt(errors*(1 - errors)/2)
    got = [true(row["loss"], run.alphas[:t + 1].sum(), 3) for t, row in enumerate(run.history)]
    np.testing.assert_allclose(got, np.cumprod(factors))


def test_attack_finds_planted_bits():
    "Bits bound errors, nats do not."
    rng = np.random.default_rng(0)
    scores, labels = rng.normal(size=(4, 500)), rng.integers(0, 4, 500)
    wrong = scores.argmax(axis=0) != labels
    bits = Multinomial().losses(scores, labels)
    assert (bits >= wrong - 1e-12).all()
    assert (bits*np.log(2) < wrong).any()


class Forgetful(StumpOracle):
    "Draws rows from a generator that nobody keeps."
    chance = 0

    def ask(self, targets, weights):
        Forgetful.chance += 1
        keep = np.random.RandomState(Forgetful.chance).rand(len(weights)) < .5
        return super().ask(targets, weights*keep + 1e-12)


def halves_agree(make_oracle, y, n_rounds=8):
    whole = boost(make_oracle(), AdaBoost(), y, n_rounds, plain=True)
    for cut in range(1, n_rounds):
        part = conversation(make_oracle(), AdaBoost(), y, plain=True)
        run = converse(Run([part], cut))
        run.n_rounds = n_rounds
        converse(run)
        if part.coefficients != list(whole.alphas):
            return False
    return True


def test_attack_finds_planted_prefix():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.where(rng.random(60) < .5, 1., -1.)
    assert halves_agree(lambda: StumpOracle(X), y)
    assert halves_agree(lambda: StumpOracle(X, colsample=.5, random_state=0), y)
    assert not halves_agree(lambda: Forgetful(X), y)


def test_attack_finds_planted_importance():
    "Credits of features add up to the fall of the log loss; votes do not."
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 4)), rng.random(200) < .5
    model = AdaBoostClassifier(n_estimators=15).fit(X, y)
    losses = np.r_[1., model.history_["loss"].to_numpy()]
    falls, features = -np.diff(np.log(losses)), model.stumps_[0]["feature"]
    credit = np.bincount(features, falls, 4)
    np.testing.assert_allclose(credit.sum(), np.log(losses[0]/losses[-1]))
    np.testing.assert_allclose(loss_shares(model), credit/credit.sum())
    votes = np.bincount(features, model.alphas_, 4)
    assert np.abs(votes/votes.sum() - loss_shares(model)).max() > .01


def test_attack_finds_planted_sauer():
    "No family beats the lemma; a lemma with one binomial less is beaten."
    beaten = 0
    for m, d in [(4, 1), (5, 2), (6, 3)]:
        family = [[int(x in B) for x in range(m)] for k in range(d + 1)
                  for B in combinations(range(m), k)]
        assert vc_dimension(np.array(family)) == d
        assert len(family) <= sauer(m, d)
        beaten += len(family) > sauer(m, d - 1)
    assert beaten == 3


def test_attack_finds_planted_stump_vc():
    "Two features shatter three points and no four of many; a formula that says four is found out."
    rng = np.random.default_rng(0)
    shattered = {m: any(stumps_shatter(np.array([rng.permutation(m), rng.permutation(m)]).T)
                        for _ in range(300)) for m in (3, 4)}
    assert shattered == {3: True, 4: False}
    assert stump_vc(2) == 3
    assert [stump_vc(p) for p in (1, 3, 100)] == [2, 4, 9]


def test_attack_finds_planted_massart():
    "The luckiest stump's edge on coin flips is below the bound; half of the bound is refuted."
    edges = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        oracle = StumpOracle(rng.normal(size=(400, 10)), max_bins=None)
        edges.append(oracle.best(rng.choice([-1., 1.], 400), np.full(400, 1/400))[1])
    bound = np.sqrt(2*np.log(most_dichotomies(10, 400))/400)
    assert .5*bound < np.mean(edges) < bound
    points = np.random.default_rng(0).normal(size=(7, 2))
    assert len(stump_dichotomies(points)) <= most_dichotomies(2, 7)


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_all_signs_of_so_many_points_are_shattered(d):
    cube = np.array(list(product([-1, 1], repeat=d)))
    assert vc_dimension(cube) == d
    assert vc_dimension(cube[1:]) == d - 1          # one sign pattern less


def test_the_margin_bound_grows_with_the_dimension():
    "Eq. of the margin theorem, by hand, at one point and along d."
    N, d, theta, risk = 10_000, 5, .2, .05
    want = np.sqrt((d*np.log(N/d)**2/theta**2 + np.log(1/risk))/N)
    assert np.isclose(margin_gap(d, N, theta, risk=risk, constant=1.), want)
    gaps = [margin_gap(k, N, theta, risk=risk, constant=1.) for k in (1, 5, 50)]
    assert gaps[0] < gaps[1] < gaps[2]


def test_the_margin_bound_by_its_formula():
    from boostlit.core.bounds import margin_width
    expected = 4*np.sqrt(2*np.log(16)/100)/.5 + np.sqrt(np.log(4/(.5*.1))/200)
    assert margin_width(16, 100, .5, .1) == pytest.approx(expected)
