/* SPDX-License-Identifier: Apache-2.0
 *
 * The largest error per op and form that blocks of bit patterns have found, beside what the op's bound promises: what
 * was tried, exhaustive or dense, is said with each.
 */
#include "report/accuracy.h"

#include "base/need.h"
#include "case/make.h"
#include "judge/compare.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Whether all patterns, or a share of them, were asked for: every run has some of narrow floats. */
static bool is_exhaustive(const kw_report *report) {
  return strncmp(report->chosen, "--exhaustive ", 13) == 0;
}

/* The case of an id of an op of the table, where it is one of patterns; false for others. */
static bool find_patterns(const kw_report_case *c, kw_case *out_case) {
  uint32_t count;
  const kw_suite_op *ops = kw_suite_ops(&count);
  if (c->op < 0 || !kw_case_from_id(c->id, ops, count, out_case)) return false;
  return out_case->class >= KW_CLASS_COUNT || out_case->class == KW_CLASS_EXHAUSTIVE;
}

/* "approximate='tanh'": the arguments that are no tensors and not left to their defaults. */
static void print_form(const kw_case *c, char *text, size_t size) {
  size_t used = 0;
  text[0] = 0;
  for (uint32_t i = 0; i < c->arg_count && used < size; i++) {
    const kw_value v = kw_case_arg_value(c, i);
    char value[48] = "";
    if (v.tag == KW_TAG_STRING) snprintf(value, sizeof value, "'%s'", v.u.s);
    if (v.tag == KW_TAG_INT || (v.tag == KW_TAG_SCALAR && v.kind == KW_SCALAR_I64))
      snprintf(value, sizeof value, "%" PRId64, v.u.i);
    if (v.tag == KW_TAG_FLOAT || (v.tag == KW_TAG_SCALAR && v.kind == KW_SCALAR_F64))
      snprintf(value, sizeof value, "%g", v.u.f);
    if (v.tag == KW_TAG_BOOL) snprintf(value, sizeof value, v.u.b ? "True" : "False");
    if (v.tag == KW_TAG_DTYPE) snprintf(value, sizeof value, "%s", kw_element_name(v.u.dtype));
    if (*value)
      used += (size_t)snprintf(text + used, size - used, "%s%s=%s", used ? ", " : "", c->op->args[i].name, value);
  }
}

static void add(kw_accuracy_line *line, const kw_report_case *c, const kw_case *block) {
  const bool tried = c->outcome != KW_OUTCOME_NONE;
  line->blocks += tried;
  line->failed += tried && c->outcome != KW_OUTCOME_PASS;
  line->patterns = block->class != KW_CLASS_DENSE;
  if (c->error <= line->error) return;
  line->error = c->error;
  line->worst = c->worst;
}

kw_accuracy_line *kw_report_accuracy(const kw_report *report, uint32_t *out_count) {
  kw_accuracy_line *lines = calloc(report->case_count + 1u, sizeof *lines);
  kw_case *c = malloc(sizeof *c);
  uint32_t count = 0;
  if (!lines || !c) kw_out_of_memory();
  for (uint32_t i = 0; is_exhaustive(report) && i < report->case_count; i++) {
    const kw_report_case *from = &report->cases[i];
    if (!find_patterns(from, c)) continue;
    const bool block = c->class >= KW_CLASS_COUNT;
    const uint32_t form = block ? c->number / KW_CASE_BLOCKS : c->number;
    kw_accuracy_line *last = count ? &lines[count - 1] : NULL;
    if (!last || last->op != &report->ops[from->op] || last->form_number != form) {
      last = &lines[count++];
      *last = (kw_accuracy_line){.op = &report->ops[from->op], .form_number = form, .worst = ""};
      last->of = block ? KW_CASE_BLOCKS : 1;
      last->size = block ? KW_CASE_BLOCK_SIZE : 1 << 16;
      print_form(c, last->form, sizeof last->form);
      const kw_op_bound bound = kw_rule_shown(c->op);
      kw_op_bound_text(&bound, last->bound, sizeof last->bound);
    }
    add(last, from, c);
  }
  free(c);
  *out_count = count;
  return lines;
}

void kw_accuracy_tried(const kw_accuracy_line *line, char *text, size_t size) {
  if (!line->patterns) {
    snprintf(text, size, "dense, %u x 2^22", line->blocks);
  } else if (line->blocks == line->of) {
    snprintf(text, size, "exhaustive, %s", line->of > 1 ? "2^32" : "2^16");
  } else {
    snprintf(text, size, "%u/%u of exhaustive", line->blocks, line->of);
  }
}

void kw_accuracy_error(const kw_accuracy_line *line, char *text, size_t size) {
  const bool sums = strcmp(line->op->unit, "growth") == 0, wrong = line->failed > 0 && line->error == 0;
  if (wrong || line->error > 1e300) {
    snprintf(text, size, "wrong");
  } else if (line->error > 0) {
    snprintf(text, size, "%.6g %s", line->error, sums ? "of the bound" : line->op->unit);
  } else if (line->op->bound == 0) {
    snprintf(text, size, "none");
  } else {
    snprintf(text, size, line->of > 1 || !line->patterns ? "below 2^-12 of the bound" : "none beyond rounding");
  }
}
