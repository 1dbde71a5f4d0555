#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of architecture_check.py: a small tree that passes, and then breaks in each of the ways that the check is for."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECK = Path(__file__).resolve().parent / "architecture_check.py"
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | {
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
HEAD = "/* SPDX-License-Identifier: Apache-2.0\n *\n * A file of the test's tree.\n */\n"
TREE = {
    "CMakeLists.txt": """cmake_minimum_required(VERSION 3.22)
project(small LANGUAGES C)
file(GLOB sources core/*/*.c)
add_library(core STATIC ${sources})
target_include_directories(core PRIVATE core)
""",
    "CONTRIBUTING.md": "See `core/low/base.c`.\n",
    "docs/architecture.md": "`core/high/top.c` is the top.\n",
    "tests/architecture.txt": "rooms core: low < high\npart core:\n",
    "core/low/base.h": HEAD + "int base(void);\n",
    "core/low/base.c": HEAD + '#include "low/base.h"\n\nint base(void) {\n  return 1;\n}\n',
    "core/low/more.h": HEAD + "int more(void);\n",
    "core/low/more.c": HEAD + '#include "low/more.h"\n#include "low/base.h"\n\nint more(void) {\n  return base();\n}\n',
    "core/high/top.h": HEAD + "int top(void);\n",
    "core/high/top.c": HEAD + '#include "high/top.h"\n#include "low/more.h"\n\nint top(void) {\n  return more();\n}\n',
}


class Check(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="architecture-")
        self.addCleanup(directory.cleanup)
        self.tree = Path(directory.name).resolve() / "tree"
        for name, text in TREE.items():
            self.write(name, text)

    def write(self, name, text):
        path = self.tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def append(self, name, text):
        self.write(name, (self.tree / name).read_text() + text)

    def run_check(self):
        """Builds the tree and checks it; (exit code, output)."""
        build = self.tree.parent / "build"
        for command in (["git", "init", "-q"], ["git", "add", "-A"], ["cmake", "-G", "Ninja", "-S", ".", "-B", str(build)],
                        ["cmake", "--build", str(build)]):
            subprocess.run(command, cwd=self.tree, check=True, capture_output=True, env=ENVIRONMENT)
        done = subprocess.run([sys.executable, str(CHECK), str(self.tree), str(build)], capture_output=True, text=True,
                              env=ENVIRONMENT)
        return done.returncode, done.stdout + done.stderr

    def assert_fails(self, *sentences):
        code, output = self.run_check()
        self.assertEqual(code, 1, output)
        for sentence in sentences:
            self.assertIn(sentence, output)

    def test_a_tree_in_order_passes(self):
        self.assertEqual(self.run_check(), (0, "3 objects, 0 seams, 0 circles excused, 0 failures\n"))

    def test_a_call_upwards_names_both_ends(self):
        self.append("core/low/base.c", "\nint top(void);\n\nint upwards(void) {\n  return top();\n}\n")
        self.assert_fails("core/low/base.c uses top of core/high/top.c: room low of core may not use room high")

    def test_an_include_upwards_names_both_ends(self):
        self.append("core/low/base.c", '\n#include "high/top.h"\n')
        self.assert_fails("core/low/base.c includes core/high/top.h: room low of core may not use room high")

    def test_an_include_upwards_in_a_header(self):
        self.append("core/low/more.h", '\n#include "high/top.h"\n')
        self.assert_fails("core/low/more.h includes core/high/top.h: room low of core may not use room high")

    def test_a_circle_of_files_is_walked_through(self):
        self.append("core/low/base.c", "\nint more(void);\n\nint around(void) {\n  return more();\n}\n")
        self.assert_fails("2 files call each other in a circle in core: core/low/base.c -> core/low/more.c -> "
                          "core/low/base.c")

    def test_a_long_function_is_named(self):
        body = "".join(f"  n += {i};\n" for i in range(79))
        self.append("core/low/base.c", f"\nint long_one(int n) {{\n{body}  return n;\n}}\n")
        self.assert_fails("core/low/base.c:11: long_one has 82 lines, 80 at most")

    def test_eighty_lines_are_fine(self):
        body = "".join(f"  n += {i};\n" for i in range(77))
        self.append("core/low/base.c", f"\nint long_one(int n) {{\n{body}  return n;\n}}\n")
        self.assertEqual(self.run_check()[0], 0)

    def test_a_long_file_is_named_unless_it_is_a_table(self):
        self.append("core/low/base.c", "\n/* more */" * 700 + "\n")
        self.assert_fails("core/low/base.c has 710 lines, 700 at most")
        self.append("tests/architecture.txt", "table core/low/base.c : it is one\n")
        self.assertEqual(self.run_check()[0], 0)

    def test_a_file_that_does_not_say_what_it_is_is_named(self):
        self.write("core/low/base.c", "/* SPDX-License-Identifier: Apache-2.0 */\n" + TREE["core/low/base.c"][len(HEAD):])
        self.assert_fails("core/low/base.c:1: does not open with a sentence that says what the file is")

    def test_a_wide_line_is_named(self):
        self.append("core/low/base.c", f"\n/* {'x' * 120} */\n")
        self.assert_fails("core/low/base.c:11: 1 lines of more than 120 columns")

    def test_a_pointer_set_at_run_time_is_a_seam_to_be_listed(self):
        self.append("core/low/base.c", "\nstatic int (*hook)(void);\n\nvoid install(int (*given)(void)) {\n  hook = given;\n"
                                       "}\n\nint use(void) {\n  return hook();\n}\n")
        self.assert_fails("core/low/base.c: 'hook' is a pointer to a function that is set at run time")
        self.append("tests/architecture.txt", "seam core/low/base.c hook : because\n")
        self.assertEqual(self.run_check()[0], 0)

    def test_an_array_of_pointers_is_a_seam_too(self):
        self.append("core/low/base.c", "\nint (*hooks[4])(void);\n")
        self.assert_fails("core/low/base.c: 'hooks' is a pointer to a function that is set at run time")

    def test_a_file_in_no_room_is_named(self):
        self.write("core/odd/odd.c", HEAD + "\nint odd(void);\n\nint odd(void) {\n  return 1;\n}\n")
        self.assert_fails("core/odd/odd.c is in no room")

    def test_more_than_twelve_seams_are_too_many(self):
        for i in range(13):
            self.append("core/low/base.c", f"\nint (*hook_{i})(void);\n")
            self.append("tests/architecture.txt", f"seam core/low/base.c hook_{i} : because\n")
        self.assert_fails("lists 13 seams: 12 at most")

    def test_an_exception_that_excuses_nothing_fails(self):
        self.append("tests/architecture.txt", "seam core/low/base.c gone : because\n")
        self.assert_fails("the exception 'seam core/low/base.c gone' excuses nothing any more")

    def test_a_page_may_not_name_what_is_not_there(self):
        self.append("docs/architecture.md", "And `core/low/gone.c`.\n")
        self.assert_fails("docs/architecture.md names core/low/gone.c, which is not there")

    def test_an_unknown_word_in_the_plan_is_an_error(self):
        self.append("tests/architecture.txt", "wall core : no\n")
        self.assert_fails("does not know 'wall'")


if __name__ == "__main__":
    unittest.main()
