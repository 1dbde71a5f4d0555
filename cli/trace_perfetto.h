/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace in Perfetto's format, as the list of events that one in Chrome's format has.
 */
#ifndef KEYWAY_CLI_TRACE_PERFETTO_H
#define KEYWAY_CLI_TRACE_PERFETTO_H

#include <cjson/cJSON.h>
#include <stddef.h>
#include <stdint.h>

#define KW_TRACE_ROW_BASE (UINT64_C(1) << 23) /* the rows of streams are numbered from here */

/* A list, the caller's to delete; beside what Chrome's has each event has the `flows` that it is part of. NULL when
 * these bytes are no such trace, or one that is cut off before its first packet's end. */
cJSON *kw_trace_perfetto_events(const uint8_t *data, size_t size);

#endif /* KEYWAY_CLI_TRACE_PERFETTO_H */
