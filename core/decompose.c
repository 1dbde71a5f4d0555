/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops served by other ops on the same device, bit for bit what a kernel of their own would give: no rounding in
 * between.
 */
#include "error.h"
#include "plan.h"
#include "scalar.h"

#include <string.h>

static kw_status call(const char *op, kw_stream *stream, const kw_value *args, uint32_t count, kw_tensor **outs) {
  return kw_op_call(kw_op_find(op), stream, args, count, outs, outs ? 1 : 0);
}

/* -alpha in two's complement for integers, so that u8 works too. */
static kw_value negated(kw_value scalar) {
  if (scalar.kind == KW_SCALAR_BOOL) return kw_arg_scalar_i64(scalar.u.b ? -1 : 0);
  if (scalar.kind == KW_SCALAR_I64) return kw_arg_scalar_i64((int64_t)(0 - (uint64_t)scalar.u.i));
  return kw_arg_scalar_f64(-scalar.u.f);
}

static kw_status sub_tensor(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  return call("add.Tensor", stream, (kw_value[]){args[0], args[1], negated(args[2])}, 3, outs);
}

static kw_status sub_scalar(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  return call("add.Scalar", stream, (kw_value[]){args[0], args[1], negated(args[2])}, 3, outs);
}

static kw_status gt_tensor(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  return call("lt.Tensor", stream, (kw_value[]){args[1], args[0]}, 2, outs);
}

static kw_status ge_tensor(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  return call("le.Tensor", stream, (kw_value[]){args[1], args[0]}, 2, outs);
}

static kw_status sum_all(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  kw_value all[] = {args[0], kw_arg_none(), kw_arg_bool(false), args[1]};
  return call("sum.dim_IntList", stream, all, 4, outs);
}

static kw_status mean_all(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  kw_value all[] = {args[0], kw_arg_none(), kw_arg_bool(false), args[1]};
  return call("mean.dim", stream, all, 4, outs);
}

static kw_status any_all(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  return call("any.dims", stream, args, 1, outs);
}

static kw_status any_dim(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  kw_value one[] = {args[0], kw_arg_int_list(&args[1].u.i, 1), args[2]};
  return call("any.dims", stream, one, 3, outs);
}

static kw_status to_copy(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  return call("copy_", stream, (kw_value[]){kw_arg_tensor(outs[0]), args[0]}, 2, NULL);
}

/* Dense memory by the plugin's fill, or core's in its place; strided memory from one filled element. */
static kw_status fill_scalar(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  kw_tensor *self = outs[0];
  uint32_t item = (uint32_t)kw_dtype_size(self->ref.dtype);
  unsigned char pattern[16];
  kw_scalar_store(&args[1], self->ref.dtype, pattern);
  if (kw_ref_is_contiguous(&self->ref)) {
    uint64_t offset = self->ref.offset - self->buffer->offset;
    return kw_buffer_fill(self->buffer, stream, offset, (uint64_t)self->ref.numel * item, pattern, item);
  }
  kw_tensor *element;
  kw_status status = kw_tensor_create_on(stream, self->ref.dtype, 0, NULL, &element);
  if (status != KW_OK) return status;
  status = kw_buffer_fill(element->buffer, stream, 0, item, pattern, item);
  if (status == KW_OK) status = call("copy_", stream, (kw_value[]){args[0], kw_arg_tensor(element)}, 2, NULL);
  kw_tensor_release(element);
  return status;
}

static kw_status fill_tensor(kw_stream *stream, const kw_value *args, kw_tensor **outs) {
  (void)outs;
  return call("copy_", stream, (kw_value[]){args[0], args[1]}, 2, NULL);
}

/* The rows: an op, what it becomes, and the function. */
static const struct {
  const char *op, *by;
  kw_decompose_fn run;
} decompositions[] = {
    {"sub.Tensor", "add.Tensor", sub_tensor},
    {"sub.Scalar", "add.Scalar", sub_scalar},
    {"gt.Tensor", "lt.Tensor", gt_tensor},
    {"ge.Tensor", "le.Tensor", ge_tensor},
    {"sum", "sum.dim_IntList", sum_all},
    {"mean", "mean.dim", mean_all},
    {"any", "any.dims", any_all},
    {"any.dim", "any.dims", any_dim},
    {"_to_copy", "copy_", to_copy},
    {"fill_.Tensor", "copy_", fill_tensor},
    {"fill_.Scalar", "copy_", fill_scalar},
};

/* Kernels only: a decomposition never leads to another. */
static bool has_kernel(const kw_device *device, const char *op, kw_dtype key) {
  uint32_t count;
  kw_kernel *const *kernels = kw_plugin_kernels(device->plugin, kw_op_find(op), &count);
  for (uint32_t i = 0; i < count; ++i) {
    if (kw_dtype_mask_has(kernels[i]->desc.dtypes, key)) return true;
  }
  return false;
}

const char *kw_decompose_by(const kw_op *op) {
  for (size_t i = 0; i < sizeof decompositions / sizeof decompositions[0]; ++i) {
    if (strcmp(decompositions[i].op, op->schema.name) == 0) return decompositions[i].by;
  }
  return "";
}

kw_decompose_fn kw_decompose_find(const kw_op *op, kw_device *device, kw_dtype key) {
  for (size_t i = 0; i < sizeof decompositions / sizeof decompositions[0]; ++i) {
    if (strcmp(decompositions[i].op, op->schema.name) != 0) continue;
    return has_kernel(device, decompositions[i].by, key) ? decompositions[i].run : NULL;
  }
  return NULL;
}
