/* SPDX-License-Identifier: Apache-2.0
 *
 * What is asked of a case once it is made: its values, its walks through memory, its names.
 */
#include "case/case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const class_names[KW_CLASS_END] = {
    "scalar",  "empty", "one",   "prime",      "large",   "broadcast", "transposed", "sliced",   "stride0", "mixed",
    "special", "attrs", "exact", "exhaustive", "outputs", "aliasing",  "sizes",      "patterns", "dense"};

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

/* A tensor in the key of its values. Entries of lists count from 16, whatever room a case has for arguments, so that a
 * case keeps its values. */
static uint32_t value_number(uint32_t tensor) {
  return tensor < KW_MAX_ARGS ? tensor : tensor - KW_MAX_ARGS + 16;
}

kw_value_key kw_case_value_key(const kw_case *c, uint32_t index, uint64_t seed, uint32_t run) {
  const kw_case_tensor *tensor = &c->tensors[index];
  uint32_t source = tensor->share >= 0 ? (uint32_t)tensor->share : index;
  return (kw_value_key){.seed = seed,
                        .case_hash = c->hash,
                        .run = run,
                        .arg = value_number(source),
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
  if (all || (uint64_t)t->numel >= t->extent) {
    kw_values_make(&key, t->dtype, t->extent, out_storage);
    return;
  }
  size_t size = kw_element_size(t->dtype);
  kw_case_walk walk = kw_case_walk_start(t);
  for (int64_t i = 0; i < t->numel; i++, kw_case_walk_next(&walk)) {
    kw_value_make(&key, t->dtype, (uint64_t)walk.at, (char *)out_storage + (size_t)walk.at * size);
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

kw_value kw_case_absolute(kw_value value) {
  if (value.tag == KW_TAG_SCALAR && value.kind == KW_SCALAR_F64) value.u.f = fabs(value.u.f);
  if (value.tag == KW_TAG_SCALAR && value.kind == KW_SCALAR_I64) value.u.i = llabs(value.u.i);
  return value;
}

void kw_case_print_shape(kw_dtype dtype, uint32_t rank, const int64_t *shape, char *out_text, size_t size) {
  size_t used = (size_t)snprintf(out_text, size, "%s [", kw_element_name(dtype));
  for (uint32_t d = 0; d < rank && used + 24 < size; d++) {
    used += (size_t)snprintf(out_text + used, size - used, d ? ", %lld" : "%lld", (long long)shape[d]);
  }
  snprintf(out_text + used, size - used, "]");
}
