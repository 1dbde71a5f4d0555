/* SPDX-License-Identifier: Apache-2.0
 *
 * The recorded tensors in a list, the call of an op by its name, and the comparison of results with those recorded.
 */
#include "model.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

__attribute__((noreturn, format(printf, 2, 3))) static void fail(int exit_status, const char *format, ...) {
  va_list list;
  va_start(list, format);
  vfprintf(stderr, format, list);
  va_end(list);
  fputc('\n', stderr);
  exit(exit_status);
}

/* Ends the program when a call failed; Keyway has the text. */
static void check(kw_status status, int exit_status) {
  if (status != KW_OK) {
    fail(exit_status, "%s", kw_error_message());
  }
}

static void *allocate(void *old, size_t count, size_t size) {
  void *memory = reallocarray(old, count > 0 ? count : 1, size);
  if (memory == NULL) {
    fail(1, "out of memory");
  }
  return memory;
}

/* ---- Recorded tensors -------------------------------------------------------------------------------------------- */

/* One array in NumPy's .npy format, version 1.0: "\x93NUMPY", version, length of a header, the header (a literal of
 * Python), then the elements. */
struct array {
  char type[8]; /* "<f4", "<i8", "|S12" */
  uint32_t rank;
  int64_t shape[KW_MAX_RANK];
  size_t numel;
  char *elements;
};

/* The elements' size is the number behind the type's letter. Ends with a NUL that is not counted, for the sake of
 * names. False at the end of the file. */
static bool read_array(FILE *file, const char *path, struct array *out_array) {
  unsigned char lead[10];
  size_t got = fread(lead, 1, sizeof lead, file);
  if (got == 0) {
    return false;
  }
  char header[4096];
  size_t length = got == sizeof lead ? lead[8] | (size_t)lead[9] << 8 : 0;
  if (got != sizeof lead || memcmp(lead, "\x93NUMPY\x01", 7) != 0 || length >= sizeof header ||
      fread(header, 1, length, file) != length) {
    fail(2, "%s: is not made of .npy arrays of version 1.0; write it again with record.py", path);
  }
  header[length] = '\0';

  struct array array = {.numel = 1};
  const char *type = strstr(header, "'descr': '");
  const char *shape = strstr(header, "'shape': (");
  size_t size = 0;
  if (type == NULL || sscanf(type, "'descr': '%7[^']", array.type) != 1 || sscanf(array.type, "%*2c%zu", &size) != 1 ||
      shape == NULL || strstr(header, "'fortran_order': False") == NULL) {
    fail(2, "%s: does not know an array like this: %s", path, header);
  }
  long long extent;
  int used;
  for (shape += strlen("'shape': ("); sscanf(shape, "%lld%n", &extent, &used) == 1;
       shape += used + (shape[used] == ',')) {
    if (array.rank == KW_MAX_RANK || extent < 0) {
      fail(2, "%s: does not know an array like this: %s", path, header);
    }
    array.shape[array.rank++] = extent;
    array.numel *= (size_t)extent;
  }
  array.elements = allocate(NULL, array.numel * size + 1, 1);
  array.elements[array.numel * size] = '\0';
  if (fread(array.elements, size, array.numel, file) != array.numel) {
    fail(2, "%s: ends within an array; write it again with record.py", path);
  }
  *out_array = array;
  return true;
}

/* A file is a sequence of names and tensors, an array each. */
static void read_tensors(struct model *model, const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    fail(2, "%s: cannot be read; --recorded names the directory of the recorded tensors", path);
  }
  struct array name, values;
  while (read_array(file, path, &name)) {
    if (name.type[1] != 'S' || !read_array(file, path, &values)) {
      fail(2, "%s: is not a sequence of names and tensors; write it again with record.py", path);
    }
    struct model_tensor tensor = {.rank = values.rank, .numel = values.numel, .recorded = values.elements};
    tensor.dtype = strcmp(values.type, "<f4") == 0 ? KW_F32 : strcmp(values.type, "<i8") == 0 ? KW_I64 : KW_DTYPE_NONE;
    if (tensor.dtype == KW_DTYPE_NONE) {
      fail(2, "%s: tensor '%s' is neither f32 nor i64 but %s", path, name.elements, values.type);
    }
    snprintf(tensor.name, sizeof tensor.name, "%s", name.elements);
    memcpy(tensor.shape, values.shape, sizeof tensor.shape);
    free(name.elements);
    model->tensors = allocate(model->tensors, model->tensor_count + 1, sizeof *model->tensors);
    model->tensors[model->tensor_count++] = tensor;
  }
  fclose(file);
}

/* NULL when there is none. */
static struct model_tensor *find(const struct model *model, const char *name) {
  for (size_t i = 0; i < model->tensor_count; ++i) {
    if (strcmp(model->tensors[i].name, name) == 0) {
      return &model->tensors[i];
    }
  }
  return NULL;
}

static struct model_tensor *need(const struct model *model, const char *name) {
  struct model_tensor *found = find(model, name);
  if (found == NULL) {
    fail(1, "no tensor '%s' is recorded for %s", name, model->name);
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

static kw_tensor *own(struct model *model, kw_tensor *tensor) {
  model->owned = allocate(model->owned, model->owned_count + 1, sizeof(kw_tensor *));
  model->owned[model->owned_count++] = tensor;
  return tensor;
}

kw_tensor *model_get(struct model *model, const char *name, ...) {
  PRINT_NAME(text, name);
  struct model_tensor *found = need(model, text);
  if (found->tensor == NULL) {
    check(kw_tensor_create(model->device, found->dtype, found->rank, found->shape, &found->tensor), 1);
    own(model, found->tensor);
    check(kw_tensor_write(found->tensor, found->recorded), 1);
  }
  return found->tensor;
}

/* ---- Comparison -------------------------------------------------------------------------------------------------- */

static void compare(struct model *model, const kw_tensor *tensor, const char *name) {
  const struct model_tensor *expected = need(model, name);
  const kw_tensor_ref *ref = kw_tensor_describe(tensor);
  bool ok = ref->dtype == KW_F32 && expected->dtype == KW_F32 && ref->rank == expected->rank;
  for (uint32_t i = 0; ok && i < ref->rank; ++i) {
    ok = ref->shape[i] == expected->shape[i];
  }
  ++model->checked;
  if (!ok) {
    ++model->wrong;
    printf("%-44s has another shape or dtype than recorded\n", name);
    return;
  }

  const float *want = expected->recorded;
  float *got = allocate(NULL, expected->numel, sizeof *got);
  check(kw_tensor_read(tensor, got), 1);
  double largest = 0, error = 0;
  for (size_t i = 0; i < expected->numel; ++i) {
    largest = fmax(largest, fabs((double)want[i]));
    double off = fabs((double)got[i] - want[i]);
    error = isnan(off) ? INFINITY : fmax(error, off);
  }
  free(got);
  ok = error <= MODEL_BOUND * largest;
  model->wrong += ok ? 0 : 1;
  printf("%-44s off by %.1e of %.1e%s\n", name, error, largest, ok ? "" : "   <-- too far");
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

uint32_t model_get_parameters(const struct model *model, kw_tensor *out_parameters[MODEL_PARAMETERS],
                              kw_tensor *out_gradients[MODEL_PARAMETERS]) {
  uint32_t count = 0;
  for (size_t i = 0; i < model->tensor_count; ++i) {
    if (model->tensors[i].gradient != NULL) {
      if (count == MODEL_PARAMETERS) {
        fail(1, "%s has more than %d parameters; make MODEL_PARAMETERS larger", model->name, MODEL_PARAMETERS);
      }
      out_parameters[count] = model->tensors[i].tensor;
      out_gradients[count++] = model->tensors[i].gradient;
    }
  }
  return count;
}

void model_check_parameters(struct model *model) {
  for (size_t i = 0; i < model->tensor_count; ++i) {
    if (model->tensors[i].gradient != NULL) {
      model_check(model, model->tensors[i].tensor, "next %s", model->tensors[i].name);
    }
  }
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

void model_call(struct model *model, const char *op, const kw_value *args, uint32_t arg_count, kw_tensor **outs,
                uint32_t out_count) {
  const kw_op *found = kw_op_find(op);
  if (found == NULL) {
    fail(1, "this Keyway has no op '%s'; keyway ops lists those it has", op);
  }
  for (uint32_t i = 0; i < out_count; ++i) {
    outs[i] = NULL;
  }
  check(kw_op_call(found, kw_stream_default(model->device), args, arg_count, outs, out_count), 1);
  for (uint32_t i = 0; i < out_count; ++i) {
    own(model, outs[i]);
  }
}

kw_tensor *model_call_one(struct model *model, const char *op, const kw_value *args, uint32_t arg_count) {
  kw_tensor *out;
  model_call(model, op, args, arg_count, &out, 1);
  return out;
}

kw_tensor *model_full(struct model *model, uint32_t rank, const int64_t *shape, double value) {
  return MODEL_OP(model, "full", kw_arg_int_list(shape, rank), kw_arg_scalar_f64(value), kw_arg_dtype(KW_F32));
}

kw_tensor *model_view(struct model *model, const kw_tensor *tensor, uint32_t rank, const int64_t *shape) {
  kw_tensor *view;
  check(kw_tensor_view(tensor, rank, shape, &view), 1);
  return own(model, view);
}

kw_tensor *model_transpose(struct model *model, const kw_tensor *tensor, int64_t dim0, int64_t dim1) {
  kw_tensor *view;
  check(kw_tensor_transpose(tensor, dim0, dim1, &view), 1);
  return own(model, view);
}

kw_tensor *model_slice(struct model *model, const kw_tensor *tensor, int64_t dim, int64_t start, int64_t end) {
  kw_tensor *view;
  check(kw_tensor_slice(tensor, dim, start, end, 1, &view), 1);
  return own(model, view);
}

/* ---- Beginning and end ------------------------------------------------------------------------------------------- */

void model_open(struct model *model, int argc, char **argv, const char *usage, const char *const *names) {
  const char *device = "auto", *recorded = RECORDED;
  *model = (struct model){.name = names[1] == NULL ? names[0] : NULL};
  for (int i = 1; i < argc; ++i) {
    const char *const *name = names;
    while (*name != NULL && strcmp(*name, argv[i]) != 0) {
      ++name;
    }
    if (strcmp(argv[i], "--help") == 0) {
      fputs(usage, stdout);
      exit(0);
    }
    if (strcmp(argv[i], "--train") == 0) {
      model->train = true;
    } else if (strcmp(argv[i], "--device") == 0 && i + 1 < argc) {
      device = argv[++i];
    } else if (strcmp(argv[i], "--plugin") == 0 && i + 1 < argc) {
      check(kw_plugin_load(argv[++i]), 2);
    } else if (strcmp(argv[i], "--recorded") == 0 && i + 1 < argc) {
      recorded = argv[++i];
    } else if (*name != NULL) {
      model->name = *name;
    } else {
      fail(2, "%s: cannot make sense of '%s'; see %s --help", argv[0], argv[i], argv[0]);
    }
  }
  if (model->name == NULL) {
    fail(2, "%s: does not say which model; see %s --help", argv[0], argv[0]);
  }
  char path[4096];
  snprintf(path, sizeof path, "%s/%s.tensors", recorded, model->name);
  read_tensors(model, path);
  check(kw_device_open(device, &model->device), 2);
}

int model_close(struct model *model) {
  printf("%s on %s: %u of %u tensors within %g of those recorded\n", model->name, kw_device_name(model->device),
         model->checked - model->wrong, model->checked, MODEL_BOUND);
  for (size_t i = 0; i < model->owned_count; ++i) {
    kw_tensor_release(model->owned[i]);
  }
  for (size_t i = 0; i < model->tensor_count; ++i) {
    free(model->tensors[i].recorded);
  }
  free(model->owned);
  free(model->tensors);
  check(kw_device_close(model->device), 1);
  return model->wrong == 0 ? 0 : 1;
}
