/* SPDX-License-Identifier: Apache-2.0
 *
 * The largest error per op and form that blocks of bit patterns have found, beside what the op's bound promises: what
 * was tried, exhaustive or dense, is said with each.
 */
#include "report/accuracy.h"

#include "case/make.h"
#include "judge/compare.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The case of an id of an op of the table; false for others. */
static bool find_block(const kw_report_case *c, kw_case *out_case) {
  uint32_t count;
  const kw_suite_op *ops = kw_suite_ops(&count);
  return c->op >= 0 && kw_case_from_id(c->id, ops, count, out_case) && out_case->class >= KW_CLASS_COUNT;
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
  line->patterns = block->class == KW_CLASS_PATTERNS;
  if (c->error <= line->error) return;
  line->error = c->error;
  line->worst = c->worst;
}

kw_accuracy_line *kw_report_accuracy(const kw_report *report, uint32_t *out_count) {
  kw_accuracy_line *lines = calloc(report->case_count + 1u, sizeof *lines);
  kw_case *c = malloc(sizeof *c);
  uint32_t count = 0;
  if (!lines || !c) abort();
  for (uint32_t i = 0; i < report->case_count; i++) {
    const kw_report_case *from = &report->cases[i];
    const char *class = strstr(from->id, "/patterns/");
    if ((!class && !strstr(from->id, "/dense/")) || !find_block(from, c)) continue;
    const uint32_t form = c->number / KW_CASE_BLOCKS;
    kw_accuracy_line *last = count ? &lines[count - 1] : NULL;
    if (!last || last->op != &report->ops[from->op] || last->form_number != form) {
      last = &lines[count++];
      *last = (kw_accuracy_line){.op = &report->ops[from->op], .form_number = form, .worst = ""};
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
  } else if (line->blocks == KW_CASE_BLOCKS) {
    snprintf(text, size, "exhaustive, 2^32");
  } else {
    snprintf(text, size, "%u/%d of exhaustive", line->blocks, KW_CASE_BLOCKS);
  }
}

void kw_accuracy_error(const kw_accuracy_line *line, char *text, size_t size) {
  const char *unit = strcmp(line->op->unit, "growth") == 0 ? "of the bound" : line->op->unit;
  if (line->error == 0) {
    snprintf(text, size, "%s",
             line->failed                                                ? "wrong"
             : strcmp(line->op->unit, "ulp") == 0 && line->op->bound > 0 ? "below 2^-12 of the bound"
                                                                         : "none");
  } else if (line->error > 1e300) {
    snprintf(text, size, "wrong");
  } else {
    snprintf(text, size, "%.6g %s", line->error, unit);
  }
}
