/* SPDX-License-Identifier: Apache-2.0
 *
 * Two vendors at once: half of a matrix product on each of two devices, whose queues run side by side; then the second
 * half goes to the first device, ordered behind its product, without a wait of the program's.
 *
 * usage: two_devices DEVICE DEVICE
 */
#include "example.h"

#include <math.h>

enum { ROWS = 256, INNER = 128, COLUMNS = 64, HALF = ROWS / 2 };

static float left[ROWS][INNER], right[INNER][COLUMNS], product[ROWS][COLUMNS];

/* Half of the rows of left x right, enqueued on the device; the caller releases it. */
static kw_tensor *multiply(kw_device *device, int first_row) {
  kw_scope *scope = begin(device);
  kw_tensor *rows = kwx_tensor(KW_F32, KW_INTS(HALF, INNER), left[first_row]);
  kw_tensor *half = kw_scope_keep(kwx_mm(rows, kwx_tensor(KW_F32, KW_INTS(INNER, COLUMNS), right)));
  check(kw_scope_end(scope));
  return half;
}

/* The largest error beside products in double precision. */
static double worst(void) {
  double most = 0;
  for (int i = 0; i < ROWS; ++i) {
    for (int j = 0; j < COLUMNS; ++j) {
      double sum = 0;
      for (int k = 0; k < INNER; ++k) sum += (double)left[i][k] * (double)right[k][j];
      const double error = fabs(sum - (double)product[i][j]);
      if (error > most) most = error; /* gcc 12 for aarch64 ends in an internal error at fmax here */
    }
  }
  return most;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fputs("usage: two_devices DEVICE DEVICE\n", stderr);
    return 2;
  }
  kw_device *first = open_device(argc, argv, 1), *second = open_device(argc, argv, 2);
  for (int i = 0; i < ROWS * INNER; ++i) left[i / INNER][i % INNER] = draw();
  for (int i = 0; i < INNER * COLUMNS; ++i) right[i / COLUMNS][i % COLUMNS] = draw();

  kw_tensor *upper = multiply(first, 0), *lower = multiply(second, HALF), *moved;
  check(kw_tensor_create(first, KW_F32, 2, (const int64_t[]){HALF, COLUMNS}, &moved));
  check(kw_tensor_copy_async(moved, NULL, lower, NULL));

  kw_scope *scope = begin(first);
  kw_tensor *whole = kwx_cat(KW_TENSORS(upper, moved));
  check(kw_scope_status());
  check(kw_tensor_read(whole, product));
  check(kw_scope_end(scope));
  printf("%d rows on %s, %d on %s, put together on %s: the largest error is %.1g\n", HALF, kw_device_name(first), HALF,
         kw_device_name(second), kw_device_name(first), worst());
  kw_tensor_release(upper);
  kw_tensor_release(lower);
  kw_tensor_release(moved);
  check(kw_device_close(second));
  check(kw_device_close(first));
  return worst() < 1e-4 ? 0 : 1;
}
