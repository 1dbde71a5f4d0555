/* SPDX-License-Identifier: Apache-2.0
 *
 * `keyway report diff`: what is different between two reports, for people and programs.
 */
#ifndef KEYWAY_CLI_REPORT_DIFF_H
#define KEYWAY_CLI_REPORT_DIFF_H

#include "args.h"

/* Returns the exit code: 0 nothing, 1 something is different, 2 a report cannot be read or --json not be written. */
int kw_cli_report_diff(const kw_cli_args *args);

#endif /* KEYWAY_CLI_REPORT_DIFF_H */
