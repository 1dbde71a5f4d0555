/* SPDX-License-Identifier: Apache-2.0
 *
 * Keyway for applications: every op of the op table as a typed call. Made from the op table by
 * `keyway ops --header`; docs/ops says what each op means.
 *
 *     kw_status status = kw_addmm(bias, x, weight, &out);          alpha and beta are 1
 *     kw_status status = kw_addmm(bias, x, weight, 1, 0.5, &out);  all of them
 *     kw_tensor *out = kwx_relu(kwx_addmm(bias, x, weight));       an expression: keyway/scope.h
 *
 *   - Names: kw_ and ATen's name with its overload, in lower case: sum.dim_IntList is kw_sum_dim_intlist.
 *     Underscores that it begins with are gone: _softmax is kw_softmax; that of an op in place comes last:
 *     fill_.Scalar is kw_fill_scalar_. _cdist_forward and _pdist_forward are kw_cdist and kw_pdist. Another
 *     namespace than aten and keyway is part of the name: kw_torchvision_nms. Two ops with one name in C are
 *     refused when this file is made.
 *   - Arguments: those of the schema in its order; trailing ones that have a default there may be left out.
 *     keyway/typed.h says how lists, numbers and none are written.
 *   - Results: behind the arguments, each a kw_tensor **, as outs of kw_op_call: *out is NULL, for a new
 *     tensor, or one to be written to. What is changed in place (a!) is no result here.
 *   - kwx_NAME, for each op with a new result, takes no kw_tensor ** and returns that result, of several the
 *     first, or NULL on failure, which the scope keeps.
 *   - Calls go to the scope's stream, or without a scope to the default stream of the arguments' device.
 *   - kw_typed_NAME and kw_3_NAME, for three arguments, are what kw_NAME is made of where it is a macro.
 *   - keyway/functions.h adds what is more than one op, kw_linear for instance, and views in expressions.
 *   - C11 and C++11 or later.
 */
/* clang-format off */
#ifndef KEYWAY_OPS_H
#define KEYWAY_OPS_H

#include <keyway/typed.h>

#include <stddef.h>

/* fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!) */
static inline kw_status kw_typed_fill_scalar_(kw_tensor *self, kw_value value) {
  static kw_op_name op = {"fill_.Scalar", NULL};
  const kw_value args[] = {kw_arg_tensor(self), value};
  return kw_op_run(&op, NULL, args, 2, NULL, 0);
}
#define kw_fill_scalar_(self, value) kw_typed_fill_scalar_(self, KW_AS_SCALAR(value))

/* fill_.Tensor(Tensor(a!) self, Tensor value) -> Tensor(a!) */
static inline kw_status kw_fill_tensor_(kw_tensor *self, const kw_tensor *value) {
  static kw_op_name op = {"fill_.Tensor", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(value)};
  return kw_op_run(&op, NULL, args, 2, NULL, 0);
}

/* copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!) */
static inline kw_status kw_typed_copy_(kw_tensor *self, const kw_tensor *src, bool non_blocking) {
  static kw_op_name op = {"copy_", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(src), kw_arg_bool(non_blocking)};
  return kw_op_run(&op, NULL, args, 3, NULL, 0);
}
#define kw_copy_(...) KW_BY_NUMBER(kw, copy_, __VA_ARGS__)
#define kw_2_copy_(self, src) kw_3_copy_(self, src, false)
#define kw_3_copy_(self, src, non_blocking) kw_typed_copy_(self, src, non_blocking)

/* _to_copy(Tensor self, *, ScalarType? dtype=None, bool non_blocking=False) -> Tensor */
static inline kw_status kw_typed_to_copy(const kw_tensor *self, kw_dtype dtype, bool non_blocking, kw_tensor **out) {
  static kw_op_name op = {"_to_copy", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_dtype(dtype), kw_arg_bool(non_blocking)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_typed_to_copy(const kw_tensor *self, kw_dtype dtype, bool non_blocking) {
  kw_tensor *out = NULL;
  kw_typed_to_copy(self, dtype, non_blocking, &out);
  return out;
}
#define kw_to_copy(...) KW_BY_NUMBER(kw, to_copy, __VA_ARGS__)
#define kw_2_to_copy(self, out) kw_4_to_copy(self, KW_DTYPE_NONE, false, out)
#define kw_3_to_copy(self, dtype, out) kw_4_to_copy(self, dtype, false, out)
#define kw_4_to_copy(self, dtype, non_blocking, out) kw_typed_to_copy(self, dtype, non_blocking, out)
#define kwx_to_copy(...) KW_BY_NUMBER(kwx, to_copy, __VA_ARGS__)
#define kwx_1_to_copy(self) kwx_3_to_copy(self, KW_DTYPE_NONE, false)
#define kwx_2_to_copy(self, dtype) kwx_3_to_copy(self, dtype, false)
#define kwx_3_to_copy(self, dtype, non_blocking) kwx_typed_to_copy(self, dtype, non_blocking)

/* full(SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None) -> Tensor */
static inline kw_status kw_typed_full(kw_ints size, kw_value fill_value, kw_dtype dtype, kw_tensor **out) {
  static kw_op_name op = {"full", NULL};
  const kw_value args[] = {kw_typed_ints(size), fill_value, kw_arg_dtype(dtype)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_typed_full(kw_ints size, kw_value fill_value, kw_dtype dtype) {
  kw_tensor *out = NULL;
  kw_typed_full(size, fill_value, dtype, &out);
  return out;
}
#define kw_full(...) KW_BY_NUMBER(kw, full, __VA_ARGS__)
#define kw_3_full(size, fill_value, out) kw_4_full(size, fill_value, KW_DTYPE_NONE, out)
#define kw_4_full(size, fill_value, dtype, out) kw_typed_full(size, KW_AS_SCALAR(fill_value), dtype, out)
#define kwx_full(...) KW_BY_NUMBER(kwx, full, __VA_ARGS__)
#define kwx_2_full(size, fill_value) kwx_3_full(size, fill_value, KW_DTYPE_NONE)
#define kwx_3_full(size, fill_value, dtype) kwx_typed_full(size, KW_AS_SCALAR(fill_value), dtype)

/* arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None) -> Tensor */
static inline kw_status kw_typed_arange_start_step(kw_value start, kw_value end, kw_value step, kw_dtype dtype,
                                                   kw_tensor **out) {
  static kw_op_name op = {"arange.start_step", NULL};
  const kw_value args[] = {start, end, step, kw_arg_dtype(dtype)};
  return kw_op_run(&op, NULL, args, 4, out, 1);
}
static inline kw_tensor *kwx_typed_arange_start_step(kw_value start, kw_value end, kw_value step, kw_dtype dtype) {
  kw_tensor *out = NULL;
  kw_typed_arange_start_step(start, end, step, dtype, &out);
  return out;
}
#define kw_arange_start_step(...) KW_BY_NUMBER(kw, arange_start_step, __VA_ARGS__)
#define kw_3_arange_start_step(start, end, out) kw_5_arange_start_step(start, end, 1, KW_DTYPE_NONE, out)
#define kw_4_arange_start_step(start, end, step, out) kw_5_arange_start_step(start, end, step, KW_DTYPE_NONE, out)
#define kw_5_arange_start_step(start, end, step, dtype, out) kw_typed_arange_start_step(KW_AS_SCALAR(start), \
  KW_AS_SCALAR(end), KW_AS_SCALAR(step), dtype, out)
#define kwx_arange_start_step(...) KW_BY_NUMBER(kwx, arange_start_step, __VA_ARGS__)
#define kwx_2_arange_start_step(start, end) kwx_4_arange_start_step(start, end, 1, KW_DTYPE_NONE)
#define kwx_3_arange_start_step(start, end, step) kwx_4_arange_start_step(start, end, step, KW_DTYPE_NONE)
#define kwx_4_arange_start_step(start, end, step, dtype) kwx_typed_arange_start_step(KW_AS_SCALAR(start), \
  KW_AS_SCALAR(end), KW_AS_SCALAR(step), dtype)

/* add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor */
static inline kw_status kw_typed_add_tensor(const kw_tensor *self, const kw_tensor *other, kw_value alpha,
                                            kw_tensor **out) {
  static kw_op_name op = {"add.Tensor", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(other), alpha};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_typed_add_tensor(const kw_tensor *self, const kw_tensor *other, kw_value alpha) {
  kw_tensor *out = NULL;
  kw_typed_add_tensor(self, other, alpha, &out);
  return out;
}
#define kw_add_tensor(...) KW_BY_NUMBER(kw, add_tensor, __VA_ARGS__)
#define kw_3_add_tensor(self, other, out) kw_4_add_tensor(self, other, 1, out)
#define kw_4_add_tensor(self, other, alpha, out) kw_typed_add_tensor(self, other, KW_AS_SCALAR(alpha), out)
#define kwx_add_tensor(...) KW_BY_NUMBER(kwx, add_tensor, __VA_ARGS__)
#define kwx_2_add_tensor(self, other) kwx_3_add_tensor(self, other, 1)
#define kwx_3_add_tensor(self, other, alpha) kwx_typed_add_tensor(self, other, KW_AS_SCALAR(alpha))

/* add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor */
static inline kw_status kw_typed_add_scalar(const kw_tensor *self, kw_value other, kw_value alpha, kw_tensor **out) {
  static kw_op_name op = {"add.Scalar", NULL};
  const kw_value args[] = {kw_arg_tensor(self), other, alpha};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_typed_add_scalar(const kw_tensor *self, kw_value other, kw_value alpha) {
  kw_tensor *out = NULL;
  kw_typed_add_scalar(self, other, alpha, &out);
  return out;
}
#define kw_add_scalar(...) KW_BY_NUMBER(kw, add_scalar, __VA_ARGS__)
#define kw_3_add_scalar(self, other, out) kw_4_add_scalar(self, other, 1, out)
#define kw_4_add_scalar(self, other, alpha, out) kw_typed_add_scalar(self, KW_AS_SCALAR(other), KW_AS_SCALAR(alpha), \
  out)
#define kwx_add_scalar(...) KW_BY_NUMBER(kwx, add_scalar, __VA_ARGS__)
#define kwx_2_add_scalar(self, other) kwx_3_add_scalar(self, other, 1)
#define kwx_3_add_scalar(self, other, alpha) kwx_typed_add_scalar(self, KW_AS_SCALAR(other), KW_AS_SCALAR(alpha))

/* sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor */
static inline kw_status kw_typed_sub_tensor(const kw_tensor *self, const kw_tensor *other, kw_value alpha,
                                            kw_tensor **out) {
  static kw_op_name op = {"sub.Tensor", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(other), alpha};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_typed_sub_tensor(const kw_tensor *self, const kw_tensor *other, kw_value alpha) {
  kw_tensor *out = NULL;
  kw_typed_sub_tensor(self, other, alpha, &out);
  return out;
}
#define kw_sub_tensor(...) KW_BY_NUMBER(kw, sub_tensor, __VA_ARGS__)
#define kw_3_sub_tensor(self, other, out) kw_4_sub_tensor(self, other, 1, out)
#define kw_4_sub_tensor(self, other, alpha, out) kw_typed_sub_tensor(self, other, KW_AS_SCALAR(alpha), out)
#define kwx_sub_tensor(...) KW_BY_NUMBER(kwx, sub_tensor, __VA_ARGS__)
#define kwx_2_sub_tensor(self, other) kwx_3_sub_tensor(self, other, 1)
#define kwx_3_sub_tensor(self, other, alpha) kwx_typed_sub_tensor(self, other, KW_AS_SCALAR(alpha))

/* sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor */
static inline kw_status kw_typed_sub_scalar(const kw_tensor *self, kw_value other, kw_value alpha, kw_tensor **out) {
  static kw_op_name op = {"sub.Scalar", NULL};
  const kw_value args[] = {kw_arg_tensor(self), other, alpha};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_typed_sub_scalar(const kw_tensor *self, kw_value other, kw_value alpha) {
  kw_tensor *out = NULL;
  kw_typed_sub_scalar(self, other, alpha, &out);
  return out;
}
#define kw_sub_scalar(...) KW_BY_NUMBER(kw, sub_scalar, __VA_ARGS__)
#define kw_3_sub_scalar(self, other, out) kw_4_sub_scalar(self, other, 1, out)
#define kw_4_sub_scalar(self, other, alpha, out) kw_typed_sub_scalar(self, KW_AS_SCALAR(other), KW_AS_SCALAR(alpha), \
  out)
#define kwx_sub_scalar(...) KW_BY_NUMBER(kwx, sub_scalar, __VA_ARGS__)
#define kwx_2_sub_scalar(self, other) kwx_3_sub_scalar(self, other, 1)
#define kwx_3_sub_scalar(self, other, alpha) kwx_typed_sub_scalar(self, KW_AS_SCALAR(other), KW_AS_SCALAR(alpha))

/* mul.Tensor(Tensor self, Tensor other) -> Tensor */
static inline kw_status kw_mul_tensor(const kw_tensor *self, const kw_tensor *other, kw_tensor **out) {
  static kw_op_name op = {"mul.Tensor", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(other)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_mul_tensor(const kw_tensor *self, const kw_tensor *other) {
  kw_tensor *out = NULL;
  kw_mul_tensor(self, other, &out);
  return out;
}

/* mul.Scalar(Tensor self, Scalar other) -> Tensor */
static inline kw_status kw_typed_mul_scalar(const kw_tensor *self, kw_value other, kw_tensor **out) {
  static kw_op_name op = {"mul.Scalar", NULL};
  const kw_value args[] = {kw_arg_tensor(self), other};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_typed_mul_scalar(const kw_tensor *self, kw_value other) {
  kw_tensor *out = NULL;
  kw_typed_mul_scalar(self, other, &out);
  return out;
}
#define kw_mul_scalar(self, other, out) kw_typed_mul_scalar(self, KW_AS_SCALAR(other), out)
#define kwx_mul_scalar(self, other) kwx_typed_mul_scalar(self, KW_AS_SCALAR(other))

/* div.Tensor(Tensor self, Tensor other) -> Tensor */
static inline kw_status kw_div_tensor(const kw_tensor *self, const kw_tensor *other, kw_tensor **out) {
  static kw_op_name op = {"div.Tensor", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(other)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_div_tensor(const kw_tensor *self, const kw_tensor *other) {
  kw_tensor *out = NULL;
  kw_div_tensor(self, other, &out);
  return out;
}

/* div.Scalar(Tensor self, Scalar other) -> Tensor */
static inline kw_status kw_typed_div_scalar(const kw_tensor *self, kw_value other, kw_tensor **out) {
  static kw_op_name op = {"div.Scalar", NULL};
  const kw_value args[] = {kw_arg_tensor(self), other};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_typed_div_scalar(const kw_tensor *self, kw_value other) {
  kw_tensor *out = NULL;
  kw_typed_div_scalar(self, other, &out);
  return out;
}
#define kw_div_scalar(self, other, out) kw_typed_div_scalar(self, KW_AS_SCALAR(other), out)
#define kwx_div_scalar(self, other) kwx_typed_div_scalar(self, KW_AS_SCALAR(other))

/* div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor */
static inline kw_status kw_div_tensor_mode(const kw_tensor *self, const kw_tensor *other, const char *rounding_mode,
                                           kw_tensor **out) {
  static kw_op_name op = {"div.Tensor_mode", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(other), kw_typed_optional_string(rounding_mode)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_div_tensor_mode(const kw_tensor *self, const kw_tensor *other, const char *rounding_mode) {
  kw_tensor *out = NULL;
  kw_div_tensor_mode(self, other, rounding_mode, &out);
  return out;
}

/* div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor */
static inline kw_status kw_typed_div_scalar_mode(const kw_tensor *self, kw_value other, const char *rounding_mode,
                                                 kw_tensor **out) {
  static kw_op_name op = {"div.Scalar_mode", NULL};
  const kw_value args[] = {kw_arg_tensor(self), other, kw_typed_optional_string(rounding_mode)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_typed_div_scalar_mode(const kw_tensor *self, kw_value other, const char *rounding_mode) {
  kw_tensor *out = NULL;
  kw_typed_div_scalar_mode(self, other, rounding_mode, &out);
  return out;
}
#define kw_div_scalar_mode(self, other, rounding_mode, out) kw_typed_div_scalar_mode(self, KW_AS_SCALAR(other), \
  rounding_mode, out)
#define kwx_div_scalar_mode(self, other, rounding_mode) kwx_typed_div_scalar_mode(self, KW_AS_SCALAR(other), \
  rounding_mode)

/* neg(Tensor self) -> Tensor */
static inline kw_status kw_neg(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"neg", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_neg(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_neg(self, &out);
  return out;
}

/* abs(Tensor self) -> Tensor */
static inline kw_status kw_abs(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"abs", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_abs(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_abs(self, &out);
  return out;
}

/* pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor */
static inline kw_status kw_pow_tensor_tensor(const kw_tensor *self, const kw_tensor *exponent, kw_tensor **out) {
  static kw_op_name op = {"pow.Tensor_Tensor", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(exponent)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_pow_tensor_tensor(const kw_tensor *self, const kw_tensor *exponent) {
  kw_tensor *out = NULL;
  kw_pow_tensor_tensor(self, exponent, &out);
  return out;
}

/* pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor */
static inline kw_status kw_typed_pow_tensor_scalar(const kw_tensor *self, kw_value exponent, kw_tensor **out) {
  static kw_op_name op = {"pow.Tensor_Scalar", NULL};
  const kw_value args[] = {kw_arg_tensor(self), exponent};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_typed_pow_tensor_scalar(const kw_tensor *self, kw_value exponent) {
  kw_tensor *out = NULL;
  kw_typed_pow_tensor_scalar(self, exponent, &out);
  return out;
}
#define kw_pow_tensor_scalar(self, exponent, out) kw_typed_pow_tensor_scalar(self, KW_AS_SCALAR(exponent), out)
#define kwx_pow_tensor_scalar(self, exponent) kwx_typed_pow_tensor_scalar(self, KW_AS_SCALAR(exponent))

/* pow.Scalar(Scalar self, Tensor exponent) -> Tensor */
static inline kw_status kw_typed_pow_scalar(kw_value self, const kw_tensor *exponent, kw_tensor **out) {
  static kw_op_name op = {"pow.Scalar", NULL};
  const kw_value args[] = {self, kw_arg_tensor(exponent)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_typed_pow_scalar(kw_value self, const kw_tensor *exponent) {
  kw_tensor *out = NULL;
  kw_typed_pow_scalar(self, exponent, &out);
  return out;
}
#define kw_pow_scalar(self, exponent, out) kw_typed_pow_scalar(KW_AS_SCALAR(self), exponent, out)
#define kwx_pow_scalar(self, exponent) kwx_typed_pow_scalar(KW_AS_SCALAR(self), exponent)

/* maximum(Tensor self, Tensor other) -> Tensor */
static inline kw_status kw_maximum(const kw_tensor *self, const kw_tensor *other, kw_tensor **out) {
  static kw_op_name op = {"maximum", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(other)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_maximum(const kw_tensor *self, const kw_tensor *other) {
  kw_tensor *out = NULL;
  kw_maximum(self, other, &out);
  return out;
}

/* minimum(Tensor self, Tensor other) -> Tensor */
static inline kw_status kw_minimum(const kw_tensor *self, const kw_tensor *other, kw_tensor **out) {
  static kw_op_name op = {"minimum", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(other)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_minimum(const kw_tensor *self, const kw_tensor *other) {
  kw_tensor *out = NULL;
  kw_minimum(self, other, &out);
  return out;
}

/* clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor */
static inline kw_status kw_typed_clamp(const kw_tensor *self, kw_value min, kw_value max, kw_tensor **out) {
  static kw_op_name op = {"clamp", NULL};
  const kw_value args[] = {kw_arg_tensor(self), min, max};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_typed_clamp(const kw_tensor *self, kw_value min, kw_value max) {
  kw_tensor *out = NULL;
  kw_typed_clamp(self, min, max, &out);
  return out;
}
#define kw_clamp(...) KW_BY_NUMBER(kw, clamp, __VA_ARGS__)
#define kw_2_clamp(self, out) kw_4_clamp(self, kw_arg_none(), kw_arg_none(), out)
#define kw_3_clamp(self, min, out) kw_4_clamp(self, min, kw_arg_none(), out)
#define kw_4_clamp(self, min, max, out) kw_typed_clamp(self, KW_AS_SCALAR(min), KW_AS_SCALAR(max), out)
#define kwx_clamp(...) KW_BY_NUMBER(kwx, clamp, __VA_ARGS__)
#define kwx_1_clamp(self) kwx_3_clamp(self, kw_arg_none(), kw_arg_none())
#define kwx_2_clamp(self, min) kwx_3_clamp(self, min, kw_arg_none())
#define kwx_3_clamp(self, min, max) kwx_typed_clamp(self, KW_AS_SCALAR(min), KW_AS_SCALAR(max))

/* clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor */
static inline kw_status kw_typed_clamp_tensor(const kw_tensor *self, const kw_tensor *min, const kw_tensor *max,
                                              kw_tensor **out) {
  static kw_op_name op = {"clamp.Tensor", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_optional(min), kw_typed_optional(max)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_typed_clamp_tensor(const kw_tensor *self, const kw_tensor *min, const kw_tensor *max) {
  kw_tensor *out = NULL;
  kw_typed_clamp_tensor(self, min, max, &out);
  return out;
}
#define kw_clamp_tensor(...) KW_BY_NUMBER(kw, clamp_tensor, __VA_ARGS__)
#define kw_2_clamp_tensor(self, out) kw_4_clamp_tensor(self, NULL, NULL, out)
#define kw_3_clamp_tensor(self, min, out) kw_4_clamp_tensor(self, min, NULL, out)
#define kw_4_clamp_tensor(self, min, max, out) kw_typed_clamp_tensor(self, min, max, out)
#define kwx_clamp_tensor(...) KW_BY_NUMBER(kwx, clamp_tensor, __VA_ARGS__)
#define kwx_1_clamp_tensor(self) kwx_3_clamp_tensor(self, NULL, NULL)
#define kwx_2_clamp_tensor(self, min) kwx_3_clamp_tensor(self, min, NULL)
#define kwx_3_clamp_tensor(self, min, max) kwx_typed_clamp_tensor(self, min, max)

/* sqrt(Tensor self) -> Tensor */
static inline kw_status kw_sqrt(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"sqrt", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_sqrt(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_sqrt(self, &out);
  return out;
}

/* rsqrt(Tensor self) -> Tensor */
static inline kw_status kw_rsqrt(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"rsqrt", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_rsqrt(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_rsqrt(self, &out);
  return out;
}

/* exp(Tensor self) -> Tensor */
static inline kw_status kw_exp(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"exp", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_exp(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_exp(self, &out);
  return out;
}

/* log(Tensor self) -> Tensor */
static inline kw_status kw_log(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"log", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_log(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_log(self, &out);
  return out;
}

/* sin(Tensor self) -> Tensor */
static inline kw_status kw_sin(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"sin", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_sin(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_sin(self, &out);
  return out;
}

/* cos(Tensor self) -> Tensor */
static inline kw_status kw_cos(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"cos", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_cos(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_cos(self, &out);
  return out;
}

/* tanh(Tensor self) -> Tensor */
static inline kw_status kw_tanh(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"tanh", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_tanh(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_tanh(self, &out);
  return out;
}

/* sigmoid(Tensor self) -> Tensor */
static inline kw_status kw_sigmoid(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"sigmoid", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_sigmoid(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_sigmoid(self, &out);
  return out;
}

/* erf(Tensor self) -> Tensor */
static inline kw_status kw_erf(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"erf", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_erf(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_erf(self, &out);
  return out;
}

/* relu(Tensor self) -> Tensor */
static inline kw_status kw_relu(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"relu", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_relu(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_relu(self, &out);
  return out;
}

/* gelu(Tensor self, *, str approximate='none') -> Tensor */
static inline kw_status kw_typed_gelu(const kw_tensor *self, const char *approximate, kw_tensor **out) {
  static kw_op_name op = {"gelu", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_string(approximate)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_typed_gelu(const kw_tensor *self, const char *approximate) {
  kw_tensor *out = NULL;
  kw_typed_gelu(self, approximate, &out);
  return out;
}
#define kw_gelu(...) KW_BY_NUMBER(kw, gelu, __VA_ARGS__)
#define kw_2_gelu(self, out) kw_3_gelu(self, "none", out)
#define kw_3_gelu(self, approximate, out) kw_typed_gelu(self, approximate, out)
#define kwx_gelu(...) KW_BY_NUMBER(kwx, gelu, __VA_ARGS__)
#define kwx_1_gelu(self) kwx_2_gelu(self, "none")
#define kwx_2_gelu(self, approximate) kwx_typed_gelu(self, approximate)

/* silu(Tensor self) -> Tensor */
static inline kw_status kw_silu(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"silu", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_silu(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_silu(self, &out);
  return out;
}

/* eq.Tensor(Tensor self, Tensor other) -> Tensor */
static inline kw_status kw_eq_tensor(const kw_tensor *self, const kw_tensor *other, kw_tensor **out) {
  static kw_op_name op = {"eq.Tensor", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(other)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_eq_tensor(const kw_tensor *self, const kw_tensor *other) {
  kw_tensor *out = NULL;
  kw_eq_tensor(self, other, &out);
  return out;
}

/* eq.Scalar(Tensor self, Scalar other) -> Tensor */
static inline kw_status kw_typed_eq_scalar(const kw_tensor *self, kw_value other, kw_tensor **out) {
  static kw_op_name op = {"eq.Scalar", NULL};
  const kw_value args[] = {kw_arg_tensor(self), other};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_typed_eq_scalar(const kw_tensor *self, kw_value other) {
  kw_tensor *out = NULL;
  kw_typed_eq_scalar(self, other, &out);
  return out;
}
#define kw_eq_scalar(self, other, out) kw_typed_eq_scalar(self, KW_AS_SCALAR(other), out)
#define kwx_eq_scalar(self, other) kwx_typed_eq_scalar(self, KW_AS_SCALAR(other))

/* ne.Tensor(Tensor self, Tensor other) -> Tensor */
static inline kw_status kw_ne_tensor(const kw_tensor *self, const kw_tensor *other, kw_tensor **out) {
  static kw_op_name op = {"ne.Tensor", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(other)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_ne_tensor(const kw_tensor *self, const kw_tensor *other) {
  kw_tensor *out = NULL;
  kw_ne_tensor(self, other, &out);
  return out;
}

/* ne.Scalar(Tensor self, Scalar other) -> Tensor */
static inline kw_status kw_typed_ne_scalar(const kw_tensor *self, kw_value other, kw_tensor **out) {
  static kw_op_name op = {"ne.Scalar", NULL};
  const kw_value args[] = {kw_arg_tensor(self), other};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_typed_ne_scalar(const kw_tensor *self, kw_value other) {
  kw_tensor *out = NULL;
  kw_typed_ne_scalar(self, other, &out);
  return out;
}
#define kw_ne_scalar(self, other, out) kw_typed_ne_scalar(self, KW_AS_SCALAR(other), out)
#define kwx_ne_scalar(self, other) kwx_typed_ne_scalar(self, KW_AS_SCALAR(other))

/* lt.Tensor(Tensor self, Tensor other) -> Tensor */
static inline kw_status kw_lt_tensor(const kw_tensor *self, const kw_tensor *other, kw_tensor **out) {
  static kw_op_name op = {"lt.Tensor", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(other)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_lt_tensor(const kw_tensor *self, const kw_tensor *other) {
  kw_tensor *out = NULL;
  kw_lt_tensor(self, other, &out);
  return out;
}

/* lt.Scalar(Tensor self, Scalar other) -> Tensor */
static inline kw_status kw_typed_lt_scalar(const kw_tensor *self, kw_value other, kw_tensor **out) {
  static kw_op_name op = {"lt.Scalar", NULL};
  const kw_value args[] = {kw_arg_tensor(self), other};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_typed_lt_scalar(const kw_tensor *self, kw_value other) {
  kw_tensor *out = NULL;
  kw_typed_lt_scalar(self, other, &out);
  return out;
}
#define kw_lt_scalar(self, other, out) kw_typed_lt_scalar(self, KW_AS_SCALAR(other), out)
#define kwx_lt_scalar(self, other) kwx_typed_lt_scalar(self, KW_AS_SCALAR(other))

/* le.Tensor(Tensor self, Tensor other) -> Tensor */
static inline kw_status kw_le_tensor(const kw_tensor *self, const kw_tensor *other, kw_tensor **out) {
  static kw_op_name op = {"le.Tensor", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(other)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_le_tensor(const kw_tensor *self, const kw_tensor *other) {
  kw_tensor *out = NULL;
  kw_le_tensor(self, other, &out);
  return out;
}

/* le.Scalar(Tensor self, Scalar other) -> Tensor */
static inline kw_status kw_typed_le_scalar(const kw_tensor *self, kw_value other, kw_tensor **out) {
  static kw_op_name op = {"le.Scalar", NULL};
  const kw_value args[] = {kw_arg_tensor(self), other};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_typed_le_scalar(const kw_tensor *self, kw_value other) {
  kw_tensor *out = NULL;
  kw_typed_le_scalar(self, other, &out);
  return out;
}
#define kw_le_scalar(self, other, out) kw_typed_le_scalar(self, KW_AS_SCALAR(other), out)
#define kwx_le_scalar(self, other) kwx_typed_le_scalar(self, KW_AS_SCALAR(other))

/* gt.Tensor(Tensor self, Tensor other) -> Tensor */
static inline kw_status kw_gt_tensor(const kw_tensor *self, const kw_tensor *other, kw_tensor **out) {
  static kw_op_name op = {"gt.Tensor", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(other)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_gt_tensor(const kw_tensor *self, const kw_tensor *other) {
  kw_tensor *out = NULL;
  kw_gt_tensor(self, other, &out);
  return out;
}

/* gt.Scalar(Tensor self, Scalar other) -> Tensor */
static inline kw_status kw_typed_gt_scalar(const kw_tensor *self, kw_value other, kw_tensor **out) {
  static kw_op_name op = {"gt.Scalar", NULL};
  const kw_value args[] = {kw_arg_tensor(self), other};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_typed_gt_scalar(const kw_tensor *self, kw_value other) {
  kw_tensor *out = NULL;
  kw_typed_gt_scalar(self, other, &out);
  return out;
}
#define kw_gt_scalar(self, other, out) kw_typed_gt_scalar(self, KW_AS_SCALAR(other), out)
#define kwx_gt_scalar(self, other) kwx_typed_gt_scalar(self, KW_AS_SCALAR(other))

/* ge.Tensor(Tensor self, Tensor other) -> Tensor */
static inline kw_status kw_ge_tensor(const kw_tensor *self, const kw_tensor *other, kw_tensor **out) {
  static kw_op_name op = {"ge.Tensor", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(other)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_ge_tensor(const kw_tensor *self, const kw_tensor *other) {
  kw_tensor *out = NULL;
  kw_ge_tensor(self, other, &out);
  return out;
}

/* ge.Scalar(Tensor self, Scalar other) -> Tensor */
static inline kw_status kw_typed_ge_scalar(const kw_tensor *self, kw_value other, kw_tensor **out) {
  static kw_op_name op = {"ge.Scalar", NULL};
  const kw_value args[] = {kw_arg_tensor(self), other};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_typed_ge_scalar(const kw_tensor *self, kw_value other) {
  kw_tensor *out = NULL;
  kw_typed_ge_scalar(self, other, &out);
  return out;
}
#define kw_ge_scalar(self, other, out) kw_typed_ge_scalar(self, KW_AS_SCALAR(other), out)
#define kwx_ge_scalar(self, other) kwx_typed_ge_scalar(self, KW_AS_SCALAR(other))

/* logical_and(Tensor self, Tensor other) -> Tensor */
static inline kw_status kw_logical_and(const kw_tensor *self, const kw_tensor *other, kw_tensor **out) {
  static kw_op_name op = {"logical_and", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(other)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_logical_and(const kw_tensor *self, const kw_tensor *other) {
  kw_tensor *out = NULL;
  kw_logical_and(self, other, &out);
  return out;
}

/* logical_or(Tensor self, Tensor other) -> Tensor */
static inline kw_status kw_logical_or(const kw_tensor *self, const kw_tensor *other, kw_tensor **out) {
  static kw_op_name op = {"logical_or", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(other)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_logical_or(const kw_tensor *self, const kw_tensor *other) {
  kw_tensor *out = NULL;
  kw_logical_or(self, other, &out);
  return out;
}

/* logical_xor(Tensor self, Tensor other) -> Tensor */
static inline kw_status kw_logical_xor(const kw_tensor *self, const kw_tensor *other, kw_tensor **out) {
  static kw_op_name op = {"logical_xor", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(other)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_logical_xor(const kw_tensor *self, const kw_tensor *other) {
  kw_tensor *out = NULL;
  kw_logical_xor(self, other, &out);
  return out;
}

/* logical_not(Tensor self) -> Tensor */
static inline kw_status kw_logical_not(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"logical_not", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_logical_not(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_logical_not(self, &out);
  return out;
}

/* bitwise_and.Tensor(Tensor self, Tensor other) -> Tensor */
static inline kw_status kw_bitwise_and_tensor(const kw_tensor *self, const kw_tensor *other, kw_tensor **out) {
  static kw_op_name op = {"bitwise_and.Tensor", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(other)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_bitwise_and_tensor(const kw_tensor *self, const kw_tensor *other) {
  kw_tensor *out = NULL;
  kw_bitwise_and_tensor(self, other, &out);
  return out;
}

/* bitwise_and.Scalar(Tensor self, Scalar other) -> Tensor */
static inline kw_status kw_typed_bitwise_and_scalar(const kw_tensor *self, kw_value other, kw_tensor **out) {
  static kw_op_name op = {"bitwise_and.Scalar", NULL};
  const kw_value args[] = {kw_arg_tensor(self), other};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_typed_bitwise_and_scalar(const kw_tensor *self, kw_value other) {
  kw_tensor *out = NULL;
  kw_typed_bitwise_and_scalar(self, other, &out);
  return out;
}
#define kw_bitwise_and_scalar(self, other, out) kw_typed_bitwise_and_scalar(self, KW_AS_SCALAR(other), out)
#define kwx_bitwise_and_scalar(self, other) kwx_typed_bitwise_and_scalar(self, KW_AS_SCALAR(other))

/* bitwise_or.Tensor(Tensor self, Tensor other) -> Tensor */
static inline kw_status kw_bitwise_or_tensor(const kw_tensor *self, const kw_tensor *other, kw_tensor **out) {
  static kw_op_name op = {"bitwise_or.Tensor", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(other)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_bitwise_or_tensor(const kw_tensor *self, const kw_tensor *other) {
  kw_tensor *out = NULL;
  kw_bitwise_or_tensor(self, other, &out);
  return out;
}

/* bitwise_or.Scalar(Tensor self, Scalar other) -> Tensor */
static inline kw_status kw_typed_bitwise_or_scalar(const kw_tensor *self, kw_value other, kw_tensor **out) {
  static kw_op_name op = {"bitwise_or.Scalar", NULL};
  const kw_value args[] = {kw_arg_tensor(self), other};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_typed_bitwise_or_scalar(const kw_tensor *self, kw_value other) {
  kw_tensor *out = NULL;
  kw_typed_bitwise_or_scalar(self, other, &out);
  return out;
}
#define kw_bitwise_or_scalar(self, other, out) kw_typed_bitwise_or_scalar(self, KW_AS_SCALAR(other), out)
#define kwx_bitwise_or_scalar(self, other) kwx_typed_bitwise_or_scalar(self, KW_AS_SCALAR(other))

/* bitwise_xor.Tensor(Tensor self, Tensor other) -> Tensor */
static inline kw_status kw_bitwise_xor_tensor(const kw_tensor *self, const kw_tensor *other, kw_tensor **out) {
  static kw_op_name op = {"bitwise_xor.Tensor", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(other)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_bitwise_xor_tensor(const kw_tensor *self, const kw_tensor *other) {
  kw_tensor *out = NULL;
  kw_bitwise_xor_tensor(self, other, &out);
  return out;
}

/* bitwise_xor.Scalar(Tensor self, Scalar other) -> Tensor */
static inline kw_status kw_typed_bitwise_xor_scalar(const kw_tensor *self, kw_value other, kw_tensor **out) {
  static kw_op_name op = {"bitwise_xor.Scalar", NULL};
  const kw_value args[] = {kw_arg_tensor(self), other};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_typed_bitwise_xor_scalar(const kw_tensor *self, kw_value other) {
  kw_tensor *out = NULL;
  kw_typed_bitwise_xor_scalar(self, other, &out);
  return out;
}
#define kw_bitwise_xor_scalar(self, other, out) kw_typed_bitwise_xor_scalar(self, KW_AS_SCALAR(other), out)
#define kwx_bitwise_xor_scalar(self, other) kwx_typed_bitwise_xor_scalar(self, KW_AS_SCALAR(other))

/* bitwise_not(Tensor self) -> Tensor */
static inline kw_status kw_bitwise_not(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"bitwise_not", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_bitwise_not(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_bitwise_not(self, &out);
  return out;
}

/* where.self(Tensor condition, Tensor self, Tensor other) -> Tensor */
static inline kw_status kw_where_self(const kw_tensor *condition, const kw_tensor *self, const kw_tensor *other,
                                      kw_tensor **out) {
  static kw_op_name op = {"where.self", NULL};
  const kw_value args[] = {kw_arg_tensor(condition), kw_arg_tensor(self), kw_arg_tensor(other)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_where_self(const kw_tensor *condition, const kw_tensor *self, const kw_tensor *other) {
  kw_tensor *out = NULL;
  kw_where_self(condition, self, other, &out);
  return out;
}

/* acos(Tensor self) -> Tensor */
static inline kw_status kw_acos(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"acos", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_acos(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_acos(self, &out);
  return out;
}

/* acosh(Tensor self) -> Tensor */
static inline kw_status kw_acosh(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"acosh", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_acosh(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_acosh(self, &out);
  return out;
}

/* asin(Tensor self) -> Tensor */
static inline kw_status kw_asin(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"asin", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_asin(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_asin(self, &out);
  return out;
}

/* asinh(Tensor self) -> Tensor */
static inline kw_status kw_asinh(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"asinh", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_asinh(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_asinh(self, &out);
  return out;
}

/* atan(Tensor self) -> Tensor */
static inline kw_status kw_atan(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"atan", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_atan(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_atan(self, &out);
  return out;
}

/* atanh(Tensor self) -> Tensor */
static inline kw_status kw_atanh(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"atanh", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_atanh(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_atanh(self, &out);
  return out;
}

/* sinh(Tensor self) -> Tensor */
static inline kw_status kw_sinh(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"sinh", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_sinh(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_sinh(self, &out);
  return out;
}

/* cosh(Tensor self) -> Tensor */
static inline kw_status kw_cosh(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"cosh", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_cosh(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_cosh(self, &out);
  return out;
}

/* tan(Tensor self) -> Tensor */
static inline kw_status kw_tan(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"tan", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_tan(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_tan(self, &out);
  return out;
}

/* log1p(Tensor self) -> Tensor */
static inline kw_status kw_log1p(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"log1p", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_log1p(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_log1p(self, &out);
  return out;
}

/* expm1(Tensor self) -> Tensor */
static inline kw_status kw_expm1(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"expm1", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_expm1(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_expm1(self, &out);
  return out;
}

/* log2(Tensor self) -> Tensor */
static inline kw_status kw_log2(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"log2", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_log2(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_log2(self, &out);
  return out;
}

/* log10(Tensor self) -> Tensor */
static inline kw_status kw_log10(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"log10", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_log10(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_log10(self, &out);
  return out;
}

/* exp2(Tensor self) -> Tensor */
static inline kw_status kw_exp2(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"exp2", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_exp2(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_exp2(self, &out);
  return out;
}

/* reciprocal(Tensor self) -> Tensor */
static inline kw_status kw_reciprocal(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"reciprocal", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_reciprocal(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_reciprocal(self, &out);
  return out;
}

/* atan2(Tensor self, Tensor other) -> Tensor */
static inline kw_status kw_atan2(const kw_tensor *self, const kw_tensor *other, kw_tensor **out) {
  static kw_op_name op = {"atan2", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(other)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_atan2(const kw_tensor *self, const kw_tensor *other) {
  kw_tensor *out = NULL;
  kw_atan2(self, other, &out);
  return out;
}

/* ceil(Tensor self) -> Tensor */
static inline kw_status kw_ceil(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"ceil", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_ceil(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_ceil(self, &out);
  return out;
}

/* floor(Tensor self) -> Tensor */
static inline kw_status kw_floor(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"floor", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_floor(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_floor(self, &out);
  return out;
}

/* round(Tensor self) -> Tensor */
static inline kw_status kw_round(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"round", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_round(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_round(self, &out);
  return out;
}

/* trunc(Tensor self) -> Tensor */
static inline kw_status kw_trunc(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"trunc", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_trunc(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_trunc(self, &out);
  return out;
}

/* round.decimals(Tensor self, *, int decimals) -> Tensor */
static inline kw_status kw_round_decimals(const kw_tensor *self, int64_t decimals, kw_tensor **out) {
  static kw_op_name op = {"round.decimals", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_int(decimals)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_round_decimals(const kw_tensor *self, int64_t decimals) {
  kw_tensor *out = NULL;
  kw_round_decimals(self, decimals, &out);
  return out;
}

/* sign(Tensor self) -> Tensor */
static inline kw_status kw_sign(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"sign", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_sign(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_sign(self, &out);
  return out;
}

/* isinf(Tensor self) -> Tensor */
static inline kw_status kw_isinf(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"isinf", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_isinf(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_isinf(self, &out);
  return out;
}

/* isnan(Tensor self) -> Tensor */
static inline kw_status kw_isnan(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"isnan", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_isnan(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_isnan(self, &out);
  return out;
}

/* fmod.Tensor(Tensor self, Tensor other) -> Tensor */
static inline kw_status kw_fmod_tensor(const kw_tensor *self, const kw_tensor *other, kw_tensor **out) {
  static kw_op_name op = {"fmod.Tensor", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(other)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_fmod_tensor(const kw_tensor *self, const kw_tensor *other) {
  kw_tensor *out = NULL;
  kw_fmod_tensor(self, other, &out);
  return out;
}

/* fmod.Scalar(Tensor self, Scalar other) -> Tensor */
static inline kw_status kw_typed_fmod_scalar(const kw_tensor *self, kw_value other, kw_tensor **out) {
  static kw_op_name op = {"fmod.Scalar", NULL};
  const kw_value args[] = {kw_arg_tensor(self), other};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_typed_fmod_scalar(const kw_tensor *self, kw_value other) {
  kw_tensor *out = NULL;
  kw_typed_fmod_scalar(self, other, &out);
  return out;
}
#define kw_fmod_scalar(self, other, out) kw_typed_fmod_scalar(self, KW_AS_SCALAR(other), out)
#define kwx_fmod_scalar(self, other) kwx_typed_fmod_scalar(self, KW_AS_SCALAR(other))

/* remainder.Tensor(Tensor self, Tensor other) -> Tensor */
static inline kw_status kw_remainder_tensor(const kw_tensor *self, const kw_tensor *other, kw_tensor **out) {
  static kw_op_name op = {"remainder.Tensor", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(other)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_remainder_tensor(const kw_tensor *self, const kw_tensor *other) {
  kw_tensor *out = NULL;
  kw_remainder_tensor(self, other, &out);
  return out;
}

/* remainder.Scalar(Tensor self, Scalar other) -> Tensor */
static inline kw_status kw_typed_remainder_scalar(const kw_tensor *self, kw_value other, kw_tensor **out) {
  static kw_op_name op = {"remainder.Scalar", NULL};
  const kw_value args[] = {kw_arg_tensor(self), other};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_typed_remainder_scalar(const kw_tensor *self, kw_value other) {
  kw_tensor *out = NULL;
  kw_typed_remainder_scalar(self, other, &out);
  return out;
}
#define kw_remainder_scalar(self, other, out) kw_typed_remainder_scalar(self, KW_AS_SCALAR(other), out)
#define kwx_remainder_scalar(self, other) kwx_typed_remainder_scalar(self, KW_AS_SCALAR(other))

/* remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor */
static inline kw_status kw_typed_remainder_scalar_tensor(kw_value self, const kw_tensor *other, kw_tensor **out) {
  static kw_op_name op = {"remainder.Scalar_Tensor", NULL};
  const kw_value args[] = {self, kw_arg_tensor(other)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_typed_remainder_scalar_tensor(kw_value self, const kw_tensor *other) {
  kw_tensor *out = NULL;
  kw_typed_remainder_scalar_tensor(self, other, &out);
  return out;
}
#define kw_remainder_scalar_tensor(self, other, out) kw_typed_remainder_scalar_tensor(KW_AS_SCALAR(self), other, out)
#define kwx_remainder_scalar_tensor(self, other) kwx_typed_remainder_scalar_tensor(KW_AS_SCALAR(self), other)

/* bitwise_left_shift.Tensor(Tensor self, Tensor other) -> Tensor */
static inline kw_status kw_bitwise_left_shift_tensor(const kw_tensor *self, const kw_tensor *other, kw_tensor **out) {
  static kw_op_name op = {"bitwise_left_shift.Tensor", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(other)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_bitwise_left_shift_tensor(const kw_tensor *self, const kw_tensor *other) {
  kw_tensor *out = NULL;
  kw_bitwise_left_shift_tensor(self, other, &out);
  return out;
}

/* bitwise_left_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor */
static inline kw_status kw_typed_bitwise_left_shift_tensor_scalar(const kw_tensor *self, kw_value other,
                                                                  kw_tensor **out) {
  static kw_op_name op = {"bitwise_left_shift.Tensor_Scalar", NULL};
  const kw_value args[] = {kw_arg_tensor(self), other};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_typed_bitwise_left_shift_tensor_scalar(const kw_tensor *self, kw_value other) {
  kw_tensor *out = NULL;
  kw_typed_bitwise_left_shift_tensor_scalar(self, other, &out);
  return out;
}
#define kw_bitwise_left_shift_tensor_scalar(self, other, out) kw_typed_bitwise_left_shift_tensor_scalar(self, \
  KW_AS_SCALAR(other), out)
#define kwx_bitwise_left_shift_tensor_scalar(self, other) kwx_typed_bitwise_left_shift_tensor_scalar(self, \
  KW_AS_SCALAR(other))

/* bitwise_right_shift.Tensor(Tensor self, Tensor other) -> Tensor */
static inline kw_status kw_bitwise_right_shift_tensor(const kw_tensor *self, const kw_tensor *other, kw_tensor **out) {
  static kw_op_name op = {"bitwise_right_shift.Tensor", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(other)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_bitwise_right_shift_tensor(const kw_tensor *self, const kw_tensor *other) {
  kw_tensor *out = NULL;
  kw_bitwise_right_shift_tensor(self, other, &out);
  return out;
}

/* bitwise_right_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor */
static inline kw_status kw_typed_bitwise_right_shift_tensor_scalar(const kw_tensor *self, kw_value other,
                                                                   kw_tensor **out) {
  static kw_op_name op = {"bitwise_right_shift.Tensor_Scalar", NULL};
  const kw_value args[] = {kw_arg_tensor(self), other};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_typed_bitwise_right_shift_tensor_scalar(const kw_tensor *self, kw_value other) {
  kw_tensor *out = NULL;
  kw_typed_bitwise_right_shift_tensor_scalar(self, other, &out);
  return out;
}
#define kw_bitwise_right_shift_tensor_scalar(self, other, out) kw_typed_bitwise_right_shift_tensor_scalar(self, \
  KW_AS_SCALAR(other), out)
#define kwx_bitwise_right_shift_tensor_scalar(self, other) kwx_typed_bitwise_right_shift_tensor_scalar(self, \
  KW_AS_SCALAR(other))

/* hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor */
static inline kw_status kw_typed_hardtanh(const kw_tensor *self, kw_value min_val, kw_value max_val, kw_tensor **out) {
  static kw_op_name op = {"hardtanh", NULL};
  const kw_value args[] = {kw_arg_tensor(self), min_val, max_val};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_typed_hardtanh(const kw_tensor *self, kw_value min_val, kw_value max_val) {
  kw_tensor *out = NULL;
  kw_typed_hardtanh(self, min_val, max_val, &out);
  return out;
}
#define kw_hardtanh(...) KW_BY_NUMBER(kw, hardtanh, __VA_ARGS__)
#define kw_2_hardtanh(self, out) kw_4_hardtanh(self, -1, 1, out)
#define kw_3_hardtanh(self, min_val, out) kw_4_hardtanh(self, min_val, 1, out)
#define kw_4_hardtanh(self, min_val, max_val, out) kw_typed_hardtanh(self, KW_AS_SCALAR(min_val), \
  KW_AS_SCALAR(max_val), out)
#define kwx_hardtanh(...) KW_BY_NUMBER(kwx, hardtanh, __VA_ARGS__)
#define kwx_1_hardtanh(self) kwx_3_hardtanh(self, -1, 1)
#define kwx_2_hardtanh(self, min_val) kwx_3_hardtanh(self, min_val, 1)
#define kwx_3_hardtanh(self, min_val, max_val) kwx_typed_hardtanh(self, KW_AS_SCALAR(min_val), KW_AS_SCALAR(max_val))

/* leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor */
static inline kw_status kw_typed_leaky_relu(const kw_tensor *self, kw_value negative_slope, kw_tensor **out) {
  static kw_op_name op = {"leaky_relu", NULL};
  const kw_value args[] = {kw_arg_tensor(self), negative_slope};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_typed_leaky_relu(const kw_tensor *self, kw_value negative_slope) {
  kw_tensor *out = NULL;
  kw_typed_leaky_relu(self, negative_slope, &out);
  return out;
}
#define kw_leaky_relu(...) KW_BY_NUMBER(kw, leaky_relu, __VA_ARGS__)
#define kw_2_leaky_relu(self, out) kw_3_leaky_relu(self, 0.01, out)
#define kw_3_leaky_relu(self, negative_slope, out) kw_typed_leaky_relu(self, KW_AS_SCALAR(negative_slope), out)
#define kwx_leaky_relu(...) KW_BY_NUMBER(kwx, leaky_relu, __VA_ARGS__)
#define kwx_1_leaky_relu(self) kwx_2_leaky_relu(self, 0.01)
#define kwx_2_leaky_relu(self, negative_slope) kwx_typed_leaky_relu(self, KW_AS_SCALAR(negative_slope))

/* elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor */
static inline kw_status kw_typed_elu(const kw_tensor *self, kw_value alpha, kw_value scale, kw_value input_scale,
                                     kw_tensor **out) {
  static kw_op_name op = {"elu", NULL};
  const kw_value args[] = {kw_arg_tensor(self), alpha, scale, input_scale};
  return kw_op_run(&op, NULL, args, 4, out, 1);
}
static inline kw_tensor *kwx_typed_elu(const kw_tensor *self, kw_value alpha, kw_value scale, kw_value input_scale) {
  kw_tensor *out = NULL;
  kw_typed_elu(self, alpha, scale, input_scale, &out);
  return out;
}
#define kw_elu(...) KW_BY_NUMBER(kw, elu, __VA_ARGS__)
#define kw_2_elu(self, out) kw_5_elu(self, 1, 1, 1, out)
#define kw_3_elu(self, alpha, out) kw_5_elu(self, alpha, 1, 1, out)
#define kw_4_elu(self, alpha, scale, out) kw_5_elu(self, alpha, scale, 1, out)
#define kw_5_elu(self, alpha, scale, input_scale, out) kw_typed_elu(self, KW_AS_SCALAR(alpha), KW_AS_SCALAR(scale), \
  KW_AS_SCALAR(input_scale), out)
#define kwx_elu(...) KW_BY_NUMBER(kwx, elu, __VA_ARGS__)
#define kwx_1_elu(self) kwx_4_elu(self, 1, 1, 1)
#define kwx_2_elu(self, alpha) kwx_4_elu(self, alpha, 1, 1)
#define kwx_3_elu(self, alpha, scale) kwx_4_elu(self, alpha, scale, 1)
#define kwx_4_elu(self, alpha, scale, input_scale) kwx_typed_elu(self, KW_AS_SCALAR(alpha), KW_AS_SCALAR(scale), \
  KW_AS_SCALAR(input_scale))

/* softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor */
static inline kw_status kw_typed_softplus(const kw_tensor *self, kw_value beta, kw_value threshold, kw_tensor **out) {
  static kw_op_name op = {"softplus", NULL};
  const kw_value args[] = {kw_arg_tensor(self), beta, threshold};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_typed_softplus(const kw_tensor *self, kw_value beta, kw_value threshold) {
  kw_tensor *out = NULL;
  kw_typed_softplus(self, beta, threshold, &out);
  return out;
}
#define kw_softplus(...) KW_BY_NUMBER(kw, softplus, __VA_ARGS__)
#define kw_2_softplus(self, out) kw_4_softplus(self, 1, 20, out)
#define kw_3_softplus(self, beta, out) kw_4_softplus(self, beta, 20, out)
#define kw_4_softplus(self, beta, threshold, out) kw_typed_softplus(self, KW_AS_SCALAR(beta), KW_AS_SCALAR(threshold), \
  out)
#define kwx_softplus(...) KW_BY_NUMBER(kwx, softplus, __VA_ARGS__)
#define kwx_1_softplus(self) kwx_3_softplus(self, 1, 20)
#define kwx_2_softplus(self, beta) kwx_3_softplus(self, beta, 20)
#define kwx_3_softplus(self, beta, threshold) kwx_typed_softplus(self, KW_AS_SCALAR(beta), KW_AS_SCALAR(threshold))

/* hardswish(Tensor self) -> Tensor */
static inline kw_status kw_hardswish(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"hardswish", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_hardswish(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_hardswish(self, &out);
  return out;
}

/* threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor */
static inline kw_status kw_typed_threshold(const kw_tensor *self, kw_value threshold, kw_value value, kw_tensor **out) {
  static kw_op_name op = {"threshold", NULL};
  const kw_value args[] = {kw_arg_tensor(self), threshold, value};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_typed_threshold(const kw_tensor *self, kw_value threshold, kw_value value) {
  kw_tensor *out = NULL;
  kw_typed_threshold(self, threshold, value, &out);
  return out;
}
#define kw_threshold(self, threshold, value, out) kw_typed_threshold(self, KW_AS_SCALAR(threshold), \
  KW_AS_SCALAR(value), out)
#define kwx_threshold(self, threshold, value) kwx_typed_threshold(self, KW_AS_SCALAR(threshold), KW_AS_SCALAR(value))

/* addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor */
static inline kw_status kw_typed_addcmul(const kw_tensor *self, const kw_tensor *tensor1, const kw_tensor *tensor2,
                                         kw_value value, kw_tensor **out) {
  static kw_op_name op = {"addcmul", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(tensor1), kw_arg_tensor(tensor2), value};
  return kw_op_run(&op, NULL, args, 4, out, 1);
}
static inline kw_tensor *kwx_typed_addcmul(const kw_tensor *self, const kw_tensor *tensor1, const kw_tensor *tensor2,
                                           kw_value value) {
  kw_tensor *out = NULL;
  kw_typed_addcmul(self, tensor1, tensor2, value, &out);
  return out;
}
#define kw_addcmul(...) KW_BY_NUMBER(kw, addcmul, __VA_ARGS__)
#define kw_4_addcmul(self, tensor1, tensor2, out) kw_5_addcmul(self, tensor1, tensor2, 1, out)
#define kw_5_addcmul(self, tensor1, tensor2, value, out) kw_typed_addcmul(self, tensor1, tensor2, KW_AS_SCALAR(value), \
  out)
#define kwx_addcmul(...) KW_BY_NUMBER(kwx, addcmul, __VA_ARGS__)
#define kwx_3_addcmul(self, tensor1, tensor2) kwx_4_addcmul(self, tensor1, tensor2, 1)
#define kwx_4_addcmul(self, tensor1, tensor2, value) kwx_typed_addcmul(self, tensor1, tensor2, KW_AS_SCALAR(value))

/* addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor */
static inline kw_status kw_typed_addcdiv(const kw_tensor *self, const kw_tensor *tensor1, const kw_tensor *tensor2,
                                         kw_value value, kw_tensor **out) {
  static kw_op_name op = {"addcdiv", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(tensor1), kw_arg_tensor(tensor2), value};
  return kw_op_run(&op, NULL, args, 4, out, 1);
}
static inline kw_tensor *kwx_typed_addcdiv(const kw_tensor *self, const kw_tensor *tensor1, const kw_tensor *tensor2,
                                           kw_value value) {
  kw_tensor *out = NULL;
  kw_typed_addcdiv(self, tensor1, tensor2, value, &out);
  return out;
}
#define kw_addcdiv(...) KW_BY_NUMBER(kw, addcdiv, __VA_ARGS__)
#define kw_4_addcdiv(self, tensor1, tensor2, out) kw_5_addcdiv(self, tensor1, tensor2, 1, out)
#define kw_5_addcdiv(self, tensor1, tensor2, value, out) kw_typed_addcdiv(self, tensor1, tensor2, KW_AS_SCALAR(value), \
  out)
#define kwx_addcdiv(...) KW_BY_NUMBER(kwx, addcdiv, __VA_ARGS__)
#define kwx_3_addcdiv(self, tensor1, tensor2) kwx_4_addcdiv(self, tensor1, tensor2, 1)
#define kwx_4_addcdiv(self, tensor1, tensor2, value) kwx_typed_addcdiv(self, tensor1, tensor2, KW_AS_SCALAR(value))

/* lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor */
static inline kw_status kw_typed_lerp_scalar(const kw_tensor *self, const kw_tensor *end, kw_value weight,
                                             kw_tensor **out) {
  static kw_op_name op = {"lerp.Scalar", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(end), weight};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_typed_lerp_scalar(const kw_tensor *self, const kw_tensor *end, kw_value weight) {
  kw_tensor *out = NULL;
  kw_typed_lerp_scalar(self, end, weight, &out);
  return out;
}
#define kw_lerp_scalar(self, end, weight, out) kw_typed_lerp_scalar(self, end, KW_AS_SCALAR(weight), out)
#define kwx_lerp_scalar(self, end, weight) kwx_typed_lerp_scalar(self, end, KW_AS_SCALAR(weight))

/* lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor */
static inline kw_status kw_lerp_tensor(const kw_tensor *self, const kw_tensor *end, const kw_tensor *weight,
                                       kw_tensor **out) {
  static kw_op_name op = {"lerp.Tensor", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(end), kw_arg_tensor(weight)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_lerp_tensor(const kw_tensor *self, const kw_tensor *end, const kw_tensor *weight) {
  kw_tensor *out = NULL;
  kw_lerp_tensor(self, end, weight, &out);
  return out;
}

/* masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor */
static inline kw_status kw_typed_masked_fill_scalar(const kw_tensor *self, const kw_tensor *mask, kw_value value,
                                                    kw_tensor **out) {
  static kw_op_name op = {"masked_fill.Scalar", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(mask), value};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_typed_masked_fill_scalar(const kw_tensor *self, const kw_tensor *mask, kw_value value) {
  kw_tensor *out = NULL;
  kw_typed_masked_fill_scalar(self, mask, value, &out);
  return out;
}
#define kw_masked_fill_scalar(self, mask, value, out) kw_typed_masked_fill_scalar(self, mask, KW_AS_SCALAR(value), out)
#define kwx_masked_fill_scalar(self, mask, value) kwx_typed_masked_fill_scalar(self, mask, KW_AS_SCALAR(value))

/* masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor */
static inline kw_status kw_masked_fill_tensor(const kw_tensor *self, const kw_tensor *mask, const kw_tensor *value,
                                              kw_tensor **out) {
  static kw_op_name op = {"masked_fill.Tensor", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(mask), kw_arg_tensor(value)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_masked_fill_tensor(const kw_tensor *self, const kw_tensor *mask, const kw_tensor *value) {
  kw_tensor *out = NULL;
  kw_masked_fill_tensor(self, mask, value, &out);
  return out;
}

/* full_like(Tensor self, Scalar fill_value, *, ScalarType? dtype=None) -> Tensor */
static inline kw_status kw_typed_full_like(const kw_tensor *self, kw_value fill_value, kw_dtype dtype,
                                           kw_tensor **out) {
  static kw_op_name op = {"full_like", NULL};
  const kw_value args[] = {kw_arg_tensor(self), fill_value, kw_arg_dtype(dtype)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_typed_full_like(const kw_tensor *self, kw_value fill_value, kw_dtype dtype) {
  kw_tensor *out = NULL;
  kw_typed_full_like(self, fill_value, dtype, &out);
  return out;
}
#define kw_full_like(...) KW_BY_NUMBER(kw, full_like, __VA_ARGS__)
#define kw_3_full_like(self, fill_value, out) kw_4_full_like(self, fill_value, KW_DTYPE_NONE, out)
#define kw_4_full_like(self, fill_value, dtype, out) kw_typed_full_like(self, KW_AS_SCALAR(fill_value), dtype, out)
#define kwx_full_like(...) KW_BY_NUMBER(kwx, full_like, __VA_ARGS__)
#define kwx_2_full_like(self, fill_value) kwx_3_full_like(self, fill_value, KW_DTYPE_NONE)
#define kwx_3_full_like(self, fill_value, dtype) kwx_typed_full_like(self, KW_AS_SCALAR(fill_value), dtype)

/* fill.Scalar(Tensor self, Scalar value) -> Tensor */
static inline kw_status kw_typed_fill_scalar(const kw_tensor *self, kw_value value, kw_tensor **out) {
  static kw_op_name op = {"fill.Scalar", NULL};
  const kw_value args[] = {kw_arg_tensor(self), value};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_typed_fill_scalar(const kw_tensor *self, kw_value value) {
  kw_tensor *out = NULL;
  kw_typed_fill_scalar(self, value, &out);
  return out;
}
#define kw_fill_scalar(self, value, out) kw_typed_fill_scalar(self, KW_AS_SCALAR(value), out)
#define kwx_fill_scalar(self, value) kwx_typed_fill_scalar(self, KW_AS_SCALAR(value))

/* clone(Tensor self) -> Tensor */
static inline kw_status kw_clone(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"clone", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_clone(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_clone(self, &out);
  return out;
}

/* copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor */
static inline kw_status kw_typed_copy(const kw_tensor *self, const kw_tensor *src, bool non_blocking, kw_tensor **out) {
  static kw_op_name op = {"copy", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(src), kw_arg_bool(non_blocking)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_typed_copy(const kw_tensor *self, const kw_tensor *src, bool non_blocking) {
  kw_tensor *out = NULL;
  kw_typed_copy(self, src, non_blocking, &out);
  return out;
}
#define kw_copy(...) KW_BY_NUMBER(kw, copy, __VA_ARGS__)
#define kw_3_copy(self, src, out) kw_4_copy(self, src, false, out)
#define kw_4_copy(self, src, non_blocking, out) kw_typed_copy(self, src, non_blocking, out)
#define kwx_copy(...) KW_BY_NUMBER(kwx, copy, __VA_ARGS__)
#define kwx_2_copy(self, src) kwx_3_copy(self, src, false)
#define kwx_3_copy(self, src, non_blocking) kwx_typed_copy(self, src, non_blocking)

/* sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor */
static inline kw_status kw_sigmoid_backward(const kw_tensor *grad_output, const kw_tensor *output, kw_tensor **out) {
  static kw_op_name op = {"sigmoid_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_output), kw_arg_tensor(output)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_sigmoid_backward(const kw_tensor *grad_output, const kw_tensor *output) {
  kw_tensor *out = NULL;
  kw_sigmoid_backward(grad_output, output, &out);
  return out;
}

/* tanh_backward(Tensor grad_output, Tensor output) -> Tensor */
static inline kw_status kw_tanh_backward(const kw_tensor *grad_output, const kw_tensor *output, kw_tensor **out) {
  static kw_op_name op = {"tanh_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_output), kw_arg_tensor(output)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_tanh_backward(const kw_tensor *grad_output, const kw_tensor *output) {
  kw_tensor *out = NULL;
  kw_tanh_backward(grad_output, output, &out);
  return out;
}

/* gelu_backward(Tensor grad_output, Tensor self, *, str approximate='none') -> Tensor */
static inline kw_status kw_typed_gelu_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                               const char *approximate, kw_tensor **out) {
  static kw_op_name op = {"gelu_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_output), kw_arg_tensor(self), kw_arg_string(approximate)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_typed_gelu_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                                 const char *approximate) {
  kw_tensor *out = NULL;
  kw_typed_gelu_backward(grad_output, self, approximate, &out);
  return out;
}
#define kw_gelu_backward(...) KW_BY_NUMBER(kw, gelu_backward, __VA_ARGS__)
#define kw_3_gelu_backward(grad_output, self, out) kw_4_gelu_backward(grad_output, self, "none", out)
#define kw_4_gelu_backward(grad_output, self, approximate, out) kw_typed_gelu_backward(grad_output, self, approximate, \
  out)
#define kwx_gelu_backward(...) KW_BY_NUMBER(kwx, gelu_backward, __VA_ARGS__)
#define kwx_2_gelu_backward(grad_output, self) kwx_3_gelu_backward(grad_output, self, "none")
#define kwx_3_gelu_backward(grad_output, self, approximate) kwx_typed_gelu_backward(grad_output, self, approximate)

/* silu_backward(Tensor grad_output, Tensor self) -> Tensor */
static inline kw_status kw_silu_backward(const kw_tensor *grad_output, const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"silu_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_output), kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_silu_backward(const kw_tensor *grad_output, const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_silu_backward(grad_output, self, &out);
  return out;
}

/* threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor */
static inline kw_status kw_typed_threshold_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                                    kw_value threshold, kw_tensor **out) {
  static kw_op_name op = {"threshold_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_output), kw_arg_tensor(self), threshold};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_typed_threshold_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                                      kw_value threshold) {
  kw_tensor *out = NULL;
  kw_typed_threshold_backward(grad_output, self, threshold, &out);
  return out;
}
#define kw_threshold_backward(grad_output, self, threshold, out) kw_typed_threshold_backward(grad_output, self, \
  KW_AS_SCALAR(threshold), out)
#define kwx_threshold_backward(grad_output, self, threshold) kwx_typed_threshold_backward(grad_output, self, \
  KW_AS_SCALAR(threshold))

/* leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope, bool self_is_result) -> Tensor */
static inline kw_status kw_typed_leaky_relu_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                                     kw_value negative_slope, bool self_is_result, kw_tensor **out) {
  static kw_op_name op = {"leaky_relu_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_output), kw_arg_tensor(self), negative_slope,
                           kw_arg_bool(self_is_result)};
  return kw_op_run(&op, NULL, args, 4, out, 1);
}
static inline kw_tensor *kwx_typed_leaky_relu_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                                       kw_value negative_slope, bool self_is_result) {
  kw_tensor *out = NULL;
  kw_typed_leaky_relu_backward(grad_output, self, negative_slope, self_is_result, &out);
  return out;
}
#define kw_leaky_relu_backward(grad_output, self, negative_slope, self_is_result, out) \
  kw_typed_leaky_relu_backward(grad_output, self, KW_AS_SCALAR(negative_slope), self_is_result, out)
#define kwx_leaky_relu_backward(grad_output, self, negative_slope, self_is_result) \
  kwx_typed_leaky_relu_backward(grad_output, self, KW_AS_SCALAR(negative_slope), self_is_result)

/* elu_backward(Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, bool is_result,
 * Tensor self_or_result) -> Tensor */
static inline kw_status kw_typed_elu_backward(const kw_tensor *grad_output, kw_value alpha, kw_value scale,
                                              kw_value input_scale, bool is_result, const kw_tensor *self_or_result,
                                              kw_tensor **out) {
  static kw_op_name op = {"elu_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_output), alpha, scale, input_scale, kw_arg_bool(is_result),
                           kw_arg_tensor(self_or_result)};
  return kw_op_run(&op, NULL, args, 6, out, 1);
}
static inline kw_tensor *kwx_typed_elu_backward(const kw_tensor *grad_output, kw_value alpha, kw_value scale,
                                                kw_value input_scale, bool is_result, const kw_tensor *self_or_result) {
  kw_tensor *out = NULL;
  kw_typed_elu_backward(grad_output, alpha, scale, input_scale, is_result, self_or_result, &out);
  return out;
}
#define kw_elu_backward(grad_output, alpha, scale, input_scale, is_result, self_or_result, out) \
  kw_typed_elu_backward(grad_output, KW_AS_SCALAR(alpha), KW_AS_SCALAR(scale), KW_AS_SCALAR(input_scale), is_result, \
  self_or_result, out)
#define kwx_elu_backward(grad_output, alpha, scale, input_scale, is_result, self_or_result) \
  kwx_typed_elu_backward(grad_output, KW_AS_SCALAR(alpha), KW_AS_SCALAR(scale), KW_AS_SCALAR(input_scale), is_result, \
  self_or_result)

/* hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> Tensor */
static inline kw_status kw_typed_hardtanh_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                                   kw_value min_val, kw_value max_val, kw_tensor **out) {
  static kw_op_name op = {"hardtanh_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_output), kw_arg_tensor(self), min_val, max_val};
  return kw_op_run(&op, NULL, args, 4, out, 1);
}
static inline kw_tensor *kwx_typed_hardtanh_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                                     kw_value min_val, kw_value max_val) {
  kw_tensor *out = NULL;
  kw_typed_hardtanh_backward(grad_output, self, min_val, max_val, &out);
  return out;
}
#define kw_hardtanh_backward(grad_output, self, min_val, max_val, out) kw_typed_hardtanh_backward(grad_output, self, \
  KW_AS_SCALAR(min_val), KW_AS_SCALAR(max_val), out)
#define kwx_hardtanh_backward(grad_output, self, min_val, max_val) kwx_typed_hardtanh_backward(grad_output, self, \
  KW_AS_SCALAR(min_val), KW_AS_SCALAR(max_val))

/* softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> Tensor */
static inline kw_status kw_typed_softplus_backward(const kw_tensor *grad_output, const kw_tensor *self, kw_value beta,
                                                   kw_value threshold, kw_tensor **out) {
  static kw_op_name op = {"softplus_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_output), kw_arg_tensor(self), beta, threshold};
  return kw_op_run(&op, NULL, args, 4, out, 1);
}
static inline kw_tensor *kwx_typed_softplus_backward(const kw_tensor *grad_output, const kw_tensor *self, kw_value beta,
                                                     kw_value threshold) {
  kw_tensor *out = NULL;
  kw_typed_softplus_backward(grad_output, self, beta, threshold, &out);
  return out;
}
#define kw_softplus_backward(grad_output, self, beta, threshold, out) kw_typed_softplus_backward(grad_output, self, \
  KW_AS_SCALAR(beta), KW_AS_SCALAR(threshold), out)
#define kwx_softplus_backward(grad_output, self, beta, threshold) kwx_typed_softplus_backward(grad_output, self, \
  KW_AS_SCALAR(beta), KW_AS_SCALAR(threshold))

/* sum(Tensor self, *, ScalarType? dtype=None) -> Tensor */
static inline kw_status kw_typed_sum(const kw_tensor *self, kw_dtype dtype, kw_tensor **out) {
  static kw_op_name op = {"sum", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_dtype(dtype)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_typed_sum(const kw_tensor *self, kw_dtype dtype) {
  kw_tensor *out = NULL;
  kw_typed_sum(self, dtype, &out);
  return out;
}
#define kw_sum(...) KW_BY_NUMBER(kw, sum, __VA_ARGS__)
#define kw_2_sum(self, out) kw_3_sum(self, KW_DTYPE_NONE, out)
#define kw_3_sum(self, dtype, out) kw_typed_sum(self, dtype, out)
#define kwx_sum(...) KW_BY_NUMBER(kwx, sum, __VA_ARGS__)
#define kwx_1_sum(self) kwx_2_sum(self, KW_DTYPE_NONE)
#define kwx_2_sum(self, dtype) kwx_typed_sum(self, dtype)

/* sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor */
static inline kw_status kw_typed_sum_dim_intlist(const kw_tensor *self, kw_ints dim, bool keepdim, kw_dtype dtype,
                                                 kw_tensor **out) {
  static kw_op_name op = {"sum.dim_IntList", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_optional_ints(dim), kw_arg_bool(keepdim), kw_arg_dtype(dtype)};
  return kw_op_run(&op, NULL, args, 4, out, 1);
}
static inline kw_tensor *kwx_typed_sum_dim_intlist(const kw_tensor *self, kw_ints dim, bool keepdim, kw_dtype dtype) {
  kw_tensor *out = NULL;
  kw_typed_sum_dim_intlist(self, dim, keepdim, dtype, &out);
  return out;
}
#define kw_sum_dim_intlist(...) KW_BY_NUMBER(kw, sum_dim_intlist, __VA_ARGS__)
#define kw_3_sum_dim_intlist(self, dim, out) kw_5_sum_dim_intlist(self, dim, false, KW_DTYPE_NONE, out)
#define kw_4_sum_dim_intlist(self, dim, keepdim, out) kw_5_sum_dim_intlist(self, dim, keepdim, KW_DTYPE_NONE, out)
#define kw_5_sum_dim_intlist(self, dim, keepdim, dtype, out) kw_typed_sum_dim_intlist(self, dim, keepdim, dtype, out)
#define kwx_sum_dim_intlist(...) KW_BY_NUMBER(kwx, sum_dim_intlist, __VA_ARGS__)
#define kwx_2_sum_dim_intlist(self, dim) kwx_4_sum_dim_intlist(self, dim, false, KW_DTYPE_NONE)
#define kwx_3_sum_dim_intlist(self, dim, keepdim) kwx_4_sum_dim_intlist(self, dim, keepdim, KW_DTYPE_NONE)
#define kwx_4_sum_dim_intlist(self, dim, keepdim, dtype) kwx_typed_sum_dim_intlist(self, dim, keepdim, dtype)

/* mean(Tensor self, *, ScalarType? dtype=None) -> Tensor */
static inline kw_status kw_typed_mean(const kw_tensor *self, kw_dtype dtype, kw_tensor **out) {
  static kw_op_name op = {"mean", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_dtype(dtype)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_typed_mean(const kw_tensor *self, kw_dtype dtype) {
  kw_tensor *out = NULL;
  kw_typed_mean(self, dtype, &out);
  return out;
}
#define kw_mean(...) KW_BY_NUMBER(kw, mean, __VA_ARGS__)
#define kw_2_mean(self, out) kw_3_mean(self, KW_DTYPE_NONE, out)
#define kw_3_mean(self, dtype, out) kw_typed_mean(self, dtype, out)
#define kwx_mean(...) KW_BY_NUMBER(kwx, mean, __VA_ARGS__)
#define kwx_1_mean(self) kwx_2_mean(self, KW_DTYPE_NONE)
#define kwx_2_mean(self, dtype) kwx_typed_mean(self, dtype)

/* mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor */
static inline kw_status kw_typed_mean_dim(const kw_tensor *self, kw_ints dim, bool keepdim, kw_dtype dtype,
                                          kw_tensor **out) {
  static kw_op_name op = {"mean.dim", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_optional_ints(dim), kw_arg_bool(keepdim), kw_arg_dtype(dtype)};
  return kw_op_run(&op, NULL, args, 4, out, 1);
}
static inline kw_tensor *kwx_typed_mean_dim(const kw_tensor *self, kw_ints dim, bool keepdim, kw_dtype dtype) {
  kw_tensor *out = NULL;
  kw_typed_mean_dim(self, dim, keepdim, dtype, &out);
  return out;
}
#define kw_mean_dim(...) KW_BY_NUMBER(kw, mean_dim, __VA_ARGS__)
#define kw_3_mean_dim(self, dim, out) kw_5_mean_dim(self, dim, false, KW_DTYPE_NONE, out)
#define kw_4_mean_dim(self, dim, keepdim, out) kw_5_mean_dim(self, dim, keepdim, KW_DTYPE_NONE, out)
#define kw_5_mean_dim(self, dim, keepdim, dtype, out) kw_typed_mean_dim(self, dim, keepdim, dtype, out)
#define kwx_mean_dim(...) KW_BY_NUMBER(kwx, mean_dim, __VA_ARGS__)
#define kwx_2_mean_dim(self, dim) kwx_4_mean_dim(self, dim, false, KW_DTYPE_NONE)
#define kwx_3_mean_dim(self, dim, keepdim) kwx_4_mean_dim(self, dim, keepdim, KW_DTYPE_NONE)
#define kwx_4_mean_dim(self, dim, keepdim, dtype) kwx_typed_mean_dim(self, dim, keepdim, dtype)

/* prod(Tensor self, *, ScalarType? dtype=None) -> Tensor */
static inline kw_status kw_typed_prod(const kw_tensor *self, kw_dtype dtype, kw_tensor **out) {
  static kw_op_name op = {"prod", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_dtype(dtype)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_typed_prod(const kw_tensor *self, kw_dtype dtype) {
  kw_tensor *out = NULL;
  kw_typed_prod(self, dtype, &out);
  return out;
}
#define kw_prod(...) KW_BY_NUMBER(kw, prod, __VA_ARGS__)
#define kw_2_prod(self, out) kw_3_prod(self, KW_DTYPE_NONE, out)
#define kw_3_prod(self, dtype, out) kw_typed_prod(self, dtype, out)
#define kwx_prod(...) KW_BY_NUMBER(kwx, prod, __VA_ARGS__)
#define kwx_1_prod(self) kwx_2_prod(self, KW_DTYPE_NONE)
#define kwx_2_prod(self, dtype) kwx_typed_prod(self, dtype)

/* prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor */
static inline kw_status kw_typed_prod_dim_int(const kw_tensor *self, int64_t dim, bool keepdim, kw_dtype dtype,
                                              kw_tensor **out) {
  static kw_op_name op = {"prod.dim_int", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_int(dim), kw_arg_bool(keepdim), kw_arg_dtype(dtype)};
  return kw_op_run(&op, NULL, args, 4, out, 1);
}
static inline kw_tensor *kwx_typed_prod_dim_int(const kw_tensor *self, int64_t dim, bool keepdim, kw_dtype dtype) {
  kw_tensor *out = NULL;
  kw_typed_prod_dim_int(self, dim, keepdim, dtype, &out);
  return out;
}
#define kw_prod_dim_int(...) KW_BY_NUMBER(kw, prod_dim_int, __VA_ARGS__)
#define kw_3_prod_dim_int(self, dim, out) kw_5_prod_dim_int(self, dim, false, KW_DTYPE_NONE, out)
#define kw_4_prod_dim_int(self, dim, keepdim, out) kw_5_prod_dim_int(self, dim, keepdim, KW_DTYPE_NONE, out)
#define kw_5_prod_dim_int(self, dim, keepdim, dtype, out) kw_typed_prod_dim_int(self, dim, keepdim, dtype, out)
#define kwx_prod_dim_int(...) KW_BY_NUMBER(kwx, prod_dim_int, __VA_ARGS__)
#define kwx_2_prod_dim_int(self, dim) kwx_4_prod_dim_int(self, dim, false, KW_DTYPE_NONE)
#define kwx_3_prod_dim_int(self, dim, keepdim) kwx_4_prod_dim_int(self, dim, keepdim, KW_DTYPE_NONE)
#define kwx_4_prod_dim_int(self, dim, keepdim, dtype) kwx_typed_prod_dim_int(self, dim, keepdim, dtype)

/* amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor */
static inline kw_status kw_typed_amax(const kw_tensor *self, kw_ints dim, bool keepdim, kw_tensor **out) {
  static kw_op_name op = {"amax", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_ints(dim), kw_arg_bool(keepdim)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_typed_amax(const kw_tensor *self, kw_ints dim, bool keepdim) {
  kw_tensor *out = NULL;
  kw_typed_amax(self, dim, keepdim, &out);
  return out;
}
#define kw_amax(...) KW_BY_NUMBER(kw, amax, __VA_ARGS__)
#define kw_2_amax(self, out) kw_4_amax(self, KW_NO_INTS, false, out)
#define kw_3_amax(self, dim, out) kw_4_amax(self, dim, false, out)
#define kw_4_amax(self, dim, keepdim, out) kw_typed_amax(self, dim, keepdim, out)
#define kwx_amax(...) KW_BY_NUMBER(kwx, amax, __VA_ARGS__)
#define kwx_1_amax(self) kwx_3_amax(self, KW_NO_INTS, false)
#define kwx_2_amax(self, dim) kwx_3_amax(self, dim, false)
#define kwx_3_amax(self, dim, keepdim) kwx_typed_amax(self, dim, keepdim)

/* amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor */
static inline kw_status kw_typed_amin(const kw_tensor *self, kw_ints dim, bool keepdim, kw_tensor **out) {
  static kw_op_name op = {"amin", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_ints(dim), kw_arg_bool(keepdim)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_typed_amin(const kw_tensor *self, kw_ints dim, bool keepdim) {
  kw_tensor *out = NULL;
  kw_typed_amin(self, dim, keepdim, &out);
  return out;
}
#define kw_amin(...) KW_BY_NUMBER(kw, amin, __VA_ARGS__)
#define kw_2_amin(self, out) kw_4_amin(self, KW_NO_INTS, false, out)
#define kw_3_amin(self, dim, out) kw_4_amin(self, dim, false, out)
#define kw_4_amin(self, dim, keepdim, out) kw_typed_amin(self, dim, keepdim, out)
#define kwx_amin(...) KW_BY_NUMBER(kwx, amin, __VA_ARGS__)
#define kwx_1_amin(self) kwx_3_amin(self, KW_NO_INTS, false)
#define kwx_2_amin(self, dim) kwx_3_amin(self, dim, false)
#define kwx_3_amin(self, dim, keepdim) kwx_typed_amin(self, dim, keepdim)

/* argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor */
static inline kw_status kw_typed_argmax(const kw_tensor *self, kw_value dim, bool keepdim, kw_tensor **out) {
  static kw_op_name op = {"argmax", NULL};
  const kw_value args[] = {kw_arg_tensor(self), dim, kw_arg_bool(keepdim)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_typed_argmax(const kw_tensor *self, kw_value dim, bool keepdim) {
  kw_tensor *out = NULL;
  kw_typed_argmax(self, dim, keepdim, &out);
  return out;
}
#define kw_argmax(...) KW_BY_NUMBER(kw, argmax, __VA_ARGS__)
#define kw_2_argmax(self, out) kw_4_argmax(self, kw_arg_none(), false, out)
#define kw_3_argmax(self, dim, out) kw_4_argmax(self, dim, false, out)
#define kw_4_argmax(self, dim, keepdim, out) kw_typed_argmax(self, KW_AS_INT(dim), keepdim, out)
#define kwx_argmax(...) KW_BY_NUMBER(kwx, argmax, __VA_ARGS__)
#define kwx_1_argmax(self) kwx_3_argmax(self, kw_arg_none(), false)
#define kwx_2_argmax(self, dim) kwx_3_argmax(self, dim, false)
#define kwx_3_argmax(self, dim, keepdim) kwx_typed_argmax(self, KW_AS_INT(dim), keepdim)

/* argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor */
static inline kw_status kw_typed_argmin(const kw_tensor *self, kw_value dim, bool keepdim, kw_tensor **out) {
  static kw_op_name op = {"argmin", NULL};
  const kw_value args[] = {kw_arg_tensor(self), dim, kw_arg_bool(keepdim)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_typed_argmin(const kw_tensor *self, kw_value dim, bool keepdim) {
  kw_tensor *out = NULL;
  kw_typed_argmin(self, dim, keepdim, &out);
  return out;
}
#define kw_argmin(...) KW_BY_NUMBER(kw, argmin, __VA_ARGS__)
#define kw_2_argmin(self, out) kw_4_argmin(self, kw_arg_none(), false, out)
#define kw_3_argmin(self, dim, out) kw_4_argmin(self, dim, false, out)
#define kw_4_argmin(self, dim, keepdim, out) kw_typed_argmin(self, KW_AS_INT(dim), keepdim, out)
#define kwx_argmin(...) KW_BY_NUMBER(kwx, argmin, __VA_ARGS__)
#define kwx_1_argmin(self) kwx_3_argmin(self, kw_arg_none(), false)
#define kwx_2_argmin(self, dim) kwx_3_argmin(self, dim, false)
#define kwx_3_argmin(self, dim, keepdim) kwx_typed_argmin(self, KW_AS_INT(dim), keepdim)

/* any(Tensor self) -> Tensor */
static inline kw_status kw_any(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"any", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_any(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_any(self, &out);
  return out;
}

/* any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor */
static inline kw_status kw_typed_any_dim(const kw_tensor *self, int64_t dim, bool keepdim, kw_tensor **out) {
  static kw_op_name op = {"any.dim", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_int(dim), kw_arg_bool(keepdim)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_typed_any_dim(const kw_tensor *self, int64_t dim, bool keepdim) {
  kw_tensor *out = NULL;
  kw_typed_any_dim(self, dim, keepdim, &out);
  return out;
}
#define kw_any_dim(...) KW_BY_NUMBER(kw, any_dim, __VA_ARGS__)
#define kw_3_any_dim(self, dim, out) kw_4_any_dim(self, dim, false, out)
#define kw_4_any_dim(self, dim, keepdim, out) kw_typed_any_dim(self, dim, keepdim, out)
#define kwx_any_dim(...) KW_BY_NUMBER(kwx, any_dim, __VA_ARGS__)
#define kwx_2_any_dim(self, dim) kwx_3_any_dim(self, dim, false)
#define kwx_3_any_dim(self, dim, keepdim) kwx_typed_any_dim(self, dim, keepdim)

/* any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor */
static inline kw_status kw_typed_any_dims(const kw_tensor *self, kw_ints dim, bool keepdim, kw_tensor **out) {
  static kw_op_name op = {"any.dims", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_optional_ints(dim), kw_arg_bool(keepdim)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_typed_any_dims(const kw_tensor *self, kw_ints dim, bool keepdim) {
  kw_tensor *out = NULL;
  kw_typed_any_dims(self, dim, keepdim, &out);
  return out;
}
#define kw_any_dims(...) KW_BY_NUMBER(kw, any_dims, __VA_ARGS__)
#define kw_2_any_dims(self, out) kw_4_any_dims(self, KW_NO_INTS, false, out)
#define kw_3_any_dims(self, dim, out) kw_4_any_dims(self, dim, false, out)
#define kw_4_any_dims(self, dim, keepdim, out) kw_typed_any_dims(self, dim, keepdim, out)
#define kwx_any_dims(...) KW_BY_NUMBER(kwx, any_dims, __VA_ARGS__)
#define kwx_1_any_dims(self) kwx_3_any_dims(self, KW_NO_INTS, false)
#define kwx_2_any_dims(self, dim) kwx_3_any_dims(self, dim, false)
#define kwx_3_any_dims(self, dim, keepdim) kwx_typed_any_dims(self, dim, keepdim)

/* cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor */
static inline kw_status kw_typed_cumsum(const kw_tensor *self, int64_t dim, kw_dtype dtype, kw_tensor **out) {
  static kw_op_name op = {"cumsum", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_int(dim), kw_arg_dtype(dtype)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_typed_cumsum(const kw_tensor *self, int64_t dim, kw_dtype dtype) {
  kw_tensor *out = NULL;
  kw_typed_cumsum(self, dim, dtype, &out);
  return out;
}
#define kw_cumsum(...) KW_BY_NUMBER(kw, cumsum, __VA_ARGS__)
#define kw_3_cumsum(self, dim, out) kw_4_cumsum(self, dim, KW_DTYPE_NONE, out)
#define kw_4_cumsum(self, dim, dtype, out) kw_typed_cumsum(self, dim, dtype, out)
#define kwx_cumsum(...) KW_BY_NUMBER(kwx, cumsum, __VA_ARGS__)
#define kwx_2_cumsum(self, dim) kwx_3_cumsum(self, dim, KW_DTYPE_NONE)
#define kwx_3_cumsum(self, dim, dtype) kwx_typed_cumsum(self, dim, dtype)

/* mm(Tensor self, Tensor mat2) -> Tensor */
static inline kw_status kw_mm(const kw_tensor *self, const kw_tensor *mat2, kw_tensor **out) {
  static kw_op_name op = {"mm", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(mat2)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_mm(const kw_tensor *self, const kw_tensor *mat2) {
  kw_tensor *out = NULL;
  kw_mm(self, mat2, &out);
  return out;
}

/* bmm(Tensor self, Tensor mat2) -> Tensor */
static inline kw_status kw_bmm(const kw_tensor *self, const kw_tensor *mat2, kw_tensor **out) {
  static kw_op_name op = {"bmm", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(mat2)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_bmm(const kw_tensor *self, const kw_tensor *mat2) {
  kw_tensor *out = NULL;
  kw_bmm(self, mat2, &out);
  return out;
}

/* addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor */
static inline kw_status kw_typed_addmm(const kw_tensor *self, const kw_tensor *mat1, const kw_tensor *mat2,
                                       kw_value beta, kw_value alpha, kw_tensor **out) {
  static kw_op_name op = {"addmm", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(mat1), kw_arg_tensor(mat2), beta, alpha};
  return kw_op_run(&op, NULL, args, 5, out, 1);
}
static inline kw_tensor *kwx_typed_addmm(const kw_tensor *self, const kw_tensor *mat1, const kw_tensor *mat2,
                                         kw_value beta, kw_value alpha) {
  kw_tensor *out = NULL;
  kw_typed_addmm(self, mat1, mat2, beta, alpha, &out);
  return out;
}
#define kw_addmm(...) KW_BY_NUMBER(kw, addmm, __VA_ARGS__)
#define kw_4_addmm(self, mat1, mat2, out) kw_6_addmm(self, mat1, mat2, 1, 1, out)
#define kw_5_addmm(self, mat1, mat2, beta, out) kw_6_addmm(self, mat1, mat2, beta, 1, out)
#define kw_6_addmm(self, mat1, mat2, beta, alpha, out) kw_typed_addmm(self, mat1, mat2, KW_AS_SCALAR(beta), \
  KW_AS_SCALAR(alpha), out)
#define kwx_addmm(...) KW_BY_NUMBER(kwx, addmm, __VA_ARGS__)
#define kwx_3_addmm(self, mat1, mat2) kwx_5_addmm(self, mat1, mat2, 1, 1)
#define kwx_4_addmm(self, mat1, mat2, beta) kwx_5_addmm(self, mat1, mat2, beta, 1)
#define kwx_5_addmm(self, mat1, mat2, beta, alpha) kwx_typed_addmm(self, mat1, mat2, KW_AS_SCALAR(beta), \
  KW_AS_SCALAR(alpha))

/* _int_mm(Tensor self, Tensor mat2) -> Tensor */
static inline kw_status kw_int_mm(const kw_tensor *self, const kw_tensor *mat2, kw_tensor **out) {
  static kw_op_name op = {"_int_mm", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(mat2)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_int_mm(const kw_tensor *self, const kw_tensor *mat2) {
  kw_tensor *out = NULL;
  kw_int_mm(self, mat2, &out);
  return out;
}

/* cat(Tensor[] tensors, int dim=0) -> Tensor */
static inline kw_status kw_typed_cat(kw_tensors tensors, int64_t dim, kw_tensor **out) {
  static kw_op_name op = {"cat", NULL};
  const kw_value args[] = {kw_typed_tensors(tensors), kw_arg_int(dim)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_typed_cat(kw_tensors tensors, int64_t dim) {
  kw_tensor *out = NULL;
  kw_typed_cat(tensors, dim, &out);
  return out;
}
#define kw_cat(...) KW_BY_NUMBER(kw, cat, __VA_ARGS__)
#define kw_2_cat(tensors, out) kw_3_cat(tensors, 0, out)
#define kw_3_cat(tensors, dim, out) kw_typed_cat(tensors, dim, out)
#define kwx_cat(...) KW_BY_NUMBER(kwx, cat, __VA_ARGS__)
#define kwx_1_cat(tensors) kwx_2_cat(tensors, 0)
#define kwx_2_cat(tensors, dim) kwx_typed_cat(tensors, dim)

/* embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False,
 * bool sparse=False) -> Tensor */
static inline kw_status kw_typed_embedding(const kw_tensor *weight, const kw_tensor *indices, int64_t padding_idx,
                                           bool scale_grad_by_freq, bool sparse, kw_tensor **out) {
  static kw_op_name op = {"embedding", NULL};
  const kw_value args[] = {kw_arg_tensor(weight), kw_arg_tensor(indices), kw_arg_int(padding_idx),
                           kw_arg_bool(scale_grad_by_freq), kw_arg_bool(sparse)};
  return kw_op_run(&op, NULL, args, 5, out, 1);
}
static inline kw_tensor *kwx_typed_embedding(const kw_tensor *weight, const kw_tensor *indices, int64_t padding_idx,
                                             bool scale_grad_by_freq, bool sparse) {
  kw_tensor *out = NULL;
  kw_typed_embedding(weight, indices, padding_idx, scale_grad_by_freq, sparse, &out);
  return out;
}
#define kw_embedding(...) KW_BY_NUMBER(kw, embedding, __VA_ARGS__)
#define kw_3_embedding(weight, indices, out) kw_6_embedding(weight, indices, -1, false, false, out)
#define kw_4_embedding(weight, indices, padding_idx, out) kw_6_embedding(weight, indices, padding_idx, false, false, \
  out)
#define kw_5_embedding(weight, indices, padding_idx, scale_grad_by_freq, out) kw_6_embedding(weight, indices, \
  padding_idx, scale_grad_by_freq, false, out)
#define kw_6_embedding(weight, indices, padding_idx, scale_grad_by_freq, sparse, out) kw_typed_embedding(weight, \
  indices, padding_idx, scale_grad_by_freq, sparse, out)
#define kwx_embedding(...) KW_BY_NUMBER(kwx, embedding, __VA_ARGS__)
#define kwx_2_embedding(weight, indices) kwx_5_embedding(weight, indices, -1, false, false)
#define kwx_3_embedding(weight, indices, padding_idx) kwx_5_embedding(weight, indices, padding_idx, false, false)
#define kwx_4_embedding(weight, indices, padding_idx, scale_grad_by_freq) kwx_5_embedding(weight, indices, \
  padding_idx, scale_grad_by_freq, false)
#define kwx_5_embedding(weight, indices, padding_idx, scale_grad_by_freq, sparse) kwx_typed_embedding(weight, indices, \
  padding_idx, scale_grad_by_freq, sparse)

/* index_select(Tensor self, int dim, Tensor index) -> Tensor */
static inline kw_status kw_index_select(const kw_tensor *self, int64_t dim, const kw_tensor *index, kw_tensor **out) {
  static kw_op_name op = {"index_select", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_int(dim), kw_arg_tensor(index)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_index_select(const kw_tensor *self, int64_t dim, const kw_tensor *index) {
  kw_tensor *out = NULL;
  kw_index_select(self, dim, index, &out);
  return out;
}

/* gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor */
static inline kw_status kw_typed_gather(const kw_tensor *self, int64_t dim, const kw_tensor *index, bool sparse_grad,
                                        kw_tensor **out) {
  static kw_op_name op = {"gather", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_int(dim), kw_arg_tensor(index), kw_arg_bool(sparse_grad)};
  return kw_op_run(&op, NULL, args, 4, out, 1);
}
static inline kw_tensor *kwx_typed_gather(const kw_tensor *self, int64_t dim, const kw_tensor *index,
                                          bool sparse_grad) {
  kw_tensor *out = NULL;
  kw_typed_gather(self, dim, index, sparse_grad, &out);
  return out;
}
#define kw_gather(...) KW_BY_NUMBER(kw, gather, __VA_ARGS__)
#define kw_4_gather(self, dim, index, out) kw_5_gather(self, dim, index, false, out)
#define kw_5_gather(self, dim, index, sparse_grad, out) kw_typed_gather(self, dim, index, sparse_grad, out)
#define kwx_gather(...) KW_BY_NUMBER(kwx, gather, __VA_ARGS__)
#define kwx_3_gather(self, dim, index) kwx_4_gather(self, dim, index, false)
#define kwx_4_gather(self, dim, index, sparse_grad) kwx_typed_gather(self, dim, index, sparse_grad)

/* scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor */
static inline kw_status kw_scatter_src(const kw_tensor *self, int64_t dim, const kw_tensor *index, const kw_tensor *src,
                                       kw_tensor **out) {
  static kw_op_name op = {"scatter.src", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_int(dim), kw_arg_tensor(index), kw_arg_tensor(src)};
  return kw_op_run(&op, NULL, args, 4, out, 1);
}
static inline kw_tensor *kwx_scatter_src(const kw_tensor *self, int64_t dim, const kw_tensor *index,
                                         const kw_tensor *src) {
  kw_tensor *out = NULL;
  kw_scatter_src(self, dim, index, src, &out);
  return out;
}

/* scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor */
static inline kw_status kw_typed_scatter_value(const kw_tensor *self, int64_t dim, const kw_tensor *index,
                                               kw_value value, kw_tensor **out) {
  static kw_op_name op = {"scatter.value", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_int(dim), kw_arg_tensor(index), value};
  return kw_op_run(&op, NULL, args, 4, out, 1);
}
static inline kw_tensor *kwx_typed_scatter_value(const kw_tensor *self, int64_t dim, const kw_tensor *index,
                                                 kw_value value) {
  kw_tensor *out = NULL;
  kw_typed_scatter_value(self, dim, index, value, &out);
  return out;
}
#define kw_scatter_value(self, dim, index, value, out) kw_typed_scatter_value(self, dim, index, KW_AS_SCALAR(value), \
  out)
#define kwx_scatter_value(self, dim, index, value) kwx_typed_scatter_value(self, dim, index, KW_AS_SCALAR(value))

/* index.Tensor(Tensor self, Tensor?[] indices) -> Tensor */
static inline kw_status kw_index_tensor(const kw_tensor *self, kw_tensors indices, kw_tensor **out) {
  static kw_op_name op = {"index.Tensor", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_tensors(indices)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_index_tensor(const kw_tensor *self, kw_tensors indices) {
  kw_tensor *out = NULL;
  kw_index_tensor(self, indices, &out);
  return out;
}

/* index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor */
static inline kw_status kw_typed_index_put(const kw_tensor *self, kw_tensors indices, const kw_tensor *values,
                                           bool accumulate, kw_tensor **out) {
  static kw_op_name op = {"index_put", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_tensors(indices), kw_arg_tensor(values),
                           kw_arg_bool(accumulate)};
  return kw_op_run(&op, NULL, args, 4, out, 1);
}
static inline kw_tensor *kwx_typed_index_put(const kw_tensor *self, kw_tensors indices, const kw_tensor *values,
                                             bool accumulate) {
  kw_tensor *out = NULL;
  kw_typed_index_put(self, indices, values, accumulate, &out);
  return out;
}
#define kw_index_put(...) KW_BY_NUMBER(kw, index_put, __VA_ARGS__)
#define kw_4_index_put(self, indices, values, out) kw_5_index_put(self, indices, values, false, out)
#define kw_5_index_put(self, indices, values, accumulate, out) kw_typed_index_put(self, indices, values, accumulate, \
  out)
#define kwx_index_put(...) KW_BY_NUMBER(kwx, index_put, __VA_ARGS__)
#define kwx_3_index_put(self, indices, values) kwx_4_index_put(self, indices, values, false)
#define kwx_4_index_put(self, indices, values, accumulate) kwx_typed_index_put(self, indices, values, accumulate)

/* repeat(Tensor self, SymInt[] repeats) -> Tensor */
static inline kw_status kw_repeat(const kw_tensor *self, kw_ints repeats, kw_tensor **out) {
  static kw_op_name op = {"repeat", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_ints(repeats)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_repeat(const kw_tensor *self, kw_ints repeats) {
  kw_tensor *out = NULL;
  kw_repeat(self, repeats, &out);
  return out;
}

/* flip(Tensor self, int[] dims) -> Tensor */
static inline kw_status kw_flip(const kw_tensor *self, kw_ints dims, kw_tensor **out) {
  static kw_op_name op = {"flip", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_ints(dims)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_flip(const kw_tensor *self, kw_ints dims) {
  kw_tensor *out = NULL;
  kw_flip(self, dims, &out);
  return out;
}

/* roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor */
static inline kw_status kw_typed_roll(const kw_tensor *self, kw_ints shifts, kw_ints dims, kw_tensor **out) {
  static kw_op_name op = {"roll", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_ints(shifts), kw_typed_ints(dims)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_typed_roll(const kw_tensor *self, kw_ints shifts, kw_ints dims) {
  kw_tensor *out = NULL;
  kw_typed_roll(self, shifts, dims, &out);
  return out;
}
#define kw_roll(...) KW_BY_NUMBER(kw, roll, __VA_ARGS__)
#define kw_3_roll(self, shifts, out) kw_4_roll(self, shifts, KW_NO_INTS, out)
#define kw_4_roll(self, shifts, dims, out) kw_typed_roll(self, shifts, dims, out)
#define kwx_roll(...) KW_BY_NUMBER(kwx, roll, __VA_ARGS__)
#define kwx_2_roll(self, shifts) kwx_3_roll(self, shifts, KW_NO_INTS)
#define kwx_3_roll(self, shifts, dims) kwx_typed_roll(self, shifts, dims)

/* triu(Tensor self, SymInt diagonal=0) -> Tensor */
static inline kw_status kw_typed_triu(const kw_tensor *self, int64_t diagonal, kw_tensor **out) {
  static kw_op_name op = {"triu", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_int(diagonal)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_typed_triu(const kw_tensor *self, int64_t diagonal) {
  kw_tensor *out = NULL;
  kw_typed_triu(self, diagonal, &out);
  return out;
}
#define kw_triu(...) KW_BY_NUMBER(kw, triu, __VA_ARGS__)
#define kw_2_triu(self, out) kw_3_triu(self, 0, out)
#define kw_3_triu(self, diagonal, out) kw_typed_triu(self, diagonal, out)
#define kwx_triu(...) KW_BY_NUMBER(kwx, triu, __VA_ARGS__)
#define kwx_1_triu(self) kwx_2_triu(self, 0)
#define kwx_2_triu(self, diagonal) kwx_typed_triu(self, diagonal)

/* tril(Tensor self, SymInt diagonal=0) -> Tensor */
static inline kw_status kw_typed_tril(const kw_tensor *self, int64_t diagonal, kw_tensor **out) {
  static kw_op_name op = {"tril", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_int(diagonal)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_typed_tril(const kw_tensor *self, int64_t diagonal) {
  kw_tensor *out = NULL;
  kw_typed_tril(self, diagonal, &out);
  return out;
}
#define kw_tril(...) KW_BY_NUMBER(kw, tril, __VA_ARGS__)
#define kw_2_tril(self, out) kw_3_tril(self, 0, out)
#define kw_3_tril(self, diagonal, out) kw_typed_tril(self, diagonal, out)
#define kwx_tril(...) KW_BY_NUMBER(kwx, tril, __VA_ARGS__)
#define kwx_1_tril(self) kwx_2_tril(self, 0)
#define kwx_2_tril(self, diagonal) kwx_typed_tril(self, diagonal)

/* select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor */
static inline kw_status kw_select_scatter(const kw_tensor *self, const kw_tensor *src, int64_t dim, int64_t index,
                                          kw_tensor **out) {
  static kw_op_name op = {"select_scatter", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(src), kw_arg_int(dim), kw_arg_int(index)};
  return kw_op_run(&op, NULL, args, 4, out, 1);
}
static inline kw_tensor *kwx_select_scatter(const kw_tensor *self, const kw_tensor *src, int64_t dim, int64_t index) {
  kw_tensor *out = NULL;
  kw_select_scatter(self, src, dim, index, &out);
  return out;
}

/* slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor */
static inline kw_status kw_typed_slice_scatter(const kw_tensor *self, const kw_tensor *src, int64_t dim, kw_value start,
                                               kw_value end, int64_t step, kw_tensor **out) {
  static kw_op_name op = {"slice_scatter", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(src), kw_arg_int(dim), start, end, kw_arg_int(step)};
  return kw_op_run(&op, NULL, args, 6, out, 1);
}
static inline kw_tensor *kwx_typed_slice_scatter(const kw_tensor *self, const kw_tensor *src, int64_t dim,
                                                 kw_value start, kw_value end, int64_t step) {
  kw_tensor *out = NULL;
  kw_typed_slice_scatter(self, src, dim, start, end, step, &out);
  return out;
}
#define kw_slice_scatter(...) KW_BY_NUMBER(kw, slice_scatter, __VA_ARGS__)
#define kw_3_slice_scatter(self, src, out) kw_7_slice_scatter(self, src, 0, kw_arg_none(), kw_arg_none(), 1, out)
#define kw_4_slice_scatter(self, src, dim, out) kw_7_slice_scatter(self, src, dim, kw_arg_none(), kw_arg_none(), 1, out)
#define kw_5_slice_scatter(self, src, dim, start, out) kw_7_slice_scatter(self, src, dim, start, kw_arg_none(), 1, out)
#define kw_6_slice_scatter(self, src, dim, start, end, out) kw_7_slice_scatter(self, src, dim, start, end, 1, out)
#define kw_7_slice_scatter(self, src, dim, start, end, step, out) kw_typed_slice_scatter(self, src, dim, \
  KW_AS_INT(start), KW_AS_INT(end), step, out)
#define kwx_slice_scatter(...) KW_BY_NUMBER(kwx, slice_scatter, __VA_ARGS__)
#define kwx_2_slice_scatter(self, src) kwx_6_slice_scatter(self, src, 0, kw_arg_none(), kw_arg_none(), 1)
#define kwx_3_slice_scatter(self, src, dim) kwx_6_slice_scatter(self, src, dim, kw_arg_none(), kw_arg_none(), 1)
#define kwx_4_slice_scatter(self, src, dim, start) kwx_6_slice_scatter(self, src, dim, start, kw_arg_none(), 1)
#define kwx_5_slice_scatter(self, src, dim, start, end) kwx_6_slice_scatter(self, src, dim, start, end, 1)
#define kwx_6_slice_scatter(self, src, dim, start, end, step) kwx_typed_slice_scatter(self, src, dim, \
  KW_AS_INT(start), KW_AS_INT(end), step)

/* constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor */
static inline kw_status kw_typed_constant_pad_nd(const kw_tensor *self, kw_ints pad, kw_value value, kw_tensor **out) {
  static kw_op_name op = {"constant_pad_nd", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_ints(pad), value};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_typed_constant_pad_nd(const kw_tensor *self, kw_ints pad, kw_value value) {
  kw_tensor *out = NULL;
  kw_typed_constant_pad_nd(self, pad, value, &out);
  return out;
}
#define kw_constant_pad_nd(...) KW_BY_NUMBER(kw, constant_pad_nd, __VA_ARGS__)
#define kw_3_constant_pad_nd(self, pad, out) kw_4_constant_pad_nd(self, pad, 0, out)
#define kw_4_constant_pad_nd(self, pad, value, out) kw_typed_constant_pad_nd(self, pad, KW_AS_SCALAR(value), out)
#define kwx_constant_pad_nd(...) KW_BY_NUMBER(kwx, constant_pad_nd, __VA_ARGS__)
#define kwx_2_constant_pad_nd(self, pad) kwx_3_constant_pad_nd(self, pad, 0)
#define kwx_3_constant_pad_nd(self, pad, value) kwx_typed_constant_pad_nd(self, pad, KW_AS_SCALAR(value))

/* reflection_pad1d(Tensor self, SymInt[2] padding) -> Tensor */
static inline kw_status kw_reflection_pad1d(const kw_tensor *self, kw_ints padding, kw_tensor **out) {
  static kw_op_name op = {"reflection_pad1d", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_ints(padding)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_reflection_pad1d(const kw_tensor *self, kw_ints padding) {
  kw_tensor *out = NULL;
  kw_reflection_pad1d(self, padding, &out);
  return out;
}

/* reflection_pad2d(Tensor self, SymInt[4] padding) -> Tensor */
static inline kw_status kw_reflection_pad2d(const kw_tensor *self, kw_ints padding, kw_tensor **out) {
  static kw_op_name op = {"reflection_pad2d", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_ints(padding)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_reflection_pad2d(const kw_tensor *self, kw_ints padding) {
  kw_tensor *out = NULL;
  kw_reflection_pad2d(self, padding, &out);
  return out;
}

/* reflection_pad3d(Tensor self, SymInt[6] padding) -> Tensor */
static inline kw_status kw_reflection_pad3d(const kw_tensor *self, kw_ints padding, kw_tensor **out) {
  static kw_op_name op = {"reflection_pad3d", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_ints(padding)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_reflection_pad3d(const kw_tensor *self, kw_ints padding) {
  kw_tensor *out = NULL;
  kw_reflection_pad3d(self, padding, &out);
  return out;
}

/* replication_pad1d(Tensor self, SymInt[2] padding) -> Tensor */
static inline kw_status kw_replication_pad1d(const kw_tensor *self, kw_ints padding, kw_tensor **out) {
  static kw_op_name op = {"replication_pad1d", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_ints(padding)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_replication_pad1d(const kw_tensor *self, kw_ints padding) {
  kw_tensor *out = NULL;
  kw_replication_pad1d(self, padding, &out);
  return out;
}

/* replication_pad2d(Tensor self, SymInt[4] padding) -> Tensor */
static inline kw_status kw_replication_pad2d(const kw_tensor *self, kw_ints padding, kw_tensor **out) {
  static kw_op_name op = {"replication_pad2d", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_ints(padding)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_replication_pad2d(const kw_tensor *self, kw_ints padding) {
  kw_tensor *out = NULL;
  kw_replication_pad2d(self, padding, &out);
  return out;
}

/* replication_pad3d(Tensor self, SymInt[6] padding) -> Tensor */
static inline kw_status kw_replication_pad3d(const kw_tensor *self, kw_ints padding, kw_tensor **out) {
  static kw_op_name op = {"replication_pad3d", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_ints(padding)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_replication_pad3d(const kw_tensor *self, kw_ints padding) {
  kw_tensor *out = NULL;
  kw_replication_pad3d(self, padding, &out);
  return out;
}

/* reflection_pad1d_backward(Tensor grad_output, Tensor self, SymInt[2] padding) -> Tensor */
static inline kw_status kw_reflection_pad1d_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                                     kw_ints padding, kw_tensor **out) {
  static kw_op_name op = {"reflection_pad1d_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_output), kw_arg_tensor(self), kw_typed_ints(padding)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_reflection_pad1d_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                                       kw_ints padding) {
  kw_tensor *out = NULL;
  kw_reflection_pad1d_backward(grad_output, self, padding, &out);
  return out;
}

/* reflection_pad2d_backward(Tensor grad_output, Tensor self, SymInt[4] padding) -> Tensor */
static inline kw_status kw_reflection_pad2d_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                                     kw_ints padding, kw_tensor **out) {
  static kw_op_name op = {"reflection_pad2d_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_output), kw_arg_tensor(self), kw_typed_ints(padding)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_reflection_pad2d_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                                       kw_ints padding) {
  kw_tensor *out = NULL;
  kw_reflection_pad2d_backward(grad_output, self, padding, &out);
  return out;
}

/* reflection_pad3d_backward(Tensor grad_output, Tensor self, SymInt[6] padding) -> Tensor */
static inline kw_status kw_reflection_pad3d_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                                     kw_ints padding, kw_tensor **out) {
  static kw_op_name op = {"reflection_pad3d_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_output), kw_arg_tensor(self), kw_typed_ints(padding)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_reflection_pad3d_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                                       kw_ints padding) {
  kw_tensor *out = NULL;
  kw_reflection_pad3d_backward(grad_output, self, padding, &out);
  return out;
}

/* replication_pad1d_backward(Tensor grad_output, Tensor self, SymInt[2] padding) -> Tensor */
static inline kw_status kw_replication_pad1d_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                                      kw_ints padding, kw_tensor **out) {
  static kw_op_name op = {"replication_pad1d_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_output), kw_arg_tensor(self), kw_typed_ints(padding)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_replication_pad1d_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                                        kw_ints padding) {
  kw_tensor *out = NULL;
  kw_replication_pad1d_backward(grad_output, self, padding, &out);
  return out;
}

/* replication_pad2d_backward(Tensor grad_output, Tensor self, SymInt[4] padding) -> Tensor */
static inline kw_status kw_replication_pad2d_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                                      kw_ints padding, kw_tensor **out) {
  static kw_op_name op = {"replication_pad2d_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_output), kw_arg_tensor(self), kw_typed_ints(padding)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_replication_pad2d_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                                        kw_ints padding) {
  kw_tensor *out = NULL;
  kw_replication_pad2d_backward(grad_output, self, padding, &out);
  return out;
}

/* replication_pad3d_backward(Tensor grad_output, Tensor self, SymInt[6] padding) -> Tensor */
static inline kw_status kw_replication_pad3d_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                                      kw_ints padding, kw_tensor **out) {
  static kw_op_name op = {"replication_pad3d_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_output), kw_arg_tensor(self), kw_typed_ints(padding)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_replication_pad3d_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                                        kw_ints padding) {
  kw_tensor *out = NULL;
  kw_replication_pad3d_backward(grad_output, self, padding, &out);
  return out;
}

/* scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor */
static inline kw_status kw_scatter_add(const kw_tensor *self, int64_t dim, const kw_tensor *index, const kw_tensor *src,
                                       kw_tensor **out) {
  static kw_op_name op = {"scatter_add", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_int(dim), kw_arg_tensor(index), kw_arg_tensor(src)};
  return kw_op_run(&op, NULL, args, 4, out, 1);
}
static inline kw_tensor *kwx_scatter_add(const kw_tensor *self, int64_t dim, const kw_tensor *index,
                                         const kw_tensor *src) {
  kw_tensor *out = NULL;
  kw_scatter_add(self, dim, index, src, &out);
  return out;
}

/* scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *,
 * bool include_self=True) -> Tensor */
static inline kw_status kw_typed_scatter_reduce_two(const kw_tensor *self, int64_t dim, const kw_tensor *index,
                                                    const kw_tensor *src, const char *reduce, bool include_self,
                                                    kw_tensor **out) {
  static kw_op_name op = {"scatter_reduce.two", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_int(dim), kw_arg_tensor(index), kw_arg_tensor(src),
                           kw_arg_string(reduce), kw_arg_bool(include_self)};
  return kw_op_run(&op, NULL, args, 6, out, 1);
}
static inline kw_tensor *kwx_typed_scatter_reduce_two(const kw_tensor *self, int64_t dim, const kw_tensor *index,
                                                      const kw_tensor *src, const char *reduce, bool include_self) {
  kw_tensor *out = NULL;
  kw_typed_scatter_reduce_two(self, dim, index, src, reduce, include_self, &out);
  return out;
}
#define kw_scatter_reduce_two(...) KW_BY_NUMBER(kw, scatter_reduce_two, __VA_ARGS__)
#define kw_6_scatter_reduce_two(self, dim, index, src, reduce, out) kw_7_scatter_reduce_two(self, dim, index, src, \
  reduce, true, out)
#define kw_7_scatter_reduce_two(self, dim, index, src, reduce, include_self, out) kw_typed_scatter_reduce_two(self, \
  dim, index, src, reduce, include_self, out)
#define kwx_scatter_reduce_two(...) KW_BY_NUMBER(kwx, scatter_reduce_two, __VA_ARGS__)
#define kwx_5_scatter_reduce_two(self, dim, index, src, reduce) kwx_6_scatter_reduce_two(self, dim, index, src, \
  reduce, true)
#define kwx_6_scatter_reduce_two(self, dim, index, src, reduce, include_self) kwx_typed_scatter_reduce_two(self, dim, \
  index, src, reduce, include_self)

/* index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor */
static inline kw_status kw_typed_index_add(const kw_tensor *self, int64_t dim, const kw_tensor *index,
                                           const kw_tensor *source, kw_value alpha, kw_tensor **out) {
  static kw_op_name op = {"index_add", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_int(dim), kw_arg_tensor(index), kw_arg_tensor(source), alpha};
  return kw_op_run(&op, NULL, args, 5, out, 1);
}
static inline kw_tensor *kwx_typed_index_add(const kw_tensor *self, int64_t dim, const kw_tensor *index,
                                             const kw_tensor *source, kw_value alpha) {
  kw_tensor *out = NULL;
  kw_typed_index_add(self, dim, index, source, alpha, &out);
  return out;
}
#define kw_index_add(...) KW_BY_NUMBER(kw, index_add, __VA_ARGS__)
#define kw_5_index_add(self, dim, index, source, out) kw_6_index_add(self, dim, index, source, 1, out)
#define kw_6_index_add(self, dim, index, source, alpha, out) kw_typed_index_add(self, dim, index, source, \
  KW_AS_SCALAR(alpha), out)
#define kwx_index_add(...) KW_BY_NUMBER(kwx, index_add, __VA_ARGS__)
#define kwx_4_index_add(self, dim, index, source) kwx_5_index_add(self, dim, index, source, 1)
#define kwx_5_index_add(self, dim, index, source, alpha) kwx_typed_index_add(self, dim, index, source, \
  KW_AS_SCALAR(alpha))

/* _cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor */
static inline kw_status kw_typed_cdist(const kw_tensor *x1, const kw_tensor *x2, double p, kw_value compute_mode,
                                       kw_tensor **out) {
  static kw_op_name op = {"_cdist_forward", NULL};
  const kw_value args[] = {kw_arg_tensor(x1), kw_arg_tensor(x2), kw_arg_float(p), compute_mode};
  return kw_op_run(&op, NULL, args, 4, out, 1);
}
static inline kw_tensor *kwx_typed_cdist(const kw_tensor *x1, const kw_tensor *x2, double p, kw_value compute_mode) {
  kw_tensor *out = NULL;
  kw_typed_cdist(x1, x2, p, compute_mode, &out);
  return out;
}
#define kw_cdist(...) KW_BY_NUMBER(kw, cdist, __VA_ARGS__)
#define kw_3_cdist(x1, x2, out) kw_5_cdist(x1, x2, 2.0, kw_arg_none(), out)
#define kw_4_cdist(x1, x2, p, out) kw_5_cdist(x1, x2, p, kw_arg_none(), out)
#define kw_5_cdist(x1, x2, p, compute_mode, out) kw_typed_cdist(x1, x2, p, KW_AS_INT(compute_mode), out)
#define kwx_cdist(...) KW_BY_NUMBER(kwx, cdist, __VA_ARGS__)
#define kwx_2_cdist(x1, x2) kwx_4_cdist(x1, x2, 2.0, kw_arg_none())
#define kwx_3_cdist(x1, x2, p) kwx_4_cdist(x1, x2, p, kw_arg_none())
#define kwx_4_cdist(x1, x2, p, compute_mode) kwx_typed_cdist(x1, x2, p, KW_AS_INT(compute_mode))

/* _pdist_forward(Tensor self, float p=2) -> Tensor */
static inline kw_status kw_typed_pdist(const kw_tensor *self, double p, kw_tensor **out) {
  static kw_op_name op = {"_pdist_forward", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_float(p)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_typed_pdist(const kw_tensor *self, double p) {
  kw_tensor *out = NULL;
  kw_typed_pdist(self, p, &out);
  return out;
}
#define kw_pdist(...) KW_BY_NUMBER(kw, pdist, __VA_ARGS__)
#define kw_2_pdist(self, out) kw_3_pdist(self, 2.0, out)
#define kw_3_pdist(self, p, out) kw_typed_pdist(self, p, out)
#define kwx_pdist(...) KW_BY_NUMBER(kwx, pdist, __VA_ARGS__)
#define kwx_1_pdist(self) kwx_2_pdist(self, 2.0)
#define kwx_2_pdist(self, p) kwx_typed_pdist(self, p)

/* _fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor */
static inline kw_status kw_fft_r2c(const kw_tensor *self, kw_ints dim, int64_t normalization, bool onesided,
                                   kw_tensor **out) {
  static kw_op_name op = {"_fft_r2c", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_ints(dim), kw_arg_int(normalization), kw_arg_bool(onesided)};
  return kw_op_run(&op, NULL, args, 4, out, 1);
}
static inline kw_tensor *kwx_fft_r2c(const kw_tensor *self, kw_ints dim, int64_t normalization, bool onesided) {
  kw_tensor *out = NULL;
  kw_fft_r2c(self, dim, normalization, onesided, &out);
  return out;
}

/* _fft_c2r(Tensor self, int[] dim, int normalization, SymInt last_dim_size) -> Tensor */
static inline kw_status kw_fft_c2r(const kw_tensor *self, kw_ints dim, int64_t normalization, int64_t last_dim_size,
                                   kw_tensor **out) {
  static kw_op_name op = {"_fft_c2r", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_ints(dim), kw_arg_int(normalization),
                           kw_arg_int(last_dim_size)};
  return kw_op_run(&op, NULL, args, 4, out, 1);
}
static inline kw_tensor *kwx_fft_c2r(const kw_tensor *self, kw_ints dim, int64_t normalization, int64_t last_dim_size) {
  kw_tensor *out = NULL;
  kw_fft_c2r(self, dim, normalization, last_dim_size, &out);
  return out;
}

/* _fft_c2c(Tensor self, SymInt[] dim, int normalization, bool forward) -> Tensor */
static inline kw_status kw_fft_c2c(const kw_tensor *self, kw_ints dim, int64_t normalization, bool forward,
                                   kw_tensor **out) {
  static kw_op_name op = {"_fft_c2c", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_ints(dim), kw_arg_int(normalization), kw_arg_bool(forward)};
  return kw_op_run(&op, NULL, args, 4, out, 1);
}
static inline kw_tensor *kwx_fft_c2c(const kw_tensor *self, kw_ints dim, int64_t normalization, bool forward) {
  kw_tensor *out = NULL;
  kw_fft_c2c(self, dim, normalization, forward, &out);
  return out;
}

/* _softmax(Tensor self, int dim, bool half_to_float) -> Tensor */
static inline kw_status kw_typed_softmax(const kw_tensor *self, int64_t dim, bool half_to_float, kw_tensor **out) {
  static kw_op_name op = {"_softmax", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_int(dim), kw_arg_bool(half_to_float)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_typed_softmax(const kw_tensor *self, int64_t dim, bool half_to_float) {
  kw_tensor *out = NULL;
  kw_typed_softmax(self, dim, half_to_float, &out);
  return out;
}
#define kw_softmax(...) KW_BY_NUMBER(kw, softmax, __VA_ARGS__)
#define kw_3_softmax(self, dim, out) kw_4_softmax(self, dim, false, out)
#define kw_4_softmax(self, dim, half_to_float, out) kw_typed_softmax(self, dim, half_to_float, out)
#define kwx_softmax(...) KW_BY_NUMBER(kwx, softmax, __VA_ARGS__)
#define kwx_2_softmax(self, dim) kwx_3_softmax(self, dim, false)
#define kwx_3_softmax(self, dim, half_to_float) kwx_typed_softmax(self, dim, half_to_float)

/* _log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor */
static inline kw_status kw_typed_log_softmax(const kw_tensor *self, int64_t dim, bool half_to_float, kw_tensor **out) {
  static kw_op_name op = {"_log_softmax", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_int(dim), kw_arg_bool(half_to_float)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_typed_log_softmax(const kw_tensor *self, int64_t dim, bool half_to_float) {
  kw_tensor *out = NULL;
  kw_typed_log_softmax(self, dim, half_to_float, &out);
  return out;
}
#define kw_log_softmax(...) KW_BY_NUMBER(kw, log_softmax, __VA_ARGS__)
#define kw_3_log_softmax(self, dim, out) kw_4_log_softmax(self, dim, false, out)
#define kw_4_log_softmax(self, dim, half_to_float, out) kw_typed_log_softmax(self, dim, half_to_float, out)
#define kwx_log_softmax(...) KW_BY_NUMBER(kwx, log_softmax, __VA_ARGS__)
#define kwx_2_log_softmax(self, dim) kwx_3_log_softmax(self, dim, false)
#define kwx_3_log_softmax(self, dim, half_to_float) kwx_typed_log_softmax(self, dim, half_to_float)

/* native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> (Tensor,
 * Tensor, Tensor) */
static inline kw_status kw_typed_native_layer_norm(const kw_tensor *input, kw_ints normalized_shape,
                                                   const kw_tensor *weight, const kw_tensor *bias, double eps,
                                                   kw_tensor **out_0, kw_tensor **out_1, kw_tensor **out_2) {
  static kw_op_name op = {"native_layer_norm", NULL};
  const kw_value args[] = {kw_arg_tensor(input), kw_typed_ints(normalized_shape), kw_typed_optional(weight),
                           kw_typed_optional(bias), kw_arg_float(eps)};
  kw_tensor *outs[] = {*out_0, *out_1, *out_2};
  const kw_status status = kw_op_run(&op, NULL, args, 5, outs, 3);
  *out_0 = outs[0];
  *out_1 = outs[1];
  *out_2 = outs[2];
  return status;
}
static inline kw_tensor *kwx_typed_native_layer_norm(const kw_tensor *input, kw_ints normalized_shape,
                                                     const kw_tensor *weight, const kw_tensor *bias, double eps) {
  kw_tensor *out_0 = NULL, *out_1 = NULL, *out_2 = NULL;
  kw_typed_native_layer_norm(input, normalized_shape, weight, bias, eps, &out_0, &out_1, &out_2);
  kw_scope_release(out_1);
  kw_scope_release(out_2);
  return out_0;
}
#define kw_native_layer_norm(...) KW_BY_NUMBER(kw, native_layer_norm, __VA_ARGS__)
#define kw_5_native_layer_norm(input, normalized_shape, out_0, out_1, out_2) kw_8_native_layer_norm(input, \
  normalized_shape, NULL, NULL, 1e-05, out_0, out_1, out_2)
#define kw_6_native_layer_norm(input, normalized_shape, weight, out_0, out_1, out_2) kw_8_native_layer_norm(input, \
  normalized_shape, weight, NULL, 1e-05, out_0, out_1, out_2)
#define kw_7_native_layer_norm(input, normalized_shape, weight, bias, out_0, out_1, out_2) \
  kw_8_native_layer_norm(input, normalized_shape, weight, bias, 1e-05, out_0, out_1, out_2)
#define kw_8_native_layer_norm(input, normalized_shape, weight, bias, eps, out_0, out_1, out_2) \
  kw_typed_native_layer_norm(input, normalized_shape, weight, bias, eps, out_0, out_1, out_2)
#define kwx_native_layer_norm(...) KW_BY_NUMBER(kwx, native_layer_norm, __VA_ARGS__)
#define kwx_2_native_layer_norm(input, normalized_shape) kwx_5_native_layer_norm(input, normalized_shape, NULL, NULL, \
  1e-05)
#define kwx_3_native_layer_norm(input, normalized_shape, weight) kwx_5_native_layer_norm(input, normalized_shape, \
  weight, NULL, 1e-05)
#define kwx_4_native_layer_norm(input, normalized_shape, weight, bias) kwx_5_native_layer_norm(input, \
  normalized_shape, weight, bias, 1e-05)
#define kwx_5_native_layer_norm(input, normalized_shape, weight, bias, eps) kwx_typed_native_layer_norm(input, \
  normalized_shape, weight, bias, eps)

/* rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor */
static inline kw_status kw_typed_rms_norm(const kw_tensor *input, kw_ints normalized_shape, const kw_tensor *weight,
                                          kw_value eps, kw_tensor **out) {
  static kw_op_name op = {"rms_norm", NULL};
  const kw_value args[] = {kw_arg_tensor(input), kw_typed_ints(normalized_shape), kw_typed_optional(weight), eps};
  return kw_op_run(&op, NULL, args, 4, out, 1);
}
static inline kw_tensor *kwx_typed_rms_norm(const kw_tensor *input, kw_ints normalized_shape, const kw_tensor *weight,
                                            kw_value eps) {
  kw_tensor *out = NULL;
  kw_typed_rms_norm(input, normalized_shape, weight, eps, &out);
  return out;
}
#define kw_rms_norm(...) KW_BY_NUMBER(kw, rms_norm, __VA_ARGS__)
#define kw_3_rms_norm(input, normalized_shape, out) kw_5_rms_norm(input, normalized_shape, NULL, kw_arg_none(), out)
#define kw_4_rms_norm(input, normalized_shape, weight, out) kw_5_rms_norm(input, normalized_shape, weight, \
  kw_arg_none(), out)
#define kw_5_rms_norm(input, normalized_shape, weight, eps, out) kw_typed_rms_norm(input, normalized_shape, weight, \
  KW_AS_FLOAT(eps), out)
#define kwx_rms_norm(...) KW_BY_NUMBER(kwx, rms_norm, __VA_ARGS__)
#define kwx_2_rms_norm(input, normalized_shape) kwx_4_rms_norm(input, normalized_shape, NULL, kw_arg_none())
#define kwx_3_rms_norm(input, normalized_shape, weight) kwx_4_rms_norm(input, normalized_shape, weight, kw_arg_none())
#define kwx_4_rms_norm(input, normalized_shape, weight, eps) kwx_typed_rms_norm(input, normalized_shape, weight, \
  KW_AS_FLOAT(eps))

/* scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0.,
 * bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor */
static inline kw_status kw_typed_scaled_dot_product_attention(const kw_tensor *query, const kw_tensor *key,
                                                              const kw_tensor *value, const kw_tensor *attn_mask,
                                                              double dropout_p, bool is_causal, kw_value scale,
                                                              bool enable_gqa, kw_tensor **out) {
  static kw_op_name op = {"scaled_dot_product_attention", NULL};
  const kw_value args[] = {kw_arg_tensor(query), kw_arg_tensor(key), kw_arg_tensor(value), kw_typed_optional(attn_mask),
                           kw_arg_float(dropout_p), kw_arg_bool(is_causal), scale, kw_arg_bool(enable_gqa)};
  return kw_op_run(&op, NULL, args, 8, out, 1);
}
static inline kw_tensor *kwx_typed_scaled_dot_product_attention(const kw_tensor *query, const kw_tensor *key,
                                                                const kw_tensor *value, const kw_tensor *attn_mask,
                                                                double dropout_p, bool is_causal, kw_value scale,
                                                                bool enable_gqa) {
  kw_tensor *out = NULL;
  kw_typed_scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa, &out);
  return out;
}
#define kw_scaled_dot_product_attention(...) KW_BY_NUMBER(kw, scaled_dot_product_attention, __VA_ARGS__)
#define kw_4_scaled_dot_product_attention(query, key, value, out) kw_9_scaled_dot_product_attention(query, key, value, \
  NULL, 0.0, false, kw_arg_none(), false, out)
#define kw_5_scaled_dot_product_attention(query, key, value, attn_mask, out) kw_9_scaled_dot_product_attention(query, \
  key, value, attn_mask, 0.0, false, kw_arg_none(), false, out)
#define kw_6_scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, out) \
  kw_9_scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, false, kw_arg_none(), false, out)
#define kw_7_scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, out) \
  kw_9_scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, kw_arg_none(), false, out)
#define kw_8_scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale, out) \
  kw_9_scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale, false, out)
#define kw_9_scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa, out) \
  kw_typed_scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, KW_AS_FLOAT(scale), \
  enable_gqa, out)
#define kwx_scaled_dot_product_attention(...) KW_BY_NUMBER(kwx, scaled_dot_product_attention, __VA_ARGS__)
#define kwx_3_scaled_dot_product_attention(query, key, value) kwx_8_scaled_dot_product_attention(query, key, value, \
  NULL, 0.0, false, kw_arg_none(), false)
#define kwx_4_scaled_dot_product_attention(query, key, value, attn_mask) kwx_8_scaled_dot_product_attention(query, \
  key, value, attn_mask, 0.0, false, kw_arg_none(), false)
#define kwx_5_scaled_dot_product_attention(query, key, value, attn_mask, dropout_p) \
  kwx_8_scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, false, kw_arg_none(), false)
#define kwx_6_scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal) \
  kwx_8_scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, kw_arg_none(), false)
#define kwx_7_scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale) \
  kwx_8_scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale, false)
#define kwx_8_scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa) \
  kwx_typed_scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, KW_AS_FLOAT(scale), \
  enable_gqa)

/* keyway::attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, *, float? scale=None,
 * float softcap=0, int window_left=-1, int window_right=-1) -> (Tensor, Tensor) */
static inline kw_status kw_typed_attention(const kw_tensor *query, const kw_tensor *key, const kw_tensor *value,
                                           const kw_tensor *attn_mask, kw_value scale, double softcap,
                                           int64_t window_left, int64_t window_right, kw_tensor **out_0,
                                           kw_tensor **out_1) {
  static kw_op_name op = {"keyway::attention", NULL};
  const kw_value args[] = {kw_arg_tensor(query), kw_arg_tensor(key), kw_arg_tensor(value), kw_typed_optional(attn_mask),
                           scale, kw_arg_float(softcap), kw_arg_int(window_left), kw_arg_int(window_right)};
  kw_tensor *outs[] = {*out_0, *out_1};
  const kw_status status = kw_op_run(&op, NULL, args, 8, outs, 2);
  *out_0 = outs[0];
  *out_1 = outs[1];
  return status;
}
static inline kw_tensor *kwx_typed_attention(const kw_tensor *query, const kw_tensor *key, const kw_tensor *value,
                                             const kw_tensor *attn_mask, kw_value scale, double softcap,
                                             int64_t window_left, int64_t window_right) {
  kw_tensor *out_0 = NULL, *out_1 = NULL;
  kw_typed_attention(query, key, value, attn_mask, scale, softcap, window_left, window_right, &out_0, &out_1);
  kw_scope_release(out_1);
  return out_0;
}
#define kw_attention(...) KW_BY_NUMBER(kw, attention, __VA_ARGS__)
#define kw_5_attention(query, key, value, out_0, out_1) kw_10_attention(query, key, value, NULL, kw_arg_none(), 0.0, \
  -1, -1, out_0, out_1)
#define kw_6_attention(query, key, value, attn_mask, out_0, out_1) kw_10_attention(query, key, value, attn_mask, \
  kw_arg_none(), 0.0, -1, -1, out_0, out_1)
#define kw_7_attention(query, key, value, attn_mask, scale, out_0, out_1) kw_10_attention(query, key, value, \
  attn_mask, scale, 0.0, -1, -1, out_0, out_1)
#define kw_8_attention(query, key, value, attn_mask, scale, softcap, out_0, out_1) kw_10_attention(query, key, value, \
  attn_mask, scale, softcap, -1, -1, out_0, out_1)
#define kw_9_attention(query, key, value, attn_mask, scale, softcap, window_left, out_0, out_1) kw_10_attention(query, \
  key, value, attn_mask, scale, softcap, window_left, -1, out_0, out_1)
#define kw_10_attention(query, key, value, attn_mask, scale, softcap, window_left, window_right, out_0, out_1) \
  kw_typed_attention(query, key, value, attn_mask, KW_AS_FLOAT(scale), softcap, window_left, window_right, out_0, out_1)
#define kwx_attention(...) KW_BY_NUMBER(kwx, attention, __VA_ARGS__)
#define kwx_3_attention(query, key, value) kwx_8_attention(query, key, value, NULL, kw_arg_none(), 0.0, -1, -1)
#define kwx_4_attention(query, key, value, attn_mask) kwx_8_attention(query, key, value, attn_mask, kw_arg_none(), \
  0.0, -1, -1)
#define kwx_5_attention(query, key, value, attn_mask, scale) kwx_8_attention(query, key, value, attn_mask, scale, 0.0, \
  -1, -1)
#define kwx_6_attention(query, key, value, attn_mask, scale, softcap) kwx_8_attention(query, key, value, attn_mask, \
  scale, softcap, -1, -1)
#define kwx_7_attention(query, key, value, attn_mask, scale, softcap, window_left) kwx_8_attention(query, key, value, \
  attn_mask, scale, softcap, window_left, -1)
#define kwx_8_attention(query, key, value, attn_mask, scale, softcap, window_left, window_right) \
  kwx_typed_attention(query, key, value, attn_mask, KW_AS_FLOAT(scale), softcap, window_left, window_right)

/* keyway::attention_decode(Tensor query, Tensor key, Tensor value, Tensor lengths, *, float? scale=None,
 * float softcap=0, int window_left=-1) -> (Tensor, Tensor) */
static inline kw_status kw_typed_attention_decode(const kw_tensor *query, const kw_tensor *key, const kw_tensor *value,
                                                  const kw_tensor *lengths, kw_value scale, double softcap,
                                                  int64_t window_left, kw_tensor **out_0, kw_tensor **out_1) {
  static kw_op_name op = {"keyway::attention_decode", NULL};
  const kw_value args[] = {kw_arg_tensor(query), kw_arg_tensor(key), kw_arg_tensor(value), kw_arg_tensor(lengths),
                           scale, kw_arg_float(softcap), kw_arg_int(window_left)};
  kw_tensor *outs[] = {*out_0, *out_1};
  const kw_status status = kw_op_run(&op, NULL, args, 7, outs, 2);
  *out_0 = outs[0];
  *out_1 = outs[1];
  return status;
}
static inline kw_tensor *kwx_typed_attention_decode(const kw_tensor *query, const kw_tensor *key,
                                                    const kw_tensor *value, const kw_tensor *lengths, kw_value scale,
                                                    double softcap, int64_t window_left) {
  kw_tensor *out_0 = NULL, *out_1 = NULL;
  kw_typed_attention_decode(query, key, value, lengths, scale, softcap, window_left, &out_0, &out_1);
  kw_scope_release(out_1);
  return out_0;
}
#define kw_attention_decode(...) KW_BY_NUMBER(kw, attention_decode, __VA_ARGS__)
#define kw_6_attention_decode(query, key, value, lengths, out_0, out_1) kw_9_attention_decode(query, key, value, \
  lengths, kw_arg_none(), 0.0, -1, out_0, out_1)
#define kw_7_attention_decode(query, key, value, lengths, scale, out_0, out_1) kw_9_attention_decode(query, key, \
  value, lengths, scale, 0.0, -1, out_0, out_1)
#define kw_8_attention_decode(query, key, value, lengths, scale, softcap, out_0, out_1) kw_9_attention_decode(query, \
  key, value, lengths, scale, softcap, -1, out_0, out_1)
#define kw_9_attention_decode(query, key, value, lengths, scale, softcap, window_left, out_0, out_1) \
  kw_typed_attention_decode(query, key, value, lengths, KW_AS_FLOAT(scale), softcap, window_left, out_0, out_1)
#define kwx_attention_decode(...) KW_BY_NUMBER(kwx, attention_decode, __VA_ARGS__)
#define kwx_4_attention_decode(query, key, value, lengths) kwx_7_attention_decode(query, key, value, lengths, \
  kw_arg_none(), 0.0, -1)
#define kwx_5_attention_decode(query, key, value, lengths, scale) kwx_7_attention_decode(query, key, value, lengths, \
  scale, 0.0, -1)
#define kwx_6_attention_decode(query, key, value, lengths, scale, softcap) kwx_7_attention_decode(query, key, value, \
  lengths, scale, softcap, -1)
#define kwx_7_attention_decode(query, key, value, lengths, scale, softcap, window_left) \
  kwx_typed_attention_decode(query, key, value, lengths, KW_AS_FLOAT(scale), softcap, window_left)

/* keyway::attention_varlen(Tensor query, Tensor key, Tensor value, Tensor cu_seqlens_q, Tensor cu_seqlens_k, *,
 * float? scale=None, float softcap=0, int window_left=-1, int window_right=-1) -> (Tensor, Tensor) */
static inline kw_status kw_typed_attention_varlen(const kw_tensor *query, const kw_tensor *key, const kw_tensor *value,
                                                  const kw_tensor *cu_seqlens_q, const kw_tensor *cu_seqlens_k,
                                                  kw_value scale, double softcap, int64_t window_left,
                                                  int64_t window_right, kw_tensor **out_0, kw_tensor **out_1) {
  static kw_op_name op = {"keyway::attention_varlen", NULL};
  const kw_value args[] = {kw_arg_tensor(query), kw_arg_tensor(key), kw_arg_tensor(value), kw_arg_tensor(cu_seqlens_q),
                           kw_arg_tensor(cu_seqlens_k), scale, kw_arg_float(softcap), kw_arg_int(window_left),
                           kw_arg_int(window_right)};
  kw_tensor *outs[] = {*out_0, *out_1};
  const kw_status status = kw_op_run(&op, NULL, args, 9, outs, 2);
  *out_0 = outs[0];
  *out_1 = outs[1];
  return status;
}
static inline kw_tensor *kwx_typed_attention_varlen(const kw_tensor *query, const kw_tensor *key,
                                                    const kw_tensor *value, const kw_tensor *cu_seqlens_q,
                                                    const kw_tensor *cu_seqlens_k, kw_value scale, double softcap,
                                                    int64_t window_left, int64_t window_right) {
  kw_tensor *out_0 = NULL, *out_1 = NULL;
  kw_typed_attention_varlen(query, key, value, cu_seqlens_q, cu_seqlens_k, scale, softcap, window_left, window_right,
      &out_0, &out_1);
  kw_scope_release(out_1);
  return out_0;
}
#define kw_attention_varlen(...) KW_BY_NUMBER(kw, attention_varlen, __VA_ARGS__)
#define kw_7_attention_varlen(query, key, value, cu_seqlens_q, cu_seqlens_k, out_0, out_1) \
  kw_11_attention_varlen(query, key, value, cu_seqlens_q, cu_seqlens_k, kw_arg_none(), 0.0, -1, -1, out_0, out_1)
#define kw_8_attention_varlen(query, key, value, cu_seqlens_q, cu_seqlens_k, scale, out_0, out_1) \
  kw_11_attention_varlen(query, key, value, cu_seqlens_q, cu_seqlens_k, scale, 0.0, -1, -1, out_0, out_1)
#define kw_9_attention_varlen(query, key, value, cu_seqlens_q, cu_seqlens_k, scale, softcap, out_0, out_1) \
  kw_11_attention_varlen(query, key, value, cu_seqlens_q, cu_seqlens_k, scale, softcap, -1, -1, out_0, out_1)
#define kw_10_attention_varlen(query, key, value, cu_seqlens_q, cu_seqlens_k, scale, softcap, window_left, out_0, \
  out_1) kw_11_attention_varlen(query, key, value, cu_seqlens_q, cu_seqlens_k, scale, softcap, window_left, -1, out_0, \
  out_1)
#define kw_11_attention_varlen(query, key, value, cu_seqlens_q, cu_seqlens_k, scale, softcap, window_left, \
  window_right, out_0, out_1) kw_typed_attention_varlen(query, key, value, cu_seqlens_q, cu_seqlens_k, \
  KW_AS_FLOAT(scale), softcap, window_left, window_right, out_0, out_1)
#define kwx_attention_varlen(...) KW_BY_NUMBER(kwx, attention_varlen, __VA_ARGS__)
#define kwx_5_attention_varlen(query, key, value, cu_seqlens_q, cu_seqlens_k) kwx_9_attention_varlen(query, key, \
  value, cu_seqlens_q, cu_seqlens_k, kw_arg_none(), 0.0, -1, -1)
#define kwx_6_attention_varlen(query, key, value, cu_seqlens_q, cu_seqlens_k, scale) kwx_9_attention_varlen(query, \
  key, value, cu_seqlens_q, cu_seqlens_k, scale, 0.0, -1, -1)
#define kwx_7_attention_varlen(query, key, value, cu_seqlens_q, cu_seqlens_k, scale, softcap) \
  kwx_9_attention_varlen(query, key, value, cu_seqlens_q, cu_seqlens_k, scale, softcap, -1, -1)
#define kwx_8_attention_varlen(query, key, value, cu_seqlens_q, cu_seqlens_k, scale, softcap, window_left) \
  kwx_9_attention_varlen(query, key, value, cu_seqlens_q, cu_seqlens_k, scale, softcap, window_left, -1)
#define kwx_9_attention_varlen(query, key, value, cu_seqlens_q, cu_seqlens_k, scale, softcap, window_left, \
  window_right) kwx_typed_attention_varlen(query, key, value, cu_seqlens_q, cu_seqlens_k, KW_AS_FLOAT(scale), softcap, \
  window_left, window_right)

/* keyway::attention_backward(Tensor grad_out, Tensor query, Tensor key, Tensor value, Tensor out, Tensor logsumexp,
 * Tensor? attn_mask=None, *, float? scale=None, float softcap=0, int window_left=-1, int window_right=-1) -> (Tensor,
 * Tensor, Tensor) */
static inline kw_status kw_typed_attention_backward(const kw_tensor *grad_out, const kw_tensor *query,
                                                    const kw_tensor *key, const kw_tensor *value, const kw_tensor *out,
                                                    const kw_tensor *logsumexp, const kw_tensor *attn_mask,
                                                    kw_value scale, double softcap, int64_t window_left,
                                                    int64_t window_right, kw_tensor **out_0, kw_tensor **out_1,
                                                    kw_tensor **out_2) {
  static kw_op_name op = {"keyway::attention_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_out), kw_arg_tensor(query), kw_arg_tensor(key), kw_arg_tensor(value),
                           kw_arg_tensor(out), kw_arg_tensor(logsumexp), kw_typed_optional(attn_mask), scale,
                           kw_arg_float(softcap), kw_arg_int(window_left), kw_arg_int(window_right)};
  kw_tensor *outs[] = {*out_0, *out_1, *out_2};
  const kw_status status = kw_op_run(&op, NULL, args, 11, outs, 3);
  *out_0 = outs[0];
  *out_1 = outs[1];
  *out_2 = outs[2];
  return status;
}
static inline kw_tensor *kwx_typed_attention_backward(const kw_tensor *grad_out, const kw_tensor *query,
                                                      const kw_tensor *key, const kw_tensor *value,
                                                      const kw_tensor *out, const kw_tensor *logsumexp,
                                                      const kw_tensor *attn_mask, kw_value scale, double softcap,
                                                      int64_t window_left, int64_t window_right) {
  kw_tensor *out_0 = NULL, *out_1 = NULL, *out_2 = NULL;
  kw_typed_attention_backward(grad_out, query, key, value, out, logsumexp, attn_mask, scale, softcap, window_left,
      window_right, &out_0, &out_1, &out_2);
  kw_scope_release(out_1);
  kw_scope_release(out_2);
  return out_0;
}
#define kw_attention_backward(...) KW_BY_NUMBER(kw, attention_backward, __VA_ARGS__)
#define kw_9_attention_backward(grad_out, query, key, value, out, logsumexp, out_0, out_1, out_2) \
  kw_14_attention_backward(grad_out, query, key, value, out, logsumexp, NULL, kw_arg_none(), 0.0, -1, -1, out_0, \
  out_1, out_2)
#define kw_10_attention_backward(grad_out, query, key, value, out, logsumexp, attn_mask, out_0, out_1, out_2) \
  kw_14_attention_backward(grad_out, query, key, value, out, logsumexp, attn_mask, kw_arg_none(), 0.0, -1, -1, out_0, \
  out_1, out_2)
#define kw_11_attention_backward(grad_out, query, key, value, out, logsumexp, attn_mask, scale, out_0, out_1, out_2) \
  kw_14_attention_backward(grad_out, query, key, value, out, logsumexp, attn_mask, scale, 0.0, -1, -1, out_0, out_1, \
  out_2)
#define kw_12_attention_backward(grad_out, query, key, value, out, logsumexp, attn_mask, scale, softcap, out_0, out_1, \
  out_2) kw_14_attention_backward(grad_out, query, key, value, out, logsumexp, attn_mask, scale, softcap, -1, -1, \
  out_0, out_1, out_2)
#define kw_13_attention_backward(grad_out, query, key, value, out, logsumexp, attn_mask, scale, softcap, window_left, \
  out_0, out_1, out_2) kw_14_attention_backward(grad_out, query, key, value, out, logsumexp, attn_mask, scale, \
  softcap, window_left, -1, out_0, out_1, out_2)
#define kw_14_attention_backward(grad_out, query, key, value, out, logsumexp, attn_mask, scale, softcap, window_left, \
  window_right, out_0, out_1, out_2) kw_typed_attention_backward(grad_out, query, key, value, out, logsumexp, \
  attn_mask, KW_AS_FLOAT(scale), softcap, window_left, window_right, out_0, out_1, out_2)
#define kwx_attention_backward(...) KW_BY_NUMBER(kwx, attention_backward, __VA_ARGS__)
#define kwx_6_attention_backward(grad_out, query, key, value, out, logsumexp) kwx_11_attention_backward(grad_out, \
  query, key, value, out, logsumexp, NULL, kw_arg_none(), 0.0, -1, -1)
#define kwx_7_attention_backward(grad_out, query, key, value, out, logsumexp, attn_mask) \
  kwx_11_attention_backward(grad_out, query, key, value, out, logsumexp, attn_mask, kw_arg_none(), 0.0, -1, -1)
#define kwx_8_attention_backward(grad_out, query, key, value, out, logsumexp, attn_mask, scale) \
  kwx_11_attention_backward(grad_out, query, key, value, out, logsumexp, attn_mask, scale, 0.0, -1, -1)
#define kwx_9_attention_backward(grad_out, query, key, value, out, logsumexp, attn_mask, scale, softcap) \
  kwx_11_attention_backward(grad_out, query, key, value, out, logsumexp, attn_mask, scale, softcap, -1, -1)
#define kwx_10_attention_backward(grad_out, query, key, value, out, logsumexp, attn_mask, scale, softcap, window_left) \
  kwx_11_attention_backward(grad_out, query, key, value, out, logsumexp, attn_mask, scale, softcap, window_left, -1)
#define kwx_11_attention_backward(grad_out, query, key, value, out, logsumexp, attn_mask, scale, softcap, window_left, \
  window_right) kwx_typed_attention_backward(grad_out, query, key, value, out, logsumexp, attn_mask, \
  KW_AS_FLOAT(scale), softcap, window_left, window_right)

/* keyway::attention_paged(Tensor query, Tensor key, Tensor value, Tensor block_table, Tensor lengths,
 * Tensor? attn_mask=None, *, float? scale=None, float softcap=0, int window_left=-1, int window_right=0) -> (Tensor,
 * Tensor) */
static inline kw_status kw_typed_attention_paged(const kw_tensor *query, const kw_tensor *key, const kw_tensor *value,
                                                 const kw_tensor *block_table, const kw_tensor *lengths,
                                                 const kw_tensor *attn_mask, kw_value scale, double softcap,
                                                 int64_t window_left, int64_t window_right, kw_tensor **out_0,
                                                 kw_tensor **out_1) {
  static kw_op_name op = {"keyway::attention_paged", NULL};
  const kw_value args[] = {kw_arg_tensor(query), kw_arg_tensor(key), kw_arg_tensor(value), kw_arg_tensor(block_table),
                           kw_arg_tensor(lengths), kw_typed_optional(attn_mask), scale, kw_arg_float(softcap),
                           kw_arg_int(window_left), kw_arg_int(window_right)};
  kw_tensor *outs[] = {*out_0, *out_1};
  const kw_status status = kw_op_run(&op, NULL, args, 10, outs, 2);
  *out_0 = outs[0];
  *out_1 = outs[1];
  return status;
}
static inline kw_tensor *kwx_typed_attention_paged(const kw_tensor *query, const kw_tensor *key, const kw_tensor *value,
                                                   const kw_tensor *block_table, const kw_tensor *lengths,
                                                   const kw_tensor *attn_mask, kw_value scale, double softcap,
                                                   int64_t window_left, int64_t window_right) {
  kw_tensor *out_0 = NULL, *out_1 = NULL;
  kw_typed_attention_paged(query, key, value, block_table, lengths, attn_mask, scale, softcap, window_left,
      window_right, &out_0, &out_1);
  kw_scope_release(out_1);
  return out_0;
}
#define kw_attention_paged(...) KW_BY_NUMBER(kw, attention_paged, __VA_ARGS__)
#define kw_7_attention_paged(query, key, value, block_table, lengths, out_0, out_1) kw_12_attention_paged(query, key, \
  value, block_table, lengths, NULL, kw_arg_none(), 0.0, -1, 0, out_0, out_1)
#define kw_8_attention_paged(query, key, value, block_table, lengths, attn_mask, out_0, out_1) \
  kw_12_attention_paged(query, key, value, block_table, lengths, attn_mask, kw_arg_none(), 0.0, -1, 0, out_0, out_1)
#define kw_9_attention_paged(query, key, value, block_table, lengths, attn_mask, scale, out_0, out_1) \
  kw_12_attention_paged(query, key, value, block_table, lengths, attn_mask, scale, 0.0, -1, 0, out_0, out_1)
#define kw_10_attention_paged(query, key, value, block_table, lengths, attn_mask, scale, softcap, out_0, out_1) \
  kw_12_attention_paged(query, key, value, block_table, lengths, attn_mask, scale, softcap, -1, 0, out_0, out_1)
#define kw_11_attention_paged(query, key, value, block_table, lengths, attn_mask, scale, softcap, window_left, out_0, \
  out_1) kw_12_attention_paged(query, key, value, block_table, lengths, attn_mask, scale, softcap, window_left, 0, \
  out_0, out_1)
#define kw_12_attention_paged(query, key, value, block_table, lengths, attn_mask, scale, softcap, window_left, \
  window_right, out_0, out_1) kw_typed_attention_paged(query, key, value, block_table, lengths, attn_mask, \
  KW_AS_FLOAT(scale), softcap, window_left, window_right, out_0, out_1)
#define kwx_attention_paged(...) KW_BY_NUMBER(kwx, attention_paged, __VA_ARGS__)
#define kwx_5_attention_paged(query, key, value, block_table, lengths) kwx_10_attention_paged(query, key, value, \
  block_table, lengths, NULL, kw_arg_none(), 0.0, -1, 0)
#define kwx_6_attention_paged(query, key, value, block_table, lengths, attn_mask) kwx_10_attention_paged(query, key, \
  value, block_table, lengths, attn_mask, kw_arg_none(), 0.0, -1, 0)
#define kwx_7_attention_paged(query, key, value, block_table, lengths, attn_mask, scale) kwx_10_attention_paged(query, \
  key, value, block_table, lengths, attn_mask, scale, 0.0, -1, 0)
#define kwx_8_attention_paged(query, key, value, block_table, lengths, attn_mask, scale, softcap) \
  kwx_10_attention_paged(query, key, value, block_table, lengths, attn_mask, scale, softcap, -1, 0)
#define kwx_9_attention_paged(query, key, value, block_table, lengths, attn_mask, scale, softcap, window_left) \
  kwx_10_attention_paged(query, key, value, block_table, lengths, attn_mask, scale, softcap, window_left, 0)
#define kwx_10_attention_paged(query, key, value, block_table, lengths, attn_mask, scale, softcap, window_left, \
  window_right) kwx_typed_attention_paged(query, key, value, block_table, lengths, attn_mask, KW_AS_FLOAT(scale), \
  softcap, window_left, window_right)

/* keyway::swiglu(Tensor gate, Tensor up) -> Tensor */
static inline kw_status kw_swiglu(const kw_tensor *gate, const kw_tensor *up, kw_tensor **out) {
  static kw_op_name op = {"keyway::swiglu", NULL};
  const kw_value args[] = {kw_arg_tensor(gate), kw_arg_tensor(up)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_swiglu(const kw_tensor *gate, const kw_tensor *up) {
  kw_tensor *out = NULL;
  kw_swiglu(gate, up, &out);
  return out;
}

/* glu(Tensor self, int dim=-1) -> Tensor */
static inline kw_status kw_typed_glu(const kw_tensor *self, int64_t dim, kw_tensor **out) {
  static kw_op_name op = {"glu", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_int(dim)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_typed_glu(const kw_tensor *self, int64_t dim) {
  kw_tensor *out = NULL;
  kw_typed_glu(self, dim, &out);
  return out;
}
#define kw_glu(...) KW_BY_NUMBER(kw, glu, __VA_ARGS__)
#define kw_2_glu(self, out) kw_3_glu(self, -1, out)
#define kw_3_glu(self, dim, out) kw_typed_glu(self, dim, out)
#define kwx_glu(...) KW_BY_NUMBER(kwx, glu, __VA_ARGS__)
#define kwx_1_glu(self) kwx_2_glu(self, -1)
#define kwx_2_glu(self, dim) kwx_typed_glu(self, dim)

/* keyway::swiglu_backward(Tensor grad_output, Tensor gate, Tensor up) -> (Tensor, Tensor) */
static inline kw_status kw_swiglu_backward(const kw_tensor *grad_output, const kw_tensor *gate, const kw_tensor *up,
                                           kw_tensor **out_0, kw_tensor **out_1) {
  static kw_op_name op = {"keyway::swiglu_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_output), kw_arg_tensor(gate), kw_arg_tensor(up)};
  kw_tensor *outs[] = {*out_0, *out_1};
  const kw_status status = kw_op_run(&op, NULL, args, 3, outs, 2);
  *out_0 = outs[0];
  *out_1 = outs[1];
  return status;
}
static inline kw_tensor *kwx_swiglu_backward(const kw_tensor *grad_output, const kw_tensor *gate, const kw_tensor *up) {
  kw_tensor *out_0 = NULL, *out_1 = NULL;
  kw_swiglu_backward(grad_output, gate, up, &out_0, &out_1);
  kw_scope_release(out_1);
  return out_0;
}

/* glu_backward(Tensor grad_output, Tensor self, int dim) -> Tensor */
static inline kw_status kw_glu_backward(const kw_tensor *grad_output, const kw_tensor *self, int64_t dim,
                                        kw_tensor **out) {
  static kw_op_name op = {"glu_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_output), kw_arg_tensor(self), kw_arg_int(dim)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_glu_backward(const kw_tensor *grad_output, const kw_tensor *self, int64_t dim) {
  kw_tensor *out = NULL;
  kw_glu_backward(grad_output, self, dim, &out);
  return out;
}

/* keyway::rope(Tensor self, Tensor cos, Tensor sin, Tensor? positions=None, *, bool interleaved=False) -> Tensor */
static inline kw_status kw_typed_rope(const kw_tensor *self, const kw_tensor *cos, const kw_tensor *sin,
                                      const kw_tensor *positions, bool interleaved, kw_tensor **out) {
  static kw_op_name op = {"keyway::rope", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(cos), kw_arg_tensor(sin), kw_typed_optional(positions),
                           kw_arg_bool(interleaved)};
  return kw_op_run(&op, NULL, args, 5, out, 1);
}
static inline kw_tensor *kwx_typed_rope(const kw_tensor *self, const kw_tensor *cos, const kw_tensor *sin,
                                        const kw_tensor *positions, bool interleaved) {
  kw_tensor *out = NULL;
  kw_typed_rope(self, cos, sin, positions, interleaved, &out);
  return out;
}
#define kw_rope(...) KW_BY_NUMBER(kw, rope, __VA_ARGS__)
#define kw_4_rope(self, cos, sin, out) kw_6_rope(self, cos, sin, NULL, false, out)
#define kw_5_rope(self, cos, sin, positions, out) kw_6_rope(self, cos, sin, positions, false, out)
#define kw_6_rope(self, cos, sin, positions, interleaved, out) kw_typed_rope(self, cos, sin, positions, interleaved, \
  out)
#define kwx_rope(...) KW_BY_NUMBER(kwx, rope, __VA_ARGS__)
#define kwx_3_rope(self, cos, sin) kwx_5_rope(self, cos, sin, NULL, false)
#define kwx_4_rope(self, cos, sin, positions) kwx_5_rope(self, cos, sin, positions, false)
#define kwx_5_rope(self, cos, sin, positions, interleaved) kwx_typed_rope(self, cos, sin, positions, interleaved)

/* _embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0,
 * bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int padding_idx=-1) -> (Tensor,
 * Tensor, Tensor, Tensor) */
static inline kw_status kw_typed_embedding_bag(const kw_tensor *weight, const kw_tensor *indices,
                                               const kw_tensor *offsets, bool scale_grad_by_freq, int64_t mode,
                                               bool sparse, const kw_tensor *per_sample_weights,
                                               bool include_last_offset, int64_t padding_idx, kw_tensor **out_0,
                                               kw_tensor **out_1, kw_tensor **out_2, kw_tensor **out_3) {
  static kw_op_name op = {"_embedding_bag", NULL};
  const kw_value args[] = {kw_arg_tensor(weight), kw_arg_tensor(indices), kw_arg_tensor(offsets),
                           kw_arg_bool(scale_grad_by_freq), kw_arg_int(mode), kw_arg_bool(sparse),
                           kw_typed_optional(per_sample_weights), kw_arg_bool(include_last_offset),
                           kw_arg_int(padding_idx)};
  kw_tensor *outs[] = {*out_0, *out_1, *out_2, *out_3};
  const kw_status status = kw_op_run(&op, NULL, args, 9, outs, 4);
  *out_0 = outs[0];
  *out_1 = outs[1];
  *out_2 = outs[2];
  *out_3 = outs[3];
  return status;
}
static inline kw_tensor *kwx_typed_embedding_bag(const kw_tensor *weight, const kw_tensor *indices,
                                                 const kw_tensor *offsets, bool scale_grad_by_freq, int64_t mode,
                                                 bool sparse, const kw_tensor *per_sample_weights,
                                                 bool include_last_offset, int64_t padding_idx) {
  kw_tensor *out_0 = NULL, *out_1 = NULL, *out_2 = NULL, *out_3 = NULL;
  kw_typed_embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights,
      include_last_offset, padding_idx, &out_0, &out_1, &out_2, &out_3);
  kw_scope_release(out_1);
  kw_scope_release(out_2);
  kw_scope_release(out_3);
  return out_0;
}
#define kw_embedding_bag(...) KW_BY_NUMBER(kw, embedding_bag, __VA_ARGS__)
#define kw_7_embedding_bag(weight, indices, offsets, out_0, out_1, out_2, out_3) kw_13_embedding_bag(weight, indices, \
  offsets, false, 0, false, NULL, false, -1, out_0, out_1, out_2, out_3)
#define kw_8_embedding_bag(weight, indices, offsets, scale_grad_by_freq, out_0, out_1, out_2, out_3) \
  kw_13_embedding_bag(weight, indices, offsets, scale_grad_by_freq, 0, false, NULL, false, -1, out_0, out_1, out_2, \
  out_3)
#define kw_9_embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, out_0, out_1, out_2, out_3) \
  kw_13_embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, false, NULL, false, -1, out_0, out_1, out_2, \
  out_3)
#define kw_10_embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, out_0, out_1, out_2, out_3) \
  kw_13_embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, NULL, false, -1, out_0, out_1, \
  out_2, out_3)
#define kw_11_embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, out_0, \
  out_1, out_2, out_3) kw_13_embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, \
  per_sample_weights, false, -1, out_0, out_1, out_2, out_3)
#define kw_12_embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, \
  include_last_offset, out_0, out_1, out_2, out_3) kw_13_embedding_bag(weight, indices, offsets, scale_grad_by_freq, \
  mode, sparse, per_sample_weights, include_last_offset, -1, out_0, out_1, out_2, out_3)
#define kw_13_embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, \
  include_last_offset, padding_idx, out_0, out_1, out_2, out_3) kw_typed_embedding_bag(weight, indices, offsets, \
  scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding_idx, out_0, out_1, out_2, out_3)
#define kwx_embedding_bag(...) KW_BY_NUMBER(kwx, embedding_bag, __VA_ARGS__)
#define kwx_3_embedding_bag(weight, indices, offsets) kwx_9_embedding_bag(weight, indices, offsets, false, 0, false, \
  NULL, false, -1)
#define kwx_4_embedding_bag(weight, indices, offsets, scale_grad_by_freq) kwx_9_embedding_bag(weight, indices, \
  offsets, scale_grad_by_freq, 0, false, NULL, false, -1)
#define kwx_5_embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode) kwx_9_embedding_bag(weight, indices, \
  offsets, scale_grad_by_freq, mode, false, NULL, false, -1)
#define kwx_6_embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse) kwx_9_embedding_bag(weight, \
  indices, offsets, scale_grad_by_freq, mode, sparse, NULL, false, -1)
#define kwx_7_embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights) \
  kwx_9_embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, false, -1)
#define kwx_8_embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, \
  include_last_offset) kwx_9_embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, \
  per_sample_weights, include_last_offset, -1)
#define kwx_9_embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, \
  include_last_offset, padding_idx) kwx_typed_embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, \
  sparse, per_sample_weights, include_last_offset, padding_idx)

/* rand(SymInt[] size, *, ScalarType? dtype=None, Generator? generator=None) -> Tensor */
static inline kw_status kw_typed_rand(kw_ints size, kw_dtype dtype, kw_generator *generator, kw_tensor **out) {
  static kw_op_name op = {"rand", NULL};
  const kw_value args[] = {kw_typed_ints(size), kw_arg_dtype(dtype), kw_arg_generator(generator)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_typed_rand(kw_ints size, kw_dtype dtype, kw_generator *generator) {
  kw_tensor *out = NULL;
  kw_typed_rand(size, dtype, generator, &out);
  return out;
}
#define kw_rand(...) KW_BY_NUMBER(kw, rand, __VA_ARGS__)
#define kw_2_rand(size, out) kw_4_rand(size, KW_DTYPE_NONE, NULL, out)
#define kw_3_rand(size, dtype, out) kw_4_rand(size, dtype, NULL, out)
#define kw_4_rand(size, dtype, generator, out) kw_typed_rand(size, dtype, generator, out)
#define kwx_rand(...) KW_BY_NUMBER(kwx, rand, __VA_ARGS__)
#define kwx_1_rand(size) kwx_3_rand(size, KW_DTYPE_NONE, NULL)
#define kwx_2_rand(size, dtype) kwx_3_rand(size, dtype, NULL)
#define kwx_3_rand(size, dtype, generator) kwx_typed_rand(size, dtype, generator)

/* randn(SymInt[] size, *, ScalarType? dtype=None, Generator? generator=None) -> Tensor */
static inline kw_status kw_typed_randn(kw_ints size, kw_dtype dtype, kw_generator *generator, kw_tensor **out) {
  static kw_op_name op = {"randn", NULL};
  const kw_value args[] = {kw_typed_ints(size), kw_arg_dtype(dtype), kw_arg_generator(generator)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_typed_randn(kw_ints size, kw_dtype dtype, kw_generator *generator) {
  kw_tensor *out = NULL;
  kw_typed_randn(size, dtype, generator, &out);
  return out;
}
#define kw_randn(...) KW_BY_NUMBER(kw, randn, __VA_ARGS__)
#define kw_2_randn(size, out) kw_4_randn(size, KW_DTYPE_NONE, NULL, out)
#define kw_3_randn(size, dtype, out) kw_4_randn(size, dtype, NULL, out)
#define kw_4_randn(size, dtype, generator, out) kw_typed_randn(size, dtype, generator, out)
#define kwx_randn(...) KW_BY_NUMBER(kwx, randn, __VA_ARGS__)
#define kwx_1_randn(size) kwx_3_randn(size, KW_DTYPE_NONE, NULL)
#define kwx_2_randn(size, dtype) kwx_3_randn(size, dtype, NULL)
#define kwx_3_randn(size, dtype, generator) kwx_typed_randn(size, dtype, generator)

/* randint(SymInt high, SymInt[] size, *, ScalarType? dtype=None, Generator? generator=None) -> Tensor */
static inline kw_status kw_typed_randint(int64_t high, kw_ints size, kw_dtype dtype, kw_generator *generator,
                                         kw_tensor **out) {
  static kw_op_name op = {"randint", NULL};
  const kw_value args[] = {kw_arg_int(high), kw_typed_ints(size), kw_arg_dtype(dtype), kw_arg_generator(generator)};
  return kw_op_run(&op, NULL, args, 4, out, 1);
}
static inline kw_tensor *kwx_typed_randint(int64_t high, kw_ints size, kw_dtype dtype, kw_generator *generator) {
  kw_tensor *out = NULL;
  kw_typed_randint(high, size, dtype, generator, &out);
  return out;
}
#define kw_randint(...) KW_BY_NUMBER(kw, randint, __VA_ARGS__)
#define kw_3_randint(high, size, out) kw_5_randint(high, size, KW_DTYPE_NONE, NULL, out)
#define kw_4_randint(high, size, dtype, out) kw_5_randint(high, size, dtype, NULL, out)
#define kw_5_randint(high, size, dtype, generator, out) kw_typed_randint(high, size, dtype, generator, out)
#define kwx_randint(...) KW_BY_NUMBER(kwx, randint, __VA_ARGS__)
#define kwx_2_randint(high, size) kwx_4_randint(high, size, KW_DTYPE_NONE, NULL)
#define kwx_3_randint(high, size, dtype) kwx_4_randint(high, size, dtype, NULL)
#define kwx_4_randint(high, size, dtype, generator) kwx_typed_randint(high, size, dtype, generator)

/* randint.low(SymInt low, SymInt high, SymInt[] size, *, ScalarType? dtype=None,
 * Generator? generator=None) -> Tensor */
static inline kw_status kw_typed_randint_low(int64_t low, int64_t high, kw_ints size, kw_dtype dtype,
                                             kw_generator *generator, kw_tensor **out) {
  static kw_op_name op = {"randint.low", NULL};
  const kw_value args[] = {kw_arg_int(low), kw_arg_int(high), kw_typed_ints(size), kw_arg_dtype(dtype),
                           kw_arg_generator(generator)};
  return kw_op_run(&op, NULL, args, 5, out, 1);
}
static inline kw_tensor *kwx_typed_randint_low(int64_t low, int64_t high, kw_ints size, kw_dtype dtype,
                                               kw_generator *generator) {
  kw_tensor *out = NULL;
  kw_typed_randint_low(low, high, size, dtype, generator, &out);
  return out;
}
#define kw_randint_low(...) KW_BY_NUMBER(kw, randint_low, __VA_ARGS__)
#define kw_4_randint_low(low, high, size, out) kw_6_randint_low(low, high, size, KW_DTYPE_NONE, NULL, out)
#define kw_5_randint_low(low, high, size, dtype, out) kw_6_randint_low(low, high, size, dtype, NULL, out)
#define kw_6_randint_low(low, high, size, dtype, generator, out) kw_typed_randint_low(low, high, size, dtype, \
  generator, out)
#define kwx_randint_low(...) KW_BY_NUMBER(kwx, randint_low, __VA_ARGS__)
#define kwx_3_randint_low(low, high, size) kwx_5_randint_low(low, high, size, KW_DTYPE_NONE, NULL)
#define kwx_4_randint_low(low, high, size, dtype) kwx_5_randint_low(low, high, size, dtype, NULL)
#define kwx_5_randint_low(low, high, size, dtype, generator) kwx_typed_randint_low(low, high, size, dtype, generator)

/* uniform_(Tensor(a!) self, float from=0, float to=1, *, Generator? generator=None) -> Tensor(a!) */
static inline kw_status kw_typed_uniform_(kw_tensor *self, double from, double to, kw_generator *generator) {
  static kw_op_name op = {"uniform_", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_float(from), kw_arg_float(to), kw_arg_generator(generator)};
  return kw_op_run(&op, NULL, args, 4, NULL, 0);
}
#define kw_uniform_(...) KW_BY_NUMBER(kw, uniform_, __VA_ARGS__)
#define kw_1_uniform_(self) kw_4_uniform_(self, 0.0, 1.0, NULL)
#define kw_2_uniform_(self, from) kw_4_uniform_(self, from, 1.0, NULL)
#define kw_3_uniform_(self, from, to) kw_4_uniform_(self, from, to, NULL)
#define kw_4_uniform_(self, from, to, generator) kw_typed_uniform_(self, from, to, generator)

/* normal_(Tensor(a!) self, float mean=0, float std=1, *, Generator? generator=None) -> Tensor(a!) */
static inline kw_status kw_typed_normal_(kw_tensor *self, double mean, double std, kw_generator *generator) {
  static kw_op_name op = {"normal_", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_float(mean), kw_arg_float(std), kw_arg_generator(generator)};
  return kw_op_run(&op, NULL, args, 4, NULL, 0);
}
#define kw_normal_(...) KW_BY_NUMBER(kw, normal_, __VA_ARGS__)
#define kw_1_normal_(self) kw_4_normal_(self, 0.0, 1.0, NULL)
#define kw_2_normal_(self, mean) kw_4_normal_(self, mean, 1.0, NULL)
#define kw_3_normal_(self, mean, std) kw_4_normal_(self, mean, std, NULL)
#define kw_4_normal_(self, mean, std, generator) kw_typed_normal_(self, mean, std, generator)

/* bernoulli(Tensor self, *, Generator? generator=None) -> Tensor */
static inline kw_status kw_typed_bernoulli(const kw_tensor *self, kw_generator *generator, kw_tensor **out) {
  static kw_op_name op = {"bernoulli", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_generator(generator)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_typed_bernoulli(const kw_tensor *self, kw_generator *generator) {
  kw_tensor *out = NULL;
  kw_typed_bernoulli(self, generator, &out);
  return out;
}
#define kw_bernoulli(...) KW_BY_NUMBER(kw, bernoulli, __VA_ARGS__)
#define kw_2_bernoulli(self, out) kw_3_bernoulli(self, NULL, out)
#define kw_3_bernoulli(self, generator, out) kw_typed_bernoulli(self, generator, out)
#define kwx_bernoulli(...) KW_BY_NUMBER(kwx, bernoulli, __VA_ARGS__)
#define kwx_1_bernoulli(self) kwx_2_bernoulli(self, NULL)
#define kwx_2_bernoulli(self, generator) kwx_typed_bernoulli(self, generator)

/* bernoulli_.float(Tensor(a!) self, float p=0.5, *, Generator? generator=None) -> Tensor(a!) */
static inline kw_status kw_typed_bernoulli_float_(kw_tensor *self, double p, kw_generator *generator) {
  static kw_op_name op = {"bernoulli_.float", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_float(p), kw_arg_generator(generator)};
  return kw_op_run(&op, NULL, args, 3, NULL, 0);
}
#define kw_bernoulli_float_(...) KW_BY_NUMBER(kw, bernoulli_float_, __VA_ARGS__)
#define kw_1_bernoulli_float_(self) kw_3_bernoulli_float_(self, 0.5, NULL)
#define kw_2_bernoulli_float_(self, p) kw_3_bernoulli_float_(self, p, NULL)
#define kw_3_bernoulli_float_(self, p, generator) kw_typed_bernoulli_float_(self, p, generator)

/* random_.from(Tensor(a!) self, int from, int? to, *, Generator? generator=None) -> Tensor(a!) */
static inline kw_status kw_typed_random_from_(kw_tensor *self, int64_t from, kw_value to, kw_generator *generator) {
  static kw_op_name op = {"random_.from", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_int(from), to, kw_arg_generator(generator)};
  return kw_op_run(&op, NULL, args, 4, NULL, 0);
}
#define kw_random_from_(...) KW_BY_NUMBER(kw, random_from_, __VA_ARGS__)
#define kw_3_random_from_(self, from, to) kw_4_random_from_(self, from, to, NULL)
#define kw_4_random_from_(self, from, to, generator) kw_typed_random_from_(self, from, KW_AS_INT(to), generator)

/* randperm(SymInt n, *, ScalarType? dtype=None, Generator? generator=None) -> Tensor */
static inline kw_status kw_typed_randperm(int64_t n, kw_dtype dtype, kw_generator *generator, kw_tensor **out) {
  static kw_op_name op = {"randperm", NULL};
  const kw_value args[] = {kw_arg_int(n), kw_arg_dtype(dtype), kw_arg_generator(generator)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_typed_randperm(int64_t n, kw_dtype dtype, kw_generator *generator) {
  kw_tensor *out = NULL;
  kw_typed_randperm(n, dtype, generator, &out);
  return out;
}
#define kw_randperm(...) KW_BY_NUMBER(kw, randperm, __VA_ARGS__)
#define kw_2_randperm(n, out) kw_4_randperm(n, KW_DTYPE_NONE, NULL, out)
#define kw_3_randperm(n, dtype, out) kw_4_randperm(n, dtype, NULL, out)
#define kw_4_randperm(n, dtype, generator, out) kw_typed_randperm(n, dtype, generator, out)
#define kwx_randperm(...) KW_BY_NUMBER(kwx, randperm, __VA_ARGS__)
#define kwx_1_randperm(n) kwx_3_randperm(n, KW_DTYPE_NONE, NULL)
#define kwx_2_randperm(n, dtype) kwx_3_randperm(n, dtype, NULL)
#define kwx_3_randperm(n, dtype, generator) kwx_typed_randperm(n, dtype, generator)

/* multinomial(Tensor self, SymInt num_samples, bool replacement=False, *, Generator? generator=None) -> Tensor */
static inline kw_status kw_typed_multinomial(const kw_tensor *self, int64_t num_samples, bool replacement,
                                             kw_generator *generator, kw_tensor **out) {
  static kw_op_name op = {"multinomial", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_int(num_samples), kw_arg_bool(replacement),
                           kw_arg_generator(generator)};
  return kw_op_run(&op, NULL, args, 4, out, 1);
}
static inline kw_tensor *kwx_typed_multinomial(const kw_tensor *self, int64_t num_samples, bool replacement,
                                               kw_generator *generator) {
  kw_tensor *out = NULL;
  kw_typed_multinomial(self, num_samples, replacement, generator, &out);
  return out;
}
#define kw_multinomial(...) KW_BY_NUMBER(kw, multinomial, __VA_ARGS__)
#define kw_3_multinomial(self, num_samples, out) kw_5_multinomial(self, num_samples, false, NULL, out)
#define kw_4_multinomial(self, num_samples, replacement, out) kw_5_multinomial(self, num_samples, replacement, NULL, \
  out)
#define kw_5_multinomial(self, num_samples, replacement, generator, out) kw_typed_multinomial(self, num_samples, \
  replacement, generator, out)
#define kwx_multinomial(...) KW_BY_NUMBER(kwx, multinomial, __VA_ARGS__)
#define kwx_2_multinomial(self, num_samples) kwx_4_multinomial(self, num_samples, false, NULL)
#define kwx_3_multinomial(self, num_samples, replacement) kwx_4_multinomial(self, num_samples, replacement, NULL)
#define kwx_4_multinomial(self, num_samples, replacement, generator) kwx_typed_multinomial(self, num_samples, \
  replacement, generator)

/* native_dropout(Tensor input, float p, bool? train, *, Generator? generator=None) -> (Tensor, Tensor) */
static inline kw_status kw_typed_native_dropout(const kw_tensor *input, double p, kw_value train,
                                                kw_generator *generator, kw_tensor **out_0, kw_tensor **out_1) {
  static kw_op_name op = {"native_dropout", NULL};
  const kw_value args[] = {kw_arg_tensor(input), kw_arg_float(p), train, kw_arg_generator(generator)};
  kw_tensor *outs[] = {*out_0, *out_1};
  const kw_status status = kw_op_run(&op, NULL, args, 4, outs, 2);
  *out_0 = outs[0];
  *out_1 = outs[1];
  return status;
}
static inline kw_tensor *kwx_typed_native_dropout(const kw_tensor *input, double p, kw_value train,
                                                  kw_generator *generator) {
  kw_tensor *out_0 = NULL, *out_1 = NULL;
  kw_typed_native_dropout(input, p, train, generator, &out_0, &out_1);
  kw_scope_release(out_1);
  return out_0;
}
#define kw_native_dropout(...) KW_BY_NUMBER(kw, native_dropout, __VA_ARGS__)
#define kw_5_native_dropout(input, p, train, out_0, out_1) kw_6_native_dropout(input, p, train, NULL, out_0, out_1)
#define kw_6_native_dropout(input, p, train, generator, out_0, out_1) kw_typed_native_dropout(input, p, \
  KW_AS_BOOL(train), generator, out_0, out_1)
#define kwx_native_dropout(...) KW_BY_NUMBER(kwx, native_dropout, __VA_ARGS__)
#define kwx_3_native_dropout(input, p, train) kwx_4_native_dropout(input, p, train, NULL)
#define kwx_4_native_dropout(input, p, train, generator) kwx_typed_native_dropout(input, p, KW_AS_BOOL(train), \
  generator)

/* native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor */
static inline kw_status kw_native_dropout_backward(const kw_tensor *grad_output, const kw_tensor *mask, double scale,
                                                   kw_tensor **out) {
  static kw_op_name op = {"native_dropout_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_output), kw_arg_tensor(mask), kw_arg_float(scale)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_native_dropout_backward(const kw_tensor *grad_output, const kw_tensor *mask,
                                                     double scale) {
  kw_tensor *out = NULL;
  kw_native_dropout_backward(grad_output, mask, scale, &out);
  return out;
}

/* convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] dilation,
 * bool transposed, SymInt[] output_padding, SymInt groups) -> Tensor */
static inline kw_status kw_convolution(const kw_tensor *input, const kw_tensor *weight, const kw_tensor *bias,
                                       kw_ints stride, kw_ints padding, kw_ints dilation, bool transposed,
                                       kw_ints output_padding, int64_t groups, kw_tensor **out) {
  static kw_op_name op = {"convolution", NULL};
  const kw_value args[] = {kw_arg_tensor(input), kw_arg_tensor(weight), kw_typed_optional(bias), kw_typed_ints(stride),
                           kw_typed_ints(padding), kw_typed_ints(dilation), kw_arg_bool(transposed),
                           kw_typed_ints(output_padding), kw_arg_int(groups)};
  return kw_op_run(&op, NULL, args, 9, out, 1);
}
static inline kw_tensor *kwx_convolution(const kw_tensor *input, const kw_tensor *weight, const kw_tensor *bias,
                                         kw_ints stride, kw_ints padding, kw_ints dilation, bool transposed,
                                         kw_ints output_padding, int64_t groups) {
  kw_tensor *out = NULL;
  kw_convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups, &out);
  return out;
}

/* convolution_backward(Tensor grad_output, Tensor input, Tensor weight, SymInt[]? bias_sizes, SymInt[] stride,
 * SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups,
 * bool[3] output_mask) -> (Tensor, Tensor, Tensor) */
static inline kw_status kw_convolution_backward(const kw_tensor *grad_output, const kw_tensor *input,
                                                const kw_tensor *weight, kw_ints bias_sizes, kw_ints stride,
                                                kw_ints padding, kw_ints dilation, bool transposed,
                                                kw_ints output_padding, int64_t groups, kw_ints output_mask,
                                                kw_tensor **out_0, kw_tensor **out_1, kw_tensor **out_2) {
  static kw_op_name op = {"convolution_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_output), kw_arg_tensor(input), kw_arg_tensor(weight),
                           kw_typed_optional_ints(bias_sizes), kw_typed_ints(stride), kw_typed_ints(padding),
                           kw_typed_ints(dilation), kw_arg_bool(transposed), kw_typed_ints(output_padding),
                           kw_arg_int(groups), kw_typed_ints(output_mask)};
  kw_tensor *outs[] = {*out_0, *out_1, *out_2};
  const kw_status status = kw_op_run(&op, NULL, args, 11, outs, 3);
  *out_0 = outs[0];
  *out_1 = outs[1];
  *out_2 = outs[2];
  return status;
}
static inline kw_tensor *kwx_convolution_backward(const kw_tensor *grad_output, const kw_tensor *input,
                                                  const kw_tensor *weight, kw_ints bias_sizes, kw_ints stride,
                                                  kw_ints padding, kw_ints dilation, bool transposed,
                                                  kw_ints output_padding, int64_t groups, kw_ints output_mask) {
  kw_tensor *out_0 = NULL, *out_1 = NULL, *out_2 = NULL;
  kw_convolution_backward(grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding,
      groups, output_mask, &out_0, &out_1, &out_2);
  kw_scope_release(out_1);
  kw_scope_release(out_2);
  return out_0;
}

/* im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor */
static inline kw_status kw_im2col(const kw_tensor *self, kw_ints kernel_size, kw_ints dilation, kw_ints padding,
                                  kw_ints stride, kw_tensor **out) {
  static kw_op_name op = {"im2col", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_ints(kernel_size), kw_typed_ints(dilation),
                           kw_typed_ints(padding), kw_typed_ints(stride)};
  return kw_op_run(&op, NULL, args, 5, out, 1);
}
static inline kw_tensor *kwx_im2col(const kw_tensor *self, kw_ints kernel_size, kw_ints dilation, kw_ints padding,
                                    kw_ints stride) {
  kw_tensor *out = NULL;
  kw_im2col(self, kernel_size, dilation, padding, stride, &out);
  return out;
}

/* col2im(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding,
 * int[2] stride) -> Tensor */
static inline kw_status kw_col2im(const kw_tensor *self, kw_ints output_size, kw_ints kernel_size, kw_ints dilation,
                                  kw_ints padding, kw_ints stride, kw_tensor **out) {
  static kw_op_name op = {"col2im", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_ints(output_size), kw_typed_ints(kernel_size),
                           kw_typed_ints(dilation), kw_typed_ints(padding), kw_typed_ints(stride)};
  return kw_op_run(&op, NULL, args, 6, out, 1);
}
static inline kw_tensor *kwx_col2im(const kw_tensor *self, kw_ints output_size, kw_ints kernel_size, kw_ints dilation,
                                    kw_ints padding, kw_ints stride) {
  kw_tensor *out = NULL;
  kw_col2im(self, output_size, kernel_size, dilation, padding, stride, &out);
  return out;
}

/* upsample_nearest1d(Tensor self, SymInt[1] output_size, float? scales=None) -> Tensor */
static inline kw_status kw_typed_upsample_nearest1d(const kw_tensor *self, kw_ints output_size, kw_value scales,
                                                    kw_tensor **out) {
  static kw_op_name op = {"upsample_nearest1d", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_ints(output_size), scales};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_typed_upsample_nearest1d(const kw_tensor *self, kw_ints output_size, kw_value scales) {
  kw_tensor *out = NULL;
  kw_typed_upsample_nearest1d(self, output_size, scales, &out);
  return out;
}
#define kw_upsample_nearest1d(...) KW_BY_NUMBER(kw, upsample_nearest1d, __VA_ARGS__)
#define kw_3_upsample_nearest1d(self, output_size, out) kw_4_upsample_nearest1d(self, output_size, kw_arg_none(), out)
#define kw_4_upsample_nearest1d(self, output_size, scales, out) kw_typed_upsample_nearest1d(self, output_size, \
  KW_AS_FLOAT(scales), out)
#define kwx_upsample_nearest1d(...) KW_BY_NUMBER(kwx, upsample_nearest1d, __VA_ARGS__)
#define kwx_2_upsample_nearest1d(self, output_size) kwx_3_upsample_nearest1d(self, output_size, kw_arg_none())
#define kwx_3_upsample_nearest1d(self, output_size, scales) kwx_typed_upsample_nearest1d(self, output_size, \
  KW_AS_FLOAT(scales))

/* upsample_nearest2d(Tensor self, SymInt[2] output_size, float? scales_h=None, float? scales_w=None) -> Tensor */
static inline kw_status kw_typed_upsample_nearest2d(const kw_tensor *self, kw_ints output_size, kw_value scales_h,
                                                    kw_value scales_w, kw_tensor **out) {
  static kw_op_name op = {"upsample_nearest2d", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_ints(output_size), scales_h, scales_w};
  return kw_op_run(&op, NULL, args, 4, out, 1);
}
static inline kw_tensor *kwx_typed_upsample_nearest2d(const kw_tensor *self, kw_ints output_size, kw_value scales_h,
                                                      kw_value scales_w) {
  kw_tensor *out = NULL;
  kw_typed_upsample_nearest2d(self, output_size, scales_h, scales_w, &out);
  return out;
}
#define kw_upsample_nearest2d(...) KW_BY_NUMBER(kw, upsample_nearest2d, __VA_ARGS__)
#define kw_3_upsample_nearest2d(self, output_size, out) kw_5_upsample_nearest2d(self, output_size, kw_arg_none(), \
  kw_arg_none(), out)
#define kw_4_upsample_nearest2d(self, output_size, scales_h, out) kw_5_upsample_nearest2d(self, output_size, scales_h, \
  kw_arg_none(), out)
#define kw_5_upsample_nearest2d(self, output_size, scales_h, scales_w, out) kw_typed_upsample_nearest2d(self, \
  output_size, KW_AS_FLOAT(scales_h), KW_AS_FLOAT(scales_w), out)
#define kwx_upsample_nearest2d(...) KW_BY_NUMBER(kwx, upsample_nearest2d, __VA_ARGS__)
#define kwx_2_upsample_nearest2d(self, output_size) kwx_4_upsample_nearest2d(self, output_size, kw_arg_none(), \
  kw_arg_none())
#define kwx_3_upsample_nearest2d(self, output_size, scales_h) kwx_4_upsample_nearest2d(self, output_size, scales_h, \
  kw_arg_none())
#define kwx_4_upsample_nearest2d(self, output_size, scales_h, scales_w) kwx_typed_upsample_nearest2d(self, \
  output_size, KW_AS_FLOAT(scales_h), KW_AS_FLOAT(scales_w))

/* upsample_nearest3d(Tensor self, SymInt[3] output_size, float? scales_d=None, float? scales_h=None,
 * float? scales_w=None) -> Tensor */
static inline kw_status kw_typed_upsample_nearest3d(const kw_tensor *self, kw_ints output_size, kw_value scales_d,
                                                    kw_value scales_h, kw_value scales_w, kw_tensor **out) {
  static kw_op_name op = {"upsample_nearest3d", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_ints(output_size), scales_d, scales_h, scales_w};
  return kw_op_run(&op, NULL, args, 5, out, 1);
}
static inline kw_tensor *kwx_typed_upsample_nearest3d(const kw_tensor *self, kw_ints output_size, kw_value scales_d,
                                                      kw_value scales_h, kw_value scales_w) {
  kw_tensor *out = NULL;
  kw_typed_upsample_nearest3d(self, output_size, scales_d, scales_h, scales_w, &out);
  return out;
}
#define kw_upsample_nearest3d(...) KW_BY_NUMBER(kw, upsample_nearest3d, __VA_ARGS__)
#define kw_3_upsample_nearest3d(self, output_size, out) kw_6_upsample_nearest3d(self, output_size, kw_arg_none(), \
  kw_arg_none(), kw_arg_none(), out)
#define kw_4_upsample_nearest3d(self, output_size, scales_d, out) kw_6_upsample_nearest3d(self, output_size, scales_d, \
  kw_arg_none(), kw_arg_none(), out)
#define kw_5_upsample_nearest3d(self, output_size, scales_d, scales_h, out) kw_6_upsample_nearest3d(self, output_size, \
  scales_d, scales_h, kw_arg_none(), out)
#define kw_6_upsample_nearest3d(self, output_size, scales_d, scales_h, scales_w, out) \
  kw_typed_upsample_nearest3d(self, output_size, KW_AS_FLOAT(scales_d), KW_AS_FLOAT(scales_h), KW_AS_FLOAT(scales_w), \
  out)
#define kwx_upsample_nearest3d(...) KW_BY_NUMBER(kwx, upsample_nearest3d, __VA_ARGS__)
#define kwx_2_upsample_nearest3d(self, output_size) kwx_5_upsample_nearest3d(self, output_size, kw_arg_none(), \
  kw_arg_none(), kw_arg_none())
#define kwx_3_upsample_nearest3d(self, output_size, scales_d) kwx_5_upsample_nearest3d(self, output_size, scales_d, \
  kw_arg_none(), kw_arg_none())
#define kwx_4_upsample_nearest3d(self, output_size, scales_d, scales_h) kwx_5_upsample_nearest3d(self, output_size, \
  scales_d, scales_h, kw_arg_none())
#define kwx_5_upsample_nearest3d(self, output_size, scales_d, scales_h, scales_w) kwx_typed_upsample_nearest3d(self, \
  output_size, KW_AS_FLOAT(scales_d), KW_AS_FLOAT(scales_h), KW_AS_FLOAT(scales_w))

/* _upsample_nearest_exact2d(Tensor self, SymInt[2] output_size, float? scales_h=None,
 * float? scales_w=None) -> Tensor */
static inline kw_status kw_typed_upsample_nearest_exact2d(const kw_tensor *self, kw_ints output_size, kw_value scales_h,
                                                          kw_value scales_w, kw_tensor **out) {
  static kw_op_name op = {"_upsample_nearest_exact2d", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_ints(output_size), scales_h, scales_w};
  return kw_op_run(&op, NULL, args, 4, out, 1);
}
static inline kw_tensor *kwx_typed_upsample_nearest_exact2d(const kw_tensor *self, kw_ints output_size,
                                                            kw_value scales_h, kw_value scales_w) {
  kw_tensor *out = NULL;
  kw_typed_upsample_nearest_exact2d(self, output_size, scales_h, scales_w, &out);
  return out;
}
#define kw_upsample_nearest_exact2d(...) KW_BY_NUMBER(kw, upsample_nearest_exact2d, __VA_ARGS__)
#define kw_3_upsample_nearest_exact2d(self, output_size, out) kw_5_upsample_nearest_exact2d(self, output_size, \
  kw_arg_none(), kw_arg_none(), out)
#define kw_4_upsample_nearest_exact2d(self, output_size, scales_h, out) kw_5_upsample_nearest_exact2d(self, \
  output_size, scales_h, kw_arg_none(), out)
#define kw_5_upsample_nearest_exact2d(self, output_size, scales_h, scales_w, out) \
  kw_typed_upsample_nearest_exact2d(self, output_size, KW_AS_FLOAT(scales_h), KW_AS_FLOAT(scales_w), out)
#define kwx_upsample_nearest_exact2d(...) KW_BY_NUMBER(kwx, upsample_nearest_exact2d, __VA_ARGS__)
#define kwx_2_upsample_nearest_exact2d(self, output_size) kwx_4_upsample_nearest_exact2d(self, output_size, \
  kw_arg_none(), kw_arg_none())
#define kwx_3_upsample_nearest_exact2d(self, output_size, scales_h) kwx_4_upsample_nearest_exact2d(self, output_size, \
  scales_h, kw_arg_none())
#define kwx_4_upsample_nearest_exact2d(self, output_size, scales_h, scales_w) kwx_typed_upsample_nearest_exact2d(self, \
  output_size, KW_AS_FLOAT(scales_h), KW_AS_FLOAT(scales_w))

/* upsample_linear1d(Tensor self, SymInt[1] output_size, bool align_corners, float? scales=None) -> Tensor */
static inline kw_status kw_typed_upsample_linear1d(const kw_tensor *self, kw_ints output_size, bool align_corners,
                                                   kw_value scales, kw_tensor **out) {
  static kw_op_name op = {"upsample_linear1d", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_ints(output_size), kw_arg_bool(align_corners), scales};
  return kw_op_run(&op, NULL, args, 4, out, 1);
}
static inline kw_tensor *kwx_typed_upsample_linear1d(const kw_tensor *self, kw_ints output_size, bool align_corners,
                                                     kw_value scales) {
  kw_tensor *out = NULL;
  kw_typed_upsample_linear1d(self, output_size, align_corners, scales, &out);
  return out;
}
#define kw_upsample_linear1d(...) KW_BY_NUMBER(kw, upsample_linear1d, __VA_ARGS__)
#define kw_4_upsample_linear1d(self, output_size, align_corners, out) kw_5_upsample_linear1d(self, output_size, \
  align_corners, kw_arg_none(), out)
#define kw_5_upsample_linear1d(self, output_size, align_corners, scales, out) kw_typed_upsample_linear1d(self, \
  output_size, align_corners, KW_AS_FLOAT(scales), out)
#define kwx_upsample_linear1d(...) KW_BY_NUMBER(kwx, upsample_linear1d, __VA_ARGS__)
#define kwx_3_upsample_linear1d(self, output_size, align_corners) kwx_4_upsample_linear1d(self, output_size, \
  align_corners, kw_arg_none())
#define kwx_4_upsample_linear1d(self, output_size, align_corners, scales) kwx_typed_upsample_linear1d(self, \
  output_size, align_corners, KW_AS_FLOAT(scales))

/* upsample_bilinear2d(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None,
 * float? scales_w=None) -> Tensor */
static inline kw_status kw_typed_upsample_bilinear2d(const kw_tensor *self, kw_ints output_size, bool align_corners,
                                                     kw_value scales_h, kw_value scales_w, kw_tensor **out) {
  static kw_op_name op = {"upsample_bilinear2d", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_ints(output_size), kw_arg_bool(align_corners), scales_h,
                           scales_w};
  return kw_op_run(&op, NULL, args, 5, out, 1);
}
static inline kw_tensor *kwx_typed_upsample_bilinear2d(const kw_tensor *self, kw_ints output_size, bool align_corners,
                                                       kw_value scales_h, kw_value scales_w) {
  kw_tensor *out = NULL;
  kw_typed_upsample_bilinear2d(self, output_size, align_corners, scales_h, scales_w, &out);
  return out;
}
#define kw_upsample_bilinear2d(...) KW_BY_NUMBER(kw, upsample_bilinear2d, __VA_ARGS__)
#define kw_4_upsample_bilinear2d(self, output_size, align_corners, out) kw_6_upsample_bilinear2d(self, output_size, \
  align_corners, kw_arg_none(), kw_arg_none(), out)
#define kw_5_upsample_bilinear2d(self, output_size, align_corners, scales_h, out) kw_6_upsample_bilinear2d(self, \
  output_size, align_corners, scales_h, kw_arg_none(), out)
#define kw_6_upsample_bilinear2d(self, output_size, align_corners, scales_h, scales_w, out) \
  kw_typed_upsample_bilinear2d(self, output_size, align_corners, KW_AS_FLOAT(scales_h), KW_AS_FLOAT(scales_w), out)
#define kwx_upsample_bilinear2d(...) KW_BY_NUMBER(kwx, upsample_bilinear2d, __VA_ARGS__)
#define kwx_3_upsample_bilinear2d(self, output_size, align_corners) kwx_5_upsample_bilinear2d(self, output_size, \
  align_corners, kw_arg_none(), kw_arg_none())
#define kwx_4_upsample_bilinear2d(self, output_size, align_corners, scales_h) kwx_5_upsample_bilinear2d(self, \
  output_size, align_corners, scales_h, kw_arg_none())
#define kwx_5_upsample_bilinear2d(self, output_size, align_corners, scales_h, scales_w) \
  kwx_typed_upsample_bilinear2d(self, output_size, align_corners, KW_AS_FLOAT(scales_h), KW_AS_FLOAT(scales_w))

/* upsample_trilinear3d(Tensor self, SymInt[3] output_size, bool align_corners, float? scales_d=None,
 * float? scales_h=None, float? scales_w=None) -> Tensor */
static inline kw_status kw_typed_upsample_trilinear3d(const kw_tensor *self, kw_ints output_size, bool align_corners,
                                                      kw_value scales_d, kw_value scales_h, kw_value scales_w,
                                                      kw_tensor **out) {
  static kw_op_name op = {"upsample_trilinear3d", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_ints(output_size), kw_arg_bool(align_corners), scales_d,
                           scales_h, scales_w};
  return kw_op_run(&op, NULL, args, 6, out, 1);
}
static inline kw_tensor *kwx_typed_upsample_trilinear3d(const kw_tensor *self, kw_ints output_size, bool align_corners,
                                                        kw_value scales_d, kw_value scales_h, kw_value scales_w) {
  kw_tensor *out = NULL;
  kw_typed_upsample_trilinear3d(self, output_size, align_corners, scales_d, scales_h, scales_w, &out);
  return out;
}
#define kw_upsample_trilinear3d(...) KW_BY_NUMBER(kw, upsample_trilinear3d, __VA_ARGS__)
#define kw_4_upsample_trilinear3d(self, output_size, align_corners, out) kw_7_upsample_trilinear3d(self, output_size, \
  align_corners, kw_arg_none(), kw_arg_none(), kw_arg_none(), out)
#define kw_5_upsample_trilinear3d(self, output_size, align_corners, scales_d, out) kw_7_upsample_trilinear3d(self, \
  output_size, align_corners, scales_d, kw_arg_none(), kw_arg_none(), out)
#define kw_6_upsample_trilinear3d(self, output_size, align_corners, scales_d, scales_h, out) \
  kw_7_upsample_trilinear3d(self, output_size, align_corners, scales_d, scales_h, kw_arg_none(), out)
#define kw_7_upsample_trilinear3d(self, output_size, align_corners, scales_d, scales_h, scales_w, out) \
  kw_typed_upsample_trilinear3d(self, output_size, align_corners, KW_AS_FLOAT(scales_d), KW_AS_FLOAT(scales_h), \
  KW_AS_FLOAT(scales_w), out)
#define kwx_upsample_trilinear3d(...) KW_BY_NUMBER(kwx, upsample_trilinear3d, __VA_ARGS__)
#define kwx_3_upsample_trilinear3d(self, output_size, align_corners) kwx_6_upsample_trilinear3d(self, output_size, \
  align_corners, kw_arg_none(), kw_arg_none(), kw_arg_none())
#define kwx_4_upsample_trilinear3d(self, output_size, align_corners, scales_d) kwx_6_upsample_trilinear3d(self, \
  output_size, align_corners, scales_d, kw_arg_none(), kw_arg_none())
#define kwx_5_upsample_trilinear3d(self, output_size, align_corners, scales_d, scales_h) \
  kwx_6_upsample_trilinear3d(self, output_size, align_corners, scales_d, scales_h, kw_arg_none())
#define kwx_6_upsample_trilinear3d(self, output_size, align_corners, scales_d, scales_h, scales_w) \
  kwx_typed_upsample_trilinear3d(self, output_size, align_corners, KW_AS_FLOAT(scales_d), KW_AS_FLOAT(scales_h), \
  KW_AS_FLOAT(scales_w))

/* upsample_bicubic2d(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None,
 * float? scales_w=None) -> Tensor */
static inline kw_status kw_typed_upsample_bicubic2d(const kw_tensor *self, kw_ints output_size, bool align_corners,
                                                    kw_value scales_h, kw_value scales_w, kw_tensor **out) {
  static kw_op_name op = {"upsample_bicubic2d", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_ints(output_size), kw_arg_bool(align_corners), scales_h,
                           scales_w};
  return kw_op_run(&op, NULL, args, 5, out, 1);
}
static inline kw_tensor *kwx_typed_upsample_bicubic2d(const kw_tensor *self, kw_ints output_size, bool align_corners,
                                                      kw_value scales_h, kw_value scales_w) {
  kw_tensor *out = NULL;
  kw_typed_upsample_bicubic2d(self, output_size, align_corners, scales_h, scales_w, &out);
  return out;
}
#define kw_upsample_bicubic2d(...) KW_BY_NUMBER(kw, upsample_bicubic2d, __VA_ARGS__)
#define kw_4_upsample_bicubic2d(self, output_size, align_corners, out) kw_6_upsample_bicubic2d(self, output_size, \
  align_corners, kw_arg_none(), kw_arg_none(), out)
#define kw_5_upsample_bicubic2d(self, output_size, align_corners, scales_h, out) kw_6_upsample_bicubic2d(self, \
  output_size, align_corners, scales_h, kw_arg_none(), out)
#define kw_6_upsample_bicubic2d(self, output_size, align_corners, scales_h, scales_w, out) \
  kw_typed_upsample_bicubic2d(self, output_size, align_corners, KW_AS_FLOAT(scales_h), KW_AS_FLOAT(scales_w), out)
#define kwx_upsample_bicubic2d(...) KW_BY_NUMBER(kwx, upsample_bicubic2d, __VA_ARGS__)
#define kwx_3_upsample_bicubic2d(self, output_size, align_corners) kwx_5_upsample_bicubic2d(self, output_size, \
  align_corners, kw_arg_none(), kw_arg_none())
#define kwx_4_upsample_bicubic2d(self, output_size, align_corners, scales_h) kwx_5_upsample_bicubic2d(self, \
  output_size, align_corners, scales_h, kw_arg_none())
#define kwx_5_upsample_bicubic2d(self, output_size, align_corners, scales_h, scales_w) \
  kwx_typed_upsample_bicubic2d(self, output_size, align_corners, KW_AS_FLOAT(scales_h), KW_AS_FLOAT(scales_w))

/* upsample_nearest2d_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, float? scales_h=None,
 * float? scales_w=None) -> Tensor */
static inline kw_status kw_typed_upsample_nearest2d_backward(const kw_tensor *grad_output, kw_ints output_size,
                                                             kw_ints input_size, kw_value scales_h, kw_value scales_w,
                                                             kw_tensor **out) {
  static kw_op_name op = {"upsample_nearest2d_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_output), kw_typed_ints(output_size), kw_typed_ints(input_size), scales_h,
                           scales_w};
  return kw_op_run(&op, NULL, args, 5, out, 1);
}
static inline kw_tensor *kwx_typed_upsample_nearest2d_backward(const kw_tensor *grad_output, kw_ints output_size,
                                                               kw_ints input_size, kw_value scales_h,
                                                               kw_value scales_w) {
  kw_tensor *out = NULL;
  kw_typed_upsample_nearest2d_backward(grad_output, output_size, input_size, scales_h, scales_w, &out);
  return out;
}
#define kw_upsample_nearest2d_backward(...) KW_BY_NUMBER(kw, upsample_nearest2d_backward, __VA_ARGS__)
#define kw_4_upsample_nearest2d_backward(grad_output, output_size, input_size, out) \
  kw_6_upsample_nearest2d_backward(grad_output, output_size, input_size, kw_arg_none(), kw_arg_none(), out)
#define kw_5_upsample_nearest2d_backward(grad_output, output_size, input_size, scales_h, out) \
  kw_6_upsample_nearest2d_backward(grad_output, output_size, input_size, scales_h, kw_arg_none(), out)
#define kw_6_upsample_nearest2d_backward(grad_output, output_size, input_size, scales_h, scales_w, out) \
  kw_typed_upsample_nearest2d_backward(grad_output, output_size, input_size, KW_AS_FLOAT(scales_h), \
  KW_AS_FLOAT(scales_w), out)
#define kwx_upsample_nearest2d_backward(...) KW_BY_NUMBER(kwx, upsample_nearest2d_backward, __VA_ARGS__)
#define kwx_3_upsample_nearest2d_backward(grad_output, output_size, input_size) \
  kwx_5_upsample_nearest2d_backward(grad_output, output_size, input_size, kw_arg_none(), kw_arg_none())
#define kwx_4_upsample_nearest2d_backward(grad_output, output_size, input_size, scales_h) \
  kwx_5_upsample_nearest2d_backward(grad_output, output_size, input_size, scales_h, kw_arg_none())
#define kwx_5_upsample_nearest2d_backward(grad_output, output_size, input_size, scales_h, scales_w) \
  kwx_typed_upsample_nearest2d_backward(grad_output, output_size, input_size, KW_AS_FLOAT(scales_h), \
  KW_AS_FLOAT(scales_w))

/* upsample_bilinear2d_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, bool align_corners,
 * float? scales_h=None, float? scales_w=None) -> Tensor */
static inline kw_status kw_typed_upsample_bilinear2d_backward(const kw_tensor *grad_output, kw_ints output_size,
                                                              kw_ints input_size, bool align_corners, kw_value scales_h,
                                                              kw_value scales_w, kw_tensor **out) {
  static kw_op_name op = {"upsample_bilinear2d_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_output), kw_typed_ints(output_size), kw_typed_ints(input_size),
                           kw_arg_bool(align_corners), scales_h, scales_w};
  return kw_op_run(&op, NULL, args, 6, out, 1);
}
static inline kw_tensor *kwx_typed_upsample_bilinear2d_backward(const kw_tensor *grad_output, kw_ints output_size,
                                                                kw_ints input_size, bool align_corners,
                                                                kw_value scales_h, kw_value scales_w) {
  kw_tensor *out = NULL;
  kw_typed_upsample_bilinear2d_backward(grad_output, output_size, input_size, align_corners, scales_h, scales_w, &out);
  return out;
}
#define kw_upsample_bilinear2d_backward(...) KW_BY_NUMBER(kw, upsample_bilinear2d_backward, __VA_ARGS__)
#define kw_5_upsample_bilinear2d_backward(grad_output, output_size, input_size, align_corners, out) \
  kw_7_upsample_bilinear2d_backward(grad_output, output_size, input_size, align_corners, kw_arg_none(), kw_arg_none(), \
  out)
#define kw_6_upsample_bilinear2d_backward(grad_output, output_size, input_size, align_corners, scales_h, out) \
  kw_7_upsample_bilinear2d_backward(grad_output, output_size, input_size, align_corners, scales_h, kw_arg_none(), out)
#define kw_7_upsample_bilinear2d_backward(grad_output, output_size, input_size, align_corners, scales_h, scales_w, \
  out) kw_typed_upsample_bilinear2d_backward(grad_output, output_size, input_size, align_corners, \
  KW_AS_FLOAT(scales_h), KW_AS_FLOAT(scales_w), out)
#define kwx_upsample_bilinear2d_backward(...) KW_BY_NUMBER(kwx, upsample_bilinear2d_backward, __VA_ARGS__)
#define kwx_4_upsample_bilinear2d_backward(grad_output, output_size, input_size, align_corners) \
  kwx_6_upsample_bilinear2d_backward(grad_output, output_size, input_size, align_corners, kw_arg_none(), kw_arg_none())
#define kwx_5_upsample_bilinear2d_backward(grad_output, output_size, input_size, align_corners, scales_h) \
  kwx_6_upsample_bilinear2d_backward(grad_output, output_size, input_size, align_corners, scales_h, kw_arg_none())
#define kwx_6_upsample_bilinear2d_backward(grad_output, output_size, input_size, align_corners, scales_h, scales_w) \
  kwx_typed_upsample_bilinear2d_backward(grad_output, output_size, input_size, align_corners, KW_AS_FLOAT(scales_h), \
  KW_AS_FLOAT(scales_w))

/* grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor */
static inline kw_status kw_grid_sampler_2d(const kw_tensor *input, const kw_tensor *grid, int64_t interpolation_mode,
                                           int64_t padding_mode, bool align_corners, kw_tensor **out) {
  static kw_op_name op = {"grid_sampler_2d", NULL};
  const kw_value args[] = {kw_arg_tensor(input), kw_arg_tensor(grid), kw_arg_int(interpolation_mode),
                           kw_arg_int(padding_mode), kw_arg_bool(align_corners)};
  return kw_op_run(&op, NULL, args, 5, out, 1);
}
static inline kw_tensor *kwx_grid_sampler_2d(const kw_tensor *input, const kw_tensor *grid, int64_t interpolation_mode,
                                             int64_t padding_mode, bool align_corners) {
  kw_tensor *out = NULL;
  kw_grid_sampler_2d(input, grid, interpolation_mode, padding_mode, align_corners, &out);
  return out;
}

/* grid_sampler_2d_backward(Tensor grad_output, Tensor input, Tensor grid, int interpolation_mode, int padding_mode,
 * bool align_corners, bool[2] output_mask) -> (Tensor, Tensor) */
static inline kw_status kw_grid_sampler_2d_backward(const kw_tensor *grad_output, const kw_tensor *input,
                                                    const kw_tensor *grid, int64_t interpolation_mode,
                                                    int64_t padding_mode, bool align_corners, kw_ints output_mask,
                                                    kw_tensor **out_0, kw_tensor **out_1) {
  static kw_op_name op = {"grid_sampler_2d_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_output), kw_arg_tensor(input), kw_arg_tensor(grid),
                           kw_arg_int(interpolation_mode), kw_arg_int(padding_mode), kw_arg_bool(align_corners),
                           kw_typed_ints(output_mask)};
  kw_tensor *outs[] = {*out_0, *out_1};
  const kw_status status = kw_op_run(&op, NULL, args, 7, outs, 2);
  *out_0 = outs[0];
  *out_1 = outs[1];
  return status;
}
static inline kw_tensor *kwx_grid_sampler_2d_backward(const kw_tensor *grad_output, const kw_tensor *input,
                                                      const kw_tensor *grid, int64_t interpolation_mode,
                                                      int64_t padding_mode, bool align_corners, kw_ints output_mask) {
  kw_tensor *out_0 = NULL, *out_1 = NULL;
  kw_grid_sampler_2d_backward(grad_output, input, grid, interpolation_mode, padding_mode, align_corners, output_mask,
      &out_0, &out_1);
  kw_scope_release(out_1);
  return out_0;
}

/* nonzero(Tensor self) -> Tensor */
static inline kw_status kw_nonzero(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"nonzero", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_nonzero(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_nonzero(self, &out);
  return out;
}

/* masked_select(Tensor self, Tensor mask) -> Tensor */
static inline kw_status kw_masked_select(const kw_tensor *self, const kw_tensor *mask, kw_tensor **out) {
  static kw_op_name op = {"masked_select", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(mask)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_masked_select(const kw_tensor *self, const kw_tensor *mask) {
  kw_tensor *out = NULL;
  kw_masked_select(self, mask, &out);
  return out;
}

/* masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor */
static inline kw_status kw_masked_scatter(const kw_tensor *self, const kw_tensor *mask, const kw_tensor *source,
                                          kw_tensor **out) {
  static kw_op_name op = {"masked_scatter", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(mask), kw_arg_tensor(source)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_masked_scatter(const kw_tensor *self, const kw_tensor *mask, const kw_tensor *source) {
  kw_tensor *out = NULL;
  kw_masked_scatter(self, mask, source, &out);
  return out;
}

/* max(Tensor self) -> Tensor */
static inline kw_status kw_max(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"max", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_max(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_max(self, &out);
  return out;
}

/* min(Tensor self) -> Tensor */
static inline kw_status kw_min(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"min", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_min(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_min(self, &out);
  return out;
}

/* max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices) */
static inline kw_status kw_typed_max_dim(const kw_tensor *self, int64_t dim, bool keepdim, kw_tensor **out_values,
                                         kw_tensor **out_indices) {
  static kw_op_name op = {"max.dim", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_int(dim), kw_arg_bool(keepdim)};
  kw_tensor *outs[] = {*out_values, *out_indices};
  const kw_status status = kw_op_run(&op, NULL, args, 3, outs, 2);
  *out_values = outs[0];
  *out_indices = outs[1];
  return status;
}
static inline kw_tensor *kwx_typed_max_dim(const kw_tensor *self, int64_t dim, bool keepdim) {
  kw_tensor *out_values = NULL, *out_indices = NULL;
  kw_typed_max_dim(self, dim, keepdim, &out_values, &out_indices);
  kw_scope_release(out_indices);
  return out_values;
}
#define kw_max_dim(...) KW_BY_NUMBER(kw, max_dim, __VA_ARGS__)
#define kw_4_max_dim(self, dim, out_values, out_indices) kw_5_max_dim(self, dim, false, out_values, out_indices)
#define kw_5_max_dim(self, dim, keepdim, out_values, out_indices) kw_typed_max_dim(self, dim, keepdim, out_values, \
  out_indices)
#define kwx_max_dim(...) KW_BY_NUMBER(kwx, max_dim, __VA_ARGS__)
#define kwx_2_max_dim(self, dim) kwx_3_max_dim(self, dim, false)
#define kwx_3_max_dim(self, dim, keepdim) kwx_typed_max_dim(self, dim, keepdim)

/* min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices) */
static inline kw_status kw_typed_min_dim(const kw_tensor *self, int64_t dim, bool keepdim, kw_tensor **out_values,
                                         kw_tensor **out_indices) {
  static kw_op_name op = {"min.dim", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_int(dim), kw_arg_bool(keepdim)};
  kw_tensor *outs[] = {*out_values, *out_indices};
  const kw_status status = kw_op_run(&op, NULL, args, 3, outs, 2);
  *out_values = outs[0];
  *out_indices = outs[1];
  return status;
}
static inline kw_tensor *kwx_typed_min_dim(const kw_tensor *self, int64_t dim, bool keepdim) {
  kw_tensor *out_values = NULL, *out_indices = NULL;
  kw_typed_min_dim(self, dim, keepdim, &out_values, &out_indices);
  kw_scope_release(out_indices);
  return out_values;
}
#define kw_min_dim(...) KW_BY_NUMBER(kw, min_dim, __VA_ARGS__)
#define kw_4_min_dim(self, dim, out_values, out_indices) kw_5_min_dim(self, dim, false, out_values, out_indices)
#define kw_5_min_dim(self, dim, keepdim, out_values, out_indices) kw_typed_min_dim(self, dim, keepdim, out_values, \
  out_indices)
#define kwx_min_dim(...) KW_BY_NUMBER(kwx, min_dim, __VA_ARGS__)
#define kwx_2_min_dim(self, dim) kwx_3_min_dim(self, dim, false)
#define kwx_3_min_dim(self, dim, keepdim) kwx_typed_min_dim(self, dim, keepdim)

/* all(Tensor self) -> Tensor */
static inline kw_status kw_all(const kw_tensor *self, kw_tensor **out) {
  static kw_op_name op = {"all", NULL};
  const kw_value args[] = {kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_all(const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_all(self, &out);
  return out;
}

/* all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor */
static inline kw_status kw_typed_all_dim(const kw_tensor *self, int64_t dim, bool keepdim, kw_tensor **out) {
  static kw_op_name op = {"all.dim", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_int(dim), kw_arg_bool(keepdim)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_typed_all_dim(const kw_tensor *self, int64_t dim, bool keepdim) {
  kw_tensor *out = NULL;
  kw_typed_all_dim(self, dim, keepdim, &out);
  return out;
}
#define kw_all_dim(...) KW_BY_NUMBER(kw, all_dim, __VA_ARGS__)
#define kw_3_all_dim(self, dim, out) kw_4_all_dim(self, dim, false, out)
#define kw_4_all_dim(self, dim, keepdim, out) kw_typed_all_dim(self, dim, keepdim, out)
#define kwx_all_dim(...) KW_BY_NUMBER(kwx, all_dim, __VA_ARGS__)
#define kwx_2_all_dim(self, dim) kwx_3_all_dim(self, dim, false)
#define kwx_3_all_dim(self, dim, keepdim) kwx_typed_all_dim(self, dim, keepdim)

/* all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor */
static inline kw_status kw_typed_all_dims(const kw_tensor *self, kw_ints dim, bool keepdim, kw_tensor **out) {
  static kw_op_name op = {"all.dims", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_optional_ints(dim), kw_arg_bool(keepdim)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_typed_all_dims(const kw_tensor *self, kw_ints dim, bool keepdim) {
  kw_tensor *out = NULL;
  kw_typed_all_dims(self, dim, keepdim, &out);
  return out;
}
#define kw_all_dims(...) KW_BY_NUMBER(kw, all_dims, __VA_ARGS__)
#define kw_2_all_dims(self, out) kw_4_all_dims(self, KW_NO_INTS, false, out)
#define kw_3_all_dims(self, dim, out) kw_4_all_dims(self, dim, false, out)
#define kw_4_all_dims(self, dim, keepdim, out) kw_typed_all_dims(self, dim, keepdim, out)
#define kwx_all_dims(...) KW_BY_NUMBER(kwx, all_dims, __VA_ARGS__)
#define kwx_1_all_dims(self) kwx_3_all_dims(self, KW_NO_INTS, false)
#define kwx_2_all_dims(self, dim) kwx_3_all_dims(self, dim, false)
#define kwx_3_all_dims(self, dim, keepdim) kwx_typed_all_dims(self, dim, keepdim)

/* var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor */
static inline kw_status kw_typed_var_correction(const kw_tensor *self, kw_ints dim, kw_value correction, bool keepdim,
                                                kw_tensor **out) {
  static kw_op_name op = {"var.correction", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_optional_ints(dim), correction, kw_arg_bool(keepdim)};
  return kw_op_run(&op, NULL, args, 4, out, 1);
}
static inline kw_tensor *kwx_typed_var_correction(const kw_tensor *self, kw_ints dim, kw_value correction,
                                                  bool keepdim) {
  kw_tensor *out = NULL;
  kw_typed_var_correction(self, dim, correction, keepdim, &out);
  return out;
}
#define kw_var_correction(...) KW_BY_NUMBER(kw, var_correction, __VA_ARGS__)
#define kw_2_var_correction(self, out) kw_5_var_correction(self, KW_NO_INTS, kw_arg_none(), false, out)
#define kw_3_var_correction(self, dim, out) kw_5_var_correction(self, dim, kw_arg_none(), false, out)
#define kw_4_var_correction(self, dim, correction, out) kw_5_var_correction(self, dim, correction, false, out)
#define kw_5_var_correction(self, dim, correction, keepdim, out) kw_typed_var_correction(self, dim, \
  KW_AS_SCALAR(correction), keepdim, out)
#define kwx_var_correction(...) KW_BY_NUMBER(kwx, var_correction, __VA_ARGS__)
#define kwx_1_var_correction(self) kwx_4_var_correction(self, KW_NO_INTS, kw_arg_none(), false)
#define kwx_2_var_correction(self, dim) kwx_4_var_correction(self, dim, kw_arg_none(), false)
#define kwx_3_var_correction(self, dim, correction) kwx_4_var_correction(self, dim, correction, false)
#define kwx_4_var_correction(self, dim, correction, keepdim) kwx_typed_var_correction(self, dim, \
  KW_AS_SCALAR(correction), keepdim)

/* var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor */
static inline kw_status kw_typed_var_dim(const kw_tensor *self, kw_ints dim, bool unbiased, bool keepdim,
                                         kw_tensor **out) {
  static kw_op_name op = {"var.dim", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_optional_ints(dim), kw_arg_bool(unbiased),
                           kw_arg_bool(keepdim)};
  return kw_op_run(&op, NULL, args, 4, out, 1);
}
static inline kw_tensor *kwx_typed_var_dim(const kw_tensor *self, kw_ints dim, bool unbiased, bool keepdim) {
  kw_tensor *out = NULL;
  kw_typed_var_dim(self, dim, unbiased, keepdim, &out);
  return out;
}
#define kw_var_dim(...) KW_BY_NUMBER(kw, var_dim, __VA_ARGS__)
#define kw_3_var_dim(self, dim, out) kw_5_var_dim(self, dim, true, false, out)
#define kw_4_var_dim(self, dim, unbiased, out) kw_5_var_dim(self, dim, unbiased, false, out)
#define kw_5_var_dim(self, dim, unbiased, keepdim, out) kw_typed_var_dim(self, dim, unbiased, keepdim, out)
#define kwx_var_dim(...) KW_BY_NUMBER(kwx, var_dim, __VA_ARGS__)
#define kwx_2_var_dim(self, dim) kwx_4_var_dim(self, dim, true, false)
#define kwx_3_var_dim(self, dim, unbiased) kwx_4_var_dim(self, dim, unbiased, false)
#define kwx_4_var_dim(self, dim, unbiased, keepdim) kwx_typed_var_dim(self, dim, unbiased, keepdim)

/* var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor,
 * Tensor) */
static inline kw_status kw_typed_var_mean_correction(const kw_tensor *self, kw_ints dim, kw_value correction,
                                                     bool keepdim, kw_tensor **out_0, kw_tensor **out_1) {
  static kw_op_name op = {"var_mean.correction", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_optional_ints(dim), correction, kw_arg_bool(keepdim)};
  kw_tensor *outs[] = {*out_0, *out_1};
  const kw_status status = kw_op_run(&op, NULL, args, 4, outs, 2);
  *out_0 = outs[0];
  *out_1 = outs[1];
  return status;
}
static inline kw_tensor *kwx_typed_var_mean_correction(const kw_tensor *self, kw_ints dim, kw_value correction,
                                                       bool keepdim) {
  kw_tensor *out_0 = NULL, *out_1 = NULL;
  kw_typed_var_mean_correction(self, dim, correction, keepdim, &out_0, &out_1);
  kw_scope_release(out_1);
  return out_0;
}
#define kw_var_mean_correction(...) KW_BY_NUMBER(kw, var_mean_correction, __VA_ARGS__)
#define kw_3_var_mean_correction(self, out_0, out_1) kw_6_var_mean_correction(self, KW_NO_INTS, kw_arg_none(), false, \
  out_0, out_1)
#define kw_4_var_mean_correction(self, dim, out_0, out_1) kw_6_var_mean_correction(self, dim, kw_arg_none(), false, \
  out_0, out_1)
#define kw_5_var_mean_correction(self, dim, correction, out_0, out_1) kw_6_var_mean_correction(self, dim, correction, \
  false, out_0, out_1)
#define kw_6_var_mean_correction(self, dim, correction, keepdim, out_0, out_1) kw_typed_var_mean_correction(self, dim, \
  KW_AS_SCALAR(correction), keepdim, out_0, out_1)
#define kwx_var_mean_correction(...) KW_BY_NUMBER(kwx, var_mean_correction, __VA_ARGS__)
#define kwx_1_var_mean_correction(self) kwx_4_var_mean_correction(self, KW_NO_INTS, kw_arg_none(), false)
#define kwx_2_var_mean_correction(self, dim) kwx_4_var_mean_correction(self, dim, kw_arg_none(), false)
#define kwx_3_var_mean_correction(self, dim, correction) kwx_4_var_mean_correction(self, dim, correction, false)
#define kwx_4_var_mean_correction(self, dim, correction, keepdim) kwx_typed_var_mean_correction(self, dim, \
  KW_AS_SCALAR(correction), keepdim)

/* logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor */
static inline kw_status kw_typed_logsumexp(const kw_tensor *self, kw_ints dim, bool keepdim, kw_tensor **out) {
  static kw_op_name op = {"logsumexp", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_ints(dim), kw_arg_bool(keepdim)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_typed_logsumexp(const kw_tensor *self, kw_ints dim, bool keepdim) {
  kw_tensor *out = NULL;
  kw_typed_logsumexp(self, dim, keepdim, &out);
  return out;
}
#define kw_logsumexp(...) KW_BY_NUMBER(kw, logsumexp, __VA_ARGS__)
#define kw_3_logsumexp(self, dim, out) kw_4_logsumexp(self, dim, false, out)
#define kw_4_logsumexp(self, dim, keepdim, out) kw_typed_logsumexp(self, dim, keepdim, out)
#define kwx_logsumexp(...) KW_BY_NUMBER(kwx, logsumexp, __VA_ARGS__)
#define kwx_2_logsumexp(self, dim) kwx_3_logsumexp(self, dim, false)
#define kwx_3_logsumexp(self, dim, keepdim) kwx_typed_logsumexp(self, dim, keepdim)

/* sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices) */
static inline kw_status kw_typed_sort(const kw_tensor *self, int64_t dim, bool descending, kw_tensor **out_values,
                                      kw_tensor **out_indices) {
  static kw_op_name op = {"sort", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_int(dim), kw_arg_bool(descending)};
  kw_tensor *outs[] = {*out_values, *out_indices};
  const kw_status status = kw_op_run(&op, NULL, args, 3, outs, 2);
  *out_values = outs[0];
  *out_indices = outs[1];
  return status;
}
static inline kw_tensor *kwx_typed_sort(const kw_tensor *self, int64_t dim, bool descending) {
  kw_tensor *out_values = NULL, *out_indices = NULL;
  kw_typed_sort(self, dim, descending, &out_values, &out_indices);
  kw_scope_release(out_indices);
  return out_values;
}
#define kw_sort(...) KW_BY_NUMBER(kw, sort, __VA_ARGS__)
#define kw_3_sort(self, out_values, out_indices) kw_5_sort(self, -1, false, out_values, out_indices)
#define kw_4_sort(self, dim, out_values, out_indices) kw_5_sort(self, dim, false, out_values, out_indices)
#define kw_5_sort(self, dim, descending, out_values, out_indices) kw_typed_sort(self, dim, descending, out_values, \
  out_indices)
#define kwx_sort(...) KW_BY_NUMBER(kwx, sort, __VA_ARGS__)
#define kwx_1_sort(self) kwx_3_sort(self, -1, false)
#define kwx_2_sort(self, dim) kwx_3_sort(self, dim, false)
#define kwx_3_sort(self, dim, descending) kwx_typed_sort(self, dim, descending)

/* sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices) */
static inline kw_status kw_typed_sort_stable(const kw_tensor *self, kw_value stable, int64_t dim, bool descending,
                                             kw_tensor **out_values, kw_tensor **out_indices) {
  static kw_op_name op = {"sort.stable", NULL};
  const kw_value args[] = {kw_arg_tensor(self), stable, kw_arg_int(dim), kw_arg_bool(descending)};
  kw_tensor *outs[] = {*out_values, *out_indices};
  const kw_status status = kw_op_run(&op, NULL, args, 4, outs, 2);
  *out_values = outs[0];
  *out_indices = outs[1];
  return status;
}
static inline kw_tensor *kwx_typed_sort_stable(const kw_tensor *self, kw_value stable, int64_t dim, bool descending) {
  kw_tensor *out_values = NULL, *out_indices = NULL;
  kw_typed_sort_stable(self, stable, dim, descending, &out_values, &out_indices);
  kw_scope_release(out_indices);
  return out_values;
}
#define kw_sort_stable(...) KW_BY_NUMBER(kw, sort_stable, __VA_ARGS__)
#define kw_4_sort_stable(self, stable, out_values, out_indices) kw_6_sort_stable(self, stable, -1, false, out_values, \
  out_indices)
#define kw_5_sort_stable(self, stable, dim, out_values, out_indices) kw_6_sort_stable(self, stable, dim, false, \
  out_values, out_indices)
#define kw_6_sort_stable(self, stable, dim, descending, out_values, out_indices) kw_typed_sort_stable(self, \
  KW_AS_BOOL(stable), dim, descending, out_values, out_indices)
#define kwx_sort_stable(...) KW_BY_NUMBER(kwx, sort_stable, __VA_ARGS__)
#define kwx_2_sort_stable(self, stable) kwx_4_sort_stable(self, stable, -1, false)
#define kwx_3_sort_stable(self, stable, dim) kwx_4_sort_stable(self, stable, dim, false)
#define kwx_4_sort_stable(self, stable, dim, descending) kwx_typed_sort_stable(self, KW_AS_BOOL(stable), dim, \
  descending)

/* topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices) */
static inline kw_status kw_typed_topk(const kw_tensor *self, int64_t k, int64_t dim, bool largest, bool sorted,
                                      kw_tensor **out_values, kw_tensor **out_indices) {
  static kw_op_name op = {"topk", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_int(k), kw_arg_int(dim), kw_arg_bool(largest),
                           kw_arg_bool(sorted)};
  kw_tensor *outs[] = {*out_values, *out_indices};
  const kw_status status = kw_op_run(&op, NULL, args, 5, outs, 2);
  *out_values = outs[0];
  *out_indices = outs[1];
  return status;
}
static inline kw_tensor *kwx_typed_topk(const kw_tensor *self, int64_t k, int64_t dim, bool largest, bool sorted) {
  kw_tensor *out_values = NULL, *out_indices = NULL;
  kw_typed_topk(self, k, dim, largest, sorted, &out_values, &out_indices);
  kw_scope_release(out_indices);
  return out_values;
}
#define kw_topk(...) KW_BY_NUMBER(kw, topk, __VA_ARGS__)
#define kw_4_topk(self, k, out_values, out_indices) kw_7_topk(self, k, -1, true, true, out_values, out_indices)
#define kw_5_topk(self, k, dim, out_values, out_indices) kw_7_topk(self, k, dim, true, true, out_values, out_indices)
#define kw_6_topk(self, k, dim, largest, out_values, out_indices) kw_7_topk(self, k, dim, largest, true, out_values, \
  out_indices)
#define kw_7_topk(self, k, dim, largest, sorted, out_values, out_indices) kw_typed_topk(self, k, dim, largest, sorted, \
  out_values, out_indices)
#define kwx_topk(...) KW_BY_NUMBER(kwx, topk, __VA_ARGS__)
#define kwx_2_topk(self, k) kwx_5_topk(self, k, -1, true, true)
#define kwx_3_topk(self, k, dim) kwx_5_topk(self, k, dim, true, true)
#define kwx_4_topk(self, k, dim, largest) kwx_5_topk(self, k, dim, largest, true)
#define kwx_5_topk(self, k, dim, largest, sorted) kwx_typed_topk(self, k, dim, largest, sorted)

/* searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, str? side=None,
 * Tensor? sorter=None) -> Tensor */
static inline kw_status kw_typed_searchsorted_tensor(const kw_tensor *sorted_sequence, const kw_tensor *self,
                                                     bool out_int32, bool right, const char *side,
                                                     const kw_tensor *sorter, kw_tensor **out) {
  static kw_op_name op = {"searchsorted.Tensor", NULL};
  const kw_value args[] = {kw_arg_tensor(sorted_sequence), kw_arg_tensor(self), kw_arg_bool(out_int32),
                           kw_arg_bool(right), kw_typed_optional_string(side), kw_typed_optional(sorter)};
  return kw_op_run(&op, NULL, args, 6, out, 1);
}
static inline kw_tensor *kwx_typed_searchsorted_tensor(const kw_tensor *sorted_sequence, const kw_tensor *self,
                                                       bool out_int32, bool right, const char *side,
                                                       const kw_tensor *sorter) {
  kw_tensor *out = NULL;
  kw_typed_searchsorted_tensor(sorted_sequence, self, out_int32, right, side, sorter, &out);
  return out;
}
#define kw_searchsorted_tensor(...) KW_BY_NUMBER(kw, searchsorted_tensor, __VA_ARGS__)
#define kw_3_searchsorted_tensor(sorted_sequence, self, out) kw_7_searchsorted_tensor(sorted_sequence, self, false, \
  false, NULL, NULL, out)
#define kw_4_searchsorted_tensor(sorted_sequence, self, out_int32, out) kw_7_searchsorted_tensor(sorted_sequence, \
  self, out_int32, false, NULL, NULL, out)
#define kw_5_searchsorted_tensor(sorted_sequence, self, out_int32, right, out) \
  kw_7_searchsorted_tensor(sorted_sequence, self, out_int32, right, NULL, NULL, out)
#define kw_6_searchsorted_tensor(sorted_sequence, self, out_int32, right, side, out) \
  kw_7_searchsorted_tensor(sorted_sequence, self, out_int32, right, side, NULL, out)
#define kw_7_searchsorted_tensor(sorted_sequence, self, out_int32, right, side, sorter, out) \
  kw_typed_searchsorted_tensor(sorted_sequence, self, out_int32, right, side, sorter, out)
#define kwx_searchsorted_tensor(...) KW_BY_NUMBER(kwx, searchsorted_tensor, __VA_ARGS__)
#define kwx_2_searchsorted_tensor(sorted_sequence, self) kwx_6_searchsorted_tensor(sorted_sequence, self, false, \
  false, NULL, NULL)
#define kwx_3_searchsorted_tensor(sorted_sequence, self, out_int32) kwx_6_searchsorted_tensor(sorted_sequence, self, \
  out_int32, false, NULL, NULL)
#define kwx_4_searchsorted_tensor(sorted_sequence, self, out_int32, right) kwx_6_searchsorted_tensor(sorted_sequence, \
  self, out_int32, right, NULL, NULL)
#define kwx_5_searchsorted_tensor(sorted_sequence, self, out_int32, right, side) \
  kwx_6_searchsorted_tensor(sorted_sequence, self, out_int32, right, side, NULL)
#define kwx_6_searchsorted_tensor(sorted_sequence, self, out_int32, right, side, sorter) \
  kwx_typed_searchsorted_tensor(sorted_sequence, self, out_int32, right, side, sorter)

/* cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor */
static inline kw_status kw_typed_cumprod(const kw_tensor *self, int64_t dim, kw_dtype dtype, kw_tensor **out) {
  static kw_op_name op = {"cumprod", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_int(dim), kw_arg_dtype(dtype)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_typed_cumprod(const kw_tensor *self, int64_t dim, kw_dtype dtype) {
  kw_tensor *out = NULL;
  kw_typed_cumprod(self, dim, dtype, &out);
  return out;
}
#define kw_cumprod(...) KW_BY_NUMBER(kw, cumprod, __VA_ARGS__)
#define kw_3_cumprod(self, dim, out) kw_4_cumprod(self, dim, KW_DTYPE_NONE, out)
#define kw_4_cumprod(self, dim, dtype, out) kw_typed_cumprod(self, dim, dtype, out)
#define kwx_cumprod(...) KW_BY_NUMBER(kwx, cumprod, __VA_ARGS__)
#define kwx_2_cumprod(self, dim) kwx_3_cumprod(self, dim, KW_DTYPE_NONE)
#define kwx_3_cumprod(self, dim, dtype) kwx_typed_cumprod(self, dim, dtype)

/* _native_batch_norm_legit(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, Tensor(b!) running_var,
 * bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor(a!), Tensor(b!)) */
static inline kw_status kw_native_batch_norm_legit(const kw_tensor *input, const kw_tensor *weight,
                                                   const kw_tensor *bias, kw_tensor *running_mean,
                                                   kw_tensor *running_var, bool training, double momentum, double eps,
                                                   kw_tensor **out_0, kw_tensor **out_1, kw_tensor **out_2) {
  static kw_op_name op = {"_native_batch_norm_legit", NULL};
  const kw_value args[] = {kw_arg_tensor(input), kw_typed_optional(weight), kw_typed_optional(bias),
                           kw_arg_tensor(running_mean), kw_arg_tensor(running_var), kw_arg_bool(training),
                           kw_arg_float(momentum), kw_arg_float(eps)};
  kw_tensor *outs[] = {*out_0, *out_1, *out_2, NULL, NULL};
  const kw_status status = kw_op_run(&op, NULL, args, 8, outs, 5);
  *out_0 = outs[0];
  *out_1 = outs[1];
  *out_2 = outs[2];
  return status;
}
static inline kw_tensor *kwx_native_batch_norm_legit(const kw_tensor *input, const kw_tensor *weight,
                                                     const kw_tensor *bias, kw_tensor *running_mean,
                                                     kw_tensor *running_var, bool training, double momentum,
                                                     double eps) {
  kw_tensor *out_0 = NULL, *out_1 = NULL, *out_2 = NULL;
  kw_native_batch_norm_legit(input, weight, bias, running_mean, running_var, training, momentum, eps, &out_0, &out_1,
      &out_2);
  kw_scope_release(out_1);
  kw_scope_release(out_2);
  return out_0;
}

/* _native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, bool training, float momentum,
 * float eps) -> (Tensor, Tensor, Tensor) */
static inline kw_status kw_native_batch_norm_legit_no_stats(const kw_tensor *input, const kw_tensor *weight,
                                                            const kw_tensor *bias, bool training, double momentum,
                                                            double eps, kw_tensor **out_0, kw_tensor **out_1,
                                                            kw_tensor **out_2) {
  static kw_op_name op = {"_native_batch_norm_legit.no_stats", NULL};
  const kw_value args[] = {kw_arg_tensor(input), kw_typed_optional(weight), kw_typed_optional(bias),
                           kw_arg_bool(training), kw_arg_float(momentum), kw_arg_float(eps)};
  kw_tensor *outs[] = {*out_0, *out_1, *out_2};
  const kw_status status = kw_op_run(&op, NULL, args, 6, outs, 3);
  *out_0 = outs[0];
  *out_1 = outs[1];
  *out_2 = outs[2];
  return status;
}
static inline kw_tensor *kwx_native_batch_norm_legit_no_stats(const kw_tensor *input, const kw_tensor *weight,
                                                              const kw_tensor *bias, bool training, double momentum,
                                                              double eps) {
  kw_tensor *out_0 = NULL, *out_1 = NULL, *out_2 = NULL;
  kw_native_batch_norm_legit_no_stats(input, weight, bias, training, momentum, eps, &out_0, &out_1, &out_2);
  kw_scope_release(out_1);
  kw_scope_release(out_2);
  return out_0;
}

/* _native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean,
 * Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor) */
static inline kw_status kw_native_batch_norm_legit_no_training(const kw_tensor *input, const kw_tensor *weight,
                                                               const kw_tensor *bias, const kw_tensor *running_mean,
                                                               const kw_tensor *running_var, double momentum,
                                                               double eps, kw_tensor **out_0, kw_tensor **out_1,
                                                               kw_tensor **out_2) {
  static kw_op_name op = {"_native_batch_norm_legit_no_training", NULL};
  const kw_value args[] = {kw_arg_tensor(input), kw_typed_optional(weight), kw_typed_optional(bias),
                           kw_arg_tensor(running_mean), kw_arg_tensor(running_var), kw_arg_float(momentum),
                           kw_arg_float(eps)};
  kw_tensor *outs[] = {*out_0, *out_1, *out_2};
  const kw_status status = kw_op_run(&op, NULL, args, 7, outs, 3);
  *out_0 = outs[0];
  *out_1 = outs[1];
  *out_2 = outs[2];
  return status;
}
static inline kw_tensor *kwx_native_batch_norm_legit_no_training(const kw_tensor *input, const kw_tensor *weight,
                                                                 const kw_tensor *bias, const kw_tensor *running_mean,
                                                                 const kw_tensor *running_var, double momentum,
                                                                 double eps) {
  kw_tensor *out_0 = NULL, *out_1 = NULL, *out_2 = NULL;
  kw_native_batch_norm_legit_no_training(input, weight, bias, running_mean, running_var, momentum, eps, &out_0, &out_1,
      &out_2);
  kw_scope_release(out_1);
  kw_scope_release(out_2);
  return out_0;
}

/* native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, int group,
 * float eps) -> (Tensor, Tensor, Tensor) */
static inline kw_status kw_native_group_norm(const kw_tensor *input, const kw_tensor *weight, const kw_tensor *bias,
                                             int64_t N, int64_t C, int64_t HxW, int64_t group, double eps,
                                             kw_tensor **out_0, kw_tensor **out_1, kw_tensor **out_2) {
  static kw_op_name op = {"native_group_norm", NULL};
  const kw_value args[] = {kw_arg_tensor(input), kw_typed_optional(weight), kw_typed_optional(bias), kw_arg_int(N),
                           kw_arg_int(C), kw_arg_int(HxW), kw_arg_int(group), kw_arg_float(eps)};
  kw_tensor *outs[] = {*out_0, *out_1, *out_2};
  const kw_status status = kw_op_run(&op, NULL, args, 8, outs, 3);
  *out_0 = outs[0];
  *out_1 = outs[1];
  *out_2 = outs[2];
  return status;
}
static inline kw_tensor *kwx_native_group_norm(const kw_tensor *input, const kw_tensor *weight, const kw_tensor *bias,
                                               int64_t N, int64_t C, int64_t HxW, int64_t group, double eps) {
  kw_tensor *out_0 = NULL, *out_1 = NULL, *out_2 = NULL;
  kw_native_group_norm(input, weight, bias, N, C, HxW, group, eps, &out_0, &out_1, &out_2);
  kw_scope_release(out_1);
  kw_scope_release(out_2);
  return out_0;
}

/* _fused_rms_norm(Tensor input, int[] normalized_shape, Tensor? weight, float? eps) -> (Tensor, Tensor) */
static inline kw_status kw_typed_fused_rms_norm(const kw_tensor *input, kw_ints normalized_shape,
                                                const kw_tensor *weight, kw_value eps, kw_tensor **out_0,
                                                kw_tensor **out_1) {
  static kw_op_name op = {"_fused_rms_norm", NULL};
  const kw_value args[] = {kw_arg_tensor(input), kw_typed_ints(normalized_shape), kw_typed_optional(weight), eps};
  kw_tensor *outs[] = {*out_0, *out_1};
  const kw_status status = kw_op_run(&op, NULL, args, 4, outs, 2);
  *out_0 = outs[0];
  *out_1 = outs[1];
  return status;
}
static inline kw_tensor *kwx_typed_fused_rms_norm(const kw_tensor *input, kw_ints normalized_shape,
                                                  const kw_tensor *weight, kw_value eps) {
  kw_tensor *out_0 = NULL, *out_1 = NULL;
  kw_typed_fused_rms_norm(input, normalized_shape, weight, eps, &out_0, &out_1);
  kw_scope_release(out_1);
  return out_0;
}
#define kw_fused_rms_norm(input, normalized_shape, weight, eps, out_0, out_1) kw_typed_fused_rms_norm(input, \
  normalized_shape, weight, KW_AS_FLOAT(eps), out_0, out_1)
#define kwx_fused_rms_norm(input, normalized_shape, weight, eps) kwx_typed_fused_rms_norm(input, normalized_shape, \
  weight, KW_AS_FLOAT(eps))

/* _softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor */
static inline kw_status kw_softmax_backward_data(const kw_tensor *grad_output, const kw_tensor *output, int64_t dim,
                                                 kw_dtype input_dtype, kw_tensor **out) {
  static kw_op_name op = {"_softmax_backward_data", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_output), kw_arg_tensor(output), kw_arg_int(dim),
                           kw_arg_dtype(input_dtype)};
  return kw_op_run(&op, NULL, args, 4, out, 1);
}
static inline kw_tensor *kwx_softmax_backward_data(const kw_tensor *grad_output, const kw_tensor *output, int64_t dim,
                                                   kw_dtype input_dtype) {
  kw_tensor *out = NULL;
  kw_softmax_backward_data(grad_output, output, dim, input_dtype, &out);
  return out;
}

/* _log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor */
static inline kw_status kw_log_softmax_backward_data(const kw_tensor *grad_output, const kw_tensor *output, int64_t dim,
                                                     kw_dtype input_dtype, kw_tensor **out) {
  static kw_op_name op = {"_log_softmax_backward_data", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_output), kw_arg_tensor(output), kw_arg_int(dim),
                           kw_arg_dtype(input_dtype)};
  return kw_op_run(&op, NULL, args, 4, out, 1);
}
static inline kw_tensor *kwx_log_softmax_backward_data(const kw_tensor *grad_output, const kw_tensor *output,
                                                       int64_t dim, kw_dtype input_dtype) {
  kw_tensor *out = NULL;
  kw_log_softmax_backward_data(grad_output, output, dim, input_dtype, &out);
  return out;
}

/* native_layer_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor mean, Tensor rstd,
 * Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor) */
static inline kw_status kw_native_layer_norm_backward(const kw_tensor *grad_out, const kw_tensor *input,
                                                      kw_ints normalized_shape, const kw_tensor *mean,
                                                      const kw_tensor *rstd, const kw_tensor *weight,
                                                      const kw_tensor *bias, kw_ints output_mask, kw_tensor **out_0,
                                                      kw_tensor **out_1, kw_tensor **out_2) {
  static kw_op_name op = {"native_layer_norm_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_out), kw_arg_tensor(input), kw_typed_ints(normalized_shape),
                           kw_arg_tensor(mean), kw_arg_tensor(rstd), kw_typed_optional(weight), kw_typed_optional(bias),
                           kw_typed_ints(output_mask)};
  kw_tensor *outs[] = {*out_0, *out_1, *out_2};
  const kw_status status = kw_op_run(&op, NULL, args, 8, outs, 3);
  *out_0 = outs[0];
  *out_1 = outs[1];
  *out_2 = outs[2];
  return status;
}
static inline kw_tensor *kwx_native_layer_norm_backward(const kw_tensor *grad_out, const kw_tensor *input,
                                                        kw_ints normalized_shape, const kw_tensor *mean,
                                                        const kw_tensor *rstd, const kw_tensor *weight,
                                                        const kw_tensor *bias, kw_ints output_mask) {
  kw_tensor *out_0 = NULL, *out_1 = NULL, *out_2 = NULL;
  kw_native_layer_norm_backward(grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask, &out_0,
      &out_1, &out_2);
  kw_scope_release(out_1);
  kw_scope_release(out_2);
  return out_0;
}

/* _fused_rms_norm_backward(Tensor grad_out, Tensor input, int[] normalized_shape, Tensor rstd, Tensor? weight,
 * bool[2] output_mask) -> (Tensor, Tensor) */
static inline kw_status kw_fused_rms_norm_backward(const kw_tensor *grad_out, const kw_tensor *input,
                                                   kw_ints normalized_shape, const kw_tensor *rstd,
                                                   const kw_tensor *weight, kw_ints output_mask, kw_tensor **out_0,
                                                   kw_tensor **out_1) {
  static kw_op_name op = {"_fused_rms_norm_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_out), kw_arg_tensor(input), kw_typed_ints(normalized_shape),
                           kw_arg_tensor(rstd), kw_typed_optional(weight), kw_typed_ints(output_mask)};
  kw_tensor *outs[] = {*out_0, *out_1};
  const kw_status status = kw_op_run(&op, NULL, args, 6, outs, 2);
  *out_0 = outs[0];
  *out_1 = outs[1];
  return status;
}
static inline kw_tensor *kwx_fused_rms_norm_backward(const kw_tensor *grad_out, const kw_tensor *input,
                                                     kw_ints normalized_shape, const kw_tensor *rstd,
                                                     const kw_tensor *weight, kw_ints output_mask) {
  kw_tensor *out_0 = NULL, *out_1 = NULL;
  kw_fused_rms_norm_backward(grad_out, input, normalized_shape, rstd, weight, output_mask, &out_0, &out_1);
  kw_scope_release(out_1);
  return out_0;
}

/* native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, SymInt N,
 * SymInt C, SymInt HxW, int group, bool[3] output_mask) -> (Tensor, Tensor, Tensor) */
static inline kw_status kw_native_group_norm_backward(const kw_tensor *grad_out, const kw_tensor *input,
                                                      const kw_tensor *mean, const kw_tensor *rstd,
                                                      const kw_tensor *weight, int64_t N, int64_t C, int64_t HxW,
                                                      int64_t group, kw_ints output_mask, kw_tensor **out_0,
                                                      kw_tensor **out_1, kw_tensor **out_2) {
  static kw_op_name op = {"native_group_norm_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_out), kw_arg_tensor(input), kw_arg_tensor(mean), kw_arg_tensor(rstd),
                           kw_typed_optional(weight), kw_arg_int(N), kw_arg_int(C), kw_arg_int(HxW), kw_arg_int(group),
                           kw_typed_ints(output_mask)};
  kw_tensor *outs[] = {*out_0, *out_1, *out_2};
  const kw_status status = kw_op_run(&op, NULL, args, 10, outs, 3);
  *out_0 = outs[0];
  *out_1 = outs[1];
  *out_2 = outs[2];
  return status;
}
static inline kw_tensor *kwx_native_group_norm_backward(const kw_tensor *grad_out, const kw_tensor *input,
                                                        const kw_tensor *mean, const kw_tensor *rstd,
                                                        const kw_tensor *weight, int64_t N, int64_t C, int64_t HxW,
                                                        int64_t group, kw_ints output_mask) {
  kw_tensor *out_0 = NULL, *out_1 = NULL, *out_2 = NULL;
  kw_native_group_norm_backward(grad_out, input, mean, rstd, weight, N, C, HxW, group, output_mask, &out_0, &out_1,
      &out_2);
  kw_scope_release(out_1);
  kw_scope_release(out_2);
  return out_0;
}

/* native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor? running_mean, Tensor? running_var,
 * Tensor? save_mean, Tensor? save_invstd, bool train, float eps, bool[3] output_mask) -> (Tensor, Tensor, Tensor) */
static inline kw_status kw_native_batch_norm_backward(const kw_tensor *grad_out, const kw_tensor *input,
                                                      const kw_tensor *weight, const kw_tensor *running_mean,
                                                      const kw_tensor *running_var, const kw_tensor *save_mean,
                                                      const kw_tensor *save_invstd, bool train, double eps,
                                                      kw_ints output_mask, kw_tensor **out_0, kw_tensor **out_1,
                                                      kw_tensor **out_2) {
  static kw_op_name op = {"native_batch_norm_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_out), kw_arg_tensor(input), kw_typed_optional(weight),
                           kw_typed_optional(running_mean), kw_typed_optional(running_var),
                           kw_typed_optional(save_mean), kw_typed_optional(save_invstd), kw_arg_bool(train),
                           kw_arg_float(eps), kw_typed_ints(output_mask)};
  kw_tensor *outs[] = {*out_0, *out_1, *out_2};
  const kw_status status = kw_op_run(&op, NULL, args, 10, outs, 3);
  *out_0 = outs[0];
  *out_1 = outs[1];
  *out_2 = outs[2];
  return status;
}
static inline kw_tensor *kwx_native_batch_norm_backward(const kw_tensor *grad_out, const kw_tensor *input,
                                                        const kw_tensor *weight, const kw_tensor *running_mean,
                                                        const kw_tensor *running_var, const kw_tensor *save_mean,
                                                        const kw_tensor *save_invstd, bool train, double eps,
                                                        kw_ints output_mask) {
  kw_tensor *out_0 = NULL, *out_1 = NULL, *out_2 = NULL;
  kw_native_batch_norm_backward(grad_out, input, weight, running_mean, running_var, save_mean, save_invstd, train, eps,
      output_mask, &out_0, &out_1, &out_2);
  kw_scope_release(out_1);
  kw_scope_release(out_2);
  return out_0;
}

/* mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor */
static inline kw_status kw_typed_mse_loss(const kw_tensor *self, const kw_tensor *target, int64_t reduction,
                                          kw_tensor **out) {
  static kw_op_name op = {"mse_loss", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(target), kw_arg_int(reduction)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_typed_mse_loss(const kw_tensor *self, const kw_tensor *target, int64_t reduction) {
  kw_tensor *out = NULL;
  kw_typed_mse_loss(self, target, reduction, &out);
  return out;
}
#define kw_mse_loss(...) KW_BY_NUMBER(kw, mse_loss, __VA_ARGS__)
#define kw_3_mse_loss(self, target, out) kw_4_mse_loss(self, target, 1, out)
#define kw_4_mse_loss(self, target, reduction, out) kw_typed_mse_loss(self, target, reduction, out)
#define kwx_mse_loss(...) KW_BY_NUMBER(kwx, mse_loss, __VA_ARGS__)
#define kwx_2_mse_loss(self, target) kwx_3_mse_loss(self, target, 1)
#define kwx_3_mse_loss(self, target, reduction) kwx_typed_mse_loss(self, target, reduction)

/* huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.) -> Tensor */
static inline kw_status kw_typed_huber_loss(const kw_tensor *self, const kw_tensor *target, int64_t reduction,
                                            double delta, kw_tensor **out) {
  static kw_op_name op = {"huber_loss", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(target), kw_arg_int(reduction), kw_arg_float(delta)};
  return kw_op_run(&op, NULL, args, 4, out, 1);
}
static inline kw_tensor *kwx_typed_huber_loss(const kw_tensor *self, const kw_tensor *target, int64_t reduction,
                                              double delta) {
  kw_tensor *out = NULL;
  kw_typed_huber_loss(self, target, reduction, delta, &out);
  return out;
}
#define kw_huber_loss(...) KW_BY_NUMBER(kw, huber_loss, __VA_ARGS__)
#define kw_3_huber_loss(self, target, out) kw_5_huber_loss(self, target, 1, 1.0, out)
#define kw_4_huber_loss(self, target, reduction, out) kw_5_huber_loss(self, target, reduction, 1.0, out)
#define kw_5_huber_loss(self, target, reduction, delta, out) kw_typed_huber_loss(self, target, reduction, delta, out)
#define kwx_huber_loss(...) KW_BY_NUMBER(kwx, huber_loss, __VA_ARGS__)
#define kwx_2_huber_loss(self, target) kwx_4_huber_loss(self, target, 1, 1.0)
#define kwx_3_huber_loss(self, target, reduction) kwx_4_huber_loss(self, target, reduction, 1.0)
#define kwx_4_huber_loss(self, target, reduction, delta) kwx_typed_huber_loss(self, target, reduction, delta)

/* binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None,
 * int reduction=1) -> Tensor */
static inline kw_status kw_typed_binary_cross_entropy_with_logits(const kw_tensor *self, const kw_tensor *target,
                                                                  const kw_tensor *weight, const kw_tensor *pos_weight,
                                                                  int64_t reduction, kw_tensor **out) {
  static kw_op_name op = {"binary_cross_entropy_with_logits", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(target), kw_typed_optional(weight),
                           kw_typed_optional(pos_weight), kw_arg_int(reduction)};
  return kw_op_run(&op, NULL, args, 5, out, 1);
}
static inline kw_tensor *kwx_typed_binary_cross_entropy_with_logits(const kw_tensor *self, const kw_tensor *target,
                                                                    const kw_tensor *weight,
                                                                    const kw_tensor *pos_weight, int64_t reduction) {
  kw_tensor *out = NULL;
  kw_typed_binary_cross_entropy_with_logits(self, target, weight, pos_weight, reduction, &out);
  return out;
}
#define kw_binary_cross_entropy_with_logits(...) KW_BY_NUMBER(kw, binary_cross_entropy_with_logits, __VA_ARGS__)
#define kw_3_binary_cross_entropy_with_logits(self, target, out) kw_6_binary_cross_entropy_with_logits(self, target, \
  NULL, NULL, 1, out)
#define kw_4_binary_cross_entropy_with_logits(self, target, weight, out) kw_6_binary_cross_entropy_with_logits(self, \
  target, weight, NULL, 1, out)
#define kw_5_binary_cross_entropy_with_logits(self, target, weight, pos_weight, out) \
  kw_6_binary_cross_entropy_with_logits(self, target, weight, pos_weight, 1, out)
#define kw_6_binary_cross_entropy_with_logits(self, target, weight, pos_weight, reduction, out) \
  kw_typed_binary_cross_entropy_with_logits(self, target, weight, pos_weight, reduction, out)
#define kwx_binary_cross_entropy_with_logits(...) KW_BY_NUMBER(kwx, binary_cross_entropy_with_logits, __VA_ARGS__)
#define kwx_2_binary_cross_entropy_with_logits(self, target) kwx_5_binary_cross_entropy_with_logits(self, target, \
  NULL, NULL, 1)
#define kwx_3_binary_cross_entropy_with_logits(self, target, weight) kwx_5_binary_cross_entropy_with_logits(self, \
  target, weight, NULL, 1)
#define kwx_4_binary_cross_entropy_with_logits(self, target, weight, pos_weight) \
  kwx_5_binary_cross_entropy_with_logits(self, target, weight, pos_weight, 1)
#define kwx_5_binary_cross_entropy_with_logits(self, target, weight, pos_weight, reduction) \
  kwx_typed_binary_cross_entropy_with_logits(self, target, weight, pos_weight, reduction)

/* mse_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor */
static inline kw_status kw_mse_loss_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                             const kw_tensor *target, int64_t reduction, kw_tensor **out) {
  static kw_op_name op = {"mse_loss_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_output), kw_arg_tensor(self), kw_arg_tensor(target),
                           kw_arg_int(reduction)};
  return kw_op_run(&op, NULL, args, 4, out, 1);
}
static inline kw_tensor *kwx_mse_loss_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                               const kw_tensor *target, int64_t reduction) {
  kw_tensor *out = NULL;
  kw_mse_loss_backward(grad_output, self, target, reduction, &out);
  return out;
}

/* avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, bool ceil_mode=False,
 * bool count_include_pad=True) -> Tensor */
static inline kw_status kw_typed_avg_pool1d(const kw_tensor *self, kw_ints kernel_size, kw_ints stride, kw_ints padding,
                                            bool ceil_mode, bool count_include_pad, kw_tensor **out) {
  static kw_op_name op = {"avg_pool1d", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_ints(kernel_size), kw_typed_ints(stride),
                           kw_typed_ints(padding), kw_arg_bool(ceil_mode), kw_arg_bool(count_include_pad)};
  return kw_op_run(&op, NULL, args, 6, out, 1);
}
static inline kw_tensor *kwx_typed_avg_pool1d(const kw_tensor *self, kw_ints kernel_size, kw_ints stride,
                                              kw_ints padding, bool ceil_mode, bool count_include_pad) {
  kw_tensor *out = NULL;
  kw_typed_avg_pool1d(self, kernel_size, stride, padding, ceil_mode, count_include_pad, &out);
  return out;
}
#define kw_avg_pool1d(...) KW_BY_NUMBER(kw, avg_pool1d, __VA_ARGS__)
#define kw_3_avg_pool1d(self, kernel_size, out) kw_7_avg_pool1d(self, kernel_size, KW_NO_INTS, KW_INTS(0), false, \
  true, out)
#define kw_4_avg_pool1d(self, kernel_size, stride, out) kw_7_avg_pool1d(self, kernel_size, stride, KW_INTS(0), false, \
  true, out)
#define kw_5_avg_pool1d(self, kernel_size, stride, padding, out) kw_7_avg_pool1d(self, kernel_size, stride, padding, \
  false, true, out)
#define kw_6_avg_pool1d(self, kernel_size, stride, padding, ceil_mode, out) kw_7_avg_pool1d(self, kernel_size, stride, \
  padding, ceil_mode, true, out)
#define kw_7_avg_pool1d(self, kernel_size, stride, padding, ceil_mode, count_include_pad, out) \
  kw_typed_avg_pool1d(self, kernel_size, stride, padding, ceil_mode, count_include_pad, out)
#define kwx_avg_pool1d(...) KW_BY_NUMBER(kwx, avg_pool1d, __VA_ARGS__)
#define kwx_2_avg_pool1d(self, kernel_size) kwx_6_avg_pool1d(self, kernel_size, KW_NO_INTS, KW_INTS(0), false, true)
#define kwx_3_avg_pool1d(self, kernel_size, stride) kwx_6_avg_pool1d(self, kernel_size, stride, KW_INTS(0), false, true)
#define kwx_4_avg_pool1d(self, kernel_size, stride, padding) kwx_6_avg_pool1d(self, kernel_size, stride, padding, \
  false, true)
#define kwx_5_avg_pool1d(self, kernel_size, stride, padding, ceil_mode) kwx_6_avg_pool1d(self, kernel_size, stride, \
  padding, ceil_mode, true)
#define kwx_6_avg_pool1d(self, kernel_size, stride, padding, ceil_mode, count_include_pad) kwx_typed_avg_pool1d(self, \
  kernel_size, stride, padding, ceil_mode, count_include_pad)

/* avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False,
 * bool count_include_pad=True, int? divisor_override=None) -> Tensor */
static inline kw_status kw_typed_avg_pool2d(const kw_tensor *self, kw_ints kernel_size, kw_ints stride, kw_ints padding,
                                            bool ceil_mode, bool count_include_pad, kw_value divisor_override,
                                            kw_tensor **out) {
  static kw_op_name op = {"avg_pool2d", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_ints(kernel_size), kw_typed_ints(stride),
                           kw_typed_ints(padding), kw_arg_bool(ceil_mode), kw_arg_bool(count_include_pad),
                           divisor_override};
  return kw_op_run(&op, NULL, args, 7, out, 1);
}
static inline kw_tensor *kwx_typed_avg_pool2d(const kw_tensor *self, kw_ints kernel_size, kw_ints stride,
                                              kw_ints padding, bool ceil_mode, bool count_include_pad,
                                              kw_value divisor_override) {
  kw_tensor *out = NULL;
  kw_typed_avg_pool2d(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, &out);
  return out;
}
#define kw_avg_pool2d(...) KW_BY_NUMBER(kw, avg_pool2d, __VA_ARGS__)
#define kw_3_avg_pool2d(self, kernel_size, out) kw_8_avg_pool2d(self, kernel_size, KW_NO_INTS, KW_INTS(0, 0), false, \
  true, kw_arg_none(), out)
#define kw_4_avg_pool2d(self, kernel_size, stride, out) kw_8_avg_pool2d(self, kernel_size, stride, KW_INTS(0, 0), \
  false, true, kw_arg_none(), out)
#define kw_5_avg_pool2d(self, kernel_size, stride, padding, out) kw_8_avg_pool2d(self, kernel_size, stride, padding, \
  false, true, kw_arg_none(), out)
#define kw_6_avg_pool2d(self, kernel_size, stride, padding, ceil_mode, out) kw_8_avg_pool2d(self, kernel_size, stride, \
  padding, ceil_mode, true, kw_arg_none(), out)
#define kw_7_avg_pool2d(self, kernel_size, stride, padding, ceil_mode, count_include_pad, out) kw_8_avg_pool2d(self, \
  kernel_size, stride, padding, ceil_mode, count_include_pad, kw_arg_none(), out)
#define kw_8_avg_pool2d(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, out) \
  kw_typed_avg_pool2d(self, kernel_size, stride, padding, ceil_mode, count_include_pad, KW_AS_INT(divisor_override), \
  out)
#define kwx_avg_pool2d(...) KW_BY_NUMBER(kwx, avg_pool2d, __VA_ARGS__)
#define kwx_2_avg_pool2d(self, kernel_size) kwx_7_avg_pool2d(self, kernel_size, KW_NO_INTS, KW_INTS(0, 0), false, \
  true, kw_arg_none())
#define kwx_3_avg_pool2d(self, kernel_size, stride) kwx_7_avg_pool2d(self, kernel_size, stride, KW_INTS(0, 0), false, \
  true, kw_arg_none())
#define kwx_4_avg_pool2d(self, kernel_size, stride, padding) kwx_7_avg_pool2d(self, kernel_size, stride, padding, \
  false, true, kw_arg_none())
#define kwx_5_avg_pool2d(self, kernel_size, stride, padding, ceil_mode) kwx_7_avg_pool2d(self, kernel_size, stride, \
  padding, ceil_mode, true, kw_arg_none())
#define kwx_6_avg_pool2d(self, kernel_size, stride, padding, ceil_mode, count_include_pad) kwx_7_avg_pool2d(self, \
  kernel_size, stride, padding, ceil_mode, count_include_pad, kw_arg_none())
#define kwx_7_avg_pool2d(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override) \
  kwx_typed_avg_pool2d(self, kernel_size, stride, padding, ceil_mode, count_include_pad, KW_AS_INT(divisor_override))

/* avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, bool ceil_mode=False,
 * bool count_include_pad=True, int? divisor_override=None) -> Tensor */
static inline kw_status kw_typed_avg_pool3d(const kw_tensor *self, kw_ints kernel_size, kw_ints stride, kw_ints padding,
                                            bool ceil_mode, bool count_include_pad, kw_value divisor_override,
                                            kw_tensor **out) {
  static kw_op_name op = {"avg_pool3d", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_ints(kernel_size), kw_typed_ints(stride),
                           kw_typed_ints(padding), kw_arg_bool(ceil_mode), kw_arg_bool(count_include_pad),
                           divisor_override};
  return kw_op_run(&op, NULL, args, 7, out, 1);
}
static inline kw_tensor *kwx_typed_avg_pool3d(const kw_tensor *self, kw_ints kernel_size, kw_ints stride,
                                              kw_ints padding, bool ceil_mode, bool count_include_pad,
                                              kw_value divisor_override) {
  kw_tensor *out = NULL;
  kw_typed_avg_pool3d(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, &out);
  return out;
}
#define kw_avg_pool3d(...) KW_BY_NUMBER(kw, avg_pool3d, __VA_ARGS__)
#define kw_3_avg_pool3d(self, kernel_size, out) kw_8_avg_pool3d(self, kernel_size, KW_NO_INTS, KW_INTS(0, 0, 0), \
  false, true, kw_arg_none(), out)
#define kw_4_avg_pool3d(self, kernel_size, stride, out) kw_8_avg_pool3d(self, kernel_size, stride, KW_INTS(0, 0, 0), \
  false, true, kw_arg_none(), out)
#define kw_5_avg_pool3d(self, kernel_size, stride, padding, out) kw_8_avg_pool3d(self, kernel_size, stride, padding, \
  false, true, kw_arg_none(), out)
#define kw_6_avg_pool3d(self, kernel_size, stride, padding, ceil_mode, out) kw_8_avg_pool3d(self, kernel_size, stride, \
  padding, ceil_mode, true, kw_arg_none(), out)
#define kw_7_avg_pool3d(self, kernel_size, stride, padding, ceil_mode, count_include_pad, out) kw_8_avg_pool3d(self, \
  kernel_size, stride, padding, ceil_mode, count_include_pad, kw_arg_none(), out)
#define kw_8_avg_pool3d(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, out) \
  kw_typed_avg_pool3d(self, kernel_size, stride, padding, ceil_mode, count_include_pad, KW_AS_INT(divisor_override), \
  out)
#define kwx_avg_pool3d(...) KW_BY_NUMBER(kwx, avg_pool3d, __VA_ARGS__)
#define kwx_2_avg_pool3d(self, kernel_size) kwx_7_avg_pool3d(self, kernel_size, KW_NO_INTS, KW_INTS(0, 0, 0), false, \
  true, kw_arg_none())
#define kwx_3_avg_pool3d(self, kernel_size, stride) kwx_7_avg_pool3d(self, kernel_size, stride, KW_INTS(0, 0, 0), \
  false, true, kw_arg_none())
#define kwx_4_avg_pool3d(self, kernel_size, stride, padding) kwx_7_avg_pool3d(self, kernel_size, stride, padding, \
  false, true, kw_arg_none())
#define kwx_5_avg_pool3d(self, kernel_size, stride, padding, ceil_mode) kwx_7_avg_pool3d(self, kernel_size, stride, \
  padding, ceil_mode, true, kw_arg_none())
#define kwx_6_avg_pool3d(self, kernel_size, stride, padding, ceil_mode, count_include_pad) kwx_7_avg_pool3d(self, \
  kernel_size, stride, padding, ceil_mode, count_include_pad, kw_arg_none())
#define kwx_7_avg_pool3d(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override) \
  kwx_typed_avg_pool3d(self, kernel_size, stride, padding, ceil_mode, count_include_pad, KW_AS_INT(divisor_override))

/* max_pool1d_with_indices(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, int[1] dilation=1,
 * bool ceil_mode=False) -> (Tensor, Tensor) */
static inline kw_status kw_typed_max_pool1d_with_indices(const kw_tensor *self, kw_ints kernel_size, kw_ints stride,
                                                         kw_ints padding, kw_ints dilation, bool ceil_mode,
                                                         kw_tensor **out_0, kw_tensor **out_1) {
  static kw_op_name op = {"max_pool1d_with_indices", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_ints(kernel_size), kw_typed_ints(stride),
                           kw_typed_ints(padding), kw_typed_ints(dilation), kw_arg_bool(ceil_mode)};
  kw_tensor *outs[] = {*out_0, *out_1};
  const kw_status status = kw_op_run(&op, NULL, args, 6, outs, 2);
  *out_0 = outs[0];
  *out_1 = outs[1];
  return status;
}
static inline kw_tensor *kwx_typed_max_pool1d_with_indices(const kw_tensor *self, kw_ints kernel_size, kw_ints stride,
                                                           kw_ints padding, kw_ints dilation, bool ceil_mode) {
  kw_tensor *out_0 = NULL, *out_1 = NULL;
  kw_typed_max_pool1d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode, &out_0, &out_1);
  kw_scope_release(out_1);
  return out_0;
}
#define kw_max_pool1d_with_indices(...) KW_BY_NUMBER(kw, max_pool1d_with_indices, __VA_ARGS__)
#define kw_4_max_pool1d_with_indices(self, kernel_size, out_0, out_1) kw_8_max_pool1d_with_indices(self, kernel_size, \
  KW_NO_INTS, KW_INTS(0), KW_INTS(1), false, out_0, out_1)
#define kw_5_max_pool1d_with_indices(self, kernel_size, stride, out_0, out_1) kw_8_max_pool1d_with_indices(self, \
  kernel_size, stride, KW_INTS(0), KW_INTS(1), false, out_0, out_1)
#define kw_6_max_pool1d_with_indices(self, kernel_size, stride, padding, out_0, out_1) \
  kw_8_max_pool1d_with_indices(self, kernel_size, stride, padding, KW_INTS(1), false, out_0, out_1)
#define kw_7_max_pool1d_with_indices(self, kernel_size, stride, padding, dilation, out_0, out_1) \
  kw_8_max_pool1d_with_indices(self, kernel_size, stride, padding, dilation, false, out_0, out_1)
#define kw_8_max_pool1d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode, out_0, out_1) \
  kw_typed_max_pool1d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode, out_0, out_1)
#define kwx_max_pool1d_with_indices(...) KW_BY_NUMBER(kwx, max_pool1d_with_indices, __VA_ARGS__)
#define kwx_2_max_pool1d_with_indices(self, kernel_size) kwx_6_max_pool1d_with_indices(self, kernel_size, KW_NO_INTS, \
  KW_INTS(0), KW_INTS(1), false)
#define kwx_3_max_pool1d_with_indices(self, kernel_size, stride) kwx_6_max_pool1d_with_indices(self, kernel_size, \
  stride, KW_INTS(0), KW_INTS(1), false)
#define kwx_4_max_pool1d_with_indices(self, kernel_size, stride, padding) kwx_6_max_pool1d_with_indices(self, \
  kernel_size, stride, padding, KW_INTS(1), false)
#define kwx_5_max_pool1d_with_indices(self, kernel_size, stride, padding, dilation) \
  kwx_6_max_pool1d_with_indices(self, kernel_size, stride, padding, dilation, false)
#define kwx_6_max_pool1d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode) \
  kwx_typed_max_pool1d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)

/* max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1,
 * bool ceil_mode=False) -> (Tensor, Tensor) */
static inline kw_status kw_typed_max_pool2d_with_indices(const kw_tensor *self, kw_ints kernel_size, kw_ints stride,
                                                         kw_ints padding, kw_ints dilation, bool ceil_mode,
                                                         kw_tensor **out_0, kw_tensor **out_1) {
  static kw_op_name op = {"max_pool2d_with_indices", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_ints(kernel_size), kw_typed_ints(stride),
                           kw_typed_ints(padding), kw_typed_ints(dilation), kw_arg_bool(ceil_mode)};
  kw_tensor *outs[] = {*out_0, *out_1};
  const kw_status status = kw_op_run(&op, NULL, args, 6, outs, 2);
  *out_0 = outs[0];
  *out_1 = outs[1];
  return status;
}
static inline kw_tensor *kwx_typed_max_pool2d_with_indices(const kw_tensor *self, kw_ints kernel_size, kw_ints stride,
                                                           kw_ints padding, kw_ints dilation, bool ceil_mode) {
  kw_tensor *out_0 = NULL, *out_1 = NULL;
  kw_typed_max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode, &out_0, &out_1);
  kw_scope_release(out_1);
  return out_0;
}
#define kw_max_pool2d_with_indices(...) KW_BY_NUMBER(kw, max_pool2d_with_indices, __VA_ARGS__)
#define kw_4_max_pool2d_with_indices(self, kernel_size, out_0, out_1) kw_8_max_pool2d_with_indices(self, kernel_size, \
  KW_NO_INTS, KW_INTS(0, 0), KW_INTS(1, 1), false, out_0, out_1)
#define kw_5_max_pool2d_with_indices(self, kernel_size, stride, out_0, out_1) kw_8_max_pool2d_with_indices(self, \
  kernel_size, stride, KW_INTS(0, 0), KW_INTS(1, 1), false, out_0, out_1)
#define kw_6_max_pool2d_with_indices(self, kernel_size, stride, padding, out_0, out_1) \
  kw_8_max_pool2d_with_indices(self, kernel_size, stride, padding, KW_INTS(1, 1), false, out_0, out_1)
#define kw_7_max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, out_0, out_1) \
  kw_8_max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, false, out_0, out_1)
#define kw_8_max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode, out_0, out_1) \
  kw_typed_max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode, out_0, out_1)
#define kwx_max_pool2d_with_indices(...) KW_BY_NUMBER(kwx, max_pool2d_with_indices, __VA_ARGS__)
#define kwx_2_max_pool2d_with_indices(self, kernel_size) kwx_6_max_pool2d_with_indices(self, kernel_size, KW_NO_INTS, \
  KW_INTS(0, 0), KW_INTS(1, 1), false)
#define kwx_3_max_pool2d_with_indices(self, kernel_size, stride) kwx_6_max_pool2d_with_indices(self, kernel_size, \
  stride, KW_INTS(0, 0), KW_INTS(1, 1), false)
#define kwx_4_max_pool2d_with_indices(self, kernel_size, stride, padding) kwx_6_max_pool2d_with_indices(self, \
  kernel_size, stride, padding, KW_INTS(1, 1), false)
#define kwx_5_max_pool2d_with_indices(self, kernel_size, stride, padding, dilation) \
  kwx_6_max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, false)
#define kwx_6_max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode) \
  kwx_typed_max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)

/* max_pool3d_with_indices(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1,
 * bool ceil_mode=False) -> (Tensor, Tensor) */
static inline kw_status kw_typed_max_pool3d_with_indices(const kw_tensor *self, kw_ints kernel_size, kw_ints stride,
                                                         kw_ints padding, kw_ints dilation, bool ceil_mode,
                                                         kw_tensor **out_0, kw_tensor **out_1) {
  static kw_op_name op = {"max_pool3d_with_indices", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_ints(kernel_size), kw_typed_ints(stride),
                           kw_typed_ints(padding), kw_typed_ints(dilation), kw_arg_bool(ceil_mode)};
  kw_tensor *outs[] = {*out_0, *out_1};
  const kw_status status = kw_op_run(&op, NULL, args, 6, outs, 2);
  *out_0 = outs[0];
  *out_1 = outs[1];
  return status;
}
static inline kw_tensor *kwx_typed_max_pool3d_with_indices(const kw_tensor *self, kw_ints kernel_size, kw_ints stride,
                                                           kw_ints padding, kw_ints dilation, bool ceil_mode) {
  kw_tensor *out_0 = NULL, *out_1 = NULL;
  kw_typed_max_pool3d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode, &out_0, &out_1);
  kw_scope_release(out_1);
  return out_0;
}
#define kw_max_pool3d_with_indices(...) KW_BY_NUMBER(kw, max_pool3d_with_indices, __VA_ARGS__)
#define kw_4_max_pool3d_with_indices(self, kernel_size, out_0, out_1) kw_8_max_pool3d_with_indices(self, kernel_size, \
  KW_NO_INTS, KW_INTS(0, 0, 0), KW_INTS(1, 1, 1), false, out_0, out_1)
#define kw_5_max_pool3d_with_indices(self, kernel_size, stride, out_0, out_1) kw_8_max_pool3d_with_indices(self, \
  kernel_size, stride, KW_INTS(0, 0, 0), KW_INTS(1, 1, 1), false, out_0, out_1)
#define kw_6_max_pool3d_with_indices(self, kernel_size, stride, padding, out_0, out_1) \
  kw_8_max_pool3d_with_indices(self, kernel_size, stride, padding, KW_INTS(1, 1, 1), false, out_0, out_1)
#define kw_7_max_pool3d_with_indices(self, kernel_size, stride, padding, dilation, out_0, out_1) \
  kw_8_max_pool3d_with_indices(self, kernel_size, stride, padding, dilation, false, out_0, out_1)
#define kw_8_max_pool3d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode, out_0, out_1) \
  kw_typed_max_pool3d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode, out_0, out_1)
#define kwx_max_pool3d_with_indices(...) KW_BY_NUMBER(kwx, max_pool3d_with_indices, __VA_ARGS__)
#define kwx_2_max_pool3d_with_indices(self, kernel_size) kwx_6_max_pool3d_with_indices(self, kernel_size, KW_NO_INTS, \
  KW_INTS(0, 0, 0), KW_INTS(1, 1, 1), false)
#define kwx_3_max_pool3d_with_indices(self, kernel_size, stride) kwx_6_max_pool3d_with_indices(self, kernel_size, \
  stride, KW_INTS(0, 0, 0), KW_INTS(1, 1, 1), false)
#define kwx_4_max_pool3d_with_indices(self, kernel_size, stride, padding) kwx_6_max_pool3d_with_indices(self, \
  kernel_size, stride, padding, KW_INTS(1, 1, 1), false)
#define kwx_5_max_pool3d_with_indices(self, kernel_size, stride, padding, dilation) \
  kwx_6_max_pool3d_with_indices(self, kernel_size, stride, padding, dilation, false)
#define kwx_6_max_pool3d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode) \
  kwx_typed_max_pool3d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)

/* adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor */
static inline kw_status kw_adaptive_avg_pool1d(const kw_tensor *self, kw_ints output_size, kw_tensor **out) {
  static kw_op_name op = {"adaptive_avg_pool1d", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_ints(output_size)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_adaptive_avg_pool1d(const kw_tensor *self, kw_ints output_size) {
  kw_tensor *out = NULL;
  kw_adaptive_avg_pool1d(self, output_size, &out);
  return out;
}

/* _adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor */
static inline kw_status kw_adaptive_avg_pool2d(const kw_tensor *self, kw_ints output_size, kw_tensor **out) {
  static kw_op_name op = {"_adaptive_avg_pool2d", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_ints(output_size)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_adaptive_avg_pool2d(const kw_tensor *self, kw_ints output_size) {
  kw_tensor *out = NULL;
  kw_adaptive_avg_pool2d(self, output_size, &out);
  return out;
}

/* _adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor */
static inline kw_status kw_adaptive_avg_pool3d(const kw_tensor *self, kw_ints output_size, kw_tensor **out) {
  static kw_op_name op = {"_adaptive_avg_pool3d", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_ints(output_size)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_adaptive_avg_pool3d(const kw_tensor *self, kw_ints output_size) {
  kw_tensor *out = NULL;
  kw_adaptive_avg_pool3d(self, output_size, &out);
  return out;
}

/* adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor) */
static inline kw_status kw_adaptive_max_pool1d(const kw_tensor *self, kw_ints output_size, kw_tensor **out_0,
                                               kw_tensor **out_1) {
  static kw_op_name op = {"adaptive_max_pool1d", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_ints(output_size)};
  kw_tensor *outs[] = {*out_0, *out_1};
  const kw_status status = kw_op_run(&op, NULL, args, 2, outs, 2);
  *out_0 = outs[0];
  *out_1 = outs[1];
  return status;
}
static inline kw_tensor *kwx_adaptive_max_pool1d(const kw_tensor *self, kw_ints output_size) {
  kw_tensor *out_0 = NULL, *out_1 = NULL;
  kw_adaptive_max_pool1d(self, output_size, &out_0, &out_1);
  kw_scope_release(out_1);
  return out_0;
}

/* adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor) */
static inline kw_status kw_adaptive_max_pool2d(const kw_tensor *self, kw_ints output_size, kw_tensor **out_0,
                                               kw_tensor **out_1) {
  static kw_op_name op = {"adaptive_max_pool2d", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_ints(output_size)};
  kw_tensor *outs[] = {*out_0, *out_1};
  const kw_status status = kw_op_run(&op, NULL, args, 2, outs, 2);
  *out_0 = outs[0];
  *out_1 = outs[1];
  return status;
}
static inline kw_tensor *kwx_adaptive_max_pool2d(const kw_tensor *self, kw_ints output_size) {
  kw_tensor *out_0 = NULL, *out_1 = NULL;
  kw_adaptive_max_pool2d(self, output_size, &out_0, &out_1);
  kw_scope_release(out_1);
  return out_0;
}

/* adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor, Tensor) */
static inline kw_status kw_adaptive_max_pool3d(const kw_tensor *self, kw_ints output_size, kw_tensor **out_0,
                                               kw_tensor **out_1) {
  static kw_op_name op = {"adaptive_max_pool3d", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_typed_ints(output_size)};
  kw_tensor *outs[] = {*out_0, *out_1};
  const kw_status status = kw_op_run(&op, NULL, args, 2, outs, 2);
  *out_0 = outs[0];
  *out_1 = outs[1];
  return status;
}
static inline kw_tensor *kwx_adaptive_max_pool3d(const kw_tensor *self, kw_ints output_size) {
  kw_tensor *out_0 = NULL, *out_1 = NULL;
  kw_adaptive_max_pool3d(self, output_size, &out_0, &out_1);
  kw_scope_release(out_1);
  return out_0;
}

/* avg_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding,
 * bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor */
static inline kw_status kw_typed_avg_pool2d_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                                     kw_ints kernel_size, kw_ints stride, kw_ints padding,
                                                     bool ceil_mode, bool count_include_pad, kw_value divisor_override,
                                                     kw_tensor **out) {
  static kw_op_name op = {"avg_pool2d_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_output), kw_arg_tensor(self), kw_typed_ints(kernel_size),
                           kw_typed_ints(stride), kw_typed_ints(padding), kw_arg_bool(ceil_mode),
                           kw_arg_bool(count_include_pad), divisor_override};
  return kw_op_run(&op, NULL, args, 8, out, 1);
}
static inline kw_tensor *kwx_typed_avg_pool2d_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                                       kw_ints kernel_size, kw_ints stride, kw_ints padding,
                                                       bool ceil_mode, bool count_include_pad,
                                                       kw_value divisor_override) {
  kw_tensor *out = NULL;
  kw_typed_avg_pool2d_backward(grad_output, self, kernel_size, stride, padding, ceil_mode, count_include_pad,
      divisor_override, &out);
  return out;
}
#define kw_avg_pool2d_backward(grad_output, self, kernel_size, stride, padding, ceil_mode, count_include_pad, \
  divisor_override, out) kw_typed_avg_pool2d_backward(grad_output, self, kernel_size, stride, padding, ceil_mode, \
  count_include_pad, KW_AS_INT(divisor_override), out)
#define kwx_avg_pool2d_backward(grad_output, self, kernel_size, stride, padding, ceil_mode, count_include_pad, \
  divisor_override) kwx_typed_avg_pool2d_backward(grad_output, self, kernel_size, stride, padding, ceil_mode, \
  count_include_pad, KW_AS_INT(divisor_override))

/* avg_pool3d_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] stride, int[3] padding,
 * bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor */
static inline kw_status kw_typed_avg_pool3d_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                                     kw_ints kernel_size, kw_ints stride, kw_ints padding,
                                                     bool ceil_mode, bool count_include_pad, kw_value divisor_override,
                                                     kw_tensor **out) {
  static kw_op_name op = {"avg_pool3d_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_output), kw_arg_tensor(self), kw_typed_ints(kernel_size),
                           kw_typed_ints(stride), kw_typed_ints(padding), kw_arg_bool(ceil_mode),
                           kw_arg_bool(count_include_pad), divisor_override};
  return kw_op_run(&op, NULL, args, 8, out, 1);
}
static inline kw_tensor *kwx_typed_avg_pool3d_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                                       kw_ints kernel_size, kw_ints stride, kw_ints padding,
                                                       bool ceil_mode, bool count_include_pad,
                                                       kw_value divisor_override) {
  kw_tensor *out = NULL;
  kw_typed_avg_pool3d_backward(grad_output, self, kernel_size, stride, padding, ceil_mode, count_include_pad,
      divisor_override, &out);
  return out;
}
#define kw_avg_pool3d_backward(grad_output, self, kernel_size, stride, padding, ceil_mode, count_include_pad, \
  divisor_override, out) kw_typed_avg_pool3d_backward(grad_output, self, kernel_size, stride, padding, ceil_mode, \
  count_include_pad, KW_AS_INT(divisor_override), out)
#define kwx_avg_pool3d_backward(grad_output, self, kernel_size, stride, padding, ceil_mode, count_include_pad, \
  divisor_override) kwx_typed_avg_pool3d_backward(grad_output, self, kernel_size, stride, padding, ceil_mode, \
  count_include_pad, KW_AS_INT(divisor_override))

/* max_pool2d_with_indices_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding,
 * int[2] dilation, bool ceil_mode, Tensor indices) -> Tensor */
static inline kw_status kw_max_pool2d_with_indices_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                                            kw_ints kernel_size, kw_ints stride, kw_ints padding,
                                                            kw_ints dilation, bool ceil_mode, const kw_tensor *indices,
                                                            kw_tensor **out) {
  static kw_op_name op = {"max_pool2d_with_indices_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_output), kw_arg_tensor(self), kw_typed_ints(kernel_size),
                           kw_typed_ints(stride), kw_typed_ints(padding), kw_typed_ints(dilation),
                           kw_arg_bool(ceil_mode), kw_arg_tensor(indices)};
  return kw_op_run(&op, NULL, args, 8, out, 1);
}
static inline kw_tensor *kwx_max_pool2d_with_indices_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                                              kw_ints kernel_size, kw_ints stride, kw_ints padding,
                                                              kw_ints dilation, bool ceil_mode,
                                                              const kw_tensor *indices) {
  kw_tensor *out = NULL;
  kw_max_pool2d_with_indices_backward(grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices,
      &out);
  return out;
}

/* max_pool3d_with_indices_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] stride, int[3] padding,
 * int[3] dilation, bool ceil_mode, Tensor indices) -> Tensor */
static inline kw_status kw_max_pool3d_with_indices_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                                            kw_ints kernel_size, kw_ints stride, kw_ints padding,
                                                            kw_ints dilation, bool ceil_mode, const kw_tensor *indices,
                                                            kw_tensor **out) {
  static kw_op_name op = {"max_pool3d_with_indices_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_output), kw_arg_tensor(self), kw_typed_ints(kernel_size),
                           kw_typed_ints(stride), kw_typed_ints(padding), kw_typed_ints(dilation),
                           kw_arg_bool(ceil_mode), kw_arg_tensor(indices)};
  return kw_op_run(&op, NULL, args, 8, out, 1);
}
static inline kw_tensor *kwx_max_pool3d_with_indices_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                                              kw_ints kernel_size, kw_ints stride, kw_ints padding,
                                                              kw_ints dilation, bool ceil_mode,
                                                              const kw_tensor *indices) {
  kw_tensor *out = NULL;
  kw_max_pool3d_with_indices_backward(grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices,
      &out);
  return out;
}

/* _adaptive_avg_pool2d_backward(Tensor grad_output, Tensor self) -> Tensor */
static inline kw_status kw_adaptive_avg_pool2d_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                                        kw_tensor **out) {
  static kw_op_name op = {"_adaptive_avg_pool2d_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_output), kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_adaptive_avg_pool2d_backward(const kw_tensor *grad_output, const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_adaptive_avg_pool2d_backward(grad_output, self, &out);
  return out;
}

/* _adaptive_avg_pool3d_backward(Tensor grad_output, Tensor self) -> Tensor */
static inline kw_status kw_adaptive_avg_pool3d_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                                        kw_tensor **out) {
  static kw_op_name op = {"_adaptive_avg_pool3d_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_output), kw_arg_tensor(self)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_adaptive_avg_pool3d_backward(const kw_tensor *grad_output, const kw_tensor *self) {
  kw_tensor *out = NULL;
  kw_adaptive_avg_pool3d_backward(grad_output, self, &out);
  return out;
}

/* adaptive_max_pool2d_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor */
static inline kw_status kw_adaptive_max_pool2d_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                                        const kw_tensor *indices, kw_tensor **out) {
  static kw_op_name op = {"adaptive_max_pool2d_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_output), kw_arg_tensor(self), kw_arg_tensor(indices)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_adaptive_max_pool2d_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                                          const kw_tensor *indices) {
  kw_tensor *out = NULL;
  kw_adaptive_max_pool2d_backward(grad_output, self, indices, &out);
  return out;
}

/* adaptive_max_pool3d_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor */
static inline kw_status kw_adaptive_max_pool3d_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                                        const kw_tensor *indices, kw_tensor **out) {
  static kw_op_name op = {"adaptive_max_pool3d_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_output), kw_arg_tensor(self), kw_arg_tensor(indices)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_adaptive_max_pool3d_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                                          const kw_tensor *indices) {
  kw_tensor *out = NULL;
  kw_adaptive_max_pool3d_backward(grad_output, self, indices, &out);
  return out;
}

/* quantized_decomposed::quantize_per_tensor(Tensor input, float scale, int zero_point, int quant_min, int quant_max,
 * ScalarType dtype) -> Tensor */
static inline kw_status kw_quantized_decomposed_quantize_per_tensor(const kw_tensor *input, double scale,
                                                                    int64_t zero_point, int64_t quant_min,
                                                                    int64_t quant_max, kw_dtype dtype,
                                                                    kw_tensor **out) {
  static kw_op_name op = {"quantized_decomposed::quantize_per_tensor", NULL};
  const kw_value args[] = {kw_arg_tensor(input), kw_arg_float(scale), kw_arg_int(zero_point), kw_arg_int(quant_min),
                           kw_arg_int(quant_max), kw_arg_dtype(dtype)};
  return kw_op_run(&op, NULL, args, 6, out, 1);
}
static inline kw_tensor *kwx_quantized_decomposed_quantize_per_tensor(const kw_tensor *input, double scale,
                                                                      int64_t zero_point, int64_t quant_min,
                                                                      int64_t quant_max, kw_dtype dtype) {
  kw_tensor *out = NULL;
  kw_quantized_decomposed_quantize_per_tensor(input, scale, zero_point, quant_min, quant_max, dtype, &out);
  return out;
}

/* quantized_decomposed::quantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, int quant_min,
 * int quant_max, ScalarType dtype) -> Tensor */
static inline kw_status kw_quantized_decomposed_quantize_per_tensor_tensor(const kw_tensor *input,
                                                                           const kw_tensor *scale,
                                                                           const kw_tensor *zero_point,
                                                                           int64_t quant_min, int64_t quant_max,
                                                                           kw_dtype dtype, kw_tensor **out) {
  static kw_op_name op = {"quantized_decomposed::quantize_per_tensor.tensor", NULL};
  const kw_value args[] = {kw_arg_tensor(input), kw_arg_tensor(scale), kw_arg_tensor(zero_point), kw_arg_int(quant_min),
                           kw_arg_int(quant_max), kw_arg_dtype(dtype)};
  return kw_op_run(&op, NULL, args, 6, out, 1);
}
static inline kw_tensor *kwx_quantized_decomposed_quantize_per_tensor_tensor(const kw_tensor *input,
                                                                             const kw_tensor *scale,
                                                                             const kw_tensor *zero_point,
                                                                             int64_t quant_min, int64_t quant_max,
                                                                             kw_dtype dtype) {
  kw_tensor *out = NULL;
  kw_quantized_decomposed_quantize_per_tensor_tensor(input, scale, zero_point, quant_min, quant_max, dtype, &out);
  return out;
}

/* quantized_decomposed::quantize_per_channel(Tensor input, Tensor scales, Tensor zero_points, int axis, int quant_min,
 * int quant_max, ScalarType dtype) -> Tensor */
static inline kw_status kw_quantized_decomposed_quantize_per_channel(const kw_tensor *input, const kw_tensor *scales,
                                                                     const kw_tensor *zero_points, int64_t axis,
                                                                     int64_t quant_min, int64_t quant_max,
                                                                     kw_dtype dtype, kw_tensor **out) {
  static kw_op_name op = {"quantized_decomposed::quantize_per_channel", NULL};
  const kw_value args[] = {kw_arg_tensor(input), kw_arg_tensor(scales), kw_arg_tensor(zero_points), kw_arg_int(axis),
                           kw_arg_int(quant_min), kw_arg_int(quant_max), kw_arg_dtype(dtype)};
  return kw_op_run(&op, NULL, args, 7, out, 1);
}
static inline kw_tensor *kwx_quantized_decomposed_quantize_per_channel(const kw_tensor *input, const kw_tensor *scales,
                                                                       const kw_tensor *zero_points, int64_t axis,
                                                                       int64_t quant_min, int64_t quant_max,
                                                                       kw_dtype dtype) {
  kw_tensor *out = NULL;
  kw_quantized_decomposed_quantize_per_channel(input, scales, zero_points, axis, quant_min, quant_max, dtype, &out);
  return out;
}

/* quantized_decomposed::dequantize_per_tensor(Tensor input, float scale, int zero_point, int quant_min, int quant_max,
 * ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor */
static inline kw_status kw_typed_quantized_decomposed_dequantize_per_tensor(const kw_tensor *input, double scale,
                                                                            int64_t zero_point, int64_t quant_min,
                                                                            int64_t quant_max, kw_dtype dtype,
                                                                            kw_dtype out_dtype, kw_tensor **out) {
  static kw_op_name op = {"quantized_decomposed::dequantize_per_tensor", NULL};
  const kw_value args[] = {kw_arg_tensor(input), kw_arg_float(scale), kw_arg_int(zero_point), kw_arg_int(quant_min),
                           kw_arg_int(quant_max), kw_arg_dtype(dtype), kw_arg_dtype(out_dtype)};
  return kw_op_run(&op, NULL, args, 7, out, 1);
}
static inline kw_tensor *kwx_typed_quantized_decomposed_dequantize_per_tensor(const kw_tensor *input, double scale,
                                                                              int64_t zero_point, int64_t quant_min,
                                                                              int64_t quant_max, kw_dtype dtype,
                                                                              kw_dtype out_dtype) {
  kw_tensor *out = NULL;
  kw_typed_quantized_decomposed_dequantize_per_tensor(input, scale, zero_point, quant_min, quant_max, dtype, out_dtype,
      &out);
  return out;
}
#define kw_quantized_decomposed_dequantize_per_tensor(...) KW_BY_NUMBER(kw, \
  quantized_decomposed_dequantize_per_tensor, __VA_ARGS__)
#define kw_7_quantized_decomposed_dequantize_per_tensor(input, scale, zero_point, quant_min, quant_max, dtype, out) \
  kw_8_quantized_decomposed_dequantize_per_tensor(input, scale, zero_point, quant_min, quant_max, dtype, \
  KW_DTYPE_NONE, out)
#define kw_8_quantized_decomposed_dequantize_per_tensor(input, scale, zero_point, quant_min, quant_max, dtype, \
  out_dtype, out) kw_typed_quantized_decomposed_dequantize_per_tensor(input, scale, zero_point, quant_min, quant_max, \
  dtype, out_dtype, out)
#define kwx_quantized_decomposed_dequantize_per_tensor(...) KW_BY_NUMBER(kwx, \
  quantized_decomposed_dequantize_per_tensor, __VA_ARGS__)
#define kwx_6_quantized_decomposed_dequantize_per_tensor(input, scale, zero_point, quant_min, quant_max, dtype) \
  kwx_7_quantized_decomposed_dequantize_per_tensor(input, scale, zero_point, quant_min, quant_max, dtype, KW_DTYPE_NONE)
#define kwx_7_quantized_decomposed_dequantize_per_tensor(input, scale, zero_point, quant_min, quant_max, dtype, \
  out_dtype) kwx_typed_quantized_decomposed_dequantize_per_tensor(input, scale, zero_point, quant_min, quant_max, \
  dtype, out_dtype)

/* quantized_decomposed::dequantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, int quant_min,
 * int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor */
static inline kw_status kw_typed_quantized_decomposed_dequantize_per_tensor_tensor(const kw_tensor *input,
                                                                                   const kw_tensor *scale,
                                                                                   const kw_tensor *zero_point,
                                                                                   int64_t quant_min, int64_t quant_max,
                                                                                   kw_dtype dtype, kw_dtype out_dtype,
                                                                                   kw_tensor **out) {
  static kw_op_name op = {"quantized_decomposed::dequantize_per_tensor.tensor", NULL};
  const kw_value args[] = {kw_arg_tensor(input), kw_arg_tensor(scale), kw_arg_tensor(zero_point), kw_arg_int(quant_min),
                           kw_arg_int(quant_max), kw_arg_dtype(dtype), kw_arg_dtype(out_dtype)};
  return kw_op_run(&op, NULL, args, 7, out, 1);
}
static inline kw_tensor *kwx_typed_quantized_decomposed_dequantize_per_tensor_tensor(const kw_tensor *input,
                                                                                     const kw_tensor *scale,
                                                                                     const kw_tensor *zero_point,
                                                                                     int64_t quant_min,
                                                                                     int64_t quant_max, kw_dtype dtype,
                                                                                     kw_dtype out_dtype) {
  kw_tensor *out = NULL;
  kw_typed_quantized_decomposed_dequantize_per_tensor_tensor(input, scale, zero_point, quant_min, quant_max, dtype,
      out_dtype, &out);
  return out;
}
#define kw_quantized_decomposed_dequantize_per_tensor_tensor(...) KW_BY_NUMBER(kw, \
  quantized_decomposed_dequantize_per_tensor_tensor, __VA_ARGS__)
#define kw_7_quantized_decomposed_dequantize_per_tensor_tensor(input, scale, zero_point, quant_min, quant_max, dtype, \
  out) kw_8_quantized_decomposed_dequantize_per_tensor_tensor(input, scale, zero_point, quant_min, quant_max, dtype, \
  KW_DTYPE_NONE, out)
#define kw_8_quantized_decomposed_dequantize_per_tensor_tensor(input, scale, zero_point, quant_min, quant_max, dtype, \
  out_dtype, out) kw_typed_quantized_decomposed_dequantize_per_tensor_tensor(input, scale, zero_point, quant_min, \
  quant_max, dtype, out_dtype, out)
#define kwx_quantized_decomposed_dequantize_per_tensor_tensor(...) KW_BY_NUMBER(kwx, \
  quantized_decomposed_dequantize_per_tensor_tensor, __VA_ARGS__)
#define kwx_6_quantized_decomposed_dequantize_per_tensor_tensor(input, scale, zero_point, quant_min, quant_max, dtype) \
  kwx_7_quantized_decomposed_dequantize_per_tensor_tensor(input, scale, zero_point, quant_min, quant_max, dtype, \
  KW_DTYPE_NONE)
#define kwx_7_quantized_decomposed_dequantize_per_tensor_tensor(input, scale, zero_point, quant_min, quant_max, dtype, \
  out_dtype) kwx_typed_quantized_decomposed_dequantize_per_tensor_tensor(input, scale, zero_point, quant_min, \
  quant_max, dtype, out_dtype)

/* quantized_decomposed::dequantize_per_channel(Tensor input, Tensor scales, Tensor? zero_points, int axis,
 * int quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor */
static inline kw_status kw_typed_quantized_decomposed_dequantize_per_channel(const kw_tensor *input,
                                                                             const kw_tensor *scales,
                                                                             const kw_tensor *zero_points, int64_t axis,
                                                                             int64_t quant_min, int64_t quant_max,
                                                                             kw_dtype dtype, kw_dtype out_dtype,
                                                                             kw_tensor **out) {
  static kw_op_name op = {"quantized_decomposed::dequantize_per_channel", NULL};
  const kw_value args[] = {kw_arg_tensor(input), kw_arg_tensor(scales), kw_typed_optional(zero_points),
                           kw_arg_int(axis), kw_arg_int(quant_min), kw_arg_int(quant_max), kw_arg_dtype(dtype),
                           kw_arg_dtype(out_dtype)};
  return kw_op_run(&op, NULL, args, 8, out, 1);
}
static inline kw_tensor *kwx_typed_quantized_decomposed_dequantize_per_channel(const kw_tensor *input,
                                                                               const kw_tensor *scales,
                                                                               const kw_tensor *zero_points,
                                                                               int64_t axis, int64_t quant_min,
                                                                               int64_t quant_max, kw_dtype dtype,
                                                                               kw_dtype out_dtype) {
  kw_tensor *out = NULL;
  kw_typed_quantized_decomposed_dequantize_per_channel(input, scales, zero_points, axis, quant_min, quant_max, dtype,
      out_dtype, &out);
  return out;
}
#define kw_quantized_decomposed_dequantize_per_channel(...) KW_BY_NUMBER(kw, \
  quantized_decomposed_dequantize_per_channel, __VA_ARGS__)
#define kw_8_quantized_decomposed_dequantize_per_channel(input, scales, zero_points, axis, quant_min, quant_max, \
  dtype, out) kw_9_quantized_decomposed_dequantize_per_channel(input, scales, zero_points, axis, quant_min, quant_max, \
  dtype, KW_DTYPE_NONE, out)
#define kw_9_quantized_decomposed_dequantize_per_channel(input, scales, zero_points, axis, quant_min, quant_max, \
  dtype, out_dtype, out) kw_typed_quantized_decomposed_dequantize_per_channel(input, scales, zero_points, axis, \
  quant_min, quant_max, dtype, out_dtype, out)
#define kwx_quantized_decomposed_dequantize_per_channel(...) KW_BY_NUMBER(kwx, \
  quantized_decomposed_dequantize_per_channel, __VA_ARGS__)
#define kwx_7_quantized_decomposed_dequantize_per_channel(input, scales, zero_points, axis, quant_min, quant_max, \
  dtype) kwx_8_quantized_decomposed_dequantize_per_channel(input, scales, zero_points, axis, quant_min, quant_max, \
  dtype, KW_DTYPE_NONE)
#define kwx_8_quantized_decomposed_dequantize_per_channel(input, scales, zero_points, axis, quant_min, quant_max, \
  dtype, out_dtype) kwx_typed_quantized_decomposed_dequantize_per_channel(input, scales, zero_points, axis, quant_min, \
  quant_max, dtype, out_dtype)

/* keyway::int8_linear(Tensor input, Tensor weight, Tensor input_scale, Tensor weight_scale, Tensor? bias=None, *,
 * ScalarType? out_dtype=None) -> Tensor */
static inline kw_status kw_typed_int8_linear(const kw_tensor *input, const kw_tensor *weight,
                                             const kw_tensor *input_scale, const kw_tensor *weight_scale,
                                             const kw_tensor *bias, kw_dtype out_dtype, kw_tensor **out) {
  static kw_op_name op = {"keyway::int8_linear", NULL};
  const kw_value args[] = {kw_arg_tensor(input), kw_arg_tensor(weight), kw_arg_tensor(input_scale),
                           kw_arg_tensor(weight_scale), kw_typed_optional(bias), kw_arg_dtype(out_dtype)};
  return kw_op_run(&op, NULL, args, 6, out, 1);
}
static inline kw_tensor *kwx_typed_int8_linear(const kw_tensor *input, const kw_tensor *weight,
                                               const kw_tensor *input_scale, const kw_tensor *weight_scale,
                                               const kw_tensor *bias, kw_dtype out_dtype) {
  kw_tensor *out = NULL;
  kw_typed_int8_linear(input, weight, input_scale, weight_scale, bias, out_dtype, &out);
  return out;
}
#define kw_int8_linear(...) KW_BY_NUMBER(kw, int8_linear, __VA_ARGS__)
#define kw_5_int8_linear(input, weight, input_scale, weight_scale, out) kw_7_int8_linear(input, weight, input_scale, \
  weight_scale, NULL, KW_DTYPE_NONE, out)
#define kw_6_int8_linear(input, weight, input_scale, weight_scale, bias, out) kw_7_int8_linear(input, weight, \
  input_scale, weight_scale, bias, KW_DTYPE_NONE, out)
#define kw_7_int8_linear(input, weight, input_scale, weight_scale, bias, out_dtype, out) kw_typed_int8_linear(input, \
  weight, input_scale, weight_scale, bias, out_dtype, out)
#define kwx_int8_linear(...) KW_BY_NUMBER(kwx, int8_linear, __VA_ARGS__)
#define kwx_4_int8_linear(input, weight, input_scale, weight_scale) kwx_6_int8_linear(input, weight, input_scale, \
  weight_scale, NULL, KW_DTYPE_NONE)
#define kwx_5_int8_linear(input, weight, input_scale, weight_scale, bias) kwx_6_int8_linear(input, weight, \
  input_scale, weight_scale, bias, KW_DTYPE_NONE)
#define kwx_6_int8_linear(input, weight, input_scale, weight_scale, bias, out_dtype) kwx_typed_int8_linear(input, \
  weight, input_scale, weight_scale, bias, out_dtype)

/* keyway::f8_linear(Tensor input, Tensor weight, Tensor input_scale, Tensor weight_scale, Tensor? bias=None, *,
 * ScalarType? out_dtype=None) -> Tensor */
static inline kw_status kw_typed_f8_linear(const kw_tensor *input, const kw_tensor *weight,
                                           const kw_tensor *input_scale, const kw_tensor *weight_scale,
                                           const kw_tensor *bias, kw_dtype out_dtype, kw_tensor **out) {
  static kw_op_name op = {"keyway::f8_linear", NULL};
  const kw_value args[] = {kw_arg_tensor(input), kw_arg_tensor(weight), kw_arg_tensor(input_scale),
                           kw_arg_tensor(weight_scale), kw_typed_optional(bias), kw_arg_dtype(out_dtype)};
  return kw_op_run(&op, NULL, args, 6, out, 1);
}
static inline kw_tensor *kwx_typed_f8_linear(const kw_tensor *input, const kw_tensor *weight,
                                             const kw_tensor *input_scale, const kw_tensor *weight_scale,
                                             const kw_tensor *bias, kw_dtype out_dtype) {
  kw_tensor *out = NULL;
  kw_typed_f8_linear(input, weight, input_scale, weight_scale, bias, out_dtype, &out);
  return out;
}
#define kw_f8_linear(...) KW_BY_NUMBER(kw, f8_linear, __VA_ARGS__)
#define kw_5_f8_linear(input, weight, input_scale, weight_scale, out) kw_7_f8_linear(input, weight, input_scale, \
  weight_scale, NULL, KW_DTYPE_NONE, out)
#define kw_6_f8_linear(input, weight, input_scale, weight_scale, bias, out) kw_7_f8_linear(input, weight, input_scale, \
  weight_scale, bias, KW_DTYPE_NONE, out)
#define kw_7_f8_linear(input, weight, input_scale, weight_scale, bias, out_dtype, out) kw_typed_f8_linear(input, \
  weight, input_scale, weight_scale, bias, out_dtype, out)
#define kwx_f8_linear(...) KW_BY_NUMBER(kwx, f8_linear, __VA_ARGS__)
#define kwx_4_f8_linear(input, weight, input_scale, weight_scale) kwx_6_f8_linear(input, weight, input_scale, \
  weight_scale, NULL, KW_DTYPE_NONE)
#define kwx_5_f8_linear(input, weight, input_scale, weight_scale, bias) kwx_6_f8_linear(input, weight, input_scale, \
  weight_scale, bias, KW_DTYPE_NONE)
#define kwx_6_f8_linear(input, weight, input_scale, weight_scale, bias, out_dtype) kwx_typed_f8_linear(input, weight, \
  input_scale, weight_scale, bias, out_dtype)

/* keyway::int4_linear(Tensor input, Tensor weight, Tensor scales, Tensor zeros, Tensor? bias=None) -> Tensor */
static inline kw_status kw_typed_int4_linear(const kw_tensor *input, const kw_tensor *weight, const kw_tensor *scales,
                                             const kw_tensor *zeros, const kw_tensor *bias, kw_tensor **out) {
  static kw_op_name op = {"keyway::int4_linear", NULL};
  const kw_value args[] = {kw_arg_tensor(input), kw_arg_tensor(weight), kw_arg_tensor(scales), kw_arg_tensor(zeros),
                           kw_typed_optional(bias)};
  return kw_op_run(&op, NULL, args, 5, out, 1);
}
static inline kw_tensor *kwx_typed_int4_linear(const kw_tensor *input, const kw_tensor *weight, const kw_tensor *scales,
                                               const kw_tensor *zeros, const kw_tensor *bias) {
  kw_tensor *out = NULL;
  kw_typed_int4_linear(input, weight, scales, zeros, bias, &out);
  return out;
}
#define kw_int4_linear(...) KW_BY_NUMBER(kw, int4_linear, __VA_ARGS__)
#define kw_5_int4_linear(input, weight, scales, zeros, out) kw_6_int4_linear(input, weight, scales, zeros, NULL, out)
#define kw_6_int4_linear(input, weight, scales, zeros, bias, out) kw_typed_int4_linear(input, weight, scales, zeros, \
  bias, out)
#define kwx_int4_linear(...) KW_BY_NUMBER(kwx, int4_linear, __VA_ARGS__)
#define kwx_4_int4_linear(input, weight, scales, zeros) kwx_5_int4_linear(input, weight, scales, zeros, NULL)
#define kwx_5_int4_linear(input, weight, scales, zeros, bias) kwx_typed_int4_linear(input, weight, scales, zeros, bias)

/* keyway::int4_pack(Tensor input) -> Tensor */
static inline kw_status kw_int4_pack(const kw_tensor *input, kw_tensor **out) {
  static kw_op_name op = {"keyway::int4_pack", NULL};
  const kw_value args[] = {kw_arg_tensor(input)};
  return kw_op_run(&op, NULL, args, 1, out, 1);
}
static inline kw_tensor *kwx_int4_pack(const kw_tensor *input) {
  kw_tensor *out = NULL;
  kw_int4_pack(input, &out);
  return out;
}

/* keyway::sparse24_compress(Tensor input) -> (Tensor values, Tensor meta) */
static inline kw_status kw_sparse24_compress(const kw_tensor *input, kw_tensor **out_values, kw_tensor **out_meta) {
  static kw_op_name op = {"keyway::sparse24_compress", NULL};
  const kw_value args[] = {kw_arg_tensor(input)};
  kw_tensor *outs[] = {*out_values, *out_meta};
  const kw_status status = kw_op_run(&op, NULL, args, 1, outs, 2);
  *out_values = outs[0];
  *out_meta = outs[1];
  return status;
}
static inline kw_tensor *kwx_sparse24_compress(const kw_tensor *input) {
  kw_tensor *out_values = NULL, *out_meta = NULL;
  kw_sparse24_compress(input, &out_values, &out_meta);
  kw_scope_release(out_meta);
  return out_values;
}

/* keyway::sparse24_linear(Tensor input, Tensor values, Tensor meta, Tensor? bias=None) -> Tensor */
static inline kw_status kw_typed_sparse24_linear(const kw_tensor *input, const kw_tensor *values, const kw_tensor *meta,
                                                 const kw_tensor *bias, kw_tensor **out) {
  static kw_op_name op = {"keyway::sparse24_linear", NULL};
  const kw_value args[] = {kw_arg_tensor(input), kw_arg_tensor(values), kw_arg_tensor(meta), kw_typed_optional(bias)};
  return kw_op_run(&op, NULL, args, 4, out, 1);
}
static inline kw_tensor *kwx_typed_sparse24_linear(const kw_tensor *input, const kw_tensor *values,
                                                   const kw_tensor *meta, const kw_tensor *bias) {
  kw_tensor *out = NULL;
  kw_typed_sparse24_linear(input, values, meta, bias, &out);
  return out;
}
#define kw_sparse24_linear(...) KW_BY_NUMBER(kw, sparse24_linear, __VA_ARGS__)
#define kw_4_sparse24_linear(input, values, meta, out) kw_5_sparse24_linear(input, values, meta, NULL, out)
#define kw_5_sparse24_linear(input, values, meta, bias, out) kw_typed_sparse24_linear(input, values, meta, bias, out)
#define kwx_sparse24_linear(...) KW_BY_NUMBER(kwx, sparse24_linear, __VA_ARGS__)
#define kwx_3_sparse24_linear(input, values, meta) kwx_4_sparse24_linear(input, values, meta, NULL)
#define kwx_4_sparse24_linear(input, values, meta, bias) kwx_typed_sparse24_linear(input, values, meta, bias)

/* keyway::bsr_linear(Tensor input, Tensor crow_indices, Tensor col_indices, Tensor values,
 * Tensor? bias=None) -> Tensor */
static inline kw_status kw_typed_bsr_linear(const kw_tensor *input, const kw_tensor *crow_indices,
                                            const kw_tensor *col_indices, const kw_tensor *values,
                                            const kw_tensor *bias, kw_tensor **out) {
  static kw_op_name op = {"keyway::bsr_linear", NULL};
  const kw_value args[] = {kw_arg_tensor(input), kw_arg_tensor(crow_indices), kw_arg_tensor(col_indices),
                           kw_arg_tensor(values), kw_typed_optional(bias)};
  return kw_op_run(&op, NULL, args, 5, out, 1);
}
static inline kw_tensor *kwx_typed_bsr_linear(const kw_tensor *input, const kw_tensor *crow_indices,
                                              const kw_tensor *col_indices, const kw_tensor *values,
                                              const kw_tensor *bias) {
  kw_tensor *out = NULL;
  kw_typed_bsr_linear(input, crow_indices, col_indices, values, bias, &out);
  return out;
}
#define kw_bsr_linear(...) KW_BY_NUMBER(kw, bsr_linear, __VA_ARGS__)
#define kw_5_bsr_linear(input, crow_indices, col_indices, values, out) kw_6_bsr_linear(input, crow_indices, \
  col_indices, values, NULL, out)
#define kw_6_bsr_linear(input, crow_indices, col_indices, values, bias, out) kw_typed_bsr_linear(input, crow_indices, \
  col_indices, values, bias, out)
#define kwx_bsr_linear(...) KW_BY_NUMBER(kwx, bsr_linear, __VA_ARGS__)
#define kwx_4_bsr_linear(input, crow_indices, col_indices, values) kwx_5_bsr_linear(input, crow_indices, col_indices, \
  values, NULL)
#define kwx_5_bsr_linear(input, crow_indices, col_indices, values, bias) kwx_typed_bsr_linear(input, crow_indices, \
  col_indices, values, bias)

/* nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) -> (Tensor output,
 * Tensor total_weight) */
static inline kw_status kw_typed_nll_loss_forward(const kw_tensor *self, const kw_tensor *target,
                                                  const kw_tensor *weight, int64_t reduction, int64_t ignore_index,
                                                  kw_tensor **out_output, kw_tensor **out_total_weight) {
  static kw_op_name op = {"nll_loss_forward", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(target), kw_typed_optional(weight), kw_arg_int(reduction),
                           kw_arg_int(ignore_index)};
  kw_tensor *outs[] = {*out_output, *out_total_weight};
  const kw_status status = kw_op_run(&op, NULL, args, 5, outs, 2);
  *out_output = outs[0];
  *out_total_weight = outs[1];
  return status;
}
static inline kw_tensor *kwx_typed_nll_loss_forward(const kw_tensor *self, const kw_tensor *target,
                                                    const kw_tensor *weight, int64_t reduction, int64_t ignore_index) {
  kw_tensor *out_output = NULL, *out_total_weight = NULL;
  kw_typed_nll_loss_forward(self, target, weight, reduction, ignore_index, &out_output, &out_total_weight);
  kw_scope_release(out_total_weight);
  return out_output;
}
#define kw_nll_loss_forward(...) KW_BY_NUMBER(kw, nll_loss_forward, __VA_ARGS__)
#define kw_4_nll_loss_forward(self, target, out_output, out_total_weight) kw_7_nll_loss_forward(self, target, NULL, 1, \
  -100, out_output, out_total_weight)
#define kw_5_nll_loss_forward(self, target, weight, out_output, out_total_weight) kw_7_nll_loss_forward(self, target, \
  weight, 1, -100, out_output, out_total_weight)
#define kw_6_nll_loss_forward(self, target, weight, reduction, out_output, out_total_weight) \
  kw_7_nll_loss_forward(self, target, weight, reduction, -100, out_output, out_total_weight)
#define kw_7_nll_loss_forward(self, target, weight, reduction, ignore_index, out_output, out_total_weight) \
  kw_typed_nll_loss_forward(self, target, weight, reduction, ignore_index, out_output, out_total_weight)
#define kwx_nll_loss_forward(...) KW_BY_NUMBER(kwx, nll_loss_forward, __VA_ARGS__)
#define kwx_2_nll_loss_forward(self, target) kwx_5_nll_loss_forward(self, target, NULL, 1, -100)
#define kwx_3_nll_loss_forward(self, target, weight) kwx_5_nll_loss_forward(self, target, weight, 1, -100)
#define kwx_4_nll_loss_forward(self, target, weight, reduction) kwx_5_nll_loss_forward(self, target, weight, \
  reduction, -100)
#define kwx_5_nll_loss_forward(self, target, weight, reduction, ignore_index) kwx_typed_nll_loss_forward(self, target, \
  weight, reduction, ignore_index)

/* nll_loss2d_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) -> (Tensor output,
 * Tensor total_weight) */
static inline kw_status kw_nll_loss2d_forward(const kw_tensor *self, const kw_tensor *target, const kw_tensor *weight,
                                              int64_t reduction, int64_t ignore_index, kw_tensor **out_output,
                                              kw_tensor **out_total_weight) {
  static kw_op_name op = {"nll_loss2d_forward", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(target), kw_typed_optional(weight), kw_arg_int(reduction),
                           kw_arg_int(ignore_index)};
  kw_tensor *outs[] = {*out_output, *out_total_weight};
  const kw_status status = kw_op_run(&op, NULL, args, 5, outs, 2);
  *out_output = outs[0];
  *out_total_weight = outs[1];
  return status;
}
static inline kw_tensor *kwx_nll_loss2d_forward(const kw_tensor *self, const kw_tensor *target, const kw_tensor *weight,
                                                int64_t reduction, int64_t ignore_index) {
  kw_tensor *out_output = NULL, *out_total_weight = NULL;
  kw_nll_loss2d_forward(self, target, weight, reduction, ignore_index, &out_output, &out_total_weight);
  kw_scope_release(out_total_weight);
  return out_output;
}

/* nll_loss_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index,
 * Tensor total_weight) -> Tensor */
static inline kw_status kw_nll_loss_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                             const kw_tensor *target, const kw_tensor *weight, int64_t reduction,
                                             int64_t ignore_index, const kw_tensor *total_weight, kw_tensor **out) {
  static kw_op_name op = {"nll_loss_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_output), kw_arg_tensor(self), kw_arg_tensor(target),
                           kw_typed_optional(weight), kw_arg_int(reduction), kw_arg_int(ignore_index),
                           kw_arg_tensor(total_weight)};
  return kw_op_run(&op, NULL, args, 7, out, 1);
}
static inline kw_tensor *kwx_nll_loss_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                               const kw_tensor *target, const kw_tensor *weight, int64_t reduction,
                                               int64_t ignore_index, const kw_tensor *total_weight) {
  kw_tensor *out = NULL;
  kw_nll_loss_backward(grad_output, self, target, weight, reduction, ignore_index, total_weight, &out);
  return out;
}

/* nll_loss2d_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction,
 * SymInt ignore_index, Tensor total_weight) -> Tensor */
static inline kw_status kw_nll_loss2d_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                               const kw_tensor *target, const kw_tensor *weight, int64_t reduction,
                                               int64_t ignore_index, const kw_tensor *total_weight, kw_tensor **out) {
  static kw_op_name op = {"nll_loss2d_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_output), kw_arg_tensor(self), kw_arg_tensor(target),
                           kw_typed_optional(weight), kw_arg_int(reduction), kw_arg_int(ignore_index),
                           kw_arg_tensor(total_weight)};
  return kw_op_run(&op, NULL, args, 7, out, 1);
}
static inline kw_tensor *kwx_nll_loss2d_backward(const kw_tensor *grad_output, const kw_tensor *self,
                                                 const kw_tensor *target, const kw_tensor *weight, int64_t reduction,
                                                 int64_t ignore_index, const kw_tensor *total_weight) {
  kw_tensor *out = NULL;
  kw_nll_loss2d_backward(grad_output, self, target, weight, reduction, ignore_index, total_weight, &out);
  return out;
}

/* cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100,
 * float label_smoothing=0.) -> Tensor */
static inline kw_status kw_typed_cross_entropy_loss(const kw_tensor *self, const kw_tensor *target,
                                                    const kw_tensor *weight, int64_t reduction, int64_t ignore_index,
                                                    double label_smoothing, kw_tensor **out) {
  static kw_op_name op = {"cross_entropy_loss", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(target), kw_typed_optional(weight), kw_arg_int(reduction),
                           kw_arg_int(ignore_index), kw_arg_float(label_smoothing)};
  return kw_op_run(&op, NULL, args, 6, out, 1);
}
static inline kw_tensor *kwx_typed_cross_entropy_loss(const kw_tensor *self, const kw_tensor *target,
                                                      const kw_tensor *weight, int64_t reduction, int64_t ignore_index,
                                                      double label_smoothing) {
  kw_tensor *out = NULL;
  kw_typed_cross_entropy_loss(self, target, weight, reduction, ignore_index, label_smoothing, &out);
  return out;
}
#define kw_cross_entropy_loss(...) KW_BY_NUMBER(kw, cross_entropy_loss, __VA_ARGS__)
#define kw_3_cross_entropy_loss(self, target, out) kw_7_cross_entropy_loss(self, target, NULL, 1, -100, 0.0, out)
#define kw_4_cross_entropy_loss(self, target, weight, out) kw_7_cross_entropy_loss(self, target, weight, 1, -100, 0.0, \
  out)
#define kw_5_cross_entropy_loss(self, target, weight, reduction, out) kw_7_cross_entropy_loss(self, target, weight, \
  reduction, -100, 0.0, out)
#define kw_6_cross_entropy_loss(self, target, weight, reduction, ignore_index, out) kw_7_cross_entropy_loss(self, \
  target, weight, reduction, ignore_index, 0.0, out)
#define kw_7_cross_entropy_loss(self, target, weight, reduction, ignore_index, label_smoothing, out) \
  kw_typed_cross_entropy_loss(self, target, weight, reduction, ignore_index, label_smoothing, out)
#define kwx_cross_entropy_loss(...) KW_BY_NUMBER(kwx, cross_entropy_loss, __VA_ARGS__)
#define kwx_2_cross_entropy_loss(self, target) kwx_6_cross_entropy_loss(self, target, NULL, 1, -100, 0.0)
#define kwx_3_cross_entropy_loss(self, target, weight) kwx_6_cross_entropy_loss(self, target, weight, 1, -100, 0.0)
#define kwx_4_cross_entropy_loss(self, target, weight, reduction) kwx_6_cross_entropy_loss(self, target, weight, \
  reduction, -100, 0.0)
#define kwx_5_cross_entropy_loss(self, target, weight, reduction, ignore_index) kwx_6_cross_entropy_loss(self, target, \
  weight, reduction, ignore_index, 0.0)
#define kwx_6_cross_entropy_loss(self, target, weight, reduction, ignore_index, label_smoothing) \
  kwx_typed_cross_entropy_loss(self, target, weight, reduction, ignore_index, label_smoothing)

/* embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt num_weights, SymInt padding_idx,
 * bool scale_grad_by_freq) -> Tensor */
static inline kw_status kw_embedding_dense_backward(const kw_tensor *grad_output, const kw_tensor *indices,
                                                    int64_t num_weights, int64_t padding_idx, bool scale_grad_by_freq,
                                                    kw_tensor **out) {
  static kw_op_name op = {"embedding_dense_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad_output), kw_arg_tensor(indices), kw_arg_int(num_weights),
                           kw_arg_int(padding_idx), kw_arg_bool(scale_grad_by_freq)};
  return kw_op_run(&op, NULL, args, 5, out, 1);
}
static inline kw_tensor *kwx_embedding_dense_backward(const kw_tensor *grad_output, const kw_tensor *indices,
                                                      int64_t num_weights, int64_t padding_idx,
                                                      bool scale_grad_by_freq) {
  kw_tensor *out = NULL;
  kw_embedding_dense_backward(grad_output, indices, num_weights, padding_idx, scale_grad_by_freq, &out);
  return out;
}

/* keyway::box_iou(Tensor boxes1, Tensor boxes2) -> Tensor */
static inline kw_status kw_box_iou(const kw_tensor *boxes1, const kw_tensor *boxes2, kw_tensor **out) {
  static kw_op_name op = {"keyway::box_iou", NULL};
  const kw_value args[] = {kw_arg_tensor(boxes1), kw_arg_tensor(boxes2)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_box_iou(const kw_tensor *boxes1, const kw_tensor *boxes2) {
  kw_tensor *out = NULL;
  kw_box_iou(boxes1, boxes2, &out);
  return out;
}

/* keyway::generalized_box_iou(Tensor boxes1, Tensor boxes2) -> Tensor */
static inline kw_status kw_generalized_box_iou(const kw_tensor *boxes1, const kw_tensor *boxes2, kw_tensor **out) {
  static kw_op_name op = {"keyway::generalized_box_iou", NULL};
  const kw_value args[] = {kw_arg_tensor(boxes1), kw_arg_tensor(boxes2)};
  return kw_op_run(&op, NULL, args, 2, out, 1);
}
static inline kw_tensor *kwx_generalized_box_iou(const kw_tensor *boxes1, const kw_tensor *boxes2) {
  kw_tensor *out = NULL;
  kw_generalized_box_iou(boxes1, boxes2, &out);
  return out;
}

/* torchvision::nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor */
static inline kw_status kw_torchvision_nms(const kw_tensor *dets, const kw_tensor *scores, double iou_threshold,
                                           kw_tensor **out) {
  static kw_op_name op = {"torchvision::nms", NULL};
  const kw_value args[] = {kw_arg_tensor(dets), kw_arg_tensor(scores), kw_arg_float(iou_threshold)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_torchvision_nms(const kw_tensor *dets, const kw_tensor *scores, double iou_threshold) {
  kw_tensor *out = NULL;
  kw_torchvision_nms(dets, scores, iou_threshold, &out);
  return out;
}

/* torchvision::roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width,
 * int sampling_ratio, bool aligned) -> Tensor */
static inline kw_status kw_torchvision_roi_align(const kw_tensor *input, const kw_tensor *rois, double spatial_scale,
                                                 int64_t pooled_height, int64_t pooled_width, int64_t sampling_ratio,
                                                 bool aligned, kw_tensor **out) {
  static kw_op_name op = {"torchvision::roi_align", NULL};
  const kw_value args[] = {kw_arg_tensor(input), kw_arg_tensor(rois), kw_arg_float(spatial_scale),
                           kw_arg_int(pooled_height), kw_arg_int(pooled_width), kw_arg_int(sampling_ratio),
                           kw_arg_bool(aligned)};
  return kw_op_run(&op, NULL, args, 7, out, 1);
}
static inline kw_tensor *kwx_torchvision_roi_align(const kw_tensor *input, const kw_tensor *rois, double spatial_scale,
                                                   int64_t pooled_height, int64_t pooled_width, int64_t sampling_ratio,
                                                   bool aligned) {
  kw_tensor *out = NULL;
  kw_torchvision_roi_align(input, rois, spatial_scale, pooled_height, pooled_width, sampling_ratio, aligned, &out);
  return out;
}

/* torchvision::_roi_align_backward(Tensor grad, Tensor rois, float spatial_scale, SymInt pooled_height,
 * SymInt pooled_width, SymInt batch_size, SymInt channels, SymInt height, SymInt width, int sampling_ratio,
 * bool aligned) -> Tensor */
static inline kw_status kw_torchvision_roi_align_backward(const kw_tensor *grad, const kw_tensor *rois,
                                                          double spatial_scale, int64_t pooled_height,
                                                          int64_t pooled_width, int64_t batch_size, int64_t channels,
                                                          int64_t height, int64_t width, int64_t sampling_ratio,
                                                          bool aligned, kw_tensor **out) {
  static kw_op_name op = {"torchvision::_roi_align_backward", NULL};
  const kw_value args[] = {kw_arg_tensor(grad), kw_arg_tensor(rois), kw_arg_float(spatial_scale),
                           kw_arg_int(pooled_height), kw_arg_int(pooled_width), kw_arg_int(batch_size),
                           kw_arg_int(channels), kw_arg_int(height), kw_arg_int(width), kw_arg_int(sampling_ratio),
                           kw_arg_bool(aligned)};
  return kw_op_run(&op, NULL, args, 11, out, 1);
}
static inline kw_tensor *kwx_torchvision_roi_align_backward(const kw_tensor *grad, const kw_tensor *rois,
                                                            double spatial_scale, int64_t pooled_height,
                                                            int64_t pooled_width, int64_t batch_size, int64_t channels,
                                                            int64_t height, int64_t width, int64_t sampling_ratio,
                                                            bool aligned) {
  kw_tensor *out = NULL;
  kw_torchvision_roi_align_backward(grad, rois, spatial_scale, pooled_height, pooled_width, batch_size, channels,
      height, width, sampling_ratio, aligned, &out);
  return out;
}

/* _fused_sgd_(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] momentum_buffer_list, *, float weight_decay,
 * float momentum, float lr, float dampening, bool nesterov, bool maximize, bool is_first_step, Tensor? grad_scale=None,
 * Tensor? found_inf=None) -> () */
static inline kw_status kw_typed_fused_sgd_(kw_tensors self, kw_tensors grads, kw_tensors momentum_buffer_list,
                                            double weight_decay, double momentum, double lr, double dampening,
                                            bool nesterov, bool maximize, bool is_first_step,
                                            const kw_tensor *grad_scale, const kw_tensor *found_inf) {
  static kw_op_name op = {"_fused_sgd_", NULL};
  const kw_value args[] = {kw_typed_tensors(self), kw_typed_tensors(grads), kw_typed_tensors(momentum_buffer_list),
                           kw_arg_float(weight_decay), kw_arg_float(momentum), kw_arg_float(lr),
                           kw_arg_float(dampening), kw_arg_bool(nesterov), kw_arg_bool(maximize),
                           kw_arg_bool(is_first_step), kw_typed_optional(grad_scale), kw_typed_optional(found_inf)};
  return kw_op_run(&op, NULL, args, 12, NULL, 0);
}
#define kw_fused_sgd_(...) KW_BY_NUMBER(kw, fused_sgd_, __VA_ARGS__)
#define kw_10_fused_sgd_(self, grads, momentum_buffer_list, weight_decay, momentum, lr, dampening, nesterov, maximize, \
  is_first_step) kw_12_fused_sgd_(self, grads, momentum_buffer_list, weight_decay, momentum, lr, dampening, nesterov, \
  maximize, is_first_step, NULL, NULL)
#define kw_11_fused_sgd_(self, grads, momentum_buffer_list, weight_decay, momentum, lr, dampening, nesterov, maximize, \
  is_first_step, grad_scale) kw_12_fused_sgd_(self, grads, momentum_buffer_list, weight_decay, momentum, lr, \
  dampening, nesterov, maximize, is_first_step, grad_scale, NULL)
#define kw_12_fused_sgd_(self, grads, momentum_buffer_list, weight_decay, momentum, lr, dampening, nesterov, maximize, \
  is_first_step, grad_scale, found_inf) kw_typed_fused_sgd_(self, grads, momentum_buffer_list, weight_decay, momentum, \
  lr, dampening, nesterov, maximize, is_first_step, grad_scale, found_inf)

/* _fused_adam_(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] exp_avgs, Tensor(d!)[] exp_avg_sqs,
 * Tensor(e!)[] max_exp_avg_sqs, Tensor[] state_steps, *, float lr, float beta1, float beta2, float weight_decay,
 * float eps, bool amsgrad, bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None) -> () */
static inline kw_status kw_typed_fused_adam_(kw_tensors self, kw_tensors grads, kw_tensors exp_avgs,
                                             kw_tensors exp_avg_sqs, kw_tensors max_exp_avg_sqs, kw_tensors state_steps,
                                             double lr, double beta1, double beta2, double weight_decay, double eps,
                                             bool amsgrad, bool maximize, const kw_tensor *grad_scale,
                                             const kw_tensor *found_inf) {
  static kw_op_name op = {"_fused_adam_", NULL};
  const kw_value args[] = {kw_typed_tensors(self), kw_typed_tensors(grads), kw_typed_tensors(exp_avgs),
                           kw_typed_tensors(exp_avg_sqs), kw_typed_tensors(max_exp_avg_sqs),
                           kw_typed_tensors(state_steps), kw_arg_float(lr), kw_arg_float(beta1), kw_arg_float(beta2),
                           kw_arg_float(weight_decay), kw_arg_float(eps), kw_arg_bool(amsgrad), kw_arg_bool(maximize),
                           kw_typed_optional(grad_scale), kw_typed_optional(found_inf)};
  return kw_op_run(&op, NULL, args, 15, NULL, 0);
}
#define kw_fused_adam_(...) KW_BY_NUMBER(kw, fused_adam_, __VA_ARGS__)
#define kw_13_fused_adam_(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, lr, beta1, beta2, \
  weight_decay, eps, amsgrad, maximize) kw_15_fused_adam_(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, \
  state_steps, lr, beta1, beta2, weight_decay, eps, amsgrad, maximize, NULL, NULL)
#define kw_14_fused_adam_(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, lr, beta1, beta2, \
  weight_decay, eps, amsgrad, maximize, grad_scale) kw_15_fused_adam_(self, grads, exp_avgs, exp_avg_sqs, \
  max_exp_avg_sqs, state_steps, lr, beta1, beta2, weight_decay, eps, amsgrad, maximize, grad_scale, NULL)
#define kw_15_fused_adam_(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, lr, beta1, beta2, \
  weight_decay, eps, amsgrad, maximize, grad_scale, found_inf) kw_typed_fused_adam_(self, grads, exp_avgs, \
  exp_avg_sqs, max_exp_avg_sqs, state_steps, lr, beta1, beta2, weight_decay, eps, amsgrad, maximize, grad_scale, \
  found_inf)

/* _fused_adamw_(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] exp_avgs, Tensor(d!)[] exp_avg_sqs,
 * Tensor(e!)[] max_exp_avg_sqs, Tensor[] state_steps, *, float lr, float beta1, float beta2, float weight_decay,
 * float eps, bool amsgrad, bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None) -> () */
static inline kw_status kw_typed_fused_adamw_(kw_tensors self, kw_tensors grads, kw_tensors exp_avgs,
                                              kw_tensors exp_avg_sqs, kw_tensors max_exp_avg_sqs,
                                              kw_tensors state_steps, double lr, double beta1, double beta2,
                                              double weight_decay, double eps, bool amsgrad, bool maximize,
                                              const kw_tensor *grad_scale, const kw_tensor *found_inf) {
  static kw_op_name op = {"_fused_adamw_", NULL};
  const kw_value args[] = {kw_typed_tensors(self), kw_typed_tensors(grads), kw_typed_tensors(exp_avgs),
                           kw_typed_tensors(exp_avg_sqs), kw_typed_tensors(max_exp_avg_sqs),
                           kw_typed_tensors(state_steps), kw_arg_float(lr), kw_arg_float(beta1), kw_arg_float(beta2),
                           kw_arg_float(weight_decay), kw_arg_float(eps), kw_arg_bool(amsgrad), kw_arg_bool(maximize),
                           kw_typed_optional(grad_scale), kw_typed_optional(found_inf)};
  return kw_op_run(&op, NULL, args, 15, NULL, 0);
}
#define kw_fused_adamw_(...) KW_BY_NUMBER(kw, fused_adamw_, __VA_ARGS__)
#define kw_13_fused_adamw_(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, lr, beta1, beta2, \
  weight_decay, eps, amsgrad, maximize) kw_15_fused_adamw_(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, \
  state_steps, lr, beta1, beta2, weight_decay, eps, amsgrad, maximize, NULL, NULL)
#define kw_14_fused_adamw_(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, lr, beta1, beta2, \
  weight_decay, eps, amsgrad, maximize, grad_scale) kw_15_fused_adamw_(self, grads, exp_avgs, exp_avg_sqs, \
  max_exp_avg_sqs, state_steps, lr, beta1, beta2, weight_decay, eps, amsgrad, maximize, grad_scale, NULL)
#define kw_15_fused_adamw_(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, lr, beta1, beta2, \
  weight_decay, eps, amsgrad, maximize, grad_scale, found_inf) kw_typed_fused_adamw_(self, grads, exp_avgs, \
  exp_avg_sqs, max_exp_avg_sqs, state_steps, lr, beta1, beta2, weight_decay, eps, amsgrad, maximize, grad_scale, \
  found_inf)

/* _amp_foreach_non_finite_check_and_unscale_(Tensor(a!)[] self, Tensor(b!) found_inf, Tensor inv_scale) -> () */
static inline kw_status kw_amp_foreach_non_finite_check_and_unscale_(kw_tensors self, kw_tensor *found_inf,
                                                                     const kw_tensor *inv_scale) {
  static kw_op_name op = {"_amp_foreach_non_finite_check_and_unscale_", NULL};
  const kw_value args[] = {kw_typed_tensors(self), kw_arg_tensor(found_inf), kw_arg_tensor(inv_scale)};
  return kw_op_run(&op, NULL, args, 3, NULL, 0);
}

/* _amp_update_scale_(Tensor(a!) self, Tensor(b!) growth_tracker, Tensor found_inf, float scale_growth_factor,
 * float scale_backoff_factor, int growth_interval) -> Tensor(a!) */
static inline kw_status kw_amp_update_scale_(kw_tensor *self, kw_tensor *growth_tracker, const kw_tensor *found_inf,
                                             double scale_growth_factor, double scale_backoff_factor,
                                             int64_t growth_interval) {
  static kw_op_name op = {"_amp_update_scale_", NULL};
  const kw_value args[] = {kw_arg_tensor(self), kw_arg_tensor(growth_tracker), kw_arg_tensor(found_inf),
                           kw_arg_float(scale_growth_factor), kw_arg_float(scale_backoff_factor),
                           kw_arg_int(growth_interval)};
  return kw_op_run(&op, NULL, args, 6, NULL, 0);
}

/* keyway::clip_grad_norm_(Tensor(a!)[] grads, float max_norm, float norm_type=2.0) -> Tensor */
static inline kw_status kw_typed_clip_grad_norm_(kw_tensors grads, double max_norm, double norm_type, kw_tensor **out) {
  static kw_op_name op = {"keyway::clip_grad_norm_", NULL};
  const kw_value args[] = {kw_typed_tensors(grads), kw_arg_float(max_norm), kw_arg_float(norm_type)};
  return kw_op_run(&op, NULL, args, 3, out, 1);
}
static inline kw_tensor *kwx_typed_clip_grad_norm_(kw_tensors grads, double max_norm, double norm_type) {
  kw_tensor *out = NULL;
  kw_typed_clip_grad_norm_(grads, max_norm, norm_type, &out);
  return out;
}
#define kw_clip_grad_norm_(...) KW_BY_NUMBER(kw, clip_grad_norm_, __VA_ARGS__)
#define kw_3_clip_grad_norm_(grads, max_norm, out) kw_4_clip_grad_norm_(grads, max_norm, 2.0, out)
#define kw_4_clip_grad_norm_(grads, max_norm, norm_type, out) kw_typed_clip_grad_norm_(grads, max_norm, norm_type, out)
#define kwx_clip_grad_norm_(...) KW_BY_NUMBER(kwx, clip_grad_norm_, __VA_ARGS__)
#define kwx_2_clip_grad_norm_(grads, max_norm) kwx_3_clip_grad_norm_(grads, max_norm, 2.0)
#define kwx_3_clip_grad_norm_(grads, max_norm, norm_type) kwx_typed_clip_grad_norm_(grads, max_norm, norm_type)

/* keyway::accumulate_mean_(Tensor(a!) sum, Tensor(b!) count, Tensor values) -> () */
static inline kw_status kw_accumulate_mean_(kw_tensor *sum, kw_tensor *count, const kw_tensor *values) {
  static kw_op_name op = {"keyway::accumulate_mean_", NULL};
  const kw_value args[] = {kw_arg_tensor(sum), kw_arg_tensor(count), kw_arg_tensor(values)};
  return kw_op_run(&op, NULL, args, 3, NULL, 0);
}

/* keyway::accumulate_confusion_(Tensor(a!) counts, Tensor prediction, Tensor target, int ignore_index=-100) -> () */
static inline kw_status kw_typed_accumulate_confusion_(kw_tensor *counts, const kw_tensor *prediction,
                                                       const kw_tensor *target, int64_t ignore_index) {
  static kw_op_name op = {"keyway::accumulate_confusion_", NULL};
  const kw_value args[] = {kw_arg_tensor(counts), kw_arg_tensor(prediction), kw_arg_tensor(target),
                           kw_arg_int(ignore_index)};
  return kw_op_run(&op, NULL, args, 4, NULL, 0);
}
#define kw_accumulate_confusion_(...) KW_BY_NUMBER(kw, accumulate_confusion_, __VA_ARGS__)
#define kw_3_accumulate_confusion_(counts, prediction, target) kw_4_accumulate_confusion_(counts, prediction, target, \
  -100)
#define kw_4_accumulate_confusion_(counts, prediction, target, ignore_index) kw_typed_accumulate_confusion_(counts, \
  prediction, target, ignore_index)

#endif /* KEYWAY_OPS_H */
