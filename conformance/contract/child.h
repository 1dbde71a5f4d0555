/* SPDX-License-Identifier: Apache-2.0
 *
 * Scenarios in a process of their own, for what a process can do only once: load a plugin, fork, exit. The worker
 * executes itself again; nothing is loaded there before the scenario begins. A scenario that hangs is ended by the
 * case's own time limit, which ends the worker's whole process group.
 */
#ifndef KEYWAY_CONTRACT_CHILD_H
#define KEYWAY_CONTRACT_CHILD_H

#include "contract_helpers.h"

/* The command of a scenario: what the worker executes itself with. */
typedef struct kw_child_command {
  char seed[32], patience[32], effort[16], parent[32];
  const char *argv[10]; /* NULL-terminated */
} kw_child_command;
/* The scenario ends with the process `parent`, which has to be the one that starts it. */
void kw_child_command_make(const char *scenario, pid_t parent, kw_child_command *out_command);

/* Runs a scenario and fails the test unless it exits with code 0 or one of KW_CHILD_*: then the test ends alike, with
 * what is on stderr. */
void kw_test_child(const char *scenario);
/* The same, and fails it when the process has written anything to stdout or stderr. */
void kw_test_quiet_child(const char *scenario);

/* In a scenario: loads the plugin under test, and no other. */
void kw_child_load_plugin(void);
/* Does so and opens the device as kw_contract.device. */
void kw_child_open_device(void);
/* The same with KW_INIT_* beyond that. */
void kw_child_open_device_with(uint64_t flags);

#endif /* KEYWAY_CONTRACT_CHILD_H */
