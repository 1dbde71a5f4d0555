/* SPDX-License-Identifier: Apache-2.0
 *
 * One block of a decoder as in GPT-2 (layer norm, causal attention, an MLP with gelu) or in Llama (rms norm, rotary
 * positions, heads of keys and values that serve two heads of queries each, a gated MLP), small, and a training step of
 * it: forward, cross entropy of a linear head's scores, backward by hand, AdamW.
 */
#include "layer.h"

struct sizes {
  int64_t batch, length, width, head;
  int64_t rows; /* the tokens of all sequences, one after the other */
};

static struct sizes sizes_of(struct model *model) {
  struct sizes s = {model_size(model, 0), model_size(model, 1), model_size(model, 2), model_size(model, 3), 0};
  s.rows = s.batch * s.length;
  return s;
}

/* ---- Attention --------------------------------------------------------------------------------------------------- */

/* [rows, heads * head] as [batch, heads, length, head]: a view. */
static kw_tensor *split_heads(struct model *model, const kw_tensor *rows) {
  const struct sizes s = sizes_of(model);
  const int64_t heads = kw_tensor_describe(rows)->shape[1] / s.head;
  return model_transpose(model, model_view(model, rows, 4, (const int64_t[]){s.batch, s.length, heads, s.head}), 1, 2);
}

/* And back: a copy. */
static kw_tensor *merge_heads(struct model *model, const kw_tensor *tensor) {
  const struct sizes s = sizes_of(model);
  const int64_t width = kw_tensor_describe(tensor)->shape[1] * s.head;
  kw_tensor *dense = MODEL_OP(model, "_to_copy", kw_arg_tensor(model_transpose(model, tensor, 1, 2)));
  return model_view(model, dense, 2, (const int64_t[]){s.rows, width});
}

struct attention {
  kw_tensor *query, *key, *value; /* [batch, heads, length, head] */
  kw_tensor *out;
  kw_tensor *logsumexp; /* where the model is to be trained */
};

/* A query sees its own key and all before it. */
enum { WINDOW_LEFT = -1, WINDOW_RIGHT = 0 };

static struct attention attention(struct model *model, kw_tensor *query, kw_tensor *key, kw_tensor *value) {
  struct attention a = {.query = query, .key = key, .value = value};
  if (!model->train) {
    a.out =
        MODEL_OP(model, "scaled_dot_product_attention", kw_arg_tensor(query), kw_arg_tensor(key), kw_arg_tensor(value),
                 kw_arg_none(), kw_arg_float(0), kw_arg_bool(true), kw_arg_none(), kw_arg_bool(true));
    return a;
  }
  kw_tensor *outs[2];
  MODEL_OPS(model, outs, "keyway::attention", kw_arg_tensor(query), kw_arg_tensor(key), kw_arg_tensor(value),
            kw_arg_none(), kw_arg_none(), kw_arg_float(0), kw_arg_int(WINDOW_LEFT), kw_arg_int(WINDOW_RIGHT));
  a.out = outs[0];
  a.logsumexp = outs[1];
  return a;
}

/* The gradients of query, key and value. */
static void attention_backward(struct model *model, const kw_tensor *gradient, const struct attention *a,
                               kw_tensor *out_gradients[3]) {
  model_call(model, "keyway::attention_backward",
             MODEL_ARGS(kw_arg_tensor(gradient), kw_arg_tensor(a->query), kw_arg_tensor(a->key),
                        kw_arg_tensor(a->value), kw_arg_tensor(a->out), kw_arg_tensor(a->logsumexp), kw_arg_none(),
                        kw_arg_none(), kw_arg_float(0), kw_arg_int(WINDOW_LEFT), kw_arg_int(WINDOW_RIGHT)),
             out_gradients, 3);
}

static const double norm_eps = 1e-5;

/* ---- GPT-2 ------------------------------------------------------------------------------------------------------- */

struct layer_norm {
  const kw_tensor *input;
  kw_tensor *out, *mean, *rstd;
};

static struct layer_norm layer_norm(struct model *model, const kw_tensor *input, const char *name) {
  kw_tensor *outs[3];
  MODEL_OPS(model, outs, "native_layer_norm", kw_arg_tensor(input), MODEL_INTS(sizes_of(model).width),
            kw_arg_tensor(model_get(model, "%s.weight", name)), kw_arg_tensor(model_get(model, "%s.bias", name)),
            kw_arg_float(norm_eps));
  return (struct layer_norm){input, outs[0], outs[1], outs[2]};
}

static kw_tensor *layer_norm_backward(struct model *model, const kw_tensor *gradient, const struct layer_norm *norm,
                                      const char *name) {
  kw_tensor *outs[3];
  MODEL_OPS(model, outs, "native_layer_norm_backward", kw_arg_tensor(gradient), kw_arg_tensor(norm->input),
            MODEL_INTS(sizes_of(model).width), kw_arg_tensor(norm->mean), kw_arg_tensor(norm->rstd),
            kw_arg_tensor(model_get(model, "%s.weight", name)), kw_arg_tensor(model_get(model, "%s.bias", name)),
            MODEL_INTS(1, 1, 1));
  model_set_gradient(model, outs[1], "%s.weight", name);
  model_set_gradient(model, outs[2], "%s.bias", name);
  return outs[0];
}

void model_pass_gpt2(struct model *model) {
  const int64_t width = sizes_of(model).width;
  const kw_tensor *x = model_get(model, "x");
  struct layer_norm ln_1 = layer_norm(model, x, "ln_1");
  kw_tensor *qkv = layer_linear(model, ln_1.out, "attn.c_attn");
  struct attention attn = attention(model, split_heads(model, model_slice(model, qkv, 1, 0, width)),
                                    split_heads(model, model_slice(model, qkv, 1, width, 2 * width)),
                                    split_heads(model, model_slice(model, qkv, 1, 2 * width, 3 * width)));
  kw_tensor *merged = merge_heads(model, attn.out);
  kw_tensor *middle = layer_add(model, x, layer_linear(model, merged, "attn.c_proj"));
  struct layer_norm ln_2 = layer_norm(model, middle, "ln_2");
  kw_tensor *wide = layer_linear(model, ln_2.out, "mlp.c_fc");
  kw_tensor *active = MODEL_OP(model, "gelu", kw_arg_tensor(wide), kw_arg_string("tanh"));
  kw_tensor *y = layer_add(model, middle, layer_linear(model, active, "mlp.c_proj"));
  model_check(model, merged, "attention");
  model_check(model, y, "y");
  if (!model->train) {
    return;
  }

  kw_tensor *grad_y = layer_classify(model, y, "lm_head");
  kw_tensor *grad_active = layer_linear_backward(model, grad_y, active, "mlp.c_proj");
  kw_tensor *grad_wide =
      MODEL_OP(model, "gelu_backward", kw_arg_tensor(grad_active), kw_arg_tensor(wide), kw_arg_string("tanh"));
  kw_tensor *grad_ln_2 = layer_linear_backward(model, grad_wide, ln_2.out, "mlp.c_fc");
  kw_tensor *grad_middle = layer_add(model, grad_y, layer_norm_backward(model, grad_ln_2, &ln_2, "ln_2"));
  kw_tensor *grad_merged = layer_linear_backward(model, grad_middle, merged, "attn.c_proj");

  kw_tensor *grads[3];
  attention_backward(model, split_heads(model, grad_merged), &attn, grads);
  for (int i = 0; i < 3; ++i) {
    grads[i] = merge_heads(model, grads[i]);
  }
  kw_tensor *grad_qkv = MODEL_OP(model, "cat", kw_arg_tensor_list(grads, 3), kw_arg_int(1));
  kw_tensor *grad_ln_1 = layer_linear_backward(model, grad_qkv, ln_1.out, "attn.c_attn");
  kw_tensor *grad_x = layer_add(model, grad_middle, layer_norm_backward(model, grad_ln_1, &ln_1, "ln_1"));
  model_check(model, grad_x, "grad x");
}

/* ---- Llama ------------------------------------------------------------------------------------------------------- */

struct rms_norm {
  const kw_tensor *input;
  kw_tensor *out;
  kw_tensor *rstd; /* where the model is to be trained */
};

static struct rms_norm rms_norm(struct model *model, const kw_tensor *input, const char *name) {
  kw_value args[] = {kw_arg_tensor(input), MODEL_INTS(sizes_of(model).width),
                     kw_arg_tensor(model_get(model, "%s.weight", name)), kw_arg_float(norm_eps)};
  kw_tensor *outs[2] = {NULL, NULL};
  if (model->train) {
    model_call(model, "_fused_rms_norm", args, 4, outs, 2);
  } else {
    model_call(model, "rms_norm", args, 4, outs, 1);
  }
  return (struct rms_norm){input, outs[0], outs[1]};
}

static kw_tensor *rms_norm_backward(struct model *model, const kw_tensor *gradient, const struct rms_norm *norm,
                                    const char *name) {
  kw_tensor *outs[2];
  MODEL_OPS(model, outs, "_fused_rms_norm_backward", kw_arg_tensor(gradient), kw_arg_tensor(norm->input),
            MODEL_INTS(sizes_of(model).width), kw_arg_tensor(norm->rstd),
            kw_arg_tensor(model_get(model, "%s.weight", name)), MODEL_INTS(1, 1));
  model_set_gradient(model, outs[1], "%s.weight", name);
  return outs[0];
}

static kw_tensor *rope(struct model *model, const kw_tensor *heads) {
  return MODEL_OP(model, "keyway::rope", kw_arg_tensor(heads), kw_arg_tensor(model_get(model, "cos")),
                  kw_arg_tensor(model_get(model, "sin")));
}

/* The gradient turns the other way. */
static kw_tensor *rope_backward(struct model *model, const kw_tensor *gradient) {
  kw_tensor *minus_sin = MODEL_OP(model, "neg", kw_arg_tensor(model_get(model, "sin")));
  return MODEL_OP(model, "keyway::rope", kw_arg_tensor(gradient), kw_arg_tensor(model_get(model, "cos")),
                  kw_arg_tensor(minus_sin));
}

void model_pass_llama(struct model *model) {
  const kw_tensor *x = model_get(model, "x");
  struct rms_norm norm_1 = rms_norm(model, x, "input_layernorm");
  kw_tensor *query = split_heads(model, layer_linear(model, norm_1.out, "self_attn.q_proj"));
  kw_tensor *key = split_heads(model, layer_linear(model, norm_1.out, "self_attn.k_proj"));
  kw_tensor *value = split_heads(model, layer_linear(model, norm_1.out, "self_attn.v_proj"));
  struct attention attn = attention(model, rope(model, query), rope(model, key), value);
  kw_tensor *merged = merge_heads(model, attn.out);
  kw_tensor *middle = layer_add(model, x, layer_linear(model, merged, "self_attn.o_proj"));
  struct rms_norm norm_2 = rms_norm(model, middle, "post_attention_layernorm");
  kw_tensor *gate = layer_linear(model, norm_2.out, "mlp.gate_proj");
  kw_tensor *up = layer_linear(model, norm_2.out, "mlp.up_proj");
  kw_tensor *gated = MODEL_OP(model, "keyway::swiglu", kw_arg_tensor(gate), kw_arg_tensor(up));
  kw_tensor *y = layer_add(model, middle, layer_linear(model, gated, "mlp.down_proj"));
  model_check(model, merged, "attention");
  model_check(model, y, "y");
  if (!model->train) {
    return;
  }

  kw_tensor *grad_y = layer_classify(model, y, "lm_head");
  kw_tensor *grad_gated = layer_linear_backward(model, grad_y, gated, "mlp.down_proj");
  kw_tensor *grad_mlp[2]; /* of gate and up */
  MODEL_OPS(model, grad_mlp, "keyway::swiglu_backward", kw_arg_tensor(grad_gated), kw_arg_tensor(gate),
            kw_arg_tensor(up));
  kw_tensor *grad_norm_2 = layer_add(model, layer_linear_backward(model, grad_mlp[0], norm_2.out, "mlp.gate_proj"),
                                     layer_linear_backward(model, grad_mlp[1], norm_2.out, "mlp.up_proj"));
  kw_tensor *grad_middle =
      layer_add(model, grad_y, rms_norm_backward(model, grad_norm_2, &norm_2, "post_attention_layernorm"));
  kw_tensor *grad_merged = layer_linear_backward(model, grad_middle, merged, "self_attn.o_proj");

  kw_tensor *grads[3];
  attention_backward(model, split_heads(model, grad_merged), &attn, grads);
  kw_tensor *grad_query = merge_heads(model, rope_backward(model, grads[0]));
  kw_tensor *grad_key = merge_heads(model, rope_backward(model, grads[1]));
  kw_tensor *grad_value = merge_heads(model, grads[2]);
  kw_tensor *grad_norm_1 = layer_add(model, layer_linear_backward(model, grad_query, norm_1.out, "self_attn.q_proj"),
                                     layer_linear_backward(model, grad_key, norm_1.out, "self_attn.k_proj"));
  grad_norm_1 = layer_add(model, grad_norm_1, layer_linear_backward(model, grad_value, norm_1.out, "self_attn.v_proj"));
  kw_tensor *grad_x = layer_add(model, grad_middle, rms_norm_backward(model, grad_norm_1, &norm_1, "input_layernorm"));
  model_check(model, grad_x, "grad x");
}

/* ---- AdamW ------------------------------------------------------------------------------------------------------- */

/* The tenth step of torch.optim.AdamW and the eleventh. Both averages begin as constants: from zeros, as at the first
 * step, each parameter would move by the learning rate times the sign of its gradient, which says nothing of the
 * gradient's size and is not determined where that is next to 0. */
void model_optimize_decoder(struct model *model) {
  const double rate = 0x1p-4, beta1 = 0.9, beta2 = 0.999, decay = 0.1, eps = 1e-8;
  kw_tensor *parameters[MODEL_PARAMETERS], *gradients[MODEL_PARAMETERS], *steps[MODEL_PARAMETERS];
  const uint32_t count = model_get_parameters(model, parameters, gradients);
  kw_tensor **averages = model_get_averages(model, 0, parameters, count, 0x1p-10);
  kw_tensor **square_averages = model_get_averages(model, 1, parameters, count, 0x1p-13);
  for (uint32_t i = 0; i < count; ++i) {
    steps[i] = model_full(model, KW_F32, 0, NULL, 9 + model->step);
  }
  model_call(
      model, "_fused_adamw_",
      MODEL_ARGS(kw_arg_tensor_list(parameters, count), kw_arg_tensor_list(gradients, count),
                 kw_arg_tensor_list(averages, count), kw_arg_tensor_list(square_averages, count),
                 kw_arg_tensor_list(NULL, 0), kw_arg_tensor_list(steps, count), kw_arg_float(rate), kw_arg_float(beta1),
                 kw_arg_float(beta2), kw_arg_float(decay), kw_arg_float(eps), kw_arg_bool(false), kw_arg_bool(false)),
      NULL, 0);
  model_check_parameters(model);
}
