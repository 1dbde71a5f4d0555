/* SPDX-License-Identifier: Apache-2.0
 *
 * What a device did, from its plugin's records into the trace, on the host's clock. While somebody wants a trace and
 * the plugin can (KW_NATIVE_ACTIVITY).
 */
#ifndef KEYWAY_CORE_ACTIVITY_H
#define KEYWAY_CORE_ACTIVITY_H

#include "device/stream.h"

/* Right after device.open, before the first stream. Begins recording if somebody wants a trace by then. */
void kw_activity_open(kw_device *device);
/* Begins recording, or ends it, with the device's calls off the fast path meanwhile: that numbers no launches. One
 * thread at a time; the same again does nothing. */
void kw_activity_record(kw_device *device, bool on);
/* Names the row of a stream that was just created. */
void kw_activity_name_stream(const kw_stream *stream);
/* Moves what the plugin has recorded so far to the trace: when a wait for the device's work has ended. */
void kw_activity_collect(kw_device *device);
/* Collects for the last time: before device.close, with nothing in flight. */
void kw_activity_close(kw_device *device);

/* A number that no launch in the process has: while somebody wants a trace, call ids name one launch each. */
uint64_t kw_activity_new_call(void);

/* A moment on two clocks, and between two of them. */
typedef struct kw_clock_pair {
  uint64_t device_ns, host_ns;
} kw_clock_pair;
/* When it was on the host's clock: on the line through both between them, and outside at the host's own speed, since
 * there a small error in the pairs would grow. */
uint64_t kw_clock_to_host(kw_clock_pair from, kw_clock_pair to, uint64_t device_ns);

#endif /* KEYWAY_CORE_ACTIVITY_H */
