/* SPDX-License-Identifier: Apache-2.0
 *
 * Reports made up by tests, and what formats make of them.
 */
#ifndef KEYWAY_CONFORMANCE_MADE_UP_H
#define KEYWAY_CONFORMANCE_MADE_UP_H

#include "base/text.h"
#include "report/formats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static inline void set_hash(char *out, char digit) {
  memset(out, digit, KW_DIGEST_SIZE - 1);
  out[KW_DIGEST_SIZE - 1] = 0;
}

static inline kw_report_op *add_op(kw_report *report, const char *name, const char *dtype, double bound) {
  report->ops[report->op_count] =
      (kw_report_op){.name = kw_text_clean(name),
                     .dtype = kw_text_clean(dtype),
                     .family = kw_text_clean(strncmp(name, "acme::", 6) == 0 ? "vendor" : "arithmetic"),
                     .bound = bound,
                     .unit = kw_text_clean("ulp")};
  return &report->ops[report->op_count++];
}

static inline kw_report_case *add_case(kw_report *report, const char *id, int op, kw_outcome outcome,
                                       const char *text) {
  kw_report_case *c = &report->cases[report->case_count++];
  *c = (kw_report_case){.id = kw_text_clean(id),
                        .op = op,
                        .outcome = outcome,
                        .worst = kw_text_clean(""),
                        .defect = kw_text_clean(outcome == KW_OUTCOME_FAIL ? "tail not written" : ""),
                        .text = kw_text_clean(text),
                        .seconds = 0.25};
  return c;
}

/* Without cases; room for 64. */
static inline void begin(kw_report *report, const char *product) {
  *report = (kw_report){.suite_version = kw_text_clean("1.0.0"),
                        .op_set_version = kw_text_clean("1.0"),
                        .device = kw_text_clean("npu:0"),
                        .product = kw_text_clean(product),
                        .level = kw_text_clean(""),
                        .scope = kw_text_clean("claims"),
                        .chosen = kw_text_clean(""),
                        .replay = kw_text_clean("keyway conform --device npu:0 --plugin './a&b.so' --seed 7"),
                        .plugin = kw_text_clean("a&b.so"),
                        .seed = UINT64_MAX,
                        .shard = 1,
                        .shards = 1,
                        .table_ops = 303,
                        .launches = 123456789,
                        .expectations = 987654321,
                        .seconds = 1.5};
  set_hash(report->plugin_hash, 'a');
  set_hash(report->tolerance_hash, 'b');
  set_hash(report->case_hash, 'c');
  report->ops = calloc(8, sizeof *report->ops);
  report->cases = calloc(64, sizeof *report->cases);
  report->unclaimed = calloc(2, sizeof *report->unclaimed);
  report->gaps = calloc(8, sizeof *report->gaps);
}

static inline void add_gap(kw_report *report, const char *op, const char *why) {
  report->gaps[report->gap_count++] = (kw_report_gap){kw_text_clean(op), kw_text_clean(why)};
}

/* Everything, as with -v. */
static inline void put_whole_table(const kw_report *report, FILE *out) {
  kw_report_put_table(report, out, false, true);
}

static inline void contains(const char *text, const char *part) {
  if (!strstr(text, part)) fail_msg("no '%s' in: %s", part, text);
}

#endif /* KEYWAY_CONFORMANCE_MADE_UP_H */
