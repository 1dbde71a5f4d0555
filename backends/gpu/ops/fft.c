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
    "fft", KW_GPU_BY_DTYPE, KW_DTYPES_WIDE_FLOAT, {kw_gpu_source_fft_args, kw_gpu_source_fft}};
static const kw_gpu_kernel table_kernel = {&fft_module, "kw_fft_table_kernel"};
static const kw_gpu_kernel few_kernel = {&fft_module, "kw_fft_few_kernel"};
static const kw_gpu_kernel pass_kernel = {&fft_module, "kw_fft_pass_kernel"};
static const kw_gpu_kernel multiply_kernel = {&fft_module, "kw_fft_multiply_kernel"};
static const kw_gpu_kernel mirror_kernel = {&fft_module, "kw_fft_mirror_kernel"};

/* A pass reads `radix` numbers for each that it writes, unless that is 2, 4 or 8: of composite radices small ones cost
 * least. */
#define COMPOSITE_RADIX 8
#define PRIME_RADIX 61

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

/* How often all lines of this length are written where they are (see struct work). */
static uint32_t count_writes(int64_t n) {
  uint32_t passes = count_passes(n);
  return passes == 0 && n > 1 ? 1 : passes;
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

/* A dense block, transformed along n. */
typedef struct lines {
  int64_t outer, n, inner;
} lines;

/* Numbers on their way from step to step. */
typedef struct work {
  kw_gpu_plan *plan;
  kw_dtype part, pair; /* dtypes of a part, and of a number */
  kw_gpu_tensor at;    /* where they are now */
  kw_gpu_tensor room[2];
  int64_t size;    /* of a room, in numbers */
  uint32_t turn;   /* the room written last */
  uint32_t writes; /* that are to come; the last of them goes to `end` if there is one, and is scaled */
  kw_gpu_tensor end;
  double scale;
} work;

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

/* `roots`: those of l.n. */
static void run_passes(work *w, lines l, const kw_gpu_tensor *roots, bool forward) {
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
  kw_gpu_tensor roots = table(w, KW_FFT_ROOTS, false, longer.n, longer.n, 1);
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
  kw_gpu_tensor roots = table(w, KW_FFT_ROOTS, false, l.n, l.n, 1);
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
    w->writes += count_writes(r.shape[r.dims[k]]);
  }
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

static void lower_fft(kw_gpu_plan *plan, const kw_gpu_op *op) {
  kw_gpu_tensor out = kw_gpu_output(plan, 0), self = kw_gpu_input(plan, 0);
  const bool wide = self.ref.dtype == KW_F64 || self.ref.dtype == KW_C128;
  const bool forward = op->code == R2C || (op->code == C2C && kw_gpu_bool(plan, 3, true));
  work w = {.plan = plan, .part = wide ? KW_F64 : KW_F32, .pair = wide ? KW_C128 : KW_C64, .size = 1};
  const request r = read_call(&w, op->code);
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

const kw_gpu_family kw_gpu_fft_family = {ops, {&fft_module}};
