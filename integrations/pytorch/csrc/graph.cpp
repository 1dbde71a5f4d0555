/* SPDX-License-Identifier: Apache-2.0
 *
 * Recordings, and torch.accelerator.Graph over them.
 */
#include "graph.h"
#include "device.h"
#include "status.h"

#include <ATen/core/GraphImplInterface.h>
#include <c10/core/AutogradState.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace torch_keyway {

namespace {

std::mutex mutex;
std::vector<kw_stream *> recording; /* streams that are; under the mutex */
std::atomic<bool> any{false};
std::atomic<int> applications{0}; /* graphs */

}  // namespace

Recorder::Recorder(kw_stream *stream) : stream_(stream) {
  check(kw_graph_begin(stream));
  any = true;
  c10::AutogradState &state = c10::AutogradState::get_tls_state();
  with_threads_ = state.get_multithreading_enabled();
  state.set_multithreading_enabled(false);
  std::lock_guard<std::mutex> lock(mutex);
  recording.push_back(stream);
}

Recorder::~Recorder() {
  if (stream_ == nullptr) return;
  leave();
  kw_graph_end(stream_, nullptr);
}

kw_graph *Recorder::end() {
  kw_graph *graph;
  check(kw_graph_end(stream_, &graph));
  leave();
  stream_ = nullptr;
  return graph;
}

void Recorder::leave() {
  c10::AutogradState::get_tls_state().set_multithreading_enabled(with_threads_);
  std::lock_guard<std::mutex> lock(mutex);
  recording.erase(std::find(recording.begin(), recording.end(), stream_));
}

bool is_recording(kw_stream *stream) {
  if (!has_graphs()) return false;
  std::lock_guard<std::mutex> lock(mutex);
  return std::find(recording.begin(), recording.end(), stream) != recording.end();
}

bool application_has_graphs() noexcept {
  return applications > 0;
}

bool has_graphs() noexcept {
  return any.load(std::memory_order_relaxed);
}

namespace {

/* A graph has memory of its own, so there is no pool to share; it is complete when its recording ends. */
struct Graph final : at::GraphImplInterface {
  explicit Graph(const at::GraphImplArgs &) {}
  Graph(const Graph &) = delete;
  Graph &operator=(const Graph &) = delete;
  ~Graph() override {
    recorder.reset();
    kw_graph_destroy(graph);
    if (graph != nullptr) --applications;
  }

  void capture_begin(at::MempoolId_t, at::GraphCaptureMode) override {
    TORCH_CHECK(!recorder, "this graph is being recorded already: call capture_end() first");
    TORCH_CHECK(graph == nullptr, "this graph was recorded already: call reset() first, or make another one");
    index = current_device();
    recorder.emplace(current_stream(index));
  }
  void capture_end() override {
    TORCH_CHECK(recorder, "this graph is not being recorded: call capture_begin() first");
    graph = recorder->end();
    ++applications;
    recorder.reset();
  }
  void instantiate() override {
    check_recorded();
  }
  void replay() override {
    check_recorded();
    check(kw_graph_launch(graph, current_stream(index)));
  }
  void reset() override {
    recorder.reset();
    check(kw_graph_destroy(graph));
    if (graph != nullptr) --applications;
    graph = nullptr;
  }
  at::MempoolId_t pool() const override {
    return {reinterpret_cast<uintptr_t>(this), 0};
  }
  void enable_debug_mode() override {}
  void debug_dump(const std::string &) override {
    TORCH_CHECK_NOT_IMPLEMENTED(false,
                                "a graph of Keyway is not written to files; KEYWAY_TRACE shows what its launches do");
  }

  void check_recorded() const {
    TORCH_CHECK(graph != nullptr, "this graph was not recorded yet: there is nothing to replay");
  }

  c10::DeviceIndex index = 0;
  std::optional<Recorder> recorder;
  kw_graph *graph = nullptr;
};

std::unique_ptr<at::GraphImplInterface> make_graph(at::GraphImplArgs arguments) {
  return std::make_unique<Graph>(arguments);
}

}  // namespace

void register_graphs() {
  at::GraphImplRegistry()->Register(c10::DeviceTypeName(device_type), &make_graph);
}

}  // namespace torch_keyway
