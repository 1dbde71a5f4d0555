/* SPDX-License-Identifier: Apache-2.0
 *
 * What a failure says of the operands: each tensor's own element, wherever it lies, and the numbers beside them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "case/make.h"
#include "judge/compare.h"
#include "judge/operands.h"

#include <keyway/keyway.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 3, ROOM = 400 };

static void make(const char *id, kw_case *out) {
  uint32_t count;
  const kw_suite_op *ops = kw_suite_ops(&count);
  if (!kw_case_from_id(id, ops, count, out)) fail_msg("there is no %s", id);
}

static void numbers_stand_beside(void **state) {
  (void)state;
  kw_case c;
  char text[ROOM];
  make("pow.Tensor_Scalar/f32/special/1", &c); /* the first behind those with the exponent of all */
  bool met = false;
  for (int64_t i = 0; i < c.outs[0].numel && !met; i++) {
    kw_operands_print(&c, SEED, 0, i, text, sizeof text);
    met = strcmp(text, "self = -inf (0xff800000), exponent = 0.5") == 0;
  }
  assert_true(met);
  make("div.Scalar_mode/i32/special/2", &c);
  kw_operands_print(&c, SEED, 0, 0, text, sizeof text);
  assert_string_equal(text, "self = 2147483647 (0x7fffffff), other = 0, rounding_mode = 'floor'");
}

/* The element of a tensor that broadcasts to the result, by its index there. */
static int64_t element_of(const kw_case_tensor *out, const kw_case_tensor *tensor, int64_t index) {
  int64_t own = 0, factor = 1;
  for (uint32_t d = out->rank; d-- > 0; index /= out->shape[d]) {
    const uint32_t behind = out->rank - d;
    if (behind > tensor->rank) continue;
    const int64_t size = tensor->shape[tensor->rank - behind];
    own += (size == 1 ? 0 : index % out->shape[d]) * factor;
    factor *= size;
  }
  return own;
}

/* Of each tensor what its storage holds, in every layout. */
static void tensors_lie_anywhere(void **state) {
  (void)state;
  static const char *const ids[] = {"add.Tensor/f32/broadcast/4", "add.Tensor/f32/transposed/2",
                                    "mul.Tensor/f16/sliced/1",    "sub.Tensor/i64/stride0/1",
                                    "mul.Tensor/f32/aliasing/1",  "copy_/f32/broadcast/0"};
  for (size_t n = 0; n < sizeof ids / sizeof ids[0]; n++) {
    kw_case c;
    make(ids[n], &c);
    for (uint32_t i = 0; i < c.op->arg_count; i++) {
      const kw_case_tensor *tensor = &c.tensors[i];
      if (!tensor->given || tensor->output) continue;
      const size_t size = kw_element_size(tensor->dtype);
      char *storage = calloc(tensor->extent, size), text[ROOM], operand[80], want[120];
      kw_case_fill(&c, i, SEED, 1, true, storage);
      for (int64_t e = 0; e < c.outs[0].numel; e += 7) {
        const int64_t at = kw_case_tensor_at(tensor, element_of(&c.outs[0], tensor, e));
        kw_compare_print_element(operand, sizeof operand, tensor->dtype, storage + (size_t)at * size);
        snprintf(want, sizeof want, "%s = %s", c.op->args[i].name, operand);
        kw_operands_print(&c, SEED, 1, e, text, sizeof text);
        if (!strstr(text, want)) fail_msg("%s, element %lld: no %s in %s", c.id, (long long)e, want, text);
      }
      free(storage);
    }
  }
}

static void others_have_none(void **state) {
  (void)state;
  kw_case c;
  make("sum/f32/prime/0", &c);
  assert_false(kw_operands_known(&c));
  make("exp/f32/prime/0", &c);
  assert_true(kw_operands_known(&c));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_stand_beside), cmocka_unit_test(tensors_lie_anywhere),
                                     cmocka_unit_test(others_have_none)};
  return cmocka_run_group_tests_name("operands", tests, NULL, NULL);
}
