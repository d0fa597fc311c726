"""gSpan with weights: enumeration against networkx, search against enumeration, matching, odd
input."""
import itertools
import os
import warnings

import numpy as np
import networkx as nx
import pyarrow as pa
import pytest

from boostlit.lpboost.column_generation import column_generation
from boostlit.lpboost.estimators import (
    LPBoostClassifier,
    OneAndHalfClassLPBoost,
    OneClassLPBoost,
    planted_graphs,
)
from boostlit.lpboost.linear_program import two_class_lp
from boostlit.lpboost.one_class import one_and_half_lp, one_class_lp
from boostlit.mining.graph_kernels import is_minimal, project_row
from boostlit.mining.subgraphs import (
    PatternTree, SubgraphOracle, contains, graph_pairs, graph_set, minimum_code, pattern_counts,
    random_graphs, significant_subgraphs, to_graph_set,
)

SAME = dict(
    node_match=lambda a, b: a["label"] == b["label"],
    edge_match=lambda a, b: a["label"] == b["label"],
)


def to_nx(labels, edges):
    g = nx.Graph()
    g.add_nodes_from((i, {"label": v}) for i, v in enumerate(labels))
    g.add_edges_from((a, b, {"label": v}) for a, b, v in edges)
    return g


def by_isomorphism(pairs, length):
    "(edges, cover) of every pattern by brute force."
    classes = {}
    for k, (v, e) in enumerate(pairs):
        g = to_nx(v, e)
        edges = [frozenset(x) for x in g.edges]
        level = {frozenset([x]) for x in edges}
        subsets = set(level)
        for _ in range(length-1):
            level = {s | {x} for s in level for x in edges if x not in s and any(x & z for z in s)}
            subsets |= level
        for s in [g.subgraph([u]) for u in g] + [
            g.edge_subgraph([tuple(x) for x in s]) for s in subsets
        ]:
            key = (
                tuple(sorted(nx.get_node_attributes(s, "label").values())),
                s.number_of_edges(),
                tuple(sorted(d for _, d in s.degree)),
            )
            for rep, cover in classes.setdefault(key, []):
                if nx.is_isomorphic(rep, s, **SAME):
                    cover.add(k)
                    break
            else: classes[key].append((s.copy(), {k}))
    return sorted(
        (rep.number_of_edges(), tuple(sorted(c))) for group in classes.values() for rep, c in group
    )


def patterns(tree):
    return sorted(
        (int(tree.depth[k]), tuple(tree.cover[tree.ptr[k] : tree.ptr[k + 1]].tolist()))
        for k in range(tree.size)
    )


@pytest.mark.parametrize("seed", range(20))
def test_enumeration_equals_brute_force(seed):
    rng = np.random.default_rng(seed)
    g = random_graphs(
        3, int(rng.integers(2, 6)), float(rng.uniform(0.3, 0.9)), int(rng.integers(1, 4)),
        int(rng.integers(1, 3)), seed,
    )
    assert patterns(PatternTree(g, 4).expand_all()) == by_isomorphism(graph_pairs(g), 4)


@pytest.mark.parametrize("seed", range(12))
def test_column_generation_equals_the_full_program_over_subgraphs(seed):
    rng = np.random.default_rng(seed)
    g = random_graphs(12, 6, .35, 2, 2, seed)
    tree, y, nu = (
        PatternTree(g, 4).expand_all(),
        np.r_[1.0, -1.0, rng.choice([-1.0, 1.0], 10)],
        float(rng.uniform(0.1, 0.9)),
    )
    H = np.zeros((12, tree.size))
    for k in range(tree.size): H[tree.cover[tree.ptr[k]:tree.ptr[k+1]], k] = 1
    H = np.unique(H, axis=1)
    full = {
        "two-class": two_class_lp(
            np.c_[2 * H - 1, 1 - 2 * H, np.ones(12), -np.ones(12)], y, nu
        ).objective,
        "one-class": one_class_lp(H, nu).objective,
        "1.5-class": one_and_half_lp(H, y, nu).objective,
    }
    for program, goal in full.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            r = column_generation(
                SubgraphOracle(g, 4),
                np.ones(12) if program == "one-class" else y,
                nu,
                program=program,
                gap=1e-10,
            )
        assert abs(r.primal-goal) < 1e-8 and abs(r.dual-goal) < 1e-8


def test_search_agrees_with_exhaustive_search_on_thousands_of_weightings():
    g = random_graphs(30, 8, .25, 3, 2, seed=7)
    every = PatternTree(g, 4).expand_all()
    M = np.zeros((every.size, 30))
    for k in range(every.size): M[k, every.cover[every.ptr[k]:every.ptr[k+1]]] = 1
    rng, oracle = np.random.default_rng(0), SubgraphOracle(g, 4)
    for trial in range(1500):
        y, w = rng.choice([-1., 1.], 30), rng.dirichlet(np.full(30, rng.choice([.05, .3, 1.])))
        u = y*w
        # a tree without memory, too
        if trial % 300 == 0: oracle = SubgraphOracle(g, 4)
        (h, edge), = oracle.best_k(y, w, kind="signed")
        assert (
            abs(edge - np.abs(2 * M @ u - u.sum()).max()) < 1e-12
            and abs(u @ oracle.outputs(h) - edge) < 1e-12
        )
        found = oracle.best_k(y, w, kind="presence")
        assert abs(found[0][1]-(M@u).max()) < 1e-12


def test_pruning_skips_most_of_the_tree():
    pairs, y = planted_graphs(60, 12, seed=2)
    g = to_graph_set(pairs)
    total, oracle = PatternTree(g, 5).expand_all().size, SubgraphOracle(g, 5)
    (root, sign), edge = oracle.best(y.astype(float), np.full(60, 1/60))
    assert edge > .9 and oracle.nodes_ < total/10


def test_matching_on_new_graphs_equals_networkx():
    g, new = random_graphs(10, 7, .35, 2, 2, 0), random_graphs(15, 7, .3, 2, 2, 1)
    new = to_graph_set(graph_pairs(new), g.node_names, g.edge_names)
    tree, rng = PatternTree(g, 4).expand_all(), np.random.default_rng(0)
    targets = [to_nx(v, e) for v, e in graph_pairs(new)]
    for k in rng.choice(tree.size, 30, replace=False):
        labels, edges = [g.node_names[tree.root[k]]], []
        for i, j, e, v in tree.code(k):
            if i < j: labels.append(g.node_names[v])
            edges.append((int(i), int(j), g.edge_names[e]))
        P = to_nx(labels, edges)
        assert contains(new, int(tree.root[k]), tree.code(k)).tolist() == [
            nx.algorithms.isomorphism.GraphMatcher(t, P, **SAME).subgraph_is_monomorphic()
            for t in targets
        ]


def test_odd_graphs():
    with pytest.raises(ValueError, match="no hypothesis|no pattern"):
        OneAndHalfClassLPBoost("subgraphs").fit([([], []), ([], [])], [0, 1])
    with pytest.warns(RuntimeWarning):
        m = LPBoostClassifier("subgraphs").fit(
            [([], [])] * 4, [0, 1, 0, 1]
        )  # only the constants are left
    assert set(m.predict([([], [])])) <= {0, 1}
    with pytest.raises(ValueError, match="0 sample"): LPBoostClassifier("subgraphs").fit([], [])
    with pytest.raises(ValueError, match="labels"):
        LPBoostClassifier("subgraphs").fit([(["A"], [])], [0, 1])
    with pytest.raises(ValueError, match="pair"): LPBoostClassifier("subgraphs").fit([3, 4], [0, 1])
    with pytest.raises(ValueError, match="loop"): graph_set([["A"]], [[(0, 0, 1)]])
    # single nodes tell them apart
    single = LPBoostClassifier("subgraphs", nu=.5).fit([(["A"], []), (["B"], [])], ["a", "b"])
    assert single.predict([(["A"], []), (["B"], []), (["C"], [])]).tolist()[:2] == ["a", "b"]


def test_node_budget_warns_and_leaves_a_model():
    pairs, y = planted_graphs(60, 12, seed=3)
    with pytest.warns(RuntimeWarning, match="gap of"):
        m = LPBoostClassifier("subgraphs", max_length=4, node_budget=20, max_rounds=3).fit(pairs, y)
    assert m.decision_function(pairs).shape == (60,)


def test_planted_motif_is_found_and_survives_disk_and_networkx(tmp_path):
    from boostlit import load_model, save_model
    pairs, y = planted_graphs(60, 10, seed=4)
    m = LPBoostClassifier("subgraphs", nu=.1, max_length=3).fit(pairs, y)
    assert (m.predict(pairs) == y).mean() > .95 and "A" in m.terms_["text"][0].as_py()
    save_model(m, tmp_path/"m")
    assert np.allclose(
        load_model(tmp_path / "m").decision_function([to_nx(*p) for p in pairs]),
        m.decision_function(pairs),
    )
    one = OneClassLPBoost("subgraphs", nu=.3).fit(pairs)
    assert set(one.predict(pairs)) <= {1, -1}


def test_two_hundred_graphs_and_the_counts_of_the_search():
    g, y = (
        random_graphs(200, 20, 0.12, 4, 2, seed=0),
        np.random.default_rng(0).choice([-1.0, 1.0], 200),
    )
    oracle = SubgraphOracle(g, 6)
    r = column_generation(oracle, y, .2, columns_per_round=20)
    assert r.converged and oracle.tree.size < 60_000


def test_patterns_of_more_than_127_nodes():
    n = 140
    rising = np.array([(k, k + 1, 0, k + 1) for k in range(n)], np.int32)
    falling = np.array([(k, k + 1, 0, n - k - 1) for k in range(n)], np.int32)
    assert is_minimal(rising, n, 0, 1, n + 1)
    assert not is_minimal(falling, n, n, 1, n + 1)
    path = to_graph_set([(list(range(n + 1)), [(k, k + 1, 0) for k in range(n)])])
    named = np.array([(k, k + 1, path.edge_label[0], path.node_label[k + 1]) for k in range(n)])
    assert contains(path, path.node_label[0], named)[0]
    named[-1, 3] = path.node_label[0]
    assert not contains(path, path.node_label[0], named)[0]


def same_name(sample, name):
    "The attack on Lemma M.13: pairs of graphs whose names and isomorphism disagree."
    return [(a, b) for a, b in itertools.combinations(sample, 2)
            if (name(*a) == name(*b)) != nx.is_isomorphic(to_nx(*a), to_nx(*b), **SAME)]


def connected_graph(rng, most=6):
    n = int(rng.integers(2, most))
    edges = {(int(rng.integers(0, b)), b) for b in range(1, n)}
    edges |= {(a, b) for a in range(n) for b in range(a + 1, n) if rng.random() < .3}
    return ([int(v) for v in rng.integers(0, 2, n)],
            [(a, b, int(rng.integers(0, 2))) for a, b in sorted(edges)])


def test_attack_finds_planted_code_that_is_not_canonical():
    rng = np.random.default_rng(0)
    sample = [connected_graph(rng) for _ in range(60)]
    assert not same_name(sample, minimum_code)
    degrees = lambda v, e: (sorted(v), sorted(x[2] for x in e))      # a name that forgets
    first = lambda v, e: (v, e)                                      # a name that is not canonical
    renumbered = [([*reversed(v)], [(len(v) - 1 - a, len(v) - 1 - b, l) for a, b, l in e])
                  for v, e in sample[:10]]
    assert same_name(sample, degrees) and same_name(sample[:10] + renumbered, first)


def test_every_prefix_of_a_minimal_code_is_minimal():
    rng = np.random.default_rng(1)
    for _ in range(60):
        root, code = minimum_code(*connected_graph(rng))
        rows = np.array(code, np.int32)
        for k in range(1, len(code) + 1):
            assert is_minimal(rows, k, root, 2, 2)


def growing(tree, count):
    "The attack on Theorem M.17: patterns that are counted more often than their parents."
    value = [count(tree, k) for k in range(tree.size)]
    return [k for k in range(tree.size) if tree.parent[k] >= 0
            and (value[k] > value[tree.parent[k]]).any()]


def embeddings_of(tree, k):
    g = tree.graphs
    emb = np.flatnonzero(g.node_label == tree.root[k]).astype(np.int32)[:, None]
    for row in tree.code(k):
        emb = project_row(emb, row, g.node_label, g.ptr, g.to, g.edge_label)
    return np.bincount(g.graph[emb[:, 0]], minlength=g.n)


def test_attack_finds_planted_count_that_grows():
    tree = PatternTree(random_graphs(6, 6, .5, 2, 1, seed=4), 3).expand_all()
    images = lambda t, k: pattern_counts(t.graphs, int(t.root[k]), t.code(k))
    assert not growing(tree, images)
    assert growing(tree, embeddings_of)


def test_counts_serve_the_search_and_new_graphs():
    graphs = random_graphs(30, 7, .35, 2, 1, seed=6)
    rng = np.random.default_rng(2)
    oracle = SubgraphOracle(graphs, 3, max_count=3)
    every = PatternTree(graphs, 3, max_count=3).expand_all()
    cover = np.zeros((every.size, 30))
    for k in range(every.size):
        cover[k, every.cover[every.ptr[k]:every.ptr[k + 1]]] = 1
    for _ in range(30):
        y, w = rng.choice([-1., 1.], 30), rng.dirichlet(np.full(30, .4))
        h, edge = oracle.best(y, w)
        assert abs(edge - np.abs(2*cover @ (y*w) - (y*w).sum()).max()) < 1e-12
        assert (oracle.apply(h, graphs) == oracle.outputs(h)).all()


def read_gspan(path):
    "Graphs of a file in gSpan's format."
    nodes, edges = [], []
    for line in open(path):
        word = line.split()
        if word and word[0] == "t":
            nodes.append([])
            edges.append([])
        elif word and word[0] == "v":
            nodes[-1].append(int(word[2]))
        elif word and word[0] == "e":
            edges[-1].append(tuple(map(int, word[1:4])))
    full = [k for k in range(len(nodes)) if nodes[k]]
    return graph_set([nodes[k] for k in full], [edges[k] for k in full]), len(full)


def test_compound_422_counts_of_gbolt():
    "932 patterns at 20 % and 15,966 at 10 % in Compound_422, as gBolt and gSpan-64 count them."
    path = os.path.join(os.environ.get("BOOSTLIT_DATA", "data"), "graphs", "Compound_422")
    if not os.path.exists(path):
        pytest.skip("Compound_422 is not in the data folder")
    graphs, n = read_gspan(path)
    for share, want in ((.2, 932), (.1, 15_966)):
        tree = PatternTree(graphs, 64, int(share*n)).expand_all()      # gBolt rounds down
        assert int((tree.depth[:tree.size] > 0).sum()) == want


def test_a_search_cut_short_by_ctrl_c_goes_on_later(monkeypatch):
    from boostlit.mining import subgraphs
    rng = np.random.default_rng(0)
    y, w = rng.choice([-1., 1.], 12), np.full(12, 1/12)
    calls, real = [], subgraphs.extend_embeddings
    def interrupted(*args):
        calls.append(1)
        if len(calls) == 3: raise KeyboardInterrupt
        return real(*args)
    oracle = SubgraphOracle(random_graphs(12, 6, seed=3), 3)
    monkeypatch.setattr(subgraphs, "extend_embeddings", interrupted)
    with pytest.raises(KeyboardInterrupt): oracle.best(y, w)
    assert oracle.best(y, w) == SubgraphOracle(random_graphs(12, 6, seed=3), 3).best(y, w)


def test_significant_subgraphs_show_progress(capsys):
    y = np.arange(12) < 6
    significant_subgraphs(random_graphs(12, 5, seed=2), y, 2, n_permutations=20, progress=True)
    assert "patterns" in capsys.readouterr().err


def test_smiles_are_read_wherever_graphs_are():
    pytest.importorskip("rdkit")
    acids, amines = ["CC(=O)O", "CCC(=O)O", "OC(=O)c1ccccc1"]*3, ["CN", "CCN", "NCc1ccccc1"]*3
    y = np.array(["acid"]*9 + ["amine"]*9)
    model = LPBoostClassifier(oracle="subgraphs", max_length=2, nu=.2).fit(acids + amines, y)
    assert model.predict(["CCCC(=O)O", "CCCN"]).tolist() == ["acid", "amine"]
    assert model.predict(pa.array(["CCCC(=O)O", "CCCN"])).tolist() == ["acid", "amine"]
    assert any("[N+0]" in t or "[O+0]" in t for t in model.terms_["text"].to_pylist())
    with pytest.raises(ValueError, match="molecule 1 is no SMILES"): model.predict(["CC", "C(("])


@pytest.mark.parametrize("make", [nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_graphs_that_are_not_simple_are_refused(make):
    with pytest.raises(ValueError, match="simple undirected"): to_graph_set([make([(0, 1)])])


def test_images_of_a_pattern_are_counted_once():
    from boostlit.mining.graph_kernels import count_images
    emb, least = np.array([[0, 1], [0, 2], [3, 4]], np.int32), np.zeros(2, np.int32)
    graph = np.array([0, 0, 0, 1, 1], np.int32)
    count_images(emb, graph, np.zeros(5, np.int32), np.zeros(2, np.int32), least)
    assert least.tolist() == [1, 1]
    emb = np.array([[0, 1], [1, 0]], np.int32)
    count_images(emb, graph, np.zeros(5, np.int32), np.zeros(2, np.int32), least)
    assert least.tolist() == [2, 0]


def test_patterns_as_smarts():
    from boostlit.mining.molecules import pattern_smarts
    code = [[0, 1, 0, 1], [1, 2, 0, 0], [2, 0, 1, 0]]
    assert pattern_smarts(0, code, ["C", "N+1"], ["-", "="]) == "[C+0]=1-[N+1]-[C+0]=1"


def test_two_nodes_are_drawn_side_by_side():
    import matplotlib.pyplot as plt
    from boostlit.mining.subgraphs import plot_pattern
    ax = plot_pattern(0, np.array([[0, 1, 0, 1]]), ["A", "B"], ["x"])
    assert ax.collections[0].get_offsets().tolist() == [[0, 0], [1, 0]]
    plt.close("all")
