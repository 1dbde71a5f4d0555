/* SPDX-License-Identifier: Apache-2.0
 *
 * What a device lacks for a level of the conformance suite.
 */
#ifndef KEYWAY_CLI_MISSING_H
#define KEYWAY_CLI_MISSING_H

#include "args.h"

#include <keyway/keyway.h>

/* Prints the ops and dtypes that `level` ("core+f64") asks for and the device runs neither by a kernel nor by a
 * decomposition, as a table or as JSON. Returns what the program exits with. */
int kw_cli_print_missing(const kw_cli_args *args, kw_device *device, const char *level);

#endif /* KEYWAY_CLI_MISSING_H */
