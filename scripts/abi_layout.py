#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: scripts/abi_layout.py [--compiler COMMAND] [--against FILE|COMPILER]

Prints what compiled code has of the public headers, abi/include/keyway/*.h, as a sorted table:

    define NAME VALUE                        macros that are numbers or strings
    field STRUCT.NAME OFFSET SIZE TYPE       a pointer to a function with its whole signature
    function NAME SIGNATURE                  what libkeyway and a plugin export
    struct NAME SIZE ALIGNMENT
    type NAME SIZE signed|unsigned|. TYPE    typedefs
    value NAME VALUE                         enumerators

Names and signatures are read from the preprocessed headers, numbers from an object that the compiler makes of them and
that is never run: the compiler may be one for another machine.

  --compiler   gcc where it is not given
  --against    compares with a table in a file, or with what another compiler makes: prints the difference, exit status 1
"""
import argparse
import difflib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

INCLUDE = Path(__file__).resolve().parents[1] / "abi/include"
TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\w+|\.\.\.|<<|>>|[^\w\s]')
NOT_DATA = {"KW_CALL", "KW_API", "KW_PLUGIN_EXPORT", "KW_NO_INTS"}  # no number and no string


def source():
    return "".join(f"#include <keyway/{path.name}>\n" for path in sorted((INCLUDE / "keyway").glob("*.h")))


def run(compiler, *arguments, text):
    done = subprocess.run([*compiler.split(), "-std=c11", f"-I{INCLUDE}", *arguments, "-x", "c", "-"], input=text,
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"abi_layout: {compiler} refuses the headers:\n{done.stderr}")
    return done.stdout


# ---- Reading ---------------------------------------------------------------------------------------------------------


def own_tokens(compiler):
    """Those of the preprocessed text that come from our headers"""
    tokens, ours = [], False
    for line in run(compiler, "-E", text=source()).split("\n"):
        mark = re.match(r'# \d+ "([^"]*)"', line)
        if mark:
            ours = mark.group(1).startswith(str(INCLUDE))
        elif ours:
            tokens += TOKEN.findall(line)
    return tokens


def matching(tokens, at):
    """The place behind the bracket that closes the one at `at`"""
    depth = 0
    for place in range(at, len(tokens)):
        depth += (tokens[place] in "([{") - (tokens[place] in ")]}")
        if depth == 0:
            return place + 1
    raise SystemExit("abi_layout: a bracket is not closed")


def without_attributes(tokens):
    kept, at = [], 0
    while at < len(tokens):
        if tokens[at] == "__attribute__":
            at = matching(tokens, at + 1)
        else:
            kept.append(tokens[at])
            at += 1
    return kept


def declarations(tokens):
    """Lists of tokens, up to a semicolon or through a function's body"""
    at = start = 0
    while at < len(tokens):
        if tokens[at] in "([{":
            body = tokens[at] == "{" and tokens[at - 1] == ")"
            at = matching(tokens, at)
            if not body:
                continue
        elif tokens[at] == ";":
            at += 1
        else:
            at += 1
            continue
        yield tokens[start:at]
        start = at


def spelled(tokens):
    text = " ".join(tokens)
    text = re.sub(r" ?([(\[]) ?", r"\1", text)
    return re.sub(r" ([)\],])", r"\1", re.sub(r"\* +(?=[\w*)])", "*", text))


def declared_name(tokens):
    """Of a declaration without initialiser: the name in (*name)( or before [ and the end"""
    for at in range(len(tokens) - 2):
        if tokens[at] == "(" and tokens[at + 1] == "*":
            return next(token for token in tokens[at + 2:] if token not in ("const", "*"))
    end = tokens.index("[") if "[" in tokens else len(tokens)
    return tokens[end - 1]


class Reader:
    """Collects (line of the table with %d for each number and %s for signedness, the expressions of those numbers)"""

    def __init__(self):
        self.rows = []

    def add(self, line, *expressions):
        self.rows.append((line, expressions))

    def enumerators(self, body):
        name = True
        for at, token in enumerate(body):
            if name:
                self.add(f"value {token} %d", token)
            name = token == "," and body[:at].count("(") == body[:at].count(")")

    def fields(self, of, body, prefix=""):
        for field in declarations(body):
            field = field[:-1]
            if "{" in field:  # a union or a struct inside
                close = matching(field, field.index("{"))
                inner = prefix + (field[close] + "." if close < len(field) else "")
                self.fields(of, field[field.index("{") + 1:close - 1], inner)
                continue
            bare = field if "(" not in field else field[:1]
            parts, start = [], 0
            for at, token in enumerate(bare):
                if token == ",":
                    parts.append(bare[start:at])
                    start = at + 1
            parts = [field] if not parts else parts + [bare[start:]]
            for part in parts:
                name = declared_name(part)
                path = prefix + name
                kind = part if part is parts[0] else parts[0][:-1] + part
                self.add(f"field {of}.{path} %d %d {spelled(kind)}", f"__builtin_offsetof({of}, {path})",
                         f"sizeof((({of} *)0)->{path})")

    def aggregate(self, tokens):
        """struct, union or enum with a body, maybe a typedef"""
        opening = tokens.index("{")
        close = matching(tokens, opening)
        body = tokens[opening + 1:close - 1]
        if "enum" in tokens[:opening]:
            self.enumerators(body)
            if tokens[0] == "typedef":
                self.add(f"type {tokens[close]} %d . enum", f"sizeof({tokens[close]})")
            return
        name = tokens[close] if tokens[0] == "typedef" else " ".join(tokens[:opening])
        self.add(f"struct {name} %d %d", f"sizeof({name})", f"_Alignof({name})")
        self.fields(name, body)

    def typedef(self, tokens):
        name = declared_name(tokens)
        kind = spelled([token for token in tokens[1:] if token != name] if "(" not in tokens else tokens[1:])
        if "(" in tokens or "*" in tokens:
            self.add(f"type {name} %d . {kind}", f"sizeof({name})")
        elif tokens[1] in ("struct", "union"):
            self.add(f"type {name} {kind}")  # opaque, or its size is the struct's row
        else:
            self.add(f"type {name} %d %s {kind}", f"sizeof({name})", f"({name})-1 < 0")

    def declaration(self, tokens):
        if tokens[0] == "extern" and tokens[1].startswith('"'):
            raise SystemExit("abi_layout: wants a C compiler")
        plain = tokens[:-1] if tokens[-1] == ";" else tokens
        if "{" in plain and "static" not in plain:
            self.aggregate(plain)
        elif plain and plain[0] == "typedef":
            self.typedef(plain)
        elif "(" in plain and "static" not in plain:
            self.add(f"function {plain[plain.index('(') - 1]} {spelled(plain)}")

    def macros(self):
        for path in sorted((INCLUDE / "keyway").glob("*.h")):
            text = path.read_text().replace("\\\n", " ")
            for name, value in re.findall(r"(?m)^ *#define (\w+)[ \t]+(\S.*)$", text):
                value = re.sub(r"/\*.*?(\*/|$)", "", value).strip()
                if name in NOT_DATA or name.startswith("DLPACK_") or not value:
                    continue
                if value.startswith('"'):
                    self.add(f"define {name} {value}")
                else:
                    self.add(f"define {name} %d", name)


# ---- Numbers ---------------------------------------------------------------------------------------------------------


def section(data, wanted):
    """The bytes of a section of a little-endian ELF64 object"""
    table, = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3a)
    headers = [struct.unpack_from("<IIQQQQ", data, table + size * i) for i in range(count)]
    for name, _, _, _, offset, length in headers:
        at = headers[names][4] + name
        if data[at:data.index(b"\0", at)].decode() == wanted:
            return data[offset:offset + length]
    sys.exit(f"abi_layout: the object has no section {wanted}: the compiler has to write ELF for a 64-bit host")


def numbers(compiler, expressions):
    listed = ",\n".join(f"(long long)({expression})" for expression in expressions)
    text = f'{source()}\n__attribute__((section(".kw_layout"), used)) const long long kw_layout[] = {{\n{listed}}};\n'
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder) / "layout.o"
        run(compiler, "-w", "-c", "-o", str(built), text=text)
        return [value for value, in struct.iter_unpack("<q", section(built.read_bytes(), ".kw_layout"))]


def layout(compiler):
    reader = Reader()
    for tokens in declarations(without_attributes(own_tokens(compiler))):
        reader.declaration(tokens)
    reader.macros()
    values = iter(numbers(compiler, [expression for _, each in reader.rows for expression in each]))
    lines = set()
    for line, expressions in reader.rows:
        filled = iter([next(values) for _ in expressions])
        lines.add(re.sub("%d|%s", lambda mark: str(next(filled)) if mark.group() == "%d" else
                         ("signed" if next(filled) else "unsigned"), line))
    return sorted(lines)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[0].removeprefix("usage: "), add_help=False)
    parser.add_argument("--compiler", default="gcc")
    parser.add_argument("--against")
    parser.add_argument("--help", action="store_true")
    arguments = parser.parse_args()
    if arguments.help:
        print(__doc__)
        return
    table = layout(arguments.compiler)
    if not arguments.against:
        print("\n".join(table))
        return
    compiler = shutil.which(arguments.against.split()[0])
    other = layout(arguments.against) if compiler else Path(arguments.against).read_text().splitlines()
    difference = [line for line in difflib.unified_diff(other, table, arguments.against, arguments.compiler, "", "", 0,
                                                        "") if not line.startswith("@@")]
    print("\n".join(difference) if difference else f"{len(table)} lines, byte-equal")
    sys.exit(bool(difference))


if __name__ == "__main__":
    main()
