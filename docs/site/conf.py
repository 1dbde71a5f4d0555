# SPDX-License-Identifier: Apache-2.0
"""Sphinx's settings for the pages that stage.py has laid out: the site, and the man pages of the program."""
import os
from pathlib import Path

STAGE = Path(os.environ["KEYWAY_STAGE"])

project = "Keyway"
author = "The Keyway maintainers"
copyright = author
version = release = os.environ["KEYWAY_VERSION"]
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "index"
myst_heading_anchors = 4
myst_enable_extensions = ["deflist"]
smartquotes = False  # --options and "names" stay as they are
suppress_warnings = ["myst.header"]  # an op's page may begin deeper
highlight_language = "none"  # an indented block is commands or a schema, and does not say so

html_theme = "furo"
html_title = f"Keyway {version}"
html_static_path = [str(Path(__file__).parent / "static")]
html_css_files = ["keyway.css"]
html_copy_source = False
html_show_sphinx = False
html_last_updated_fmt = None


def first_line(page):
    """What a command's page says first of what it does: what whatis shows."""
    return page.read_text().partition("## Description\n\n")[2].partition("\n\n")[0].rstrip(".")


man_pages = [(f"commands/{page.stem}", page.stem, first_line(page), [author], 1)
             for page in sorted((STAGE / "commands").glob("keyway*.md"))]
