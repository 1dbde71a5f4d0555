/* SPDX-License-Identifier: Apache-2.0
 *
 * NaN out of a long calculation: a signal is normalised and its entropy taken, over and over, and once it is 0 * -inf.
 * The program sees NaN at the end; which call made it says a capture of it:
 *
 *     KEYWAY_LAYERS=capture KEYWAY_CAPTURE=run.kwcapture nan cpu:0
 *     keyway replay run.kwcapture --nan --cut nan.kwcapture
 *
 * usage: nan [DEVICE]
 */
#include "example.h"

#include <math.h>

enum { STEPS = 40, SIZE = 64 };

/* The entropy of each step's shares, all added up. Share i of step s is as large as max(0, i - s). */
static kw_tensor *add_entropies(void) {
  kw_tensor *sum = kwx_full(KW_INTS(1), 0.0), *places = kwx_arange_start_step(8, SIZE + 8, 1, KW_F32);
  for (int step = 0; step < STEPS; ++step) {
    kw_tensor *sizes = kwx_relu(kwx_sub_scalar(places, step));
    kw_tensor *shares = kwx_div_tensor(sizes, kwx_sum_dim_intlist(sizes, KW_INTS(0), true));
    kw_tensor *terms = kwx_mul_tensor(shares, kwx_log(shares)); /* wants to be 0 where a share is */
    sum = kwx_sub_tensor(sum, kwx_sum_dim_intlist(terms, KW_INTS(0), true));
  }
  return sum;
}

int main(int argc, char **argv) {
  float sum = 0;
  kw_device *device = open_device(argc, argv, 1);
  kw_scope *scope = begin(device);
  kw_tensor *entropies = add_entropies();
  check(kw_scope_status());
  check(kw_tensor_read(entropies, &sum));
  printf("the sum of %d entropies is %s, on %s\n", STEPS, isnan(sum) ? "NaN" : "a number", kw_device_name(device));
  check(kw_scope_end(scope));
  check(kw_device_close(device));
  return 0;
}
