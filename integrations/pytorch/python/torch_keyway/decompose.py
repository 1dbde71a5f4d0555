# SPDX-License-Identifier: Apache-2.0
"""Operators that no op of Keyway serves, by PyTorch's own decompositions into operators that are served."""

import threading

import torch

from . import _C, formulas

_libraries = {}  # by operator: what holds the registration of its decomposition
_running = threading.local()


class _Circular(Exception):
    """A decomposition came back to its own operator."""


def _mv(self, mat, vec, *, beta=1, alpha=1):
    return torch.addmm(self.unsqueeze(-1) if self.dim() else self, mat, vec.unsqueeze(1), beta=beta, alpha=alpha).squeeze(1)


def _fmax(self, other):
    return torch.where(torch.isnan(self), other, torch.where(torch.isnan(other), self, torch.maximum(self, other)))


def _fmin(self, other):
    return torch.where(torch.isnan(self), other, torch.where(torch.isnan(other), self, torch.minimum(self, other)))


def _runs(is_new, return_inverse, return_counts, place_of=None):
    """Of sorted or other elements the inverse and the counts that torch.unique returns, by where a new run of equal ones
    begins; `place_of` says where an element lay before they were sorted."""
    none = is_new.new_empty(0, dtype=torch.int64)
    run = is_new.cumsum(0) - 1
    inverse = run if place_of is None else torch.empty_like(run).scatter_(0, place_of, run)
    starts = is_new.nonzero().squeeze(1)
    counts = torch.cat([starts[1:], starts.new_full((1,), is_new.numel())]) - starts if return_counts else none
    return inverse if return_inverse else none, counts


def _starts(rows):
    """Where a row differs from the one before it."""
    differs = (rows[1:] != rows[:-1]).flatten(1).any(1) if rows.dim() > 1 else rows[1:] != rows[:-1]
    return torch.cat([differs.new_ones(min(1, rows.shape[0])), differs])


def _unique2(self, sorted=True, return_inverse=False, return_counts=False):
    values, order = self.flatten().sort(stable=True)
    is_new = _starts(values)
    inverse, counts = _runs(is_new, return_inverse, return_counts, order)
    return values[is_new], inverse.view(self.shape) if return_inverse else inverse, counts


def _unique(self, sorted=True, return_inverse=False):
    return _unique2(self, sorted, return_inverse)[:2]


def _unique_consecutive(self, return_inverse=False, return_counts=False, dim=None):
    rows = self.flatten() if dim is None else self.movedim(dim, 0)
    is_new = _starts(rows)
    inverse, counts = _runs(is_new, return_inverse, return_counts)
    if dim is None:
        return rows[is_new], inverse.view(self.shape) if return_inverse else inverse, counts
    return rows[is_new].movedim(0, dim), inverse, counts


def _unique_dim(self, dim, sorted=True, return_inverse=False, return_counts=False):
    rows = self.movedim(dim, 0)
    columns = rows.flatten(1) if rows.dim() > 1 else rows.unsqueeze(1)
    order = torch.arange(rows.shape[0], device=self.device)
    for column in reversed(columns.unbind(1)):  # stable sorts, the first column last
        order = order[column[order].sort(stable=True)[1]]
    is_new = _starts(columns[order])
    inverse, counts = _runs(is_new, return_inverse, return_counts, order)
    return rows[order][is_new].movedim(0, dim), inverse, counts


def _kthvalue(self, k, dim=-1, keepdim=False):
    size = self.shape[dim] if self.dim() else 1
    if not 1 <= k <= size:
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {dim}")
    values, places = (self if self.dim() else self.unsqueeze(0)).sort(dim=dim, stable=True)
    keepdim = keepdim and self.dim() > 0
    return tuple(each.narrow(dim, k - 1, 1) if keepdim else each.select(dim, k - 1) for each in (values, places))


def _median_dim(self, dim, keepdim=False):
    """The lower of two; the first NaN where there is one, which sorting puts last."""
    size = self.shape[dim] if self.dim() else 1
    if size == 0:
        raise IndexError(f"median(): Expected reduction dim {dim} to have non-zero size.")
    values, places = _kthvalue(self, (size + 1) // 2, dim, keepdim)
    if not self.is_floating_point():
        return values, places
    is_nan = torch.isnan(self)
    has_nan = is_nan.any(dim, keepdim) if self.dim() else is_nan
    first = is_nan.to(torch.int64).argmax(dim, keepdim) if self.dim() else places
    return values.masked_fill(has_nan, float("nan")), torch.where(has_nan, first, places)


def _median(self):
    if self.numel() == 0:
        return torch.full((), float("nan"), dtype=self.dtype, device=self.device)
    return _median_dim(self.flatten(), 0)[0]


def _bincount(self, weights=None, minlength=0):
    if self.numel() == 0:
        return torch.zeros(minlength, dtype=torch.int64, device=self.device)
    if self.min() < 0:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    size = max(minlength, int(self.max()) + 1)
    if weights is None:
        weights = torch.ones(self.shape, dtype=torch.int64, device=self.device)
    elif weights.dtype != torch.float32:
        weights = weights.to(torch.float64)
    return torch.zeros(size, dtype=weights.dtype, device=self.device).scatter_add_(0, self.to(torch.int64), weights)


def _scaled_mm(self, mat2, scale_a, scale_b, bias=None, scale_result=None, out_dtype=None, use_fast_accum=False):
    """Of f8, with one scale each, or one for each row of self and each column of mat2; products and sums in f32."""
    product = self.to(torch.float32) @ mat2.to(torch.float32) * (scale_a * scale_b)
    if bias is not None:
        product = product + bias
    if scale_result is not None:
        product = product * scale_result
    dtype = out_dtype or self.dtype
    if dtype == torch.float8_e4m3fn:  # which has no infinity: what is past its largest number becomes that one
        product = product.clamp(torch.finfo(dtype).min, torch.finfo(dtype).max)
    return product.to(dtype)


def _weight_int8pack_mm(self, mat2, scales):
    return (self @ mat2.to(self.dtype).t()) * scales


def _fake_quantize(self, scale, zero_point, quant_min, quant_max):
    """Where PyTorch keeps what lay within the bounds beside the numbers, for the gradient."""
    steps = (self / scale).round() + zero_point
    inside = (steps >= quant_min) & (steps <= quant_max)
    return ((steps.clamp(quant_min, quant_max) - zero_point) * scale).to(self.dtype), inside


def _fake_quantize_channels(self, scale, zero_point, axis, quant_min, quant_max):
    shape = [-1 if d == axis % self.dim() else 1 for d in range(self.dim())]
    return _fake_quantize(self, scale.view(shape), zero_point.view(shape), quant_min, quant_max)


def _out(function, *names):
    """The variant of an operator that writes to arguments of those names, `out` unless given."""
    names = names or ("out",)

    def run(*args, **kwargs):
        outs = tuple(kwargs.pop(name) for name in names)
        made = function(*args, **kwargs)
        for out, result in zip(outs, made if isinstance(made, tuple) else (made,)):
            if out.shape != result.shape:
                out.resize_(result.shape)
            out.copy_(result)
        return outs if len(outs) > 1 else outs[0]

    return run


def _complex(real, imag, *, out):
    if out.numel() == 0:  # it lies as a sum of both does
        sums = real + imag
        out.resize_(sums.shape).as_strided_(sums.shape, sums.stride())
    return out.copy_(torch.view_as_complex(torch.stack(torch.broadcast_tensors(real, imag), -1)))


def _fill(out, numbers):
    """Of as many elements, `out` keeps its shape, whatever that is."""
    if out.numel() != numbers.numel():
        out.resize_(numbers.shape)
    return out.copy_(numbers.view(out.shape))


def _linspace(start, end, steps, *, out):
    """Of integers between integers: what is behind the point of an end is dropped first, as PyTorch's CPU does it."""
    if not out.dtype.is_floating_point and not out.dtype.is_complex:
        start, end = int(start), int(end)
    return _fill(out, torch._refs.linspace(start, end, steps, dtype=out.dtype, device=out.device))


def _logspace(start, end, steps, base=10.0, *, out):
    return _fill(out, torch._refs.logspace(start, end, steps, base, dtype=out.dtype, device=out.device))


def _shrink_backward(grad, self, lambd):
    return torch.where(self.abs() <= lambd, 0, grad)


# PyTorch's decompositions of these write what they make of small dtypes to a copy of grad_input.
_LOST = ("aten::huber_loss_backward.out", "aten::smooth_l1_loss_backward.grad_input")

# What PyTorch has no decomposition for, or one that is circular or makes another shape.
_OWN = {
    "aten::_unique": _unique,
    "aten::_unique2": _unique2,
    "aten::unique_consecutive": _unique_consecutive,
    "aten::unique_dim": _unique_dim,
    "aten::unique_dim_consecutive": lambda self, dim, return_inverse=False, return_counts=False: _unique_consecutive(
        self, return_inverse, return_counts, dim),
    "aten::kthvalue.values": _out(_kthvalue, "values", "indices"),
    "aten::median": _median,
    "aten::median.dim_values": _out(_median_dim, "values", "indices"),
    "aten::bincount": _bincount,
    "aten::_scaled_mm": _scaled_mm,
    "aten::_weight_int8pack_mm": _weight_int8pack_mm,
    "aten::fake_quantize_per_tensor_affine_cachemask": _fake_quantize,
    "aten::fake_quantize_per_channel_affine_cachemask": _fake_quantize_channels,
    "aten::addmv.out": _out(_mv),
    "aten::_cdist_backward": formulas.cdist_backward,
    "aten::_ctc_loss": formulas.ctc_loss,
    "aten::_ctc_loss_backward": formulas.ctc_loss_backward,
    "aten::batch_norm_stats": formulas.batch_norm_stats,
    "aten::batch_norm_gather_stats_with_counts": formulas.batch_norm_gather_stats,
    "aten::batch_norm_elemt": formulas.batch_norm_elemt,
    "aten::batch_norm_backward_reduce": formulas.batch_norm_backward_reduce,
    "aten::batch_norm_backward_elemt": formulas.batch_norm_backward_elemt,
    "aten::_fused_adagrad_": formulas.fused_adagrad,
    "aten::_fused_adagrad_.tensor_lr": formulas.fused_adagrad,
    **{f"aten::{step}.tensor_lr": formulas.at_rate(getattr(torch, step))
       for step in ("_fused_adam_", "_fused_adamw_", "_fused_sgd_")},
    "aten::_embedding_bag_backward": formulas.embedding_bag_backward,
    "aten::_embedding_bag_per_sample_weights_backward": formulas.embedding_bag_per_sample_weights_backward,
    "aten::_weight_norm_interface_backward": formulas.weight_norm_backward,
    "aten::complex.out": _complex,
    "aten::polar.out": lambda abs, angle, *, out: _complex(abs * angle.cos(), abs * angle.sin(), out=out),
    "aten::conj_physical.out": _out(lambda self: self.conj().resolve_conj()),
    "aten::fmax.out": _out(_fmax),
    "aten::fmin.out": _out(_fmin),
    "aten::hardshrink_backward.grad_input": _out(_shrink_backward, "grad_input"),
    "aten::linspace.out": _linspace,
    "aten::logspace.out": _logspace,
    "aten::multi_margin_loss_backward": formulas.multi_margin_loss_backward,
    "aten::multilabel_margin_loss_backward": formulas.multilabel_margin_loss_backward,
    "aten::multilabel_margin_loss_forward": formulas.multilabel_margin_loss_forward,
    "aten::repeat_interleave.Tensor": formulas.repeat_interleave,
    "aten::softshrink_backward.grad_input": _out(_shrink_backward, "grad_input"),
    **{f"aten::{name}.out": _out(function) for name, function in formulas.RESAMPLING.items() if "_aa" in name},
    **{f"aten::{name}_backward.grad_input": _out(function, "grad_input")
       for name, function in formulas.RESAMPLING_BACKWARD.items()},
}


def _guard(name, function):
    """A decomposition that gives itself up when it turns out to be circular."""

    def run(*args, **kwargs):
        running = _running.__dict__.setdefault("names", set())
        if name in running:
            raise _Circular(name)
        running.add(name)
        try:
            return function(*args, **kwargs)
        except _Circular as circular:
            if circular.args != (name,):
                raise
        finally:
            running.discard(name)
        _libraries.pop(name)._destroy()
        _C.forget_decomposition(name)
        return _operator(name)(*args, **kwargs)

    return run


def _operator(name):
    space, _, rest = name.partition("::")
    base, _, overload = rest.partition(".")
    return getattr(getattr(getattr(torch.ops, space), base), overload or "default")


def _register(name):
    """Makes an operator's decomposition its kernel on the device. False when there is none."""
    function = _OWN.get(name)
    if function is None:
        from torch._decomp import decomposition_table  # takes a second, and most programs never come here

        if name in _LOST:
            function = _out(decomposition_table[_operator(name.partition(".")[0])], "grad_input")
        else:
            function = decomposition_table.get(_operator(name))
    if function is None:
        return False
    library = torch.library.Library(name.partition("::")[0], "IMPL")
    library.impl(name.partition("::")[2], _guard(name, function), "PrivateUse1")
    _libraries[name] = library
    return True


_C.set_decompose(_register)
