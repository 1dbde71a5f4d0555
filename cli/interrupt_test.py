#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C while a command is inside a kernel that never ends: the program ends with 130, leaves no file that was not
there, and no process.

usage: interrupt_test.py KEYWAY NEVER_ENDS_PLUGIN
"""
import json
import os
import select
import signal
import subprocess
import sys
import tempfile

KEYWAY, PLUGIN = sys.argv[1:3]
ADDENDS = ["--in", "a.npy", "--in", "a.npy"]
ON_IT = ["--device", "never_ends:0", "--plugin", PLUGIN]


def run(*arguments, **more):
    subprocess.run([KEYWAY, *arguments], check=True, stdout=subprocess.DEVNULL, env={**os.environ, **more})


def wait_for_kernel(fifo, process):
    """Until a kernel opens the FIFO, or the process ends without."""
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(reader, True)
    poll = select.poll()
    poll.register(reader, select.POLLIN | select.POLLHUP)
    ended = os.pidfd_open(process.pid)
    poll.register(ended, select.POLLIN)
    happened = {descriptor for descriptor, _ in poll.poll()}
    os.close(reader)
    os.close(ended)
    return reader in happened


def group_is_empty(group):
    """Whether no process of it is left but zombies, which the init of this container may be slow to collect."""
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = open(f"/proc/{entry}/stat").read().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == group and fields[0] not in "ZX":
            return False
    return True


def interrupt(arguments, number, code):
    """Problems of one command that gets the signal in its kernel."""
    with tempfile.TemporaryDirectory() as elsewhere:
        fifo = os.path.join(elsewhere, "fifo")
        os.mkfifo(fifo)
        before = sorted(os.listdir("."))
        process = subprocess.Popen([KEYWAY, *arguments, *ON_IT], env={**os.environ, "FIXTURE_FIFO": fifo},
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
        name = "keyway " + " ".join(arguments)
        if not wait_for_kernel(fifo, process):
            return [f"{name}: ends by itself, without a kernel: {process.communicate()[0]}"]
        process.send_signal(number)
        output = process.communicate(timeout=300)[0]
        problems = []
        if process.returncode != code:
            problems.append(f"{name}: ends with {process.returncode}, not {code}: {output}")
        if sorted(os.listdir(".")) != before:
            problems.append(f"{name}: leaves {sorted(set(os.listdir('.')) - set(before))}")
        if not group_is_empty(process.pid):
            problems.append(f"{name}: leaves a process")
        return problems


def main():
    commands = [["eval", "add.Tensor", *ADDENDS, "--out", "out.npy"],
                ["bench", "--op", "add.Tensor", "--svg", "bench.svg"],
                ["warm", "--op", "add.Tensor"],
                ["replay", "run.kwcapture", "--cut", "cut.kwcapture", "--against", "cpu:0"],
                ["conform", "--op", "add.Tensor", "--suite", "ops"]]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("a.npy", "wb") as file:
            header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }"
            header += b" " * (-(len(header) + 11) % 64) + b"\n"
            file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(16))
        run("eval", "add.Tensor", "--device", "cpu:0", *ADDENDS, KEYWAY_LAYERS="capture",
            KEYWAY_CAPTURE="run.kwcapture")
        problems = []
        for command in commands:
            for number, code in (signal.SIGINT, 130), (signal.SIGTERM, 143):
                problems += interrupt(command, number, code)
        os.chdir("/")
    print(json.dumps(problems, indent=1))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
