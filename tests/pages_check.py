#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: pages_check.py SOURCE_DIRECTORY BUILD_DIRECTORY [PAGE...]
       pages_check.py --paste PAGE

Runs what the pages tell people to run, as pasted: README.md and docs/*.md, or the pages named (paths in the tree).
Blocks run in the order of the page, in one shell, in the root of a copy of the tree below BUILD_DIRECTORY/pages, where
build/release and build/user are BUILD_DIRECTORY and HOME is empty. What they made stays there. The first command that fails ends the
test and is shown with its output.

What a block is follows from how it is written:

    indented, or ```sh      commands
    ```python               a program for the page's python
    ```c, ```cpp            compiled against the headers, and run on cpu:0 where it has a main
    <!-- with: DECLARATIONS -->  before one of C that is a part: what it takes for granted
    ```text                 to be read only
    <!-- saved as FILE -->  before a block of any language: the file that later commands use
    <!-- not run: REASON -->  before a block that cannot run here; printed with the reason

--paste prints the commands of a page, those in Python apart, as a program for a shell that tells what each took:
scripts/readme.sh runs it as a new user does, and therefore also what cannot run here.

A page that goes on where another one ends says so: <!-- after vendor-guide.md -->.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

COMPILERS = {"c": "cc -x c -std=gnu11", "cpp": "c++ -x c++ -std=c++17"}
INCLUDES = {"c": "#include <keyway/functions.h>\n#include <keyway/plugin.h>\n", "cpp": "#include <keyway/keyway.hpp>\n"}
MARK = "\x1e"  # before the place of each command in the shell's output
END = "end"  # in place of one behind the last command


class Block:
    def __init__(self, page, line, language, text, marks):
        self.place = f"{page}:{line}"
        self.language, self.text = language, text
        self.not_run = marks.get("not run")
        self.file = marks.get("saved as")
        self.given = marks.get("with", "")

    def shell(self):
        """The block as (place, command) for the shell."""
        if self.not_run:
            return []
        if self.file:
            file = shlex.quote(self.file)
            return [(self.place, f"cat >{file} <<'END_OF_BLOCK'\n{self.text}END_OF_BLOCK\nchmod +x {file}")]
        if self.language == "sh":
            return list(commands(self.place, self.text))
        if self.language == "python":
            return [(self.place, f"python - <<'END_OF_BLOCK'\n{self.text}END_OF_BLOCK")]
        if self.language in COMPILERS:
            return [(self.place, self.compilation())]
        if self.language == "text":
            return []
        raise SystemExit(f"{self.place}: cannot tell what to do with a block of '{self.language}': write ```sh, "
                         "```python, ```c or ```text, or say <!-- saved as FILE --> or <!-- not run: REASON --> before it")

    def compilation(self):
        """The command that compiles a block of C: a file, or statements that are put into a function. It runs a program."""
        text = self.text
        if not re.search(r"(?m)^(}|#include)", text):
            text = f"void block(void);\nvoid block(void) {{\n{text}}}\n"
        text = f"{INCLUDES[self.language]}{self.given}\n#line {self.place.rpartition(':')[2]}\n{text}"
        compiler = f"{COMPILERS[self.language]} -Wall -Wextra -Werror -Wno-unused -Iabi/include"
        if "int main(" in text:
            end = "-o block.run - -x none -Lbuild/release/lib -lkeyway -Wl,-rpath,$PWD/build/release/lib"
            return f"{compiler} {end} <<'END_OF_BLOCK' && ./block.run cpu:0\n{text}END_OF_BLOCK"
        return f"{compiler} -c -o /dev/null - <<'END_OF_BLOCK'\n{text}END_OF_BLOCK"


def commands(place, text):
    """(place, command): the lines of a block, those together that make one command."""
    page, first = place.rsplit(":", 1)
    pending = []
    for number, line in enumerate(text.splitlines(), int(first)):
        pending.append(line)
        together = "\n".join(pending)
        read = subprocess.run(["bash", "-n", "-c", together], capture_output=True, env=os.environ | {"LC_ALL": "C"})
        # Of a here-document without its end bash only warns.
        whole = read.returncode == 0 and b"here-document" not in read.stderr
        if whole and not line.endswith("\\"):
            if together.strip():
                yield f"{page}:{number + 1 - len(pending)}", together
            pending = []
    if pending:
        raise SystemExit(f"{place}: not a command of the shell: {' '.join(pending)}")


def blocks(page, lines):
    """The blocks of a page, and what the page comes after, if anything."""
    found, after, marks, in_list, blank, i = [], None, {}, False, True, 0
    while i < len(lines):
        line = lines[i]
        comment = re.fullmatch(r"<!-- (not run|saved as|after|with):? (.*?) -->", line)
        fence = re.match(r"( {0,3})(```+)(\w*)", line)
        if comment and comment[1] == "after":
            after = comment[2]
        elif comment:
            marks[comment[1]] = comment[2]
        elif fence:
            end = next((j for j in range(i + 1, len(lines)) if lines[j].strip() == fence[2]), None)
            if end is None:
                raise SystemExit(f"{page}:{i + 1}: the block has no end: close it with {fence[2]}")
            text = "".join(each + "\n" for each in lines[i + 1:end])
            found.append(Block(page, i + 2, {"bash": "sh"}.get(fence[3], fence[3]), text, marks))
            marks, i = {}, end
        elif line.startswith("    ") and blank and not in_list:
            end = i
            while end < len(lines) and (line_is_blank(lines[end]) or lines[end].startswith("    ")):
                end += 1
            found.append(Block(page, i + 1, "sh", "".join(each[4:] + "\n" for each in lines[i:end]), marks))
            marks, i, blank = {}, end - 1, True
        elif not line_is_blank(line):
            if re.match(r" {0,3}([-*+]|\d+[.)])\s", line):
                in_list = True
            elif blank and not line.startswith(" "):
                in_list = False
            if marks:
                raise SystemExit(f"{page}:{i + 1}: the comment before belongs to a block: put it right before one")
        blank = line_is_blank(lines[i])
        i += 1
    return found, after


def line_is_blank(line):
    return not line.strip()


def chains(source, pages):
    """Lists of pages that share a shell: a page that comes after none, and those that come after one of the list. What
    a page comes after is read although it was not asked for."""
    read, order = {}, []

    def add(page):
        if page in read:
            return
        path = source / page
        if not path.is_file():
            raise SystemExit(f"pages_check.py: there is no page {page} in {source}")
        found, after = blocks(page, path.read_text().splitlines())
        before = os.path.normpath(os.path.join(os.path.dirname(page), after)) if after else None
        read[page] = found
        if before:
            add(before)
            next(chain for chain in order if before in chain).append(page)
        else:
            order.append([page])

    for page in pages:
        add(page)
    return [[(page, read[page]) for page in chain] for chain in order]


def script(root, chain):
    """The shell's program: every command, and after it a look at its exit status."""
    text = 'set -o pipefail\ncheck() { status=$?; [ $status -eq 0 ] || exit $status; }\n'
    for _, found in chain:
        text += f"cd {shlex.quote(str(root))}\n"
        for block in found:
            for place, command in block.shell():
                text += f"printf '{MARK}%s\\n' {shlex.quote(place)}\n{command}\ncheck\n"
    return text + f"printf '{MARK}{END}\\n'\n"


def paste(page):
    """The shell's program of a page for a user who begins with a clone."""
    found, _ = blocks(page, Path(page).read_text().splitlines())
    text = "set -o pipefail\n"
    for block in found:
        block.not_run = None
        for _, command in block.shell() if block.language != "python" else []:
            shown = "the file before" if block.file else command.replace("\n", " ")
            text += (f"began=$SECONDS\n{command}\nstatus=$?\n"
                     f"echo \"== $((SECONDS - began)) s: \"{shlex.quote(shown)}\n[ $status -eq 0 ] || exit $status\n")
    return text


def copy_of_tree(source, build, root):
    """A checkout with a finished build, to be written to."""

    def ignored(folder, names):
        outer = {"build", ".git"} if Path(folder) == source else ()
        return {name for name in names if name in outer or Path(folder) / name == build}

    shutil.rmtree(root.parent, ignore_errors=True)
    shutil.copytree(source, root, ignore=ignored, symlinks=True)
    (root / "build").mkdir()
    for preset in ("release", "user"):  # which has all that users install, and more
        (root / "build" / preset).symlink_to(build)
    (root.parent / "home").mkdir()


def run(root, chain):
    """Runs a chain; what failed, in words, or None."""
    program = script(root, chain)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("KEYWAY_", "XDG_"))}
    environment |= {"HOME": str(root.parent / "home"), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    for name in ("PKG_CONFIG_PATH", "CMAKE_PREFIX_PATH", "LD_LIBRARY_PATH"):
        environment.pop(name, None)
    shell = subprocess.run(["bash", "-c", program], cwd=root, env=environment, stdin=subprocess.DEVNULL, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace")
    if shell.returncode == 0 and f"{MARK}{END}\n" in shell.stdout:  # otherwise a command has ended the shell
        return None
    place, _, output = shell.stdout.rpartition(MARK)[2].partition("\n")
    command = next(each for _, found in chain for block in found for at, each in block.shell() if at == place)
    log = root.parent / "log"
    log.write_text(output)
    return f"{place}: failed with exit status {shell.returncode}:\n    {command}\n{tail(output)}All of it is in {log}."


def tail(output):
    return "".join(f"  | {line}\n" for line in output.splitlines()[-30:])


def main():
    if sys.argv[1:2] == ["--paste"] and len(sys.argv) == 3:
        print(paste(sys.argv[2]), end="")
        return
    if len(sys.argv) < 3 or sys.argv[1].startswith("-"):
        raise SystemExit(__doc__)
    source, build = (Path(each).resolve() for each in sys.argv[1:3])
    pages = sys.argv[3:] or ["README.md", *sorted(f"docs/{path.name}" for path in (source / "docs").glob("*.md"))]
    for chain in chains(source, pages):
        for page, found in chain:
            for block in found:
                if block.not_run:
                    print(f"{block.place}: not run: {block.not_run}")
        count = sum(len(block.shell()) for _, found in chain for block in found)
        if count == 0:
            continue
        root, began = build / "pages" / chain[-1][0].replace("/", "-") / "keyway", time.monotonic()
        copy_of_tree(source, build, root)
        failure = run(root, chain)
        if failure:
            raise SystemExit(failure)
        names = ", ".join(page for page, found in chain if found)
        print(f"{names}: {count} commands, {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
