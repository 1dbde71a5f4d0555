# SPDX-License-Identifier: Apache-2.0
"""usage: upstream_page.py DATE EXAMPLES FOLDER (DEVICE REPORT)...

Prints the page of upstream.sh from JUnit reports of array-api-tests in FOLDER: for each device how many tests there are
and what became of them, and why those that did not pass did not."""

import collections
import importlib.metadata
import re
import subprocess
import sys
import xml.etree.ElementTree

FILES = re.compile(r".*array_api_tests\.")


def results(report):
    """(file, test, "passed" or "failed" or "skipped", reason) of each test."""
    for each in xml.etree.ElementTree.parse(report).iter("testcase"):
        bad = next((each.find(kind) for kind in ("failure", "error") if each.find(kind) is not None), None)
        skipped = each.find("skipped")
        outcome = "passed" if bad is None and skipped is None else "skipped" if bad is None else "failed"
        reason = (bad if bad is not None else skipped).get("message", "") if outcome != "passed" else ""
        yield FILES.sub("", each.get("classname")), each.get("name"), outcome, reason.splitlines()[0] if reason else ""


def reasons(found, outcome):
    """Lines that say why tests ended so, with how many and one of them."""
    by_reason = collections.defaultdict(list)
    for file, test, result, reason in found:
        if result == outcome:
            by_reason[f"{reason}"].append(f"{file}::{test}")
    for reason, tests in sorted(by_reason.items(), key=lambda item: -len(item[1])):
        more = f" and {len(tests) - 1} more" if len(tests) > 1 else ""
        yield f"- {len(tests)}: {reason or 'no reason given'} (`{tests[0]}`{more})"


def commit(folder):
    done = subprocess.run(["git", "-C", folder, "log", "-1", "--format=%h of %ad", "--date=short"], capture_output=True)
    return done.stdout.decode().strip() or "an unnamed version"


def main():
    date, examples, folder, *pairs = sys.argv[1:]
    runs = {device: list(results(report)) for device, report in zip(pairs[::2], pairs[1::2])}
    print(f"# array-api-tests on keyway.array_api, {date}\n")
    version = importlib.metadata.version
    print(
        f"""\
The standard's own suite, data-apis/array-api-tests at {commit(folder)}, for version 2024.12 of the standard, with
{examples} examples of Hypothesis {version("hypothesis")} for each test, on the wheel of keyway {version("keyway-runtime")},
Python {sys.version.split()[0]}. On npu:0, the example vendor's device, cpu:0 stands in where it lacks a kernel. Of data
types the suite asks only for those that a namespace has, which here are not uint16, uint32 and uint64. Made by
`integrations/python/upstream.sh`.
"""
    )
    print("| default device | tests | run | passed of run | failed | skipped |\n|---|---|---|---|---|---|")
    for device, found in runs.items():
        count = collections.Counter(outcome for _, _, outcome, _ in found)
        run = count["passed"] + count["failed"]
        print(
            f"| {device} | {len(found)} | {run} | {count['passed']} ({100 * count['passed'] / run:.1f} %) "
            f"| {count['failed']} | {count['skipped']} |"
        )
    for outcome in ("failed", "skipped"):
        for device, found in runs.items():
            lines = list(reasons(found, outcome))
            if lines:
                print(f"\n## {outcome.capitalize()} on {device}\n\n" + "\n".join(lines))
    print("\n## By file, cpu:0\n\n| file | passed | failed | skipped |\n|---|---|---|---|")
    files = collections.defaultdict(collections.Counter)
    for file, _, outcome, _ in next(iter(runs.values())):
        files[file][outcome] += 1
    for file, count in sorted(files.items()):
        print(f"| {file} | {count['passed']} | {count['failed']} | {count['skipped']} |")


if __name__ == "__main__":
    main()
