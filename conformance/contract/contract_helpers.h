/* SPDX-License-Identifier: Apache-2.0
 *
 * What the contract suites share. A failing check leaves the test by cmocka's jump, so whatever a stream may still
 * touch (gates, host memory of copies) lies in static or heap memory, never on a test's stack; kw_test_teardown opens
 * what is still gated. Unless a comment says otherwise, the functions that check are for the test's own thread only.
 */
#ifndef KEYWAY_CONTRACT_HELPERS_H
#define KEYWAY_CONTRACT_HELPERS_H

#include <stdarg.h>
#include <stdatomic.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "contract/contract.h"

#include <keyway/keyway.h>

/* ---- Checks ---- */

void kw_test_fail(const char *file, int line, const char *format, ...) __attribute__((noreturn, format(printf, 3, 4)));
/* Leaves the test as "does not apply here" with the reason. */
void kw_test_skip(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* Fails unless status == want; the text names the call and carries Keyway's own message. */
void kw_test_status(const char *file, int line, const char *call, kw_status status, kw_status want);
/* Notes what the test's thread is about to call, for the report should it never come back (base/worker_note.h). */
void kw_test_calls(const char *file, int line, const char *call);
/* The same of something that it waits for in a loop of its own: "work of a destroyed stream". */
void kw_test_waits(const char *what);

/* KW_CHECK(condition, format, ...): the text says what the device did wrong. */
#define KW_CHECK(condition, ...)                                     \
  do {                                                               \
    if (!(condition)) kw_test_fail(__FILE__, __LINE__, __VA_ARGS__); \
  } while (0)
#define KW_FAIL(...) kw_test_fail(__FILE__, __LINE__, __VA_ARGS__)
#define KW_CHECK_STATUS(call, want) \
  (kw_test_calls(__FILE__, __LINE__, #call), kw_test_status(__FILE__, __LINE__, #call, (call), (want)))
#define KW_CHECK_OK(call) KW_CHECK_STATUS(call, KW_OK)

/* calloc that fails the test; for memory that a stream may touch. Freed by the caller. */
void *kw_test_memory(size_t size);

/* ---- Data ---- */

/* Bytes that follow from the run's seed and `tag` alone. */
void kw_test_pattern(void *bytes, size_t size, uint64_t tag);
/* Small whole numbers, so that sums of a few are exact. */
void kw_test_floats(float *values, size_t count, uint64_t tag);
/* Fails at the first byte that differs; `what` says which data it was. */
void kw_test_same(const void *got, const void *want, size_t size, const char *what);

/* A contiguous u8 tensor of `size` elements; on_stream: made for that stream. With the pattern of `tag` written unless
 * on_stream is used (NULL for the usual kind). */
kw_tensor *kw_test_bytes(size_t size, uint64_t tag);
kw_tensor *kw_test_bytes_on(kw_stream *stream, size_t size);
/* Reads the tensor and compares it with the pattern of `tag`. */
void kw_test_expect_bytes(const kw_tensor *tensor, uint64_t tag, const char *what);
/* f32 [count], with kw_test_floats(tag). */
kw_tensor *kw_test_f32(size_t count, uint64_t tag);
void kw_test_expect_f32(const kw_tensor *tensor, const float *want, size_t count, const char *what);

/* Whether the device runs this op in f32 itself. */
bool kw_test_has(const char *op);
/* Skips the test unless it does. */
void kw_test_need_op(const char *op);
/* Skips the test unless the device has an energy counter that can be read here. */
void kw_test_need_energy(void);
/* out = a + b on the stream; *out NULL or an existing tensor. */
void kw_test_add(kw_stream *stream, kw_tensor *a, kw_tensor *b, kw_tensor **out);

/* Create, write, read back, release: the device works. `after` says after what. */
void kw_test_usable(const char *after);
kw_memory_stats kw_test_stats(void);
kw_stream *kw_test_stream(void);
kw_event *kw_test_event(void);
/* Another device than the tested one, opened, or NULL; its name in *out_name (static text). The caller closes it. */
kw_device *kw_test_other_device(const char **out_name);
/* The entry of the tested device in the device list. */
kw_device_entry kw_test_entry(void);

/* ---- Gates: a stream held up by the host ---- */

typedef struct kw_gate kw_gate;
/* Skips the test unless the device has these KW_NATIVE_* itself: without them core stands in by waiting, and a gated
 * stream would be waited for. */
void kw_test_need(uint64_t native);
/* Enqueues a callback that waits for kw_gate_open, and returns when the stream has reached it. The stream must be idle
 * and not the default stream. Needs KW_NATIVE_CALL_HOST. A gate that is held in vain, the process doing nothing for
 * some seconds, opens of itself; then this, kw_gate_open and the checks leave the test as one that timed out. */
kw_gate *kw_gate_close(kw_stream *stream);
/* The two parts of that: enqueues the callback, behind what the stream has; and waits until the stream has reached it.
 */
kw_gate *kw_gate_close_behind(kw_stream *stream);
void kw_gate_reach(kw_gate *gate);
void kw_gate_open(kw_gate *gate);

/* A callback for kw_stream_call_host: takes a while (a fixed amount of work), then sets the atomic_int `user` to 1. For
 * tests that something waited: who does not wait sees 0. */
void kw_test_slow_flag(void *user);
/* Waits for something that is held up, with limits from under a millisecond on: none of them ends long before. */
void kw_test_limits_last(kw_status (*wait)(void *object, uint64_t limit), void *object, const char *what);
/* Does round trips on `stream`, so that other streams get their chance to run. */
void kw_test_busy(kw_stream *stream);

/* ---- Threads ---- */

#define KW_TEST_THREADS 8
/* The body of one thread: 0, or not 0 with the reason in `text`. It must use no check of this header. */
typedef int (*kw_test_body)(int index, void *user, char *text, size_t size);
/* Runs KW_TEST_THREADS threads at once; fails with the first reason. */
void kw_test_run_threads(kw_test_body body, void *user);
/* For a body: writes "WHAT: STATUS: message" and returns 1 when status is not KW_OK. */
int kw_test_note(kw_status status, const char *what, char *text, size_t size);

/* Threads of the process; 0 where the system does not tell. */
int kw_test_count_threads(void);

int kw_test_setup(void **state);
int kw_test_teardown(void **state);

#endif /* KEYWAY_CONTRACT_HELPERS_H */
