/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs the golden vectors, answers of an independent library (make_golden.py), through kw_op_call and compares dtype,
 * shape and values. Every op of the op table must have vectors.
 *
 *   golden_test DIRECTORY [DEVICE]      default device: cpu:0
 */
#include "judge/compare.h"
#include "number.h"
#include "base/text.h"

#include <keyway/keyway.h>

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ARGS 24
#define MAX_OUTS 32 /* results, and tensors that change and are none */
#define MAX_LIST 8

static uint32_t cases_run, failures;

/* ---- Reading JSON ------------------------------------------------------------------------------------------------ */

static cJSON *read_json(const char *path) {
  char *text;
  if (!kw_text_read_file(path, &text)) return NULL;
  cJSON *json = cJSON_Parse(text);
  free(text);
  return json;
}

static const cJSON *member(const cJSON *object, const char *name) {
  return cJSON_GetObjectItemCaseSensitive(object, name);
}

/* Numbers that JSON cannot say (nan, inf, integers past 2^53) are texts. */
static double as_double(const cJSON *value) {
  if (cJSON_IsBool(value)) return cJSON_IsTrue(value);
  return cJSON_IsString(value) ? strtod(value->valuestring, NULL) : value->valuedouble;
}

static int64_t as_int(const cJSON *value) {
  if (cJSON_IsBool(value)) return cJSON_IsTrue(value);
  return cJSON_IsString(value) ? strtoll(value->valuestring, NULL, 10) : (int64_t)value->valuedouble;
}

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

/* What the arguments of one call need to live. */
typedef struct call {
  kw_device *device;
  kw_value args[MAX_ARGS];
  uint32_t arg_count;
  kw_tensor *tensors[MAX_ARGS * MAX_LIST];
  uint32_t tensor_count;
  kw_tensor *of_arg[MAX_ARGS];
  kw_tensor *lists[MAX_ARGS][MAX_LIST];
  int64_t ints[MAX_ARGS][MAX_LIST];
} call;

static kw_tensor *make_tensor(call *c, const cJSON *json) {
  const kw_dtype dtype = kw_dtype_from_name(member(json, "dtype")->valuestring);
  const cJSON *item;
  int64_t shape[KW_MAX_RANK], numel = 1;
  uint32_t rank = 0;
  cJSON_ArrayForEach(item, member(json, "shape")) {
    shape[rank++] = as_int(item);
    numel *= shape[rank - 1];
  }
  const size_t size = kw_number_size(dtype);
  char *host = calloc((size_t)numel + 1, size), *at = host;
  if (!host) abort();
  const cJSON *data = member(json, "data");
  if (dtype == KW_C64 || dtype == KW_C128) {
    cJSON_ArrayForEach(item, data) {
      kw_number_store(dtype == KW_C64 ? KW_F32 : KW_F64, at, as_double(item));
      at += size / 2;
    }
  } else {
    cJSON_ArrayForEach(item, data) {
      if (kw_number_is_integer(dtype)) {
        kw_number_store_int(dtype, at, as_int(item));
      } else {
        kw_number_store(dtype, at, as_double(item));
      }
      at += size;
    }
  }
  kw_tensor *tensor = NULL;
  kw_status status = kw_tensor_create(c->device, dtype, rank, shape, &tensor);
  if (status == KW_OK && numel > 0) status = kw_tensor_write(tensor, host);
  free(host);
  if (status != KW_OK) {
    fprintf(stderr, "golden_test: %s\n", kw_error_message());
    exit(1);
  }
  c->tensors[c->tensor_count++] = tensor;
  return tensor;
}

static kw_value make_scalar(const cJSON *json) {
  if (cJSON_IsBool(json)) return kw_arg_scalar_bool(cJSON_IsTrue(json));
  if (cJSON_IsObject(json)) return kw_arg_scalar_f64(as_double(member(json, "float")));
  return kw_arg_scalar_i64(as_int(json));
}

static kw_value make_arg(call *c, uint32_t index, const cJSON *json) {
  const cJSON *item;
  uint32_t count = 0;
  if (cJSON_IsNull(json)) return kw_arg_none();
  if (cJSON_IsBool(json)) return kw_arg_bool(cJSON_IsTrue(json));
  if (cJSON_IsNumber(json)) return kw_arg_int(as_int(json));
  if (cJSON_IsString(json)) return kw_arg_string(json->valuestring);
  if (member(json, "shape")) return kw_arg_tensor(c->of_arg[index] = make_tensor(c, json));
  if (member(json, "scalar")) return make_scalar(member(json, "scalar"));
  if (member(json, "float")) return kw_arg_float(as_double(member(json, "float")));
  if (member(json, "dtype")) return kw_arg_dtype(kw_dtype_from_name(member(json, "dtype")->valuestring));
  if (member(json, "ints")) {
    cJSON_ArrayForEach(item, member(json, "ints")) c->ints[index][count++] = as_int(item);
    return kw_arg_int_list(c->ints[index], count);
  }
  cJSON_ArrayForEach(item, member(json, "tensors")) {
    c->lists[index][count++] = cJSON_IsNull(item) ? NULL : make_tensor(c, item);
  }
  return kw_arg_tensor_list(c->lists[index], count);
}

/* ---- Comparison -------------------------------------------------------------------------------------------------- */

/* The row's bound. Vectors for f64 are only as good as that library's f64: twice the bound and an ULP. */
static kw_rule make_rule(const kw_op_row *row, uint32_t result, const cJSON *c, kw_dtype dtype) {
  const cJSON *terms = member(c, "terms");
  const kw_op_bound bound = kw_op_row_bound(row, result);
  bool wide = dtype == KW_F64;
  kw_rule rule = {.compare = terms ? KW_CMP_ACCUMULATE : KW_CMP_ULP,
                  .ulp = wide ? 2 * bound.ulp + 1 : bound.ulp,
                  .abs = wide ? 2 * bound.abs : bound.abs,
                  .terms = terms ? (uint64_t)as_int(terms) : 0,
                  .zero = KW_SPECIAL_EITHER,
                  .compute = wide ? KW_F64 : KW_F32};
  return rule;
}

static bool element_agrees(const kw_rule *rule, kw_dtype dtype, const char *got, const cJSON *want,
                           const cJSON *magnitude) {
  if (kw_number_is_integer(dtype)) return kw_number_load_int(dtype, got) == as_int(want);
  double error, bound;
  const kw_wide oracle = {as_double(want), 0};
  return kw_compare_element(rule, dtype, got, oracle, magnitude ? as_double(magnitude) : 0, &error, &bound);
}

/* Writes what differs; "" when nothing does. */
static void compare(const kw_op_row *row, uint32_t result, const cJSON *c, const cJSON *want, const kw_tensor *got,
                    char *out_text, size_t size) {
  const kw_tensor_ref *ref = kw_tensor_describe(got);
  kw_dtype dtype = kw_dtype_from_name(member(want, "dtype")->valuestring);
  const cJSON *shape = member(want, "shape"), *value = member(want, "data")->child;
  const cJSON *magnitudes = member(want, "magnitude"), *magnitude = magnitudes ? magnitudes->child : NULL;
  out_text[0] = '\0';
  bool same = ref->dtype == dtype && ref->rank == (uint32_t)cJSON_GetArraySize(shape);
  for (uint32_t d = 0; same && d < ref->rank; ++d) same = ref->shape[d] == as_int(cJSON_GetArrayItem(shape, (int)d));
  if (!same) {
    snprintf(out_text, size, "dtype or shape: %s of rank %u, expected %s", kw_dtype_name(ref->dtype), ref->rank,
             kw_dtype_name(dtype));
    return;
  }
  size_t item = kw_number_size(dtype), parts = 1;
  char *host = calloc((size_t)ref->numel + 1, item);
  if (!host) abort();
  if (ref->numel > 0 && kw_tensor_read(got, host) != KW_OK) snprintf(out_text, size, "%s", kw_error_message());
  if (dtype == KW_C64 || dtype == KW_C128) { /* two numbers each */
    parts = 2;
    item /= 2;
    dtype = dtype == KW_C64 ? KW_F32 : KW_F64;
  }
  const kw_rule rule = make_rule(row, result, c, dtype);
  for (int64_t i = 0; i < ref->numel * (int64_t)parts && !out_text[0]; ++i) {
    const char *at = host + (size_t)i * item;
    if (!value || !element_agrees(&rule, dtype, at, value, magnitude)) {
      double number = kw_number_is_integer(dtype) ? (double)kw_number_load_int(dtype, at) : kw_number_load(dtype, at);
      snprintf(out_text, size, "element %lld is %.17g, expected %.17g", (long long)i, number,
               value ? as_double(value) : 0);
    }
    if (value) value = value->next;
    if (magnitude) magnitude = magnitude->next;
  }
  free(host);
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

static void seed(kw_device *device, const cJSON *rng) {
  if (!rng) return;
  kw_generator_state state = {.struct_size = sizeof state,
                              .seed = strtoull(member(rng, "seed")->valuestring, NULL, 10),
                              .offset = strtoull(member(rng, "offset")->valuestring, NULL, 10)};
  if (kw_generator_set_state(kw_generator_default(device), &state) != KW_OK) abort();
}

/* A tensor that the call changes and does not return, and the number of its argument among such. */
typedef struct changed_tensor {
  const kw_tensor *tensor;
  uint32_t number;
} changed_tensor;

static uint32_t find_changed(const kw_op *op, const call *c, changed_tensor out[MAX_OUTS]) {
  uint32_t count = 0, number = 0;
  kw_arg_info info = {.struct_size = sizeof info};
  for (uint32_t i = 0; kw_op_get_arg(op, i, &info) == KW_OK; ++i, info.struct_size = sizeof info) {
    if ((info.flags & (KW_ARG_MUTATED | KW_ARG_RETURNED)) != KW_ARG_MUTATED) continue;
    const uint32_t entries = c->args[i].tag == KW_TAG_TENSOR_LIST ? c->args[i].count : 1;
    for (uint32_t k = 0; k < entries; ++k) {
      if (count == MAX_OUTS) abort();
      out[count++] = (changed_tensor){info.tag == KW_TAG_TENSOR_LIST ? c->lists[i][k] : c->of_arg[i], number};
    }
    ++number;
  }
  return count;
}

static void run_case(kw_device *device, const kw_op *op, const kw_op_row *row, const char *name, const cJSON *c,
                     uint32_t number) {
  static call one;
  memset(&one, 0, sizeof one);
  one.device = device;
  const cJSON *json;
  cJSON_ArrayForEach(json, member(c, "args")) {
    one.args[one.arg_count] = make_arg(&one, one.arg_count, json);
    one.arg_count++;
  }
  seed(device, member(c, "rng"));
  kw_tensor *outs[MAX_OUTS] = {NULL};
  changed_tensor changed[MAX_OUTS];
  const uint32_t changed_count = find_changed(op, &one, changed);
  const uint32_t out_count = (uint32_t)cJSON_GetArraySize(member(c, "outs")) - changed_count;
  char text[512] = "";
  kw_status status = kw_op_call(op, kw_stream_default(device), one.args, one.arg_count, outs, out_count);
  if (status != KW_OK) snprintf(text, sizeof text, "%s", kw_error_message());
  for (uint32_t o = 0; o < out_count && status == KW_OK && !text[0]; ++o) {
    const int32_t alias = kw_op_result_alias(op, o);
    const kw_tensor *got = alias >= 0 ? one.of_arg[alias] : outs[o];
    const cJSON *want = cJSON_GetArrayItem(member(c, "outs"), (int)o);
    if (cJSON_IsNull(want) != !got) {
      snprintf(text, sizeof text, "result %u is %s", o, got ? "there, expected none" : "absent");
    } else if (got) {
      compare(row, o, c, want, got, text, sizeof text);
    }
  }
  for (uint32_t i = 0; i < changed_count && status == KW_OK && !text[0]; ++i) {
    const cJSON *want = cJSON_GetArrayItem(member(c, "outs"), (int)(out_count + i));
    compare(row, out_count + changed[i].number, c, want, changed[i].tensor, text, sizeof text);
  }
  if (text[0]) {
    fprintf(stderr, "%s, case %u: %s\n", name, number, text);
    ++failures;
  }
  ++cases_run;
  for (uint32_t o = 0; o < out_count; ++o) kw_tensor_release(outs[o]);
  for (uint32_t i = 0; i < one.tensor_count; ++i) kw_tensor_release(one.tensors[i]);
}

/* "keyway::rope" lies in keyway.rope.json. */
static void run_op(kw_device *device, const char *directory, const kw_op_row *row, const char *name) {
  char path[4096];
  const char *colons = strstr(name, "::");
  int space = colons ? (int)(colons - name) : 0;
  snprintf(path, sizeof path, "%s/%.*s%s%s.json", directory, space, name, colons ? "." : "",
           name + (colons ? space + 2 : 0));
  cJSON *json = read_json(path);
  const cJSON *list = member(json, "cases"), *c;
  const kw_op *op = kw_op_find(name);
  if (!op || cJSON_GetArraySize(list) == 0) {
    fprintf(stderr, "%s: no golden vectors in %s; add cases to make_golden.py and run it\n", name, path);
    ++failures;
  }
  uint32_t number = 0;
  cJSON_ArrayForEach(c, list) run_case(device, op, row, name, c, number++);
  cJSON_Delete(json);
}

int main(int argc, char **argv) {
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: golden_test DIRECTORY [DEVICE]\n");
    return 2;
  }
  kw_device *device;
  if (kw_device_open(argc > 2 ? argv[2] : "cpu:0", &device) != KW_OK) {
    fprintf(stderr, "golden_test: %s\n", kw_error_message());
    return 2;
  }
  for (uint32_t i = 0; i < kw_op_table_count; ++i) {
    const kw_op_row *row = &kw_op_table[i];
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(row->schema, "("), row->schema);
    run_op(device, argv[1], row, name);
  }
  kw_device_close(device);
  printf("golden vectors: %u cases of %u ops, %u failures\n", cases_run, kw_op_table_count, failures);
  return failures ? 1 : 0;
}
