/* SPDX-License-Identifier: Apache-2.0
 *
 * A bottleneck as in the first stage of ResNet-50 (a 1x1 convolution to fewer channels, a 3x3 one, a 1x1 one back, each
 * with batch norm, around a residual), with fewer channels, and a training step of it: forward, cross entropy of a
 * linear head's scores over the pooled channels, backward by hand, SGD with momentum.
 */
#include "layer.h"

static const double norm_momentum = 0.125, norm_eps = 1e-5;

/* ---- A convolution and its batch norm ---------------------------------------------------------------------------- */

struct convolution {
  int number; /* conv1 with bn1, ... */
  int padding;
  const kw_tensor *input;
  kw_tensor *convolved;
  kw_tensor *out;
  kw_tensor *mean, *invstd; /* of the batch, where the model is to be trained */
};

static struct convolution convolution(struct model *model, const kw_tensor *input, int number, int padding) {
  struct convolution c = {.number = number, .padding = padding, .input = input};
  c.convolved =
      MODEL_OP(model, "convolution", kw_arg_tensor(input), kw_arg_tensor(model_get(model, "conv%d.weight", number)),
               kw_arg_none(), MODEL_INTS(1, 1), MODEL_INTS(padding, padding), MODEL_INTS(1, 1), kw_arg_bool(false),
               MODEL_INTS(0, 0), kw_arg_int(1));

  kw_value convolved = kw_arg_tensor(c.convolved);
  kw_value weight = kw_arg_tensor(model_get(model, "bn%d.weight", number));
  kw_value bias = kw_arg_tensor(model_get(model, "bn%d.bias", number));
  kw_value mean = kw_arg_tensor(model_get(model, "bn%d.running_mean", number));
  kw_value variance = kw_arg_tensor(model_get(model, "bn%d.running_var", number));
  kw_value momentum = kw_arg_float(norm_momentum), eps = kw_arg_float(norm_eps);
  if (model->train) { /* the running statistics change */
    kw_tensor *outs[5];
    MODEL_OPS(model, outs, "_native_batch_norm_legit", convolved, weight, bias, mean, variance, kw_arg_bool(true),
              momentum, eps);
    c.out = outs[0];
    c.mean = outs[1];
    c.invstd = outs[2];
    model_check(model, model_get(model, "bn%d.running_mean", number), "next bn%d.running_mean", number);
    model_check(model, model_get(model, "bn%d.running_var", number), "next bn%d.running_var", number);
  } else {
    kw_tensor *outs[3];
    MODEL_OPS(model, outs, "_native_batch_norm_legit_no_training", convolved, weight, bias, mean, variance, momentum,
              eps);
    c.out = outs[0];
  }
  return c;
}

static kw_tensor *convolution_backward(struct model *model, const kw_tensor *gradient, const struct convolution *c) {
  kw_tensor *norm[3]; /* gradients of input, weight, bias */
  MODEL_OPS(model, norm, "native_batch_norm_backward", kw_arg_tensor(gradient), kw_arg_tensor(c->convolved),
            kw_arg_tensor(model_get(model, "bn%d.weight", c->number)), kw_arg_none(), kw_arg_none(),
            kw_arg_tensor(c->mean), kw_arg_tensor(c->invstd), kw_arg_bool(true), kw_arg_float(norm_eps),
            MODEL_INTS(1, 1, 1));
  model_set_gradient(model, norm[1], "bn%d.weight", c->number);
  model_set_gradient(model, norm[2], "bn%d.bias", c->number);

  kw_tensor *conv[3]; /* of input and weight; there is no bias */
  MODEL_OPS(model, conv, "convolution_backward", kw_arg_tensor(norm[0]), kw_arg_tensor(c->input),
            kw_arg_tensor(model_get(model, "conv%d.weight", c->number)), kw_arg_none(), MODEL_INTS(1, 1),
            MODEL_INTS(c->padding, c->padding), MODEL_INTS(1, 1), kw_arg_bool(false), MODEL_INTS(0, 0), kw_arg_int(1),
            MODEL_INTS(1, 1, 0));
  model_set_gradient(model, conv[1], "conv%d.weight", c->number);
  return conv[0];
}

static kw_tensor *relu(struct model *model, const kw_tensor *tensor) {
  return MODEL_OP(model, "relu", kw_arg_tensor(tensor));
}

static kw_tensor *relu_backward(struct model *model, const kw_tensor *gradient, const kw_tensor *result) {
  return MODEL_OP(model, "threshold_backward", kw_arg_tensor(gradient), kw_arg_tensor(result), kw_arg_scalar_f64(0));
}

/* ---- The block --------------------------------------------------------------------------------------------------- */

void model_pass_bottleneck(struct model *model) {
  const kw_tensor *x = model_get(model, "x");
  struct convolution first = convolution(model, x, 1, 0);
  kw_tensor *squeezed = relu(model, first.out);
  struct convolution second = convolution(model, squeezed, 2, 1);
  kw_tensor *spread = relu(model, second.out);
  struct convolution third = convolution(model, spread, 3, 0);
  kw_tensor *y = relu(model, layer_add(model, third.out, x));
  model_check(model, y, model->train ? "train y" : "y");
  if (!model->train) {
    return;
  }

  const int64_t *shape = kw_tensor_describe(y)->shape; /* batch, channels, height, width */
  kw_tensor *pooled = MODEL_OP(model, "_adaptive_avg_pool2d", kw_arg_tensor(y), MODEL_INTS(1, 1));
  kw_tensor *grad_features = layer_classify(model, model_view(model, pooled, 2, shape), "fc");
  kw_tensor *grad_pooled = model_view(model, grad_features, 4, kw_tensor_describe(pooled)->shape);
  kw_tensor *grad_y = MODEL_OP(model, "_adaptive_avg_pool2d_backward", kw_arg_tensor(grad_pooled), kw_arg_tensor(y));
  kw_tensor *grad_sum = relu_backward(model, grad_y, y);
  kw_tensor *grad_spread = relu_backward(model, convolution_backward(model, grad_sum, &third), spread);
  kw_tensor *grad_squeezed = relu_backward(model, convolution_backward(model, grad_spread, &second), squeezed);
  kw_tensor *grad_x = layer_add(model, grad_sum, convolution_backward(model, grad_squeezed, &first));
  model_check(model, grad_x, "grad x");
}

/* ---- SGD --------------------------------------------------------------------------------------------------------- */

/* Two steps of torch.optim.SGD, not the first ones; the momentum so far is a constant. */
void model_optimize_bottleneck(struct model *model) {
  const double decay = 0.01, momentum = 0.9, rate = 0x1p-4, dampening = 0;
  kw_tensor *parameters[MODEL_PARAMETERS], *gradients[MODEL_PARAMETERS];
  const uint32_t count = model_get_parameters(model, parameters, gradients);
  kw_tensor **velocities = model_get_averages(model, 0, parameters, count, 0x1p-10);
  model_call(
      model, "_fused_sgd_",
      MODEL_ARGS(kw_arg_tensor_list(parameters, count), kw_arg_tensor_list(gradients, count),
                 kw_arg_tensor_list(velocities, count), kw_arg_float(decay), kw_arg_float(momentum), kw_arg_float(rate),
                 kw_arg_float(dampening), kw_arg_bool(false), kw_arg_bool(false), kw_arg_bool(false)),
      NULL, 0);
  model_check_parameters(model);
}
