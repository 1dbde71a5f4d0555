# SPDX-License-Identifier: Apache-2.0
"""Samples of PyTorch's operator database: on a device as on the CPU, and as text."""

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map


class Recorder(TorchDispatchMode):
    """Which operators PyTorch's CPU runs."""

    def __init__(self):
        super().__init__()
        self.seen = set()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.seen.add(function)
        return function(*args, **(kwargs or {}))

    def is_random(self):
        return any(torch.Tag.nondeterministic_seeded in function.tags for function in self.seen)


class NotDense(Exception):
    """A sparse or quantized tensor: no device of Keyway has those."""


def _place(tensor, device):
    """The same numbers at the same strides in memory of their own."""
    if tensor.layout is not torch.strided or tensor.is_quantized or tensor.is_nested:
        raise NotDense
    plain = tensor.detach().resolve_conj().resolve_neg()
    whole = torch.empty(0, dtype=plain.dtype).set_(plain.untyped_storage())
    moved = whole.to(device, copy=True).as_strided(plain.size(), plain.stride(), plain.storage_offset())
    return moved.detach().requires_grad_(tensor.requires_grad)


def place(sample, device):
    """A sample's (input, args, kwargs) with all tensors on `device`, and what names the CPU naming it."""

    def move(leaf):
        if isinstance(leaf, torch.Tensor):
            return _place(leaf, device)
        if isinstance(leaf, torch.Generator):
            return torch.Generator(device).manual_seed(leaf.initial_seed())
        return torch.device(device) if leaf == "cpu" or isinstance(leaf, torch.device) else leaf

    return tree_map(move, (sample.input, tuple(sample.args), dict(sample.kwargs)))


def names_device(sample):
    """Whether there is anything that can lie elsewhere."""
    leaves = tree_leaves((sample.input, sample.args, sample.kwargs))
    return any(isinstance(leaf, (torch.Tensor, torch.device)) or leaf == "cpu" for leaf in leaves)


wider = {
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.float32: torch.float64,
    torch.complex64: torch.complex128,
}


def widen(placed, dtype):
    """The same numbers, those of `dtype` in the one that is wider."""

    def wide(leaf):
        if isinstance(leaf, torch.Tensor) and leaf.dtype is dtype:
            return leaf.detach().to(wider[dtype]).requires_grad_(leaf.requires_grad)
        return wider[dtype] if leaf is dtype else leaf

    return tree_map(wide, placed)


def tensors(tree):
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


_short = {torch.float32: "f32", torch.float64: "f64", torch.float16: "f16", torch.bfloat16: "bf16", torch.bool: "bool"}


def text(sample):
    """One line: shapes in place of tensors."""

    def write(value):
        if isinstance(value, torch.Tensor):
            dtype = _short.get(value.dtype) or str(value.dtype).removeprefix("torch.")
            dense = "" if value.layout is not torch.strided or value.is_contiguous() else " strided"
            return f"{dtype}{list(value.shape)}{dense}"
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(write(v) for v in value) + "]"
        return repr(value)

    named = [f"{name}={write(value)}" for name, value in sample.kwargs.items()]
    return ", ".join([write(sample.input), *map(write, sample.args), *named]).replace("\n", " ")
