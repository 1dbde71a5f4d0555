/* SPDX-License-Identifier: Apache-2.0
 *
 * Fourier transforms: lines along one dimension after the other, as many at once as a vector has lanes. Real lines of
 * even length are taken for complex ones of half of it.
 */
#include "fast.h"

#include "loop.h"
#include "number.h"
#include "strided.h"
#include "walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST 65536 /* numbers of a line: as many lines as a vector has lanes have to find room */
#define GRAIN 8192    /* numbers that a thread is woken for */
#define FEW 3         /* lines one by one take as long as a vector of lines, of which these are the third part */

typedef enum fft_kind {
  WHOLE,
  TO_HALF,  /* real numbers, of whose transform the first half is kept */
  FROM_HALF /* that half, of which real numbers come */
} fft_kind;

/* What is settled for the lines of a dimension. */
typedef struct fft_length {
  int64_t n;
  kw_fft fft;  /* of n numbers, or of half as many pairs */
  bool paired; /* those pairs */
  void *roots; /* owned */
} fft_length;

typedef struct fft_plan {
  kw_lane lane;
  kw_dtype complex_dtype;
  uint32_t count; /* of dimensions, in the order in which they are transformed */
  uint32_t dims[KW_MAX_RANK];
  fft_kind kinds[KW_MAX_RANK];
  fft_length lengths[KW_MAX_RANK];
} fft_plan;

/* ---- Plan -------------------------------------------------------------------------------------------------------- */

static bool is_complex(kw_dtype dtype) {
  return dtype == KW_C64 || dtype == KW_C128;
}

/* The dimensions, with the one that changes from real to complex first, from complex to real last; and n of each. */
static kw_status order_dims(fft_kind op, const kw_call *call, fft_plan *plan, int64_t *lengths) {
  const kw_tensor_ref *self = call->args[0].u.tensor, *out = call->outs[0];
  const kw_value *dims = &call->args[1];
  const bool halves = op == FROM_HALF || (op == TO_HALF && call->args[3].u.b);
  plan->count = dims->count;
  if (out->rank == 0 || plan->count == 0 || plan->count > KW_MAX_RANK) return KW_ERR_NOT_IMPLEMENTED;
  for (uint32_t k = 0; k < plan->count; k++) {
    const uint32_t at = op == TO_HALF ? (k + plan->count - 1) % plan->count : k;
    const bool is_last = at + 1 == plan->count;
    const int64_t named = dims->u.ints[at];
    plan->dims[k] = (uint32_t)(named < 0 ? named + self->rank : named);
    plan->kinds[k] = halves && is_last ? op : WHOLE;
    lengths[k] = (plan->kinds[k] == FROM_HALF ? out : self)->shape[plan->dims[k]];
    if (lengths[k] < 1 || lengths[k] > LONGEST) return KW_ERR_NOT_IMPLEMENTED;
  }
  return KW_OK;
}

static kw_status serves_fft(const kw_call *call) {
  const kw_fast_kernel *kernel = call->user;
  fft_plan plan;
  int64_t lengths[KW_MAX_RANK];
  return order_dims(*(const fft_kind *)kernel->family, call, &plan, lengths);
}

/* exp(2 pi i a / b) for 0 <= a < b, by symmetry from an angle of at most an eighth of a turn, as in the reference. */
static void find_root(int64_t a, int64_t b, double *re, double *im) {
  if (2 * a > b) {
    find_root(b - a, b, re, im);
    *im = -*im;
  } else if (4 * a > b) {
    find_root(b - 2 * a, 2 * b, re, im);
    *re = -*re;
  } else if (8 * a > b) {
    find_root(b - 4 * a, 4 * b, im, re);
  } else {
    const double angle = 2 * 3.14159265358979323846 * (double)a / (double)b;
    *re = cos(angle);
    *im = sin(angle);
  }
}

static kw_status make_length(fft_length *length, kw_lane lane, fft_kind kind, int64_t n, double sign) {
  length->n = n;
  length->paired = kind != WHOLE && n % 2 == 0;
  length->roots = malloc(2 * (size_t)n * (size_t)kw_lane_size(lane));
  if (!length->roots) return KW_ERR_OUT_OF_MEMORY;
  for (int64_t t = 0; t < n; t++) {
    double re, im;
    find_root(t, n, &re, &im);
    if (lane == KW_LANE_F32) {
      ((float *)length->roots)[2 * t] = (float)re;
      ((float *)length->roots)[2 * t + 1] = (float)(sign * im);
    } else {
      ((double *)length->roots)[2 * t] = re;
      ((double *)length->roots)[2 * t + 1] = sign * im;
    }
  }
  kw_fft *fft = &length->fft;
  *fft = (kw_fft){.n = length->paired ? n / 2 : n, .roots = length->roots, .turn = 1 + length->paired, .sign = sign};
  int64_t rest = fft->n;
  for (int64_t radix = 4; rest > 1; radix = radix == 4 ? 2 : radix == 2 ? 3 : radix * radix > rest ? rest : radix + 2) {
    for (; rest % radix == 0 && rest > 1; rest /= radix) fft->radices[fft->stages++] = radix;
  }
  return KW_OK;
}

static void drop_plan(void *the_plan) {
  fft_plan *plan = the_plan;
  for (uint32_t k = 0; k < plan->count; k++) free(plan->lengths[k].roots);
}

/* Arguments: self, dim, normalization, and onesided, last_dim_size or forward. */
static kw_status plan_fft(const kw_fast_kernel *kernel, const kw_call *call, void *out_plan) {
  const fft_kind op = *(const fft_kind *)kernel->family;
  fft_plan *plan = out_plan;
  int64_t lengths[KW_MAX_RANK];
  kw_status status = order_dims(op, call, plan, lengths);
  if (status != KW_OK) return status;
  const bool forward = op == TO_HALF || (op == WHOLE && call->args[3].u.b);
  plan->complex_dtype = (op == TO_HALF ? call->outs[0] : call->args[0].u.tensor)->dtype;
  plan->lane = plan->complex_dtype == KW_C64 ? KW_LANE_F32 : KW_LANE_F64;
  for (uint32_t k = 0; k < plan->count && status == KW_OK; k++) {
    status = make_length(&plan->lengths[k], plan->lane, plan->kinds[k], lengths[k], forward ? -1 : 1);
  }
  if (status != KW_OK) drop_plan(plan);
  return status;
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

/* The lines along a dimension. */
typedef struct fft_run {
  const kw_host_api *host;
  const fft_length *length;
  fft_kind kind;
  const kw_isa *isa;
  const kw_transforms *transforms;
  kw_loop lines; /* operands: where they go and come from */
  char *base[2];
  int64_t lane;               /* bytes */
  uint32_t size;              /* of the move of a lane (KW_MOVE_SIZES) */
  int64_t to_step, from_step; /* along a line: bytes */
  int64_t to_count, from_count;
  bool to_real, from_real;
  double scale;
  atomic_int status;
} fft_run;

/* Lines that are transformed at once, and how far each lies behind the one before: 0 where that is not so. */
typedef struct fft_lines {
  int64_t count;
  char *to[KW_PRODUCT_WIDTH];
  const char *from[KW_PRODUCT_WIDTH];
  int64_t to_pitch, from_pitch;
} fft_lines;

static void find_lines(const fft_run *run, int64_t first, fft_lines *lines) {
  const int64_t width = run->transforms->lines, left = run->lines.numel - first;
  lines->count = left < width ? left : width;
  for (int64_t l = 0; l < lines->count; l++) {
    char *at[2];
    kw_loop_find(&run->lines, run->base, first + l, at);
    lines->to[l] = at[0];
    lines->from[l] = at[1];
  }
  lines->to_pitch = lines->from_pitch = 0;
  if (lines->count < width || width == 1) return;
  lines->to_pitch = lines->to[1] - lines->to[0];
  lines->from_pitch = lines->from[1] - lines->from[0];
  for (int64_t l = 2; l < width; l++) {
    if (lines->to[l] - lines->to[l - 1] != lines->to_pitch) lines->to_pitch = 0;
    if (lines->from[l] - lines->from[l - 1] != lines->from_pitch) lines->from_pitch = 0;
  }
}

/* Moves lines into rows of x, or rows to lines: `part` 0 is the real parts, 1 the imaginary ones. */
static void move_part(const fft_run *run, char *rows, char *line, int64_t l, int part, int64_t step, int64_t n,
                      bool to_rows) {
  const int64_t pitch = 2 * run->transforms->lines * run->lane;
  char *row = rows + (part * run->transforms->lines + l) * run->lane;
  if (to_rows) {
    run->isa->move[run->size](row, pitch, line, step, n);
  } else {
    run->isa->move[run->size](line, step, row, pitch, n);
  }
}

/* Both parts of a line: pairs in memory, or real numbers that are meant as pairs. */
static void move_pairs(const fft_run *run, char *rows, char *line, int64_t l, bool is_real, int64_t step, int64_t n,
                       bool to_rows) {
  const int64_t pair = is_real ? 2 * step : step, part = is_real ? step : run->lane;
  for (int k = 0; k < 2; k++) move_part(run, rows, line + k * part, l, k, pair, n, to_rows);
}

static void load_lines(const fft_run *run, const fft_lines *lines, char *x) {
  const int64_t lane = run->lane, width = run->transforms->lines, n = run->from_count;
  const bool paired = run->length->paired, is_real = run->from_real, alone = is_real && !paired;
  const int64_t rows = paired && is_real ? n / 2 : n;
  const bool is_dense = run->from_step == (is_real ? lane : 2 * lane);
  if (is_dense && !alone && lines->from_pitch > 0) {
    run->isa->transpose[run->size](x, width * lane, lines->from[0], lines->from_pitch, width, 2 * rows);
    return;
  }
  if (is_dense && !alone && width == 1) {
    memcpy(x, lines->from[0], (size_t)(2 * rows * lane));
    return;
  }
  if (alone || lines->count < width) memset(x, 0, (size_t)(2 * rows * width * lane));
  for (int64_t l = 0; l < lines->count; l++) {
    char *line = (char *)(uintptr_t)lines->from[l];
    if (alone) {
      move_part(run, x, line, l, 0, run->from_step, n, true);
    } else {
      move_pairs(run, x, line, l, is_real, run->from_step, rows, true);
    }
  }
}

static void store_lines(const fft_run *run, const fft_lines *lines, char *x) {
  const int64_t lane = run->lane, width = run->transforms->lines, n = run->to_count;
  const bool paired = run->length->paired, is_real = run->to_real, alone = is_real && !paired;
  const int64_t rows = paired && is_real ? n / 2 : n;
  const bool is_dense = run->to_step == (is_real ? lane : 2 * lane);
  if (is_dense && !alone && lines->to_pitch > 0) {
    run->isa->transpose[run->size](lines->to[0], lines->to_pitch, x, width * lane, 2 * rows, width);
    return;
  }
  if (is_dense && !alone && width == 1) {
    memcpy(lines->to[0], x, (size_t)(2 * rows * lane));
    return;
  }
  for (int64_t l = 0; l < lines->count; l++) {
    if (alone) {
      move_part(run, x, lines->to[l], l, 0, run->to_step, n, false);
    } else {
      move_pairs(run, x, lines->to[l], l, is_real, run->to_step, rows, false);
    }
  }
}

/* Of a first half: the numbers that are their own mirror are real, whatever is there. Without pairs the rest is filled
 * with the mirror. */
static void mend_half(const fft_run *run, char *x) {
  const int64_t n = run->length->n, row = run->transforms->lines * run->lane, pair = 2 * row;
  memset(x + row, 0, (size_t)row);
  if (run->length->paired) {
    memset(x + n / 2 * pair + row, 0, (size_t)row);
    return;
  }
  for (int64_t k = 1; 2 * k < n; k++) {
    char *to = x + (n - k) * pair, *from = x + k * pair;
    memcpy(to, from, (size_t)row);
    run->isa->pointwise[KW_POINTWISE_NEG][run->lane == 4 ? KW_LANE_F32 : KW_LANE_F64](
        to + row, (const void *[]){from + row}, run->transforms->lines);
  }
}

static void run_groups(void *user, int64_t begin, int64_t end) {
  fft_run *run = user;
  const kw_transforms *t = run->transforms;
  const int64_t pair = 2 * t->lines * run->lane, bytes = (run->length->n + 1) * pair;
  char *room = kw_fast_room(run->host, (uint64_t)(2 * bytes), &run->status);
  if (!room) return;
  for (int64_t g = begin; g < end; g++) {
    fft_lines lines;
    char *x = room, *y = room + bytes;
    find_lines(run, g * t->lines, &lines);
    load_lines(run, &lines, x);
    if (run->kind == FROM_HALF) mend_half(run, x);
    if (run->kind == FROM_HALF && run->length->paired) {
      t->from_half(&run->length->fft, x, y);
      x = y;
      y = room;
    }
    x = t->transform(&run->length->fft, x, y);
    y = x == room ? room + bytes : room;
    if (run->kind == TO_HALF && run->length->paired) {
      t->to_half(&run->length->fft, x, y);
      x = y;
    }
    if (run->scale != 1) t->scale(x, run->scale, run->length->n < run->to_count ? run->length->n : run->to_count);
    store_lines(run, &lines, x);
  }
  run->host->host_free(run->host->ctx, room);
}

/* ---- Dimensions -------------------------------------------------------------------------------------------------- */

/* What lines along `dim` begin with. */
static kw_tensor_ref starts_of(const kw_tensor_ref *tensor, uint32_t dim) {
  kw_tensor_ref starts = *tensor;
  starts.shape[dim] = 1;
  return starts;
}

static kw_status transform_dim(const kw_host_api *host, const fft_plan *plan, uint32_t k, const kw_tensor_ref *to,
                               const kw_tensor_ref *from, double scale) {
  const uint32_t dim = plan->dims[k];
  const kw_tensor_ref to_starts = starts_of(to, dim), from_starts = starts_of(from, dim);
  fft_run run = {.host = host,
                 .length = &plan->lengths[k],
                 .kind = plan->kinds[k],
                 .isa = kw_fast_isa(),
                 .base = {kw_walk_base(to), kw_walk_base(from)},
                 .lane = kw_lane_size(plan->lane),
                 .size = plan->lane == KW_LANE_F32 ? 2 : 3,
                 .to_step = kw_loop_step(to, dim),
                 .from_step = kw_loop_step(from, dim),
                 .to_count = to->shape[dim],
                 .from_count = from->shape[dim],
                 .to_real = !is_complex(to->dtype),
                 .from_real = !is_complex(from->dtype),
                 .scale = scale,
                 .status = KW_OK};
  kw_loop_begin(&run.lines, &to_starts);
  kw_loop_add(&run.lines, &from_starts);
  kw_loop_make(&run.lines);
  const kw_transforms *many = &run.isa->transforms[plan->lane];
  const bool are_few = run.lines.numel < many->lines / FEW; /* most lanes would be idle */
  run.transforms = are_few ? &run.isa->lone_transforms[plan->lane] : many;
  const int64_t width = run.transforms->lines, groups = (run.lines.numel + width - 1) / width;
  const kw_status status = host->parallel_for(host->ctx, groups, 1 + GRAIN / (run.length->n * width), run_groups, &run);
  return status == KW_OK ? (kw_status)run.status : status;
}

static kw_status transform_dims(const kw_host_api *host, const kw_call *call, const fft_plan *plan,
                                const kw_tensor_ref *between) {
  const kw_tensor_ref *from = call->args[0].u.tensor;
  const int64_t normalization = call->args[2].u.i;
  double n = 1;
  for (uint32_t k = 0; k < plan->count; k++) n *= (double)plan->lengths[k].n;
  const double scale = normalization == 0 ? 1 : normalization == 1 ? 1 / sqrt(n) : 1 / n;
  kw_status status = KW_OK;
  for (uint32_t k = 0; k < plan->count && status == KW_OK; k++) {
    const bool is_last = k + 1 == plan->count;
    const kw_tensor_ref *to = is_last || !between->mem ? call->outs[0] : between;
    status = transform_dim(host, plan, k, to, from, is_last ? scale : 1);
    from = to;
  }
  return status;
}

static kw_status run_fft(const kw_host_api *host, const kw_call *call, const void *the_plan) {
  const fft_plan *plan = the_plan;
  const kw_tensor_ref *self = call->args[0].u.tensor;
  if (call->outs[0]->numel == 0) return KW_OK;
  kw_tensor_ref between = kw_strided_dense_like(self, self->dtype);
  if (plan->kinds[plan->count - 1] == FROM_HALF &&
      plan->count > 1) { /* the result is too narrow for what comes before */
    const uint64_t bytes = (uint64_t)self->numel * kw_number_size(self->dtype);
    const kw_status status = host->host_alloc(host->ctx, bytes, 64, &between.mem);
    if (status != KW_OK) return status;
  }
  const kw_status status = transform_dims(host, call, plan, &between);
  if (between.mem) host->host_free(host->ctx, between.mem);
  return status;
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

#define COMPLEX (KW_DTYPE_BIT(KW_C64) | KW_DTYPE_BIT(KW_C128))
#define REAL (KW_DTYPE_BIT(KW_F32) | KW_DTYPE_BIT(KW_F64))
#define FFT(name, keys, which)                                                                     \
  {                                                                                                \
    .op = name, .dtypes = keys, .plan_size = sizeof(fft_plan), .family = &(const fft_kind){which}, \
    .serves = serves_fft, .make_plan = plan_fft, .run = run_fft, .drop = drop_plan                 \
  }

static const kw_fast_kernel kernels[] = {FFT("_fft_r2c", REAL, TO_HALF), FFT("_fft_c2r", COMPLEX, FROM_HALF),
                                         FFT("_fft_c2c", COMPLEX, WHOLE)};

kw_fast_family kw_fast_fft(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}
