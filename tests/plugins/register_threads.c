/* SPDX-License-Identifier: Apache-2.0
 *
 * Registers kernels from several threads at once, all within init.
 */
#define FIXTURE_KEY "register_threads"
#include "fixture.h"

#include <pthread.h>

enum { THREADS = 8, PER_THREAD = 1000 };

static const char *const ops[THREADS] = {"add.Tensor", "sub.Tensor", "mul.Tensor", "div.Tensor",
                                         "abs",        "neg",        "exp",        "log"};

/* What the thread registered and may not have, or NULL. */
static void *register_for(void *op) {
  char name[32];
  kw_kernel_desc kernel = {
      .struct_size = sizeof kernel, .op = op, .name = name, .dtypes = {{1, 0}}, .known_args = 1, .launch = fixture_add};
  for (int i = 0; i < PER_THREAD; i++) {
    snprintf(name, sizeof name, "kernel_%d", i);
    if (fixture_host->register_kernel(fixture_host->ctx, &kernel) != KW_OK) return op;
  }
  return NULL;
}

static kw_status register_in_threads(const kw_host_api *host, const kw_init_info *info, void **out_plugin) {
  (void)info;
  fixture_host = host;
  *out_plugin = &fixture_state;
  pthread_t threads[THREADS];
  kw_status status = KW_OK;
  int started = 0;
  while (started < THREADS && pthread_create(&threads[started], NULL, register_for, (void *)ops[started]) == 0)
    started++;
  for (int i = 0; i < started; i++) {
    void *failed;
    pthread_join(threads[i], &failed);
    if (failed != NULL) status = KW_ERR_INTERNAL;
  }
  return started == THREADS ? status : KW_ERR_OUT_OF_MEMORY;
}

#define FIXTURE_INIT register_in_threads
#include "fixture_plugin.h"
