/* SPDX-License-Identifier: Apache-2.0
 *
 * Sentence embeddings by all-MiniLM-L6-v2, its weights mapped, on any device by name: reads sentences, one a line, and
 * prints the cosine of each to each. Letters beyond ASCII are taken as they are: accents stay, and capitals capital. */
#include <keyway/functions.h>
#include <keyway/interop.h>

#include <cjson/cJSON.h>
#include <ctype.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 384, HEADS = 12, LAYERS = 6, TOKENS = 256, LETTERS = 100, UNKNOWN = 100, BEGIN = 101, END = 102 };
static kw_tensor *file;        /* of the weights, u8: 8 bytes, the header, the weights */
static cJSON *header;          /* says what lies where, counted from its own end */
static uint64_t header_length; /* which the 8 bytes are */

/* Ends the program unless all is well; what was not is `what`, or in what the library says. */
static void check(bool good, const char *what) {
  if (!good) fprintf(stderr, "embeddings: stopped by %s\n", what ? what : kw_error_message()), exit(1);
}

static const void *on_host(kw_tensor *tensor) {
  void *elements = NULL;
  check(kw_scope_status() == KW_OK && kw_tensor_map(tensor, NULL, KW_MAP_READ, &elements) == KW_OK, NULL);
  return elements;
}

/* The token of a piece, a line of the vocabulary that has ## before it unless words begin so; -1: there is none. */
static int64_t find(const char *before, const char *piece, size_t length) {
  char text[sizeof "##\n" + LETTERS];
  snprintf(text, sizeof text, "%s%.*s\n", before, (int)length, piece);
  for (char *c = text; *c; ++c) *c = (char)tolower((unsigned char)*c);
  const ENTRY *entry = hsearch((ENTRY){.key = text}, FIND);
  return entry ? (intptr_t)entry->data : -1;
}

/* Behind the first token marks and words, each as the longest pieces that the vocabulary has. Returns how many. */
static int64_t tokenize(const char *text, int64_t tokens[TOKENS + LETTERS]) {
  int64_t count = 1;
  for (size_t length; *text && count < TOKENS - 1; text += length) {
    const int64_t first = count;
    if ((length = strcspn(text, " \t\r\n!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")) == 0) length = 1;
    for (size_t begin = 0, end; begin < length && !isspace((unsigned char)*text); begin = end, ++count) {
      end = length <= LETTERS ? length : begin;
      while (end > begin && (tokens[count] = find(begin > 0 ? "##" : "", text + begin, end - begin)) < 0) --end;
      if (end == begin) tokens[count = first] = UNKNOWN, end = length;
    }
  }
  tokens[count = count < TOKENS ? count : TOKENS - 1] = END;
  return count + 1;
}

static kw_tensor *weight(int layer, const char *name, const char *kind) {
  char text[96] = "embeddings.";
  if (layer >= 0) snprintf(text, sizeof text, "encoder.layer.%d.", layer);
  snprintf(text + strlen(text), sizeof text - strlen(text), "%s.%s", name, kind);
  const cJSON *entry = cJSON_GetObjectItem(header, text), *sizes = cJSON_GetObjectItem(entry, "shape");
  const cJSON *place = cJSON_GetArrayItem(cJSON_GetObjectItem(entry, "data_offsets"), 0);
  const char *dtype = cJSON_GetStringValue(cJSON_GetObjectItem(entry, "dtype"));
  check(cJSON_GetArraySize(sizes) > 0 && place && dtype && strcmp(dtype, "F32") == 0, text);
  const int64_t shape[] = {sizes->child->valueint, sizes->child->next ? sizes->child->next->valueint : 0};
  const kw_ints all = {shape, sizes->child->next ? 2 : 1};
  return kwx_reinterpret(file, KW_F32, all, 8 + header_length + (uint64_t)place->valuedouble);
}

static kw_tensor *linear(const kw_tensor *x, int layer, const char *name) {
  return kwx_linear(x, weight(layer, name, "weight"), weight(layer, name, "bias"));
}

static kw_tensor *add_and_norm(const kw_tensor *x, const kw_tensor *y, int layer, const char *name) {
  const kw_tensor *scale = weight(layer, name, "weight"), *bias = weight(layer, name, "bias");
  return kwx_layer_norm(kwx_add_tensor(x, y), KW_INTS(WIDTH), scale, bias, 1e-12);
}

static kw_tensor *run_layer(const kw_tensor *x, int layer) {
  kw_tensor *query = linear(x, layer, "attention.self.query"), *key = linear(x, layer, "attention.self.key");
  kw_tensor *value = linear(x, layer, "attention.self.value");
  kw_tensor *seen = kwx_multi_head_attention(query, key, value, NULL, false, HEADS);
  x = add_and_norm(linear(seen, layer, "attention.output.dense"), x, layer, "attention.output.LayerNorm");
  kw_tensor *wide = kwx_gelu(linear(x, layer, "intermediate.dense"));
  return add_and_norm(linear(wide, layer, "output.dense"), x, layer, "output.LayerNorm");
}

/* A sentence as a vector of length 1: the mean of what the layers make of its tokens. */
static kw_tensor *embed(const char *text) {
  int64_t tokens[TOKENS + LETTERS] = {BEGIN}, count = tokenize(text, tokens);
  kw_tensor *x = kwx_embedding(weight(-1, "word_embeddings", "weight"), kwx_tensor(KW_I64, KW_INTS(count), tokens));
  x = kwx_add_tensor(x, kwx_slice(weight(-1, "token_type_embeddings", "weight"), 0, 0, 1));
  x = add_and_norm(x, kwx_slice(weight(-1, "position_embeddings", "weight"), 0, 0, count), -1, "LayerNorm");
  for (int layer = 0; layer < LAYERS; ++layer) x = run_layer(x, layer);
  return kwx_normalize(kwx_mean_dim(x, KW_INTS(0), true), 1);
}

int main(int argc, char **argv) {
  char *line = NULL;
  size_t room = 0;
  kw_device *host, *device = NULL;
  kw_tensor *mapped, *all = NULL;
  kw_scope *scope;
  check(argc == 4 || argc == 5, "arguments but DEVICE WEIGHTS.safetensors VOCABULARY.txt [VECTORS]");
  check(kw_device_open("cpu:0", &host) == KW_OK && kw_device_open(argv[1], &device) == KW_OK, NULL);
  check(kw_tensor_from_file(host, argv[2], &mapped) == KW_OK, NULL);
  if (kw_tensor_from_file(device, argv[2], &file) != KW_OK) check(kw_tensor_to(mapped, device, &file) == KW_OK, NULL);
  if (kw_tensor_describe(mapped)->numel > 8) memcpy(&header_length, on_host(mapped), 8);
  check(header_length > 0 && header_length < (uint64_t)kw_tensor_describe(mapped)->numel - 8, argv[2]);
  header = cJSON_ParseWithLength((const char *)on_host(mapped) + 8, header_length);
  FILE *stream = fopen(argv[3], "r");
  check(stream && hcreate(1 << 16), argv[3]);
  for (intptr_t i = 0; getline(&line, &room, stream) > 0; ++i) hsearch((ENTRY){strdup(line), (void *)i}, ENTER);
  check(kw_scope_begin(kw_stream_default(device), &scope) == KW_OK, NULL);
  while (getline(&line, &room, stdin) > 0) all = all ? kwx_cat(KW_TENSORS(all, embed(line))) : embed(line);
  const float *cosines = on_host(kwx_mm(all, kwx_transpose(all, 0, 1)));
  const size_t count = (size_t)kw_tensor_describe(all)->shape[0];
  for (size_t i = 0; i < count * count; ++i) printf("%7.4f%c", (double)cosines[i], (i + 1) % count ? ' ' : '\n');
  stream = argc == 5 ? fopen(argv[4], "wb") : NULL;
  check(argc == 4 || (stream && fwrite(on_host(all), 4 * WIDTH, count, stream) == count && !fclose(stream)), argv[4]);
}
