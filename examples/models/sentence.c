/* SPDX-License-Identifier: Apache-2.0
 *
 * Sentences to vectors as all-MiniLM-L6-v2 does it: the encoder of BERT (each layer attention and an MLP with gelu,
 * a layer norm behind each), the mean over a sentence's tokens, the length of the vector made 1; and the cosines
 * between the sentences.
 */
#include "layer.h"

#include <stdio.h>

struct sizes {
  int64_t batch, length, width, head, layers;
};

static const double norm_eps = 1e-12;

static kw_tensor *layer_norm(struct model *model, const kw_tensor *input, int64_t width, const char *name) {
  kw_tensor *outs[3];
  MODEL_OPS(model, outs, "native_layer_norm", kw_arg_tensor(input), MODEL_INTS(width),
            kw_arg_tensor(model_get(model, "%s.weight", name)), kw_arg_tensor(model_get(model, "%s.bias", name)),
            kw_arg_float(norm_eps));
  return outs[0];
}

/* The name of a parameter's layer, in `text`. */
static const char *name_in(char text[MODEL_NAME], int64_t layer, const char *name) {
  snprintf(text, MODEL_NAME, "layer.%lld.%s", (long long)layer, name);
  return text;
}

/* [batch * length, width] as [batch, heads, length, head]: a view. */
static kw_tensor *split_heads(struct model *model, const kw_tensor *rows, const struct sizes *s) {
  const int64_t shape[] = {s->batch, s->length, s->width / s->head, s->head};
  return model_transpose(model, model_view(model, rows, 4, shape), 1, 2);
}

/* Padding is hidden from all. */
static kw_tensor *attention(struct model *model, const kw_tensor *input, const struct sizes *s, int64_t layer) {
  static const char *const names[] = {"attention.query", "attention.key", "attention.value"};
  char text[MODEL_NAME];
  kw_tensor *heads[3];
  for (int i = 0; i < 3; ++i) {
    heads[i] = split_heads(model, layer_linear(model, input, name_in(text, layer, names[i])), s);
  }
  kw_tensor *out = MODEL_OP(model, "scaled_dot_product_attention", kw_arg_tensor(heads[0]), kw_arg_tensor(heads[1]),
                            kw_arg_tensor(heads[2]), kw_arg_tensor(model_get(model, "visible")));
  kw_tensor *dense = MODEL_OP(model, "_to_copy", kw_arg_tensor(model_transpose(model, out, 1, 2)));
  kw_tensor *merged = model_view(model, dense, 2, (const int64_t[]){s->batch * s->length, s->width});
  kw_tensor *projected = layer_linear(model, merged, name_in(text, layer, "attention.output"));
  return layer_norm(model, layer_add(model, projected, input), s->width, name_in(text, layer, "attention.norm"));
}

static kw_tensor *mlp(struct model *model, const kw_tensor *input, const struct sizes *s, int64_t layer) {
  char text[MODEL_NAME];
  kw_tensor *wide = layer_linear(model, input, name_in(text, layer, "intermediate"));
  kw_tensor *active = MODEL_OP(model, "gelu", kw_arg_tensor(wide), kw_arg_string("none"));
  kw_tensor *narrow = layer_linear(model, active, name_in(text, layer, "output"));
  return layer_norm(model, layer_add(model, narrow, input), s->width, name_in(text, layer, "norm"));
}

static kw_tensor *embed_tokens(struct model *model, const struct sizes *s) {
  kw_tensor *words = MODEL_OP(model, "embedding", kw_arg_tensor(model_get(model, "embeddings.word")),
                              kw_arg_tensor(model_get(model, "tokens")));
  kw_tensor *places = model_slice(model, model_get(model, "embeddings.position"), 0, 0, s->length);
  kw_tensor *first_type = model_slice(model, model_get(model, "embeddings.type"), 0, 0, 1);
  kw_tensor *sum = layer_add(model, layer_add(model, words, first_type), places);
  kw_tensor *rows = model_view(model, sum, 2, (const int64_t[]){s->batch * s->length, s->width});
  return layer_norm(model, rows, s->width, "embeddings.norm");
}

/* The mean of the tokens that are no padding, and its direction. */
static kw_tensor *pool(struct model *model, const kw_tensor *rows, const struct sizes *s) {
  kw_tensor *tokens = model_view(model, rows, 3, (const int64_t[]){s->batch, s->length, s->width});
  kw_tensor *kept = MODEL_OP(model, "mul.Tensor", kw_arg_tensor(tokens), kw_arg_tensor(model_get(model, "kept")));
  kw_tensor *sum = MODEL_OP(model, "sum.dim_IntList", kw_arg_tensor(kept), MODEL_INTS(1));
  kw_tensor *mean = MODEL_OP(model, "div.Tensor", kw_arg_tensor(sum), kw_arg_tensor(model_get(model, "count")));
  kw_tensor *squares = MODEL_OP(model, "mul.Tensor", kw_arg_tensor(mean), kw_arg_tensor(mean));
  kw_tensor *square = MODEL_OP(model, "sum.dim_IntList", kw_arg_tensor(squares), MODEL_INTS(1), kw_arg_bool(true));
  kw_tensor *inverse = MODEL_OP(model, "rsqrt", kw_arg_tensor(square));
  return MODEL_OP(model, "mul.Tensor", kw_arg_tensor(mean), kw_arg_tensor(inverse));
}

void model_pass_minilm(struct model *model) {
  const struct sizes s = {model_size(model, 0), model_size(model, 1), model_size(model, 2), model_size(model, 3),
                          model_size(model, 4)};
  kw_tensor *rows = embed_tokens(model, &s);
  for (int64_t layer = 0; layer < s.layers; ++layer) {
    rows = mlp(model, attention(model, rows, &s, layer), &s, layer);
  }
  kw_tensor *sentences = pool(model, rows, &s);
  model_check(model, sentences, "embeddings");
  kw_tensor *turned = model_transpose(model, sentences, 0, 1);
  model_check(model, MODEL_OP(model, "mm", kw_arg_tensor(sentences), kw_arg_tensor(turned)), "cosines");
}
