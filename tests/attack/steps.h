/* SPDX-License-Identifier: Apache-2.0
 *
 * What applications do, in steps that are tried while something fails. Each undoes what it did, also when it fails
 * halfway, and checks the numbers that it gets.
 */
#ifndef KEYWAY_ATTACK_STEPS_H
#define KEYWAY_ATTACK_STEPS_H

#include <keyway/keyway.h>

/* Of a step that got wrong numbers, or less than there is, with KW_OK. */
#define STEP_WRONG ((kw_status)1000)

typedef struct attack_step {
  const char *name;
  bool starts;   /* it starts the library, which the others find started, with the plugin loaded */
  bool together; /* several threads may do it at once */
  kw_status (*run)(void);
} attack_step;

extern const attack_step attack_steps[]; /* the last has no name */

/* What the steps use: set before the first. */
extern _Thread_local const char *step_device; /* "npu:0" */
extern const char *step_plugin;               /* its file, for those that do not discover it */
extern const char *step_host;                 /* cpu:0's, or NULL */
extern const char *step_other;                /* a plugin file with ops of its own, which the step "load" loads */

/* Where the last step that did not go well stopped, and Keyway's message of then. */
extern _Thread_local char step_where[128], step_message[512];

#endif /* KEYWAY_ATTACK_STEPS_H */
