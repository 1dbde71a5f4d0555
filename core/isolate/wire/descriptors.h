/* SPDX-License-Identifier: Apache-2.0
 *
 * Notices over the socket, and the descriptors that have come with them and wait for the call which is about them.
 */
#ifndef KEYWAY_CORE_DESCRIPTORS_H
#define KEYWAY_CORE_DESCRIPTORS_H

#include "isolate/wire/wire.h"

#include <pthread.h>

#define KW_DESCRIPTORS 32u /* that wait at a time */

typedef struct kw_descriptors {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  struct {
    uint32_t number; /* 0: none */
    int descriptor;
  } rows[KW_DESCRIPTORS];
  bool ended; /* none will come any more */
} kw_descriptors;

void kw_descriptors_init(kw_descriptors *all);
/* Closes those that nobody wants any more. */
void kw_descriptors_close(kw_descriptors *all);
/* Takes the descriptor over; false, and it is closed: there are too many. */
bool kw_descriptors_add(kw_descriptors *all, uint32_t number, int descriptor);
/* Nobody waits from here on. */
void kw_descriptors_end(kw_descriptors *all);
/* Waits for it, for seconds at most; the caller closes it. -1: it will not come. */
int kw_descriptors_take(kw_descriptors *all, uint32_t number);

/* Sends a notice, with a descriptor unless that is -1. */
bool kw_notice_send(int socket, const kw_wire_notice *notice, int descriptor);

/* The next notice, if there is one, or after a wait for it; *out_descriptor is the caller's to close, or -1. */
typedef enum kw_arrival { KW_ARRIVED, KW_ARRIVED_NOTHING, KW_ARRIVED_NONSENSE, KW_ARRIVED_END } kw_arrival;
kw_arrival kw_notice_receive(int socket, bool wait, kw_wire_notice *out_notice, int *out_descriptor);

#endif /* KEYWAY_CORE_DESCRIPTORS_H */
