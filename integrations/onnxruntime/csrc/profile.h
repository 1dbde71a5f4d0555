/* SPDX-License-Identifier: Apache-2.0
 *
 * Profiling: what Keyway did for which node, in ONNX Runtime's profile and in Keyway's trace.
 */
#ifndef KEYWAY_ORT_PROFILE_H
#define KEYWAY_ORT_PROFILE_H

#include "provider.h"

/* For a session that profiles (ONNX Runtime 1.25 and newer). */
OrtStatus *profiler_create(ort_ep *provider, ort_ep_profiler **out_profiler);

/* What the calling thread does in between is for this node. */
void profile_node_begin(const provider *provider, const char *node);
void profile_node_end(void);

#endif
