"""The papers' image experiments: protocols, measures, small runs on invented data; real pictures
only where they are at hand."""
import csv
from importlib.resources import files

import numpy as np
import pytest

from boostlit.compositional.boosting import rule_errors_reference, update_weights
from boostlit.images import pictures as images

events = pytest.importorskip("boostlit.lab.events")
detection = pytest.importorskip("boostlit.lab.detection")
ranking = pytest.importorskip("boostlit.lab.ranking")
rich = pytest.importorskip("boostlit.lab.fisher_scenes")
impossible = pytest.importorskip("boostlit.lab.impossible")


def needs_images(*names):
    return pytest.mark.skipif(
        not images.have_images(*names), reason=f"the image sets {names} or OpenCV are not here"
    )


# ---- events --------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(5))
def test_grouping_follows_the_papers_numbers(seed):
    rng = np.random.default_rng(seed)
    y, colour = np.repeat(np.arange(10), 380), rng.random((3800, 4))
    ev, lab = events.group_events(y, colour, seed)
    sizes = [len(e) for e in ev]
    assert len(ev) == 88 and sum(sizes) == 3453 and min(sizes) >= 7 and max(sizes) <= 108
    assert (
        sorted(np.bincount(lab)) == sorted(events.EVENTS) and len(set(np.concatenate(ev))) == 3453
    )


def test_event_sizes_refuse_the_impossible():
    with pytest.raises(ValueError, match="cannot make"):
        events.event_sizes(2, 500, np.random.default_rng(0))


def test_histograms_sum_to_one():
    H = events.event_histograms(
        np.random.default_rng(0).integers(1, 9, (20, 8)), [np.arange(5), np.arange(5, 20)]
    )
    assert np.allclose(H.sum(1), 1) and np.allclose(H[:, :4].sum(1), .5)


def test_stumps_of_the_experiment_are_algorithm_2_on_single_items():
    r = np.random.default_rng(3)
    y, X = np.repeat(np.arange(3), 20), r.random((60, 9))
    X[np.arange(60), y] += .5
    m = events.event_model("stumps", 6, threshold_scale=.5).fit(X, y)
    B = X >= m.thresholds_
    fires, labels = np.repeat(np.vstack([B.T, ~B.T]), 3, axis=0), np.tile(np.arange(3), 18)
    chosen = 3*m.rule_items_ + m.rule_labels_       # one item per rule: its row in `fires`
    assert len(chosen) == len(m.alphas_) == 6
    w = np.full(60, 1/60)
    # Algorithm 2, with the model's choice among equals
    for r, alpha in zip(chosen, m.alphas_):
        errors = rule_errors_reference(fires, labels, y, w, 3, "guess")
        assert errors[r] <= errors.min() + 1e-12
        assert abs(alpha - np.log((1 - errors.min())/errors.min()) - np.log(2)) < 1e-9
        update_weights(w, fires[r], y == labels[r], alpha, 3, "guess")


def test_leave_one_out_never_sees_the_event_left_out():
    """A perfect word for each class: both methods must predict an unseen event."""
    r = np.random.default_rng(0)
    y = np.repeat(np.arange(4), 8)
    H = r.random((32, 30))*.1
    H[np.arange(32), y] += 1
    H /= H.sum(1, keepdims=True)
    for m in ("compositional", "stumps"):
        out = events.event_left_out(H, y, 9, m, 20, min_lift=2., threshold_scale=.5)
        assert out["predicted"] == y[9] and len(out["hits"]) == 20


# ---- detection -----------------------------------------------------------------------------------
def test_products_solve_what_stumps_cannot():
    from boostlit.core.stumps import StumpOracle
    r = np.random.default_rng(0)
    X = r.normal(size=(400, 6))
    y = np.sign(X[:, 1]*X[:, 4])
    o = StumpOracle(X)
    one, two = (detection.train_detector(o, y, d, 10) for d in (1, 2))
    assert two["losses"][-1] < .2 < one["losses"][-1] and two["sizes"].sum() <= 10
    used, small = detection.compact(two)
    s = list(detection.staged_votes(small, X[:, used]))[-1][1]
    assert (np.sign(s) == y).mean() > .95


def test_code_oracle_equals_the_whole_one():
    from boostlit.core.stumps import StumpOracle
    r = np.random.default_rng(1)
    V, y, w = r.normal(size=(200, 17)), r.choice([-1., 1.], 200), r.dirichlet(np.ones(200))
    a, b = detection.code_oracle(lambda s: V[:, s], 17, 4), StumpOracle(V, max_bins=128)
    assert (a.codes == b.codes).all() and a.best(y, w)[0] == b.best(y, w)[0]


def test_suppression_and_matching():
    w = np.array([[10, 10, 5.], [12, 15, 4.], [10, 200, 3.]])
    kept = detection.suppress(w)
    assert kept[:, 2].tolist() == [5, 3]
    s, right, total = detection.match_detections([kept], [np.array([[11, 12], [90, 90]])])
    assert right.tolist() == [True, False] and total == 2
    p, r, ap = detection.precision_recall(right, total)
    assert ap == .5
    assert detection.suppress(np.zeros((0, 3))).shape == (0, 3)


@needs_images("uiuc_cars")
def test_truth_fits_the_scenes():
    truth, scenes = detection.true_locations(), detection.scene_images()
    assert len(truth) == len(scenes) == 170 and sum(map(len, truth)) == 200
    for t, img in zip(truth, scenes):
        for y, x in t: assert -40 < y < img.shape[0] and -100 < x < img.shape[1]


@needs_images("cbcl_pedestrians", "scene15")
def test_halves_do_not_overlap():
    a, b = (
        detection.detection_windows("mit-pedestrians", 60, part, per_class=2) for part in (0, 1)
    )
    assert len(a["y"]) == len(a["objects"]) + 30 and (a["y"] > 0).sum() == 924
    assert not {p.as_py() for p in a["pictures"]} & {p.as_py() for p in b["pictures"]}


# ---- ranking -------------------------------------------------------------------------------------
def test_measures_give_no_credit_for_ties():
    right = np.array([True]*4 + [False]*4)
    assert ranking.precision_at(right, np.zeros(8)) <= .25
    assert ranking.average_precision(right, np.zeros(8)) < .5
    assert ranking.average_precision(right, -np.arange(8.)) == 1


def test_search_task_keeps_faces_apart():
    names = np.repeat(["Faces", "Faces_easy", "x"], 60)
    rows, right, back = ranking.search_task(names, "Faces", 0, 40, 10, 20)
    assert "Faces_easy" not in set(names[rows]) | set(names[back])


def test_planted_words_are_found_and_ranked():
    r = np.random.default_rng(0)
    counts = r.poisson(3.0, (130, 25))
    counts[:30, [2, 9]] += 7
    data = dict(counts=counts)
    right = np.arange(45) < 30
    for kind in ("1.5-class", "1.5-class, averaged"):
        s, est = ranking.boosted_rank(kind, data, np.arange(45), np.arange(45, 130))
        assert ranking.average_precision(right, s) > .75
    assert len(ranking.boosted_rank("one-class", data, np.arange(45), np.arange(45, 130))[0]) == 45


# ---- rich blocks and the table of readings -------------------------------------------------------
@pytest.mark.skipif(not images.have_cv2(), reason="OpenCV is not here")
def test_folded_patches_do_not_know_left_from_right():
    grey = np.random.default_rng(0).integers(0, 256, (77, 77)).astype(np.uint8)
    two = [rich.fisher_patches(np.ascontiguousarray(v), "greys") for v in (grey, grey[:, ::-1])]
    fine = np.r_[:121, len(two[0].y)//2:len(two[0].y)//2 + 121]        # 11 x 11 patches, both ways
    rows = [np.c_[p.y, p.descriptors][fine] for p in two]
    a, b = (np.array(sorted(map(tuple, r.round(2).tolist()))) for r in rows)
    assert np.allclose(a, b, atol=.02)
    assert np.abs(np.sort(two[0].x[fine]) - np.sort(two[1].x[fine])).max() <= 2    # of 77 pixels
    assert 0 <= two[0].x.min() and two[0].x.max() <= 77
    plain = [rich.sift_patches(np.ascontiguousarray(v), **rich.RECIPE, look=rich.dense_greys)
             for v in (grey, grey[:, ::-1])]
    assert not np.allclose(plain[0].descriptors, plain[1].descriptors, atol=.02)


def test_grain_is_blind_to_brightness_and_contrast():
    grey = np.random.default_rng(3).integers(60, 120, (49, 49)).astype(np.uint8)
    plain, other = rich.dense_grain(grey, 17, 8), rich.dense_grain(2*grey + 10, 17, 8)
    assert plain.shape == (25, 81) and np.allclose(plain.mean(1), 0, atol=1e-5)
    assert np.abs(plain - other).max() < .1 and .9 < plain.std() <= 1
    middle = grey[4:13, 4:13].ravel()/255.                             # of the first patch
    middle = middle - middle.mean()
    assert np.allclose(plain[0], middle/np.sqrt((middle**2).mean() + 4e-4), atol=1e-4)
    order = rich.turned_entries("grain")
    turned = rich.dense_grain(np.ascontiguousarray(grey[:, ::-1]), 17, 8)
    assert np.allclose(turned.reshape(5, 5, 81)[:, ::-1, order], plain.reshape(5, 5, 81), atol=1e-5)


def test_rates_with_and_without_a_class():
    r = np.random.default_rng(4)
    y = np.arange(150) % 3
    blocks = r.normal(size=(2, 150, 10))
    blocks[:, np.arange(150), y] += np.where(y == 0, 0., 3.)           # class 0 has no mark
    grams = np.einsum("jnd,jmd->jnm", blocks, blocks).astype(np.float32)/10
    halves = np.arange(75), np.arange(75, 150)
    found = rich.boosted_against_all(grams, np.ones(2), y, *halves, 2, aside=2)
    whole = rich.boosted_against_all(grams, np.ones(2), y, *halves, 2)
    assert whole["boosted"] == whole["boosted_rest"] == found["boosted"] != found["boosted_rest"]
    assert whole["machine"] == whole["machine_rest"] == found["machine"]


def test_boosting_through_all_components_ends_at_least_squares_on_all():
    r = np.random.default_rng(1)
    y = np.arange(120) % 3
    blocks = r.normal(size=(4, 120, 10))
    blocks[:2, np.arange(120), y] += 2.
    grams = np.einsum("jnd,jmd->jnm", blocks, blocks).astype(np.float32)/10
    shares = np.array([1., 1., .5, .5])
    found = rich.boosted_against_all(grams, shares, y, np.arange(60), np.arange(60, 120), 4)
    assert found["boosted"] == found["squares"] and found["rounds"] == found["components"] == 4
    picks = list(map(int, found["chosen"].split()))
    assert sorted(picks) == [0, 1, 2, 3] and set(picks[:2]) == {0, 1}  # those that know first


def test_sizes_and_places_of_components_do_not_matter():
    r = np.random.default_rng(2)
    blocks, fit = r.normal(size=(3, 50, 8)), np.arange(0, 50, 2)
    moved = blocks*np.array([1., 30., .1])[:, None, None] + r.normal(size=(3, 1, 8))
    even = [rich.even_grams(np.einsum("jnd,jmd->jnm", b, b), np.ones(3), fit)
            for b in (blocks, moved)]
    assert np.allclose(*even, atol=1e-4)


def test_splits_are_added_to_the_stored_ones_of_the_same_codebook(tmp_path):
    row = lambda seed, book: dict(seed=seed, method="m", accuracy=50. + seed, one_minus_eer=80.,
                                  chosen=3e-4, rounds=2, edge=True, codebook=book)
    path = tmp_path/"splits.csv"
    for seed in (1, 0, 1): impossible.store_splits([row(seed, "a")], path)
    again = impossible.stored_splits(path)
    assert [r["seed"] for r in again] == [0, 1] and again[1]["accuracy"] == 51
    assert again[0]["chosen"] == 3e-4 and again[0]["edge"] and np.isnan(again[0]["alive"])
    impossible.store_splits([row(2, "b")], path)
    assert [r["codebook"] for r in impossible.stored_splits(path)] == ["b"]


# ---- what is stored ------------------------------------------------------------------------------
def test_reproductions_are_registered():
    from boostlit.lab.experiments import REPRODUCTIONS

    assert {r.run.__name__ for r in REPRODUCTIONS.values()} >= {
        "table2_events",
        "fig11",
        "fig12",
        "fig5_ranking",
    }


def test_stored_results_support_the_claims():
    rows = []
    for paper in (0, 4):
        with (
            files("boostlit")
            .joinpath("data", f"ours{paper}.csv")
            .open(encoding="utf-8", newline="") as f
        ):
            rows += csv.DictReader(f)
    v = {
        (r["item"], r["method"], r["quantity"]): float(r["value"])
        for r in rows
        if r["item"] in ("Table 2", "Figure 5")
    }
    assert (
        v["Table 2", "compositional", "leave-one-out accuracy"]
        > v["Table 2", "stumps", "leave-one-out accuracy"] + 10
    )
    for q in ("average precision", "precision at 15 % recall"):
        for b in ("distance to mean", "one-class SVM"):
            assert v["Figure 5", "1.5-class, averaged", q] > v["Figure 5", b, q]
