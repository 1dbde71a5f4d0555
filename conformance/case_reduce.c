/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of reductions and matrix products, and of a vendor's own ops.
 */
#include "case_make.h"

#include <keyway/keyway.h>

#include <string.h>

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof(array)[0]))

/* ---- Reductions -------------------------------------------------------------------------------------------------- */

/* What is reduced: a shape, and the dimensions ("all" when dim_count is 0). */
typedef struct reduce_row {
  kw_shape shape;
  uint32_t dim_count;
  int64_t dims[3];
} reduce_row;

static const reduce_row scalar_rows[] = {{{0, {0}}, 0, {0}}};
static const reduce_row empty_rows[] = {{{3, {2, 0, 3}}, 1, {2}}, {{3, {2, 3, 0}}, 1, {1}}};
static const reduce_row sum_empty_rows[] = {
    {{3, {2, 0, 3}}, 1, {1}}, {{3, {2, 0, 3}}, 1, {0}}, {{1, {0}}, 0, {0}}, {{2, {0, 4}}, 0, {0}}};
static const reduce_row one_rows[] = {{{1, {1}}, 0, {0}}, {{3, {1, 1, 1}}, 1, {1}}};
static const reduce_row prime_rows[] = {
    {{1, {7}}, 0, {0}},       {{1, {1021}}, 1, {0}},       {{2, {13, 5}}, 1, {1}},        {{2, {13, 5}}, 1, {0}},
    {{3, {3, 5, 7}}, 1, {1}}, {{4, {2, 3, 5, 7}}, 1, {2}}, {{1, {4099}}, 0, {0}},         {{2, {3, 1021}}, 1, {1}},
    {{2, {1021, 3}}, 1, {0}}, {{3, {3, 5, 7}}, 0, {0}},    {{5, {2, 1, 3, 2, 5}}, 1, {3}}};
static const reduce_row large_rows[] = {
    {{1, {65537}}, 0, {0}}, {{2, {257, 263}}, 1, {1}}, {{2, {257, 263}}, 1, {0}}, {{2, {65537, 2}}, 1, {1}}};
static const reduce_row layout_rows[] = {
    {{2, {6, 5}}, 1, {1}}, {{3, {4, 3, 5}}, 1, {1}}, {{2, {67, 129}}, 1, {0}}, {{2, {17, 31}}, 0, {0}}};
static const reduce_row exact_rows[] = {{{1, {251}}, 0, {0}}, {{2, {19, 127}}, 1, {1}}, {{2, {127, 19}}, 1, {0}}};
static const reduce_row list_rows[] = {{{3, {3, 5, 7}}, 1, {0}},     {{3, {3, 5, 7}}, 1, {1}},
                                       {{3, {3, 5, 7}}, 1, {2}},     {{3, {3, 5, 7}}, 1, {-1}},
                                       {{3, {3, 5, 7}}, 2, {0, 1}},  {{3, {3, 5, 7}}, 2, {0, 2}},
                                       {{3, {3, 5, 7}}, 2, {2, 1}},  {{3, {3, 5, 7}}, 3, {0, 1, 2}},
                                       {{3, {3, 5, 7}}, 2, {-3, 1}}, {{3, {3, 5, 7}}, 0, {0}}};

static bool pick_row(kw_case *c, reduce_row *out) {
  uint32_t n = c->number, count;
  const reduce_row *rows;
  bool sum = strcmp(c->op->base, "sum") == 0;
  switch (c->class) {
    case KW_CLASS_SCALAR:
      rows = scalar_rows, count = COUNT(scalar_rows);
      break;
    case KW_CLASS_EMPTY: /* amax and argmax refuse to reduce no elements */
      if (c->op->row.shape == KW_SHAPE_REDUCE_ALL) n += 2;
      rows = sum ? sum_empty_rows : empty_rows, count = sum ? COUNT(sum_empty_rows) : COUNT(empty_rows);
      break;
    case KW_CLASS_ONE:
      rows = one_rows, count = COUNT(one_rows);
      break;
    case KW_CLASS_PRIME:
      rows = prime_rows, count = COUNT(prime_rows);
      break;
    case KW_CLASS_LARGE:
      rows = large_rows, count = COUNT(large_rows);
      break;
    case KW_CLASS_TRANSPOSED:
    case KW_CLASS_SLICED:
    case KW_CLASS_STRIDE0:
      *out = layout_rows[n % COUNT(layout_rows)];
      return true;
    case KW_CLASS_OUTPUTS:
      *out = (reduce_row){{3, {5, 11, 7}}, 1, {(int64_t)(n % 3)}};
      return n < 4 && c->op->row.shape != KW_SHAPE_REDUCE_ALL;
    case KW_CLASS_EXACT:
      if (!sum) return false;
      c->exact = true;
      rows = exact_rows, count = COUNT(exact_rows);
      break;
    case KW_CLASS_SPECIAL:
      *out = c->op->row.shape == KW_SHAPE_REDUCE_ALL ? (reduce_row){{1, {29}}, 0, {0}}
                                                     : (reduce_row){{2, {53, 7}}, 1, {1}};
      return n < (c->op->row.shape == KW_SHAPE_REDUCE_ALL ? 7u : 3u);
    case KW_CLASS_MIXED:
      *out = (reduce_row){{2, {7, 9}}, 1, {0}};
      return true;
    case KW_CLASS_ATTRS:
      rows = list_rows, count = 2 * COUNT(list_rows), n /= 2; /* each with and without keepdim */
      if (c->op->row.shape == KW_SHAPE_REDUCE_ALL || c->number >= count) return false;
      break;
    default:
      return false;
  }
  if (c->class != KW_CLASS_ATTRS && n >= count) return false;
  *out = rows[n];
  return true;
}

static void set_dims(kw_case *c, const reduce_row *row, bool keepdim) {
  int dim = kw_suite_op_find_arg(c->op, "dim"), keep = kw_suite_op_find_arg(c->op, "keepdim");
  if (dim < 0) return;
  bool list = c->op->args[dim].tag == KW_TAG_INT_LIST;
  if (row->dim_count == 0 && (!list || c->op->args[dim].optional)) {
    kw_case_give(c, (uint32_t)dim, kw_arg_none());
  } else if (list) {
    kw_case_give_ints(c, (uint32_t)dim, row->dims, row->dim_count);
  } else {
    kw_case_give(c, (uint32_t)dim, kw_arg_int(row->dims[0]));
  }
  if (keepdim || c->class == KW_CLASS_ATTRS) kw_case_give(c, (uint32_t)keep, kw_arg_bool(keepdim));
}

static kw_shape reduced_shape(const kw_case *c, const reduce_row *row, bool keepdim) {
  kw_shape result = {0, {0}};
  bool all = row->dim_count == 0 || c->op->row.shape == KW_SHAPE_REDUCE_ALL;
  for (uint32_t d = 0; d < row->shape.rank; d++) {
    bool reduced = all;
    for (uint32_t i = 0; i < row->dim_count; i++) {
      int64_t dim = row->dims[i] < 0 ? row->dims[i] + row->shape.rank : row->dims[i];
      reduced |= dim == d;
    }
    bool keep = keepdim && c->op->row.shape != KW_SHAPE_REDUCE_ALL;
    if (!reduced) result.dims[result.rank++] = row->shape.dims[d];
    if (reduced && keep) result.dims[result.rank++] = 1;
  }
  return result;
}

/* The dtype of what is summed: another one in the class MIXED, together with the attribute that says what to sum in. */
static bool set_sum_dtype(kw_case *c, kw_dtype *io_input) {
  int dtype = kw_suite_op_find_arg(c->op, "dtype");
  bool needs = kw_datum_is_integer(c->key) && c->key != KW_I64; /* integers sum in i64 unless told otherwise */
  if (c->class == KW_CLASS_MIXED) {
    uint32_t seen = 0;
    kw_dtype input = KW_DTYPE_NONE;
    for (kw_dtype d = 0; d <= KW_F64 && input == KW_DTYPE_NONE; d++) {
      if (d != c->key && seen++ == c->number) input = d;
    }
    bool narrows = kw_datum_is_float(input) && kw_datum_is_integer(c->key);
    if (input == KW_DTYPE_NONE || narrows) return false;
    *io_input = input;
    needs = !(c->key == KW_I64 && input < KW_I64);
  }
  if (!needs) return true;
  kw_case_give(c, (uint32_t)dtype, kw_arg_dtype(c->key));
  return true;
}

bool kw_case_make_reduce(kw_case *c) {
  reduce_row row;
  if (!pick_row(c, &row)) return false;
  bool single = c->op->row.shape == KW_SHAPE_REDUCE_DIM;
  if (single && row.dim_count > 1) { /* argmax takes one: the first of the list */
    row.dim_count = 1;
  }
  bool keepdim = c->class == KW_CLASS_ATTRS || c->class == KW_CLASS_OUTPUTS ? c->number % 2 : false;
  kw_dtype input = c->key;
  kw_layout layout = KW_LAYOUT_DENSE;
  bool layouts = c->class == KW_CLASS_TRANSPOSED || c->class == KW_CLASS_SLICED || c->class == KW_CLASS_STRIDE0;
  if (layouts && !kw_case_pick_layout(c->class, c->number, 0, 1, &layout)) return false;
  set_dims(c, &row, keepdim);
  if (c->op->row.result == KW_RESULT_SUM) {
    if (!set_sum_dtype(c, &input)) return false;
  } else if (c->class == KW_CLASS_MIXED) {
    return false;
  }
  kw_case_set_tensor(c, 0, input, &row.shape, layout);
  c->promoted = 1;
  kw_case_tensor *tensor = &c->tensors[0];
  if (c->class == KW_CLASS_MIXED || c->exact) tensor->domain = KW_DOMAIN_SMALL;
  if (c->class == KW_CLASS_SPECIAL) {
    bool all = c->op->row.shape == KW_SHAPE_REDUCE_ALL;
    static const kw_domain domains[] = {KW_DOMAIN_SPECIAL_ROW, KW_DOMAIN_FEW, KW_DOMAIN_SPECIAL};
    if (c->number == 2 && !all && strcmp(c->op->base, "sum") == 0 && kw_datum_is_float(c->key)) return false;
    tensor->domain = all ? KW_DOMAIN_SPECIAL_ONE : domains[c->number];
    tensor->value_stride = all ? c->number : c->number == 0 ? 7 : 1;
  }
  kw_shape result = reduced_shape(c, &row, keepdim);
  kw_dtype dtype = c->op->row.result == KW_RESULT_I64 ? KW_I64 : c->key;
  static const kw_layout out_layouts[] = {KW_LAYOUT_TRANSPOSED, KW_LAYOUT_STEPPED, KW_LAYOUT_ROTATED, KW_LAYOUT_INNER};
  kw_case_set_result(c, 0, dtype, &result, c->class == KW_CLASS_OUTPUTS ? out_layouts[c->number] : KW_LAYOUT_DENSE);
  c->terms = c->outs[0].numel ? (uint64_t)(tensor->numel / c->outs[0].numel) : 0;
  return true;
}

/* ---- Matrix products --------------------------------------------------------------------------------------------- */

bool kw_case_make_mm(kw_case *c) {
  static const int64_t prime[][3] = {{7, 5, 3},     {17, 31, 13}, {64, 64, 64}, {65, 33, 129},
                                     {1, 257, 129}, {3, 4099, 5}, {127, 1, 31}, {16, 16, 16}}; /* n, k, m */
  static const int64_t empty[][3] = {{0, 5, 3}, {4, 0, 3}, {4, 5, 0}};
  static const int64_t exact[][3] = {{7, 31, 5}, {33, 65, 17}, {5, 513, 3}};
  static const kw_layout out_layouts[] = {KW_LAYOUT_TRANSPOSED, KW_LAYOUT_STEPPED, KW_LAYOUT_INNER};
  int64_t size[3] = {19, 23, 29};
  uint32_t n = c->number, count = 1;
  const int64_t(*sizes)[3] = NULL;
  kw_domain domain = KW_DOMAIN_UNIT;
  kw_layout layouts[2] = {KW_LAYOUT_DENSE, KW_LAYOUT_DENSE};
  switch (c->class) {
    case KW_CLASS_EMPTY:
      sizes = empty, count = COUNT(empty);
      break;
    case KW_CLASS_ONE:
      size[0] = size[1] = size[2] = 1;
      break;
    case KW_CLASS_PRIME:
      sizes = prime, count = COUNT(prime);
      break;
    case KW_CLASS_LARGE:
      size[0] = 257, size[1] = 19, size[2] = 263;
      break;
    case KW_CLASS_TRANSPOSED:
    case KW_CLASS_SLICED:
    case KW_CLASS_STRIDE0:
      for (uint32_t i = 0; i < 2; i++) {
        if (!kw_case_pick_layout(c->class, n, i, 2, &layouts[i])) return false;
      }
      count = UINT32_MAX;
      break;
    case KW_CLASS_EXACT:
      sizes = exact, count = COUNT(exact);
      domain = KW_DOMAIN_SMALL;
      c->exact = true;
      break;
    case KW_CLASS_SPECIAL:
      count = 3;
      domain = n == 2 ? KW_DOMAIN_FEW : KW_DOMAIN_SPECIAL_ROW; /* run 0 and 1 place them differently */
      break;
    case KW_CLASS_OUTPUTS:
      count = COUNT(out_layouts);
      break;
    case KW_CLASS_ALIASING:
      size[0] = size[1] = size[2] = 23;
      break;
    default:
      return false;
  }
  if (n >= count) return false;
  if (sizes) memcpy(size, sizes[n], sizeof size);
  kw_shape a = {2, {size[0], size[1]}}, b = {2, {size[1], size[2]}}, result = {2, {size[0], size[2]}};
  kw_case_set_tensor(c, 0, c->key, &a, layouts[0]);
  kw_case_set_tensor(c, 1, c->key, &b, layouts[1]);
  for (uint32_t i = 0; i < 2; i++) {
    bool plain = c->class == KW_CLASS_SPECIAL && n < 2 && i != n; /* special values in one of the two */
    c->tensors[i].domain = plain ? KW_DOMAIN_SMALL : domain;
    c->tensors[i].value_stride = (uint32_t)(size[1] > 0 ? size[1] : 1);
  }
  if (c->class == KW_CLASS_ALIASING) c->tensors[1].share = 0;
  kw_case_set_result(c, 0, c->key, &result, c->class == KW_CLASS_OUTPUTS ? out_layouts[n] : KW_LAYOUT_DENSE);
  c->terms = (uint64_t)size[1];
  return true;
}

/* ---- Ops of a vendor --------------------------------------------------------------------------------------------- */

/* Nothing is known but the schema: tensors of one shape and dtype, attributes at their default or at ordinary values.
 */
bool kw_case_make_vendor(kw_case *c) {
  static const kw_shape prime[] = {{1, {7}}, {2, {13, 5}}, {1, {1021}}, {3, {3, 5, 7}}, {1, {4099}}};
  static const kw_shape one[] = {{1, {1}}, {2, {1, 1}}};
  static const double floats[] = {0.5, -2.0, 1.25, 0.1};
  kw_shape shape = {2, {12, 12}};
  uint32_t n = c->number, count = 4, tensors = 0, tensor_count = 0;
  bool layouts = c->class == KW_CLASS_TRANSPOSED || c->class == KW_CLASS_SLICED || c->class == KW_CLASS_STRIDE0;
  if (c->class == KW_CLASS_ONE) {
    count = COUNT(one);
    if (n < count) shape = one[n];
  } else if (c->class == KW_CLASS_PRIME) {
    count = COUNT(prime);
    if (n < count) shape = prime[n];
  } else if (c->class == KW_CLASS_LARGE) {
    count = 1;
    shape = (kw_shape){2, {257, 263}};
  } else if (c->class != KW_CLASS_ATTRS && !layouts) {
    return false;
  }
  if (!layouts && n >= count) return false;
  for (uint32_t i = 0; i < c->op->arg_count; i++) tensor_count += c->op->args[i].tag == KW_TAG_TENSOR;
  for (uint32_t i = 0; i < c->op->arg_count; i++) {
    const kw_suite_arg *arg = &c->op->args[i];
    kw_layout layout = KW_LAYOUT_DENSE;
    bool wanted = !arg->has_default || c->class == KW_CLASS_ATTRS;
    if (arg->tag == KW_TAG_TENSOR) {
      if (layouts && !kw_case_pick_layout(c->class, n, tensors, tensor_count, &layout)) return false;
      if (arg->mutated) layout = KW_LAYOUT_DENSE;
      kw_case_set_tensor(c, i, c->key, &shape, layout);
      c->args[i].output = arg->mutated;
      tensors++;
    } else if (wanted && (arg->tag == KW_TAG_FLOAT || arg->tag == KW_TAG_SCALAR)) {
      c->args[i].value = (kw_value){.tag = arg->tag, .kind = arg->tag == KW_TAG_SCALAR ? KW_SCALAR_F64 : 0};
      c->args[i].value.u.f = floats[n % COUNT(floats)];
      c->arg_count = i + 1;
    } else if (wanted && arg->tag == KW_TAG_INT) {
      c->args[i].value = (kw_value){.tag = KW_TAG_INT};
      c->args[i].value.u.i = (int64_t)(n % 3);
      c->arg_count = i + 1;
    } else if (wanted && arg->tag == KW_TAG_BOOL) {
      kw_case_give(c, i, kw_arg_bool(n % 2));
    } else if (!arg->has_default && !arg->optional) {
      return false; /* strings and lists: only the vendor knows which make sense */
    }
  }
  return tensors > 0;
}
