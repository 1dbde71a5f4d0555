/* SPDX-License-Identifier: Apache-2.0
 *
 * Keyway for applications: functions of ATen's that are more than one op, or an op in an easier form, as typed calls
 * beside those of keyway/ops.h; and for expressions views, and tensors of numbers that the program has.
 *
 *   kw_linear, kw_layer_norm, kw_conv2d and their kwx_ forms; kw_softmax and kw_cdist are in ops.h
 *   kw_multi_head_attention, kw_normalize and theirs
 *   kwx_max_pool2d           the values alone
 *   kwx_view, kwx_expand, kwx_permute, kwx_transpose, kwx_select, kwx_slice, kwx_squeeze, kwx_unsqueeze
 *   kwx_reinterpret          a part of a tensor's memory, of a mapped file for instance, as another tensor
 *   kwx_reshape              a view where there is one, otherwise a copy
 *   kwx_tensor               of numbers, on the device of the scope's stream
 */
#ifndef KEYWAY_FUNCTIONS_H
#define KEYWAY_FUNCTIONS_H

#include <keyway/ops.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Views and tensors ------------------------------------------------------------------------------------------- */

#define KW_VIEW_OR_RETURN(call)                \
  kw_tensor *view = NULL;                      \
  if (kw_scope_status() != KW_OK) return NULL; \
  {                                            \
    const kw_status status = (call);           \
    return kw_scope_result(status, view);      \
  }

static inline kw_tensor *kwx_view(const kw_tensor *self, kw_ints shape) {
  KW_VIEW_OR_RETURN(kw_tensor_view(self, shape.count, shape.data, &view))
}
static inline kw_tensor *kwx_expand(const kw_tensor *self, kw_ints shape) {
  KW_VIEW_OR_RETURN(kw_tensor_expand(self, shape.count, shape.data, &view))
}
static inline kw_tensor *kwx_permute(const kw_tensor *self, kw_ints dims) {
  KW_VIEW_OR_RETURN(kw_tensor_permute(self, dims.count, dims.data, &view))
}
static inline kw_tensor *kwx_transpose(const kw_tensor *self, int64_t dim0, int64_t dim1) {
  KW_VIEW_OR_RETURN(kw_tensor_transpose(self, dim0, dim1, &view))
}
static inline kw_tensor *kwx_select(const kw_tensor *self, int64_t dim, int64_t index) {
  KW_VIEW_OR_RETURN(kw_tensor_select(self, dim, index, &view))
}
/* Every entry from start to before end; INT64_MAX: to the last. */
static inline kw_tensor *kwx_slice(const kw_tensor *self, int64_t dim, int64_t start, int64_t end) {
  KW_VIEW_OR_RETURN(kw_tensor_slice(self, dim, start, end, 1, &view))
}
static inline kw_tensor *kwx_squeeze(const kw_tensor *self, int64_t dim) {
  KW_VIEW_OR_RETURN(kw_tensor_squeeze(self, dim, &view))
}
static inline kw_tensor *kwx_unsqueeze(const kw_tensor *self, int64_t dim) {
  KW_VIEW_OR_RETURN(kw_tensor_unsqueeze(self, dim, &view))
}
/* A contiguous tensor of that dtype and shape on the memory of `self`, so many bytes behind its start. */
static inline kw_tensor *kwx_reinterpret(const kw_tensor *self, kw_dtype dtype, kw_ints shape, uint64_t byte_offset) {
  const kw_tensor_ref dense = kw_meta(dtype, shape.count, shape.data);
  KW_VIEW_OR_RETURN(kw_tensor_reinterpret(self, dtype, shape.count, shape.data, dense.strides, byte_offset, &view))
}

#undef KW_VIEW_OR_RETURN

/* As in ATen: a view where the memory's order allows it, otherwise a view of a copy. */
static inline kw_tensor *kwx_reshape(const kw_tensor *self, kw_ints shape) {
  kw_tensor *view = NULL;
  if (kw_scope_status() != KW_OK) return NULL;
  if (kw_tensor_view(self, shape.count, shape.data, &view) == KW_OK) return kw_scope_result(KW_OK, view);
  return kwx_view(kwx_to_copy(self), shape);
}

/* Of densely packed numbers in row-major order; NULL: undefined contents. Waits for the copy. */
static inline kw_tensor *kwx_tensor(kw_dtype dtype, kw_ints shape, const void *numbers) {
  kw_tensor *tensor = NULL;
  kw_status status = kw_scope_status();
  if (status != KW_OK) return NULL;
  status = kw_tensor_create_on(kw_scope_stream(), dtype, shape.count, shape.data, &tensor);
  if (status == KW_OK && numbers) status = kw_tensor_write_async(tensor, numbers, kw_scope_stream());
  if (status == KW_OK && numbers) status = kw_stream_synchronize(kw_scope_stream());
  if (status != KW_OK) kw_tensor_release(tensor);
  return kw_scope_result(status, status == KW_OK ? tensor : NULL);
}

/* ---- Functions of several ops ------------------------------------------------------------------------------------ */

/* Ends the scope that a function of several ops has opened: its result outlives it, in *out, or as what *out holds when
 * that was given. */
static inline kw_status kw_typed_end(kw_scope *scope, kw_tensor *result, kw_tensor **out) {
  kw_tensor *made = *out ? NULL : kw_scope_keep(result);
  kw_status status;
  if (*out && result) (void)kw_copy_(*out, result);
  status = kw_scope_end(scope);
  if (status != KW_OK) {
    kw_tensor_release(made);
    made = NULL;
  }
  made = kw_scope_result(status, made);
  if (made) *out = made;
  return status;
}

/* linear(Tensor input, Tensor weight, Tensor? bias) -> Tensor: input [.., K], weight [N, K], bias [N] */
static inline kw_status kw_linear(const kw_tensor *input, const kw_tensor *weight, const kw_tensor *bias,
                                  kw_tensor **out) {
  int64_t shape[KW_MAX_RANK], rows = 1;
  kw_scope *scope;
  kw_tensor *flat, *turned, *result;
  const kw_tensor_ref *in = input ? kw_tensor_describe(input) : NULL;
  const uint32_t rank = in ? in->rank : 0;
  uint32_t d;
  kw_status status = kw_scope_begin(NULL, &scope);
  if (status != KW_OK) return status;
  turned = kwx_transpose(weight, 0, 1);
  flat = NULL;
  for (d = 0; d + 1 < rank; ++d) rows *= shape[d] = in->shape[d];
  if (rank > 0 && rank != 2) {
    const int64_t two[] = {rows, in->shape[rank - 1]};
    const kw_ints as_matrix = {two, 2};
    flat = kwx_view(input, as_matrix);
  }
  if (!flat) {
    result =
        bias ? kwx_typed_addmm(bias, input, turned, kw_arg_scalar_i64(1), kw_arg_scalar_i64(1)) : kwx_mm(input, turned);
  } else {
    result =
        bias ? kwx_typed_addmm(bias, flat, turned, kw_arg_scalar_i64(1), kw_arg_scalar_i64(1)) : kwx_mm(flat, turned);
    shape[rank - 1] = result ? kw_tensor_describe(result)->shape[1] : 0;
    if (result) {
      const kw_ints as_input = {shape, rank};
      result = kwx_view(result, as_input);
    }
  }
  return kw_typed_end(scope, result, out);
}
static inline kw_tensor *kwx_linear(const kw_tensor *input, const kw_tensor *weight, const kw_tensor *bias) {
  kw_tensor *out = NULL;
  kw_linear(input, weight, bias, &out);
  return out;
}

/* layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> Tensor */
static inline kw_status kw_layer_norm(const kw_tensor *input, kw_ints normalized_shape, const kw_tensor *weight,
                                      const kw_tensor *bias, double eps, kw_tensor **out) {
  kw_tensor *mean = NULL, *rstd = NULL;
  const kw_status status = kw_typed_native_layer_norm(input, normalized_shape, weight, bias, eps, out, &mean, &rstd);
  kw_scope_release(mean);
  kw_scope_release(rstd);
  return status;
}
#define kwx_layer_norm(...) kwx_native_layer_norm(__VA_ARGS__)

/* [tokens, heads * width] as [1, heads, tokens, width]. */
static inline kw_tensor *kw_typed_heads(const kw_tensor *rows, int64_t heads) {
  const int64_t width =
      rows && kw_tensor_describe(rows)->rank == 2 && heads > 0 ? kw_tensor_describe(rows)->shape[1] / heads : 0;
  const int64_t shape[] = {1, -1, heads, width};
  const kw_ints apart = {shape, 4};
  return kwx_transpose(kwx_view(rows, apart), 1, 2);
}
/* Attention of so many heads side by side: query [tokens, heads * width], key and value [others, heads * width], as
 * they come from kw_linear; attn_mask (NULL: none) and is_causal as in scaled_dot_product_attention. Returns [tokens,
 * heads * width]. */
static inline kw_status kw_multi_head_attention(const kw_tensor *query, const kw_tensor *key, const kw_tensor *value,
                                                const kw_tensor *attn_mask, bool is_causal, int64_t heads,
                                                kw_tensor **out) {
  kw_scope *scope;
  kw_tensor *seen;
  kw_status status = kw_scope_begin(NULL, &scope);
  if (status != KW_OK) return status;
  seen = kwx_typed_scaled_dot_product_attention(kw_typed_heads(query, heads), kw_typed_heads(key, heads),
                                                kw_typed_heads(value, heads), attn_mask, 0, is_causal, kw_arg_none(),
                                                false);
  seen = kwx_transpose(seen, 1, 2);
  if (seen) {
    const int64_t shape[] = {-1, heads * kw_tensor_describe(seen)->shape[3]};
    const kw_ints as_rows = {shape, 2};
    seen = kwx_reshape(seen, as_rows);
  }
  return kw_typed_end(scope, seen, out);
}
static inline kw_tensor *kwx_multi_head_attention(const kw_tensor *query, const kw_tensor *key, const kw_tensor *value,
                                                  const kw_tensor *attn_mask, bool is_causal, int64_t heads) {
  kw_tensor *out = NULL;
  kw_multi_head_attention(query, key, value, attn_mask, is_causal, heads, &out);
  return out;
}

/* input over its Euclidean length along `dim`, or over 1e-12 where that is less. */
static inline kw_status kw_normalize(const kw_tensor *input, int64_t dim, kw_tensor **out) {
  const kw_ints along = {&dim, 1};
  kw_scope *scope;
  kw_tensor *squares;
  kw_status status = kw_scope_begin(NULL, &scope);
  if (status != KW_OK) return status;
  squares = kwx_sum_dim_intlist(kwx_mul_tensor(input, input), along, true);
  return kw_typed_end(
      scope, kwx_mul_tensor(input, kwx_rsqrt(kwx_typed_clamp(squares, kw_arg_scalar_f64(1e-24), kw_arg_none()))), out);
}
static inline kw_tensor *kwx_normalize(const kw_tensor *input, int64_t dim) {
  kw_tensor *out = NULL;
  kw_normalize(input, dim, &out);
  return out;
}

#define kwx_max_pool2d(...) kwx_max_pool2d_with_indices(__VA_ARGS__)

#ifdef __cplusplus
}
#endif

/* conv2d(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] padding=0, int[2] dilation=1,
 * int groups=1) -> Tensor */
#define kw_conv2d(...) KW_BY_NUMBER(kw, conv2d, __VA_ARGS__)
#define kw_3_conv2d(input, weight, out) kw_4_conv2d(input, weight, NULL, out)
#define kw_4_conv2d(input, weight, bias, out) kw_5_conv2d(input, weight, bias, KW_INTS(1, 1), out)
#define kw_5_conv2d(input, weight, bias, stride, out) kw_6_conv2d(input, weight, bias, stride, KW_INTS(0, 0), out)
#define kw_6_conv2d(input, weight, bias, stride, padding, out) \
  kw_7_conv2d(input, weight, bias, stride, padding, KW_INTS(1, 1), out)
#define kw_7_conv2d(input, weight, bias, stride, padding, dilation, out) \
  kw_8_conv2d(input, weight, bias, stride, padding, dilation, 1, out)
#define kw_8_conv2d(input, weight, bias, stride, padding, dilation, groups, out) \
  kw_convolution(input, weight, bias, stride, padding, dilation, false, KW_INTS(0, 0), groups, out)
#define kwx_conv2d(...) KW_BY_NUMBER(kwx, conv2d, __VA_ARGS__)
#define kwx_2_conv2d(input, weight) kwx_3_conv2d(input, weight, NULL)
#define kwx_3_conv2d(input, weight, bias) kwx_4_conv2d(input, weight, bias, KW_INTS(1, 1))
#define kwx_4_conv2d(input, weight, bias, stride) kwx_5_conv2d(input, weight, bias, stride, KW_INTS(0, 0))
#define kwx_5_conv2d(input, weight, bias, stride, padding) \
  kwx_6_conv2d(input, weight, bias, stride, padding, KW_INTS(1, 1))
#define kwx_6_conv2d(input, weight, bias, stride, padding, dilation) \
  kwx_7_conv2d(input, weight, bias, stride, padding, dilation, 1)
#define kwx_7_conv2d(input, weight, bias, stride, padding, dilation, groups) \
  kwx_convolution(input, weight, bias, stride, padding, dilation, false, KW_INTS(0, 0), groups)

#endif /* KEYWAY_FUNCTIONS_H */
