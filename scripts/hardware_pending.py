#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: hardware_pending.py [--check] [--build DIRECTORY]
       hardware_pending.py --submit OUT

Writes the tables of docs/hardware-pending.md, between its marks: the kernels that are off, as the build registers them
on test drivers; the matrix instructions of the pack's products, from bench/results/instructions.tsv; and what runs on
hardware have said, from bench/results/gpu. --check changes nothing and fails when the page is out of date. --submit
takes a run of scripts/gpu_check.sh, its directory OUT, into bench/results/gpu; a run on a test driver is refused.
"""
import argparse
import json
import re
import subprocess
import sys
from collections import defaultdict
from datetime import date
from pathlib import Path

from instructions import read_table

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/hardware-pending.md"
RUNS = ROOT / "bench/results/gpu"
PRODUCTS = {2: "i8", 6: "f16", 7: "bf16", 8: "f32 as tf32", 10: "f8e4m3fn", 11: "f8e5m2"}  # by program: matrix/2


def kernels_of(report):
    """{op: names of its kernels that are off} in what `keyway ops --json --device` prints."""
    off = {op["name"]: [kernel["name"] for kernel in op["kernels"] if kernel["off"]] for op in report["ops"]}
    return {op: names for op, names in off.items() if names}


def registered(build):
    """{(device, kernel): ops}, of the kernels that are off."""
    found = defaultdict(list)
    for driver in ["cuda", "hip"]:
        command = [ROOT / "scripts/emulated.sh", "--build", build, driver]
        command += ["keyway", "ops", "--json", "--device", driver + ":0"]
        text = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        for op, names in kernels_of(json.loads(text)).items():
            for name in names:
                found[driver, name].append(op)
    return found


def state(driver, kernel, ops, runs):
    """What runs say: of the ops with the kernel, how many passed in the last one that had it."""
    for run in sorted(runs, key=lambda run: run["date"], reverse=True):
        judged = run["devices"].get(driver, {}).get("ops", {})
        tried = [op for op in ops if kernel in judged.get(op, {}).get("off", [])]
        if tried:
            right = sum(judged[op]["failed"] == 0 for op in tried)
            return f"{right} of {len(ops)} ops without a failure, {run['gpu']}, {run['date']}"
    return "not yet"


def table(head, rows):
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows])


def kernel_table(found, runs):
    rows = [[f"`{kernel}` of {driver}", ", ".join(f"`{op}`" for op in sorted(ops)), state(driver, kernel, ops, runs)]
            for (driver, kernel), ops in sorted(found.items())]
    return table(["kernel", "ops", "has run on hardware"], rows)


def instruction_table(rows):
    targets = sorted({target for target, program, _ in rows if program.startswith("matrix/")})
    cells = []
    for number, dtype in PRODUCTS.items():
        of = [rows.get((target, f"matrix/{number}", "*" if target.startswith("spirv") else "kw_matrix_kernel"))
              for target in targets]
        cells.append([dtype] + [str(sum(row.matrix.values()) or "none") if row else "" for row in of])
    return table(["dtype", *targets], cells)


def run_table(runs):
    rows = [[run["date"], run["gpu"], run["commit"], f"{driver}: {device['verdict']}, {device['pass']} of "
             f"{device['cases']} cases"] for run in runs for driver, device in sorted(run["devices"].items())]
    return table(["date", "GPU", "commit", "suite"], rows) if rows else "None has been submitted yet."


def fill(page, made):
    for name, text in made.items():
        mark = re.compile(rf"(<!-- made: {name} -->\n).*?(<!-- end -->)", re.S)
        if not mark.search(page):
            sys.exit(f"hardware_pending: {PAGE.name} has no mark '<!-- made: {name} -->' with an end")
        page = mark.sub(lambda match: match.group(1) + "\n" + text + "\n\n" + match.group(2), page)
    return page


def submit(out):
    """A run's reports, short, as DATE-GPU.json."""
    machine = (out / "machine.txt").read_text()
    gpu = machine.splitlines()[1].split(",")[0] if "\n" in machine else machine
    run = {"date": str(date.today()), "gpu": gpu, "commit": re.search(r"commit (\S+)", machine).group(1), "devices": {}}
    for path in sorted(out.glob("*/conform.json")):
        report = json.loads(path.read_text())
        if report["emulated"]:
            sys.exit(f"hardware_pending: {path} is of a test driver: it says nothing of hardware")
        off = kernels_of(json.loads((path.parent / "ops.json").read_text()))
        ops = defaultdict(lambda: {"failed": 0, "off": []})
        for row in report["ops"]:
            if row["op"] in off:
                ops[row["op"]]["failed"] += row["failed"]
                ops[row["op"]]["off"] = off[row["op"]]
        run["devices"][path.parent.name] = {"verdict": report["verdict"], "cases": report["counts"]["cases"],
                                            "pass": report["counts"]["pass"], "ops": ops}
    if not run["devices"]:
        sys.exit(f"hardware_pending: {out} has no DEVICE/conform.json: run scripts/gpu_check.sh {out}")
    RUNS.mkdir(exist_ok=True)
    target = RUNS / f"{run['date']}-{re.sub('[^A-Za-z0-9]+', '-', gpu)}.json"
    target.write_text(json.dumps(run, indent=1) + "\n")
    print(f"{target.relative_to(ROOT)} is written; scripts/hardware_pending.py takes it into the page. Commit both.")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n", 1)[0][7:])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--submit", type=Path)
    asked = parser.parse_args()
    if asked.submit:
        return submit(asked.submit)
    runs = [json.loads(path.read_text()) for path in sorted(RUNS.glob("*.json"))]
    before = PAGE.read_text()
    after = fill(before, {"kernels": kernel_table(registered(asked.build), runs),
                          "instructions": instruction_table(read_table(ROOT / "bench/results/instructions.tsv")),
                          "runs": run_table(runs)})
    if not asked.check:
        PAGE.write_text(after)
    elif before != after:
        sys.exit("docs/hardware-pending.md is out of date. Run: scripts/hardware_pending.py")


if __name__ == "__main__":
    sys.exit(main())
