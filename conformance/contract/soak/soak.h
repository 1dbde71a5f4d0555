/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tests of suite soak share: how much each effort asks for, work in rounds between which nothing may grow, and
 * calls each of which shows in what it leaves.
 */
#ifndef KEYWAY_CONTRACT_SOAK_H
#define KEYWAY_CONTRACT_SOAK_H

#include "contract/known_call.h"

#include <stdint.h>

/* How often something is done, by effort. */
uint64_t kw_soak_count(uint64_t quick, uint64_t normal, uint64_t thorough);
/* What `thorough` is where a counter of 20 bits is to run over. */
#define KW_SOAK_PAST_20_BITS 1100000
/* "10,000"; good for the next three calls. */
const char *kw_soak_number(uint64_t number);
/* To a power of two: for what was measured, that says enough, and is the same the next time. */
uint64_t kw_soak_rounded(double value);

/* Something that is done again and again. */
typedef struct kw_soak_work {
  const char *objects; /* of which there is one each time: "events" */
  uint64_t first;      /* number of the first one, from 0 on */
  uint64_t count;      /* in all */
  uint64_t block;      /* that `run` gets at most; a slow device needs its time limit for no more */
  uint64_t least;      /* bytes of memory: fewer for each object are not called growth */
  /* Does it for the objects from number `first` on, and checks them. Nothing may be in flight afterwards, and nothing
   * be left of them. */
  void (*run)(void *user, uint64_t first, uint64_t count);
  /* NULL; or what a failure's text says of memory that stayed: which of the objects have it. */
  void (*explain)(void *user, char *out_text, size_t size);
  void *user;
} kw_soak_work;

/* Does all of it, a fifth at a time, and fails when each fifth but the first has left the process with more of
 * something: descriptors, threads, mappings, memory of the device or of the host. Where there are many it does the
 * same with a few of them first. */
void kw_soak_run(const kw_soak_work *work);

/* Goes through the ops whose runs may be compared and write nothing but one result, pointwise ones or the others, from
 * where the seed says on: whether `take` has taken one of them in a dtype that the device has a kernel for. */
bool kw_soak_choose(bool pointwise, bool (*take)(void *user, const kw_op *op, kw_dtype dtype), void *user);

/* A call of an op that the device claims, and places for what it computes: a run that did not happen, or went
 * elsewhere, shows in its place. */
typedef struct kw_soak_call {
  kw_known_call known; /* what a place holds after a run */
  uint64_t places;
  size_t stride;        /* bytes from one place to the next */
  kw_tensor *memory;    /* of all places */
  kw_tensor **results;  /* per place: where the call is to write */
  unsigned char *bytes; /* of all places, for reading them */
} kw_soak_call;

/* Chooses an op by the seed, a pointwise one where there is any. Where the device has none that can be compared with
 * itself, the test is not tried. */
void kw_soak_call_make(uint64_t places, kw_soak_call *out);
void kw_soak_call_free(kw_soak_call *call);
/* The first places hold what no run leaves there. */
void kw_soak_call_clear(kw_soak_call *call, uint64_t places);
/* Enqueues a run into the place. Any thread. */
kw_status kw_soak_call_run(const kw_soak_call *call, kw_stream *stream, uint64_t place);
/* Once all is done: each of the first places holds what a run leaves. They stand for the objects from number `first`
 * on: "launch 30,001". */
void kw_soak_call_check(kw_soak_call *call, uint64_t places, const char *object, uint64_t first);

/* The same of one place, whose run has to be done; it is read over `stream`. */
void kw_soak_call_check_over(kw_soak_call *call, kw_stream *stream, uint64_t place, const char *object);

/* What tests do so many times, the objects being numbered from `first` on. */
void kw_soak_launches(uint64_t first, uint64_t count);
void kw_soak_copies(uint64_t first, uint64_t count);
void kw_soak_records(uint64_t first, uint64_t count);
void kw_soak_host_functions(uint64_t first, uint64_t count);
void kw_soak_graph_launches(uint64_t first, uint64_t count);
void kw_soak_streams(uint64_t first, uint64_t count);

#endif /* KEYWAY_CONTRACT_SOAK_H */
