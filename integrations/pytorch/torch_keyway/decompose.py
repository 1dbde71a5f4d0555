# SPDX-License-Identifier: Apache-2.0
"""Operators that no op of Keyway serves, by PyTorch's own decompositions into operators that are served."""

import torch

from . import _C

# Decompositions that come back to the operator itself.
_CIRCULAR = frozenset()

_libraries = {}


def _register(name):
    """Makes an operator's decomposition its kernel on the device. False when there is none."""
    from torch._decomp import decomposition_table  # takes a second, and most programs never come here

    space, _, rest = name.partition("::")
    base, _, overload = rest.partition(".")
    operator = getattr(getattr(getattr(torch.ops, space), base), overload or "default")
    function = decomposition_table.get(operator)
    if function is None or name in _CIRCULAR:
        return False
    if space not in _libraries:
        _libraries[space] = torch.library.Library(space, "IMPL")
    _libraries[space].impl(rest, function, "PrivateUse1")
    return True


_C.set_decompose(_register)
