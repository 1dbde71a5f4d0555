/* SPDX-License-Identifier: Apache-2.0
 *
 * Moves: bits are copied or converted, nothing is computed.
 */
#include "ops/moves.h"

#include "kernel_sources.h"
#include "lower/scalar.h"
#include "ops/families.h"
#include "program/dtype.h"

#include <string.h>

static const kw_gpu_module move_module = {
    "move", KW_GPU_BY_SIZE, KW_GPU_SIZES, {kw_gpu_source_raw, kw_gpu_source_move}};
static const kw_gpu_module convert_module = {
    "convert", KW_GPU_BY_NOTHING, KW_GPU_ONE | KW_GPU_WIDE, {kw_gpu_source_convert}};

/* What move_run.kw moves and converts. */
#define RUNS_MOVED (KW_DTYPE_BIT(KW_U8) | KW_DTYPE_BIT(KW_I16) | KW_DTYPE_BIT(KW_I32) | KW_DTYPE_BIT(KW_I64))
#define RUNS_WIDE (KW_DTYPE_BIT(KW_I32) | KW_DTYPE_BIT(KW_I64)) /* not all of which f32 has */
#define RUNS_CONVERTED                                                                                    \
  (KW_DTYPE_BIT(KW_BOOL) | KW_DTYPE_BIT(KW_U8) | KW_DTYPE_BIT(KW_I8) | KW_DTYPE_BIT(KW_I16) | RUNS_WIDE | \
   KW_DTYPE_BIT(KW_F32) | KW_DTYPE_BIT(KW_F16) | KW_DTYPE_BIT(KW_BF16))
static const kw_gpu_module run_module = {
    "move_run", KW_GPU_RUNS_BY_DTYPE, RUNS_MOVED | RUNS_CONVERTED | KW_GPU_VECTORS, {kw_gpu_source_move_run}};

static const kw_gpu_kernel run_kernel = {&run_module, "kw_move_run_kernel"};
static const kw_gpu_kernel copy_kernel = {&move_module, "kw_copy_kernel"};
static const kw_gpu_kernel words_kernel = {&move_module, "kw_copy_words_kernel"};
static const kw_gpu_kernel fill_kernel = {&move_module, "kw_fill_kernel"};
static const kw_gpu_kernel spread_kernel = {&move_module, "kw_spread_kernel"};
static const kw_gpu_kernel where_kernel = {&move_module, "kw_where_kernel"};
static const kw_gpu_kernel convert_kernel = {&convert_module, "kw_convert_kernel"};

/* Whether the one block of an element-wise step says that all its operands are runs of memory. */
static bool is_flat(const kw_gpu_step *step, int64_t *out_numel) {
  kw_elementwise block;
  memcpy(&block, step->block, sizeof block);
  *out_numel = block.numel;
  return block.flat;
}

kw_dtype kw_gpu_moved_dtype(uint32_t size) {
  return size == 1 ? KW_U8 : size == 2 ? KW_I16 : size == 4 ? KW_I32 : size == 8 ? KW_I64 : KW_DTYPE_NONE;
}

/* Where the rows of both operands are whole words of 16 bytes, the step copies those: as fewer and larger elements. */
static void copy_words(kw_gpu_step *step, uint32_t size) {
  kw_elementwise block;
  memcpy(&block, step->block, sizeof block);
  const int64_t each = 16 / size, last = block.rank - 1;
  if (each < 2 || block.shape[last] % each != 0) return;
  for (uint32_t k = 0; k < 2; ++k) {
    if (block.stride[k][last] != 1) return;
    for (int64_t d = 0; d < last; ++d)
      if (block.stride[k][d] % each != 0) return;
  }
  for (uint32_t k = 0; k < 2; ++k)
    for (int64_t d = 0; d < last; ++d) block.stride[k][d] /= each;
  block.shape[last] /= each;
  block.numel /= each;
  memcpy(step->block, &block, sizeof block);
  step->kernel = &words_kernel;
  step->dtype = KW_C128; /* the dtype of that size */
  kw_gpu_step_items(step, block.numel);
}

/* Over and over, if the tensor has more. */
static bool is_one_element(const kw_tensor_ref *ref) {
  for (uint32_t d = 0; d < ref->rank; ++d)
    if (ref->shape[d] > 1 && ref->strides[d] != 0) return false;
  return true;
}

static void copy(kw_gpu_plan *plan, const kw_gpu_tensor *to, const kw_gpu_tensor *from) {
  const kw_gpu_device *device = plan->call->device;
  const kw_dtype dtype = to->ref.dtype, moved = kw_gpu_moved_dtype(kw_gpu_dtype_size(dtype));
  const bool runs = device->vector_bytes > 0 && moved != KW_DTYPE_NONE;
  int64_t numel;
  const kw_gpu_tensor *const in[] = {from};
  if (to->ref.numel > 1 && is_one_element(&from->ref)) {
    kw_gpu_step_stretched(plan, &spread_kernel, dtype, to, in, 1);
    return;
  }
  kw_gpu_step *step = runs ? kw_gpu_step_elementwise(plan, &run_kernel, moved, to, in, 1)
                           : kw_gpu_step_stretched(plan, &copy_kernel, dtype, to, in, 1);
  if (is_flat(step, &numel)) {
    step->kind = KW_GPU_COPY;
    step->bytes = (uint64_t)numel * kw_gpu_dtype_size(dtype);
  } else if (runs) {
    kw_gpu_step_opcode(step, (int32_t)moved);
  } else {
    copy_words(step, kw_gpu_dtype_size(dtype));
  }
}

/* Integers become f16 and bf16 by way of f32: to bf16 the wide ones would be rounded twice. What f32 rounds is beyond
 * f16. */
static bool converts_in_runs(kw_dtype to, kw_dtype from) {
  if (((KW_DTYPE_BIT(to) | KW_DTYPE_BIT(from)) & ~(uint64_t)RUNS_CONVERTED) != 0) return false;
  return to != KW_BF16 || (RUNS_WIDE >> from & 1) == 0;
}

static void convert(kw_gpu_plan *plan, const kw_gpu_tensor *to, const kw_gpu_tensor *from) {
  const uint64_t doubles = KW_DTYPE_BIT(KW_F64) | KW_DTYPE_BIT(KW_C128);
  const kw_gpu_device *device = plan->call->device;
  const kw_dtype dtype = to->ref.dtype, source = from->ref.dtype;
  const uint64_t both = KW_DTYPE_BIT(dtype) | KW_DTYPE_BIT(source);
  const bool runs = device->vector_bytes > 0 && converts_in_runs(dtype, source);
  if (both & doubles && !device->has_f64)
    kw_gpu_refuse(plan, "cannot convert f64: this device has no double precision");
  const kw_gpu_tensor *const in[] = {from};
  kw_gpu_step *step = runs ? kw_gpu_step_elementwise(plan, &run_kernel, source, to, in, 1)
                           : kw_gpu_step_stretched(plan, &convert_kernel, dtype, to, in, 1);
  if (runs) {
    kw_gpu_step_opcode(step, (int32_t)dtype);
  } else {
    kw_gpu_step_int(step, source);
    kw_gpu_step_int(step, dtype);
  }
}

void kw_gpu_copy(kw_gpu_plan *plan, const kw_gpu_tensor *to, const kw_gpu_tensor *from) {
  if (to->ref.dtype == from->ref.dtype) {
    copy(plan, to, from);
  } else {
    convert(plan, to, from);
  }
}

/* Drivers of CPUs fill by one thread: more elements than this take less time by a kernel, which has to be compiled. */
#define FILLED_BY_DRIVER 16384

static void fill(kw_gpu_plan *plan, const kw_gpu_tensor *to, const kw_value *value) {
  const kw_gpu_device *device = plan->call->device;
  kw_gpu_step *step = kw_gpu_step_stretched(plan, &fill_kernel, to->ref.dtype, to, NULL, 0);
  int64_t numel, halves[2];
  if (kw_gpu_scalar_store(value, to->ref.dtype, step->pattern) != KW_OK) {
    kw_gpu_refuse(plan, kw_gpu_complex_scalar);
    return;
  }
  memcpy(halves, step->pattern, sizeof halves);
  kw_gpu_step_long(step, halves[0]);
  kw_gpu_step_long(step, halves[1]);
  if (is_flat(step, &numel) && device->driver->fill && (device->vector_bytes == 0 || numel <= FILLED_BY_DRIVER)) {
    step->kind = KW_GPU_FILL;
    step->pattern_size = kw_gpu_dtype_size(to->ref.dtype);
    step->bytes = (uint64_t)numel * step->pattern_size;
  }
}

void kw_gpu_fill(kw_gpu_plan *plan, const kw_gpu_tensor *to, double value) {
  fill(plan, to, &(kw_value){.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_F64, .u.f = value});
}

static bool fits(const kw_gpu_tensor *tensor, kw_dtype dtype) {
  return tensor->ref.dtype == dtype && kw_gpu_is_contiguous(tensor);
}

kw_gpu_tensor kw_gpu_contiguous(kw_gpu_plan *plan, const kw_gpu_tensor *tensor, kw_dtype dtype) {
  if (!kw_gpu_present(tensor) || fits(tensor, dtype)) return *tensor;
  kw_gpu_tensor copy = kw_gpu_temporary(plan, dtype, tensor->ref.rank, tensor->ref.shape);
  kw_gpu_copy(plan, &copy, tensor);
  return copy;
}

kw_gpu_tensor kw_gpu_staging(kw_gpu_plan *plan, const kw_gpu_tensor *tensor, kw_dtype dtype) {
  if (!kw_gpu_present(tensor) || fits(tensor, dtype)) return *tensor;
  return kw_gpu_temporary(plan, dtype, tensor->ref.rank, tensor->ref.shape);
}

void kw_gpu_deliver(kw_gpu_plan *plan, const kw_gpu_tensor *staging, const kw_gpu_tensor *tensor) {
  if (!kw_gpu_present(tensor)) return;
  if (staging->at.from == KW_GPU_WORKSPACE && tensor->at.from != KW_GPU_WORKSPACE) kw_gpu_copy(plan, tensor, staging);
}

static void lower_fill(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor out = kw_gpu_output(plan, 0);
  fill(plan, &out, kw_gpu_argument(plan, 1));
}

static void lower_copy(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor to = kw_gpu_output(plan, 0), from = kw_gpu_input(plan, 1);
  kw_gpu_copy(plan, &to, &from);
}

static void lower_where(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor out = kw_gpu_output(plan, 0), condition = kw_gpu_input(plan, 0), a = kw_gpu_input(plan, 1),
                b = kw_gpu_input(plan, 2);
  kw_gpu_step_stretched(plan, &where_kernel, out.ref.dtype, &out, (const kw_gpu_tensor *[]){&condition, &a, &b}, 3);
}

static const kw_gpu_op ops[] = {
    {"fill_.Scalar", lower_fill, 0, KW_GPU_MOVES, KW_DTYPES_ANY},
    {"fill_.Tensor", lower_copy, 0, KW_GPU_MOVES, KW_DTYPES_ANY},
    {"copy_", lower_copy, 0, KW_GPU_MOVES | KW_KERNEL_MIXED_DTYPES, KW_DTYPES_ANY},
    {"where.self", lower_where, 0, KW_GPU_MOVES, KW_DTYPES_ANY},
    {0},
};

const kw_gpu_family kw_gpu_moves_family = {ops, {&move_module, &convert_module, &run_module}};
