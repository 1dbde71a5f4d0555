/* SPDX-License-Identifier: Apache-2.0
 *
 * Layers that several models have, with their gradients by hand. Parameters are recorded tensors, by the layer's name.
 */
#ifndef LAYER_H
#define LAYER_H

#include "model.h"

kw_tensor *layer_add(struct model *model, const kw_tensor *a, const kw_tensor *b);

/* input @ weight' + bias: [rows, inputs] to [rows, outputs]. weight is [outputs, inputs]; bias need not be recorded. */
kw_tensor *layer_linear(struct model *model, const kw_tensor *input, const char *name);
/* Sets the gradients of weight and bias; returns that of the input. */
kw_tensor *layer_linear_backward(struct model *model, const kw_tensor *gradient, const kw_tensor *input,
                                 const char *name);

/* Scores of the features [rows, inputs] by a linear layer, their cross entropy with the recorded classes `target`
 * [rows], mean over the rows, which is compared with the recorded `loss`; and backward: returns the features' gradient.
 */
kw_tensor *layer_classify(struct model *model, const kw_tensor *features, const char *name);

#endif /* LAYER_H */
