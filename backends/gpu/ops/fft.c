/* SPDX-License-Identifier: Apache-2.0
 *
 * Fourier transforms: one dimension after the other, in passes of small radices; lengths with a large prime factor by
 * Bluestein's way, as a convolution of a length that is a power of two.
 */
#include "kernel_sources.h"
#include "ops/families.h"
#include "ops/moves.h"

#include "kernels/fft_args.kw"

#include <math.h>
#include <string.h>

static const kw_gpu_module fft_module = {
    "fft", KW_GPU_BY_DTYPE, KW_DTYPES_WIDE_FLOAT, {kw_gpu_source_fft_args, kw_gpu_source_fft_few, kw_gpu_source_fft}};
static const kw_gpu_module lines_module = {"fft_lines",
                                           KW_GPU_RUNS_BY_DTYPE,
                                           KW_DTYPES_WIDE_FLOAT | KW_GPU_VECTORS,
                                           {kw_gpu_source_fft_args, kw_gpu_source_fft_few, kw_gpu_source_fft_lines}};
static const kw_gpu_kernel table_kernel = {&fft_module, "kw_fft_table_kernel"};
static const kw_gpu_kernel few_kernel = {&fft_module, "kw_fft_few_kernel"};
static const kw_gpu_kernel pass_kernel = {&fft_module, "kw_fft_pass_kernel"};
static const kw_gpu_kernel lines_kernel = {&lines_module, "kw_fft_lines_kernel"};
static const kw_gpu_kernel roots_kernel = {&lines_module, "kw_fft_roots_kernel"};
static const kw_gpu_kernel real_kernel = {&lines_module, "kw_fft_real_kernel"};
static const kw_gpu_kernel multiply_kernel = {&fft_module, "kw_fft_multiply_kernel"};
static const kw_gpu_kernel mirror_kernel = {&fft_module, "kw_fft_mirror_kernel"};

/* A pass reads `radix` numbers for each that it writes, unless that is 2, 4 or 8: of composite radices small ones cost
 * least. */
#define COMPOSITE_RADIX 8
#define PRIME_RADIX 61

/* On devices that compute in vectors an item does all passes of a line of no more numbers than this; of a longer one it
 * does as many of a pass. */
#define WHOLE_LINE 16384
#define NUMBERS_OF_PART 4096

/* ---- Lengths ----------------------------------------------------------------------------------------------------- */

/* The radix of the next pass on what is left of a length above 1; 0 where that has only large prime factors. */
static int64_t next_radix(int64_t left) {
  for (int64_t r = COMPOSITE_RADIX; r > 1; --r)
    if (left % r == 0) return r;
  for (int64_t r = COMPOSITE_RADIX + 1; r <= PRIME_RADIX; ++r)
    if (left % r == 0) return r;
  return 0;
}

/* How many passes a length takes; 0 for 1, and for those with a large prime factor. */
static uint32_t count_passes(int64_t n) {
  uint32_t passes = 0;
  for (int64_t radix; n > 1; n /= radix, ++passes) {
    radix = next_radix(n);
    if (radix == 0) return 0;
  }
  return passes;
}

/* Whether lines of this length are done by lines_kernel. */
static bool is_of_lines(const kw_gpu_plan *plan, int64_t n) {
  const kw_gpu_device *device = plan->call->device;
  return device->vector_bytes > 0 && n > 1 && (n & (n - 1)) == 0;
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

/* A dense block, transformed along n. */
typedef struct lines {
  int64_t outer, n, inner;
} lines;

/* Numbers on their way from step to step. */
typedef struct work {
  kw_gpu_plan *plan;
  kw_dtype part, pair;           /* dtypes of a part, and of a number */
  kw_gpu_tensor at;              /* where they are now */
  kw_gpu_tensor room[2], beside; /* `beside`: for what is between the passes of a step */
  int64_t size;                  /* of a room, in numbers */
  uint32_t turn;                 /* the room written last */
  uint32_t writes;               /* that are to come; the last of them goes to `end` if there is one, and is scaled */
  kw_gpu_tensor end;
  double scale;
} work;

/* The radix of the next pass of lines_kernel on what is left of l.n. */
static int64_t line_radix(const work *w, lines l, int64_t left) {
  const kw_gpu_device *device = w->plan->call->device;
  const int64_t lanes = l.inner == 1 ? kw_gpu_lanes(&lines_module, w->part, device->vector_bytes) : 1;
  return KW_FFT_LINE_RADIX(left, lanes);
}

static int64_t count_line_passes(const work *w, lines l) {
  int64_t passes = 0;
  for (int64_t left = l.n; left > 1; ++passes) left /= line_radix(w, l, left);
  return passes;
}

/* How often all lines are written where they are (see struct work). */
static int64_t count_writes(const work *w, lines l) {
  if (is_of_lines(w->plan, l.n)) return l.n <= WHOLE_LINE ? 1 : count_line_passes(w, l);
  return l.n > 1 && count_passes(l.n) == 0 ? 1 : count_passes(l.n);
}

/* Where the next step writes; at->at stays what it reads. */
static kw_gpu_tensor next_room(work *w, double *out_scale) {
  bool last = w->writes > 0 && --w->writes == 0;
  *out_scale = last ? w->scale : 1;
  if (last && kw_gpu_present(&w->end)) return w->end;
  w->turn ^= 1;
  if (!kw_gpu_present(&w->room[w->turn]))
    w->room[w->turn] = kw_gpu_temporary(w->plan, w->pair, 1, (int64_t[]){w->size});
  return w->room[w->turn];
}

static kw_gpu_tensor table(const work *w, int32_t kind, bool conjugate, int64_t count, int64_t n, double scale) {
  kw_gpu_tensor values = kw_gpu_temporary(w->plan, w->pair, 1, &count);
  const kw_fft_table block = {.count = count, .n = n};
  kw_gpu_step *step = kw_gpu_step_add(w->plan, &table_kernel, w->part);
  kw_gpu_step_operand(step, &values);
  kw_gpu_step_block(step, &block, sizeof block);
  kw_gpu_step_int(step, kind);
  kw_gpu_step_int(step, conjugate);
  kw_gpu_step_number(step, scale);
  kw_gpu_step_items(step, count);
  return values;
}

/* The first `count` of the roots of 1 of degree n. */
static kw_gpu_tensor roots_of(const work *w, int64_t count, int64_t n) {
  if (!is_of_lines(w->plan, n) || n < 8) return table(w, KW_FFT_ROOTS, false, count, n, 1);
  const kw_gpu_tensor values = kw_gpu_temporary(w->plan, w->pair, 1, &count);
  const kw_fft_table block = {.count = count, .n = n};
  kw_gpu_step *step = kw_gpu_step_add(w->plan, &roots_kernel, w->part);
  kw_gpu_step_operand(step, &values);
  kw_gpu_step_block(step, &block, sizeof block);
  kw_gpu_step_parts(step, n / 8 + 1, KW_FFT_ROOTS_OF_ITEM);
  return values;
}

/* A step from where the numbers are to `to`, lines of `in_n` to lines of l.n numbers. `with`: its table, or NULL. The
 * caller adds values. An item is a number, of few_kernel as many as its radix. */
static kw_gpu_step *advance(work *w, const kw_gpu_kernel *kernel, const kw_gpu_tensor *to, const kw_gpu_tensor *with,
                            lines l, kw_fft block) {
  kw_gpu_step *step = kw_gpu_step_add(w->plan, kernel, w->part);
  kw_gpu_step_operand(step, to);
  kw_gpu_step_operand(step, &w->at);
  if (with) kw_gpu_step_operand(step, with);
  block.numel = l.outer * l.n * l.inner;
  block.n = l.n;
  block.inner = l.inner;
  kw_gpu_step_block(step, &block, sizeof block);
  kw_gpu_step_items(step, kernel == &few_kernel ? block.numel / block.radix : block.numel);
  w->at = *to;
  return step;
}

static void multiply(work *w, lines l, int64_t in_n, const kw_gpu_tensor *by) {
  double scale;
  kw_gpu_tensor to = next_room(w, &scale);
  kw_gpu_step_number(advance(w, &multiply_kernel, &to, by, l, (kw_fft){.in_n = in_n}), scale);
}

/* Passes of l.n, a power of two, from what is joined already on: one, or all. Returns what is joined then. */
static int64_t run_lines(work *w, lines l, const kw_gpu_tensor *roots, bool forward, int64_t done) {
  double scale;
  const kw_gpu_tensor to = next_room(w, &scale), from = w->at;
  const bool whole = l.n <= WHOLE_LINE;
  const int64_t wide = l.inner < KW_FFT_ACROSS ? l.inner : KW_FFT_ACROSS;
  const kw_fft_lines block = {.inner = l.inner,
                              .n = l.n,
                              .done = done,
                              .passes = whole ? count_line_passes(w, l) : 1,
                              .across = (l.inner + KW_FFT_ACROSS - 1) / KW_FFT_ACROSS,
                              .parts = whole ? 1 : l.n * wide / NUMBERS_OF_PART};
  if (block.passes > 1 && !kw_gpu_present(&w->beside))
    w->beside = kw_gpu_temporary(w->plan, w->pair, 1, (int64_t[]){w->size});
  kw_gpu_step *step = kw_gpu_step_add(w->plan, &lines_kernel, w->part);
  kw_gpu_step_operand(step, &to);
  kw_gpu_step_operand(step, block.passes > 1 ? &w->beside : NULL);
  kw_gpu_step_operand(step, &from);
  kw_gpu_step_operand(step, roots);
  kw_gpu_step_block(step, &block, sizeof block);
  kw_gpu_step_int(step, forward);
  kw_gpu_step_number(step, scale);
  kw_gpu_step_grid(step, 1, 1, l.outer * block.across * block.parts, 1);
  w->at = to;
  return whole ? l.n : done * line_radix(w, l, l.n / done);
}

/* `roots`: those of l.n. */
static void run_passes(work *w, lines l, const kw_gpu_tensor *roots, bool forward) {
  if (is_of_lines(w->plan, l.n)) {
    for (int64_t done = 1; done < l.n;) done = run_lines(w, l, roots, forward, done);
    return;
  }
  for (int64_t done = 1, radix; done < l.n; done *= radix) {
    double scale;
    kw_gpu_tensor to = next_room(w, &scale);
    radix = next_radix(l.n / done);
    const kw_gpu_kernel *kernel = radix == 2 || radix == 4 || radix == 8 ? &few_kernel : &pass_kernel;
    kw_gpu_step *step = advance(w, kernel, &to, roots, l, (kw_fft){.in_n = l.n, .radix = radix, .done = done});
    kw_gpu_step_int(step, forward);
    kw_gpu_step_number(step, scale);
  }
}

/* Since j k = (j^2 + k^2 - (k - j)^2) / 2, a transform is a convolution with a chirp, and that two transforms and back
 * of any length from 2 n - 1 on. Their scale is in the filter, so that nothing on the way is larger than the sum of the
 * absolute values. (Bluestein, IEEE Transactions on Audio and Electroacoustics 18, 1970.) */
static void run_bluestein(work *w, lines l, bool forward) {
  int64_t n = l.n;
  lines longer = {.outer = l.outer, .n = 1, .inner = l.inner};
  while (longer.n < 2 * n - 1) longer.n *= 2;
  kw_gpu_tensor roots = roots_of(w, longer.n, longer.n);
  kw_gpu_tensor chirp = table(w, KW_FFT_CHIRP, forward, n, n, 1);
  work filter = {.plan = w->plan,
                 .part = w->part,
                 .pair = w->pair,
                 .at = table(w, KW_FFT_FILTER, forward, longer.n, n, 1 / (double)longer.n),
                 .size = longer.n};
  work inside = {
      .plan = w->plan, .part = w->part, .pair = w->pair, .at = w->at, .size = longer.outer * longer.n * longer.inner};
  run_passes(&filter, (lines){1, longer.n, 1}, &roots, true);
  multiply(&inside, longer, n, &chirp);
  run_passes(&inside, longer, &roots, true);
  multiply(&inside, longer, longer.n, &filter.at);
  run_passes(&inside, longer, &roots, false);
  w->at = inside.at;
  multiply(w, l, longer.n, &chirp);
}

static void transform(work *w, lines l, bool forward) {
  if (l.n == 1) return;
  if (count_passes(l.n) == 0) {
    run_bluestein(w, l, forward);
    return;
  }
  const kw_gpu_tensor roots = roots_of(w, l.n, l.n);
  run_passes(w, l, &roots, forward);
}

static void mirror(work *w, lines l) {
  double scale;
  ++w->writes; /* this is none of those that are counted */
  kw_gpu_tensor to = next_room(w, &scale);
  advance(w, &mirror_kernel, &to, NULL, l, (kw_fft){.in_n = l.n / 2 + 1});
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

/* Which op it is. */
enum { R2C, C2R, C2C };

/* The block that is transformed, with its dimensions in the order that they are taken in. */
typedef struct request {
  uint32_t rank;
  int64_t shape[KW_MAX_RANK]; /* whole, without halves */
  uint32_t count;
  uint32_t dims[KW_MAX_RANK];
  bool from_half; /* of the last of `dims` there is half at first */
} request;

static lines lines_of(const request *r, uint32_t k) {
  lines l = {1, r->shape[r->dims[k]], 1};
  for (uint32_t d = 0; d < r->rank; ++d) {
    int64_t extent = r->shape[d];
    if (r->from_half && k + 1 < r->count && d == r->dims[r->count - 1]) extent = extent / 2 + 1;
    if (d < r->dims[k]) l.outer *= extent;
    if (d > r->dims[k]) l.inner *= extent;
  }
  return l;
}

/* Dimensions, scale, and how many writes there will be. */
static request read_call(work *w, int32_t code) {
  const kw_tensor_ref *self = w->plan->call->args[0].u.tensor;
  const kw_value *dims = kw_gpu_argument(w->plan, 1);
  const int64_t normalization = kw_gpu_int(w->plan, 2, 0);
  request r = {.rank = self->rank, .count = dims->count, .from_half = code == C2R};
  double n = 1;
  memcpy(r.shape, self->shape, sizeof r.shape);
  for (uint32_t k = 0; k < r.count; ++k) {
    r.dims[k] = (uint32_t)(dims->u.ints[k] < 0 ? dims->u.ints[k] + r.rank : dims->u.ints[k]);
    if (r.from_half && k + 1 == r.count) r.shape[r.dims[k]] = kw_gpu_int(w->plan, 3, 1);
    n *= (double)r.shape[r.dims[k]];
  }
  for (uint32_t k = 0; k < r.count; ++k) w->writes += count_writes(w, lines_of(&r, k));
  w->scale = normalization == 0 ? 1 : normalization == 1 ? 1 / sqrt(n) : 1 / n;
  return r;
}

/* A complex tensor's real parts. */
static kw_gpu_tensor real_parts(const kw_gpu_tensor *numbers, kw_dtype part) {
  kw_gpu_tensor parts = *numbers;
  parts.ref.dtype = part;
  for (uint32_t d = 0; d < parts.ref.rank; ++d) parts.ref.strides[d] *= 2;
  return parts;
}

/* ---- Lines of real numbers, on devices that compute in vectors: two of them are a complex one on the way -----------
 */

/* `out`: of half a line, unless all of it is asked for. */
static bool is_real_lines(const kw_gpu_plan *plan, int32_t code, const request *r, const kw_gpu_tensor *out) {
  if (code == C2C || r->count != 1) return false;
  const lines l = lines_of(r, 0);
  if (code == R2C && out->ref.numel != l.outer * (l.n / 2 + 1) * l.inner) return false;
  return l.inner == 1 && l.n >= 4 && is_of_lines(plan, l.n);
}

/* A contiguous tensor of one dimension of the other dtype. */
static kw_gpu_tensor seen_as(const kw_gpu_tensor *tensor, kw_dtype dtype, int64_t count) {
  kw_gpu_tensor seen = *tensor;
  seen.ref.dtype = dtype;
  return kw_gpu_strided(&seen, 1, &count, (int64_t[]){1});
}

/* From the transforms of halves of l to those of l, of which there is half, or back. */
static void real_step(work *w, lines l, bool forward) {
  double scale;
  const kw_gpu_tensor to = next_room(w, &scale), from = w->at;
  const kw_fft block = {.n = forward ? l.n / 2 + 1 : l.n / 2, .in_n = l.n, .inner = 1};
  const kw_gpu_tensor roots = roots_of(w, l.n / 2 + 1, l.n);
  kw_gpu_step *step = kw_gpu_step_add(w->plan, &real_kernel, w->part);
  kw_gpu_step_operand(step, &to);
  kw_gpu_step_operand(step, &from);
  kw_gpu_step_operand(step, &roots);
  kw_gpu_step_block(step, &block, sizeof block);
  kw_gpu_step_int(step, forward);
  kw_gpu_step_number(step, scale);
  kw_gpu_step_grid(step, 1, 1, l.outer * ((block.n + KW_STRETCH - 1) / KW_STRETCH), 1);
  w->at = to;
}

static void lower_real_lines(work *w, const request *r, const kw_gpu_tensor *out, const kw_gpu_tensor *self) {
  const bool forward = !r->from_half;
  const lines l = lines_of(r, 0), half = {l.outer, l.n / 2, 1};
  const int64_t here = l.outer * (l.n / 2), there = forward ? here + l.outer : here;
  const kw_gpu_tensor at = kw_gpu_contiguous(w->plan, self, forward ? w->part : w->pair);
  w->at = forward ? seen_as(&at, w->pair, here) : at;
  w->size = here + l.outer;
  w->writes = count_writes(w, half) + 1;
  if (kw_gpu_is_contiguous(out)) w->end = seen_as(out, w->pair, there);
  if (!forward) real_step(w, l, false);
  const kw_gpu_tensor roots = roots_of(w, half.n, half.n);
  run_passes(w, half, &roots, forward);
  if (forward) real_step(w, l, true);
  if (kw_gpu_present(&w->end)) return;
  const kw_gpu_tensor seen = seen_as(&w->at, out->ref.dtype, out->ref.numel);
  const kw_gpu_tensor result = kw_gpu_reshape(&seen, r->rank, out->ref.shape);
  kw_gpu_copy(w->plan, out, &result);
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

static void lower_fft(kw_gpu_plan *plan, const kw_gpu_op *op) {
  kw_gpu_tensor out = kw_gpu_output(plan, 0), self = kw_gpu_input(plan, 0);
  const bool wide = self.ref.dtype == KW_F64 || self.ref.dtype == KW_C128;
  const bool forward = op->code == R2C || (op->code == C2C && kw_gpu_bool(plan, 3, true));
  work w = {.plan = plan, .part = wide ? KW_F64 : KW_F32, .pair = wide ? KW_C128 : KW_C64, .size = 1};
  const request r = read_call(&w, op->code);
  if (is_real_lines(plan, op->code, &r, &out)) {
    lower_real_lines(&w, &r, &out, &self);
    return;
  }
  for (uint32_t d = 0; d < r.rank; ++d) w.size *= r.shape[d];
  w.at = kw_gpu_contiguous(plan, &self, w.pair);
  if (out.ref.dtype == w.pair && out.ref.numel == w.size && kw_gpu_is_contiguous(&out)) w.end = out;
  for (uint32_t k = 0; k < r.count; ++k) {
    lines l = lines_of(&r, k);
    if (r.from_half && k + 1 == r.count) mirror(&w, l);
    transform(&w, l, forward);
  }
  if (w.at.at.from == KW_GPU_RESULT) return;
  kw_gpu_tensor whole = kw_gpu_reshape(&w.at, r.rank, r.shape), result = whole;
  if (op->code == C2R) result = real_parts(&whole, w.part);
  memcpy(result.ref.shape, out.ref.shape, sizeof result.ref.shape); /* of a half, the beginning */
  kw_gpu_copy(plan, &out, &result);
}

static const kw_gpu_op ops[] = {
    {"_fft_r2c", lower_fft, R2C, 0, KW_DTYPE_BIT(KW_F32) | KW_DTYPE_BIT(KW_F64)},
    {"_fft_c2r", lower_fft, C2R, 0, KW_DTYPES_COMPLEX},
    {"_fft_c2c", lower_fft, C2C, 0, KW_DTYPES_COMPLEX},
    {0},
};

const kw_gpu_family kw_gpu_fft_family = {ops, {&fft_module, &lines_module}};
