/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs: what a thread enqueues on a stream, recorded instead of run, and launched as often as one likes.
 */
#pragma once

#include <c10/core/Device.h>
#include <keyway/keyway.h>

namespace torch_keyway {

/* A recording of the calling thread's. Only one of the two ends it: end, or else the destructor throws it away. While
 * it lasts, the thread computes gradients itself: calls of other threads are refused. */
class Recorder {
 public:
  explicit Recorder(kw_stream *stream);
  Recorder(const Recorder &) = delete;
  Recorder &operator=(const Recorder &) = delete;
  ~Recorder();
  kw_graph *end();

 private:
  void leave();

  kw_stream *stream_;
  bool with_threads_;
};

/* Makes torch.accelerator.Graph a graph of Keyway's; once, when the device has its name. */
void register_graphs();

/* Whether a thread records on the stream. */
bool is_recording(kw_stream *stream);

/* Whether graphs may have been recorded, and none of the memory that tensors have may be exchanged any more: a graph
 * goes on reading and writing that which it was recorded with. */
bool has_graphs() noexcept;
/* Whether there are some of the application's own: of these nobody knows which memory they have. */
bool application_has_graphs() noexcept;

}  // namespace torch_keyway
