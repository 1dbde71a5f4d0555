/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of the ops that place the elements of a tensor elsewhere.
 */
#include "case/makers.h"
#include "case/parts.h"

#include <string.h>

#define ABSENT INT64_MIN /* a number that is none */

/* A tensor and the numbers that say what becomes of it:
 *   repeat: repeats; flip: dims; roll: shifts, then as many dims or none; triangle: diagonal; select_scatter: dim,
 *   index; slice_scatter: dim, start, end, step; pads: as the op has them. */
typedef struct place_row {
  kw_shape self;
  uint32_t count;
  int64_t numbers[12];
} place_row;

typedef struct place_rows {
  const place_row *rows;
  uint32_t count;
} place_rows;

#define ROWS(array) \
  { array, COUNT(array) }

/* By class; those that are not here take from PRIME. `deep`: of many dimensions, in the classes about layouts; NULL. */
typedef struct place_table {
  place_rows scalar, empty, one, prime, large, attrs;
  const place_row *deep;
} place_table;

/* What a pad cuts off a smaller tensor may be too much. */
static bool has_smaller(const kw_case *c, const place_row *row) {
  const kw_shape_rule rule = c->op->row.shape;
  bool pads = rule == KW_SHAPE_PAD || rule == KW_SHAPE_PAD_REFLECT || rule == KW_SHAPE_PAD_REPLICATE ||
              rule == KW_SHAPE_PAD_BACKWARD;
  bool cuts = false;
  for (uint32_t i = 0; i < row->count; i++) cuts |= row->numbers[i] < 0;
  return !(pads && cuts);
}

static bool is_deep(const kw_case *c) {
  const kw_shape_rule rule = c->op->row.shape;
  return kw_case_is_deep(c, rule == KW_SHAPE_SELECT_SCATTER || rule == KW_SHAPE_SLICE_SCATTER ? 2 : 1);
}

static bool pick_row(kw_case *c, const place_table *table, place_row *out) {
  const place_rows *rows = NULL;
  uint32_t count = UINT32_MAX;
  switch (c->class) {
    case KW_CLASS_SCALAR:
      rows = &table->scalar;
      break;
    case KW_CLASS_EMPTY:
      rows = &table->empty;
      break;
    case KW_CLASS_ONE:
      rows = &table->one;
      break;
    case KW_CLASS_PRIME:
      rows = &table->prime;
      break;
    case KW_CLASS_LARGE:
      if (c->key != KW_F32 && c->key != KW_U8) return false;
      rows = &table->large;
      break;
    case KW_CLASS_ATTRS:
      rows = &table->attrs;
      break;
    case KW_CLASS_SPECIAL:
      count = 2;
      break;
    case KW_CLASS_EXACT:
      count = c->op->row.compare == KW_CMP_ACCUMULATE ? 5 : 0;
      break;
    case KW_CLASS_OUTPUTS:
      count = KW_CASE_OUT_LAYOUTS;
      break;
    default:
      if (!kw_case_about_layouts(c->class)) return false;
      break;
  }
  if (rows && c->number >= rows->count) return false;
  if (c->number >= count) return false;
  if (!rows) rows = &table->prime;
  if (is_deep(c) && !table->deep) return false;
  *out = is_deep(c) ? *table->deep : rows->rows[c->number % rows->count];
  if (has_smaller(c, out)) kw_case_resize(c, &out->self);
  return true;
}

/* Argument 0 and what else is moved. */
static void give_values(kw_case *c, uint32_t arg, const kw_shape *shape, kw_layout layout) {
  kw_case_set_tensor(c, arg, c->key, shape, layout);
  if (c->class == KW_CLASS_SPECIAL) c->tensors[arg].domain = KW_DOMAIN_SPECIAL_RAW;
}

static bool give_self(kw_case *c, const place_row *row) {
  kw_layout layout;
  if (!kw_case_pick_deep_layout(c, 0, 1, &layout)) return false;
  give_values(c, 0, &row->self, layout);
  return true;
}

static void give_int(kw_case *c, uint32_t arg, int64_t i) {
  kw_case_give(c, arg, i == ABSENT ? (kw_value){.tag = KW_TAG_NONE} : (kw_value){.tag = KW_TAG_INT, .u.i = i});
}

static void give_result(kw_case *c, const kw_shape *shape) {
  kw_case_set_result(c, 0, c->key, shape, kw_case_out_layout(c));
}

/* ---- Repeated, turned round -------------------------------------------------------------------------------------- */

bool kw_case_make_repeat(kw_case *c) {
  static const place_row scalar[] = {{{0, {0}}, 0, {0}}, {{0, {0}}, 2, {3, 5}}};
  static const place_row empty[] = {{{2, {3, 0}}, 2, {2, 2}}, {{2, {3, 4}}, 2, {2, 0}}, {{1, {0}}, 2, {0, 3}}};
  static const place_row one[] = {{{1, {1}}, 1, {7}}, {{2, {1, 1}}, 3, {1, 1, 1}}};
  static const place_row prime[] = {{{2, {13, 5}}, 2, {2, 3}},
                                    {{1, {7}}, 1, {11}},
                                    {{3, {3, 5, 7}}, 3, {1, 2, 1}},
                                    {{2, {3, 5}}, 4, {2, 1, 3, 2}},
                                    {{1, {1021}}, 1, {2}},
                                    {{4, {2, 3, 1, 5}}, 4, {3, 1, 4, 2}},
                                    {{2, {7, 3}}, 3, {5, 1, 2}},
                                    {{1, {3}}, 8, {1, 2, 1, 3, 1, 1, 2, 2}},
                                    {{6, {2, 3, 2, 3, 2, 2}}, 6, {2, 1, 3, 1, 1, 2}},
                                    {{9, {2, 1, 3, 2, 1, 2, 1, 2, 2}}, 10, {2, 1, 2, 1, 1, 3, 1, 1, 2, 1}}};
  static const place_row deep = {{6, {2, 3, 2, 3, 2, 2}}, 6, {1, 2, 1, 1, 3, 1}};
  static const place_row large[] = {{{2, {131, 127}}, 2, {2, 3}}, {{1, {3}}, 1, {21851}}};
  static const place_row attrs[] = {{{2, {3, 5}}, 2, {1, 1}}, {{2, {3, 5}}, 2, {4, 1}},    {{2, {3, 5}}, 2, {1, 4}},
                                    {{2, {3, 5}}, 2, {2, 2}}, {{2, {3, 5}}, 3, {3, 1, 1}}, {{2, {3, 5}}, 3, {1, 2, 3}}};
  static const place_table table = {ROWS(scalar), ROWS(empty), ROWS(one), ROWS(prime), ROWS(large), ROWS(attrs), &deep};
  place_row row;
  if (!pick_row(c, &table, &row) || !give_self(c, &row)) return false;
  kw_shape result = {row.count, {0}};
  for (uint32_t d = 0, more = row.count - row.self.rank; d < row.count; d++) {
    result.dims[d] = row.numbers[d] * (d < more ? 1 : row.self.dims[d - more]);
  }
  kw_case_give_ints(c, 1, row.numbers, row.count);
  give_result(c, &result);
  return true;
}

bool kw_case_make_flip(kw_case *c) {
  static const place_row scalar[] = {{{0, {0}}, 0, {0}}, {{0, {0}}, 1, {-1}}};
  static const place_row empty[] = {{{2, {3, 0}}, 1, {1}}, {{2, {0, 4}}, 2, {0, 1}}};
  static const place_row one[] = {{{1, {1}}, 1, {0}}, {{3, {1, 1, 1}}, 2, {0, 2}}};
  static const place_row prime[] = {{{2, {13, 5}}, 1, {1}},
                                    {{1, {7}}, 1, {0}},
                                    {{3, {3, 5, 7}}, 2, {0, 2}},
                                    {{3, {3, 5, 7}}, 3, {2, 0, 1}},
                                    {{4, {2, 3, 5, 7}}, 1, {2}},
                                    {{1, {1021}}, 1, {0}},
                                    {{2, {3, 5}}, 0, {0}},
                                    {{5, {2, 1, 3, 2, 5}}, 1, {-2}},
                                    {{6, {2, 5, 2, 3, 2, 3}}, 1, {-5}},
                                    {{8, {3, 2, 2, 3, 2, 2, 2, 2}}, 4, {0, 5, 3, -1}},
                                    {{10, {2, 3, 2, 2, 1, 2, 2, 1, 2, 2}}, 2, {1, -1}}};
  static const place_row deep = {{6, {2, 5, 2, 3, 2, 3}}, 2, {1, 3}};
  static const place_row large[] = {{{2, {257, 263}}, 1, {0}}, {{1, {65537}}, 1, {0}}};
  static const place_row attrs[] = {
      {{3, {3, 5, 7}}, 1, {0}},     {{3, {3, 5, 7}}, 1, {1}},    {{3, {3, 5, 7}}, 1, {2}}, {{3, {3, 5, 7}}, 1, {-1}},
      {{3, {3, 5, 7}}, 2, {-3, 1}}, {{3, {3, 5, 7}}, 2, {2, 1}}, {{3, {3, 5, 7}}, 0, {0}}};
  static const place_table table = {ROWS(scalar), ROWS(empty), ROWS(one), ROWS(prime), ROWS(large), ROWS(attrs), &deep};
  place_row row;
  if (!pick_row(c, &table, &row) || !give_self(c, &row)) return false;
  kw_case_give_ints(c, 1, row.numbers, row.count);
  give_result(c, &row.self);
  return true;
}

/* A single number is the shift of all elements; otherwise half of them are shifts, half dims. */
bool kw_case_make_roll(kw_case *c) {
  static const place_row scalar[] = {{{0, {0}}, 1, {3}}};
  static const place_row empty[] = {{{2, {3, 0}}, 2, {1, 1}}, {{2, {0, 4}}, 1, {5}}};
  static const place_row one[] = {{{1, {1}}, 2, {3, 0}}, {{3, {1, 1, 1}}, 1, {-2}}};
  static const place_row prime[] = {{{2, {13, 5}}, 2, {2, 1}},
                                    {{1, {7}}, 2, {-3, 0}},
                                    {{3, {3, 5, 7}}, 4, {1, 3, 0, 2}},
                                    {{3, {3, 5, 7}}, 1, {11}},
                                    {{4, {2, 3, 5, 7}}, 2, {4, -2}},
                                    {{1, {1021}}, 2, {1000, 0}},
                                    {{2, {13, 5}}, 1, {-7}},
                                    {{6, {2, 5, 2, 3, 2, 3}}, 2, {3, -5}},
                                    {{8, {3, 2, 2, 3, 2, 2, 2, 5}}, 8, {1, 1, 2, -3, 0, 5, 3, -1}},
                                    {{10, {2, 3, 2, 2, 1, 2, 2, 1, 2, 2}}, 1, {100}}};
  static const place_row deep = {{6, {2, 5, 2, 3, 2, 3}}, 4, {3, 1, 1, -3}};
  static const place_row large[] = {{{2, {257, 263}}, 2, {100, 0}}, {{1, {65537}}, 1, {-1000}}};
  static const place_row attrs[] = {{{2, {5, 7}}, 2, {0, 1}},         {{2, {5, 7}}, 2, {7, 1}},
                                    {{2, {5, 7}}, 2, {-1, -1}},       {{2, {5, 7}}, 2, {23, 0}},
                                    {{2, {5, 7}}, 4, {1, 1, 0, -2}}, /* one dimension twice */
                                    {{2, {5, 7}}, 2, {INT64_MAX, 0}}, {{2, {5, 7}}, 2, {INT64_MIN, 1}},
                                    {{2, {5, 7}}, 1, {35}},           {{2, {5, 7}}, 1, {INT64_MIN}}};
  static const place_table table = {ROWS(scalar), ROWS(empty), ROWS(one), ROWS(prime), ROWS(large), ROWS(attrs), &deep};
  place_row row;
  if (!pick_row(c, &table, &row) || !give_self(c, &row)) return false;
  uint32_t dims = row.count / 2, shifts = row.count - dims;
  kw_case_give_ints(c, 1, row.numbers, shifts);
  if (dims > 0 || c->number % 2) kw_case_give_ints(c, 2, row.numbers + shifts, dims);
  give_result(c, &row.self);
  return true;
}

bool kw_case_make_triangle(kw_case *c) {
  static const place_row none[] = {{{0, {0}}, 0, {0}}};
  static const place_row empty[] = {{{2, {3, 0}}, 1, {0}}, {{3, {0, 3, 4}}, 1, {1}}};
  static const place_row one[] = {{{2, {1, 1}}, 1, {0}}, {{2, {1, 1}}, 1, {1}}, {{2, {1, 1}}, 1, {-1}}};
  static const place_row prime[] = {{{2, {13, 5}}, 1, {0}},         {{2, {5, 13}}, 1, {0}},
                                    {{3, {3, 5, 7}}, 1, {1}},       {{3, {3, 7, 5}}, 1, {-2}},
                                    {{4, {2, 3, 5, 7}}, 1, {-1}},   {{2, {31, 37}}, 1, {3}},
                                    {{5, {2, 1, 3, 2, 5}}, 1, {2}}, {{7, {2, 3, 2, 1, 2, 5, 4}}, 1, {-1}}};
  static const place_row deep = {{6, {2, 3, 2, 2, 4, 3}}, 1, {1}};
  static const place_row large[] = {{{2, {257, 263}}, 1, {1}}};
  static const place_row attrs[] = {
      {{2, {5, 7}}, 1, {0}},  {{2, {5, 7}}, 1, {1}},         {{2, {5, 7}}, 1, {-1}},
      {{2, {5, 7}}, 1, {6}},  {{2, {5, 7}}, 1, {7}},         {{2, {5, 7}}, 1, {-4}},
      {{2, {5, 7}}, 1, {-5}}, {{2, {5, 7}}, 1, {INT64_MAX}}, {{2, {5, 7}}, 1, {INT64_MIN}}};
  static const place_table table = {{none, 0}, ROWS(empty), ROWS(one), ROWS(prime), ROWS(large), ROWS(attrs), &deep};
  place_row row;
  if (!pick_row(c, &table, &row) || !give_self(c, &row)) return false;
  if (row.numbers[0] != 0 || c->number % 2) give_int(c, 1, row.numbers[0]);
  give_result(c, &row.self);
  return true;
}

/* ---- Replaced in part -------------------------------------------------------------------------------------------- */

/* `src` in an own layout; in the class ALIASING in the storage of `self`. */
static bool give_part(kw_case *c, const place_row *row, const kw_shape *part) {
  kw_layout layouts[2];
  for (uint32_t i = 0; i < 2; i++) {
    if (!kw_case_pick_deep_layout(c, i, 2, &layouts[i])) return false;
  }
  give_values(c, 0, &row->self, layouts[0]);
  give_values(c, 1, part, layouts[1]);
  if (c->class == KW_CLASS_ALIASING) {
    c->tensors[1].share = 0;
    c->tensors[1].extent = c->tensors[0].extent;
  }
  give_result(c, &row->self);
  return true;
}

bool kw_case_make_select_scatter(kw_case *c) {
  static const place_row none[] = {{{0, {0}}, 0, {0}}};
  static const place_row empty[] = {{{2, {3, 0}}, 2, {0, 1}}, {{3, {0, 3, 4}}, 2, {1, 2}}};
  static const place_row one[] = {{{1, {1}}, 2, {0, 0}}, {{3, {1, 1, 1}}, 2, {1, -1}}};
  static const place_row prime[] = {{{2, {13, 5}}, 2, {0, 4}},
                                    {{2, {13, 5}}, 2, {1, 2}},
                                    {{1, {7}}, 2, {0, 3}},
                                    {{3, {3, 5, 7}}, 2, {1, 4}},
                                    {{3, {3, 5, 7}}, 2, {2, 0}},
                                    {{4, {2, 3, 5, 7}}, 2, {2, 1}},
                                    {{5, {2, 1, 3, 2, 5}}, 2, {4, 3}},
                                    {{5, {7, 2, 3, 2, 4}}, 2, {0, 5}},
                                    {{6, {2, 5, 2, 3, 2, 3}}, 2, {-5, -2}},
                                    {{9, {2, 3, 2, 1, 2, 2, 1, 5, 2}}, 2, {-2, 3}}};
  static const place_row deep = {{6, {2, 5, 2, 3, 2, 3}}, 2, {1, 3}};
  static const place_row large[] = {{{2, {257, 263}}, 2, {1, 100}}};
  static const place_row attrs[] = {{{3, {3, 5, 7}}, 2, {0, 2}},   {{3, {3, 5, 7}}, 2, {1, -1}},
                                    {{3, {3, 5, 7}}, 2, {-1, 6}},  {{3, {3, 5, 7}}, 2, {-2, -5}},
                                    {{3, {3, 5, 7}}, 2, {-3, -1}}, {{3, {3, 5, 7}}, 2, {2, 3}}};
  static const place_table table = {{none, 0}, ROWS(empty), ROWS(one), ROWS(prime), ROWS(large), ROWS(attrs), &deep};
  place_row row;
  if (!pick_row(c, &table, &row)) return false;
  int64_t dim = row.numbers[0] < 0 ? row.numbers[0] + row.self.rank : row.numbers[0], index = row.numbers[1];
  kw_shape part = row.self;
  part.rank--;
  for (uint32_t d = (uint32_t)dim; d < part.rank; d++) part.dims[d] = part.dims[d + 1];
  if (kw_case_is_resized(c)) index %= row.self.dims[dim];
  if (!give_part(c, &row, &part)) return false;
  give_int(c, 2, row.numbers[0]);
  give_int(c, 3, index);
  return true;
}

static int64_t slice_end(int64_t end, int64_t none, int64_t size) {
  if (end == ABSENT) return none;
  int64_t at = end < 0 ? end + size : end;
  return at < 0 ? 0 : at > size ? size : at;
}

bool kw_case_make_slice_scatter(kw_case *c) {
  static const place_row none[] = {{{0, {0}}, 0, {0}}};
  static const place_row empty[] = {{{2, {3, 0}}, 4, {0, 1, 2, 1}}, {{2, {3, 0}}, 4, {1, ABSENT, ABSENT, 1}}};
  static const place_row one[] = {{{1, {1}}, 4, {0, 0, 1, 1}}, {{2, {1, 1}}, 4, {1, ABSENT, ABSENT, 3}}};
  static const place_row prime[] = {{{2, {13, 5}}, 4, {0, 2, 9, 1}},
                                    {{2, {13, 5}}, 4, {1, 1, 4, 2}},
                                    {{1, {37}}, 4, {0, 3, 31, 5}},
                                    {{3, {3, 5, 7}}, 4, {1, 0, 5, 2}},
                                    {{3, {3, 5, 7}}, 4, {2, 4, ABSENT, 1}},
                                    {{4, {2, 3, 5, 7}}, 4, {2, ABSENT, 3, 1}},
                                    {{5, {2, 1, 3, 2, 5}}, 4, {4, 1, 5, 3}},
                                    {{5, {7, 2, 3, 2, 4}}, 4, {0, 1, 6, 2}},
                                    {{6, {2, 5, 2, 3, 2, 3}}, 4, {-5, 1, ABSENT, 1}},
                                    {{9, {2, 3, 2, 1, 2, 2, 1, 5, 2}}, 4, {-2, -4, 5, 3}}};
  static const place_row deep = {{6, {2, 5, 2, 3, 2, 3}}, 4, {1, 1, 5, 2}};
  static const place_row large[] = {{{2, {257, 263}}, 4, {1, 7, 200, 3}}};
  static const place_row attrs[] = {{{2, {5, 7}}, 4, {1, ABSENT, ABSENT, 1}}, {{2, {5, 7}}, 4, {1, -5, -1, 1}},
                                    {{2, {5, 7}}, 4, {-1, 2, 100, 1}},        {{2, {5, 7}}, 4, {-2, -100, 3, 2}},
                                    {{2, {5, 7}}, 4, {1, 5, 2, 1}}, /* nothing */
                                    {{2, {5, 7}}, 4, {1, 0, 7, 6}},           {{2, {5, 7}}, 4, {1, 6, 7, INT64_MAX}},
                                    {{2, {5, 7}}, 4, {0, 1, INT64_MAX, 3}}};
  static const place_table table = {{none, 0}, ROWS(empty), ROWS(one), ROWS(prime), ROWS(large), ROWS(attrs), &deep};
  place_row row;
  if (!pick_row(c, &table, &row)) return false;
  const int64_t *numbers = row.numbers;
  int64_t dim = numbers[0] < 0 ? numbers[0] + row.self.rank : numbers[0], size = row.self.dims[dim];
  int64_t start = slice_end(numbers[1], 0, size), end = slice_end(numbers[2], size, size);
  kw_shape part = row.self;
  part.dims[dim] = end > start ? (end - start - 1) / numbers[3] + 1 : 0;
  if (!give_part(c, &row, &part)) return false;
  for (uint32_t i = 0; i < 4; i++) give_int(c, 2 + i, numbers[i]);
  return true;
}

/* ---- Padded ------------------------------------------------------------------------------------------------------ */

/* Gradients of the padded tensor, the tensor, the pads; the result is as large as the tensor. */
static bool give_gradient(kw_case *c, const place_row *row, const kw_shape *padded) {
  kw_layout layout;
  if (!kw_case_pick_layout(c->class, c->number, 0, 1, &layout)) return false;
  kw_case_set_tensor(c, 0, c->key, padded, layout);
  /* Equal terms may all be rounded the same way, and no bound on errors that are spread allows that. */
  c->tensors[0].domain = c->class == KW_CLASS_EXACT     ? KW_DOMAIN_SMALL
                         : c->class == KW_CLASS_SPECIAL ? KW_DOMAIN_SPECIAL_ROW
                         : c->class == KW_CLASS_STRIDE0 ? KW_DOMAIN_EXACT_FACTOR
                                                        : KW_DOMAIN_UNIT;
  c->tensors[0].value_stride = 7;
  c->exact = c->class == KW_CLASS_EXACT;
  kw_case_set_tensor(c, 1, c->key, &row->self, KW_LAYOUT_DENSE);
  kw_case_give_ints(c, 2, row->numbers, row->count);
  c->terms = 1; /* as many places as show the same element, at most */
  for (uint32_t i = 0; i < row->count; i++) c->terms *= row->numbers[i] > 0 ? 1 + (uint64_t)row->numbers[i] : 1;
  give_result(c, &row->self);
  return true;
}

/* Gives self, the pads and the result. */
static bool give_padded(kw_case *c, place_row *row) {
  kw_shape result = row->self;
  for (uint32_t i = 0; i < row->count; i++) {
    uint32_t d = result.rank - 1 - i / 2;
    int64_t size = row->self.dims[d];
    if (kw_case_is_resized(c) && size > 0 && row->numbers[i] >= size)
      row->numbers[i] = size - 1; /* what can be mirrored */
    result.dims[d] += row->numbers[i];
  }
  if (c->op->row.shape == KW_SHAPE_PAD_BACKWARD) return give_gradient(c, row, &result);
  if (!give_self(c, row)) return false;
  kw_case_give_ints(c, 1, row->numbers, row->count);
  give_result(c, &result);
  return true;
}

/* Values that fit, and in the class about attributes some that do not. */
static void give_fill(kw_case *c) {
  static const double fills[] = {0.1, -1.5, 1e30, -0.0, 300.75, 3};
  bool attrs = c->class == KW_CLASS_ATTRS;
  kw_value v = {.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_I64, .u.i = 5};
  if (attrs || c->number % 3 == 1) {
    v.kind = KW_SCALAR_F64;
    v.u.f = fills[attrs ? c->number % COUNT(fills) : 5];
  }
  if (attrs && c->key == KW_I64 && c->number >= COUNT(fills)) {
    v = kw_arg_scalar_i64(kw_case_wide_scalar(c->number - COUNT(fills) + 2));
  } else if (attrs && kw_case_takes_tie_scalars(c->key) && c->number >= COUNT(fills)) {
    v = kw_arg_scalar_f64(kw_case_tie_scalar(c->key, c->number - COUNT(fills)));
  }
  if (attrs || c->number % 3 > 0) kw_case_give(c, 2, v);
}

bool kw_case_make_pad(kw_case *c) {
  static const place_row scalar[] = {{{0, {0}}, 0, {0}}};
  static const place_row empty[] = {{{2, {3, 0}}, 2, {0, 0}}, {{2, {3, 4}}, 2, {-1, -3}}, {{2, {0, 4}}, 2, {1, 1}}};
  static const place_row one[] = {{{1, {1}}, 2, {0, 0}}, {{3, {1, 1, 1}}, 4, {1, 0, 0, 2}}, {{1, {3}}, 2, {-1, -1}}};
  static const place_row prime[] = {{{2, {13, 5}}, 2, {1, 2}},
                                    {{2, {13, 5}}, 4, {0, 3, 2, 0}},
                                    {{3, {3, 5, 7}}, 6, {1, 2, 3, 4, 5, 6}},
                                    {{4, {2, 3, 5, 7}}, 4, {2, 2, 1, 1}},
                                    {{1, {1021}}, 2, {40, 1}},
                                    {{2, {3, 5}}, 4, {0, 0, 7, 0}},
                                    {{5, {2, 1, 3, 2, 5}}, 8, {1, 1, 0, 2, 2, 0, 1, 0}},
                                    {{6, {2, 3, 2, 3, 2, 2}}, 12, {1, 0, 0, 1, 1, 1, 0, 2, 1, 0, 2, 1}},
                                    {{9, {2, 3, 2, 1, 2, 2, 1, 5, 2}}, 4, {1, 2, 0, 1}}};
  static const place_row deep = {{6, {2, 3, 2, 3, 2, 2}}, 12, {0, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1}};
  static const place_row large[] = {{{2, {257, 253}}, 4, {3, 7, 1, 2}}, {{1, {5}}, 2, {65537, 0}}};
  static const place_row attrs[] = {
      {{2, {5, 7}}, 2, {1, 0}},          {{2, {5, 7}}, 2, {0, 1}},  {{2, {5, 7}}, 4, {0, 0, 1, 0}},
      {{2, {5, 7}}, 4, {0, 0, 0, 1}},    {{2, {5, 7}}, 2, {-2, 3}}, {{2, {5, 7}}, 2, {3, -2}},
      {{2, {5, 7}}, 4, {-1, -1, 9, -2}}, {{2, {5, 7}}, 2, {-9, 4}}, {{2, {5, 7}}, 0, {0}}};
  static const place_table table = {ROWS(scalar), ROWS(empty), ROWS(one), ROWS(prime), ROWS(large), ROWS(attrs), &deep};
  place_row row;
  if (!pick_row(c, &table, &row) || !give_padded(c, &row)) return false;
  give_fill(c);
  return true;
}

/* The pads are those of three dimensions: an op takes the first of them, and of the shape the last so many, with one or
 * two in front. */
bool kw_case_make_pad_border(kw_case *c) {
  static const place_row none[] = {{{0, {0}}, 0, {0}}};
  static const place_row empty[] = {{{5, {0, 2, 3, 3, 3}}, 6, {1, 1, 1, 1, 1, 1}},
                                    {{5, {2, 0, 3, 3, 3}}, 6, {1, 1, 0, 0, 2, 2}}};
  static const place_row one[] = {{{4, {1, 1, 1, 1}}, 6, {0, 0, 0, 0, 0, 0}},
                                  {{5, {1, 1, 3, 3, 3}}, 6, {-1, -1, -1, -1, -1, -1}}};
  static const place_row prime[] = {
      {{4, {2, 3, 5, 7}}, 6, {1, 2, 3, 1, 2, 0}},     {{5, {2, 3, 2, 5, 7}}, 6, {6, 6, 4, 4, 1, 1}},
      {{5, {1, 2, 3, 3, 11}}, 6, {0, 3, 2, 0, 0, 2}}, {{4, {3, 2, 2, 13}}, 6, {12, 0, 0, 1, 1, 0}},
      {{5, {2, 1, 3, 4, 5}}, 6, {0, 0, 0, 0, 0, 0}},  {{4, {1, 3, 3, 67}}, 6, {31, 66, 1, 2, 0, 1}}};
  static const place_row large[] = {{{5, {2, 3, 3, 61, 67}}, 6, {2, 5, 3, 1, 1, 0}}};
  static const place_row attrs[] = {
      {{4, {2, 3, 5, 7}}, 6, {1, 0, 0, 0, 0, 0}},   {{4, {2, 3, 5, 7}}, 6, {0, 1, 0, 0, 0, 0}},
      {{4, {2, 3, 5, 7}}, 6, {-1, 3, 1, 0, 0, 0}},  {{4, {2, 3, 5, 7}}, 6, {4, -3, 0, 1, 0, 0}},
      {{4, {2, 3, 5, 7}}, 6, {2, 2, -2, -1, 1, 0}}, {{4, {2, 3, 5, 7}}, 6, {-6, 6, -4, 2, 0, 1}},
      {{5, {2, 2, 3, 5, 7}}, 6, {6, 6, 4, 4, 2, 2}}};
  static const place_table table = {{none, 0}, ROWS(empty), ROWS(one), ROWS(prime), ROWS(large), ROWS(attrs), NULL};
  place_row row;
  uint32_t padded = (uint32_t)(strstr(c->op->base, "_pad")[4] - '0');
  if (!pick_row(c, &table, &row)) return false;
  uint32_t batch = row.self.rank - 4, cut = 3 - padded;
  row.self.rank -= cut;
  memmove(row.self.dims + batch + 1, row.self.dims + batch + 1 + cut, padded * sizeof(int64_t));
  row.count = 2 * padded;
  return give_padded(c, &row);
}
