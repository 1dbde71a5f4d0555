/* SPDX-License-Identifier: Apache-2.0
 *
 * For the tests of the reference: tensors over plain arrays, arguments, and running an op by name.
 */
#ifndef KEYWAY_REFERENCE_TEST_CALL_H
#define KEYWAY_REFERENCE_TEST_CALL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "number.h"

#include <string.h>

typedef const kw_reference_kernel *(*test_table)(uint32_t *out_count);

/* A contiguous tensor over `data`. */
static inline kw_tensor_ref test_tensor(kw_dtype dtype, const void *data, uint32_t rank, const int64_t *shape) {
  kw_tensor_ref tensor = {.struct_size = sizeof tensor, .dtype = dtype, .rank = (uint8_t)rank, .numel = 1};
  tensor.mem = (void *)(uintptr_t)data;
  for (uint32_t d = rank; d-- > 0;) {
    tensor.shape[d] = shape[d];
    tensor.strides[d] = tensor.numel;
    tensor.numel *= shape[d];
  }
  return tensor;
}

#define TENSOR(dtype, data, ...) \
  test_tensor(dtype, data, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (const int64_t[]){__VA_ARGS__})
#define RANK0(dtype, data) test_tensor(dtype, data, 0, NULL)

static inline kw_value test_none(void) {
  return (kw_value){.tag = KW_TAG_NONE};
}

static inline kw_value test_arg(const kw_tensor_ref *tensor) {
  return (kw_value){.tag = KW_TAG_TENSOR, .u.tensor = tensor};
}

static inline kw_value test_int(int64_t i) {
  return (kw_value){.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_I64, .u.i = i};
}

static inline kw_value test_float(double f) {
  return (kw_value){.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_F64, .u.f = f};
}

static inline kw_value test_string(const char *s) {
  return (kw_value){.tag = KW_TAG_STRING, .u.s = s};
}

static inline kw_value test_list(const kw_tensor_ref *const *tensors, uint32_t count) {
  return (kw_value){.tag = KW_TAG_TENSOR_LIST, .count = count, .u.tensors = tensors};
}

/* What kw_call.user and kw_call_extra.error_mem are, for tests of ops that look at them. */
static void *test_user;
static uint32_t *test_error;
#define TEST_ERROR_CODE 0x700
/* kw_call.extra of a call in the same block. */
#define TEST_EXTRA \
  (&(kw_call_extra){.struct_size = sizeof(kw_call_extra), .error_mem = test_error, .error_code = TEST_ERROR_CODE})

/* Runs the op that call->op names. */
static inline kw_status test_call(test_table table, const kw_call *call) {
  uint32_t kernels = 0;
  const kw_reference_kernel *kernel = table(&kernels);
  while (kernels > 0 && strcmp(kernel->op, call->op) != 0) {
    kernels--;
    kernel++;
  }
  assert_true(kernels > 0);
  return kernel->run(call);
}

static inline kw_status test_try(test_table table, const char *op, const kw_tensor_ref *out, uint32_t count,
                                 const kw_value *args) {
  const kw_tensor_ref *outs[] = {out};
  kw_call call = {.struct_size = sizeof call, .arg_count = count, .out_count = 1, .op = op, .args = args, .outs = outs};
  call.user = test_user;
  call.extra = TEST_EXTRA;
  return test_call(table, &call);
}

/* RUN(table, op, &out, arguments...) */
#define TRY(table, op, out, ...) \
  test_try(table, op, out, sizeof((kw_value[]){__VA_ARGS__}) / sizeof(kw_value), (const kw_value[]){__VA_ARGS__})
#define RUN(table, op, out, ...) assert_int_equal(TRY(table, op, out, __VA_ARGS__), KW_OK)

#endif /* KEYWAY_REFERENCE_TEST_CALL_H */
