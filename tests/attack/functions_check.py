#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: functions_check.py FAILING_LIBRARY FILE...

Whether the library that makes functions of libc fail has each one that these built files call. Fails, naming them, for
functions of libc that it has not and that functions.txt beside this does not excuse.
"""
import fnmatch
import subprocess
import sys
from pathlib import Path


def symbols(path, which):
    out = subprocess.run(["nm", "-D", which, "-P", path], check=True, capture_output=True, text=True).stdout
    return {line.split()[0].split("@")[0] for line in out.splitlines()}


def main():
    failing, *files = sys.argv[1:]
    here = symbols(failing, "--defined-only")
    excused = [line for line in (Path(__file__).parent / "functions.txt").read_text().splitlines()
               if line and not line.startswith("#")]
    missing = {}
    for path in files:
        for name in sorted(symbols(path, "--undefined-only") - here):
            if not any(fnmatch.fnmatchcase(name, pattern) for pattern in excused):
                missing.setdefault(name, []).append(Path(path).name)
    for name, users in missing.items():
        print(f"FAILED: {name}, called by {', '.join(users)}: give it a row in failing_functions.def or, where it "
              "cannot fail for want of anything, a line in functions.txt")
    print(f"{len(files)} files, {len(missing)} functions missing")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
