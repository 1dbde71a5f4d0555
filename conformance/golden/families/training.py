# SPDX-License-Identifier: Apache-2.0
"""Golden vectors: optimisers, scaled gradients and metrics. Most ops change their arguments, which are what is expected."""
import math

import torch

from golden import add, compose, FLOATS, no_tensors, of, random, tensor

aten = torch.ops.aten


def single(value):
    """The library wants f32 here, whatever the rest is."""
    return None if value is None else value.float()


@compose("_fused_sgd_")
def fused_sgd(params, grads, buffers, decay, momentum, lr, dampening, nesterov, maximize, first, scale=None, found=None):
    aten._fused_sgd_(params, grads, buffers, weight_decay=decay, momentum=momentum, lr=lr, dampening=dampening,
                     nesterov=nesterov, maximize=maximize, is_first_step=first, grad_scale=single(scale),
                     found_inf=single(found))
    return params + grads + buffers


def adam(op):
    def run(params, grads, means, squares, largest, steps, lr, beta1, beta2, decay, eps, amsgrad, maximize, scale=None,
            found=None):
        op(params, grads, means, squares, largest, [single(s) for s in steps], lr=lr, beta1=beta1, beta2=beta2,
           weight_decay=decay, eps=eps, amsgrad=amsgrad, maximize=maximize, grad_scale=single(scale),
           found_inf=single(found))
        return params + grads + means + squares + largest
    return run


compose("_fused_adam_")(adam(aten._fused_adam_))
compose("_fused_adamw_")(adam(aten._fused_adamw_))


@compose("_amp_foreach_non_finite_check_and_unscale_")
def unscale(tensors, found, inverse):
    flag = single(found)
    for t in tensors:  # one by one in f32 or f64: the library's kernel does not take bf16
        wide = t.to(torch.float64 if t.dtype == torch.float64 else torch.float32)
        aten._amp_foreach_non_finite_check_and_unscale_([wide], flag, single(inverse))
        t.copy_(wide)
    found.copy_(flag)
    return tensors + [found]


@compose("_amp_update_scale_")
def update_scale(scale, tracker, found, growth, backoff, interval):
    narrow = single(scale).clone()
    aten._amp_update_scale_(narrow, tracker, single(found), growth, backoff, interval)
    return [narrow.to(scale.dtype), tracker]


@compose("keyway::clip_grad_norm_")
def clip(grads, limit, kind=2.0):
    wide = [g.to(torch.float64 if g.dtype == torch.float64 else torch.float32) for g in grads]
    for w in wide:
        w.grad = w.clone()
    norm = torch.nn.utils.clip_grad_norm_(wide, limit, norm_type=kind, foreach=False)
    return [norm] + [w.grad.to(g.dtype) for w, g in zip(wide, grads)]


@compose("keyway::accumulate_mean_")
def accumulate_mean(total, count, values):
    return [total + values.to(total.dtype).sum(), count + values.numel()]


@compose("keyway::accumulate_confusion_")
def accumulate_confusion(counts, prediction, target, ignore=-100):
    keep = target != ignore
    places = target[keep] * counts.shape[0] + prediction[keep]
    return [counts + torch.bincount(places.long().flatten(), minlength=counts.numel()).reshape(counts.shape)]


# ---- Bounds: what the numbers on the way add up to, in some eps -------------------------------------------------------

def sgd_magnitude(params, grads, buffers, decay, momentum, lr, *rest):
    scaled = len(rest) > 4 and rest[4] is not None
    scale = 1.0 if not scaled else rest[4].abs()
    sums = [g.abs() / scale + decay * p.abs() for p, g in zip(params, grads)]
    kept = [s + momentum * b.abs() for s, b in zip(sums, buffers)] if momentum else []
    return ([4 * p.abs() + 16 * lr * k for p, k in zip(params, kept or sums)]
            + [4 * g.abs() / scale if scaled else g * 0 for g in grads] + [8 * k for k in kept])


def adam_magnitude(params, grads, means, squares, largest, steps, lr, beta1, beta2, decay, eps, amsgrad, maximize,
                   scale=None, found=None):
    factor = 1.0 if scale is None else scale.abs()
    g = [x.abs() / factor + decay * p.abs() for x, p in zip(grads, params)]
    m = [x + y.abs() for x, y in zip(g, means)]
    v = [beta2 * y + (1 - beta2) * x * x for x, y in zip(g, squares)]
    root = [torch.sqrt((1 - beta2) * (x.abs() / factor) ** 2 / 4 + beta2 * y) for x, y in zip(grads, squares)]
    size = [lr / (1 - beta1 ** s.double()) for s in steps]
    return ([8 * p.abs() + 64 * s * x / (r + eps) for p, s, x, r in zip(params, size, m, root)]
            + [4 * x.abs() / factor if scale is not None else x * 0 for x in grads] + [4 * x for x in m]
            + [16 * x for x in v] + ([16 * (x + y) for x, y in zip(v, largest)] if amsgrad else []))


def clip_magnitude(grads, limit, kind=2.0):
    norm = torch.linalg.vector_norm(torch.cat([g.double().flatten() for g in grads]), kind)
    return [64 * norm] + [64 * g.abs() for g in grads]


def mean_magnitude(total, count, values):
    return [total.abs() + values.double().abs().sum(), count.double()]


# ---- Cases ----------------------------------------------------------------------------------------------------------

def lists(dtype, count, low=-2.0, high=2.0):
    return [[tensor(dtype, [2, 2], low, high), tensor(dtype, [1], low, high)] for _ in range(count)]


def one(value):
    return of("f32", value)


for dtype in FLOATS:
    for decay, momentum, dampening, nesterov, maximize, first, scale, found in [
            (0.0, 0.0, 0.0, False, False, True, None, None), (0.01, 0.9, 0.0, False, False, False, None, None),
            (0.5, 0.9, 0.25, False, True, False, one(8.0), one(0.0)), (0.0, 0.5, 0.0, True, False, True, None, None),
            (0.01, 0.9, 0.0, True, True, False, one(2.0), None), (0.01, 0.9, 0.0, True, False, False, one(2.0), one(1.0)),
            (0.5, 0.0, 0.0, False, False, False, None, one(0.0))]:
        params, grads, buffers = lists(dtype, 3)
        add("_fused_sgd_", params, grads, buffers if momentum else no_tensors(), decay, momentum, 0.1, dampening, nesterov, maximize, first, scale,
            found, terms=1, magnitude=sgd_magnitude)
    for op in ["_fused_adam_", "_fused_adamw_"]:
        for lr, beta1, beta2, decay, eps, amsgrad, maximize, scale, found, steps in [
                (1e-3, 0.9, 0.999, 0.0, 1e-8, False, False, None, None, (1.0, 1.0)),
                (0.1, 0.9, 0.999, 0.01, 1e-8, False, False, None, None, (7.0, 100.0)),
                (0.1, 0.5, 0.95, 0.5, 1e-3, True, False, one(4.0), one(0.0), (2.0, 3.0)),
                (1e-3, 0.9, 0.99, 0.01, 1e-8, True, True, None, None, (1000.0, 5.0)),
                (0.1, 0.9, 0.999, 0.01, 1e-8, False, True, one(0.5), one(1.0), (3.0, 3.0))]:
            params, grads, means = lists(dtype, 3)
            squares, largest = lists(dtype, 2, 0.0, 1.0)
            add(op, params, grads, means, squares, largest if amsgrad else no_tensors(), [one(s) for s in steps], lr, beta1, beta2, decay, eps, amsgrad,
                maximize, scale, found, terms=1, magnitude=adam_magnitude)
    for values, found in [([1.0, -2.5, 0.0], 0.0), ([1.0, math.inf, 3.0], 0.0), ([math.nan, 1.0, 2.0], 0.0),
                          ([0.5, 0.25, 4.0], 1.0)]:
        add("_amp_foreach_non_finite_check_and_unscale_", [of(dtype, values), tensor(dtype, [2, 2])], one(found), one(0.125))
    for limit, kind in [(1.0, 2.0), (0.1, 1.0), (0.5, math.inf), (100.0, 2.0), (1.0, 3.0), (2.0, 0.5), (0.0, 2.0)]:
        add("keyway::clip_grad_norm_", lists(dtype, 1)[0], limit, kind, terms=1, magnitude=clip_magnitude)

for scale, tracker, found, growth, backoff, interval in [
        (65536.0, 0, 0.0, 2.0, 0.5, 2000), (65536.0, 1999, 0.0, 2.0, 0.5, 2000), (65536.0, 12, 1.0, 2.0, 0.5, 2000),
        (3e38, 0, 0.0, 2.0, 0.5, 1), (1024.0, 1, 0.0, 4.0, 0.25, 2), (1.0, 5, 0.0, 2.0, 0.5, 2)]:
    add("_amp_update_scale_", one(scale), of("i32", tracker), one(found), growth, backoff, interval)

for dtype in ["f32", "f64"]:
    for values in ["bool", "u8", "i32", "i64", "f16", "bf16", "f32", "f64"]:
        add("keyway::accumulate_mean_", tensor(dtype, []), of("i64", 10), tensor(values, [3, 4], -9, 9), terms=13,
            magnitude=mean_magnitude)
for kind in ["i64", "i32"]:
    for ignore in [-100, 1]:
        prediction, target = (of(kind, random.randint(0, 3, [4, 5]).tolist()) for _ in range(2))
        add("keyway::accumulate_confusion_", of("i64", [[1, 0, 2], [0, 5, 0], [0, 0, -1]]), prediction, target, ignore)
