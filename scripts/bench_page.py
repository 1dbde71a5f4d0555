#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: bench_page.py COMMIT REPORT.json...

Writes to stdout a page that shows where a device is behind, from what `keyway bench --json` printed: what
scripts/bench.sh --page runs. Each report is a section.
"""
import collections
import json
import math
import platform
import sys
from pathlib import Path

FAR = 1.25


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def time_of(ns):
    return f"{ns / 1e6:.1f} ms" if ns >= 1e6 else f"{ns / 1e3:.2f} us"


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def name_of(row):
    return f"`{row['op']}` {row['what']} {row['dtype']}"


def compared(report, peer):
    """(ratio, row) of all rows that both sides have, the worst first."""
    rows = ((row["peers"][peer].get("ratio"), row) for row in report["rows"])
    return sorted(((ratio, row) for ratio, row in rows if ratio), key=lambda each: -each[0])


def show_peer(report, side):
    name = side["name"]
    print(f"\n### {name}\n\n{side.get('title') or 'Not there: ' + side['not_there']}.\n")
    pairs = compared(report, name)
    if not pairs:
        return
    families = collections.defaultdict(list)
    for ratio, row in pairs:
        families[row["family"]].append((ratio, row))
    print("| family | rows | geometric mean | past 1.25 | the worst | |\n|---|---|---|---|---|---|")
    for family, inside in [*families.items(), ("all", pairs)]:
        ratios = [ratio for ratio, _ in inside]
        far = sum(ratio > FAR for ratio in ratios)
        worst, row = inside[0]
        print(f"| {family} | {len(inside)} | {mean(ratios):.3f} | {far} | {name_of(row)} | {worst:.2f} |")
    behind = [(ratio, row) for ratio, row in pairs if ratio > 1]
    print(f"\nBehind in {len(behind)} of {len(pairs)} rows:\n\n| | Keyway | {name} | ratio |\n|---|---|---|---|")
    for ratio, row in behind:
        print(f"| {name_of(row)} | {time_of(row['ns'])} | {time_of(row['peers'][name]['ns'])} | {ratio:.2f} |")


def show_missing(report):
    missing = [row for row in report["rows"] if "not_there" in row]
    if missing:
        print("\nNot there:\n")
    for row in missing:
        print(f"- {name_of(row)}: {row['not_there']}")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    print("# Where cpu:0 is behind\n")
    print(f"Made by `scripts/bench.sh --page` at {sys.argv[1]} on {processor()}. Ratios are Keyway's time by the")
    print("peer's, medians of the rounds' own, the sides in turn; past 1 Keyway is behind.")
    for path in sys.argv[2:]:
        report = json.loads(Path(path).read_text())
        limits = report.get("limits", {})
        print(f"\n## {Path(path).stem}\n")
        print(f"{report['device']}, {report['threads']} thread(s), {report['clock']}, {report['rounds']} rounds.")
        if limits:
            print(f"Limits: {limits['gbps']:.1f} GB/s moved by memcpy, {limits['gflops']:.0f} GFLOP/s of f32.")
        for side in report["against"]:
            show_peer(report, side)
        show_missing(report)


if __name__ == "__main__":
    main()
