/* SPDX-License-Identifier: Apache-2.0
 *
 * The model's tensors on the device, the call of an op by its name, and the comparison of results with those recorded.
 */
#include "model.h"
#include "numbers.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void model_fail(struct model *model, kw_status status, const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(model->error, sizeof model->error, format, list);
  va_end(list);
  model->status = status;
  longjmp(*model->escape, 1);
}

/* Ends the run when a call failed; Keyway has the text. */
static void check(struct model *model, kw_status status) {
  if (status != KW_OK) {
    model_fail(model, status, "%s", kw_error_message());
  }
}

static void *allocate(struct model *model, void *old, size_t count, size_t size) {
  void *memory = reallocarray(old, count > 0 ? count : 1, size);
  if (memory == NULL) {
    model_fail(model, KW_ERR_OUT_OF_MEMORY, "out of memory");
  }
  return memory;
}

/* ---- Tensors ----------------------------------------------------------------------------------------------------- */

/* NULL when there is none. */
static struct model_tensor *find(const struct model *model, const char *name) {
  for (size_t i = 0; i < model->tensor_count; ++i) {
    if (strcmp(model->tensors[i].name, name) == 0) {
      return &model->tensors[i];
    }
  }
  return NULL;
}

static struct model_tensor *need(struct model *model, const char *name) {
  struct model_tensor *found = find(model, name);
  if (found == NULL) {
    model_fail(model, KW_ERR_NOT_FOUND, "no tensor '%s' is recorded for %s", name, model->name);
  }
  return found;
}

/* What the last named parameter and those behind it say, as printf. */
#define PRINT_NAME(text, format)                \
  char text[MODEL_NAME];                        \
  do {                                          \
    va_list list;                               \
    va_start(list, format);                     \
    vsnprintf(text, sizeof text, format, list); \
    va_end(list);                               \
  } while (0)

bool model_has(const struct model *model, const char *name, ...) {
  PRINT_NAME(text, name);
  return find(model, text) != NULL;
}

int64_t model_size(struct model *model, size_t index) {
  const struct model_tensor *sizes = need(model, "sizes");
  return index < sizes->numel ? ((const int64_t *)sizes->recorded)[index] : 0;
}

/* The model lets go of it by model_forget. */
static kw_tensor *own(struct model *model, kw_tensor *tensor) {
  if (tensor != NULL) {
    model->owned = allocate(model, model->owned, model->owned_count + 1, sizeof(kw_tensor *));
    model->owned[model->owned_count++] = tensor;
  }
  return tensor;
}

/* The elements as the device gets them; the caller's to free. */
static void *elements_of(struct model *model, const struct model_tensor *tensor, kw_dtype dtype) {
  void *elements = allocate(model, NULL, tensor->numel, sizeof(float));
  const float *recorded = tensor->recorded;
  const uint64_t seed = number_seed(model, tensor);
  for (size_t i = 0; i < tensor->numel; ++i) {
    number_put(dtype, elements, i, recorded == NULL ? number_draw(seed, tensor, i) : (double)recorded[i]);
  }
  return elements;
}

kw_tensor *model_get(struct model *model, const char *name, ...) {
  PRINT_NAME(text, name);
  struct model_tensor *found = need(model, text);
  if (found->tensor == NULL) {
    const kw_dtype dtype = found->dtype == KW_F32 ? model->dtype : found->dtype;
    check(model, kw_tensor_create(model->device, dtype, found->rank, found->shape, &found->tensor));
    void *elements = found->dtype == KW_F32 ? elements_of(model, found, dtype) : NULL;
    const kw_status status = kw_tensor_write(found->tensor, elements != NULL ? elements : found->recorded);
    free(elements);
    check(model, status);
  }
  return found->tensor;
}

/* ---- Comparison -------------------------------------------------------------------------------------------------- */

static bool same_shape(const kw_tensor_ref *ref, uint32_t rank, const int64_t *shape) {
  return ref->rank == rank && (rank == 0 || memcmp(ref->shape, shape, rank * sizeof *shape) == 0);
}

/* The norm of the difference, relative to that of what is recorded: all elements, or a sample of them. */
static double error_of(struct model *model, const kw_tensor *tensor, const char *name) {
  const kw_tensor_ref *ref = kw_tensor_describe(tensor);
  const struct model_tensor *expected = find(model, name);
  bool same = expected != NULL && same_shape(ref, expected->rank, expected->shape);
  if (expected == NULL) {
    char text[MODEL_NAME + 8];
    snprintf(text, sizeof text, "shape %s", name);
    const struct model_tensor *shape = need(model, text);
    same = same_shape(ref, (uint32_t)shape->numel, shape->recorded);
    snprintf(text, sizeof text, "sample %s", name);
    expected = need(model, text);
  }
  if (!same || ref->dtype != model->dtype) {
    return INFINITY;
  }
  void *got = allocate(model, NULL, (size_t)ref->numel, sizeof(float));
  const kw_status status = kw_tensor_read(tensor, got);
  double off = 0, norm = 0;
  for (size_t i = 0; status == KW_OK && i < expected->numel; ++i) {
    const size_t at = number_sample(i, expected->numel, (size_t)ref->numel);
    const double want = (double)((const float *)expected->recorded)[i];
    const double difference = number_take(model->dtype, got, at) - want;
    off += difference * difference;
    norm += want * want;
  }
  free(got);
  check(model, status);
  return isnan(off) ? (double)INFINITY : sqrt(off / norm);
}

static void compare(struct model *model, const kw_tensor *tensor, const char *plain_name) {
  static const char *const steps[] = {"", "", "second ", "third "};
  char name[MODEL_NAME], yardstick[MODEL_NAME + 8];
  snprintf(name, sizeof name, "%s%s", steps[model->step], plain_name);
  snprintf(yardstick, sizeof yardstick, "error %s", name);
  if (model->dry || (model->step > 1 && !model_has(model, "%s", yardstick))) {
    return;
  }
  const float *honest = need(model, yardstick)->recorded; /* in f32, f16, bf16 */
  const double bound = MODEL_FACTOR * (double)honest[model->dtype == KW_F32 ? 0 : model->dtype == KW_F16 ? 1 : 2];
  const double error = error_of(model, tensor, name);
  model->results = allocate(model, model->results, model->checked + 1, sizeof *model->results);
  struct model_result *result = &model->results[model->checked++];
  *result = (struct model_result){.error = error, .bound = bound};
  snprintf(result->name, sizeof result->name, "%s", name);
  model->wrong += error <= bound ? 0 : 1;
}

void model_check(struct model *model, const kw_tensor *tensor, const char *name, ...) {
  PRINT_NAME(text, name);
  compare(model, tensor, text);
}

void model_set_gradient(struct model *model, kw_tensor *gradient, const char *name, ...) {
  PRINT_NAME(text, name);
  need(model, text)->gradient = gradient;
  model_check(model, gradient, "grad %s", text);
}

uint32_t model_get_parameters(struct model *model, kw_tensor *out_parameters[MODEL_PARAMETERS],
                              kw_tensor *out_gradients[MODEL_PARAMETERS]) {
  uint32_t count = 0;
  for (size_t i = 0; i < model->tensor_count; ++i) {
    if (model->tensors[i].gradient != NULL) {
      if (count == MODEL_PARAMETERS) {
        model_fail(model, KW_ERR_INTERNAL, "%s has more than %d parameters; make MODEL_PARAMETERS larger", model->name,
                   MODEL_PARAMETERS);
      }
      out_parameters[count] = model->tensors[i].tensor;
      out_gradients[count++] = model->tensors[i].gradient;
    }
  }
  return count;
}

kw_tensor **model_get_averages(struct model *model, int which, kw_tensor *const *parameters, uint32_t count,
                               double value) {
  kw_tensor **averages = model->averages[which];
  for (uint32_t i = 0; i < count && averages[i] == NULL; ++i) {
    const kw_tensor_ref *parameter = kw_tensor_describe(parameters[i]);
    averages[i] = model_full(model, model->dtype, parameter->rank, parameter->shape, value);
    --model->owned_count; /* outlives the step */
  }
  return averages;
}

void model_check_parameters(struct model *model) {
  for (size_t i = 0; i < model->tensor_count; ++i) {
    if (model->tensors[i].gradient != NULL) {
      model_check(model, model->tensors[i].tensor, "next %s", model->tensors[i].name);
    }
  }
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

static void note_lacking(struct model *model, const char *op) {
  const size_t used = strlen(model->lacking), length = strlen(op);
  for (const char *at = model->lacking; (at = strstr(at, op)) != NULL; at += length) {
    const bool whole = (at == model->lacking || at[-1] == ' ') && (at[length] == '\0' || at[length] == ',');
    if (whole) {
      return;
    }
  }
  snprintf(model->lacking + used, sizeof model->lacking - used, "%s%s", used > 0 ? ", " : "", op);
}

/* Results of the right shape, without contents; and whether the device can run the call. */
static void call_dry(struct model *model, const char *name, const kw_op *op, const kw_value *args, uint32_t arg_count,
                     kw_tensor **outs, uint32_t out_count) {
  kw_tensor_ref results[MODEL_RESULTS];
  kw_tensor_ref *pointers[MODEL_RESULTS];
  for (uint32_t i = 0; i < MODEL_RESULTS; ++i) {
    results[i] = (kw_tensor_ref){.struct_size = sizeof results[i]};
    pointers[i] = &results[i];
  }
  kw_op_info info = {.struct_size = sizeof info};
  check(model, kw_op_get_info(op, &info));
  check(model, kw_op_infer(op, args, arg_count, pointers, info.result_count));
  const kw_status status = kw_op_can_run(op, model->device, args, arg_count, NULL);
  if (status == KW_ERR_NOT_IMPLEMENTED) {
    note_lacking(model, name);
  } else {
    check(model, status);
  }
  for (uint32_t i = 0; i < out_count; ++i) {
    if (results[i].dtype != KW_DTYPE_NONE) {
      check(model, kw_tensor_create(model->device, results[i].dtype, results[i].rank, results[i].shape, &outs[i]));
    }
  }
}

void model_call(struct model *model, const char *name, const kw_value *args, uint32_t arg_count, kw_tensor **outs,
                uint32_t out_count) {
  const kw_op *op = kw_op_find(name);
  if (op == NULL) {
    model_fail(model, KW_ERR_NOT_FOUND, "this Keyway has no op '%s'; keyway ops lists those it has", name);
  }
  for (uint32_t i = 0; i < out_count; ++i) {
    outs[i] = NULL;
  }
  if (model->dry) {
    call_dry(model, name, op, args, arg_count, outs, out_count);
  } else {
    check(model, kw_op_call(op, kw_stream_default(model->device), args, arg_count, outs, out_count));
  }
  for (uint32_t i = 0; i < out_count; ++i) {
    own(model, outs[i]);
  }
}

kw_tensor *model_call_one(struct model *model, const char *op, const kw_value *args, uint32_t arg_count) {
  kw_tensor *out;
  model_call(model, op, args, arg_count, &out, 1);
  return out;
}

kw_tensor *model_full(struct model *model, kw_dtype dtype, uint32_t rank, const int64_t *shape, double value) {
  return MODEL_OP(model, "full", kw_arg_int_list(shape, rank), kw_arg_scalar_f64(value), kw_arg_dtype(dtype));
}

kw_tensor *model_view(struct model *model, const kw_tensor *tensor, uint32_t rank, const int64_t *shape) {
  kw_tensor *view = NULL;
  check(model, kw_tensor_view(tensor, rank, shape, &view));
  return own(model, view);
}

kw_tensor *model_transpose(struct model *model, const kw_tensor *tensor, int64_t dim0, int64_t dim1) {
  kw_tensor *view = NULL;
  check(model, kw_tensor_transpose(tensor, dim0, dim1, &view));
  return own(model, view);
}

kw_tensor *model_slice(struct model *model, const kw_tensor *tensor, int64_t dim, int64_t start, int64_t end) {
  kw_tensor *view = NULL;
  check(model, kw_tensor_slice(tensor, dim, start, end, 1, &view));
  return own(model, view);
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

void model_release_temporaries(struct model *model) {
  for (size_t i = 0; i < model->owned_count; ++i) {
    kw_tensor_release(model->owned[i]);
  }
  model->owned_count = 0;
}

void model_forget(struct model *model) {
  model_release_temporaries(model);
  for (size_t i = 0; i < model->tensor_count; ++i) {
    kw_tensor_release(model->tensors[i].tensor);
    model->tensors[i].tensor = model->tensors[i].gradient = NULL;
  }
  for (size_t i = 0; i < MODEL_PARAMETERS; ++i) {
    kw_tensor_release(model->averages[0][i]);
    kw_tensor_release(model->averages[1][i]);
    model->averages[0][i] = model->averages[1][i] = NULL;
  }
}

void model_close(struct model *model) {
  model_forget(model);
  for (size_t i = 0; i < model->tensor_count; ++i) {
    free(model->tensors[i].recorded);
  }
  free(model->owned);
  free(model->tensors);
  free(model->results);
  model->owned = NULL;
  model->tensors = NULL;
  model->results = NULL;
  model->tensor_count = 0;
}
