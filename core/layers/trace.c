/* SPDX-License-Identifier: Apache-2.0
 *
 * The trace as a layer: nothing stands between anybody. What is traced is known in places that no layer sees, such as
 * which launch a call of an op led to; KEYWAY_LAYERS=trace turns on what KEYWAY_TRACE does, into a file of its own.
 */
#include "base/trace.h"

#include "layers/layer.h"

static void start(void) {
  kw_trace_default_file = "keyway.pftrace";
}

extern kw_layer kw_trace_layer;
kw_layer kw_trace_layer = {.start = start};
