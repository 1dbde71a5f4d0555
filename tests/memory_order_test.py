#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: memory_order_test.py [--herd HERD7] [MODEL...]

What core's lock-free protocols rely on, as models: each tests/memory_order/*.litmus is a C11 program for herd7 whose
condition must never come true, in the order of memory that RC11 allows (Lahav, Vafeiadis, Kang, Hur, Dreyer, PLDI 2017)
and which has no data race. In a model's opening comment

    code FILE: LINE         a line of the tree that the model shows; when it is not there any more, the model is of
                            something else
    wrong: TEXT -> OTHER    the model with TEXT replaced everywhere; herd7 has to find the condition true, or a race

HERD7: default: herd7 on PATH; without it only the lines are looked up. Exit status: 0 all is so, 1 something is not,
2 wrong usage.
"""
import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent


def squeezed(text):
    return " ".join(text.split())


def verdict(herd, text):
    """"holds", or what herd7 says instead"""
    with tempfile.NamedTemporaryFile("w", suffix=".litmus") as file:
        file.write(text)
        file.flush()
        done = subprocess.run([*herd, "-model", "rc11.cat", file.name], capture_output=True, text=True, timeout=300,
                              check=False)
    if "Flag" in done.stdout or "Undef" in done.stdout:
        return "a data race"
    seen = re.search(r"^Observation \S+ (\w+) \d+ (\d+)", done.stdout, re.MULTILINE)
    if seen is None:
        return f"no verdict: {squeezed(done.stdout + done.stderr)}"
    return "holds" if seen[1] == "Never" and int(seen[2]) > 0 else "the condition comes true"


def faults(path, herd):
    """Sentences about one model; how many of its wrong versions were found"""
    text = path.read_text()
    comment = text[text.index("(*") + 2:text.index("*)")]
    program = text.replace(f"(*{comment}*)", "")
    name, said, found = path.name, [], 0
    lines = re.findall(r"^ *code ([^:\n]+): (.+)$", comment, re.MULTILINE)
    changes = re.findall(r"^ *wrong: (.+?) -> (.+)$", comment, re.MULTILINE)
    if not lines or not changes:
        return [f"{name}: has no code line, or no wrong version"], 0
    for file, line in lines:
        if squeezed(line) not in squeezed((SOURCE / file).read_text()):
            said.append(f"{name}: {file} has no '{line}' any more: is the model still right?")
    if herd and (answer := verdict(herd, program)) != "holds":
        said.append(f"{name}: {answer}")
    for old, new in changes:
        head, _, code = squeezed(program).partition("{")  # of a line of its own, as herd7 has it
        if squeezed(old) not in code:
            said.append(f"{name}: has no '{old}' to make wrong")
            continue
        wrong = f"{head.strip()}\n{{{code.replace(squeezed(old), squeezed(new))}\n"
        answer = verdict(herd, wrong) if herd else ""
        if answer == "holds" or answer.startswith("no verdict"):
            said.append(f"{name}: with '{new}' for '{old}': {answer}")
        else:
            found += 1
    return said, found


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[0].removeprefix("usage: "))
    parser.add_argument("--herd", nargs="+", help="the command and its options")
    parser.add_argument("models", nargs="*", type=Path)
    options = parser.parse_args()
    herd = options.herd or ([path] if (path := shutil.which("herd7")) else [])
    models = options.models or sorted((SOURCE / "tests/memory_order").glob("*.litmus"))
    failed = False
    for model in models:
        said, found = faults(model, herd)
        failed |= bool(said)
        print("\n".join(said) or f"{model.name}: " + (f"holds; {found} wrong versions found" if herd else
                                                      "its lines are in the tree; no herd7 here to run it"))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
