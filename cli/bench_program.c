/* SPDX-License-Identifier: Apache-2.0
 *
 * The programs of `keyway bench`.
 */
#include "bench_program.h"

#include <stdlib.h>
#include <string.h>

struct kw_bench_program {
  const kw_bench_steps *steps;
  void *state;
};

static const kw_bench_steps *find(const char *name) {
  static const struct {
    const char *name;
    const kw_bench_steps *steps;
  } programs[] = {{"kmeans", &kw_bench_kmeans}, {"chain", &kw_bench_chain}, {"chain_graph", &kw_bench_chain_graph}};
  for (size_t i = 0; i < sizeof programs / sizeof *programs; ++i) {
    if (strcmp(programs[i].name, name) == 0) return programs[i].steps;
  }
  return NULL;
}

bool kw_bench_program_is_known(const char *name) {
  return find(name) != NULL;
}

kw_status kw_bench_program_make(kw_device *device, const char *name, int64_t size, kw_bench_program **out_program) {
  kw_bench_program *program = calloc(1, sizeof *program);
  if (!program) return KW_ERR_OUT_OF_MEMORY;
  program->steps = find(name);
  const kw_status status = program->steps->make(device, size, &program->state);
  if (status == KW_OK) {
    *out_program = program;
  } else {
    free(program);
  }
  return status;
}

kw_status kw_bench_program_run(kw_bench_program *program) {
  return program->steps->run(program->state);
}

void kw_bench_program_release(kw_bench_program *program) {
  program->steps->release(program->state);
  free(program);
}
