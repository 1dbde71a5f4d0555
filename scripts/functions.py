#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: scripts/functions.py [--check [CORE]]

Writes abi/functions.def, the public functions as data, from abi/include/keyway/*.h: after a change of a function there.
--check says instead whether the file is what the headers give; and of CORE, the archive of core's objects, whether all
but the room entry's know public functions by their direct names alone (core/base/direct.h), so that layers see the application's
calls and no others.
"""
import re
import subprocess
import sys
import textwrap
from pathlib import Path

ABI = Path(__file__).resolve().parents[1] / "abi"
FILE = ABI / "functions.def"
COLUMNS = 120
HEADER = """/* SPDX-License-Identifier: Apache-2.0
 *
 * The public functions as data, in the order of the headers: what libkeyway exports, and what layers stand in front of.
 * Made from keyway.h, interop.h and test.h by scripts/functions.py. Define KW_FUNCTION, and the others where these
 * functions need another text, then include it; it undefines all three.
 *
 *   KW_FUNCTION(type, name, parameters, arguments)
 *     name                    without the prefix: op_call -> kw_op_call
 *     parameters, arguments   the signature and the names, each in parentheses
 *   KW_PROCEDURE(name, parameters, arguments)
 *     the same for a function that gives nothing back
 *   KW_GETTER(type, name)
 *     the same for one that takes nothing
 */
#ifndef KW_GETTER
#define KW_GETTER(type, name) KW_FUNCTION(type, name, (void), ())
#endif
#ifndef KW_PROCEDURE
#define KW_PROCEDURE(name, parameters, arguments) KW_FUNCTION(void, name, parameters, arguments)
#endif

"""
FOOTER = "#undef KW_FUNCTION\n#undef KW_PROCEDURE\n#undef KW_GETTER\n"


def parts(parameters):
    """The parameters of a list, each by itself."""
    depth, found = 0, [""]
    for letter in parameters:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [part.strip() for part in found]


def name_of(parameter):
    pointer = re.search(r"\(KW_CALL \*(\w+)\)", parameter)
    return pointer.group(1) if pointer else re.search(r"(\w+)$", parameter).group(1)


def functions():
    """(type, name, parameters, arguments) of each public function."""
    for header in ("keyway", "interop", "test"):
        text = re.sub(r"/\*.*?\*/", "", (ABI / f"include/keyway/{header}.h").read_text(), flags=re.S)
        for kind, name, parameters in re.findall(r"^KW_API\s+([^;(]*?)\bkw_(\w+)\(([^;]*)\);", text, flags=re.M):
            parameters = " ".join(parameters.split())
            names = [] if parameters == "void" else [name_of(part) for part in parts(parameters)]
            yield kind.strip(), name, f"({parameters})", f"({', '.join(names)})"


def row(kind, name, parameters, arguments):
    """A row as the other tables have it: the signature, and then the names, each begun on a line of its own."""
    if arguments == "()" and kind != "void":
        return f"KW_GETTER({kind}, {name})"
    macro = "KW_PROCEDURE(" if kind == "void" else "KW_FUNCTION("
    head = macro + ", ".join([name] if kind == "void" else [kind, name]) + ","
    text = f"{head} {parameters}, {arguments})"
    if len(text) <= COLUMNS:
        return text
    indent = " " * len(macro)
    signature = textwrap.wrap(f"{parameters},", COLUMNS, initial_indent=indent, subsequent_indent=indent + " ")
    lines = [head, *signature]
    if len(lines[-1]) + 1 + len(arguments) + 1 <= COLUMNS:
        lines[-1] += f" {arguments})"
    else:
        lines.append(f"{indent}{arguments})")
    return "\n".join(lines)


def public_names_in(archive):
    """Public names that objects of core other than the room entry's define or need, each with its object."""
    names = {f"kw_{name}" for _, name, _, _ in functions()}
    listing = subprocess.run(["nm", "-A", "-P", archive], check=True, capture_output=True, text=True).stdout
    members = re.findall(r"\[(.+)\]: (\S+) \S", listing)
    if not any(name == "direct_kw_op_call" for _, name in members):
        sys.exit(f"{archive} has no direct_kw_op_call: it is not the archive of core's objects")
    entry = {f"{path.name}.o" for path in (ABI.parent / "core/entry").glob("*.c")}
    return {f"{name} in {member}" for member, name in members if name in names and member not in entry}


def main():
    text = HEADER + "\n".join(row(*function) for function in functions()) + "\n\n" + FOOTER
    if sys.argv[1:2] != ["--check"]:
        FILE.write_text(text)
        return
    if FILE.read_text() != text:
        sys.exit("abi/functions.def is not what the headers say: run scripts/functions.py")
    for archive in sys.argv[2:]:
        if found := public_names_in(archive):
            sys.exit(f"layers would see calls that core makes itself, by public names: {', '.join(sorted(found))}")


if __name__ == "__main__":
    main()
