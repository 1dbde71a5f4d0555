/* SPDX-License-Identifier: Apache-2.0
 *
 * No row of the op table without what belongs to it. golden_test asks for golden vectors, op_pages for an up-to-date
 * page.
 */
#include "case/make.h"

#include "op_table.h"
#include "reference.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#define FEWEST_CASES 20

/* The tables' first entries are the ops, in order. */
static void ops_have_references(void **state) {
  (void)state;
  uint32_t op_count, counts[2], missing = 0;
  const kw_suite_op *ops = kw_suite_ops(&op_count);
  const kw_reference_kernel *tables[] = {kw_reference_f32(&counts[0]), kw_reference_f64(&counts[1])};
  for (uint32_t t = 0; t < 2; t++) {
    for (uint32_t i = 0; i < op_count && missing == 0; i++) {
      if (i < counts[t] && strcmp(tables[t][i].op, ops[i].name) == 0) continue;
      print_error("where %s should be in the reference's table there is %s\n", ops[i].name,
                  i < counts[t] ? tables[t][i].op : "its end");
      missing++;
    }
  }
  assert_int_equal(missing, 0);
}

static uint32_t count_cases(const kw_suite_op *op) {
  uint32_t count = 0;
  kw_case c;
  for (kw_dtype key = 0; key < KW_KEY_DTYPE_COUNT; key++) {
    for (int class = 0; class < KW_CLASS_COUNT; class ++) {
      for (uint32_t number = 0; kw_case_make(op, key, (kw_case_class) class, number, &c); number++) count++;
    }
  }
  return count;
}

static void ops_have_cases(void **state) {
  (void)state;
  uint32_t op_count, few = 0;
  const kw_suite_op *ops = kw_suite_ops(&op_count);
  for (uint32_t i = 0; i < op_count; i++) {
    uint32_t count = count_cases(&ops[i]);
    if (count >= FEWEST_CASES) continue;
    print_error("%s has %u cases, fewer than %d\n", ops[i].name, count, FEWEST_CASES);
    few++;
  }
  assert_int_equal(few, 0);
}

static bool is_strided(const kw_case_tensor *tensor) {
  int64_t dense = 1;
  for (uint32_t d = tensor->rank; d-- > 0; dense *= tensor->shape[d]) {
    if (tensor->shape[d] > 1 && tensor->strides[d] != dense) return true;
  }
  return false;
}

/* Adds an argument's bit to those that have several elements somewhere, and to those whose elements lie apart. */
static void look_at(const kw_case *c, uint32_t arg, uint64_t *several, uint64_t *strided) {
  const bool list = c->args[arg].value.tag == KW_TAG_TENSOR_LIST;
  const uint32_t first = list ? c->args[arg].first : arg, count = list ? c->args[arg].value.count : 1;
  for (uint32_t t = first; t < first + count; t++) {
    const kw_case_tensor *tensor = c->tensors[t].output ? &c->outs[c->tensors[t].result] : &c->tensors[t];
    if (!c->tensors[t].given || tensor->numel < 2) continue;
    *several |= UINT64_C(1) << arg;
    if (is_strided(tensor)) *strided |= UINT64_C(1) << arg;
  }
}

/* Arguments that no case has strided: those of which the shape alone counts, and starts, whose values follow from where
 * they lie. */
static bool stays_dense(const kw_suite_op *op, const char *arg) {
  static const char *const starts[] = {"cu_seqlens_q", "cu_seqlens_k", "offsets", "crow_indices"};
  for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
    if (strcmp(arg, starts[i]) == 0) return true;
  }
  return strcmp(arg, "self") == 0 && strstr(op->name, "_backward");
}

static void arguments_are_strided(void **state) {
  (void)state;
  uint32_t op_count, missing = 0;
  const kw_suite_op *ops = kw_suite_ops(&op_count);
  for (uint32_t i = 0; i < op_count; i++) {
    uint64_t several = 0, strided = 0;
    kw_case c;
    for (kw_dtype key = 0; key < KW_KEY_DTYPE_COUNT; key++) {
      for (int class = 0; class < KW_CLASS_COUNT; class ++) {
        for (uint32_t n = 0; kw_case_make(&ops[i], key, (kw_case_class) class, n, &c); n++) {
          for (uint32_t a = 0; a < c.arg_count; a++) look_at(&c, a, &several, &strided);
        }
      }
    }
    for (uint32_t a = 0; a < ops[i].arg_count; a++) {
      if (!((several & ~strided) >> a & 1) || stays_dense(&ops[i], ops[i].args[a].name)) continue;
      print_error("%s: no case has %s strided\n", ops[i].name, ops[i].args[a].name);
      missing++;
    }
  }
  assert_int_equal(missing, 0);
}

static void ops_have_definitions(void **state) {
  (void)state;
  static const struct {
    const char *base, *heading, *text;
  } notes[] = {
#define KW_NOTE(base, heading, text) {base, heading, text},
#include "op_notes.def"
  };
  uint32_t op_count, missing = 0;
  const kw_suite_op *ops = kw_suite_ops(&op_count);
  for (uint32_t i = 0; i < op_count; i++) {
    bool found = false;
    for (size_t n = 0; n < sizeof notes / sizeof notes[0] && !found; n++) {
      found = strcmp(notes[n].heading, "Definition") == 0 && strcmp(notes[n].base, ops[i].base) == 0;
    }
    if (found) continue;
    print_error("%s has no definition in op_notes.def\n", ops[i].name);
    missing++;
  }
  assert_int_equal(missing, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ops_have_references),
      cmocka_unit_test(ops_have_cases),
      cmocka_unit_test(arguments_are_strided),
      cmocka_unit_test(ops_have_definitions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
