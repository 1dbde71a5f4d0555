# SPDX-License-Identifier: Apache-2.0
"""Golden vectors: losses over classes and their backwards, and embedding's."""
import torch

from golden import add, FLOATS, of, tensor


def class_sums(x, target, weight, ignore):
    """Losses and weights of the targets that are not ignored."""
    classes = 1 if x.dim() > 1 else 0
    w = torch.ones(x.shape[classes], dtype=torch.float64) if weight is None else weight
    keep = target != ignore
    at = torch.where(keep, target, torch.zeros_like(target))
    losses = x.gather(classes, at.unsqueeze(classes)).squeeze(classes).abs() * w[at] * keep
    return losses, w[at] * keep


def nll_magnitude(x, target, weight, reduction, ignore):
    losses, weights = class_sums(x, target, weight, ignore)
    if reduction == 0:
        return [losses, torch.zeros(())]
    total = weights.sum()
    out = losses.sum()
    return [2 * out if reduction == 2 else 6 * out / total, total]


def cross_entropy_magnitude(x, target, weight=None, reduction=1, ignore=-100, smoothing=0.0):
    classes = 1 if x.dim() > 1 else 0
    logs = torch.log_softmax(x, classes).abs() + (x.amax(classes, True) - x).abs() + 8
    bound = logs.sum(classes) * (1 if weight is None else weight.max()) * 4
    if reduction == 0:
        return [bound]
    if target.is_floating_point():
        return [bound.sum() if reduction == 2 else 3 * bound.mean()]
    _, weights = class_sums(x, target, weight, ignore)
    return [bound.sum() if reduction == 2 else 3 * bound.sum() / weights.sum()]


def embedding_magnitude(grad, indices, rows, padding, scaled):
    op = torch.ops.aten.embedding_dense_backward.default
    return [4 * op(grad.abs(), indices, rows, padding, scaled)]


for dtype in FLOATS:
    x, w = tensor(dtype, [5, 4], -4, 4), tensor(dtype, [4], 0.25, 2)
    image, places = tensor(dtype, [2, 3, 2, 2], -4, 4), torch.tensor([[[0, 2], [1, 1]], [[2, 0], [0, 1]]])
    target, total = torch.tensor([3, 0, 1, 1, 2]), of(dtype, 2.5)
    for reduction in [0, 1, 2]:
        for weight in [None, w]:
            for ignore in [-100, 1]:
                terms = 5 if reduction else 1
                add("nll_loss_forward", x, target, weight, reduction, ignore, terms=terms, magnitude=nll_magnitude)
                grad = of(dtype, 1.5) if reduction else tensor(dtype, [5])
                add("nll_loss_backward", grad, x, target, weight, reduction, ignore, total)
        add("nll_loss2d_forward", image, places, w[:3], reduction, 2, terms=8, magnitude=nll_magnitude)
        add("nll_loss2d_backward", of(dtype, -0.5) if reduction else tensor(dtype, [2, 2, 2]), image, places, w[:3],
            reduction, 2, total)
        for weight in [None, w]:
            for smoothing in [0.0, 0.25]:
                add("cross_entropy_loss", x, target, weight, reduction, 1, smoothing, terms=20,
                    magnitude=cross_entropy_magnitude)
                add("cross_entropy_loss", x, tensor(dtype, [5, 4], 0, 1), weight, reduction, -100, smoothing, terms=20,
                    magnitude=cross_entropy_magnitude)
        add("cross_entropy_loss", image, places, w[:3], reduction, -100, 0.125, terms=24,
            magnitude=cross_entropy_magnitude)
    add("cross_entropy_loss", x[0], target[0], terms=4, magnitude=cross_entropy_magnitude)
    for reduction in [1, 2]:
        add("nll_loss_forward", tensor(dtype, [0, 3]), torch.zeros(0, dtype=torch.long), None, reduction, -100, terms=1,
            magnitude=nll_magnitude)
    grads, indices = tensor(dtype, [2, 3, 4]), torch.tensor([[4, 0, 4], [2, 4, 0]])
    for padding in [-1, 0]:
        for scaled in [False, True]:
            add("embedding_dense_backward", grads, indices, 6, padding, scaled, terms=3, magnitude=embedding_magnitude)
