"Injuries to model files: random bytes, and changed content that is signed again."
import json
from pathlib import Path
import numpy as np
from boostlit import load_model

ODD = np.array([0, 1, -1, 2, 7, 2**31 - 1, 2**31, -2**31, 2**40, 2**63 - 1, -2**63], dtype=np.int64)


def mutate(data, rng):
    "One random injury: a flipped bit, a cut, a wiped range, a repeated piece."
    out = bytearray(data)
    kind, i, j = rng.integers(4), int(rng.integers(len(data))), int(rng.integers(len(data)))
    low = min(i, j)
    if kind == 0: out[i] ^= 1 << int(rng.integers(8))
    elif kind == 1: out = out[:i]
    elif kind == 2: out[low:low + 64] = rng.bytes(len(out[low:low + 64]))
    else: out[i:i] = out[low:low + 32]
    return bytes(out)


def survive(data, path, same):
    "Load mutated bytes: 'refused', or 'identical' when `same(est)`; anything else is a failure."
    Path(path).write_bytes(data)
    try: est = load_model(path)
    except ValueError: return "refused"
    assert same(est), "a damaged file gave a different model"
    return "identical"


def mutate_array(data, rng):
    "Other numbers, another dtype, another shape, or noise."
    head, _, raw = data.partition(b"\0")
    change = rng.integers(5)
    if change == 0: return mutate(data, rng)
    if change == 1:
        raw = bytearray(raw)
        raw[:8*(len(raw)//8)] = rng.choice(ODD, len(raw)//8).astype("<i8").tobytes()
        return head + b"\0" + bytes(raw)
    if change == 2:
        kinds = [b"<f8", b"<i8", b"<i4", b"<u8", b"<U2", b"|O"]
        return head.replace(rng.choice(kinds[:3]), rng.choice(kinds)) + b"\0" + raw
    if change == 3:
        form = json.loads(head)
        if isinstance(form.get("dtype"), list):   # records: the same fields in another order
            rng.shuffle(form["dtype"])
        return json.dumps(form).encode() + b"\0" + raw
    shape = rng.choice([0, 1, 2, 3, 2**31, 10**12], rng.integers(0, 4)).tolist()
    return json.dumps({**json.loads(head), "shape": shape}).encode() + b"\0" + raw


def mutate_state(state, rng):
    "An attribute that is doubled, dropped, or replaced by something odd."
    a, b = (str(rng.choice(list(state))) for _ in range(2))
    change = rng.integers(3)
    odd = [{"value": int(rng.choice(ODD))}, {"value": "x"}, {"float": "nan"}, {"list": []},
           {"leaf": int(rng.integers(99))}]
    if change == 0: state[a] = state[b]
    elif change == 1: del state[a]
    else: state[a] = odd[rng.integers(len(odd))]


def mutate_leaves(header, leaves, rng):
    "A random change of content, to be signed again: of an array, a parameter or an attribute."
    header, leaves = json.loads(json.dumps(header)), list(leaves)
    if rng.random() < .6 and leaves:
        k = int(rng.integers(len(leaves)))
        path, kind, data = leaves[k]
        leaves[k] = path, kind, mutate_array(data, rng) if kind == "array" else mutate(data, rng)
    else:
        mutate_state(header[str(rng.choice(["state", "state", "parameters"]))]["dict"], rng)
    return header, leaves
