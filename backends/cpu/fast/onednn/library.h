/* SPDX-License-Identifier: Apache-2.0
 *
 * The entry points of oneDNN that are used, declared here so that no header of it is needed. Memory descriptors are
 * structs in version 2 and handles in version 3, either way passed by pointer.
 */
#ifndef KEYWAY_CPU_FAST_ONEDNN_LIBRARY_H
#define KEYWAY_CPU_FAST_ONEDNN_LIBRARY_H

#include "onednn.h"

#include <dlfcn.h>
#include <string.h>

/* Constants that both versions have. */
enum {
  KW_DNNL_CPU = 1,
  KW_DNNL_F32 = 3,
  KW_DNNL_FORMAT_ANY = 1,
  KW_DNNL_STREAM_IN_ORDER = 1,
  KW_DNNL_SCRATCHPAD_USER = 1,
  KW_DNNL_FPMATH_STRICT = 0,
  KW_DNNL_FORWARD_TRAINING = 64,
  KW_DNNL_CONVOLUTION_DIRECT = 1,
  KW_DNNL_QUERY_IMPLEMENTATION = 8,
  KW_DNNL_QUERY_SRC = 129,
  KW_DNNL_QUERY_DIFF_SRC = 130,
  KW_DNNL_QUERY_WEIGHTS = 131,
  KW_DNNL_QUERY_DIFF_WEIGHTS = 132,
  KW_DNNL_QUERY_DST = 133,
  KW_DNNL_QUERY_DIFF_DST = 134,
  KW_DNNL_QUERY_SCRATCHPAD = 136,
  KW_DNNL_ARG_SRC = 1,
  KW_DNNL_ARG_DST = 17,
  KW_DNNL_ARG_WEIGHTS = 33,
  KW_DNNL_ARG_BIAS = 41,
  KW_DNNL_ARG_SCRATCHPAD = 80,
  KW_DNNL_ARG_DIFF_SRC = 129,
  KW_DNNL_ARG_DIFF_DST = 145,
  KW_DNNL_ARG_DIFF_WEIGHTS = 161
};

typedef struct kw_dnnl_arg {
  int arg;
  void *memory;
} kw_dnnl_arg;

/* What differs between the versions. `fill` looks its entry points up; false where one is missing. */
typedef struct kw_onednn_version {
  const char *file;
  bool (*fill)(void *library);
  /* A descriptor; strides NULL: whatever oneDNN likes. */
  int (*describe)(void **out_desc, int rank, const int64_t *shape, const int64_t *strides);
  void (*forget)(void *desc);
  /* A convolution's primitive descriptor: descs by kw_onednn_operand, any of them; `bias` may be NULL. `forward` is a
   * hint for gradients, NULL for what is none. */
  int (*convolve)(void **out_primitive_desc, const kw_onednn_conv_info *info, void *const *descs, void *bias,
                  void *engine, void *attributes, void *forward);
} kw_onednn_version;

extern const kw_onednn_version kw_onednn_2, kw_onednn_3;

/* The entry points that both versions have. Those that return int return 0 when all is well. */
typedef struct kw_onednn_library {
  const kw_onednn_version *version;
  void *engine;
  void *attributes; /* scratchpad by the caller, no precision given up */
  void (*omp_set_num_threads)(int count);
  int (*omp_get_max_threads)(void);

  int (*sgemm)(char transa, char transb, int64_t m, int64_t n, int64_t k, float alpha, const float *a, int64_t lda,
               const float *b, int64_t ldb, float beta, float *c, int64_t ldc);
  int (*engine_create)(void **engine, int kind, size_t index);
  int (*stream_create)(void **stream, void *engine, unsigned flags);
  int (*stream_destroy)(void *stream);
  int (*memory_create)(void **memory, const void *desc, void *engine, void *handle);
  int (*memory_destroy)(void *memory);
  size_t (*memory_desc_get_size)(const void *desc);
  int (*memory_desc_equal)(const void *a, const void *b);
  int (*attr_create)(void **attributes);
  int (*attr_set_scratchpad_mode)(void *attributes, int mode);
  int (*attr_set_fpmath_mode)(void *attributes, int mode);
  int (*reorder_create)(void **primitive_desc, const void *from, void *from_engine, const void *to, void *to_engine,
                        const void *attributes);
  const void *(*query_desc)(const void *primitive_desc, int what, int index);
  int (*query)(const void *primitive_desc, int what, int index, void *out_result);
  int (*primitive_desc_destroy)(void *primitive_desc);
  int (*primitive_create)(void **primitive, const void *primitive_desc);
  int (*primitive_destroy)(void *primitive);
  int (*primitive_execute)(const void *primitive, void *stream, int count, const kw_dnnl_arg *args);
} kw_onednn_library;

/* The library, opened; NULL as kw_onednn_is_there says. */
const kw_onednn_library *kw_onednn_open(void);

/* From begin to end OpenMP has one thread here: a region that would have more starts no team. */
int kw_onednn_begin(const kw_onednn_library *library);
void kw_onednn_end(const kw_onednn_library *library, int threads);

/* Stores the address of `name` at `out`; false where there is none. */
static inline bool kw_onednn_look_up(void *library, const char *name, void *out) {
  void *found = dlsym(library, name);
  memcpy(out, &found, sizeof found);
  return found != NULL;
}

#endif /* KEYWAY_CPU_FAST_ONEDNN_LIBRARY_H */
