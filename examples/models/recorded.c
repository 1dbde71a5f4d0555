/* SPDX-License-Identifier: Apache-2.0
 *
 * What record.py has written, taken apart.
 */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One array in NumPy's .npy format, version 1.0: "\x93NUMPY", version, length of a header, the header (a literal of
 * Python), then the elements. */
struct array {
  char type[8]; /* "<f4", "<i8", "|b1", "|S12" */
  uint32_t rank;
  int64_t shape[KW_MAX_RANK];
  size_t numel, size;
  const char *elements; /* not aligned */
};

struct bytes {
  struct model *model;
  const char *at;
  size_t left;
};

__attribute__((noreturn)) static void malformed(const struct bytes *bytes) {
  model_fail(bytes->model, KW_ERR_INVALID_ARGUMENT,
             "what is recorded for %s is not as record.py writes it; write it again with that", bytes->model->name);
}

static const char *take(struct bytes *bytes, size_t size) {
  if (bytes->left < size) {
    malformed(bytes);
  }
  const char *taken = bytes->at;
  bytes->at += size;
  bytes->left -= size;
  return taken;
}

/* The elements' size is the number behind the type's letter. */
static struct array take_array(struct bytes *bytes) {
  const unsigned char *lead = (const unsigned char *)take(bytes, 10);
  char header[4096];
  const size_t length = lead[8] | (size_t)lead[9] << 8;
  if (memcmp(lead, "\x93NUMPY\x01", 7) != 0 || length >= sizeof header) {
    malformed(bytes);
  }
  memcpy(header, take(bytes, length), length);
  header[length] = '\0';

  struct array array = {.numel = 1};
  const char *type = strstr(header, "'descr': '");
  const char *shape = strstr(header, "'shape': (");
  if (type == NULL || sscanf(type, "'descr': '%7[^']", array.type) != 1 ||
      sscanf(array.type, "%*2c%zu", &array.size) != 1 || array.size == 0 || shape == NULL ||
      strstr(header, "'fortran_order': False") == NULL) {
    malformed(bytes);
  }
  long long extent;
  int used;
  for (shape += strlen("'shape': ("); sscanf(shape, "%lld%n", &extent, &used) == 1;
       shape += used + (shape[used] == ',')) {
    if (array.rank == KW_MAX_RANK || extent < 0 || (extent > 0 && array.numel > bytes->left / (size_t)extent)) {
      malformed(bytes);
    }
    array.shape[array.rank++] = extent;
    array.numel *= (size_t)extent;
  }
  if (array.numel > bytes->left / array.size) {
    malformed(bytes);
  }
  array.elements = take(bytes, array.numel * array.size);
  return array;
}

/* "draw NAME": mean, most, exponent, then the shape. */
static void take_draw(struct bytes *bytes, const struct array *array, struct model_tensor *out_tensor) {
  int64_t numbers[3 + KW_MAX_RANK];
  if (strcmp(array->type, "<i8") != 0 || array->rank != 1 || array->numel < 3 || array->numel > 3 + KW_MAX_RANK) {
    malformed(bytes);
  }
  memcpy(numbers, array->elements, array->numel * sizeof *numbers);
  out_tensor->mean = (int)numbers[0];
  out_tensor->most = (int)numbers[1];
  out_tensor->exponent = (int)numbers[2];
  out_tensor->dtype = KW_F32;
  out_tensor->rank = (uint32_t)array->numel - 3;
  out_tensor->numel = 1;
  for (uint32_t i = 0; i < out_tensor->rank; ++i) {
    out_tensor->shape[i] = numbers[3 + i];
    out_tensor->numel *= (size_t)numbers[3 + i];
  }
}

/* A file is a sequence of names and tensors, an array each. */
static void read_all(struct model *model, const void *content, size_t size) {
  struct bytes bytes = {model, content, size};
  while (bytes.left > 0) {
    const struct array name = take_array(&bytes), values = take_array(&bytes);
    struct model_tensor tensor = {.rank = values.rank, .numel = values.numel};
    if (name.type[1] != 'S' || name.size >= sizeof tensor.name) {
      malformed(&bytes);
    }
    memcpy(tensor.name, name.elements, name.size);
    if (strncmp(tensor.name, "draw ", 5) == 0) {
      memmove(tensor.name, tensor.name + 5, sizeof tensor.name - 5);
      take_draw(&bytes, &values, &tensor);
    } else {
      tensor.dtype = strcmp(values.type, "<f4") == 0   ? KW_F32
                     : strcmp(values.type, "<i8") == 0 ? KW_I64
                     : strcmp(values.type, "|b1") == 0 ? KW_BOOL
                                                       : KW_DTYPE_NONE;
      memcpy(tensor.shape, values.shape, sizeof tensor.shape);
      tensor.recorded = malloc(values.numel * values.size + 1);
      if (tensor.dtype == KW_DTYPE_NONE || tensor.recorded == NULL) {
        free(tensor.recorded);
        malformed(&bytes);
      }
      memcpy(tensor.recorded, values.elements, values.numel * values.size);
    }
    struct model_tensor *tensors = reallocarray(model->tensors, model->tensor_count + 1, sizeof *tensors);
    if (tensors == NULL) {
      free(tensor.recorded);
      model_fail(model, KW_ERR_OUT_OF_MEMORY, "out of memory");
    }
    model->tensors = tensors;
    tensors[model->tensor_count++] = tensor;
  }
}

kw_status model_read(struct model *model, const void *content, size_t size) {
  jmp_buf escape;
  model->escape = &escape;
  model->status = KW_OK;
  if (setjmp(escape) == 0) {
    read_all(model, content, size);
  }
  return model->status;
}
