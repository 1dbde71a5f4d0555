/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradients of images that a grid samples, of more channels and points than one item takes.
 */
#include "test_host.h"

#include <keyway/keyway.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { IMAGES = 2, CHANNELS = 20, HEIGHT = 7, WIDTH = 9, DOWN = 5, ACROSS = 13, POINTS = DOWN * ACROSS };

static void assert_near(double got, double want, const char *what, int64_t number) {
  if (!(fabs(got - want) <= 1e-4 * (fabs(want) + 1)))
    fail_msg("%s %lld: %.9g is not %.9g", what, (long long)number, got, want);
}

/* Point p of an image lies between elements there, at the place (x, y). */
static double x_of(int64_t p) {
  return (double)(p % (WIDTH - 1)) + 0.25;
}
static double y_of(int64_t p) {
  return (double)(p % (HEIGHT - 1)) + 0.5;
}

/* The image of channel c is (c + 1) (2 x + 3 y), the gradient of its samples c + 1. */
static void test_gradients_of_a_plane(void **state) {
  test_host *host = *state;
  static const int64_t image_shape[] = {IMAGES, CHANNELS, HEIGHT, WIDTH}, grid_shape[] = {IMAGES, DOWN, ACROSS, 2},
                       grad_shape[] = {IMAGES, CHANNELS, DOWN, ACROSS};
  const int64_t plane = HEIGHT * WIDTH, planes = IMAGES * CHANNELS;
  float *image = test_room(planes * plane, sizeof *image), *grid = test_room(IMAGES * POINTS * 2, sizeof *grid),
        *grad = test_room(planes * POINTS, sizeof *grad);
  double *want = test_room(planes * plane, sizeof *want);
  for (int64_t i = 0; i < IMAGES * POINTS; i++) {
    grid[2 * i] = (float)(2 * x_of(i % POINTS) / (WIDTH - 1) - 1);
    grid[2 * i + 1] = (float)(2 * y_of(i % POINTS) / (HEIGHT - 1) - 1);
  }
  double slope = 0; /* over the channels */
  for (int64_t c = 0; c < CHANNELS; c++) slope += (double)((c + 1) * (c + 1));
  for (int64_t n = 0; n < planes; n++) {
    const double factor = (double)(n % CHANNELS + 1);
    for (int64_t i = 0; i < plane; i++)
      image[n * plane + i] = (float)(factor * (double)(2 * (i % WIDTH) + 3 * (i / WIDTH)));
    for (int64_t p = 0; p < POINTS; p++) {
      grad[n * POINTS + p] = (float)factor;
      double *at = want + n * plane + (int64_t)y_of(p) * WIDTH + (int64_t)x_of(p);
      at[0] += factor * 0.75 * 0.5;
      at[1] += factor * 0.25 * 0.5;
      at[WIDTH] += factor * 0.75 * 0.5;
      at[WIDTH + 1] += factor * 0.25 * 0.5;
    }
  }
  kw_tensor_ref grads = test_tensor(host, KW_F32, 4, grad_shape, grad),
                images = test_tensor(host, KW_F32, 4, image_shape, image),
                grids = test_tensor(host, KW_F32, 4, grid_shape, grid),
                to_image = test_tensor(host, KW_F32, 4, image_shape, NULL),
                to_grid = test_tensor(host, KW_F32, 4, grid_shape, NULL);
  static const int64_t both[] = {1, 1};
  const kw_value args[] = {test_tensor_arg(&grads), test_tensor_arg(&images), test_tensor_arg(&grids), kw_arg_int(0),
                           kw_arg_int(0),           kw_arg_bool(true),        kw_arg_int_list(both, 2)};
  const kw_tensor_ref *const outs[] = {&to_image, &to_grid};
  assert_int_equal(test_call_results(host, "grid_sampler_2d_backward", KW_F32, args, 7, outs, 2), -1);
  test_read(host, &to_image, image, (uint64_t)(planes * plane) * sizeof *image);
  test_read(host, &to_grid, grid, (uint64_t)IMAGES * POINTS * 2 * sizeof *grid);
  for (int64_t i = 0; i < planes * plane; i++) assert_near(image[i], want[i], "element", i);
  for (int64_t i = 0; i < IMAGES * POINTS; i++) {
    assert_near(grid[2 * i], slope * 2 * (WIDTH - 1) / 2, "x of point", i);
    assert_near(grid[2 * i + 1], slope * 3 * (HEIGHT - 1) / 2, "y of point", i);
  }
  kw_tensor_ref *const tensors[] = {&grads, &images, &grids, &to_image, &to_grid};
  for (int k = 0; k < 5; k++) test_tensor_free(host, tensors[k]);
  free(image);
  free(grid);
  free(grad);
  free(want);
}

/* Errors of a sum do not grow with the number of points. */
static void test_many_points_of_one_element(void **state) {
  test_host *host = *state;
  enum { SIDE = 256 };
  static const int64_t image_shape[] = {1, 1, 3, 3}, grid_shape[] = {1, SIDE, SIDE, 2},
                       grad_shape[] = {1, 1, SIDE, SIDE}, image_alone[] = {1, 0};
  float *zeros = test_room(2 * SIDE * SIDE, sizeof *zeros), *grad = test_room(SIDE * SIDE, sizeof *grad), got[9];
  for (int64_t i = 0; i < SIDE * SIDE; i++) grad[i] = 0.1f;
  kw_tensor_ref grads = test_tensor(host, KW_F32, 4, grad_shape, grad),
                images = test_tensor(host, KW_F32, 4, image_shape, zeros),
                grids = test_tensor(host, KW_F32, 4, grid_shape, zeros), /* the middle */
      to_image = test_tensor(host, KW_F32, 4, image_shape, NULL);
  const kw_value args[] = {
      test_tensor_arg(&grads), test_tensor_arg(&images), test_tensor_arg(&grids),        kw_arg_int(0),
      kw_arg_int(0),           kw_arg_bool(true),        kw_arg_int_list(image_alone, 2)};
  const kw_tensor_ref *const outs[] = {&to_image, NULL};
  assert_int_equal(test_call_results(host, "grid_sampler_2d_backward", KW_F32, args, 7, outs, 2), -1);
  test_read(host, &to_image, got, sizeof got);
  const double want = (double)0.1f * SIDE * SIDE;
  if (!(fabs(got[4] - want) <= 1e-6 * want)) fail_msg("%.9g is not %.9g", got[4], want);
  kw_tensor_ref *const tensors[] = {&grads, &images, &grids, &to_image};
  for (int k = 0; k < 4; k++) test_tensor_free(host, tensors[k]);
  free(zeros);
  free(grad);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_gradients_of_a_plane),
                                     cmocka_unit_test(test_many_points_of_one_element)};
  return cmocka_run_group_tests(tests, test_host_start, test_host_stop);
}
