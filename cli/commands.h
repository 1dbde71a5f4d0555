/* SPDX-License-Identifier: Apache-2.0
 *
 * The commands of the program, each in the file of its name.
 */
#ifndef KEYWAY_CLI_COMMANDS_H
#define KEYWAY_CLI_COMMANDS_H

#include "args.h"

extern const kw_cli_command kw_cli_bench;   /* cmd_bench.c */
extern const kw_cli_command kw_cli_conform; /* cmd_conform.c */
extern const kw_cli_command kw_cli_list;    /* cmd_list.c */
extern const kw_cli_command kw_cli_doctor;  /* cmd_doctor.c */
extern const kw_cli_command kw_cli_ops;     /* cmd_ops.c */
extern const kw_cli_command kw_cli_eval;    /* cmd_eval.c */
extern const kw_cli_command kw_cli_new;     /* cmd_new.c */
extern const kw_cli_command kw_cli_replay;  /* cmd_replay.c */
extern const kw_cli_command kw_cli_report;  /* cmd_report.c */
extern const kw_cli_command kw_cli_top;     /* cmd_top.c */
extern const kw_cli_command kw_cli_trace;   /* cmd_trace.c */
extern const kw_cli_command kw_cli_verify;  /* cmd_verify.c */
extern const kw_cli_command kw_cli_warm;    /* cmd_warm.c */

/* The lines of keyway.bash, keyway.zsh and keyway.fish, NULL-terminated; made by the build. */
extern const char *const kw_cli_bash_completion[];
extern const char *const kw_cli_zsh_completion[];
extern const char *const kw_cli_fish_completion[];

#endif /* KEYWAY_CLI_COMMANDS_H */
