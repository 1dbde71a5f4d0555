/* SPDX-License-Identifier: Apache-2.0
 *
 * Dtypes: their kinds, and ATen's result_type, the dtype that the operands of one op promote to.
 */
#ifndef KEYWAY_CORE_DTYPE_H
#define KEYWAY_CORE_DTYPE_H

#include <keyway/keyway.h>

#include "op_table.h"

/* Operands fall into three categories; a lower one changes the result only where it is of a higher kind (bool < integer
 * < float < complex). Start with KW_PROMOTION_INIT and add operands in any order. */
typedef struct kw_promotion {
  kw_dtype tensors;    /* rank >= 1 */
  kw_dtype rank0;      /* tensors of rank 0 */
  kw_dtype scalars;    /* Scalars: bool, i64, f32 (the default float) or c64 */
  kw_dtype refused[2]; /* the first pair that does not promote, or KW_DTYPE_NONE */
} kw_promotion;

#define KW_PROMOTION_INIT                          \
  {                                                \
    KW_DTYPE_NONE, KW_DTYPE_NONE, KW_DTYPE_NONE, { \
      KW_DTYPE_NONE, KW_DTYPE_NONE                 \
    }                                              \
  }

void kw_promotion_add_tensor(kw_promotion *promotion, const kw_tensor_ref *tensor);
/* value->tag is KW_TAG_SCALAR. */
void kw_promotion_add_scalar(kw_promotion *promotion, const kw_value *value);
/* KW_DTYPE_NONE when there were no operands, or when a pair does not promote (then refused[] names it). */
kw_dtype kw_promotion_result(kw_promotion *promotion);

/* The wrapped dtype of a Scalar: bool, i64, f32 or c64. */
kw_dtype kw_scalar_dtype(const kw_value *scalar);

/* kw_dtype_size, where a call would cost more than what it is for. */
extern const uint8_t kw_dtype_sizes[KW_DTYPE_COUNT];
static inline uint32_t kw_dtype_item(kw_dtype dtype) {
  return dtype < KW_DTYPE_COUNT ? kw_dtype_sizes[dtype] : 0;
}

/* Whether a dtype, any number of 16 bits, is in a set of those below 64. */
static inline bool kw_dtype_is_among(kw_dtype dtype, uint64_t set) {
  return kw_dtype_mask_has((kw_dtype_mask){{set, 0}}, dtype);
}
bool kw_dtype_is_integral(kw_dtype dtype); /* bool included */
bool kw_dtype_is_float(kw_dtype dtype);    /* f8 included */
bool kw_dtype_is_complex(kw_dtype dtype);

/* Drops from a mask what stands for no dtype here. KW_ERR_INVALID_ARGUMENT where there is such a bit and the side that
 * set it follows no later version; `what` names the mask. */
kw_status kw_dtype_mask_check(const char *what, uint32_t abi_version, kw_dtype_mask *mask);

/* The names of a set of dtypes, "bool, u8, f32", into text; returns text. 128 bytes hold KW_DTYPES_ANY. */
char *kw_dtype_list(uint64_t dtypes, char *text, size_t size);

#endif /* KEYWAY_CORE_DTYPE_H */
