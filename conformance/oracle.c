/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is done to the inputs before the reference sees them. */
typedef enum oracle_form {
  FORM_PLAIN,
  FORM_FLUSHED,  /* subnormals become zeros of the same sign */
  FORM_ABSOLUTE, /* absolute values: the magnitude op */
  FORM_QUOTIENT  /* no rounding mode */
} oracle_form;

typedef struct oracle_call {
  kw_value args[KW_SUITE_ARGS];
  kw_tensor_ref refs[KW_SUITE_ARGS];
  void *storage[KW_SUITE_ARGS];
  bool any_subnormal;
} oracle_call;

static const kw_reference_kernel *find_kernel(const char *op, bool wide) {
  uint32_t count;
  const kw_reference_kernel *table = wide ? kw_reference_f128(&count) : kw_reference_f64(&count);
  for (uint32_t i = 0; i < count; i++) {
    if (strcmp(table[i].op, op) == 0) return &table[i];
  }
  return NULL;
}

static void set_absolute(kw_dtype dtype, void *element) {
  if (kw_datum_is_float(dtype)) ((unsigned char *)element)[kw_datum_size(dtype) - 1] &= 0x7f;
}

/* Makes the storage of one input in the dtype that the op computes on. */
static kw_status make_input(const kw_case *c, uint32_t arg, uint64_t seed, uint32_t run, uint64_t flush,
                            oracle_form form, oracle_call *call) {
  const kw_case_tensor *tensor = &c->args[arg].tensor;
  kw_dtype dtype = c->promoted >> arg & 1 ? c->key : tensor->dtype;
  size_t size = kw_datum_size(dtype);
  char *storage = malloc(tensor->extent * size + 16);
  if (!storage) return KW_ERR_OUT_OF_MEMORY;
  call->storage[arg] = storage;
  kw_value_key key = kw_case_value_key(c, arg, seed, run);
  _Alignas(16) char element[16];
  for (uint64_t i = 0; i < tensor->extent; i++) {
    char *at = storage + i * size;
    kw_value_make(&key, tensor->dtype, i, element);
    if (flush & KW_DTYPE_BIT(tensor->dtype) && kw_datum_is_subnormal(tensor->dtype, element)) {
      call->any_subnormal = true;
      if (form == FORM_FLUSHED)
        kw_datum_store(tensor->dtype, element, copysign(0.0, kw_datum_load(tensor->dtype, element)));
    }
    kw_datum_convert(dtype, at, tensor->dtype, element);
    if (form == FORM_ABSOLUTE) set_absolute(dtype, at);
  }
  kw_tensor_ref *ref = &call->refs[arg];
  *ref = (kw_tensor_ref){.struct_size = sizeof *ref, .dtype = dtype, .rank = (uint8_t)tensor->rank, .mem = storage};
  ref->offset = (uint64_t)tensor->offset * size;
  ref->numel = tensor->numel;
  ref->alignment = 1;
  memcpy(ref->shape, tensor->shape, sizeof ref->shape);
  memcpy(ref->strides, tensor->strides, sizeof ref->strides);
  return KW_OK;
}

static kw_value absolute_scalar(kw_value value) {
  if (value.tag == KW_TAG_SCALAR && value.kind == KW_SCALAR_F64) value.u.f = fabs(value.u.f);
  if (value.tag == KW_TAG_SCALAR && value.kind == KW_SCALAR_I64) value.u.i = llabs(value.u.i);
  return value;
}

static kw_tensor_ref dense_result(const kw_case *c, kw_dtype dtype, void *values) {
  kw_tensor_ref ref = {.struct_size = sizeof ref, .dtype = dtype, .rank = (uint8_t)c->out.rank, .mem = values};
  ref.numel = c->out.numel;
  ref.alignment = 1;
  int64_t stride = 1;
  for (uint32_t d = c->out.rank; d-- > 0;) {
    ref.shape[d] = c->out.shape[d];
    ref.strides[d] = stride;
    stride *= c->out.shape[d];
  }
  return ref;
}

/* Runs one form; *out_values is the caller's to free. */
static kw_status run_form(const kw_case *c, const kw_reference_kernel *kernel, uint64_t seed, uint32_t run,
                          uint64_t flush, oracle_form form, kw_dtype dtype, void **out_values, bool *out_subnormal) {
  oracle_call call;
  memset(&call, 0, sizeof call);
  kw_status status = KW_OK;
  void *values = calloc((size_t)c->out.numel + 1, kw_datum_size(dtype));
  if (!values) status = KW_ERR_OUT_OF_MEMORY;
  kw_tensor_ref result = dense_result(c, dtype, values);
  for (uint32_t i = 0; i < c->op->arg_count && status == KW_OK; i++) {
    call.args[i] = kw_case_arg_value(c, i);
    if (form == FORM_ABSOLUTE) call.args[i] = absolute_scalar(call.args[i]);
    if (form == FORM_QUOTIENT && call.args[i].tag == KW_TAG_STRING) call.args[i].tag = KW_TAG_NONE;
    if (call.args[i].tag != KW_TAG_TENSOR) continue;
    call.args[i].u.tensor = c->args[i].output ? &result : &call.refs[i];
    if (!c->args[i].output) status = make_input(c, i, seed, run, flush, form, &call);
  }
  if (status == KW_OK && c->out.numel > 0) {
    const kw_tensor_ref *outs[1] = {&result};
    kw_call kc = {.struct_size = sizeof kc,
                  .arg_count = c->op->arg_count,
                  .out_count = 1,
                  .op = kernel->op,
                  .args = call.args,
                  .outs = outs};
    status = kernel->run(&kc);
  }
  for (uint32_t i = 0; i < KW_SUITE_ARGS; i++) free(call.storage[i]);
  if (status != KW_OK) free(values);
  if (status == KW_OK) *out_values = values;
  if (out_subnormal) *out_subnormal = call.any_subnormal;
  return status;
}

kw_status kw_oracle_run(const kw_case *c, uint64_t seed, uint32_t run, uint64_t flush, kw_expected *out) {
  memset(out, 0, sizeof *out);
  const kw_op_row *row = &c->op->row;
  bool wide = c->key == KW_F64 || c->key == KW_C128;
  bool distance = row->compare == KW_CMP_ULP || row->compare == KW_CMP_ACCUMULATE;
  bool floating = kw_datum_is_float(c->out.dtype);
  const kw_reference_kernel *kernel = find_kernel(c->op->name, wide);
  const kw_reference_kernel *magnitude = row->magnitude[0] ? find_kernel(row->magnitude, wide) : NULL;
  if (!kernel) return KW_ERR_NOT_IMPLEMENTED;
  out->dtype = distance && floating ? KW_DTYPE_WIDE : c->out.dtype;
  out->count = c->out.numel;

  bool subnormal = false;
  kw_status status = run_form(c, kernel, seed, run, flush, FORM_PLAIN, out->dtype, &out->values, &subnormal);
  if (status == KW_OK && subnormal) {
    status = run_form(c, kernel, seed, run, flush, FORM_FLUSHED, out->dtype, &out->flushed, NULL);
  }
  if (status == KW_OK && floating && row->compare == KW_CMP_ACCUMULATE && magnitude) {
    void *values = NULL;
    status = run_form(c, magnitude, seed, run, flush, FORM_ABSOLUTE, KW_DTYPE_WIDE, &values, NULL);
    out->magnitude = values;
  }
  int mode = kw_suite_op_find_arg(c->op, "rounding_mode");
  if (status == KW_OK && floating && mode >= 0 && kw_case_arg_value(c, (uint32_t)mode).tag == KW_TAG_STRING) {
    void *values = NULL;
    status = run_form(c, kernel, seed, run, flush, FORM_QUOTIENT, KW_DTYPE_WIDE, &values, NULL);
    out->quotient = values;
  }
  if (status != KW_OK) kw_expected_free(out);
  return status;
}

void kw_expected_free(kw_expected *expected) {
  free(expected->values);
  free(expected->magnitude);
  free(expected->quotient);
  free(expected->flushed);
  memset(expected, 0, sizeof *expected);
}
