/* SPDX-License-Identifier: Apache-2.0
 *
 * The pipe: parcels of bytes, and calls between two processes by them.
 *
 * Each thread that calls has a socket of its own, at whose other end a thread of the other process answers. What that
 * one calls meanwhile comes back over the same socket, so that a call, the host's services that it uses and what these
 * call again stay with one thread on each side, as they would without a pipe.
 */
#ifndef KEYWAY_TESTS_PIPE_WIRE_H
#define KEYWAY_TESTS_PIPE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that are put in one after another, or taken out in the same order. Zeroes are an empty one to put into. */
typedef struct parcel {
  uint8_t *data;
  size_t size, room, at;
  bool taking;
  bool bad;             /* taken beyond its end, or no memory */
  bool unknown;         /* something is inside whose form is not known here: it is not sent */
  bool failed;          /* of an answer: the call failed, results are left out */
  struct piece *pieces; /* memory of what was taken */
} parcel;

/* Puts what is at `data`, or takes as much to there. */
void parcel_carry(parcel *p, void *data, size_t size);
#define CARRY(p, field) parcel_carry(p, &(field), sizeof(field))

/* The next `size` bytes of a parcel that is taken from, inside of it; NULL when they are not there. */
const void *parcel_bytes(parcel *p, size_t size);

/* Zeroed memory that lives as long as the parcel; NULL when there is none, and the parcel is bad. */
void *parcel_room(parcel *p, size_t size);
void parcel_end(parcel *p);

/* The descriptor of the child over which it is told of new sockets. */
#define CONTROL_FD 3

/* Runs `body` on a detached thread that takes no signals; false where there is no thread. */
bool pipe_thread(void *(*body)(void *), void *argument);

/* Answers call number `what`. */
typedef void pipe_answer(uint32_t what, parcel *request, parcel *reply);

/* The descriptor over which the other process is told of new sockets, and what answers calls of the other process. */
void pipe_start(int control, pipe_answer *answer);

/* Answers, each on a thread of its own, what threads of the other process call, until the other process ends. */
void pipe_listen(void);

/* Sends a call and waits for the answer, which is to be taken from *reply. False: the other process is gone. */
bool pipe_call(uint32_t what, const parcel *request, parcel *reply);

#endif /* KEYWAY_TESTS_PIPE_WIRE_H */
