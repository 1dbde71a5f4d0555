/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of ops whose arguments broadcast: elementwise ops, fill_ and copy_.
 */
#include "case/makers.h"
#include "case/parts.h"
#include "case/shortcut.h"

#include <keyway/keyway.h>

#include <string.h>

static const kw_shape prime_shapes[] = {
    {1, {7}},          {1, {1021}},
    {2, {13, 5}},      {3, {3, 5, 7}},
    {4, {2, 3, 5, 7}}, {8, {2, 1, 3, 1, 2, 1, 2, 2}},
    {1, {4099}},       {16, {1, 2, 1, 1, 2, 1, 1, 3, 1, 1, 1, 2, 1, 1, 2, 1}},
};
static const kw_shape empty_shapes[] = {{1, {0}}, {3, {2, 0, 3}}};
static const kw_shape one_shapes[] = {{1, {1}}, {3, {1, 1, 1}}};
static const kw_shape large_shapes[] = {{2, {257, 263}}, {1, {65537}}};
static const kw_shape transposed_shapes[] = {{2, {5, 7}}, {3, {4, 3, 5}}, {2, {67, 129}}};
static const kw_shape sliced_shapes[] = {{2, {6, 5}}, {1, {11}}, {3, {5, 4, 6}}};
static const kw_shape deep_shape = {6, {2, 3, 2, 3, 2, 2}};
static const kw_shape broadcast_shapes[][3] = {
    {{2, {5, 1}}, {2, {1, 7}}, {1, {7}}},          {{2, {3, 4}}, {1, {4}}, {2, {3, 1}}},
    {{3, {2, 3, 4}}, {0, {0}}, {1, {4}}},          {{1, {1}}, {2, {6, 2}}, {0, {0}}},
    {{4, {2, 1, 3, 1}}, {3, {4, 1, 5}}, {1, {5}}}, {{3, {3, 1, 1}}, {2, {2, 5}}, {3, {3, 2, 5}}},
    {{2, {0, 3}}, {1, {1}}, {2, {1, 3}}},
};

static void broadcast_shape(const kw_shape *a, kw_shape *io_result) {
  kw_shape result = a->rank > io_result->rank ? *a : *io_result;
  const kw_shape *other = a->rank > io_result->rank ? io_result : a;
  for (uint32_t i = 0; i < other->rank; i++) {
    int64_t *dim = &result.dims[result.rank - 1 - i];
    int64_t theirs = other->dims[other->rank - 1 - i];
    if (*dim == 1) *dim = theirs;
  }
  *io_result = result;
}

/* Input tensors of the op: all but the one that is the result. */
static uint32_t input_tensors(const kw_suite_op *op, uint32_t out_args[KW_MAX_ARGS]) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < op->arg_count; i++) {
    if (op->args[i].tag == KW_TAG_TENSOR && !op->args[i].mutated) out_args[count++] = i;
  }
  return count;
}

/* It decides, it is not computed with. */
static bool is_mask(const kw_suite_op *op, uint32_t arg) {
  return strcmp(op->args[arg].name, "condition") == 0 || strcmp(op->args[arg].name, "mask") == 0;
}

static bool copies(const kw_suite_op *op) {
  return strcmp(op->base, "copy_") == 0 || strcmp(op->base, "copy") == 0;
}

/* One value for all elements: a tensor of rank 0. */
static bool is_point(const kw_suite_op *op, uint32_t arg) {
  return op->args[arg].tag == KW_TAG_TENSOR && strcmp(op->args[arg].name, "value") == 0;
}

/* A copy's source is converted by the op itself. */
static bool is_promoted(const kw_suite_op *op, uint32_t arg) {
  return !is_mask(op, arg) && !copies(op);
}

/* ---- Mixed dtypes ------------------------------------------------------------------------------------------------ */

/* The number-th pair of dtypes in the op's set that promotes to the key. */
static bool mixed_pair(const kw_case *c, uint32_t number, kw_dtype out[2]) {
  uint32_t seen = 0;
  for (kw_dtype distance = 1; distance < KW_KEY_DTYPE_COUNT && seen < 6; distance++) {
    for (kw_dtype a = 0; a < KW_KEY_DTYPE_COUNT; a++) {
      kw_dtype b = (kw_dtype)((a + distance) % KW_KEY_DTYPE_COUNT);
      if (!(c->op->row.dtypes & KW_DTYPE_BIT(a)) || !(c->op->row.dtypes & KW_DTYPE_BIT(b))) continue;
      kw_dtype promoted = kw_dtype_promote(a, b);
      bool integral = promoted <= KW_I64;
      bool to_float = c->op->row.result == KW_RESULT_FLOAT ||
                      (c->op->row.result == KW_RESULT_DIV_MODE && c->args[2].value.tag == KW_TAG_NONE);
      if (to_float && integral) promoted = KW_F32;
      if (promoted != c->key || seen++ != number) continue;
      out[0] = a;
      out[1] = b;
      return seen <= 6;
    }
  }
  return false;
}

/* One input, or a tensor and a Scalar: integers where the key is f32. */
static bool mixed_single(const kw_case *c, uint32_t number, kw_dtype *out) {
  static const kw_dtype to_f32[] = {KW_I32, KW_U8, KW_BOOL, KW_I64};
  bool scalar = c->op->arg_count > 1 && c->op->args[1].tag == KW_TAG_SCALAR;
  if (c->key != KW_F32 || number >= COUNT(to_f32)) return false;
  if (!(c->op->row.dtypes & KW_DTYPE_BIT(to_f32[number]))) return false;
  *out = to_f32[number];
  if (c->op->row.result == KW_RESULT_FLOAT) return true;
  return scalar && c->args[1].value.kind == KW_SCALAR_F64; /* an integer tensor with a float Scalar */
}

/* copy_ and _to_copy from the key dtype, fill_ with a value of another dtype. */
static bool mixed_move(const kw_case *c, uint32_t number, kw_dtype *out) {
  uint32_t seen = 0;
  bool fills = !copies(c->op) && c->op->row.result == KW_RESULT_SELF;
  for (kw_dtype d = 0; d < KW_KEY_DTYPE_COUNT; d++) {
    bool lost = fills && kw_element_is_complex(d) && !kw_element_is_complex(c->key); /* fill_ refuses to drop a part */
    if (d == c->key || lost || seen++ != number) continue;
    *out = d;
    return true;
  }
  return false;
}

static bool set_mixed(kw_case *c, const uint32_t *inputs, uint32_t count, kw_dtype *io_result) {
  kw_dtype other[2];
  if (c->op->row.result == KW_RESULT_CAST) {
    if (!mixed_move(c, c->number, io_result)) return false;
    c->tensors[0].domain = KW_DOMAIN_CONVERT;
    kw_case_give(c, (uint32_t)kw_suite_op_find_arg(c->op, "dtype"), kw_arg_dtype(*io_result));
    return true;
  }
  if (c->op->row.result == KW_RESULT_SELF) {
    kw_case_tensor *source = &c->tensors[count > 0 ? inputs[count - 1] : 0];
    bool copied = copies(c->op);
    if (count == 0 || (!copied && !is_point(c->op, inputs[count - 1]))) return false;
    if (!mixed_move(c, c->number, &other[0])) return false;
    if (copied) {
      *io_result = other[0];
      source->domain = KW_DOMAIN_CONVERT;
      if (count > 1) c->tensors[inputs[0]].dtype = other[0]; /* self, of which only this and the shape matter */
    } else {
      source->dtype = other[0];
      source->domain = KW_DOMAIN_SMALL;
    }
    return true;
  }
  if (c->op->row.result == KW_RESULT_FIRST) return false;
  uint32_t promoted[KW_MAX_ARGS], promoted_count = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (c->promoted & 1u << inputs[i]) promoted[promoted_count++] = inputs[i];
  }
  if (promoted_count >= 2) {
    if (!mixed_pair(c, c->number, other)) return false;
    for (uint32_t i = 0; i < promoted_count; i++) {
      c->tensors[promoted[i]].dtype = other[i % 2];
      if (kw_element_is_integer(other[i % 2])) c->tensors[promoted[i]].domain = KW_DOMAIN_SMALL;
    }
    return true;
  }
  if (promoted_count != 1 || !mixed_single(c, c->number, &other[0])) return false;
  c->tensors[promoted[0]].dtype = other[0];
  c->tensors[promoted[0]].domain = KW_DOMAIN_POSITIVE; /* small integers that suit log as well */
  return true;
}

/* ---- Special values ---------------------------------------------------------------------------------------------- */

/* A factor that is 1 unless it is given: alpha of a sum, value of a product that is added. */
static bool has_factor(const kw_suite_op *op) {
  const int alpha = kw_suite_op_find_arg(op, "alpha"), value = kw_suite_op_find_arg(op, "value");
  const int factor = alpha >= 0 ? alpha : value;
  return factor > 0 && op->args[factor].tag == KW_TAG_SCALAR && op->args[factor].has_default;
}

/* How many forms of the op have to meet special values: one for each value of an attribute that is a string or a bool,
 * decimals on both sides of the point, and a factor of 0, which takes no NaN away. */
static uint32_t forms(const kw_case *c) {
  if (c->class == KW_CLASS_SPECIAL && has_factor(c->op)) return 2;
  if (kw_suite_op_find_arg(c->op, "approximate") >= 0) return 2;
  if (kw_suite_op_find_arg(c->op, "is_result") >= 0 || kw_suite_op_find_arg(c->op, "self_is_result") >= 0) return 2;
  if (kw_suite_op_find_arg(c->op, "decimals") >= 0) return 3;
  if (kw_suite_op_find_arg(c->op, "rounding_mode") < 0) return 1;
  return kw_element_is_float(c->key) ? 3 : 2;
}

/* How many numbers lie around the ends of a range. */
enum { EDGES = 4099 };

/* Whether a function leaves its dtype's range, or its interesting one, somewhere in numbers of this kind. */
static bool has_ends(kw_domain domain) {
  switch (domain) {
    case KW_DOMAIN_EXPONENT:
    case KW_DOMAIN_NEAR:
    case KW_DOMAIN_POSITIVE:
    case KW_DOMAIN_ABOVE_ONE:
    case KW_DOMAIN_UNIT:
    case KW_DOMAIN_ANGLE:
    case KW_DOMAIN_POWER:
      return true;
    default:
      return false;
  }
}

/* Numbers around those at which a function that is no exact one leaves its dtype's range, in the arguments that decide
 * there: those of which other classes have what the function takes easily. */
static void set_edges(kw_case *c, const uint32_t *inputs, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    kw_domain *domain = &c->tensors[inputs[i]].domain;
    if (has_ends(*domain)) {
      *domain = KW_DOMAIN_EDGE;
    } else if (*domain == KW_DOMAIN_POWER_BASE) {
      *domain = KW_DOMAIN_EDGE_BASE;
    }
  }
}

/* How many cases a function that rounds near the ends of its range has for these: one for each form, behind those of
 * special values. The bound of such ops is a number of units, or one of their own. */
static uint32_t edge_forms(const kw_case *c) {
  const kw_op_row *row = &c->op->row;
  const bool rounds = (row->compare == KW_CMP_ULP && row->ulp > 0) || strchr(row->magnitude, '/');
  if (c->class != KW_CLASS_SPECIAL || !rounds || !kw_element_is_float(c->key)) return 0;
  uint32_t inputs[KW_MAX_ARGS];
  const uint32_t count = input_tensors(c->op, inputs);
  for (uint32_t i = 0; i < count; i++) {
    if (!is_mask(c->op, inputs[i]) && has_ends(kw_case_domain(c, inputs[i]))) return forms(c);
  }
  return 0;
}

/* What the elements of a case are about. */
typedef enum kw_about {
  KW_ABOUT_ANY,
  KW_ABOUT_LISTS,    /* all that there are, of special values or of bits */
  KW_ABOUT_EDGES,    /* the ends of a function's range */
  KW_ABOUT_SHORTCUTS /* special values, and a number beside them for which there is a shorter way */
} kw_about;

/* *out_number: which of its kind. */
static kw_about about(const kw_case *c, uint32_t *out_number) {
  const uint32_t lists = forms(c), edges = edge_forms(c);
  *out_number = c->number;
  if (c->class == KW_CLASS_EXHAUSTIVE) return KW_ABOUT_LISTS;
  if (c->class != KW_CLASS_SPECIAL) return KW_ABOUT_ANY;
  if (c->number < lists || strcmp(c->op->name, "fill_.Tensor") == 0) return KW_ABOUT_LISTS;
  *out_number = c->number - lists;
  if (*out_number < edges) return KW_ABOUT_EDGES;
  *out_number -= edges;
  return KW_ABOUT_SHORTCUTS;
}

/* How many numbers stand behind a list of special values. */
enum { ANY_BITS = 231 };

/* All pairs (triples) of special values, or all bit patterns. With a shortcut a single tensor has numbers of all sizes
 * as well: roots and squares leave the range in the midst of it. */
static bool set_lists(kw_case *c, kw_about about, const uint32_t *inputs, uint32_t count, kw_shape *shape) {
  const bool shortcut = about == KW_ABOUT_SHORTCUTS, single = shortcut && count == 1;
  bool bits = c->class == KW_CLASS_EXHAUSTIVE;
  size_t size = kw_element_size(c->key);
  if (strcmp(c->op->name, "fill_.Tensor") == 0 && !bits) { /* one value for all elements */
    c->tensors[inputs[0]].domain = KW_DOMAIN_SPECIAL_ONE;
    c->tensors[inputs[0]].value_stride = c->number;
    return c->number < 8 && !kw_element_is_complex(c->key);
  }
  if ((!shortcut && c->number >= forms(c)) || count == 0 || c->tensors[inputs[0]].rank == 0) return false;
  if (bits && (size > 2 || (size == 2 && (count > 1 || kw_element_is_integer(c->key))))) return false;
  uint64_t length = 1;
  for (uint32_t i = 0; i < count; i++) {
    kw_case_tensor *tensor = &c->tensors[inputs[i]];
    if (is_point(c->op, inputs[i])) continue;
    bool boolean = tensor->dtype == KW_BOOL;
    tensor->value_stride = (uint32_t)length;
    bool moved = c->op->row.compare == KW_CMP_BITS && c->op->row.result != KW_RESULT_BOOL;
    tensor->domain = bits     ? KW_DOMAIN_BITS
                     : single ? KW_DOMAIN_SPECIAL_BITS
                     : moved  ? KW_DOMAIN_SPECIAL_RAW
                              : KW_DOMAIN_SPECIAL;
    uint64_t values = bits && !boolean ? UINT64_C(1) << (8 * size) : kw_value_special_count(tensor->dtype);
    if (kw_element_is_complex(c->key)) values = kw_value_special_count(KW_F32) * 5;
    length *= values;
  }
  if (single) length += ANY_BITS;
  if (shortcut && kw_case_is_by_element(c)) { /* five exponents with bases of all sizes; pairs are elsewhere */
    c->tensors[inputs[0]].domain = KW_DOMAIN_SPECIAL_BITS;
    c->tensors[inputs[1]].domain = KW_DOMAIN_FEW;
  }
  if (length > 1u << 16) length = 1u << 16;
  *shape = (kw_shape){1, {(int64_t)length}};
  return true;
}

/* ---- Shapes per class -------------------------------------------------------------------------------------------- */

static bool pick_shape(const kw_case *c, uint32_t inputs, kw_shape *out) {
  const kw_shape *shapes;
  uint32_t count;
  switch (c->class) {
    case KW_CLASS_SCALAR:
      *out = (kw_shape){0, {0}};
      return c->number == 0;
    case KW_CLASS_EMPTY:
      shapes = empty_shapes, count = COUNT(empty_shapes);
      break;
    case KW_CLASS_ONE:
      shapes = one_shapes, count = COUNT(one_shapes);
      break;
    case KW_CLASS_PRIME:
      shapes = prime_shapes, count = COUNT(prime_shapes);
      break;
    case KW_CLASS_LARGE:
      shapes = large_shapes, count = COUNT(large_shapes);
      if (c->key == KW_F64 && strchr(c->op->row.magnitude, '/')) count = 1; /* the oracle computes the bound as well */
      break;
    case KW_CLASS_TRANSPOSED:
    case KW_CLASS_STRIDE0:
      *out = kw_case_is_deep(c, inputs) ? deep_shape : transposed_shapes[c->number % COUNT(transposed_shapes)];
      return inputs > 0;
    case KW_CLASS_SLICED:
      *out = kw_case_is_deep(c, inputs) ? deep_shape : sliced_shapes[c->number % COUNT(sliced_shapes)];
      return inputs > 0;
    case KW_CLASS_OUTPUTS:
      *out = transposed_shapes[c->number % COUNT(transposed_shapes)];
      return c->number < 4;
    case KW_CLASS_ALIASING:
      *out = (kw_shape){1, {37}};
      return c->number < 2 && inputs >= 2;
    case KW_CLASS_MIXED:
      *out = c->op->row.result == KW_RESULT_SELF || c->op->row.result == KW_RESULT_CAST ? (kw_shape){2, {19, 11}}
                                                                                        : (kw_shape){2, {5, 7}};
      return true;
    case KW_CLASS_ATTRS:
      *out = (kw_shape){2, {7, 9}};
      return true;
    default:
      *out = (kw_shape){1, {1}};
      return c->class != KW_CLASS_EXACT;
  }
  if (c->number >= count) return false;
  *out = shapes[c->number];
  return true;
}

/* Two inputs of one dtype that share one storage: the same tensor twice, or two windows onto it. */
static bool set_aliases(kw_case *c, const uint32_t *inputs, uint32_t count) {
  kw_case_tensor *b = &c->tensors[inputs[count - 1]], *a = &c->tensors[inputs[count - 2]];
  if (a->dtype != b->dtype) return false;
  b->share = (int)inputs[count - 2];
  b->domain = a->domain;
  b->offset = c->number;
  a->extent = b->extent = a->extent + c->number;
  return true;
}

static kw_dtype result_dtype(const kw_case *c) {
  return c->op->row.result == KW_RESULT_BOOL ? KW_BOOL : c->key;
}

/* A mask is bool; a condition may be u8 as well, and is in the last of four cases, of those about attributes in every
 * other one. */
static kw_dtype mask_dtype(const kw_case *c, uint32_t arg) {
  const bool bytes = c->class == KW_CLASS_ATTRS ? c->number % 2 : c->number % 4 == 3;
  return bytes && strcmp(c->op->args[arg].name, "condition") == 0 ? KW_U8 : KW_BOOL;
}

/* The shape that the inputs of a broadcasting case have together; self of copy_ is larger than its source. */
static kw_shape broadcast_all(const kw_case *c, uint32_t inputs) {
  uint32_t count = copies(c->op) ? 2 : inputs < 3 ? inputs : 3;
  kw_shape result = {0, {0}};
  for (uint32_t i = 0; i < count; i++) broadcast_shape(&broadcast_shapes[c->number][i], &result);
  return result;
}

/* Input number i of a broadcasting case whose result has this shape: a shrunken case's is smaller than the table's. */
static kw_shape broadcast_input(const kw_case *c, uint32_t i, const kw_shape *result) {
  kw_shape shape = broadcast_shapes[c->number][i < 3 ? i : 2];
  for (uint32_t d = 0; d < shape.rank; d++) {
    if (shape.dims[d] != 1) shape.dims[d] = result->dims[result->rank - shape.rank + d];
  }
  return shape;
}

static bool set_inputs(kw_case *c, const uint32_t *inputs, uint32_t count, const kw_shape *shape) {
  for (uint32_t i = 0; i < count; i++) {
    kw_layout layout = KW_LAYOUT_DENSE;
    if (!kw_case_pick_deep_layout(c, i, count, &layout)) return false;
    kw_shape mine = c->class == KW_CLASS_BROADCAST ? broadcast_input(c, i, shape) : *shape;
    if (c->op->row.shape == KW_SHAPE_LIKE && i == 0) mine = *shape;
    if (is_point(c->op, inputs[i])) mine = (kw_shape){0, {0}};
    kw_case_set_tensor(c, inputs[i], is_mask(c->op, inputs[i]) ? mask_dtype(c, inputs[i]) : c->key, &mine, layout);
    if (is_promoted(c->op, inputs[i])) c->promoted |= 1u << inputs[i];
  }
  return true;
}

/* clamp.Tensor: min, max or both; never neither. */
static void drop_optional(kw_case *c) {
  if (strcmp(c->op->name, "clamp.Tensor") != 0) return;
  for (uint32_t i = 1; i <= 2; i++) {
    if (c->number % 3 != i) continue;
    c->args[i] = (kw_case_arg){0};
    c->tensors[i] = (kw_case_tensor){0};
  }
}

/* Attributes as number `form` of the class has them. */
static bool set_attrs_of(kw_case *c, uint32_t form) {
  const uint32_t number = c->number;
  c->number = form;
  const bool there = kw_case_set_attrs(c);
  c->number = number;
  return there;
}

bool kw_case_make_elementwise(kw_case *c) {
  const kw_suite_op *op = c->op;
  uint32_t inputs[KW_MAX_ARGS], count = input_tensors(op, inputs);
  kw_shape shape;
  uint32_t form;
  const kw_about what = about(c, &form);
  const bool edges = what == KW_ABOUT_EDGES, lists = what == KW_ABOUT_LISTS || what == KW_ABOUT_SHORTCUTS;
  c->arg_count = 1;
  if (strchr(op->row.magnitude, '/')) c->terms = 1; /* it is the bound itself */
  if (what == KW_ABOUT_SHORTCUTS ? !kw_case_set_shortcut(c, form) : !set_attrs_of(c, form)) {
    bool optional_tensors = c->class == KW_CLASS_ATTRS && strcmp(op->name, "clamp.Tensor") == 0 && c->number < 3;
    if (!optional_tensors) return false;
  }
  if (!pick_shape(c, count, &shape)) return false;
  if (c->class == KW_CLASS_BROADCAST) {
    if (c->number >= COUNT(broadcast_shapes) || (count < 2 && !copies(op))) return false;
    shape = broadcast_all(c, count);
  }
  if (edges) shape = (kw_shape){1, {EDGES}};
  if (!lists) kw_case_resize(c, &shape);
  if (!set_inputs(c, inputs, count, &shape)) return false;
  if (edges) set_edges(c, inputs, count);
  if (c->class == KW_CLASS_ATTRS) drop_optional(c);

  kw_dtype dtype = result_dtype(c);
  if (c->class == KW_CLASS_MIXED && !set_mixed(c, inputs, count, &dtype)) return false;
  if (lists) {
    if (!set_lists(c, what, inputs, count, &shape)) return false;
    kw_case_resize(c, &shape);
    for (uint32_t i = 0; i < count; i++) {
      bool single = c->tensors[inputs[i]].rank == 0;
      if (!single) kw_case_layout(&c->tensors[inputs[i]], &shape, KW_LAYOUT_DENSE);
    }
  }
  if (c->class == KW_CLASS_ALIASING && !set_aliases(c, inputs, count)) return false;
  kw_case_set_result(c, 0, dtype, &shape, kw_case_out_layout(c));
  if (op->in_place) kw_case_set_in_place(c);
  return true;
}

/* ---- Blocks of f32's bit patterns -------------------------------------------------------------------------------- */

/* The attributes of form `form`, and the dtype of its results. */
static bool set_form(kw_case *c, uint32_t form, kw_dtype *out_dtype) {
  *out_dtype = result_dtype(c);
  bool there = set_attrs_of(c, form);
  if (c->op->row.result == KW_RESULT_CAST) {
    there = there && mixed_move(c, form, out_dtype);
    if (there) kw_case_give(c, (uint32_t)kw_suite_op_find_arg(c->op, "dtype"), kw_arg_dtype(*out_dtype));
  } else {
    there = there && form < forms(c);
  }
  return there;
}

bool kw_case_make_block(kw_case *c) {
  const kw_suite_op *op = c->op;
  uint32_t inputs[KW_MAX_ARGS], count = input_tensors(op, inputs);
  kw_shape shape = {1, {KW_CASE_BLOCK_SIZE}};
  kw_dtype dtype;
  const bool one_by_one = op->row.shape == KW_SHAPE_BROADCAST && !op->in_place && kw_suite_op_generator(op) < 0;
  if (c->key != KW_F32 || !one_by_one || count == 0 || (c->class == KW_CLASS_PATTERNS && count > 1)) return false;
  c->arg_count = 1;
  if (strchr(op->row.magnitude, '/')) c->terms = 1;
  if (!set_form(c, c->number / KW_CASE_BLOCKS, &dtype)) return false;
  kw_case_resize(c, &shape);
  if (!set_inputs(c, inputs, count, &shape)) return false;
  for (uint32_t i = 0; i < count; i++) {
    kw_case_tensor *tensor = &c->tensors[inputs[i]];
    const bool given = is_mask(op, inputs[i]) || tensor->domain == KW_DOMAIN_PROBABILITY; /* sigmoid's result */
    if (tensor->rank == 0 || given) continue;
    tensor->domain = c->class == KW_CLASS_PATTERNS ? KW_DOMAIN_BITS : i == 0 ? KW_DOMAIN_STRATA : KW_DOMAIN_PARTNER;
    if (c->class == KW_CLASS_PATTERNS) tensor->limit = (int64_t)(c->number % KW_CASE_BLOCKS) * KW_CASE_BLOCK_SIZE;
  }
  kw_case_set_result(c, 0, dtype, &shape, KW_LAYOUT_DENSE);
  return true;
}
