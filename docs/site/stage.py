#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: stage.py SOURCE_DIRECTORY PROGRAM STAGE_DIRECTORY

Lays out what Sphinx makes the site and the man pages of: the pages as they lie in the tree, README.md as index.md with
the contents of the site, and a page for each command of PROGRAM (keyway) and of keyway-gpu-sources beside it, written
from its own help. A link to something that is no page leads to the examples, which are installed beside the site, or is
text alone.
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

PAGES = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md", "docs/ops/*.md",
         "integrations/*/README.md", "backends/*/README.md", "examples/README.md", "examples/*/README.md"]
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
NO_MENU = "---\norphan: true\n---\n"  # a page that others lead to, and no menu: 250 ops would be in that of each page


def page_list(source):
    return sorted({str(path.relative_to(source)) for pattern in PAGES for path in source.glob(pattern)})


def with_links(pages, page, text):
    """The text of a page, with links that hold in the site; one to a folder leads to its README."""
    folder = os.path.dirname(page)

    def link(match):
        words, target = match.groups()
        path, _, anchor = target.partition("#")
        if not path or re.match(r"[a-z]+:", target):
            return match[0]
        path = os.path.normpath(os.path.join(folder, path))
        found = next((each for each in (path, f"{path}/README.md") if each in pages), None)
        if found:
            found = "index.md" if found == "README.md" else found
            return f"[{words}]({os.path.relpath(found, folder or '.')}{'#' if anchor else ''}{anchor})"
        if path.startswith("examples/"):
            return f'<a href="{os.path.relpath("../" + path, folder or ".")}">{words}</a>'
        return words

    parts = re.split(r"(?ms)(^```.*?^```$)", text)  # what stands in a fence is no link
    return "".join(part if part.startswith("```") else LINK.sub(link, part) for part in parts)


def write(stage, page, text):
    path = stage / page
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def help_of(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout


def plain(text):
    """Text of a program's as Markdown that shows it as it is."""
    return re.sub(r"([\\`*_<>\[\]#|])", r"\\\1", text)


def fenced(text):
    return f"```none\n{text.rstrip()}\n```\n"


def paragraphs(text):
    """What help says between its summary and its options: what is indented stays as it is."""
    parts = text.strip("\n").split("\n\n")
    return "\n".join(fenced(part) if part.startswith(" ") else plain(part) + "\n" for part in parts)


def option_list(text):
    """The lines of 'Options:' as a definition list."""
    found = []
    for line in text.splitlines():
        option = re.match(r"  (\S.*?)(?:\s{2,}|\n|$)(.*)", line)
        if option and not line.startswith("      "):
            found.append([option[1], [option[2]] if option[2] else []])
        else:
            found[-1][1].append(re.sub(r",(?=\w)", ", ", line.strip()))  # a long list that no line can hold
    return "\n".join(f"`{name}`\n: {plain(' '.join(words))}\n" for name, words in found)


def command_page(name, text):
    """A page for one command, from what its help prints."""
    usage, _, rest = text.partition("\n\n")
    summary, _, rest = rest.partition("\n\n")
    details, _, options = rest.partition("Options:\n")
    details, status, exits = details.partition("Exit status: ")
    page = (f"# {name}\n\n## Synopsis\n\n{fenced(usage.removeprefix('usage: '))}\n## Description\n\n"
            f"{plain(summary.strip())}\n\n{paragraphs(details)}")
    if options.strip():
        page += f"\n## Options\n\n{option_list(options)}"
    if status:
        page += f"\n## Exit status\n\n{paragraphs(exits[:1].upper() + exits[1:])}"
    return page


def write_commands(stage, program):
    overview = help_of(program, "help")
    head, _, listed = overview.partition("Commands:\n")
    rows, _, tail = listed.partition("\n\n")
    commands = [row.split(None, 1) for row in rows.splitlines()]
    usage, _, about = head.partition("\n\n")
    table = "\n".join(f"`{name}`\n: {plain(summary)}: [keyway-{name}(1)](keyway-{name}.md)\n"
                      for name, summary in commands)
    ways, _, exits = tail.partition("Exit status: ")
    page = (f"# keyway\n\n## Synopsis\n\n{fenced(usage.removeprefix('usage: '))}\n"
            f"## Description\n\nDevices, ops and plugins of Keyway.\n\n{paragraphs(about)}\n"
            f"## Commands\n\n{table}\n{plain(ways.strip())}\n\n## Exit status\n\n{plain(exits)}")
    write(stage, "commands/keyway.md", page)
    for name, _ in commands:
        write(stage, f"commands/keyway-{name}.md", command_page(f"keyway-{name}", help_of(program, "help", name)))
    kernels = help_of(str(Path(program).parent / "keyway-gpu-sources"), "--help")
    usage, _, about = kernels.partition("\n\n")
    write(stage, "commands/keyway-gpu-sources.md", command_page(
        "keyway-gpu-sources", f"{usage}\n\nThe kernels of the plugin kit as files\n\n{about}"))
    names = ["keyway", *(f"keyway-{name}" for name, _ in commands), "keyway-gpu-sources"]
    write(stage, "commands/README.md", "# Commands\n\nEach is a man page as well: `man keyway-conform`.\n\n"
          "```{toctree}\n:maxdepth: 1\n" + "".join(f"{name}\n" for name in names) + "```\n")


def main():
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    source, program, stage = Path(sys.argv[1]).resolve(), sys.argv[2], Path(sys.argv[3])
    shutil.rmtree(stage, ignore_errors=True)
    contents = (source / "docs/site/contents.md").read_text()
    pages = page_list(source)
    for page in pages:
        text = with_links(pages, page, (source / page).read_text())
        if page == "README.md":
            write(stage, "index.md", text + contents)
        else:
            write(stage, page, text if page[:-3] in contents else NO_MENU + text)
    for picture in (source / "docs").glob("*.svg"):
        shutil.copy(picture, stage / "docs" / picture.name)
    write_commands(stage, program)


if __name__ == "__main__":
    main()
