/* SPDX-License-Identifier: Apache-2.0
 *
 * The options that name the files of a report, which `keyway conform` and `keyway report` share.
 */
#ifndef KEYWAY_CLI_REPORT_PATHS_H
#define KEYWAY_CLI_REPORT_PATHS_H

#include "args.h"
#include "report/files.h"

static inline kw_report_paths kw_cli_report_paths(const kw_cli_args *args) {
  return (kw_report_paths){.json = kw_cli_args_value(args, "--json"),
                           .junit = kw_cli_args_value(args, "--junit"),
                           .tap = kw_cli_args_value(args, "--tap"),
                           .html = kw_cli_args_value(args, "--html")};
}

#endif /* KEYWAY_CLI_REPORT_PATHS_H */
