/* SPDX-License-Identifier: Apache-2.0
 *
 * What gates wait for and how long, and what is said when nothing else goes on meanwhile.
 */
#include "hold.h"

#include "base/clock.h"
#include "base/process_clock.h"
#include "base/worker_note.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define LIMIT 5.0   /* seconds in which the process neither runs nor wants to: work that goes on takes far less */
#define STEP_MS 500 /* between two looks at it */
#define NAME_SIZE 32

struct kw_gate {
  pthread_t caller; /* who closes it */
  bool closing;     /* the caller is inside kw_stream_call_host */
  bool run_inline;  /* the callback ran there: waiting would never end */
  bool used;        /* until the stream has passed it */
  bool entered;     /* the stream has reached it */
  bool open;
  char stream[NAME_SIZE];
  char holder[64]; /* what holds work up: "stream 2's host function" */
};

static pthread_mutex_t gate_mutex = PTHREAD_MUTEX_INITIALIZER; /* of all that follows */
static pthread_cond_t gate_changed = PTHREAD_COND_INITIALIZER;
static kw_gate gates[16];
enum { GATES = sizeof gates / sizeof gates[0] };
static char in_vain[512];        /* what the test waited for; "" */
static char expected[NAME_SIZE]; /* the stream that has to go on; "" */
static const void *streams[64];  /* of the test, in the order in which they were made */
static unsigned stream_count;

/* ---- Names ------------------------------------------------------------------------------------------------------- */

void kw_gate_name_stream(const void *stream) {
  streams[stream_count++ % 64] = stream;
}

/* "stream 2": the second that the test made. */
static void print_name(const void *stream, char name[NAME_SIZE]) {
  unsigned first = stream_count > 64 ? stream_count - 64 : 0, i = stream_count;
  while (i > first && streams[(i - 1) % 64] != stream) i--; /* the last of that address: others are gone */
  if (i > first) {
    snprintf(name, NAME_SIZE, "stream %u", i);
  } else {
    bool usual = stream == kw_stream_default(kw_contract.device);
    snprintf(name, NAME_SIZE, "%s", usual ? "the default stream" : "a stream");
  }
}

void kw_gate_expect(const void *stream) {
  char name[NAME_SIZE] = "";
  if (stream) print_name(stream, name);
  pthread_mutex_lock(&gate_mutex);
  memcpy(expected, name, sizeof expected);
  pthread_mutex_unlock(&gate_mutex);
}

/* ---- Waiting ----------------------------------------------------------------------------------------------------- */

static double limit(void) {
  return LIMIT * (kw_contract.patience > 0 ? kw_contract.patience : 1);
}

/* Waits until one of the two is set. False when nothing happened in the process for as long as the limit says. Under
 * the lock, which it lets go of meanwhile. */
static bool wait_for(const bool *flag, const bool *other) {
  kw_process_clock clock;
  kw_process_clock_begin(&clock, NULL, getpid(), 0, kw_clock_seconds());
  bool quiet = false;
  while (!*flag && !*other && !quiet) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += STEP_MS * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    if (pthread_cond_timedwait(&gate_changed, &gate_mutex, &until) == 0) continue;
    pthread_mutex_unlock(&gate_mutex);
    kw_process_clock_step(&clock, kw_clock_seconds());
    pthread_mutex_lock(&gate_mutex);
    quiet = clock.quiet >= limit();
  }
  kw_process_clock_free(&clock);
  return *flag || *other;
}

/* Under the lock. */
static void note_in_vain(const kw_gate *gate) {
  if (in_vain[0]) return;
  if (expected[0]) {
    snprintf(in_vain, sizeof in_vain, "%s did not go on while %s was held (%g s): do they share a queue?", expected,
             gate->holder, limit());
  } else {
    snprintf(in_vain, sizeof in_vain, "%s did not return while %s was held (%g s): does it wait for %s?",
             kw_worker_note_text(), gate->holder, limit(), gate->stream[0] ? "that stream" : "that");
  }
}

void kw_gate_check(void) {
  char text[sizeof in_vain];
  pthread_mutex_lock(&gate_mutex);
  memcpy(text, in_vain, sizeof text);
  pthread_mutex_unlock(&gate_mutex);
  if (!text[0]) return;
  kw_contract_time_out(text);
}

void kw_gate_wait(void *user) {
  kw_gate *gate = user;
  pthread_mutex_lock(&gate_mutex);
  gate->entered = true;
  gate->run_inline = gate->closing && pthread_equal(gate->caller, pthread_self());
  pthread_cond_broadcast(&gate_changed);
  if (!wait_for(&gate->open, &gate->run_inline)) note_in_vain(gate);
  gate->used = false;
  pthread_mutex_unlock(&gate_mutex);
}

/* Under the lock. */
static kw_gate *take(void) {
  kw_gate *gate = NULL;
  for (int i = 0; i < GATES && !gate; i++) gate = gates[i].used ? NULL : &gates[i];
  if (gate) *gate = (kw_gate){.caller = pthread_self(), .closing = true, .used = true};
  return gate;
}

kw_gate *kw_gate_take(const void *stream) {
  pthread_mutex_lock(&gate_mutex);
  kw_gate *gate = take();
  if (gate) {
    print_name(stream, gate->stream);
    snprintf(gate->holder, sizeof gate->holder, "%s's host function", gate->stream);
  }
  pthread_mutex_unlock(&gate_mutex);
  return gate;
}

kw_gate *kw_gate_take_for(const char *holder) {
  pthread_mutex_lock(&gate_mutex);
  kw_gate *gate = take();
  if (gate) snprintf(gate->holder, sizeof gate->holder, "%s", holder);
  pthread_mutex_unlock(&gate_mutex);
  return gate;
}

bool kw_gate_await(kw_gate *gate) {
  pthread_mutex_lock(&gate_mutex);
  gate->closing = false;
  if (!wait_for(&gate->entered, &gate->open)) {
    snprintf(in_vain, sizeof in_vain, "%s, which was idle, did not come to a host function that was put on it (%g s)",
             gate->stream, limit());
    gate->open = true;
  }
  bool run_inline = gate->run_inline;
  pthread_mutex_unlock(&gate_mutex);
  return !run_inline;
}

void kw_gate_let_go(kw_gate *gate) {
  pthread_mutex_lock(&gate_mutex);
  gate->open = true;
  pthread_cond_broadcast(&gate_changed);
  pthread_mutex_unlock(&gate_mutex);
}

/* ---- Around a test ----------------------------------------------------------------------------------------------- */

void kw_gate_begin_test(void) {
  pthread_mutex_lock(&gate_mutex);
  in_vain[0] = expected[0] = 0;
  stream_count = 0;
  pthread_mutex_unlock(&gate_mutex);
}

bool kw_gate_end_test(void) {
  for (int i = 0; i < GATES; i++) kw_gate_let_go(&gates[i]); /* a failed test left them shut; the process must end */
  pthread_mutex_lock(&gate_mutex);
  bool good = !in_vain[0];
  if (!good) kw_contract_set_timeout(in_vain);
  pthread_mutex_unlock(&gate_mutex);
  return good;
}
