/* SPDX-License-Identifier: Apache-2.0
 *
 * Attention: dtypes (of rotary positions too), shapes, and what it demands of its arguments. Wherever heads are
 * counted, a head of keys and values serves the same number of heads of queries each.
 */
#include "base/dtype.h"
#include "op/infer/common.h"
#include "op/infer/result_rules.h"
#include "op/infer/shape_rules.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- Dtypes ------------------------------------------------------------------------------------------------------ */

static bool is_one_of(const char *name, const char *const *names, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(name, names[i]) == 0) return true;
  }
  return false;
}
#define IS_ONE_OF(name, names) is_one_of(name, names, sizeof names / sizeof names[0])

static kw_status check_tensor_dtype(const kw_op *op, const kw_value *args, uint32_t index, kw_dtype key) {
  static const char *const indices[] = {"lengths", "block_table", "cu_seqlens_q", "cu_seqlens_k", "positions"};
  static const char *const tables[] = {"cos", "sin"};
  const char *name = op->schema.args[index].name;
  const kw_dtype dtype = args[index].u.tensor->dtype, compute = key == KW_F64 ? KW_F64 : KW_F32;
  if (IS_ONE_OF(name, indices)) {
    if (dtype == KW_I64 || dtype == KW_I32) return KW_OK;
    return kw_op_fail(op, index, "expected i64 or i32, got %s; cast it", kw_dtype_name(dtype));
  }
  if (strcmp(name, "logsumexp") == 0) {
    if (dtype == compute) return KW_OK;
    return kw_op_fail(op, index, "expected %s, as the forward op gives it, got %s", kw_dtype_name(compute),
                      kw_dtype_name(dtype));
  }
  const bool mask = strcmp(name, "attn_mask") == 0, wide = mask || IS_ONE_OF(name, tables);
  if (dtype == key || (wide && dtype == compute) || (mask && dtype == KW_BOOL)) return KW_OK;
  if (!wide) {
    return kw_op_fail(op, index, "expected %s, the dtype of '%s', got %s; cast one of them first", kw_dtype_name(key),
                      op->schema.args[0].name, kw_dtype_name(dtype));
  }
  return kw_op_fail(op, index, "expected %s%s%s%s, got %s", mask ? "bool or " : "", kw_dtype_name(key),
                    key == compute ? "" : " or ", key == compute ? "" : kw_dtype_name(compute), kw_dtype_name(dtype));
}

kw_status kw_infer_key_attention(const kw_op *op, const kw_value *args, kw_dtype *out_key) {
  *out_key = args[0].u.tensor->dtype;
  kw_status status = kw_infer_check_dtype(op, args, *out_key, "");
  for (uint32_t i = 1; i < op->schema.arg_count && status == KW_OK; ++i) {
    if (args[i].tag == KW_TAG_TENSOR) status = check_tensor_dtype(op, args, i, *out_key);
  }
  return status;
}

/* ---- Parts ------------------------------------------------------------------------------------------------------- */

static kw_status check_rank(const kw_op *op, const kw_value *args, uint32_t index, uint32_t rank, const char *form) {
  const kw_tensor_ref *tensor = args[index].u.tensor;
  char text[KW_SHAPE_TEXT];
  if (tensor->rank == rank) return KW_OK;
  return kw_op_fail(op, index, "expected rank %u, %s, got shape %s", rank, form,
                    kw_shape_text(tensor->rank, tensor->shape, text));
}

/* Dimension `dim` of one argument is dimension `of_dim` of another. */
static kw_status check_same(const kw_op *op, const kw_value *args, uint32_t index, uint32_t dim, uint32_t of,
                            uint32_t of_dim, const char *what) {
  const int64_t size = args[index].u.tensor->shape[dim], wanted = args[of].u.tensor->shape[of_dim];
  if (size == wanted) return KW_OK;
  return kw_op_fail(op, index, "%s: dimension %u has size %" PRId64 ", dimension %u of '%s' %" PRId64, what, dim, size,
                    of_dim, op->schema.args[of].name, wanted);
}

static kw_status check_heads(const kw_op *op, uint32_t index, int64_t heads, int64_t queries) {
  if (heads == queries || (heads > 0 && queries % heads == 0)) return KW_OK;
  return kw_op_fail(op, index, "%" PRId64 " heads cannot serve %" PRId64 " heads of queries evenly", heads, queries);
}

/* A mask broadcasts to the scores. */
static kw_status check_mask(const kw_op *op, const kw_value *args, const kw_infer_dims *scores) {
  const kw_value *mask = kw_infer_find_arg(op, args, "attn_mask");
  if (!mask || mask->tag == KW_TAG_NONE) return KW_OK;
  kw_infer_dims to = *scores;
  return kw_infer_broadcast(op, kw_infer_arg_index(args, mask), mask->u.tensor, "the scores", &to);
}

static kw_status check_cap(const kw_op *op, const kw_value *args) {
  const kw_value *cap = kw_infer_find_arg(op, args, "softcap");
  if (cap->u.f >= 0 && isfinite(cap->u.f)) return KW_OK;
  return kw_op_fail(op, kw_infer_arg_index(args, cap), "%g; it is 0 for no cap, or positive and finite", cap->u.f);
}

/* ---- ATen's form ------------------------------------------------------------------------------------------------- */

static kw_status check_options(const kw_op *op, const kw_value *args) {
  if (args[4].u.f != 0) {
    return kw_op_fail(op, 4, "%g; there is no dropout here, so it must be 0: drop elements of the mask instead",
                      args[4].u.f);
  }
  if (args[5].u.b && args[3].tag != KW_TAG_NONE) {
    return kw_op_fail(op, 5, "it goes without 'attn_mask' only; make it part of the mask");
  }
  return KW_OK;
}

/* The dimensions before the last two, as many heads as the query has where they are counted. */
static kw_status join_batch(const kw_op *op, const kw_value *args, uint32_t index, bool grouped, kw_infer_dims *to) {
  kw_tensor_ref batch = *args[index].u.tensor;
  const kw_tensor_ref *query = args[0].u.tensor;
  char text[KW_SHAPE_TEXT];
  if (batch.rank < 2 || (grouped && batch.rank < 3)) {
    return kw_op_fail(op, index,
                      grouped ? "'enable_gqa' needs heads, rows and a width, got shape %s"
                              : "expected rows and a width at least, got shape %s",
                      kw_shape_text(batch.rank, batch.shape, text));
  }
  batch.rank = (uint8_t)(batch.rank - 2);
  if (grouped && index > 0) {
    int64_t *heads = &batch.shape[batch.rank - 1], queries = query->shape[query->rank - 3];
    kw_status status = check_heads(op, index, *heads, queries);
    if (status != KW_OK) return status;
    *heads = queries;
  }
  return kw_infer_broadcast(op, index, &batch, NULL, to);
}

kw_status kw_infer_sdpa(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  *out = (kw_infer_dims){0, {0}};
  kw_status status = check_options(op, args);
  for (uint32_t i = 0; i < 3 && status == KW_OK; ++i) status = join_batch(op, args, i, args[7].u.b, out);
  if (status != KW_OK) return status;
  const kw_tensor_ref *query = args[0].u.tensor, *key = args[1].u.tensor, *value = args[2].u.tensor;
  status = check_same(op, args, 1, key->rank - 1u, 0, query->rank - 1u, "keys are as wide as queries");
  if (status == KW_OK) status = check_same(op, args, 2, value->rank - 2u, 1, key->rank - 2u, "there is a value a key");
  if (status != KW_OK) return status;
  out->sizes[out->rank++] = query->shape[query->rank - 2];
  out->sizes[out->rank++] = key->shape[key->rank - 2];
  status = check_mask(op, args, out);
  out->sizes[out->rank - 1] = value->shape[value->rank - 1];
  return status;
}

/* ---- Keyway's forms ---------------------------------------------------------------------------------------------- */

/* Arguments `first` to `first` + 2 are query, key and value, [batch, heads, rows, width]; out gets the result's. */
static kw_status check_batch(const kw_op *op, const kw_value *args, uint32_t first, kw_infer_dims *out) {
  kw_status status = KW_OK;
  for (uint32_t i = first; i < first + 3 && status == KW_OK; ++i) {
    status = check_rank(op, args, i, 4, "[batch, heads, rows, width]");
    if (status == KW_OK) status = check_same(op, args, i, 0, first, 0, "the batch");
  }
  if (status == KW_OK) status = check_same(op, args, first + 1, 3, first, 3, "keys are as wide as queries");
  if (status == KW_OK) status = check_same(op, args, first + 2, 1, first + 1, 1, "values have the heads of keys");
  if (status == KW_OK) status = check_same(op, args, first + 2, 2, first + 1, 2, "there is a value a key");
  if (status != KW_OK) return status;
  const kw_tensor_ref *query = args[first].u.tensor, *value = args[first + 2].u.tensor;
  *out = (kw_infer_dims){4, {query->shape[0], query->shape[1], query->shape[2], value->shape[3]}};
  return check_heads(op, first + 1, value->shape[1], query->shape[1]);
}

/* A number for each sequence. */
static kw_status check_lengths(const kw_op *op, const kw_value *args) {
  const kw_value *lengths = kw_infer_find_arg(op, args, "lengths");
  if (!lengths) return KW_OK;
  const uint32_t index = kw_infer_arg_index(args, lengths);
  kw_status status = check_rank(op, args, index, 1, "[batch]");
  return status == KW_OK ? check_same(op, args, index, 0, 0, 0, "a length for each sequence") : status;
}

/* Result 1: the logarithms, a number a query and head. */
static void set_logarithms(kw_infer_dims *out) {
  out[1] = out[0];
  --out[1].rank;
}

kw_status kw_infer_attention(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  kw_status status = check_batch(op, args, 0, out);
  if (status == KW_OK) status = check_lengths(op, args);
  if (status == KW_OK) status = check_cap(op, args);
  if (status != KW_OK) return status;
  kw_infer_dims scores = out[0];
  scores.sizes[3] = args[1].u.tensor->shape[2];
  set_logarithms(out);
  return check_mask(op, args, &scores);
}

kw_status kw_infer_attention_varlen(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  kw_status status = KW_OK;
  for (uint32_t i = 0; i < 3 && status == KW_OK; ++i) {
    status = check_rank(op, args, i, 3, "[rows of all sequences, heads, width]");
  }
  if (status == KW_OK) status = check_same(op, args, 1, 2, 0, 2, "keys are as wide as queries");
  if (status == KW_OK) status = check_same(op, args, 2, 0, 1, 0, "there is a value a key");
  if (status == KW_OK) status = check_same(op, args, 2, 1, 1, 1, "values have the heads of keys");
  if (status == KW_OK) status = check_heads(op, 1, args[1].u.tensor->shape[1], args[0].u.tensor->shape[1]);
  for (uint32_t i = 3; i < 5 && status == KW_OK; ++i) {
    status = check_rank(op, args, i, 1, "where each sequence begins, and where the last ends");
    if (status == KW_OK && args[i].u.tensor->shape[0] < 2) {
      status = kw_op_fail(op, i, "it has fewer than 2 numbers; 0 and the number of rows are one sequence");
    }
  }
  if (status == KW_OK) status = check_same(op, args, 4, 0, 3, 0, "as many sequences of keys as of queries");
  if (status == KW_OK) status = check_cap(op, args);
  if (status != KW_OK) return status;
  const kw_tensor_ref *query = args[0].u.tensor;
  out[0] = (kw_infer_dims){3, {query->shape[0], query->shape[1], args[2].u.tensor->shape[2]}};
  set_logarithms(out);
  return KW_OK;
}

kw_status kw_infer_attention_paged(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  kw_status status = check_rank(op, args, 0, 4, "[batch, heads, rows, width]");
  for (uint32_t i = 1; i < 3 && status == KW_OK; ++i) {
    status = check_rank(op, args, i, 4, "[pages, rows of a page, heads, width]");
  }
  for (uint32_t d = 0; d < 3 && status == KW_OK; ++d) {
    status = check_same(op, args, 2, d, 1, d, "values lie in pages as keys do");
  }
  if (status == KW_OK) status = check_same(op, args, 1, 3, 0, 3, "keys are as wide as queries");
  if (status == KW_OK) status = check_heads(op, 1, args[1].u.tensor->shape[2], args[0].u.tensor->shape[1]);
  if (status == KW_OK) status = check_rank(op, args, 3, 2, "[batch, pages of a sequence]");
  if (status == KW_OK) status = check_same(op, args, 3, 0, 0, 0, "a row of pages for each sequence");
  if (status == KW_OK) status = check_lengths(op, args);
  if (status == KW_OK) status = check_cap(op, args);
  if (status != KW_OK) return status;
  const kw_tensor_ref *query = args[0].u.tensor, *value = args[2].u.tensor;
  int64_t capacity;
  if (__builtin_mul_overflow(args[3].u.tensor->shape[1], value->shape[1], &capacity)) {
    return kw_op_fail(op, 3, "its pages have more than 2^63 rows");
  }
  const kw_infer_dims scores = {4, {query->shape[0], query->shape[1], query->shape[2], capacity}};
  out[0] = scores;
  out[0].sizes[3] = value->shape[3];
  set_logarithms(out);
  return check_mask(op, args, &scores);
}

/* ---- Gradients --------------------------------------------------------------------------------------------------- */

/* grad_out, query, key, value, out, logsumexp. */
kw_status kw_infer_attention_backward(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  static const uint32_t results[] = {0, 4};
  kw_infer_dims result;
  kw_status status = check_batch(op, args, 1, &result);
  for (uint32_t i = 0; i < 2 && status == KW_OK; ++i) {
    status = check_rank(op, args, results[i], 4, "[batch, heads, rows, width]");
    for (uint32_t d = 0; d < 4 && status == KW_OK; ++d) {
      status = check_same(op, args, results[i], d, d < 3 ? 1 : 3, d, "a row a query, as wide as values");
    }
  }
  if (status == KW_OK) status = check_rank(op, args, 5, 3, "[batch, heads, rows]");
  for (uint32_t d = 0; d < 3 && status == KW_OK; ++d) status = check_same(op, args, 5, d, 1, d, "a number a query");
  if (status == KW_OK) status = check_cap(op, args);
  if (status != KW_OK) return status;
  for (uint32_t r = 0; r < 3; ++r) {
    const kw_tensor_ref *of = args[1 + r].u.tensor;
    out[r].rank = of->rank;
    memcpy(out[r].sizes, of->shape, sizeof out[r].sizes);
  }
  result.sizes[3] = args[2].u.tensor->shape[2];
  return check_mask(op, args, &result);
}
