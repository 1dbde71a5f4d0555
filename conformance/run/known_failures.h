/* SPDX-License-Identifier: Apache-2.0
 *
 * Known failures, named by a vendor in a file: [{"case": "ID or GLOB", "reason": "TEXT"}, ...]. They are reported as
 * expected and never count as passes. One that passes is an error, and so is an entry that is about no case.
 */
#ifndef KEYWAY_CONFORMANCE_EXPECT_H
#define KEYWAY_CONFORMANCE_EXPECT_H

#include "run/run.h"

typedef struct kw_expect_entry {
  char *pattern;
  char *reason;
  uint32_t line; /* of the file, from 1 */
} kw_expect_entry;

typedef struct kw_expect {
  uint32_t count;
  kw_expect_entry *entries;
} kw_expect;

/* Reads the file. False: *out_message is "FILE:LINE: what is wrong"; out is zeroed then. */
bool kw_expect_read(const char *path, kw_expect *out_expect, char *out_message, size_t size);

/* Marks the cases of a run that are known to fail; reasons stay the expectation's. False when an entry matches none of
 * the cases that the run would have without the options that leave some out: *out_message says which. */
bool kw_expect_apply(const kw_expect *expect, kw_run *run, char *out_message, size_t size);

void kw_expect_free(kw_expect *expect);

#endif /* KEYWAY_CONFORMANCE_EXPECT_H */
