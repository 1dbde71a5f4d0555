/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of cat.
 */
#include "case/makers.h"
#include "case/parts.h"

#define ROWS(array) (rows = (array), count = COUNT(array)) /* the rows of a class */

typedef struct cat_row {
  int64_t dim;
  uint32_t count;
  kw_shape entries[KW_CASE_ENTRIES];
} cat_row;

static const cat_row cat_empty[] = {{0, 2, {{1, {0}}, {1, {0}}}},
                                    {0, 3, {{2, {2, 0}}, {2, {3, 0}}, {1, {0}}}},
                                    {1, 2, {{3, {2, 0, 3}}, {3, {2, 0, 3}}}},
                                    {1, 1, {{2, {0, 5}}}}};
static const cat_row cat_one[] = {
    {0, 1, {{1, {1}}}}, {-1, 2, {{3, {1, 1, 1}}, {1, {0}}}}, {1, 2, {{2, {1, 1}}, {2, {1, 0}}}}};
static const cat_row cat_prime[] = {
    {0, 1, {{1, {7}}}},
    {0, 2, {{1, {7}}, {1, {1021}}}},
    {0, 3, {{2, {13, 5}}, {2, {1, 5}}, {2, {7, 5}}}},
    {1, 3, {{2, {13, 5}}, {2, {13, 1}}, {2, {13, 7}}}},
    {1, 4, {{3, {3, 5, 7}}, {1, {0}}, {3, {3, 0, 7}}, {3, {3, 2, 7}}}},
    {-1, 2, {{3, {3, 5, 7}}, {3, {3, 5, 11}}}},
    {-3, 2, {{3, {3, 5, 7}}, {3, {2, 5, 7}}}},
    {-2, 2, {{3, {3, 5, 7}}, {3, {3, 2, 7}}}},
    {-3, 2, {{4, {2, 3, 5, 7}}, {4, {2, 2, 5, 7}}}},
    {-2, 3, {{4, {2, 3, 5, 7}}, {4, {2, 3, 1, 7}}, {4, {2, 3, 4, 7}}}},
    {2, 2, {{4, {2, 3, 5, 7}}, {4, {2, 3, 1, 7}}}},
    {0, 8, {{1, {1}}, {1, {2}}, {1, {3}}, {1, {5}}, {1, {7}}, {1, {11}}, {1, {13}}, {1, {17}}}},
    {2, 2, {{8, {2, 1, 3, 1, 2, 1, 2, 2}}, {8, {2, 1, 2, 1, 2, 1, 2, 2}}}},
    {15,
     2,
     {{16, {1, 2, 1, 1, 2, 1, 1, 3, 1, 1, 1, 2, 1, 1, 2, 1}}, {16, {1, 2, 1, 1, 2, 1, 1, 3, 1, 1, 1, 2, 1, 1, 2, 3}}}},
    {0, 3, {{1, {0}}, {2, {4, 3}}, {1, {0}}}},
    /* far from the last dimension, which is where devices count from */
    {0, 2, {{5, {2, 2, 3, 2, 4}}, {5, {3, 2, 3, 2, 4}}}},
    {-5, 3, {{6, {2, 5, 2, 3, 2, 3}}, {6, {2, 1, 2, 3, 2, 3}}, {6, {2, 2, 2, 3, 2, 3}}}},
    {-14,
     2,
     {{16, {2, 1, 5, 1, 2, 1, 2, 1, 1, 2, 1, 2, 1, 3, 1, 2}}, {16, {2, 1, 2, 1, 2, 1, 2, 1, 1, 2, 1, 2, 1, 3, 1, 2}}}},
    {-2, 2, {{7, {2, 3, 2, 3, 2, 5, 2}}, {7, {2, 3, 2, 3, 2, 2, 2}}}}};
static const cat_row cat_deep = {1, 2, {{6, {2, 5, 2, 3, 2, 3}}, {6, {2, 2, 2, 3, 2, 3}}}};
static const cat_row cat_large[] = {{0, 2, {{1, {65537}}, {1, {3}}}},
                                    {1, 3, {{2, {257, 131}}, {2, {257, 1}}, {2, {257, 131}}}}};
static const cat_row cat_layout[] = {{0, 2, {{2, {5, 7}}, {2, {3, 7}}}},
                                     {1, 3, {{3, {4, 3, 5}}, {3, {4, 2, 5}}, {3, {4, 6, 5}}}},
                                     {1, 2, {{2, {67, 129}}, {2, {67, 31}}}}};

static bool pick_cat(const kw_case *c, cat_row *out) {
  const cat_row *rows;
  uint32_t count;
  switch (c->class) {
    case KW_CLASS_EMPTY:
      ROWS(cat_empty);
      break;
    case KW_CLASS_ONE:
      ROWS(cat_one);
      break;
    case KW_CLASS_PRIME:
      ROWS(cat_prime);
      break;
    case KW_CLASS_LARGE:
      ROWS(cat_large);
      break;
    case KW_CLASS_TRANSPOSED:
    case KW_CLASS_SLICED:
    case KW_CLASS_STRIDE0:
      *out = kw_case_is_deep(c, 2) ? cat_deep : cat_layout[c->number % COUNT(cat_layout)];
      return true;
    case KW_CLASS_MIXED:
      *out = (cat_row){(int64_t)(c->number % 2), 3, {{2, {7, 9}}, {2, {7, 9}}, {2, {7, 9}}}};
      return true;
    case KW_CLASS_SPECIAL:
      *out = (cat_row){0, 2, {{1, {64}}, {1, {61}}}};
      return c->number == 0;
    case KW_CLASS_OUTPUTS:
      *out = (cat_row){(int64_t)(c->number % 3), 2, {{3, {5, 11, 7}}, {3, {5, 11, 7}}}};
      return c->number < KW_CASE_OUT_LAYOUTS;
    case KW_CLASS_ALIASING: /* one tensor twice */
      *out = (cat_row){0, 2, {{1, {37}}, {1, {37}}}};
      return c->number == 0;
    default:
      return false;
  }
  if (c->number >= count) return false;
  *out = rows[c->number];
  return true;
}

/* The number-th other dtype that promotes with the key to the key. */
static bool mixed_dtype(const kw_case *c, kw_dtype *out) {
  uint32_t seen = 0;
  for (kw_dtype d = 0; d < KW_KEY_DTYPE_COUNT; d++) {
    if (d == c->key || kw_dtype_promote(d, c->key) != c->key || seen++ != c->number) continue;
    *out = d;
    return true;
  }
  return false;
}

/* Sizes are those of the first entry; the others keep their own along the dimension of the row. */
static void resize(kw_case *c, cat_row *row) {
  const uint32_t rank = row->entries[0].rank;
  const uint32_t dim = (uint32_t)(row->dim < 0 ? row->dim + rank : row->dim);
  bool alike = c->class != KW_CLASS_ALIASING && c->class != KW_CLASS_EMPTY;
  for (uint32_t k = 0; k < row->count; k++) alike &= row->entries[k].rank == rank;
  if (!alike) return;
  kw_case_resize(c, &row->entries[0]);
  for (uint32_t k = 1; k < row->count; k++) {
    for (uint32_t d = 0; d < rank; d++) {
      if (d != dim) row->entries[k].dims[d] = row->entries[0].dims[d];
    }
  }
}

bool kw_case_make_cat(kw_case *c) {
  cat_row row;
  kw_dtype other = c->key;
  if (!pick_cat(c, &row)) return false;
  if (c->class == KW_CLASS_MIXED && !mixed_dtype(c, &other)) return false;
  resize(c, &row);
  kw_shape result = {1, {0}};
  uint32_t first = kw_case_set_list(c, 0, row.count);
  bool any = false;
  for (uint32_t k = 0; k < row.count; k++) {
    const kw_shape *entry = &row.entries[k];
    kw_layout layout = KW_LAYOUT_DENSE;
    if (!kw_case_pick_deep_layout(c, k, row.count, &layout)) return false;
    kw_case_set_entry(c, 0, first + k, k % 2 ? other : c->key, entry, layout);
    c->promoted |= UINT64_C(1) << (first + k);
    if (c->class == KW_CLASS_SPECIAL) c->tensors[first + k].domain = KW_DOMAIN_SPECIAL_RAW;
    if (entry->rank == 1 && entry->dims[0] == 0) continue;
    const uint32_t dim = (uint32_t)(row.dim < 0 ? row.dim + entry->rank : row.dim);
    int64_t before = any ? result.dims[dim] : 0;
    result = *entry;
    result.dims[dim] += before;
    any = true;
  }
  if (row.dim != 0 || c->number % 2) kw_case_give(c, 1, (kw_value){.tag = KW_TAG_INT, .u.i = row.dim});
  if (c->class == KW_CLASS_ALIASING) c->tensors[first + 1].share = (int)first;
  kw_case_set_result(c, 0, c->key, &result, kw_case_out_layout(c));
  return true;
}
