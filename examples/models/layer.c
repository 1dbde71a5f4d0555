/* SPDX-License-Identifier: Apache-2.0
 *
 * Layers as calls of ops: linear layers by matrix products, and the cross-entropy loss.
 */
#include "layer.h"

kw_tensor *layer_add(struct model *model, const kw_tensor *a, const kw_tensor *b) {
  return MODEL_OP(model, "add.Tensor", kw_arg_tensor(a), kw_arg_tensor(b));
}

/* ---- Linear ------------------------------------------------------------------------------------------------------ */

kw_tensor *layer_linear(struct model *model, const kw_tensor *input, const char *name) {
  kw_tensor *turned = model_transpose(model, model_get(model, "%s.weight", name), 0, 1);
  if (!model_has(model, "%s.bias", name)) {
    return MODEL_OP(model, "mm", kw_arg_tensor(input), kw_arg_tensor(turned));
  }
  kw_tensor *bias = model_get(model, "%s.bias", name);
  return MODEL_OP(model, "addmm", kw_arg_tensor(bias), kw_arg_tensor(input), kw_arg_tensor(turned));
}

kw_tensor *layer_linear_backward(struct model *model, const kw_tensor *gradient, const kw_tensor *input,
                                 const char *name) {
  kw_tensor *turned = model_transpose(model, gradient, 0, 1);
  model_set_gradient(model, MODEL_OP(model, "mm", kw_arg_tensor(turned), kw_arg_tensor(input)), "%s.weight", name);
  if (model_has(model, "%s.bias", name)) {
    model_set_gradient(model, MODEL_OP(model, "sum.dim_IntList", kw_arg_tensor(gradient), MODEL_INTS(0)), "%s.bias",
                       name);
  }
  return MODEL_OP(model, "mm", kw_arg_tensor(gradient), kw_arg_tensor(model_get(model, "%s.weight", name)));
}

/* ---- The loss ---------------------------------------------------------------------------------------------------- */

enum { REDUCE_MEAN = 1, IGNORE_NONE = -100 };

kw_tensor *layer_classify(struct model *model, const kw_tensor *features, const char *name) {
  kw_tensor *target = model_get(model, "target");
  kw_tensor *scores = MODEL_OP(model, "_log_softmax", kw_arg_tensor(layer_linear(model, features, name)), kw_arg_int(1),
                               kw_arg_bool(false));
  kw_tensor *loss[2]; /* and the sum of the rows' weights */
  MODEL_OPS(model, loss, "nll_loss_forward", kw_arg_tensor(scores), kw_arg_tensor(target), kw_arg_none(),
            kw_arg_int(REDUCE_MEAN), kw_arg_int(IGNORE_NONE));
  model_check(model, loss[0], "loss");

  kw_tensor *one = model_full(model, model->dtype, 0, NULL, 1);
  kw_tensor *gradient =
      MODEL_OP(model, "nll_loss_backward", kw_arg_tensor(one), kw_arg_tensor(scores), kw_arg_tensor(target),
               kw_arg_none(), kw_arg_int(REDUCE_MEAN), kw_arg_int(IGNORE_NONE), kw_arg_tensor(loss[1]));
  gradient = MODEL_OP(model, "_log_softmax_backward_data", kw_arg_tensor(gradient), kw_arg_tensor(scores),
                      kw_arg_int(1), kw_arg_dtype(model->dtype));
  return layer_linear_backward(model, gradient, features, name);
}
