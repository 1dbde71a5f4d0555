/* SPDX-License-Identifier: Apache-2.0
 *
 * Losses over classes of as many positions as one item sums up, and of one more.
 */
#include "test_host.h"

#include <keyway/keyway.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { CLASSES = 5, IGNORED = 3, PART = 64, SUMMED = 4096 }; /* the latter as in class_loss_args.kw */

static void assert_near(float got, double want) {
  if (!(fabs(got - want) <= 1e-5 * fabs(want))) fail_msg("%.9g is not %.9g", got, want);
}

/* reduction: 1, the mean; 2, the sum */
static void check(test_host *host, int64_t positions, int64_t reduction) {
  const int64_t shape[] = {positions, CLASSES}, classes = CLASSES;
  float *scores = test_room(positions * CLASSES, sizeof *scores), weights[CLASSES], got[2];
  int64_t *named = test_room(positions, sizeof *named);
  double sum = 0, total = 0;
  for (int64_t k = 0; k < CLASSES; k++) weights[k] = (float)(k + 1) / 4;
  for (int64_t i = 0; i < positions * CLASSES; i++) scores[i] = -1 - (float)(i % 97) / 8;
  for (int64_t i = 0; i < positions; i++) {
    named[i] = i % CLASSES;
    if (named[i] == IGNORED) continue;
    sum -= (double)weights[named[i]] * (double)scores[i * CLASSES + named[i]];
    total += (double)weights[named[i]];
  }
  kw_tensor_ref self = test_tensor(host, KW_F32, 2, shape, scores), target = test_tensor(host, KW_I64, 1, shape, named),
                weight = test_tensor(host, KW_F32, 1, &classes, weights),
                out = test_tensor(host, KW_F32, 0, NULL, NULL), beside = test_tensor(host, KW_F32, 0, NULL, NULL);
  const kw_value args[] = {test_tensor_arg(&self), test_tensor_arg(&target), test_tensor_arg(&weight),
                           kw_arg_int(reduction), kw_arg_int(IGNORED)};
  const kw_tensor_ref *const outs[] = {&out, &beside};
  assert_int_equal(test_call_results(host, "nll_loss_forward", KW_F32, args, 5, outs, 2), -1);
  test_read(host, &out, &got[0], sizeof got[0]);
  test_read(host, &beside, &got[1], sizeof got[1]);
  assert_near(got[0], reduction == 1 ? sum / total : sum);
  assert_near(got[1], total);
  kw_tensor_ref *const tensors[] = {&self, &target, &weight, &out, &beside};
  for (int k = 0; k < 5; k++) test_tensor_free(host, tensors[k]);
  free(scores);
  free(named);
}

static void test_sums_of_many_positions(void **state) {
  for (int64_t reduction = 1; reduction <= 2; reduction++) {
    check(*state, PART, reduction);
    check(*state, SUMMED, reduction);
    check(*state, SUMMED + 1, reduction);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sums_of_many_positions)};
  return cmocka_run_group_tests(tests, test_host_start, test_host_stop);
}
