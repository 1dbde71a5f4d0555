/* SPDX-License-Identifier: Apache-2.0
 *
 * Keyway for applications: what typed calls (keyway/ops.h) take beside tensors and plain numbers.
 *
 *   - Lists: KW_INTS(2, 3), KW_TENSORS(a, b), where they are needed, as an argument; KW_NO_INTS for an empty list, or
 *     for none where the schema has "int[]?".
 *   - Where the schema has Scalar, int?, float? or bool?: a plain number, or a kw_value: kw_arg_none() for none. A
 *     Scalar keeps the number's kind, as in ATen: a tensor of integers times 2 has integers, times 2.0 floats.
 *   - Tensor?, str? and Generator?: NULL for none; ScalarType?: KW_DTYPE_NONE.
 */
#ifndef KEYWAY_TYPED_H
#define KEYWAY_TYPED_H

#include <keyway/scope.h>

typedef struct kw_ints {
  const int64_t *data;
  uint32_t count;
} kw_ints;

typedef struct kw_tensors {
  kw_tensor *const *data;
  uint32_t count;
} kw_tensors;

/* ---- Lists and numbers where they are used ----------------------------------------------------------------------- */

static inline kw_value kw_value_itself(kw_value value) {
  return value;
}

#ifdef __cplusplus

/* A list as long as the call that it is an argument of. */
template <unsigned N>
struct kw_int_array {
  int64_t data[N];
  operator kw_ints() const {
    kw_ints list = {data, N};
    return list;
  }
};
template <typename... T>
kw_int_array<sizeof...(T)> kw_make_ints(T... values) {
  return {{static_cast<int64_t>(values)...}};
}
template <unsigned N>
struct kw_tensor_array {
  kw_tensor *data[N];
  operator kw_tensors() const {
    kw_tensors list = {data, N};
    return list;
  }
};
template <typename... T>
kw_tensor_array<sizeof...(T)> kw_make_tensors(T... tensors) {
  return {{tensors...}};
}
#define KW_INTS(...) kw_make_ints(__VA_ARGS__)
#define KW_TENSORS(...) kw_make_tensors(__VA_ARGS__)
#define KW_NO_INTS kw_ints()

inline kw_value kw_make_scalar(kw_value value) {
  return value;
}
inline kw_value kw_make_scalar(bool b) {
  return kw_arg_scalar_bool(b);
}
inline kw_value kw_make_scalar(float f) {
  return kw_arg_scalar_f64(static_cast<double>(f));
}
inline kw_value kw_make_scalar(long double f) {
  return kw_arg_scalar_f64(static_cast<double>(f));
}
inline kw_value kw_make_scalar(double f) {
  return kw_arg_scalar_f64(f);
}
template <typename Int>
kw_value kw_make_scalar(Int i) {
  return kw_arg_scalar_i64(static_cast<int64_t>(i));
}
inline kw_value kw_make_int(kw_value value) {
  return value;
}
template <typename Int>
kw_value kw_make_int(Int i) {
  return kw_arg_int(static_cast<int64_t>(i));
}
inline kw_value kw_make_float(kw_value value) {
  return value;
}
template <typename Number>
kw_value kw_make_float(Number f) {
  return kw_arg_float(static_cast<double>(f));
}
inline kw_value kw_make_bool(kw_value value) {
  return value;
}
inline kw_value kw_make_bool(bool b) {
  return kw_arg_bool(b);
}
#define KW_AS_SCALAR(x) kw_make_scalar(x)
#define KW_AS_INT(x) kw_make_int(x)
#define KW_AS_FLOAT(x) kw_make_float(x)
#define KW_AS_BOOL(x) kw_make_bool(x)

#else

#define KW_LIST_LENGTH(type, ...) (uint32_t)(sizeof((type[]){__VA_ARGS__}) / sizeof(type))
#define KW_INTS(...) ((kw_ints){(const int64_t[]){__VA_ARGS__}, KW_LIST_LENGTH(int64_t, __VA_ARGS__)})
#define KW_TENSORS(...) ((kw_tensors){(kw_tensor *const[]){__VA_ARGS__}, KW_LIST_LENGTH(kw_tensor *, __VA_ARGS__)})
#define KW_NO_INTS ((kw_ints){NULL, 0})

/* C11 where they are used. */
#define KW_AS_SCALAR(x)                 \
  _Generic((x), kw_value                \
           : kw_value_itself, bool      \
           : kw_arg_scalar_bool, float  \
           : kw_arg_scalar_f64, double  \
           : kw_arg_scalar_f64, default \
           : kw_arg_scalar_i64)(x)
#define KW_AS_INT(x) _Generic((x), kw_value : kw_value_itself, default : kw_arg_int)(x)
#define KW_AS_FLOAT(x) _Generic((x), kw_value : kw_value_itself, default : kw_arg_float)(x)
#define KW_AS_BOOL(x) _Generic((x), kw_value : kw_value_itself, default : kw_arg_bool)(x)

#endif

/* ---- What ops.h is made of --------------------------------------------------------------------------------------- */

static inline kw_value kw_typed_optional(const kw_tensor *tensor) {
  return tensor ? kw_arg_tensor(tensor) : kw_arg_none();
}
static inline kw_value kw_typed_ints(kw_ints list) {
  return kw_arg_int_list(list.data, list.count);
}
static inline kw_value kw_typed_optional_ints(kw_ints list) {
  return list.data ? kw_arg_int_list(list.data, list.count) : kw_arg_none();
}
static inline kw_value kw_typed_tensors(kw_tensors list) {
  return kw_arg_tensor_list(list.data, list.count);
}
static inline kw_value kw_typed_optional_string(const char *text) {
  return text ? kw_arg_string(text) : kw_arg_none();
}

/* KW_BY_NUMBER(kw, f, a, b, c) is kw_3_f(a, b, c). */
#define KW_NUMBER_OF(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, number, ...) number
#define KW_NUMBER(...) \
  KW_NUMBER_OF(__VA_ARGS__, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define KW_JOINED(prefix, number, name) prefix##_##number##_##name
#define KW_JOIN(prefix, number, name) KW_JOINED(prefix, number, name)
#define KW_BY_NUMBER(prefix, name, ...) KW_JOIN(prefix, KW_NUMBER(__VA_ARGS__), name)(__VA_ARGS__)

#endif /* KEYWAY_TYPED_H */
