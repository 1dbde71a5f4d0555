/* SPDX-License-Identifier: Apache-2.0
 *
 * What coordinator and worker say to each other over a socket: frames of a type and a packed payload. The reader trusts
 * nothing: a worker may have been overwritten by the plugin it runs.
 */
#ifndef KEYWAY_CONFORMANCE_PROTOCOL_H
#define KEYWAY_CONFORMANCE_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* File descriptors of a worker: the socket, the file that tells where it crashed (crash.h), the memory that tells what
 * it does (base/worker_note.h), and the end of a pipe whose other one only the coordinator has. */
#define KW_WORKER_SOCKET 3
#define KW_WORKER_CRASH 4
#define KW_WORKER_NOTE 5
#define KW_WORKER_LEASH 6

typedef enum kw_frame {
  KW_FRAME_HELLO = 1,    /* worker: the device, or why there is none (device_facts.h) */
  KW_FRAME_RUN,          /* coordinator: case id, run number */
  KW_FRAME_RESULT,       /* worker: what came out (case_run.h) */
  KW_FRAME_CONTRACT,     /* coordinator: id of a contract test, factor of its time limits, effort */
  KW_FRAME_CONTRACT_END, /* worker: id, outcome, text */
  KW_FRAME_PROGRAM,      /* coordinator: id of a program */
  KW_FRAME_PROGRAM_END   /* worker: what came of it (program_run.h) */
} kw_frame;

/* The outcome of a contract test. TIMEOUT: it waited in vain, and says for what. NOT_TRIED: it could not be
 * made, and says what it lacks. */
typedef enum kw_contract_outcome {
  KW_CONTRACT_PASS,
  KW_CONTRACT_FAIL,
  KW_CONTRACT_SKIP,
  KW_CONTRACT_TIMEOUT,
  KW_CONTRACT_NOT_TRIED
} kw_contract_outcome;

/* A payload being written or read. Writing grows it; reading past the end or a bad length sets `bad` and gives zeros.
 */
typedef struct kw_message {
  unsigned char *data;
  size_t length;
  size_t capacity;
  size_t at;
  bool bad; /* also set when memory ran out */
} kw_message;

void kw_message_free(kw_message *message);
void kw_message_clear(kw_message *message); /* keeps the memory */

void kw_message_put_u32(kw_message *message, uint32_t value);
void kw_message_put_u64(kw_message *message, uint64_t value);
void kw_message_put_f64(kw_message *message, double value);
void kw_message_put_bytes(kw_message *message, const void *bytes, size_t length);
void kw_message_put_string(kw_message *message, const char *text);

uint32_t kw_message_get_u32(kw_message *message);
uint64_t kw_message_get_u64(kw_message *message);
double kw_message_get_f64(kw_message *message);
/* Points into the message; valid while it is. */
const void *kw_message_get_bytes(kw_message *message, size_t *out_length);
/* Never NULL: "" when bad. */
const char *kw_message_get_string(kw_message *message);

typedef enum kw_read {
  KW_READ_OK,
  KW_READ_END,     /* the other side closed the socket, or is gone */
  KW_READ_TIMEOUT, /* nothing complete until the deadline */
  KW_READ_STOPPED, /* not waited for any longer, since the run is asked to end (run/stop.h) */
  KW_READ_GARBAGE  /* what came is no frame */
} kw_read;

/* Sends one frame; false when the other side is gone. Raises no SIGPIPE. */
bool kw_frame_send(int fd, kw_frame type, const kw_message *message);
/* Receives one; waits at most timeout_ms (-1: for ever), and no longer than the other process lives: process_fd is its
 * pidfd, or -1. A socket tells less, for processes that the other one has started may hold it as well. */
kw_read kw_frame_receive(int fd, int process_fd, int timeout_ms, kw_frame *out_type, kw_message *message);

/* A frame of which a part may have come: zeroed before the first. */
typedef struct kw_frame_part {
  unsigned char header[16];
  size_t length; /* of all that came, header and payload */
} kw_frame_part;
/* The same as kw_frame_receive; after KW_READ_TIMEOUT the next call with this part and message goes on where it was. */
kw_read kw_frame_receive_more(kw_frame_part *part, int fd, int process_fd, int timeout_ms, kw_frame *out_type,
                              kw_message *message);

#endif /* KEYWAY_CONFORMANCE_PROTOCOL_H */
