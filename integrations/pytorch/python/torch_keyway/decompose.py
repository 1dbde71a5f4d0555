# SPDX-License-Identifier: Apache-2.0
"""Operators that no op of Keyway serves, by PyTorch's own decompositions into operators that are served."""

import threading

import torch

from . import _C

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


def _out(function, name="out"):
    """The variant of an operator that writes to an argument of that name."""

    def run(*args, **kwargs):
        out = kwargs.pop(name)
        result = function(*args, **kwargs)
        if out.shape != result.shape:
            out.resize_(result.shape)
        return out.copy_(result)

    return run


# PyTorch's decompositions of these write what they make of small dtypes to a copy of grad_input.
_LOST = ("aten::huber_loss_backward.out", "aten::smooth_l1_loss_backward.grad_input")

# What PyTorch has no decomposition for, or one that is circular.
_OWN = {
    "aten::addmv.out": _out(_mv),
    "aten::conj_physical.out": _out(lambda self: self.conj().resolve_conj()),
    "aten::fmax.out": _out(_fmax),
    "aten::fmin.out": _out(_fmin),
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
