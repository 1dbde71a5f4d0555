# SPDX-License-Identifier: Apache-2.0
"""Every op by name, as ATen names them: keyway.ops.addmm(bias, a, b, beta=1), keyway.ops.add.Tensor(x, y),
keyway.ops.torchvision.nms(boxes, scores, 0.5). docs/ops of the project says what each means; so does help()."""

from ._op import Namespace as _Namespace, table as _table


def find(name):
    """An op by its whole name: "add.Tensor", "acme::scaled_add"; its attributes say schema, dtypes and support."""
    return _table.find(name)


def __getattr__(name):
    found = _table.named("", name)
    if found is None and name in _table.namespaces():
        found = _Namespace(_table, name)
    if found is None:
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            _table.find(name)
        except LookupError as error:
            raise AttributeError(str(error)) from None
    globals()[name] = found
    return found


def __dir__():
    return ["find", *_table.names(), *_table.namespaces()]
