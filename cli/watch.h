/* SPDX-License-Identifier: Apache-2.0
 *
 * `--watch`: a command that runs again whenever a plugin's file is built anew.
 */
#ifndef KEYWAY_CLI_WATCH_H
#define KEYWAY_CLI_WATCH_H

#include "args.h"

/* Runs the program's own command line, without --watch, in a process of its own: now, and each time when one of the
 * files of --plugin has been written; a run that is under way then is stopped first. Until SIGINT or SIGTERM: returns
 * 130 or 143 then, KW_CLI_USAGE, with a message, when there is nothing to watch. */
int kw_cli_watch(const kw_cli_args *args);

#endif /* KEYWAY_CLI_WATCH_H */
