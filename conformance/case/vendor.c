/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of a vendor's own ops. Nothing is known but the schema, and which texts mean something (kw_suite_arg.texts):
 * tensors of one shape and dtype, lists of several lengths, attributes at their default or at ordinary values.
 */
#include "base/need.h"
#include "case/make.h"
#include "case/makers.h"
#include "case/parts.h"

#include <keyway/keyway.h>

#include <stdio.h>
#include <stdlib.h>

enum { ATTRS = 8, LISTED = 3 }; /* cases in the class of that name; entries of a list in all other classes */

/* Where the making of a case is. */
typedef struct progress {
  kw_shape shape;
  uint32_t lists, tensor_count; /* of the case */
  uint32_t tensors;             /* made so far */
  uint32_t attributes;          /* given so far: each goes through its values from another one on */
} progress;

static bool is_attrs(const kw_case *c) {
  return c->class == KW_CLASS_ATTRS;
}

/* Whether any value makes sense for such an argument: what is left are texts that the plugin does not show. */
static bool has_values(const kw_suite_arg *arg) {
  return arg->has_default || arg->optional || arg->text_count > 0 ||
         (arg->tag != KW_TAG_STRING && arg->tag != KW_TAG_GENERATOR);
}

char *kw_case_vendor_gap(const kw_suite_op *op) {
  char *text = NULL;
  const char *lacking = NULL;
  uint32_t tensors = 0;
  for (uint32_t i = 0; i < op->arg_count; i++) {
    tensors += op->args[i].tag == KW_TAG_TENSOR || op->args[i].tag == KW_TAG_TENSOR_LIST;
    if (!lacking && !has_values(&op->args[i])) lacking = op->args[i].name;
  }
  int length = op->unheld ? asprintf(&text, "a name or a default in its schema is longer than the suite can hold")
               : lacking  ? asprintf(&text, "its argument %s has no default, and no value for it is known", lacking)
                          : asprintf(&text, tensors > 0 ? "no case fits it" : "it takes no tensor");
  if (length < 0) kw_out_of_memory();
  return text;
}

/* The case's shape; false when the class has no such number. */
static bool choose_shape(const kw_case *c, kw_shape *out) {
  static const kw_shape prime[] = {{1, {7}}, {2, {13, 5}}, {1, {1021}}, {3, {3, 5, 7}}, {1, {4099}}};
  static const kw_shape one[] = {{1, {1}}, {2, {1, 1}}};
  static const kw_shape large = {2, {257, 263}}, usual = {2, {12, 12}};
  const uint32_t n = c->number;
  *out = usual;
  switch (c->class) {
    case KW_CLASS_ONE:
      if (n < COUNT(one)) *out = one[n];
      return n < COUNT(one);
    case KW_CLASS_PRIME:
      if (n < COUNT(prime)) *out = prime[n];
      return n < COUNT(prime);
    case KW_CLASS_LARGE:
      *out = large;
      return n == 0;
    case KW_CLASS_ATTRS:
      return n < ATTRS;
    default:
      return kw_case_about_layouts(c->class);
  }
}

/* How many entries a list of tensors has: up to all that a case has room for. */
static uint32_t entries_of(const kw_case *c, const progress *p) {
  static const uint32_t lengths[ATTRS] = {1, 2, 3, 5, 4, 9, 6, KW_CASE_ENTRIES};
  const uint32_t wanted = is_attrs(c) ? lengths[c->number] : LISTED, most = KW_CASE_ENTRIES / p->lists;
  return wanted < most ? wanted : most;
}

/* An optional tensor is left out in half of the cases about attributes, each optional one in another half. */
static bool left_out(const kw_case *c, const kw_suite_arg *arg, uint32_t index) {
  return arg->optional && is_attrs(c) && c->number >= ATTRS / 2 && (c->number >> index % 2 & 1);
}

static bool give_tensor(kw_case *c, uint32_t arg, uint32_t tensor, progress *p) {
  kw_layout layout = KW_LAYOUT_DENSE;
  if (!kw_case_pick_layout(c->class, c->number, p->tensors++, p->tensor_count, &layout)) return false;
  if (c->op->args[arg].mutated) layout = KW_LAYOUT_DENSE;
  if (tensor == arg) {
    kw_case_set_tensor(c, arg, c->key, &p->shape, layout);
  } else {
    kw_case_set_entry(c, arg, tensor, c->key, &p->shape, layout);
  }
  c->tensors[tensor].output = c->op->args[arg].mutated;
  return true;
}

static bool give_list(kw_case *c, uint32_t arg, progress *p) {
  const uint32_t count = entries_of(c, p), first = kw_case_set_list(c, arg, count);
  for (uint32_t i = 0; i < count; i++) {
    if (!give_tensor(c, arg, first + i, p)) return false;
  }
  return true;
}

/* Numbers that are dimensions, sizes, factors or steps to many an op, as many as the schema wants. */
static void give_ints(kw_case *c, uint32_t arg, uint32_t number) {
  static const struct {
    uint32_t count;
    int64_t ints[KW_MAX_RANK];
  } lists[ATTRS] = {{1, {1}},       {2, {1, 1}}, {5, {2, 1, 3, 2, 1}},
                    {1, {0}},       {2, {0, 1}}, {KW_MAX_RANK, {1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1}},
                    {3, {3, 1, 2}}, {0, {0}}};
  const uint32_t size = c->op->args[arg].list_size, which = number % ATTRS;
  int64_t ints[KW_MAX_RANK];
  const uint32_t count = size == 0 ? lists[which].count : size < KW_MAX_RANK ? size : KW_MAX_RANK;
  for (uint32_t i = 0; i < count; i++) {
    ints[i] = lists[which].count ? lists[which].ints[i % lists[which].count] : 2;
  }
  kw_case_give_ints(c, arg, ints, count);
}

/* False when no value for it is known. */
static bool give_attribute(kw_case *c, uint32_t arg, progress *p) {
  static const double floats[] = {0.5, -2.0, 1.25, 0.1};
  const kw_suite_arg *a = &c->op->args[arg];
  const uint32_t nth = p->attributes, number = c->number + nth;
  kw_value value = {.tag = a->tag};
  p->attributes++;
  switch (a->tag) {
    case KW_TAG_SCALAR:
      value.kind = KW_SCALAR_F64;
      value.u.f = floats[number % COUNT(floats)];
      break;
    case KW_TAG_FLOAT:
      value.u.f = floats[number % COUNT(floats)];
      break;
    case KW_TAG_INT:
      value.u.i = (int64_t)(number % 3);
      break;
    case KW_TAG_BOOL:
      value = kw_arg_bool(c->number >> nth % 3 & 1);
      break;
    case KW_TAG_DTYPE:
      value.u.dtype = c->key;
      break;
    case KW_TAG_INT_LIST:
      give_ints(c, arg, number);
      return true;
    case KW_TAG_STRING:
      if (a->text_count == 0) return a->has_default || a->optional;
      value.u.s = a->texts[number % a->text_count];
      break;
    default:
      return a->has_default || a->optional;
  }
  kw_case_give(c, arg, value);
  return true;
}

static void count_tensors(const kw_case *c, progress *p) {
  for (uint32_t i = 0; i < c->op->arg_count; i++) p->lists += c->op->args[i].tag == KW_TAG_TENSOR_LIST;
  for (uint32_t i = 0; i < c->op->arg_count; i++) {
    const kw_suite_arg *arg = &c->op->args[i];
    if (arg->tag == KW_TAG_TENSOR_LIST) p->tensor_count += entries_of(c, p);
    p->tensor_count += arg->tag == KW_TAG_TENSOR && !left_out(c, arg, i);
  }
}

bool kw_case_make_vendor(kw_case *c) {
  progress p = {.lists = 0};
  if (c->op->unheld || !choose_shape(c, &p.shape)) return false;
  kw_case_resize(c, &p.shape);
  count_tensors(c, &p);
  bool good = true;
  for (uint32_t i = 0; i < c->op->arg_count && good; i++) {
    const kw_suite_arg *arg = &c->op->args[i];
    if (arg->tag == KW_TAG_TENSOR) {
      if (!left_out(c, arg, i)) good = give_tensor(c, i, i, &p);
    } else if (arg->tag == KW_TAG_TENSOR_LIST) {
      good = give_list(c, i, &p);
    } else if (!arg->has_default || is_attrs(c)) {
      good = give_attribute(c, i, &p);
    }
  }
  return good && p.tensors > 0;
}
