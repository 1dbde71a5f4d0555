/* SPDX-License-Identifier: Apache-2.0
 *
 * Attributes of a node are read when they are first asked for, and kept: what a mapping asks for is the same each time
 * it runs.
 */
#include "node.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "provider.h"

static const kw_dtype dtypes[] = {
    [ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED] = KW_DTYPE_NONE,
    [ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT] = KW_F32,
    [ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8] = KW_U8,
    [ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8] = KW_I8,
    [ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16] = KW_U16,
    [ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16] = KW_I16,
    [ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32] = KW_I32,
    [ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64] = KW_I64,
    [ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING] = KW_DTYPE_NONE,
    [ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL] = KW_BOOL,
    [ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16] = KW_F16,
    [ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE] = KW_F64,
    [ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32] = KW_U32,
    [ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64] = KW_U64,
    [ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64] = KW_C64,
    [ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128] = KW_C128,
    [ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16] = KW_BF16,
    [ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FN] = KW_F8E4M3FN,
    [ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FNUZ] = KW_F8E4M3FNUZ,
    [ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2] = KW_F8E5M2,
    [ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2FNUZ] = KW_F8E5M2FNUZ,
};

kw_dtype node_dtype_of(ONNXTensorElementDataType type) {
  return (unsigned)type < sizeof dtypes / sizeof *dtypes ? dtypes[type] : KW_DTYPE_NONE;
}

/* Whether a call of ONNX Runtime went well; what it says otherwise (there is no such attribute) is of no interest. */
static bool went_well(OrtStatus *status) {
  if (status) kw_ort->ReleaseStatus(status);
  return status == NULL;
}

static void read_in_graph(const OrtNode *in_graph, attribute *a) {
  const OrtOpAttr *found = NULL;
  OrtOpAttrType type = ORT_OP_ATTR_UNDEFINED;
  size_t bytes = 0;
  bool read = false;
  if (!went_well(kw_ort->Node_GetAttributeByName(in_graph, a->name, &found)) || !found) return;
  if (!went_well(kw_ort->OpAttr_GetType(found, &type))) return;
  switch (type) {
    case ORT_OP_ATTR_INT:
    case ORT_OP_ATTR_INTS:
      read = went_well(kw_ort->ReadOpAttr(found, type, a->ints, sizeof a->ints, &bytes));
      a->count = (unsigned)(bytes / sizeof *a->ints);
      break;
    case ORT_OP_ATTR_FLOAT:
    case ORT_OP_ATTR_FLOATS:
      read = went_well(kw_ort->ReadOpAttr(found, type, a->floats, sizeof a->floats, &bytes));
      a->count = (unsigned)(bytes / sizeof *a->floats);
      break;
    case ORT_OP_ATTR_STRING:
      read = went_well(kw_ort->ReadOpAttr(found, type, a->text, sizeof a->text - 1, &bytes));
      break;
    case ORT_OP_ATTR_TENSOR:
      read = went_well(kw_ort->OpAttr_GetTensorAttributeAsOrtValue(found, &a->tensor));
      break;
    default:
      break;
  }
  if (read) a->type = type;
}

static void read_of_kernel(const OrtKernelInfo *info, attribute *a) {
  OrtAllocator *host = NULL;
  size_t count = NODE_MAX_INTS;
  if (went_well(kw_ort->KernelInfoGetAttribute_int64(info, a->name, a->ints))) {
    a->type = ORT_OP_ATTR_INT, a->count = 1;
  } else if (went_well(kw_ort->KernelInfoGetAttribute_float(info, a->name, a->floats))) {
    a->type = ORT_OP_ATTR_FLOAT, a->count = 1;
  } else if (went_well(kw_ort->KernelInfoGetAttributeArray_int64(info, a->name, a->ints, &count)) && count > 0) {
    a->type = ORT_OP_ATTR_INTS, a->count = (unsigned)count;
  } else if (count = NODE_MAX_INTS,
             went_well(kw_ort->KernelInfoGetAttributeArray_float(info, a->name, a->floats, &count)) && count > 0) {
    a->type = ORT_OP_ATTR_FLOATS, a->count = (unsigned)count;
  } else if (count = sizeof a->text, went_well(kw_ort->KernelInfoGetAttribute_string(info, a->name, a->text, &count))) {
    a->type = ORT_OP_ATTR_STRING;
  } else if (went_well(kw_ort->GetAllocatorWithDefaultOptions(&host)) &&
             went_well(kw_ort->KernelInfoGetAttribute_tensor(info, a->name, host, &a->tensor))) {
    a->type = ORT_OP_ATTR_TENSOR;
  }
}

/* Two threads that ask for the same attribute first may both read it: then it is there twice, alike. */
static attribute *look_up(node *node, const char *name) {
  attribute *a = atomic_load(&node->attributes);
  for (; a; a = a->next)
    if (a->name == name || strcmp(a->name, name) == 0) return a;
  a = calloc(1, sizeof *a);
  if (!a) return NULL;
  a->name = name;
  if (node->in_graph) {
    read_in_graph(node->in_graph, a);
  } else {
    read_of_kernel(node->of_kernel, a);
  }
  a->next = atomic_load(&node->attributes);
  while (!atomic_compare_exchange_weak(&node->attributes, &a->next, a)) continue;
  return a;
}

void node_end(node *node) {
  attribute *a = atomic_load(&node->attributes), *next;
  for (; a; a = next) {
    next = a->next;
    if (a->tensor) kw_ort->ReleaseValue(a->tensor);
    free(a);
  }
  if (node->of_kernel) kw_ort->ReleaseKernelInfo(node->of_kernel);
}

int64_t node_int(node *node, const char *name, int64_t otherwise) {
  const attribute *a = look_up(node, name);
  return a && a->type == ORT_OP_ATTR_INT ? a->ints[0] : otherwise;
}

double node_float(node *node, const char *name, double otherwise) {
  const attribute *a = look_up(node, name);
  return a && a->type == ORT_OP_ATTR_FLOAT ? (double)a->floats[0] : otherwise;
}

const char *node_text(node *node, const char *name, const char *otherwise) {
  const attribute *a = look_up(node, name);
  return a && a->type == ORT_OP_ATTR_STRING ? a->text : otherwise;
}

const int64_t *node_ints(node *node, const char *name, unsigned *out_count) {
  const attribute *a = look_up(node, name);
  const bool has = a && (a->type == ORT_OP_ATTR_INTS || a->type == ORT_OP_ATTR_INT);
  *out_count = has ? a->count : 0;
  return has ? a->ints : NULL;
}

const float *node_floats(node *node, const char *name, unsigned *out_count) {
  const attribute *a = look_up(node, name);
  const bool has = a && (a->type == ORT_OP_ATTR_FLOATS || a->type == ORT_OP_ATTR_FLOAT);
  *out_count = has ? a->count : 0;
  return has ? a->floats : NULL;
}

const OrtValue *node_tensor(node *node, const char *name) {
  const attribute *a = look_up(node, name);
  return a && a->type == ORT_OP_ATTR_TENSOR ? a->tensor : NULL;
}

bool node_has(node *node, const char *name) {
  const attribute *a = look_up(node, name);
  return a && a->type != ORT_OP_ATTR_UNDEFINED;
}
