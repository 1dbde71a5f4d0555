/* SPDX-License-Identifier: Apache-2.0
 *
 * Transposed convolutions that are large enough to be done phase by phase of their stride, by the definition.
 */
#include "test_host.h"

#include <keyway/keyway.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { IN = 160, OUT = 40, GROUPS = 2, SIDE = 13 };

/* Of a movement in two dimensions. */
typedef struct movement {
  int64_t taps[2], stride[2], padding[2], dilation[2], more[2]; /* `more`: output_padding */
} movement;

static float *numbers(int64_t count, int64_t seed) {
  float *made = test_room(count, sizeof *made);
  for (int64_t i = 0; i < count; i++) made[i] = (float)((i * seed + i * i % 104729) % 2003) / 1001 - 1;
  return made;
}

/* The number at a position of channel `to` of a group, without bias. */
static double expected(const movement *m, const float *input, const float *weight, int64_t group, int64_t to,
                       const int64_t *position) {
  double sum = 0;
  for (int64_t from = 0; from < IN / GROUPS; from++)
    for (int64_t tap = 0; tap < m->taps[0] * m->taps[1]; tap++) {
      const int64_t tap_at[2] = {tap / m->taps[1], tap % m->taps[1]};
      int64_t at[2];
      bool there = true;
      for (int d = 0; d < 2; d++) {
        const int64_t place = position[d] + m->padding[d] - tap_at[d] * m->dilation[d];
        at[d] = place / m->stride[d];
        there = there && place >= 0 && place % m->stride[d] == 0 && at[d] < SIDE;
      }
      if (!there) continue;
      const int64_t channel = group * (IN / GROUPS) + from;
      sum += (double)input[(channel * SIDE + at[0]) * SIDE + at[1]] *
             weight[(channel * (OUT / GROUPS) + to) * m->taps[0] * m->taps[1] + tap];
    }
  return sum;
}

static void check(test_host *host, const movement *m) {
  const int64_t in_shape[] = {1, IN, SIDE, SIDE}, weight_shape[] = {IN, OUT / GROUPS, m->taps[0], m->taps[1]};
  int64_t out_shape[4] = {1, OUT}, side[2];
  for (int d = 0; d < 2; d++)
    out_shape[2 + d] = side[d] =
        (SIDE - 1) * m->stride[d] - 2 * m->padding[d] + m->dilation[d] * (m->taps[d] - 1) + m->more[d] + 1;
  const int64_t made = OUT * side[0] * side[1], bias_shape = OUT;
  float *input = numbers(IN * SIDE * SIDE, 7919), *bias = numbers(OUT, 31), *got = test_room(made, sizeof *got);
  float *weight = numbers(IN * (OUT / GROUPS) * m->taps[0] * m->taps[1], 6007);
  kw_tensor_ref x = test_tensor(host, KW_F32, 4, in_shape, input),
                w = test_tensor(host, KW_F32, 4, weight_shape, weight),
                b = test_tensor(host, KW_F32, 1, &bias_shape, bias),
                out = test_tensor(host, KW_F32, 4, out_shape, NULL);
  const kw_value args[] = {test_tensor_arg(&x),
                           test_tensor_arg(&w),
                           test_tensor_arg(&b),
                           kw_arg_int_list(m->stride, 2),
                           kw_arg_int_list(m->padding, 2),
                           kw_arg_int_list(m->dilation, 2),
                           kw_arg_bool(true),
                           kw_arg_int_list(m->more, 2),
                           kw_arg_int(GROUPS)};
  test_call(host, "convolution", KW_F32, args, 9, &out);
  test_read(host, &out, got, (uint64_t)made * sizeof *got);
  for (int64_t i = 0; i < made; i++) {
    const int64_t channel = i / side[0] / side[1], position[2] = {i / side[1] % side[0], i % side[1]};
    if (channel % 7 != 0) continue;
    const double want =
        bias[channel] + expected(m, input, weight, channel / (OUT / GROUPS), channel % (OUT / GROUPS), position);
    if (!(fabs(got[i] - want) <= 1e-4)) fail_msg("number %lld: %.9g is not %.9g", (long long)i, got[i], want);
  }
  test_tensor_free(host, &x);
  test_tensor_free(host, &w);
  test_tensor_free(host, &b);
  test_tensor_free(host, &out);
  free(input);
  free(weight);
  free(bias);
  free(got);
}

static void test_transposed(void **state) {
  static const movement movements[] = {
      {{3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}}, /* that of decoders */
      {{4, 5}, {2, 3}, {1, 2}, {1, 1}, {0, 1}}, /* phases of several sizes */
      {{5, 5}, {2, 3}, {0, 3}, {3, 2}, {1, 0}}, /* with dilation */
      {{4, 4}, {2, 2}, {1, 1}, {2, 2}, {0, 0}}, /* where not every phase has taps */
      {{2, 6}, {3, 1}, {0, 1}, {1, 1}, {0, 0}}, /* likewise */
  };
  for (size_t i = 0; i < sizeof movements / sizeof movements[0]; i++) check(*state, &movements[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_transposed)};
  return cmocka_run_group_tests(tests, test_host_start, test_host_stop);
}
