/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of ops that choose and place elements. Where an op writes to places that indices name, indices occur at
 * most twice for one place, so that the first and the last writer are all there are.
 */
#include "case/makers.h"
#include "case/parts.h"

#include <string.h>

static void give_int(kw_case *c, uint32_t arg, int64_t i) {
  kw_case_give(c, arg, (kw_value){.tag = KW_TAG_INT, .u.i = i});
}

static void give_bool(kw_case *c, uint32_t arg, bool b) {
  kw_case_give(c, arg, (kw_value){.tag = KW_TAG_BOOL, .u.b = b});
}

static void give_result(kw_case *c, const kw_shape *shape) {
  kw_case_set_result(c, 0, c->key, shape, kw_case_out_layout(c));
}

static kw_dtype index_dtype(const kw_case *c) {
  return c->number % 2 ? KW_I32 : KW_I64;
}

/* The values of what is moved. */
static void give_values(kw_case *c, uint32_t arg, const kw_shape *shape, kw_layout layout) {
  kw_case_set_tensor(c, arg, c->key, shape, layout);
  if (c->class == KW_CLASS_SPECIAL) c->tensors[arg].domain = KW_DOMAIN_SPECIAL_RAW;
}

/* Two arguments of one dtype and extent in one storage. */
static void share(kw_case *c, uint32_t arg, uint32_t with) {
  kw_case_tensor *a = &c->tensors[with], *b = &c->tensors[arg];
  uint64_t extent = a->extent > b->extent ? a->extent : b->extent;
  a->extent = b->extent = extent;
  b->share = (int)with;
  b->domain = a->domain;
}

/* The rows of a class. */
#define ROWS(array) (rows = (array), count = COUNT(array))

/* ---- Along one dimension ----------------------------------------------------------------------------------------- */

/* `index` has the rank of `self`; index_select takes only its size along `dim`. */
typedef struct line_row {
  kw_shape self;
  int64_t dim;
  kw_shape index;
} line_row;

static const line_row line_scalar[] = {{{0, {0}}, 0, {0, {0}}}, {{0, {0}}, -1, {0, {0}}}};
static const line_row line_empty[] = {
    {{2, {3, 4}}, 0, {2, {0, 4}}}, {{2, {0, 4}}, 0, {2, {0, 4}}}, {{3, {2, 0, 3}}, 2, {3, {2, 0, 5}}}};
static const line_row line_one[] = {
    {{1, {1}}, 0, {1, {1}}}, {{3, {1, 1, 1}}, -2, {3, {1, 1, 1}}}, {{1, {7}}, 0, {1, {1}}}};
/* As many indices as elements or fewer, then up to twice as many. */
static const line_row line_prime[] = {{{1, {7}}, 0, {1, {5}}},
                                      {{2, {13, 5}}, 0, {2, {7, 5}}},
                                      {{2, {13, 5}}, 1, {2, {11, 5}}},
                                      {{3, {3, 5, 7}}, 1, {3, {2, 9, 6}}},
                                      {{3, {3, 5, 7}}, 2, {3, {3, 4, 13}}},
                                      {{4, {2, 3, 5, 7}}, 2, {4, {2, 3, 7, 7}}},
                                      {{1, {1021}}, 0, {1, {2039}}},
                                      {{8, {2, 1, 3, 1, 2, 1, 2, 2}}, 2, {8, {2, 1, 5, 1, 2, 1, 1, 2}}},
                                      {{8, {2, 1, 3, 1, 2, 1, 2, 2}}, 7, {8, {1, 1, 3, 1, 2, 1, 2, 3}}},
                                      {{1, {31}}, 0, {1, {31}}},
                                      /* far from the last dimension, which is where devices count from, or many */
                                      {{5, {7, 2, 3, 2, 4}}, 0, {5, {5, 2, 3, 2, 4}}},
                                      {{6, {2, 5, 2, 3, 2, 3}}, -5, {6, {2, 4, 2, 3, 1, 3}}},
                                      {{16, {2, 1, 5, 1, 2, 1, 2, 1, 1, 2, 1, 2, 1, 3, 1, 2}},
                                       -14,
                                       {16, {2, 1, 7, 1, 2, 1, 2, 1, 1, 2, 1, 2, 1, 3, 1, 1}}},
                                      {{7, {2, 3, 2, 3, 2, 5, 2}}, -2, {7, {2, 3, 2, 3, 2, 4, 2}}}};
static const line_row line_deep = {{6, {2, 5, 2, 3, 2, 3}}, 1, {6, {2, 5, 2, 3, 2, 3}}};
static const line_row line_large[] = {{{2, {257, 263}}, 1, {2, {257, 259}}}, {{1, {65537}}, 0, {1, {70001}}}};
static const line_row line_layout[] = {
    {{2, {5, 7}}, 1, {2, {5, 6}}}, {{3, {4, 3, 5}}, 1, {3, {4, 5, 5}}}, {{2, {67, 129}}, 0, {2, {67, 120}}}};
static const line_row line_attrs[] = {{{3, {3, 5, 7}}, 0, {3, {2, 5, 7}}},  {{3, {3, 5, 7}}, 1, {3, {3, 4, 7}}},
                                      {{3, {3, 5, 7}}, 2, {3, {3, 5, 9}}},  {{3, {3, 5, 7}}, -1, {3, {3, 5, 9}}},
                                      {{3, {3, 5, 7}}, -2, {3, {3, 8, 7}}}, {{3, {3, 5, 7}}, -3, {3, {6, 5, 7}}}};

static bool pick_line(const kw_case *c, uint32_t tensors, line_row *out) {
  const line_row *rows;
  uint32_t count;
  switch (c->class) {
    case KW_CLASS_SCALAR:
      ROWS(line_scalar);
      break;
    case KW_CLASS_EMPTY:
      ROWS(line_empty);
      break;
    case KW_CLASS_ONE:
      ROWS(line_one);
      break;
    case KW_CLASS_PRIME:
      ROWS(line_prime);
      break;
    case KW_CLASS_LARGE:
      ROWS(line_large);
      break;
    case KW_CLASS_TRANSPOSED:
    case KW_CLASS_SLICED:
    case KW_CLASS_STRIDE0:
      *out = kw_case_is_deep(c, tensors) ? line_deep : line_layout[c->number % COUNT(line_layout)];
      return true;
    case KW_CLASS_ATTRS:
      ROWS(line_attrs);
      break;
    case KW_CLASS_SPECIAL:
      *out = (line_row){{2, {64, 3}}, 0, {2, {64, 3}}};
      return c->number < 2;
    case KW_CLASS_OUTPUTS:
      *out = (line_row){{3, {5, 11, 7}}, (int64_t)(c->number % 3), {3, {5, 10, 7}}};
      return c->number < KW_CASE_OUT_LAYOUTS;
    case KW_CLASS_ALIASING:
      *out = (line_row){{1, {37}}, 0, {1, {37}}};
      return c->number == 0;
    default:
      return false;
  }
  if (c->number >= count) return false;
  *out = rows[c->number];
  return true;
}

/* Layouts of self, index and what is written. Indices that repeat along `dim` have more than two writers for one place:
 * a written index is expanded in its first dimension only, and only where that is another one. */
static bool line_layouts(const kw_case *c, uint32_t dim, bool written, kw_layout out[3]) {
  out[0] = out[1] = out[2] = KW_LAYOUT_DENSE;
  if (!kw_case_about_layouts(c->class)) return true;
  if (!written) {
    return kw_case_pick_deep_layout(c, 0, 2, &out[0]) && kw_case_pick_deep_layout(c, 1, 2, &out[1]);
  }
  for (uint32_t i = 0; i < 3; i++) {
    if (!kw_case_pick_deep_layout(c, i == 2 ? 1 : i == 1 ? 2 : 0, 3, &out[i])) return false;
  }
  bool repeats = c->class == KW_CLASS_STRIDE0 && !(out[1] == KW_LAYOUT_EXPAND_FIRST && dim > 0);
  if (repeats) out[1] = KW_LAYOUT_DENSE;
  return true;
}

/* scatter.value: numbers that fit, and in the class about attributes some that do not. */
static void give_scalar(kw_case *c, uint32_t arg) {
  static const double values[] = {3, -1.5, 0.1, 1e30, -0.0, 300.75};
  kw_value v = {.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_F64};
  v.u.f = values[c->class == KW_CLASS_ATTRS ? c->number % COUNT(values) : 0];
  if (c->number % 3 == 1 && c->class != KW_CLASS_ATTRS)
    v = (kw_value){.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_I64, .u.i = -7};
  kw_case_give(c, arg, v);
}

/* Sizes are those of the index and, last, self's along `dim`. In other dimensions self is larger by what it was. A
 * place has two writers at most where that decides what is written. */
static void resize_lines(kw_case *c, line_row *row, uint32_t dim, bool written) {
  const kw_shape index = row->index;
  kw_shape sizes = index;
  if (index.rank == 0 || index.rank == KW_MAX_RANK || c->class == KW_CLASS_ALIASING) return;
  sizes.dims[sizes.rank++] = row->self.dims[dim];
  kw_case_resize(c, &sizes);
  for (uint32_t d = 0; d < index.rank; d++) {
    row->index.dims[d] = sizes.dims[d];
    row->self.dims[d] += sizes.dims[d] - index.dims[d];
  }
  row->self.dims[dim] = sizes.dims[index.rank];
  const int64_t half = (row->index.dims[dim] + 1) / 2;
  if (written && row->self.dims[dim] < half) row->self.dims[dim] = half;
}

bool kw_case_make_lines(kw_case *c) {
  line_row row;
  kw_layout layouts[3];
  bool select = c->op->row.shape == KW_SHAPE_INDEX_SELECT, scatter = c->op->row.shape == KW_SHAPE_SCATTER;
  bool written = scatter && c->op->args[3].tag == KW_TAG_TENSOR;
  if (!pick_line(c, written ? 3 : 2, &row)) return false;
  const uint32_t rank = row.self.rank, dim = (uint32_t)(row.dim < 0 ? row.dim + (rank ? rank : 1) : row.dim);
  if (!line_layouts(c, dim, written, layouts)) return false;
  resize_lines(c, &row, dim, written);
  kw_shape index = row.index, result = scatter ? row.self : row.index;
  if (select) {
    index = (kw_shape){1, {rank ? row.index.dims[dim] : 1}};
    result = row.self;
    if (rank) result.dims[dim] = index.dims[0];
  }
  give_values(c, 0, &row.self, layouts[0]);
  give_int(c, 1, row.dim);
  kw_case_set_tensor(c, 2, index_dtype(c), &index, layouts[1]);
  int64_t stride = index.rank ? c->tensors[2].strides[select ? 0 : dim] : 1;
  kw_case_set_indices(c, 2, rank ? row.self.dims[dim] : 1, false, written, stride);
  if (written) {
    kw_shape src = row.index; /* may be larger */
    for (uint32_t d = 0; d < src.rank && c->class == KW_CLASS_PRIME; d++) src.dims[d] += c->number % 3;
    give_values(c, 3, &src, layouts[2]);
  } else if (scatter) {
    give_scalar(c, 3);
  } else if (!select && c->class == KW_CLASS_ATTRS) {
    give_bool(c, 3, c->number % 2); /* sparse_grad */
  }
  if (c->class == KW_CLASS_ALIASING && written) { /* what is written lies in what it is written to */
    share(c, 3, 0);
  } else if (c->class == KW_CLASS_ALIASING) { /* elements that are indices of others */
    if (c->key != KW_I64 && c->key != KW_I32) return false;
    kw_case_set_tensor(c, 2, c->key, &index, KW_LAYOUT_DENSE);
    kw_case_set_indices(c, 0, row.self.dims[0], false, false, 1);
    kw_case_set_indices(c, 2, row.self.dims[0], false, false, 1);
    share(c, 2, 0);
  }
  give_result(c, &result);
  return true;
}

/* ---- Rows of a table --------------------------------------------------------------------------------------------- */

typedef struct table_row {
  int64_t rows, width;
  kw_shape indices;
} table_row;

static const table_row table_scalar[] = {{5, 3, {0, {0}}}, {1, 1, {0, {0}}}};
static const table_row table_empty[] = {{5, 3, {1, {0}}}, {0, 3, {2, {2, 0}}}, {5, 0, {1, {4}}}};
static const table_row table_one[] = {{1, 1, {1, {1}}}, {7, 1, {3, {1, 1, 1}}}};
static const table_row table_prime[] = {
    {7, 5, {1, {11}}},      {13, 1, {2, {3, 5}}},
    {1, 13, {2, {5, 3}}},   {31, 129, {1, {17}}},
    {1021, 3, {1, {1021}}}, {5, 3, {8, {2, 1, 3, 1, 2, 1, 2, 2}}},
    {3, 4099, {1, {2}}},    {5, 2, {15, {1, 2, 1, 1, 2, 1, 1, 3, 1, 1, 1, 2, 1, 1, 2}}}};
static const table_row table_large[] = {{257, 263, {1, {257}}}, {65537, 1, {1, {65539}}}, {7, 65537, {1, {2}}}};
static const table_row table_layout[] = {{5, 7, {2, {3, 4}}}, {67, 129, {2, {5, 6}}}, {13, 3, {3, {2, 3, 4}}}};

static void resize_table(kw_case *c, table_row *row) {
  kw_shape sizes = {2, {row->rows, row->width}};
  if (row->indices.rank > KW_MAX_RANK - 2) return;
  for (uint32_t d = 0; d < row->indices.rank; d++) sizes.dims[sizes.rank++] = row->indices.dims[d];
  kw_case_resize(c, &sizes);
  row->rows = sizes.dims[0], row->width = sizes.dims[1];
  for (uint32_t d = 0; d < row->indices.rank; d++) row->indices.dims[d] = sizes.dims[2 + d];
}

bool kw_case_make_embedding(kw_case *c) {
  const table_row *rows;
  table_row one = {17, 9, {2, {5, 11}}};
  kw_layout layouts[2] = {KW_LAYOUT_DENSE, KW_LAYOUT_DENSE};
  uint32_t count = 0;
  switch (c->class) {
    case KW_CLASS_SCALAR:
      ROWS(table_scalar);
      break;
    case KW_CLASS_EMPTY:
      ROWS(table_empty);
      break;
    case KW_CLASS_ONE:
      ROWS(table_one);
      break;
    case KW_CLASS_PRIME:
      ROWS(table_prime);
      break;
    case KW_CLASS_LARGE:
      ROWS(table_large);
      break;
    case KW_CLASS_TRANSPOSED:
    case KW_CLASS_SLICED:
    case KW_CLASS_STRIDE0:
      for (uint32_t i = 0; i < 2; i++) {
        if (!kw_case_pick_layout(c->class, c->number, i, 2, &layouts[i])) return false;
      }
      one = table_layout[c->number % COUNT(table_layout)];
      rows = &one, count = UINT32_MAX;
      break;
    case KW_CLASS_SPECIAL:
      one = (table_row){64, 3, {1, {97}}};
      rows = &one, count = 2;
      break;
    case KW_CLASS_ATTRS:
      rows = &one, count = 4;
      break;
    case KW_CLASS_OUTPUTS:
      rows = &one, count = KW_CASE_OUT_LAYOUTS;
      break;
    default:
      return false;
  }
  if (c->number >= count) return false;
  table_row row = rows == &one ? one : rows[c->number];
  resize_table(c, &row);
  kw_shape weight = {2, {row.rows, row.width}}, result = row.indices;
  result.dims[result.rank++] = row.width;
  give_values(c, 0, &weight, layouts[0]);
  kw_case_set_tensor(c, 1, index_dtype(c), &row.indices, layouts[1]);
  kw_case_set_indices(c, 1, row.rows, false, false, 1);
  if (c->class == KW_CLASS_ATTRS) { /* none of them changes anything */
    give_int(c, 2, (int64_t)c->number * 5 - 3);
    give_bool(c, 3, c->number & 1);
    give_bool(c, 4, c->number >> 1 & 1);
  }
  give_result(c, &result);
  return true;
}

/* ---- Advanced indexing ------------------------------------------------------------------------------------------- */

#define ABSENT (KW_MAX_RANK + 1) /* the rank of an entry that is none */

typedef struct advanced_row {
  kw_shape self;
  uint32_t count;
  kw_shape entries[6];
} advanced_row;

static const advanced_row advanced_scalar[] = {
    {{1, {7}}, 1, {{0, {0}}}}, {{2, {3, 5}}, 2, {{0, {0}}, {0, {0}}}}, {{2, {3, 5}}, 2, {{ABSENT, {0}}, {0, {0}}}}};
static const advanced_row advanced_empty[] = {{{2, {3, 4}}, 1, {{1, {0}}}},
                                              {{2, {0, 4}}, 2, {{ABSENT, {0}}, {1, {3}}}},
                                              {{3, {2, 3, 4}}, 3, {{2, {0, 1}}, {ABSENT, {0}}, {1, {2}}}}};
static const advanced_row advanced_one[] = {{{1, {1}}, 1, {{1, {1}}}}, {{3, {1, 1, 1}}, 2, {{1, {1}}, {2, {1, 1}}}}};
static const advanced_row advanced_prime[] = {
    {{1, {7}}, 1, {{1, {5}}}},
    {{2, {13, 5}}, 1, {{1, {25}}}},
    {{2, {13, 5}}, 2, {{ABSENT, {0}}, {1, {9}}}},
    {{2, {13, 5}}, 2, {{1, {11}}, {1, {11}}}},
    {{3, {3, 5, 7}}, 3, {{1, {3}}, {ABSENT, {0}}, {1, {3}}}},
    {{3, {3, 5, 7}}, 2, {{ABSENT, {0}}, {2, {2, 3}}}},
    {{3, {3, 5, 7}}, 3, {{ABSENT, {0}}, {1, {4}}, {2, {7, 1}}}},
    {{4, {2, 3, 5, 7}}, 3, {{1, {2}}, {ABSENT, {0}}, {2, {5, 1}}}},
    {{4, {2, 3, 5, 7}}, 4, {{0, {0}}, {ABSENT, {0}}, {ABSENT, {0}}, {1, {11}}}},
    {{1, {1021}}, 1, {{1, {2039}}}},
    {{8, {2, 1, 3, 1, 2, 1, 2, 2}}, 3, {{ABSENT, {0}}, {ABSENT, {0}}, {2, {1, 5}}}},
    {{8, {2, 1, 3, 1, 2, 1, 2, 2}}, 1, {{1, {3}}}},
    {{5, {3, 2, 3, 2, 4}}, 3, {{2, {2, 3}}, {ABSENT, {0}}, {1, {3}}}},
    {{6, {2, 3, 2, 3, 2, 4}}, 6, {{1, {5}}, {ABSENT, {0}}, {ABSENT, {0}}, {ABSENT, {0}}, {ABSENT, {0}}, {1, {5}}}}};
static const advanced_row advanced_deep = {{6, {2, 5, 2, 3, 2, 3}}, 2, {{ABSENT, {0}}, {1, {5}}}};
static const advanced_row advanced_large[] = {{{2, {257, 263}}, 1, {{1, {257}}}},
                                              {{1, {65537}}, 1, {{2, {259, 257}}}},
                                              {{2, {257, 263}}, 2, {{2, {257, 1}}, {1, {263}}}}};
static const advanced_row advanced_broadcast[] = {{{3, {3, 5, 7}}, 2, {{2, {3, 1}}, {1, {5}}}},
                                                  {{3, {3, 5, 7}}, 3, {{1, {3}}, {ABSENT, {0}}, {2, {7, 1}}}},
                                                  {{3, {5, 5, 7}}, 3, {{3, {5, 1, 1}}, {2, {5, 1}}, {1, {7}}}},
                                                  {{3, {3, 5, 7}}, 3, {{0, {0}}, {1, {5}}, {1, {1}}}},
                                                  {{2, {3, 5}}, 2, {{3, {1, 3, 1}}, {3, {1, 1, 5}}}},
                                                  {{2, {3, 5}}, 2, {{1, {1}}, {2, {4, 1}}}}};
/* Entries have one dimension, so that steps in their storage skip no index. */
static const advanced_row advanced_layout[] = {{{2, {5, 7}}, 1, {{1, {5}}}},
                                               {{3, {4, 3, 5}}, 3, {{1, {4}}, {ABSENT, {0}}, {2, {5, 1}}}},
                                               {{2, {67, 129}}, 2, {{ABSENT, {0}}, {1, {120}}}}};

static bool pick_advanced(const kw_case *c, uint32_t tensors, advanced_row *out) {
  const advanced_row *rows;
  uint32_t count;
  switch (c->class) {
    case KW_CLASS_SCALAR:
      ROWS(advanced_scalar);
      break;
    case KW_CLASS_EMPTY:
      ROWS(advanced_empty);
      break;
    case KW_CLASS_ONE:
      ROWS(advanced_one);
      break;
    case KW_CLASS_PRIME:
      ROWS(advanced_prime);
      break;
    case KW_CLASS_LARGE:
      ROWS(advanced_large);
      break;
    case KW_CLASS_BROADCAST:
      ROWS(advanced_broadcast);
      break;
    case KW_CLASS_TRANSPOSED:
    case KW_CLASS_SLICED:
    case KW_CLASS_STRIDE0:
      *out = kw_case_is_deep(c, tensors) ? advanced_deep : advanced_layout[c->number % COUNT(advanced_layout)];
      return true;
    case KW_CLASS_SPECIAL:
      *out = (advanced_row){{2, {64, 3}}, 1, {{1, {64}}}};
      return c->number < 2;
    case KW_CLASS_MIXED: /* both index dtypes in one list */
      *out = (advanced_row){{3, {5, 5, 7}}, 3, {{1, {5}}, {2, {5, 1}}, {1, {5}}}};
      return c->number < 2;
    case KW_CLASS_OUTPUTS:
      *out = (advanced_row){{3, {5, 11, 7}}, 2, {{ABSENT, {0}}, {1, {9}}}};
      return c->number < KW_CASE_OUT_LAYOUTS;
    case KW_CLASS_ALIASING:
      *out = (advanced_row){{1, {37}}, 1, {{1, {37}}}};
      return c->number == 0;
    default:
      return false;
  }
  if (c->number >= count) return false;
  *out = rows[c->number];
  return true;
}

/* Sizes are self's and, last, that of the first entry, whose place others have that are as long. `alone`: a place has
 * two writers at most. */
static void resize_advanced(kw_case *c, advanced_row *row, bool alone) {
  uint32_t first = 0;
  while (first < row->count && (row->entries[first].rank == ABSENT || row->entries[first].rank == 0)) first++;
  if (first == row->count || c->class == KW_CLASS_ALIASING || row->self.rank == KW_MAX_RANK) return;
  const kw_shape *entry = &row->entries[first];
  const int64_t length = entry->dims[entry->rank - 1];
  kw_shape sizes = row->self;
  sizes.dims[sizes.rank++] = length;
  kw_case_resize(c, &sizes);
  for (uint32_t d = 0; d < row->self.rank; d++) row->self.dims[d] = sizes.dims[d];
  for (uint32_t k = 0; k < row->count; k++) {
    const uint32_t rank = row->entries[k].rank == ABSENT ? 0 : row->entries[k].rank;
    int64_t numel = rank ? 1 : 0;
    for (uint32_t d = 0; d < rank; d++) {
      int64_t *size = &row->entries[k].dims[d];
      if (*size == length && length > 1) *size = sizes.dims[row->self.rank];
      numel *= *size;
    }
    if (alone && row->self.dims[k] < (numel + 1) / 2) row->self.dims[k] = (numel + 1) / 2;
  }
}

/* The shape of self[indices]. */
static kw_shape selection_shape(const advanced_row *row) {
  kw_shape joint = {0, {0}}, result = {0, {0}};
  uint32_t first = KW_MAX_RANK, last = 0, given = 0;
  for (uint32_t k = 0; k < row->count; k++) {
    const kw_shape *entry = &row->entries[k];
    if (entry->rank == ABSENT) continue;
    if (given++ == 0) first = k;
    last = k;
    for (; joint.rank < entry->rank; joint.rank++) {
      memmove(&joint.dims[1], joint.dims, joint.rank * sizeof joint.dims[0]);
      joint.dims[0] = 1;
    }
    for (uint32_t i = 0; i < entry->rank; i++) {
      if (entry->dims[i] != 1) joint.dims[joint.rank - entry->rank + i] = entry->dims[i];
    }
  }
  uint32_t place = last - first + 1 == given ? first : 0;
  for (uint32_t d = 0; d <= row->self.rank; d++) {
    for (uint32_t j = 0; d == place && j < joint.rank; j++) result.dims[result.rank++] = joint.dims[j];
    bool indexed = d < row->count && row->entries[d].rank != ABSENT;
    if (d < row->self.rank && !indexed) result.dims[result.rank++] = row->self.dims[d];
  }
  return result;
}

/* The stride of the one dimension that is not of size 1; 1 where all elements follow each other. */
static int64_t entry_stride(const kw_case_tensor *entry) {
  int64_t stride = 1;
  uint32_t wide = 0;
  for (uint32_t d = 0; d < entry->rank; d++) {
    if (entry->shape[d] == 1) continue;
    stride = entry->strides[d];
    wide++;
  }
  return wide == 1 ? stride : 1;
}

/* Gives the list. `written`: indices in an order in which places meet twice at most. Returns the most values that one
 * place can meet. */
static uint64_t give_entries(kw_case *c, const advanced_row *row, kw_layout layout, bool written) {
  uint64_t writers = 1;
  uint32_t first = kw_case_set_list(c, 1, row->count);
  for (uint32_t k = 0; k < row->count; k++) {
    if (row->entries[k].rank == ABSENT) continue;
    kw_dtype dtype = c->class == KW_CLASS_MIXED ? ((k + c->number) % 2 ? KW_I32 : KW_I64) : index_dtype(c);
    kw_case_set_entry(c, 1, first + k, dtype, &row->entries[k], layout);
    kw_case_tensor *entry = &c->tensors[first + k];
    int64_t size = row->self.dims[k];
    kw_case_set_indices(c, first + k, size, true, written, entry_stride(entry));
    if (size > 0) writers *= (uint64_t)((entry->numel + size - 1) / size);
  }
  return writers;
}

bool kw_case_make_indexing(kw_case *c) {
  advanced_row row;
  kw_layout layouts[2] = {KW_LAYOUT_DENSE, KW_LAYOUT_DENSE};
  if (!pick_advanced(c, 2, &row)) return false;
  for (uint32_t i = 0; i < 2; i++) {
    if (!kw_case_pick_deep_layout(c, i, 2, &layouts[i])) return false;
  }
  resize_advanced(c, &row, false);
  kw_shape result = selection_shape(&row);
  give_values(c, 0, &row.self, layouts[0]);
  give_entries(c, &row, layouts[1], false);
  if (c->class == KW_CLASS_ALIASING) { /* elements that are indices of others */
    if (c->key != KW_I64 && c->key != KW_I32) return false;
    uint32_t entry = c->args[1].first;
    kw_case_set_entry(c, 1, entry, c->key, &row.entries[0], KW_LAYOUT_DENSE);
    kw_case_set_indices(c, entry, row.self.dims[0], true, false, 1);
    kw_case_set_indices(c, 0, row.self.dims[0], true, false, 1);
    share(c, entry, 0);
  }
  give_result(c, &result);
  return true;
}

/* Values as large as self[indices], or such that broadcast to it. */
static kw_shape values_shape(const kw_case *c, kw_shape shape) {
  bool varied = c->class == KW_CLASS_PRIME || c->class == KW_CLASS_BROADCAST;
  if (varied && c->number % 4 == 1) return (kw_shape){0, {0}};
  if (varied && c->number % 4 == 2 && shape.rank > 0) return (kw_shape){1, {shape.dims[shape.rank - 1]}};
  if (varied && c->number % 4 == 3 && shape.rank > 0) shape.dims[shape.rank - 1] = 1;
  return shape;
}

/* With accumulate: many values for one place, and sums that are exact. */
static const advanced_row sums[] = {{{1, {7}}, 1, {{1, {70}}}},
                                    {{2, {13, 5}}, 2, {{ABSENT, {0}}, {1, {1021}}}},
                                    {{3, {3, 5, 7}}, 3, {{1, {31}}, {ABSENT, {0}}, {2, {29, 1}}}},
                                    {{1, {1}}, 1, {{1, {4099}}}},
                                    {{2, {67, 129}}, 1, {{1, {600}}}}};

/* What is special about sums: the class about attributes has those of many values, EXACT those that no order changes.
 */
static bool pick_sum(const kw_case *c, advanced_row *out) {
  bool own = c->class == KW_CLASS_ATTRS || c->class == KW_CLASS_EXACT;
  if (c->key > KW_F64) return false;
  if (own && c->number >= COUNT(sums)) return false;
  if (own) *out = sums[c->number];
  if (c->class == KW_CLASS_SPECIAL) *out = (advanced_row){{2, {53, 7}}, 1, {{1, {53}}}};
  return own || c->class == KW_CLASS_SPECIAL;
}

/* Numbers 2 n + 1 of the classes with sums are sums, where the dtype has them; 2 n are what n would be without. */
static bool take_turns(kw_case *c, bool *out_accumulate) {
  bool both = c->class != KW_CLASS_ATTRS && c->class != KW_CLASS_EXACT;
  *out_accumulate = !both || (c->key <= KW_F64 && c->number % 2);
  return both && c->key <= KW_F64;
}

static bool make_put(kw_case *c, bool accumulate) {
  advanced_row row;
  bool summed = accumulate && pick_sum(c, &row);
  kw_layout layouts[3] = {KW_LAYOUT_DENSE, KW_LAYOUT_DENSE, KW_LAYOUT_DENSE};
  if (!summed && !pick_advanced(c, 3, &row)) return false;
  for (uint32_t i = 0; i < 3; i++) { /* self, values, indices */
    if (!kw_case_pick_deep_layout(c, i, 3, &layouts[i])) return false;
  }
  if (c->class == KW_CLASS_STRIDE0) layouts[2] = KW_LAYOUT_DENSE; /* one place for all values */
  if (!summed) resize_advanced(c, &row, !accumulate);
  const kw_shape selection = selection_shape(&row), values = values_shape(c, selection);
  give_values(c, 0, &row.self, layouts[0]);
  uint64_t writers = give_entries(c, &row, layouts[2], true);
  give_values(c, 2, &values, layouts[1]);
  if (c->class == KW_CLASS_ALIASING) share(c, 2, 0);
  if (accumulate) {
    c->bounds[0].compare = KW_CMP_ACCUMULATE;
    c->terms = 1 + writers;
    c->exact = c->class == KW_CLASS_EXACT;
    bool small = c->exact || c->class == KW_CLASS_SPECIAL;
    c->tensors[0].domain = small ? KW_DOMAIN_SMALL : KW_DOMAIN_UNIT;
    c->tensors[2].domain = c->class == KW_CLASS_SPECIAL ? KW_DOMAIN_SPECIAL_ROW : c->tensors[0].domain;
    /* One value that is added often may be rounded the same way each time, and no bound on spread errors allows that.
     */
    const bool repeated = memcmp(&values, &selection, sizeof values) != 0;
    if (c->sweep && repeated) c->tensors[2].domain = KW_DOMAIN_EXACT_FACTOR;
    c->tensors[2].value_stride = 7;
  }
  if (accumulate || c->number % 3 == 1) give_bool(c, 3, accumulate);
  give_result(c, &row.self);
  return true;
}

bool kw_case_make_index_put(kw_case *c) {
  bool accumulate;
  uint32_t number = c->number;
  if (take_turns(c, &accumulate)) c->number = number / 2;
  bool made = !(accumulate && c->key > KW_F64) && make_put(c, accumulate);
  c->number = number;
  return made;
}
