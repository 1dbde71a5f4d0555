/* SPDX-License-Identifier: Apache-2.0
 *
 * Comparing a result with what the oracle expects, by the rule of its op.
 */
#include "judge/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double kw_growth(uint64_t n) {
  double terms = (double)n, root = 4 + 2 * sqrt(terms);
  return terms < root ? terms : root;
}

double kw_rule_bound(const kw_op_bound *bound) {
  bool sums = bound->compare == KW_CMP_ACCUMULATE || (bound->compare == KW_CMP_WRITTEN && *bound->magnitude);
  return bound->compare == KW_CMP_ULP ? bound->ulp : sums ? 1 : 0;
}

const char *kw_rule_unit(const kw_op_bound *bound) {
  if (bound->compare == KW_CMP_ULP) return "ulp";
  if (bound->compare == KW_CMP_INDEX) return "index";
  if (bound->compare == KW_CMP_QUANTUM) return "quantum";
  return kw_rule_bound(bound) > 0 ? "growth" : "bits";
}

kw_op_bound kw_rule_shown(const kw_suite_op *op) {
  kw_op_bound first = kw_op_row_bound(&op->row, 0);
  for (uint32_t r = 0; r < op->result_count + op->changed_count; r++) {
    kw_op_bound bound = kw_op_row_bound(&op->row, r);
    if (kw_rule_bound(&bound) > 0) return bound;
  }
  return first;
}

/* True when elements of the result may be converted ones: of a Scalar, or of a float tensor of another dtype. */
static bool converts(const kw_case *c, kw_dtype result) {
  bool any = false;
  for (uint32_t i = 0; i < c->arg_count; i++) any |= c->args[i].value.tag == KW_TAG_SCALAR;
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) {
    kw_dtype dtype = c->tensors[i].dtype;
    bool floating = kw_element_is_float(dtype) || kw_element_is_complex(dtype);
    any |= c->tensors[i].given && floating && dtype != result;
  }
  return any;
}

kw_rule kw_rule_make(const kw_case *c, uint32_t result, uint64_t flush) {
  const kw_op_row *row = &c->op->row;
  const kw_op_bound *bound = &c->bounds[result];
  kw_dtype dtype = c->outs[result].dtype;
  const kw_dtype compute = kw_element_compute(c->key);
  bool changes = converts(c, dtype);
  bool moved = (bound->compare == KW_CMP_BITS || bound->compare == KW_CMP_WRITTEN) && !changes;
  return (kw_rule){.compare = bound->compare,
                   .ulp = bound->ulp,
                   .abs = bound->abs,
                   .terms = c->terms,
                   .growth = bound->growth,
                   .scan_step = c->scan_step,
                   .exact = c->exact,
                   .nan = row->nan,
                   .inf = row->inf,
                   .zero = row->zero,
                   .subnormal = row->subnormal,
                   .moved = moved,
                   .flush = !moved && (row->subnormal == KW_SPECIAL_EITHER || flush & KW_DTYPE_BIT(dtype)),
                   .lost_below = flush & KW_DTYPE_BIT(compute) ? kw_element_pow2(kw_element_format(compute).emin) : 0,
                   .free_payload = changes,
                   .compute = compute};
}

/* The ops that math modes are about. */
static bool adds_products(const kw_op_row *row) {
  switch (row->shape) {
    case KW_SHAPE_MM:
    case KW_SHAPE_BMM:
    case KW_SHAPE_ADDMM:
    case KW_SHAPE_CONVOLUTION:
    case KW_SHAPE_CONVOLUTION_BACKWARD:
      return true;
    default:
      return false;
  }
}

void kw_rule_allow(kw_rule *rule, const kw_case *c, kw_math_mode mode) {
  const double loss = mode == KW_MATH_FAST ? 0x1p-7 : mode == KW_MATH_TF32 ? 0x1p-10 : 0;
  if (c->key == KW_F32 && adds_products(&c->op->row)) rule->lost = 2 * loss + loss * loss;
}

/* ---- One floating-point element ---------------------------------------------------------------------------------- */

/* |got - oracle|, where infinity is the first value that is out of range; exact up to the rounding of the result. */
static double distance(kw_float_format format, double got, kw_wide oracle) {
  double sign = got < 0 ? -1.0 : 1.0;
  double hi = oracle.hi * sign, lo = oracle.lo * sign, magnitude = fabs(got);
  if (isinf(got)) {
    double step = ldexp(1.0, format.emax - format.precision + 1);
    double beyond = (hi - format.max) - step + lo;
    return beyond >= 0 ? 0 : -beyond;
  }
  return fabs((magnitude - hi) - lo);
}

static bool same_zero_sign(const kw_rule *rule, double got, kw_wide oracle) {
  return rule->zero != KW_SPECIAL_EXACT || signbit(got) == signbit(oracle.hi);
}

/* What one rounding to `got` may add on the side of `got` where the oracle is (`half` in compare.h). */
static double half_spacing(kw_float_format format, double got, kw_wide oracle) {
  double at = fmin(fabs(got), kw_element_pow2(format.emax + 1));
  bool outward = signbit(got) == signbit(oracle.hi) && at < fabs(oracle.hi);
  if (!outward) return kw_element_spacing(format, (kw_wide){at, 0}) / 2;
  int exponent = at < kw_element_pow2(format.emin) ? format.emin : ilogb(at);
  return kw_element_pow2(exponent - format.precision);
}

bool kw_compare_element(const kw_rule *rule, kw_dtype dtype, const void *got_element, kw_wide oracle, double magnitude,
                        double *out_error, double *out_bound) {
  double got = kw_element_load(dtype, got_element);
  kw_float_format format = kw_element_format(dtype), compute = kw_element_format(rule->compute);
  *out_error = 0;
  *out_bound = 0;
  if (!isfinite(oracle.hi)) {
    bool same = isnan(oracle.hi) ? isnan(got) : got == oracle.hi;
    bool pass = same || (isnan(oracle.hi) ? rule->nan : rule->inf) == KW_SPECIAL_UNSPECIFIED;
    *out_error = pass ? 0 : (double)INFINITY;
    return pass;
  }
  bool subnormal = oracle.hi != 0 && fabs(oracle.hi) < kw_element_pow2(format.emin);
  if (subnormal && rule->subnormal == KW_SPECIAL_UNSPECIFIED) return true;
  *out_error = (double)INFINITY;
  if (isnan(got)) return false;
  bool flushed = rule->flush && got == 0 && fabs(oracle.hi) < kw_element_pow2(format.emin);
  if ((flushed || (got == 0 && oracle.hi == 0)) && same_zero_sign(rule, got, oracle)) {
    *out_error = 0;
    return true;
  }
  if (rule->exact || (rule->compare == KW_CMP_ULP && rule->ulp == 0 && rule->abs == 0)) {
    bool same = got == kw_element_round(dtype, oracle) && (got != 0 || same_zero_sign(rule, got, oracle));
    if (same) *out_error = 0;
    return same;
  }
  double allowed;
  if (rule->compare == KW_CMP_ULP) {
    allowed = rule->ulp * kw_element_spacing(compute, oracle) + rule->abs * kw_element_pow2(1 - compute.precision);
  } else {
    if (magnitude > compute.max) magnitude = compute.max; /* no partial result that leads to a finite one is larger */
    const double tiny = kw_element_pow2(compute.emin - compute.precision + 1), terms = (double)rule->terms;
    double tails = 0.5 * terms * tiny;
    if (tails + tails < terms * tiny) tails += tiny; /* half of f64's is no double: rounded up */
    tails += 2 * terms * rule->lost_below;           /* a term, and the sum that it is added to */
    const double growth = rule->growth > 0 ? rule->growth : kw_growth(rule->terms);
    allowed = (growth * kw_element_pow2(1 - compute.precision) + rule->lost) * magnitude + tails;
  }
  allowed *= 1 + rule->more;
  double half = format.precision < compute.precision ? half_spacing(format, got, oracle) : 0;
  double error = distance(format, got, oracle);
  *out_bound = allowed + half;
  double beyond = error > half ? error - half : 0;
  *out_error = beyond == 0 ? 0 : beyond / allowed * (rule->compare == KW_CMP_ULP ? rule->ulp : 1);
  if (got == 0 && !same_zero_sign(rule, got, oracle)) return false;
  return error <= *out_bound;
}

/* ---- Whole results ----------------------------------------------------------------------------------------------- */

static kw_wide wide_at(const void *values, int64_t index) {
  kw_wide wide;
  memcpy(&wide, (const char *)values + (size_t)index * sizeof wide, sizeof wide);
  return wide;
}

/* Either side of the discontinuity, where the quotient is within its bound of one. Zero has the quotient's sign. */
static bool rounded_quotient(const kw_case *c, kw_dtype dtype, const kw_rule *rule, double got, kw_wide quotient) {
  if (!isfinite(quotient.hi) || !isfinite(got)) return false;
  if (got == 0 && !same_zero_sign(rule, got, quotient)) return false;
  double slack = rule->ulp * kw_element_spacing(kw_element_format(rule->compute), quotient);
  bool down = strcmp(kw_case_arg_value(c, 2).u.s, "floor") == 0;
  double low = quotient.hi - slack, high = quotient.hi + slack;
  low = down ? floor(low) : trunc(low);
  high = down ? floor(high) : trunc(high);
  return got >= kw_element_round(dtype, (kw_wide){low, 0}) && got <= kw_element_round(dtype, (kw_wide){high, 0});
}

/* What the columns and the device allow in place of a float of other bits. */
static bool same_special(const kw_rule *rule, kw_dtype dtype, const void *got, const void *wanted) {
  double g = kw_element_load(dtype, got), w = kw_element_load(dtype, wanted);
  if (isnan(w)) return rule->nan == KW_SPECIAL_UNSPECIFIED || (rule->free_payload && isnan(g));
  if (isinf(w)) return rule->inf == KW_SPECIAL_UNSPECIFIED;
  if (w == 0) return g == 0 && rule->zero != KW_SPECIAL_EXACT;
  if (!kw_element_is_subnormal(dtype, wanted)) return false;
  return rule->subnormal == KW_SPECIAL_UNSPECIFIED || (rule->flush && g == 0 && signbit(g) == signbit(w));
}

static bool same_bits(const kw_rule *rule, kw_dtype dtype, const void *got, const void *wanted) {
  if (memcmp(got, wanted, kw_element_size(dtype)) == 0) return true;
  if (kw_element_is_complex(dtype)) { /* part by part */
    kw_dtype part = kw_element_part(dtype);
    size_t size = kw_element_size(part);
    return same_bits(rule, part, got, wanted) &&
           same_bits(rule, part, (const char *)got + size, (const char *)wanted + size);
  }
  return kw_element_is_float(dtype) && same_special(rule, dtype, got, wanted);
}

static bool between(kw_dtype dtype, const void *got, const void *low, const void *high) {
  double value = kw_element_load(dtype, got); /* exact: codes have at most 32 bits */
  return value >= kw_element_load(dtype, low) && value <= kw_element_load(dtype, high);
}

/* Judges element `index` against one set of expected values. */
static bool judge_against(const kw_case *c, kw_dtype dtype, const kw_rule *rule, const kw_oracle_result *expected,
                          const void *values, int64_t index, const void *got, double *out_error, double *out_bound) {
  *out_bound = 0;
  if (expected->dtype != KW_DTYPE_WIDE) {
    size_t at = (size_t)index * kw_element_size(dtype);
    bool same = same_bits(rule, dtype, got, (const char *)values + at);
    if (expected->low) {
      same |= between(dtype, got, (const char *)expected->low + at, (const char *)expected->high + at);
    }
    *out_error = same ? 0 : (double)INFINITY;
    return same;
  }
  double magnitude = expected->magnitude ? expected->magnitude[index].hi : 0;
  kw_rule mine = *rule;
  if (rule->scan_step > 0) mine.terms = (uint64_t)(index / rule->scan_step) % rule->terms + 1;
  if (kw_compare_element(&mine, dtype, got, wide_at(values, index), magnitude, out_error, out_bound)) return true;
  if (!expected->quotient) return false;
  if (!rounded_quotient(c, dtype, rule, kw_element_load(dtype, got), expected->quotient[index])) return false;
  *out_error = 0;
  return true;
}

bool kw_compare_at(const kw_case *c, kw_dtype dtype, const kw_rule *rule, const kw_oracle_result *expected,
                   int64_t index, const void *got, double *out_error, double *out_bound) {
  bool pass = judge_against(c, dtype, rule, expected, expected->values, index, got, out_error, out_bound);
  const void *others[] = {rule->moved ? NULL : expected->flushed, expected->other};
  for (int o = 0; o < 2 && !pass; o++) {
    double error, bound;
    if (!others[o]) continue;
    pass = judge_against(c, dtype, rule, expected, others[o], index, got, &error, &bound);
    if (pass) *out_error = error;
  }
  return pass;
}

static bool is_poison(size_t size, const void *element, unsigned char poison) {
  const unsigned char *bytes = element;
  for (size_t i = 0; i < size; i++) {
    if (bytes[i] != poison) return false;
  }
  return true;
}

void kw_compare_print_element(char *text, size_t size, kw_dtype dtype, const void *element) {
  char bits[40] = "0x";
  size_t bytes = kw_element_size(dtype), at = 2;
  for (size_t i = bytes; i-- > 0;)
    at += (size_t)snprintf(bits + at, sizeof bits - at, "%02x", ((const unsigned char *)element)[i]);
  if (kw_element_is_complex(dtype)) {
    snprintf(text, size, "%s", bits);
  } else if (kw_element_is_float(dtype)) {
    double value = kw_element_load(dtype, element);
    if (isnan(value)) value = fabs(value); /* its sign is in the bits */
    snprintf(text, size, "%.*g (%s)", dtype == KW_F64 ? 17 : 9, value, bits);
  } else if (dtype == KW_I64) {
    int64_t value;
    memcpy(&value, element, sizeof value);
    snprintf(text, size, "%lld (%s)", (long long)value, bits);
  } else {
    snprintf(text, size, "%.0f (%s)", kw_element_load(dtype, element), bits);
  }
}

/* "[3, 0]" from a row-major index. */
static void print_index(char *text, size_t size, uint32_t rank, const int64_t *shape, int64_t index) {
  int64_t at[KW_MAX_RANK];
  for (uint32_t d = rank; d-- > 0;) {
    at[d] = index % shape[d];
    index /= shape[d];
  }
  size_t used = (size_t)snprintf(text, size, "[");
  for (uint32_t d = 0; d < rank && used + 24 < size; d++) {
    used += (size_t)snprintf(text + used, size - used, d ? ", %lld" : "%lld", (long long)at[d]);
  }
  snprintf(text + used, size - used, "]");
}

/* Names a defect by which elements are wrong: `wrong` of them from `first` on, `poisoned` of those untouched. Of wrong
 * bytes one in 256 looks like poison by chance. */
static void name_defect(kw_comparison *v, int64_t count, int64_t poisoned) {
  if (poisoned <= v->wrong / 32) return;
  bool tail = poisoned == v->wrong && v->index + v->wrong == count;
  if (poisoned == count) {
    snprintf(v->defect, sizeof v->defect, "output not written");
  } else {
    snprintf(v->defect, sizeof v->defect, tail ? "tail not written" : "poison visible");
  }
}

void kw_compare_describe(char *text, size_t room, kw_dtype dtype, const kw_oracle_result *expected, int64_t index,
                         const void *got, double bound) {
  char got_text[80], want_text[80];
  _Alignas(16) char want[16] = {0};
  kw_compare_print_element(got_text, sizeof got_text, dtype, got);
  if (expected->dtype != KW_DTYPE_WIDE) {
    const size_t size = kw_element_size(dtype);
    kw_compare_print_element(want_text, sizeof want_text, dtype, (const char *)expected->values + (size_t)index * size);
    snprintf(text, room, "got %s, expected %s", got_text, want_text);
    return;
  }
  kw_wide oracle = wide_at(expected->values, index);
  kw_element_store(dtype, want, kw_element_round(dtype, oracle));
  kw_compare_print_element(want_text, sizeof want_text, dtype, want);
  double value = kw_element_load(dtype, got);
  double error = isfinite(value) && isfinite(oracle.hi) ? fabs((value - oracle.hi) - oracle.lo) : (double)INFINITY;
  snprintf(text, room, "got %s, expected %s, oracle %.17g; error %.3g, bound %.3g", got_text, want_text, oracle.hi,
           error, bound);
}

/* `dtype`: of what is compared; of complex results against wide values, that of their parts, `parts` each. */
static void describe(const kw_case_tensor *out, kw_dtype dtype, int64_t parts, const kw_oracle_result *expected,
                     const void *got, double bound, kw_comparison *v) {
  char where[160], what[360];
  print_index(where, sizeof where, out->rank, out->shape, v->index / parts);
  if (parts > 1) strcat(where, v->index % parts ? ", imaginary part" : ", real part");
  const char *element = (const char *)got + (size_t)v->index * kw_element_size(dtype);
  kw_compare_describe(what, sizeof what, dtype, expected, v->index, element, bound);
  snprintf(v->text, sizeof v->text, "element %s: %s; %lld of %lld elements are wrong", where, what, (long long)v->wrong,
           (long long)expected->count);
}

void kw_compare_result(const kw_case *c, uint32_t result, const kw_rule *rule, const kw_oracle_result *expected,
                       const void *got, unsigned char poison, kw_comparison *v) {
  memset(v, 0, sizeof *v);
  kw_dtype dtype = c->outs[result].dtype;
  const bool pairs = expected->dtype == KW_DTYPE_WIDE && kw_element_is_complex(dtype);
  if (pairs) dtype = kw_element_part(dtype);
  size_t size = kw_element_size(dtype);
  int64_t poisoned = 0;
  double first_bound = 0;
  for (int64_t i = 0; i < expected->count; i++) {
    const char *element = (const char *)got + (size_t)i * size;
    double error, bound;
    const bool pass = kw_compare_at(c, dtype, rule, expected, i, element, &error, &bound);
    if (error > v->error) {
      v->error = error;
      v->worst = i;
    }
    if (pass) continue;
    if (v->wrong++ == 0) {
      v->index = i;
      first_bound = bound;
    }
    poisoned += is_poison(size, element, poison);
  }
  v->pass = v->wrong == 0;
  if (v->pass) return;
  name_defect(v, expected->count, poisoned);
  describe(&c->outs[result], dtype, pairs ? 2 : 1, expected, got, first_bound, v);
}

/* `count` f64 as wide values, freed by the caller; NULL when memory is out. */
static kw_wide *widen(const void *doubles, int64_t count) {
  kw_wide *wide = calloc((size_t)count + 1, sizeof *wide);
  for (int64_t i = 0; wide && i < count; i++) memcpy(&wide[i].hi, (const char *)doubles + (size_t)i * 8, 8);
  return wide;
}

void kw_compare_vendor(const kw_case *c, uint32_t result, const kw_case_run_output *out, unsigned char poison,
                       uint64_t flush, kw_comparison *out_found) {
  const int64_t count = (int64_t)(out->length / kw_element_size(out->dtype));
  kw_case typed = *c;
  typed.outs[result].dtype = out->dtype;
  typed.outs[result].rank = 1;
  typed.outs[result].shape[0] = count;
  kw_rule rule = kw_rule_make(&typed, result, flush);
  kw_oracle_result form = {.dtype = out->dtype, .count = count, .values = (void *)out->expected};
  kw_wide *wide = NULL;
  if (out->expected_dtype == KW_F64 && rule.compare != KW_CMP_BITS && kw_element_is_float(out->dtype)) {
    wide = widen(out->expected, count);
    form.dtype = KW_DTYPE_WIDE;
    form.values = wide;
    if (out->magnitude) form.magnitude = widen(out->magnitude, count);
  }
  kw_compare_result(&typed, result, &rule, &form, out->data, poison, out_found);
  free(wide);
  free(form.magnitude);
}
