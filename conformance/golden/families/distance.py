# SPDX-License-Identifier: Apache-2.0
"""Golden vectors: distances between rows."""
import math

import torch

from golden import add, of, tensor

NORMS = [0.0, 0.5, 1.0, 2.0, 3.0, math.inf]


def bound(distances, n, p):
    """As the op reference states it, in eps."""
    growth = min(n, 4 + 2 * math.sqrt(n))
    if p in (0, math.inf):
        return distances * (p > 0)
    if p in (1, 2):
        return distances * (growth + (1 if p == 1 else 5))
    return distances * ((16 + p + growth) / p + 17 + distances.log().abs().nan_to_num(posinf=0))


def cdist_bound(x1, x2, p, mode):
    return [bound(torch.ops.aten._cdist_forward(x1, x2, p, mode), x1.shape[-1], p)]


def pdist_bound(x, p):
    return [bound(torch.ops.aten._pdist_forward(x, p), x.shape[-1], p)]


for dtype in ["f32", "f64"]:
    for p in NORMS:
        add("_cdist_forward", tensor(dtype, [3, 5]), tensor(dtype, [2, 5]), p, 2, terms=1, magnitude=cdist_bound)
        add("_pdist_forward", tensor(dtype, [3, 5]), p, terms=1, magnitude=pdist_bound)
        add("_pdist_forward", of(dtype, [[1, 2, 3], [1, 2, 5], [4, 2, 3]]), p, terms=1, magnitude=pdist_bound)
    add("_cdist_forward", tensor(dtype, [2, 1, 3, 2]), tensor(dtype, [2, 2, 2]), 2.0, None, terms=1,
        magnitude=cdist_bound)
    add("_cdist_forward", tensor(dtype, [2, 0]), tensor(dtype, [3, 0]), 1.0, None, terms=1, magnitude=cdist_bound)
