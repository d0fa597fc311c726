"""Compositional rules: the paper's table, its theorems, attacks that can fail, the estimator's
manners."""
import itertools
import json
import pickle
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from boostlit.core.boosters import TERMS
from boostlit.core.datasets import have_dataset
from boostlit.core.kernels import kernels
from boostlit.core.loop import boost
from boostlit.core.masters import AdaBoost, Gentle, Logistic, MadaBoost, SAMME
from boostlit.core.models import load_model, save_model
from boostlit.compositional.boosting import (RuleVotes, boost_rules_reference,
                                             rule_errors_reference, update_weights)
from boostlit.compositional.estimator import (CompositionalBoostClassifier, OpenRules, RulePool,
                                              SignedRules, Vocabulary, learn_vocabulary,
                                              resolve_thresholds, telling_items)
from boostlit.compositional.kernels import cover_sums, item_sums, rule_bits
from boostlit.compositional.rules import (infeasible, mine_rules, mine_rules_reference,
                                          minimal_generator, rule_measures, table1_column,
                                          table1_setting)
from boostlit.compositional.settling import Settling, Votes, distinct_rules, probabilities
from boostlit.compositional.theorem import error_bound, generalisation_width, paper_bound
from boostlit.compositional.transactions import (TransactionEncoder, item_matrix, item_thresholds,
                                                 label_cuts, item_cuts)
from boostlit.mining.bitsets import item_bits

PAPER = {"cancer": [.37, 1.34, 12_729, 12_597, .561, .366, .081, .241],
         "wine": [.27, 1.85, 342, 266, .406, .270, .022, .150],
         "numeral": [.10, 5.0, 156_734, 48_452, .150, .100, .017, .081]}
PAGES = Path(__file__).resolve().parents[1]/"nbs"


def paper_form(**options):
    return CompositionalBoostClassifier(**{"pool": "mined", **options})


# ---- the paper ---------------------------------------------------------------------------------
@pytest.mark.parametrize("name", PAPER)
def test_table_1_digit_for_digit(name):
    if name == "numeral" and not have_dataset("mfeat"):
        pytest.skip("mfeat is not here")
    np.testing.assert_allclose(list(table1_column(name).values()), PAPER[name], atol=1e-9)


@settings(max_examples=300, deadline=None, database=None)
@given(*[st.integers(0, 10**7)]*4)
def test_theorem_1(hit, false, miss, rest):
    n = hit + false + miss + rest
    if hit == 0 or hit*n <= (hit + false)*(hit + miss):
        return
    m = rule_measures(hit + false, hit, (hit + miss)/n, n)
    assert m["error"] <= m["bound"] + 1e-9 <= m["paper_bound"] + 2e-9
    if false == 0 or miss == 0:
        assert abs(m["error"] - m["paper_bound"]) < 1e-9
    assert infeasible((hit + false)/n, m["lift"], [(hit + miss)/n]) == ""


@settings(max_examples=300, deadline=None, database=None)
@given(*[st.integers(0, 10**7)]*4, st.floats(.01, 1), st.floats(.01, 1))
def test_sharp_form_of_theorem_1(hit, false, miss, rest, a, b):
    n = hit + false + miss + rest
    if hit == 0 or hit*n <= (hit + false)*(hit + miss):
        return
    r = (hit + miss)/n
    m = rule_measures(hit + false, hit, r, n)
    l1, l2 = (hit + false)/n*a, 1 + (m["lift"] - 1)*b
    assert m["error"] <= error_bound(l1, l2, r) + 1e-9
    assert error_bound(l1, l2, r) <= paper_bound(l1, l2, r) + 1e-9


def test_generalisation_width_has_its_conditions():
    assert generalisation_width(400, 10, 2) == pytest.approx(generalisation_width(100, 10, 2)/2)
    for bad in (dict(n=0), dict(rules=0), dict(classes=0), dict(risk=1.)):
        with pytest.raises(ValueError):
            generalisation_width(**{**dict(n=10, rules=3, classes=2, risk=.1), **bad})


# ---- attacks of the pages, and planted violations that turn them red -----------------------------
def cells(page, needle):
    "Source of the code cells of a page that hold some words."
    nb = json.loads((PAGES/f"compositional/{page}.ipynb").read_text(encoding="utf-8"))
    sources = ["".join(c["source"]) for c in nb["cells"] if c["cell_type"] == "code"]
    return [s for s in sources if needle in s]


def function_of(page, name, **names):
    "A function that a cell of a page defines, without running what the cell checks."
    import ast
    source, = [s for s in cells(page, f"def {name}(")]
    tree = ast.parse(source)
    tree.body = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name]
    space = {"np": np, "Fraction": Fraction, "itertools": itertools, **names}
    exec(compile(tree, page, "exec"), space)
    return space[name]


def test_attack_on_the_bounds_finds_planted_violations():
    attack = function_of("03_theorem", "largest_excess")
    assert attack(paper_bound, 9) == 0 == attack(error_bound, 9)
    shaved = lambda f: lambda *a: f(*a) - Fraction(1, 10_000)
    assert attack(shaved(paper_bound), 9) > 0 and attack(shaved(error_bound), 9) > 0


def test_attack_on_feasibility_finds_the_rule_that_never_fires():
    attack = function_of("02_rules", "feasibility_attack")
    assert max(max(p) for p in attack(8)) == 1
    assert max(max(p) for p in attack(8, silent_rules=True)) > 1


def test_attack_on_generators_finds_wrong_and_loose_ones():
    attack = function_of("02_rules", "generator_attack")
    assert attack(minimal_generator) == (0, 0)
    assert attack(lambda X, F: F[:1])[0] > 0 and attack(lambda X, F: F)[1] > 0


def test_attack_on_better_than_guessing_refutes_the_papers_sentence():
    attack = function_of("04_boosting", "disagreements")
    assert attack(lambda R, Q, M, K: (K - 1)*R > Q, "guess", 8) == [0, 0]
    assert attack(lambda R, Q, M, K: Q + M - (K - 2)*R < Fraction(1, K), "rest", 8) == [0, 0]
    assert min(attack(lambda R, Q, M, K: Q + M < Fraction(1, 2), "guess", 8)) > 0
    fires, y = np.arange(10) < 3, np.r_[0, 1, 1, 1, 1, 1, 2, 2, 2, 2]      # the printed example
    error = rule_errors_reference(fires[None], np.array([0]), y, np.full(10, .1), 3)[0]
    assert error == pytest.approx(2/3) and (fires != (y == 0)).mean() == .2


def test_attack_on_the_step_and_on_the_update_find_planted_ones():
    step = function_of("04_boosting", "step_attack")
    assert step()[0] < 1 and step()[1] <= 1e-12 and step(3.)[0] > 1
    gap = function_of("04_boosting", "loss_gap", update_weights=update_weights,
                      rng=np.random.default_rng(0))
    assert gap(4, "guess") < 1e-12 and min(gap(4, r) for r in ("rest", "mistake", "ignore")) > 1e-4


def test_attack_on_the_functional_anova_finds_a_missing_term():
    terms = function_of("04_boosting", "anova_terms")
    attack = function_of("04_boosting", "anova_attack")
    assert attack(terms) < 1e-12
    assert attack(lambda F, q: {S: c for S, c in terms(F, q).items() if S}) > .01


def test_attack_on_implied_conditions_finds_rules_made_too_short():
    attack = function_of("05_estimator", "implied_attack", learn_vocabulary=learn_vocabulary)
    assert attack(telling_items) == 0 and attack(lambda items, words: items[1:]) > 0


def test_attack_on_support_finds_a_cut_too_low():
    attack = function_of("01_transactions", "largest_share", item_thresholds=item_thresholds)
    low = lambda x, tau: (x >= item_thresholds(x[:, None], tau - .1)[0]).mean()
    assert attack(1500) <= 1 + 1e-12 and attack(1500, low) > 1


def test_attack_on_affine_maps_finds_one_that_is_not():
    attack = function_of("01_transactions", "changed_items", item_matrix=item_matrix,
                         item_thresholds=item_thresholds)
    X = load_wine().data
    assert attack(X, lambda X, a, b: a*X + b, 3) == 0
    assert attack(X, lambda X, a, b: a*np.sqrt(X) + b, 3) > 0


def test_attack_on_the_number_of_rules_finds_a_wrong_count():
    attack = function_of("01_transactions", "sets_held", item_matrix=item_matrix)
    assert attack(3) == (27, 8) and attack(2, 2)[0] > 9


def test_attack_on_three_ways_of_lift_finds_a_wrong_one():
    attack = function_of("02_rules", "lift_attack")
    assert attack(largest=6) == 0 and attack(lambda s, h, r, l: h/r >= l*s, 6) == 0
    assert attack(lambda s, h, r, l: h/r >= l*r, 6) > 0


def test_table_1_needs_at_least():
    T, y, lam1, lam2 = table1_setting("wine")
    stats = {}
    mine_rules(T, y, lam1, lam2, prune=False, stats=stats)
    assert stats["sets"] == 342
    mine_rules(T, y, int(lam1*len(y)) + 1, lam2, prune=False, stats=stats)   # more than: planted
    assert stats["sets"] < 342


def test_attack_on_the_slack_finds_a_planted_one():
    def measures(hit, false, miss, rest):
        n = hit + false + miss + rest
        return rule_measures(hit + false, hit, (hit + miss)/n, n)
    attack = function_of("03_theorem", "slack_gap", counts_to_measures=measures)
    assert attack(lambda l, s, r: (1 - l*r)*(1/l - s)) < 1e-12
    assert attack(lambda l, s, r: (1 - l*r)*(1/l - s) + .001) > 1e-4


def test_attack_on_new_data_finds_a_width_too_small():
    attack = function_of("03_theorem", "miss_rate")
    assert attack(generalisation_width(60, 20, 2)) <= .05
    assert attack(generalisation_width(60, 1, 1)) > .05


def test_attack_on_bayes_consistency_finds_planted_scores():
    from scipy.optimize import minimize
    gap = function_of("04_boosting", "bayes_gap", minimize=minimize)
    best = lambda p, K: (K - 1)*(np.log(p) - np.log(p).mean())
    p = np.array([.2, .3, .5])
    assert gap(3, p, best) < 1e-3 and gap(3, p, lambda p, K: best(p, K)/2) > .1
    zero = np.array([.5, .5, 0.])                      # no minimiser: scores run away
    risk = [zero @ np.exp(-np.array([t, t, -2*t])/2) for t in (1., 10., 100.)]
    assert risk[0] > risk[1] > risk[2] > 0


def test_attack_on_weak_learning_finds_rules_that_do_help():
    attack = function_of("04_boosting", "two_rules")
    assert attack((0, 1)) == (1, .5) and attack((1, 1)) == (2, 1.)


def test_attack_on_two_classes_finds_other_readings():
    rng = np.random.default_rng(4)
    ada = function_of("04_boosting", "adaboost_on_signs")
    fires, labels, y = rng.random((25, 60)) < .3, rng.integers(0, 2, 25), rng.integers(0, 2, 60)
    H = np.where(fires, 1, -1)*np.where(labels, 1, -1)[:, None]
    want = [r for r, _ in ada(H, np.where(y, 1, -1), 12)]
    same = {reading: [r for r, *_ in boost_rules_reference(fires, labels, y, 2, 12, reading, True)]
            == want for reading in ("rest", "guess", "mistake")}
    assert same == {"rest": True, "guess": False, "mistake": False}


def test_attack_on_mh_finds_a_bound_too_small():
    attack = function_of("04_boosting", "boost_mh")
    t, T, y = wine_pool()
    fires = np.array([T[:, f].all(1) for f in t["items"].to_pylist()])
    errors, bounds = attack(fires, t["label"].to_numpy(), y, 3, 30).T
    assert (errors <= bounds).all() and (np.diff(bounds) < 0).all()
    assert (errors > .1*bounds).any()                                          # planted


def test_attack_on_the_search_finds_one_cut_short():
    from boostlit.compositional.estimator import signed_weights
    from boostlit.mining.itemsets import closed_reference
    attack = function_of("05_estimator", "worst_gap", rng=np.random.default_rng(0),
                         OpenRules=OpenRules, closed_reference=closed_reference,
                         signed_weights=signed_weights)
    assert attack(60) < 1e-12 < .01 < attack(60, node_budget=2)


def test_attack_on_settled_weights_finds_planted_ones():
    make = function_of("08_settling", "small_problem", Votes=Votes)
    attack = function_of("08_settling", "violation", probabilities=probabilities)
    for seed in range(6):
        votes = make(seed)
        solver = Settling(votes, most=5000, close=1e-9)
        penalty = .3*solver.first()
        beta, b = solver.solve(penalty)
        assert attack(votes, penalty, beta, b) < 1e-4
        assert attack(votes, penalty, beta + .3*(beta != 0), b) > .05
        twins = votes._replace(fires=np.hstack([votes.fires]*2), free=np.vstack([votes.free]*2))
        keep = distinct_rules(twins.fires > 0, np.tile(np.arange(9) % 3, 2))
        assert keep.tolist() == list(range(9))


# ---- items and rules -----------------------------------------------------------------------------
def test_rules_agree_with_the_reference():
    rng = np.random.default_rng(0)
    for _ in range(100):
        n = int(rng.integers(6, 40))
        X, y = rng.random((n, rng.integers(1, 8))) < .5, rng.integers(0, 3, n)
        s, lift = float(rng.uniform(.05, .3)), float(rng.uniform(1.05, 2.))
        try:
            t = mine_rules(X, y, s, lift)
        except ValueError as e:
            assert "no rule" in str(e) or "2 classes" in str(e)
            continue
        found = set(zip(map(tuple, t["items"].to_pylist()), t["label"].to_pylist()))
        assert found == mine_rules_reference(X, y, s, lift)


def test_cutting_gives_the_same_rules_from_far_fewer_sets():
    T, y, *_ = table1_setting("cancer")
    full, cut = {}, {}
    tables = [mine_rules(T, y, .2, 2.4, prune=p, stats=s) for p, s in ((False, full), (True, cut))]
    rules = [set(zip(map(tuple, t["items"].to_pylist()), t["label"].to_pylist())) for t in tables]
    assert rules[0] == rules[1] and len(rules[0]) > 2000 and cut["sets"]*100 < full["sets"]
    assert 5*(cut["nodes"] + cut["cells"]) < full["nodes"] + full["cells"]


def test_cuts_are_between_values_and_ascending():
    rng = np.random.default_rng(0)
    for _ in range(50):
        x, y = rng.integers(0, 12, 60).astype(float), rng.integers(0, 3, 60)
        x[rng.random(60) < .2] = np.nan
        for cuts in (item_cuts(x, 4), label_cuts(x, y)):
            assert (np.diff(cuts) > 0).all() and not np.isin(cuts, x).any()
            assert len(cuts) <= 4
    close = np.array([1., np.nextafter(1., 2.)])                     # nothing fits between
    assert (close >= item_cuts(close, 1)[0]).tolist() == [False, True]
    assert np.isfinite(item_cuts(np.array([1e308, -1e308]), 1)).all()


def test_thresholds_of_the_paper_are_not_replaced_in_silence():
    assert resolve_thresholds(None, None, [.466, .534], 208) == (97, 1/.932)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # one class without rules: the paper's
        resolve_thresholds(None, None, [.2, .8], 155)
        with pytest.raises(UserWarning, match="the paper's thresholds admit no rule"):
            resolve_thresholds(None, None, [.5, .5], 100)
    assert resolve_thresholds("auto", "auto", [.466, .534], 208)[0] == 70
    with pytest.raises(ValueError, match="thresholds must be"):
        resolve_thresholds("most", None, [.4, .6], 100)


# ---- kernels -------------------------------------------------------------------------------------
def test_kernels_give_the_same_bits_interpreted_and_compiled():
    rng = np.random.default_rng(0)
    for n in (1, 63, 64, 65, 200):
        X = rng.random((n, 9)) < .6
        bits, pointers = item_bits(X)[0], np.array([0, 1, 3, 3, 7], np.int64)
        items = rng.integers(0, 9, 7)
        signed, labels, used = rng.normal(size=(3, n)), rng.integers(0, 3, 4), rng.random(4) < .2
        results = []
        for mode in ("python", "compiled"):
            with kernels(mode):
                covers = rule_bits(bits, pointers, items)
                covers[2] = 0
                sums, single = np.empty(4), np.zeros((3, 9))
                cover_sums(covers, labels, used, signed, sums)
                item_sums(X, signed, single)
            results.append((covers.tobytes(), sums.tobytes(), single.tobytes()))
        assert results[0] == results[1]


# ---- the loop ------------------------------------------------------------------------------------
def wine_pool(**options):
    X, y = load_wine(return_X_y=True)
    T = item_matrix(X, item_thresholds(X))
    t = mine_rules(T, y, .25, 1.6)
    return t, T, y


@pytest.mark.parametrize("abstain", ["guess", "rest", "mistake", "ignore"])
@pytest.mark.parametrize("replace", [False, True])
def test_reference_and_loop_agree(abstain, replace):
    t, T, y = wine_pool()
    fires = np.array([T[:, f].all(1) for f in t["items"].to_pylist()])
    done = boost(RulePool(t, T, 3, replace, abstain), RuleVotes(abstain), y, 30, n_classes=3)
    want = boost_rules_reference(fires, t["label"].to_numpy(), y, 3, 30, abstain, replace)
    np.testing.assert_allclose(done.alphas, [a for _, a, _ in want], atol=1e-9)
    plain = boost(
        RulePool(t, T, 3, replace, abstain), RuleVotes(abstain), y, 30, n_classes=3, plain=True
    )
    np.testing.assert_array_equal(plain.alphas, done.alphas)


def test_cores_samme_takes_both_oracles_of_classes():
    t, T, y = wine_pool()
    for make in (lambda: RulePool(t, T, 3), lambda: OpenRules(T, 3, max_length=2)):
        a = boost(make(), SAMME(), y, 20, n_classes=3)
        b = boost(make(), RuleVotes(), y, 20, n_classes=3)
        np.testing.assert_allclose(a.alphas, b.alphas, atol=1e-8)


@pytest.mark.parametrize("master", [AdaBoost, Gentle, Logistic, MadaBoost])
def test_signed_rules_under_the_masters_of_signs(master):
    X, y = load_breast_cancer(return_X_y=True)
    T, t = item_matrix(X, item_thresholds(X)), np.where(y, 1., -1.)
    oracle = SignedRules(T, 10, 2)
    done = boost(oracle, master(), t, 15)
    assert (np.diff([row["loss"] for row in done.history]) < 1e-12).all()
    scores = sum(a*oracle.apply(h, T) for h, a in zip(done.hypotheses, done.alphas))
    np.testing.assert_allclose(scores, done.scores, atol=1e-9)


# ---- the estimator -------------------------------------------------------------------------------
FORMS = [dict(pool="mined"), dict(pool="open", max_length=2), dict(),
         dict(pool="mined", items="positive", abstain="ignore"),
         dict(pool="mined", replace=True, abstain="mistake"), dict(pool="mined", abstain="rest"),
         dict(pool="open", max_length=1), dict(loss="samme", cuts=3, node_budget=500)]


@pytest.mark.parametrize("kw", FORMS, ids=str)
def test_estimator_end_to_end(kw, tmp_path):
    X, y = load_wine(return_X_y=True)
    names = np.array(["barolo", "grignolino", "barbera"])[y]
    m = CompositionalBoostClassifier(n_estimators=25, **kw).fit(X, names)
    assert m.score(X, names) > .6 and m.predict_proba(X).shape == (178, 3)
    np.testing.assert_allclose(m.predict_proba(X).sum(1), 1)
    staged = list(m.staged_decision_function(X))
    np.testing.assert_allclose(staged[-1], m.decision_function(X), atol=1e-9)
    assert len(staged) == m.history_.num_rows == m.n_iter_
    assert {"round", "error", "edge", "alpha", "loss"} <= set(m.history_.column_names)
    assert m.terms_.schema == TERMS and 0 < m.terms_.num_rows <= len(m.alphas_)
    assert "→ class" in m.rules_["rule"][0].as_py() and m.explain(X[:3]).num_rows > 0
    errors = [np.mean(p != names) for p in m.staged_predict(X)]
    np.testing.assert_allclose(errors[-1], m.history_["error"][-1].as_py(), atol=.06)
    assert m.feature_importances_.sum() == pytest.approx(1)
    again = pickle.loads(pickle.dumps(m))
    np.testing.assert_array_equal(again.decision_function(X), m.decision_function(X))
    save_model(m, tmp_path/"m.boostlit")
    loaded = load_model(tmp_path/"m.boostlit")
    np.testing.assert_array_equal(loaded.decision_function(X), m.decision_function(X))
    np.testing.assert_array_equal(clone(m).fit(X, names).alphas_, m.alphas_)


@pytest.mark.parametrize("kw", FORMS[:3] + FORMS[6:], ids=str)
def test_controls(kw):
    X, y = load_wine(return_X_y=True)
    make = lambda **more: CompositionalBoostClassifier(**{**dict(random_state=0), **kw, **more})
    one = make(n_estimators=12).fit(X, y)
    warm = make(n_estimators=6, warm_start=True).fit(X, y)
    warm.set_params(n_estimators=12).fit(X, y)
    np.testing.assert_array_equal(warm.alphas_, one.alphas_)
    np.testing.assert_array_equal(warm.rule_items_, one.rule_items_)
    assert not np.array_equal(make(n_estimators=12, subsample=.5).fit(X, y).alphas_, one.alphas_)
    part = make(n_estimators=12, subsample=.5)
    np.testing.assert_array_equal(clone(part).fit(X, y).alphas_, clone(part).fit(X, y).alphas_)
    slow = make(n_estimators=12, learning_rate=.1).fit(X, y)
    assert slow.history_["loss"][0].as_py() > one.history_["loss"][0].as_py()
    early = make(n_estimators=60, early_stopping=True, n_iter_no_change=3).fit(X, y)
    assert "validation_loss" in early.history_.column_names and early.n_iter_ <= 60
    heavy = make(n_estimators=5, class_weight={0: 1, 1: 1, 2: 30}).fit(X, y)
    assert (heavy.predict(X) == 2).sum() >= (one.predict(X) == 2).sum()


def test_loss_falls_every_round_when_silence_is_a_guess_and_under_the_logistic_loss():
    for X, y in (load_wine(return_X_y=True), load_breast_cancer(return_X_y=True)):
        for kw in (dict(pool="mined"), dict(pool="open", max_length=2), {}):
            m = CompositionalBoostClassifier(n_estimators=40, **kw).fit(X, y)
            assert (np.diff(m.history_["loss"].to_numpy()) < 0).all()


def test_bad_parameters_raise_a_sentence():
    X, y = load_wine(return_X_y=True)
    bad = [
        (dict(min_support=0.8, min_lift=2.0), "no rule can exist"),
        (dict(min_lift=1.0), "exceed 1"),
        (dict(min_support=0.0), "fraction"),
        (dict(items="some"), "positive"),
        (dict(abstain="never"), "abstain"),
        (dict(pool="closed"), "pool"),
        (dict(n_estimators=0), "n_estimators"),
        (dict(pool="mined", max_rules=3), "more than 3"),
        (dict(n_estimators=2.5), "an int"),
        (dict(n_estimators="5"), "an int"),
        (dict(max_length=1.5), "integer"),
        (dict(node_budget=0), "node_budget"),
        (dict(threshold_scale=np.nan), "finite"),
        (dict(threshold_scale="a"), "finite"),
        (dict(min_support=True), "count"),
        (dict(min_lift=np.nan), "exceed 1"),
        (dict(pool="mined", min_support=179), "179 rows .* there are 178"),
        (dict(pool="mined", min_support=178), "above 1"),
        (dict(cuts="median"), "cuts"),
        (dict(cuts=0), "cuts"),
        (dict(loss="hinge"), "loss"),
        (dict(pool="mined", loss="logistic"), "mined pool"),
        (dict(pool="mined", settle=True), "settle"),
        (dict(settle="yes"), "settle"),
        (dict(max_terms=0), "max_terms"),
    ]
    for kw, word in bad:
        with pytest.raises(ValueError, match=word):
            CompositionalBoostClassifier(**kw).fit(X, y)


def test_weights_matter_and_missing_values_fire_nothing():
    X, y = load_breast_cancer(return_X_y=True)
    a = paper_form(n_estimators=5, max_length=3).fit(X, y)
    w = np.where(y == 1, 10., 1.)
    b = paper_form(n_estimators=5, max_length=3).fit(X, y, sample_weight=w)
    assert (b.predict(X) == 1).sum() >= (a.predict(X) == 1).sum() and not np.allclose(
        a.alphas_, b.alphas_
    )
    none = np.full((1, 30), np.nan)
    # nothing fires: the majority
    assert a.explain(none).num_rows == 0 and a.predict(none)[0] == 1
    with pytest.raises(ValueError, match="negative"):
        a.fit(X, y, sample_weight=-w)


def test_rules_are_measured_in_samples_whatever_they_weigh():
    X, y = load_wine(return_X_y=True)
    m = paper_form(n_estimators=15).fit(X, y, sample_weight=np.where(y == 2, 50., 1.))
    T = item_matrix(X, m.thresholds_)
    for r, a, b in zip(m.rules_.to_pylist(), m.rule_pointers_[:-1], m.rule_pointers_[1:]):
        fires, own = T[:, m.rule_items_[a:b]].all(1), y == r["label"]
        want = [fires.sum(), own[fires].mean(), own[fires].mean()/own.mean(), (fires != own).mean()]
        np.testing.assert_allclose([r[k] for k in ("support", "confidence", "lift", "error")], want,
                                   atol=1e-12)


def test_a_search_stopped_by_its_budget_says_so():
    X, y = load_breast_cancer(return_X_y=True)
    def done(**kw):
        return (
            CompositionalBoostClassifier(n_estimators=4, **kw)
            .fit(X, y)
            .history_["complete"]
            .to_pylist()
        )

    assert done(pool="mined") == done(pool="open", max_length=2) == [True]*4
    assert (
        done(pool="open", max_length=1) == [True] * 4
        and done(pool="open", node_budget=30) == [False] * 4
    )


def test_the_rules_that_fired_are_the_score():
    X, y = load_wine(return_X_y=True)
    m = paper_form(n_estimators=30).fit(X, y)
    votes = np.zeros((178, 3))
    for r in m.explain(X).to_pylist():
        votes[r["sample"], r["label"]] += r["weight"]
    np.testing.assert_allclose(
        m.decision_function(X), (3 * votes - votes.sum(1, keepdims=True)) / 2, atol=1e-6
    )


def test_degenerate_data():
    with pytest.warns(UserWarning, match="no rules"):
        flat = paper_form().fit(np.ones((10, 3)), [0]*4 + [1]*6)
    assert flat.predict(np.ones((2, 3))).tolist() == [1, 1] and flat.terms_.num_rows == 0
    with pytest.warns(RuntimeWarning, match="learnt nothing"):
        flat = CompositionalBoostClassifier().fit(np.ones((10, 3)), [0]*4 + [1]*6)
    np.testing.assert_allclose(flat.predict_proba(np.ones((1, 3))), [[.4, .6]])
    with pytest.raises(ValueError, match="class"):
        CompositionalBoostClassifier().fit(np.ones((4, 2)), np.zeros(4))
    huge = paper_form(n_estimators=3).fit(
        np.array([[1e308], [-1e308], [1e307], [-1e307]]), [0, 1, 0, 1]
    )
    assert huge.score(np.array([[1e308], [-1e308]]), [0, 1]) == 1
    frozen = load_wine(return_X_y=True)[0]
    frozen.setflags(write=False)
    CompositionalBoostClassifier(n_estimators=3).fit(frozen, load_wine().target)


def test_a_model_without_rules_says_so_and_works():
    rng = np.random.default_rng(0)
    X, y = rng.random((400, 14)).round(), np.r_[np.zeros(150, int), np.ones(250, int)]
    with pytest.warns(UserWarning, match="no rules and predicts the most frequent class"):
        m = paper_form(min_support=.3, min_lift=1.5).fit(X, y)
    assert (m.predict(X) == 1).all() and m.predict_proba(X).shape == (400, 2)
    assert m.explain(X[:2]).num_rows == 0 and m.decision_function(X).shape == (400,)


def test_items_that_every_row_holds_stay_out_of_the_rules():
    X, y = load_wine(return_X_y=True)
    P = np.c_[np.full((178, 6), 7.), X]
    a, b = (paper_form(max_length=3, n_estimators=20).fit(Z, y) for Z in (P, X))
    np.testing.assert_allclose(a.alphas_, b.alphas_)
    P[:, :6] = 0.                                          # constants that change silence nothing
    assert (a.predict(P) == b.predict(X)).all() and a.rule_items_.size == b.rule_items_.size


def test_doubling_every_column_changes_nothing_by_default():
    X, y = load_wine(return_X_y=True)
    a, b = (CompositionalBoostClassifier(n_estimators=10).fit(Z, y) for Z in (X, np.hstack([X, X])))
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(np.hstack([X, X])), atol=1e-9)


def test_rules_of_the_default_form_are_minimal_and_printed_so():
    n, rng = 600, np.random.default_rng(0)
    t = pa.table({"class": rng.choice(["1st", "2nd", "3rd"], n).tolist(),
                  "sex": rng.choice(["man", "woman"], n).tolist(), "age": rng.uniform(0, 80, n)})
    died = (np.array(t["class"].to_pylist()) == "3rd") & (np.array(t["sex"].to_pylist()) == "man")
    for m in (CompositionalBoostClassifier(n_estimators=5).fit(t, died),
              paper_form(min_support=.1, min_lift=1.2).fit(t, died)):
        assert m.score(t, died) > .95
        texts = m.terms_["text"].to_pylist()
        assert not any("class = 3rd" in s and "class ≠" in s for s in texts)
        words = Vocabulary(m.columns_, m.thresholds_, m.codes_)
        for a, b in zip(m.rule_pointers_[:-1], m.rule_pointers_[1:]):
            full = m.rule_items_[a:b]
            T = words.transactions(m.read_rows(t))
            np.testing.assert_array_equal(
                T[:, full].all(1), T[:, telling_items(full, words)].all(1)
            )


def test_default_form_on_small_odd_tables():
    rng = np.random.default_rng(0)
    for n, d, K in ((2, 1, 2), (5, 3, 2), (12, 2, 4), (40, 1, 3), (60, 30, 2)):
        X, y = rng.normal(size=(n, d)), np.arange(n) % K
        X[rng.random(X.shape) < .2] = np.nan
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            P = CompositionalBoostClassifier(n_estimators=10).fit(X, y).predict_proba(X)
        assert np.isfinite(P).all() and np.allclose(P.sum(1), 1)


def test_sixty_rows_are_enough_for_a_model():
    X, y = load_breast_cancer(return_X_y=True)
    for seed in range(4):
        mine = np.isin(np.arange(569), np.random.default_rng(seed).choice(569, 60, replace=False))
        m = CompositionalBoostClassifier().fit(X[mine], y[mine])
        assert m.score(X[~mine], y[~mine]) > .85 and (np.diff(m.rule_pointers_) > 0).any()


def test_noise_is_left_alone():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 6)), rng.integers(0, 2, 300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        P = CompositionalBoostClassifier().fit(X[:150], y[:150]).predict_proba(X[150:])
    assert -np.log(P[np.arange(150), y[150:]]).mean() < .75


def test_path_and_shorter_models(tmp_path):
    X, y = load_wine(return_X_y=True)
    m = CompositionalBoostClassifier(n_estimators=30).fit(X, y)
    assert m.path_.column_names == ["penalty", "rules", "loss", "error", "chosen"]
    rules = lambda m: int((np.diff(m.rule_pointers_) > 0).sum())
    for most in (3, 6):
        short = m.at_most(most)
        assert rules(short) <= most and rules(short) <= rules(m)
        np.testing.assert_allclose(short.predict_proba(X).sum(1), 1)
        np.testing.assert_allclose(list(short.staged_decision_function(X))[-1],
                                   short.decision_function(X), atol=1e-9)
    assert rules(CompositionalBoostClassifier(n_estimators=30, max_terms=5).fit(X, y)) <= 5
    save_model(m, tmp_path/"m.boostlit")
    loaded = load_model(tmp_path/"m.boostlit")
    assert loaded.path_.equals(m.path_)
    with pytest.raises(ValueError, match="no path"):
        loaded.at_most(3)
    with pytest.raises(ValueError, match="terms"):
        m.at_most(0)


def test_boosted_weights_and_joined_twins_say_the_same():
    from boostlit.compositional.estimator import _rule_state, boosted_point, RULE_ARRAYS, rule_votes
    for X, y in (load_wine(return_X_y=True), load_breast_cancer(return_X_y=True)):
        m = CompositionalBoostClassifier(n_estimators=15, settle=False).fit(X, y)
        keep, _ = rule_votes(m, X, y, None)
        joined = pickle.loads(pickle.dumps(m))
        rules = {k: getattr(m, k) for k in RULE_ARRAYS}
        vars(joined).update(_rule_state(m, rules, keep, *boosted_point(m, X, keep)))
        np.testing.assert_allclose(joined.predict_proba(X), m.predict_proba(X), atol=1e-9)
        T = Vocabulary(m.columns_, m.thresholds_, m.codes_).transactions(X)
        for r, (a, b) in enumerate(zip(joined.rule_pointers_[:-1], joined.rule_pointers_[1:])):
            fires = T[:, joined.rule_items_[a:b]].all(1)
            assert fires.sum() == joined.rule_support_[r]
            assert (y[fires] == joined.rule_labels_[r]).sum() == joined.rule_hits_[r]


def test_rules_that_never_fire_or_are_never_right_raise_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        m = rule_measures(np.array([0, 5, 5]), np.array([0, 0, 5]), .5, 100)
    assert m["bound"].tolist()[:2] == [1., 1.] and m["bound"][2] < .5


def test_default_form_learns_what_single_items_cannot():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (800, 6))
    y = ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(int)
    m = CompositionalBoostClassifier().fit(X[:400], y[:400])
    assert m.score(X[400:], y[400:]) > .9
    P = m.predict_proba(X[400:])[np.arange(400), y[400:]]
    assert -np.log(P).mean() < .35


def test_encoder_in_a_pipeline():
    X, y = load_wine(return_X_y=True)
    for output in ("dense", "sparse"):
        pipe = make_pipeline(TransactionEncoder(output=output), LogisticRegression())
        assert pipe.fit(X, y).score(X, y) > .9


WHY = dict.fromkeys(("check_sample_weight_equivalence_on_dense_data",
                     "check_sample_weight_equivalence_on_sparse_data"),
                    "weights start the boosting; cuts and support are counted in samples")


@pytest.mark.parametrize(
    "est",
    [
        paper_form(n_estimators=10),
        CompositionalBoostClassifier(n_estimators=5),
        CompositionalBoostClassifier(n_estimators=5, pool="open", max_length=2),
        TransactionEncoder(),
    ],
    ids=["mined", "auto", "open", "encoder"],
)
def test_estimator_checks(est):
    expected = WHY if hasattr(est, "pool") else {}
    failed = [r for r in check_estimator(est, on_fail=None, expected_failed_checks=expected)
              if r["status"] == "failed"]
    assert not failed, [(r["check_name"], str(r["exception"])[:200]) for r in failed]


@pytest.mark.parametrize("form", [{}, dict(pool="mined", min_support=.01), dict(pool="open")])
def test_a_column_of_seventy_thousand_words_is_refused_before_it_is_written_out(form):
    table = pa.table({"w": [f"v{j}" for j in range(70_000)], "x": np.arange(70_000.)})
    with pytest.raises(ValueError, match="column 'w' alone has 70,000 different values"):
        CompositionalBoostClassifier(n_estimators=2, **form).fit(table, np.arange(70_000) % 2)


def rule_state(abstain, y, sampled):
    master = RuleVotes(abstain)
    state = master.start(np.array(y), np.full(len(y), 1/len(y)), 2)
    state.sampled = sampled
    return master, state


def test_gains_of_an_oracle_that_saw_all_rows_are_believed():
    master, state = rule_state("mistake", [1, 0, 0], False)
    assert master.answer(state, np.array([1, -1, -1]), .2) == pytest.approx(np.log(.7/.3))
    master, state = rule_state("guess", [1, 0, 0], True)
    assert master.answer(state, np.array([-1, -1, -1]), .2) == pytest.approx(np.log(.7/.3))


@pytest.mark.parametrize("abstain, error", [("guess", 1/3), ("rest", 1e-10)])
def test_gains_of_an_oracle_that_saw_a_part_are_taken_again(abstain, error):
    "Silence on two rows of the other class: half wrong as a guess, right as `not this class`."
    master, state = rule_state(abstain, [1, 0, 0], True)
    said = master.answer(state, np.array([1, -1, -1]), .2)
    assert said == pytest.approx(np.log((1 - error)/error))


def test_minimal_generators_of_random_rules():
    from boostlit.compositional.rules import minimal_generator
    rng = np.random.default_rng(0)
    for _ in range(200):
        T = rng.random((12, 5)) < .8
        T = np.c_[T, T[:, :2]]                                  # two columns twice
        items = rng.permutation(7)[:rng.integers(1, 7)]
        kept, cover = minimal_generator(T, items), T[:, items].all(1)
        assert set(kept) <= set(items) and np.array_equal(T[:, kept].all(1), cover)
        for i in kept:
            rest = [j for j in kept if j != i]
            assert not rest or not np.array_equal(T[:, rest].all(1), cover)


def test_width_and_bound_by_their_formulas():
    assert generalisation_width(100, 50, 3, .1) == pytest.approx(
        np.sqrt((np.log(60) + np.log(50))/200))
    assert paper_bound(.2, 1.5, .3) == pytest.approx(1/1.5 - .2*1.5*.3)


def test_thresholds_of_tiny_values():
    X = np.random.default_rng(0).normal(size=(20, 2))
    small = item_thresholds(X*2.**-700, 1.)
    assert np.allclose(np.ldexp(small, 700), item_thresholds(X, 1.), rtol=1e-12)


def test_cuts_lie_evenly_among_the_rows():
    from boostlit.compositional.transactions import _best_split, item_cuts
    assert item_cuts(np.arange(100.), 3).tolist() == [24.5, 49.5, 74.5]
    assert item_cuts(np.array([1., 2., np.nan]), 3).tolist() == [1.5]
    # a cut that helps a little is taken, one that does not is not
    assert _best_split(np.array([0., 1.]), np.array([[2, 1], [1, 2]])) == 1
    assert _best_split(np.array([0., 1.]), np.array([[1, 1], [1, 1]])) is None


def test_thresholds_that_admit_no_rule_are_moved():
    from boostlit.compositional.estimator import resolve_thresholds
    with pytest.warns(UserWarning, match="used instead"):
        count, lift = resolve_thresholds(.6, None, np.array([.5, .5]), 100)
    assert count == 60 and lift <= .999*100/60


def test_places_of_bits():
    from boostlit.compositional.kernels import _PLACES
    assert sorted(_PLACES) == list(range(64))
