/* SPDX-License-Identifier: Apache-2.0
 *
 * What came of a program's two runs in a worker, as a message: free, as its acts say, and waited, where the device is
 * waited for after each act.
 */
#ifndef KEYWAY_CONFORMANCE_PROGRAM_RUN_H
#define KEYWAY_CONFORMANCE_PROGRAM_RUN_H

#include "program/program.h"
#include "wire/protocol.h"

typedef struct kw_program_bytes {
  const void *data; /* NULL: there are none */
  size_t size;
} kw_program_bytes;

/* What the host has read: by an act, or at the end. */
#define KW_SEEN_AT_END UINT32_MAX
typedef struct kw_program_seen {
  uint32_t act; /* index in kw_program.acts */
  uint32_t storage;
  kw_program_bytes free, waited;
} kw_program_seen;

/* A call that the oracle judges: its inputs, densely packed in row-major order, as the waited run had them, and the
 * results that it gave there. Of a call whose bits are not defined also those of the free run. */
typedef struct kw_program_judged {
  uint32_t call;
  kw_program_bytes inputs[KW_CASE_TENSORS]; /* by tensor of the case */
  kw_program_bytes free[KW_SUITE_RESULTS], waited[KW_SUITE_RESULTS];
} kw_program_judged;

typedef struct kw_program_run {
  const char *id;
  const char *untried; /* why it could not be run; "" */
  const char *failure; /* what the worker saw itself: a call that failed; "" */
  uint32_t refused;    /* calls that the device does not take */
  double seconds;
  uint32_t seen_count, judged_count;
  kw_program_seen *seen; /* in the order of acts, then of storages */
  kw_program_judged *judged;
} kw_program_run;

void kw_program_run_write(const kw_program_run *run, kw_message *message);
/* Bytes point into the message; `seen` and `judged` end with kw_program_run_free. False when it is malformed, and then
 * there is nothing to free. */
bool kw_program_run_read(kw_message *message, kw_program_run *out_run);
void kw_program_run_free(kw_program_run *run);

#endif /* KEYWAY_CONFORMANCE_PROGRAM_RUN_H */
