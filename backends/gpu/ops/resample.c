/* SPDX-License-Identifier: Apache-2.0
 *
 * Images made larger or smaller, and the gradients.
 */
#include "kernel_sources.h"
#include "lower/frame.h"
#include "ops/families.h"

#include "kernels/resample_args.kw"
#include "kernels/taps_args.kw"

#include <string.h>

static const kw_gpu_module resample_module = {
    "resample",
    KW_GPU_BY_DTYPE,
    KW_DTYPES_FLOAT | KW_GPU_WIDE,
    {kw_gpu_source_frame_args, kw_gpu_source_frame, kw_gpu_source_taps_args, kw_gpu_source_taps,
     kw_gpu_source_resample_args, kw_gpu_source_resample}};

static const kw_gpu_kernel nearest_kernel = {&resample_module, "kw_resample_nearest_kernel"};
static const kw_gpu_kernel resample_kernel = {&resample_module, "kw_resample_kernel"};
static const kw_gpu_kernel backward_kernel = {&resample_module, "kw_resample_backward_kernel"};

/* `code` of all ops: taps, and whether the nearest element is that of the middle. */
#define MIDDLE 16

/* Whether a scale says the same as the images' sizes, and so need not be looked at. */
static bool is_plain(double scale, int64_t small, int64_t large) {
  return scale == 0 || (scale >= 1 && scale <= 0x1p31 && (double)(int64_t)scale == scale &&
                        small <= INT64_MAX / (int64_t)scale && small * (int64_t)scale == large);
}

/* How far an element of the large image is from the next, in elements of the small one. */
static double step_along(double scale, int64_t small, int64_t large, bool corners) {
  if (corners) return large > 1 ? (double)(small - 1) / (double)(large - 1) : 0;
  return scale > 0 ? 1 / scale : (double)small / (double)large;
}

/* Arguments from `rest` on: align_corners, where the kind has it, then a scale or none for each dimension. */
static void lower(kw_gpu_plan *plan, const kw_gpu_op *op, const kw_gpu_kernel *kernel, const kw_gpu_tensor *large,
                  const kw_gpu_tensor *small, uint32_t rest) {
  const kw_gpu_device *device = plan->call->device;
  kw_gpu_tensor out = kw_gpu_output(plan, 0), in = kw_gpu_input(plan, 0);
  const uint32_t dims = small->ref.rank - 2u;
  const int64_t taps = op->code % MIDDLE;
  const bool corners = taps != KW_TAPS_NEAREST && kw_gpu_bool(plan, rest, false);
  const uint32_t scales = rest + (taps != KW_TAPS_NEAREST);
  kw_resample block = {.large = kw_gpu_frame(large, dims), .small = kw_gpu_frame(small, dims), .numel = out.ref.numel};
  double steps[3] = {0};
  block.flags = (corners ? KW_RESAMPLE_CORNERS : 0) | (op->code & MIDDLE ? KW_RESAMPLE_MIDDLE : 0);
  for (uint32_t d = 0; d < 3; ++d) {
    block.taps[d] = KW_TAPS_NEAREST;
    if (d < 3 - dims) continue;
    const double scale = kw_gpu_real(plan, scales + d - (3 - dims), 0);
    block.taps[d] = taps;
    steps[d] = step_along(scale, block.small.shape[d + 2], block.large.shape[d + 2], corners);
    if (taps == KW_TAPS_NEAREST && !is_plain(scale, block.small.shape[d + 2], block.large.shape[d + 2])) {
      memcpy(&block.scale[d], &scale, sizeof scale);
      if (!device->has_f64) kw_gpu_refuse(plan, "takes scales in f64: this device has no double precision");
    }
  }
  kw_gpu_step *step = kw_gpu_step_add(plan, kernel, out.ref.dtype);
  kw_gpu_step_operand(step, &out);
  kw_gpu_step_operand(step, &in);
  kw_gpu_step_block(step, &block, sizeof block);
  for (int d = 0; d < 3 && kernel != &nearest_kernel; ++d) kw_gpu_step_number(step, steps[d]);
  kw_gpu_step_stretches(plan, step, block.numel);
}

static void lower_forward(kw_gpu_plan *plan, const kw_gpu_op *op) {
  kw_gpu_tensor out = kw_gpu_output(plan, 0), in = kw_gpu_input(plan, 0);
  lower(plan, op, op->code % MIDDLE == KW_TAPS_NEAREST ? &nearest_kernel : &resample_kernel, &out, &in, 2);
}

static void lower_backward(kw_gpu_plan *plan, const kw_gpu_op *op) {
  kw_gpu_tensor out = kw_gpu_output(plan, 0), grad = kw_gpu_input(plan, 0);
  lower(plan, op, &backward_kernel, &grad, &out, 3);
}

static const kw_gpu_op ops[] = {
    {"upsample_nearest1d", lower_forward, KW_TAPS_NEAREST, 0, KW_DTYPES_FLOAT},
    {"upsample_nearest2d", lower_forward, KW_TAPS_NEAREST, 0, KW_DTYPES_FLOAT},
    {"upsample_nearest3d", lower_forward, KW_TAPS_NEAREST, 0, KW_DTYPES_FLOAT},
    {"_upsample_nearest_exact2d", lower_forward, KW_TAPS_NEAREST | MIDDLE, 0, KW_DTYPES_FLOAT},
    {"upsample_linear1d", lower_forward, KW_TAPS_LINEAR, 0, KW_DTYPES_FLOAT},
    {"upsample_bilinear2d", lower_forward, KW_TAPS_LINEAR, 0, KW_DTYPES_FLOAT},
    {"upsample_trilinear3d", lower_forward, KW_TAPS_LINEAR, 0, KW_DTYPES_FLOAT},
    {"upsample_bicubic2d", lower_forward, KW_TAPS_CUBIC, 0, KW_DTYPES_FLOAT},
    {"upsample_nearest2d_backward", lower_backward, KW_TAPS_NEAREST, 0, KW_DTYPES_FLOAT},
    {"upsample_bilinear2d_backward", lower_backward, KW_TAPS_LINEAR, 0, KW_DTYPES_FLOAT},
    {0},
};

const kw_gpu_family kw_gpu_resample_family = {ops, {&resample_module}};
