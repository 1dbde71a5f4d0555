/* SPDX-License-Identifier: Apache-2.0
 *
 * The step of k-means, as the op set has it: for each of N points in the plane the nearer of two means. What is
 * subtracted, squared, summed and compared goes through the caches in pieces.
 */
#include "bench_program.h"

#include <stdlib.h>

#define PIECE 16384 /* points: what a piece takes on its way fits the second cache */

enum { PLANE = 2, MEANS = 2, CALLS = 4 };

typedef struct kmeans {
  const kw_op *subtract, *multiply, *sum, *nearest;
  int64_t size;
  kw_tensor *points; /* [N, 2] */
  kw_tensor *fields; /* [2, 1, N], the same memory */
  kw_tensor *means;  /* [2, 2, 1] */
  kw_tensor *labels; /* i64[N] */
} kmeans;

static kw_status fill_points(kw_tensor *points, int64_t count) {
  float *numbers = malloc((size_t)count * PLANE * sizeof *numbers);
  if (!numbers) return KW_ERR_OUT_OF_MEMORY;
  for (int64_t i = 0; i < count * PLANE; ++i) numbers[i] = (float)(i * 7919 % 1009) / 1009;
  const kw_status status = kw_tensor_write(points, numbers);
  free(numbers);
  return status;
}

static kw_status make_tensors(kw_device *device, kmeans *program) {
  static const float means[PLANE * MEANS] = {0.25F, 0.75F, 0.25F, 0.75F};
  const int64_t size = program->size;
  kw_tensor *exchanged = NULL;
  kw_status status = kw_tensor_create(device, KW_F32, 2, (const int64_t[]){size, PLANE}, &program->points);
  if (status == KW_OK) status = fill_points(program->points, size);
  if (status == KW_OK) status = kw_tensor_transpose(program->points, 0, 1, &exchanged);
  if (status == KW_OK) status = kw_tensor_unsqueeze(exchanged, 1, &program->fields);
  kw_tensor_release(exchanged);
  if (status == KW_OK)
    status = kw_tensor_create(device, KW_F32, 3, (const int64_t[]){PLANE, MEANS, 1}, &program->means);
  if (status == KW_OK) status = kw_tensor_write(program->means, means);
  if (status == KW_OK) status = kw_tensor_create(device, KW_I64, 1, &size, &program->labels);
  return status;
}

static void release(void *program_pointer) {
  kmeans *program = program_pointer;
  kw_tensor_release(program->points);
  kw_tensor_release(program->fields);
  kw_tensor_release(program->means);
  kw_tensor_release(program->labels);
  free(program);
}

static kw_status make(kw_device *device, int64_t size, void **out_program) {
  kmeans *program = calloc(1, sizeof *program);
  if (!program) return KW_ERR_OUT_OF_MEMORY;
  program->subtract = kw_op_find("sub.Tensor");
  program->multiply = kw_op_find("mul.Tensor");
  program->sum = kw_op_find("sum.dim_IntList");
  program->nearest = kw_op_find("argmin");
  program->size = size;
  const kw_status status = make_tensors(device, program);
  if (status == KW_OK) {
    *out_program = program;
  } else {
    release(program);
  }
  return status;
}

/* Labels the points of `fields`. made: what the calls make on the way, kept for the next piece of this size. */
static kw_status label(const kmeans *program, kw_tensor *fields, kw_tensor *labels, kw_tensor *made[CALLS - 1]) {
  const int64_t first = 0;
  const kw_value subtract[] = {kw_arg_tensor(fields), kw_arg_tensor(program->means)};
  kw_status status = kw_op_call(program->subtract, NULL, subtract, 2, &made[0], 1);
  if (status != KW_OK) return status;
  const kw_value square[] = {kw_arg_tensor(made[0]), kw_arg_tensor(made[0])};
  status = kw_op_call(program->multiply, NULL, square, 2, &made[1], 1);
  if (status != KW_OK) return status;
  const kw_value sum[] = {kw_arg_tensor(made[1]), kw_arg_int_list(&first, 1)};
  status = kw_op_call(program->sum, NULL, sum, 2, &made[2], 1);
  if (status != KW_OK) return status;
  const kw_value nearest[] = {kw_arg_tensor(made[2]), kw_arg_int(0)};
  return kw_op_call(program->nearest, NULL, nearest, 2, &labels, 1);
}

static kw_status run(void *program_pointer) {
  const kmeans *program = program_pointer;
  kw_tensor *made[CALLS - 1] = {NULL};
  kw_status status = KW_OK;
  for (int64_t begin = 0; begin < program->size && status == KW_OK; begin += PIECE) {
    const int64_t end = begin + PIECE < program->size ? begin + PIECE : program->size;
    kw_tensor *fields = NULL, *labels = NULL;
    status = kw_tensor_slice(program->fields, 2, begin, end, 1, &fields);
    if (status == KW_OK) status = kw_tensor_slice(program->labels, 0, begin, end, 1, &labels);
    for (int i = 0; i < CALLS - 1 && end - begin < PIECE; ++i) {
      kw_tensor_release(made[i]);
      made[i] = NULL;
    }
    if (status == KW_OK) status = label(program, fields, labels, made);
    kw_tensor_release(fields);
    kw_tensor_release(labels);
  }
  for (int i = 0; i < CALLS - 1; ++i) kw_tensor_release(made[i]);
  return status;
}

const kw_bench_steps kw_bench_kmeans = {make, run, release};
