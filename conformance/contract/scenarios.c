/* SPDX-License-Identifier: Apache-2.0
 *
 * The process that runs one scenario: the worker's program, executed again.
 */
#include "scenarios.h"

#include "child.h"
#include "surroundings.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const struct {
  const char *name;
  int (*body)(void);
} scenarios[] = {
#define SCENARIO(name) {#name, kw_child_##name},
    KW_CHILD_SCENARIOS(SCENARIO)};

/* LeakSanitizer asks this when a process ends. Scenarios end with tensors, devices and threads alive on purpose. */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) {
  return kw_contract.is_child;
}

int kw_child_main(int argc, char **argv) {
  if (argc != 9) return 2;
  if (getppid() != (pid_t)atol(argv[8])) return 2; /* it ended before it could be said that this is to end with it */
  kw_contract = (kw_contract_env){.device_name = argv[4],
                                  .plugin_path = argv[5],
                                  .seed = strtoull(argv[3], NULL, 10),
                                  .patience = strtod(argv[6], NULL),
                                  .effort = (kw_effort)atoi(argv[7]),
                                  .is_child = true};
  kw_surroundings_choose(); /* not what the plugin set in the process that started this one */
  for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
    if (strcmp(scenarios[i].name, argv[2]) == 0) return scenarios[i].body();
  }
  fprintf(stderr, "there is no scenario %s", argv[2]);
  return 2;
}
