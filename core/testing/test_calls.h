/* SPDX-License-Identifier: Apache-2.0
 *
 * What tests of calls say often: tensors of numbers, calls of two tensors, counters.
 */
#ifndef KEYWAY_CORE_TEST_CALLS_H
#define KEYWAY_CORE_TEST_CALLS_H

#include "testing/test_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static kw_device *device; /* of the running test */

static inline kw_tensor *tensor_of(kw_dtype dtype, uint32_t rank, const int64_t *shape, const void *data) {
  kw_tensor *tensor;
  assert_int_equal(kw_tensor_create(device, dtype, rank, shape, &tensor), KW_OK);
  if (data) assert_int_equal(kw_tensor_write(tensor, data), KW_OK);
  return tensor;
}

static inline kw_tensor *floats(uint32_t count, const float *data) {
  return tensor_of(KW_F32, 1, (int64_t[]){count}, data);
}

static inline kw_tensor *indices(uint32_t rank, const int64_t *shape, const int64_t *values) {
  return tensor_of(KW_I64, rank, shape, values);
}

static inline kw_status call_on(kw_stream *on, const kw_op *op, kw_tensor *a, kw_tensor *b, kw_tensor **out) {
  const kw_value args[] = {kw_arg_tensor(a), kw_arg_tensor(b)};
  return kw_op_call(op, on, args, 2, out, 1);
}

static inline kw_status call(const kw_op *op, kw_tensor *a, kw_tensor *b, kw_tensor **out) {
  return call_on(NULL, op, a, b, out);
}

static inline void assert_floats(const kw_tensor *tensor, const float *expected, size_t count) {
  float got[64];
  assert_int_equal(kw_tensor_read(tensor, got), KW_OK);
  assert_memory_equal(got, expected, count * sizeof *expected);
}

static inline kw_counters counters(void) {
  kw_counters now = {.struct_size = sizeof now};
  assert_int_equal(kw_device_get_counters(device, &now), KW_OK);
  return now;
}

#endif /* KEYWAY_CORE_TEST_CALLS_H */
