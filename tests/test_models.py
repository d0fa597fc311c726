"Model files: identical after a round trip, refused when damaged, harmless when hostile."
import os, pickle, subprocess, sys
from collections import Counter
import numpy as np, pytest
from sklearn.datasets import load_breast_cancer, load_wine
from boostlit import AdaBoostClassifier, DecisionStumpClassifier, GentleBoostClassifier, load_model, save_model
from boostlit.core.models import mutate, survive

X, y = load_breast_cancer(return_X_y=True)
SOAK = bool(os.environ.get("BOOSTLIT_SOAK"))
MODELS = [AdaBoostClassifier(n_estimators=20), GentleBoostClassifier(n_estimators=20), DecisionStumpClassifier()]


@pytest.mark.parametrize("est", MODELS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("labels", [y, np.where(y == 1, "benign", "malignant")], ids=["int", "str"])
def test_round_trip_is_identical(est, labels, tmp_path):
    est.fit(X, labels); save_model(est, tmp_path/"m"); again = load_model(tmp_path/"m")
    assert (again.predict(X) == est.predict(X)).all() and again.get_params() == est.get_params()
    if hasattr(est, "decision_function"): assert again.decision_function(X).tobytes() == est.decision_function(X).tobytes()
    save_model(again, tmp_path/"n"); assert (tmp_path/"m").read_bytes() == (tmp_path/"n").read_bytes()


def test_multi_class_round_trip(tmp_path):
    Xw, yw = load_wine(return_X_y=True)
    for make in (AdaBoostClassifier, GentleBoostClassifier):
        est = make(n_estimators=10).fit(Xw, yw); save_model(est, tmp_path/"m")
        assert load_model(tmp_path/"m").decision_function(Xw).tobytes() == est.decision_function(Xw).tobytes()


def test_fuzzed_files_are_refused_or_identical(tmp_path):
    est = AdaBoostClassifier(n_estimators=10).fit(X, y); save_model(est, tmp_path/"m"); data = (tmp_path/"m").read_bytes()
    want, rng = est.decision_function(X[:20]).tobytes(), np.random.default_rng(0)
    count = Counter(survive(mutate(data, rng), tmp_path/"hurt", lambda e: e.decision_function(X[:20]).tobytes() == want) for _ in range(20_000 if SOAK else 400))
    print("\nfuzzed model files:", dict(count)); assert count["refused"] > .5*sum(count.values())


@pytest.mark.parametrize("content", [b"", b"ARROW1\0\0", os.urandom(4096), pickle.dumps(os.getcwd)], ids=["empty", "magic", "noise", "pickle"])
def test_foreign_files(content, tmp_path):
    (tmp_path/"m").write_bytes(content)
    with pytest.raises(ValueError, match="model file"): load_model(tmp_path/"m")


def test_missing_file_and_unfitted_model(tmp_path):
    with pytest.raises(FileNotFoundError, match="no model file"): load_model(tmp_path/"nothing")
    from sklearn.exceptions import NotFittedError
    with pytest.raises(NotFittedError): save_model(AdaBoostClassifier(), tmp_path/"m")
    assert not list(tmp_path.iterdir())


def test_same_bytes_in_another_process(tmp_path):
    code = ("import sys; from sklearn.datasets import load_breast_cancer as d; from boostlit import AdaBoostClassifier, save_model\n"
            "save_model(AdaBoostClassifier(n_estimators=15).fit(*d(return_X_y=True)), sys.argv[1])")
    for name, threads in (("a", "1"), ("b", "2")):
        subprocess.run([sys.executable, "-c", code, str(tmp_path/name)], check=True, env={**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads})
    assert (tmp_path/"a").read_bytes() == (tmp_path/"b").read_bytes()
