/* SPDX-License-Identifier: Apache-2.0
 *
 * Result shapes of the ops that place the elements of a tensor elsewhere: repeated, turned round, padded, replaced in
 * part.
 */
#include "op/infer/shape_rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Sizes that an argument has made too large, or negative, are that argument's fault. */
static kw_status check_sizes(const kw_op *op, const kw_value *args, const kw_value *cause, const kw_infer_dims *sizes) {
  char what[128];
  int64_t numel;
  snprintf(what, sizeof what, "%s: argument '%s'", op->schema.name,
           op->schema.args[kw_infer_arg_index(args, cause)].name);
  return kw_shape_check(what, args[0].u.tensor->dtype, sizes->rank, sizes->sizes, &numel);
}

/* ---- Repeated, turned round -------------------------------------------------------------------------------------- */

kw_status kw_infer_repeat(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_tensor_ref *self = args[0].u.tensor;
  const kw_value *repeats = &args[1];
  if (repeats->count < self->rank || repeats->count > KW_MAX_RANK) {
    return kw_op_fail(op, 1, "%u numbers for a tensor of rank %u; give one for each dimension, at most %d",
                      repeats->count, self->rank, KW_MAX_RANK);
  }
  const uint32_t more = repeats->count - self->rank;
  out->rank = repeats->count;
  for (uint32_t d = 0; d < out->rank; ++d) {
    const int64_t times = repeats->u.ints[d], size = d < more ? 1 : self->shape[d - more];
    if (times < 0) return kw_op_fail(op, 1, "%" PRId64 " for dimension %u is negative", times, d);
    if (__builtin_mul_overflow(times, size, &out->sizes[d])) {
      return kw_op_fail(op, 1, "dimension %u would have more than 2^63 - 1 elements", d);
    }
  }
  return check_sizes(op, args, repeats, out);
}

kw_status kw_infer_flip(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_tensor_ref *self = args[0].u.tensor;
  kw_status status = KW_OK;
  uint32_t mask = 0;
  kw_infer_take_shape(self, out);
  for (uint32_t i = 0; i < args[1].count && status == KW_OK; ++i) {
    status = kw_infer_mark_dim(op, 1, self, args[1].u.ints[i], &mask);
  }
  return status;
}

kw_status kw_infer_roll(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_tensor_ref *self = args[0].u.tensor;
  const kw_value *shifts = &args[1], *dims = &args[2];
  kw_infer_take_shape(self, out);
  if (shifts->count == 0) return kw_op_fail(op, 1, "it is empty; give at least one");
  if (shifts->count != dims->count && (dims->count > 0 || shifts->count > 1)) {
    return kw_op_fail(op, 2, "%u for %u shifts; give as many, or none and one shift for all elements in a row",
                      dims->count, shifts->count);
  }
  kw_status status = KW_OK;
  for (uint32_t i = 0; i < dims->count && status == KW_OK; ++i) {
    uint32_t mask = 0; /* a dimension may be there twice */
    status = kw_infer_mark_dim(op, 2, self, dims->u.ints[i], &mask);
  }
  return status;
}

kw_status kw_infer_triangle(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_tensor_ref *self = args[0].u.tensor;
  kw_infer_take_shape(self, out);
  if (self->rank >= 2) return KW_OK;
  return kw_op_fail(op, 0, "expected a matrix, or several of them, got rank %u", self->rank);
}

/* ---- Replaced in part -------------------------------------------------------------------------------------------- */

/* `src` has exactly the shape of what it replaces. */
static kw_status check_part(const kw_op *op, const kw_value *args, const kw_infer_dims *part) {
  const kw_tensor_ref *src = args[1].u.tensor;
  char got[KW_SHAPE_TEXT], wanted[KW_SHAPE_TEXT];
  if (src->rank == part->rank && memcmp(src->shape, part->sizes, part->rank * sizeof(int64_t)) == 0) return KW_OK;
  return kw_op_fail(op, 1, "expected shape %s, that of the part of 'self' which it replaces, got %s",
                    kw_shape_text(part->rank, part->sizes, wanted), kw_shape_text(src->rank, src->shape, got));
}

static kw_status find_part_dim(const kw_op *op, const kw_value *args, kw_infer_dims *out, uint32_t *out_dim) {
  const kw_tensor_ref *self = args[0].u.tensor;
  kw_infer_take_shape(self, out);
  if (self->rank == 0) return kw_op_fail(op, 0, "a tensor of rank 0 has no parts");
  return kw_infer_find_dim(op, args, self, out_dim);
}

kw_status kw_infer_select_scatter(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  uint32_t dim;
  kw_status status = find_part_dim(op, args, out, &dim);
  if (status != KW_OK) return status;
  const int64_t index = args[3].u.i, size = out->sizes[dim];
  if (index < -size || index >= size) {
    return kw_op_fail(op, 3, "%" PRId64 " is outside [%" PRId64 ", %" PRId64 ") of dimension %u", index, -size, size,
                      dim);
  }
  kw_infer_dims part = *out;
  --part.rank;
  memmove(part.sizes + dim, part.sizes + dim + 1, (part.rank - dim) * sizeof(int64_t));
  return check_part(op, args, &part);
}

/* From the end where negative, then cut to [0, size]. */
static int64_t slice_end(const kw_value *end, int64_t none, int64_t size) {
  if (end->tag == KW_TAG_NONE) return none;
  const int64_t at = end->u.i < 0 ? end->u.i + size : end->u.i;
  return at < 0 ? 0 : at > size ? size : at;
}

kw_status kw_infer_slice_scatter(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  uint32_t dim;
  kw_status status = find_part_dim(op, args, out, &dim);
  if (status != KW_OK) return status;
  const int64_t step = args[5].u.i, size = out->sizes[dim];
  if (step < 1) return kw_op_fail(op, 5, "%" PRId64 " is not positive", step);
  const int64_t start = slice_end(&args[3], 0, size), end = slice_end(&args[4], size, size);
  kw_infer_dims part = *out;
  part.sizes[dim] = end > start ? (end - start - 1) / step + 1 : 0;
  return check_part(op, args, &part);
}

/* ---- Padded ------------------------------------------------------------------------------------------------------ */

/* Adds the pairs (before, after) of the list behind argument `first` to the sizes of that, from the last dimension on.
 */
static kw_status add_pads(const kw_op *op, const kw_value *args, uint32_t first, kw_infer_dims *out) {
  const kw_tensor_ref *self = args[first].u.tensor;
  const kw_value *pads = &args[first + 1];
  kw_infer_take_shape(self, out);
  if (pads->count % 2 || pads->count / 2 > self->rank) {
    return kw_op_fail(op, first + 1,
                      "%u numbers for a tensor of rank %u; give two for each dimension, the last one's first",
                      pads->count, self->rank);
  }
  for (uint32_t i = 0; i < pads->count / 2; ++i) {
    const uint32_t d = self->rank - 1 - i;
    const int64_t before = pads->u.ints[2 * i], after = pads->u.ints[2 * i + 1];
    int64_t behind; /* without what is cut off in front: devices count places from there */
    bool over = __builtin_add_overflow(out->sizes[d], after, &behind);
    over = __builtin_add_overflow(out->sizes[d], before, &out->sizes[d]) || over;
    over = __builtin_add_overflow(out->sizes[d], after, &out->sizes[d]) || over;
    if (over || out->sizes[d] < 0) {
      return kw_op_fail(op, first + 1, "%" PRId64 " and %" PRId64 " make dimension %u of size %" PRId64 " %s", before,
                        after, d, self->shape[d], over ? "longer than 2^63 - 1" : "shorter than nothing");
    }
  }
  return check_sizes(op, args, pads, out);
}

kw_status kw_infer_pad(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  return add_pads(op, args, 0, out);
}

/* What stands beside the pads is made from the tensor itself, so there has to be something to make it from. */
static kw_status pad_border(const kw_op *op, const kw_value *args, uint32_t first, kw_infer_dims *out) {
  const kw_tensor_ref *self = args[first].u.tensor;
  const uint32_t padded = (uint32_t)op->schema.args[first + 1].list_size / 2;
  const bool reflects = strncmp(op->schema.name, "reflection", strlen("reflection")) == 0;
  char text[KW_SHAPE_TEXT];
  if (args[first + 1].count != 2 * padded) {
    return kw_op_fail(op, first + 1, "%u numbers; give %u, two for each of the last dimensions", args[first + 1].count,
                      2 * padded);
  }
  if (self->rank != padded + 1 && self->rank != padded + 2) {
    return kw_op_fail(op, first, "expected rank %u (channels first), or %u (a batch of these), got shape %s",
                      padded + 1, padded + 2, kw_shape_text(self->rank, self->shape, text));
  }
  kw_status status = add_pads(op, args, first, out);
  for (uint32_t i = 0; i < padded && status == KW_OK; ++i) {
    const uint32_t d = self->rank - 1 - i;
    const int64_t size = self->shape[d], *pad = args[first + 1].u.ints + 2 * i;
    if (size == 0) {
      status = kw_op_fail(op, first, "dimension %u of shape %s has no elements to pad with", d,
                          kw_shape_text(self->rank, self->shape, text));
    } else if (reflects && (pad[0] >= size || pad[1] >= size)) {
      status =
          kw_op_fail(op, first + 1, "%" PRId64 " and %" PRId64 " reflect past the %" PRId64 " elements of dimension %u",
                     pad[0], pad[1], size, d);
    } else if (out->sizes[d] == 0) {
      status =
          kw_op_fail(op, first + 1, "%" PRId64 " and %" PRId64 " leave nothing of dimension %u", pad[0], pad[1], d);
    }
  }
  return status;
}

kw_status kw_infer_pad_border(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  return pad_border(op, args, 0, out);
}

kw_status kw_infer_pad_backward(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_tensor_ref *grad = args[0].u.tensor;
  char got[KW_SHAPE_TEXT], wanted[KW_SHAPE_TEXT];
  kw_status status = pad_border(op, args, 1, out);
  if (status != KW_OK) return status;
  if (grad->rank != out->rank || memcmp(grad->shape, out->sizes, out->rank * sizeof(int64_t)) != 0) {
    return kw_op_fail(op, 0, "expected shape %s, that of 'self' with its pads, got %s",
                      kw_shape_text(out->rank, out->sizes, wanted), kw_shape_text(grad->rank, grad->shape, got));
  }
  kw_infer_take_shape(args[1].u.tensor, out);
  return KW_OK;
}
