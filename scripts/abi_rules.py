#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: scripts/abi_rules.py [--tree DIRECTORY] [--symbols FILE|LIBRARY] [--write-floors]

Holds the public headers, abi/include/keyway/*.h, and abi/slots.def against every frozen snapshot in abi/frozen, by the
rules of docs/abi.md: one sentence for each that is broken, exit status 1. It also checks what needs no snapshot: that
slots.def and plugin.h say the same, and that each MUST of plugin.h names a check and that a mutant is there which the
check finds.

  --tree           the checkout to look at; this one where it is not given
  --symbols        what libkeyway exports: the library, or a list such as a snapshot has; not compared without it
  --write-floors   puts the smallest sizes (KW_*_MIN) of structs that no snapshot has yet into plugin.h as numbers
"""
import argparse
import re
import subprocess
import sys
from pathlib import Path

import abi_layout

# What hosts and plugins of any two versions read before they know of each other: bytes of these structs.
FOR_EVER = {"kw_query_info": 24, "kw_plugin_desc": 8}
EXTENSION_HEADS = {"kw_ext", "kw_ext_vendor"}  # an entry of a chain says its own size, and no kind grows
VERSION_MACROS = {"KW_ABI_VERSION", "KW_ABI_VERSION_TEXT"}


def version_text(version):
    return f"{version >> 16}.{version & 0xffff}"


def floor_macro(struct):
    """The name of its smallest size"""
    return f"KW_{struct.removeprefix('kw_').upper()}_MIN"


# ---- What a tree and a snapshot say ----------------------------------------------------------------------------------


class Table:
    """What abi_layout prints, by kind and name"""

    def __init__(self, lines):
        self.defines, self.values, self.functions, self.types, self.structs, self.fields = {}, {}, {}, {}, {}, {}
        for line in lines:
            kind, rest = line.replace("struct struct ", "struct ").replace("field struct ", "field ").split(" ", 1)
            if kind == "field":
                of, name, offset, size, spelled = re.match(r"(\w+)\.(\S+) (\d+) (\d+) (.*)", rest).groups()
                self.fields.setdefault(of, {})[name] = (int(offset), int(size), spelled)
                continue
            name, text = rest.split(" ", 1)
            if kind == "struct":
                self.structs[name] = tuple(int(number) for number in text.split())
            else:
                {"define": self.defines, "value": self.values, "function": self.functions,
                 "type": self.types}[kind][name] = text

    def version(self):
        return int(self.defines["KW_ABI_VERSION"])

    def floors(self):
        """Struct -> its smallest size"""
        named = {floor_macro(name): name for name in self.structs}
        return {named[macro]: int(value) for macro, value in self.defines.items() if macro in named}


class Slots:
    """slots.def: groups[name] = required; slots[(group, name)] = (since, required), in their order"""

    def __init__(self, text):
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        text = re.sub(r"(?m)^#.*$", "", text)
        self.groups, self.slots = {}, {}
        for group, required in re.findall(r"KW_SLOT_GROUP\((\w+), \w+, (\d)", text):
            self.groups[group] = required == "1"
        for group, name, since, required in re.findall(r"KW_SLOT\((\w+), (\w+), (\d+), (\d)", text):
            self.slots[group, name] = (int(since), required == "1")


class Snapshot:
    def __init__(self, folder):
        self.table = Table((folder / "layout.txt").read_text().splitlines())
        self.slots = Slots((folder / "slots.def").read_text())
        self.symbols = set((folder / "symbols.txt").read_text().split())
        self.text = version_text(self.table.version())


class Tree:
    def __init__(self, folder):
        abi_layout.INCLUDE = folder / "abi/include"
        self.folder = folder
        self.header = (folder / "abi/include/keyway/plugin.h").read_text()
        self.table = Table(abi_layout.layout("gcc"))
        self.slots = Slots((folder / "abi/slots.def").read_text())
        shared = self.header + (folder / "abi/include/keyway/types.h").read_text()
        code = re.sub(r"/\*.*?\*/", "", shared, flags=re.S)
        self.plugin_words = set(re.findall(r"\w+", code))  # names of the plugin's ABI, not of the application's alone
        self.snapshots = [Snapshot(path.parent) for path in sorted((folder / "abi/frozen").glob("*/layout.txt"))]
        self.snapshots.sort(key=lambda snapshot: snapshot.table.version())


# ---- Layout ----------------------------------------------------------------------------------------------------------


class Comparison:
    """One snapshot against the tree; `faults` are sentences"""

    def __init__(self, snapshot, tree):
        self.old, self.new, self.tree, self.snapshot = snapshot.table, tree.table, tree, snapshot
        self.was = snapshot.text
        self.faults = []
        self.newer = self.new.version() > self.old.version()

    def fault(self, text):
        self.faults.append(text)

    def needs_version(self, what, name):
        if not self.newer and name in self.tree.plugin_words:
            self.fault(f"{what} {name} is new and the version is still {self.was}: raise KW_ABI_VERSION")

    def same(self, what, old, new, added=True):
        """Two dictionaries of texts: nothing gone, nothing changed"""
        for name, text in old.items():
            if name not in new:
                self.fault(f"{what} {name} of {self.was} is gone")
            elif new[name] != text:
                self.fault(f"{what} {name} was {text} in {self.was} and is {new[name]}: it stays as it is")
        for name in new if added else ():
            if name not in old:
                self.needs_version(what, name)

    def defines(self):
        old, new = dict(self.old.defines), dict(self.new.defines)
        for name in VERSION_MACROS | {floor_macro(struct) for struct in self.old.floors()}:
            old.pop(name, None), new.pop(name, None)
        for name in [name for name in old if name.startswith("KW_DTYPES_") and name in new]:
            if self.newer and int(new[name]) & int(old[name]) == int(old[name]):  # a set that later dtypes joined
                new[name] = old[name]
        self.same("the macro", old, new)

    def floors(self):
        for struct, size in self.old.floors().items():
            now = self.new.floors().get(struct)
            macro = floor_macro(struct)
            if now is None:
                self.fault(f"the floor {macro} of {self.was} is gone")
            elif now != size:
                change = "raised" if now > size else "lowered"
                self.fault(f"the floor {macro} was {change} from {size} to {now}: {self.was} has {size} bytes")

    def field_order(self, struct, old, new):
        """Of fields that both have: inserted before, or changed places"""
        common = [name for name in old if name in new]
        was = sorted(common, key=lambda name: old[name][0])
        now = sorted(common, key=lambda name: new[name][0])
        for before, after in zip(was, now):
            if before != after and new[before][0] != new[after][0]:
                return self.fault(f"{struct}: {after} and {before} have changed places; the order of {self.was} stays")
        for name in was:
            if new[name][0] == old[name][0] or new[name][1:] != old[name][1:]:
                continue
            intruders = [other for other in new if other not in old and new[other][0] < new[name][0]]
            intruder = max(intruders, key=lambda other: new[other][0], default=None)
            why = f"{intruder} was inserted before it; append it" if intruder else "what lies before it changed"
            place = f"was at byte {old[name][0]} in {self.was} and is at {new[name][0]}"
            return self.fault(f"{struct}.{name} {place}: {why}")
        return None

    def one_struct(self, struct, old, new):
        size, alignment = self.old.structs[struct]
        self.field_order(struct, old, new)
        for name, (offset, bytes_, spelled) in old.items():
            if name in new:
                if new[name][2] != spelled:
                    what = "signature" if "(*" in spelled else "type"
                    self.fault(f"the {what} of {struct}.{name} was `{spelled}` in {self.was} and is `{new[name][2]}`")
                elif new[name][1] != bytes_:
                    self.fault(f"{struct}.{name} had {bytes_} bytes in {self.was} and has {new[name][1]}")
                continue
            heirs = [other for other, place in new.items() if other not in old and offset <= place[0] < offset + bytes_]
            if "reserved" not in name:
                instead = f"; {heirs[0]} is in its place" if heirs else ""
                self.fault(f"{struct}.{name} of {self.was} is gone{instead}")
            elif not heirs:
                self.fault(f"{struct}.{name}, reserved in {self.was}, is gone")
            elif not self.newer:
                self.fault(f"{struct}.{name} has a meaning now ({heirs[0]}) and the version is still {self.was}: raise "
                           "KW_ABI_VERSION")
        places = [(offset, offset + bytes_) for name, (offset, bytes_, _) in old.items()]
        for name, (offset, bytes_, _) in new.items():
            if name in old or offset >= size:
                continue
            if not any(begin <= offset and offset + bytes_ <= end for begin, end in places):
                self.fault(f"{struct}.{name} is new and lies at byte {offset}, in {self.was}'s padding: append it")
        for name in new:
            if name not in old and new[name][0] >= size:
                self.needs_version(f"{struct}'s field", name)
        self.size(struct, size, alignment)

    def size(self, struct, size, alignment):
        now, aligned = self.new.structs[struct]
        grows = ("struct_size" in self.old.fields.get(struct, {}) or struct in self.old.floors())
        if aligned != alignment:
            self.fault(f"{struct} was aligned to {alignment} in {self.was} and is to {aligned}")
        if now < size:
            self.fault(f"{struct} had {size} bytes in {self.was} and has {now}")
        elif now > size and (not grows or struct in EXTENSION_HEADS):
            self.fault(f"{struct} travels by value or in arrays: it has {size} bytes for ever, not {now}")

    def structs(self):
        for struct, fields in self.old.fields.items():
            if struct in self.new.structs:
                self.one_struct(struct, fields, self.new.fields.get(struct, {}))
            else:
                self.fault(f"{struct} of {self.was} is gone")
        for struct in self.new.structs:
            if struct not in self.old.structs:
                self.needs_version("the struct", struct)

    def slots(self):
        old, new = self.snapshot.slots, self.tree.slots
        for group, required in new.groups.items():
            if group not in old.groups:
                if required:
                    self.fault(f"the group keyway.{group}/1 is new and required: plugins of {self.was} do not have it")
            elif required != old.groups[group]:
                was = "optional" if required else "required"
                self.fault(f"the group keyway.{group}/1 was {was} in {self.was} and stays so")
        for key, (since, required) in new.slots.items():
            slot = ".".join(key)
            if key not in old.slots:
                if required and key[0] in old.groups:
                    self.fault(f"the slot {slot} is new and required: plugins of {self.was} do not have it")
                if since <= self.old.version() & 0xffff:
                    self.fault(f"the slot {slot} is not in {self.was}: its row in slots.def says that 1.{since} has it")
            elif required != old.slots[key][1]:
                was, now = ("optional", "required") if required else ("required", "optional")
                self.fault(f"the slot {slot} was {was} in {self.was} and cannot become {now}")
            elif since != old.slots[key][0]:
                self.fault(f"the slot {slot} is there since 1.{old.slots[key][0]}, not 1.{since}")

    def for_ever(self):
        """Of a later major, nothing else is asked"""
        for struct, reach in FOR_EVER.items():
            for name, place in self.old.fields[struct].items():
                if place[0] + place[1] <= reach and self.new.fields.get(struct, {}).get(name) != place:
                    self.fault(f"{struct}.{name} lies within the first {reach} bytes, which stay for ever")
        if self.new.defines.get("KW_QUERY_SYMBOL") != self.old.defines["KW_QUERY_SYMBOL"]:
            self.fault("KW_QUERY_SYMBOL stays for ever")
        query = {"keyway_plugin_query": self.old.functions["keyway_plugin_query"]}
        self.same("the function", query, self.new.functions, added=False)

    def run(self):
        if self.new.version() < self.old.version():
            self.fault(f"KW_ABI_VERSION is {version_text(self.new.version())}, and {self.was} is frozen")
        self.for_ever()
        if self.new.version() >> 16 == self.old.version() >> 16:
            self.structs()
            self.defines()
            self.floors()
            self.slots()
            self.same("the enumerator", self.old.values, self.new.values)
            self.same("the type", self.old.types, self.new.types)
            self.same("the function", self.old.functions, self.new.functions)
        return self.faults


# ---- Without a snapshot ----------------------------------------------------------------------------------------------


def slot_faults(tree):
    """slots.def and plugin.h name the same slots in the same order"""
    for group in tree.slots.groups:
        fields = tree.table.fields.get(f"kw_{group}_api", {})
        declared = [name for name, place in sorted(fields.items(), key=lambda field: field[1][0]) if "(*" in place[2]]
        listed = [name for of, name in tree.slots.slots if of == group]
        for here, there in zip(declared + [None] * len(listed), listed + [None] * len(declared)):
            if here != there:
                yield (f"kw_{group}_api in plugin.h has {here or 'no more slots'} where slots.def has "
                       f"{there or 'none'}: both name the slots in one order")
                break


def status_faults(tree):
    """No two statuses have one number"""
    named = {}
    for name, number in tree.table.values.items():
        if name.startswith("KW_ERR_"):
            if number in named:
                yield f"{name} and {named[number]} have one number, {number}: a status of its own needs the next one"
            named[number] = name


def hole_faults(tree):
    """Each byte of a struct belongs to a field: what has no name would be whatever was there before"""
    for struct, fields in tree.table.fields.items():
        end, holes = 0, []
        for offset, bytes_, _ in sorted(fields.values()):
            holes += [(end, offset)] if offset > end else []
            end = max(end, offset + bytes_)
        size = tree.table.structs[struct][0]
        holes += [(end, size)] if size > end else []
        if struct in tree.plugin_words:
            yield from (f"{struct} has {to - at} bytes without a name at byte {at}: call them reserved"
                        for at, to in holes)


def needs_floor(tree):
    """Structs that say their size to the other side, other than what FOR_EVER and chains have rules for"""
    return [struct for struct, fields in tree.table.fields.items()
            if ("struct_size" in fields or floor_macro(struct) in tree.table.defines) and
            struct in tree.plugin_words and struct not in EXTENSION_HEADS]


def wanted_floor(tree, struct):
    if struct == "kw_query_info":
        return FOR_EVER[struct]
    return next((snapshot.table.structs[struct][0] for snapshot in tree.snapshots if struct in snapshot.table.structs),
                tree.table.structs[struct][0])


def floor_faults(tree):
    for struct in needs_floor(tree):
        macro = floor_macro(struct)
        written = re.search(rf"(?m)^#define {macro} (.*)$", tree.header)
        wanted = wanted_floor(tree, struct)
        if not written:
            yield f"{struct} has no floor: plugin.h says `#define {macro} {wanted}u`"
        elif not re.fullmatch(r"\d+u", written.group(1)):
            yield f"the floor {macro} is no literal number: it would move with the struct; write {wanted}u"
        elif int(tree.table.defines[macro]) != wanted:
            yield f"the floor {macro} is {tree.table.defines[macro]}: the first version of {struct} has {wanted} bytes"


def write_floors(tree):
    text = tree.header
    for struct in needs_floor(tree):
        macro = floor_macro(struct)
        line, wanted = f"#define {macro} {wanted_floor(tree, struct)}u", rf"(?m)^#define {macro} .*$"
        if not re.search(wanted, text):
            sys.exit(f"abi_rules: {struct} has no floor: add `{line}` to plugin.h")
        text = re.sub(wanted, line, text)
    (tree.folder / "abi/include/keyway/plugin.h").write_text(text)


# ---- MUSTs -----------------------------------------------------------------------------------------------------------


def paragraphs(header):
    """Of its comments, each with the number of its first line"""
    for comment in re.finditer(r"/\*(.*?)\*/", header, re.S):
        line, text, first = header.count("\n", 0, comment.start()) + 1, "", None
        for row in comment.group(1).split("\n"):
            bare = re.sub(r"^\s*\*( |$)", "", row)
            if not bare.strip() or bare.lstrip().startswith("- "):
                if text:
                    yield first, text
                text = ""
            if bare.strip():
                first, text = (first if text else line), f"{text} {bare.strip()}"
            line += 1
        if text:
            yield first, text


class Checks:
    """What there is of checks and mutants"""

    def __init__(self, folder):
        suites = (folder / "conformance/contract/contract_suites.h").read_text()
        self.checks = set(re.findall(r"\bX\((\w+), (\w+)\)", suites))
        rows = [line.split(" : ") for line in (folder / "conformance/mutants/mutants.list").read_text().splitlines()
                if re.match(r"\w+ : ", line)]
        self.mutants = {name: (chosen, found[0].replace("\\", "")) for name, chosen, *found in rows
                        if not chosen.startswith("not yet: ")}
        self.loader = (folder / "tests/loader_test.c").read_text()

    def exists(self, suite, check):
        if suite == "load":
            return f"keyway_fixture_{check}.so" in self.loader
        return suite == "ops" or any(suite == of and check in ("", name) for of, name in self.checks)

    def killed(self, suite, check):
        """The mutants that this check finds"""
        if suite == "load":
            return {check} if self.exists(suite, check) else set()
        if suite == "ops":
            return {name for name, (chosen, _) in self.mutants.items() if chosen.startswith("--op ")}
        wanted = re.compile(rf" {suite}/{check or '.*'}(\W|$)")
        return {name for name, (_, found) in self.mutants.items() if wanted.search(found)}


def rules(text):
    """Of a paragraph: (how many MUSTs, the first one's words, the tags that follow them)"""
    count, words, tags = 0, "", []
    for mark in re.finditer(r"\bMUST\b|(?<=[\s(])\[([a-z_]+)(?:/(\w+))?\]", text):
        if mark.group(1):
            tags.append((mark.group(1), mark.group(2) or ""))
            continue
        if tags or not count:
            if count or tags:
                yield count, words, tags
            count, words, tags = 0, text[mark.start():mark.start() + 60], []
        count += 1
    yield count, words, tags


def must_faults(tree):
    checks = Checks(tree.folder)
    for line, text in paragraphs(tree.header):
        if "RFC 2119" in text:
            continue
        for count, words, tags in rules(text):
            named = " ".join("/".join(filter(None, tag)) for tag in tags)
            yield from (f"plugin.h:{line}: there is no check {'/'.join(filter(None, tag))}" for tag in tags
                        if not checks.exists(*tag))
            found = set().union(*[checks.killed(*tag) for tag in tags])
            if count and not tags:
                yield f"plugin.h:{line}: a MUST without a tag that names its check: \"{words}\""
            elif len(found) < count:
                yield (f"plugin.h:{line}: MUST {count} times and {len(found)} mutants that {named} finds: \"{words}\"; "
                       "write one that breaks the rule (conformance/mutants, tests/plugins)")


# ---- All of it -------------------------------------------------------------------------------------------------------


def exported(symbols):
    """Of a library, or from a list of names"""
    if not symbols.read_bytes().startswith(b"\x7fELF"):
        return set(symbols.read_text().split())
    command = ["nm", "-D", "--defined-only", "-f", "posix", str(symbols)]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {line.split()[0].split("@")[0] for line in listed.splitlines() if line.split()[1] != "A"}


def faults(folder, symbols=None):
    tree = Tree(folder)
    found = [*slot_faults(tree), *status_faults(tree), *hole_faults(tree), *must_faults(tree)]
    if tree.snapshots:
        found += floor_faults(tree)
    present = None if symbols is None else exported(symbols)
    for snapshot in tree.snapshots:
        found += Comparison(snapshot, tree).run()
        if present is not None:
            found += [f"libkeyway no longer exports {name}, which it did in {snapshot.text}"
                      for name in sorted(snapshot.symbols - present)]
    return tree, list(dict.fromkeys(found))


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[0].removeprefix("usage: "), add_help=False)
    parser.add_argument("--tree", type=Path, default=Path(__file__).resolve().parents[1])
    parser.add_argument("--symbols", type=Path)
    parser.add_argument("--write-floors", action="store_true")
    parser.add_argument("--help", action="store_true")
    arguments = parser.parse_args()
    if arguments.help:
        print(__doc__)
        return
    if arguments.write_floors:
        write_floors(Tree(arguments.tree.resolve()))
        return
    tree, found = faults(arguments.tree.resolve(), arguments.symbols)
    for text in found:
        print(f"FAILED: {text}")
    against = ", ".join(snapshot.text for snapshot in tree.snapshots) or "no snapshot: abi/frozen is empty"
    print(f"plugin ABI {version_text(tree.table.version())} against {against}: {len(found)} failures")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
