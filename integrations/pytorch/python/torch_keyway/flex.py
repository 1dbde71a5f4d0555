# SPDX-License-Identifier: Apache-2.0
"""flex_attention on the device. In eager mode it is made of operators that any device has, but PyTorch lets only devices
that it knows itself through. The module that asks takes seconds to load, so that it is changed when a program loads it."""

import importlib.abc
import importlib.util
import sys

_MODULE = "torch.nn.attention.flex_attention"


def _let_through(module, name):
    validate = module._validate_device

    def _validate_device(query, key, value):
        if query.device.type != name:
            validate(query, key, value)

    module._validate_device = _validate_device


class _WhenLoaded(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads the one module as Python does, and changes it then."""

    def __init__(self, name):
        self.name = name

    def find_spec(self, fullname, path=None, target=None):
        if fullname != _MODULE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        self.loader, spec.loader = spec.loader, self
        return spec

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        module.__loader__ = module.__spec__.loader = self.loader
        self.loader.exec_module(module)
        _let_through(module, self.name)


def register(name):
    """For the device of this name."""
    if _MODULE in sys.modules:
        _let_through(sys.modules[_MODULE], name)
    else:
        sys.meta_path.insert(0, _WhenLoaded(name))
