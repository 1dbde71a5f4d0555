/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs that are captured once and replayed: the option "graph" of a session.
 */
#ifndef KEYWAY_ORT_CAPTURE_H
#define KEYWAY_ORT_CAPTURE_H

#include "provider.h"

/* The slots of a provider that ONNX Runtime captures and replays by. */
void capture_fill(ort_ep *slots);
/* Where ONNX Runtime is too old for it, that is an error. */
OrtStatus *capture_enable(provider *provider);
void capture_end(provider *provider);

OrtStatus *capture_on_run_start(provider *provider, const OrtRunOptions *options);
/* In a run of the calling thread that is captured; otherwise these do nothing. */
OrtStatus *capture_before_node(const provider *provider, kw_stream *stream);
void capture_node_failed(const provider *provider);
OrtStatus *capture_copy(void); /* refuses a copy between host and device */
bool capture_records(const kw_stream *stream);
OrtStatus *capture_on_run_end(provider *provider);

#endif
