/* SPDX-License-Identifier: Apache-2.0
 *
 * What optimisers, the scaling of gradients and metrics demand of their arguments. Nothing is promoted here, and most
 * of these ops have no result: they change their arguments.
 */
#include "op/infer/common.h"
#include "op/infer/result_rules.h"
#include "op/infer/shape_rules.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Dtypes ------------------------------------------------------------------------------------------------------ */

kw_status kw_infer_key_own(const kw_op *op, const kw_value *args, kw_dtype *out_key) {
  const kw_value *first = &args[0];
  if (first->tag == KW_TAG_TENSOR) {
    *out_key = first->u.tensor->dtype;
  } else {
    *out_key = first->count > 0 ? first->u.tensors[0]->dtype : KW_F32;
  }
  return kw_infer_check_dtype(op, args, *out_key, "");
}

/* ---- One tensor -------------------------------------------------------------------------------------------------- */

/* "" for an argument that is a tensor, "entry 3: " for one of a list. */
static const char *entry_text(const kw_value *value, uint32_t entry, char text[32]) {
  text[0] = '\0';
  if (value->tag == KW_TAG_TENSOR_LIST) snprintf(text, 32, "entry %u: ", entry);
  return text;
}

static kw_status check_dtype(const kw_op *op, const kw_value *args, uint32_t arg, uint32_t entry, kw_dtype got,
                             kw_dtype wanted) {
  char where[32];
  if (got == wanted) return KW_OK;
  return kw_op_fail(op, arg, "%sexpected %s, got %s; cast it first", entry_text(&args[arg], entry, where),
                    kw_dtype_name(wanted), kw_dtype_name(got));
}

static kw_status check_one_element(const kw_op *op, const kw_value *args, uint32_t arg, uint32_t entry,
                                   const kw_tensor_ref *tensor) {
  char where[32], text[KW_SHAPE_TEXT];
  if (tensor->numel == 1) return KW_OK;
  return kw_op_fail(op, arg, "%sexpected one element, got shape %s", entry_text(&args[arg], entry, where),
                    kw_shape_text(tensor->rank, tensor->shape, text));
}

static kw_status check_like(const kw_op *op, const kw_value *args, uint32_t arg, uint32_t entry,
                            const kw_tensor_ref *tensor, const kw_tensor_ref *first) {
  char where[32], got[KW_SHAPE_TEXT], wanted[KW_SHAPE_TEXT];
  if (tensor->rank == first->rank && memcmp(tensor->shape, first->shape, first->rank * sizeof first->shape[0]) == 0) {
    return KW_OK;
  }
  return kw_op_fail(op, arg, "%sexpected shape %s, as in '%s', got %s", entry_text(&args[arg], entry, where),
                    kw_shape_text(first->rank, first->shape, wanted), op->schema.args[0].name,
                    kw_shape_text(tensor->rank, tensor->shape, got));
}

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

static kw_status check_number(const kw_op *op, const kw_value *args, uint32_t arg) {
  const char *name = op->schema.args[arg].name;
  const kw_value *value = &args[arg];
  if (strcmp(name, "growth_interval") == 0 && value->u.i < 1) {
    return kw_op_fail(op, arg, "%" PRId64 " is less than 1", value->u.i);
  }
  if (strcmp(name, "max_norm") == 0 && !(value->u.f >= 0)) return kw_op_fail(op, arg, "%g is no norm", value->u.f);
  if (strcmp(name, "norm_type") == 0 && !(value->u.f > 0)) {
    return kw_op_fail(op, arg, "%g is not greater than 0; give 2, 1, or infinity for the largest", value->u.f);
  }
  return KW_OK;
}

/* ---- Lists that go together -------------------------------------------------------------------------------------- */

/* A list that an op without need of it takes without entries, too. */
static bool may_be_empty(const kw_op *op, const kw_value *args, uint32_t arg) {
  const char *name = op->schema.args[arg].name;
  if (strcmp(name, "max_exp_avg_sqs") == 0) return !kw_infer_find_arg(op, args, "amsgrad")->u.b;
  if (strcmp(name, "momentum_buffer_list") == 0) return kw_infer_find_arg(op, args, "momentum")->u.f == 0;
  return false;
}

static kw_status check_list(const kw_op *op, const kw_value *args, uint32_t arg, kw_dtype key) {
  const kw_value *list = &args[arg], *first = &args[0];
  const bool steps = strcmp(op->schema.args[arg].name, "state_steps") == 0;
  if (list->count == 0 && may_be_empty(op, args, arg)) return KW_OK;
  if (list->count != first->count) {
    return kw_op_fail(op, arg, "%u entries for %u of '%s'", list->count, first->count, op->schema.args[0].name);
  }
  kw_status status = KW_OK;
  for (uint32_t k = 0; k < list->count && status == KW_OK; ++k) {
    const kw_tensor_ref *tensor = list->u.tensors[k];
    status = check_dtype(op, args, arg, k, tensor->dtype, steps ? KW_F32 : key);
    if (status != KW_OK) break;
    status =
        steps ? check_one_element(op, args, arg, k, tensor) : check_like(op, args, arg, k, tensor, first->u.tensors[k]);
  }
  return status;
}

kw_status kw_infer_lists(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out, (void)out_expand; /* results have rank 0 */
  kw_dtype key;
  kw_status status = kw_infer_key_own(op, args, &key);
  for (uint32_t i = 0; i < op->schema.arg_count && status == KW_OK; ++i) {
    if (args[i].tag == KW_TAG_TENSOR_LIST) {
      status = check_list(op, args, i, key);
    } else if (args[i].tag == KW_TAG_TENSOR) {
      const bool counts = strcmp(op->schema.args[i].name, "growth_tracker") == 0;
      status = check_dtype(op, args, i, 0, args[i].u.tensor->dtype, counts ? KW_I32 : KW_F32);
      if (status == KW_OK) status = check_one_element(op, args, i, 0, args[i].u.tensor);
    } else {
      status = check_number(op, args, i);
    }
  }
  return status;
}

/* ---- Metrics ----------------------------------------------------------------------------------------------------- */

kw_status kw_infer_accumulate_mean(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out, (void)out_expand;
  const kw_dtype values = args[2].u.tensor->dtype;
  kw_status status = check_one_element(op, args, 0, 0, args[0].u.tensor);
  if (status == KW_OK) status = check_dtype(op, args, 1, 0, args[1].u.tensor->dtype, KW_I64);
  if (status == KW_OK) status = check_one_element(op, args, 1, 0, args[1].u.tensor);
  if (status != KW_OK || (KW_DTYPES_REAL >> values & 1)) return status;
  return kw_op_fail(op, 2, "there is no sum of %s; cast the values first", kw_dtype_name(values));
}

kw_status kw_infer_accumulate_confusion(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out, (void)out_expand;
  const kw_tensor_ref *counts = args[0].u.tensor, *prediction = args[1].u.tensor, *target = args[2].u.tensor;
  char got[KW_SHAPE_TEXT], wanted[KW_SHAPE_TEXT];
  if (counts->rank != 2 || counts->shape[0] != counts->shape[1]) {
    return kw_op_fail(op, 0, "expected shape [classes, classes], got %s",
                      kw_shape_text(counts->rank, counts->shape, got));
  }
  for (uint32_t i = 1; i < 3; ++i) {
    const kw_dtype dtype = args[i].u.tensor->dtype;
    if (dtype == KW_I64 || dtype == KW_I32) continue;
    return kw_op_fail(op, i, "classes are i64 or i32, not %s; cast them", kw_dtype_name(dtype));
  }
  if (prediction->rank == target->rank &&
      memcmp(prediction->shape, target->shape, target->rank * sizeof target->shape[0]) == 0) {
    return KW_OK;
  }
  return kw_op_fail(op, 2, "expected shape %s, one class for each of 'prediction', got %s",
                    kw_shape_text(prediction->rank, prediction->shape, wanted),
                    kw_shape_text(target->rank, target->shape, got));
}
