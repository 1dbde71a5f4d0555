# SPDX-License-Identifier: Apache-2.0
"""Golden vectors: gated activations."""
import torch

from golden import add, compose, FLOATS, specials, tensor


@compose("keyway::swiglu")
def swiglu(gate, up):
    return torch.nn.functional.silu(gate) * up


def swiglu_magnitude(gate, up):
    return [10 * swiglu(gate, up).abs() + 4e-30 * up.abs()]


for dtype in FLOATS:
    add("keyway::swiglu", tensor(dtype, [3, 4], -9, 9), tensor(dtype, [4], -3, 3), terms=1, magnitude=swiglu_magnitude)
    add("keyway::swiglu", specials(dtype), tensor(dtype, [12]), terms=1, magnitude=swiglu_magnitude)
