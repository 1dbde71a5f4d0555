#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: headers_check.py SOURCE_DIRECTORY [HEADER...]

Every public header alone in a file, without a warning: as each standard of C from 99 and of C++ from 11, by gcc and by
clang, and by clang for Windows, where none of the system's headers are there. Hosts that the ABI is not for, 32-bit and
big-endian ones, are refused in words. No header has a KW_..._COUNT: a number that a later version raises, and that would
be in tables compiled before. HEADER, "keyway/types.h": these only. A compiler that is not installed is named
and skipped.
"""
import itertools
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]
STANDARDS = {"c": ["c99", "c11", "c17", "c2x"], "c++": ["c++11", "c++14", "c++17", "c++20", "c++2b"]}
# The targets, by what they add to the command; a freestanding compiler brings what the headers may include.
WINDOWS = ["--target=x86_64-pc-windows-msvc", "-ffreestanding"]
REFUSED = {"64-bit": ["--target=i686-pc-linux-gnu", "-ffreestanding"],
           "little-endian": ["--target=powerpc64-unknown-linux-gnu", "-ffreestanding"]}
POSIX_ONLY = {"keyway/gpu.h"}  # it has pthread.h's types in its structs


def headers(source):
    """(header, its file): "keyway/types.h" as it is included"""
    for folder in ("abi/include", "backends/gpu/include"):
        yield from ((f"keyway/{path.name}", path) for path in sorted((source / folder / "keyway").glob("*.h")))


def counts(source, chosen):
    """(header, name) of each number of values that a header gives away"""
    for header, path in headers(source):
        if header in chosen:
            yield from ((header, name) for name in re.findall(r"\bKW_\w+_COUNT\b", path.read_text()))


def command(source, compiler, language, standard, target=()):
    includes = [f"-I{source}/abi/include", f"-I{source}/backends/gpu/include"]
    return [compiler, *target, *STRICT, f"-std={standard}", *includes, "-x", language, "-"]


def compiled(header, arguments):
    """What the compiler says of a file that has this line alone; its exit status"""
    done = subprocess.run(arguments, input=f"#include <{header}>\n", capture_output=True, text=True,
                          env={**os.environ, "LC_ALL": "C"})
    return done.returncode, done.stderr


def main():
    source = Path(sys.argv[1]).resolve()
    chosen = [header for header, _ in headers(source) if len(sys.argv) == 2 or header in sys.argv[2:]]
    if not chosen:
        sys.exit(f"headers_check: none of these is a public header: {' '.join(sys.argv[2:])}")
    compilers = [name for name in ("gcc", "clang") if shutil.which(name)]
    for name in {"gcc", "clang"} - set(compilers):
        print(f"skipped: {name} is not installed")
    languages = [(language, standard) for language, each in STANDARDS.items() for standard in each]
    jobs = [(header, command(source, compiler, *language), None)
            for header, compiler, language in itertools.product(chosen, compilers, languages)]
    if "clang" in compilers:
        jobs += [(header, command(source, "clang", *language, WINDOWS), None)
                 for header, language in itertools.product(chosen, languages) if header not in POSIX_ONLY]
        jobs += [("keyway/types.h", command(source, "clang", "c", "c11", target), words)
                 for words, target in REFUSED.items()]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda job: compiled(*job[:2]), jobs))
    failures = 0
    for header, name in counts(source, chosen):
        failures += 1
        print(f"FAILED: {header} has {name}: derive what is needed from a list (KW_DTYPE_LIST) or a mask")
    for (header, arguments, refusal), (status, text) in zip(jobs, results):
        if refusal is None and (status != 0 or text):
            failures += 1
            print(f"FAILED: {header}: {' '.join(arguments)}\n{text}")
        elif refusal is not None and (status == 0 or refusal not in text):
            failures += 1
            print(f"FAILED: {header} has to be refused, as the ABI is for {refusal} hosts: {' '.join(arguments)}\n{text}")
    print(f"{len(chosen)} headers, {len(jobs)} compilations, {failures} failures")
    sys.exit(failures != 0)


if __name__ == "__main__":
    main()
