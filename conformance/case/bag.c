/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of embedding bags.
 */
#include "case/makers.h"
#include "case/parts.h"

#include <string.h>

#define ROWS_OF(array) \
  { array, COUNT(array) }

/* Rows and columns of the table, indices, bags. */
enum { ROWS, COLUMNS, INDICES, BAGS, SIZES };

typedef struct bag_rows {
  const int64_t (*sizes)[SIZES];
  uint32_t count;
} bag_rows;

static const int64_t empty[][SIZES] = {{5, 3, 0, 4}, {5, 0, 7, 3}, {5, 3, 0, 0}, {0, 3, 0, 2}};
static const int64_t one[][SIZES] = {{1, 1, 1, 1}, {1, 5, 7, 1}, {7, 1, 1, 1}};
static const int64_t prime[][SIZES] = {{13, 5, 31, 7},  {7, 3, 3, 11},    {101, 17, 257, 13},
                                       {3, 2, 1021, 2}, {31, 67, 67, 67}, {5, 1, 11, 3}};
static const int64_t large[][SIZES] = {{257, 263, 1021, 251}};
static const int64_t layout[][SIZES] = {{11, 6, 29, 5}};
static const int64_t plain[][SIZES] = {{11, 5, 37, 6}, {11, 5, 37, 6}, {11, 5, 37, 6}, {11, 5, 37, 6},
                                       {11, 5, 37, 6}, {11, 5, 37, 6}, {11, 5, 37, 6}, {11, 5, 37, 6},
                                       {11, 5, 37, 6}, {11, 5, 37, 6}, {11, 5, 37, 6}, {11, 5, 37, 6}};
static const int64_t outputs[][SIZES] = {{11, 5, 37, 6}, {11, 5, 37, 6}, {11, 5, 37, 6}, {11, 5, 37, 6}};
static const int64_t special[][SIZES] = {{67, 7, 131, 19},
                                         {67, 7, 131, 19},
                                         {67, 7, 131, 19},
                                         {67, KW_VALUE_END_ROWS, 131, 19},
                                         {67, KW_VALUE_END_ROWS, 131, 19},
                                         {67, KW_VALUE_END_ROWS, 131, 19}};
enum { OTHER_SPECIALS = 3 }; /* before those of KW_DOMAIN_ENDS */

static void give_int(kw_case *c, uint32_t arg, int64_t i) {
  kw_case_give(c, arg, (kw_value){.tag = KW_TAG_INT, .u.i = i});
}

/* Sum, mean and max in turn; every other case with a last offset, every other two with a row that is padding, and every
 * other sum with weights of its own. */
bool kw_case_make_embedding_bag(kw_case *c) {
  static const bag_rows rows[KW_CLASS_COUNT] = {
      [KW_CLASS_EMPTY] = ROWS_OF(empty),       [KW_CLASS_ONE] = ROWS_OF(one),
      [KW_CLASS_PRIME] = ROWS_OF(prime),       [KW_CLASS_LARGE] = ROWS_OF(large),
      [KW_CLASS_TRANSPOSED] = ROWS_OF(layout), [KW_CLASS_SLICED] = ROWS_OF(layout),
      [KW_CLASS_STRIDE0] = ROWS_OF(layout),    [KW_CLASS_ATTRS] = ROWS_OF(plain),
      [KW_CLASS_SPECIAL] = ROWS_OF(special),   [KW_CLASS_EXACT] = ROWS_OF(plain),
      [KW_CLASS_OUTPUTS] = ROWS_OF(outputs)};
  const bag_rows *mine = &rows[c->class];
  kw_layout layouts[3]; /* of the table, its indices, and their weights */
  if (mine->count == 0 || (!kw_case_about_layouts(c->class) && c->number >= mine->count)) return false;
  for (uint32_t i = 0; i < 3; i++) {
    if (!kw_case_pick_layout(c->class, c->number, i, 3, &layouts[i])) return false;
  }
  kw_shape sizes = {SIZES, {0}};
  memcpy(sizes.dims, mine->sizes[c->number % mine->count], SIZES * sizeof(int64_t));
  kw_case_resize(c, &sizes);
  c->terms = 1; /* the magnitude op is the bound itself */
  c->exact = c->class == KW_CLASS_EXACT;
  const int64_t *n = sizes.dims, mode = c->exact ? c->number % 2 * 2 : c->number % 3; /* no means of integers there */

  bool last = c->number % 2 == 1, weighted = mode == 0 && c->number / 3 % 2 == 0 && c->class != KW_CLASS_SPECIAL;
  kw_dtype dtype = c->number % 5 < 2 ? KW_I32 : KW_I64;
  kw_shape table = {2, {n[ROWS], n[COLUMNS]}}, indices = {1, {n[INDICES]}}, offsets = {1, {n[BAGS] + last}};
  kw_case_set_tensor(c, 0, c->key, &table, layouts[0]);
  kw_case_set_tensor(c, 1, dtype, &indices, layouts[1]);
  kw_case_set_indices(c, 1, n[ROWS], false, false, 1);
  kw_case_set_tensor(c, 2, dtype, &offsets, KW_LAYOUT_DENSE);
  kw_case_set_indices(c, 2, n[INDICES], false, false, n[BAGS] > 0 ? n[BAGS] : 1);
  c->tensors[2].domain = KW_DOMAIN_STARTS;
  c->tensors[0].domain = c->exact ? KW_DOMAIN_SMALL : c->number % 2 ? KW_DOMAIN_UNIT : KW_DOMAIN_FEW;
  if (c->class == KW_CLASS_SPECIAL) {
    c->tensors[0].domain = KW_DOMAIN_SPECIAL_ROW;
    c->tensors[0].value_stride = (uint32_t)(3 * n[COLUMNS]);
    if (c->number >= OTHER_SPECIALS) kw_case_set_ends(&c->tensors[0], 0);
  }
  give_int(c, 4, mode);
  if (weighted) {
    kw_case_set_tensor(c, 6, c->key, &indices, layouts[2]);
    c->tensors[6].domain = c->exact ? KW_DOMAIN_SMALL : KW_DOMAIN_NONZERO;
  }
  if (last) kw_case_give(c, 7, (kw_value){.tag = KW_TAG_BOOL, .u.b = true});
  if (c->number / 2 % 2 == 1 && n[ROWS] > 0) give_int(c, 8, n[ROWS] / 2);
  kw_layout out = kw_case_out_layout(c);
  kw_shape bags = {1, {n[BAGS]}}, result = {2, {n[BAGS], n[COLUMNS]}};
  kw_case_set_result(c, 0, c->key, &result, out);
  kw_case_set_result(c, 1, KW_I64, &indices, out);
  kw_case_set_result(c, 2, KW_I64, &bags, out);
  kw_case_set_result(c, 3, KW_I64, mode == 2 ? &result : &bags, out);
  return true;
}
