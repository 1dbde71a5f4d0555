/* SPDX-License-Identifier: Apache-2.0
 *
 * K-means in the plane, on any device by name: what a program in C looks like with typed calls and scopes. Nothing is
 * released by hand but what outlives a scope, and each step is checked once, at the scope's end.
 *
 * Exit status: 0 done, 1 the device failed, 2 no such device.
 */
#include <keyway/functions.h>

#include <stdio.h>

enum { POINTS = 3000, CENTRES = 3, STEPS = 10 };

/* Each point to the centre that is nearest, each centre to the middle of its points: the new centres. */
static kw_status step(const kw_tensor *points, kw_tensor **centres) {
  kw_scope *scope;
  kw_status status = kw_scope_begin(kw_stream_default(kw_tensor_device(points)), &scope);
  if (status != KW_OK) return status;
  kw_tensor *nearest = kwx_argmin(kwx_cdist(points, *centres), 1, true);
  kw_tensor *is_nearest = kwx_to_copy(kwx_eq_tensor(nearest, kwx_arange_start_step(0, CENTRES)), KW_F32);
  kw_tensor *members = kwx_transpose(is_nearest, 0, 1);
  kw_tensor *count = kwx_sum_dim_intlist(members, KW_INTS(1), true);
  kw_tensor *moved = kw_scope_keep(kwx_div_tensor(kwx_mm(members, points), kwx_clamp(count, 1)));
  status = kw_scope_end(scope);
  if (status != KW_OK) return status;
  kw_tensor_release(*centres);
  *centres = moved;
  return KW_OK;
}

/* Clouds around (0, 0), (10, 0) and (0, 10), and the first point of each as its centre. */
static kw_status make(kw_device *device, kw_tensor **points, kw_tensor **centres) {
  static float numbers[POINTS][2];
  for (int i = 0; i < POINTS; ++i) {
    numbers[i][0] = (float)(i * 37 % 101) / 101 - 0.5F + (i % CENTRES == 1 ? 10 : 0);
    numbers[i][1] = (float)(i * 53 % 103) / 103 - 0.5F + (i % CENTRES == 2 ? 10 : 0);
  }
  kw_scope *scope;
  kw_status status = kw_scope_begin(kw_stream_default(device), &scope);
  if (status != KW_OK) return status;
  *points = kw_scope_keep(kwx_tensor(KW_F32, KW_INTS(POINTS, 2), numbers));
  *centres = kw_scope_keep(kwx_tensor(KW_F32, KW_INTS(CENTRES, 2), numbers));
  return kw_scope_end(scope);
}

int main(int argc, char **argv) {
  kw_device *device;
  kw_tensor *points = NULL, *centres = NULL;
  char text[256];
  if (kw_device_open(argc > 1 ? argv[1] : "auto", &device) != KW_OK) {
    fprintf(stderr, "kmeans: %s\n", kw_error_message());
    return 2;
  }
  kw_status status = make(device, &points, &centres);
  for (int i = 0; i < STEPS && status == KW_OK; ++i) status = step(points, &centres);
  if (status == KW_OK) status = kw_tensor_format(centres, text, sizeof text);
  if (status == KW_OK) {
    printf("centres of %d points: %s\n", POINTS, text);
  } else {
    fprintf(stderr, "kmeans: %s\n", kw_error_message());
  }
  kw_tensor_release(points);
  kw_tensor_release(centres);
  kw_device_close(device);
  return status == KW_OK ? 0 : 1;
}
