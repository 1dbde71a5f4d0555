/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite scale: ops whose elements or rows do not know of each other, on as many as grids, blocks and indices end at.
 */
#include "contract/scale/scale.h"

/* The first dtype that the device has kw_contract.op in, f32 before others; KW_DTYPE_NONE when it has none. */
static kw_dtype first_dtype(void) {
  for (int i = 0; i < KW_TEST_KINDS; i++) {
    if (kw_op_support(kw_contract.op, kw_contract.device, kw_test_kinds[i]) != KW_SUPPORT_NONE) return kw_test_kinds[i];
  }
  return KW_DTYPE_NONE;
}

/* Beyond 65,535 blocks of 256: of ops that are drawn, or thoroughly of all, in which case there are more of them yet.
 */
void kw_contract_scale_pointwise(void **state) {
  (void)state;
  enum { DRAWN = 6 };
  kw_op_info info = {.struct_size = sizeof info};
  KW_CHECK_OK(kw_op_get_info(kw_contract.op, &info));
  const kw_dtype first = first_dtype();
  if (first == KW_DTYPE_NONE) kw_test_skip("the device does not have this op");
  const bool thorough = kw_contract.effort == KW_EFFORT_THOROUGH,
             many = thorough || kw_scale_is_drawn("pointwise", DRAWN);
  const int64_t some = (INT64_C(1) << (thorough ? 20 : 18)) + 40000, total = many ? (INT64_C(1) << 24) + 70000 : some;
  kw_scale_run_copies(&(kw_scale_copies){.dtype = first, .numel = 3721, .total = total, .all_kernels = thorough});
  for (int k = 0; k < KW_TEST_KINDS && thorough; k++) {
    const kw_dtype dtype = kw_test_kinds[k];
    if (dtype == KW_F8E4M3FN && strcmp(info.comparator, "bits") != 0) continue; /* other ways round to other numbers */
    if (dtype == first || kw_op_support(kw_contract.op, kw_contract.device, dtype) == KW_SUPPORT_NONE) continue;
    kw_scale_run_copies(&(kw_scale_copies){.dtype = dtype, .numel = 3721, .total = some});
  }
}

/* More than the 65,535 blocks that a grid has in its second and third dimension; thoroughly more than 2^18, by every
 * kernel, and of ops that go along a line more than the 2^24 that f32 counts. */
void kw_contract_scale_rows(void **state) {
  (void)state;
  kw_op_info info = {.struct_size = sizeof info};
  KW_CHECK_OK(kw_op_get_info(kw_contract.op, &info));
  const kw_dtype dtype = first_dtype();
  if (dtype == KW_DTYPE_NONE) kw_test_skip("the device does not have this op");
  const uint32_t repeated = kw_scale_rows_of(info.name);
  kw_scale_copies how = {.dtype = dtype, .numel = 16, .rows = 65540, .repeated = repeated, .last_dim = true};
  kw_scale_run_copies(&how);
  if (kw_contract.effort != KW_EFFORT_THOROUGH) return;
  how.rows = (1 << 18) + 3;
  how.all_kernels = true;
  kw_scale_run_copies(&how);
  kw_scale_kind unused;
  how.all_kernels = false;
  for (int bits = 22; bits <= 24 && kw_scale_line_kind(info.name, &unused);
       bits += 2) { /* first what fits more often */
    how.rows = (INT64_C(1) << bits) + 3;
    kw_scale_run_copies(&how);
  }
}
