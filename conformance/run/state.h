/* SPDX-License-Identifier: Apache-2.0
 *
 * The file from which a run of blocks goes on where it was interrupted: one line for each block that passed, written
 * when it did. Blocks that did not pass are run again.
 */
#ifndef KEYWAY_CONFORMANCE_STATE_H
#define KEYWAY_CONFORMANCE_STATE_H

#include "run/run.h"

/* Reads the file and takes over what it says about run->cases; makes it where it is not there. run->plugin_hash is
 * known. False: it is of another run or cannot be written; *out_text says which. */
bool kw_state_open(kw_run *run, const char *path, char *out_text, size_t size);
/* Notes a case that is done, from any thread, if it passed. Without a file nothing happens. */
void kw_state_note(kw_run *run, const kw_run_case *c);
/* False where the file could not be written to the end. */
bool kw_state_close(kw_run *run);

#endif /* KEYWAY_CONFORMANCE_STATE_H */
