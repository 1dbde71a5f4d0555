/* SPDX-License-Identifier: Apache-2.0
 *
 * Results of `keyway bench` as a page: a table for each family of ops, and beside each peer how many times as long
 * Keyway takes, as a bar from the middle: to the left where it is ahead, to the right where it is behind.
 */
#include "bench_row.h"
#include "report/page.h"

#include <math.h>
#include <string.h>

#define BAR_WIDTH 80
#define BAR_HEIGHT 12
#define DECADES 1.0 /* on each side of the middle: ratios from 0.1 to 10 */

static void put_time(FILE *out, double ns) {
  if (ns <= 0) {
    fputs("<td class=\"soft\">&#8211;</td>", out);
  } else if (ns >= 1e6) {
    fprintf(out, "<td>%.2f ms</td>", ns / 1e6);
  } else {
    fprintf(out, "<td>%.2f us</td>", ns / 1e3);
  }
}

static void put_ratio(FILE *out, const kw_bench_figure *figure) {
  if (figure->ratio <= 0) {
    fputs("<td></td><td></td>", out);
    return;
  }
  const double middle = BAR_WIDTH / 2.0, far = fmax(-1, fmin(1, log10(figure->ratio) / DECADES)) * middle;
  fprintf(out, "<td%s>%.2f</td><td><svg width=\"%d\" height=\"%d\" role=\"img\">",
          figure->ratio > KW_BENCH_FAR ? " class=\"bad\"" : "", figure->ratio, BAR_WIDTH, BAR_HEIGHT);
  fprintf(out, "<rect x=\"%.1f\" y=\"1\" width=\"%.1f\" height=\"%d\"%s/>", middle + fmin(far, 0), fmax(fabs(far), 1),
          BAR_HEIGHT - 2, figure->ratio > KW_BENCH_FAR ? " class=\"over\"" : "");
  fprintf(out, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"0\" y2=\"%d\"/></svg></td>", middle, middle, BAR_HEIGHT);
}

static void put_percent(FILE *out, double fraction) {
  if (fraction > 0) {
    fprintf(out, "<td>%.0f %%</td>", 100 * fraction);
  } else {
    fputs("<td></td>", out);
  }
}

static void put_row(const kw_bench_report *report, const kw_bench_row *row, FILE *out) {
  kw_page_put(out, "<tr><td><span class=\"id\">", row->op, "</span><br/><span class=\"soft\">");
  kw_page_put(out, "", row->shape, " ");
  kw_page_put(out, "", kw_dtype_name(row->dtype), "</span></td>");
  put_time(out, row->ns);
  if (row->ns > 0 && row->flops > 0) {
    fprintf(out, "<td>%.1f GFLOP/s</td>", row->flops / row->ns);
  } else if (row->ns > 0 && row->bytes > 0) {
    fprintf(out, "<td>%.2f GB/s</td>", row->bytes / row->ns);
  } else {
    fputs("<td></td>", out);
  }
  put_percent(out, kw_bench_row_of_limit(report, row));
  put_percent(out, row->of_copy);
  for (uint32_t p = 0; p < report->peer_count; ++p) {
    put_time(out, row->peers[p].ns);
    put_ratio(out, &row->peers[p]);
  }
  fputs("</tr>\n", out);
  if (row->why[0]) kw_page_put(out, "<tr><td class=\"soft why\">", row->why, "</td></tr>\n");
}

static void put_family(const kw_bench_report *report, const char *family, FILE *out) {
  kw_page_put(out, "<section>\n<h2>", family, "</h2>\n");
  for (uint32_t p = 0; p < report->peer_count; ++p) {
    const kw_bench_summary sum = kw_bench_summarise(report, p, family);
    if (sum.count == 0) continue;
    kw_page_put(out, "<p class=\"soft\">", report->peers[p].name, ": ");
    fprintf(out, "geometric mean of %u ratios %.2f, %u past %.2f</p>\n", sum.count, sum.mean, sum.beyond, KW_BENCH_FAR);
  }
  fputs("<div class=\"wide\"><table>\n<tr><th>op</th><th>time</th><th>rate</th><th>of limit</th><th>of copy</th>", out);
  for (uint32_t p = 0; p < report->peer_count; ++p) {
    kw_page_put(out, "<th>", report->peers[p].name, "</th><th>ratio</th><th></th>");
  }
  fputs("</tr>\n", out);
  for (uint32_t i = 0; i < report->row_count; ++i) {
    if (strcmp(report->rows[i].family, family) == 0) put_row(report, &report->rows[i], out);
  }
  fputs("</table></div>\n</section>\n", out);
}

static void put_head(const kw_bench_report *report, FILE *out) {
  kw_page_put(out, "<header>\n<h1>", report->device, "</h1>\n<dl>\n");
  fprintf(out,
          "<dt>math mode</dt><dd>%s</dd>\n<dt>threads</dt><dd>%u</dd>\n<dt>measured</dt><dd>%s, medians of %u rounds"
          "</dd>\n",
          kw_math_mode_name(kw_math_mode_get()), report->threads, report->clock, report->rounds);
  if (report->bandwidth > 0) {
    fprintf(out, "<dt>limits here</dt><dd>%.1f GB/s moved by a copy, %.0f GFLOP/s of f32</dd>\n", report->bandwidth,
            report->peak);
  }
  for (uint32_t p = 0; p < report->peer_count; ++p) {
    const kw_bench_side *side = &report->peers[p];
    kw_page_put(out, "<dt>", side->name, "</dt>");
    kw_page_put(out, side->title ? "<dd>" : "<dd>not there: ", side->title ? side->title : side->why, "</dd>\n");
  }
  fputs("</dl>\n", out);
  if (report->peer_count > 0) fputs("<p>A ratio is Keyway's time by the peer's; past 1 Keyway is behind.</p>\n", out);
  fputs("</header>\n", out);
}

bool kw_bench_put_html(const kw_bench_report *report, FILE *out) {
  kw_page_begin(out, report->device, "benchmarks");
  put_head(report, out);
  for (uint32_t i = 0; i < report->row_count; ++i) {
    if (kw_bench_row_begins_family(report, i)) put_family(report, report->rows[i].family, out);
  }
  kw_page_end(out);
  return !ferror(out);
}
