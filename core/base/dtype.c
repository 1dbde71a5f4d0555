/* SPDX-License-Identifier: Apache-2.0
 *
 * Names, sizes and kinds of dtypes, and what two of them promote to.
 */
#include "base/dtype.h"

#include "base/error.h"
#include "base/nearest.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *const names[] = {
#define NAME(dtype, name, size) [dtype] = name,
    KW_DTYPE_LIST(NAME)};

const uint8_t kw_dtype_sizes[KW_DTYPE_COUNT] = {
#define SIZE(dtype, name, size) [dtype] = size,
    KW_DTYPE_LIST(SIZE)};

/* A dtype that no op computes on promotes with itself only, as those of 8 bits do. */
typedef enum dtype_kind { KIND_BOOL, KIND_INT, KIND_FLOAT, KIND_ALONE, KIND_COMPLEX } dtype_kind;

static dtype_kind kind_of(kw_dtype dtype) {
  if (kw_dtype_is_among(dtype, KW_DTYPES_BOOL)) return KIND_BOOL;
  if (kw_dtype_is_among(dtype, KW_DTYPES_INT)) return KIND_INT;
  if (kw_dtype_is_among(dtype, KW_DTYPES_FLOAT)) return KIND_FLOAT;
  return kw_dtype_is_among(dtype, KW_DTYPES_COMPLEX) ? KIND_COMPLEX : KIND_ALONE;
}

KW_API const char *kw_dtype_name(kw_dtype dtype) {
  return dtype < KW_DTYPE_COUNT ? names[dtype] : NULL;
}

KW_API size_t kw_dtype_size(kw_dtype dtype) {
  return kw_dtype_item(dtype);
}

/* What others call them. */
static const struct {
  const char *name;
  kw_dtype dtype;
} elsewhere[] = {
    {"float", KW_F32},
    {"float32", KW_F32},
    {"fp32", KW_F32},
    {"double", KW_F64},
    {"float64", KW_F64},
    {"fp64", KW_F64},
    {"half", KW_F16},
    {"float16", KW_F16},
    {"fp16", KW_F16},
    {"bfloat16", KW_BF16},
    {"char", KW_I8},
    {"int8", KW_I8},
    {"short", KW_I16},
    {"int16", KW_I16},
    {"int", KW_I32},
    {"int32", KW_I32},
    {"long", KW_I64},
    {"int64", KW_I64},
    {"byte", KW_U8},
    {"uint8", KW_U8},
    {"uint16", KW_U16},
    {"uint32", KW_U32},
    {"uint64", KW_U64},
    {"cfloat", KW_C64},
    {"complex64", KW_C64},
    {"cdouble", KW_C128},
    {"complex128", KW_C128},
    {"boolean", KW_BOOL},
    {"float8_e5m2", KW_F8E5M2},
    {"float8_e4m3fn", KW_F8E4M3FN},
};

static kw_status fail_unknown(const char *name) {
  if (!name) return kw_fail(KW_ERR_NOT_FOUND, "no name of a dtype was given: it is NULL");
  kw_nearest nearest;
  kw_nearest_begin(&nearest, name);
  for (kw_dtype d = 0; d < KW_DTYPE_COUNT; ++d) kw_nearest_try(&nearest, names[d]);
  const char *near = nearest.best;
  for (size_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0]; ++i) {
    if (strcasecmp(name, elsewhere[i].name) == 0) near = names[elsewhere[i].dtype];
  }
  return kw_fail(KW_ERR_NOT_FOUND, "there is no dtype '%s'%s%s%s", name, near ? "; did you mean '" : "",
                 near ? near : "", near ? "'?" : "; they are named as f32, bf16, i64, u8, bool, c64");
}

KW_API kw_dtype kw_dtype_from_name(const char *name) {
  for (kw_dtype d = 0; name && d < KW_DTYPE_COUNT; ++d) {
    if (strcmp(name, names[d]) == 0) return d;
  }
  fail_unknown(name);
  return KW_DTYPE_NONE;
}

bool kw_dtype_is_integral(kw_dtype dtype) {
  return kw_dtype_is_among(dtype, KW_DTYPES_INTEGRAL);
}

bool kw_dtype_is_float(kw_dtype dtype) {
  return kw_dtype_is_among(dtype, KW_DTYPES_FLOAT | KW_DTYPES_F8);
}

bool kw_dtype_is_complex(kw_dtype dtype) {
  return kw_dtype_is_among(dtype, KW_DTYPES_COMPLEX);
}

/* The complex dtype whose parts hold this float. There is no complex f16 or bf16 here: they go to c64. */
static kw_dtype complex_of(kw_dtype real) {
  return real == KW_F64 ? KW_C128 : KW_C64;
}

/* Two different dtypes of one kind. */
static kw_dtype promote_within(dtype_kind kind, kw_dtype a, kw_dtype b) {
  switch (kind) {
    case KIND_INT:
      /* u8 and a signed type: the smallest signed type that holds both. */
      if (a == KW_U8 || b == KW_U8) {
        kw_dtype other = a == KW_U8 ? b : a;
        return other == KW_I8 ? KW_I16 : other;
      }
      return a > b ? a : b;
    case KIND_FLOAT:
      /* f16 and bf16 hold different numbers; the next that holds both is f32. */
      if (a <= KW_BF16 && b <= KW_BF16) return KW_F32;
      return a > b ? a : b;
    case KIND_COMPLEX:
      return KW_C128;
    default:
      return KW_DTYPE_NONE; /* f8e4m3fn with f8e5m2, for instance; bool has one dtype only */
  }
}

KW_API kw_dtype kw_dtype_promote(kw_dtype a, kw_dtype b) {
  if (a >= KW_DTYPE_COUNT || b >= KW_DTYPE_COUNT) return KW_DTYPE_NONE;
  if (a == b) return a;
  dtype_kind kind_a = kind_of(a), kind_b = kind_of(b);
  if (kind_a == kind_b) return promote_within(kind_a, a, b);
  if (kind_a == KIND_ALONE || kind_b == KIND_ALONE) return KW_DTYPE_NONE;
  kw_dtype high = kind_a > kind_b ? a : b, low = kind_a > kind_b ? b : a;
  if (kind_of(high) == KIND_COMPLEX && kind_of(low) == KIND_FLOAT && complex_of(low) > high) return KW_C128;
  return high;
}

/* ---- result_type ------------------------------------------------------------------------------------------------- */

/* kw_dtype_promote where an absent side (KW_DTYPE_NONE) leaves the other. Notes the first pair that does not promote.
 */
static kw_dtype promote_present(kw_promotion *promotion, kw_dtype a, kw_dtype b) {
  if (a == KW_DTYPE_NONE) return b;
  if (b == KW_DTYPE_NONE) return a;
  kw_dtype result = kw_dtype_promote(a, b);
  if (result == KW_DTYPE_NONE && promotion->refused[0] == KW_DTYPE_NONE) {
    promotion->refused[0] = a;
    promotion->refused[1] = b;
  }
  return result;
}

/* A higher category keeps its dtype unless the lower one is of a higher kind. */
static kw_dtype combine_categories(kw_promotion *promotion, kw_dtype higher, kw_dtype lower) {
  if (kw_dtype_is_complex(higher)) return higher;
  if (kw_dtype_is_float(higher)) {
    if (!kw_dtype_is_complex(lower)) return higher;
    return kind_of(higher) == KIND_ALONE ? promote_present(promotion, higher, lower) : complex_of(higher);
  }
  if (higher == KW_BOOL || kw_dtype_is_float(lower) || kw_dtype_is_complex(lower)) {
    return promote_present(promotion, higher, lower);
  }
  return higher != KW_DTYPE_NONE ? higher : lower;
}

void kw_promotion_add_tensor(kw_promotion *promotion, const kw_tensor_ref *tensor) {
  kw_dtype *category = tensor->rank > 0 ? &promotion->tensors : &promotion->rank0;
  *category = promote_present(promotion, *category, tensor->dtype);
}

kw_dtype kw_scalar_dtype(const kw_value *scalar) {
  static const kw_dtype wrapped[] = {
      [KW_SCALAR_BOOL] = KW_BOOL, [KW_SCALAR_I64] = KW_I64, [KW_SCALAR_F64] = KW_F32, [KW_SCALAR_C128] = KW_C64};
  return wrapped[scalar->kind];
}

void kw_promotion_add_scalar(kw_promotion *promotion, const kw_value *value) {
  promotion->scalars = promote_present(promotion, promotion->scalars, kw_scalar_dtype(value));
}

kw_dtype kw_promotion_result(kw_promotion *promotion) {
  kw_dtype low = combine_categories(promotion, promotion->rank0, promotion->scalars);
  kw_dtype result = combine_categories(promotion, promotion->tensors, low);
  return promotion->refused[0] == KW_DTYPE_NONE ? result : KW_DTYPE_NONE;
}

kw_status kw_dtype_mask_check(const char *what, uint32_t abi_version, kw_dtype_mask *mask) {
  const uint64_t known = KW_DTYPE_BIT(KW_DTYPE_COUNT) - 1;
  if (((mask->bits[0] & ~known) | mask->bits[1]) != 0 && abi_version <= KW_ABI_VERSION) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s has bits that stand for no dtype (0x%llx, 0x%llx): leave them 0", what,
                   (unsigned long long)(mask->bits[0] & ~known), (unsigned long long)mask->bits[1]);
  }
  *mask = (kw_dtype_mask){{mask->bits[0] & known, 0}};
  return KW_OK;
}

char *kw_dtype_list(uint64_t set, char *text, size_t size) {
  size_t used = 0;
  if (size > 0) text[0] = '\0';
  for (kw_dtype d = 0; d < KW_DTYPE_COUNT; ++d) {
    if (!kw_dtype_is_among(d, set) || used >= size) continue;
    int n = snprintf(text + used, size - used, "%s%s", used ? ", " : "", names[d]);
    used += n > 0 ? (size_t)n : 0;
  }
  return text;
}
