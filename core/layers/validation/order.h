/* SPDX-License-Identifier: Apache-2.0
 *
 * What happens before what, by vector clocks: each stream counts its work, and an event, a wait or a copy between two
 * streams hands on what one has seen of the others. Work that touches memory while other work, which nothing orders
 * before it, writes there is a hazard; so is work that writes where other work reads.
 */
#ifndef KEYWAY_CORE_VALIDATION_ORDER_H
#define KEYWAY_CORE_VALIDATION_ORDER_H

#include <keyway/keyway.h>

/* What is known of a stream, an event or a graph. */
typedef struct kw_order kw_order;

/* A tensor that work reads, or writes. */
typedef struct kw_use {
  const kw_tensor *tensor;
  bool writes;
} kw_use;

/* Work on `stream` (NULL: the device's default stream), just enqueued. What a stream records is kept for its graph. */
void kw_order_work(const kw_device *device, const kw_stream *stream, const kw_use *uses, uint32_t count);
/* The same of a copy between the application's memory and a tensor, which it writes or reads. */
void kw_order_copy(const kw_device *device, const kw_stream *stream, kw_use use, const void *host);
/* A function of the application's that the stream is to run: what stands for it, to be handed to the one below. When it
 * runs, the host knows that work before it has ended. NULL without memory. */
typedef struct kw_host_function kw_host_function;
kw_host_function *kw_order_host_function(const kw_stream *stream, void(KW_CALL *function)(void *user), void *user);
void kw_order_run_host_function(void *host_function);
/* The host has waited for all work of the stream, or of the device's default stream. */
void kw_order_waited(const kw_device *device, const kw_stream *stream);
/* ... for all streams of the device. */
void kw_order_waited_all(const kw_device *device);
/* The stream is destroyed: its work finishes before that. */
void kw_order_stream_ends(const kw_stream *stream);
void kw_order_recorded(const kw_event *event, const kw_stream *stream);
void kw_order_waited_event(const kw_event *event);
void kw_order_stream_waits(const kw_stream *stream, const kw_event *event);
/* Later work of either comes after what both were given. */
void kw_order_meet(const kw_stream *a, const kw_stream *b);
/* The memory of a tensor is new: who used it before, as another tensor's, does not matter. */
void kw_order_forget(const kw_tensor *tensor);
/* The application's last reference to the tensor is about to go, and with it, where nothing else holds it, the memory.
 */
void kw_order_released(const kw_tensor *tensor);

/* What the stream has recorded is the graph's; NULL: nobody's. */
void kw_order_end_recording(const kw_stream *stream, const kw_graph *graph);
/* The graph is destroyed, which waits for its launches: forgets what it holds. */
void kw_order_graph_ends(const kw_graph *graph);
void kw_order_launched(const kw_graph *graph, const kw_stream *stream);

#endif /* KEYWAY_CORE_VALIDATION_ORDER_H */
