/* SPDX-License-Identifier: Apache-2.0
 *
 * Running a capture again: as it was, or call by call beside another device.
 */
#ifndef KEYWAY_CLI_REPLAY_H
#define KEYWAY_CLI_REPLAY_H

#include "capture_reader.h"

typedef struct kw_replay_options {
  const char *device;
  const char *against; /* another device; NULL: what was captured is held against what is read */
  bool nan;            /* with `against`, which may be the same device: stop at the first NaN in a result */
  const char *cut;     /* a file for the call that it stops at; NULL */
} kw_replay_options;

typedef enum kw_replay_outcome {
  KW_REPLAY_SAME,
  KW_REPLAY_DIFFERS, /* call, text and the figures say where and how */
  KW_REPLAY_NAN,     /* the same, of a result with NaN */
  KW_REPLAY_FAILED,  /* a call failed on a device: call, text */
  KW_REPLAY_REFUSED  /* the file is damaged, a device does not open, or the cut cannot be written: text */
} kw_replay_outcome;

typedef struct kw_replay_result {
  kw_replay_outcome outcome;
  uint64_t calls, reads, launches; /* done */
  uint64_t in_bounds;              /* results whose bits differed, within the bounds */
  bool complete, full;             /* of the file */
  uint64_t call;                   /* from 1 in the order of the file; 0: none was before */
  char op[KW_CAPTURE_NAME];
  char text[1400];      /* the arguments, what differs, why it failed */
  int64_t count, wrong; /* elements of the result, or the read */
  double error;         /* the largest, in bounds */
  uint64_t cut_bytes;   /* of the file that was written; 0: none */
} kw_replay_result;

kw_replay_result kw_capture_replay(kw_capture_reader *reader, const kw_replay_options *options);

#endif /* KEYWAY_CLI_REPLAY_H */
