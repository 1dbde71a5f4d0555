/* SPDX-License-Identifier: Apache-2.0
 *
 * What a case should give: the reference, run in a wider type.
 */
#include "judge/oracle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is done to the inputs before the reference sees them, and how it runs. */
typedef enum oracle_form {
  FORM_PLAIN,
  FORM_FLUSHED,  /* subnormals become zeros of the same sign */
  FORM_ABSOLUTE, /* absolute values: the magnitude op */
  FORM_QUOTIENT, /* no rounding mode */
  FORM_FIRST     /* the first writer of an element wins */
} oracle_form;

/* One run of the reference. */
typedef struct oracle_call {
  const kw_case *c;
  const void *const *inputs; /* storages to take instead of the case's own; NULL */
  uint64_t seed;
  uint32_t run;
  uint64_t flush;
  oracle_form form;
  kw_value args[KW_MAX_ARGS];
  kw_tensor_ref refs[KW_CASE_TENSORS], results[KW_SUITE_RESULTS];
  kw_tensor_ref in_place; /* result 0 as an argument: of the op's own dtype also where the result is wide; not read */
  const kw_tensor_ref *entries[KW_CASE_TENSORS]; /* refs by index, NULL where there is none: lists point into this */
  void *raw[KW_CASE_TENSORS];                    /* the case's values, the same for all forms */
  void *changed[KW_CASE_TENSORS];                /* where the form makes something else of them */
  void *values[KW_SUITE_RESULTS];
  bool any_subnormal;
} oracle_call;

typedef const kw_reference_kernel *(*table_fn)(uint32_t *out_count);

static const kw_reference_kernel *find_kernel(const char *op, table_fn reference) {
  uint32_t count;
  const kw_reference_kernel *table = reference(&count);
  for (uint32_t i = 0; i < count; i++) {
    if (strcmp(table[i].op, op) == 0) return &table[i];
  }
  return NULL;
}

static bool is_result(const kw_case *c, uint32_t tensor) {
  return c->tensors[tensor].output && !c->tensors[tensor].read;
}

/* What the form makes of a raw element. */
static void take_element(oracle_call *call, const kw_case_tensor *tensor, kw_dtype dtype, const void *raw, void *at) {
  _Alignas(16) char element[16];
  memcpy(element, raw, kw_element_size(tensor->dtype));
  if (call->flush & KW_DTYPE_BIT(tensor->dtype) && kw_element_is_subnormal(tensor->dtype, element)) {
    call->any_subnormal = true;
    if (call->form == FORM_FLUSHED)
      kw_element_store(tensor->dtype, element, copysign(0.0, kw_element_load(tensor->dtype, element)));
  }
  kw_element_convert(dtype, at, tensor->dtype, element);
  if (call->form == FORM_ABSOLUTE) kw_element_set_absolute(dtype, at);
}

/* One input in the dtype that the op computes on: the raw values, or a copy that the form has changed. */
static kw_status make_input(oracle_call *call, uint32_t index) {
  const kw_case_tensor *tensor = &call->c->tensors[index];
  kw_dtype dtype = call->c->promoted >> index & 1 ? call->c->key : tensor->dtype;
  size_t size = kw_element_size(dtype), raw_size = kw_element_size(tensor->dtype);
  char *storage = call->raw[index];
  if (dtype != tensor->dtype || call->form == FORM_ABSOLUTE || call->flush & KW_DTYPE_BIT(dtype)) {
    storage = call->changed[index] = malloc(tensor->extent * size + 16);
    if (!storage) return KW_ERR_OUT_OF_MEMORY;
    for (uint64_t i = 0; i < tensor->extent; i++) {
      take_element(call, tensor, dtype, (const char *)call->raw[index] + i * raw_size, storage + i * size);
    }
  }
  kw_tensor_ref *ref = &call->refs[index];
  *ref = (kw_tensor_ref){.struct_size = sizeof *ref, .dtype = dtype, .rank = (uint8_t)tensor->rank, .mem = storage};
  ref->offset = (uint64_t)tensor->offset * size;
  ref->numel = tensor->numel;
  ref->alignment = 1;
  memcpy(ref->shape, tensor->shape, sizeof ref->shape);
  memcpy(ref->strides, tensor->strides, sizeof ref->strides);
  call->entries[index] = ref;
  return KW_OK;
}

/* The values of all inputs, as the worker has them. */
static kw_status make_raw(oracle_call *call) {
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) {
    const kw_case_tensor *tensor = &call->c->tensors[i];
    if (!tensor->given || is_result(call->c, i)) continue;
    call->raw[i] = calloc(tensor->extent + 1, kw_element_size(tensor->dtype)); /* what no layout names is zero */
    if (!call->raw[i]) return KW_ERR_OUT_OF_MEMORY;
    if (call->inputs) {
      memcpy(call->raw[i], call->inputs[i], tensor->extent * kw_element_size(tensor->dtype));
    } else {
      kw_case_fill(call->c, i, call->seed, call->run, false, call->raw[i]);
    }
  }
  return KW_OK;
}

/* A tensor that changes and is no result of the op: the reference reads and writes it where what comes out is kept, in
 * wide values where that is. */
static void place_changed(oracle_call *call, uint32_t index) {
  const kw_case_tensor *tensor = &call->c->tensors[index];
  const kw_tensor_ref *from = &call->refs[index], *to = &call->results[tensor->result];
  const size_t size = kw_element_size(tensor->dtype), wide = kw_element_size(to->dtype);
  const char *storage = from->mem;
  char *at = to->mem;
  kw_case_walk walk = kw_case_walk_start(tensor);
  for (int64_t i = 0; i < tensor->numel; i++, at += wide, kw_case_walk_next(&walk)) {
    if (to->dtype == KW_DTYPE_WIDE) {
      const kw_wide value = kw_element_load_wide(tensor->dtype, storage + (size_t)walk.at * size);
      memcpy(at, &value, sizeof value);
    } else {
      memcpy(at, storage + (size_t)walk.at * size, size);
    }
  }
  call->entries[index] = to;
}

static kw_status make_args(oracle_call *call) {
  const kw_case *c = call->c;
  kw_status status = KW_OK;
  call->in_place = call->results[0];
  call->in_place.dtype = c->outs[0].dtype;
  for (uint32_t i = 0; i < KW_CASE_TENSORS && status == KW_OK; i++) {
    if (c->tensors[i].given && !is_result(c, i)) status = make_input(call, i);
    bool changed = c->tensors[i].read && c->tensors[i].result >= c->op->result_count;
    if (changed && status == KW_OK) place_changed(call, i);
  }
  for (uint32_t i = 0; i < c->op->arg_count; i++) {
    kw_value *arg = &call->args[i];
    *arg = kw_case_arg_value(c, i);
    if (call->form == FORM_ABSOLUTE) *arg = kw_case_absolute(*arg);
    if (call->form == FORM_QUOTIENT && arg->tag == KW_TAG_STRING) arg->tag = KW_TAG_NONE;
    if (arg->tag == KW_TAG_TENSOR) arg->u.tensor = is_result(c, i) ? &call->in_place : call->entries[i];
    if (arg->tag == KW_TAG_TENSOR_LIST) arg->u.tensors = &call->entries[c->args[i].first];
  }
  return status;
}

/* A dense result, in wide values or in the result's own dtype. */
static kw_status make_result(oracle_call *call, uint32_t index, kw_dtype dtype) {
  const kw_case_tensor *out = &call->c->outs[index];
  kw_tensor_ref *ref = &call->results[index];
  call->values[index] = calloc((size_t)out->numel + 1, kw_element_size(dtype));
  *ref = (kw_tensor_ref){.struct_size = sizeof *ref, .dtype = dtype, .rank = (uint8_t)out->rank};
  ref->mem = call->values[index];
  ref->numel = out->numel;
  ref->alignment = 1;
  int64_t stride = 1;
  for (uint32_t d = out->rank; d-- > 0;) {
    ref->shape[d] = out->shape[d];
    ref->strides[d] = stride;
    stride *= out->shape[d];
  }
  return ref->mem ? KW_OK : KW_ERR_OUT_OF_MEMORY;
}

/* Runs one form. call->values are the caller's to free, whatever comes back. */
static kw_status run_form(oracle_call *call, const kw_reference_kernel *kernel, const kw_dtype *dtypes) {
  const kw_tensor_ref *outs[KW_SUITE_RESULTS];
  kw_status status = KW_OK;
  bool any = false;
  for (uint32_t r = 0; r < call->c->result_count && status == KW_OK; r++) {
    outs[r] = call->c->outs[r].given ? &call->results[r] : NULL;
    if (!outs[r]) continue;
    status = make_result(call, r, dtypes[r]);
    any |= outs[r]->numel > 0;
  }
  if (status == KW_OK) status = make_args(call);
  if (status == KW_OK && any) {
    const kw_call_extra extra = {.struct_size = sizeof extra, .rng = kw_case_rng(call->c, call->seed, call->run)};
    kw_call kc = {.struct_size = sizeof kc,
                  .arg_count = call->c->op->arg_count,
                  .out_count = call->c->op->result_count,
                  .op = kernel->op,
                  .args = call->args,
                  .outs = outs,
                  .extra = &extra,
                  .user = call->form == FORM_FIRST ? (void *)(uintptr_t)kw_reference_first_wins : NULL};
    status = kernel->run(&kc);
  }
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) free(call->changed[i]);
  return status;
}

/* What a form gives, and where the results that are kept go: keep[r] NULL drops one. */
typedef struct oracle_wish {
  oracle_form form;
  const kw_reference_kernel *kernel;
  kw_dtype dtypes[KW_SUITE_RESULTS];
  void **keep[KW_SUITE_RESULTS];
} oracle_wish;

static kw_status fulfil(const oracle_call *base, const oracle_wish *wish, bool *out_subnormal) {
  oracle_call call = *base;
  call.form = wish->form;
  kw_status status = wish->kernel ? run_form(&call, wish->kernel, wish->dtypes) : KW_ERR_NOT_IMPLEMENTED;
  for (uint32_t r = 0; r < KW_SUITE_RESULTS; r++) {
    if (status == KW_OK && wish->keep[r]) {
      *wish->keep[r] = call.values[r];
    } else {
      free(call.values[r]);
    }
  }
  if (out_subnormal) *out_subnormal = call.any_subnormal;
  return status;
}

/* Of result `r`, what it lies between. */
static kw_status find_limits(const oracle_call *base, const oracle_wish *plain, table_fn reference, uint32_t r,
                             kw_oracle_result *out) {
  void **limits[] = {&out->low, &out->high};
  kw_status status = KW_OK;
  for (uint32_t i = 0; i < 2 && status == KW_OK; i++) {
    char name[96];
    snprintf(name, sizeof name, "%s/%s", base->c->op->name, i ? "high" : "low");
    oracle_wish one = {FORM_PLAIN, find_kernel(name, reference), {0}, {0}};
    memcpy(one.dtypes, plain->dtypes, sizeof one.dtypes);
    one.keep[r] = limits[i];
    status = fulfil(base, &one, NULL);
  }
  return status;
}

static bool divides_with_mode(const kw_case *c) {
  int mode = kw_suite_op_find_arg(c->op, "rounding_mode");
  return mode >= 0 && kw_case_arg_value(c, (uint32_t)mode).tag == KW_TAG_STRING;
}

/* Of a counted op only the filled entries of the first result are expected: they come first. */
static void limit_to_count(const kw_case *c, kw_oracle_results *out) {
  int64_t filled;
  memcpy(&filled, out->results[out->count - 1].values, sizeof filled);
  const kw_case_tensor *first = &c->outs[0];
  if (first->numel > 0) out->results[0].count = first->numel / first->shape[0] * filled;
}

/* Where what a device computes on the way leaves the range of its compute type, as the reference in that type shows,
 * what comes of it is right too. */
static kw_status allow_overflow(const oracle_call *base, const oracle_wish *plain, kw_oracle_results *out) {
  oracle_wish narrow = *plain;
  narrow.kernel =
      find_kernel(plain->kernel->op, kw_element_compute(base->c->key) == KW_F64 ? kw_reference_f64 : kw_reference_f32);
  for (uint32_t r = 0; r < out->count; r++) {
    narrow.keep[r] = out->results[r].dtype == KW_DTYPE_WIDE ? &out->results[r].other : NULL;
  }
  kw_status status = fulfil(base, &narrow, NULL);
  for (uint32_t r = 0; r < out->count && status == KW_OK; r++) {
    const kw_wide *exact = out->results[r].values;
    kw_wide *other = out->results[r].other;
    for (int64_t i = 0; other && i < out->results[r].count; i++) {
      if (isfinite(other[i].hi)) other[i] = exact[i];
    }
  }
  return status;
}

static kw_status run_in(table_fn reference, const kw_case *c, uint64_t seed, uint32_t run, uint64_t flush,
                        const void *const *inputs, kw_oracle_results *out) {
  memset(out, 0, sizeof *out);
  out->count = c->result_count;
  oracle_call base = {.c = c, .inputs = inputs, .seed = seed, .run = run, .flush = flush};
  oracle_wish plain = {FORM_PLAIN, find_kernel(c->op->name, reference), {0}, {0}};
  for (uint32_t r = 0; r < out->count; r++) {
    bool distance = c->bounds[r].compare == KW_CMP_ULP || c->bounds[r].compare == KW_CMP_ACCUMULATE;
    bool floating = kw_element_is_float(c->outs[r].dtype), complex = kw_element_is_complex(c->outs[r].dtype);
    bool is_wide = distance && (floating || complex);
    out->results[r].dtype = is_wide ? KW_DTYPE_WIDE : c->outs[r].dtype;
    out->results[r].count = c->outs[r].numel * (is_wide && complex ? 2 : 1);
    plain.dtypes[r] = is_wide && complex ? KW_DTYPE_WIDE_PAIR : out->results[r].dtype;
    plain.keep[r] = &out->results[r].values;
  }
  bool subnormal = false;
  kw_status status = make_raw(&base);
  if (status == KW_OK) status = fulfil(&base, &plain, &subnormal);
  oracle_wish flushed = plain, first = plain;
  flushed.form = FORM_FLUSHED;
  first.form = FORM_FIRST;
  bool written = false;
  for (uint32_t r = 0; r < out->count && status == KW_OK; r++) {
    kw_oracle_result *expected = &out->results[r];
    if (!c->outs[r].given) continue;
    bool mine = c->bounds[r].compare == KW_CMP_WRITTEN, is_wide = expected->dtype == KW_DTYPE_WIDE;
    flushed.keep[r] = &expected->flushed;
    first.keep[r] = mine ? &expected->other : NULL;
    written |= mine;
    void *values = NULL;
    oracle_wish one = {FORM_QUOTIENT, plain.kernel, {0}, {0}};
    memcpy(one.dtypes, plain.dtypes, sizeof one.dtypes);
    one.keep[r] = &values;
    if (is_wide && divides_with_mode(c)) {
      status = fulfil(&base, &one, NULL);
      expected->quotient = values;
    } else if (is_wide && c->bounds[r].compare == KW_CMP_ACCUMULATE) {
      one.form = strchr(c->bounds[r].magnitude, '/') ? FORM_PLAIN : FORM_ABSOLUTE;
      one.kernel = find_kernel(c->bounds[r].magnitude, reference);
      status = fulfil(&base, &one, NULL);
      expected->magnitude = values;
    } else if (c->bounds[r].compare == KW_CMP_QUANTUM && !c->exact) {
      status = find_limits(&base, &plain, reference, r, expected);
    }
  }
  if (status == KW_OK && c->op->counted) limit_to_count(c, out);
  if (status == KW_OK && subnormal) status = fulfil(&base, &flushed, NULL);
  if (status == KW_OK && written) status = fulfil(&base, &first, NULL);
  bool overflows = status == KW_OK && (plain.kernel->flags & KW_REFERENCE_OVERFLOWS);
  if (overflows) status = allow_overflow(&base, &plain, out);
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) free(base.raw[i]);
  if (status != KW_OK) kw_oracle_free(out);
  return status;
}

kw_status kw_oracle_run(const kw_case *c, uint64_t seed, uint32_t run, uint64_t flush, kw_oracle_results *out) {
  return kw_oracle_run_on(c, seed, run, flush, NULL, out);
}

kw_status kw_oracle_run_on(const kw_case *c, uint64_t seed, uint32_t run, uint64_t flush, const void *const *inputs,
                           kw_oracle_results *out) {
  const bool wide = c->key == KW_F64 || c->key == KW_C128;
  return run_in(wide ? kw_reference_f128 : kw_reference_f64, c, seed, run, flush, inputs, out);
}

kw_status kw_oracle_run_wide(const kw_case *c, uint64_t seed, uint32_t run, uint64_t flush, const void *const *inputs,
                             kw_oracle_results *out) {
  return run_in(kw_reference_f128, c, seed, run, flush, inputs, out);
}

uint32_t kw_oracle_checksum(const kw_oracle_results *oracle) {
  uint64_t sum = KW_HASH_START; /* FNV-1a, by words */
  for (uint32_t r = 0; r < oracle->count; r++) {
    const kw_oracle_result *expected = &oracle->results[r];
    const unsigned char *bytes = expected->values;
    size_t size = (size_t)expected->count * kw_element_size(expected->dtype);
    for (size_t i = 0; i < size; i += sizeof sum) {
      uint64_t word = 0;
      memcpy(&word, bytes + i, size - i < sizeof word ? size - i : sizeof word);
      sum = (sum ^ word) * UINT64_C(0x100000001b3);
    }
  }
  return (uint32_t)(sum >> 32);
}

void kw_oracle_free(kw_oracle_results *oracle) {
  for (uint32_t r = 0; r < KW_SUITE_RESULTS; r++) {
    kw_oracle_result *expected = &oracle->results[r];
    free(expected->values);
    free(expected->magnitude);
    free(expected->quotient);
    free(expected->low);
    free(expected->high);
    free(expected->flushed);
    free(expected->other);
  }
  memset(oracle, 0, sizeof *oracle);
}
