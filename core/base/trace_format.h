/* SPDX-License-Identifier: Apache-2.0
 *
 * The formats that a trace may have: Chrome's (JSON) and Perfetto's. Each makes records for the trace's file, under the
 * trace's mutex.
 */
#ifndef KEYWAY_CORE_TRACE_FORMAT_H
#define KEYWAY_CORE_TRACE_FORMAT_H

#include "base/bytes.h"
#include "base/trace.h"
#include "base/trace_sink.h"

void kw_chrome_begin(void);
kw_trace_taken kw_chrome_event(const kw_trace_event *event);
kw_trace_taken kw_chrome_stream(uint64_t stream, const char *device, const char *name);
kw_trace_taken kw_chrome_memory(const char *device, uint64_t in_use, uint64_t reserved);
/* What the file ends with. limit: not 0 when that is why it ends. */
void kw_chrome_end(kw_bytes *out, uint64_t limit);

void kw_perfetto_begin(void);
kw_trace_taken kw_perfetto_event(const kw_trace_event *event);
kw_trace_taken kw_perfetto_stream(uint64_t stream, const char *device, const char *name);
kw_trace_taken kw_perfetto_memory(const char *device, uint64_t in_use, uint64_t reserved);
void kw_perfetto_end(kw_bytes *out, uint64_t limit);
/* In a forked child. */
void kw_perfetto_forget(void);

#endif /* KEYWAY_CORE_TRACE_FORMAT_H */
