/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradients of max pools, in which many windows have the same element: their errors do not cancel.
 */
#include "test_host.h"

#include <keyway/keyway.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* Rows of windows of one element, all of which name element 5 of their image, and what it gets of them. */
static void check(test_host *host, int64_t rows, int64_t columns) {
  static const int64_t one[] = {1, 1}, none[] = {0, 0};
  const int64_t count = rows * columns, shape[] = {1, 1, rows, columns};
  float *grad = test_room(count, sizeof *grad), *got = test_room(count, sizeof *got);
  int64_t *index = test_room(count, sizeof *index);
  for (int64_t i = 0; i < count; i++) grad[i] = 0.1f, index[i] = 5;
  kw_tensor_ref grads = test_tensor(host, KW_F32, 4, shape, grad), self = test_tensor(host, KW_F32, 4, shape, grad),
                indices = test_tensor(host, KW_I64, 4, shape, index), out = test_tensor(host, KW_F32, 4, shape, NULL);
  const kw_value args[] = {test_tensor_arg(&grads), test_tensor_arg(&self),   kw_arg_int_list(one, 2),
                           kw_arg_int_list(one, 2), kw_arg_int_list(none, 2), kw_arg_int_list(one, 2),
                           kw_arg_bool(false),      test_tensor_arg(&indices)};
  const kw_tensor_ref *const outs[] = {&out};
  assert_int_equal(test_call_results(host, "max_pool2d_with_indices_backward", KW_F32, args, 8, outs, 1), -1);
  test_read(host, &out, got, (uint64_t)count * sizeof *got);
  for (int64_t i = 0; i < count; i++) {
    const double want = i == 5 ? (double)0.1f * (double)count : 0;
    if (!(fabs(got[i] - want) <= 2e-5 * want)) fail_msg("number %lld: %.9g is not %.9g", (long long)i, got[i], want);
  }
  test_tensor_free(host, &grads);
  test_tensor_free(host, &self);
  test_tensor_free(host, &indices);
  test_tensor_free(host, &out);
  free(grad);
  free(got);
  free(index);
}

static void test_many_windows_of_one_element(void **state) {
  check(*state, 1, 40001);
  check(*state, 211, 190);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_many_windows_of_one_element)};
  return cmocka_run_group_tests(tests, test_host_start, test_host_stop);
}
