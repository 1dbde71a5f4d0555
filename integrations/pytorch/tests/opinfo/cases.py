# SPDX-License-Identifier: Apache-2.0
"""One sample of a database on its ways, forward and backward: what became of it."""

import re

import comparison
import known
import level
import samples
import torch
import totals


class Case:
    """`text` is the sample in one line. Where nothing can be compared `stop` says why."""

    random = False  # whether values are a generator's business: what is compared then is up to the way

    def __init__(self, database, name, dtype, text, device):
        self.database, self.name, self.dtype, self.text, self.device = database, name, dtype, text, device
        self.tolerance = None
        self.problems = []
        self._outcomes, self._reasons = [], []

    def note(self):
        """Called when all is done. Returns what is wrong, a line each."""
        level.note(self.database, totals.names[self.dtype], self._outcomes, self.name, self._reasons)
        return self.problems

    def stop(self, what):
        self._count("forward", what)

    def attempt(self, way, function, exact=None):
        """Takes `function`, which sets `results` and `right` and compares them, and `exact`, what is right in float64.
        Returns whether the device has results to go on with."""
        problem, right = None, True
        try:
            function()
        except samples.NotDense:
            self._count(way, "not of dense tensors")
            return False
        except comparison.Apart as error:
            problem = " ".join(str(error).split())
            if exact and self.dtype in samples.wider and self._is_as_good(exact):
                self._count(way, "passed by float64 (the CPU's own rounding is past the tolerance)")
                return True
        except Exception as error:
            problem, right = " ".join(f"{type(error).__name__}: {error}".split()), False
            self._recover()
        self._judge(way, problem)
        return right

    def _is_as_good(self, exact):
        try:
            return comparison.is_as_good(self.results, self.right, exact(), self.tolerance)
        except Exception:  # it does not run in float64
            return False

    def _recover(self):
        """Errors of the data surface at the next synchronise."""
        try:
            torch.accelerator.synchronize(self.device)
        except RuntimeError:
            pass

    def _count(self, way, what):
        totals.outcomes[way][what] += 1
        self._outcomes.append(what)

    def _judge(self, way, problem):
        entry = known.find(self.name, totals.names[self.dtype], way, self.text, problem)
        stop = re.match(r"NotImplementedError: ([\w:.]+): no op of Keyway serves", problem or "")
        if problem is None and entry is None:
            self._count(way, "passed in shape and dtype (random)" if self.random else "passed")
        elif problem is None:
            self._fail(way, f"passes, but stands in known.toml: {entry.reason}")
        elif "is not one the op is defined for" in problem:
            self._count(way, "beyond the dtypes of an op")
        elif stop is not None and stop[1] in known.outside:
            totals.outside[stop[1]] += 1
            self._count(way, "stopped at an operator outside the op set")
        elif entry is not None:
            entry.count += 1
            self._reasons.append(entry.reason)
            self._count(way, "listed")
        else:
            self._fail(way, problem)

    def _fail(self, way, problem):
        self._count(way, "failed")
        self._reasons.append(f"not listed: {problem[:160]}")
        self.problems.append(f"{self.name} | {totals.names[self.dtype]} | {way} | {self.text[:300]} | {problem[:400]}")
