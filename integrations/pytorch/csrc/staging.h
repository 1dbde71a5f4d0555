/* SPDX-License-Identifier: Apache-2.0
 *
 * The way of collectives through pinned host memory: its threads, the copies and the Work.
 *
 * A call copies what it sends to pinned memory on the caller's current stream, records an event behind that, and hands
 * a task to the group's first thread. That one waits for the events, task by task, and starts the host's collective: so
 * the order of calls is the order on the wire, and the caller goes on at once. A thread of its own waits for each
 * collective under way, since a receive may last until a later call of this very rank, then copies what came to the
 * device, on a stream of the group's, and completes the Work. Who waits for a Work makes his current stream wait for
 * those copies.
 *
 * In C++, since nothing of this may hold the GIL or wait for it: DDP's reducer calls from autograd's threads while a
 * Python thread waits in backward(), and callbacks of futures may call collectives again.
 */
#pragma once

#include <c10/core/Event.h>
#include <keyway/keyway.h>
#include <torch/csrc/distributed/c10d/Work.hpp>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

namespace torch_keyway {

using Tensors = std::vector<at::Tensor>;
using WorkPtr = c10::intrusive_ptr<c10d::Work>;
/* Puts work on a stream, with the addresses of inputs and outputs on the device. */
using Enqueue = std::function<void(const std::vector<void *> &, const std::vector<void *> &, kw_stream *)>;

/* Up to `limit` threads that run tasks, begun in the order in which they came. All of them are done when it ends. */
class Crew {
 public:
  explicit Crew(size_t limit) : limit_(limit) {}
  Crew(const Crew &) = delete;
  ~Crew();
  void run(std::function<void()> task);

  /* At the end of the process: from here on no crew does anything. */
  static void end_all();
  static bool all_ended();

 private:
  void live();

  const size_t limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  std::vector<std::thread> threads_;
  size_t idle_ = 0;
  bool ending_ = false;
};

enum Way { in = 1, out = 2, in_and_out = 3 };

/* Device tensors of one dtype, and pinned memory for them, one behind the other. */
struct Staged {
  Staged(Tensors those, Way where);
  /* Its bytes, for collectives that move them only. */
  at::Tensor bytes() const {
    return flat.view(at::kByte);
  }
  /* How many bytes each tensor has. */
  std::vector<int64_t> sizes() const {
    std::vector<int64_t> all;
    for (const at::Tensor &part : parts) all.push_back(static_cast<int64_t>(part.nbytes()));
    return all;
  }

  Tensors tensors;
  Way way;
  at::Tensor flat;
  Tensors parts; /* of `flat`, with the shapes of `tensors` */

 private:
  int64_t offset() const {
    return parts.back().storage_offset() + parts.back().numel();
  }
};

class StagedWork;
struct There;

/* A group's threads and streams. */
class Staging {
 public:
  explicit Staging(int rank);
  /* Starts what `start` does with the pinned memory once that has what the caller's streams write; then runs `after`,
   * and copies what came to the device. */
  WorkPtr launch(
      c10d::OpType type, const char *title, std::vector<Staged> staged, std::function<std::vector<WorkPtr>()> start,
      std::function<void()> after = [] {});
  /* Has `enqueue` put work on a stream of the group's own, with each tensor's memory, which is contiguous: on a copy of
   * a tensor that is not. What is enqueued comes after the caller's streams have written the inputs so far, and the
   * Work is complete when it is enqueued: who waits makes his current stream wait. */
  WorkPtr launch_there(c10d::OpType type, const char *title, Tensors inputs, Tensors outputs, Enqueue enqueue);
  /* How many were launched, those between two ranks left out. */
  uint64_t collectives() const {
    return collectives_;
  }

 private:
  struct Task {
    std::vector<Staged> staged;
    std::vector<c10::Event> before; /* behind what the caller's streams had so far */
    std::function<std::vector<WorkPtr>()> start;
    std::function<void()> after; /* before the copies to the device */
    c10::intrusive_ptr<StagedWork> work;
  };

  void begin(const std::shared_ptr<Task> &task);
  void enqueue(There &there);
  void end(Task &task, const std::vector<WorkPtr> &works);
  std::vector<c10::Stream> own_streams(const std::vector<c10::DeviceIndex> &indices);

  const int rank_;
  std::mutex mutex_;
  std::map<c10::DeviceIndex, c10::Stream> streams_; /* for copies to the device; under the mutex */
  std::atomic<uint64_t> collectives_{0};
  Crew waiting_, starting_;
};

}  // namespace torch_keyway
