/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of attention: equal bits for every number of threads, keys in pieces, near the reference.
 */
#include "test_fast.h"

#include "number.h"
#include "test_call.h"

#include <math.h>
#include <stdbool.h>

enum { WIDTH = 16, MOST_KEYS = 2500, MOST_QUERIES = 150, HEADS = 4, GROUPS = 2 };

static float query[HEADS * MOST_QUERIES * WIDTH], key[GROUPS * MOST_KEYS * WIDTH], value[GROUPS * MOST_KEYS * WIDTH];
static float results[4][2][HEADS * MOST_QUERIES * WIDTH]; /* of three numbers of threads, and of the reference */

static uint32_t thread_number;

static kw_status count_threads(void *context, uint32_t *out_count) {
  (void)context;
  *out_count = thread_number;
  return KW_OK;
}

static float draw(void) {
  static uint32_t state = 18;
  state = state * 1664525u + 1013904223u;
  return (float)(state >> 8) / 0x1p23f - 1;
}

static void fill(float *data, size_t count) {
  for (size_t i = 0; i < count; i++) data[i] = draw();
}

/* keyway::attention of so many queries and keys, or attention_decode where that is wanted, with a window on the left.
 */
static void check(bool decodes, int64_t queries, int64_t keys, int64_t left) {
  static const uint32_t threads[] = {1, 2, 7};
  const kw_tensor_ref q = TENSOR(KW_F32, query, 1, HEADS, queries, WIDTH);
  const kw_tensor_ref k = TENSOR(KW_F32, key, 1, GROUPS, keys, WIDTH);
  const kw_tensor_ref v = TENSOR(KW_F32, value, 1, GROUPS, keys, WIDTH);
  const int64_t length[] = {keys - 3};
  const kw_tensor_ref lengths = TENSOR(KW_I64, length, 1);
  const kw_value cap = test_float(0), window = {.tag = KW_TAG_INT, .u.i = left}, causal = {.tag = KW_TAG_INT};
  const kw_value whole[] = {test_arg(&q), test_arg(&k), test_arg(&v), test_none(), test_none(), cap, window, causal};
  const kw_value decode[] = {test_arg(&q), test_arg(&k), test_arg(&v), test_arg(&lengths), test_none(), cap, window};
  memset(results, 'x', sizeof results);
  for (uint32_t t = 0; t < 4; t++) {
    const kw_tensor_ref out = TENSOR(KW_F32, results[t][0], 1, HEADS, queries, WIDTH);
    const kw_tensor_ref lse = TENSOR(KW_F32, results[t][1], 1, HEADS, queries);
    const kw_tensor_ref *outs[] = {&out, &lse};
    const kw_call call = {.struct_size = sizeof call,
                          .op = decodes ? "keyway::attention_decode" : "keyway::attention",
                          .args = decodes ? decode : whole,
                          .arg_count = decodes ? 7 : 8,
                          .outs = outs,
                          .out_count = 2};
    if (t == 3) {
      assert_int_equal(test_call(kw_reference_f32, &call), KW_OK);
    } else {
      thread_number = threads[t];
      assert_int_equal(test_fast_call_on(&call, t + 1, count_threads), KW_OK);
    }
  }
  assert_memory_equal(results[0], results[1], sizeof results[0]);
  assert_memory_equal(results[0], results[2], sizeof results[0]);
  for (int64_t i = 0; i < HEADS * queries * WIDTH; i++) {
    assert_float_equal(results[0][0][i], results[3][0][i], 1e-5);
    if (i < HEADS * queries) assert_float_equal(results[0][1][i], results[3][1][i], 1e-5);
  }
}

static void test_attention(void **state) {
  (void)state;
  const char *why;
  if (!kw_fast_choose(&why)) skip();
  fill(query, sizeof query / sizeof *query);
  fill(key, sizeof key / sizeof *key);
  fill(value, sizeof value / sizeof *value);
  for (int decodes = 0; decodes < 2; decodes++) {
    check(decodes, 1, 2500, -1);   /* few rows, pieces */
    check(decodes, 4, 1999, 700);  /* pieces that some rows, or all, do not see */
    check(decodes, 150, 2500, -1); /* tiles, pieces */
    check(decodes, 67, 1201, 300);
    check(decodes, 150, 131, -1); /* one piece */
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_attention)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
