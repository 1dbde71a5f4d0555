/* SPDX-License-Identifier: Apache-2.0
 *
 * Known failures, named by a vendor in a file: [{"case": "ID or GLOB", "reason": "TEXT"}, ...]. They are reported as
 * expected and never count as passes. One that passes is an error, and so is an entry that is about no case.
 */
#ifndef KEYWAY_CONFORMANCE_KNOWN_FAILURES_H
#define KEYWAY_CONFORMANCE_KNOWN_FAILURES_H

#include "run/entry_list.h"
#include "run/run.h"

/* Reads the file. False: *out_message is "FILE:LINE: what is wrong"; out is zeroed then. */
bool kw_known_failures_read(const char *path, kw_entry_list *out_known, char *out_message, size_t size);

/* Marks the cases of a run that are known to fail; reasons stay those of `known`. False when an entry matches none of
 * the cases that the run would have without the options that leave some out: *out_message says which. */
bool kw_known_failures_apply(const kw_entry_list *known, kw_run *run, char *out_message, size_t size);

#endif /* KEYWAY_CONFORMANCE_KNOWN_FAILURES_H */
