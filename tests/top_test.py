#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: top_test.py KEYWAY PROGRAM DEVICE [PLUGIN]

`keyway top` beside a program (top_program.c) that holds a stream of DEVICE busy: what is shown, who may read it, what is
left of programs that end, and how the terminal is given back.
"""
import json
import os
import pty
import signal
import stat
import subprocess
import sys
import tempfile
import termios
import time
import unittest
from pathlib import Path

KEYWAY, PROGRAM, DEVICE, *PLUGIN = sys.argv[1:]
CALLS = 37
LIMIT = 120  # seconds for what takes one at most


class Top(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="keyway-top-")
        self.addCleanup(temporary.cleanup)
        self.runtime = Path(temporary.name)
        self.files = self.runtime / "keyway"
        self.environment = os.environ | {"XDG_RUNTIME_DIR": temporary.name}
        self.environment.pop("KEYWAY_TOP", None)

    def top(self, *options):
        return subprocess.run([KEYWAY, "top", *options], env=self.environment, check=True, capture_output=True, text=True,
                              timeout=LIMIT).stdout

    def processes(self):
        return json.loads(self.top("--json"))["processes"]

    def start(self, shown=True):
        """The program, once it holds its stream busy."""
        environment = self.environment | ({"KEYWAY_TOP": "1"} if shown else {})
        program = subprocess.Popen([PROGRAM, DEVICE, str(CALLS), *PLUGIN], env=environment, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE)
        self.addCleanup(program.stdout.close)
        self.addCleanup(program.stdin.close)
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        self.assertEqual(b"ready\n", program.stdout.readline())
        return program

    def wait_for(self, what):
        """What `what` gives, once it is true."""
        end = time.monotonic() + LIMIT
        while not (result := what()):
            self.assertLess(time.monotonic(), end, f"after {LIMIT} s; keyway top says: {self.top('--json')}")
            time.sleep(0.05)
        return result

    def shown(self):
        return self.wait_for(self.processes)

    def test_nothing_unless_asked_for(self):
        program = self.start(shown=False)
        self.assertEqual([], self.processes())
        self.assertIn("KEYWAY_TOP=1", self.top("--once"))
        program.stdin.close()
        self.assertEqual(0, program.wait(LIMIT))
        self.assertFalse(self.files.exists())

    def test_a_process_is_shown(self):
        program = self.start()
        process, = self.shown()
        self.assertEqual(program.pid, process["pid"])
        self.assertEqual("top_program", process["program"])
        device, = process["devices"]
        self.assertEqual(DEVICE, device["name"])
        self.assertEqual(CALLS, device["launches"])
        self.assertEqual(0, device["fallbacks"])
        self.assertGreaterEqual(device["allocated"], 2 << 18)
        self.assertGreaterEqual(device["held"], device["allocated"])
        # A stream is busy at each look once it is, and no call is made any more.
        self.wait_for(lambda: self.processes()[0]["devices"][0]["busy"] == 1)
        self.wait_for(lambda: self.processes()[0]["devices"][0]["launches_per_second"] == 0)
        text = self.top()
        self.assertIn("100 %", text)
        self.assertIn(f"{program.pid}  top_program  {DEVICE}", text)

    def test_only_the_user_may_read_it(self):
        program = self.start()
        self.shown()
        self.assertEqual(0o700, stat.S_IMODE(self.files.stat().st_mode))
        self.assertEqual(0o600, stat.S_IMODE((self.files / str(program.pid)).stat().st_mode))

    def test_a_process_that_ends_takes_its_file_along(self):
        program = self.start()
        self.shown()
        program.stdin.close()
        self.assertEqual(0, program.wait(LIMIT))
        self.assertEqual([], os.listdir(self.files))

    def test_files_of_dead_processes_are_removed(self):
        program = self.start()
        self.shown()
        program.kill()
        program.wait(LIMIT)
        (self.files / f"{program.pid}.0123").write_text("half")
        self.assertEqual([], self.processes())
        self.assertEqual([], os.listdir(self.files))

    def test_another_process_of_the_same_id_is_not_taken_for_it(self):
        program = self.start()
        self.shown()
        text = (self.files / str(program.pid)).read_text()
        mine = self.files / str(os.getpid())
        mine.write_text(text.replace(f"process {program.pid} ", f"process {os.getpid()} "))
        self.assertEqual([program.pid], [process["pid"] for process in self.processes()])
        self.assertFalse(mine.exists())

    def test_what_makes_no_sense_is_passed_over(self):
        self.files.mkdir(0o700)
        (self.files / str(os.getpid())).write_text("keyway-live 1\nprocess nonsense\n")
        (self.files / "readme").write_text("hello")
        os.mkfifo(self.files / "1")
        self.assertEqual([], self.processes())
        self.files.chmod(0o777)  # others may write there
        self.start()
        self.assertEqual([], self.processes())

    def in_terminal(self, end):
        """The status of `keyway top` in a terminal, after `end(terminal, process)`, and what it printed."""
        try:
            terminal, its = pty.openpty()
        except OSError as error:  # as in a root without /dev/pts
            self.skipTest(f"there is no terminal to be had here: {error}")
        before = termios.tcgetattr(its)
        process = subprocess.Popen([KEYWAY, "top"], env=self.environment, stdin=its, stdout=its, stderr=its,
                                   start_new_session=True)
        printed = b""
        while b"q ends it" not in printed:
            printed += os.read(terminal, 4096)
        self.assertNotEqual(before, termios.tcgetattr(its))
        end(terminal, process)
        status = process.wait(LIMIT)
        self.assertEqual(before, termios.tcgetattr(its))
        os.set_blocking(terminal, False)
        printed += os.read(terminal, 1 << 16)
        os.close(terminal)
        os.close(its)
        self.assertTrue(printed.endswith(b"\x1b[?1049l"), printed)
        return status

    def test_the_terminal_is_given_back(self):
        self.assertEqual(0, self.in_terminal(lambda terminal, _: os.write(terminal, b"q")))
        self.assertEqual(0, self.in_terminal(lambda terminal, _: os.write(terminal, b"\x03")))
        self.assertEqual(143, self.in_terminal(lambda _, process: process.send_signal(signal.SIGTERM)))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
