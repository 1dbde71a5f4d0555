/* SPDX-License-Identifier: Apache-2.0
 *
 * What a device did, from its plugin's records into the trace, on the host's clock. While a trace is written and the
 * plugin can (KW_NATIVE_ACTIVITY); otherwise nothing here does anything.
 */
#ifndef KEYWAY_CORE_ACTIVITY_H
#define KEYWAY_CORE_ACTIVITY_H

#include "device/stream.h"

/* Right after device.open, before the first stream. */
void kw_activity_begin(kw_device *device);
/* Names the row of a stream that was just created. */
void kw_activity_name_stream(const kw_stream *stream);
/* Moves what the plugin has recorded so far to the trace: when a wait for the device's work has ended. */
void kw_activity_collect(kw_device *device);
/* Collects for the last time: before device.close, with nothing in flight. */
void kw_activity_end(kw_device *device);

/* A number that no launch in the process has: while a trace is written, call ids name one launch each. */
uint64_t kw_activity_new_call(void);

/* A moment on two clocks, and between two of them. */
typedef struct kw_clock_pair {
  uint64_t device_ns, host_ns;
} kw_clock_pair;
/* When it was on the host's clock: on the line through both between them, and outside at the host's own speed, since
 * there a small error in the pairs would grow. */
uint64_t kw_clock_to_host(kw_clock_pair from, kw_clock_pair to, uint64_t device_ns);

#endif /* KEYWAY_CORE_ACTIVITY_H */
