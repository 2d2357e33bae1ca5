"""Settings of the documentation site; `make docs` lays out the pages and builds it."""

project = "Compass"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "Compass"
html_show_copyright = False
html_show_sphinx = False
myst_heading_anchors = 4  # links to headings are checked too
# Grammars, outputs and queries are shown as they are.
myst_enable_extensions: list[str] = []
suppress_warnings = [
    "misc.highlighting_failure",  # outputs in code blocks are no programs
    "myst.header",  # some pages begin below the first level
]
