#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: pages.py level-one DATE COUNTS... CLASSES
       pages.py upstream DATE RESULTS

Writes a page of bench/results to standard output: of the files that tests/opinfo writes with --counts and the JUnit file of
test_distributed_classes.py, or of what files.py writes.
"""

import collections
import json
import re
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "opinfo"))
import level  # noqa: E402


def share(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else ""


def grouped(texts):
    """Kinds of failures, the most frequent first: the first line without numbers and addresses, or the operator or the op."""
    kinds = collections.Counter()
    for text in texts:
        if stop := re.search(r"(aten::[\w.]+): no op of Keyway serves", text):
            kinds[f"an operator outside the op set: {stop[1]}"] += 1
        elif dtype := re.search(r"(\w[\w.]*): argument '\w+': dtype (\w+).* is not one the op is defined for", text):
            kinds[f"a dtype that an op is not defined for: {dtype[2]}"] += 1
        else:
            line = next((line for line in text.splitlines() if line.strip()), "nothing said")
            kinds[re.sub(r"0x[0-9a-f]+|-?\d+(\.\d+)?(e-?\d+)?", "N", line)[:140].replace("|", "\\|")] += 1
    return kinds


def families(kinds):
    """The same with operators and dtypes put together."""
    together = collections.Counter()
    for kind, n in kinds.items():
        together[kind.partition(":")[0] if kind.startswith(("an operator outside", "a dtype that")) else kind] += n
    return together


def level_one(date, *paths):
    *counts_of, classes = paths
    lines = [f"# Level one of upstream's tests, {date}", "",
             "Every sample of PyTorch's databases of operators, modules and optimizers (`torch.testing._internal`) in f32,",
             "i64, bool and bf16, forward and backward beside PyTorch's CPU, and the classes of tests that its wheel has for",
             "torch.distributed. A sample counts once. It is not applicable when it stops at an operator or a dtype outside",
             "the op set, as the error of the bridge says, or has nothing that can lie on a device. `no sample on the CPU`",
             "are those that PyTorch's own CPU refuses.", "",
             "    integrations/pytorch/upstream.sh", ""]
    for path in counts_of:
        counts, failing, facts = level.read(path)
        outside = collections.Counter(facts["outside"])
        every = f"one sample in {facts['every']}" if facts["every"] > 1 else "all samples"
        lines += [f"## {facts['device']}, PyTorch {facts['torch']}, {every}", "", *level.table(counts), "",
                  "Not applicable:", "", *level.why_not(counts), "",
                  "Operators outside the op set, by how many samples stop there: "
                  + ", ".join(f"{name.removeprefix('aten::')} {n}" for name, n in outside.most_common()) + ".", "",
                  "What does not pass, by reason, with the samples of each operator and dtype:", "", *level.rest(failing), ""]
    lines += [*classes_of(classes)]
    return lines


def classes_of(path):
    """What became of the tests of torch.distributed."""
    outcomes = collections.defaultdict(collections.Counter)
    reasons, failed = collections.Counter(), []
    for case in xml.parse(path).getroot().iter("testcase"):
        one = outcomes[case.get("classname").rpartition(".")[2]]
        problem = case.find("failure") if case.find("failure") is not None else case.find("error")
        if (skipped := case.find("skipped")) is not None:
            kind = "known" if skipped.get("type") == "pytest.xfail" else "skipped"
            one[kind] += 1
            if kind == "known":
                failed.append(f"- {case.get('name')}: {skipped.get('message')}")
            else:
                reasons[skipped.get("message").partition("Got:")[0][:140].strip()] += 1
        elif problem is not None:
            one["failed"] += 1
            failed.append(f"- {case.get('name')}: not listed: {problem.get('message')[:160].splitlines()[0]}")
        else:
            one["passed"] += 1
    lines = ["## Classes of torch.distributed that the wheel ships, two processes on cpu:0 and opencl:0", "",
             "| class | tests | not applicable | applicable | passed | failed | of the applicable |",
             "|---|---|---|---|---|---|---|"]
    for name, one in outcomes.items():
        applicable = one.total() - one["skipped"]
        lines.append(f"| {name} | {one.total()} | {one['skipped']} | {applicable} | {one['passed']} | "
                     f"{applicable - one['passed']} | {share(one['passed'], applicable)} |")
    lines += ["", "Not applicable, as PyTorch's own conditions say:", "",
              *(f"- {n} {why}" for why, n in reasons.most_common()), "", "What does not pass:", "", *sorted(failed), ""]
    return lines


def upstream(date, path, *notes):
    with open(path) as file:
        results = json.load(file)
    files = results["files"]
    taken = f"no more than {results['most']} of a file, drawn by chance" if results["most"] else "all of them"
    lines = [f"# PyTorch's own test files, {date}", "", *notes, "" if notes else None,
             f"On {results['device']}, of the tests that PyTorch makes for a kind of device {taken}; those that are about",
             "no device are left out. Nothing falls back to the CPU. Skipped: by PyTorch's own conditions.", "",
             "    integrations/pytorch/upstream.sh --files FOLDER", "",
             "| file | tests | for a device | taken | passed | skipped | failed | of those not skipped |",
             "|---|---|---|---|---|---|---|---|"]
    lines = [line for line in lines if line is not None]
    everything, texts, by_file = collections.Counter(), [], {}
    for name, file in files.items():
        kinds = collections.Counter(each["outcome"] for each in file["outcomes"].values())
        failures = [each["text"] for each in file["outcomes"].values() if each["outcome"] == "failed"]
        by_file[name] = grouped(failures)
        texts += failures
        row = {"collected": file["collected"], "of_device": file["of_device"], "taken": kinds.total(), **kinds}
        everything += collections.Counter(row)
        lines.append(_row(name, row))
    lines += [_row("together", everything), "", "## What fails, the most frequent first", ""]
    kinds = grouped(texts)
    lines += [f"- {n}: {kind}" for kind, n in families(kinds).most_common(40)]
    for start, title in (("an operator outside", "Operators outside the op set"), ("a dtype that", "Dtypes")):
        named = [(kind.partition(": ")[2], n) for kind, n in kinds.most_common() if kind.startswith(start)]
        lines += ["", f"{title}: " + ", ".join(f"{name.removeprefix('aten::')} {n}" for name, n in named) + "."]
    lines += ["", "## By file", ""]
    for name, file in files.items():
        if file["wrong"]:
            lines.append(f"- {name}: {' '.join(file['wrong'].split())[-200:]}")
        if by_file[name]:
            lines.append(f"- {name}: " + "; ".join(f"{n} {kind}" for kind, n in families(by_file[name]).most_common(6)))
    gone = sorted({each for file in files.values() for each in file["gone"]})
    if gone:
        names = ", ".join(each.removeprefix("torch.testing._internal.") for each in gone)
        lines += ["", "Helpers that these files import and the installed release no longer has; as decorators they change "
                  f"nothing, as conditions they are false: {names}."]
    return lines


def _row(name, row):
    ran = row.get("passed", 0) + row.get("failed", 0)
    columns = [row.get(key, 0) for key in ("collected", "of_device", "taken", "passed", "skipped", "failed")]
    return f"| {name} | " + " | ".join(map(str, columns)) + f" | {share(row.get('passed', 0), ran)} |"


def main():
    what, date, *rest = sys.argv[1:]
    print("\n".join({"level-one": level_one, "upstream": upstream}[what](date, *rest)).rstrip())


if __name__ == "__main__":
    main()
