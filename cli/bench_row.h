/* SPDX-License-Identifier: Apache-2.0
 *
 * What `keyway bench` measured, and how it is shown: a table, JSON, a picture, a page.
 */
#ifndef KEYWAY_CLI_BENCH_ROW_H
#define KEYWAY_CLI_BENCH_ROW_H

#include <keyway/keyway.h>

#include <cjson/cJSON.h>
#include <stdio.h>

#define KW_BENCH_PEERS 7
#define KW_BENCH_WHY 300
#define KW_BENCH_FAR 1.25 /* a ratio from which on a row is named as far behind */

typedef struct kw_bench_figure {
  double ns, ratio;       /* of a call, 0 unless measured; how many times as long Keyway takes */
  char why[KW_BENCH_WHY]; /* why it was not measured */
} kw_bench_figure;

typedef struct kw_bench_row {
  const char *op, *family;
  kw_dtype dtype;
  int64_t size;
  char shape[96];
  int64_t dims[KW_MAX_RANK]; /* of the first tensor that has some */
  uint32_t rank;
  double ns;              /* of a call; 0 unless measured */
  char why[KW_BENCH_WHY]; /* why it was not */
  double flops, bytes;    /* of a call, 0 where they say nothing */
  double of_copy;         /* the rate beside copy_'s at that size, 0 unknown */
  uint64_t launches;      /* of kernels by a call that other ops serve; 0: the op has a kernel */
  kw_bench_figure peers[KW_BENCH_PEERS];
} kw_bench_row;

typedef struct kw_bench_side {
  const char *name;
  const char *title;      /* NULL: it is not there */
  char why[KW_BENCH_WHY]; /* and why */
} kw_bench_side;

typedef struct kw_bench_report {
  const char *device, *clock;
  uint32_t rounds, threads, peer_count, row_count;
  kw_bench_side peers[KW_BENCH_PEERS];
  double bandwidth, peak; /* limits of the device: bytes and f32 operations in a nanosecond; 0 unknown */
  kw_bench_row *rows;
} kw_bench_report;

/* A fraction of the limit that bounds the row; 0 where none does. */
double kw_bench_row_of_limit(const kw_bench_report *report, const kw_bench_row *row);

/* The geometric mean of a peer's ratios in a family, or in all for NULL, and the worst row. 0 for no ratio. */
typedef struct kw_bench_summary {
  double mean;
  uint32_t count, beyond; /* rows, and those past KW_BENCH_FAR */
  const kw_bench_row *worst;
} kw_bench_summary;
kw_bench_summary kw_bench_summarise(const kw_bench_report *report, uint32_t peer, const char *family);

/* Whether no row before this one is of its family. */
bool kw_bench_row_begins_family(const kw_bench_report *report, uint32_t row);

void kw_bench_print_table(const kw_bench_report *report);
cJSON *kw_bench_as_json(const kw_bench_report *report);
/* Ratios to the first peer that is there as bars, or rates where none is. False when `out` does not take it. */
bool kw_bench_draw(const kw_bench_report *report, FILE *out);
/* The whole report as a page (report/page.h). */
bool kw_bench_put_html(const kw_bench_report *report, FILE *out);

#endif /* KEYWAY_CLI_BENCH_ROW_H */
