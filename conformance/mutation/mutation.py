#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: mutation.py BUILD_DIRECTORY [--count N] [--seed S] [--jobs J] [--minutes M] [--list] [--only FILE:LINE]

Mechanical mutation of the reference kernels: changes one token of the sources at a time (operators, constants, bounds,
branches, statements), builds the cpu plugin with it and lets the suite run the parts that reach the line, until the
first failure. The oracle is the build directory's and stays as it is. A mutant does not count when the compiler refuses
it or makes the same object code of it: then it is the same program.

coverage.py has to have run: reach.json says which part of the suite reaches which line, and how long the suite takes
for it.

Prints the survivors and "killed N/M". survivors.txt explains each: most are equivalent, they change nothing that can be
seen. The run fails when less than 95 % of the others are killed or a survivor has no explanation there.
"""
import argparse
import hashlib
import json
import queue
import re
import shutil
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import variant

HERE = Path(__file__).resolve().parent
SKIPPED = {"kernels.inc"}  # a table of what is there, not code
# Refusals: core makes the same checks before a kernel sees a call, so that no suite can tell. The unit tests do.
REFUSAL = "return KW_ERR_INVALID_ARGUMENT;"
# How a reason in survivors.txt begins when the mutant is not equivalent: what it breaks is for others to see.
OUT_OF_SIGHT = "not equivalent"
ORACLE = "KW_DTYPE_WIDE"  # a dtype of the oracle's own: what a line does about it no device sees

# ---- What is changed ------------------------------------------------------------------------------------------------

OPERATORS = {
    "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["/"], "+=": ["-="], "-=": ["+="], "*=": ["/="], "/=": ["*="],
    "++": ["--"], "--": ["++"], "<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"], "==": ["!="],
    "!=": ["=="], "&&": ["||"], "||": ["&&"], "&": ["|"], "|": ["&"], "^": ["&"], "<<": [">>"], ">>": ["<<"],
    "&=": ["|="], "|=": ["&="], "<<=": [">>="], ">>=": ["<<="], "!": [""], "~": [""],
}
TOKEN = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|(?:0[xX][0-9a-fA-F]+|\d+\.?\d*(?:[eE][+-]?\d+)?)[uUlLfF]*'
                   r'|[A-Za-z_]\w*|<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\S', re.S)
STATEMENT = re.compile(r"^\s+(?!return\b|if\b|for\b|while\b|else\b|case\b|default\b|goto\b|break\b|static\b|const\b|typedef\b|enum\b"
                       r"|struct\b)[\w*(][^{}]*;\s*$")
DECLARATION = re.compile(r"^\s+(?:const\s+)?[A-Za-z_]\w*[\s*]+[A-Za-z_]\w*(?:\[[^\]]*\])?\s*(?:=|,|;)")


def lines_to_skip(text):
    """Numbers of the lines of directives, continued ones included, of refusals, and of what only the oracle does."""
    lines, inside = set(), False
    for number, line in enumerate(text.splitlines(), 1):
        if inside or line.startswith("#"):
            lines.add(number)
            inside = line.endswith("\\")
        elif line.endswith(REFUSAL) or ORACLE in line:
            lines.add(number)
    return lines


def number_mutations(token):
    if token in ("0", "1"):
        return [str(1 - int(token))]
    if re.fullmatch(r"\d+", token):
        return [str(int(token) + 1), str(int(token) - 1)]
    if re.fullmatch(r"0[xX][0-9a-fA-F]+[uUlL]*", token) or re.fullmatch(r"\d+[uUlL]+", token):
        return [f"({token} + 1)"]
    return [f"({token} * 2)"]


def is_array_size(tokens, i):
    """A number in the brackets of a declaration: more room is no difference that a program can see."""
    around = [token.group() for token in tokens[max(0, i - 3):i + 3]]
    if len(around) < 6 or around[2] != "[" or around[4] != "]" or not re.fullmatch(r"[A-Za-z_]\w*", around[1]):
        return False
    declares = around[0] == "*" or (re.fullmatch(r"[A-Za-z_]\w*", around[0]) and around[0] != "return")
    return bool(declares) or (around[0] == "," and around[5] == "=")


def mutations_of(path):
    """All (line number, column, old text, new text) of one source."""
    text = path.read_text()
    skip = lines_to_skip(text)
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def where(offset):
        low, high = 0, len(starts) - 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if starts[middle] <= offset else (low, middle)
        return low + 1, offset - starts[low]

    found, depth = [], 0
    tokens = [match for match in TOKEN.finditer(text) if not match.group().startswith("/*")]
    for i, match in enumerate(tokens):
        token = match.group()
        line, column = where(match.start())
        depth += (token == "{") - (token == "}")
        if line in skip:
            continue
        if depth == 0:
            continue  # outside functions: types and names
        if token in OPERATORS:
            found += [(line, column, token, new) for new in OPERATORS[token]]
        elif token[0].isdigit() and not is_array_size(tokens, i):
            found += [(line, column, token, new) for new in number_mutations(token)]
        elif token == "return" and i + 1 < len(tokens) and tokens[i + 1].group() not in (";", "0", "KW_OK"):
            end = text.index(";", match.end())
            if "\n" not in text[match.start():end]:
                found.append((line, column, text[match.start():end], "return 0"))
        elif token in ("if", "while") and tokens[i + 1].group() == "(":
            start = tokens[i + 1].end()
            found.append((line, where(start)[1], "", "!("))
        elif token in ("true", "false"):
            found.append((line, column, token, "false" if token == "true" else "true"))
        elif token in ("continue", "break"):
            found.append((line, column, token, ""))
    for number, line in enumerate(text.splitlines(), 1):
        if number not in skip and STATEMENT.match(line) and not DECLARATION.match(line) and "*/" not in line:
            bare = line.strip()
            found.append((number, line.index(bare), bare, ";"))
    return sorted(set(found))


def apply(row, mutation):
    """The line as it is after the mutation; None where the condition to negate does not end on it."""
    _, column, old, new = mutation
    if new == "!(":  # negates the condition: up to its closing parenthesis
        depth, end = 1, column
        while end < len(row) and depth:
            depth += (row[end] == "(") - (row[end] == ")")
            end += 1
        return None if depth else row[:column] + "!(" + row[column:end - 1] + ")" + row[end - 1:]
    assert row[column:column + len(old)] == old
    return row[:column] + new + row[column + len(old):]


class Mutant:
    def __init__(self, path, lines, mutation):
        self.path, self.line, self.mutation = path, mutation[0], mutation
        self.before, after = lines[self.line - 1].strip(), apply(lines[self.line - 1], mutation)
        self.after = None if after is None else after.strip()

    def write(self, target):
        lines = self.path.read_text().splitlines(keepends=True)
        lines[self.line - 1] = apply(lines[self.line - 1], self.mutation)
        target.write_text("".join(lines))

    def place(self):
        """What it is, wherever the line may move to."""
        return f"{self.path.name} {self.before} => {self.after}"

    def name(self):
        return f"{self.path.name}:{self.line}: {self.before}  =>  {self.after}"


# ---- Is it killed? --------------------------------------------------------------------------------------------------


def shards(parts, last):
    """The shares of the parts' cases to run one after the other; of a line that most ops go through a share will do."""
    if parts > 40:
        return ["1/64", "1/8"] if last else ["1/64"]
    return (["1/16"] if not last or parts > 8 else []) + (["1/1"] if last else [])


class Bench:
    """A variant of the plugin that mutants are tried in, one after the other."""

    def __init__(self, build, directory, keyway):
        self.keyway, self.built = keyway, variant.Variant(build, directory, ["-O1"])  # half the time of -O2
        self.built.compile_all()
        self.built.link()
        self.objects = self.built.directory / "objects"  # those of the sources as they are
        self.objects.mkdir()
        for unit in self.built.units():
            shutil.copy(unit.with_suffix(".o"), self.objects)
        self.parts = variant.parts(keyway, self.built.library)

    def units(self, mutant):
        name = mutant.path.name
        if name.endswith(".inc"):
            return [self.built.reference / unit for unit in variant.COMPUTE_TYPES]
        return [self.built.reference / name] if name.endswith(".c") else self.built.units()

    def killed(self, mutant, parts, seconds):
        """What killed it, None when it survived, False when it does not count."""
        target = self.built.reference / mutant.path.name
        mutant.write(target)
        try:
            units, differs = self.units(mutant), False
            for i, unit in enumerate(units):  # the first alone kills most: what is wrong in float is wrong
                if self.built.refusal(unit) is not None:
                    return False
                last, made = i + 1 == len(units), unit.with_suffix(".o")
                same = made.read_bytes() == (self.objects / made.name).read_bytes()
                if same and not (last and differs):
                    continue
                differs = True
                self.built.link()
                for shard in shards(len(parts), last):
                    for part in sorted(parts, key=lambda part: seconds.get(part, 1)):
                        code, text = self.run(part, shard)
                        if code == 1:
                            failed = re.search(r"^(?:fail|crash|timeout) \S+", text, re.M)
                            return failed.group() if failed else part
            return None if differs else False
        finally:
            shutil.copy(mutant.path, target)
            for unit in self.units(mutant):
                shutil.copy(self.objects / unit.with_suffix(".o").name, unit.with_suffix(".o"))

    def run(self, part, shard):
        try:
            return variant.conform(self.keyway, self.built.library, *self.parts[part], "--jobs", "1", "--fail-fast", "--no-shrink",
                                   "--shard", shard, "--timeout-scale", "0.25")
        except subprocess.TimeoutExpired:
            return 1, f"timeout {part}"


def explanations():
    """survivors.txt: "file | line before | line after | why nothing can be seen" a row."""
    table = {}
    for row in (HERE / "survivors.txt").read_text().splitlines():
        if row and not row.startswith("#"):
            file, before, after, reason = (cell.strip() for cell in row.split("  |  ", 3))
            table[file, before, after] = reason
    return table


def choose(options, reach):
    """The mutants of this run: a sample that depends on the seed and the sources only, of lines that the suite reaches."""
    every = []
    for path in variant.reference_sources():
        if path.suffix != ".h" and path.name not in SKIPPED:
            reached = reach["lines"].get(path.name, {})
            lines = path.read_text().splitlines()
            every += [Mutant(path, lines, m) for m in mutations_of(path) if str(m[0]) in reached]
    every = [mutant for mutant in every if mutant.after is not None]
    if options.only:
        file, line = options.only.split(":")
        return [mutant for mutant in every if mutant.path.name == file and mutant.line == int(line)]
    # By a hash of each: a change of one line leaves the sample of the others as it is.
    return sorted(every, key=lambda m: hashlib.sha256(f"{options.seed} {m.place()}".encode()).digest())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=Path)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no further mutant after that time")
    parser.add_argument("--only")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    work = options.build.resolve() / "mutation"
    reach = json.loads((work / "reach.json").read_text())
    mutants = choose(options, reach)
    if options.list:
        for mutant in mutants[:options.count]:
            print(mutant.name())
        return
    keyway = variant.program(options.build, work / "program")
    benches = queue.Queue()
    for i in range(options.jobs):
        benches.put(Bench(options.build, work / f"bench{i}", keyway))
    began, table = time.monotonic(), explanations()
    results = []

    def out_of_time():
        return time.monotonic() - began > 60 * options.minutes

    def attempt(mutant):
        if out_of_time():
            return mutant, False
        bench = benches.get()
        try:
            parts = reach["lines"][mutant.path.name][str(mutant.line)]
            return mutant, bench.killed(mutant, parts, reach["seconds"])
        finally:
            benches.put(bench)

    candidates = iter(mutants)
    with ThreadPoolExecutor(options.jobs) as pool:
        while len(results) < options.count and not out_of_time():  # those that do not count are replaced by the next ones
            some = [m for _, m in zip(range(options.count - len(results)), candidates)]
            if not some:
                break
            for mutant, verdict in pool.map(attempt, some):
                if verdict is False:
                    continue
                results.append((mutant, verdict))
                if verdict is None:
                    reason = table.get((mutant.path.name, mutant.before, mutant.after), "")
                    print(f"survived {mutant.name()}\n    {reason or 'NOT EXPLAINED'}", flush=True)
    killed = sum(1 for _, verdict in results if verdict)
    survivors = [mutant for mutant, verdict in results if verdict is None]
    unexplained = [m for m in survivors if not table.get((m.path.name, m.before, m.after))]
    (work / "mutation.json").write_text(json.dumps(
        [{"mutant": mutant.name(), "killed_by": verdict} for mutant, verdict in results], indent=1))
    unlike = [m for m in survivors if table.get((m.path.name, m.before, m.after), "").startswith(OUT_OF_SIGHT)]
    telling = killed + len(unexplained) + len(unlike)
    print(f"killed {killed}/{len(results)}, {100 * killed / max(1, len(results)):.1f} %; {len(survivors)} survived: "
          f"{len(results) - telling} equivalent, {len(unlike)} out of the suite's sight, {len(unexplained)} not explained; without the equivalent ones "
          f"{100 * killed / max(1, telling):.1f} %; seed {options.seed}, {time.monotonic() - began:.0f} s")
    raise SystemExit(killed < 0.95 * telling or bool(unexplained))


if __name__ == "__main__":
    main()
