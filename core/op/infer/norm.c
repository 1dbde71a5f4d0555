/* SPDX-License-Identifier: Apache-2.0
 *
 * Softmax and the normalisations: shapes, and what they demand of their arguments.
 */
#include "op/infer/norm.h"

#include "op/infer/result_rules.h"
#include "op/infer/shape_rules.h"

#include <string.h>

/* A weight or bias has the shape that is normalised over. */
static kw_status check_parameter(const kw_op *op, const kw_value *args, const kw_value *shape, const char *name) {
  const kw_value *parameter = kw_infer_find_arg(op, args, name);
  if (!parameter || parameter->tag == KW_TAG_NONE) return KW_OK;
  const kw_tensor_ref *tensor = parameter->u.tensor;
  if (tensor->rank == shape->count && memcmp(tensor->shape, shape->u.ints, shape->count * sizeof(int64_t)) == 0) {
    return KW_OK;
  }
  char got[KW_SHAPE_TEXT], wanted[KW_SHAPE_TEXT];
  return kw_op_fail(op, kw_infer_arg_index(args, parameter), "expected shape %s, as normalized_shape says, got %s",
                    kw_shape_text(shape->count, shape->u.ints, wanted),
                    kw_shape_text(tensor->rank, tensor->shape, got));
}

kw_status kw_infer_check_normalized(const kw_op *op, const kw_value *args, uint32_t *out_outer) {
  const kw_tensor_ref *input = kw_infer_find_arg(op, args, "input")->u.tensor;
  const kw_value *shape = kw_infer_find_arg(op, args, "normalized_shape");
  const uint32_t arg = kw_infer_arg_index(args, shape);
  if (shape->count == 0) return kw_op_fail(op, arg, "it is empty; it names at least the last dimension of 'input'");
  const uint32_t outer = input->rank > shape->count ? input->rank - shape->count : 0;
  if (shape->count > input->rank || memcmp(input->shape + outer, shape->u.ints, shape->count * sizeof(int64_t)) != 0) {
    char got[KW_SHAPE_TEXT], given[KW_SHAPE_TEXT];
    const uint32_t shown = shape->count < KW_MAX_RANK ? shape->count : KW_MAX_RANK;
    return kw_op_fail(op, arg, "%s%s does not match the last dimensions of 'input', whose shape is %s",
                      kw_shape_text(shown, shape->u.ints, given), shown < shape->count ? ".." : "",
                      kw_shape_text(input->rank, input->shape, got));
  }
  *out_outer = outer;
  kw_status status = check_parameter(op, args, shape, "weight");
  return status == KW_OK ? check_parameter(op, args, shape, "bias") : status;
}

kw_status kw_infer_norm(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_tensor_ref *input = args[0].u.tensor;
  uint32_t outer;
  kw_status status = kw_infer_check_normalized(op, args, &outer);
  for (uint32_t i = 0; status == KW_OK && i < op->schema.result_count; ++i) {
    out[i].rank = input->rank;
    memcpy(out[i].sizes, input->shape, input->rank * sizeof(int64_t));
    for (uint32_t d = outer; i > 0 && d < input->rank; ++d) out[i].sizes[d] = 1;
  }
  return status;
}

kw_status kw_infer_key_softmax(const kw_op *op, const kw_value *args, kw_dtype *out_key) {
  *out_key = args[0].u.tensor->dtype;
  kw_status status = kw_infer_check_dtype(op, args, *out_key, "");
  const kw_value *to_float = kw_infer_find_arg(op, args, "half_to_float");
  if (status == KW_OK && to_float->u.b && *out_key != KW_F16) {
    return kw_op_fail(op, kw_infer_arg_index(args, to_float), "it goes with f16 only, 'self' is %s",
                      kw_dtype_name(*out_key));
  }
  return status;
}

kw_status kw_infer_softmax_backward(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_tensor_ref *grad = args[0].u.tensor, *output = args[1].u.tensor;
  uint32_t mask = 0;
  if (grad->rank != output->rank || memcmp(grad->shape, output->shape, grad->rank * sizeof(int64_t)) != 0) {
    char got[KW_SHAPE_TEXT], wanted[KW_SHAPE_TEXT];
    return kw_op_fail(op, 1, "expected shape %s, that of 'grad_output', got %s",
                      kw_shape_text(grad->rank, grad->shape, wanted), kw_shape_text(output->rank, output->shape, got));
  }
  out->rank = grad->rank;
  memcpy(out->sizes, grad->shape, sizeof out->sizes);
  return kw_infer_mark_dim(op, 2, grad, args[2].u.i, &mask);
}

/* The dtype that the forward's input had: the one that the gradient has, or f16 before it became f32. */
kw_status kw_infer_key_softmax_backward(const kw_op *op, const kw_value *args, kw_dtype *out_key) {
  const kw_dtype grad = args[0].u.tensor->dtype, output = args[1].u.tensor->dtype;
  const kw_value *input = kw_infer_find_arg(op, args, "input_dtype");
  *out_key = grad;
  kw_status status = kw_infer_check_dtype(op, args, grad, "");
  if (status != KW_OK) return status;
  if (output != grad) {
    return kw_op_fail(op, 1, "expected %s, the dtype of 'grad_output', got %s", kw_dtype_name(grad),
                      kw_dtype_name(output));
  }
  if (input->u.dtype == grad || (input->u.dtype == KW_F16 && grad == KW_F32)) return KW_OK;
  return kw_op_fail(op, kw_infer_arg_index(args, input), "it is %s%s here, not %s", kw_dtype_name(grad),
                    grad == KW_F32 ? " or f16" : "", kw_dtype_name(input->u.dtype));
}
