"""The data sets' loader on the installed package: registry, files that lie, and downloads from a
real (local) server."""
import gzip
import hashlib
import http.server
import io
import json
import os
import threading
import zipfile
from pathlib import Path
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from boostlit.core import datasets as D

HERE = bool(os.environ.get("BOOSTLIT_DATA"))
needs_data = pytest.mark.skipif(not HERE, reason="BOOSTLIT_DATA is not set")
TEXT = "% a comment\n a, 1, 2.5, x, yes.\n b, 2, ?, y, no.\n a, 3, 1.0, ?, yes\n"


@pytest.fixture
def home(monkeypatch, tmp_path):
    "An empty cache, no data folder."
    monkeypatch.delenv("BOOSTLIT_DATA", raising=False)
    monkeypatch.setenv("BOOSTLIT_CACHE", str(tmp_path/"cache"))
    return tmp_path


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = self.server.files.get(self.path)
        if body is None: return self.send_error(404)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:len(body)//2] if self.path in self.server.broken else body)
        if self.path in self.server.broken:
            self.wfile.flush()
            self.connection.close()
    def log_message(self, *a): pass


@pytest.fixture
def server():
    s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    s.files, s.broken = {}, set()
    s.base = f"http://127.0.0.1:{s.server_port}"
    thread = threading.Thread(target=s.serve_forever, daemon=True)
    thread.start()
    yield s
    s.shutdown()
    s.server_close()


def toy_table():
    return pa.table(
        {
            "name": pa.array(["a", "b", "a"]).dictionary_encode(),
            "count": [1, 2, 3],
            "size": pa.array([2.5, None, 1.0]),
            "mark": pa.array(["x", "y", None]).dictionary_encode(),
            "target": pa.array(["yes", "no", "yes"]).dictionary_encode(),
        }
    )


@pytest.fixture
def toy(monkeypatch, server):
    "A tiny data set whose home is the local server."
    server.files["/toy.data"] = TEXT.encode()
    info = {
        "title": "toy", "task": "tabular", "citation": "-", "home": server.base, "papers": [],
        "types": "sifss",
        "fetch": {"urls": [server.base + "/toy.data"], "comment": "%", "strip": "."},
        **D.describe_table(toy_table()),
    }
    monkeypatch.setitem(D.registry(), "toy", info)
    return info


def listing(folder):
    return sorted(p.name for p in Path(folder).iterdir()) if Path(folder).exists() else None


# ---------------------------------------------------------------- registry and fingerprint

def test_registry_is_complete():
    r = D.registry()
    assert len(r) == 32
    for name, i in r.items():
        assert (
            i["citation"]
            and i["home"].startswith("http")
            and len(i["fingerprint"]) == 64
            and i["rows"] == sum(i["classes"].values())
        ), name
        if i["task"] == "tabular" and "sklearn" not in i:
            assert len(i["types"]) == len(i["kinds"]) + 1 and "fetch" in i, name
    t = D.list_datasets()
    assert t.num_rows == 32 and t.column_names[:3] == ["name", "task", "rows"]
    assert sum(x == "image" for x in t["task"].to_pylist()) == 6


@pytest.mark.parametrize("name", ["breast_cancer", "wine", "digits"])
def test_sets_of_sklearn_match_their_fingerprint(name):
    ds = D.load_dataset(name)
    assert D.check_table(ds.table, name).equals(ds.table)
    assert ds.X.shape == (ds.info["rows"], len(ds.feature_names)) and ds.X.dtype == np.float64
    assert len(ds.class_names) == len(np.unique(ds.y))


@needs_data
@pytest.mark.parametrize("name", [n for n, i in D.registry().items() if "sklearn" not in i])
def test_every_file_matches_the_registry(name):
    if not D.have_dataset(name): pytest.skip("not here")
    ds = D.load_dataset(name, download=False, verify=False)
    info = D.describe_table(ds.table, ds.target)
    for k in ("rows", "classes", "fingerprint"): assert info[k] == ds.info[k], k
    if ds.info["task"] == "tabular":
        assert info["kinds"] == ds.info["kinds"] and info["missing"] == ds.info["missing"]
        if ds.info["rows"] < 1e5:
            assert int(np.isnan(ds.X).sum()) == sum(ds.info["missing"].values())
        for j, k in enumerate(ds.kinds): assert (ds.categories[j] is not None) == (k == "nominal")
    else: assert ds.X is None and len(ds.y) == ds.info["rows"]
    assert name in repr(ds) and ds.info["home"].replace("&", "&amp;") in ds._repr_html_()


def test_fingerprint_ignores_layout_but_not_content(tmp_path):
    rng = np.random.default_rng(0)
    t = pa.table(
        {
            "i": rng.integers(0, 9, 1000),
            "f": pa.array(np.where(rng.random(1000) < 0.1, None, rng.random(1000))),
            "s": pa.array(rng.choice(["a", "bb", None], 1000)),
            "l": pa.array([[1, 2], None, [3], []] * 250),
            "b": pa.array([b"x", b"", None, b"yz"] * 250),
            "st": pa.array([{"p": 1, "q": 2.0}] * 1000),
        }
    )
    want = D.content_fingerprint(t)
    for group, codec in ((7, "snappy"), (333, "zstd"), (1000, "none")):
        pq.write_table(t, tmp_path/"t.parquet", row_group_size=group, compression=codec)
        assert D.content_fingerprint(pq.read_table(tmp_path/"t.parquet")) == want
    assert D.content_fingerprint(pa.concat_tables([t.slice(0, 13), t.slice(13)])) == want
    assert D.content_fingerprint(t.set_column(2, "s", t["s"].dictionary_encode())) == want
    assert D.content_fingerprint(t.set_column(0, "i", t["i"].cast(pa.int32()))) == want
    others = [
        t.slice(1),
        t.rename_columns(["j", *t.column_names[1:]]),
        t.select(t.column_names[::-1]),
        t.take(np.r_[1, 0, 2:1000]),
        t.set_column(2, "s", pa.array(["" if v is None else v for v in t["s"].to_pylist()])),
        t.set_column(1, "f", pa.array([0.0 if v is None else v for v in t["f"].to_pylist()])),
    ]
    assert len({D.content_fingerprint(o) for o in others} | {want}) == 7


def test_unknown_name_suggests_a_known_one():
    with pytest.raises(D.DatasetError, match="did you mean 'kr-vs-kp'"): D.load_dataset("kr-vs-kq")
    with pytest.raises(D.DatasetError, match="list_datasets"): D.load_dataset("zzzzzz")


# ---------------------------------------------------------------- files that lie

def put(home, table, name="toy"):
    folder = home/"data"
    folder.mkdir(exist_ok=True)
    pq.write_table(table, folder/f"{name}.parquet")
    return folder/f"{name}.parquet"


def test_data_folder_comes_before_cache(home, toy, monkeypatch):
    p = put(home, toy_table())
    assert not D.have_dataset("toy")
    monkeypatch.setenv("BOOSTLIT_DATA", str(p.parent))
    assert D.have_dataset("toy") and D.load_dataset("toy", download=False).origin == str(p)
    assert listing(home/"cache") is None


def test_files_that_lie(home, toy, monkeypatch):
    monkeypatch.setenv("BOOSTLIT_DATA", str(home/"data"))
    t = toy_table()
    put(home, t.set_column(1, "count", [[1, 2, 4]]))
    with pytest.raises(D.DatasetError, match="another fingerprint"): D.load_dataset("toy")
    assert D.load_dataset("toy", verify=False).table["count"].to_pylist() == [1, 2, 4]
    put(home, t.drop_columns(["size"]))
    with pytest.raises(D.DatasetError, match="column 'size' is missing"): D.load_dataset("toy")
    put(home, t.slice(1))
    with pytest.raises(D.DatasetError, match="2 rows, 3 were expected"): D.load_dataset("toy")
    p = put(home, t)
    for keep in (0, 3, 100, p.stat().st_size-1):
        p.write_bytes(put(home, t).read_bytes()[:keep])
        with pytest.raises(D.DatasetError, match="cannot be read as Parquet"): D.load_dataset("toy")
    assert listing(home/"cache") is None


# ---------------------------------------------------------------- downloads

def test_download_then_cache(home, toy, server):
    ds = D.load_dataset("toy", progress=False)
    assert ds.table.equals(toy_table()) or D.content_fingerprint(ds.table) == toy["fingerprint"]
    assert listing(home/"cache") == ["toy.parquet"]
    server.files.clear()
    assert D.load_dataset("toy").origin == ds.origin, (
        "the second time nothing is asked of the server"
    )
    np.testing.assert_array_equal(ds.X, [[0, 1, 2.5, 0], [1, 2, np.nan, 1], [0, 3, 1, np.nan]])


def test_download_shows_a_bar(home, toy, capfd):
    D.load_dataset("toy", progress=True)
    assert "toy 1/1" in capfd.readouterr().err


@pytest.mark.parametrize("old", [None, b"an older file"])
def test_connection_that_breaks(home, toy, server, old):
    server.files["/toy.data"], server.broken = b"a,1,2,x,yes\n"*20000, {"/toy.data"}
    if old:
        (home/"cache").mkdir()
        (home/"cache"/"other.parquet").write_bytes(old)
    with pytest.raises(D.DatasetError, match=r"broke after [\d,]+") as e:
        D.load_dataset("toy", progress=False)
    assert "\n" not in str(e.value) and "BOOSTLIT_DATA" in str(e.value)
    assert listing(home/"cache") == (["other.parquet"] if old else None)


def test_answers_that_are_no_data(home, toy, server):
    for body, words in (
        (b"<html>moved</html>", "is not 'toy' as we know it"),
        (TEXT.replace("2.5", "2.6").encode(), "another fingerprint"),
        (b"", "as we know it"),
        (TEXT.replace(", x", "").encode(), "as we know it"),
    ):
        server.files["/toy.data"] = body
        with pytest.raises(D.DatasetError, match=words): D.load_dataset("toy", progress=False)
        assert listing(home/"cache") is None
    server.files.clear()
    with pytest.raises(D.DatasetError, match="answered 404"): D.load_dataset("toy", progress=False)
    assert listing(home/"cache") is None


def test_no_network(home, toy, server):
    toy["fetch"]["urls"] = ["http://127.0.0.1:1/toy.data"]
    with pytest.raises(D.DatasetError, match="could not be reached.*set BOOSTLIT_DATA") as e:
        D.load_dataset("toy", progress=False)
    assert str(e.value).count("\n") == 0 and listing(home/"cache") is None
    with pytest.raises(D.DatasetError, match="allow the download"):
        D.load_dataset("toy", download=False)


def test_cache_that_cannot_be_written(home, toy, monkeypatch):
    (home/"file").write_text("not a folder")
    monkeypatch.setenv("BOOSTLIT_CACHE", str(home/"file"/"cache"))
    with pytest.raises(D.DatasetError, match="cannot write to the cache.*BOOSTLIT_CACHE"):
        D.load_dataset("toy", progress=False)
    if os.geteuid():
        (home/"ro").mkdir(mode=0o555)
        monkeypatch.setenv("BOOSTLIT_CACHE", str(home/"ro"))
        with pytest.raises(D.DatasetError, match="cannot write to the cache"):
            D.load_dataset("toy", progress=False)
    monkeypatch.setenv("BOOSTLIT_CACHE", "/proc/boostlit")
    if Path("/proc").exists():
        with pytest.raises(D.DatasetError, match="cannot write to the cache"):
            D.load_dataset("toy", progress=False)


def test_images_say_where_they_come_from(home):
    with pytest.raises(D.DatasetError, match="its home is https"): D.load_dataset("scene15")


def openml(server, monkeypatch, number, arff, types):
    "Let the local server play OpenML."
    from sklearn.datasets import _openml

    for c, path in (
        ("_DATA_INFO", "info"),
        ("_DATA_FEATURES", "features"),
        ("_DATA_QUALITIES", "qualities"),
    ):
        monkeypatch.setattr(_openml, c, f"{server.base}/{path}/{{}}")
    put = lambda path, doc: server.files.__setitem__(f"/{path}/{number}", json.dumps(doc).encode())
    put(
        "info",
        {
            "data_set_description": {
                "id": str(number), "name": "toy", "version": "1", "status": "active", "format":
                "ARFF",
                "default_target_attribute": "target",
                "description": "-",
                "url": f"{server.base}/toy.arff",
                "file_id": "1",
                "md5_checksum": hashlib.md5(arff).hexdigest(),
            }
        },
    )
    put(
        "features",
        {
            "data_features": {
                "feature": [
                    {
                        "index": str(i),
                        "name": n,
                        "data_type": t,
                        "is_target": str(n == "target").lower(),
                        "is_ignore": "false",
                        "is_row_identifier": "false",
                        "number_of_missing_values": "0",
                    }
                    for i, (n, t) in enumerate(types.items())
                ]
            }
        },
    )
    put(
        "qualities",
        {
            "data_qualities": {
                "quality": [
                    {
                        "name": "NumberOfInstances",
                        "value": str(arff.split(b"@data\n")[1].count(b"\n")),
                    }
                ]
            }
        },
    )
    server.files["/toy.arff"] = arff


def test_openml(home, toy, server, monkeypatch):
    arff = (
        b"@relation toy\n@attribute id numeric\n@attribute name {b,a}\n@attribute count numeric\n"
        b"@attribute size real\n@attribute mark {x,y}\n@attribute target {neg,pos}\n"
        b"@data\n7,a,1,2.5,x,pos\n8,b,2,?,y,neg\n9,a,3,1,?,pos\n"
    )
    openml(
        server,
        monkeypatch,
        99,
        arff,
        {
            "id": "numeric", "name": "nominal", "count": "numeric", "size": "numeric", "mark":
            "nominal", "target": "nominal",
        },
    )
    toy["fetch"] = {"openml": 99, "drop": ["id"], "labels": {"neg": "no", "pos": "yes"}}
    assert D.load_dataset("toy", progress=False).table["size"].to_pylist() == [2.5, None, 1.]
    (home/"cache"/"toy.parquet").unlink()
    server.files["/toy.arff"] = arff[:-10]
    with pytest.raises(D.DatasetError, match="OpenML data set 99 could not be fetched"):
        D.load_dataset("toy", progress=False)
    assert listing(home/"cache") == []


@needs_data
def test_graph_archive(home, server, monkeypatch):
    monkeypatch.setenv("BOOSTLIT_DATA", os.environ.get("BOOSTLIT_DATA", ""))
    table = pq.read_table(DATA/"mutag.parquet")
    nodes, edges = table["nodes"].to_pylist(), table["edges"].to_pylist()
    start = np.cumsum([1]+[len(n) for n in nodes])
    pairs = [
        (s + e[a], s + e[b], e["label"])
        for s, es in zip(start, edges)
        for e in es
        for a, b in (("src", "dst"), ("dst", "src"))
    ]
    text = {
        "A": [f"{a}, {b}" for a, b, _ in pairs],
        "edge_labels": [c for *_, c in pairs],
        "graph_indicator": [g + 1 for g, n in enumerate(nodes) for _ in n],
        "graph_labels": table["target"].to_pylist(),
        "node_labels": [a for n in nodes for a in n],
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as z:
        for part, lines in text.items():
            z.writestr(f"MUTAG/MUTAG_{part}.txt", "\n".join(map(str, lines)) + "\n")
    server.files["/MUTAG.zip"] = buffer.getvalue()
    info = dict(
        D.registry()["mutag"], fetch={"urls": [server.base + "/MUTAG.zip"], "graphs": "MUTAG"}
    )
    monkeypatch.setitem(D.registry(), "mutag", info)
    assert D.load_dataset("mutag", progress=False).table["nodes"].to_pylist() == nodes


DATA = Path(os.environ.get("BOOSTLIT_DATA") or ".")


def as_uci(table, spec):
    "A table written back in the layout its recipe reads."
    text = [
        ["?" if v is None else str(v) for v in table[c].to_pylist()] for c in table.column_names
    ]
    label = spec.get("label", len(text)-1+len(spec.get("drop", ())))
    columns = text[:-1]
    for j in sorted({*spec.get("drop", ()), label}):
        columns.insert(j, text[-1] if j == label else ["z"] * table.num_rows)
    sep = " " if spec.get("sep", ",") is None else ","
    return "\n".join(sep.join(r) for r in zip(*columns)).encode()


@needs_data
@pytest.mark.parametrize(
    "name", ["hepatitis", "cleve", "german", "breast-w", "vote1", "crx", "hypothyroid", "kr-vs-kp"]
)
def test_recipes_read_the_archive_layout(home, server, monkeypatch, name):
    info = dict(D.registry()[name])
    server.files["/x"] = gzip.compress(as_uci(pq.read_table(DATA/f"{name}.parquet"), info["fetch"]))
    info["fetch"] = {**info["fetch"], "urls": [server.base+"/x"]}
    monkeypatch.setitem(D.registry(), name, info)
    assert D.content_fingerprint(D.load_dataset(name, progress=False).table) == info["fingerprint"]


# ---------------------------------------------------------------- the encoder

def test_encoder_is_a_transformer():
    from sklearn.utils.estimator_checks import check_estimator
    check_estimator(D.TableEncoder())


def test_encoder_learns_from_training_rows_only():
    train = pa.table({"colour": ["red", "blue", None, "red"], "size": [1, 2, 3, None]})
    test = pa.table({"colour": ["green", "red", None, "blue"], "size": [5., None, 2., 0.]})
    e = D.TableEncoder().fit(train)
    assert e.kinds_ == ["nominal", "numeric"] and e.categories_[0].tolist() == ["blue", "red"]
    nan = np.nan
    np.testing.assert_array_equal(e.transform(train), [[1, 1], [0, 2], [nan, 3], [1, nan]])
    np.testing.assert_array_equal(e.transform(test), [[2, 5], [1, nan], [nan, 2], [0, 0]])
    np.testing.assert_array_equal(
        D.TableEncoder(unseen="missing").fit(train).transform(test)[0], [nan, 5]
    )
    with pytest.raises(ValueError, match="'green', which fit has not seen"):
        D.TableEncoder(unseen="error").fit(train).transform(test)


def test_encoder_takes_any_table():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    rows = {
        "a": ["x", None, "y", "x"],
        "b": [1, 2, 3, 4],
        "c": [True, False, True, True],
        "d": [0.5, None, 1.0, 2.0],
    }
    arrow = pa.table(rows)
    want = D.TableEncoder().fit_transform(arrow)
    frame = pd.DataFrame(rows, index=[9, 8, 7, 6])
    for other in (
        frame,
        frame.astype({"a": "category"}),
        pl.DataFrame(rows),
        arrow.to_batches()[0],
        arrow.set_column(0, "a", arrow["a"].dictionary_encode()),
        np.array(list(zip(*rows.values())), dtype=object),
    ):
        np.testing.assert_array_equal(
            D.TableEncoder().fit_transform(other), want, err_msg=str(type(other))
        )
    e = D.TableEncoder().fit(arrow)
    np.testing.assert_array_equal(e.transform(frame), want)
    assert list(e.get_feature_names_out()) == list("abcd")
    with pytest.raises(ValueError, match="feature names should match"):
        e.transform(arrow.rename_columns(list("abdc")))


@pytest.mark.parametrize(
    "bad, words",
    [
        (pa.table({"a": [1.0]}).slice(1), "0 sample"),
        (pa.table({"a": pa.array([[1]])}), "cannot encode"),
        (np.array([[np.inf]]), "infinity"),
        (np.zeros((0, 2)), "0 sample"),
        (pa.table({"a": [1.0, float("inf")]}), "infinity"),
    ],
)
def test_encoder_refuses_clearly(bad, words):
    with pytest.raises(ValueError, match=words): D.TableEncoder().fit(bad).transform(bad)


def test_encoder_parameters():
    X = np.array([[1., 5.], [2., 5.], [1., 6.]])
    e = D.TableEncoder(kinds=["nominal", "numeric"]).fit(X)
    assert e.categories_[0].tolist() == [1., 2.]
    np.testing.assert_array_equal(e.transform(X)[:, 0], [0, 1, 0])
    for kw, words in (
        ({"kinds": ["nominal"]}, "kinds names 1"),
        ({"kinds": ["nominal", "odd"]}, "'odd'"),
        ({"unseen": "no"}, "unseen must be"),
    ):
        with pytest.raises(ValueError, match=words): D.TableEncoder(**kw).fit(X)


def test_data_sets_of_scikit_learn_are_always_here(monkeypatch, tmp_path):
    monkeypatch.setattr(D, "find_dataset", lambda name: None)
    assert D.have_dataset("wine") and not D.have_dataset("adult")


def test_lines_without_comments():
    assert D._lines(b"a,b\n\n|c\n  d,e  \n", comment="|") == ["a,b", "d,e"]
    assert D._lines(b"a b\n\n", sep=None) == ["a,b"]


def test_few_classes_are_named():
    info = dict(rows=10, task="tabular", kinds={"x": "numeric"}, missing={},
                classes={"a": 1, "b": 2, "c": 3, "d": 4})
    assert D._facts(info)["classes"] == "4 classes (a 1, b 2, c 3, d 4)"
    info["classes"]["e"] = 5
    assert D._facts(info)["classes"] == "5 classes (1 to 5 each)"


def test_graphs_of_just_the_allowed_size(monkeypatch):
    files = dict(A="1, 2\n2, 1\n", edge_labels="0\n0\n", graph_indicator="1\n1\n",
                 graph_labels="1\n", node_labels="3\n4\n")
    packed, size = io.BytesIO(), sum(map(len, files.values()))
    with zipfile.ZipFile(packed, "w") as z:
        for part, text in files.items(): z.writestr(f"G/G_{part}.txt", text)
    info = dict(fetch=dict(graphs="G"))
    monkeypatch.setattr(D, "_UNPACKED", size)
    table = D.parse_graphs(packed.getvalue(), info)
    assert table["nodes"].to_pylist() == [[3, 4]] and table["target"].to_pylist() == [1]
    monkeypatch.setattr(D, "_UNPACKED", size - 1)
    with pytest.raises(D.DatasetError, match="too many bytes"):
        D.parse_graphs(packed.getvalue(), info)
