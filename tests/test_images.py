"""Images: oracles by brute force, bad input, caches, transformers, and real pictures."""
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from boostlit.core.kernels import kernels
from boostlit.images import (Census, Codebook, Components, DenseSIFT, FisherVector, SpatialPyramid,
                             Waves, blocks, codebook, components, descriptors, integral,
                             picture_folder, transformers)
from boostlit.images import pictures as images

needs_cv2 = pytest.mark.skipif(not images.have_cv2(), reason="OpenCV is not installed")


def needs_images(*names):
    return pytest.mark.skipif(not images.have_images(*names),
                              reason=f"the image sets {names} or OpenCV are not here")


def png(img):
    return images.require_cv2().imencode(".png", img)[1].tobytes()


def picture(h=90, w=120, seed=0):
    y, x = np.mgrid[:h, :w]
    r = np.random.default_rng(seed)
    return np.clip(128 + 60*np.sin(x/(5 + seed % 4) + y/9) + r.normal(0, 12, (h, w)), 0,
                   255).astype(np.uint8)


# --- images ---
def test_importing_the_room_imports_neither_opencv_nor_matplotlib():
    code = ("import sys, boostlit.images.components, boostlit.images.integral, boostlit.images; "
            "print([m for m in ('cv2', 'matplotlib', 'nbdev', 'fastcore', 'numba') "
            "if m in sys.modules])")
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_missing_opencv_is_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(ImportError, match=r"boostlit\[vision\]"):
        images.require_cv2()


def test_missing_set_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setenv("BOOSTLIT_DATA", str(tmp_path))
    monkeypatch.setenv("BOOSTLIT_CACHE", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="BOOSTLIT_DATA"):
        images.image_table("scene15")
    assert not images.have_images("scene15")


@needs_cv2
def test_image_set_from_a_folder_of_ones_own(monkeypatch, tmp_path):
    import pyarrow.parquet as pq
    rows = [dict(**{"class": c}, split=None, file=f"{c}{i}.png", image=png(picture(40, 50, i)))
            for c in "ab" for i in range(4)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path/"mine.parquet")
    monkeypatch.setenv("BOOSTLIT_DATA", str(tmp_path))
    assert images.image_table("mine").num_rows == 8
    assert images.image_table("mine", per_class=3).num_rows == 6
    assert set(images.image_table("mine", classes=["b"])["class"].to_pylist()) == {"b"}
    F = components.image_features("mine", 5, (3, 2), 20, cache=tmp_path/"c", n_images=8,
                                  per_image=20)
    G = components.image_features("mine", 5, (3, 2), 20, cache=tmp_path/"c", n_images=8,
                                  per_image=20, n_jobs=2)
    assert F["X"].shape == (8, 5, 6) and (F["X"].values == G["X"].values).all()
    assert list(F["classes"]) == ["a", "b"]


@needs_cv2
def test_decoding():
    img = picture()
    assert (images.decode_image(png(img)) == img).all()
    rgb = np.random.default_rng(0).integers(0, 256, (9, 7, 3), dtype=np.uint8)
    assert (images.decode_image(png(rgb[:, :, ::-1]), grey=False) == rgb).all()
    for bad in (b"", b"abc"):
        with pytest.raises((ValueError, OSError)):
            images.decode_image(bad)
    assert images.resize_image(img, max_side=30).shape == (22, 30)
    assert images.resize_image(img, max_pixels=1).shape == (1, 1)


@given(st.lists(st.one_of(st.binary(max_size=5), st.integers(-5, 5), st.text(max_size=3)),
                max_size=4),
       st.lists(st.one_of(st.binary(max_size=5), st.integers(-5, 5), st.text(max_size=3)),
                max_size=4))
@settings(max_examples=200, deadline=None)
def test_keys_are_equal_exactly_for_equal_content(a, b):
    same = len(a) == len(b) and all(type(x) is type(y) and x == y for x, y in zip(a, b))
    assert (images.content_key(*a) == images.content_key(*b)) == same


def test_save_leaves_no_half_file(tmp_path):
    class Broken:
        schema = pa.schema([("x", pa.int64())])
    with pytest.raises((AttributeError, TypeError)):
        images.save_arrow(Broken(), tmp_path/"x.arrow")
    assert list(tmp_path.iterdir()) == []


def test_map_images_resumes_and_ignores_the_number_of_threads(tmp_path):
    calls = []
    def step(b):
        calls.append(b)
        return dict(n=len(b), a=np.arange(len(b) % 5))
    docs = [bytes(i) for i in range(57)]
    one = images.map_images(step, docs, 1, "s", tmp_path, shard=10)
    assert len(calls) == 57
    for f in sorted(tmp_path.iterdir())[:2]: f.unlink()
    two = images.map_images(step, docs, 1, "s", tmp_path, shard=10, n_jobs=2)
    assert one.equals(two) and 57 < len(calls) <= 77
    off, flat = images.list_column(two, "a")
    assert off[-1] == len(flat) == sum(i % 5 for i in range(57))


@needs_cv2
def test_a_codebook_needs_no_cache(tmp_path):
    from boostlit.images.codebook import cached_codebook
    docs = [png(picture(seed=s)) for s in range(3)]
    plain, kept, again = (cached_codebook(docs, 4, 0, 3, 20, cache=c)
                          for c in (None, tmp_path, tmp_path))
    assert plain.shape[0] == 4 and np.array_equal(plain, kept) and np.array_equal(kept, again)
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith("codebook-")]


# --- descriptors ---
@needs_cv2
@pytest.mark.parametrize("seed", range(4))
def test_readable_sift_agrees_with_opencv(seed):
    img = picture(70, 90, seed)
    D = descriptors.dense_sift(img).astype(float)
    ys, xs = descriptors.dense_grid(*img.shape)
    cos = [descriptors.sift_patch(img, ys[k//len(xs)], xs[k % len(xs)])@D[k]/np.linalg.norm(D[k])
           for k in range(0, len(D), 7)]
    assert np.mean(cos) > .99


@needs_images("scene15")
def test_readable_sift_agrees_on_real_patches():
    cos = []
    for b in images.image_table("scene15", per_class=1)["image"]:
        img = images.decode_image(b.as_py())
        D = descriptors.dense_sift(img).astype(float)
        ys, xs = descriptors.dense_grid(*img.shape)
        for k in np.random.default_rng(0).choice(len(D), 8, replace=False):
            y, x = ys[k//len(xs)], xs[k % len(xs)]
            if img[y:y+16, x:x+16].std() > 2 and D[k].any():
                cos.append(descriptors.sift_patch(img, y, x)@D[k]/np.linalg.norm(D[k]))
    assert np.mean(cos) > .95


def test_grid_refuses_tiny_pictures():
    with pytest.raises(ValueError, match="no room"):
        descriptors.dense_grid(10, 100)


@needs_cv2
def test_flat_pictures_are_described_without_nan():
    for fn in (descriptors.dense_sift, descriptors.dense_orientation):
        assert np.isfinite(fn(np.full((40, 40), 200, np.uint8)).astype(float)).all()


# --- codebook ---
@given(st.integers(1, 40), st.integers(1, 30), st.integers(1, 6), st.integers(0, 99))
@settings(max_examples=30, deadline=None)
def test_assignment_is_the_nearest_centre(n, k, d, seed):
    r = np.random.default_rng(seed)
    X, C = r.integers(0, 9, (n, d)), r.integers(0, 9, (k, d))
    got = codebook.assign_words(X, C, block=7)
    D = ((X[:, None] - C[None])**2).sum(2)
    assert (D[np.arange(n), got] == D.min(1)).all()


def test_codebook_errors_and_order():
    X = np.random.default_rng(0).normal(size=(50, 3))
    with pytest.raises(ValueError, match="at least as many"):
        codebook.fit_codebook(X, 51)
    with pytest.raises(ValueError, match="kind"):
        codebook.describe(b"", kind="smell")
    assert (codebook.fit_codebook(X, 6) == codebook.fit_codebook(X, 6)).all()


# --- blocks ---
@given(st.integers(1, 6), st.integers(1, 7), st.integers(1, 5), st.integers(0, 999))
@settings(max_examples=40, deadline=None)
def test_products_equal_the_definition(n, d, m, seed):
    r = np.random.default_rng(seed)
    dense = r.poisson(.4, (n, d, m)).astype(float)*r.normal(size=(n, d, m))
    X = blocks.blocks_from(dense)
    a, b = r.normal(size=d), r.normal(size=m)
    np.testing.assert_allclose(X.right(b), np.einsum("nkj,j->nk", dense, b), atol=1e-12)
    np.testing.assert_allclose(X.left(a), np.einsum("k,nkj->nj", a, dense), atol=1e-12)
    np.testing.assert_allclose(X.T.right(a), X.left(a), atol=1e-12)
    assert (X.to_dense() == dense).all() and (X.T.T is X)
    rows = r.integers(0, n, 4)
    assert (X[rows].to_dense() == dense[rows]).all()


def test_blocks_round_trip_and_are_mapped(tmp_path):
    r = np.random.default_rng(0)
    X = blocks.blocks_from(r.poisson(.2, (9, 30, 12)).astype(np.uint8))
    blocks.save_blocks(X, tmp_path/"b.arrow", note="n")
    Y = blocks.load_blocks(tmp_path/"b.arrow")
    assert Y.shape == X.shape and (Y.to_dense()
                                   == X.to_dense()).all() and Y.values.dtype == np.uint8
    assert not Y.words.flags.writeable
    assert (Y[3:5].T.to_dense() == X[3:5].T.to_dense()).all()
    images.save_arrow(pa.table({"x": [1]}), tmp_path/"other.arrow")
    with pytest.raises(ValueError, match="does not hold blocks"):
        blocks.load_blocks(tmp_path/"other.arrow")


def test_blocks_from_sparse_lists_and_bad_input():
    import scipy.sparse as sp
    mats = [sp.random(5, 4, .4, random_state=i) for i in range(3)]
    assert np.allclose(blocks.blocks_from(mats).to_dense(), [m.toarray() for m in mats])
    for bad, words in (([], "empty"), ([np.ones((2, 2)), np.ones((3, 2))], "same numbers"),
                       ([np.full((1, 1), np.inf)], "NaN or infinity")):
        with pytest.raises(ValueError, match=words):
            blocks.blocks_from(bad)
    X = blocks.blocks_from(np.ones((2, 3, 4)))
    with pytest.raises(ValueError, match="expected"):
        X.left(np.ones(4))
    with pytest.raises(ValueError, match="by must"):
        X.normalised("row")


def test_threads_change_nothing():
    r = np.random.default_rng(1)
    X = blocks.blocks_from(r.poisson(.1, (200, 40, 15)).astype(float))
    b = r.normal(size=15)
    assert (X.right(b) == X.right(b, n_jobs=2)).all()


# --- components ---
@given(st.integers(1, 3000), st.integers(1, 200), st.integers(1, 30))
@settings(max_examples=300, deadline=None)
def test_windows_always_cover(length, size, count):
    start, side = components.window_axis(length, size, count)
    assert len(start) == count and start[0] == 0 and (start >= 0).all() and (start + side
                                                                             <= length).all()
    assert start[-1] + side == length or (count == 1 and side == length) or start[-1] == 0
    assert (np.diff(start) <= side).all() and max(start[-1] + side, side) == length


def word_table(sizes, n_words, seed=0):
    r = np.random.default_rng(seed)
    rows = []
    for h, w in sizes:
        ys, xs = descriptors.dense_grid(h, w)
        rows.append(dict(height=h, width=w, rows=len(ys), cols=len(xs),
                         words=r.integers(0, n_words, len(ys)*len(xs)).astype(np.uint16)))
    return images.rows_table(rows)


def test_component_blocks_equal_the_definition_and_keep_large_counts():
    T = word_table([(16, 16), (200, 90), (64, 300), (33, 47)], 9)
    X = components.component_blocks(T, 9, (5, 4), 30, n_jobs=2)
    for n in range(4):
        h, w, r, c = (T[k][n].as_py() for k in ("height", "width", "rows", "cols"))
        want = components.component_histograms(np.array(T["words"][n].as_py(),
                                                        np.uint16).reshape(r, c), h, w, 9, (5, 4),
                                               30)
        assert (X[n].to_dense()[0] == want).all()
    big = components.component_blocks(word_table([(300, 300)], 1), 1, (1, 1), 300)
    assert big.values.max() == 36*36 and big.values.dtype == np.uint16


def test_pyramid_levels_partition_the_patches():
    T = word_table([(100, 130), (50, 301), (16, 16)], 7)
    d = components.pyramid_blocks(T, 7).to_dense()
    assert (d[:, :, 1:5].sum(2) == d[:, :, 0]).all() and (d[:, :, 5:].sum(2) == d[:, :, 0]).all()
    w = components.pyramid_weights(3)
    assert w[0] + w[1] + w[5] == 1


def test_intersection_kernel_equals_the_definition():
    r = np.random.default_rng(0)
    A, B = r.poisson(.5, (11, 30)), r.poisson(.5, (5, 30))
    for jobs in (1, 2):
        np.testing.assert_allclose(components.intersection_kernel(A, B, jobs),
                                   np.minimum(A[:, None], B[None]).sum(2))
        np.testing.assert_allclose(components.intersection_kernel(A, n_jobs=jobs),
                                   np.minimum(A[:, None], A[None]).sum(2))
    with pytest.raises(ValueError, match="cannot be compared"):
        components.intersection_kernel(A, B[:, :3])


def test_split_and_accuracy():
    y = np.repeat([0, 1, 2], [10, 20, 30])
    train, test = components.random_split(y, 8, 1)
    assert (np.bincount(y[train])
            == 8).all() and len(np.intersect1d(train, test)) == 0 and len(train) + len(test) == 60
    assert components.class_accuracy(y, np.zeros(60)) == pytest.approx(1/3)


# --- integral images ---
@given(st.integers(2, 30), st.integers(2, 30), st.integers(0, 99))
@settings(max_examples=30, deadline=None)
def test_box_sums(h, w, seed):
    r = np.random.default_rng(seed)
    img = r.integers(0, 256, (h, w)).astype(np.uint8)
    S, Q = integral.integral_image(img)
    y0, y1 = np.sort(r.integers(0, h + 1, 2))
    x0, x1 = np.sort(r.integers(0, w + 1, 2))
    box = img[y0:y1, x0:x1].astype(int)
    assert (
        integral.box_sum(S, y0, x0, y1, x1) == box.sum()
        and integral.box_sum(Q, y0, x0, y1, x1) == (box**2).sum()
    )


def test_haar_counts_and_values():
    assert len(integral.haar_features(24, 24)) == 162336
    F = integral.sample_haar(18, 14, 60, 3)
    r = np.random.default_rng(0)
    img = r.integers(0, 256, (30, 40)).astype(np.uint8)
    V = integral.haar_values(img, F, 18, 14, [0, 12], [26, 3])
    for k, (y, x) in enumerate([(0, 26), (12, 3)]):
        win = img[y:y+18, x:x+14].astype(float)
        z = (win - win.mean())/win.std()
        for f, v in zip(F, V[k]):
            down, across = integral.BOARDS[f["kind"]]
            cells = [z[f["y"]+i*f["h"]:f["y"]+(i+1)*f["h"],
                       f["x"]+j*f["w"]:f["x"]+(j+1)*f["w"]].sum() for i in range(down)
                     for j in range(across)]
            assert v == pytest.approx(np.dot(integral.SIGNS[f["kind"]][:len(cells)], cells),
                                      abs=1e-3)
    for bad in (dict(ys=[20], xs=[0]), dict(ys=[-1], xs=[0])):
        with pytest.raises(ValueError, match="beyond the image"):
            integral.haar_values(img, F, 18, 14, **bad)


@needs_cv2
def test_background_windows_stay_inside_and_features_do_not_depend_on_threads():
    sizes = [(60, 80), (100, 50)]
    P = integral.background_windows(sizes, 24, 20, 300, random_state=1)
    pics = [png(picture(*s)) for s in sizes]
    F = integral.sample_haar(24, 20, 30)
    assert (integral.feature_rows(pics, F, 24, 20, P)
            == integral.feature_rows(pics, F, 24, 20, P, n_jobs=2)).all()
    with pytest.raises(ValueError, match="No picture"):
        integral.background_windows([(5, 5)], 24, 20, 3)


def test_log_odds_repair_machines_of_different_scale():
    r = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 50)
    X = np.eye(3)[y]*[1., 1., .6] + r.normal(0, .6, (150, 3))
    K = X@X.T + 1
    rows = r.permutation(150)
    train, test = rows[:90], rows[90:]
    raw, odds = (components.kernel_svm(K, y, train, test, calibrate=f) for f in (False, True))
    # same folds every time
    assert set(odds) <= {0, 1, 2} and (odds == components.kernel_svm(K, y, train, test,
                                                                     calibrate=True)).all()
    before = components.class_accuracy(y[test], raw)
    assert components.class_accuracy(y[test], odds) > max(.5, before - .08)
    # any codes
    codes = np.array([7, -2, 40])[y]
    assert (components.kernel_svm(K, codes, train, test, calibrate=True)
            == np.array([7, -2, 40])[odds]).all()
    scaled = lambda fit, at: np.stack([X[at]@X[fit][y[fit] == k].mean(0) for k in range(3)],
                                      axis=1)*[1, 10, 100]
    slope, offset = components.platt_curves(scaled, y, train)
    S = scaled(train, test)
    assert slope.shape == offset.shape == (3,) and slope[0] > 5*slope[1] > 25*slope[2] > 0
    assert np.mean((slope*S + offset).argmax(1) == y[test]) > np.mean(S.argmax(1) == y[test]) + .1


@needs_images("scene15")
def test_a_small_pyramid_recognises_scenes():
    """Six classes, 20 training pictures each: the features must be far better than chance."""
    classes = ["Coast", "Forest", "Office", "Suburb", "Kitchen", "Highway"]
    import tempfile
    with tempfile.TemporaryDirectory() as tmp:
        F = components.image_features("scene15", 100, cache=tmp, classes=classes, per_class=30,
                                      n_images=60, per_image=80, n_jobs=2)
    K = components.pyramid_kernel(F["words"], 100)
    train, test = components.random_split(F["y"], 20, 0)
    assert components.class_accuracy(F["y"][test],
                                     components.kernel_svm(K, F["y"], train, test)) > .6


# --- transformers ---
def sky_and_sea(seed, upside_down):
    "Horizontal waves below, diagonal clouds above; or the other way round."
    r = np.random.default_rng(seed)
    y, x = np.mgrid[:90, :120]
    top = y < 90*r.uniform(.4, .6)
    waves, clouds = np.sin(y/2 + r.uniform(0, 6)), np.sin((x + y)/5 + r.uniform(0, 6))
    img = 128 + 60*np.where(top ^ upside_down, clouds, waves) + r.normal(0, 12, x.shape)
    return np.clip(img, 0, 255).astype(np.uint8)


@pytest.fixture
def folder(tmp_path):
    for i in range(32):
        place = tmp_path/"pictures"/("beach", "dream")[i % 2]
        place.mkdir(parents=True, exist_ok=True)
        (place/f"{i:02d}.png").write_bytes(png(sky_and_sea(i, bool(i % 2))))
    return tmp_path/"pictures"


@needs_cv2
def test_ten_lines_from_a_folder_to_a_saved_classifier(folder):
    from boostlit import BilinearBoostClassifier, BilinearDisplay, load_model, save_model
    files, labels = picture_folder(folder)
    looks = make_pipeline(DenseSIFT(), Codebook(16, random_state=0), Components((3, 3), side=40))
    model = BilinearBoostClassifier(4, start="gradient").fit(looks.fit_transform(files[::2]),
                                                             labels[::2])
    assert model.score(looks.transform(files[1::2]), labels[1::2]) > .85
    assert len(BilinearDisplay.from_estimator(model).ax_.images) == 1
    save_model(model, folder/"m.arrow")
    seen = looks.transform(files)
    assert np.array_equal(load_model(folder/"m.arrow").predict(seen), model.predict(seen))


@needs_cv2
def test_transformers_are_scikit_learns(folder):
    files, labels = picture_folder(folder)
    whole = make_pipeline(DenseSIFT(step=16), Codebook(8, random_state=0),
                          SpatialPyramid(2, flat=True), LogisticRegression(C=1e3))
    again = clone(whole)
    assert again.get_params()["codebook__n_words"] == 8
    assert whole.fit(files[::2], labels[::2]).score(files[1::2], labels[1::2]) > .8
    again.set_params(densesift__n_jobs=2).fit(files[::2], labels[::2])
    assert np.array_equal(again.predict_proba(files), whole.predict_proba(files))
    assert 0 <= cross_val_score(clone(whole), np.array(files), labels, cv=3).mean() <= 1


@needs_cv2
def test_pictures_of_any_kind_give_the_same_patches(folder, tmp_path):
    files, _ = picture_folder(folder)
    arrays = [sky_and_sea(i, False) for i in (0, 2)]
    look = DenseSIFT(memory=str(tmp_path/"cache"))
    kinds = [files[:2], arrays, [a/255. for a in arrays], [png(a) for a in arrays]]
    found = [look.transform(k)[1].descriptors for k in kinds*2]
    assert all(np.array_equal(f, found[0]) for f in found)
    assert len(look.transform(folder)) == 32
    changed = files[0]
    before = look.transform([changed])[0].descriptors
    with open(changed, "wb") as f: f.write(png(sky_and_sea(9, True)))
    assert not np.array_equal(look.transform([changed])[0].descriptors, before)   # never stale


@needs_cv2
def test_fisher_vectors(folder):
    files, labels = picture_folder(folder)
    patches = DenseSIFT(step=16, scales=(1., .5)).transform(files)
    one, two = (FisherVector(3, 6, cells=((1, 1), (2, 1)), random_state=0, n_jobs=j).fit(patches)
                for j in (1, 2))
    F = one.transform(patches)
    assert F.shape == (32, 36, 3) and np.array_equal(F, two.transform(patches))
    assert np.allclose(np.linalg.norm(F, axis=1), 1, atol=1e-5)


@needs_cv2
@pytest.mark.parametrize("call, word", [
    (lambda: DenseSIFT().transform([]), "no pictures"),
    (lambda: DenseSIFT().transform(["nowhere.png"]), "nowhere.png"),
    (lambda: DenseSIFT().transform([b"junk"]), "not a picture"),
    (lambda: DenseSIFT().transform([np.full((40, 40), np.nan)]), "NaN"),
    (lambda: DenseSIFT().transform([np.zeros((5, 5))]), "no room"),
    (lambda: DenseSIFT(scales=()).transform([np.zeros((50, 50))]), "scales"),
    (lambda: Codebook(0).fit(DenseSIFT().transform([np.zeros((50, 50))])), "n_words"),
    (lambda: Codebook(2).fit([np.zeros((50, 50))]), "DenseSIFT"),
    (lambda: Components((0, 1)).transform([]), "grid"),
    (lambda: SpatialPyramid().transform(DenseSIFT().transform([np.zeros((50, 50))])), "Codebook"),
    (lambda: picture_folder("nowhere"), "not a folder")])
def test_transformers_refuse_in_one_sentence(call, word):
    with pytest.raises(ValueError, match=word): call()


def test_image_kernels_give_the_same_bits():
    r = np.random.default_rng(0)
    dense = r.poisson(.4, (70, 9, 5)).astype(float)
    found = []
    for mode in ("python", "compiled"):
        with kernels(mode):
            X = blocks.blocks_from(dense)
            found.append((X.right(np.arange(5.)), X.left(np.arange(9.)/7), X.T.words,
                          X[[3, 1]].values, components.intersection_kernel(dense.sum(2))))
    assert all(np.array_equal(a, b) for a, b in zip(*found))


@pytest.mark.parametrize("change, word", [
    (lambda X: X.words.__setitem__(0, 9), "outside of 0..8"),
    (lambda X: X.indptr.__setitem__(3, 10**6), "does not rise"),
    (lambda X: X.indptr.__setitem__(0, -5), "does not rise")])
def test_the_gate_stops_damaged_blocks(change, word):
    X = blocks.blocks_from(np.random.default_rng(0).poisson(.9, (8, 9, 5)).astype(float))
    change(X)
    for use in (lambda: X.right(np.ones(5)), lambda: X.left(np.ones(9)), lambda: X.T):
        with pytest.raises(ValueError, match=word): use()


@needs_cv2
def test_a_picture_and_its_mirror_image_together(folder):
    "Patches of both: the same Fisher block for a picture and for its mirror image."
    files, _ = picture_folder(folder)
    grey = [transformers.grey_picture(f) for f in files[:6]]
    both = DenseSIFT(step=12, mirror="both")
    turned = [np.ascontiguousarray(g[:, ::-1]) for g in grey]
    cells = FisherVector(3, 6, cells=((1, 1), (2, 1)), random_state=0).fit(both.transform(grey))
    a, b = (cells.transform(both.transform(g)) for g in (grey, turned))
    assert np.allclose(a, b, atol=1e-3)
    one = DenseSIFT(step=12)
    plain = cells.transform(one.transform(grey)), cells.transform(one.transform(turned))
    assert not np.allclose(*plain, atol=1e-3)                          # alone they differ


@needs_cv2
def test_intensity_patches_by_definition():
    grey = np.random.default_rng(0).integers(0, 256, (40, 52)).astype(np.uint8)
    ys, xs = descriptors.dense_grid(40, 52)
    found = descriptors.dense_intensity(grey)
    for i, (y, x) in enumerate((y, x) for y in ys for x in xs):
        cells = grey[y:y+16, x:x+16].reshape(4, 4, 4, 4).swapaxes(1, 2).reshape(16, 16)
        assert np.allclose(found[i], np.r_[cells.mean(1), cells.std(1)], atol=1e-3)


# --- census and waves ---
@needs_cv2
@pytest.mark.parametrize("look", [Census(), Waves(), Census(fold=True), Waves(32, fold=True)])
def test_whole_looks_are_scikit_learns(look, folder, tmp_path):
    files, labels = picture_folder(folder)
    blocks = clone(look).transform(files)
    assert blocks.dtype == np.float32 and np.isfinite(blocks).all() and blocks.shape[2] == 8
    assert np.array_equal(clone(look).set_params(n_jobs=2).transform(files), blocks)
    kept = [clone(look).set_params(memory=str(tmp_path)).transform(files[:3]) for _ in range(2)]
    assert np.array_equal(kept[0], blocks[:3]) and np.array_equal(kept[1], blocks[:3])
    assert look.get_params() == clone(look).get_params()
    model = LogisticRegression(max_iter=500).fit(blocks.reshape(len(files), -1), labels)
    assert model.score(blocks.reshape(len(files), -1), labels) > .7


@needs_cv2
def test_every_kind_of_picture_in_one_list(folder, tmp_path):
    grey = picture(50, 61)
    rgb, rgba = np.dstack([grey]*3), np.dstack([grey]*3 + [np.full_like(grey, 255)])
    deep = grey.astype(np.uint16)*257
    for look in (DenseSIFT(), Census(), Waves(32)):
        out = look.transform([grey, rgb, rgba, deep, grey/255., picture(70, 40), png(grey)])
        whole = [o.descriptors if hasattr(o, "descriptors") else o for o in out]
        for other in (3, 4, 6):
            np.testing.assert_array_equal(whole[other], whole[0])
        for other in (1, 2):                                 # colours are rounded once more
            assert np.abs(whole[other].astype(float) - whole[0]).mean() < 2
    dark = transformers.grey_picture(np.ones((9, 9, 3), np.uint8))
    assert dark.max() <= 1                                   # one of 255, not white
    broken = tmp_path/"broken.png"
    broken.write_bytes(png(grey)[:40])
    for look in (DenseSIFT(), Census(), Waves()):
        with pytest.raises(ValueError, match="broken.png"):
            look.transform([str(broken)])
        with pytest.raises(ValueError, match="no pictures"):
            look.transform([])


@needs_cv2
@given(st.integers(3, 40), st.integers(3, 40), st.integers(0, 9))
@settings(max_examples=40, deadline=None)
def test_census_counts_every_pixel_and_knows_the_mirror(h, w, seed):
    img = np.random.default_rng(seed).integers(0, 256, (h, w), dtype=np.uint8)
    one, both = (Census((1.,), cells=((1, 1),), fold=fold).transform([img])[0, :, 0]
                 for fold in (False, True))
    codes = descriptors.census_codes(img)
    share = np.bincount(codes.ravel(), minlength=256)/codes.size
    np.testing.assert_allclose(one**2, share, atol=1e-5)
    np.testing.assert_allclose(both**2, (share + share[descriptors.TURNED_CODES])/2, atol=1e-5)
    turned = Census((1.,), fold=True).transform([img[:, ::-1]])
    np.testing.assert_allclose(turned, Census((1.,), fold=True).transform([img]), atol=1e-5)


@needs_cv2
def test_dense_edges_are_sift():
    img = picture(60, 75, 3)
    ys, xs = descriptors.dense_grid(*img.shape, 16, 6)
    D = descriptors.dense_edges(img, 16, 6)
    for k in range(0, len(D), 5):
        want = descriptors.sift_patch(img, ys[k//len(xs)], xs[k % len(xs)])
        np.testing.assert_allclose(D[k], want, atol=1e-4)


def test_calibrated_machines_compare_log_odds():
    "The offset of Platt's curve is added: the winner is that of the curves themselves."
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [60, 20, 10])
    X = rng.normal(size=(90, 2)) + y[:, None]*[1., .4]
    K, train, test = X@X.T, np.arange(0, 90, 2), np.arange(1, 90, 2)
    from sklearn.svm import SVC
    def score(fit, rows):
        one = lambda c: SVC(C=10., kernel="precomputed").fit(K[np.ix_(fit, fit)], y[fit] == c)
        return np.stack([one(c).decision_function(K[np.ix_(rows, fit)]) for c in range(3)], axis=1)
    slope, offset = components.platt_curves(score, y, train)
    want = (slope*score(train, test) + offset).argmax(1)
    assert (components.kernel_svm(K, y, train, test, calibrate=True) == want).all()
    assert (want != (slope*score(train, test) - offset).argmax(1)).any()


@pytest.mark.parametrize("shape", [(5, 3), (5,), (2, 4, 4)])
def test_descriptors_that_do_not_fit_a_codebook(shape):
    with pytest.raises(ValueError, match="do not fit a codebook"):
        codebook.assign_words(np.zeros(shape), np.zeros((6, 4)))


def test_black_stays_black():
    picture = np.array([[0., .5], [1., 0.]])
    assert transformers._grey_array(picture).tolist() == [[0, 128], [255, 0]]


def test_no_feature_is_drawn_twice():
    drawn = integral.sample_haar(12, 12, 60, step=4)
    assert len(np.unique(drawn)) == len(drawn) == 60


def test_counts_of_nothing_stay_nothing():
    from boostlit.images.blocks import BilinearBlocks, normalise_blocks
    X = BilinearBlocks(np.array([0, 1, 2]), np.array([0, 1], np.uint16), np.array([0., 3.]),
                       (1, 2, 2))
    assert normalise_blocks(X, "component").values.tolist() == [0., 1.]


def test_windows_of_one_pixel():
    from boostlit.images.components import window_axis
    start, side = window_axis(5, 1, 5)
    assert start.tolist() == [0, 1, 2, 3, 4] and side == 1


def test_waves_look_along_their_directions():
    from boostlit.images.descriptors import _wave_bank
    bank = _wave_bank(64, 1, 4)
    y, x = np.meshgrid(np.fft.fftfreq(64), np.fft.fftfreq(64), indexing="ij")
    for k, wave in enumerate(bank):
        at = np.unravel_index(wave.argmax(), wave.shape)
        assert abs(np.arctan2(y[at], x[at]) - k*np.pi/4) < .1


def test_images_need_all_their_pointers():
    from boostlit.images.kernels import _check_images
    given = np.zeros(0, np.uint16), np.zeros(0), np.zeros(2), 2, 0, 2, np.zeros((2, 1))
    _check_images(np.zeros(5, np.int64), *given)
    with pytest.raises(ValueError, match="with 4 pointers"):
        _check_images(np.zeros(4, np.int64), *given)


def test_pictures_of_the_allowed_size_are_not_touched():
    img = np.zeros((20, 30), np.uint8)
    assert images.resize_image(img, max_side=30) is img
    assert images.resize_image(img, max_pixels=600) is img


def test_features_that_reach_beyond_the_window():
    from boostlit.images.integral import HAAR, haar_values
    img = np.zeros((20, 20), np.uint8)
    haar_values(img, np.array([(0, 0, 0, 4, 7)], HAAR), 18, 14)
    for wide in ((0, 0, 0, 4, 8), (0, 0, 1, 4, 7), (1, 0, 0, 10, 4)):
        with pytest.raises(ValueError, match="beyond the window"):
            haar_values(img, np.array([wide], HAAR), 18, 14)


def test_fisher_vectors_by_their_formula():
    from sklearn.mixture import GaussianMixture
    from boostlit.images.transformers import fisher_sums, fisher_vector, responsibilities
    rng = np.random.default_rng(0)
    P = rng.normal(size=(60, 3))*[1, 2, .5] + np.where(rng.random((60, 1)) < .5, 2., -1.)
    mix = GaussianMixture(2, covariance_type="diag", random_state=0).fit(P)
    gamma = responsibilities(P, mix)
    assert np.allclose(gamma, mix.predict_proba(P), atol=1e-9)
    parts = []
    for k in range(2):
        t = (P - mix.means_[k])/np.sqrt(mix.covariances_[k])
        parts.append([gamma[:, k]@t/np.sqrt(mix.weights_[k]),
                      gamma[:, k]@(t**2 - 1)/np.sqrt(2*mix.weights_[k])])
    v = np.r_[parts[0][0], parts[1][0], parts[0][1], parts[1][1]]/60
    v = np.sign(v)*np.sqrt(np.abs(v))
    halves = [fisher_sums(P[a:b], gamma[a:b]) for a, b in ((0, 25), (25, 60))]
    assert np.allclose(fisher_vector(halves, mix), v/np.linalg.norm(v), atol=1e-9)


def test_drawn_patches_are_those_of_stored_results():
    pytest.importorskip("cv2")
    from boostlit.images.codebook import describe, sample_descriptors
    data = png(picture(40, 40))
    D = sample_descriptors([data], per_image=5)
    every, _ = describe(data)
    assert [int(np.abs(every - d).sum(1).argmin()) for d in D] == [7, 2, 12, 13, 8]
