/* SPDX-License-Identifier: Apache-2.0
 *
 * Ctrl-C (SIGINT) and SIGTERM end the program at once, wherever it is, with 130 and 143 as shells say it. What it has
 * begun goes with it: the file that is being written, and programs that it has started. (`keyway conform` listens
 * itself, since it leaves reports of what was done: conformance/run/stop.h.)
 */
#ifndef KEYWAY_CLI_INTERRUPT_H
#define KEYWAY_CLI_INTERRUPT_H

#include <sys/types.h>

#define KW_CLI_CHILDREN 16 /* that are known; any more end by themselves */

/* Where the program was started with the signals ignored (nohup) they stay so. */
void kw_cli_interrupt_listen(void);
/* The file is not whole yet; the path stays where it is until NULL is given. One at a time. */
void kw_cli_interrupt_file(const char *path);
/* A program was started, or has ended and is not collected yet. */
void kw_cli_interrupt_child_begin(pid_t child);
void kw_cli_interrupt_child_end(pid_t child);

#endif /* KEYWAY_CLI_INTERRUPT_H */
