/* SPDX-License-Identifier: Apache-2.0
 *
 * Collectives of device tensors, through pinned host memory and a backend for CPU tensors.
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
#include "distributed.h"
#include "device.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/view_as_real.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/util/thread_name.h>
#include <torch/csrc/distributed/c10d/Utils.hpp>
#include <torch/csrc/utils/pybind.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

namespace torch_keyway {

namespace {

using c10d::OpType;
using c10d::ReduceOp;
using Tensors = std::vector<at::Tensor>;
using WorkPtr = c10::intrusive_ptr<c10d::Work>;
using std::chrono::milliseconds;

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

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

/* Up to `limit` threads that run tasks, begun in the order in which they came. All of them are done when it ends. */
class Crew {
 public:
  explicit Crew(size_t limit) : limit_(limit) {}
  Crew(const Crew &) = delete;
  ~Crew() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    for (std::thread &thread : threads_) thread.join();
  }
  void run(std::function<void()> task) {
    std::lock_guard<std::mutex> lock(mutex_);
    tasks_.push_back(std::move(task));
    if (tasks_.size() > idle_ && threads_.size() < limit_) threads_.emplace_back([this] { live(); });
    changed_.notify_one();
  }

 private:
  void live() {
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

  const size_t limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  std::vector<std::thread> threads_;
  size_t idle_ = 0;
  bool ending_ = false;
};

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

enum Way { in = 1, out = 2, in_and_out = 3 };

/* Device tensors of one dtype, and pinned memory for them, one behind the other. */
struct Staged {
  Staged(Tensors those, Way where) : tensors(std::move(those)), way(where) {
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

/* On the current streams. Not for autograd, and a parameter may be written. */
void copy(const Tensors &from, const Tensors &to) {
  const at::AutoDispatchBelowADInplaceOrView guard;
  for (size_t i = 0; i < from.size(); ++i) to[i].copy_(from[i], true);
}

/* ---- Reductions -------------------------------------------------------------------------------------------------- */

/* A reduction by the dtypes and ops that gloo has: small ones are cast, a mean is a sum of parts. */
class Reduction {
 public:
  Reduction(const ReduceOp &op, c10::ScalarType dtype, int size) : op_(op), dtype_(dtype), size_(size), host_op_(op) {
    if (op_ == ReduceOp::AVG || op_ == ReduceOp::PREMUL_SUM) host_op_ = ReduceOp::SUM;
    if (dtype == at::kBool) {
      TORCH_CHECK_TYPE(op_ != ReduceOp::AVG && op_ != ReduceOp::PREMUL_SUM,
                       "bool tensors have no mean and no factor: cast to a number first");
      if (op_ == ReduceOp::SUM || op_ == ReduceOp::BOR) host_op_ = ReduceOp::MAX;
      if (op_ == ReduceOp::PRODUCT || op_ == ReduceOp::BAND) host_op_ = ReduceOp::MIN;
    }
    const bool by_bits = op_ == ReduceOp::BAND || op_ == ReduceOp::BOR || op_ == ReduceOp::BXOR;
    TORCH_CHECK_TYPE(!by_bits || c10::isIntegralType(dtype, true), dtype,
                     " tensors are not reduced by their bits: take SUM, MIN, MAX or another");
    TORCH_CHECK_TYPE(!c10::isComplexType(dtype) || host_op_ == ReduceOp::SUM,
                     "complex tensors are reduced by SUM, AVG and PREMUL_SUM only");
    if (op_ == ReduceOp::PREMUL_SUM) {
      const auto *factor = dynamic_cast<const c10d::NCCLPreMulSumSupplement *>(op_.supplement_.get());
      TORCH_CHECK(factor != nullptr, "PREMUL_SUM is made by torch.distributed._make_nccl_premul_sum(factor)");
      factor_ =
          factor->tensor_factor.defined() ? factor->tensor_factor.cpu() : at::scalar_tensor(factor->double_factor);
    }
  }
  const ReduceOp &host_op() const {
    return host_op_;
  }
  /* What the host's group gets for memory of a group's rank, without its numbers. */
  at::Tensor operand(const at::Tensor &flat) const {
    if (c10::isComplexType(dtype_)) return at::view_as_real(flat).view(-1);
    if (dtype_ == at::kBool) return flat.view(at::kByte);
    if (dtype_ == at::kShort) return at::empty_like(flat, at::kInt);
    if (c10::isFloat8Type(dtype_)) return at::empty_like(flat, at::kFloat);
    return flat;
  }
  void before(const at::Tensor &flat, const at::Tensor &operand) const {
    if (!operand.is_alias_of(flat)) operand.copy_(flat);
    if (op_ == ReduceOp::AVG && operand.is_floating_point()) operand.div_(size_); /* before: the sum may be too large */
    if (op_ == ReduceOp::PREMUL_SUM) operand.mul_(factor_);
  }
  void after(const at::Tensor &operand, const at::Tensor &flat) const {
    if (op_ == ReduceOp::AVG && !operand.is_floating_point()) operand.div_(size_, "trunc");
    if (!operand.is_alias_of(flat)) flat.copy_(operand);
  }

 private:
  ReduceOp op_;
  c10::ScalarType dtype_;
  int size_;
  ReduceOp host_op_;
  at::Tensor factor_;
};

/* ---- Work -------------------------------------------------------------------------------------------------------- */

class StagedWork final : public c10d::Work {
 public:
  StagedWork(int rank, OpType type, const char *title, const Tensors &inputs, Tensors outputs, uint64_t number)
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
  bool wait(milliseconds timeout) override {
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
    synchronize();
    return true;
  }
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
  void fail(const std::string &what) {
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

/* ---- Backend ----------------------------------------------------------------------------------------------------- */

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

/* One tensor for each rank, or all of them in one: as many numbers for each, of one dtype. */
void check_shares(const char *what, const Staged &one, const Staged &all, int size) {
  TORCH_CHECK_TYPE(one.flat.scalar_type() == all.flat.scalar_type(), what, ": the inputs are ", one.flat.scalar_type(),
                   " and the outputs ", all.flat.scalar_type(), " or the reverse; cast one of them");
  bool fit = one.flat.numel() * size == all.flat.numel();
  if (all.parts.size() > 1) {
    for (const at::Tensor &part : all.parts)
      fit = fit && part.numel() * static_cast<int64_t>(all.parts.size()) == all.flat.numel();
  }
  TORCH_CHECK_VALUE(fit, what, ": ", all.parts.size(), " tensor(s) with ", all.flat.numel(), " numbers do not hold ",
                    one.flat.numel(), " for each of ", size, " ranks, which they have to: pad the smaller ones");
}

/* Its functions have the names of PyTorch 2.13; later ones call them by these as well. */
class StagedBackend final : public c10d::Backend {
 public:
  explicit StagedBackend(const c10::intrusive_ptr<c10d::Backend> &host)
      : Backend(host->getRank(), host->getSize()),
        host_(host),
        waiting_(std::make_unique<Crew>(SIZE_MAX)),
        starting_(std::make_unique<Crew>(1)) {}
  /* What was begun is ended, as by gloo; callbacks of it may need the GIL. Nothing is at the end of the process. */
  ~StagedBackend() override {
    if (process().is_ending()) {
      (void)starting_.release();
      (void)waiting_.release();
      (void)host_.release();
      return;
    }
    std::optional<pybind11::gil_scoped_release> release;
    if (PyGILState_Check()) release.emplace();
    starting_.reset();
    waiting_.reset();
    host_.reset();
  }

  const std::string getBackendName() const override {
    return "keyway";
  }
  c10::intrusive_ptr<Options> getBackendOptions() override {
    return host_->getBackendOptions();
  }
  void setTimeout(milliseconds timeout) override {
    host_->setTimeout(timeout);
  }
  uint64_t getSequenceNumberForGroup() override {
    return collectives_;
  }

  WorkPtr broadcast(Tensors &tensors, const c10d::BroadcastOptions &options) override {
    const Staged data(tensors, rank_ == options.rootRank ? in : out);
    return launch(OpType::BROADCAST, "keyway:broadcast", {data}, [=, this] {
      Tensors bytes{data.bytes()};
      return std::vector{host_->broadcast(bytes, options)};
    });
  }

  WorkPtr allreduce(Tensors &tensors, const c10d::AllreduceOptions &options) override {
    return allreduce(OpType::ALLREDUCE, "keyway:all_reduce", tensors, options);
  }
  WorkPtr allreduce_coalesced(Tensors &tensors, const c10d::AllreduceCoalescedOptions &options) override {
    return allreduce(OpType::ALLREDUCE_COALESCED, "keyway:all_reduce_coalesced", tensors, options);
  }

  WorkPtr reduce(Tensors &tensors, const c10d::ReduceOptions &options) override {
    const Staged data(tensors, rank_ == options.rootRank ? in_and_out : in);
    const Reduction reduction(options.reduceOp, data.flat.scalar_type(), size_);
    const at::Tensor operand = reduction.operand(data.flat);
    return launch(
        OpType::REDUCE, "keyway:reduce", {data},
        [=, this] {
          reduction.before(data.flat, operand);
          Tensors operands{operand};
          c10d::ReduceOptions those = options;
          those.reduceOp = reduction.host_op();
          return std::vector{host_->reduce(operands, those)};
        },
        [=] { reduction.after(operand, data.flat); });
  }

  WorkPtr allgather(std::vector<Tensors> &outputs, Tensors &inputs, const c10d::AllgatherOptions &options) override {
    TORCH_CHECK_VALUE(outputs.size() == 1, "all_gather: one list of outputs, not ", outputs.size());
    return all_gather(OpType::ALLGATHER, "keyway:all_gather", {outputs[0]}, {inputs}, options);
  }
  WorkPtr _allgather_base(at::Tensor &output, at::Tensor &input, const c10d::AllgatherOptions &options) override {
    return all_gather(OpType::_ALLGATHER_BASE, "keyway:all_gather_single", {{output}}, {{input}}, options);
  }
  /* Each list of outputs is one rank's, with a tensor for each of the inputs. */
  WorkPtr allgather_coalesced(std::vector<Tensors> &outputs, Tensors &inputs,
                              const c10d::AllgatherOptions &options) override {
    std::vector<Tensors> all(inputs.size()), one;
    for (const Tensors &list : outputs) {
      TORCH_CHECK_VALUE(list.size() == inputs.size(), "all_gather_coalesced: ", inputs.size(), " inputs, and ",
                        list.size(), " outputs for a rank");
      for (size_t i = 0; i < inputs.size(); ++i) all[i].push_back(list[i]);
    }
    for (const at::Tensor &input : inputs) one.push_back({input});
    return all_gather(OpType::ALLGATHER_COALESCED, "keyway:all_gather_coalesced", all, one, options);
  }
  WorkPtr allgather_into_tensor_coalesced(Tensors &outputs, Tensors &inputs,
                                          const c10d::AllgatherOptions &options) override {
    return all_gather(OpType::ALLGATHER_COALESCED, "keyway:all_gather_single_coalesced", each(outputs), each(inputs),
                      options);
  }

  WorkPtr gather(std::vector<Tensors> &outputs, Tensors &inputs, const c10d::GatherOptions &options) override {
    return gather(outputs.empty() ? Tensors{} : outputs[0], inputs, options);
  }
  /* PyTorch asks for it since 2.14. */
  WorkPtr gather_into_tensor(at::Tensor &output, at::Tensor &input, const c10d::GatherOptions &options) {
    return gather(output.defined() ? Tensors{output} : Tensors{}, {input}, options);
  }

  WorkPtr scatter(Tensors &outputs, std::vector<Tensors> &inputs, const c10d::ScatterOptions &options) override {
    std::vector<Staged> staged{Staged(outputs, out)};
    if (rank_ == options.rootRank) {
      TORCH_CHECK_VALUE(inputs.size() == 1, "scatter: the root gives one list of inputs, not ", inputs.size());
      staged.push_back(Staged(inputs[0], in));
      check_shares("scatter", staged[0], staged[1], size_);
    }
    return launch(OpType::SCATTER, "keyway:scatter", staged, [=, this] {
      Tensors to{staged[0].bytes()};
      std::vector<Tensors> from;
      if (staged.size() > 1) from.push_back(staged[1].bytes().tensor_split(size_));
      return std::vector{host_->scatter(to, from, options)};
    });
  }

  WorkPtr reduce_scatter(Tensors &outputs, std::vector<Tensors> &inputs,
                         const c10d::ReduceScatterOptions &options) override {
    TORCH_CHECK_VALUE(inputs.size() == 1, "reduce_scatter: one list of inputs, not ", inputs.size());
    return reduce_scatter(OpType::REDUCE_SCATTER, "keyway:reduce_scatter", {outputs}, {inputs[0]}, options);
  }
  WorkPtr _reduce_scatter_base(at::Tensor &output, at::Tensor &input,
                               const c10d::ReduceScatterOptions &options) override {
    return reduce_scatter(OpType::_REDUCE_SCATTER_BASE, "keyway:reduce_scatter_single", {{output}}, {{input}}, options);
  }
  WorkPtr reduce_scatter_tensor_coalesced(Tensors &outputs, Tensors &inputs,
                                          const c10d::ReduceScatterOptions &options) override {
    return reduce_scatter(OpType::REDUCE_SCATTER_TENSOR_COALESCED, "keyway:reduce_scatter_single_coalesced",
                          each(outputs), each(inputs), options);
  }

  WorkPtr alltoall_base(at::Tensor &output, at::Tensor &input, std::vector<int64_t> &output_splits,
                        std::vector<int64_t> &input_splits, const c10d::AllToAllOptions &options) override {
    return all_to_all(OpType::ALLTOALL_BASE, "keyway:all_to_all_single", Staged({output}, out), Staged({input}, in),
                      split_bytes(output_splits, output), split_bytes(input_splits, input), options);
  }
  WorkPtr alltoall(Tensors &outputs, Tensors &inputs, const c10d::AllToAllOptions &options) override {
    const Staged to(outputs, out), from(inputs, in);
    return all_to_all(OpType::ALLTOALL, "keyway:all_to_all", to, from, to.sizes(), from.sizes(), options);
  }

  WorkPtr send(Tensors &tensors, int to, int tag) override {
    const Staged data(tensors, in);
    return launch(OpType::SEND, "keyway:send", {data}, [=, this] {
      Tensors bytes{data.bytes()};
      return std::vector{host_->send(bytes, to, tag)};
    });
  }
  WorkPtr recv(Tensors &tensors, int from, int tag) override {
    const Staged data(tensors, out);
    return launch(OpType::RECV, "keyway:recv", {data}, [=, this] {
      Tensors bytes{data.bytes()};
      return std::vector{host_->recv(bytes, from, tag)};
    });
  }
  WorkPtr recvAnysource(Tensors &tensors, int tag) override {
    const Staged data(tensors, out);
    return launch(OpType::RECVANYSOURCE, "keyway:recv", {data}, [=, this] {
      Tensors bytes{data.bytes()};
      return std::vector{host_->recvAnysource(bytes, tag)};
    });
  }

  WorkPtr barrier(const c10d::BarrierOptions &options) override {
    c10d::BarrierOptions those;
    those.timeout = options.timeout;
    return launch(OpType::BARRIER, "keyway:barrier", {}, [=, this] { return std::vector{host_->barrier(those)}; });
  }

 private:
  struct Task {
    std::vector<Staged> staged;
    std::vector<c10::Event> before; /* behind what the caller's streams had so far */
    std::function<std::vector<WorkPtr>()> start;
    std::function<void()> after; /* before the copies to the device */
    c10::intrusive_ptr<StagedWork> work;
  };

  WorkPtr launch(
      OpType type, const char *title, std::vector<Staged> staged, std::function<std::vector<WorkPtr>()> start,
      std::function<void()> after = [] {}) {
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
    starting_->run([this, task] { begin(task); });
    return task->work;
  }

  void begin(const std::shared_ptr<Task> &task) {
    try {
      {
        const Waiting waiting;
        for (c10::Event &event : task->before) event.synchronize();
      }
      waiting_->run([this, task, works = task->start()] { end(*task, works); });
    } catch (const std::exception &error) {
      task->work->fail(text_of(error));
    }
  }

  void end(Task &task, const std::vector<WorkPtr> &works) {
    try {
      {
        const Waiting waiting;
        for (const WorkPtr &work : works) work->wait();
      }
      task.after();
      const std::vector<c10::Stream> streams = own_streams(indices_of(task.staged));
      const c10::MultiStreamGuard guard(streams);
      for (const Staged &each : task.staged) {
        if (each.way & out) copy(each.parts, each.tensors);
      }
      std::vector<c10::Event> copied;
      for (const c10::Stream &stream : streams) copied.emplace_back(device_type).record(stream);
      task.work->complete(std::move(copied),
                          task.work->retrieveOpType() == OpType::RECVANYSOURCE ? works[0]->sourceRank() : -1);
    } catch (const std::exception &error) {
      task.work->fail(text_of(error));
    }
  }

  std::vector<c10::Stream> own_streams(const std::vector<c10::DeviceIndex> &indices) {
    std::lock_guard<std::mutex> lock(mutex_);
    std::vector<c10::Stream> all;
    for (const c10::DeviceIndex index : indices) {
      if (streams_.count(index) == 0) streams_.emplace(index, pool_stream(index));
      all.push_back(streams_.at(index));
    }
    return all;
  }

  static std::vector<Tensors> each(const Tensors &tensors) {
    std::vector<Tensors> all;
    for (const at::Tensor &tensor : tensors) all.push_back({tensor});
    return all;
  }

  WorkPtr allreduce(OpType type, const char *title, const Tensors &tensors, const c10d::AllreduceOptions &options) {
    const Staged data(tensors, in_and_out);
    const Reduction reduction(options.reduceOp, data.flat.scalar_type(), size_);
    const at::Tensor operand = reduction.operand(data.flat);
    return launch(
        type, title, {data},
        [=, this] {
          reduction.before(data.flat, operand);
          Tensors operands{operand};
          c10d::AllreduceOptions those = options;
          those.reduceOp = reduction.host_op();
          return std::vector{host_->allreduce(operands, those)};
        },
        [=] { reduction.after(operand, data.flat); });
  }

  /* Several at once: each has its outputs and inputs at one place of the lists. */
  WorkPtr all_gather(OpType type, const char *title, const std::vector<Tensors> &outputs,
                     const std::vector<Tensors> &inputs, const c10d::AllgatherOptions &options) {
    const std::vector<Staged> staged = pairs(title, outputs, inputs);
    for (size_t i = 0; i < staged.size(); i += 2) check_shares(title, staged[i + 1], staged[i], size_);
    return launch(type, title, staged, [=, this] {
      std::vector<WorkPtr> works;
      for (size_t i = 0; i < staged.size(); i += 2) {
        at::Tensor to = staged[i].bytes(), from = staged[i + 1].bytes();
        works.push_back(host_->_allgather_base(to, from, options));
      }
      return works;
    });
  }

  WorkPtr reduce_scatter(OpType type, const char *title, const std::vector<Tensors> &outputs,
                         const std::vector<Tensors> &inputs, const c10d::ReduceScatterOptions &options) {
    const std::vector<Staged> staged = pairs(title, outputs, inputs);
    std::vector<Reduction> reductions;
    Tensors operands;
    for (size_t i = 0; i < staged.size(); ++i) {
      if (i % 2 == 0) {
        check_shares(title, staged[i], staged[i + 1], size_);
        reductions.emplace_back(options.reduceOp, staged[i].flat.scalar_type(), size_);
      }
      operands.push_back(reductions.back().operand(staged[i].flat));
    }
    return launch(
        type, title, staged,
        [=, this] {
          std::vector<WorkPtr> works;
          for (size_t i = 0; i < staged.size(); i += 2) {
            reductions[i / 2].before(staged[i + 1].flat, operands[i + 1]);
            at::Tensor to = operands[i], from = operands[i + 1];
            c10d::ReduceScatterOptions those = options;
            those.reduceOp = reductions[i / 2].host_op();
            works.push_back(host_->_reduce_scatter_base(to, from, those));
          }
          return works;
        },
        [=] {
          for (size_t i = 0; i < staged.size(); i += 2) reductions[i / 2].after(operands[i], staged[i].flat);
        });
  }

  /* An output and an input in turns. */
  static std::vector<Staged> pairs(const char *title, const std::vector<Tensors> &outputs,
                                   const std::vector<Tensors> &inputs) {
    TORCH_CHECK_VALUE(outputs.size() == inputs.size(), title, ": ", outputs.size(), " outputs and ", inputs.size(),
                      " inputs");
    std::vector<Staged> all;
    for (size_t i = 0; i < outputs.size(); ++i) {
      all.emplace_back(outputs[i], out);
      all.emplace_back(inputs[i], in);
    }
    return all;
  }

  WorkPtr gather(const Tensors &outputs, const Tensors &inputs, const c10d::GatherOptions &options) {
    std::vector<Staged> staged{Staged(inputs, in)};
    if (rank_ == options.rootRank) {
      staged.push_back(Staged(outputs, out));
      check_shares("gather", staged[0], staged[1], size_);
    }
    return launch(OpType::GATHER, "keyway:gather", staged, [=, this] {
      Tensors from{staged[0].bytes()};
      std::vector<Tensors> to;
      if (staged.size() > 1) to.push_back(staged[1].bytes().tensor_split(size_));
      return std::vector{host_->gather(to, from, options)};
    });
  }

  /* What each rank's share of a tensor has, by its rows for each; all the same without any. */
  std::vector<int64_t> split_bytes(std::vector<int64_t> rows, const at::Tensor &tensor) const {
    c10d::checkSplitSizes(rows, tensor, size_);
    const auto bytes = static_cast<int64_t>(tensor.nbytes());
    if (rows.empty()) return std::vector<int64_t>(size_, bytes / size_);
    for (int64_t &each : rows) each *= tensor.size(0) == 0 ? 0 : bytes / tensor.size(0);
    return rows;
  }

  WorkPtr all_to_all(OpType type, const char *title, const Staged &to, const Staged &from,
                     std::vector<int64_t> to_bytes, std::vector<int64_t> from_bytes,
                     const c10d::AllToAllOptions &options) {
    TORCH_CHECK_TYPE(to.flat.scalar_type() == from.flat.scalar_type(), title, ": the outputs are ",
                     to.flat.scalar_type(), " and the inputs ", from.flat.scalar_type(), "; cast one of them");
    return launch(type, title, {to, from}, [=, this]() mutable {
      at::Tensor output = to.bytes(), input = from.bytes();
      return std::vector{host_->alltoall_base(output, input, to_bytes, from_bytes, options)};
    });
  }

  c10::intrusive_ptr<c10d::Backend> host_;
  std::mutex mutex_;
  std::map<c10::DeviceIndex, c10::Stream> streams_; /* for copies to the device; under the mutex */
  std::atomic<uint64_t> collectives_{0};
  std::unique_ptr<Crew> waiting_, starting_;
};

}  // namespace

c10::intrusive_ptr<c10d::Backend> make_staged_backend(const c10::intrusive_ptr<c10d::Backend> &host) {
  return c10::make_intrusive<StagedBackend>(host);
}

void end_staging() {
  if (!in_bad_fork()) process().end(); /* there are no threads there */
}

}  // namespace torch_keyway
