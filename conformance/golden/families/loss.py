# SPDX-License-Identifier: Apache-2.0
"""Golden vectors: losses and their backwards."""
import torch

from golden import add, FLOATS, of, tensor


def reduced(bound, value, reduction):
    """Of an elementwise bound, with the sum's own terms."""
    if reduction == 0:
        return bound + value.abs()
    total = (bound + value.abs()).sum()
    return total / bound.numel() if reduction == 1 else total


def mse_magnitude(x, y, reduction=1):
    value = (x - y) ** 2
    return [reduced(3 * value, value, reduction)]


def huber_magnitude(x, y, reduction=1, delta=1.0):
    z = (x - y).abs()
    value = torch.nn.functional.huber_loss(x, y, reduction="none", delta=delta)
    return [reduced(z * z + delta * (2 * z + delta), value, reduction)]


def logits_magnitude(x, y, weight=None, pos_weight=None, reduction=1):
    w = torch.ones_like(x) if weight is None else weight
    p = torch.ones_like(x) if pos_weight is None else pos_weight
    value = torch.nn.functional.binary_cross_entropy_with_logits(x, y, weight, reduction="none", pos_weight=pos_weight)
    return [reduced(w * (3 * (1 + y) * x.abs() + (2 + p) * (2 + x.abs())), value, reduction)]


for dtype in FLOATS:
    x, y, row = tensor(dtype, [3, 4]), tensor(dtype, [3, 4]), tensor(dtype, [4])
    labels, w, p = tensor(dtype, [3, 4], 0, 1), tensor(dtype, [3, 1], 0, 2), tensor(dtype, [4], 0.5, 3)
    for reduction in [0, 1, 2]:
        terms = 12 if reduction else 1
        add("mse_loss", x, y, reduction, terms=terms, magnitude=mse_magnitude)
        add("huber_loss", x, y, reduction, 0.75, terms=terms, magnitude=huber_magnitude)
        add("binary_cross_entropy_with_logits", x, labels, None, None, reduction, terms=terms, magnitude=logits_magnitude)
        add("binary_cross_entropy_with_logits", x, labels, w, p, reduction, terms=terms, magnitude=logits_magnitude)
        add("mse_loss_backward", x[0, 0] if reduction else tensor(dtype, [3, 4]), x, y, reduction)
    add("mse_loss", x, row, 0, terms=1, magnitude=mse_magnitude)
    add("mse_loss", x, y, terms=12, magnitude=mse_magnitude)
    add("huber_loss", x, y, terms=12, magnitude=huber_magnitude)
    for reduction in [1, 2]:
        add("mse_loss", tensor(dtype, [0, 2]), tensor(dtype, [0, 2]), reduction, terms=1, magnitude=mse_magnitude)
    add("binary_cross_entropy_with_logits", of(dtype, [50.0, -50.0, 0.0]), of(dtype, [1.0, 0.0, 0.5]), None, None, 0,
        terms=1, magnitude=logits_magnitude)
