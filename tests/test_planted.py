"""An attack is worth something if it would have found a violation. Each test runs the search of a
statement twice: on the statement, where it finds nothing, and on a planted false one, where it
must.
"""
from fractions import Fraction
from itertools import combinations, product
from math import comb, e, log, sqrt
import numpy as np
from scipy.optimize import brentq, linprog
from boostlit import AdaBoost, StumpOracle, boost
from boostlit.bilinear.boosting import alternate
from boostlit.bilinear.corrective import ComponentOracle, CorrectiveTalk, SoftMargin
from boostlit.bilinear.model import bilinear_scores, make_word_place
from boostlit.bilinear.theory import surrogate_unbounded
from boostlit.compositional.settling import largest_eigenvalue, probabilities
from boostlit.compositional.theorem import error_bound, paper_bound
from boostlit.core.bounds import rounds_to_zero, stump_dichotomies, vc_dimension
from boostlit.quadratic.capacity import capacity_factor, with_products
from boostlit.quadratic.products import distinct, product_family, separate


def rng(seed=0):
    return np.random.default_rng(seed)


def signs(r, shape):
    return np.where(r.random(shape) < .5, 1., -1.)


# ---- bilinear ------------------------------------------------------------------------------------
def test_planted_uneven_places_are_no_bag_of_words():
    r = rng()
    X, alpha = r.poisson(2., (30, 5, 4)).astype(float), r.normal(size=5)
    gap = lambda beta: np.abs(bilinear_scores(X, alpha, beta) - beta[0]*X.sum(2)@alpha).max()
    assert gap(np.full(4, .5)) < 1e-12
    assert gap(np.array([.5, .5, .5, .51])) > 1e-3


def test_planted_rule_that_forgets_separable_classes():
    circle = [np.array([np.cos(t), np.sin(t)]) for t in np.linspace(0, 2*np.pi, 361)]

    def wrong(says):
        r, count = rng(), 0
        for _ in range(30):
            Z, y, theta = r.normal(size=(4, 2)), signs(r, 4), signs(r, 2)
            falls = any((y*(Z@d) >= 0).all() and theta@d < -1e-6 for d in circle)
            count += falls and not says(Z, y, theta)
        return count
    assert wrong(surrogate_unbounded) == 0
    assert wrong(lambda Z, y, theta: np.linalg.matrix_rank(Z) < 2) > 0


def test_planted_problem_on_which_taking_turns_does_end():
    def ends(c, beta=1.):
        for _ in range(12):
            if beta <= c:
                return True
            alpha = log(beta/c)/beta
            new = log(alpha/c)/alpha if alpha > c else 0.
            if abs(new - beta) < 1e-15:
                return True
            beta = new
        return False
    assert not ends(.1)
    assert ends(2.)


def test_planted_loss_under_which_scores_are_no_weights():
    X, y = make_word_place(60, n_words=4, grid=2, seed=1)
    w, F, start = np.full(60, 1/60), .7*y*rng().random(60), np.array([1., .5, -1., -.5])/3

    def gap(loss):
        given = alternate(X, y, w, .01, .01, start, loss, offset=F, tol=1e-10)
        weighed = alternate(X, y, w*np.exp(-y*F), .01, .01, start, loss, tol=1e-10)
        return np.abs(np.outer(*given[:2]) - np.outer(*weighed[:2])).max()
    assert gap("exponential") < 1e-5
    assert gap("logistic") > 1e-3


def test_planted_curvature_that_half_steps_do_not_have():
    c, ridge = .1, .3
    g = lambda a, b: np.exp(-a*b) + c*(abs(a) + abs(b)) + ridge/2*(a*a + b*b)
    best = lambda b: brentq(lambda a: -b*np.exp(-a*b) + c + ridge*a, 0., 50.)

    def worst(mu):
        a, b, least = 0., 1., np.inf
        for _ in range(20):
            new = best(b)
            least = min(least, g(a, b) - g(new, b) - mu/2*(new - a)**2)
            a, b = b, new
        return least
    assert worst(ridge) > -1e-12
    assert worst(20*ridge) < -1e-3


def test_planted_convexity_in_both_blocks_at_once():
    r = rng()
    X, y = r.normal(size=(6, 3, 2)), signs(r, 6)
    g = lambda v: np.exp(-y*bilinear_scores(X, v[:3], v[3:])).sum() + np.abs(v).sum()

    def bumps(blocks):
        count = 0
        for _ in range(300):
            u, v = r.normal(size=(2, 5))
            v[~blocks] = u[~blocks]
            count += g((u + v)/2) > (g(u) + g(v))/2 + 1e-9
        return count
    assert bumps(np.arange(5) < 3) == bumps(np.arange(5) >= 3) == 0
    assert bumps(np.ones(5, bool)) > 0


def test_planted_price_that_grows_is_found_by_the_optimum():
    class Growing(SoftMargin):
        def solve(self, G, y, weights):
            self.C *= 30.
            return super().solve(G, y, weights)

    X, y = make_word_place(60, n_words=4, grid=2, seed=1)
    noisy = y*np.where(rng().random(60) < .2, -1., 1.)

    def rises(master, price):
        talk, values = CorrectiveTalk(ComponentOracle(X/20), master, noisy), []
        while talk.round():
            A = np.array(talk.hypotheses)[:, :4]
            lost = np.maximum(0, 1 - noisy*talk.state.scores).sum()
            values.append(.5*(A**2).sum() + price*lost)
        return max(np.diff(values))/values[0] > 1e-3
    assert not rises(SoftMargin(1.), 1.)
    assert rises(Growing(1e-3), 1e-3)


# ---- compositional -------------------------------------------------------------------------------
def test_planted_formula_of_the_gap_between_the_bounds():
    def early(s, lift, prior): return prior*(1 - s*lift)

    def late(s, lift, prior): return (1/lift - s)*(1 - lift*prior)

    def furthest(first, second):
        worst = 0.
        supports, lifts = np.linspace(.05, .9, 9), np.linspace(1.1, 6, 9)
        for s, lift, prior in product(supports, lifts, (.1, .3, .7)):
            if s*lift > 1 or lift*prior > 1:
                continue
            gap = paper_bound(s, lift, prior) - error_bound(s, lift, prior)
            told = (first if lift*prior <= .5 else second)(s, lift, prior)
            worst = max(worst, abs(gap - told))
        return worst
    assert furthest(early, late) < 1e-12
    assert furthest(late, early) > .01


def test_planted_coefficient_without_the_logarithm_of_classes():
    def wrong(alpha):
        cases = [(K, Fraction(i, 40)) for K in (2, 3, 5, 10) for i in range(1, 40)]
        return [c for c in cases if c[1] != Fraction(c[0] - 1, c[0])
                and (alpha(*c) > 1e-12) != (c[1] < Fraction(c[0] - 1, c[0]))]
    assert not wrong(lambda K, err: log((1 - err)/err) + log(K - 1))
    assert wrong(lambda K, err: log((1 - err)/err))


def largest_margin(A):
    "max over distributions on columns of the smallest row of A alpha."
    n, m = A.shape
    found = linprog(np.r_[np.zeros(m), -1], A_ub=np.c_[-A, np.ones(n)], b_ub=np.zeros(n),
                    A_eq=[np.r_[np.ones(m), 0]], b_eq=[1], bounds=[(0, None)]*m + [(None, None)])
    return -found.fun


def test_planted_certificate_from_what_is_left_of_a_pool():
    def broken(leave_out):
        r, count = rng(), 0
        for _ in range(8):
            A, left = signs(r, (6, 8)), list(range(8))
            least = largest_margin(A)
            for _ in range(6):
                gains = r.dirichlet(np.ones(6))@A
                j = max(left, key=lambda j: gains[j])
                count += gains[j] < least - 1e-9
                if leave_out:
                    left.remove(j)
        return count
    assert broken(False) == 0
    assert broken(True) > 0


def test_planted_step_length_that_is_too_long():
    def above(share):
        r, count = rng(), 0
        for _ in range(40):
            A = r.normal(size=(20, 4))
            w, codes = r.dirichlet(np.ones(20)), r.integers(0, 3, 20)
            A -= w@A
            L = share*.5*largest_eigenvalue(A, w)
            value = lambda B: -w@np.log(probabilities(A@B)[np.arange(20), codes])
            B, step = np.zeros((4, 3)), 1e-3*r.normal(size=(4, 3))
            slope = A.T@(w[:, None]*(probabilities(A@B) - np.eye(3)[codes]))
            count += value(B + step) > value(B) + (slope*step).sum() + L/2*(step**2).sum() + 1e-14
        return count
    assert above(1.) == 0
    assert above(.2) > 0


# ---- core ----------------------------------------------------------------------------------------
def test_planted_slope_that_forgets_the_scores():
    r = rng()
    H, y, w, a = signs(r, (4, 12)), signs(r, 12), r.dirichlet(np.ones(12)), r.normal(size=4)
    loss = lambda a: w@np.exp(-y*(a@H))
    now = w*np.exp(-y*(a@H))
    told = {"theirs": -loss(a)*(H@(y*now/now.sum())), "planted": -loss(a)*(H@(y*w))}
    for j in range(4):
        d = 1e-6*np.eye(4)[j]
        assert abs((loss(a + d) - loss(a - d))/2e-6 - told["theirs"][j]) < 1e-6
    assert np.abs(told["theirs"] - told["planted"]).max() > 1e-2


def test_planted_multiclass_step():
    def beaten(step):
        worst = 0.
        for K, err in product((2, 3, 7), np.linspace(.05, .9, 12)):
            Z = lambda a: (1 - err)*np.exp(-(K - 1)/K*a) + err*np.exp(a/K)
            worst = max(worst, Z(step(K, err)) - Z(np.linspace(-8, 8, 4001)).min())
        return worst
    assert beaten(lambda K, err: log((1 - err)/err) + log(K - 1)) < 1e-5
    assert beaten(lambda K, err: log((1 - err)/err)) > 1e-2


def test_planted_promise_that_holds_for_two_classes_only():
    def broken(K):
        g = rng().normal(size=(4000, K))
        g -= g.mean(1, keepdims=True)
        y = np.full(K, -1/(K - 1))
        y[0] = 1
        return ((np.exp(-g@y/K) < 1) & (g[:, 0] < g[:, 1:].max(1))).sum()
    assert broken(2) == 0
    assert broken(3) > 0


def test_planted_number_of_rounds_that_is_too_small():
    left = lambda n, edge, share: n*(1 - edge**2)**(share*rounds_to_zero(n, edge)/2)
    cases = list(product((10, 200, 5000), (.05, .2, .5)))
    assert max(left(n, g, 1.) for n, g in cases) < 1
    assert max(left(n, g, .5) for n, g in cases) > 1


def test_planted_product_is_not_additive():
    X = rng().normal(size=(60, 3))
    run = boost(StumpOracle(X), AdaBoost(), np.where(X[:, 0] + X[:, 1] > 0, 1., -1.), 15)
    said = lambda h, P: StumpOracle(X).apply(h, P)
    vote = lambda P: sum(a*said(h, P) for a, h in zip(run.alphas, run.hypotheses))
    twice = lambda P: vote(P)**2

    def mixed(score):
        a, b = rng(1).normal(size=(2, 50, 3))
        swap = lambda i, j: np.c_[(a, b)[i][:, :1], (a, b)[j][:, 1:]]
        return np.abs(score(swap(0, 0)) + score(swap(1, 1)) - score(swap(0, 1))
                      - score(swap(1, 0))).max()
    assert mixed(vote) < 1e-9
    assert mixed(twice) > .1


def test_planted_step_of_the_sixth_method():
    loss = lambda m: np.where(m > 0, np.exp(-np.abs(m)), 1 - m)

    def rises(factor):
        r, worst = rng(), -np.inf
        for _ in range(200):
            F, h = 2*r.normal(size=20), signs(r, 20)            # margins, and right or wrong
            w = np.minimum(1, np.exp(-F))
            W, edge = w.mean(), (w*h).sum()/w.sum()
            h, edge = (h, edge) if edge > 0 else (-h, -edge)
            new = loss(F + factor*W*edge*h).mean()
            worst = max(worst, new - (loss(F).mean() - .5*(W*edge)**2))
        return worst
    assert rises(1.) < 1e-12
    assert rises(15.) > 1e-3


# ---- linear programs -----------------------------------------------------------------------------
def soft_margin(m, nu, rho):
    return rho - np.maximum(0, rho - m).mean()/nu


def test_planted_margin_that_is_no_quantile():
    def beaten(choose):
        r, worst = rng(), 0.
        for nu in (.1, .3, .5):
            m = r.normal(size=20)
            best = max(soft_margin(m, nu, rho) for rho in m)
            worst = max(worst, best - soft_margin(m, nu, choose(m, nu)))
            assert abs(best - np.sort(m)[:int(round(20*nu))].mean()) < 1e-9
        return worst
    assert beaten(lambda m, nu: np.sort(m)[int(round(20*nu)) - 1]) < 1e-12
    assert beaten(lambda m, nu: m.mean()) > 1e-2


def test_planted_losses_with_another_threshold():
    m, nu = rng().normal(size=20), .2
    best = max(soft_margin(m, nu, rho) for rho in m)
    mean = lambda rho: (1 - rho + np.maximum(0, rho - m)/nu).mean()
    assert abs(mean(np.sort(m)[3]) - (1 - best)) < 1e-12
    assert abs(mean(m.mean()) - (1 - best)) > 1e-2


def primal(H, y, nu):
    "max rho - mean slack/nu over distributions on the rows of H."
    J, n = H.shape
    cost = np.r_[np.zeros(J), -1, np.full(n, 1/(nu*n))]
    rows = np.c_[-(H*y).T, np.ones(n), -np.eye(n)]
    return -linprog(cost, A_ub=rows, b_ub=np.zeros(n), A_eq=[np.r_[np.ones(J), np.zeros(n + 1)]],
                    b_eq=[1], bounds=[(0, None)]*J + [(None, None)] + [(0, None)]*n).fun


def dual(H, y, cap):
    "min over capped distributions of the largest edge."
    J, n = H.shape
    return linprog(np.r_[np.zeros(n), 1], A_ub=np.c_[H*y, -np.ones(J)], b_ub=np.zeros(J),
                   A_eq=[np.r_[np.ones(n), 0]], b_eq=[1],
                   bounds=[(0, cap)]*n + [(None, None)]).fun


def test_planted_dual_without_caps():
    gaps = []
    for seed in range(8):
        H, y = signs(rng(seed), (5, 12)), signs(rng(seed + 99), 12)
        value = primal(H, y, .4)
        assert abs(value - dual(H, y, 1/(.4*12))) < 1e-8
        gaps.append(abs(value - dual(H, y, 1.)))
    assert max(gaps) > 1e-2


def test_planted_majority_bound():
    held = []
    for seed in range(12):
        r = rng(seed)
        y = np.where(np.arange(12) < 3, 1., -1.)
        constants = np.vstack([np.ones(12), -np.ones(12)])
        small = 3/12
        alone, more = (primal(F, y, .6) for F in (constants, np.vstack([constants,
                                                                       signs(r, (2, 12))])))
        assert abs(alone - (1 - 2*small/.6)) < 1e-8 and more >= alone - 1e-9
        held.append(alone >= 1 - small/.6 - 1e-9)                    # planted: without the two
    assert not all(held)


def test_planted_converse_of_starting_at_zero():
    def broken(claim):
        count = 0
        for seed in range(25):
            H, y = signs(rng(seed), (3, 8)), signs(rng(seed + 7), 8)
            count += not claim((H@y/8).max(), dual(H, y, 1/(.5*8)))
        return count
    assert broken(lambda start, best: start > 0 or best <= 1e-9) == 0
    assert broken(lambda start, best: best > 1e-9 or start <= 0) > 0


def half_class(P, Q, nu, flip=1):
    "Optimum, scores and thresholds of the 1.5-class program on presences P (N, J) and Q (M, J)."
    (N, J), M = P.shape, len(Q)
    cost = np.r_[np.zeros(J), -1, flip, np.full(N, 1/(nu*N)), np.full(M, 1/(nu*M))]
    rows = np.vstack([np.c_[-P, np.ones(N), np.zeros(N), -np.eye(N), np.zeros((N, M))],
                      np.c_[Q, np.zeros(M), -np.ones(M), np.zeros((M, N)), -np.eye(M)]])
    found = linprog(cost, A_ub=rows, b_ub=np.zeros(N + M), bounds=(0, None),
                    A_eq=[np.r_[np.ones(J), np.zeros(2 + N + M)]], b_eq=[1])
    return -found.fun, P@found.x[:J], Q@found.x[:J], found.x[J], found.x[J + 1]


def half_dual(P, Q, nu, least=1.):
    (N, J), M = P.shape, len(Q)
    total = np.vstack([np.r_[-np.ones(N), np.zeros(M + 1)], np.r_[np.zeros(N), np.ones(M), 0]])
    rows = np.vstack([np.c_[P.T, -Q.T, -np.ones(J)], total])
    return linprog(np.r_[np.zeros(N + M), 1], A_ub=rows, b_ub=np.r_[np.zeros(J), -least, 1],
                   bounds=[(0, 1/(nu*N))]*N + [(0, 1/(nu*M))]*M + [(None, None)]).fun


def presences(seed, n, J=6, share=.5):
    P = (rng(seed).random((n, J)) < share).astype(float)
    P[:, 0] = 1
    return P


def test_planted_dual_of_the_half_class_program():
    gaps = []
    for seed in range(6):
        P, Q = presences(seed, 8, share=.7), presences(seed + 50, 7)
        value = half_class(P, Q, .3)[0]
        assert abs(value - half_dual(P, Q, .3)) < 1e-8
        gaps.append(abs(value - half_dual(P, Q, .3, least=.5)))
    assert max(gaps) > 1e-2


def test_planted_share_in_the_half_class_program():
    def broken(share):
        count = 0
        for seed in range(25):
            P, Q = presences(seed, 10, share=.7), presences(seed + 50, 10)
            _, high, low, rho1, rho2 = half_class(P, Q, .4)
            above = (low > rho2 + 1e-7).sum()
            below = (high < rho1 - 1e-7).sum() if rho1 > 1e-7 else 0
            count += above > share*10 + 1e-9 or below > share*10 + 1e-9
        return count
    assert broken(.4) == 0
    assert broken(.1) > 0


def test_planted_early_stop_misses_the_optimum_without_complements():
    def generated(P, Q, slack):
        used = [0]
        while True:
            (N, _), M = P.shape, len(Q)
            rows = np.vstack([np.c_[P[:, used].T, -Q[:, used].T, -np.ones(len(used))],
                              np.r_[-np.ones(N), np.zeros(M + 1)],
                              np.r_[np.zeros(N), np.ones(M), 0]])
            x = linprog(np.r_[np.zeros(N + M), 1], A_ub=rows,
                        b_ub=np.r_[np.zeros(len(used)), -1, 1],
                        bounds=[(0, 1/(.3*N))]*N + [(0, 1/(.3*M))]*M + [(None, None)]).x
            gains = x[:N]@P - x[N:-1]@Q
            if gains.max() <= x[-1] + slack:
                return x[-1]
            used.append(int(gains.argmax()))
    lost = {0.: [], .5: []}
    for seed in range(10):
        P, Q = presences(seed, 8, share=.7), presences(seed + 50, 7)
        for slack in lost:
            lost[slack].append(half_class(P, Q, .3)[0] - generated(P, Q, slack + 1e-9))
    assert max(map(abs, lost[0.])) < 1e-7
    assert max(map(abs, lost[.5])) > 1e-2


def test_planted_threshold_of_the_program_without_negatives():
    P, nu = presences(3, 10, share=.7), .3
    P[:, 0] = rng(5).random(10) < .8
    one = max((soft_margin(P@a, nu, rho), rho) for a in np.eye(6) for rho in (0., 1.))
    value, scores, _, rho, _ = half_class(P, np.zeros((1, 6)), nu)
    assert value >= one[0] - 1e-9 and rho > 0
    refused = [(scores < t - 1e-9).mean() for t in (rho, rho/2)]
    assert refused[0] <= nu + 1e-9 and rho/2 < rho
    assert abs(value - soft_margin(scores, nu, rho)) < 1e-8
    assert abs(value - soft_margin(scores, nu, rho/2)) > 1e-3       # planted: Eq. 3's threshold


def test_planted_gain_bound_below_what_extensions_reach():
    def beaten(bound):
        r, worst = rng(), -np.inf
        for _ in range(30):
            u, cover = r.normal(size=8), r.random(8) < .6
            P, N, S = u[cover & (u > 0)].sum(), -u[cover & (u < 0)].sum(), u.sum()
            gains = [2*u[np.array(t, bool) & cover].sum() - S for t in product((0, 1), repeat=8)]
            worst = max(worst, max(np.abs(gains)) - bound(P, N, S))
        return worst
    assert abs(beaten(lambda P, N, S: max(2*P - S, 2*N + S))) < 1e-9
    assert beaten(lambda P, N, S: max(2*P - S, 2*N + S) - 1e-3) > 0


# ---- item sets -----------------------------------------------------------------------------------
def covers(T, F):
    return frozenset(i for i, t in enumerate(T) if F <= t)


def closure(T, F):
    rows = covers(T, F)
    return frozenset.intersection(*(T[i] for i in rows)) if rows else frozenset(range(6))


def baskets(r, n=7):
    return [frozenset(np.flatnonzero(r.random(6) < .6).tolist()) for _ in range(n)]


def all_sets():
    return [frozenset(F) for k in range(7) for F in combinations(range(6), k)]


def test_planted_closure_that_is_none():
    def broken(C):
        r, count = rng(), 0
        for _ in range(6):
            T = baskets(r)
            for F in all_sets():
                G = C(T, F)
                count += not (F <= G and covers(T, G) == covers(T, F) and C(T, G) == G)
        return count
    assert broken(closure) == 0
    assert broken(lambda T, F: F | T[0] if covers(T, F) else F) > 0


def test_planted_branch_that_had_hope():
    def lost(share):
        r, count = rng(), 0
        for _ in range(10):
            T, own, least, conf = baskets(r, 10), r.random(10) < .5, 2, .6
            hits = lambda F: sum(own[i] for i in covers(T, F))
            for F in all_sets():
                if hits(F) < share*conf*least:
                    good = [G for G in all_sets() if G >= F and len(covers(T, G)) >= least
                            and hits(G) >= conf*len(covers(T, G))]
                    count += len(good)
        return count
    assert lost(1.) == 0
    assert lost(3.) > 0


def test_planted_table_that_counts_rare_sets():
    "Closed sets with late candidates only, of the root's node: C all items, E empty."
    def table(T, least):
        found = []
        for S in all_sets()[1:]:
            if len(covers(T, S)) >= least and closure(T, S) == S:
                found.append(S)
        return found
    r, differs = rng(), 0
    for _ in range(6):
        T = baskets(r)
        root = closure(T, frozenset())
        want = {closure(T, F) for F in all_sets() if len(covers(T, F)) >= 2} - {root}
        have = table(T, 2)
        assert set(have) - {root} == want and len(set(have)) == len(have)
        differs += set(table(T, 1)) - {root} != want
    assert differs > 0


# ---- quadratic -----------------------------------------------------------------------------------
CORNERS = np.array(list(product((-1., 1.), repeat=2))).T


def test_planted_labels_that_votes_do_separate():
    parity = lambda k: np.prod(list(product((-1., 1.), repeat=k)), axis=1)
    cube = np.array(list(product((-1., 1.), repeat=3))).T
    pairs = np.vstack([cube, [cube[i]*cube[j] for i, j in combinations(range(3), 2)]])
    assert separate(CORNERS, parity(2))[0] is None
    assert separate(CORNERS, np.where(CORNERS.sum(0) > 0, 1., -1.))[0] is not None
    assert separate(pairs, parity(3))[0] is None
    assert separate(pairs, np.sign(cube.sum(0)))[0] is not None
    assert separate(np.vstack([pairs, cube.prod(0)]), parity(3))[0] is not None


def test_planted_view_of_both_ends():
    ends = list(product((0, 1), repeat=2))

    def broken(features):
        votes = rng().normal(size=len(features))
        values = {end: sum(c*t(*end) for c, t in zip(votes, features)) for end in ends}
        return abs(values[0, 0] + values[1, 1] - values[0, 1] - values[1, 0])
    local = [lambda a, b: a, lambda a, b: 1 - b, lambda a, b: 1]
    assert broken(local) < 1e-12
    assert broken([*local, lambda a, b: a*b]) > 1e-3


def test_planted_count_without_the_constant():
    def most(C):
        return max(len(distinct(with_products(H)))
                   for H in (np.array(list(product((-1, 1), repeat=C))).T, signs(rng(), (C, 40))))
    for C in (3, 4):
        assert most(C) == 1 + C + comb(C, 2)
        assert most(C) > C + comb(C, 2) and most(C) < C + C**2


def descend(choose, d, seed, rounds=8):
    "Errors of the product of the last d answers of a learner, as Procedure 1 goes on."
    r = rng(seed)
    H, y, w = signs(r, (9, 14)), signs(r, 14), r.dirichlet(np.ones(14))
    answers, errors = [H[i] for i in r.integers(0, 9, d)], []
    for _ in range(rounds):
        labels = y*np.prod(answers[-(d - 1):], axis=0)
        errors.append(w@(np.prod(answers[-d:], axis=0) != y))
        answers.append(H[choose(w@(H != labels).T)])
    return errors


def test_planted_learner_that_takes_the_second_best():
    rises = lambda choose, d: max(np.diff(descend(choose, d, s)).max() for s in range(20))
    for d in (2, 3):
        assert rises(np.argmin, d) < 1e-12
        assert rises(lambda errors: np.argsort(errors)[1], d) > 1e-3


def test_planted_count_of_products_one_degree_too_low():
    def over(k, top):
        r, worst = rng(), 0
        for _ in range(20):
            D = np.unique(signs(r, (5, 9)), axis=0)
            G = {tuple(np.prod(D[list(c)], axis=0)) for i in range(1, k + 1)
                 for c in combinations(range(len(D)), i)} | {(1.,)*9}
            worst = max(worst, len(G) - sum(comb(len(D), i) for i in range(top + 1)))
        return worst
    for k in (2, 3):
        assert over(k, k) <= 0
        assert over(k, k - 1) > 0
        c = capacity_factor(k)
        assert (e*c)**k < 2**c and (e*(c - 1))**k >= 2**(c - 1)


def test_planted_hole_in_the_twenty_two_dichotomies():
    numbers = np.array([12, 15, 35, 43, 47, 51, 73, 75, 77, 78, 79, 82, 83, 89, 90, 91, 94, 99,
                        101, 107, 115, 123])
    rows = lambda numbers: 1 - 2*(numbers[:, None] >> np.arange(7) & 1)
    assert vc_dimension(rows(numbers)) == 2 and len(with_products(rows(numbers))) == 128
    assert len(with_products(rows(numbers[:-1]))) < 128
    assert vc_dimension(rows(np.r_[numbers, 0, 2, 8, 10])) > 2


def test_planted_growth_of_stumps_that_is_too_small():
    def over(bound):
        r = rng()
        return max(len(stump_dichotomies(r.normal(size=(m, p)))) - bound(p, m)
                   for p in (1, 2, 3) for m in (3, 4, 5) for _ in range(4))
    assert over(lambda p, m: 2 + 2*p*(m - 1)) <= 0
    assert over(lambda p, m: 2 + 2*p*(m - 2)) > 0


def adaboost_rounds(H, y, T):
    "Weights and factors Z of AdaBoost over the rows of H and their negatives."
    w, F, Z = np.full(len(y), 1/len(y)), np.zeros(len(y)), []
    for _ in range(T):
        edges = H@(w*y)
        i = np.abs(edges).argmax()
        h = np.sign(edges[i])*H[i]
        err = max(w@(h != y), 1e-9)
        a = .5*log((1 - err)/err)
        Z.append(2*sqrt(err*(1 - err)))
        F, w = F + a*h, w*np.exp(-a*y*h)
        w /= w.sum()
    return F, w, Z


def test_planted_slope_without_the_number_of_rows():
    H, y = signs(rng(), (6, 20)), signs(rng(1), 20)
    F, w, Z = adaboost_rounds(H, y, 4)
    true = -(np.exp(-y*F)*y)@H.T
    told = np.prod(Z)*(2*((H != y)@w) - 1)
    assert np.abs(true - 20*told).max() < 1e-9
    assert np.abs(true - told).max() > 1


def test_planted_bound_on_the_training_error_of_products():
    def over(power):
        worst = -np.inf
        for seed in range(60):
            H, y = signs(rng(seed), (4, 12)), signs(rng(seed + 99), 12)
            for T in (1, 2, 4):
                F, _, Z = adaboost_rounds(np.vstack([H, product_family(H)[0]]), y, T)
                worst = max(worst, np.mean(y*F <= 0) - np.prod(Z)**power)
        return worst
    assert over(1) <= 1e-12
    assert over(4) > .01


def test_planted_family_that_is_not_closed_under_negation():
    def broken(close):
        count = 0
        for seed in range(60):
            r = rng(seed)
            H, y, w = signs(r, (4, 10)), signs(r, 10), r.dirichlet(np.ones(10))
            errors = (np.vstack([H, -H]) if close else H) != y
            errors = errors@w
            count += abs(errors.min() - .5) < np.abs(errors - .5).max() - 1e-12
        return count
    assert broken(True) == 0
    assert broken(False) > 0


def test_planted_price_of_use():
    def dearer(price):
        return any(price*p + s > s + 2*p for s in range(6) for p in range(6))
    assert not dearer(2)
    assert dearer(3)


def test_planted_number_of_answers_per_round():
    "The largest ratio of training times, with rounds that use every answer they may."
    def most(R, K, T=12):
        calls = T*(R*(K + 1) + 1)                                # T rounds of single classifiers
        return calls/T
    for R, K in ((1, 1), (5, 20), (10, 3)):
        assert most(R, K) <= R*(K + 1) + 2
        assert most(R, K) > R*K + 1                              # planted: the print's count


def test_planted_edge_that_looks_at_one_end_only():
    def beaten(formula):
        r, worst = rng(), 0.
        for _ in range(60):
            v, C = r.normal(size=7), abs(r.normal())
            u, U = np.cumsum(v)[:-1], v.sum()
            best = max(abs(x) + abs(U - x) for x in u) + C
            worst = max(worst, abs(best - formula(u.min(), u.max(), U, C)))
        return worst
    assert beaten(lambda lo, hi, U, C: max(abs(U), abs(2*lo - U), abs(2*hi - U)) + C) < 1e-12
    assert beaten(lambda lo, hi, U, C: max(abs(U), abs(2*hi - U)) + C) > 1e-2


def test_planted_cuts_that_leave_tables_out():
    def rank(A, B, trivial):
        sides = lambda n: [np.arange(n) < c for c in range(0 if trivial else 1, n)]
        tables = [np.outer(a == s, b == t).ravel() for a in sides(A) for b in sides(B)
                  for s in (0, 1) for t in (0, 1)]
        return np.linalg.matrix_rank(np.array(tables, float))
    assert rank(4, 3, True) == 12 and rank(3, 3, True) == 9
    assert rank(1, 3, True) == 3 > rank(1, 3, False)


def test_planted_share_of_a_heat_map():
    r = rng()
    f, ma, mb = r.normal(size=(4, 3)), r.dirichlet(np.ones(4)), r.dirichlet(np.ones(3))
    f = f - ma@f@mb
    rows, columns = f@mb, ma@f

    def off(share):
        worst = 0.
        for a, b in product(range(4), range(3)):
            value = .5*(rows[a] - 0) + .5*(f[a, b] - columns[b])     # two orders of arrival
            worst = max(worst, abs(value - share*(f[a, b] + rows[a] - columns[b])))
        return worst
    assert off(.5) < 1e-12
    assert off(1.) > .1


def test_planted_end_without_negation():
    "Where the least error is one half, is the loss at its minimum?"
    def early(close):
        count = 0
        for seed in range(60):
            r = rng(seed)
            H, y = signs(r, (3, 6)), signs(r, 6)
            family = np.vstack([H, -H]) if close else H
            w = np.full(6, 1/6)
            least, slopes = ((family != y)@w).min(), H@(w*y)
            count += least >= .5 - 1e-12 and np.abs(slopes).max() > 1e-9
        return count
    assert early(True) == 0
    assert early(False) > 0


def test_planted_link_without_the_half():
    def beaten(link):
        grid, worst = np.linspace(-6, 6, 6001), 0.
        for p in (.02, .3, .5, .9):
            loss = lambda f: p*np.exp(-f) + (1 - p)*np.exp(f)
            worst = max(worst, loss(link(p)) - loss(grid).min())
        return worst
    assert beaten(lambda p: .5*log(p/(1 - p))) < 1e-6
    assert beaten(lambda p: log(p/(1 - p))) > 1e-2


def test_planted_corner_that_is_not_the_only_one():
    def zeros(bound):
        found = set()
        for i, k, j in product(range(1, 9), range(1, 13), range(1, 13)):
            r = Fraction(i, 9)
            lift = 1 + (1/r - 1)*Fraction(k, 12)
            if bound(Fraction(j, 12)/lift, lift, r) <= 0:
                found.add((r, Fraction(j, 12)/lift, lift))
        return found
    corner = {(Fraction(i, 9), Fraction(i, 9), Fraction(9, i)) for i in range(1, 9)}
    assert zeros(error_bound) == corner
    assert zeros(lambda low, lift, r: error_bound(low, lift, r) - Fraction(1, 30)) > corner
