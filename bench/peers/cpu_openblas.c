/* SPDX-License-Identifier: Apache-2.0
 *
 * The peer `openblas` of cpu devices: matrix products by OpenBLAS's cblas_sgemm, called directly.
 */
#include "products.h"

#include <dlfcn.h>

enum { ROW_MAJOR = 101, PLAIN = 111, TRANSPOSED = 112 };

typedef void (*sgemm_fn)(int order, int left_form, int right_form, int rows, int columns, int depth, float alpha,
                         const float *left, int left_step, const float *right, int right_step, float beta, float *out,
                         int out_step);
typedef void (*set_threads_fn)(int count);

typedef struct blas {
  void *library;
} blas;

static void blas_close(void *peer) {
  free(peer); /* the library stays: it has threads */
}

static bool blas_open(const char *device, void **out_peer, char *why, size_t size) {
  (void)device;
  const char *threads = getenv("KEYWAY_THREADS");
  blas *peer = calloc(1, sizeof *peer);
  if (peer) peer->library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!peer || !peer->library) {
    snprintf(why, size, "libopenblas.so.0 does not load; apt-get install libopenblas0-pthread brings it");
    free(peer);
    return false;
  }
  set_threads_fn set_threads;
  *(void **)&set_threads = dlsym(peer->library, "openblas_set_num_threads");
  if (set_threads && dlsym(peer->library, "cblas_sgemm")) {
    set_threads(threads ? atoi(threads) : 1);
    *out_peer = peer;
    return true;
  }
  snprintf(why, size, "libopenblas.so.0 lacks cblas_sgemm or openblas_set_num_threads");
  blas_close(peer);
  return false;
}

static bool blas_prepare(void *peer, const kw_call *call, void **out_job, char *why, size_t size) {
  (void)peer;
  *out_job = kw_peer_products_make(call, why, size);
  return *out_job != NULL;
}

static void blas_discard(void *peer, void *job) {
  (void)peer;
  kw_peer_products_free(job);
}

static void blas_run(void *state, void *job) {
  const blas *peer = state;
  const kw_peer_products *p = job;
  const float beta = kw_peer_products_begin(p) ? 1 : 0;
  sgemm_fn sgemm;
  *(void **)&sgemm = dlsym(peer->library, "cblas_sgemm"); /* by name each time: that is nothing beside a product */
  for (int64_t i = 0; i < p->count; ++i)
    sgemm(ROW_MAJOR, p->left.transposed ? TRANSPOSED : PLAIN, p->right.transposed ? TRANSPOSED : PLAIN, (int)p->rows,
          (int)p->columns, (int)p->depth, 1, p->left.at + i * p->rows * p->depth, (int)p->left.step,
          p->right.at + i * p->depth * p->columns, (int)p->right.step, beta, p->out + i * p->rows * p->columns,
          (int)p->columns);
}

static void blas_wait(void *peer) {
  (void)peer;
}

const kw_bench_peer_api *kw_bench_peer_query(void) {
  static const kw_bench_peer_api api = {.title = "OpenBLAS's cblas_sgemm, called directly",
                                        .open = blas_open,
                                        .close = blas_close,
                                        .prepare = blas_prepare,
                                        .discard = blas_discard,
                                        .run = blas_run,
                                        .wait = blas_wait};
  return &api;
}
