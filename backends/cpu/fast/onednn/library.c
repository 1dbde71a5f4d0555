/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening oneDNN, and one thread of OpenMP for what it computes.
 */
#include "library.h"

#include <pthread.h>
#include <stdatomic.h>

#if defined(__SANITIZE_THREAD__)
#define HAS_TSAN 1 /* which does not see how OpenMP synchronises */
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HAS_TSAN 1
#endif
#endif
#ifndef HAS_TSAN
#define HAS_TSAN 0
#endif

/* What dnnl_version returns. */
typedef struct version_info {
  int major, minor, patch;
  const char *hash;
  unsigned cpu_runtime, gpu_runtime;
} version_info;
enum { RUNTIME_NONE = 0, RUNTIME_SERIAL = 1, RUNTIME_OPENMP = 2 };

static pthread_once_t opened_once = PTHREAD_ONCE_INIT;
static kw_onednn_library opened;
static atomic_bool is_usable; /* not so in a child of a process that may have had threads in it */

static bool look_up_all(void *library, kw_onednn_library *out) {
  const struct {
    const char *name;
    void *at;
  } entries[] = {
      {"dnnl_sgemm", &out->sgemm},
      {"dnnl_engine_create", &out->engine_create},
      {"dnnl_stream_create", &out->stream_create},
      {"dnnl_stream_destroy", &out->stream_destroy},
      {"dnnl_memory_create", &out->memory_create},
      {"dnnl_memory_destroy", &out->memory_destroy},
      {"dnnl_memory_desc_get_size", &out->memory_desc_get_size},
      {"dnnl_memory_desc_equal", &out->memory_desc_equal},
      {"dnnl_primitive_attr_create", &out->attr_create},
      {"dnnl_primitive_attr_set_scratchpad_mode", &out->attr_set_scratchpad_mode},
      {"dnnl_primitive_attr_set_fpmath_mode", &out->attr_set_fpmath_mode},
      {"dnnl_reorder_primitive_desc_create", &out->reorder_create},
      {"dnnl_primitive_desc_query_md", &out->query_desc},
      {"dnnl_primitive_desc_query", &out->query},
      {"dnnl_primitive_desc_destroy", &out->primitive_desc_destroy},
      {"dnnl_primitive_create", &out->primitive_create},
      {"dnnl_primitive_destroy", &out->primitive_destroy},
      {"dnnl_primitive_execute", &out->primitive_execute},
  };
  bool all = true;
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    all = kw_onednn_look_up(library, entries[i].name, entries[i].at) && all;
  }
  return all;
}

/* Whether this oneDNN is one that can be told how many threads it has. A version 3 that knows GPUs, too, is part of a
 * larger runtime, which nobody asked for. */
static bool is_suitable(void *library, const kw_onednn_version *version, kw_onednn_library *out) {
  const version_info *(*get_version)(void);
  if (!kw_onednn_look_up(library, "dnnl_version", &get_version)) return false;
  const version_info *info = get_version();
  if (version == &kw_onednn_3 && info->gpu_runtime != RUNTIME_NONE) return false;
  if (info->cpu_runtime == RUNTIME_SERIAL) return true;
  return info->cpu_runtime == RUNTIME_OPENMP &&
         kw_onednn_look_up(library, "omp_set_num_threads", &out->omp_set_num_threads) &&
         kw_onednn_look_up(library, "omp_get_max_threads", &out->omp_get_max_threads);
}

static bool open_version(const kw_onednn_version *version) {
  void *library = dlopen(version->file, RTLD_NOW | RTLD_LOCAL);
  if (!library) return false;
  kw_onednn_library found = {.version = version};
  if (is_suitable(library, version, &found) && look_up_all(library, &found) && version->fill(library) &&
      found.engine_create(&found.engine, KW_DNNL_CPU, 0) == 0 && found.attr_create(&found.attributes) == 0 &&
      found.attr_set_scratchpad_mode(found.attributes, KW_DNNL_SCRATCHPAD_USER) == 0 &&
      found.attr_set_fpmath_mode(found.attributes, KW_DNNL_FPMATH_STRICT) == 0) {
    opened = found;
    return true;
  }
  dlclose(library);
  return false;
}

static void forbid(void) {
  atomic_store(&is_usable, false);
}

static void open_once(void) {
  if (HAS_TSAN || pthread_atfork(NULL, NULL, forbid) != 0) return;
  atomic_store(&is_usable, open_version(&kw_onednn_3) || open_version(&kw_onednn_2));
}

const kw_onednn_library *kw_onednn_open(void) {
  pthread_once(&opened_once, open_once);
  return atomic_load_explicit(&is_usable, memory_order_relaxed) ? &opened : NULL;
}

bool kw_onednn_is_there(void) {
  return kw_onednn_open() != NULL;
}

int kw_onednn_begin(const kw_onednn_library *library) {
  if (!library->omp_set_num_threads) return 1;
  const int threads = library->omp_get_max_threads();
  if (threads != 1) library->omp_set_num_threads(1);
  return threads;
}

void kw_onednn_end(const kw_onednn_library *library, int threads) {
  if (threads != 1) library->omp_set_num_threads(threads);
}

kw_status kw_onednn_product(int64_t rows, int64_t k, int64_t columns, float alpha, kw_onednn_matrix a,
                            kw_onednn_matrix b, float beta, float *out, int64_t out_step) {
  const kw_onednn_library *library = kw_onednn_open();
  if (!library) return KW_ERR_NOT_IMPLEMENTED;
  const int threads = kw_onednn_begin(library);
  const int failed = library->sgemm(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', rows, columns, k, alpha, a.at,
                                    a.step, b.at, b.step, beta, out, out_step);
  kw_onednn_end(library, threads);
  return failed ? KW_ERR_OUT_OF_MEMORY : KW_OK;
}
