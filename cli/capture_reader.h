/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading a capture (core/layers/capture_format.h). The file is anybody's: nothing in it is believed.
 */
#ifndef KEYWAY_CLI_CAPTURE_READER_H
#define KEYWAY_CLI_CAPTURE_READER_H

#include "layers/capture_format.h"

#include <stdint.h>

#define KW_CAPTURE_ARGS 24 /* as many as an op has */
#define KW_CAPTURE_OUTS 8
#define KW_CAPTURE_LIST 65536u /* entries of a list, at most */
#define KW_CAPTURE_NAME 64

typedef struct kw_capture_place {
  uint64_t buffer, offset; /* bytes */
  kw_dtype dtype;
  uint32_t rank;
  int64_t shape[KW_MAX_RANK], strides[KW_MAX_RANK];
  uint64_t size; /* of the elements, densely packed */
} kw_capture_place;

/* An argument. `value` as kw_op_call wants it, but for tensors: those are places. */
typedef struct kw_capture_value {
  kw_value value;
  kw_capture_place *places; /* of a tensor one, of a list value.count */
  bool *present;            /* of a list */
} kw_capture_value;

typedef struct kw_capture_out {
  uint32_t how;  /* KW_CAPTURE_OUT_ */
  uint64_t size; /* of the buffer that was made */
  kw_capture_place place;
} kw_capture_out;

typedef struct kw_capture_call {
  char op[KW_CAPTURE_NAME], kernel[KW_CAPTURE_NAME];
  uint64_t recording;
  uint32_t math, deterministic, autocast, random;
  kw_generator_state generator;
  uint32_t arg_count, out_count;
  kw_capture_value args[KW_CAPTURE_ARGS];
  kw_capture_out outs[KW_CAPTURE_OUTS];
} kw_capture_call;

/* One record. What its type does not have is zero. */
typedef struct kw_capture_entry {
  kw_capture_type type;
  uint64_t index;  /* among the file's calls, from 1: of a CALL; otherwise of the one before */
  uint64_t number; /* of a buffer, a read, a graph */
  uint64_t stream, size;
  uint32_t on;
  kw_capture_place place, from;
  const uint8_t *data;
  size_t data_size;
  kw_capture_call call;
  const uint8_t *record; /* as it lies in the file, with its header */
  size_t record_size;
  struct kw_capture_kept *kept; /* memory of the entry's */
} kw_capture_entry;

typedef struct kw_capture_reader {
  const uint8_t *data, *end;
  const uint8_t *at;
  uint64_t calls;
  bool complete; /* the END record was read */
  bool full;     /* and it says that the limit was reached */
} kw_capture_reader;

/* False when it is no capture; `message` says why. */
bool kw_capture_reader_open(kw_capture_reader *reader, const char *path, char *message, size_t size);
void kw_capture_reader_rewind(kw_capture_reader *reader);
void kw_capture_reader_close(kw_capture_reader *reader);

typedef enum kw_capture_read_status {
  KW_CAPTURE_HAS_READ,
  KW_CAPTURE_AT_END,
  KW_CAPTURE_BROKEN
} kw_capture_read_status;
/* The next record: into *entry, which the caller has zeroed, and frees. At the end: of a whole file, or where one was
 * cut off. Broken: `message` says what is wrong, and where. */
kw_capture_read_status kw_capture_reader_next(kw_capture_reader *reader, kw_capture_entry *entry, char *message,
                                              size_t size);
void kw_capture_entry_free(kw_capture_entry *entry);

#endif /* KEYWAY_CLI_CAPTURE_READER_H */
