#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/instructions.py: instructions are counted, and each way to be worse than the table fails."""
import importlib.util
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
PROGRAM = Path(__file__).resolve().parent.parent / "scripts/instructions.py"
spec = importlib.util.spec_from_file_location("instructions", PROGRAM)
instructions = importlib.util.module_from_spec(spec)
spec.loader.exec_module(instructions)

PTX = """.visible .entry kw_first(
	.param .u64 p)
.maxntid 64, 1, 1
{
	ld.param.v2.u64 {%rd1, %rd2}, [p];
	ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%r1];
	ld.global.nc.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];
	ld.global.v2.f32 {%f1, %f2}, [%rd1];
	ld.global.f32 %f1, [%rd1];
	cp.async.cg.shared.global [%r1], [%rd1], 16;
	cp.async.commit_group;
	cp.async.wait_group 0;
	mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f1}, {%r1}, {%r2}, {%f1};
	mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1}, {%r1}, {%r2}, {%f1};
	mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%f1}, {%r1}, {%r2}, {%f1};
	mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r1}, {%r1}, {%r2}, {%r1};
	wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f1}, {%r1}, {%r2}, {%f1};
	wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1}, %rd1, %rd2, 1, 1, 1, 0, 0;
}
.entry kw_second(
	.param .u64 p)
{
	mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r2}, {%f1};
}
"""
AMD = """
0000000000001700 <kw_first>:
	global_load_dwordx4 v[0:3], v[4:5], off
	global_load_dword v0, v[4:5], off
	v_mfma_f32_32x32x8f16 a[0:15], v[0:1], v[2:3], a[0:15]
	v_mfma_f32_16x16x16bf16_1k a[0:3], v[0:1], v[2:3], a[0:3]
	v_mfma_i32_16x16x16i8 a[0:3], v0, v1, a[0:3]
0000000000001900 <kw_second>:
	buffer_load_dword v1, s[0:3], 0 offen lds
"""
SPIRV = """         %2 = OpTypeFloat 32
         %3 = OpTypeVector %2 4
         %4 = OpTypePointer CrossWorkgroup %3
         %5 = OpTypePointer Function %3
         %6 = OpFunctionParameter %4
         %7 = OpVariable %5 Function
         %8 = OpLoad %3 %6 Aligned 16
         %9 = OpLoad %3 %7 Aligned 16
"""


class Counting(unittest.TestCase):
    def test_ptx(self):
        seen = instructions.of_ptx(PTX)
        self.assertEqual(set(seen), {"kw_first", "kw_second"})
        first = seen["kw_first"]
        self.assertEqual((first.vector_loads, first.async_loads), (2, 1))
        self.assertEqual(dict(first.matrix), {"bf16": 1, "tf32": 1, "e4m3": 1, "s8": 1, "f16": 2})
        self.assertEqual(dict(seen["kw_second"].matrix), {"f16": 1})

    def test_amd(self):
        seen = instructions.of_amd(AMD)
        self.assertEqual((seen["kw_first"].vector_loads, seen["kw_second"].async_loads), (1, 1))
        self.assertEqual(dict(seen["kw_first"].matrix), {"f16": 1, "bf16": 1, "i8": 1})

    def test_spirv(self):
        self.assertEqual(instructions.of_spirv(SPIRV).vector_loads, 1)

    def test_occupancy(self):
        """As the calculator of CUDA's toolkit has it, and by the ISA's table of waves by registers."""
        for architecture, registers, local, items, expected in [
                ("sm_80", 32, 0, 256, 1.0), ("sm_80", 64, 0, 256, 0.5), ("sm_80", 255, 0, 64, 0.12),
                ("sm_80", 32, 48 << 10, 128, 0.19), ("sm_90", 32, 48 << 10, 128, 0.25), ("sm_90", 16, 0, 32, 0.5),
                ("gfx90a", 64, 0, 256, 1.0), ("gfx90a", 128, 0, 256, 0.5), ("gfx90a", 442, 0, 64, 0.12),
                ("gfx90a", 32, 32 << 10, 256, 0.25)]:
            self.assertEqual(instructions.occupancy(architecture, registers, local, items), expected,
                             (architecture, registers, local, items))


ROW = instructions.Row(64, 0, 1024, 128, 0.5, 4, 2, {"f16": 8})


class Comparison(unittest.TestCase):
    """Of two targets' tables, as files."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="instructions-")
        self.addCleanup(directory.cleanup)
        self.path = Path(directory.name)
        self.table = {("nvrtc-1-sm_80", "mm/8", "kw_a"): ROW,
                      ("nvrtc-1-sm_80", "mm/9", "kw_a"): ROW._replace(matrix={}),
                      ("other", "mm/8", "kw_a"): ROW}

    def compare(self, only="*", **changes):
        rows = {key: row for key, row in self.table.items() if key[0] != "other"}
        rows["nvrtc-1-sm_80", "mm/8", "kw_a"] = ROW._replace(**changes)
        return instructions.compare(self.table, rows, only)

    def test_table_is_read_as_written(self):
        instructions.write_table(self.path / "table", self.table)
        self.assertEqual(instructions.read_table(self.path / "table"), self.table)

    def test_same_and_better(self):
        self.assertEqual(self.compare(), ([], 0))
        self.assertEqual(self.compare(matrix={"f16": 9}, vector_loads=5, registers=70, occupancy=0.45), ([], 1))

    def test_each_way_to_be_worse(self):
        for change, words in [({"matrix": {"f16": 7}}, "7 matrix instructions of f16, 8 before"),
                              ({"matrix": {"bf16": 8}}, "0 matrix instructions of f16"),
                              ({"vector_loads": 3}, "3 vector loads"), ({"async_loads": 0}, "0 asynchronous loads"),
                              ({"spilt": 8}, "8 bytes spilt"),
                              ({"occupancy": 0.25}, "occupancy 0.25")]:
            worse, _ = self.compare(**change)
            self.assertEqual(len(worse), 1, change)
            self.assertIn("nvrtc-1-sm_80 mm/8 kw_a: " + words, worse[0])
            self.assertEqual(self.compare(only="mm/9", **change)[0], [])

    def test_gone(self):
        first, second, _ = self.table
        self.assertEqual(len(instructions.compare(self.table, {second: self.table[second]})[0]), 1)
        self.assertEqual(instructions.compare(self.table, {first: ROW}), ([], 1))

    def test_program(self):
        """From files, as the script runs it: one kernel's vector load is lost, which fails until it is accepted."""
        folder, table = self.path / "nvrtc-1-sm_80", self.path / "table"
        folder.mkdir()
        (folder / "kernels").write_text("mm/8\tkw_first\t32\t0\t0\t64\n")

        def run(ptx, *options):
            (folder / "mm.8").write_text(ptx)
            return subprocess.run([sys.executable, PROGRAM, table, self.path, *options], capture_output=True, text=True)

        self.assertEqual(run(PTX, "--accept").returncode, 0)
        self.assertIn("mm/8\tkw_first\t32\t0\t0\t64\t1.0\t2\t1\tbf16:1,e4m3:1,f16:2,s8:1,tf32:1", table.read_text())
        self.assertEqual(run(PTX).stderr, "")
        worse = run(PTX.replace("ld.global.v2.f32 {%f1, %f2}", "ld.global.f32 %f1"))
        self.assertEqual(worse.returncode, 1)
        self.assertIn("mm/8 kw_first: 1 vector loads, 2 before", worse.stderr)
        self.assertIn("scripts/instructions.sh --accept", worse.stderr)
        self.assertEqual(run(PTX.replace("mma.sync.aligned.m16n8k8", "nop")).returncode, 1)


if __name__ == "__main__":
    unittest.main()
