/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of models, read from text (models.def):
 *
 *     y[8,3], mean[8,1] = some_op(x[8,3], w[3,5]/[1,3]+2, [1,2], {a, b}, 0.5, none)
 *
 * A tensor is a name, its shape where it is another than at the name's first place, strides behind '/' where it is not
 * dense, and how many elements further on it starts; at first it may have a dtype (f32 otherwise), "<11" for indices
 * below 11, ">0" for numbers above 0. '-' is a result that the op leaves out. What an op changes is no result here.
 */
#ifndef KEYWAY_CONFORMANCE_MODEL_TEXT_H
#define KEYWAY_CONFORMANCE_MODEL_TEXT_H

#include "case/case.h"
#include "wire/device_facts.h"

enum { KW_MODEL_TENSORS = 120, KW_MODEL_NAME = 32 };

typedef struct kw_model {
  const char *name, *text;
} kw_model;

/* Number `index` of all models, or NULL behind the last. */
const kw_model *kw_model_at(uint32_t index);

typedef struct kw_model_tensor {
  char name[KW_MODEL_NAME];
  kw_dtype dtype;
  kw_shape shape;
  int64_t limit; /* of indices; 0: it holds none */
  bool positive;
  int storage; /* of the program; KW_PLACE_NONE */
} kw_model_tensor;

/* What is read so far. */
typedef struct kw_model_reader {
  const kw_device_facts *facts;
  const kw_model *model;
  const char *at;
  uint32_t line, tensor_count;
  kw_model_tensor tensors[KW_MODEL_TENSORS];
} kw_model_reader;

void kw_model_read_from_start(kw_model_reader *reader);

/* A call, and which of the reader's tensors its case has: as arguments or entries of lists, and as results. */
typedef struct kw_model_call {
  kw_case c;
  bool claimed; /* the device has the op */
  uint32_t tensors[KW_CASE_TENSORS], outs[KW_SUITE_RESULTS];
} kw_model_call;

/* Reads the next call. False behind the last one, and where the facts have no such op. Text that means nothing ends the
 * process. */
bool kw_model_read(kw_model_reader *reader, kw_model_call *out_call);

/* Whether the rest of the text has the name. */
bool kw_model_has_more(const kw_model_reader *reader, const char *name);

#endif /* KEYWAY_CONFORMANCE_MODEL_TEXT_H */
