#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/blocks.py: the draw on the tree's own table, results and runs in a repository made for the test."""
import contextlib
import importlib.util
import io
import os
import select
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "scripts/blocks.py"
HASHES = [f"{number:040x}" for number in range(400)]
# What git says must not depend on who runs the test.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | {
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@b",
    "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@b"}


def load_blocks():
    spec = importlib.util.spec_from_file_location("blocks", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


blocks = load_blocks()


class Draw(unittest.TestCase):
    """On the table of this tree."""

    def setUp(self):
        self.common, self.table = blocks.read_table(blocks.TABLE.read_text())
        self.every = {block.name: ["file"] for block in self.table}

    def draws(self, touched, hashes=HASHES):
        return [blocks.draw(self.table, touched, commit) for commit in hashes]

    def test_fixed_part_comes_first(self):
        fixed = [block for block in self.table if block.fixed]
        self.assertEqual(["test"], [block.name for block in fixed])
        self.assertLessEqual(sum(block.minutes for block in fixed), 25)
        for planned, _ in self.draws({}):
            self.assertEqual(fixed, planned[:len(fixed)])

    def test_touched_comes_before_others(self):
        for touched in ["cuda"], ["pytorch"], ["npu", "hip", "races"]:
            for planned, _ in self.draws(dict.fromkeys(touched, ["file"])):
                self.assertEqual(set(touched), {block.name for block in planned[1:1 + len(touched)]})

    def test_same_commit_draws_the_same(self):
        for commit in HASHES[:20]:
            self.assertEqual(*self.draws({}, [commit, commit]))

    def test_commits_draw_differently(self):
        names = {tuple(block.name for block in planned) for planned, _ in self.draws({})}
        self.assertGreater(len(names), len(HASHES) // 2)

    def test_minutes_are_planned_up_to_the_limit(self):
        for touched in {}, {"cuda": ["file"]}, self.every:
            for planned, left in self.draws(touched):
                minutes = sum(block.minutes for block in planned)
                self.assertLessEqual(minutes, blocks.PLANNED_MINUTES)
                names = {name for block in planned for name in (block.name, block.within)}
                for block in left:  # only what does not fit is left, or one of which another does a part, or all
                    if not {block.name, block.within} & (names - {None}):
                        self.assertGreater(minutes + block.minutes, blocks.PLANNED_MINUTES, block.name)

    def test_touched_block_is_not_replaced_by_one_within_it(self):
        for planned, _ in self.draws({"pytorch": ["file"], "pytorch-sample": ["file"]}):
            self.assertIn("pytorch", {block.name for block in planned})

    def test_never_a_block_beside_the_one_it_is_within(self):
        for planned, _ in self.draws({}) + self.draws(self.every):
            self.assertFalse({block.within for block in planned} & {block.name for block in planned})

    def test_all_is_planned_or_left(self):
        for planned, left in self.draws({}):
            self.assertEqual(sorted(block.name for block in self.table), sorted(block.name for block in planned + left))

    def test_every_block_is_drawn_for_some_commit(self):
        for touched in {}, self.every:
            drawn = {block.name for planned, _ in self.draws(touched) for block in planned}
            self.assertEqual({block.name for block in self.table}, drawn)

    def test_no_block_begins_that_may_end_too_late(self):
        begun = []

        def run_block(block, common):  # takes half an hour
            begun.append(block.name)
            return True, 1800

        table = [blocks.Block(name, minutes, ["x"], "true") for name, minutes in (("a", 20), ("b", 26), ("c", 20))]
        with mock.patch.object(blocks.time, "monotonic", lambda: 1800 * len(begun)), \
                mock.patch.object(blocks, "run_block", run_block), contextlib.redirect_stdout(io.StringIO()):
            rows, failed = blocks.run_all(table, [], last_minute=55)
        self.assertEqual((["a", "c"], []), (begun, failed))
        self.assertEqual(("b", "NO TIME LEFT", ""), rows[1])


class Table(unittest.TestCase):
    def refused(self, text, word):
        with self.assertRaisesRegex(SystemExit, word):
            common, table = blocks.read_table(text)
            blocks.check_table(common, table, ["a/file"])

    def test_rows(self):
        text = "# c : d\ncommon : a b\n\nx : 3 : c\n    d : run --it : within y\ny : 4 : . !e : run\n"
        common, (x, y) = blocks.read_table(text)
        self.assertEqual(["a", "b"], common)
        self.assertEqual(("x", 3, ["c", "d"], "run --it", "y"), (x.name, x.minutes, x.inputs, x.command, x.within))
        self.assertEqual((False, True, None), (x.fixed, y.fixed, y.within))

    def test_a_name_for_inputs(self):
        _, (x,) = blocks.read_table("common : a\n@b : c !c/d\nx : 3 : e @b f : run\n")
        self.assertEqual(["e", "c", "!c/d", "f"], x.inputs)

    def test_wrong_rows_are_named(self):
        good, program = "common : a\n", "scripts/test.sh"
        self.refused(f"x : 1 : a : {program}\n", "has no row 'common")
        self.refused(f"{good}x : 1 : {program}\n", "is no row")
        self.refused(f"{good}x : soon : a : {program}\n", "is no row")
        self.refused(f"{good}x : 1 : a : {program}\nx : 1 : a : {program}\n", "'x' stands twice")
        self.refused(f"{good}x : 1 : @b : {program}\n@b : a\n", "'@b' stands for nothing")
        self.refused(f"{good}x : 1 : gone : {program}\n", "x: its input 'gone' is not in the tree")
        self.refused(f"common : gone\nx : 1 : a : {program}\n", "common: its input 'gone' is not in the tree")
        self.refused(f"{good}x : 1 : a : scripts/none.sh\n", "'scripts/none.sh' is no program")
        self.refused(f"{good}x : 1 : a : {program} : within y\n", "'y' is no block")
        self.refused(f"{good}f : 20 : . : {program}\nx : 31 : a : {program}\n", "never drawn")

    def test_covers(self):
        for inputs, path in ("a", "a"), ("a", "a/b/c"), ("x a", "a/b"), (".", "x"), (". !a/b", "a/bc"):
            self.assertTrue(blocks.covers(inputs.split(), path), (inputs, path))
        for inputs, path in ("a", "ab"), ("a/b", "a"), (". !a/b", "a/b/c"), ("!a", "b"):
            self.assertFalse(blocks.covers(inputs.split(), path), (inputs, path))

    def test_this_tree(self):
        if not (ROOT / ".git").exists():
            self.skipTest("no checkout")
        blocks.load()


class Repository(unittest.TestCase):
    """The program in a repository of three blocks: `all`, the fixed part, `a` and `b`, of a folder each."""

    def setUp(self):
        self.root = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        (self.root / "scripts").mkdir()
        shutil.copy(PROGRAM, self.root / "scripts")
        self.write(".gitignore", "build/\n")
        self.write("scripts/blocks.list", "common : common\nall : 1 : . !bench/results : scripts/do.sh all\n"
                                          "a : 2 : a : scripts/do.sh a\nb : 40 : b : scripts/do.sh b\n")
        # Counts its runs; fails or does something else as a file under build/ says.
        self.write("scripts/do.sh", '#!/bin/sh\nmkdir -p build; echo "$1" >>build/runs\necho "output of $1"\n'
                                    '[ ! -e "build/before-$1" ] || . "build/before-$1"\n')
        (self.root / "scripts/do.sh").chmod(0o755)
        for name in "common", "a", "b":
            self.write(f"{name}/file", "1\n")
        self.git("init", "-q", "-b", "main")
        self.commit("2026-01-01T00:00:00Z")

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def git(self, *arguments, date="2026-01-01T00:00:00Z"):
        subprocess.run(["git", *arguments], cwd=self.root, check=True, capture_output=True,
                       env=ENVIRONMENT | {"GIT_COMMITTER_DATE": date, "GIT_AUTHOR_DATE": date})

    def commit(self, date):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "x", date=date)

    def blocks(self, *arguments, root=None):
        """(exit status, what was printed, the blocks that ran)"""
        root = root or self.root
        runs = root / "build/runs"
        if runs.exists():
            runs.unlink()
        done = subprocess.run([sys.executable, root / "scripts/blocks.py", *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, env=ENVIRONMENT)
        return done.returncode, done.stdout, runs.read_text().split() if runs.exists() else []

    def ran(self, *arguments, status=0):
        found, output, runs = self.blocks(*arguments)
        self.assertEqual(status, found, output)
        return runs

    def test_unknown_block(self):
        for command in "run", "full":
            status, output, runs = self.blocks(command, "a", "aa")
            self.assertEqual((1, "blocks: 'aa' is no block; the blocks are: all a b\n", []), (status, output, runs))

    def test_touched_in_the_last_day(self):
        module = load_blocks()
        module.ROOT = self.root
        _, table = module.read_table((self.root / "scripts/blocks.list").read_text())

        def touched():
            return set(module.touched_blocks(table, module.last_touched()[1]))

        self.assertEqual({"all", "a", "b"}, touched())  # the whole history
        self.write("b/file", "2\n")
        self.commit("2026-01-09T00:00:00Z")
        self.assertEqual({"all", "b"}, touched())
        self.git("mv", "a/file", "a.txt")
        self.commit("2026-01-09T23:00:00Z")
        self.assertEqual({"all", "a", "b"}, touched())
        self.write("common/file", "2\n")
        self.commit("2026-01-10T12:00:00Z")
        self.assertEqual({"all", "a"}, touched())

    def test_ci_runs_what_is_planned_though_one_fails(self):
        table = self.root / "scripts/blocks.list"
        table.write_text(table.read_text() + "c : 30 : b : scripts/do.sh c\n")
        self.commit("2026-01-01T00:00:00Z")
        self.write("build/before-all", "exit 3\n")
        status, output, runs = self.blocks("ci")
        self.assertEqual(1, status)
        self.assertEqual(("all", 3), (runs[0], len(runs)), output)
        self.assertIn("a", runs)
        left = {"a", "b", "c"} - set(runs)
        self.assertRegex(output, rf"not drawn .*:\n  {left.pop()} ")
        self.assertIn("alone: scripts/block.sh all\n", output)
        self.assertRegex(output, r"\n\.ci/run: 1 of 3 blocks failed: all\. \d+ s\.\n$")
        (self.root / "build/before-all").unlink()
        status, output, runs = self.blocks("ci")
        self.assertEqual((0, 3), (status, len(runs)))
        self.assertRegex(output, r"\n\.ci/run: all passed\. \d+ s\.\n$")

    def test_a_result_stands_while_its_inputs_are_the_same(self):
        self.assertEqual(["all", "a", "b"], self.ran("full"))
        self.assertEqual([], self.ran("full"))
        self.assertEqual(["all", "a", "b"], self.ran("full", "--again"))
        self.write("a/file", "2\n")
        self.commit("2026-01-02T00:00:00Z")
        self.assertEqual(["all", "a"], self.ran("full"))
        self.write("common/file", "2\n")
        self.commit("2026-01-02T00:00:00Z")
        self.assertEqual(["all", "a", "b"], self.ran("full"))
        table = self.root / "scripts/blocks.list"
        table.write_text(table.read_text().replace("do.sh b", "do.sh b --more"))
        self.commit("2026-01-02T00:00:00Z")
        self.assertEqual(["all", "b"], self.ran("full"))

    def test_a_result_outlives_an_input_that_the_table_drops(self):
        self.write("a/tool", "1\n")
        self.commit("2026-01-01T00:00:00Z")
        self.ran("full")
        self.write("a/tool", "2\n")
        self.commit("2026-01-02T00:00:00Z")
        table = self.root / "scripts/blocks.list"
        before = table.read_text()
        table.write_text(before.replace("a : 2 : a :", "a : 2 : a !a/tool :"))
        self.commit("2026-01-02T00:00:00Z")
        self.assertEqual(["all"], self.ran("full"))
        table.write_text(before)
        self.commit("2026-01-02T00:00:00Z")
        self.assertEqual(["all", "a"], self.ran("full"))

    def test_no_result_of_inputs_that_no_commit_has(self):
        self.ran("full")
        for path in "a/file", "a/new":
            self.write(path, "3\n")
            for _ in range(2):
                self.assertEqual(["all", "a"], self.ran("full"))
            self.assertRegex(self.page().read_text(), r"a +passed +\S+ \S+ +\S+ +modified")
            self.git("clean", "-fdq", "a")
            self.git("checkout", "-q", "a")
            self.ran("full")
        self.write("build/before-a", "echo 4 >a/file\n")  # while it runs
        self.ran("full", "--again", "a")
        self.git("checkout", "-q", "a")
        self.assertEqual(["a"], self.ran("full"))

    def test_a_result_names_the_commit_that_it_began_with(self):
        began = subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], cwd=self.root, text=True).strip()
        self.write("build/before-a", "git commit -q --allow-empty -m y\n")
        self.ran("run", "a")
        self.assertEqual(began, blocks.sections(self.root / "build/blocks/a.md")[0]["commit"])

    def test_a_result_does_not_name_where_the_tree_lies(self):
        self.write("build/before-a", 'echo "at $PWD/a/file, within $PWD"\n')
        self.ran("run", "a")
        text = (self.root / "build/blocks/a.md").read_text()
        self.assertIn("\nat a/file, within .\n", text)
        self.assertNotIn(str(self.root), text)

    def test_no_result_after_a_failure(self):
        self.ran("full")
        self.write("build/before-a", "exit 1\n")
        self.assertEqual(["all", "a", "b"], self.ran("full", "--again", status=1))
        self.assertRegex(self.page().read_text(), r"(?s)\na +failed .*\n## a\n\nFailed .*output of a\n")
        self.assertEqual([], self.ran("full", "b"))
        self.assertRegex(self.page().read_text(), r"\na +failed ")
        self.assertEqual(["a"], self.ran("full", status=1))
        (self.root / "build/before-a").unlink()
        self.assertEqual(["a"], self.ran("full"))
        self.assertEqual([], self.ran("full"))

    def test_a_failure_outlives_a_page_that_says_passed(self):
        self.ran("full")
        self.page().rename(self.root / "bench/results/2026-01-01-full.md")
        self.write("build/before-a", "exit 1\n")
        self.ran("run", "a", status=1)
        (self.root / "build/before-a").unlink()
        self.assertEqual(["a"], self.ran("full"))

    def test_a_clone_takes_results_from_pages(self):
        self.ran("full")
        self.commit("2026-01-03T00:00:00Z")
        clone = self.root / "build/clone"
        self.git("clone", "-q", ".", clone)
        status, output, runs = self.blocks("full", root=clone)
        self.assertEqual((0, []), (status, runs), output)
        known, taken = (blocks.sections(sorted((root / "bench/results").iterdir())[-1]) for root in (self.root, clone))
        self.assertEqual(known, taken)
        self.assertEqual(3, len(taken))

    def test_goes_on_after_it_was_killed(self):
        self.write("build/before-a", "rm build/before-a\nkill -KILL $PPID\n")
        self.assertEqual(["all", "a"], self.ran("full", status=-9))
        self.assertEqual(["a", "b"], self.ran("full"))

    def test_ending_it_ends_the_block(self):
        (self.root / "build").mkdir()
        for name in "of-the-block", "never-written":
            os.mkfifo(self.root / "build" / name)
        end = os.open(self.root / "build/of-the-block", os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, end)
        self.write("build/before-a", "exec 3>build/of-the-block\nkill -TERM $PPID\nexec cat build/never-written\n")
        self.assertEqual(["a"], self.ran("run", "a", status=143))
        # At its end once the block, which holds the other end, is no more.
        self.assertTrue(select.select([end], [], [], 60)[0], "the block goes on")
        self.assertEqual(b"", os.read(end, 1))
        self.assertFalse((self.root / "build/blocks/a.md").exists())

    def page(self):
        return sorted((self.root / "bench/results").iterdir())[-1]


if __name__ == "__main__":
    unittest.main()
