/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests that call a plugin's slots directly: its device 0 under a small host, in a process of its own. The host
 * runs functions on streams, holds streams up, and keeps what the plugin tells of late errors. A failing check ends the
 * process, so nothing here is given back by halves.
 */
#ifndef KEYWAY_CONTRACT_SLOTS_BENCH_H
#define KEYWAY_CONTRACT_SLOTS_BENCH_H

#include "contract/child.h"
#include "contract/guest.h"

#include <pthread.h>

extern struct kw_bench {
  kw_guest guest;
  void *plugin, *device;
  kw_device_info info;
} kw_bench;

/* A slot of the device's: KW_SLOT(stream, query, stream) is stream.query(device, stream). */
#define KW_SLOT(group, slot, ...) kw_bench.guest.group->slot(kw_bench.device, __VA_ARGS__)
/* The same, which has to give a status. */
#define KW_SLOT_STATUS(want, group, slot, ...) \
  KW_SLOT_EXPECT(want, #group "." #slot "(" #__VA_ARGS__ ")", KW_SLOT(group, slot, __VA_ARGS__))
#define KW_SLOT_OK(group, slot, ...) \
  KW_SLOT_EXPECT(KW_OK, #group "." #slot "(" #__VA_ARGS__ ")", KW_SLOT(group, slot, __VA_ARGS__))
#define KW_SLOT_EXPECT(want, text, call) \
  (kw_test_calls(__FILE__, __LINE__, text), kw_guest_expect((call), (want), (text), "called directly"))

/* Loads the plugin under test, starts it and opens its first device. */
void kw_bench_open(void);
/* The device alone, once everything of it is gone: it closes, and opens again. */
void kw_bench_reopen(void);
/* Closes the device and shuts the plugin down. */
void kw_bench_close(void);

/* ---- Objects ---- */

/* No two streams of a test have one token. */
void *kw_bench_stream(uint64_t token);
/* The device's default stream. NULL where it runs a host function on the calling thread: nothing can hold that up. */
void *kw_bench_default_stream(uint64_t token);
void kw_bench_end_stream(void *stream);
void *kw_bench_event(void);
kw_mem kw_bench_memory(uint64_t size);
/* Of a kind, aligned to 64; NULL where the device does not have that kind. */
kw_mem kw_bench_memory_of(kw_mem_kind kind, uint64_t size);
void kw_bench_free(kw_mem mem);
/* A kernel's tensor in memory of its own, which kw_bench_memory gave. */
kw_tensor_ref kw_bench_place(kw_tensor_ref tensor, kw_mem mem);

/* ---- Work ---- */

/* Copies, enqueued; their descriptors are overwritten when the slot has returned. The last one copies whatever `info`
 * says, with its struct_size to be filled in. */
void kw_bench_write(void *stream, kw_mem mem, const void *bytes, uint64_t size);
void kw_bench_read(void *stream, kw_mem mem, void *bytes, uint64_t size);
void kw_bench_copy(void *stream, kw_copy_info info);
/* The same for other threads, which may see them fail: what the slot gave. */
kw_status kw_bench_try_write(void *stream, kw_mem mem, uint64_t offset, const void *bytes, uint64_t size);
kw_status kw_bench_try_read(void *stream, kw_mem mem, uint64_t offset, void *bytes, uint64_t size);
/* Runs fn(user) on the stream, by call_host. */
typedef void (*kw_bench_function)(void *user);
void kw_bench_call(void *stream, kw_bench_function fn, void *user);
/* Waits without limit, and checks that nothing has happened which nobody asked for. */
void kw_bench_wait(void *stream);
/* Round trips on the stream, so that others get their chance to run. */
void kw_bench_busy(void *stream);
/* Holds an idle stream up until kw_gate_open. */
kw_gate *kw_bench_shut(void *stream);
/* The same behind what the stream has: does not wait until it comes there. */
kw_gate *kw_bench_shut_behind(void *stream);

/* ---- Late errors ---- */

typedef struct kw_bench_report {
  uint64_t token, call_id;
  kw_status status;
} kw_bench_report;
/* Takes those that the plugin has told so far, at most `room`, in their order; how many there were. */
uint32_t kw_bench_reports(kw_bench_report *out_reports, uint32_t room);

/* ---- Other threads ---- */

/* Whether all other threads of the process sleep; looks for a while until they do. Who is inside a slot by then waits
 * there. False where some thread never rests: then nothing is known. */
bool kw_bench_others_rest(void);

/* A thread that makes one call and keeps its status. */
typedef struct kw_bench_caller {
  pthread_t thread;
  kw_status (*call)(void *user);
  void *user;
  atomic_int begun, done;
  kw_status status;
} kw_bench_caller;
/* With call and user set, and all else 0. */
void kw_bench_start(kw_bench_caller *caller);
/* Whether it has begun and waits: false where nothing is known, or it has returned. */
bool kw_bench_is_stuck(kw_bench_caller *caller);
/* Its status, once it has returned. */
kw_status kw_bench_join(kw_bench_caller *caller);

/* Asks, in this thread, until the answer is not KW_ERR_NOT_READY, and gives that. Who is never told has a limit, which
 * is of the time that this process was given: the test has then timed out, and `what` says what it waited for. */
kw_status kw_bench_ask(kw_status (*ask)(void *object), void *object, const char *what);
/* The same until a flag is set. */
void kw_bench_await(atomic_int *flag, const char *what);

/* Opens the gate when this thread, having called this, waits in a slot, or after a while. */
void kw_bench_open_when_stuck(kw_gate *gate);
/* The same, but opens it when the flag is set, however long that takes. */
void kw_bench_open_when_stuck_or(kw_gate *gate, atomic_int *flag);

#endif /* KEYWAY_CONTRACT_SLOTS_BENCH_H */
