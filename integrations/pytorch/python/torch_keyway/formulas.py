# SPDX-License-Identifier: Apache-2.0
"""Operators that PyTorch makes of no others, as formulas of those that it has."""

import functools
import itertools

import torch
from torch.nn import functional as F


def _scaled(grad, grad_output, reduction):
    """`grad`, a row for each sample's own loss, where the losses were left as they are (0), averaged (1) or added (2)."""
    return grad * (grad_output.unsqueeze(-1) if reduction == 0 else grad_output / (grad.shape[0] if reduction == 1 else 1))


# ---- Margins ----------------------------------------------------------------------------------------------------------


def multi_margin_loss_backward(grad_output, self, target, p, margin, weight=None, reduction=1):
    x, classes = torch.atleast_2d(self), torch.atleast_1d(target).unsqueeze(-1)
    missing = (margin - x.gather(1, classes) + x).clamp(min=0)
    grad = ((missing > 0).to(x.dtype) if p == 1 else 2 * missing).scatter(1, classes, 0)
    if weight is not None:
        grad = grad * weight[classes]
    grad = grad.scatter(1, classes, -grad.sum(1, keepdim=True)) / x.shape[1]
    return _scaled(grad, grad_output, reduction).view_as(self)


def _multilabel(x, target):
    """Labels, 0 in the place of those that do not count, and which do: those before the first -1."""
    labels = target.view_as(x)
    counts = (labels >= 0).to(labels.dtype).cumprod(1)
    return labels * counts, counts > 0


def _missing(x, labels, counts, is_target):
    """By what a label fails to be 1 above a class that is none, and 0 for what does not count: sample, label, class."""
    missing = 1 - x.gather(1, labels).unsqueeze(2) + x.unsqueeze(1)
    return torch.where(counts.unsqueeze(2) & (is_target == 0).unsqueeze(1), missing.clamp(min=0), 0)


def multilabel_margin_loss_forward(self, target, reduction):
    x = torch.atleast_2d(self)
    labels, counts = _multilabel(x, target)
    is_target = torch.zeros_like(x).scatter_add(1, labels, counts.to(x.dtype)).clamp(max=1)
    loss = _missing(x, labels, counts, is_target).sum((1, 2)) / x.shape[1]
    if reduction == 0:
        loss = loss if self.dim() == 2 else loss.squeeze(0)
    else:
        loss = loss.mean() if reduction == 1 else loss.sum()
    return loss, is_target.view_as(target)


def multilabel_margin_loss_backward(grad_output, self, target, reduction, is_target):
    x = torch.atleast_2d(self)
    labels, counts = _multilabel(x, target)
    wrong = (_missing(x, labels, counts, is_target.view_as(x)) > 0).to(x.dtype)
    grad = wrong.sum(1).scatter_add(1, labels, -wrong.sum(2)) / x.shape[1]
    return _scaled(grad, grad_output, reduction).view_as(self)


# ---- Connectionist temporal classification ------------------------------------------------------------------------------
#
# A target is written with a blank before, between and behind its labels; a path stays at a place, goes on by one, or
# over a blank between two labels that differ. Of all paths alpha sums up to a place and a time, beta from there on, both
# with the place's own probability.


class _Paths:
    def __init__(self, log_probs, targets, input_lengths, target_lengths, blank):
        device = log_probs.device
        self.times, batch, _ = log_probs.shape
        if targets.dim() == 1:
            targets = torch.nn.utils.rnn.pad_sequence(targets.split(list(target_lengths)), batch_first=True)
        labels = max(target_lengths, default=0)
        places = torch.full((batch, 2 * labels + 1), blank, dtype=torch.int64, device=device)
        places[:, 1::2] = targets[:, :labels]
        self.classes = places.expand(self.times, -1, -1)
        self.log_probs = log_probs.gather(2, self.classes)
        leaps = (places[:, 2:] != blank) & (places[:, 2:] != places[:, :-2])
        never = torch.tensor(float("-inf"), dtype=log_probs.dtype, device=device)
        self.leap = F.pad(torch.where(leaps, 0, never), (2, 0), value=float("-inf"))  # to a place from two before
        self.last_time = torch.tensor(input_lengths, device=device) - 1
        last_place = 2 * torch.tensor(target_lengths, device=device)
        place = torch.arange(2 * labels + 1, device=device)
        ends = (place <= last_place.unsqueeze(1)) & (place >= last_place.unsqueeze(1) - 1)
        self.start = torch.where(place < 2, 0, never)
        self.end = torch.where(ends, 0, never)
        self.empty = torch.where(last_place.unsqueeze(1) == 0, self.end, never)  # of an input of no times

    def alpha(self):
        rows = [self.start + self.log_probs[0]]
        for log_probs in self.log_probs[1:]:
            before = rows[-1]
            ways = [before, _shift(before, 1), _shift(before, 2) + self.leap]
            rows.append(torch.stack(ways).logsumexp(0) + log_probs)
        return torch.stack(rows)

    def beta(self):
        leap = _shift(self.leap, -2)
        after, rows = torch.full_like(self.end, float("-inf")), []
        for time in reversed(range(self.times)):
            ways = [after, _shift(after, -1), _shift(after, -2) + leap]
            on = torch.where((self.last_time == time).unsqueeze(1), self.end, torch.stack(ways).logsumexp(0))
            after = on + self.log_probs[time]
            rows.append(after)
        return torch.stack(rows[::-1])


def _shift(row, by):
    return F.pad(row, (by, -by), value=float("-inf"))


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, zero_infinity=False):
    paths = _Paths(log_probs, targets, input_lengths, target_lengths, blank)
    alpha = paths.alpha()
    time = paths.last_time.clamp(min=0).view(1, -1, 1).expand(1, -1, alpha.shape[2])
    at_end = torch.where(paths.last_time.unsqueeze(1) < 0, paths.empty, alpha.gather(0, time)[0] + paths.end)
    loss = -at_end.logsumexp(1)
    return torch.where(loss.isinf(), 0, loss) if zero_infinity else loss, alpha.transpose(0, 1)


def ctc_loss_backward(grad, log_probs, targets, input_lengths, target_lengths, neg_log_likelihood, log_alpha, blank,
                      zero_infinity=False):
    """As if log_probs came out of log_softmax, like PyTorch's own."""
    paths = _Paths(log_probs, targets, input_lengths, target_lengths, blank)
    through = log_alpha.transpose(0, 1) + paths.beta() - paths.log_probs + neg_log_likelihood.unsqueeze(1)
    likely = torch.zeros_like(log_probs).scatter_add(2, paths.classes, through.exp())
    result = (log_probs.exp() - likely) * grad.view(1, -1, 1)
    seen = torch.arange(paths.times, device=grad.device).unsqueeze(1) <= paths.last_time
    if zero_infinity:
        seen = seen & (neg_log_likelihood != float("inf"))
    return torch.where(seen.unsqueeze(2), result, 0)


# ---- Repeating ----------------------------------------------------------------------------------------------------------


def repeat_interleave(repeats, *, output_size=None):
    ends = repeats.cumsum(0)
    count = output_size if output_size is not None else ends[-1].item() if len(ends) > 0 else 0
    return torch.searchsorted(ends, torch.arange(count, device=ends.device), right=True).to(repeats.dtype)


# ---- Distances ----------------------------------------------------------------------------------------------------------


def cdist_backward(grad, x1, x2, p, distances):
    apart = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    distances = distances.unsqueeze(-1)
    if p == float("inf"):
        share = apart.sign() * (apart.abs() == distances)
    else:
        share = torch.where((apart == 0) | (distances == 0), 0, apart.sign() * (apart.abs() / distances) ** (p - 1))
    return (share * grad.unsqueeze(-1)).sum(-2)


# ---- Bags of embeddings -------------------------------------------------------------------------------------------------


def embedding_bag_backward(grad, indices, offsets, offset2bag, bag_size, maximum_indices, num_weights, scale_grad_by_freq, mode,
                           sparse, per_sample_weights, padding_idx=-1):
    if sparse:
        return torch.ops.aten._embedding_bag_sparse_backward(grad, indices, offsets, offset2bag, bag_size, num_weights,
                                                             scale_grad_by_freq, mode, per_sample_weights, padding_idx)
    mean, largest = 1, 2
    weight = torch.zeros(num_weights, grad.shape[1], dtype=grad.dtype, device=grad.device)
    if mode == largest:
        return weight.scatter_add(0, maximum_indices, torch.where(bag_size.unsqueeze(1) > 0, grad, 0))
    if mode == mean:
        grad = grad / bag_size.clamp(min=1).unsqueeze(1)
    rows = grad[offset2bag]
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    if scale_grad_by_freq:
        rows = rows / torch.bincount(indices, minlength=num_weights)[indices].unsqueeze(1)
    return weight.index_add(0, indices, torch.where((indices == padding_idx).unsqueeze(1), 0, rows))


def embedding_bag_per_sample_weights_backward(grad, weight, indices, offsets, offset2bag, mode, padding_idx=-1):
    return torch.where(indices == padding_idx, 0, (grad[offset2bag] * weight[indices]).sum(1))


# ---- Weights as a length and a direction --------------------------------------------------------------------------------


def weight_norm_backward(grad, v, g, norms, dim):
    others = [each for each in range(v.dim()) if each != dim]
    along = (grad * v).sum(others, keepdim=True) / norms
    return (grad - v * (along / norms)) * (g / norms), along


# ---- Resampling ---------------------------------------------------------------------------------------------------------
#
# Along each dimension what comes out is a matrix times what goes in: what PyTorch makes of the unit matrix.


# An image of one row stands for the line that some operators do not know (of one column PyTorch errs, with antialiasing).
_ALONG_ONE_DIMENSION = {
    **dict.fromkeys(("upsample_linear1d", "upsample_trilinear3d"), "upsample_linear1d"),
    **dict.fromkeys(("upsample_nearest1d", "upsample_nearest3d"), "upsample_nearest1d"),
    **dict.fromkeys((f"_upsample_nearest_exact{n}d" for n in (1, 2, 3)), "_upsample_nearest_exact1d"),
    **{name: name for name in ("upsample_bicubic2d", *(f"_upsample_{way}2d_aa" for way in ("bilinear", "bicubic", "lanczos")))},
}


@functools.lru_cache(64)
def _matrix(name, inputs, outputs, options, scale, dtype):
    operator, unit = getattr(torch.ops.aten, name), torch.eye(inputs, dtype=dtype).unsqueeze(0)
    if "2d" in name:
        return operator(unit.unsqueeze(2), (1, outputs), *options, None, scale)[0, :, 0].t()
    return operator(unit, (outputs,), *options, scale)[0].t()


def _resampled(name, x, inputs, outputs, rest, backward):
    """`rest`: whether corners align, where an operator has that, and scales, of which the last ones may be left out."""
    if not x.is_floating_point():
        raise NotImplementedError(f"aten::{name} takes floating-point numbers on a device of Keyway: use x.float() first")
    count = 0 if "nearest" in name else 1
    options, scales = rest[:count], rest[count:]
    dtype = x.dtype
    x = x.to(torch.promote_types(dtype, torch.float32))
    for dim, scale in itertools.zip_longest(range(len(outputs)), scales):
        matrix = _matrix(_ALONG_ONE_DIMENSION[name], inputs[dim], outputs[dim], options, scale, x.dtype).to(x.device)
        x = (x.movedim(dim + 2, -1) @ (matrix if backward else matrix.t())).movedim(-1, dim + 2)
    return x.to(dtype)


RESAMPLING = {
    name: lambda x, outputs, *rest, name=name: _resampled(name, x, x.shape[2:], outputs, rest, False)
    for name in _ALONG_ONE_DIMENSION
}
RESAMPLING_BACKWARD = {
    name: lambda grad, outputs, shape, *rest, name=name: _resampled(name, grad, shape[2:], outputs, rest, True)
    for name in _ALONG_ONE_DIMENSION
}


# ---- Batch norm over the batches of several processes (nn.SyncBatchNorm) ------------------------------------------------


def _by_channel(x, *numbers):
    """`x` in f32 at least, and a number for each channel, 1 for None, at the shape that goes with it."""
    shape = [-1 if d == 1 else 1 for d in range(x.dim())]
    return _widened(x), *(1 if each is None else _widened(each).view(shape) for each in numbers)


def _widened(x):
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def _all_but_channels(x):
    return [d for d in range(x.dim()) if d != 1]


def _laid_out(result, input):
    """In the dtype and the order in memory of `input`."""
    return result.to(input.dtype).contiguous(memory_format=torch._prims_common.suggest_memory_format(input))


def batch_norm_stats(input, eps):
    var, mean = torch.var_mean(_widened(input), _all_but_channels(input), correction=0)
    return mean, (var + eps).rsqrt()


def batch_norm_gather_stats(input, mean, invstd, running_mean, running_var, momentum, eps, counts):
    """Of the processes' own, a row each, those of all samples. The running ones change along."""
    counts = counts.to(mean.dtype).view(-1, 1)
    total = counts.sum()
    mean_of_all = (mean * counts).sum(0) / total
    var = ((invstd.square().reciprocal() - eps + (mean - mean_of_all).square()) * counts).sum(0) / total
    for running, new in ((running_mean, mean_of_all), (running_var, var * (total / (total - 1)))):
        if running is not None:
            running.lerp_(new.to(running.dtype), momentum)
    return mean_of_all, (var + eps).rsqrt()


def batch_norm_elemt(input, weight, bias, mean, invstd, eps):
    x, mean, invstd, weight = _by_channel(input, mean, invstd, weight)
    normal = (x - mean) * invstd * weight
    return _laid_out(normal if bias is None else normal + _by_channel(input, bias)[1], input)


def batch_norm_backward_reduce(grad_out, input, mean, invstd, weight, input_g, weight_g, bias_g):
    x, mean_of_channel = _by_channel(input, mean)
    grad, dims = _widened(grad_out), _all_but_channels(input)
    sum_dy, sum_dy_xmu = grad.sum(dims), (grad * (x - mean_of_channel)).sum(dims)
    dtype = mean.dtype if weight is None else weight.dtype
    return (sum_dy if input_g else None, sum_dy_xmu if input_g else None,
            (sum_dy_xmu * invstd).to(dtype) if weight_g else None, sum_dy.to(dtype) if bias_g else None)


def batch_norm_backward_elemt(grad_out, input, mean, invstd, weight, sum_dy, sum_dy_xmu, count):
    total = count.sum()
    x, mean, invstd, weight, dy, dy_xmu = _by_channel(input, mean, invstd, weight, sum_dy / total, sum_dy_xmu / total)
    return _laid_out((_widened(grad_out) - dy - (x - mean) * invstd.square() * dy_xmu) * invstd * weight, input)


# ---- Optimizers -------------------------------------------------------------------------------------------------------


def fused_adagrad(self, grads, state_sums, state_steps, *, lr, lr_decay, weight_decay, eps, maximize, grad_scale=None,
                  found_inf=None):
    """`lr` may be a tensor."""
    if found_inf is not None and found_inf.item():
        return
    for parameter, grad, sums, step in zip(self, grads, state_sums, state_steps, strict=True):
        if grad_scale is not None:
            grad.div_(grad_scale)
        if maximize:
            grad = -grad
        if weight_decay:
            grad = grad.add(parameter, alpha=weight_decay)
        sums.addcmul_(grad, grad)
        parameter.sub_(grad / (sums.sqrt() + eps) * (lr / (1 + (step - 1) * lr_decay)))


def at_rate(step):
    """A fused step that takes its learning rate as a tensor, by the one that takes a number, as PyTorch's CPU does it."""
    return lambda *lists, lr, **options: step(*lists, lr=lr.item(), **options)
