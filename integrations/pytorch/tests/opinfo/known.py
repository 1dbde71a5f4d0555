# SPDX-License-Identifier: Apache-2.0
"""What known.toml says: samples that do not pass, and why."""

import re
import tomllib
from pathlib import Path

with open(Path(__file__).with_name("known.toml"), "rb") as file:
    _list = tomllib.load(file)

outside = {name: entry["reason"] for entry in _list["outside"] for name in entry["operators"]}


class _Known:
    """Names samples by `sample`, and then all of them, or else by what goes wrong with them, `error`."""

    def __init__(self, entry):
        self.reason = entry["reason"]
        self.count = 0
        self.comes_and_goes = entry.get("rounding", False)
        self._operators, self._dtypes = set(entry["op"].split()), set(entry["dtype"].split())
        self._way = entry["way"]
        self._sample = re.compile(entry["sample"]) if "sample" in entry else None
        self._error = re.compile(entry["error"])

    def names_test(self, operator, dtype):
        return operator in self._operators and dtype in self._dtypes

    def names(self, operator, dtype, way, sample, problem):
        if not self.names_test(operator, dtype) or way != self._way:
            return False
        if self._sample is not None and not self._sample.fullmatch(sample):
            return False
        return self._error.search(problem) is not None if problem else self._sample is not None


_entries = [_Known(entry) for entry in _list["known"]]


def find(operator, dtype, way, sample, problem):
    """The entry that names a sample on its way, "forward" or "backward", with a problem or with none."""
    for entry in _entries:
        if entry.names(operator, dtype, way, sample, problem):
            return entry
    return None


def start():
    """Counts anew: called before all samples of an operator and a dtype."""
    for entry in _entries:
        entry.count = 0


def stale(operator, dtype):
    """Entries that name an operator and a dtype, and of which no sample needed it."""
    return [
        f"{operator} | {dtype} | stands in known.toml, but nothing goes wrong as it says: {entry.reason}"
        for entry in _entries
        if entry.names_test(operator, dtype) and entry.count == 0 and not entry.comes_and_goes
    ]
