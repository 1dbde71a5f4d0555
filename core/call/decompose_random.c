/* SPDX-License-Identifier: Apache-2.0
 *
 * Decompositions of random numbers: all from words of 32 bits, which random_.from in i64 gives as they are.
 */
#include "call/decompose.h"

#include "op/infer/random.h"

#include <math.h>

kw_status kw_decompose_rand_by_uniform(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_value to_one[] = {kw_arg_tensor(outs[0]), kw_arg_float(0), kw_arg_float(1), args[2]};
  return kw_compose_call(c, "uniform_", to_one, 4, NULL);
}

kw_status kw_decompose_randn(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_value standard[] = {kw_arg_tensor(outs[0]), kw_arg_float(0), kw_arg_float(1), args[2]};
  return kw_compose_call(c, "normal_", standard, 4, NULL);
}

kw_status kw_decompose_randint(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_value from_zero[] = {kw_arg_tensor(outs[0]), kw_arg_int(0), args[0], args[3]};
  return kw_compose_call(c, "random_.from", from_zero, 4, NULL);
}

kw_status kw_decompose_randint_low(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_value from_low[] = {kw_arg_tensor(outs[0]), args[0], args[1], args[4]};
  return kw_compose_call(c, "random_.from", from_low, 4, NULL);
}

/* `count` words: numbers from [0, 2^32) in i64. */
static kw_tensor *words(kw_composition *c, uint32_t rank, const int64_t *shape, const kw_value *generator) {
  kw_tensor *numbers = kw_compose_new(c, KW_I64, rank, shape);
  const kw_value args[] = {T(numbers), kw_arg_int(0), kw_arg_int(INT64_C(1) << 32), *generator};
  kw_compose_call(c, "random_.from", args, 4, NULL);
  return numbers;
}

/* The upper `bits` of each word, as f32: exact up to 24. */
static kw_tensor *upper_bits(kw_composition *c, kw_tensor *words, uint32_t bits) {
  kw_tensor *divisor = kw_compose_integer(c, KW_I64, INT64_C(1) << (32 - bits));
  kw_tensor *upper = KW_OP(c, "div.Tensor_mode", T(words), T(divisor), kw_arg_string("floor"));
  return upper ? kw_compose_cast(c, upper, KW_F32) : NULL;
}

static kw_tensor *times(kw_composition *c, kw_tensor *x, double factor) {
  return kw_compose_product(c, x, kw_compose_number(c, KW_F32, kw_arg_scalar_f64(factor)));
}

/* x, or factor * x + offset. */
static kw_tensor *moved(kw_composition *c, kw_tensor *x, double offset, double factor) {
  if (factor != 1) x = times(c, x, factor);
  return offset != 0 ? kw_compose_sum(c, kw_compose_number(c, KW_F32, kw_arg_scalar_f64(offset)), x) : x;
}

/* As many bits as the dtype has below 1. args: self, from, to, generator. */
kw_status kw_decompose_uniform(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  const kw_tensor_ref *out = &outs[0]->ref;
  const uint32_t bits = out->dtype == KW_F16 ? 11 : out->dtype == KW_BF16 ? 8 : 24;
  const float from = (float)args[1].u.f, to = (float)args[2].u.f;
  kw_tensor *upper = upper_bits(c, words(c, out->rank, out->shape, &args[3]), bits);
  kw_compose_put(c, outs[0], moved(c, times(c, upper, ldexp(1, -(int)bits)), from, (double)(to - from)));
  return c->status;
}

/* Box and Muller's: a pair of elements from a pair of words, whose first gives the radius and whose second the angle.
 * Words come in blocks of four, all of which the call takes anyway. args: self, mean, std, generator. */
kw_status kw_decompose_normal(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  const int64_t count = outs[0]->ref.numel, shape[] = {(count + 3) / 4 * 2, 2};
  kw_tensor *drawn = words(c, 2, shape, &args[3]);
  kw_tensor *first = upper_bits(c, kw_compose_slice(c, drawn, 1, 0, 1), 24);
  kw_tensor *angle = times(c, upper_bits(c, kw_compose_slice(c, drawn, 1, 1, 2), 24), 0x1p-24 * 6.283185307179586);
  kw_tensor *above_zero = moved(c, times(c, first, 0x1p-24), 0x1p-24, 1);
  kw_tensor *radius = KW_OP(c, "sqrt", T(times(c, KW_OP(c, "log", T(above_zero)), -2)));
  kw_tensor *pairs = kw_compose_new(c, KW_F32, 2, shape);
  kw_tensor *even = kw_compose_slice(c, pairs, 1, 0, 1), *odd = kw_compose_slice(c, pairs, 1, 1, 2);
  const kw_value at_even[] = {T(radius), T(KW_OP(c, "cos", T(angle)))};
  kw_compose_call(c, "mul.Tensor", at_even, 2, &even);
  const kw_value at_odd[] = {T(radius), T(KW_OP(c, "sin", T(angle)))};
  kw_compose_call(c, "mul.Tensor", at_odd, 2, &odd);
  if (c->status != KW_OK) return c->status;
  kw_tensor *wanted = kw_compose_slice(c, kw_compose_flat(c, pairs), 0, 0, count);
  kw_tensor *shaped = kw_compose_view(c, wanted, outs[0]->ref.rank, outs[0]->ref.shape);
  kw_compose_put(c, outs[0], moved(c, shaped, (double)(float)args[1].u.f, (double)(float)args[2].u.f));
  return c->status;
}

/* 1 where the number is below the probability. */
static void draw_facts(kw_composition *c, kw_tensor *out, kw_tensor *probability, const kw_value *generator) {
  kw_tensor *drawn = words(c, out->ref.rank, out->ref.shape, generator);
  kw_tensor *uniform = times(c, upper_bits(c, drawn, 24), 0x1p-24);
  kw_compose_put(c, out, KW_OP(c, "lt.Tensor", T(uniform), T(probability)));
}

kw_status kw_decompose_bernoulli(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  draw_facts(c, outs[0], kw_compose_arg(c, &args[0]), &args[1]);
  return c->status;
}

/* args: self, p, generator. */
kw_status kw_decompose_bernoulli_float(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  draw_facts(c, outs[0], kw_compose_number(c, KW_F32, kw_arg_scalar_f64(args[1].u.f)), &args[2]);
  return c->status;
}

/* In i64, and converted. args: self, from, to, generator. */
kw_status kw_decompose_random_from(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  const kw_tensor_ref *out = &outs[0]->ref;
  kw_tensor *numbers = kw_compose_new(c, KW_I64, out->rank, out->shape);
  kw_value to = args[2];
  if (to.tag == KW_TAG_NONE && out->dtype != KW_I64) to = kw_arg_int(kw_infer_exact_integers(out->dtype).high + 1);
  kw_compose_call(c, "random_.from", (kw_value[]){T(numbers), args[1], to, args[3]}, 4, NULL);
  kw_compose_put(c, outs[0], numbers);
  return c->status;
}
