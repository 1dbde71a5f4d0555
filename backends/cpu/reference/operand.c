/* SPDX-License-Identifier: Apache-2.0
 *
 * The arguments of a call as kernels want them: the dtype to compute in, Scalars as elements.
 */
#include "operand.h"

#include <string.h>

bool kw_operand_is_scalar(const kw_value *value) {
  return value->tag == KW_TAG_SCALAR || value->tag == KW_TAG_INT || value->tag == KW_TAG_FLOAT ||
         value->tag == KW_TAG_BOOL;
}

bool kw_operand_is_dtype(const kw_value *value) {
  return value->tag == KW_TAG_DTYPE && value->u.dtype != KW_DTYPE_NONE;
}

kw_element kw_operand_scalar(const kw_value *value) {
  kw_element element = {KW_F64, {0}};
  bool tagged = value->tag == KW_TAG_SCALAR;
  if (value->tag == KW_TAG_BOOL || (tagged && value->kind == KW_SCALAR_BOOL)) {
    element.dtype = KW_BOOL;
    kw_number_store_int(KW_BOOL, element.bytes, value->u.b);
  } else if (value->tag == KW_TAG_INT || (tagged && value->kind == KW_SCALAR_I64)) {
    element.dtype = KW_I64;
    kw_number_store_int(KW_I64, element.bytes, value->u.i);
  } else if (tagged && value->kind == KW_SCALAR_C128) {
    element.dtype = KW_C128;
    memcpy(element.bytes, value->u.c, sizeof value->u.c);
  } else {
    memcpy(element.bytes, &value->u.f, sizeof value->u.f);
  }
  return element;
}

kw_value kw_operand_bound(kw_value value, kw_dtype key) {
  if (value.tag == KW_TAG_SCALAR && value.kind == KW_SCALAR_I64 && kw_number_is_integer(key) && key != KW_I64) {
    value.kind = KW_SCALAR_F64;
    value.u.f = (double)value.u.i;
  }
  return value;
}

/* Joins dtypes of one category; KW_DTYPE_NONE is the empty set. */
static kw_dtype join(kw_dtype a, kw_dtype b) {
  if (a == KW_DTYPE_NONE) return b;
  return b == KW_DTYPE_NONE ? a : kw_number_promote(a, b);
}

/* A category of lower rank only counts where its kind (bool < integer < float) is above the higher category's. */
static kw_dtype join_categories(kw_dtype higher, kw_dtype lower) {
  if (higher == KW_DTYPE_NONE) return lower;
  if (lower == KW_DTYPE_NONE || kw_number_is_float(higher)) return higher;
  if (higher == KW_BOOL || kw_number_is_float(lower)) return kw_number_promote(higher, lower);
  return higher;
}

int64_t kw_operand_listed(const kw_value *list, uint32_t d) {
  return list->u.ints[list->count == 1 ? 0 : d];
}

kw_dtype kw_operand_promote(const kw_value *args, uint32_t first, uint32_t count) {
  kw_dtype tensors = KW_DTYPE_NONE, rank0 = KW_DTYPE_NONE, scalars = KW_DTYPE_NONE;
  for (uint32_t i = first; i < first + count; i++) {
    if (args[i].tag == KW_TAG_TENSOR) {
      const kw_tensor_ref *tensor = args[i].u.tensor;
      if (tensor->rank > 0) {
        tensors = join(tensors, tensor->dtype);
      } else {
        rank0 = join(rank0, tensor->dtype);
      }
    } else if (kw_operand_is_scalar(&args[i])) {
      kw_dtype dtype = kw_operand_scalar(&args[i]).dtype;
      scalars = join(scalars, dtype == KW_F64 ? KW_F32 : dtype); /* a Python float is of the default dtype, f32 */
    }
  }
  return join_categories(tensors, join_categories(rank0, scalars));
}

bool kw_operand_all_real(const kw_value *args, uint32_t first, uint32_t count) {
  for (uint32_t i = first; i < first + count; i++) {
    if (args[i].tag == KW_TAG_TENSOR && args[i].u.tensor->dtype > KW_F64) return false;
    if (kw_operand_is_scalar(&args[i]) && kw_operand_scalar(&args[i]).dtype == KW_C128) return false;
  }
  return true;
}

kw_element kw_operand_as_key(kw_dtype dtype, const void *at, kw_dtype key) {
  kw_element element = {key, {0}};
  kw_number_convert(dtype, at, key, element.bytes);
  return element;
}
