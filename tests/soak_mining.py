"""Random matrices of every density and shape against brute force: `python tests/soak_mining.py
30000`. Tall ones are compared with all sets of items, wide ones with all intersections of rows.
The order of rows is compared as well: with the documented one for integers and lists, on one thread
and on two; for bits, whose order is that of their search, between one thread and two. It is not
compared between bits with class counts and without: equal rows of large tables are merged only
where no classes are counted, and then the sets come in another order."""
import sys
import numpy as np
from boostlit.mining.itemsets import mine_itemsets

FORMS = ("integers", "lists", "bits")
TARGETS = ("closed", "closed", "frequent", "maximal", "generators")


def random_matrix(rng):
    "Rows by items: any density, copied rows and columns, empty and full ones."
    rows, items = int(rng.integers(1, 70)), int(rng.integers(1, 9))
    shape = rng.random()
    if shape < .2:
        rows, items = int(rng.integers(1, 8)), int(rng.integers(1, 150))
    elif shape < .22:
        rows, items = int(rng.integers(2048, 3000)), int(rng.integers(4, 11))
    X = rng.random((rows, items)) < rng.random()**rng.choice([.2, 1, 3])
    if rng.random() < .3:
        X = X[rng.integers(0, rows, rows)]
    if rng.random() < .2:
        X[:, rng.integers(items)] = X[:, rng.integers(items)]
    if rng.random() < .1:
        X[:, rng.integers(items)] = rng.random() < .7
    return X


def all_sets(X, y, support, target):
    "Sets of at most eleven items as bits -> (rows, rows of class 1), from the definitions."
    items = X.shape[1]
    masks, weight = np.arange(1, 1 << items), 1 << np.arange(items)
    rows, back = np.unique(X @ weight, return_inverse=True)
    held = (rows & masks[:, None]) == masks[:, None]
    count = held @ np.bincount(back, minlength=len(rows))
    ones = held @ np.bincount(back, y, minlength=len(rows)).astype(np.int64)
    frequent = count >= support
    every = np.concatenate([[len(X)], count])
    bigger = masks[:, None] | weight
    smaller = masks[:, None] & ~weight
    changed = bigger != masks[:, None]
    keep = frequent
    if target == "closed":
        keep = frequent & ~(changed & (every[bigger] == count[:, None])).any(1)
    elif target == "maximal":
        keep = frequent & ~(changed & (every[bigger] >= support)).any(1)
    elif target == "generators":
        keep = frequent & ~(~changed & (every[smaller] == count[:, None])).any(1)
    return dict(zip(masks[keep].tolist(), zip(count[keep].tolist(), ones[keep].tolist())))


def all_intersections(X, y, support):
    "Closed sets of at most seven rows: what some of the rows have in common."
    found = {}
    for chosen in range(1, 1 << len(X)):
        shared = X[[k for k in range(len(X)) if chosen >> k & 1]].all(0)
        rows = X[:, shared].all(1)
        if shared.any() and rows.sum() >= support:
            found[as_bits(np.flatnonzero(shared))] = int(rows.sum()), int((rows & y).sum())
    return found


def as_bits(items):
    "A set of items as one integer."
    return sum(1 << int(i) for i in items)


def in_order(lists, X):
    "Whether sets come like rising binary numbers whose highest digit is the rarest item."
    order = np.lexsort((np.arange(X.shape[1]), X.sum(0)))
    digit = {int(item): 1 << place for place, item in enumerate(order[::-1])}
    numbers = [sum(digit[i] for i in items) for items in lists]
    return all(one < two for one, two in zip(numbers, numbers[1:]))


def trial(rng, k):
    "One matrix through one engine; the forms take turns."
    X = random_matrix(rng)
    y, support = rng.random(len(X)) < .5, int(rng.integers(1, max(2, len(X)*rng.random()) + 1))
    wide = X.shape[1] > 11
    target, form = "closed" if wide else TARGETS[k % 5], FORMS[k % 3]
    y[0] = True
    y[-1] = y[-1] and len(X) == 1
    want = all_intersections(X, y, support) if wide else all_sets(X, y, support, target)
    table = mine_itemsets(X, support, target, y=y, form=form, n_jobs=1 + k % 7 // 6)
    got = {as_bits(items): (rows, counts[-1]) for items, rows, counts in
           zip(*(table[name].to_pylist() for name in ("items", "support", "counts")))}
    plain = mine_itemsets(X, support, target, form=form, n_jobs=1 + k % 5 // 4)
    alone = {as_bits(items): rows for items, rows in
             zip(plain["items"].to_pylist(), plain["support"].to_pylist())}
    if form == "bits":
        ordered = plain.equals(mine_itemsets(X, support, target, form=form, n_jobs=2))
    else:
        ordered = all(in_order(found["items"].to_pylist(), X) for found in (table, plain))
    return (ordered and got == want and len(table) == len(plain) == len(want)
            and alone == {items: rows for items, (rows, _) in want.items()})


def soak(trials, seed=0, first=0):
    "Numbers of the trials that differ."
    numbers = range(first, first + trials)
    return [k for k in numbers if not trial(np.random.default_rng([seed, k]), k)]


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 30_000
    start = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    wrong = soak(number, first=start)
    print(f"{number:,} random matrices from {start:,} on, {len(wrong)} differences",
          wrong[:10])
