#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: first_use_page.py COMMIT FOLDER DRIVER...

Writes to stdout what the first call of each op took, from FOLDER/DRIVER/OP.json, which `keyway warm --alone --json`
printed: what scripts/first_use.sh runs.
"""
import json
import statistics
import sys
from pathlib import Path

from bench_page import processor

WANTED = {"every op": 1.0, "pointwise": 0.3}  # seconds


def first_calls(folder):
    """op: the longest of its calls, and the start of each process's driver."""
    calls, starts = {}, []
    for path in sorted(folder.glob("*.json")):
        report = json.loads(path.read_text())
        if not report["rows"]:
            continue  # the device lacks it
        row = max(report["rows"], key=lambda row: row["processor_ns"])
        calls[row["op"]] = (row["family"], row["processor_ns"] / 1e9, row["built"])
        starts.append(report["driver_start"]["processor_ns"] / 1e9)
    return calls, starts


def summary(name, calls, starts):
    times = [seconds for _, seconds, _ in calls.values()]
    pointwise = [seconds for family, seconds, _ in calls.values() if family == "pointwise"]
    late = sum(seconds > WANTED["every op"] for seconds in times)
    late_pointwise = sum(seconds > WANTED["pointwise"] for seconds in pointwise)
    print(f"| {name} | {statistics.median(starts):.2f} s | {len(times)} | {statistics.median(times):.2f} s | "
          f"{max(times):.2f} s | {late} | {statistics.median(pointwise):.2f} s | {late_pointwise} of {len(pointwise)} |")


def main(commit, folder, *drivers):
    measured = {driver: first_calls(Path(folder) / driver) for driver in drivers}
    print("# What a first call costs\n")
    print(f"Made by `scripts/first_use.sh {' '.join(drivers)}` at {commit} on {processor()}: seconds of processor time of an\n"
          "op's first call in f32 on opencl:0, in a process of its own with empty caches, the longest of its forms. What\n"
          "the driver does once in a process, whatever is called, stands apart: its start.\n")
    print("| driver | start | ops | median | longest | past 1 s | pointwise, median | past 0.3 s |")
    print("|---|---|---|---|---|---|---|---|")
    for driver, (calls, starts) in measured.items():
        summary(driver, calls, starts)
    print("\n| op | " + " | ".join(f"{driver} | programs" for driver in drivers) + " |")
    print("|---|" + "---|---|" * len(drivers))
    every = {op for calls, _ in measured.values() for op in calls}
    longest = {op: max(calls[op][1] for calls, _ in measured.values() if op in calls) for op in every}
    for op in sorted(every, key=lambda op: (-longest[op], op)):
        cells = [calls.get(op) for calls, _ in measured.values()]
        print(f"| `{op}` | " + " | ".join(f"{cell[1]:.2f} | {cell[2]}" if cell else "- | -" for cell in cells) + " |")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__.strip())
    main(*sys.argv[1:])
