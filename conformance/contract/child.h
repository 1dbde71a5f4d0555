/* SPDX-License-Identifier: Apache-2.0
 *
 * Scenarios in a process of their own, for what a process can do only once: load a plugin, fork, exit. The worker
 * executes itself again; nothing is loaded there before the scenario begins. A scenario that hangs is ended by the
 * case's own time limit, which ends the worker's whole process group.
 */
#ifndef KEYWAY_CONTRACT_CHILD_H
#define KEYWAY_CONTRACT_CHILD_H

#include "contract_helpers.h"

/* What a scenario is called with: kw_contract holds all but the device. Its value is the exit code: 0 for what was
 * expected. What it writes to stderr is the reason, and a failing KW_CHECK writes there and exits. */
#define KW_CHILD_SCENARIOS(X) \
  X(fast_math)                \
  X(lifetime)                 \
  X(usable)                   \
  X(init_again)               \
  X(fork_refused)             \
  X(fork_exec)                \
  X(fork_first)               \
  X(exit_in_flight)           \
  X(exit_held_up)             \
  X(exit_elsewhere)           \
  X(exit_in_function)         \
  X(exit_handlers)

#define KW_DECLARE_SCENARIO(name) int kw_child_##name(void);
KW_CHILD_SCENARIOS(KW_DECLARE_SCENARIO)

/* Runs a scenario and fails the test unless it exits with code 0. */
void kw_test_child(const char *scenario);

/* In a scenario: loads the plugin under test, and no other, and opens the device as kw_contract.device. */
void kw_child_open_device(void);

/* The worker's main for `keyway-worker child SCENARIO SEED DEVICE PLUGIN`. */
int kw_child_main(int argc, char **argv);

#endif /* KEYWAY_CONTRACT_CHILD_H */
