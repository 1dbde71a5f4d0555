#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: links_check.py SOURCE_DIRECTORY

Looks at every link of the tree's pages (*.md): the file or folder is there, and so is the heading that an anchor names.
Addresses of other machines are not asked.
"""
import os
import re
import sys
from pathlib import Path

LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)|<(?:a href|img[^>]* src)=\"([^\"]+)\"")
LEFT_OUT = {"build", ".git", "results"}  # what is built, and dated pages, which stay as they were


def pages(source):
    for folder, folders, files in os.walk(source):
        folders[:] = sorted(set(folders) - LEFT_OUT)
        yield from (Path(folder) / file for file in sorted(files) if file.endswith(".md"))


def prose(text):
    """The lines of a page without its blocks and what is code within a line."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("    "):
            yield number, re.sub(r"`[^`]*`", lambda code: "x" * len(code[0]), line)


def anchors(path):
    """The anchors of a page's headings, as GitHub makes them."""
    found, fenced = set(), False
    for line in path.read_text().splitlines():
        fenced ^= line.startswith("```")
        heading = re.match(r"#+ +(.*)", line)
        if heading and not fenced:
            slug = re.sub(r"[^\w\- ]", "", heading[1].lower()).replace(" ", "-")
            found.add(next(name for name in [slug, *(f"{slug}-{n}" for n in range(1, 99))] if name not in found))
    return found


def wrong(page, target):
    """What is wrong with a link of a page, or None."""
    if re.match(r"[a-z]+:", target):
        return None
    path, _, anchor = target.partition("#")
    file = Path(os.path.normpath(page.parent / path)) if path else page
    if not file.exists():
        return f"there is no {path}"
    if anchor and (file.suffix != ".md" or anchor not in anchors(file)):
        return f"{file.name} has no heading for #{anchor}"
    return None


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        raise SystemExit(__doc__)
    source, count, failures = Path(sys.argv[1]).resolve(), 0, []
    for page in pages(source):
        for number, line in prose(page.read_text()):
            for match in LINK.finditer(line):
                count += 1
                why = wrong(page, match[1] or match[2])
                if why:
                    failures.append(f"{page.relative_to(source)}:{number}: {match[1] or match[2]}: {why}")
    if failures:
        raise SystemExit("\n".join(failures) + "\nMend the links, or the pages that they lead to.")
    print(f"{count} links hold")


if __name__ == "__main__":
    main()
