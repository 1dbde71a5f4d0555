#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the golden vectors: what an independent library says each op gives.

usage: make_golden.py [DIRECTORY]        (default: the folder `vectors` beside this file)

Needs the packages torch, numpy and randomgen. Ops are called through torch.ops.aten by the names and argument order
that Keyway's op table has; those of another namespace are composed of the library's ops by their family's module. Shape
and dtype of a result are those of the call itself. The values of floating-point results come from the same call with
every floating-point input widened to f64, so that they are the exact answer for all narrower dtypes; `magnitude` (the
same call on absolute values) and `terms` are what error bounds of sums grow with. Random ops are computed by
families/random.py from randomgen's Philox 4x32-10 words by the rules of Keyway's op reference. golden_test reads the
files.
"""
import importlib
import pathlib
import sys

import golden

HERE = pathlib.Path(__file__).parent


def main():
    if len(sys.argv) > 2 or sys.argv[1:2] in (["-h"], ["--help"]):
        print(__doc__)
        return 2 if len(sys.argv) > 2 else 0
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "vectors"
    for module in sorted((HERE / "families").glob("*.py")):
        golden.start(module.stem)
        importlib.import_module(f"families.{module.stem}")
    case_count, op_count = golden.write(folder)
    print(f"{case_count} cases of {op_count} ops in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
