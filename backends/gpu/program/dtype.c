/* SPDX-License-Identifier: Apache-2.0
 *
 * Sizes and compute dtypes of all dtypes, as the kernels' text has them (kernels/dtype.kw).
 */
#include "program/dtype.h"

uint32_t kw_gpu_dtype_size(kw_dtype dtype) {
  static const uint8_t sizes[] = {
#define SIZE(dtype, name, size) [dtype] = size,
      KW_DTYPE_LIST(SIZE)};
  return dtype < sizeof sizes ? sizes[dtype] : 0;
}

kw_dtype kw_gpu_compute_dtype(kw_dtype dtype) {
  switch (dtype) {
    case KW_F64:
    case KW_I64:
      return dtype;
    case KW_F16:
    case KW_BF16:
    case KW_F32:
    case KW_F8E4M3FN:
    case KW_F8E5M2:
      return KW_F32;
    default:
      return KW_I32;
  }
}
