/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolutions by the definition, of sizes that no case of the suite has and that are computed in other ways.
 */
#include "test_host.h"

#include <keyway/keyway.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* In two dimensions. */
typedef struct convolution {
  bool transposed;
  int64_t in, out, groups, side[2];                             /* channels, and the input's size */
  int64_t taps[2], stride[2], padding[2], dilation[2], more[2]; /* `more`: output_padding */
} convolution;

static float *numbers(int64_t count, int64_t seed) {
  float *made = test_room(count, sizeof *made);
  for (int64_t i = 0; i < count; i++) made[i] = (float)((i * seed + i * i % 104729) % 2003) / 1001 - 1;
  return made;
}

/* Where a tap of the result at `position` lies in the input; false where there is nothing. */
static bool find(const convolution *c, const int64_t *position, int64_t tap, int64_t *at) {
  const int64_t tap_at[2] = {tap / c->taps[1], tap % c->taps[1]};
  for (int d = 0; d < 2; d++) {
    const int64_t place = c->transposed ? position[d] + c->padding[d] - tap_at[d] * c->dilation[d]
                                        : position[d] * c->stride[d] - c->padding[d] + tap_at[d] * c->dilation[d];
    if (place < 0 || (c->transposed && place % c->stride[d] != 0)) return false;
    at[d] = c->transposed ? place / c->stride[d] : place;
    if (at[d] >= c->side[d]) return false;
  }
  return true;
}

/* The number at a position of channel `to`, without bias. */
static double expected(const convolution *c, const float *input, const float *weight, int64_t to,
                       const int64_t *position) {
  const int64_t ins = c->in / c->groups, outs = c->out / c->groups, taps = c->taps[0] * c->taps[1];
  const int64_t group = to / outs;
  double sum = 0;
  for (int64_t from = 0; from < ins; from++)
    for (int64_t tap = 0; tap < taps; tap++) {
      const int64_t channel = group * ins + from;
      const int64_t row = c->transposed ? channel * outs + to % outs : to * ins + from;
      int64_t at[2];
      if (find(c, position, tap, at))
        sum += (double)input[(channel * c->side[0] + at[0]) * c->side[1] + at[1]] * weight[row * taps + tap];
    }
  return sum;
}

static int64_t result_size(const convolution *c, int d) {
  const int64_t span = c->dilation[d] * (c->taps[d] - 1) + 1;
  return c->transposed ? (c->side[d] - 1) * c->stride[d] - 2 * c->padding[d] + span + c->more[d]
                       : (c->side[d] + 2 * c->padding[d] - span) / c->stride[d] + 1;
}

static void check(test_host *host, const convolution *c) {
  const int64_t side[2] = {result_size(c, 0), result_size(c, 1)}, taps = c->taps[0] * c->taps[1];
  const int64_t in_shape[] = {1, c->in, c->side[0], c->side[1]}, out_shape[] = {1, c->out, side[0], side[1]};
  const int64_t weight_shape[] = {c->transposed ? c->in : c->out, (c->transposed ? c->out : c->in) / c->groups,
                                  c->taps[0], c->taps[1]};
  const int64_t made = c->out * side[0] * side[1], bias_shape = c->out;
  float *input = numbers(c->in * c->side[0] * c->side[1], 7919), *bias = numbers(c->out, 31);
  float *weight = numbers(weight_shape[0] * weight_shape[1] * taps, 6007), *got = test_room(made, sizeof *got);
  kw_tensor_ref x = test_tensor(host, KW_F32, 4, in_shape, input),
                w = test_tensor(host, KW_F32, 4, weight_shape, weight),
                b = test_tensor(host, KW_F32, 1, &bias_shape, bias),
                out = test_tensor(host, KW_F32, 4, out_shape, NULL);
  const kw_value args[] = {test_tensor_arg(&x),
                           test_tensor_arg(&w),
                           test_tensor_arg(&b),
                           kw_arg_int_list(c->stride, 2),
                           kw_arg_int_list(c->padding, 2),
                           kw_arg_int_list(c->dilation, 2),
                           kw_arg_bool(c->transposed),
                           kw_arg_int_list(c->more, 2),
                           kw_arg_int(c->groups)};
  const int64_t every = c->out > 8 ? 7 : 1; /* of many channels some */
  test_call(host, "convolution", KW_F32, args, 9, &out);
  test_read(host, &out, got, (uint64_t)made * sizeof *got);
  for (int64_t i = 0; i < made; i++) {
    const int64_t channel = i / side[0] / side[1], position[2] = {i / side[1] % side[0], i % side[1]};
    if (channel % every != 0) continue;
    const double want = bias[channel] + expected(c, input, weight, channel, position);
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

/* Transposed ones that are large enough to be done phase by phase of their stride. */
static void test_phases(void **state) {
  static const convolution convolutions[] = {
      {true, 160, 40, 2, {13, 13}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}}, /* that of decoders */
      {true, 160, 40, 2, {13, 13}, {4, 5}, {2, 3}, {1, 2}, {1, 1}, {0, 1}}, /* phases of several sizes */
      {true, 160, 40, 2, {13, 13}, {5, 5}, {2, 3}, {0, 3}, {3, 2}, {1, 0}}, /* with dilation */
      {true, 160, 40, 2, {13, 13}, {4, 4}, {2, 2}, {1, 1}, {2, 2}, {0, 0}}, /* where not every phase has taps */
      {true, 160, 40, 2, {13, 13}, {2, 6}, {3, 1}, {0, 1}, {1, 1}, {0, 0}}, /* likewise */
  };
  for (size_t i = 0; i < sizeof convolutions / sizeof convolutions[0]; i++) check(*state, &convolutions[i]);
}

/* Groups of few channels, and lines long enough for several elements at once, for more than one item, with borders. */
static void test_lines(void **state) {
  static const convolution convolutions[] = {
      {false, 3, 3, 3, {5, 29}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {0, 0}},
      {false, 2, 4, 2, {4, 37}, {3, 3}, {1, 2}, {1, 1}, {1, 1}, {0, 0}},
      {false, 4, 2, 2, {5, 31}, {3, 5}, {1, 1}, {1, 4}, {1, 2}, {0, 0}},
      {false, 3, 3, 3, {1, 2053}, {1, 5}, {1, 1}, {0, 2}, {1, 1}, {0, 0}},
      {true, 3, 3, 3, {3, 19}, {3, 4}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
  };
  for (size_t i = 0; i < sizeof convolutions / sizeof convolutions[0]; i++) check(*state, &convolutions[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_phases), cmocka_unit_test(test_lines)};
  return cmocka_run_group_tests(tests, test_host_start, test_host_stop);
}
