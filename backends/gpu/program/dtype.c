/* SPDX-License-Identifier: Apache-2.0
 *
 * Sizes and compute dtypes of all dtypes, as the kernels' text has them (kernels/dtype.kw).
 */
#include "program/dtype.h"

uint32_t kw_gpu_dtype_size(kw_dtype dtype) {
  static const uint8_t sizes[KW_DTYPE_COUNT] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 1, 1, 8, 16};
  return sizes[dtype];
}

kw_dtype kw_gpu_compute_dtype(kw_dtype dtype) {
  switch (dtype) {
    case KW_F64:
    case KW_I64:
      return dtype;
    case KW_F16:
    case KW_BF16:
    case KW_F32:
      return KW_F32;
    default:
      return KW_I32;
  }
}
