# SPDX-License-Identifier: Apache-2.0
"""Plugins: loading one by its file, and what became of each that was found."""

import os
from typing import NamedTuple

from . import _library as library
from ._library import filled, text


class Plugin(NamedTuple):
    """How far one candidate came; `reason` says why it went no further, "" when it is there without remark."""

    path: str
    name: str  # "acme.npu"; "" until known
    version: str
    description: str
    stage: str  # the last that succeeded: found, opened, symbol, version, probe or init
    reason: str
    devices: int
    kernels: int
    opened: bool  # in this process
    isolated: bool  # it runs in a process of its own


def plugins():
    """All that were found, also those that cannot be used here."""
    found = []
    for index in range(filled(library.c_uint32, library.plugin_count).value):
        report = filled(library.PluginReport, library.plugin_get_report, index)
        name = ".".join(part for part in (text(report.vendor), text(report.key)) if part)
        found.append(
            Plugin(
                text(report.path),
                name,
                text(report.version),
                text(report.description),
                text(library.stage_name(report.reached)),
                text(report.reason),
                report.device_count,
                report.kernel_count,
                bool(report.opened),
                bool(report.isolated),
            )
        )
    return found


def load_plugin(path):
    """Loads one plugin file beyond those discovered; the caller vouches for it. A second time it does nothing."""
    library.plugin_load(os.fsencode(path))
