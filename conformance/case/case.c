/* SPDX-License-Identifier: Apache-2.0
 *
 * Ids, layouts, and what all kinds of cases share.
 */
#include "case/parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const class_names[KW_CLASS_COUNT] = {
    "scalar",  "empty", "one",     "prime", "large", "broadcast",  "transposed", "sliced",
    "stride0", "mixed", "special", "attrs", "exact", "exhaustive", "outputs",    "aliasing"};

const char *kw_case_class_name(kw_case_class class) {
  return class_names[class];
}

int64_t kw_case_tensor_at(const kw_case_tensor *tensor, int64_t index) {
  int64_t at = tensor->offset;
  for (uint32_t d = tensor->rank; d-- > 0;) {
    at += index % tensor->shape[d] * tensor->strides[d];
    index /= tensor->shape[d];
  }
  return at;
}

kw_case_walk kw_case_walk_start(const kw_case_tensor *tensor) {
  return (kw_case_walk){.tensor = tensor, .at = tensor->offset};
}

void kw_case_walk_next(kw_case_walk *walk) {
  const kw_case_tensor *t = walk->tensor;
  for (uint32_t d = t->rank; d-- > 0;) {
    walk->at += t->strides[d];
    if (++walk->index[d] < t->shape[d]) return;
    walk->at -= t->shape[d] * t->strides[d];
    walk->index[d] = 0;
  }
}

kw_value_key kw_case_value_key(const kw_case *c, uint32_t index, uint64_t seed, uint32_t run) {
  const kw_case_tensor *tensor = &c->tensors[index];
  uint32_t source = tensor->share >= 0 ? (uint32_t)tensor->share : index;
  return (kw_value_key){.seed = seed,
                        .case_hash = c->hash,
                        .run = run,
                        .arg = source,
                        .domain = tensor->domain,
                        .stride = tensor->value_stride,
                        .extent = tensor->extent,
                        .limit = tensor->limit,
                        .from_end = tensor->from_end,
                        .target = c->outs[0].dtype};
}

void kw_case_fill(const kw_case *c, uint32_t index, uint64_t seed, uint32_t run, bool all, void *out_storage) {
  const kw_case_tensor *t = &c->tensors[index];
  kw_value_key key = kw_case_value_key(c, index, seed, run);
  size_t size = kw_datum_size(t->dtype);
  bool every = all || (uint64_t)t->numel >= t->extent;
  int64_t count = every ? (int64_t)t->extent : t->numel;
  kw_case_walk walk = kw_case_walk_start(t);
  for (int64_t i = 0; i < count; i++) {
    int64_t at = every ? i : walk.at;
    kw_value_make(&key, t->dtype, (uint64_t)at, (char *)out_storage + (size_t)at * size);
    if (!every) kw_case_walk_next(&walk);
  }
}

bool kw_case_is_shared(const kw_case *c, uint32_t tensor) {
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) {
    if (c->tensors[i].given && c->tensors[i].share == (int)tensor) return true;
  }
  return false;
}

uint64_t kw_case_rng_blocks(const kw_case *c) {
  return kw_suite_op_generator(c->op) < 0 ? 0 : ((uint64_t)c->outs[0].numel + 3) / 4;
}

kw_rng kw_case_rng(const kw_case *c, uint64_t seed, uint32_t run) {
  kw_rng rng = {0};
  if (kw_suite_op_generator(c->op) < 0) return rng;
  uint64_t mixed = seed ^ c->hash, middle = (kw_case_rng_blocks(c) + 1) / 2;
  uint32_t counter[4] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, run}, r[4];
  kw_philox(counter, (const uint32_t[2]){(uint32_t)mixed, (uint32_t)(mixed >> 32)}, r);
  const uint64_t offsets[] = {r[2] % 1000, (UINT64_C(1) << 32) - middle, 0 - middle, (uint64_t)r[2] << 32 | r[3]};
  rng.seed = (uint64_t)r[0] << 32 | r[1];
  rng.offset = offsets[(c->number + run) % 4];
  return rng;
}

void kw_case_tensor_name(const kw_case *c, uint32_t tensor, char *out_text, size_t size) {
  snprintf(out_text, size, "input %u", tensor);
  for (uint32_t i = 0; i < c->arg_count; i++) {
    const kw_case_arg *arg = &c->args[i];
    bool inside = arg->value.tag == KW_TAG_TENSOR_LIST && tensor - arg->first < arg->value.count;
    if (inside) snprintf(out_text, size, "entry %u of input %u", tensor - arg->first, i);
  }
}

void kw_case_out_name(const kw_case *c, uint32_t result, char *out_text, size_t size) {
  snprintf(out_text, size, "output %u", result);
  for (uint32_t i = 0; i < c->arg_count && result >= c->op->result_count; i++) {
    const kw_case_arg *arg = &c->args[i];
    const bool list = arg->value.tag == KW_TAG_TENSOR_LIST;
    const uint32_t first = list ? arg->first : i, count = list ? arg->value.count : 1;
    for (uint32_t t = first; t < first + count; t++) {
      if (!c->tensors[t].output || c->tensors[t].result != result) continue;
      if (list) snprintf(out_text, size, "entry %u of argument %s", t - first, c->op->args[i].name);
      if (!list) snprintf(out_text, size, "argument %s", c->op->args[i].name);
    }
  }
}

kw_value kw_case_arg_value(const kw_case *c, uint32_t arg) {
  if (arg >= c->arg_count) return kw_suite_arg_default(&c->op->args[arg]);
  kw_value value = c->args[arg].value;
  if (value.tag == KW_TAG_INT_LIST) value.u.ints = c->args[arg].ints;
  return value;
}

void kw_case_print_shape(kw_dtype dtype, uint32_t rank, const int64_t *shape, char *out_text, size_t size) {
  size_t used = (size_t)snprintf(out_text, size, "%s [", kw_datum_name(dtype));
  for (uint32_t d = 0; d < rank && used + 24 < size; d++) {
    used += (size_t)snprintf(out_text + used, size - used, d ? ", %lld" : "%lld", (long long)shape[d]);
  }
  snprintf(out_text + used, size - used, "]");
}

/* ---- Layouts ----------------------------------------------------------------------------------------------------- */

void kw_case_layout(kw_case_tensor *tensor, const kw_shape *shape, kw_layout layout) {
  uint32_t rank = shape->rank;
  tensor->rank = rank;
  tensor->share = -1;
  tensor->numel = 1;
  tensor->offset = 0;
  int64_t room[KW_MAX_RANK], start[KW_MAX_RANK], step[KW_MAX_RANK]; /* of the storage block, per dimension */
  uint32_t order[KW_MAX_RANK];                                      /* dimensions, slowest first */
  for (uint32_t d = 0; d < rank; d++) {
    tensor->shape[d] = shape->dims[d];
    tensor->numel *= shape->dims[d];
    order[d] = layout == KW_LAYOUT_TRANSPOSED ? rank - 1 - d : layout == KW_LAYOUT_ROTATED ? (d + rank - 1) % rank : d;
    if (layout == KW_LAYOUT_CHANNELS_LAST && d > 0) order[d] = d + 1 < rank ? d + 1 : 1;
    room[d] = shape->dims[d];
    start[d] = 0;
    step[d] = 1;
    if (layout == KW_LAYOUT_STEPPED && (d == 0 || d + 1 == rank)) {
      step[d] = d == 0 ? 2 : 3;
      start[d] = 1;
    } else if (layout == KW_LAYOUT_INNER) {
      start[d] = d + 1 == rank ? 3 : 1;
      room[d] += start[d] + 2;
    }
    room[d] *= step[d];
    bool expanded = layout == KW_LAYOUT_EXPAND_ALL || (layout == KW_LAYOUT_EXPAND_FIRST && d == 0) ||
                    (layout == KW_LAYOUT_EXPAND_LAST && d + 1 == rank);
    if (expanded) step[d] = 0;
    if (expanded) room[d] = 1;
  }
  int64_t stride = 1;
  for (uint32_t i = rank; i-- > 0;) {
    uint32_t d = order[i];
    tensor->strides[d] = stride * step[d];
    tensor->offset += stride * start[d];
    stride *= room[d];
  }
  if (tensor->numel == 0) {
    tensor->offset = 0;
    tensor->extent = 0;
    return;
  }
  int64_t last = tensor->offset;
  for (uint32_t d = 0; d < rank; d++) last += (shape->dims[d] - 1) * tensor->strides[d];
  tensor->extent = (uint64_t)last + 1;
}

bool kw_case_about_layouts(kw_case_class class) {
  return class == KW_CLASS_TRANSPOSED || class == KW_CLASS_SLICED || class == KW_CLASS_STRIDE0;
}

bool kw_case_pick_layout(kw_case_class class, uint32_t number, uint32_t tensor, uint32_t count, kw_layout *out_layout) {
  static const kw_layout transposed[] = {KW_LAYOUT_TRANSPOSED, KW_LAYOUT_ROTATED};
  static const kw_layout sliced[] = {KW_LAYOUT_STEPPED, KW_LAYOUT_INNER};
  static const kw_layout stride0[] = {KW_LAYOUT_EXPAND_FIRST, KW_LAYOUT_EXPAND_LAST, KW_LAYOUT_EXPAND_ALL};
  *out_layout = KW_LAYOUT_DENSE;
  if (!kw_case_about_layouts(class)) return true;
  const kw_layout *layouts = class == KW_CLASS_TRANSPOSED ? transposed : class == KW_CLASS_SLICED ? sliced : stride0;
  uint32_t kinds = class == KW_CLASS_STRIDE0 ? 3 : 2;
  uint32_t who = number / kinds; /* 0: all tensors; 1: the first only; 2: the last only */
  if (who >= (count > 1 ? 3u : 1u)) return false;
  if (who == 0 || (who == 1 && tensor == 0) || (who == 2 && tensor == count - 1)) *out_layout = layouts[number % kinds];
  return true;
}

kw_layout kw_case_out_layout(const kw_case *c) {
  static const kw_layout layouts[KW_CASE_OUT_LAYOUTS] = {KW_LAYOUT_TRANSPOSED, KW_LAYOUT_STEPPED, KW_LAYOUT_ROTATED,
                                                         KW_LAYOUT_INNER};
  return c->class == KW_CLASS_OUTPUTS ? layouts[c->number % KW_CASE_OUT_LAYOUTS] : KW_LAYOUT_DENSE;
}

/* ---- Parts of a case --------------------------------------------------------------------------------------------- */

void kw_case_give(kw_case *c, uint32_t arg, kw_value value) {
  c->args[arg].value = value;
  if (c->arg_count <= arg) c->arg_count = arg + 1;
}

void kw_case_give_ints(kw_case *c, uint32_t arg, const int64_t *ints, uint32_t count) {
  memcpy(c->args[arg].ints, ints, count * sizeof *ints);
  kw_case_give(c, arg, (kw_value){.tag = KW_TAG_INT_LIST, .count = count});
}

void kw_case_set_entry(kw_case *c, uint32_t arg, uint32_t tensor, kw_dtype dtype, const kw_shape *shape,
                       kw_layout layout) {
  kw_case_tensor *t = &c->tensors[tensor];
  t->given = true;
  t->dtype = dtype;
  t->domain = kw_case_domain(c, arg);
  kw_case_layout(t, shape, layout);
}

void kw_case_set_tensor(kw_case *c, uint32_t arg, kw_dtype dtype, const kw_shape *shape, kw_layout layout) {
  kw_case_give(c, arg, (kw_value){.tag = KW_TAG_TENSOR});
  kw_case_set_entry(c, arg, arg, dtype, shape, layout);
}

uint32_t kw_case_set_list(kw_case *c, uint32_t arg, uint32_t count) {
  c->args[arg].first = KW_SUITE_ARGS + c->entry_count;
  c->entry_count += count;
  kw_case_give(c, arg, (kw_value){.tag = KW_TAG_TENSOR_LIST, .count = count});
  return c->args[arg].first;
}

void kw_case_set_indices(kw_case *c, uint32_t tensor, int64_t limit, bool from_end, bool spread, int64_t stride) {
  kw_case_tensor *t = &c->tensors[tensor];
  t->domain = spread ? KW_DOMAIN_SPREAD : KW_DOMAIN_INDEX;
  t->limit = limit;
  t->from_end = from_end;
  t->value_stride = (uint32_t)stride;
}

void kw_case_set_result(kw_case *c, uint32_t result, kw_dtype dtype, const kw_shape *shape, kw_layout layout) {
  kw_case_tensor *t = &c->outs[result];
  t->given = true;
  t->dtype = dtype;
  kw_case_layout(t, shape, layout);
}

void kw_case_set_in_place(kw_case *c) {
  kw_case_give(c, 0, (kw_value){.tag = KW_TAG_TENSOR});
  c->tensors[0] = c->outs[0];
  c->tensors[0].output = true;
}

void kw_case_set_changed(kw_case *c, uint32_t arg, uint32_t tensor, kw_dtype dtype, const kw_shape *shape,
                         kw_layout layout) {
  const uint32_t result = c->op->args[arg].result < c->op->result_count ? c->op->args[arg].result : c->result_count++;
  if (tensor == arg) {
    kw_case_set_tensor(c, arg, dtype, shape, layout);
  } else {
    kw_case_set_entry(c, arg, tensor, dtype, shape, layout);
  }
  kw_case_set_result(c, result, dtype, shape, layout);
  c->bounds[result] = kw_op_row_bound(&c->op->row, c->op->args[arg].result);
  c->tensors[tensor].output = c->tensors[tensor].read = true;
  c->tensors[tensor].result = result;
}

/* ---- Whole cases ------------------------------------------------------------------------------------------------- */

/* One shape rule, several kinds of ops, each. */
bool kw_case_make_along_dim(kw_case *c) {
  if (c->op->row.result == KW_RESULT_CHOICE) return kw_case_make_sort(c);
  return c->op->row.result == KW_RESULT_SOFTMAX ? kw_case_make_softmax(c) : kw_case_make_scan(c);
}

bool kw_case_make_scatter(kw_case *c) {
  return c->op->row.compare == KW_CMP_ACCUMULATE ? kw_case_make_scatter_sum(c) : kw_case_make_lines(c);
}

/* Which generator makes the cases of ops with this shape rule. */
static kw_case_maker *const generators[] = {
#define KW_SHAPE_RULE(name, infer, cases, text) [KW_SHAPE_##name] = kw_case_make_##cases,
#include "shape_rules.def"
    [KW_SHAPE_CUSTOM] = kw_case_make_vendor,
};

static bool make_kind(kw_case *c) {
  kw_shape_rule rule = c->op->row.shape;
  if (!c->op->vendor && kw_suite_op_generator(c->op) >= 0) return kw_case_make_random(c);
  return rule < sizeof generators / sizeof generators[0] && generators[rule](c);
}

void kw_case_resize(kw_case *c, kw_shape *io_sizes) {
  bool fits = !c->shrunk || c->sizes.rank == io_sizes->rank;
  for (uint32_t d = 0; d < io_sizes->rank && c->shrunk && fits; d++) {
    fits = c->sizes.dims[d] <= io_sizes->dims[d] && (c->sizes.dims[d] > 0 || io_sizes->dims[d] == 0);
  }
  if (c->shrunk && fits) *io_sizes = c->sizes;
  c->sizes = *io_sizes;
  c->resizable = fits;
}

/* "add.Tensor/f32/prime/3", and "@2x1" for a shrunken one. */
static void name_case(kw_case *c) {
  size_t size = sizeof c->id;
  size_t used = (size_t)snprintf(c->id, size, "%s/%s/%s/%u", c->op->name, kw_datum_name(c->key), class_names[c->class],
                                 c->number);
  for (uint32_t d = 0; d < c->sizes.rank && used < size; d++) {
    used += (size_t)snprintf(c->id + used, size - used, "%c%" PRId64, d ? 'x' : '@', c->sizes.dims[d]);
  }
  c->hash = kw_hash(KW_HASH_START, c->id);
}

/* A case, or its variant made from `sizes`. */
static bool make_case(const kw_suite_op *op, kw_dtype key, kw_case_class class, uint32_t number, const kw_shape *sizes,
                      kw_case *c) {
  if (key >= KW_DTYPE_COUNT || !(kw_suite_op_keys(op) & KW_DTYPE_BIT(key))) return false;
  memset(c, 0, sizeof *c);
  c->op = op;
  c->key = key;
  c->class = class;
  c->number = number;
  c->terms = 2;
  c->shrunk = sizes != NULL;
  if (sizes) c->sizes = *sizes;
  name_case(c);
  c->result_count = op->result_count;
  for (uint32_t r = 0; r < op->result_count; r++) c->bounds[r] = kw_op_row_bound(&op->row, r);
  if (!make_kind(c) || (c->shrunk && !c->resizable)) return false;
  int generator = kw_suite_op_generator(op); /* every other case names one */
  if (generator >= 0 && number % 2) kw_case_give(c, (uint32_t)generator, (kw_value){.tag = KW_TAG_GENERATOR});
  for (uint32_t i = 0; i < c->arg_count; i++) { /* what lies before a given argument has to be given too */
    if (c->args[i].value.tag != KW_TAG_NONE) continue;
    c->args[i].value = kw_suite_arg_default(&op->args[i]);
    memcpy(c->args[i].ints, op->args[i].default_ints, sizeof op->args[i].default_ints);
  }
  return true;
}

bool kw_case_make(const kw_suite_op *op, kw_dtype key, kw_case_class class, uint32_t number, kw_case *out_case) {
  return make_case(op, key, class, number, NULL, out_case);
}

bool kw_case_shrink(const kw_case *c, const kw_shape *sizes, kw_case *out_case) {
  return sizes->rank > 0 && make_case(c->op, c->key, c->class, c->number, sizes, out_case);
}

/* A whole number from 0 to max; *io_text is moved behind it. */
static bool read_number(const char **io_text, int64_t max, int64_t *out_number) {
  char *end;
  errno = 0;
  long long number = **io_text >= '0' && **io_text <= '9' ? strtoll(*io_text, &end, 10) : -1;
  if (number < 0 || number > max || errno) return false;
  *io_text = end;
  *out_number = number;
  return true;
}

/* The end of an id: "" or "@2x1". */
static bool read_sizes(const char *text, kw_shape *out_sizes) {
  out_sizes->rank = 0;
  for (char mark = '@'; *text == mark && out_sizes->rank < KW_MAX_RANK; mark = 'x') {
    text++;
    if (!read_number(&text, INT32_MAX, &out_sizes->dims[out_sizes->rank++])) return false;
  }
  return *text == 0;
}

bool kw_case_from_id(const char *id, const kw_suite_op *ops, uint32_t op_count, kw_case *out_case) {
  const char *slash[3];
  const char *p = id;
  for (int i = 0; i < 3; i++) {
    slash[i] = strchr(p, '/');
    if (!slash[i]) return false;
    p = slash[i] + 1;
  }
  const kw_suite_op *op = NULL;
  for (uint32_t i = 0; i < op_count && !op; i++) {
    size_t length = strlen(ops[i].name);
    if (length == (size_t)(slash[0] - id) && memcmp(ops[i].name, id, length) == 0) op = &ops[i];
  }
  kw_dtype key = kw_datum_from_name(slash[0] + 1, (size_t)(slash[1] - slash[0] - 1));
  size_t length = (size_t)(slash[2] - slash[1] - 1);
  int64_t number;
  kw_shape sizes = {0};
  if (!op || !read_number(&p, UINT32_MAX, &number) || !read_sizes(p, &sizes)) return false;
  for (int class = 0; class < KW_CLASS_COUNT; class ++) {
    if (strlen(class_names[class]) == length && memcmp(class_names[class], slash[1] + 1, length) == 0) {
      return make_case(op, key, (kw_case_class) class, (uint32_t)number, sizes.rank ? &sizes : NULL, out_case);
    }
  }
  return false;
}
