/* SPDX-License-Identifier: Apache-2.0
 *
 * Normalisation of channels and groups of them, and the backwards of all normalisations: shapes, dtypes, and what they
 * demand of their arguments.
 */
#include "op/infer/common.h"
#include "op/infer/norm.h"
#include "op/infer/result_rules.h"
#include "op/infer/shape_rules.h"

#include <inttypes.h>
#include <string.h>

static kw_status check_shape(const kw_op *op, const kw_value *args, const char *name, const kw_infer_dims *wanted,
                             const char *why) {
  const kw_value *arg = kw_infer_find_arg(op, args, name);
  if (!arg || arg->tag == KW_TAG_NONE) return KW_OK;
  const kw_tensor_ref *tensor = arg->u.tensor;
  if (tensor->rank == wanted->rank && memcmp(tensor->shape, wanted->sizes, wanted->rank * sizeof(int64_t)) == 0) {
    return KW_OK;
  }
  char got[KW_SHAPE_TEXT], text[KW_SHAPE_TEXT];
  return kw_op_fail(op, kw_infer_arg_index(args, arg), "expected shape %s, %s, got %s",
                    kw_shape_text(wanted->rank, wanted->sizes, text), why,
                    kw_shape_text(tensor->rank, tensor->shape, got));
}

static kw_infer_dims dims_of(const kw_tensor_ref *tensor) {
  kw_infer_dims dims = {tensor->rank, {0}};
  memcpy(dims.sizes, tensor->shape, sizeof dims.sizes);
  return dims;
}

static const kw_tensor_ref *input_of(const kw_op *op, const kw_value *args) {
  return kw_infer_find_arg(op, args, "input")->u.tensor;
}

/* Without training a forward has no statistics of the batch: [0], as its backward gets them. */
static bool is_absent(const char *name, const kw_value *arg, const kw_value *train) {
  return strncmp(name, "save_", 5) == 0 && !train->u.b && arg->tag == KW_TAG_TENSOR && arg->u.tensor->rank == 1 &&
         arg->u.tensor->shape[0] == 0;
}

/* [n, channels, ...], with one number for each channel in the tensors of these names. */
static kw_status check_channels(const kw_op *op, const kw_value *args, uint32_t most, int64_t *out_channels) {
  static const char *const names[] = {"weight", "bias", "running_mean", "running_var", "save_mean", "save_invstd"};
  const kw_value *input = kw_infer_find_arg(op, args, "input");
  const kw_tensor_ref *tensor = input->u.tensor;
  if (tensor->rank < 2 || tensor->rank > most) {
    char text[KW_SHAPE_TEXT];
    return kw_op_fail(op, kw_infer_arg_index(args, input), "expected [n, channels, ...]%s, got shape %s",
                      most < KW_MAX_RANK ? " with room for the groups' dimension" : "",
                      kw_shape_text(tensor->rank, tensor->shape, text));
  }
  *out_channels = tensor->shape[1];
  const kw_infer_dims wanted = {1, {tensor->shape[1]}};
  kw_status status = KW_OK;
  const kw_value *train = kw_infer_find_arg(op, args, "train");
  for (size_t i = 0; i < sizeof names / sizeof names[0] && status == KW_OK; ++i) {
    const kw_value *arg = kw_infer_find_arg(op, args, names[i]);
    if (arg && train && is_absent(names[i], arg, train)) continue;
    status = check_shape(op, args, names[i], &wanted, "one number for each channel");
  }
  return status;
}

/* ---- Batches ----------------------------------------------------------------------------------------------------- */

static bool is_given(const kw_op *op, const kw_value *args, const char *name) {
  const kw_value *arg = kw_infer_find_arg(op, args, name);
  return arg && arg->tag == KW_TAG_TENSOR;
}

kw_status kw_infer_batch_norm(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_value *training = kw_infer_find_arg(op, args, "training");
  int64_t channels = 0;
  kw_status status = check_channels(op, args, KW_MAX_RANK, &channels);
  if (status != KW_OK) return status;
  if (training && !training->u.b && !is_given(op, args, "running_mean")) {
    return kw_op_fail(op, kw_infer_arg_index(args, training),
                      "it is false, and there are no running statistics; use _native_batch_norm_legit_no_training");
  }
  out[0] = dims_of(args[0].u.tensor);
  out[1] = out[2] = (kw_infer_dims){1, {training && training->u.b ? channels : 0}};
  return KW_OK;
}

kw_status kw_infer_batch_norm_backward(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  static const char *const statistics[2][2] = {{"running_mean", "running_var"}, {"save_mean", "save_invstd"}};
  const bool train = kw_infer_find_arg(op, args, "train")->u.b;
  int64_t channels = 0;
  kw_status status = check_channels(op, args, KW_MAX_RANK, &channels);
  out[0] = dims_of(input_of(op, args));
  out[1] = out[2] = (kw_infer_dims){1, {channels}};
  if (status == KW_OK) status = check_shape(op, args, "grad_out", &out[0], "that of 'input'");
  for (int i = 0; i < 2 && status == KW_OK; ++i) {
    if (is_given(op, args, statistics[train][i])) continue;
    const kw_value *missing = kw_infer_find_arg(op, args, statistics[train][i]);
    status = kw_op_fail(op, kw_infer_arg_index(args, missing), "it is none; with 'train' %s it is needed",
                        train ? "true" : "false");
  }
  return status;
}

/* ---- Groups ------------------------------------------------------------------------------------------------------ */

static kw_status check_count(const kw_op *op, const kw_value *args, const char *name, int64_t wanted) {
  const kw_value *count = kw_infer_find_arg(op, args, name);
  if (count->u.i == wanted) return KW_OK;
  return kw_op_fail(op, kw_infer_arg_index(args, count), "%" PRId64 " given, but 'input' has %" PRId64, count->u.i,
                    wanted);
}

/* N, C, HxW and group say what input's shape does; *out_rows is [n, group]. */
static kw_status check_groups(const kw_op *op, const kw_value *args, kw_infer_dims *out_rows) {
  const kw_tensor_ref *input = input_of(op, args);
  const kw_value *group = kw_infer_find_arg(op, args, "group");
  int64_t channels = 0, places = 1;
  kw_status status = check_channels(op, args, KW_MAX_RANK - 1, &channels);
  if (status != KW_OK) return status;
  for (uint32_t d = 2; d < input->rank; ++d) {
    if (__builtin_mul_overflow(places, input->shape[d], &places)) places = -1; /* beside an empty dimension: no count */
  }
  status = check_count(op, args, "N", input->shape[0]);
  if (status == KW_OK) status = check_count(op, args, "C", channels);
  if (status == KW_OK) status = check_count(op, args, "HxW", places);
  if (status != KW_OK) return status;
  if (group->u.i < 1 || channels % group->u.i != 0) {
    return kw_op_fail(op, kw_infer_arg_index(args, group),
                      "%" PRId64 " channels do not fall into %" PRId64 " groups of equal size", channels, group->u.i);
  }
  *out_rows = (kw_infer_dims){2, {input->shape[0], group->u.i}};
  return KW_OK;
}

kw_status kw_infer_group_norm(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  out[0] = dims_of(args[0].u.tensor);
  kw_status status = check_groups(op, args, &out[1]);
  out[2] = out[1];
  return status;
}

kw_status kw_infer_group_norm_backward(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  kw_infer_dims rows;
  kw_status status = check_groups(op, args, &rows);
  if (status != KW_OK) return status;
  out[0] = dims_of(input_of(op, args));
  out[1] = out[2] = (kw_infer_dims){1, {out[0].sizes[1]}};
  status = check_shape(op, args, "grad_out", &out[0], "that of 'input'");
  if (status == KW_OK) status = check_shape(op, args, "mean", &rows, "one number for each group");
  return status == KW_OK ? check_shape(op, args, "rstd", &rows, "one number for each group") : status;
}

/* ---- The last dimensions ----------------------------------------------------------------------------------------- */

kw_status kw_infer_norm_backward(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_value *shape = kw_infer_find_arg(op, args, "normalized_shape");
  uint32_t outer;
  kw_status status = kw_infer_check_normalized(op, args, &outer);
  if (status != KW_OK) return status;
  out[0] = dims_of(input_of(op, args));
  kw_infer_dims rows = out[0];
  for (uint32_t d = outer; d < rows.rank; ++d) rows.sizes[d] = 1;
  status = check_shape(op, args, "grad_out", &out[0], "that of 'input'");
  if (status == KW_OK) status = check_shape(op, args, "mean", &rows, "one number for each row");
  if (status == KW_OK) status = check_shape(op, args, "rstd", &rows, "one number for each row");
  for (uint32_t i = 1; i < op->schema.result_count; ++i) {
    out[i].rank = shape->count;
    memcpy(out[i].sizes, shape->u.ints, shape->count * sizeof(int64_t));
  }
  return status;
}

/* ---- Dtypes ------------------------------------------------------------------------------------------------------ */

kw_status kw_infer_key_stats(const kw_op *op, const kw_value *args, kw_dtype *out_key) {
  const kw_dtype key = input_of(op, args)->dtype, compute = key == KW_F64 ? KW_F64 : KW_F32;
  *out_key = key;
  kw_status status = kw_infer_check_dtype(op, args, key, "");
  for (uint32_t i = 0; i < op->schema.arg_count && status == KW_OK; ++i) {
    if (args[i].tag != KW_TAG_TENSOR) continue;
    const kw_dtype dtype = args[i].u.tensor->dtype;
    if (dtype == key || dtype == compute) continue;
    status = kw_op_fail(op, i, "expected %s, the dtype of 'input'%s, got %s; cast it first", kw_dtype_name(key),
                        compute == key ? "" : ", or f32", kw_dtype_name(dtype));
  }
  return status;
}

kw_dtype kw_infer_dtype_stats(const kw_op *op, const kw_value *args, kw_dtype key, uint32_t result) {
  if (result == 0) return key;
  if (op->row.result == KW_RESULT_STATS) return key == KW_F64 ? KW_F64 : KW_F32;
  return is_given(op, args, "weight") ? kw_infer_find_arg(op, args, "weight")->u.tensor->dtype : key;
}
