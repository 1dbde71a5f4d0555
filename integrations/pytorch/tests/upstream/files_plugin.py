# SPDX-License-Identifier: Apache-2.0
"""A plugin of pytest, for files.py: PyTorch's own test files for a device of Keyway, and every outcome in a file at once, since
a test may end the process. By environment: KEYWAY_UPSTREAM_DEVICE, _MOST, _LOG."""

import importlib
import json
import os
import random
import re
from pathlib import Path

import torch
import torch_keyway

_device = torch_keyway.register(os.environ["KEYWAY_UPSTREAM_DEVICE"])
_most = int(os.environ["KEYWAY_UPSTREAM_MOST"])
_log = os.environ["KEYWAY_UPSTREAM_LOG"]
torch_keyway.set_fallback("off")
torch.set_num_threads(1)


class _Gone(list):
    """In the place of a helper that files of another release import and the wheel has no more: as a decorator it changes
    nothing, as a condition it is false, as a list it is empty."""

    def __call__(self, *arguments, **_):
        return arguments[0] if len(arguments) == 1 and callable(arguments[0]) else self


def _stand_in(module):
    def gone(name):
        if name.startswith("__"):
            raise AttributeError(name)
        _write(gone=f"{module.__name__}.{name}")
        return _Gone()

    module.__getattr__ = gone


def pytest_configure(config):
    importlib.import_module("torch.testing._internal.common_methods_invocations")
    os.environ["OPINFO_RESTRICT_TO_DSL"] = "1"  # from here on it only lets a list of operators be empty that had some once
    for file in config.args:
        for name in set(re.findall(r"^\s*from (torch\.testing\._internal[\w.]*) import", Path(file).read_text(), re.MULTILINE)):
            try:
                _stand_in(importlib.import_module(name))
            except ImportError:  # the file says so
                pass


def _write(**event):
    with open(_log, "a") as file:
        file.write(json.dumps(event) + "\n")


def _seen():
    with open(_log) as file:
        return [json.loads(line) for line in file]


def _undo_recursion(made):
    """Of a class that was made for a device. Older files call `super(self.__class__, self)` in these, which never ends in a class
    that inherits them, as those are that later releases make."""
    for generic in made.__mro__[1:]:
        for name in ("setUp", "tearDown"):
            function = generic.__dict__.get(name)
            if "__class__" in getattr(getattr(function, "__code__", None), "co_names", ()):
                setattr(made, name, function)
                delattr(generic, name)


def pytest_collection_modifyitems(config, items):
    """Those that PyTorch made of a class for this kind of device, of them no more than asked for, drawn by chance but the same
    ones each time, and none twice."""
    endings = "PRIVATEUSE1", torch._C._get_privateuse1_backend_name().upper()  # the second one once a base has been set up
    of_device = [item for item in items if item.cls is not None and item.cls.__name__.endswith(endings)]
    for made in {item.cls for item in of_device}:
        _undo_recursion(made)
    begun = {event["test"] for event in _seen() if "test" in event}
    wanted = set(random.Random(0).sample(of_device, _most) if 0 < _most < len(of_device) else of_device)
    chosen = [item for item in of_device if item in wanted and item.nodeid not in begun]
    _write(collected=len(items), of_device=len(of_device))
    taken = set(chosen)
    config.hook.pytest_deselected(items=[item for item in items if item not in taken])
    items[:] = chosen


def pytest_collectreport(report):
    if report.failed:
        _write(wrong=str(report.longrepr)[-600:])


def pytest_runtest_logstart(nodeid):
    _write(test=nodeid)


def pytest_runtest_logreport(report):
    if report.failed or report.skipped or report.when == "call":
        text = ""
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            text = crash.message if crash else str(report.longrepr)[-600:]
        _write(done=report.nodeid, outcome="failed" if report.failed else report.outcome, text=text[:1500])
