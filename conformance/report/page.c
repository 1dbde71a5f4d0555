/* SPDX-License-Identifier: Apache-2.0
 *
 * What all pages have: their head, and how they look.
 */
#include "report/page.h"

#include "report/put_text.h"

static const char style[] =
    ":root{color-scheme:light dark;--text:#1c2024;--soft:#60646c;--back:#fff;--line:#e0e1e6;--box:#f6f7f9;"
    "--good:#18794e;--good-back:#ddf3e4;--bad:#cd2b31;--bad-back:#ffe5e5;--warn:#946800;--warn-back:#fff4d5;"
    "--bar:#3e63dd}\n"
    "@media(prefers-color-scheme:dark){:root{--text:#edeef0;--soft:#a0a4ac;--back:#111316;--line:#2e3135;--box:#1a1d21;"
    "--good:#4cc38a;--good-back:#0f2e22;--bad:#ff6369;--bad-back:#3c181a;--warn:#f1a10d;--warn-back:#341c00;"
    "--bar:#849dff}}\n"
    "body{margin:0 auto;max-width:76rem;padding:1.5rem;font:15px/1.5 system-ui,sans-serif;color:var(--text);"
    "background:var(--back);overflow-wrap:anywhere}\n"
    "h1{font-size:1.6rem;margin:0}h2{font-size:1.15rem;margin:2.2rem 0 .6rem}p{margin:.4rem 0}\n"
    "code,pre,.id,dd{font-family:ui-monospace,monospace;font-size:.88em}\n"
    ".soft{color:var(--soft)}.wide{overflow-x:auto}\n"
    ".wide td:first-child,.wide th:first-child{position:sticky;left:0;background:var(--back)}\n"
    ".verdict{display:inline-block;padding:.1rem .7rem;border-radius:.4rem;font-weight:600}\n"
    ".good{color:var(--good);background:var(--good-back)}.bad{color:var(--bad);background:var(--bad-back)}"
    ".warn{color:var(--warn);background:var(--warn-back)}\n"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1.2rem;margin:1rem 0}dt{color:var(--soft)}"
    "dd{margin:0}\n"
    "table{border-collapse:collapse;font-size:.9em}th,td{padding:.18rem .55rem;text-align:right;"
    "border-bottom:1px solid var(--line);white-space:nowrap;font-variant-numeric:tabular-nums}\n"
    "th{color:var(--soft);font-weight:500}th:first-child,td:first-child,td.id{text-align:left}\n"
    ".failure{border:1px solid var(--line);background:var(--box);border-radius:.4rem;padding:.5rem .8rem;margin:.5rem "
    "0}\n"
    ".failure pre{margin:.3rem 0;white-space:pre-wrap}\n"
    "svg rect{fill:var(--bar)}svg rect.over{fill:var(--bad)}svg line{stroke:var(--line)}\n";

void kw_page_put(FILE *out, const char *before, const char *text, const char *after) {
  fputs(before, out);
  kw_text_put_markup(out, text);
  fputs(after, out);
}

void kw_page_begin(FILE *out, const char *what, const char *says) {
  fputs(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n",
      out);
  kw_page_put(out, "<title>", what, ": ");
  kw_page_put(out, "", says, "</title>\n<style>\n");
  fputs(style, out);
  fputs("</style>\n</head>\n<body>\n", out);
}

void kw_page_end(FILE *out) {
  fputs("</body>\n</html>\n", out);
}
