#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: coverage.py BUILD_DIRECTORY [--page FILE] [--limit PERCENT]

Which lines of the reference kernels the suite reaches, and which part of it reaches which: a build of the cpu plugin
with gcov's counters runs `keyway conform` op by op, and some contract suites. The oracle runs the same sources, but in
another process and from the build directory: what it reaches is not counted.

Writes BUILD_DIRECTORY/mutation/reference.info for lcov, reach.json (source -> line -> parts) and, with --page, the page
that lists lines and branches that are not reached, with the reasons from unreached.txt. Fails below the limit, and for
a line without a reason.
"""
import argparse
import fnmatch
import json
import re
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import variant

HERE = Path(__file__).resolve().parent
ORACLE = "oracle: "  # how the reason begins where no device runs the line


def run_part(keyway, built, work, part, arguments):
    """One part's counters, in a directory of their own: source name -> line -> [count, branch counts]."""
    counters = work / "counters" / part
    began = time.monotonic()
    code, text = variant.conform(keyway, built.library, *arguments, "--jobs", "1", "--no-shrink",
                                 environment={"GCOV_PREFIX": str(counters), "GCOV_PREFIX_STRIP": "0"})
    if code == 1:  # it would seem to kill every mutant
        raise SystemExit(f"{part}: the reference fails there as it is; mend that first:\n{text}")
    seconds = time.monotonic() - began
    found = {}
    place = Path(str(counters) + str(built.reference))
    for data in sorted(place.glob("*.gcda")):
        (place / data.with_suffix(".gcno").name).symlink_to(built.reference / data.with_suffix(".gcno").name)
        text = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", data.name], cwd=place,
                              capture_output=True, text=True, check=True).stdout
        for report in text.splitlines():
            for source in json.loads(report)["files"]:
                lines = found.setdefault(Path(source["file"]).name, {})
                for line in source["lines"]:
                    branches = [b["count"] for b in line["branches"]]
                    count, before = lines.get(line["line_number"], (0, []))
                    if len(before) == len(branches):
                        branches = [a + b for a, b in zip(before, branches)]
                    lines[line["line_number"]] = (count + line["count"], branches)
    return part, seconds, found


def reasons():
    """unreached.txt: "file | function or text of the line | reason" a row; * in a file or a function matches anything."""
    rows = (HERE / "unreached.txt").read_text().splitlines()
    return [[cell.strip() for cell in row.split("  |  ", 2)] for row in rows if row and not row.startswith("#")]


def reason_of(table, file, function, code):
    """Why a line is not reached; "" where nobody has said."""
    for pattern, what, reason in table:
        if fnmatch.fnmatchcase(file, pattern) and (what == code or fnmatch.fnmatchcase(function, what)):
            return reason
    return ""


def function_at(text, number):
    """The name of the function that a line belongs to; of one that a macro makes, the macro's first argument."""
    for line in reversed(text[:number]):
        head = re.match(r"(?:[A-Za-z_].*?[ *])?(\w+)\((\w*)[^;]*$", line)
        if head:
            return head.group(2 if head.group(1).isupper() else 1)
    return ""


def write_tracefile(path, lines):
    """The counts in the format that lcov and genhtml read."""
    rows = []
    for file in sorted(lines):
        rows += ["TN:suite", f"SF:{variant.CPU}/reference/{file}"]
        for number, (count, branches) in sorted(lines[file].items()):
            rows += [f"BRDA:{number},0,{i},{taken if count else '-'}" for i, taken in enumerate(branches)]
            rows.append(f"DA:{number},{count}")
        rows.append("end_of_record")
    path.write_text("\n".join(rows) + "\n")


def write_page(page, reached, total, oracle, unreached, branches, ratio):
    """oracle: (file, function) -> [lines, reason]."""
    def code(text):
        return "`" + text.replace("|", "\\|") + "`"

    alone = "\n".join(f"| {file} | {code(function)} | {count} | {reason.removeprefix(ORACLE)} |"
                      for (file, function), (count, reason) in sorted(oracle.items()))
    rows = "\n".join(f"| {file} | {line} | {code(text)} | {reason} |" for file, line, text, reason in unreached)
    partly = "\n".join(f"| {file} | {line} | {code(text)} | {taken} of {count} |" for file, line, text, taken, count in branches)
    page.write_text(f"""# Line coverage of the reference

The suite reaches {reached} of the {total} lines of code in `backends/cpu/reference/` that a device runs, {ratio:.1f} %.
Counted is what the cpu plugin executes when `keyway conform` runs on it; the oracle's own copy of the same sources runs
in another process and does not count. {sum(count for count, _ in oracle.values())} more lines are for the oracle alone,
bounds above all, and are set apart. Made by `scripts/coverage.sh`; the reasons are in
`conformance/mutation/unreached.txt`.

## Lines that are not reached

| file | line | code | why |
|---|---|---|---|
{rows}

## Branches that are not taken

A line with several conditions, some of whose outcomes do not come up, in f32 and f64 together.

| file | line | code | taken |
|---|---|---|---|
{partly}

## Functions that only the oracle runs

| file | function | lines not reached | why |
|---|---|---|---|
{alone}
""")


def report(lines, page, limit):
    """Says what is not reached, and why; whether that is too much."""
    table = reasons()
    total, unreached, branches, unexplained, oracle = 0, [], [], 0, {}
    for file in sorted(lines):
        text = (variant.CPU / "reference" / file).read_text().splitlines()
        for number in sorted(lines[file]):
            code = text[number - 1].strip()
            count, taken = lines[file][number]
            total += 1
            if not count:
                function = function_at(text, number)
                reason = reason_of(table, file, function, code)
                unexplained += not reason
                if reason.startswith(ORACLE):
                    oracle.setdefault((file, function), [0, reason])[0] += 1
                else:
                    unreached.append((file, number, code, reason or "NOT EXPLAINED"))
            elif taken and 0 in taken:
                branches.append((file, number, code, sum(1 for b in taken if b), len(taken)))
    oracle_lines = sum(count for count, _ in oracle.values())
    total -= oracle_lines
    reached = total - len(unreached)
    ratio = 100 * reached / total
    if page:
        write_page(page, reached, total, oracle, unreached, branches, ratio)
    for file, number, code, reason in unreached:
        print(f"{file}:{number}: {code}  -- {reason}")
    print(f"reached {reached}/{total} lines, {ratio:.1f} %, and {oracle_lines} that only the oracle runs; {unexplained} not explained")
    return ratio < limit or unexplained > 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=Path)
    parser.add_argument("--page", type=Path)
    parser.add_argument("--limit", type=float, default=95)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    work = options.build.resolve() / "mutation"
    keyway = variant.program(options.build, work / "program")
    built = variant.Variant(options.build, work / "coverage", ["-O1", "--coverage"])
    built.compile_all()
    built.link()
    subprocess.run(["rm", "-rf", str(work / "counters")], check=True)
    lines, reach, seconds = {}, {}, {}
    with ThreadPoolExecutor(options.jobs) as pool:
        parts = variant.parts(keyway, built.library)
        for part, took, found in pool.map(lambda part: run_part(keyway, built, work, part, parts[part]), parts):
            seconds[part] = took
            for file, counted in found.items():
                for number, (count, branches) in counted.items():
                    old_count, old = lines.setdefault(file, {}).get(number, (0, []))
                    merged = [a + b for a, b in zip(old, branches)] if len(old) == len(branches) else branches or old
                    lines[file][number] = (old_count + count, merged)
                    if count:
                        reach.setdefault(file, {}).setdefault(number, []).append(part)
    ours = {path.name for path in variant.reference_sources()}
    lines = {file: counted for file, counted in lines.items() if file in ours}
    write_tracefile(work / "reference.info", lines)
    (work / "reach.json").write_text(json.dumps({"lines": reach, "seconds": seconds}))
    raise SystemExit(report(lines, options.page, options.limit))


if __name__ == "__main__":
    main()
