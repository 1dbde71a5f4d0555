/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of random ops. The state of the generator is kw_case_rng's business.
 */
#include "case/makers.h"
#include "case/parts.h"

#include <keyway/keyway.h>

#include <string.h>

/* ---- Numbers that ops are given ---------------------------------------------------------------------------------- */

/* Two floats of uniform_ or normal_, or the probability of bernoulli_. */
static bool give_floats(kw_case *c) {
  static const double uniform[][2] = {{-2, 6}, {0.1, 0.2}, {0, 1}, {5, 5}, {-1e4, 1e4}, {1, 1.0009765625}, {0, 1e-3}};
  static const double normal[][2] = {{3, 0.5}, {-100, 1e-3}, {0, 1}, {10, 0}, {1e3, 20}, {0.1, 0.1}, {0, 1e-6}};
  static const double probability[][2] = {{0.3}, {0}, {1}, {0.1}, {0.999}, {1e-3}, {0x1p-24}};
  const char *base = c->op->base;
  bool two = strcmp(base, "bernoulli_") != 0;
  const double(*numbers)[2] = !two ? probability : strcmp(base, "uniform_") == 0 ? uniform : normal;
  bool attrs = c->class == KW_CLASS_ATTRS, usual = !attrs && c->number % 2 == 0;
  if (attrs && c->number >= COUNT(uniform)) return false;
  const double *mine = numbers[c->number % COUNT(uniform)];
  if (strcmp(base, "uniform_") == 0) c->exact = usual || (mine[0] == 0 && mine[1] == 1);
  if (usual) return true; /* the defaults */
  kw_case_give(c, 1, kw_arg_float(mine[0]));
  if (two) kw_case_give(c, 2, kw_arg_float(mine[1]));
  return true;
}

/* The first and the last integer of random_ and randint, and whether the last one is said. Ranges around 2^32, where
 * words of 64 bits take over, and that dtypes just hold. */
static bool give_integers(kw_case *c) {
  static const struct {
    int64_t first, last;
    bool open; /* as far as the dtype goes */
  } ranges[] = {{0, 9, false},
                {0, 1, false},
                {0, 0, true},
                {0, 0, false},
                {1, 1, true},
                {1, 1, false},
                {7, 100, false},
                {0, 255, false},
                {-128, 127, false},
                {-5, 2, false},
                {-256, 256, false},
                {-2048, -2048, true},
                {-(INT64_C(1) << 24), 1 << 24, false},
                {-(INT64_C(1) << 31), INT32_MAX, false},
                {0, (INT64_C(1) << 32) - 1, false},
                {0, INT64_C(1) << 32, false},
                {-(INT64_C(1) << 40), (INT64_C(1) << 40) + 12344, false},
                {-(INT64_C(1) << 53), INT64_C(1) << 53, false},
                {0, INT64_MAX - 1, false},
                {INT64_MIN, INT64_MAX - 1, false},
                {INT64_MAX, INT64_MAX, true},
                {INT64_MIN, 0, true}};
  bool attrs = c->class == KW_CLASS_ATTRS, in_place = c->op->in_place;
  int low = kw_suite_op_find_arg(c->op, in_place ? "from" : "low"), high = in_place ? 2 : low + 1;
  uint32_t fitting[COUNT(ranges)], count = 0;
  for (uint32_t i = 0; i < COUNT(ranges); i++) {
    if (!kw_element_holds_integers(c->key, ranges[i].first, ranges[i].open ? ranges[i].first : ranges[i].last))
      continue;
    if ((ranges[i].open && !in_place) || (ranges[i].first != 0 && low < 0)) continue;
    fitting[count++] = i;
  }
  if (attrs && c->number >= count) return false;
  uint32_t mine = fitting[c->number % count];
  if (low >= 0) kw_case_give(c, (uint32_t)low, kw_arg_int(ranges[mine].first));
  kw_case_give(c, (uint32_t)high, ranges[mine].open ? kw_arg_none() : kw_arg_int(ranges[mine].last + 1));
  return true;
}

/* ---- Cases ------------------------------------------------------------------------------------------------------- */

bool kw_case_make_random(kw_case *c) {
  const kw_suite_op *op = c->op;
  int size = kw_suite_op_find_arg(op, "size"), dtype = kw_suite_op_find_arg(op, "dtype");
  bool tensor = size < 0 && !op->in_place, numbers = op->in_place || dtype > 1;
  bool integers = kw_suite_op_find_arg(op, "high") >= 0 || strcmp(op->base, "random_") == 0;
  bool layouts = kw_case_about_layouts(c->class);
  kw_shape shape;
  kw_layout layout = KW_LAYOUT_DENSE;
  if (!kw_case_random_shape(c, &shape) || (layouts && !tensor) || (c->class == KW_CLASS_ATTRS && !numbers))
    return false;
  if (!kw_case_pick_layout(c->class, c->number, 0, 1, &layout)) return false;
  c->arg_count = 1;
  if (integers && !give_integers(c)) return false;
  if (op->in_place && !integers && !give_floats(c)) return false;
  if (tensor) {
    kw_case_set_tensor(c, 0, c->key, &shape, layout);
    c->tensors[0].domain = KW_DOMAIN_PROBABILITY;
    c->promoted = 1;
  }
  if (size >= 0) {
    kw_dtype natural = integers ? KW_I64 : KW_F32; /* its dtype is left out in every other case */
    kw_case_give_ints(c, (uint32_t)size, shape.dims, shape.rank);
    if (c->key != natural || c->number % 4 > 1) kw_case_give(c, (uint32_t)dtype, kw_arg_dtype(c->key));
  }
  c->terms = 1;
  kw_case_set_result(c, 0, c->key, &shape, kw_case_out_layout(c));
  if (op->in_place) kw_case_set_in_place(c);
  return true;
}
