/* SPDX-License-Identifier: Apache-2.0
 *
 * DLPack's layouts as other libraries see them (x86-64 and AArch64), in each order in which the standard's own header
 * can meet ours: DLPACK_ORDER 0: ours alone, 1: ours first, 2: theirs first.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#ifndef DLPACK_ORDER
#define DLPACK_ORDER 0
#endif
#if DLPACK_ORDER == 2
#include <dlpack/dlpack.h>
#endif
#include <keyway/dlpack.h>
#if DLPACK_ORDER == 1
#include <dlpack/dlpack.h>
#endif

static void sizes_and_offsets_are_the_standards(void **state) {
  (void)state;
  assert_int_equal(sizeof(DLDevice), 8);
  assert_int_equal(offsetof(DLDevice, device_id), 4);
  assert_int_equal(sizeof(DLDataType), 4);
  assert_int_equal(offsetof(DLDataType, bits), 1);
  assert_int_equal(offsetof(DLDataType, lanes), 2);

  assert_int_equal(sizeof(DLTensor), 48);
  assert_int_equal(offsetof(DLTensor, device), 8);
  assert_int_equal(offsetof(DLTensor, ndim), 16);
  assert_int_equal(offsetof(DLTensor, dtype), 20);
  assert_int_equal(offsetof(DLTensor, shape), 24);
  assert_int_equal(offsetof(DLTensor, strides), 32);
  assert_int_equal(offsetof(DLTensor, byte_offset), 40);

  assert_int_equal(sizeof(DLManagedTensor), 64);
  assert_int_equal(offsetof(DLManagedTensor, manager_ctx), 48);
  assert_int_equal(offsetof(DLManagedTensor, deleter), 56);

  assert_int_equal(sizeof(DLPackVersion), 8);
  assert_int_equal(sizeof(DLManagedTensorVersioned), 80);
  assert_int_equal(offsetof(DLManagedTensorVersioned, manager_ctx), 8);
  assert_int_equal(offsetof(DLManagedTensorVersioned, deleter), 16);
  assert_int_equal(offsetof(DLManagedTensorVersioned, flags), 24);
  assert_int_equal(offsetof(DLManagedTensorVersioned, dl_tensor), 32);
}

static void numbers_are_the_standards(void **state) {
  (void)state;
  assert_int_equal(kDLCPU, 1);
  assert_int_equal(kDLOpenCL, 4);
  assert_int_equal(kDLExtDev, 12);
  assert_int_equal(kDLFloat, 2);
  assert_int_equal(kDLBfloat, 4);
  assert_int_equal(kDLComplex, 5);
  assert_int_equal(DLPACK_MAJOR_VERSION, 1);
  assert_int_equal(DLPACK_FLAG_BITMASK_READ_ONLY, 1);
  assert_int_equal(DLPACK_FLAG_BITMASK_IS_COPIED, 2);
  assert_int_equal(DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED, 4);
#if DLPACK_ORDER != 2 /* an older copy's enum ends earlier */
  assert_int_equal(kDLBool, KW_DL_BOOL);
  assert_int_equal(kDLFloat8_e4m3fn, KW_DL_FLOAT8_E4M3FN);
  assert_int_equal(kDLFloat8_e4m3fnuz, KW_DL_FLOAT8_E4M3FNUZ);
  assert_int_equal(kDLFloat8_e5m2, KW_DL_FLOAT8_E5M2);
  assert_int_equal(kDLFloat8_e5m2fnuz, KW_DL_FLOAT8_E5M2FNUZ);
  assert_int_equal(kDLFloat8_e8m0fnu, KW_DL_FLOAT8_E8M0FNU);
  assert_int_equal(kDLFloat4_e2m1fn, KW_DL_FLOAT4_E2M1FN);
  assert_int_equal(kDLFloat4_e2m1fn, 17);
  assert_int_equal(kDLTrn, 18);
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sizes_and_offsets_are_the_standards),
      cmocka_unit_test(numbers_are_the_standards),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
