/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads that wait for events and for the host's collectives, pinned copies of device tensors, the Work of both.
 */
#include "staging.h"
#include "device.h"
#include "status.h"
#include "tensor.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/empty.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/StreamGuard.h>
#include <c10/util/thread_name.h>
#include <keyway/dlpack.h>
#include <keyway/interop.h>

#include <algorithm>
#include <set>

namespace torch_keyway {

using std::chrono::milliseconds;

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

namespace {

/* At the end of the process, when Python is about to go: who drops a tensor then may need the GIL, and would be ended
 * in the middle of it. So the threads finish what they are at, and then stay where they wait. */
struct Process {
  std::mutex mutex;
  std::condition_variable changed;
  int busy = 0; /* threads that are not waiting */
  bool ending = false;

  void enter() {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [this] { return !ending; });
    ++busy;
  }
  void leave() {
    std::lock_guard<std::mutex> lock(mutex);
    --busy;
    changed.notify_all();
  }
  void end() {
    std::unique_lock<std::mutex> lock(mutex);
    ending = true;
    changed.wait(lock, [this] { return busy == 0; });
  }
  bool is_ending() {
    std::lock_guard<std::mutex> lock(mutex);
    return ending;
  }
};

Process &process() {
  static auto *const one = new Process; /* outlives the threads */
  return *one;
}

struct Busy {
  Busy() {
    process().enter();
  }
  ~Busy() {
    process().leave();
  }
};

/* Inside Busy. */
struct Waiting {
  Waiting() {
    process().leave();
  }
  ~Waiting() {
    process().enter();
  }
};

}  // namespace

Crew::~Crew() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  for (std::thread &thread : threads_) thread.join();
}

void Crew::run(std::function<void()> task) {
  std::lock_guard<std::mutex> lock(mutex_);
  tasks_.push_back(std::move(task));
  if (tasks_.size() > idle_ && threads_.size() < limit_) threads_.emplace_back([this] { live(); });
  changed_.notify_one();
}

void Crew::live() {
  c10::setThreadName("keyway_dist");
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    ++idle_;
    changed_.wait(lock, [this] { return ending_ || !tasks_.empty(); });
    --idle_;
    if (tasks_.empty()) return;
    std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    {
      const Busy busy;
      task();
      task = nullptr;
    }
    lock.lock();
  }
}

void Crew::end_all() {
  process().end();
}

bool Crew::all_ended() {
  return process().is_ending();
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

Staged::Staged(Tensors those, Way where) : tensors(std::move(those)), way(where) {
  TORCH_CHECK_VALUE(!tensors.empty(), "a collective takes one tensor at least, and got none");
  int64_t count = 0;
  for (const at::Tensor &tensor : tensors) {
    TORCH_CHECK(tensor.device().type() == device_type, "the backend is for tensors on ",
                c10::DeviceTypeName(device_type, true), ", not on ", tensor.device(),
                ": move the tensor there, or make the group with \"cpu:gloo,", c10::DeviceTypeName(device_type, true),
                ":keyway\"");
    TORCH_CHECK(tensor.layout() == at::kStrided, "collectives are for dense tensors; this one is ", tensor.layout(),
                ": call to_dense() first");
    TORCH_CHECK_TYPE(tensor.scalar_type() == tensors[0].scalar_type(),
                     "the tensors of one collective have one dtype, not ", tensors[0].scalar_type(), " and ",
                     tensor.scalar_type());
    count += tensor.numel();
  }
  const c10::DeviceGuard guard(tensors[0].device());
  flat = at::empty({count}, at::TensorOptions(tensors[0].scalar_type()).pinned_memory(true));
  for (const at::Tensor &tensor : tensors) {
    parts.push_back(flat.narrow(0, parts.empty() ? 0 : offset(), tensor.numel()).view(tensor.sizes()));
  }
}

namespace {

/* On the current streams. Not for autograd, and a parameter may be written. */
void copy(const Tensors &from, const Tensors &to) {
  const at::AutoDispatchBelowADInplaceOrView guard;
  for (size_t i = 0; i < from.size(); ++i) to[i].copy_(from[i], true);
}

std::string text_of(const std::exception &error) {
  const auto *traced = dynamic_cast<const c10::Error *>(&error);
  return traced == nullptr ? error.what() : traced->what_without_backtrace();
}

std::vector<c10::DeviceIndex> indices_of(const std::vector<Staged> &staged) {
  std::set<c10::DeviceIndex> all;
  for (const Staged &each : staged) {
    for (const at::Tensor &tensor : each.tensors) all.insert(tensor.device().index());
  }
  if (all.empty()) all.insert(current_device());
  return {all.begin(), all.end()};
}

}  // namespace

/* ---- Work -------------------------------------------------------------------------------------------------------- */

class StagedWork final : public c10d::Work {
 public:
  StagedWork(int rank, c10d::OpType type, const char *title, const Tensors &inputs, Tensors outputs, uint64_t number)
      : Work(rank, type, title, inputs),
        title_(title),
        outputs_(std::move(outputs)),
        number_(number),
        future_(c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()),
                                                         devices_of(outputs_))) {}

  bool isCompleted() override {
    return Work::isCompleted() &&
           std::all_of(copied_.begin(), copied_.end(), [](auto &event) { return event.query(); });
  }
  bool wait(milliseconds timeout) override;
  void synchronize() override {
    for (c10::Event &event : copied_) event.block(current_torch_stream(event.device_index()));
  }
  int sourceRank() const override {
    return source_;
  }
  Tensors result() override {
    return outputs_;
  }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override {
    return future_;
  }
  uint64_t getSequencenumber() const override {
    return number_;
  }

  /* With the events behind the copies to the device. Under the streams of these. */
  void complete(std::vector<c10::Event> copied, int source) {
    copied_ = std::move(copied);
    source_ = source;
    finish();
    future_->markCompleted(outputs_);
  }
  void fail(const std::string &what);

 private:
  static std::vector<c10::Device> devices_of(const Tensors &tensors) {
    std::vector<c10::Device> devices;
    for (const at::Tensor &tensor : tensors) devices.push_back(tensor.device());
    return devices;
  }

  const std::string title_;
  const Tensors outputs_;
  const uint64_t number_;
  const c10::intrusive_ptr<c10::ivalue::Future> future_;
  std::vector<c10::Event> copied_; /* from here: set before it is completed, then only read */
  int source_ = -1;
};

bool StagedWork::wait(milliseconds timeout) {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto done = [this] { return completed_; };
  if (timeout == kNoTimeout) {
    cv_.wait(lock, done);
  } else {
    TORCH_CHECK_WITH(DistBackendError, cv_.wait_for(lock, timeout, done), title_, " has not ended within the ",
                     timeout.count(), " ms that wait() was given: see whether all ranks call it");
  }
  if (exception_) std::rethrow_exception(exception_);
  lock.unlock();
  future_->wait(); /* it is completed right behind the Work, and whoever waited may take its value */
  synchronize();
  return true;
}

void StagedWork::fail(const std::string &what) {
  std::exception_ptr error;
  try {
    TORCH_CHECK_WITH(DistBackendError, false, title_, " on rank ", rank_, " failed: ", what,
                     ". Another rank may have ended, or called something else: look at the output of all of them");
  } catch (...) {
    error = std::current_exception();
  }
  finish(error);
  future_->setError(error);
}

/* ---- Tasks ------------------------------------------------------------------------------------------------------- */

Staging::Staging(int rank) : rank_(rank), waiting_(SIZE_MAX), starting_(1) {}

WorkPtr Staging::launch(c10d::OpType type, const char *title, std::vector<Staged> staged,
                        std::function<std::vector<WorkPtr>()> start, std::function<void()> after) {
  Tensors inputs, outputs;
  for (const Staged &each : staged) {
    if (each.way & in) copy(each.tensors, each.parts);
    Tensors &those = each.way & out ? outputs : inputs;
    those.insert(those.end(), each.tensors.begin(), each.tensors.end());
  }
  std::vector<c10::Event> before;
  for (const c10::DeviceIndex index : indices_of(staged)) {
    before.emplace_back(device_type).record(current_torch_stream(index));
  }
  if (!c10d::isP2POp(type)) ++collectives_;
  auto work =
      c10::make_intrusive<StagedWork>(rank_, type, title, inputs, outputs.empty() ? inputs : outputs, collectives_);
  auto task = std::make_shared<Task>(
      Task{std::move(staged), std::move(before), std::move(start), std::move(after), std::move(work)});
  starting_.run([this, task] { begin(task); });
  return task->work;
}

void Staging::begin(const std::shared_ptr<Task> &task) {
  try {
    {
      const Waiting waiting;
      for (c10::Event &event : task->before) event.synchronize();
    }
    waiting_.run([this, task, works = task->start()] { end(*task, works); });
  } catch (const std::exception &error) {
    task->work->fail(text_of(error));
  }
}

void Staging::end(Task &task, const std::vector<WorkPtr> &works) {
  try {
    {
      const Waiting waiting;
      for (const WorkPtr &work : works) work->wait();
    }
    task.after();
    const std::vector<c10::Stream> streams = own_streams(indices_of(task.staged));
    const c10::MultiStreamGuard guard(streams);
    bool copies = false;
    for (const Staged &each : task.staged) {
      if ((each.way & out) == 0) continue;
      copy(each.parts, each.tensors);
      copies = true;
    }
    std::vector<c10::Event> copied; /* none, where nothing came: such a Work is complete with the host's */
    if (copies) {
      for (const c10::Stream &stream : streams) copied.emplace_back(device_type).record(stream);
    }
    task.work->complete(std::move(copied),
                        task.work->retrieveOpType() == c10d::OpType::RECVANYSOURCE ? works[0]->sourceRank() : -1);
  } catch (const std::exception &error) {
    task.work->fail(text_of(error));
  }
}

/* ---- On the device ----------------------------------------------------------------------------------------------- */

/* Contiguous memory of a tensor's, for use on a stream until it is let go: reuse waits for what is enqueued there by
 * then. The stream waits for what has used the memory so far. */
class Lent {
 public:
  Lent(const at::Tensor &tensor, kw_stream *stream) : tensor_(tensor), contiguous_(tensor.contiguous()) {
    check(kw_tensor_to_dlpack(view_of(contiguous_).get(), stream, &managed_));
  }
  Lent(Lent &&other) noexcept
      : tensor_(std::move(other.tensor_)),
        contiguous_(std::move(other.contiguous_)),
        managed_(std::exchange(other.managed_, nullptr)) {}
  ~Lent() {
    if (managed_ != nullptr) managed_->deleter(managed_);
  }
  void *address() const {
    return static_cast<char *>(managed_->dl_tensor.data) + managed_->dl_tensor.byte_offset;
  }
  /* On the current stream. */
  void give_back() const {
    if (!contiguous_.is_same(tensor_)) copy({contiguous_}, {tensor_});
  }

 private:
  at::Tensor tensor_, contiguous_;
  DLManagedTensorVersioned *managed_ = nullptr;
};

struct There {
  std::vector<Lent> inputs, outputs;
  c10::Stream stream;
  Enqueue enqueue;
  c10::intrusive_ptr<StagedWork> work;
};

WorkPtr Staging::launch_there(c10d::OpType type, const char *title, Tensors inputs, Tensors outputs, Enqueue enqueue) {
  const at::AutoDispatchBelowADInplaceOrView guard;
  const at::Tensor &first = inputs.empty() ? outputs.at(0) : inputs[0];
  auto there = std::make_shared<There>(There{{}, {}, own_streams({first.device().index()})[0], std::move(enqueue), {}});
  for (const at::Tensor &tensor : inputs) there->inputs.emplace_back(tensor, stream_of(there->stream));
  for (const at::Tensor &tensor : outputs) there->outputs.emplace_back(tensor, stream_of(there->stream));
  if (!c10d::isP2POp(type)) ++collectives_;
  there->work =
      c10::make_intrusive<StagedWork>(rank_, type, title, inputs, outputs.empty() ? inputs : outputs, collectives_);
  WorkPtr work = there->work;
  starting_.run([this, there] { this->enqueue(*there); });
  return work;
}

void Staging::enqueue(There &there) {
  try {
    std::vector<void *> inputs, outputs;
    for (const Lent &lent : there.inputs) inputs.push_back(lent.address());
    for (const Lent &lent : there.outputs) outputs.push_back(lent.address());
    there.enqueue(inputs, outputs, stream_of(there.stream));
    const c10::StreamGuard guard(there.stream);
    for (const Lent &lent : there.outputs) lent.give_back();
    std::vector<c10::Event> done;
    done.emplace_back(device_type).record(there.stream);
    there.work->complete(std::move(done), -1);
  } catch (const std::exception &error) {
    there.work->fail(text_of(error));
  }
}

std::vector<c10::Stream> Staging::own_streams(const std::vector<c10::DeviceIndex> &indices) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<c10::Stream> all;
  for (const c10::DeviceIndex index : indices) {
    if (streams_.count(index) == 0) streams_.emplace(index, pool_stream(index));
    all.push_back(streams_.at(index));
  }
  return all;
}

}  // namespace torch_keyway
