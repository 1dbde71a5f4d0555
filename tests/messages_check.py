#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: messages_check.py SOURCE_DIRECTORY

Looks whether each message that docs/troubleshooting.md has as a heading is one that the source can give. `...` in it stands
for what printf puts there. A heading that ends with whose message it is, (CMake) for one, is not looked for.
"""
import re
import sys
from pathlib import Path

STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
LITERAL = re.compile(r'(?:"(?:[^"\\\n]|\\.)*"\s*(?:PRI\w+\s*)?)+')
CONVERSION = re.compile(r"%[-+#0-9.*]*(?:hh|h|ll|l|z|j)?[a-zA-Z]|%$|%(?=[ ,;.)])")
PAGE = "docs/troubleshooting.md"


def messages(source):
    """All strings of the C sources, neighbours put together, with ... for what printf puts in."""
    for folder in ("abi", "core", "backends", "conformance", "cli"):
        for path in (source / folder).rglob("*.[ch]"):
            for match in LITERAL.finditer(path.read_text()):
                text = "".join(STRING.findall(match[0]))
                if len(text) > 15:
                    yield CONVERSION.sub("...", text.replace("\\n", "\n"))


def headings(page):
    """(line, message) of those that are Keyway's own."""
    for number, line in enumerate(page.read_text().splitlines(), 1):
        match = re.fullmatch(r"### `(.*)`", line)
        if match:
            yield number, match[1]
        elif line.startswith("### ") and not re.fullmatch(r"### `.*` \(.+\)", line):
            raise SystemExit(f"{PAGE}:{number}: a heading here is a message in `...`, or says whose it is: (CMake)")


def pattern(message):
    """A message as people see it: what stood between its ... is in the source, with as many places as you like between."""
    return re.compile(r"[\s\S]*?".join(re.escape(part) for part in message.split("...")))


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        raise SystemExit(__doc__)
    source = Path(sys.argv[1])
    known = list(messages(source))
    found = list(headings(source / PAGE))
    unknown = [f"{PAGE}:{number}: nothing in the source says '{message}'" for number, message in found
               if not any(pattern(message).search(text) for text in known)]
    if unknown:
        raise SystemExit("\n".join(unknown) + "\nWrite the message as the source has it, or take the heading out.")
    print(f"{len(found)} messages are the source's own")


if __name__ == "__main__":
    main()
