/* SPDX-License-Identifier: Apache-2.0
 *
 * The peer `raw` of cpu devices: plain loops that read and write what a call has to, on one thread, in the widest
 * vectors of the processor; with stores past the caches where a first run finds that faster. Numbers of 16 bits are
 * added as integers, and conversions only widen or cut: what arithmetic takes beyond the bytes is not in it.
 */
#include "../peer.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#define LINE 64  /* bytes of a vector of a loop, and of a line of the cache */
#define PIECES 4 /* tensors at most */
#define SPACING 4096

typedef enum work { COPY, RELU, ADD, MULTIPLY, WIDEN, CUT, SUM, WORKS } work;

typedef float f32s __attribute__((vector_size(LINE)));
typedef double f64s __attribute__((vector_size(LINE)));
typedef uint16_t u16s __attribute__((vector_size(LINE)));
typedef int32_t i32s __attribute__((vector_size(LINE)));
typedef int64_t i64s __attribute__((vector_size(LINE)));
typedef uint32_t half_u32s __attribute__((vector_size(LINE / 2)));
typedef uint16_t half_u16s __attribute__((vector_size(LINE / 2)));
typedef uint32_t u32s __attribute__((vector_size(LINE)));
typedef uint64_t u64s __attribute__((vector_size(LINE)));

typedef struct row {
  work what;
  kw_dtype dtype; /* of a and b */
  bool past;      /* stores past the caches */
  const char *a, *b;
  char *out;
  size_t bytes; /* of a, a multiple of LINE */
} row;

/* One line of a result. */
#ifdef __x86_64__
#define STORE_512(out, line) _mm512_stream_si512((void *)(out), (__m512i)(line))
#define STORE_128(out, line)                                                                       \
  do {                                                                                             \
    const i64s kept = (i64s)(line);                                                                \
    for (int i_ = 0; i_ < LINE / 16; ++i_)                                                         \
      _mm_stream_si128((__m128i *)(void *)(out) + i_, ((const __m128i *)(const void *)&kept)[i_]); \
  } while (0)
#endif
#define STORE_PLAIN(out, line) (*(i64s *)(void *)(out) = (i64s)(line))
#define AT(type, from) (*(const type *)(const void *)(from))

/* Every work but sums, of lines; a result that is wider takes two lines, one that is narrower half a line. */
#define STREAM(name, attribute, STORE)                                                                             \
  attribute static void name(const row *r) {                                                                       \
    const char *a = r->a, *b = r->b;                                                                               \
    char *out = r->out;                                                                                            \
    switch (r->what) {                                                                                             \
      case RELU:                                                                                                   \
        for (size_t i = 0; i < r->bytes; i += LINE) STORE(out + i, AT(i32s, a + i) & (i32s)(AT(f32s, a + i) > 0)); \
        return;                                                                                                    \
      case ADD:                                                                                                    \
        for (size_t i = 0; i < r->bytes && r->dtype == KW_F32; i += LINE)                                          \
          STORE(out + i, AT(f32s, a + i) + AT(f32s, b + i));                                                       \
        for (size_t i = 0; i < r->bytes && r->dtype == KW_F64; i += LINE)                                          \
          STORE(out + i, AT(f64s, a + i) + AT(f64s, b + i));                                                       \
        for (size_t i = 0; i < r->bytes && r->dtype != KW_F32 && r->dtype != KW_F64; i += LINE)                    \
          STORE(out + i, AT(u16s, a + i) + AT(u16s, b + i));                                                       \
        return;                                                                                                    \
      case MULTIPLY:                                                                                               \
        for (size_t i = 0; i < r->bytes && r->dtype == KW_F32; i += LINE)                                          \
          STORE(out + i, AT(f32s, a + i) * AT(f32s, b + i));                                                       \
        for (size_t i = 0; i < r->bytes && r->dtype == KW_F64; i += LINE)                                          \
          STORE(out + i, AT(f64s, a + i) * AT(f64s, b + i));                                                       \
        for (size_t i = 0; i < r->bytes && r->dtype != KW_F32 && r->dtype != KW_F64; i += LINE)                    \
          STORE(out + i, AT(u16s, a + i) * AT(u16s, b + i));                                                       \
        return;                                                                                                    \
      case WIDEN:                                                                                                  \
        for (size_t i = 0; i < r->bytes; i += LINE / 2)                                                            \
          if (r->dtype == KW_F32) {                                                                                \
            STORE(out + 2 * i, __builtin_convertvector(AT(half_u32s, a + i), u64s));                               \
          } else {                                                                                                 \
            STORE(out + 2 * i, __builtin_convertvector(AT(half_u16s, a + i), u32s));                               \
          }                                                                                                        \
        return;                                                                                                    \
      case CUT:                                                                                                    \
        for (size_t i = 0; i < r->bytes; i += LINE)                                                                \
          *(half_u16s *)(void *)(out + i / 2) = __builtin_convertvector(AT(u32s, a + i) >> 16, half_u16s);         \
        return;                                                                                                    \
      default:                                                                                                     \
        for (size_t i = 0; i < r->bytes; i += LINE) STORE(out + i, AT(i64s, a + i));                               \
    }                                                                                                              \
  }

/* Sums of lines, in as many lanes as hide how long an addition takes. */
#define TOTAL(name, attribute)                                                    \
  attribute static double name(const row *r) {                                    \
    f32s a0 = {0}, a1 = {0}, a2 = {0}, a3 = {0};                                  \
    f64s b0 = {0}, b1 = {0}, b2 = {0}, b3 = {0};                                  \
    u16s c = {0};                                                                 \
    size_t i = 0;                                                                 \
    if (r->dtype == KW_F32) {                                                     \
      for (; i + 4 * LINE <= r->bytes; i += 4 * LINE) {                           \
        a0 += AT(f32s, r->a + i), a1 += AT(f32s, r->a + i + LINE);                \
        a2 += AT(f32s, r->a + i + 2 * LINE), a3 += AT(f32s, r->a + i + 3 * LINE); \
      }                                                                           \
    } else if (r->dtype == KW_F64) {                                              \
      for (; i + 4 * LINE <= r->bytes; i += 4 * LINE) {                           \
        b0 += AT(f64s, r->a + i), b1 += AT(f64s, r->a + i + LINE);                \
        b2 += AT(f64s, r->a + i + 2 * LINE), b3 += AT(f64s, r->a + i + 3 * LINE); \
      }                                                                           \
    } else {                                                                      \
      for (; i < r->bytes; i += LINE) c += AT(u16s, r->a + i);                    \
    }                                                                             \
    a0 += a1 + a2 + a3, b0 += b1 + b2 + b3;                                       \
    return (double)a0[0] + (double)a0[7] + b0[0] + b0[7] + c[0] + c[7];           \
  }

STREAM(stream_plain, , STORE_PLAIN)
TOTAL(total_plain, )
#ifdef __x86_64__
STREAM(stream_avx2, __attribute__((target("avx2"))), STORE_PLAIN)
STREAM(stream_avx512, __attribute__((target("avx512f,avx512bw,avx512dq"))), STORE_PLAIN)
STREAM(stream_past_plain, , STORE_128)
STREAM(stream_past_avx2, __attribute__((target("avx2"))), STORE_128)
STREAM(stream_past_avx512, __attribute__((target("avx512f,avx512bw,avx512dq"))), STORE_512)
TOTAL(total_avx2, __attribute__((target("avx2"))))
TOTAL(total_avx512, __attribute__((target("avx512f,avx512bw,avx512dq"))))
#endif

static volatile double sum_kept;

static void run_row(const row *r) {
#ifdef __x86_64__
  const bool avx512 = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
  const bool avx2 = __builtin_cpu_supports("avx2");
  if (r->what == SUM) {
    sum_kept = avx512 ? total_avx512(r) : avx2 ? total_avx2(r) : total_plain(r);
  } else if (avx512) {
    (r->past ? stream_past_avx512 : stream_avx512)(r);
  } else if (avx2) {
    (r->past ? stream_past_avx2 : stream_avx2)(r);
  } else {
    (r->past ? stream_past_plain : stream_plain)(r);
  }
  if (r->past) _mm_sfence();
#else
  if (r->what == SUM) {
    sum_kept = total_plain(r);
  } else {
    stream_plain(r);
  }
#endif
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

/* Rows that are computed one after the other: of cat several, otherwise one. */
typedef struct job {
  row *rows;
  int64_t count;
  char *memory[PIECES];
} job;

static void raw_discard(void *peer, void *state) {
  (void)peer;
  job *j = state;
  for (int i = 0; i < PIECES; ++i) free(j->memory[i]);
  free(j->rows);
  free(j);
}

static void raw_run(void *peer, void *state) {
  (void)peer;
  const job *j = state;
  for (int64_t i = 0; i < j->count; ++i) run_row(&j->rows[i]);
}

static void raw_wait(void *peer) {
  (void)peer;
}

static bool is_dense(const kw_tensor_ref *tensor) {
  int64_t step = 1;
  for (int d = tensor->rank - 1; d >= 0; --d) {
    if (tensor->shape[d] != 1 && tensor->strides[d] != step) return false;
    step *= tensor->shape[d];
  }
  return true;
}

static size_t bytes_of(const kw_tensor_ref *tensor) {
  static const uint8_t sizes[] = {[KW_F32] = 4, [KW_F64] = 8, [KW_F16] = 2, [KW_BF16] = 2, [KW_I64] = 8};
  return tensor->dtype < sizeof sizes && is_dense(tensor) ? (size_t)tensor->numel * sizes[tensor->dtype] : 0;
}

/* Memory of a tensor, its pages there; NULL also where it is none of those that the loops take. */
static char *take(job *j, int index, const kw_tensor_ref *tensor) {
  const size_t bytes = bytes_of(tensor);
  if (bytes == 0 || bytes % LINE != 0) return NULL;
  j->memory[index] = aligned_alloc(SPACING, (bytes / SPACING + 1) * SPACING);
  if (j->memory[index]) memset(j->memory[index], 1, bytes);
  return j->memory[index];
}

static bool make_cat(const kw_call *call, job *j) {
  const kw_value *list = &call->args[0];
  const kw_tensor_ref *out = call->outs[0];
  const int64_t dim = call->arg_count > 1 ? call->args[1].u.i : 0;
  int64_t outer = 1;
  if (list->count >= PIECES || !take(j, PIECES - 1, out)) return false;
  for (int64_t d = 0; d < dim; ++d) outer *= out->shape[d];
  j->rows = calloc((size_t)outer * list->count, sizeof *j->rows);
  char *to = j->memory[PIECES - 1];
  for (uint32_t k = 0; k < list->count; ++k)
    if (!take(j, (int)k, list->u.tensors[k]) || bytes_of(list->u.tensors[k]) / (size_t)outer % LINE != 0) return false;
  for (int64_t o = 0; j->rows && o < outer; ++o) {
    for (uint32_t k = 0; k < list->count; ++k) {
      const size_t bytes = bytes_of(list->u.tensors[k]) / (size_t)outer;
      j->rows[j->count++] = (row){.what = COPY, .a = j->memory[k] + (size_t)o * bytes, .out = to, .bytes = bytes};
      to += bytes;
    }
  }
  return j->rows != NULL;
}

static work find_work(const kw_call *call) {
  static const struct {
    const char *op;
    work what;
  } works[] = {{"copy_", COPY}, {"clone", COPY},     {"relu", RELU},
               {"sum", SUM},    {"add.Tensor", ADD}, {"mul.Tensor", MULTIPLY}};
  if (strcmp(call->op, "_to_copy") == 0) {
    const size_t from = bytes_of(call->args[0].u.tensor), to = bytes_of(call->outs[0]);
    return to == 2 * from ? WIDEN : 2 * to == from && call->args[0].u.tensor->dtype == KW_F32 ? CUT : WORKS;
  }
  for (size_t i = 0; i < sizeof works / sizeof works[0]; ++i)
    if (strcmp(works[i].op, call->op) == 0) return works[i].what;
  return WORKS;
}

static bool make_row(const kw_call *call, job *j) {
  const work what = find_work(call);
  if (what == WORKS) return false;                        /* its first argument may be no tensor */
  const bool into_first = strcmp(call->op, "copy_") == 0; /* whose result is its first argument */
  const kw_tensor_ref *a = call->args[into_first].u.tensor;
  row r = {.what = what, .dtype = a->dtype, .bytes = bytes_of(a)};
  const bool two = what == ADD || what == MULTIPLY;
  if (what == RELU && a->dtype != KW_F32) return false;
  r.a = take(j, 0, a);
  r.b = two ? take(j, 1, call->args[1].u.tensor) : r.a;
  r.out = r.what == SUM ? NULL : take(j, 2, call->outs[0]);
  if (!r.a || !r.b || (!r.out && r.what != SUM) || (two && bytes_of(call->args[1].u.tensor) != r.bytes)) return false;
  j->rows = malloc(sizeof r);
  if (!j->rows) return false;
  j->rows[0] = r;
  j->count = 1;
  return true;
}

static double seconds_of(job *j, bool past) {
  struct timespec begin, end;
  for (int64_t i = 0; i < j->count; ++i) j->rows[i].past = past;
  raw_run(NULL, j);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
  for (int i = 0; i < 3; ++i) raw_run(NULL, j);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
  return (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
}

static bool raw_prepare(void *peer, const kw_call *call, void **out_job, char *why, size_t size) {
  snprintf(why, size,
           "it has loops for dense copy_, clone, add, mul, relu, sum, cat and conversions of 2, 4 and 8 bytes");
  job *j = calloc(1, sizeof *j);
  if (!j) return false;
  if (!(strcmp(call->op, "cat") == 0 ? make_cat(call, j) : make_row(call, j))) {
    raw_discard(peer, j);
    return false;
  }
  const double through = seconds_of(j, false);
  if (seconds_of(j, true) >= through) seconds_of(j, false);
  *out_job = j;
  return true;
}

static bool raw_open(const char *device, void **out_peer, char *why, size_t size) {
  static int peer;
  (void)device, (void)why, (void)size;
  *out_peer = &peer;
  return true;
}

static void raw_close(void *peer) {
  (void)peer;
}

const kw_bench_peer_api *kw_bench_peer_query(void) {
  static const kw_bench_peer_api api = {.title = "plain loops of the same footprint, 1 thread",
                                        .open = raw_open,
                                        .close = raw_close,
                                        .prepare = raw_prepare,
                                        .discard = raw_discard,
                                        .run = raw_run,
                                        .wait = raw_wait};
  return &api;
}
