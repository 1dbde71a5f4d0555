/* SPDX-License-Identifier: Apache-2.0
 *
 * A node of a model as its mapping reads it: attributes and, where they are known before it runs, inputs. ONNX Runtime
 * shows a node in two ways, as part of a graph when it asks who takes it, and to the kernel that is made for it.
 */
#ifndef KEYWAY_ORT_NODE_H
#define KEYWAY_ORT_NODE_H

#include <keyway/keyway.h>

#include "ort_tables.h"

#define NODE_MAX_INTS 64

typedef struct attribute {
  const char *name; /* of the mapping: lives as long as the library */
  struct attribute *next;
  OrtOpAttrType type; /* ORT_OP_ATTR_UNDEFINED: the node has none of this name */
  unsigned count;     /* of ints, or of floats */
  int64_t ints[NODE_MAX_INTS];
  float floats[NODE_MAX_INTS];
  char text[256];
  OrtValue *tensor;
} attribute;

typedef struct node {
  const OrtNode *in_graph;         /* one of the two is set */
  OrtKernelInfo *of_kernel;        /* the node's own copy */
  _Atomic(attribute *) attributes; /* that were asked for already; only added to */
  unsigned output_count;
} node;

void node_end(node *node);

/* Of the types asked for: other ones, and none, give `otherwise`. */
int64_t node_int(node *node, const char *name, int64_t otherwise);
double node_float(node *node, const char *name, double otherwise);
const char *node_text(node *node, const char *name, const char *otherwise);
/* NULL where the node has none. */
const int64_t *node_ints(node *node, const char *name, unsigned *out_count);
const float *node_floats(node *node, const char *name, unsigned *out_count);
const OrtValue *node_tensor(node *node, const char *name);
bool node_has(node *node, const char *name);

/* KW_DTYPE_NONE where Keyway has no such dtype, and the other way round. */
kw_dtype node_dtype_of(ONNXTensorElementDataType type);

#endif
