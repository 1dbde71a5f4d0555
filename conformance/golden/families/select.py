# SPDX-License-Identifier: Apache-2.0
"""Golden vectors: selection and sorting."""
import math

import torch

from golden import add, DTYPES, FLOATS, INTS, of, tensor

for dtype in FLOATS + INTS + ["bool"]:
    x = tensor(dtype, [3, 4], -1.4, 1.4)
    add("nonzero", torch.where(x.to(torch.float32).abs() < 0.7, torch.zeros_like(x), x))
    add("nonzero", of(dtype, 1))
    add("nonzero", of(dtype, 0))
    add("nonzero", torch.zeros(2, 0, dtype=DTYPES[dtype]))
add("nonzero", of("f32", [0.0, -0.0, math.nan, -math.inf, 1e-45]))
