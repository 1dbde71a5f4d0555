/* SPDX-License-Identifier: Apache-2.0
 *
 * A convolution or one of its gradients: oneDNN's primitive in the layouts it likes best, and reorders between those
 * and the layouts there are.
 */
#include "library.h"

#include <stdlib.h>
#include <string.h>

/* One of the three tensors: its descriptor, the primitive's, and the way from one to the other, or back from the
 * result's. */
typedef struct conv_operand {
  void *desc;
  const void *inner; /* the primitive descriptor's */
  void *reorder;     /* NULL: the layouts are the same */
  size_t inner_size; /* bytes */
} conv_operand;

struct kw_onednn_conv {
  const kw_onednn_library *library;
  kw_onednn_operand result;
  conv_operand operands[KW_ONEDNN_OPERANDS];
  void *bias; /* its descriptor, or NULL */
  void *forward, *primitive_desc, *primitive;
  const void *scratchpad;
  size_t scratchpad_size;
};

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

static void destroy_desc(const kw_onednn_library *library, void *primitive_desc) {
  if (primitive_desc) library->primitive_desc_destroy(primitive_desc);
}

void kw_onednn_conv_destroy(kw_onednn_conv *conv) {
  const kw_onednn_library *library = conv->library;
  for (int i = 0; i < KW_ONEDNN_OPERANDS; i++) {
    if (conv->operands[i].reorder) library->primitive_destroy(conv->operands[i].reorder);
    library->version->forget(conv->operands[i].desc);
  }
  library->version->forget(conv->bias);
  if (conv->primitive) library->primitive_destroy(conv->primitive);
  destroy_desc(library, conv->primitive_desc);
  destroy_desc(library, conv->forward);
  free(conv);
}

/* The primitive descriptor, in any layouts, and of a gradient that of the forward pass as its hint. */
static bool make_primitive_desc(kw_onednn_conv *conv, const kw_onednn_conv_info *info) {
  const kw_onednn_library *library = conv->library;
  const kw_onednn_version *version = library->version;
  void *any[KW_ONEDNN_OPERANDS] = {NULL};
  bool made = true;
  for (int i = 0; i < KW_ONEDNN_OPERANDS; i++) {
    const kw_onednn_tensor *tensor = &info->tensors[i];
    made = made && version->describe(&any[i], (int)tensor->rank, tensor->shape, NULL) == 0;
  }
  if (made && info->result != KW_ONEDNN_PLACES) {
    made = version->convolve(&conv->forward, info, any, NULL, library->engine, library->attributes, NULL) == 0;
  }
  made = made && version->convolve(&conv->primitive_desc, info, any, conv->bias, library->engine, library->attributes,
                                   conv->forward) == 0;
  for (int i = 0; i < KW_ONEDNN_OPERANDS; i++) version->forget(any[i]);
  return made;
}

/* What is built on a matrix product multiplies the zeros that it puts around the field, which is NaN for infinite
 * weights, and what is written for reference is slower than ours. */
static bool is_direct(const kw_onednn_conv *conv) {
  const char *name = NULL;
  if (conv->library->query(conv->primitive_desc, KW_DNNL_QUERY_IMPLEMENTATION, 0, &name) != 0 || !name) return false;
  return (strncmp(name, "jit", 3) == 0 || strncmp(name, "brg", 3) == 0) && !strstr(name, "gemm");
}

/* Whether and how operand number `i` has to be reordered. */
static bool make_operand(kw_onednn_conv *conv, const kw_onednn_conv_info *info, int i) {
  static const int of_input[] = {KW_DNNL_QUERY_SRC, KW_DNNL_QUERY_WEIGHTS, KW_DNNL_QUERY_DST};
  static const int of_gradient[] = {KW_DNNL_QUERY_DIFF_SRC, KW_DNNL_QUERY_DIFF_WEIGHTS, KW_DNNL_QUERY_DIFF_DST};
  const kw_onednn_library *library = conv->library;
  const kw_onednn_tensor *tensor = &info->tensors[i];
  const bool is_result = i == (int)info->result;
  const bool is_gradient = info->result != KW_ONEDNN_PLACES && (is_result || i == KW_ONEDNN_PLACES);
  conv_operand *operand = &conv->operands[i];
  operand->inner = library->query_desc(conv->primitive_desc, (is_gradient ? of_gradient : of_input)[i], 0);
  if (!operand->inner) return false;
  operand->inner_size = library->memory_desc_get_size(operand->inner);
  if (library->version->describe(&operand->desc, (int)tensor->rank, tensor->shape, tensor->strides) != 0) return false;
  if (library->memory_desc_equal(operand->desc, operand->inner)) return true;
  const void *from = is_result ? operand->inner : operand->desc, *to = is_result ? operand->desc : operand->inner;
  void *desc = NULL;
  bool made = library->reorder_create(&desc, from, library->engine, to, library->engine, library->attributes) == 0;
  const void *scratchpad = made ? library->query_desc(desc, KW_DNNL_QUERY_SCRATCHPAD, 0) : NULL;
  if (scratchpad && library->memory_desc_get_size(scratchpad) > 0) made = false; /* it would need room, too */
  made = made && library->primitive_create(&operand->reorder, desc) == 0;
  destroy_desc(library, desc);
  return made;
}

kw_status kw_onednn_conv_create(const kw_onednn_conv_info *info, kw_onednn_conv **out_conv) {
  const kw_onednn_library *library = kw_onednn_open();
  if (!library) return KW_ERR_NOT_IMPLEMENTED;
  kw_onednn_conv *conv = calloc(1, sizeof *conv);
  if (!conv) return KW_ERR_OUT_OF_MEMORY;
  conv->library = library;
  conv->result = info->result;
  const int threads = kw_onednn_begin(library);
  const int64_t channels = info->tensors[KW_ONEDNN_PLACES].shape[1], dense = 1;
  bool made = !info->has_bias || library->version->describe(&conv->bias, 1, &channels, &dense) == 0;
  made = made && make_primitive_desc(conv, info) && is_direct(conv);
  for (int i = 0; i < KW_ONEDNN_OPERANDS; i++) made = made && make_operand(conv, info, i);
  made = made && library->primitive_create(&conv->primitive, conv->primitive_desc) == 0;
  if (made) {
    conv->scratchpad = library->query_desc(conv->primitive_desc, KW_DNNL_QUERY_SCRATCHPAD, 0);
    conv->scratchpad_size = conv->scratchpad ? library->memory_desc_get_size(conv->scratchpad) : 0;
  }
  kw_onednn_end(library, threads);
  if (!made) {
    kw_onednn_conv_destroy(conv);
    return KW_ERR_NOT_IMPLEMENTED;
  }
  *out_conv = conv;
  return KW_OK;
}

/* ---- Execution --------------------------------------------------------------------------------------------------- */

/* Primitives of one call, in order: memories are made for each and gone with it. */
static bool execute(const kw_onednn_library *library, void *stream, const void *primitive, int count, const int *args,
                    const void *const *descs, void *const *at) {
  kw_dnnl_arg list[5];
  int made = 0;
  while (made < count && library->memory_create(&list[made].memory, descs[made], library->engine, at[made]) == 0) {
    list[made].arg = args[made];
    made++;
  }
  const bool done = made == count && library->primitive_execute(primitive, stream, count, list) == 0;
  while (made-- > 0) library->memory_destroy(list[made].memory);
  return done;
}

static bool reorder(const kw_onednn_conv *conv, void *stream, int i, const void *from, void *to) {
  static const int args[] = {KW_DNNL_ARG_SRC, KW_DNNL_ARG_DST};
  const conv_operand *operand = &conv->operands[i];
  const bool is_result = i == (int)conv->result;
  const void *descs[] = {is_result ? operand->inner : operand->desc, is_result ? operand->desc : operand->inner};
  void *at[] = {(void *)(uintptr_t)from, to};
  return execute(conv->library, stream, operand->reorder, 2, args, descs, at);
}

static bool is_packed_weight(const kw_onednn_conv *conv, int i) {
  return i == KW_ONEDNN_WEIGHT && conv->result != KW_ONEDNN_WEIGHT;
}

static size_t round_up(size_t size) {
  return (size + 63) / 64 * 64;
}

size_t kw_onednn_conv_room(const kw_onednn_conv *conv) {
  size_t size = round_up(conv->scratchpad_size);
  for (int i = 0; i < KW_ONEDNN_OPERANDS; i++) {
    const conv_operand *operand = &conv->operands[i];
    if (operand->reorder && !is_packed_weight(conv, i)) size += round_up(operand->inner_size);
  }
  return size + 64;
}

size_t kw_onednn_conv_packed_size(const kw_onednn_conv *conv, kw_onednn_operand operand) {
  const conv_operand *packed = &conv->operands[operand];
  return packed->reorder && operand != conv->result ? round_up(packed->inner_size) : 0;
}

kw_status kw_onednn_conv_pack(const kw_onednn_conv *conv, kw_onednn_operand operand, const float *from,
                              void *out_packed) {
  const kw_onednn_library *library = conv->library;
  void *stream;
  const int threads = kw_onednn_begin(library);
  bool done = library->stream_create(&stream, library->engine, KW_DNNL_STREAM_IN_ORDER) == 0;
  if (done) {
    done = reorder(conv, stream, (int)operand, from, out_packed);
    library->stream_destroy(stream);
  }
  kw_onednn_end(library, threads);
  return done ? KW_OK : KW_ERR_OUT_OF_MEMORY;
}

/* The primitive itself, on tensors in its own layouts. */
static bool run_primitive(const kw_onednn_conv *conv, void *stream, void *const inner[KW_ONEDNN_OPERANDS],
                          const float *bias, void *scratchpad) {
  const bool is_gradient = conv->result != KW_ONEDNN_PLACES;
  int args[5] = {conv->result == KW_ONEDNN_FIELD ? KW_DNNL_ARG_DIFF_SRC : KW_DNNL_ARG_SRC,
                 conv->result == KW_ONEDNN_WEIGHT ? KW_DNNL_ARG_DIFF_WEIGHTS : KW_DNNL_ARG_WEIGHTS,
                 is_gradient ? KW_DNNL_ARG_DIFF_DST : KW_DNNL_ARG_DST};
  const void *descs[5];
  void *at[5];
  int count = KW_ONEDNN_OPERANDS;
  for (int i = 0; i < KW_ONEDNN_OPERANDS; i++) {
    descs[i] = conv->operands[i].inner;
    at[i] = inner[i];
  }
  if (conv->bias) {
    args[count] = KW_DNNL_ARG_BIAS;
    descs[count] = conv->bias;
    at[count++] = (void *)(uintptr_t)bias;
  }
  if (conv->scratchpad_size > 0) {
    args[count] = KW_DNNL_ARG_SCRATCHPAD;
    descs[count] = conv->scratchpad;
    at[count++] = scratchpad;
  }
  return execute(conv->library, stream, conv->primitive, count, args, descs, at);
}

kw_status kw_onednn_conv_run(const kw_onednn_conv *conv, float *const at[KW_ONEDNN_OPERANDS],
                             const void *const packed[KW_ONEDNN_OPERANDS], const float *bias, void *room) {
  const kw_onednn_library *library = conv->library;
  char *next = room;
  void *inner[KW_ONEDNN_OPERANDS], *stream;
  for (int i = 0; i < KW_ONEDNN_OPERANDS; i++) {
    inner[i] = at[i];
    if (!conv->operands[i].reorder) continue;
    if (packed[i]) {
      inner[i] = (void *)(uintptr_t)packed[i];
    } else {
      inner[i] = next;
      next += round_up(conv->operands[i].inner_size);
    }
  }
  const int threads = kw_onednn_begin(library);
  bool done = library->stream_create(&stream, library->engine, KW_DNNL_STREAM_IN_ORDER) == 0;
  if (done) {
    for (int i = 0; i < KW_ONEDNN_OPERANDS; i++) {
      if (inner[i] == at[i] || i == (int)conv->result || packed[i]) continue;
      done = done && reorder(conv, stream, i, at[i], inner[i]);
    }
    done = done && run_primitive(conv, stream, inner, bias, next);
    const int result = (int)conv->result;
    if (inner[result] != at[result]) done = done && reorder(conv, stream, result, inner[result], at[result]);
    library->stream_destroy(stream);
  }
  kw_onednn_end(library, threads);
  return done ? KW_OK : KW_ERR_OUT_OF_MEMORY;
}
