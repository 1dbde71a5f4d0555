/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of the application in the order of a stream: kw_stream_call_host.
 */
#ifndef KEYWAY_CORE_HOST_CALL_H
#define KEYWAY_CORE_HOST_CALL_H

#include "device/stream.h"

/* The function behind a token, run exactly once. KW_ERR_NOT_FOUND for an unknown token. */
kw_status kw_host_call_run(uint64_t token);

/* The plugin's stream is gone: runs the functions that it has dropped. */
void kw_host_call_run_dropped(const kw_stream *stream);

#endif /* KEYWAY_CORE_HOST_CALL_H */
