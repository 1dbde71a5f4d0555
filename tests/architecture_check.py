#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: architecture_check.py SOURCE_DIRECTORY BUILD_DIRECTORY [--arrows ROOM]

Holds a built tree against tests/architecture.txt: which rooms there are and which way calls and includes may go between
them. Read are the symbols of the objects (who calls or names what of whom) and the dependencies that the compiler
wrote down (who includes whom). Fails, naming both ends, for

  - a call, a name or an include that goes up from one room to another, or to a part of the tree that is out of bounds;
  - a file in a folder that has rooms, but in none of them;
  - a circle of files within one target, by symbols or by includes;
  - a pointer to a function that is stored while the program runs, unless it is among the seams of architecture.txt: behind
    it an arrow could hide;
  - a path in docs/architecture.md or CONTRIBUTING.md that the tree does not have;
  - a function of more than 80 lines, a file of more than 700 that is no table, a line of more than 120 columns;
  - a .c or .cpp whose opening comment does not say, after the licence, what the file is.

--arrows ROOM prints instead which files of a room use which other files of the tree, and for what.
"""
import argparse
import collections
import os
import re
import subprocess
import sys
from pathlib import Path

FUNCTION_LINES = 80
FILE_LINES = 700
COLUMNS = 120
SEAM_LIMIT = 12
SOURCES = re.compile(r"\.(c|h|cpp|hpp|inc|kw|cl|cu)$")
WRITTEN = re.compile(r"\.(c|h|cpp|hpp|inc|kw|cl|cu|def|cmake)$|CMakeLists\.txt$")
# Tests, and what only tests use, may look anywhere.
TEST = re.compile(r"(_test\.(c|cpp)$|/test_\w+\.[ch]$|/tests?/|/testing/|^tests/|/mutants/|/plugins/)")


class Plan:
    """tests/architecture.txt, read: lines of `word rest`, # begins a comment, an indented line goes on with the last one."""

    def __init__(self, path):
        self.orders = []  # (folder, [[rooms of one height], ...]), the lowest first
        self.bounds = []  # (part, [parts that it may use])
        self.exceptions = collections.defaultdict(dict)  # kind -> subject -> reason
        text = re.sub(r"\s*#.*", "", path.read_text())
        for line in re.sub(r"\n[ \t]+", " ", text).splitlines():
            if not line.strip():
                continue
            word, rest = line.split(maxsplit=1)
            if word == "rooms":
                folder, order = rest.split(":", 1)
                self.orders.append((folder.strip(), [height.split() for height in order.split("<")]))
            elif word == "part":
                part, used = rest.split(":", 1)
                self.bounds.append((part.strip(), used.split()))
            elif word in ("circle", "seam", "table", "arrow"):
                subject, reason = rest.split(" : ", 1)
                self.exceptions[word][" ".join(subject.split())] = reason.strip()
            else:
                sys.exit(f"{path}: does not know '{word}': a line begins with rooms, part, circle, seam, table or arrow")

    def room(self, path):
        """(folder, height, room) of a file; None where no order speaks of it."""
        for folder, order in self.orders:
            if not path.startswith(folder + "/"):
                continue
            best = None
            for height, rooms in enumerate(order):
                for room in rooms:
                    at = f"{folder}/{room}"
                    if (path == at or path.startswith(at + "/") or path.startswith(at + ".")) and (best is None or len(room) > len(best[2])):
                        best = (folder, height, room)
            if best:
                return best
        return None

    def part(self, path):
        found = [part for part, _ in self.bounds if path.startswith(part + "/")]
        return max(found, key=len) if found else None

    def refuses(self, user, used):
        """Why `user` may not use `used`, or None."""
        a, b = self.room(user), self.room(used)
        if a and b and a[0] == b[0]:
            if b[2] != a[2] and b[1] >= a[1]:
                return f"room {a[2]} of {a[0]} may not use room {b[2]}, which is not below it"
            return None
        a, b = self.part(user), self.part(used)
        if a is None or b is None or a == b:
            return None
        allowed = dict(self.bounds)[a]
        if not any(used.startswith(part + "/") or used == part for part in allowed):
            return f"{a} may use {', '.join(allowed) or 'nothing'}, not {b}"
        return None


class Object:
    def __init__(self, path, target, source):
        self.path, self.target, self.source = path, target, source
        self.defined, self.needed, self.includes = set(), set(), set()


def read_objects(source_dir, build_dir):
    """Every object of the build whose source is a file of the tree, with its symbols and the files it depends on."""
    listing = subprocess.run([os.environ.get("NINJA", "ninja"), "-t", "deps"], cwd=build_dir, check=True,
                             capture_output=True, text=True).stdout
    objects, current = {}, None
    for line in listing.splitlines():
        if line.startswith("    ") and current:
            path = os.path.normpath(os.path.join(build_dir, line.strip()))
            if path.startswith(str(source_dir) + os.sep) and not path.startswith(str(build_dir) + os.sep) \
                    and os.path.exists(path):  # an object that is no longer built may name what has gone
                current.includes.add(os.path.relpath(path, source_dir))
        elif ": #deps" in line:
            name = line.split(": #deps")[0]
            match = re.match(r"((?:.*/)?)CMakeFiles/([^/]+)\.dir/", name)
            current = Object(name, match.group(1) + match.group(2), None) if match and name.endswith(".o") else None
            if current and (build_dir / name).exists():
                objects[name] = current
        else:
            current = None
    for o in list(objects.values()):  # the object's own source is the file that its name ends with
        tail = re.sub(r"\.o$", "", o.path.split(".dir/", 1)[1]).replace("__/", "")
        own = [path for path in o.includes if path.endswith("/" + tail) or path == tail]
        if own:
            o.source = max(own, key=lambda path: os.path.commonprefix([path, o.path]))
            o.includes.discard(o.source)
        else:
            del objects[o.path]  # generated
    names = sorted(objects)
    for begin in range(0, len(names), 400):
        out = subprocess.run(["nm", "-A", "-P", *names[begin:begin + 400]], cwd=build_dir, check=True, capture_output=True,
                             text=True).stdout
        for line in out.splitlines():
            file, symbol, kind = re.match(r"(.*?): (\S+) (\S)", line).groups()
            if kind in "UwvN":
                objects[file].needed.add(symbol)
            elif kind.isupper():
                objects[file].defined.add(symbol)
    return list(objects.values())


def arrows_between(objects, build_dir):
    """(target, user, used, symbol): a symbol that an object needs is its own target's, or else that of the one library
    that has it."""
    by_target, by_symbol = collections.defaultdict(dict), collections.defaultdict(set)
    programs = set(re.findall(r"^build .*: \w+_(?:EXECUTABLE|MODULE_LIBRARY)_LINKER__(.+?)_(?:Release|Debug)?(?: |$)",
                              (build_dir / "build.ninja").read_text(), re.M))
    for o in objects:
        for symbol in o.defined:
            by_target[o.target].setdefault(symbol, o.source)
            if os.path.basename(o.target) not in programs:
                by_symbol[symbol].add(o.source)
    for o in objects:
        for symbol in o.needed:
            used = by_target[o.target].get(symbol)
            if used is None and len(by_symbol[symbol]) == 1:
                used = next(iter(by_symbol[symbol]))
            if used and used != o.source:
                yield o.target, o.source, used, symbol


def includes_between(objects, source_dir):
    """(user, used): what stands in each file's own #include lines, as the compiler resolved it for some object."""
    seen = collections.defaultdict(set)
    for o in objects:
        for path in o.includes | {o.source}:
            seen[path] |= o.includes
    for user, candidates in sorted(seen.items()):
        text = (source_dir / user).read_text(errors="replace")
        for name in re.findall(r'^\s*#\s*include\s+["<]([^">]+)[">]', text, re.M):
            beside = os.path.normpath(os.path.join(os.path.dirname(user), name))
            fits = [path for path in candidates if path == beside] or \
                   [path for path in candidates if path == name or path.endswith("/" + name)]
            if fits and fits[0] != user:
                yield user, min(fits, key=len)


def circles(edges):
    """Sets of nodes that reach each other (R. Tarjan, "Depth-first search and linear graph algorithms", 1972)."""
    graph = collections.defaultdict(set)
    for a, b in edges:
        graph[a].add(b)
    index, low, stack, on, found = {}, {}, [], set(), []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        on.add(node)
        for other in sorted(graph.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in on:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            circle = []
            while True:
                other = stack.pop()
                on.discard(other)
                circle.append(other)
                if other == node:
                    break
            if len(circle) > 1:
                found.append(sorted(circle))

    sys.setrecursionlimit(10000)
    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def shortest_way(edges, circle):
    """One circle through the first of these files, as few steps as can be."""
    graph = collections.defaultdict(set)
    for a, b in edges:
        if a in circle and b in circle:
            graph[a].add(b)
    start = circle[0]
    queue, came = collections.deque([start]), {}
    while queue:
        node = queue.popleft()
        for other in sorted(graph[node]):
            if other == start:
                way = [node]
                while way[-1] != start:
                    way.append(came[way[-1]])
                return way[::-1] + [start]
            if other not in came:
                came[other] = node
                queue.append(other)
    return circle


def long_functions(path, text):
    """(name, line, length) of functions of more than FUNCTION_LINES lines. The sources are clang-format's, so that a
    function ends at the first brace in the first column."""
    lines, begin = text.splitlines(), None
    for number, line in enumerate(lines):
        if begin is None and line.endswith("{") and re.match(r"[A-Za-z_#\[}]|\s+\w.*\)", line) and "=" not in line.split("(")[0] \
                and not re.match(r"(typedef|struct|enum|union|extern \"C\"|namespace)\b", line) \
                and ("(" in line or line.startswith(" ")):  # the last line of a long list of parameters
            begin = number
            while begin > 0 and re.match(r"\s+\S", lines[begin]):
                begin -= 1
        elif begin is not None and line.startswith("}"):
            if number - begin + 1 > FUNCTION_LINES:
                name = re.search(r"(\w+)\(", " ".join(lines[begin:begin + 3]))
                yield (name.group(1) if name else "?"), begin + 1, number - begin + 1
            begin = None


def opens_with_sentence(text, ops):
    """Whether the opening comment, after the licence and an empty line, is a sentence: it begins with a capital letter, a
    quote or an op's name, has three words at least and comes to an end with the paragraph."""
    head = re.match(r"(?:/\*|//) SPDX-License-Identifier: \S+\n( \*|//)\n((?:\1 [^/].*\n)+)", text)
    if not head:
        return False
    paragraph = " ".join(line[len(head.group(1)):].strip() for line in head.group(2).splitlines()).removesuffix("*/").strip()
    name = re.match(r"(?:\w+::)?(\w+)", paragraph)
    begins = re.match(r'["`A-Z]', paragraph) or (name and (name.group(1) in ops or "::" in name.group(0)))
    return bool(begins and len(paragraph.split()) >= 3 and re.search(r'[.:)][)"]?(\s|$)', paragraph))


FUNCTION_POINTER = r"\((?:KW_CALL )?\*\s*(?:_Atomic\s+)?(\w+)(?:\s*\[\w*\])*\)\s*\("


def seams(files, source_dir):
    """(file, name): pointers to functions that are stored at run time for later calls: variables at file scope, and
    members of the tree's own structs that some statement assigns through a pointer. The ABI's tables are no seams: they
    are what plugins and hosts call each other by."""
    types, members, texts = set(), collections.defaultdict(set), {}
    for path in files:
        text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", (source_dir / path).read_text(errors="replace"), flags=re.S)
        texts[path] = text
        types |= set(re.findall(r"typedef\s[^;{}]*?" + FUNCTION_POINTER, text))
    kind = r"(?:" + "|".join(sorted(types)) + r")"
    for path, text in texts.items():
        if "/include/" in path:
            continue
        for body in re.findall(r"struct\s*\w*\s*\{(.*?)\n\}", text, re.S):
            for name in re.findall(FUNCTION_POINTER, body) + re.findall(r"\b" + kind + r"\s+(\w+);", body):
                members[name].add(path)
        depth_0 = re.sub(r"\n[^\n#]*\{\n.*?\n\}", "\n", text, flags=re.S)
        for line in depth_0.splitlines():
            variable = re.match(r"(?!typedef|.*\bconst\b)[\w_].*?" + FUNCTION_POINTER + r".*\)(?:\s*=.*)?;", line) or \
                re.match(r"(?!typedef|.*\bconst\b)(?:static |_Atomic |__thread )*(?:_Atomic\()?" + kind + r"\)?\s+(\w+)\b[^(]*;", line)
            if variable:
                yield path, variable.group(1)
    for path, text in texts.items():
        for name in set(re.findall(r"->(\w+)\s*=[^=]", text)) & set(members):
            yield from ((owner, name) for owner in members[name] if owner == path or owner.endswith(".h") and
                        re.search(r'#include "(?:.*/)?' + re.escape(os.path.basename(owner)) + '"', text))


def check(plan, objects, source_dir, build_dir, tracked):
    """Sentences about what is wrong."""
    found, used_exceptions = [], set()

    def excepted(kind, subject):
        if subject in plan.exceptions[kind]:
            used_exceptions.add((kind, subject))
            return True
        return False

    calls, by_target = collections.defaultdict(set), collections.defaultdict(set)
    for target, user, used, symbol in arrows_between(objects, build_dir):
        calls[user, used].add(symbol)
        by_target[target].add((user, used))
    includes = set(includes_between(objects, source_dir))
    for (user, used), symbols in sorted(calls.items()):
        why = None if TEST.search(user) else plan.refuses(user, used)
        if why and not excepted("arrow", f"{user} -> {used}"):
            found.append(f"{user} uses {', '.join(sorted(symbols)[:3])} of {used}: {why}")
    for user, used in sorted(includes):
        why = None if TEST.search(user) else plan.refuses(user, used)
        if why and not excepted("arrow", f"{user} -> {used}"):
            found.append(f"{user} includes {used}: {why}")
    told = set()
    for word, groups in (("call", by_target), ("include", {"": includes})):
        for target, edges in sorted(groups.items()):
            for circle in circles(edges):
                if tuple(circle) in told or excepted("circle", " ".join(circle)):
                    continue
                told.add(tuple(circle))
                way = shortest_way(edges, circle)
                found.append(f"{len(circle)} files {word} each other in a circle"
                             f"{' in ' + target if target else ''}: {' -> '.join(way)}"
                             + (f"; with them {', '.join(set(circle) - set(way))}" if len(circle) > len(way) - 1 else ""))
    sources = [path for path in tracked if SOURCES.search(path) and not TEST.search(path)]
    for path in sources:
        if any(path.startswith(folder + "/") for folder, _ in plan.orders) and not plan.room(path):
            found.append(f"{path} is in no room: move it into one, or give its folder a place in architecture.txt")
    for path, name in sorted(set(seams(sources, source_dir))):
        if not excepted("seam", f"{path} {name}"):
            found.append(f"{path}: '{name}' is a pointer to a function that is set at run time: call the function, or "
                         f"list the seam with its reason (at most {SEAM_LIMIT} in all)")
    if len(plan.exceptions["seam"]) > SEAM_LIMIT:
        found.append(f"architecture.txt lists {len(plan.exceptions['seam'])} seams: {SEAM_LIMIT} at most")
    table = source_dir / "abi/ops.def"
    ops = set(re.findall(r'\bKW_OP\("(?:\w+::)?(\w+)', table.read_text())) if table.exists() else set()
    for path in tracked:
        if not WRITTEN.search(path):
            continue
        text = (source_dir / path).read_text(errors="replace")
        wide = [number for number, line in enumerate(text.splitlines(), 1) if len(line) > COLUMNS]
        if wide:
            found.append(f"{path}:{wide[0]}: {len(wide)} lines of more than {COLUMNS} columns")
        if not SOURCES.search(path):
            continue
        if path.endswith((".c", ".cpp")) and not opens_with_sentence(text, ops):
            found.append(f"{path}:1: does not open with a sentence that says what the file is: write it into the first "
                         "comment, below the licence and an empty line, beginning with a capital letter, a quote or an op's name")
        for name, line, length in long_functions(path, text):
            found.append(f"{path}:{line}: {name} has {length} lines, {FUNCTION_LINES} at most: take a part of it out")
        lines = text.count("\n")
        if lines > FILE_LINES and not excepted("table", path):
            found.append(f"{path} has {lines} lines, {FILE_LINES} at most: two files, or a table, which architecture.txt lists")
    for page in ("docs/architecture.md", "CONTRIBUTING.md"):
        text = (source_dir / page).read_text()
        for path in re.findall(r"`((?:abi|core|backends|conformance|cli|bench|tests|scripts|docs)/[\w./]*)`", text):
            if "NAME" not in path and "NOUN" not in path and not (source_dir / path).exists():
                found.append(f"{page} names {path}, which is not there")
    for kind, subjects in plan.exceptions.items():
        for subject in subjects:
            if (kind, subject) not in used_exceptions:
                found.append(f"architecture.txt: the exception '{kind} {subject}' excuses nothing any more: take it out")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=lambda p: Path(p).resolve())
    parser.add_argument("build", type=lambda p: Path(p).resolve())
    parser.add_argument("--arrows", metavar="ROOM")
    arguments = parser.parse_args()
    plan = Plan(arguments.source / "tests/architecture.txt")
    objects = read_objects(arguments.source, arguments.build)
    if not objects:
        sys.exit(f"no objects are known in {arguments.build}: build first")
    if arguments.arrows:
        rows = collections.defaultdict(set)
        for _, user, used, symbol in arrows_between(objects, arguments.build):
            if user.startswith(arguments.arrows):
                rows[user, used].add(symbol)
        for (user, used), symbols in sorted(rows.items()):
            print(f"{user} -> {used}: {', '.join(sorted(symbols))}")
        return
    tracked = subprocess.run(["git", "ls-files"], cwd=arguments.source, check=True, capture_output=True,
                             text=True).stdout.split()
    tracked = [path for path in tracked if (arguments.source / path).exists()
               and not path.startswith("abi/frozen/")]  # as it was shipped, whatever the rules are today
    found = check(plan, objects, arguments.source, arguments.build, tracked)
    for sentence in found:
        print(f"FAILED: {sentence}")
    print(f"{len(objects)} objects, {len(plan.exceptions['seam'])} seams, {len(plan.exceptions['circle'])} circles "
          f"excused, {len(found)} failures")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
