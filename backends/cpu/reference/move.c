/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that move values and compute nothing: fills, copies, where.
 */
#include "move.h"

#include "operand.h"
#include "walk.h"

const char kw_reference_first_wins[] = "first wins";

kw_status kw_move_fill_scalar(const kw_call *call) {
  const kw_tensor_ref *out = call->outs[0];
  if (kw_number_size(out->dtype) == 0 || !kw_operand_is_scalar(&call->args[1])) return KW_ERR_INVALID_ARGUMENT;
  kw_element value = kw_operand_scalar(&call->args[1]);
  kw_walk walk;
  kw_walk_start(&walk, out->rank, out->shape);
  kw_walk_add(&walk, out);
  for (; walk.left > 0; kw_walk_next(&walk)) kw_number_convert(value.dtype, value.bytes, out->dtype, walk.at[0]);
  return KW_OK;
}

void kw_move_elements(const kw_tensor_ref *from, const kw_tensor_ref *to) {
  kw_walk walk;
  kw_walk_start(&walk, to->rank, to->shape);
  kw_walk_add(&walk, to);
  kw_walk_add(&walk, from);
  for (; walk.left > 0; kw_walk_next(&walk)) kw_number_convert(from->dtype, walk.at[1], to->dtype, walk.at[0]);
}

static kw_status copy(const kw_tensor_ref *out, const kw_tensor_ref *source) {
  if (kw_number_size(out->dtype) == 0 || kw_number_size(source->dtype) == 0) return KW_ERR_INVALID_ARGUMENT;
  kw_move_elements(source, out);
  return KW_OK;
}

kw_status kw_move_copy(const kw_call *call) {
  return copy(call->outs[0], call->args[1].u.tensor);
}

kw_status kw_move_to_copy(const kw_call *call) {
  return copy(call->outs[0], call->args[0].u.tensor);
}

kw_status kw_move_where(const kw_call *call) {
  const kw_tensor_ref *out = call->outs[0], *condition = call->args[0].u.tensor;
  const kw_tensor_ref *operands[2] = {call->args[1].u.tensor, call->args[2].u.tensor};
  bool wide = out->dtype == KW_DTYPE_WIDE;
  if (wide ? !kw_operand_all_real(call->args, 1, 2) : kw_number_size(out->dtype) == 0) return KW_ERR_INVALID_ARGUMENT;
  kw_dtype key = wide ? kw_operand_promote(call->args, 1, 2) : out->dtype;
  if (condition->dtype != KW_BOOL && condition->dtype != KW_U8) return KW_ERR_INVALID_ARGUMENT;
  kw_walk walk;
  kw_walk_start(&walk, out->rank, out->shape);
  kw_walk_add(&walk, out);
  kw_walk_add(&walk, condition);
  kw_walk_add(&walk, operands[0]);
  kw_walk_add(&walk, operands[1]);
  for (; walk.left > 0; kw_walk_next(&walk)) {
    int chosen = kw_number_load_int(condition->dtype, walk.at[1]) != 0 ? 0 : 1;
    kw_element value = kw_operand_as_key(operands[chosen]->dtype, walk.at[2 + chosen], key);
    kw_number_convert(key, value.bytes, out->dtype, walk.at[0]);
  }
  return KW_OK;
}

kw_status kw_move_masked_fill(const kw_call *call) {
  const kw_tensor_ref *out = call->outs[0], *self = call->args[0].u.tensor, *mask = call->args[1].u.tensor;
  const kw_value *value = &call->args[2];
  bool scalar = kw_operand_is_scalar(value);
  if (kw_number_size(out->dtype) == 0 || self->dtype != out->dtype || mask->dtype != KW_BOOL) {
    return KW_ERR_INVALID_ARGUMENT;
  }
  kw_element constant = {KW_BOOL, {0}};
  if (scalar) constant = kw_operand_scalar(value);
  kw_dtype dtypes[2] = {self->dtype, scalar ? constant.dtype : value->u.tensor->dtype};
  kw_walk walk;
  kw_walk_start(&walk, out->rank, out->shape);
  kw_walk_add(&walk, out);
  kw_walk_add(&walk, mask);
  kw_walk_add(&walk, self);
  if (scalar) {
    kw_walk_add_constant(&walk, constant.bytes);
  } else {
    kw_walk_add(&walk, value->u.tensor);
  }
  for (; walk.left > 0; kw_walk_next(&walk)) {
    int chosen = kw_number_load_int(KW_BOOL, walk.at[1]) != 0;
    kw_number_convert(dtypes[chosen], walk.at[2 + chosen], out->dtype, walk.at[0]);
  }
  return KW_OK;
}
