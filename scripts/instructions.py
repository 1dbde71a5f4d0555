#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: instructions.py TABLE FOLDER [--spirv DIRECTORY] [--only PATTERN] [--accept]

Holds what the kernel pack compiles to against TABLE, bench/results/instructions.tsv; scripts/instructions.sh runs it
and says what the columns are. FOLDER/TARGET has for each target what keyway-gpu-compile printed, the file `kernels`,
and the code that it kept; DIRECTORY has SPIR-V. Fails when a kernel got worse. --only looks at the programs of that
name alone; --accept writes the table anew from what is there.
"""
import argparse
import fnmatch
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple, Optional

COLUMNS = "target program kernel registers spilt local items occupancy vector_loads async_loads matrix".split()


class Row(NamedTuple):
    """A kernel; of SPIR-V a program, which has no registers yet."""
    registers: Optional[int]
    spilt: Optional[int]  # bytes
    local: Optional[int]  # bytes
    items: Optional[int]  # of a group
    occupancy: Optional[float]
    vector_loads: int
    async_loads: int
    matrix: dict  # dtype: matrix instructions


def cells(row):
    matrix = ",".join(f"{dtype}:{count}" for dtype, count in sorted(row.matrix.items()))
    return ["-" if value is None else str(value) for value in row[:-1]] + [matrix or "-"]


def row_of(words):
    matrix = dict(word.split(":") for word in words[-1].split(",") if word != "-")
    numbers = [None if word == "-" else float(word) if "." in word else int(word) for word in words[:-1]]
    return Row(*numbers, {dtype: int(count) for dtype, count in matrix.items()})


def read_table(path):
    if not path.exists():
        return {}
    lines = [line.split("\t") for line in path.read_text().splitlines()[1:]]
    return {tuple(words[:3]): row_of(words[3:]) for words in lines}


def write_table(path, table):
    lines = ["\t".join(COLUMNS)] + ["\t".join([*key, *cells(row)]) for key, row in sorted(table.items())]
    path.write_text("\n".join(lines) + "\n")


# ---- Occupancy -------------------------------------------------------------------------------------------------------

# Of a multiprocessor: warps, groups and bytes of shared memory at most (CUDA C++ Programming Guide, "Technical
# Specifications per Compute Capability"). All have 4 parts of 16,384 registers, which a warp gets 256 at a time, and
# keep 1 KiB of shared memory for each group.
NVIDIA = {"sm_80": (64, 32, 164 << 10), "sm_90": (64, 32, 228 << 10)}
# Of a compute unit: waves on each of its 4 parts, registers of one lane there and how many a wave gets at a time, bytes
# of local memory (AMD Instinct MI200 ISA; "AMDGPU Occupancy" in LLVM's AMDGPUUsage).
AMD = {"gfx90a": (8, 512, 8, 64 << 10)}


def up(value, unit):
    return -(-value // unit) * unit


def occupancy(architecture, registers, local, items):
    """How many of the items that may be under way at a time a kernel leaves room for, by its registers and memory."""
    if not items:
        return None
    if architecture in NVIDIA:
        most, groups, shared = NVIDIA[architecture]
        warps = up(items, 32) // 32
        fit = [groups, most // warps, 16384 // up(max(registers, 1) * 32, 256) * 4 // warps]
        fit.append(shared // (up(local, 128) + 1024))
        return round(min(fit) * warps / most, 2)
    each, file, unit, memory = AMD[architecture]
    waves = up(items, 64) // 64
    fit = [4 * each // waves, 4 * min(each, file // up(max(registers, 1), unit)) // waves]
    fit += [memory // local] if local else []
    return round(min(fit) * waves / (4 * each), 2)


# ---- Instructions ----------------------------------------------------------------------------------------------------

PTX_VECTOR = re.compile(r"\bld(?!\.(?:param|shared|local|const))[\w.:]*\.v[248]\.")
PTX_MATRIX = re.compile(r"\b(?:wgmma\.mma_async|wmma\.mma|mma)\.(?:sp\.)?sync\S*?\.m\d+n\d+k\d+\.(\S+)")
PTX_TYPE = re.compile(r"\b(?:f16|bf16|tf32|f32|f64|[su](?:4|8|32)|e4m3|e5m2|b1)\b")
AMD_VECTOR = re.compile(r"\b(?:global|flat|buffer)_load_(?:dwordx[234]|b64|b96|b128)\b")
AMD_MATRIX = re.compile(r"\bv_(?:mfma|wmma)_[fi]\d+_\d+x\d+x\d+_?([a-z]+\d+)")


class Seen:
    """Instructions of one kernel."""

    def __init__(self):
        self.vector_loads, self.async_loads, self.matrix = 0, 0, Counter()

    def ptx(self, line):
        self.vector_loads += bool(PTX_VECTOR.search(line))
        self.async_loads += bool(re.search(r"\bcp\.async\.(?:ca|cg|bulk)\.", line)) and "prefetch" not in line
        match = PTX_MATRIX.search(line)
        if match:  # the types are those of the result, a, b, the sum; of f16 the older form names but the outer two
            types = PTX_TYPE.findall(match.group(1))
            self.matrix[types[1] if len(types) > 2 else "f16"] += 1

    def amd(self, line):
        self.vector_loads += bool(AMD_VECTOR.search(line))
        self.async_loads += bool(re.search(r"\bglobal_load_lds|\bbuffer_load_\w+ .*\blds\b", line))
        self.matrix.update(AMD_MATRIX.findall(line))


def by_kernel(lines, head, read):
    """{kernel: Seen} of lines; `head` finds where a kernel begins."""
    seen, now = {}, Seen()
    for line in lines:
        match = head.search(line)
        if match:
            now = seen.setdefault(match.group(1), Seen())
        else:
            read(now, line)
    return seen


def of_ptx(text):
    return by_kernel(text.splitlines(), re.compile(r"\.(?:entry|func)\s.*?(\w+)\s*\("), Seen.ptx)


def of_amd(text):
    return by_kernel(text.splitlines(), re.compile(r"^\w+ <(\w+)>:"), Seen.amd)


def of_spirv(text):
    """Of a whole program, whose functions stand alone yet: loads of vectors from global memory, matrix instructions."""
    seen, kinds, vectors, pointers, held = Seen(), {}, set(), set(), {}
    for line in text.splitlines():
        name, _, words = line.strip().partition(" = ")
        words = words.split()
        if not words:
            continue
        if words[0] == "OpTypeVector":
            vectors.add(name)
        elif words[0] == "OpTypePointer" and words[1] == "CrossWorkgroup":
            pointers.add(name)
        elif words[0] == "OpTypeFloat" or words[0] == "OpTypeInt":
            kinds[name] = words[0][6].lower() + words[1]
        elif len(words) > 1:
            held[name] = words[1]
        if words[0] == "OpLoad":
            seen.vector_loads += words[1] in vectors and held.get(words[2]) in pointers
        seen.matrix["any"] += words[0].startswith(("OpCooperativeMatrixMulAdd", "OpJointMatrixMad"))
    seen.matrix = +seen.matrix
    return seen


def disassembler():
    names = ["llvm-objdump-14", "llvm-objdump-15", "llvm-objdump"]
    return next((path for path in map(shutil.which, names) if path), None)


def compiled(folder, only):
    """{(target, program, kernel): Row} of a target's folder."""
    architecture = folder.name.rpartition("-")[2]
    lines = [line.split("\t") for line in (folder / "kernels").read_text().splitlines()]
    rows, seen, program = {}, {}, None
    for name, kernel, *numbers in lines:
        if name != program:
            program, path = name, folder / name.replace("/", ".")
            if architecture in NVIDIA:
                seen = of_ptx(path.read_text())
            else:
                seen = of_amd(subprocess.run([disassembler(), "-d", f"--mcpu={architecture}", path], check=True,
                                             capture_output=True, text=True).stdout)
        registers, spilt, local, items = map(int, numbers)
        of = seen[kernel]
        rows[folder.name, name, kernel] = Row(registers, spilt, local, items,
                                              occupancy(architecture, registers, local, items), of.vector_loads,
                                              of.async_loads, dict(of.matrix))
    return {key: row for key, row in rows.items() if fnmatch.fnmatch(key[1], only)}


def spirv(directory, only):
    names = (directory / "names").read_text().split()
    rows = {}
    for name in fnmatch.filter(names, only):
        path = directory / (name.replace("/", ".") + ".spv")
        subprocess.run(["spirv-val", "--target-env", "opencl1.2", path], check=True)
        text = subprocess.run(["spirv-dis", "--raw-id", path], check=True, capture_output=True, text=True).stdout
        of = of_spirv(text)
        rows["spirv-1.0", name, "*"] = Row(None, None, None, None, None, of.vector_loads, of.async_loads,
                                           dict(of.matrix))
    return rows


# ---- The comparison --------------------------------------------------------------------------------------------------

def differences(was, now):
    """What is worse of a kernel, and whether anything is otherwise. Occupancy may fall by a quarter: a few registers
    more are no defect."""
    worse = []
    for dtype in sorted(was.matrix):
        before, after = was.matrix[dtype], now.matrix.get(dtype, 0)
        if after < before:
            worse.append(f"{after} matrix instructions of {dtype}, {before} before")
    if now.vector_loads < was.vector_loads:
        worse.append(f"{now.vector_loads} vector loads, {was.vector_loads} before")
    if now.async_loads < was.async_loads:
        worse.append(f"{now.async_loads} asynchronous loads, {was.async_loads} before")
    if (now.spilt or 0) > (was.spilt or 0):
        worse.append(f"{now.spilt} bytes spilt, {was.spilt} before")
    if was.occupancy and now.occupancy is not None and now.occupancy < 0.75 * was.occupancy:
        worse.append(f"occupancy {now.occupancy}, {was.occupancy} before")
    return worse, was != now


def compare(table, rows, only="*"):
    """Lines of what is worse, and how many rows of the table are out of date otherwise."""
    worse, stale = [], 0
    targets = {key[0] for key in rows}
    for key, was in sorted(table.items()):
        if key[0] not in targets or not fnmatch.fnmatch(key[1], only):
            continue
        if key in rows:
            what, other = differences(was, rows[key])
        else:
            what, other = ["gone, with its matrix instructions"] if was.matrix else [], True
        worse += [f"{' '.join(key)}: {text}" for text in what]
        stale += other and not what
    return worse, stale + sum(key not in table for key in rows)


def summary(rows):
    print("target|programs|kernels|that spill|with vector loads|with asynchronous loads|matrix instructions")
    for target in sorted({key[0] for key in rows}):
        of = [(key, row) for key, row in rows.items() if key[0] == target]
        matrix = sum((Counter(row.matrix) for _, row in of), Counter())
        print(target, len({key[1] for key, _ in of}), len(of), sum((row.spilt or 0) > 0 for _, row in of),
              sum(row.vector_loads > 0 for _, row in of), sum(row.async_loads > 0 for _, row in of),
              ", ".join(f"{dtype}: {count}" for dtype, count in sorted(matrix.items())) or "none", sep="|")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n", 1)[0][7:])
    parser.add_argument("table", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--spirv", type=Path)
    parser.add_argument("--only", default="*")
    parser.add_argument("--accept", action="store_true")
    asked = parser.parse_args()
    rows = {}
    for folder in sorted(path.parent for path in asked.folder.glob("*/kernels")):
        rows |= compiled(folder, asked.only)
    if asked.spirv:
        rows |= spirv(asked.spirv, asked.only)
    if not rows:
        sys.exit(f"instructions: no program is called '{asked.only}': build/instructions has the names")
    summary(rows)
    table = read_table(asked.table)
    worse, stale = compare(table, rows, asked.only)
    if asked.accept:
        targets = {key[0] for key in rows}
        kept = {key: row for key, row in table.items()
                if key[0] not in targets or not fnmatch.fnmatch(key[1], asked.only)}
        write_table(asked.table, kept | rows)
        print(f"{asked.table} is written: {len(rows)} rows, {len(worse)} of them worse than before", file=sys.stderr)
        return 0
    if worse:
        print("\n".join(worse), file=sys.stderr)
        print(f"{len(worse)} times worse than {asked.table}. What is meant is taken into it by "
              "scripts/instructions.sh --accept.", file=sys.stderr)
        return 1
    if stale:
        print(f"No kernel is worse than {asked.table}; {stale} rows are new or otherwise: "
              "scripts/instructions.sh --accept takes them.", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
