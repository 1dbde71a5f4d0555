# SPDX-License-Identifier: Apache-2.0
"""Golden vectors: random numbers, computed from randomgen's Philox words by the rules of the op reference."""
import numpy as np
import torch
from randomgen import Philox

from golden import add, cases, dtype_arg, DTYPES, encode, FLOATS, number, of, tensor


def words(seed, offset, count, part=0):
    """Element i is lane i % 4 of block (offset + i / 4, part)."""
    result = []
    for block in range((count + 3) // 4):
        counter = ((offset + block) % 2**64) | part << 64
        generator = Philox(counter=(counter - 1) % 2**128, key=seed, number=4, width=32)
        result += [int(w) for w in generator.random_raw(4)]
    return np.array(result[:count], dtype=np.uint64)


def words64(seed, offset, count):
    return words(seed, offset, count) << np.uint64(32) | words(seed, offset, count, 1)


def uniform(dtype, seed, offset, count):
    if dtype == "f64":
        return (words64(seed, offset, count) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    bits = {"f16": 11, "bf16": 8, "f32": 24}[dtype]
    return (words(seed, offset, count) >> np.uint64(32 - bits)).astype(np.float64) * 2.0**-bits


def normal(dtype, seed, offset, count):
    """Box-Muller over lanes (0, 1) and (2, 3) of each block; the magnitude is the radius."""
    full = (count + 3) // 4 * 4
    bits = 53 if dtype == "f64" else 24
    raw = words64(seed, offset, full) >> np.uint64(11) if dtype == "f64" else words(seed, offset, full) >> np.uint64(8)
    u = raw.astype(np.float64)
    radius = np.sqrt(-2 * np.log((u[0::2] + 1) * 2.0**-bits))
    angle = 2 * np.pi * u[1::2] * 2.0**-bits
    values = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).reshape(-1)
    return values[:count], np.repeat(radius, 2)[:count]


def add_random(op, rng, args, dtype, shape, values, magnitude=None, terms=None):
    out = {"dtype": dtype, "shape": shape, "data": [number(v) for v in values]}
    case = {"rng": {"seed": str(rng[0]), "offset": str(rng[1])}, "args": [encode(a) for a in args], "outs": [out]}
    if terms:
        out["magnitude"] = [float(v) for v in magnitude]
        case["terms"] = terms
    cases.setdefault(op, []).append(case)


STATES = [(0, 0), (0x123456789ABCDEF0, 5), (42, 2**32 - 1), (7, 2**64 - 1)]
for seed_offset in STATES:
    for dtype in FLOATS:
        u = uniform(dtype, *seed_offset, 6)
        add_random("rand", seed_offset, [[2, 3], dtype_arg(dtype)], dtype, [2, 3], u.tolist())
        blank = torch.zeros(2, 3, dtype=DTYPES[dtype])
        add_random("uniform_", seed_offset, [blank], dtype, [2, 3], u.tolist(), np.ones(6), 2)
        add_random("uniform_", seed_offset, [blank, -2.0, 6.0], dtype, [2, 3], (u * 8 - 2).tolist(), u * 8 + 2, 2)
        z, radius = normal(dtype, *seed_offset, 6)
        add_random("randn", seed_offset, [[6], dtype_arg(dtype)], dtype, [6], z.tolist(), radius, 16)
        add_random("normal_", seed_offset, [blank, 3.0, 0.5], dtype, [2, 3], (3 + z / 2).tolist(), 3 + radius / 2, 16)
        p = tensor(dtype, [6], 0, 1)
        fine = uniform("f64" if dtype == "f64" else "f32", *seed_offset, 6)
        add_random("bernoulli", seed_offset, [p], dtype, [6], (fine < p.to(torch.float64).numpy()).tolist())
    for dtype in ["bool", "u8", "i64", "f32"]:
        blank = torch.zeros(7, dtype=DTYPES[dtype])
        hit = uniform("f32", *seed_offset, 7) < float(np.float32(0.3))
        add_random("bernoulli_.float", seed_offset, [blank, 0.3], dtype, [7], hit.tolist())
    w, w64 = words(*seed_offset, 6), words64(*seed_offset, 6)
    for low, high in [(0, 10), (-5, 100), (0, 2**32), (-2**40, 2**40)]:
        span = high - low
        raw = w if span <= 2**32 else w64
        values = [low + int(v) % span for v in raw]
        add_random("randint.low", seed_offset, [low, high, [6]], "i64", [6], values)
        add_random("random_.from", seed_offset, [torch.zeros(6, dtype=torch.int64), low, high], "i64", [6], values)
        if low == 0:
            add_random("randint", seed_offset, [high, [6]], "i64", [6], values)


# ---- Random choices --------------------------------------------------------------------------------------------------

def sampled(weights, samples, replacement, u):
    rows = []
    for r, row in enumerate(weights.to(torch.float64).tolist()):
        left = list(row)
        for s in range(samples):
            target, total, entry = u[r * samples + s] * sum(left), 0.0, None
            for k, weight in enumerate(left):
                total += weight
                if weight > 0 and target < total:
                    entry = k
                    break
            rows.append(entry)
            if not replacement:
                left[entry] = 0
    return rows


for seed_offset in STATES:
    w64 = words64(*seed_offset, 13)
    for dtype in ["i64", "i32", "f32"]:
        add_random("randperm", seed_offset, [13, dtype_arg(dtype)], dtype, [13], np.argsort(w64, kind="stable").tolist())
    for dtype in FLOATS:
        weights = of(dtype, [[1, 0, 2, 5], [0.25, 0.5, 0.125, 0.125], [0, 0, 3, 0]])  # sums are exact
        fine = uniform("f64" if dtype == "f64" else "f32", *seed_offset, 18)
        add_random("multinomial", seed_offset, [weights, 6, True], "i64", [3, 6], sampled(weights, 6, True, fine))
        add_random("multinomial", seed_offset, [weights[:2], 2, False], "i64", [2, 2], sampled(weights[:2], 2, False, fine))
        x = tensor(dtype, [2, 3])
        hit = (uniform("f32", *seed_offset, 6) < float(np.float32(0.75))).reshape(2, 3)
        values = x.to(torch.float64).numpy() * hit / 0.75
        add_random("native_dropout", seed_offset, [x, 0.25, True], dtype, [2, 3], values.reshape(-1).tolist())
        cases["native_dropout"][-1]["outs"].append({"dtype": "bool", "shape": [2, 3], 
                                             "data": hit.reshape(-1).astype(int).tolist()})
        add("native_dropout_backward", x, torch.from_numpy(hit), 1 / 0.75)
