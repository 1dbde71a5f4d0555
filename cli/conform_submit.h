/* SPDX-License-Identifier: Apache-2.0
 *
 * The options with which `keyway conform` makes a certification package.
 */
#ifndef KEYWAY_CLI_CONFORM_SUBMIT_H
#define KEYWAY_CLI_CONFORM_SUBMIT_H

#include "args.h"
#include "certify/submit.h"

/* Takes the options, and refuses those that do not go together. Without --submit there is nothing to do. False:
 * *out_message says what is wrong. */
bool kw_cli_submission_begin(const kw_cli_args *args, kw_submission *submission, char *out_message, size_t size);

/* Writes the package and says so. Returns the exit code. */
int kw_cli_submit(const kw_cli_args *args, kw_submission *submission, const kw_run *run, const kw_report *report,
                  FILE *out);

#endif /* KEYWAY_CLI_CONFORM_SUBMIT_H */
