/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that runs models: its command line and what it prints.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

/* The whole program: `[--device NAME] [--plugin FILE]... [--recorded DIR] [--train] [MODEL]`. MODEL is one of `names`,
 * which ends with NULL, and need not be given if there is but one. --help prints `usage`. Returns the exit status. */
int program_run(int argc, char **argv, const char *usage, const char *const *names);

#endif /* PROGRAM_H */
