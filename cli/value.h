/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of an op's arguments, read from the text of a command line.
 */
#ifndef KEYWAY_CLI_VALUE_H
#define KEYWAY_CLI_VALUE_H

#include <keyway/keyway.h>

#define KW_CLI_MAX_INTS 64

/* What lists and texts of a value point into. */
typedef struct kw_cli_storage {
  int64_t ints[KW_CLI_MAX_INTS];
  char text[256];
} kw_cli_storage;

/* The value that `text` stands for ("3", "1e-5", "true", "0,1", "none", "f16"). False when it is none of the argument's
 * type: kw_cli_value_expects says what would be. */
bool kw_cli_value_parse(const kw_arg_info *arg, const char *text, kw_cli_storage *storage, kw_value *out_value);
/* "an integer", "true or false", ... */
const char *kw_cli_value_expects(const kw_arg_info *arg);

#endif /* KEYWAY_CLI_VALUE_H */
