/* SPDX-License-Identifier: Apache-2.0
 *
 * The portable kernels of Fourier transforms at every power of two up to some that one item does not do alone, at
 * lengths with a large prime factor, and of lines side by side: some numbers of each, by their definition.
 */
#include "test_host.h"

#include <keyway/keyway.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define PI 3.14159265358979323846
#define LOOKED_AT 7 /* numbers of each line */
#define BOUND 4e-6  /* of the root of the sum of squares, f32 */

enum { C2C, R2C, C2R };

/* Number k of the transform of a line of complex numbers: `sign` is -1 for a forward one. */
static void transform(const float *line, int64_t n, int64_t k, int sign, double number[2]) {
  number[0] = number[1] = 0;
  for (int64_t i = 0; i < n; i++) {
    const double angle = sign * 2 * PI * (double)(i * k % n) / (double)n, re = line[2 * i], im = line[2 * i + 1];
    number[0] += re * cos(angle) - im * sin(angle);
    number[1] += re * sin(angle) + im * cos(angle);
  }
}

/* Lines of a real number's transform come by half: the other half is mirrored here. */
static void check(test_host *host, int op, int64_t outer, int64_t n, int64_t inner, bool forward) {
  const int64_t numbers = op == C2R ? n / 2 + 1 : n, results = op == R2C ? n / 2 + 1 : n, dim = 1;
  const int in_parts = op == R2C ? 1 : 2, out_parts = op == C2R ? 1 : 2, sign = op == C2R || !forward ? 1 : -1;
  const int64_t in_shape[] = {outer, numbers, inner}, out_shape[] = {outer, results, inner};
  const int64_t count = outer * numbers * inner * in_parts, made = outer * results * inner * out_parts;
  float *in = test_room(count, sizeof *in), *got = test_room(made, sizeof *got), *line = test_room(2 * n, sizeof *line);
  for (int64_t i = 0; i < count; i++) in[i] = (float)((i * 7919 + i * i % 104729) % 2003) / 1001 - 1;
  kw_tensor_ref self = test_tensor(host, in_parts == 1 ? KW_F32 : KW_C64, 3, in_shape, in),
                out = test_tensor(host, out_parts == 1 ? KW_F32 : KW_C64, 3, out_shape, NULL);
  const kw_value last = op == C2R ? kw_arg_int(n) : kw_arg_bool(op == R2C || forward);
  const kw_value args[] = {test_tensor_arg(&self), kw_arg_int_list(&dim, 1), kw_arg_int(0), last};
  static const char *const ops[] = {"_fft_c2c", "_fft_r2c", "_fft_c2r"};
  test_call(host, ops[op], in_parts == 1 ? KW_F32 : KW_C64, args, 4, &out);
  test_read(host, &out, got, (uint64_t)made * sizeof *got);
  for (int64_t at = 0; at < outer * inner; at++) {
    const int64_t first = at / inner * numbers * inner + at % inner, result = at / inner * results * inner + at % inner;
    double squares = 0;
    for (int64_t i = 0; i < n; i++) {
      const bool mirrored = i >= numbers;
      const int64_t from = first + (mirrored ? n - i : i) * inner;
      const bool real = op == R2C || (op == C2R && (i == 0 || 2 * i == n));
      line[2 * i] = in[from * in_parts];
      line[2 * i + 1] = real ? 0 : mirrored ? -in[from * in_parts + 1] : in[from * in_parts + 1];
      squares += (double)line[2 * i] * line[2 * i] + (double)line[2 * i + 1] * line[2 * i + 1];
    }
    for (int64_t k = 0; k < results; k += 1 + (results - 1) / LOOKED_AT) {
      double want[2];
      transform(line, n, k, sign, want);
      for (int part = 0; part < out_parts; part++) {
        const double is = got[(result + k * inner) * out_parts + part];
        if (!(fabs(is - want[part]) <= BOUND * sqrt(squares)))
          fail_msg("%s of %lld, %lld side by side, number %lld: %.9g is not %.9g", ops[op], (long long)n,
                   (long long)inner, (long long)k, is, want[part]);
      }
    }
  }
  test_tensor_free(host, &self);
  test_tensor_free(host, &out);
  free(in);
  free(got);
  free(line);
}

static void test_lines_of_every_power_of_two(void **state) {
  for (int64_t n = 2; n <= 65536; n *= 2) {
    check(*state, C2C, n < 1024 ? 3 : 1, n, 1, true);
    check(*state, C2C, 1, n, 1, false);
  }
}

static void test_lines_side_by_side(void **state) {
  for (int64_t n = 2; n <= 32768; n *= 4) {
    check(*state, C2C, 2, n, 3, true);
    if (n <= 2048) check(*state, C2C, 1, n, 70, false);
  }
}

static void test_real_lines(void **state) {
  for (int64_t n = 2; n <= 65536; n *= 2) {
    check(*state, R2C, n < 1024 ? 3 : 1, n, 1, true);
    check(*state, C2R, n < 1024 ? 3 : 1, n, 1, false);
  }
}

static void test_other_lengths(void **state) {
  static const int64_t lengths[] = {3, 12, 60, 211, 1000, 1009};
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
    check(*state, C2C, 2, lengths[i], 1, true);
    check(*state, R2C, 2, lengths[i], 2, true);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lines_of_every_power_of_two),
      cmocka_unit_test(test_lines_side_by_side),
      cmocka_unit_test(test_real_lines),
      cmocka_unit_test(test_other_lengths),
  };
  return cmocka_run_group_tests(tests, test_host_start, test_host_stop);
}
