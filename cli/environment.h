/* SPDX-License-Identifier: Apache-2.0
 *
 * What users may say in the environment: the variables, what they mean, and which values are understood.
 */
#ifndef KEYWAY_CLI_ENVIRONMENT_H
#define KEYWAY_CLI_ENVIRONMENT_H

#include <stddef.h>
#include <stdint.h>

typedef struct kw_environment_variable {
  const char *name, *meaning;
  const char *form; /* an extended regular expression that the whole value matches; NULL: any will do */
} kw_environment_variable;

extern const kw_environment_variable kw_environment_variables[];
extern const uint32_t kw_environment_variable_count;

/* What is wrong with a value, "" when nothing is: that it has not the form, or names a plugin or an op that the library
 * has not found. */
void kw_environment_judge(const kw_environment_variable *variable, const char *value, char *text, size_t size);

/* The name of number `index` of those variables that begin with KEYWAY_ and are none of the above, in `name`; NULL when
 * there are no more. Those for tests and for integrations are left out. */
const char *kw_environment_unknown(uint32_t index, char *name, size_t size);

#endif /* KEYWAY_CLI_ENVIRONMENT_H */
