#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/hardware_pending.py: a submitted run shows in the tables, one on a test driver is refused."""
import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))
import hardware_pending

OPS = {"ops": [{"name": "mm", "kernels": [{"name": "portable", "off": False}, {"name": "matrix", "off": True}]},
               {"name": "bmm", "kernels": [{"name": "matrix", "off": True}]},
               {"name": "neg", "kernels": [{"name": "portable", "off": False}]}]}
REPORT = {"emulated": False, "verdict": "not conformant", "counts": {"cases": 12, "pass": 11},
          "ops": [{"op": "mm", "failed": 0}, {"op": "bmm", "failed": 0}, {"op": "bmm", "failed": 1},
                  {"op": "neg", "failed": 0}]}


class Run(unittest.TestCase):
    """Of scripts/gpu_check.sh, on the device cuda:0."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="hardware-pending-")
        self.addCleanup(directory.cleanup)
        root = Path(directory.name)
        self.out, self.runs = root / "out", root / "runs"
        (self.out / "cuda").mkdir(parents=True)
        (self.out / "machine.txt").write_text("name, driver_version\nNVIDIA H200, 570\n16 processors; commit abc\n")
        (self.out / "cuda/ops.json").write_text(json.dumps(OPS))
        for name, value in {"ROOT": root, "RUNS": self.runs}.items():
            patch = mock.patch.object(hardware_pending, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def submit(self, **changes):
        (self.out / "cuda/conform.json").write_text(json.dumps({**REPORT, **changes}))
        hardware_pending.submit(self.out)
        return [json.loads(path.read_text()) for path in self.runs.glob("*.json")]

    def test_submitted_run(self):
        runs = self.submit()
        found = {("cuda", "matrix"): ["mm", "bmm"], ("cuda", "cublaslt"): ["mm"], ("hip", "matrix"): ["mm"]}
        self.assertEqual([run["gpu"] for run in runs], ["NVIDIA H200"])
        page = hardware_pending.kernel_table(found, runs)
        self.assertIn("| 1 of 2 ops without a failure, NVIDIA H200", page)
        self.assertEqual(page.count("not yet"), 2)
        self.assertIn("| abc | cuda: not conformant, 11 of 12 cases |", hardware_pending.run_table(runs))

    def test_emulated_run_is_refused(self):
        with self.assertRaisesRegex(SystemExit, "test driver"):
            self.submit(emulated=True)
        self.assertFalse(self.runs.exists())

    def test_no_run_is_refused(self):
        with self.assertRaisesRegex(SystemExit, "gpu_check"):
            hardware_pending.submit(self.out)


class Page(unittest.TestCase):
    def test_fill(self):
        page = "a\n<!-- made: runs -->\nold\n<!-- end -->\nb\n"
        filled = "a\n<!-- made: runs -->\n\nnew\n\n<!-- end -->\nb\n"
        self.assertEqual(hardware_pending.fill(page, {"runs": "new"}), filled)
        with self.assertRaisesRegex(SystemExit, "no mark"):
            hardware_pending.fill("a\n", {"runs": "new"})


if __name__ == "__main__":
    unittest.main()
