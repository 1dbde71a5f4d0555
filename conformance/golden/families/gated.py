# SPDX-License-Identifier: Apache-2.0
"""Golden vectors: gated activations and rotary positions."""
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


def halves(x, dim):
    return x.chunk(2, dim)


def glu_magnitude(x, dim=-1):
    a, b = halves(x, dim)
    return [a.abs() * (9 * torch.sigmoid(b) + 4e-30)]


def glu_backward_magnitude(grad, x, dim):
    a, b = halves(x, dim)
    gate = torch.sigmoid(b)
    return [torch.cat([grad.abs() * (9 * gate + 4e-30), (grad * a).abs() * (12 * gate + 4e-30)], dim)]


@compose("keyway::swiglu_backward")
def swiglu_backward(grad, gate, up):
    """By automatic differentiation."""
    inputs = [x.to(torch.float64).requires_grad_() for x in (gate, up)]
    return [g.to(gate.dtype) for g in torch.autograd.grad(swiglu(*inputs), inputs, grad.to(torch.float64))]


def swiglu_backward_magnitude(grad, gate, up):
    sigmoid, x = torch.sigmoid(gate), gate.abs()
    return [(grad * up).abs() * (sigmoid * (12 + 20 * x) + 4e-30 * (1 + x)),
            grad.abs() * (10 * (gate * sigmoid).abs() + 4e-30)]


@compose("keyway::rope")
def rope(x, cos, sin, positions=None, interleaved=False):
    """By multiplication of complex numbers."""
    pairs = cos.shape[1]
    places = torch.arange(x.shape[-2]) if positions is None else positions.long()
    turn = torch.complex(cos.double(), sin.double())[places]
    turned, rest = x[..., :2 * pairs].double(), x[..., 2 * pairs:]
    first, second = (turned[..., 0::2], turned[..., 1::2]) if interleaved else turned.chunk(2, -1)
    product = torch.complex(first, second) * turn
    parts = [product.real, product.imag]
    turned = torch.stack(parts, -1).flatten(-2) if interleaved else torch.cat(parts, -1)
    return torch.cat([turned.to(x.dtype), rest], -1)


def rope_magnitude(x, cos, sin, positions=None, interleaved=False):
    return [rope(x.abs(), cos.abs(), -sin.abs(), positions, interleaved).abs() +
            rope(x.abs(), cos.abs(), sin.abs(), positions, interleaved).abs()]


for dtype in FLOATS:
    x = tensor(dtype, [4, 6], -6, 6)
    for dim in [0, 1, -1]:
        half = list(x.shape)
        half[dim] //= 2
        add("glu", x, dim, terms=1, magnitude=glu_magnitude)
        add("glu_backward", tensor(dtype, half), x, dim, terms=1, magnitude=glu_backward_magnitude)
    add("keyway::swiglu_backward", tensor(dtype, [3, 4]), tensor(dtype, [3, 4], -9, 9), tensor(dtype, [3, 4]), terms=1,
        magnitude=swiglu_backward_magnitude)
    add("keyway::swiglu_backward", tensor(dtype, [12]), tensor(dtype, [12], -30, 30), tensor(dtype, [12]), terms=1,
        magnitude=swiglu_backward_magnitude)
    angles = torch.outer(torch.arange(7.0), 100 ** -(torch.arange(3.0) / 3))
    cos, sin = (f(angles).to(x.dtype) for f in (torch.cos, torch.sin))
    places = torch.tensor([[6, 0], [2, 3]])
    for interleaved in [False, True]:
        add("keyway::rope", tensor(dtype, [2, 4, 6]), cos, sin, None, interleaved, terms=1, magnitude=rope_magnitude)
        add("keyway::rope", tensor(dtype, [2, 2, 8]), cos, sin, places, interleaved, terms=1, magnitude=rope_magnitude)
