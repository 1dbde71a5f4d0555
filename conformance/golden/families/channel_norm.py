# SPDX-License-Identifier: Apache-2.0
"""Golden vectors: batch and group norm, the norms' backwards."""
import torch

from golden import add, compose, FLOATS, tensor


@compose("_fused_rms_norm_backward")
def fused_rms_norm_backward(grad, x, shape, rstd, weight, mask):
    """The library has it on other devices only."""
    unit, scaled = x * rstd, grad * (1 if weight is None else weight)
    of_input = rstd * (scaled - unit * (scaled * unit).mean(-1, True))
    return of_input.to(x.dtype), (grad * unit).sum([0, 1]).to(x.dtype)


@compose("_native_batch_norm_legit")
def batch_norm(x, weight, bias, mean, variance, training, momentum, eps):
    """The library changes the running statistics and does not return them."""
    mean, variance = mean.clone(), variance.clone()
    results = torch.ops.aten._native_batch_norm_legit.default(x, weight, bias, mean, variance, training, momentum, eps)
    return *results, mean, variance


def over(x, dims, weight, bias, mean, variance, eps):
    """The bound of (x - mean) * rstd * weight + bias, and of mean and rstd."""
    shape = [1, -1] + [1] * (x.dim() - 2)
    rstd = (variance + eps).rsqrt()
    w = torch.ones(x.shape[1], dtype=x.dtype) if weight is None else weight.abs()
    b = torch.zeros(x.shape[1], dtype=x.dtype) if bias is None else bias.abs()
    out = (x.abs() + mean.abs()) * rstd * w.reshape(shape) * 8 + b.reshape(shape)
    return out, rstd * 8


def batch_magnitude(x, weight, bias, *rest):
    dims = [d for d in range(x.dim()) if d != 1]
    mean, size = x.mean(dims, True), x.abs().mean(dims)
    out, rstd = over(x, dims, weight, bias, mean, x.var(dims, unbiased=False, keepdim=True), rest[-1])
    return [out, size, rstd.reshape(-1)]


def given_magnitude(x, weight, bias, mean, variance, momentum, eps):
    shape = [1, -1] + [1] * (x.dim() - 2)
    out, _ = over(x, None, weight, bias, mean.reshape(shape), variance.reshape(shape), eps)
    return [out, torch.zeros(0), torch.zeros(0)]


def running_magnitude(x, weight, bias, mean, variance, training, momentum, eps):
    if not training:
        return given_magnitude(x, weight, bias, mean, variance, momentum, eps) + [mean.abs(), variance]
    of_mean, of_variance = x.abs().mean([0, 2]), x.square().mean([0, 2])
    return batch_magnitude(x, weight, bias, eps) + [mean.abs() + of_mean, variance + 4 * of_variance]


def group_magnitude(x, weight, bias, n, c, places, group, eps):
    parts = x.reshape(n, group, -1)
    spread = parts.var(2, unbiased=False)
    mean = parts.mean(2, True).expand_as(parts).reshape(x.shape)
    out, _ = over(x, None, weight, bias, mean, spread[:, :, None].expand_as(parts).reshape(x.shape), eps)
    return [out, parts.abs().mean(2), (spread + eps).rsqrt() * 8]


def fused_magnitude(x, shape, weight=None, eps=None):
    rstd = (x.square().mean(-1, True) + (eps or 0)).rsqrt()
    return [x.abs() * rstd * (1 if weight is None else weight.abs()) * 8, rstd * 8]


def backward_magnitude(grad, x, mean, rstd, weight, rows, sums):
    """rows: the dimensions of a mean; sums: those that a weight's gradient is summed over."""
    reach = 2 * (x.abs() + mean.abs()) * rstd
    g = grad.abs() * weight.abs()
    out = rstd * (g + g.mean(rows, True) + reach * (g * reach).mean(rows, True)) * 10
    return [out, 10 * (grad.abs() * reach).sum(sums), grad.abs().sum(sums)]


def layer_backward(grad, x, shape, mean, rstd, weight, bias, mask):
    w = torch.ones(shape, dtype=x.dtype) if weight is None else weight
    return backward_magnitude(grad, x, mean, rstd, w, [-1], [0, 1])


def rms_backward(grad, x, shape, rstd, weight, mask):
    w = torch.ones(shape, dtype=x.dtype) if weight is None else weight
    return backward_magnitude(grad, x, torch.zeros_like(rstd), rstd, w, [-1], [0, 1])[:2]


def batch_backward(grad, x, weight, mean, variance, save_mean, save_invstd, train, eps, mask):
    shape = [1, -1, 1]
    w = torch.ones(x.shape[1], dtype=x.dtype) if weight is None else weight
    m, r = (save_mean, save_invstd) if train else (mean, (variance + eps).rsqrt())
    return backward_magnitude(grad, x, m.reshape(shape), r.reshape(shape), w.reshape(shape), [0, 2], [0, 2])


def group_backward(grad, x, mean, rstd, weight, n, c, places, group, mask):
    wide = [n, group, c // group, -1]
    w = (torch.ones(c, dtype=x.dtype) if weight is None else weight).reshape(1, group, c // group, 1)
    bounds = backward_magnitude(grad.reshape(wide), x.reshape(wide), mean[:, :, None, None], rstd[:, :, None, None], w,
                                [2, 3], [0, 3])
    return [bounds[0].reshape(x.shape), bounds[1].reshape(c), bounds[2].reshape(c)]


for dtype in FLOATS:
    x, image = tensor(dtype, [3, 4, 5], -4, 4), tensor(dtype, [2, 4, 2, 3], -4, 4)
    w, b = tensor(dtype, [4]), tensor(dtype, [4])
    mean, variance = tensor(dtype, [4]), tensor(dtype, [4], 0.25, 2)
    for weight, bias in [(None, None), (w, b), (w, None)]:
        add("_native_batch_norm_legit.no_stats", x, weight, bias, True, 0.1, 1e-5, terms=15, magnitude=batch_magnitude)
        add("_native_batch_norm_legit_no_training", x, weight, bias, mean, variance, 0.1, 1e-3, terms=1,
            magnitude=given_magnitude)
        for group in [1, 2, 4]:
            add("native_group_norm", image, weight, bias, 2, 4, 6, group, 1e-5, terms=24 // group,
                magnitude=group_magnitude)
        for training in [True, False]:
            add("_native_batch_norm_legit", x, weight, bias, mean, variance, training, 0.25, 1e-5, terms=15,
                magnitude=running_magnitude)
    last, grad, grads = tensor(dtype, [5]), tensor(dtype, [3, 4, 5]), tensor(dtype, [2, 4, 2, 3])
    rows, invs = tensor(dtype, [3, 4, 1]), tensor(dtype, [3, 4, 1], 0.25, 2)
    for weight in [None, last]:
        for eps in [1e-6, 0.5]:
            add("_fused_rms_norm", x, [5], weight, eps, terms=5, magnitude=fused_magnitude)
    for mask in [[True, True, True], [True, False, False], [False, True, True]]:
        add("native_layer_norm_backward", grad, x, [5], rows, invs, last, last, mask, terms=12,
            magnitude=layer_backward)
        for weight in [None, w]:
            add("native_batch_norm_backward", grad, x, weight, None, None, mean, variance, True, 1e-5, mask, terms=15,
                magnitude=batch_backward)
            add("native_batch_norm_backward", grad, x, weight, mean, variance, None, None, False, 1e-3, mask, terms=15,
                magnitude=batch_backward)
            add("native_group_norm_backward", grads, image, tensor(dtype, [2, 2]), tensor(dtype, [2, 2], 0.25, 2), weight,
                2, 4, 6, 2, mask, terms=12, magnitude=group_backward)
    add("_fused_rms_norm_backward", grad, x, [5], invs, last, [True, True], terms=12, magnitude=rms_backward)
