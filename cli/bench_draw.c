/* SPDX-License-Identifier: Apache-2.0
 *
 * Results of `keyway bench` as an SVG: a bar for each row, on a logarithmic scale, left of the middle where Keyway is
 * ahead and right of it where it is behind.
 */
#include "bench_row.h"
#include "report/put_text.h"

#include <math.h>
#include <string.h>

#define LINE 16         /* pixels of a row */
#define TEXT 440        /* of its label, */
#define BARS 640        /* of all bars, */
#define FIGURE 70       /* and of what stands behind */
#define DECADES 2.0     /* on each side of the middle: ratios from 0.01 to 100 */
#define HEAD (4 * LINE) /* the title and the scale */

static void write_text(FILE *out, double x, double y, const char *anchor, const char *text) {
  fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
  kw_text_put_markup(out, text);
  fputs("</text>\n", out);
}

/* Where a ratio stands. */
static double place_of(double ratio) {
  double decades = log10(ratio);
  if (decades > DECADES) decades = DECADES;
  if (decades < -DECADES) decades = -DECADES;
  return TEXT + BARS / 2.0 + decades / DECADES * BARS / 2;
}

static void draw_scale(FILE *out, double height) {
  static const double marks[] = {0.01, 0.1, 0.5, 1, 2, 10, 100};
  for (size_t i = 0; i < sizeof marks / sizeof marks[0]; ++i) {
    const double x = place_of(marks[i]);
    char label[16];
    snprintf(label, sizeof label, "%g", marks[i]);
    fprintf(out, "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", x, HEAD, x, height,
            marks[i] == 1 ? "#333" : "#ddd");
    write_text(out, x, HEAD - 4, "middle", label);
  }
}

static void draw_row(FILE *out, const kw_bench_row *row, const kw_bench_figure *figure, double y) {
  char label[160], number[24];
  snprintf(label, sizeof label, "%s %s %s", row->op, row->shape, kw_dtype_name(row->dtype));
  write_text(out, TEXT - 8, y + LINE - 4, "end", label);
  if (figure->ratio <= 0) {
    write_text(out, TEXT + BARS / 2.0 + 4, y + LINE - 4, "start", row->ns > 0 ? "not compared" : "not there");
    return;
  }
  const double middle = place_of(1), end = place_of(figure->ratio);
  const char *colour = figure->ratio > 1.25 ? "#c0392b" : figure->ratio > 1 ? "#e0a030" : "#2e8b57";
  fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n", fmin(middle, end), y + 2,
          fmax(fabs(end - middle), 1), LINE - 4, colour);
  snprintf(number, sizeof number, "%.2f", figure->ratio);
  write_text(out, TEXT + BARS + 8, y + LINE - 4, "start", number);
}

static uint32_t first_peer_there(const kw_bench_report *report) {
  for (uint32_t p = 0; p < report->peer_count; ++p)
    if (report->peers[p].title) return p;
  return 0;
}

bool kw_bench_draw(const kw_bench_report *report, FILE *out) {
  const uint32_t peer = first_peer_there(report);
  const double height = HEAD + (double)LINE * (report->row_count + 1);
  char title[400];
  snprintf(title, sizeof title, "%s beside %s: how many times as long a call takes", report->device,
           report->peer_count == 0     ? "no peer"
           : report->peers[peer].title ? report->peers[peer].title
                                       : report->peers[peer].name);
  fprintf(out,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" font-family=\"sans-serif\" "
          "font-size=\"11\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
          TEXT + BARS + FIGURE, height);
  write_text(out, 8, LINE, "start", title);
  draw_scale(out, height - LINE);
  for (uint32_t i = 0; i < report->row_count; ++i)
    draw_row(out, &report->rows[i], &report->rows[i].peers[peer], HEAD + (double)LINE * i);
  fputs("</svg>\n", out);
  return !ferror(out);
}
