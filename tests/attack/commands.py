#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: commands.py BUILD [--share K/M] [--command NAME] [--program NAME [--number K]] [--function NAME [--at N]]

Every function of libc that asks the kernel for something fails once while a command of the program `keyway` runs: in the
program itself, in its helpers (keyway-probe), its workers (keyway-worker) and the processes of isolated plugins
(keyway-plugin-host). BUILD is a build folder. The command ends as its help says and without a wrong verdict, says why when
it does not do what was asked, leaves no process and no file behind, writes whole files or none, and works the next time.

  --share K/M      of all that there is to try every M-th, beginning with the K-th
  --command NAME   only this command (as printed)
  --program NAME   only in processes of this program, with --number only in the K-th of them
  --function NAME  only this function, with --at only its N-th call; then the command's output is shown
"""
import argparse
import ctypes
import json
import mmap
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WATCHDOG = 600  # seconds for a command that takes one, on a machine however busy
FUNCTIONS = 128  # of failing.h, as the next ones
PROCESSES = 512
PROCESS_SIZE = 32 + 8 * FUNCTIONS
FILE_SIZE = 8 + PROCESSES * PROCESS_SIZE
PR_SET_CHILD_SUBREAPER = 36
ALL, SOME = 60, 20  # the first so many calls of a function in a process, and every so many of the others: clocks go round

INPUT = b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + (
    b"{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }".ljust(117) + b"\n") + struct.pack("<4f", 1, 2, 3, 4)


class Command:
    """One way to run the program: its arguments, files that it writes, and what to make of them."""

    def __init__(self, name, arguments, environment=None, cold=False, writes=(), judge=None, prepare=None):
        self.name, self.arguments, self.environment = name, arguments, environment or {}
        self.cold = cold  # nothing is kept from the run before
        self.writes, self.judge, self.prepare = writes, judge, prepare


def judge_report(run, reference):
    """A report is whole, no verdict is one on cases that did not run, and a case that fails says that memory was short: it
    cannot tell whose."""
    text = run.files.get("report.json")
    if text is None:
        return None if run.code == 2 else f"exit status {run.code}, and no report"
    report, whole = json.loads(text), json.loads(reference.files["report.json"])
    bad = [c for c in report["cases"] if c["outcome"] in ("fail", "crash", "timeout")
           and "out of memory" not in c.get("text", "")]
    if bad:
        return "blames the device: " + "; ".join(f"{c['case']}: {c['outcome']} {c.get('text', '')}" for c in bad[:3])
    outcomes = {c["case"]: c["outcome"] for c in report["cases"]}
    good = {c["case"]: c["outcome"] for c in whole["cases"]}
    if report["verdict"] == "conformant" and "not tried" not in run.out and outcomes != good:
        odd = [f"{case}: {outcome}" for case, outcome in outcomes.items() if good.get(case) != outcome]
        return f"conformant, with other outcomes: {odd[:3]}"
    return None


def judge_array(run, reference):
    """An array is right or not there."""
    text = run.files.get("y.npy")
    if text is not None and text != reference.files["y.npy"]:
        return "another result"
    return "no result" if run.code == 0 and text is None else None


def judge_text(run, reference):
    """What is said in full goes with status 0 only if it is right."""
    return "says another thing with status 0" if run.code == 0 and run.out != reference.out and not run.err else None


CONFORM = ["conform", "--device", "cpu:0", "--suite", "event,exit,ops", "--op", "neg", "--quick", "--shard", "1/16",
           "--jobs", "1", "--json", "report.json"]
GIVEN = ["conform", "--device", "cpu:0", "--suite", "ops", "--op", "neg", "--quick", "--json", "given.json"]
EVAL = ["eval", "add.Tensor", "--device", "cpu:0", "--in", "x.npy", "--in", "x.npy", "--out", "y.npy"]
ISOLATED = {"KEYWAY_ISOLATE": "cpu"}
COMMANDS = [
    Command("list cold", ["list"], cold=True, judge=judge_text),
    Command("list", ["list"], judge=judge_text),
    Command("doctor", ["doctor"]),
    Command("eval", EVAL, writes=["y.npy"], judge=judge_array),
    Command("eval isolated", EVAL, ISOLATED, writes=["y.npy"], judge=judge_array),
    Command("conform", CONFORM, writes=["report.json"], judge=judge_report),
    Command("conform isolated", CONFORM, ISOLATED, writes=["report.json"], judge=judge_report),
    Command("report show", ["report", "show", "given.json"], judge=judge_text, prepare=GIVEN),
    Command("report merge", ["report", "merge", "given.json", "--json", "report.json"], writes=["report.json"],
            prepare=GIVEN),
    Command("capture", EVAL, {"KEYWAY_LAYERS": "capture", "KEYWAY_CAPTURE": "run.kwc"},
            writes=["y.npy", "run.kwc", "run.kwc.part"], judge=judge_array),  # what is not whole is kept under that name
    Command("replay", ["replay", "given.kwc", "--device", "cpu:0"], judge=judge_text, prepare=EVAL),
    Command("warm", ["warm", "--device", "cpu:0", "--op", "neg"]),
]


class Run:
    """What came of a command."""

    def __init__(self, code, out, err, files, left, counts, failed):
        self.code, self.out, self.err, self.files, self.left = code, out, err, files, left
        self.counts, self.failed = counts, failed


def children():
    """Processes that are this one's: it takes in those that others have left."""
    found = []
    for task in Path("/proc/self/task").iterdir():
        found += [int(pid) for pid in (task / "children").read_text().split()]
    return found


def end_leftovers():
    """Those that are left behind, but not on their way out; and ends them."""
    left = []
    until = time.monotonic() + 10  # those that are killed may take a while to be gone
    while children() and time.monotonic() < until:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.005)
        except ChildProcessError:
            break
    for pid in children():
        left.append(Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip())
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return left


class Place:
    """Where commands run: folders of their own, and what the library that fails writes."""

    def __init__(self, build, folder):
        self.program = build / "bin/keyway"
        self.library = build / "tests/attack/libkeyway_failing.so"
        self.folder, self.work, self.home, self.tmp = folder, folder / "work", folder / "home", folder / "tmp"
        self.calls = folder / "calls"
        names = ctypes.CDLL(str(self.library)).failing_function
        names.restype = ctypes.c_char_p
        self.functions = []
        while (name := names(len(self.functions))) is not None:
            self.functions.append(name.decode())
        for path in (self.work, self.home, self.tmp):
            path.mkdir()
        (self.work / "x.npy").write_bytes(INPUT)

    def forget(self):
        shutil.rmtree(self.home)
        self.home.mkdir()

    def start(self, arguments, extra, plan):
        environment = dict(os.environ, HOME=str(self.home), XDG_CACHE_HOME=str(self.home), TMPDIR=str(self.tmp),
                           KEYWAY_PLUGINS="-opencl,-cuda,-hip,-levelzero", **extra)
        if plan is not None:
            with open(self.calls, "wb") as file:
                file.truncate(FILE_SIZE)
            environment |= {"LD_PRELOAD": str(self.library), "KEYWAY_FAILING_FILE": str(self.calls),
                            "KEYWAY_FAILING": plan}
        return subprocess.Popen([self.program, *arguments], cwd=self.work, env=environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, command, plan=""):
        """The plan None: without the library that fails."""
        if command.cold:
            self.forget()
        before = set(os.listdir(self.work))
        process = self.start(command.arguments, command.environment, plan)
        try:
            out, err = process.communicate(timeout=WATCHDOG)
            code = process.returncode
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            code = "hang"
        left = end_leftovers()
        left += [str(p) for p in self.tmp.rglob("*")]
        left += sorted(set(os.listdir(self.work)) - before - set(command.writes))
        files = {}
        for name in command.writes:
            if (self.work / name).exists():
                files[name] = (self.work / name).read_bytes()
                (self.work / name).unlink()
        counts, failed = self.read_counts() if plan is not None else ({}, False)
        return Run(code, out.decode(), err.decode(), files, left, counts, failed)

    def read_counts(self):
        """(program, number, function) -> calls; and whether one has failed."""
        counts, numbers = {}, {}
        with open(self.calls, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as memory:
            failed, count = struct.unpack_from("<II", memory)
            for i in range(min(count, PROCESSES)):
                at = 8 + i * PROCESS_SIZE
                program = memory[at:at + 32].split(b"\0")[0].decode()
                numbers[program] = numbers.get(program, 0) + 1
                for function, calls in zip(self.functions, struct.unpack_from(f"<{FUNCTIONS}q", memory, at + 32)):
                    if calls:
                        counts[program, numbers[program], function] = calls
        return counts, failed != 0


def find_wrong(command, run, reference):
    """What is wrong with the run, as a text; None."""
    if run.code == "hang":
        return "hangs"
    if run.code < 0:
        return f"crashes ({signal.Signals(-run.code).name})"
    if run.code > 5:
        return f"exit status {run.code}"
    if run.left:
        return f"left behind: {run.left}"
    if run.code != 0 and not (run.err + run.out).strip():
        return f"exit status {run.code} without a word"
    return command.judge(run, reference) if command.judge else None


class Sweep:
    def __init__(self, place, only):
        self.place, self.only = place, only
        self.turn = self.tried = self.held = 0

    def is_mine(self, program, number, function):
        o = self.only
        return (o.program in (None, program) and o.number in (None, number) and o.function in (None, function)
                and function != "memory")

    def is_in_share(self):
        self.turn += 1
        first, stride = self.only.share
        return (self.turn - 1) % stride == first - 1

    def try_one(self, command, reference, plan):
        run = self.place.run(command, plan)
        if not run.failed:
            return  # processes side by side do not make the same calls each time
        self.tried += 1
        wrong = find_wrong(command, run, reference)
        if wrong is None:
            after = self.place.run(command, None)
            wrong = find_wrong(command, after, reference)
            if wrong is None and after.code != reference.code:
                wrong = f"exit status {after.code}: {after.err}"
            wrong = wrong and "afterwards: " + wrong
        if self.only.at is not None:
            print(run.out + run.err, end="")
        if wrong is None:
            self.held += 1
            return
        print(f"  {command.name}: {plan}: {wrong}", flush=True)
        self.place.forget()

    def sweep(self, command):
        place, only = self.place, self.only
        if command.prepare:
            environment = {"KEYWAY_LAYERS": "capture", "KEYWAY_CAPTURE": "given.kwc"} if command.name == "replay" else {}
            process = place.start(command.prepare, environment, None)
            process.communicate(timeout=WATCHDOG)
        place.run(command)
        reference = place.run(command)
        if reference.code != 0 or find_wrong(command, reference, reference):
            print(f"  {command.name} goes wrong by itself: {find_wrong(command, reference, reference)}: {reference.err}")
            self.tried += 1
            return
        before = self.tried, self.held
        for (program, number, function), calls in sorted(reference.counts.items()):
            if not self.is_mine(program, number, function):
                continue
            for at in range(1, calls + 1) if only.at is None else [only.at]:
                if (at <= ALL or at % SOME == 0) and self.is_in_share():
                    self.try_one(command, reference, f"{program}:{number}:{function}:{at}")
        tried, held = self.tried - before[0], self.held - before[1]
        if tried:
            print(f"  {command.name:18} {held} of {tried}", flush=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n", 1)[0].removeprefix("usage: "), add_help=True)
    parser.add_argument("build", type=lambda text: Path(text).resolve())
    parser.add_argument("--share", type=lambda text: tuple(int(n) for n in text.split("/")), default=(1, 1))
    parser.add_argument("--command", choices=[c.name for c in COMMANDS])
    parser.add_argument("--program")
    parser.add_argument("--number", type=int)
    parser.add_argument("--function")
    parser.add_argument("--at", type=int)
    only = parser.parse_args()
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    with tempfile.TemporaryDirectory(prefix="keyway-attack-") as folder:
        sweep = Sweep(Place(only.build, Path(folder)), only)
        for command in COMMANDS:
            if only.command in (None, command.name):
                sweep.sweep(command)
    print(f"commands: {sweep.held} of {sweep.tried} calls that failed were taken as they should be")
    return 0 if sweep.held == sweep.tried > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
