/* SPDX-License-Identifier: Apache-2.0
 *
 * Stable sorting along a dimension, and the first elements of that order, topk. Elements become unsigned keys in whose
 * order they are, and those are sorted by their digits, the lowest first; lines are shared out among threads. Where few
 * are kept, only keys that may be among them are collected and sorted, twice as many at a time.
 */
#include "fast.h"

#include "loop.h"
#include "number.h"
#include "strided.h"
#include "walk.h"

#include <stdbool.h>
#include <string.h>

#define GRAIN 4096 /* the fewest elements that a thread is woken for */
#define SHORT 40   /* lines up to here are sorted by insertion */
#define DIGITS 256
#define KEYS 256 /* that are made of elements at once */

typedef struct sort_plan {
  kw_loop lines; /* operands: the values' first elements, the indices', argument 0's */
  int64_t count; /* elements of a line, */
  int64_t kept;  /* the first of which in order are wanted, */
  int64_t most;  /* and as many are sorted at once */
  int64_t value_step, index_step, step;
  kw_dtype dtype;
  uint32_t move; /* the values': kw_strided_size */
  bool descending;
} sort_plan;

/* ---- Keys -------------------------------------------------------------------------------------------------------- */

/* Floating point of `width` bits by these: NaN is the greatest, and all NaN are equal, as both zeros are. Without
 * branches, of which compilers make vectors. */
#define FLOAT_KEY(name, U, I)                                        \
  static inline U name(U bits, int width, U infinity) {              \
    const U sign = (U)1 << (width - 1), rest = sign - 1;             \
    const I magnitude = (I)(bits & rest);                            \
    U key = bits ^ (sign | (((U)0 - (bits >> (width - 1))) & rest)); \
    key = magnitude > (I)infinity ? sign | rest : key;               \
    return magnitude == 0 ? sign : key;                              \
  }
FLOAT_KEY(narrow_float_key, uint32_t, int32_t)
FLOAT_KEY(float_key, uint64_t, int64_t)

static inline uint64_t bits_at(const char *at, size_t size) {
  uint8_t byte;
  uint16_t pair;
  uint32_t word;
  uint64_t bits;
  switch (size) {
    case 1:
      memcpy(&byte, at, sizeof byte);
      return byte;
    case 2:
      memcpy(&pair, at, sizeof pair);
      return pair;
    case 4:
      memcpy(&word, at, sizeof word);
      return word;
    default:
      memcpy(&bits, at, sizeof bits);
      return bits;
  }
}

static inline uint64_t key_of(kw_dtype dtype, const char *at) {
  switch (dtype) {
    case KW_BOOL:
      return *at != 0;
    case KW_U8:
      return bits_at(at, 1);
    case KW_I8:
      return bits_at(at, 1) ^ 0x80;
    case KW_I16:
      return bits_at(at, 2) ^ 0x8000;
    case KW_I32:
      return bits_at(at, 4) ^ UINT64_C(0x80000000);
    case KW_I64:
      return bits_at(at, 8) ^ UINT64_C(1) << 63;
    case KW_F16:
      return narrow_float_key((uint32_t)bits_at(at, 2), 16, 0x7c00);
    case KW_BF16:
      return narrow_float_key((uint32_t)bits_at(at, 2), 16, 0x7f80);
    case KW_F32:
      return narrow_float_key((uint32_t)bits_at(at, 4), 32, 0x7f800000);
    default:
      return float_key(bits_at(at, 8), 64, UINT64_C(0x7ff) << 52);
  }
}

/* n keys, turned round where the order is. */
static void read_keys(const sort_plan *plan, uint64_t *keys, const char *from, int64_t n) {
  const uint64_t flip = plan->descending ? UINT64_MAX : 0;
  const int64_t step = plan->step;
#define CASE(dtype, size)                                                                \
  case dtype:                                                                            \
    if (step == (size)) {                                                                \
      for (int64_t i = 0; i < n; i++) keys[i] = key_of(dtype, from + i * (size)) ^ flip; \
    } else {                                                                             \
      for (int64_t i = 0; i < n; i++) keys[i] = key_of(dtype, from + i * step) ^ flip;   \
    }                                                                                    \
    return;
  switch (plan->dtype) {
    CASE(KW_BOOL, 1)
    CASE(KW_U8, 1)
    CASE(KW_I8, 1)
    CASE(KW_I16, 2)
    CASE(KW_I32, 4)
    CASE(KW_I64, 8)
    CASE(KW_F16, 2)
    CASE(KW_BF16, 2)
    CASE(KW_F32, 4)
    CASE(KW_F64, 8)
    default: /* there are no others */
      return;
  }
#undef CASE
}

/* ---- One line ---------------------------------------------------------------------------------------------------- */

/* What is sorted: a key with the element's place. Keys of up to 32 bits have it below them in one number. */
typedef uint64_t packed;
typedef struct entry {
  uint64_t key, place;
} entry;
#define KEY_OF_PACKED(e) ((e) >> 32)
#define KEY_OF_ENTRY(e) ((e).key)
#define PLACE_OF_PACKED(e) ((e)&UINT32_MAX)
#define PLACE_OF_ENTRY(e) ((e).place)
#define PACKED(key, place) ((key) << 32 | (uint64_t)(place))
#define ENTRY(key, place) ((entry){key, (uint64_t)(place)})

#define INSERT(name, T, KEY)                                                                   \
  static void name(T *entries, int64_t count) {                                                \
    for (int64_t i = 1; i < count; i++) {                                                      \
      const T moved = entries[i];                                                              \
      int64_t to = i;                                                                          \
      for (; to > 0 && KEY(entries[to - 1]) > KEY(moved); to--) entries[to] = entries[to - 1]; \
      entries[to] = moved;                                                                     \
    }                                                                                          \
  }

/* By one digit after the other, but those that all keys have alike. Returns the one of the two arrays that has the
 * result. */
#define SORT_BY_DIGITS(name, T, KEY)                                                   \
  static T *name(T *entries, T *spare, int64_t count, size_t bytes) {                  \
    int64_t counts[sizeof(uint64_t)][DIGITS];                                          \
    memset(counts, 0, bytes * sizeof counts[0]);                                       \
    for (int64_t i = 0; i < count; i++) {                                              \
      for (size_t b = 0; b < bytes; b++) counts[b][KEY(entries[i]) >> 8 * b & 0xff]++; \
    }                                                                                  \
    for (size_t b = 0; b < bytes; b++) {                                               \
      if (counts[b][KEY(entries[0]) >> 8 * b & 0xff] == count) continue;               \
      int64_t places[DIGITS], before = 0;                                              \
      for (int d = 0; d < DIGITS; d++) {                                               \
        places[d] = before;                                                            \
        before += counts[b][d];                                                        \
      }                                                                                \
      for (int64_t i = 0; i < count; i++) {                                            \
        spare[places[KEY(entries[i]) >> 8 * b & 0xff]++] = entries[i];                 \
      }                                                                                \
      T *sorted = spare;                                                               \
      spare = entries;                                                                 \
      entries = sorted;                                                                \
    }                                                                                  \
    return entries;                                                                    \
  }
INSERT(insert_packed, packed, KEY_OF_PACKED)
INSERT(insert_entries, entry, KEY_OF_ENTRY)
SORT_BY_DIGITS(sort_packed, packed, KEY_OF_PACKED)
SORT_BY_DIGITS(sort_entries, entry, KEY_OF_ENTRY)

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

typedef struct sort_run {
  const sort_plan *plan;
  const kw_host_api *host;
  char *base[KW_LOOP_OPERANDS];
  atomic_int status; /* what the threads met with */
} sort_run;

/* Of a thread, with room for two lots of entries. */
typedef struct sort_room {
  const sort_plan *plan;
  void *entries;
} sort_room;

static void put(const sort_plan *plan, char *values, char *indices, const char *from, int64_t i, int64_t place) {
  kw_fast_isa()->move[plan->move](values + i * plan->value_step, 0, from + place * plan->step, 0, 1);
  *(int64_t *)(void *)(indices + i * plan->index_step) = place;
}

/* Sorts a line by the bits of its keys in `mask`. Once so many entries are there as are sorted at once, the last of
 * those that are kept is the bound: what equals it stands behind it. From then on a few that are kept stay sorted. */
#define LINE(name, T, MAKE, KEY, PLACE, insert, sort)                                                                 \
  static T *sorted_##name(T *entries, T *spare, int64_t count, size_t bytes) {                                        \
    if (count > SHORT) return sort(entries, spare, count, bytes);                                                     \
    insert(entries, count);                                                                                           \
    return entries;                                                                                                   \
  }                                                                                                                   \
  static void sort_##name##_line(const sort_room *room, char *values, char *indices, const char *from, uint64_t mask, \
                                 size_t bytes) {                                                                      \
    const sort_plan *plan = room->plan;                                                                               \
    T *const lots[] = {room->entries, (T *)room->entries + plan->most};                                               \
    T *entries = lots[0];                                                                                             \
    uint64_t keys[KEYS], bound = 0;                                                                                   \
    int64_t have = 0;                                                                                                 \
    bool is_bounded = false;                                                                                          \
    for (int64_t begin = 0; begin < plan->count; begin += KEYS) {                                                     \
      const int64_t n = plan->count - begin < KEYS ? plan->count - begin : KEYS;                                      \
      read_keys(plan, keys, from + begin * plan->step, n);                                                            \
      for (int64_t i = 0; i < n; i++) {                                                                               \
        const uint64_t key = keys[i] & mask;                                                                          \
        if (is_bounded && key >= bound) continue;                                                                     \
        if (have == plan->most) {                                                                                     \
          entries = sorted_##name(entries, lots[entries == lots[0]], have, bytes);                                    \
          have = plan->kept;                                                                                          \
          bound = KEY(entries[have - 1]);                                                                             \
          is_bounded = true;                                                                                          \
          if (key >= bound) continue;                                                                                 \
        }                                                                                                             \
        if (is_bounded && plan->kept <= SHORT) {                                                                      \
          int64_t to = plan->kept - 1;                                                                                \
          for (; to > 0 && KEY(entries[to - 1]) > key; to--) entries[to] = entries[to - 1];                           \
          entries[to] = MAKE(key, begin + i);                                                                         \
          bound = KEY(entries[plan->kept - 1]);                                                                       \
          continue;                                                                                                   \
        }                                                                                                             \
        entries[have++] = MAKE(key, begin + i);                                                                       \
      }                                                                                                               \
    }                                                                                                                 \
    entries = sorted_##name(entries, lots[entries == lots[0]], have, bytes);                                          \
    for (int64_t i = 0; i < plan->kept; i++) put(plan, values, indices, from, i, (int64_t)PLACE(entries[i]));         \
  }
LINE(narrow, packed, PACKED, KEY_OF_PACKED, PLACE_OF_PACKED, insert_packed, sort_packed)
LINE(wide, entry, ENTRY, KEY_OF_ENTRY, PLACE_OF_ENTRY, insert_entries, sort_entries)

/* The bits in which a line's keys differ. */
static uint64_t differing_bits(const sort_plan *plan, const char *from) {
  uint64_t keys[KEYS], first, differ = 0;
  read_keys(plan, &first, from, 1);
  for (int64_t begin = 0; begin < plan->count; begin += KEYS) {
    const int64_t n = plan->count - begin < KEYS ? plan->count - begin : KEYS;
    read_keys(plan, keys, from + begin * plan->step, n);
    for (int64_t i = 0; i < n; i++) differ |= keys[i] ^ first;
  }
  return differ;
}

static bool is_narrow(const sort_plan *plan) {
  return kw_number_size(plan->dtype) <= sizeof(uint32_t) && plan->count <= UINT32_MAX;
}

static void sort_line(const sort_room *room, char *values, char *indices, const char *from) {
  const sort_plan *plan = room->plan;
  const size_t bytes = kw_number_size(plan->dtype);
  if (is_narrow(plan)) {
    sort_narrow_line(room, values, indices, from, UINT32_MAX, bytes);
  } else if (plan->count <= UINT32_MAX && differing_bits(plan, from) <= UINT32_MAX) {
    sort_narrow_line(room, values, indices, from, UINT32_MAX, sizeof(uint32_t));
  } else {
    sort_wide_line(room, values, indices, from, UINT64_MAX, bytes);
  }
}

static void sort_row(void *context, char *const *at, const int64_t *step, int64_t n) {
  for (int64_t i = 0; i < n; i++) sort_line(context, at[0] + i * step[0], at[1] + i * step[1], at[2] + i * step[2]);
}

static void run_lines(void *user, int64_t begin, int64_t end) {
  sort_run *run = user;
  const uint64_t size = is_narrow(run->plan) ? sizeof(packed) : sizeof(entry);
  const uint64_t bytes = 2 * (uint64_t)run->plan->most * size;
  void *entries = kw_fast_room(run->host, bytes, &run->status);
  if (!entries) return;
  sort_room room = {run->plan, entries};
  kw_loop_run(&run->plan->lines, run->base, begin, end, sort_row, &room);
  run->host->host_free(run->host->ctx, entries);
}

/* ---- The op ------------------------------------------------------------------------------------------------------ */

/* The first elements of all lines. */
static kw_tensor_ref line_starts(const kw_tensor_ref *tensor, int64_t dim) {
  kw_tensor_ref starts = *tensor;
  if (starts.rank > 0) starts.shape[dim] = 1;
  return starts;
}

static int64_t line_step(const kw_tensor_ref *tensor, int64_t dim) {
  return tensor->rank > 0 ? kw_loop_step(tensor, (uint32_t)dim) : 0;
}

typedef struct sort_op {
  uint32_t dim, descending; /* arguments */
} sort_op;

static kw_status plan_sort(const kw_fast_kernel *kernel, const kw_call *call, void *out_plan) {
  const sort_op *op = kernel->family;
  const kw_tensor_ref *self = call->args[0].u.tensor, *values = call->outs[0], *indices = call->outs[1];
  const int64_t named = call->args[op->dim].u.i, dim = named < 0 ? named + self->rank : named;
  sort_plan *plan = out_plan;
  if (values->dtype != self->dtype || indices->dtype != KW_I64) return KW_ERR_NOT_IMPLEMENTED;
  plan->dtype = self->dtype;
  plan->move = kw_strided_size(self->dtype);
  plan->descending = call->args[op->descending].u.b;
  plan->count = self->rank > 0 ? self->shape[dim] : 1;
  plan->kept = values->rank > 0 ? values->shape[dim] : 1;
  plan->most = 2 * plan->kept > SHORT ? 2 * plan->kept : SHORT;
  if (plan->most > plan->count) plan->most = plan->count;
  plan->step = line_step(self, dim);
  plan->value_step = line_step(values, dim);
  plan->index_step = line_step(indices, dim);
  const kw_tensor_ref starts[] = {line_starts(values, dim), line_starts(indices, dim), line_starts(self, dim)};
  kw_loop_begin(&plan->lines, &starts[0]);
  kw_loop_add(&plan->lines, &starts[1]);
  kw_loop_add(&plan->lines, &starts[2]);
  kw_loop_make(&plan->lines);
  return KW_OK;
}

static kw_status run_sort(const kw_host_api *host, const kw_call *call, const void *the_plan) {
  const sort_plan *plan = the_plan;
  sort_run run = {.plan = plan, .host = host};
  run.base[0] = kw_walk_base(call->outs[0]);
  run.base[1] = kw_walk_base(call->outs[1]);
  run.base[2] = kw_walk_base(call->args[0].u.tensor);
  if (plan->kept == 0) return KW_OK;
  const kw_status status = host->parallel_for(host->ctx, plan->lines.numel, 1 + GRAIN / plan->count, run_lines, &run);
  return status == KW_OK ? atomic_load(&run.status) : status;
}

#define SORT(name, keys, ...)                                                                            \
  {                                                                                                      \
    .op = name, .dtypes = keys, .plan_size = sizeof(sort_plan), .family = &(const sort_op){__VA_ARGS__}, \
    .make_plan = plan_sort, .run = run_sort                                                              \
  }

static const kw_fast_kernel kernels[] = {
    SORT("sort.stable", KW_DTYPES_REAL, .dim = 2, .descending = 3),
    SORT("topk", KW_DTYPES_NUM, .dim = 2, .descending = 3),
};

kw_fast_family kw_fast_sort(void) {
  return (kw_fast_family){kernels, sizeof kernels / sizeof *kernels};
}
