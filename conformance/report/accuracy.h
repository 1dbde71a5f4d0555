/* SPDX-License-Identifier: Apache-2.0
 *
 * What a report with blocks of bit patterns (--exhaustive) says about accuracy, for a terminal, JSON and Markdown.
 */
#ifndef KEYWAY_CONFORMANCE_ACCURACY_H
#define KEYWAY_CONFORMANCE_ACCURACY_H

#include "report/report.h"

/* An op in one form: with one set of attributes. */
typedef struct kw_accuracy_line {
  const kw_report_op *op;
  uint32_t form_number;
  char form[96];               /* the attributes, "approximate='tanh'"; "" */
  char bound[96];              /* what the op promises, kw_op_bound_text */
  bool patterns;               /* all patterns in order; otherwise a dense share */
  uint32_t blocks, of, failed; /* that were run, of how many all patterns are, and which are wrong */
  uint32_t size;               /* patterns of a block */
  double error;                /* the largest, in units of the op's bound; 0: too small to be told from none */
  const char *worst;           /* the operands there; "" */
} kw_accuracy_line;

/* One line per op and form, in the order of the cases, which own the text; the caller's to free. None where nothing of
 * the kind was run. */
kw_accuracy_line *kw_report_accuracy(const kw_report *report, uint32_t *out_count);

/* "exhaustive, 2^32", "12/1024 of exhaustive", "dense, 4 x 2^22"; and "0.502 ulp". */
void kw_accuracy_tried(const kw_accuracy_line *line, char *text, size_t size);
void kw_accuracy_error(const kw_accuracy_line *line, char *text, size_t size);

#endif /* KEYWAY_CONFORMANCE_ACCURACY_H */
