/* SPDX-License-Identifier: Apache-2.0
 *
 * keyway/ops.h, the typed calls, made from the schemas of the ops.
 */
#ifndef KEYWAY_CLI_OP_HEADER_H
#define KEYWAY_CLI_OP_HEADER_H

#include <stdbool.h>
#include <stdio.h>

/* Writes the header. False, and said on stderr, when two ops would have one name in C. */
bool kw_op_header_print(FILE *out);

#endif /* KEYWAY_CLI_OP_HEADER_H */
