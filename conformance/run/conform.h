/* SPDX-License-Identifier: Apache-2.0
 *
 * The conformance suite as a library: `keyway conform` is this function.
 */
#ifndef KEYWAY_CONFORMANCE_CONFORM_H
#define KEYWAY_CONFORMANCE_CONFORM_H

#include <stdio.h>

/* Runs the suite; argv[0] is "conform". Returns the exit code: 0 conformant, 1 not conformant, 2 nothing could be
 * run, 3 not conformant, with known failures only.
 * Loads no plugin into this process. Call once, before the program starts threads of its own. */
int kw_conform_main(int argc, char **argv);

/* Prints the options. */
void kw_conform_usage(FILE *out);

#endif /* KEYWAY_CONFORMANCE_CONFORM_H */
