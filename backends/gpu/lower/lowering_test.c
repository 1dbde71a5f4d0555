/* SPDX-License-Identifier: Apache-2.0
 *
 * Which dimensions argument blocks have for strided, transposed, broadcast and reduced tensors.
 */
#include "lower/lowering.h"
#include "lower/scalar.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static kw_tensor_ref tensor(uint8_t rank, const int64_t *shape, const int64_t *strides) {
  kw_tensor_ref ref = {.struct_size = sizeof ref, .dtype = KW_F32, .rank = rank, .numel = 1};
  for (uint8_t d = 0; d < rank; ++d) {
    ref.shape[d] = shape[d];
    ref.strides[d] = strides[d];
    ref.numel *= shape[d];
  }
  return ref;
}

#define LIST(...) ((const int64_t[]){__VA_ARGS__})

static void test_contiguous_is_flat(void **state) {
  (void)state;
  kw_tensor_ref a = tensor(4, LIST(2, 1, 3, 5), LIST(15, 99, 5, 1));
  kw_elementwise block;
  kw_gpu_lower_elementwise((const kw_tensor_ref *[]){&a, &a, &a}, 3, &block);
  assert_int_equal(block.rank, 1);
  assert_int_equal(block.numel, 30);
  assert_int_equal(block.shape[0], 30);
  assert_true(block.flat);
}

static void test_scalar_and_one_element(void **state) {
  (void)state;
  kw_tensor_ref scalar = tensor(0, NULL, NULL), one = tensor(3, LIST(1, 1, 1), LIST(7, 7, 7));
  kw_elementwise block;
  kw_gpu_lower_elementwise((const kw_tensor_ref *[]){&scalar}, 1, &block);
  assert_int_equal(block.rank, 1);
  assert_int_equal(block.numel, 1);
  assert_true(block.flat);
  kw_gpu_lower_elementwise((const kw_tensor_ref *[]){&one, &one}, 2, &block);
  assert_int_equal(block.rank, 1);
  assert_int_equal(block.shape[0], 1);
  assert_true(block.flat);
}

/* Two tensors transposed alike are one run of memory; transposed differently they are not. */
static void test_transposed(void **state) {
  (void)state;
  kw_tensor_ref a = tensor(2, LIST(3, 5), LIST(1, 3)), b = tensor(2, LIST(3, 5), LIST(5, 1));
  kw_elementwise block;
  kw_gpu_lower_elementwise((const kw_tensor_ref *[]){&a, &a}, 2, &block);
  assert_true(block.flat);
  kw_gpu_lower_elementwise((const kw_tensor_ref *[]){&a, &b}, 2, &block);
  assert_false(block.flat);
  assert_int_equal(block.rank, 2);
  assert_int_equal(block.shape[0], 5); /* the output's wide stride first */
  assert_int_equal(block.stride[0][0], 3);
  assert_int_equal(block.stride[0][1], 1);
  assert_int_equal(block.stride[1][0], 1);
  assert_int_equal(block.stride[1][1], 5);
  kw_gpu_lower_ordered((const kw_tensor_ref *[]){&a, &a}, 2, &block);
  assert_false(block.flat);
  assert_int_equal(block.shape[0], 3); /* as the tensor has it */
  assert_int_equal(block.stride[0][0], 1);
  kw_gpu_lower_ordered((const kw_tensor_ref *[]){&b, &b}, 2, &block);
  assert_true(block.flat);
}

static void test_broadcast(void **state) {
  (void)state;
  kw_tensor_ref out = tensor(3, LIST(4, 3, 5), LIST(15, 5, 1)), row = tensor(3, LIST(4, 3, 5), LIST(0, 0, 1)),
                whole = tensor(3, LIST(4, 3, 5), LIST(0, 0, 0));
  kw_elementwise block;
  kw_gpu_lower_elementwise((const kw_tensor_ref *[]){&out, &row, &whole}, 3, &block);
  assert_int_equal(block.rank, 2);
  assert_int_equal(block.shape[0], 12);
  assert_int_equal(block.shape[1], 5);
  assert_int_equal(block.stride[1][0], 0);
  assert_int_equal(block.stride[1][1], 1);
  kw_gpu_lower_elementwise((const kw_tensor_ref *[]){&out, &whole, NULL}, 3, &block);
  assert_int_equal(block.rank, 1);
  assert_int_equal(block.stride[1][0], 0);
  assert_int_equal(block.stride[2][0], 0);
  assert_false(block.flat);
  kw_gpu_lower_elementwise((const kw_tensor_ref *[]){&out, NULL, &out}, 3, &block);
  assert_true(block.flat); /* what is not there does not count */
}

/* Every element of any strided pair is visited exactly once, wherever the lowering moved its dimension. */
static void test_lowering_is_a_bijection(void **state) {
  (void)state;
  const int64_t shape[4] = {2, 3, 1, 4};
  const int64_t strides[][4] = {{12, 4, 4, 1}, {1, 2, 0, 6}, {24, 8, 9, 2}, {4, 8, 1, 1}};
  for (int v = 0; v < 4; ++v) {
    kw_tensor_ref a = tensor(4, shape, strides[v]), b = tensor(4, shape, strides[(v + 1) % 4]);
    kw_elementwise block;
    int64_t pairs[24][2], found = 0;
    kw_gpu_lower_elementwise((const kw_tensor_ref *[]){&a, &b}, 2, &block);
    assert_int_equal(block.numel, 24);
    for (int64_t i = 0; i < 24; ++i) {
      int64_t rest = i;
      pairs[i][0] = pairs[i][1] = 0;
      for (int64_t d = block.rank - 1; d >= 0; --d) {
        for (int k = 0; k < 2; ++k) pairs[i][k] += rest % block.shape[d] * block.stride[k][d];
        rest /= block.shape[d];
      }
    }
    for (int64_t i = 0; i < 2; ++i)
      for (int64_t j = 0; j < 3; ++j)
        for (int64_t l = 0; l < 4; ++l)
          for (int e = 0; e < 24; ++e)
            found +=
                pairs[e][0] == i * strides[v][0] + j * strides[v][1] + l * strides[v][3] &&
                pairs[e][1] == i * strides[(v + 1) % 4][0] + j * strides[(v + 1) % 4][1] + l * strides[(v + 1) % 4][3];
    assert_int_equal(found, 24);
  }
}

static void test_reduction(void **state) {
  (void)state;
  kw_tensor_ref in = tensor(3, LIST(4, 3, 5), LIST(15, 5, 1)), out = tensor(1, LIST(3), LIST(1)),
                kept = tensor(3, LIST(1, 3, 1), LIST(3, 1, 1)), scalar = tensor(0, NULL, NULL);
  kw_reduction block;
  for (int keep = 0; keep < 2; ++keep) {
    kw_gpu_lower_reduction(keep ? &kept : &out, &in, 1u << 0 | 1u << 2, false, &block);
    assert_int_equal(block.outer_rank, 1);
    assert_int_equal(block.inner_rank, 2);
    assert_int_equal(block.inner_numel, 20);
    assert_int_equal(block.outputs, 3);
    assert_int_equal(block.shape[0], 3);
    assert_int_equal(block.in_stride[0], 5);
    assert_int_equal(block.out_stride[0], 1);
    assert_int_equal(block.in_stride[1], 15);
    assert_int_equal(block.in_stride[2], 1);
  }
  kw_gpu_lower_reduction(&scalar, &in, 7, false, &block);
  assert_int_equal(block.outer_rank, 0);
  assert_int_equal(block.inner_rank, 1);
  assert_int_equal(block.inner_numel, 60);
  assert_int_equal(block.outputs, 1);
}

/* argmax numbers elements in the tensor's own order: a transposed input must keep its dimensions apart. */
static void test_ordered_reduction(void **state) {
  (void)state;
  kw_tensor_ref in = tensor(2, LIST(3, 5), LIST(1, 3)), scalar = tensor(0, NULL, NULL);
  kw_reduction block;
  kw_gpu_lower_reduction(&scalar, &in, 3, true, &block);
  assert_int_equal(block.inner_rank, 2);
  assert_int_equal(block.shape[0], 3);
  assert_int_equal(block.in_stride[0], 1);
  kw_gpu_lower_reduction(&scalar, &in, 3, false, &block);
  assert_int_equal(block.inner_rank, 1);
}

static uint64_t stored(kw_value value, kw_dtype dtype) {
  uint64_t bits[2] = {0, 0};
  assert_int_equal(kw_gpu_scalar_store(&value, dtype, bits), KW_OK);
  return bits[0];
}

static kw_value f64(double x) {
  return (kw_value){.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_F64, .u.f = x};
}

static kw_value i64(int64_t x) {
  return (kw_value){.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_I64, .u.i = x};
}

static void test_scalars(void **state) {
  (void)state;
  assert_int_equal(stored(f64(1.0), KW_F16), 0x3c00);
  assert_int_equal(stored(f64(65519.99), KW_F16), 0x7bff);
  assert_int_equal(stored(f64(65520.0), KW_F16), 0x7c00);
  assert_int_equal(stored(f64(-0x1p-24), KW_F16), 0x8001);
  assert_int_equal(stored(f64(0x1p-25), KW_F16), 0);
  assert_int_equal(stored(f64(0x1.0000001p-25), KW_F16), 1);
  /* Through f32 this would round twice, to the even neighbour. */
  assert_int_equal(stored(f64(1.0 + 0x1p-11 + 0x1p-40), KW_F16), 0x3c01);
  assert_int_equal(stored(i64(INT64_C(0x4040000000000001)), KW_BF16), 0x5e81);
  assert_int_equal(stored(f64(448.0), KW_F8E4M3FN), 0x7e);
  assert_int_equal(stored(f64(464.0), KW_F8E4M3FN), 0x7e); /* a tie, to even */
  assert_int_equal(stored(f64(465.0), KW_F8E4M3FN), 0x7f);
  assert_int_equal(stored(f64(-1e9), KW_F8E4M3FN), 0xff);
  assert_int_equal(stored(f64(61440.0), KW_F8E5M2), 0x7c);
  assert_int_equal(stored(f64(-1e9), KW_F8E5M2), 0xfc);
  assert_int_equal(stored(f64(300.0), KW_U8), 255);
  assert_int_equal(stored(i64(300), KW_U8), 44);
  assert_int_equal(stored(f64(0.0 / 0.0), KW_I32), 0);
  assert_int_equal(stored(f64(-1e300), KW_I64), (uint64_t)INT64_MIN);
  assert_int_equal(stored(f64(0.5), KW_BOOL), 1);
  uint64_t bits[2];
  uint32_t size;
  kw_value complex_value = {.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_C128, .u.c = {1, 2}};
  assert_int_equal(kw_gpu_scalar_store(&complex_value, KW_F32, bits), KW_ERR_NOT_IMPLEMENTED);
  assert_int_equal(kw_gpu_scalar_store(&complex_value, KW_C128, bits), KW_OK);
  kw_value wrapped = i64(-1);
  assert_int_equal(kw_gpu_scalar_operand(&wrapped, KW_U8, bits, &size), KW_OK);
  assert_int_equal(size, 4);
  int32_t operand;
  memcpy(&operand, bits, sizeof operand);
  assert_int_equal(operand, 255);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_contiguous_is_flat),
      cmocka_unit_test(test_scalar_and_one_element),
      cmocka_unit_test(test_transposed),
      cmocka_unit_test(test_broadcast),
      cmocka_unit_test(test_lowering_is_a_bijection),
      cmocka_unit_test(test_reduction),
      cmocka_unit_test(test_ordered_reduction),
      cmocka_unit_test(test_scalars),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
