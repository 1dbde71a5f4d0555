/* SPDX-License-Identifier: Apache-2.0
 *
 * Results of `keyway bench` as a table for people and as JSON for programs.
 */
#include "bench_row.h"

#include "table.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define PAST_CACHES (1 << 26) /* bytes that no call finds in a cache */

/* ---- What rows say together -------------------------------------------------------------------------------------- */

double kw_bench_row_of_limit(const kw_bench_report *report, const kw_bench_row *row) {
  if (row->ns <= 0) return 0;
  if (row->flops > 0) return report->peak > 0 && row->dtype == KW_F32 ? row->flops / row->ns / report->peak : 0;
  const bool from_memory = row->bytes >= PAST_CACHES && report->bandwidth > 0;
  return from_memory ? row->bytes / row->ns / report->bandwidth : 0;
}

kw_bench_summary kw_bench_summarise(const kw_bench_report *report, uint32_t peer, const char *family) {
  kw_bench_summary sum = {0};
  double logarithms = 0;
  for (uint32_t i = 0; i < report->row_count; ++i) {
    const kw_bench_row *row = &report->rows[i];
    const double ratio = row->peers[peer].ratio;
    if (ratio <= 0 || (family && strcmp(family, row->family) != 0)) continue;
    logarithms += log(ratio);
    ++sum.count;
    sum.beyond += ratio > KW_BENCH_FAR;
    if (!sum.worst || ratio > sum.worst->peers[peer].ratio) sum.worst = row;
  }
  if (sum.count > 0) sum.mean = exp(logarithms / sum.count);
  return sum;
}

bool kw_bench_row_begins_family(const kw_bench_report *report, uint32_t row) {
  for (uint32_t i = 0; i < row; ++i)
    if (strcmp(report->rows[i].family, report->rows[row].family) == 0) return false;
  return true;
}

/* ---- A table ----------------------------------------------------------------------------------------------------- */

static void add_time(kw_cli_table *table, double ns) {
  if (ns >= 1e7) {
    kw_cli_table_add(table, ns >= 1e8 ? "%.0f ms" : "%.1f ms", ns / 1e6);
  } else {
    kw_cli_table_add(table, ns >= 1e6 ? "%.1f us" : "%.2f us", ns / 1e3);
  }
}

static void add_percent(kw_cli_table *table, double fraction) {
  if (fraction > 0) {
    kw_cli_table_add(table, "%.0f %%", 100 * fraction);
  } else {
    kw_cli_table_add(table, "-");
  }
}

static void add_row(kw_cli_table *table, const kw_bench_report *report, const kw_bench_row *row) {
  kw_cli_table_add(table, "%s", row->op);
  kw_cli_table_add(table, "%s", row->shape);
  kw_cli_table_add(table, "%s", kw_dtype_name(row->dtype));
  if (row->ns > 0) {
    add_time(table, row->ns);
  } else {
    kw_cli_table_add(table, "not there");
  }
  const double amount = row->flops > 0 ? row->flops : row->bytes;
  if (row->ns > 0 && amount > 0) {
    kw_cli_table_add(table, row->flops > 0 ? "%.1f GFLOP/s" : "%.2f GB/s", amount / row->ns);
  } else {
    kw_cli_table_add(table, "-");
  }
  add_percent(table, kw_bench_row_of_limit(report, row));
  add_percent(table, row->of_copy);
  for (uint32_t p = 0; p < report->peer_count; ++p) {
    const kw_bench_figure *figure = &row->peers[p];
    if (figure->ns > 0) {
      add_time(table, figure->ns);
    } else {
      kw_cli_table_add(table, "-");
    }
    if (figure->ratio > 0) {
      kw_cli_table_add(table, "%.3f", figure->ratio);
    } else {
      kw_cli_table_add(table, "-");
    }
  }
  if (row->why[0]) kw_cli_table_note(table, "%s", row->why);
  if (row->launches > 0)
    kw_cli_table_note(table, "decomposed: %" PRIu64 " launch%s", row->launches, row->launches == 1 ? "" : "es");
}

static kw_cli_table *make_table(const kw_bench_report *report) {
  enum { FIXED = 7 };
  static char labels[KW_BENCH_PEERS][24];
  const char *headings[FIXED + 2 * KW_BENCH_PEERS + 1] = {"OP",    "SHAPE",     "DTYPE",   ">TIME",
                                                          ">RATE", ">OF LIMIT", ">OF COPY"};
  for (uint32_t p = 0; p < report->peer_count; ++p) {
    char *label = labels[p];
    snprintf(label, sizeof labels[p], ">%s", report->peers[p].name);
    for (char *at = label; *at; ++at) *at = (char)toupper((unsigned char)*at);
    headings[FIXED + 2 * p] = label;
    headings[FIXED + 2 * p + 1] = ">RATIO";
  }
  return kw_cli_table_create(headings);
}

static void print_summary(const kw_bench_report *report, uint32_t peer, const char *family) {
  const kw_bench_summary sum = kw_bench_summarise(report, peer, family);
  if (sum.count == 0) return;
  printf("  %-18s %4u rows, geometric mean of the ratios %.3f, %u past %.2f; the worst is %s %s %s with %.3f\n",
         family ? family : "all", sum.count, sum.mean, sum.beyond, KW_BENCH_FAR, sum.worst->op, sum.worst->shape,
         kw_dtype_name(sum.worst->dtype), sum.worst->peers[peer].ratio);
}

void kw_bench_print_table(const kw_bench_report *report) {
  printf("%s, math mode %s, %u thread%s, %s, medians of %u rounds\n", report->device,
         kw_math_mode_name(kw_math_mode_get()), report->threads, report->threads == 1 ? "" : "s", report->clock,
         report->rounds);
  if (report->bandwidth > 0)
    printf("limits measured here: %.1f GB/s moved by a copy, %.0f GFLOP/s of f32\n", report->bandwidth, report->peak);
  for (uint32_t p = 0; p < report->peer_count; ++p) {
    const kw_bench_side *side = &report->peers[p];
    printf("%s: %s%s\n", side->name, side->title ? "" : "not there: ", side->title ? side->title : side->why);
  }
  for (uint32_t i = 0; i < report->row_count; ++i) {
    if (!kw_bench_row_begins_family(report, i)) continue;
    const char *family = report->rows[i].family;
    printf("\n%s%s%s\n", kw_cli_style("\033[1m"), family, kw_cli_style("\033[0m"));
    kw_cli_table *table = make_table(report);
    for (uint32_t k = i; k < report->row_count; ++k)
      if (strcmp(report->rows[k].family, family) == 0) add_row(table, report, &report->rows[k]);
    kw_cli_table_print(table);
  }
  for (uint32_t p = 0; p < report->peer_count; ++p) {
    if (kw_bench_summarise(report, p, NULL).count == 0) continue;
    printf("\nagainst %s\n", report->peers[p].name);
    for (uint32_t i = 0; i < report->row_count; ++i)
      if (kw_bench_row_begins_family(report, i)) print_summary(report, p, report->rows[i].family);
    print_summary(report, p, NULL);
  }
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void add_figures(cJSON *json, const kw_bench_report *report, const kw_bench_row *row) {
  cJSON *peers = cJSON_AddObjectToObject(json, "peers");
  for (uint32_t p = 0; p < report->peer_count; ++p) {
    const kw_bench_figure *figure = &row->peers[p];
    cJSON *of_peer = cJSON_AddObjectToObject(peers, report->peers[p].name);
    if (figure->ns > 0) cJSON_AddNumberToObject(of_peer, "ns", figure->ns);
    if (figure->ratio > 0) cJSON_AddNumberToObject(of_peer, "ratio", figure->ratio);
    if (figure->why[0]) cJSON_AddStringToObject(of_peer, "cannot", figure->why);
  }
}

static cJSON *row_as_json(const kw_bench_report *report, const kw_bench_row *row) {
  cJSON *json = cJSON_CreateObject(), *shape = cJSON_CreateArray();
  const double of_limit = kw_bench_row_of_limit(report, row);
  for (uint32_t d = 0; d < row->rank; ++d) cJSON_AddItemToArray(shape, cJSON_CreateNumber((double)row->dims[d]));
  cJSON_AddStringToObject(json, "op", row->op);
  cJSON_AddStringToObject(json, "family", row->family);
  cJSON_AddStringToObject(json, "dtype", kw_dtype_name(row->dtype));
  cJSON_AddNumberToObject(json, "size", (double)row->size);
  cJSON_AddItemToObject(json, "shape", shape);
  cJSON_AddStringToObject(json, "what", row->shape);
  if (row->ns > 0) cJSON_AddNumberToObject(json, "ns", row->ns);
  if (row->why[0]) cJSON_AddStringToObject(json, "not_there", row->why);
  if (row->launches > 0) cJSON_AddNumberToObject(json, "decomposed_launches", (double)row->launches);
  if (row->ns > 0 && row->flops > 0) cJSON_AddNumberToObject(json, "gflops", row->flops / row->ns);
  if (row->ns > 0 && row->flops <= 0 && row->bytes > 0) cJSON_AddNumberToObject(json, "gbps", row->bytes / row->ns);
  if (of_limit > 0) cJSON_AddNumberToObject(json, "of_limit", of_limit);
  if (row->of_copy > 0) cJSON_AddNumberToObject(json, "of_copy", row->of_copy);
  if (report->peer_count > 0) add_figures(json, report, row);
  return json;
}

static cJSON *side_as_json(const kw_bench_report *report, uint32_t peer) {
  const kw_bench_side *side = &report->peers[peer];
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "name", side->name);
  if (side->title) {
    cJSON_AddStringToObject(json, "title", side->title);
  } else {
    cJSON_AddStringToObject(json, "not_there", side->why);
  }
  const kw_bench_summary sum = kw_bench_summarise(report, peer, NULL);
  if (sum.count == 0) return json;
  cJSON_AddNumberToObject(json, "rows", sum.count);
  cJSON_AddNumberToObject(json, "geometric_mean", sum.mean);
  cJSON_AddNumberToObject(json, "worst", sum.worst->peers[peer].ratio);
  cJSON_AddStringToObject(json, "worst_op", sum.worst->op);
  cJSON_AddNumberToObject(json, "past_1.25", sum.beyond);
  return json;
}

cJSON *kw_bench_as_json(const kw_bench_report *report) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "device", report->device);
  cJSON_AddStringToObject(json, "math_mode", kw_math_mode_name(kw_math_mode_get()));
  cJSON_AddNumberToObject(json, "rounds", report->rounds);
  cJSON_AddNumberToObject(json, "threads", report->threads);
  cJSON_AddStringToObject(json, "clock", report->clock);
  if (report->bandwidth > 0) {
    cJSON *limits = cJSON_AddObjectToObject(json, "limits");
    cJSON_AddNumberToObject(limits, "gbps", report->bandwidth);
    cJSON_AddNumberToObject(limits, "gflops", report->peak);
  }
  cJSON *peers = cJSON_AddArrayToObject(json, "against"), *rows = cJSON_AddArrayToObject(json, "rows");
  for (uint32_t p = 0; p < report->peer_count; ++p) cJSON_AddItemToArray(peers, side_as_json(report, p));
  for (uint32_t i = 0; i < report->row_count; ++i) cJSON_AddItemToArray(rows, row_as_json(report, &report->rows[i]));
  return json;
}
