"Random matrices against brute force; soak_mining.py runs as many as you like."
import numpy as np
import soak_mining


def test_two_hundred_random_matrices():
    assert soak_mining.soak(200, seed=1) == []


def test_the_soak_would_notice(monkeypatch):
    mine = soak_mining.mine_itemsets
    monkeypatch.setattr(soak_mining, "mine_itemsets", lambda *a, **k: mine(*a, **k).slice(1))
    assert not soak_mining.trial(np.random.default_rng([1, 0]), 0)


def test_the_soak_would_notice_another_order(monkeypatch):
    mine = soak_mining.mine_itemsets
    def backwards(*args, **settings):
        table = mine(*args, **settings)
        return table.take(list(range(len(table)))[::-1])
    monkeypatch.setattr(soak_mining, "mine_itemsets", backwards)
    assert not soak_mining.trial(np.random.default_rng([1, 0]), 0)
