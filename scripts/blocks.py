#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: blocks.py list | run NAME... | ci | full [--again] [NAME...]

Reads the table of blocks, scripts/blocks.list; chooses, runs and records them, for scripts/block.sh, .ci/run and
scripts/full.sh, whose heads say what each does.

A commit's draw is the same wherever it is made: the fixed part; then the blocks of whose own inputs the commits of the
last 24 hours before the commit's date touched some; then the others; each of the two in the order of the hashes of
commit and name; as many as fit. A clone does not know which commit was run last, therefore the hours. Where all of the
history is younger than that, or is not there, all blocks count as touched.

A result is a section of a page, of build/blocks/NAME.md or bench/results/DATE-full.md, and names its command, its
commit and a hash of what git had of the inputs. It stands for a later run if it is the last one by that command at a
commit that has of the inputs, as the table names them now, what there is now; it passed; and none of them was changed
in the working tree, then or now.
"""
import functools
import hashlib
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "scripts/blocks.list"
RESULTS = ROOT / "build/blocks"
LOGS = ROOT / "build/logs"
PAGES = ROOT / "bench/results"

PLANNED_MINUTES = 50
# Minutes are estimates: a block that may end after this many is no longer begun.
LAST_MINUTE = 55
TOUCHED_HOURS = 24


def die(what):
    sys.exit(f"blocks: {what}")


def git(*arguments):
    done = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True)
    if done.returncode:
        die(f"git {arguments[0]} failed: {done.stderr.strip()}")
    return done.stdout


def short(commit):
    return git("rev-parse", "--short", commit).strip()


def listed(table):
    """Lines of a table with | between cells, lined up."""
    widths = [max(map(len, column)) for column in zip(*table)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in table]
    return [lines[0], "  ".join("-" * width for width in widths), *lines[1:]]


# ---- The table -------------------------------------------------------------------------------------------------------


class Block:
    def __init__(self, name, minutes, inputs, command, within=None):
        self.name, self.minutes, self.inputs, self.command, self.within = name, minutes, inputs, command, within
        self.fixed = "." in inputs
        # Its scripts are inputs, too, unlike a file that it writes.
        self.own = inputs + [word for word in shlex.split(command)
                             if (ROOT / word).is_file() and os.access(ROOT / word, os.X_OK)]


ROW = re.compile(r"(?P<name>[a-z0-9-]+) : (?P<minutes>[1-9][0-9]*) : (?P<inputs>(?:(?! : ).)+) : "
                 r"(?P<command>(?:(?! : ).)+)(?: : within (?P<within>\S+))?")


def covers(inputs, path):
    """Whether a file is among inputs: files, folders, !PATH for what is none, . for all."""

    def below(of):
        return of == "." or path == of or path.startswith(of + "/")

    return any(below(i) for i in inputs if i[0] != "!") and not any(below(i[1:]) for i in inputs if i[0] == "!")


def read_table(text):
    """(common inputs, blocks in their order)"""
    common, blocks, meant = None, {}, {}

    def inputs_of(words):
        for word in words.split():
            if word[0] == "@" and word not in meant:
                die(f"'{word}' stands for nothing in {TABLE.name}; write {word} : INPUTS above")
            yield from meant[word] if word[0] == "@" else [word]

    text = re.sub(r"(?m)^#.*\n?", "", text)
    for line in re.sub(r"\n[ \t]+(?=\S)", " ", text).splitlines():
        fields = [field.strip() for field in re.split(r"(?:^|\s):\s", line)]
        if fields == [""]:
            continue
        name = fields[0]
        if name == "common" and len(fields) == 2 and common is None:
            common = list(inputs_of(fields[1]))
            continue
        if name.startswith("@") and len(fields) == 2:
            meant[name] = list(inputs_of(fields[1]))
            continue
        row = ROW.fullmatch(" : ".join(fields))
        if not row:
            die(f"'{line}' is no row of {TABLE.name}; write NAME : MINUTES : INPUTS : COMMAND [: within NAME]")
        if name in blocks:
            die(f"'{name}' stands twice in {TABLE.name}; name one of them otherwise")
        blocks[name] = Block(name, int(row["minutes"]), list(inputs_of(row["inputs"])), row["command"], row["within"])
    if common is None:
        die(f"{TABLE.name} has no row 'common : INPUTS'; add one")
    return common, list(blocks.values())


def check_table(common, blocks, files):
    """Dies of a row that could not do what it says; files: those of the commit."""
    names = {block.name: block for block in blocks}
    fixed = sum(block.minutes for block in blocks if block.fixed)
    for block in [Block("common", 0, common, ""), *blocks]:
        for path in block.inputs:
            if path[0] != "!" and not any(covers([path], file) for file in files):
                die(f"{block.name}: its input '{path}' is not in the tree; name what it has become in {TABLE.name}")
    for block in blocks:
        if not os.access(ROOT / shlex.split(block.command)[0], os.X_OK):
            die(f"{block.name}: '{shlex.split(block.command)[0]}' is no program; name a script of this tree")
        if block.within is not None and (block.within not in names or names[block.within].within is not None):
            die(f"{block.name}: '{block.within}' is no block that stands for itself; name one after 'within'")
        if not block.fixed and fixed + block.minutes > PLANNED_MINUTES:
            die(f"{block.name}: {block.minutes} minutes beside {fixed} fixed ones are never drawn; split the block")


def load():
    """The table, with the word for a path or a name that is wrong."""
    common, blocks = read_table(TABLE.read_text())
    check_table(common, blocks, git("ls-files").splitlines())
    return common, blocks


def named(blocks, names):
    known = {block.name: block for block in blocks}
    for name in names:
        if name not in known:
            die(f"'{name}' is no block; the blocks are: {' '.join(known)}")
    return [known[name] for name in names]


# ---- The draw --------------------------------------------------------------------------------------------------------


def last_touched():
    """(what the commits of the last hours are counted from, as a person may read it; the files that they touched)"""
    head = int(git("log", "-1", "--format=%ct"))
    base = git("rev-list", "-1", "--first-parent", f"--before={head - TOUCHED_HOURS * 3600}", "HEAD").strip()
    if not base:
        return "the beginning", git("ls-files").splitlines()
    return short(base), git("diff", "--name-only", "--no-renames", base, "HEAD").splitlines()


def touched_blocks(blocks, files):
    """name -> the files of its own inputs that were touched, for the blocks that have such"""
    found = {block.name: [file for file in files if covers(block.own, file)] for block in blocks}
    return {name: of for name, of in found.items() if of}


def draw(blocks, touched, commit):
    """(the blocks to run, in their order; those that are not drawn)"""

    def lot(name):
        return hashlib.sha256(f"{commit} {name}".encode()).digest()

    def place(block):  # of a larger block and those within it the larger one comes first when it was touched
        of = block.within or block.name
        return of not in touched, lot(of), of in touched and block.within is not None, lot(block.name)

    planned = [block for block in blocks if block.fixed]
    for block in sorted((block for block in blocks if not block.fixed), key=place):
        minutes = sum(other.minutes for other in planned) + block.minutes
        excluded = any(other.name == block.within or other.within == block.name for other in planned)
        if minutes <= PLANNED_MINUTES and not excluded:
            planned.append(block)
    return planned, [block for block in blocks if block not in planned]


def draw_head(blocks):
    """(base, touched, planned, left) of the present commit"""
    base, files = last_touched()
    touched = touched_blocks(blocks, files)
    return (base, touched, *draw(blocks, touched, git("rev-parse", "HEAD").strip()))


def plan_text(base, planned):
    minutes = sum(block.minutes for block in planned)
    return f"{minutes} of at most {PLANNED_MINUTES} minutes on two cores; touched means since {base}"


def why(block, touched):
    if block.fixed:
        return "always"
    if block.name not in touched:
        return ""
    files = touched[block.name]
    return f"touched: {files[0]}" + (f" and {len(files) - 1} more" if len(files) > 1 else "")


# ---- Results ---------------------------------------------------------------------------------------------------------

SECTION = re.compile(
    r"^## (?P<name>\S+)\n\n(?P<verdict>Passed|Failed) (?P<date>\S+ \S+) UTC, commit (?P<commit>\S+), "
    r"inputs (?P<inputs>\S+), (?P<seconds>\d+) s:\n`(?P<command>[^\n]*)`\n\n```\n.*?^```$", re.M | re.S)
UNKNOWN = "modified"  # the inputs of a result that no commit has


@functools.lru_cache(maxsize=None)
def entries_of(commit):
    """What git has of a commit's files; None where it does not know the commit."""
    done = subprocess.run(["git", "-C", ROOT, "ls-tree", "-r", "-z", commit], capture_output=True, text=True)
    return [entry for entry in done.stdout.split("\0") if entry] if done.returncode == 0 else None


def committed_hash(block, common, commit):
    """Of the command and of what git has of the inputs at a commit; None where it does not know that."""
    entries = entries_of(commit)
    if entries is None:
        return None
    of = [entry for entry in entries if covers(common + block.own, entry.split("\t")[1])]
    return hashlib.sha256("\n".join([block.command, *of]).encode()).hexdigest()[:16]


def inputs_hash(block, common):
    """That of the present commit; UNKNOWN where the working tree has something else of the inputs."""
    status = git("status", "--porcelain", "-z", "--untracked-files=all", "--no-renames")
    if any(covers(common + block.own, entry[3:]) for entry in status.split("\0") if entry):
        return UNKNOWN
    return committed_hash(block, common, git("rev-parse", "HEAD").strip())


def sections(path):
    return [match.groupdict() | {"text": match.group(0)} for match in SECTION.finditer(path.read_text())]


def present_result(block, common):
    """The last result that a block has, here or on a page, with the inputs that are here; None where there is none."""
    inputs = inputs_hash(block, common)
    if inputs == UNKNOWN:
        return None

    def stands(result):
        if (result["name"], result["command"]) != (block.name, block.command) or result["inputs"] == UNKNOWN:
            return False
        return committed_hash(block, common, result["commit"]) == inputs

    pages = [path for path in [*sorted(PAGES.glob("*-full.md")), RESULTS / f"{block.name}.md"] if path.exists()]
    found = [result for page in pages for result in sections(page) if stands(result)]
    return sorted(found, key=lambda result: result["date"])[-1] if found else None


def record(block, passed, seconds, commit, inputs, output):
    fenced = re.sub("(?m)^```", " ```", output.rstrip())
    fenced = fenced.replace(f"{ROOT}/", "").replace(str(ROOT), ".")  # pages name no place of a machine
    text = (f"## {block.name}\n\n{'Passed' if passed else 'Failed'} {datetime.now(timezone.utc):%F %T} UTC, "
            f"commit {commit}, inputs {inputs}, {seconds} s:\n`{block.command}`\n\n"
            f"```\n{fenced}\n```\n")
    RESULTS.mkdir(parents=True, exist_ok=True)
    unfinished = RESULTS / f"{block.name}.new"
    unfinished.write_text(text)
    unfinished.rename(RESULTS / f"{block.name}.md")


# ---- Running ---------------------------------------------------------------------------------------------------------


def stream(command, log):
    """Runs a command, shows what it prints and keeps it in a file; (whether it passed, what it printed)"""
    # What ends this program waits until the process is known, so that it is ended, too.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    process = subprocess.Popen(shlex.split(command), cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
                               preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, before))
    lines = []
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        with log.open("w") as file:
            for line in process.stdout:
                print(line, end="", flush=True)
                file.write(line)
                lines.append(line)
        return process.wait() == 0, "".join(lines)
    finally:
        if process.poll() is None:  # this program is being ended
            os.killpg(process.pid, signal.SIGTERM)


def run_block(block, common):
    """Runs and records a block; whether it passed, and how long it took."""
    LOGS.mkdir(parents=True, exist_ok=True)
    commit, inputs, began = short("HEAD"), inputs_hash(block, common), time.monotonic()
    print(f"\n== {block.name}, {block.minutes} min: {block.command}", flush=True)
    passed, output = stream(block.command, LOGS / f"block-{block.name}.log")
    seconds = round(time.monotonic() - began)
    record(block, passed, seconds, commit, inputs if inputs_hash(block, common) == inputs else UNKNOWN, output)
    print(f"== {block.name}: {'passed' if passed else 'FAILED'}, {seconds} s", flush=True)
    return passed, seconds


def run_all(blocks, common, last_minute=None):
    """Runs blocks, whichever fail; rows of (block, how it went, time), and the blocks that failed. With last_minute no
    block is begun that may end later."""
    rows, failed, began = [], [], time.monotonic()
    for block in blocks:
        if last_minute is not None and (time.monotonic() - began) / 60 + block.minutes > last_minute:
            print(f"\n== {block.name}: not begun, it may end after minute {last_minute}", flush=True)
            rows.append((block.name, "NO TIME LEFT", ""))
            continue
        passed, seconds = run_block(block, common)
        rows.append((block.name, "passed" if passed else "FAILED", f"{seconds} s"))
        failed += [] if passed else [block]
    return rows, failed


def tell_failed(failed):
    for block in failed:
        print(f"{block.name} failed: its output is in build/logs/block-{block.name}.log; "
              f"alone: scripts/block.sh {block.name}")


def summary(rows, failed):
    print()
    print("\n".join(listed([("block", "result", "time"), *rows])))
    tell_failed(failed)
    print(flush=True)


def run(names):
    common, blocks = load()
    rows, failed = run_all(named(blocks, names), common)
    if len(names) > 1 or failed:
        summary(rows, failed)
    return 1 if failed else 0


def show_list():
    _, blocks = load()
    base, touched, planned, left = draw_head(blocks)
    rows = [(b.name, str(b.minutes), "drawn" if b in planned else "", why(b, touched), " ".join(b.inputs), b.command)
            for b in [*planned, *left]]
    print("\n".join(listed([("block", "min", "drawn", "why", "inputs besides the common ones", "command"), *rows])))
    print(f"\n{plan_text(base, planned)}.")
    return 0


def continuous_integration():
    began = time.monotonic()
    common, blocks = load()
    base, touched, planned, left = draw_head(blocks)

    def rows(of):
        return "\n".join(f"  {b.name:15} {b.minutes:3} min  {why(b, touched)}".rstrip() for b in of)

    print(f"planned: {plan_text(base, planned)}:\n{rows(planned)}")
    if left:
        print(f"not drawn (scripts/block.sh NAME runs one, scripts/full.sh all):\n{rows(left)}", flush=True)
    done, failed = run_all(planned, common, LAST_MINUTE)
    summary(done, failed)
    seconds = round(time.monotonic() - began)
    unbegun = [name for name, result, _ in done if result == "NO TIME LEFT"]
    if failed:
        how = f"{len(failed)} of {len(planned)} blocks failed: {' '.join(block.name for block in failed)}"
    elif unbegun:
        how = f"{len(planned) - len(unbegun)} blocks passed, no time was left for: {' '.join(unbegun)}"
    else:
        how = "all passed"
    print(f".ci/run: {how}. {seconds} s.")
    return 1 if failed else 0


# ---- All -------------------------------------------------------------------------------------------------------------


def first_line(command):
    return subprocess.run(command, capture_output=True, text=True).stdout.split("\n")[0]


def machine():
    model = re.search(r"(?m)^model name[^:]*: (.*)", Path("/proc/cpuinfo").read_text())
    return f"{os.cpu_count()} CPUs: {model.group(1) if model else 'unknown'}; {first_line(['gcc', '--version'])}; " \
        f"{first_line(['clang', '--version'])}"


def write_page(blocks, results):
    """bench/results/DATE-full.md of the results by name; (its path, its table)"""
    today = f"{datetime.now(timezone.utc):%F}"
    rows = [("block", "result", "date, UTC", "commit", "inputs", "time")]
    for block in blocks:
        of = results.get(block.name)
        rows.append((block.name, of["verdict"].lower(), of["date"], of["commit"], of["inputs"], f"{of['seconds']} s")
                    if of else (block.name, "not run", "", "", "", ""))
    table = "\n".join(listed(rows))
    texts = "\n\n".join(results[block.name]["text"] for block in blocks if block.name in results)
    PAGES.mkdir(parents=True, exist_ok=True)
    page = PAGES / f"{today}-full.md"
    page.write_text(f"# scripts/full.sh, {today}\n\n{machine()}.\n\n```\n{table}\n```\n\n{texts}\n")
    return page, table


def full(arguments):
    began = time.monotonic()
    again, names = "--again" in arguments, [argument for argument in arguments if argument != "--again"]
    common, blocks = load()
    wanted = named(blocks, names) if names else [block for block in blocks if block.within is None]
    results, failed = {}, []
    for block in blocks:
        known = present_result(block, common)
        if block in wanted and (again or not known or known["verdict"] != "Passed"):
            failed += [] if run_block(block, common)[0] else [block]
            known = sections(RESULTS / f"{block.name}.md")[0]
        elif block in wanted:
            print(f"== {block.name}: passed {known['date']} UTC at commit {known['commit']} with the same inputs",
                  flush=True)
        if known:
            results[block.name] = known
    shown = [block for block in blocks if block.within is None or block in wanted]
    page, table = write_page(shown, results)
    print(f"\n{table}")
    tell_failed(failed)
    how = f"failed: {' '.join(block.name for block in failed)}" if failed else "all passed"
    print(f"\nscripts/full.sh: {how}. {round(time.monotonic() - began)} s. Written to {page.relative_to(ROOT)}.")
    return 1 if failed else 0


def main(arguments):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that a running block is ended, too
    match arguments:
        case ["list"]:
            return show_list()
        case ["run", *names] if names:
            return run(names)
        case ["ci"]:
            return continuous_integration()
        case ["full", *rest]:
            return full(rest)
    sys.exit(__doc__.split("\n")[0])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
