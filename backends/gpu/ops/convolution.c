/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution and its gradients.
 *
 * What they have in common, transposed ones too: `windows` [n, a, window...] has an element for each position of the
 * window, `field` [n, b, position...] is what the window moves over, and the weight is [a, b / groups, tap...]. Each of
 * the three is a sum of products of the other two, over all (n, window, tap) whose position is inside the field: a
 * matrix product for each group, described to the kernel by kw_convolution.
 */
#include "kernel_sources.h"
#include "lower/dialect.h"
#include "ops/families.h"
#include "ops/matmul.h"
#include "ops/moves.h"
#include "ops/reduce.h"
#include "program/dtype.h"

#include "kernels/convolution_args.kw"

#include <string.h>

static const kw_gpu_module convolution_module = {"convolution",
                                                 KW_GPU_BY_DTYPE,
                                                 KW_DTYPES_FLOAT,
                                                 {kw_gpu_source_convolution_args, kw_gpu_source_convolution_at,
                                                  kw_gpu_source_block, kw_gpu_source_tile, kw_gpu_source_convolution}};
static const kw_gpu_module panels_module = {
    "convolution_panels",
    KW_GPU_RUNS_BY_DTYPE,
    KW_DTYPES_FLOAT | KW_GPU_VECTORS,
    {kw_gpu_source_convolution_args, kw_gpu_source_convolution_at, kw_gpu_source_convolution_panels}};

static const kw_gpu_module lines_module = {
    "convolution_lines",
    KW_GPU_BY_DTYPE,
    KW_DTYPES_FLOAT | KW_GPU_VECTORS,
    {kw_gpu_source_convolution_args, kw_gpu_source_convolution_at, kw_gpu_source_convolution_lines}};

static const kw_gpu_kernel tiled_kernel = {&convolution_module, "kw_convolution_kernel"};
static const kw_gpu_kernel pack_kernel = {&panels_module, "kw_convolution_pack_kernel"};
static const kw_gpu_kernel lines_kernel = {&lines_module, "kw_convolution_lines_kernel"};
static const kw_gpu_kernel narrow_kernel = {&convolution_module, "kw_convolution_narrow_kernel"};

#define SPATIAL 3

/* Groups of no more rows and products than these take an item for each element instead of tiles, or for each line
 * instead of panels. */
#define NARROW_ROWS 2
#define NARROW_DEPTH KW_CONVOLUTION_TAPS

/* A product with fewer tiles than this is cut along k, into pieces of DEPTH_STEP at least. */
#define ENOUGH_TILES 256
#define DEPTH_STEP (64 * KW_PRODUCT_SLICE)

/* Terms of a panel that an item lays out, about. */
#define TERMS_AT_ONCE 256

/* Products of a convolution by fractions of a position, from which on it is done phase by phase. */
#define PHASES_FROM (INT64_C(1) << 24)

/* ---- Images ------------------------------------------------------------------------------------------------------ */

/* A tensor [n, c, spatial...]; spatial dimensions that are missing are leading ones of size 1. */
typedef struct image {
  int64_t n, c, size[SPATIAL];
  int64_t n_step, c_step, step[SPATIAL];
} image;

static image image_of(const kw_gpu_tensor *tensor) {
  const kw_tensor_ref *ref = &tensor->ref;
  image m = {
      .n = ref->shape[0], .c = ref->shape[1], .size = {1, 1, 1}, .n_step = ref->strides[0], .c_step = ref->strides[1]};
  for (uint32_t d = 2; d < ref->rank; ++d) {
    m.size[SPATIAL - ref->rank + d] = ref->shape[d];
    m.step[SPATIAL - ref->rank + d] = ref->strides[d];
  }
  return m;
}

static int64_t count_positions(const int64_t *size) {
  return size[0] * size[1] * size[2];
}

/* ---- What a call says -------------------------------------------------------------------------------------------- */

typedef struct movement {
  int64_t stride[SPATIAL], padding[SPATIAL], dilation[SPATIAL];
  bool transposed;
  int64_t groups;
} movement;

/* A list for the last `dims` of the spatial dimensions: one number for each, or one for all. */
static void read_spatial(const kw_value *list, uint32_t dims, int64_t missing, int64_t *out) {
  for (uint32_t d = 0; d < SPATIAL; ++d) {
    uint32_t given = SPATIAL - dims;
    out[d] = d < given ? missing : list->u.ints[list->count == 1 ? 0 : d - given];
  }
}

/* From argument `first` on: stride, padding, dilation, transposed, output_padding and groups. */
static movement read_movement(const kw_gpu_plan *plan, uint32_t first, uint32_t dims) {
  movement v = {.transposed = kw_gpu_bool(plan, first + 3, false), .groups = kw_gpu_int(plan, first + 5, 1)};
  read_spatial(kw_gpu_argument(plan, first), dims, 1, v.stride);
  read_spatial(kw_gpu_argument(plan, first + 1), dims, 0, v.padding);
  read_spatial(kw_gpu_argument(plan, first + 2), dims, 1, v.dilation);
  return v;
}

/* ---- Products ---------------------------------------------------------------------------------------------------- */

static void copy3(kw_i64 *to, const int64_t *from, int64_t factor) {
  for (int d = 0; d < SPATIAL; ++d) to[d] = factor * from[d];
}

/* out: its elements are columns but for their channels, which are rows. */
static void describe_out(kw_convolution *block, const image *out, int64_t rows) {
  block->rows = rows;
  block->cols = out->n * count_positions(out->size);
  block->out_group = rows * out->c_step;
  block->out_row = out->c_step;
  block->out_outer = out->n_step;
  copy3(block->c_size, out->size, 1);
  copy3(block->out_step, out->step, 1);
}

static void describe_right(kw_convolution *block, const image *right, int64_t channels) {
  block->right_group = channels * right->c_step;
  copy3(block->right_size, right->size, 1);
  copy3(block->right_step, right->step, 1);
  for (int d = 0; d < SPATIAL; ++d) block->divide[d] = 1;
}

/* The weight on the left: k is a channel of the side that is added up, and a tap. */
static void describe_weight(kw_convolution *block, const image *weight, int64_t channels, int64_t group, bool by_a) {
  block->depth = channels * count_positions(weight->size);
  block->left_group = group * weight->n_step;
  block->left_row = by_a ? weight->c_step : weight->n_step;
  block->left_outer = by_a ? weight->n_step : weight->c_step;
  copy3(block->k_size, weight->size, 1);
  copy3(block->left_step, weight->step, 1);
}

static kw_convolution describe_windows(const movement *v, const image *windows, const image *field,
                                       const image *weight) {
  const int64_t count = windows->c / v->groups;
  kw_convolution block = {.groups = v->groups, .right_k_outer = field->c_step, .right_c_outer = field->n_step};
  describe_out(&block, windows, count);
  describe_weight(&block, weight, weight->c, count, false);
  describe_right(&block, field, weight->c);
  copy3(block.c_scale, v->stride, 1);
  copy3(block.shift, v->padding, -1);
  copy3(block.k_scale, v->dilation, 1);
  return block;
}

/* A gather: the windows from which some tap names the position. */
static kw_convolution describe_field(const movement *v, const image *windows, const image *field, const image *weight) {
  const int64_t count = windows->c / v->groups;
  kw_convolution block = {.groups = v->groups, .right_k_outer = windows->c_step, .right_c_outer = windows->n_step};
  describe_out(&block, field, weight->c);
  describe_weight(&block, weight, count, count, true);
  describe_right(&block, windows, count);
  copy3(block.shift, v->padding, 1);
  copy3(block.k_scale, v->dilation, -1);
  copy3(block.divide, v->stride, 1);
  for (int d = 0; d < SPATIAL; ++d) block.c_scale[d] = 1;
  return block;
}

/* Rows are channels of the windows, columns channels of the field and taps, and k runs over the batch and its windows.
 */
static kw_convolution describe_taps(const movement *v, const image *windows, const image *field, const image *weight) {
  const int64_t count = windows->c / v->groups;
  kw_convolution block = {.groups = v->groups,
                          .rows = count,
                          .cols = weight->c * count_positions(weight->size),
                          .depth = windows->n * count_positions(windows->size),
                          .out_group = count * weight->n_step,
                          .out_row = weight->n_step,
                          .out_outer = weight->c_step,
                          .left_group = count * windows->c_step,
                          .left_row = windows->c_step,
                          .left_outer = windows->n_step,
                          .right_k_outer = field->n_step,
                          .right_c_outer = field->c_step};
  describe_right(&block, field, weight->c);
  copy3(block.c_size, weight->size, 1);
  copy3(block.out_step, weight->step, 1);
  copy3(block.k_size, windows->size, 1);
  copy3(block.left_step, windows->step, 1);
  copy3(block.c_scale, v->dilation, 1);
  copy3(block.shift, v->padding, -1);
  copy3(block.k_scale, v->stride, 1);
  return block;
}

static int64_t tiles_of(const kw_convolution *block) {
  return block->groups * ((block->rows + KW_PRODUCT_TILE - 1) / KW_PRODUCT_TILE) *
         ((block->cols + KW_PRODUCT_TILE - 1) / KW_PRODUCT_TILE);
}

static bool is_narrow(const kw_convolution *block) {
  return block->rows <= NARROW_ROWS && block->depth <= NARROW_DEPTH;
}

/* All but the grid. */
static kw_gpu_step *add_step(kw_gpu_plan *plan, const kw_gpu_kernel *kernel, kw_convolution *block, kw_dtype dtype,
                             const kw_gpu_tensor *out, const kw_gpu_tensor *left, const kw_gpu_tensor *right,
                             const kw_gpu_tensor *bias) {
  const bool biased = bias && kw_gpu_present(bias);
  kw_gpu_step *step = kw_gpu_step_add(plan, kernel, dtype);
  kw_gpu_step_operand(step, out);
  kw_gpu_step_operand(step, left);
  kw_gpu_step_operand(step, right);
  kw_gpu_step_operand(step, bias);
  if (biased) block->bias_step = bias->ref.strides[0];
  kw_gpu_step_block(step, block, sizeof *block);
  kw_gpu_step_int(step, biased);
  return step;
}

static void launch(kw_gpu_plan *plan, kw_convolution *block, kw_dtype dtype, const kw_gpu_tensor *out,
                   const kw_gpu_tensor *left, const kw_gpu_tensor *right, const kw_gpu_tensor *bias) {
  const bool narrow = is_narrow(block);
  kw_gpu_step *step = add_step(plan, narrow ? &narrow_kernel : &tiled_kernel, block, dtype, out, left, right, bias);
  if (narrow) {
    kw_gpu_step_items(step, block->groups * block->rows * block->cols);
  } else {
    kw_gpu_step_int(step, out->ref.dtype != dtype);
    kw_gpu_step_grid(step, KW_LOCAL_PRODUCT, 1, tiles_of(block) * block->chunks, 1);
  }
}

static void product_of_tiles(kw_gpu_plan *plan, kw_convolution *block, const kw_gpu_tensor *out,
                             const kw_gpu_tensor *left, const kw_gpu_tensor *right, const kw_gpu_tensor *bias) {
  block->chunks = 1;
  block->chunk = block->depth > 0 ? (block->depth + DEPTH_STEP - 1) / DEPTH_STEP * DEPTH_STEP : DEPTH_STEP;
  launch(plan, block, out->ref.dtype, out, left, right, bias);
}

/* ---- On devices that compute in vectors -------------------------------------------------------------------------- */

static void product_of_lines(kw_gpu_plan *plan, kw_convolution *block, const kw_gpu_tensor *out,
                             const kw_gpu_tensor *left, const kw_gpu_tensor *right, const kw_gpu_tensor *bias) {
  kw_gpu_step *step = add_step(plan, &lines_kernel, block, out->ref.dtype, out, left, right, bias);
  const int64_t width = block->c_size[2], pieces = (width + KW_CONVOLUTION_LINE - 1) / KW_CONVOLUTION_LINE;
  kw_gpu_step_rows(plan, step, out->ref.numel > 0 ? block->groups * block->rows * (block->cols / width) * pieces : 0,
                   1);
}

/* The left matrices [groups, rows, depth], in the compute dtype. */
static kw_gpu_tensor left_matrices(kw_gpu_plan *plan, const kw_convolution *block, const kw_gpu_tensor *left,
                                   int64_t numbers) {
  const int64_t *size = block->k_size, *step = block->left_step;
  const kw_gpu_tensor view =
      kw_gpu_strided(left, 6, (int64_t[]){block->groups, block->rows, numbers, size[0], size[1], size[2]},
                     (int64_t[]){block->left_group, block->left_row, block->left_outer, step[0], step[1], step[2]});
  const kw_gpu_tensor whole = kw_gpu_contiguous(plan, &view, kw_gpu_compute_dtype(left->ref.dtype));
  return kw_gpu_reshape(&whole, 3, (int64_t[]){block->groups, block->rows, block->depth});
}

/* The right matrices [groups, matrices, panels, depth * columns of a panel]. */
static kw_gpu_tensor right_panels(kw_gpu_plan *plan, const kw_convolution *block, const kw_gpu_tensor *right,
                                  int64_t span) {
  const kw_dtype dtype = right->ref.dtype;
  const int64_t lanes = kw_gpu_panel_columns(plan, dtype), panels = (span + lanes - 1) / lanes;
  const int64_t positions = count_positions(block->k_size), numbers = positions > 0 ? block->depth / positions : 0;
  const int64_t each = numbers > 0 && numbers < TERMS_AT_ONCE ? TERMS_AT_ONCE / numbers : 1;
  const kw_gpu_tensor out =
      kw_gpu_temporary(plan, kw_gpu_compute_dtype(dtype), 4,
                       (int64_t[]){block->groups, block->cols / span, panels, block->depth * lanes});
  kw_gpu_step *step = kw_gpu_step_add(plan, &pack_kernel, dtype);
  kw_gpu_step_operand(step, &out);
  kw_gpu_step_operand(step, right);
  kw_gpu_step_block(step, block, sizeof *block);
  kw_gpu_step_long(step, span);
  kw_gpu_step_long(step, each);
  const int64_t parts = block->depth > 0 ? (positions + each - 1) / each : 0;
  kw_gpu_step_grid(step, 1, 1, block->groups * (block->cols / span) * panels * parts, 1);
  return out;
}

/* `out` is contiguous. Its columns are a matrix for each `span` of them. */
static void product_of_panels(kw_gpu_plan *plan, const kw_convolution *block, int64_t span, const kw_gpu_tensor *out,
                              const kw_gpu_tensor *left, const kw_gpu_tensor *right, const kw_gpu_tensor *bias) {
  const int64_t positions = count_positions(block->k_size), matrices = span > 0 ? block->cols / span : 0;
  const int64_t shape[4] = {block->groups, matrices, block->rows, span}, depth = block->depth;
  if (out->ref.numel == 0) return;
  const kw_gpu_tensor a = left_matrices(plan, block, left, positions > 0 ? depth / positions : 0);
  const kw_gpu_tensor b = right_panels(plan, block, right, span);
  const kw_gpu_tensor rows = kw_gpu_strided(&a, 4, (int64_t[]){shape[0], shape[1], shape[2], depth},
                                            (int64_t[]){shape[2] * depth, 0, depth, 1});
  const kw_gpu_tensor to =
      kw_gpu_strided(out, 4, shape, (int64_t[]){block->out_group, block->out_outer, block->out_row, 1});
  kw_gpu_tensor self;
  const bool biased = bias && kw_gpu_present(bias);
  if (biased) {
    const int64_t step = bias->ref.strides[0];
    self = kw_gpu_strided(bias, 4, shape, (int64_t[]){shape[2] * step, 0, step, 0});
  }
  kw_gpu_step_panel_product(plan, out->ref.dtype,
                            &(kw_gpu_product){.out = &to, .a = &rows, .b = &b, .self = biased ? &self : NULL}, span);
}

/* Of a convolution that goes by fractions of a position, the positions that lie alike: number `phase` of them. They
 * have every block->divide-th tap, from the first that falls on an element on, and step by whole positions. `from`,
 * `taps`: the phase's first position, and its first tap. */
static kw_convolution phase_of(const kw_convolution *block, int64_t phase, int64_t *from, int64_t *taps) {
  kw_convolution part = *block;
  for (int d = SPATIAL; d-- > 0; phase /= block->divide[d]) {
    const int64_t by = block->divide[d];
    from[d] = phase % by;
    for (taps[d] = 0; (block->shift[d] + from[d] + taps[d] * block->k_scale[d]) % by != 0;) ++taps[d];
    part.shift[d] = (block->shift[d] + from[d] + taps[d] * block->k_scale[d]) / by;
    part.c_size[d] = (block->c_size[d] - from[d] + by - 1) / by;
    part.k_size[d] = (block->k_size[d] - taps[d] + by - 1) / by;
    part.left_step[d] *= by;
    part.divide[d] = 1;
  }
  part.depth = block->depth / count_positions(block->k_size) * count_positions(part.k_size);
  part.cols = block->cols / count_positions(block->c_size) * count_positions(part.c_size);
  part.out_row = count_positions(part.c_size);
  part.out_group = part.rows * part.out_row;
  part.out_outer = part.groups * part.out_group;
  return part;
}

static int64_t common_divisor(int64_t a, int64_t b) {
  return b == 0 ? a : common_divisor(b, a % b);
}

/* Whether products are worth a phase each: most taps fall between elements, and each phase has some that do not. */
static bool has_phases(const kw_convolution *block) {
  for (int d = 0; d < SPATIAL; ++d) {
    const int64_t by = block->divide[d];
    if (by > block->k_size[d] || by > block->c_size[d] || block->c_scale[d] != 1) return false;
    if (common_divisor(by, -block->k_scale[d]) != 1) return false;
  }
  return count_positions(block->divide) > 1 && block->groups * block->rows * block->cols * block->depth >= PHASES_FROM;
}

static void product_of_phases(kw_gpu_plan *plan, const kw_convolution *block, const kw_gpu_tensor *out,
                              const kw_gpu_tensor *left, const kw_gpu_tensor *right, const kw_gpu_tensor *bias) {
  const int64_t size = kw_gpu_dtype_size(out->ref.dtype), numbers = block->cols / count_positions(block->c_size);
  for (int64_t phase = 0; phase < count_positions(block->divide); ++phase) {
    int64_t from[SPATIAL], taps[SPATIAL];
    const kw_convolution part = phase_of(block, phase, from, taps);
    const int64_t *c = part.c_size, *step = block->out_step, *by = block->divide;
    const int64_t shape[] = {numbers, part.groups * part.rows, c[0], c[1], c[2]};
    const kw_gpu_tensor made = kw_gpu_temporary(plan, out->ref.dtype, 5, shape);
    kw_gpu_tensor weight = *left, to = *out;
    for (int d = 0; d < SPATIAL; ++d) {
      weight.at.offset += (uint64_t)(taps[d] * block->left_step[d] * size);
      to.at.offset += (uint64_t)(from[d] * step[d] * size);
    }
    product_of_panels(plan, &part, count_positions(c), &made, &weight, right, bias);
    to = kw_gpu_strided(
        &to, 5, shape,
        (int64_t[]){block->out_outer, block->out_row, by[0] * step[0], by[1] * step[1], by[2] * step[2]});
    kw_gpu_copy(plan, &to, &made);
  }
}

/* ---- Either ------------------------------------------------------------------------------------------------------ */

static bool has_panels(const kw_gpu_plan *plan, const kw_gpu_tensor *out) {
  return kw_gpu_panel_columns(plan, out->ref.dtype) > 1;
}

/* A result that panels can be multiplied to. */
static kw_gpu_tensor target_of(kw_gpu_plan *plan, const kw_gpu_tensor *out) {
  return has_panels(plan, out) ? kw_gpu_staging(plan, out, out->ref.dtype) : *out;
}

/* `out` is a target. */
static void product(kw_gpu_plan *plan, kw_convolution *block, const kw_gpu_tensor *out, const kw_gpu_tensor *left,
                    const kw_gpu_tensor *right, const kw_gpu_tensor *bias) {
  if (has_panels(plan, out) && is_narrow(block)) {
    product_of_lines(plan, block, out, left, right, bias);
  } else if (has_panels(plan, out) && has_phases(block)) {
    product_of_phases(plan, block, out, left, right, bias);
  } else if (has_panels(plan, out)) {
    product_of_panels(plan, block, count_positions(block->c_size), out, left, right, bias);
  } else {
    product_of_tiles(plan, block, out, left, right, bias);
  }
}

/* The weight's gradient: few tiles and many products, so that pieces of k take a group each, and are then added up. */
static void taps_of_tiles(kw_gpu_plan *plan, const movement *v, const image *windows, const image *field,
                          const kw_gpu_tensor *out, const kw_gpu_tensor *left, const kw_gpu_tensor *right) {
  image weight = image_of(out);
  kw_convolution block = describe_taps(v, windows, field, &weight);
  const int64_t tiles = tiles_of(&block), pieces = (block.depth + DEPTH_STEP - 1) / DEPTH_STEP;
  if (tiles >= ENOUGH_TILES || pieces < 2) {
    product_of_tiles(plan, &block, out, left, right, NULL);
    return;
  }
  const int64_t wanted = tiles > 0 ? (ENOUGH_TILES + tiles - 1) / tiles : 1;
  const int64_t each = (pieces + wanted - 1) / wanted;
  const kw_dtype dtype = out->ref.dtype, wide = kw_gpu_compute_dtype(dtype);
  block.chunk = each * DEPTH_STEP;
  block.chunks = (pieces + each - 1) / each;
  int64_t shape[1 + KW_MAX_RANK] = {block.chunks};
  memcpy(shape + 1, out->ref.shape, out->ref.rank * sizeof *shape);
  kw_gpu_tensor parts = kw_gpu_temporary(plan, wide, out->ref.rank + 1u, shape);
  kw_gpu_tensor one = kw_gpu_reshape(&parts, out->ref.rank, out->ref.shape);
  weight = image_of(&one);
  kw_convolution piece = describe_taps(v, windows, field, &weight);
  piece.chunk = block.chunk;
  piece.chunks = block.chunks;
  piece.out_chunk = one.ref.numel;
  launch(plan, &piece, dtype, &parts, left, right, NULL);
  kw_gpu_tensor sum = dtype == wide ? *out : kw_gpu_temporary(plan, wide, out->ref.rank, out->ref.shape);
  kw_gpu_reduce(plan, KW_REDUCE_SUM, &sum, &parts, 1);
  if (dtype != wide) kw_gpu_copy(plan, out, &sum);
}

/* As one matrix: its columns are channels and taps, which lie side by side in a target. */
static void product_of_taps(kw_gpu_plan *plan, const movement *v, const image *windows, const image *field,
                            const kw_gpu_tensor *out, const kw_gpu_tensor *left, const kw_gpu_tensor *right) {
  if (!has_panels(plan, out)) {
    taps_of_tiles(plan, v, windows, field, out, left, right);
    return;
  }
  const image weight = image_of(out);
  const kw_convolution block = describe_taps(v, windows, field, &weight);
  product_of_panels(plan, &block, block.cols, out, left, right, NULL);
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

static void lower_convolution(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor out = kw_gpu_output(plan, 0), input = kw_gpu_input(plan, 0), weight = kw_gpu_input(plan, 1),
                bias = kw_gpu_input(plan, 2);
  const movement v = read_movement(plan, 3, input.ref.rank - 2u);
  const kw_gpu_tensor target = target_of(plan, &out);
  const image from = image_of(&input), to = image_of(&target), taps = image_of(&weight);
  kw_convolution block = v.transposed ? describe_field(&v, &from, &to, &taps) : describe_windows(&v, &to, &from, &taps);
  product(plan, &block, &target, &weight, &input, &bias);
  kw_gpu_deliver(plan, &target, &out);
}

/* The gradient of the input is what the other kind of convolution makes of grad_output. */
static void lower_convolution_backward(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor grad = kw_gpu_input(plan, 0), input = kw_gpu_input(plan, 1), weight = kw_gpu_input(plan, 2);
  kw_gpu_tensor by_input = kw_gpu_output(plan, 0), by_weight = kw_gpu_output(plan, 1), by_bias = kw_gpu_output(plan, 2);
  const movement v = read_movement(plan, 4, input.ref.rank - 2u);
  const image grads = image_of(&grad), taps = image_of(&weight), inputs = image_of(&input);
  if (kw_gpu_present(&by_input)) {
    const kw_gpu_tensor target = target_of(plan, &by_input);
    const image to = image_of(&target);
    kw_convolution block =
        v.transposed ? describe_windows(&v, &to, &grads, &taps) : describe_field(&v, &grads, &to, &taps);
    product(plan, &block, &target, &weight, &grad, NULL);
    kw_gpu_deliver(plan, &target, &by_input);
  }
  if (kw_gpu_present(&by_weight)) {
    const image *windows = v.transposed ? &inputs : &grads, *field = v.transposed ? &grads : &inputs;
    const kw_gpu_tensor target = target_of(plan, &by_weight);
    product_of_taps(plan, &v, windows, field, &target, v.transposed ? &input : &grad, v.transposed ? &grad : &input);
    kw_gpu_deliver(plan, &target, &by_weight);
  }
  if (kw_gpu_present(&by_bias)) {
    const uint32_t all = (1u << grad.ref.rank) - 1u;
    kw_gpu_reduce(plan, KW_REDUCE_SUM, &by_bias, &grad, all & ~2u);
  }
}

static const kw_gpu_op ops[] = {
    {"convolution", lower_convolution, 0, 0, KW_DTYPES_FLOAT},
    {"convolution_backward", lower_convolution_backward, 0, 0, KW_DTYPES_FLOAT},
    {0},
};

const kw_gpu_family kw_gpu_convolution_family = {ops, {&convolution_module, &panels_module, &lines_module}};
