/* SPDX-License-Identifier: Apache-2.0
 *
 * Collectives of device tensors: each is one of a backend for CPU tensors, on pinned copies (staging.h).
 */
#include "distributed.h"
#include "device.h"
#include "staging.h"
#include "vendor_collectives.h"

#include <ATen/ops/empty_like.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/view_as_real.h>
#include <torch/csrc/distributed/c10d/Utils.hpp>
#include <torch/csrc/utils/pybind.h>

#include <optional>

namespace torch_keyway {

namespace {

using c10d::OpType;
using c10d::ReduceOp;
using std::chrono::milliseconds;

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

/* ---- Shares ------------------------------------------------------------------------------------------------------ */

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

/* The same of tensors that are not staged. */
void check_shares(const char *what, const at::Tensor &one, const at::Tensor &all, int size) {
  TORCH_CHECK_TYPE(one.scalar_type() == all.scalar_type(), what, ": the tensors are ", one.scalar_type(), " and ",
                   all.scalar_type(), "; cast one of them");
  TORCH_CHECK_VALUE(one.numel() * size == all.numel(), what, ": a tensor with ", all.numel(), " numbers does not hold ",
                    one.numel(), " for each of ", size, " ranks, which it has to: pad the smaller one");
}

std::vector<Tensors> each(const Tensors &tensors) {
  std::vector<Tensors> all;
  for (const at::Tensor &tensor : tensors) all.push_back({tensor});
  return all;
}

/* An output and an input in turns. */
std::vector<Staged> pairs(const char *title, const std::vector<Tensors> &outputs, const std::vector<Tensors> &inputs) {
  TORCH_CHECK_VALUE(outputs.size() == inputs.size(), title, ": ", outputs.size(), " outputs and ", inputs.size(),
                    " inputs");
  std::vector<Staged> all;
  for (size_t i = 0; i < outputs.size(); ++i) {
    all.emplace_back(outputs[i], out);
    all.emplace_back(inputs[i], in);
  }
  return all;
}

/* Whether it is the vendor's library that is called, for one tensor, or for one reduction of it. */
template <class... Reductions>
bool is_there(const std::unique_ptr<VendorCollectives> &vendor, const Tensors &tensors,
              const Reductions &...reduction) {
  return vendor != nullptr && tensors.size() == 1 && VendorCollectives::serves(tensors[0], reduction...);
}

/* ---- Backend ----------------------------------------------------------------------------------------------------- */

/* Its functions have the names of PyTorch 2.13; later ones call them by these as well. */
class StagedBackend final : public c10d::Backend {
 public:
  StagedBackend(const c10::intrusive_ptr<c10d::Backend> &host, bool by_vendor);
  ~StagedBackend() override;

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
    return staging_->collectives();
  }

  WorkPtr broadcast(Tensors &tensors, const c10d::BroadcastOptions &options) override;

  WorkPtr allreduce(Tensors &tensors, const c10d::AllreduceOptions &options) override;
  WorkPtr allreduce_coalesced(Tensors &tensors, const c10d::AllreduceCoalescedOptions &options) override;

  WorkPtr reduce(Tensors &tensors, const c10d::ReduceOptions &options) override;

  WorkPtr allgather(std::vector<Tensors> &outputs, Tensors &inputs, const c10d::AllgatherOptions &options) override;
  WorkPtr _allgather_base(at::Tensor &output, at::Tensor &input, const c10d::AllgatherOptions &options) override;
  /* Each list of outputs is one rank's, with a tensor for each of the inputs. */
  WorkPtr allgather_coalesced(std::vector<Tensors> &outputs, Tensors &inputs,
                              const c10d::AllgatherOptions &options) override;
  WorkPtr allgather_into_tensor_coalesced(Tensors &outputs, Tensors &inputs,
                                          const c10d::AllgatherOptions &options) override;

  WorkPtr gather(std::vector<Tensors> &outputs, Tensors &inputs, const c10d::GatherOptions &options) override;
  /* PyTorch asks for it since 2.14. */
  [[maybe_unused]] WorkPtr gather_into_tensor(at::Tensor &output, at::Tensor &input,
                                              const c10d::GatherOptions &options);

  WorkPtr scatter(Tensors &outputs, std::vector<Tensors> &inputs, const c10d::ScatterOptions &options) override;

  WorkPtr reduce_scatter(Tensors &outputs, std::vector<Tensors> &inputs,
                         const c10d::ReduceScatterOptions &options) override;
  WorkPtr _reduce_scatter_base(at::Tensor &output, at::Tensor &input,
                               const c10d::ReduceScatterOptions &options) override;
  WorkPtr reduce_scatter_tensor_coalesced(Tensors &outputs, Tensors &inputs,
                                          const c10d::ReduceScatterOptions &options) override;

  WorkPtr alltoall_base(at::Tensor &output, at::Tensor &input, std::vector<int64_t> &output_splits,
                        std::vector<int64_t> &input_splits, const c10d::AllToAllOptions &options) override;
  WorkPtr alltoall(Tensors &outputs, Tensors &inputs, const c10d::AllToAllOptions &options) override;

  WorkPtr send(Tensors &tensors, int to, int tag) override;
  WorkPtr recv(Tensors &tensors, int from, int tag) override;
  WorkPtr recvAnysource(Tensors &tensors, int tag) override;

  WorkPtr barrier(const c10d::BarrierOptions &options) override;

 private:
  WorkPtr allreduce(OpType type, const char *title, const Tensors &tensors, const c10d::AllreduceOptions &options);
  /* `call` has the host's group reduce what stands for the tensors there. */
  WorkPtr reduced(OpType type, const char *title, const Staged &data, const ReduceOp &op,
                  const std::function<WorkPtr(Tensors &, ReduceOp)> &call);

  /* Several at once: each has its outputs and inputs at one place of the lists. */
  WorkPtr all_gather(OpType type, const char *title, const std::vector<Tensors> &outputs,
                     const std::vector<Tensors> &inputs, const c10d::AllgatherOptions &options);

  WorkPtr reduce_scatter(OpType type, const char *title, const std::vector<Tensors> &outputs,
                         const std::vector<Tensors> &inputs, const c10d::ReduceScatterOptions &options);

  WorkPtr gather(const Tensors &outputs, const Tensors &inputs, const c10d::GatherOptions &options);

  /* What each rank's share of a tensor has, by its rows for each; all the same without any. */
  std::vector<int64_t> split_bytes(std::vector<int64_t> rows, const at::Tensor &tensor) const;

  WorkPtr all_to_all(OpType type, const char *title, const Staged &to, const Staged &from,
                     std::vector<int64_t> to_bytes, std::vector<int64_t> from_bytes,
                     const c10d::AllToAllOptions &options);

  c10::intrusive_ptr<c10d::Backend> host_;
  std::unique_ptr<VendorCollectives> vendor_; /* nullptr: all goes by the host */
  std::unique_ptr<Staging> staging_;
};

StagedBackend::StagedBackend(const c10::intrusive_ptr<c10d::Backend> &host, bool by_vendor)
    : Backend(host->getRank(), host->getSize()),
      host_(host),
      vendor_(by_vendor ? std::make_unique<VendorCollectives>(host) : nullptr),
      staging_(std::make_unique<Staging>(rank_)) {}

/* What was begun is ended, as by gloo; callbacks of it may need the GIL. Nothing is at the end of the process. */
StagedBackend::~StagedBackend() {
  if (Crew::all_ended()) {
    (void)staging_.release();
    (void)vendor_.release();
    (void)host_.release();
    return;
  }
  std::optional<pybind11::gil_scoped_release> release;
  if (PyGILState_Check()) release.emplace();
  staging_.reset();
  vendor_.reset();
  host_.reset();
}

WorkPtr StagedBackend::broadcast(Tensors &tensors, const c10d::BroadcastOptions &options) {
  if (is_there(vendor_, tensors)) {
    return staging_->launch_there(OpType::BROADCAST, "keyway:broadcast", {}, tensors,
                                  [=, this](const auto &, const auto &out, kw_stream *stream) {
                                    vendor_->broadcast(tensors[0], out[0], static_cast<int>(options.rootRank), stream);
                                  });
  }
  const Staged data(tensors, rank_ == options.rootRank ? in : out);
  return staging_->launch(OpType::BROADCAST, "keyway:broadcast", {data}, [=, this] {
    Tensors bytes{data.bytes()};
    return std::vector{host_->broadcast(bytes, options)};
  });
}

WorkPtr StagedBackend::allreduce(Tensors &tensors, const c10d::AllreduceOptions &options) {
  return allreduce(OpType::ALLREDUCE, "keyway:all_reduce", tensors, options);
}

WorkPtr StagedBackend::allreduce_coalesced(Tensors &tensors, const c10d::AllreduceCoalescedOptions &options) {
  return allreduce(OpType::ALLREDUCE_COALESCED, "keyway:all_reduce_coalesced", tensors, options);
}

WorkPtr StagedBackend::reduce(Tensors &tensors, const c10d::ReduceOptions &options) {
  if (is_there(vendor_, tensors, options.reduceOp)) {
    return staging_->launch_there(
        OpType::REDUCE, "keyway:reduce", {}, tensors, [=, this](const auto &, const auto &out, kw_stream *stream) {
          vendor_->reduce(tensors[0], out[0], options.reduceOp, static_cast<int>(options.rootRank), stream);
        });
  }
  const Staged data(tensors, rank_ == options.rootRank ? in_and_out : in);
  return reduced(OpType::REDUCE, "keyway:reduce", data, options.reduceOp, [=, this](Tensors &operands, ReduceOp op) {
    c10d::ReduceOptions those = options;
    those.reduceOp = std::move(op);
    return host_->reduce(operands, those);
  });
}

WorkPtr StagedBackend::allgather(std::vector<Tensors> &outputs, Tensors &inputs,
                                 const c10d::AllgatherOptions &options) {
  TORCH_CHECK_VALUE(outputs.size() == 1, "all_gather: one list of outputs, not ", outputs.size());
  return all_gather(OpType::ALLGATHER, "keyway:all_gather", {outputs[0]}, {inputs}, options);
}

WorkPtr StagedBackend::_allgather_base(at::Tensor &output, at::Tensor &input, const c10d::AllgatherOptions &options) {
  if (is_there(vendor_, {input}) && is_there(vendor_, {output})) {
    check_shares("all_gather_single", input, output, size_);
    return staging_->launch_there(OpType::_ALLGATHER_BASE, "keyway:all_gather_single", {input}, {output},
                                  [=, this](const auto &in, const auto &out, kw_stream *stream) {
                                    vendor_->all_gather(input, in[0], out[0], stream);
                                  });
  }
  return all_gather(OpType::_ALLGATHER_BASE, "keyway:all_gather_single", {{output}}, {{input}}, options);
}

WorkPtr StagedBackend::allgather_coalesced(std::vector<Tensors> &outputs, Tensors &inputs,
                                           const c10d::AllgatherOptions &options) {
  std::vector<Tensors> all(inputs.size()), one;
  for (const Tensors &list : outputs) {
    TORCH_CHECK_VALUE(list.size() == inputs.size(), "all_gather_coalesced: ", inputs.size(), " inputs, and ",
                      list.size(), " outputs for a rank");
    for (size_t i = 0; i < inputs.size(); ++i) all[i].push_back(list[i]);
  }
  for (const at::Tensor &input : inputs) one.push_back({input});
  return all_gather(OpType::ALLGATHER_COALESCED, "keyway:all_gather_coalesced", all, one, options);
}

WorkPtr StagedBackend::allgather_into_tensor_coalesced(Tensors &outputs, Tensors &inputs,
                                                       const c10d::AllgatherOptions &options) {
  return all_gather(OpType::ALLGATHER_COALESCED, "keyway:all_gather_single_coalesced", each(outputs), each(inputs),
                    options);
}

WorkPtr StagedBackend::gather(std::vector<Tensors> &outputs, Tensors &inputs, const c10d::GatherOptions &options) {
  return gather(outputs.empty() ? Tensors{} : outputs[0], inputs, options);
}

WorkPtr StagedBackend::gather_into_tensor(at::Tensor &output, at::Tensor &input, const c10d::GatherOptions &options) {
  return gather(output.defined() ? Tensors{output} : Tensors{}, {input}, options);
}

WorkPtr StagedBackend::scatter(Tensors &outputs, std::vector<Tensors> &inputs, const c10d::ScatterOptions &options) {
  std::vector<Staged> staged{Staged(outputs, out)};
  if (rank_ == options.rootRank) {
    TORCH_CHECK_VALUE(inputs.size() == 1, "scatter: the root gives one list of inputs, not ", inputs.size());
    staged.push_back(Staged(inputs[0], in));
    check_shares("scatter", staged[0], staged[1], size_);
  }
  return staging_->launch(OpType::SCATTER, "keyway:scatter", staged, [=, this] {
    Tensors to{staged[0].bytes()};
    std::vector<Tensors> from;
    if (staged.size() > 1) from.push_back(staged[1].bytes().tensor_split(size_));
    return std::vector{host_->scatter(to, from, options)};
  });
}

WorkPtr StagedBackend::reduce_scatter(Tensors &outputs, std::vector<Tensors> &inputs,
                                      const c10d::ReduceScatterOptions &options) {
  TORCH_CHECK_VALUE(inputs.size() == 1, "reduce_scatter: one list of inputs, not ", inputs.size());
  return reduce_scatter(OpType::REDUCE_SCATTER, "keyway:reduce_scatter", {outputs}, {inputs[0]}, options);
}

WorkPtr StagedBackend::_reduce_scatter_base(at::Tensor &output, at::Tensor &input,
                                            const c10d::ReduceScatterOptions &options) {
  if (is_there(vendor_, {input}, options.reduceOp) && is_there(vendor_, {output})) {
    check_shares("reduce_scatter_single", output, input, size_);
    return staging_->launch_there(OpType::_REDUCE_SCATTER_BASE, "keyway:reduce_scatter_single", {input}, {output},
                                  [=, this](const auto &in, const auto &out, kw_stream *stream) {
                                    vendor_->reduce_scatter(output, in[0], out[0], options.reduceOp, stream);
                                  });
  }
  return reduce_scatter(OpType::_REDUCE_SCATTER_BASE, "keyway:reduce_scatter_single", {{output}}, {{input}}, options);
}

WorkPtr StagedBackend::reduce_scatter_tensor_coalesced(Tensors &outputs, Tensors &inputs,
                                                       const c10d::ReduceScatterOptions &options) {
  return reduce_scatter(OpType::REDUCE_SCATTER_TENSOR_COALESCED, "keyway:reduce_scatter_single_coalesced",
                        each(outputs), each(inputs), options);
}

WorkPtr StagedBackend::alltoall_base(at::Tensor &output, at::Tensor &input, std::vector<int64_t> &output_splits,
                                     std::vector<int64_t> &input_splits, const c10d::AllToAllOptions &options) {
  return all_to_all(OpType::ALLTOALL_BASE, "keyway:all_to_all_single", Staged({output}, out), Staged({input}, in),
                    split_bytes(output_splits, output), split_bytes(input_splits, input), options);
}

WorkPtr StagedBackend::alltoall(Tensors &outputs, Tensors &inputs, const c10d::AllToAllOptions &options) {
  const Staged to(outputs, out), from(inputs, in);
  return all_to_all(OpType::ALLTOALL, "keyway:all_to_all", to, from, to.sizes(), from.sizes(), options);
}

WorkPtr StagedBackend::send(Tensors &tensors, int to, int tag) {
  const Staged data(tensors, in);
  return staging_->launch(OpType::SEND, "keyway:send", {data}, [=, this] {
    Tensors bytes{data.bytes()};
    return std::vector{host_->send(bytes, to, tag)};
  });
}

WorkPtr StagedBackend::recv(Tensors &tensors, int from, int tag) {
  const Staged data(tensors, out);
  return staging_->launch(OpType::RECV, "keyway:recv", {data}, [=, this] {
    Tensors bytes{data.bytes()};
    return std::vector{host_->recv(bytes, from, tag)};
  });
}

WorkPtr StagedBackend::recvAnysource(Tensors &tensors, int tag) {
  const Staged data(tensors, out);
  return staging_->launch(OpType::RECVANYSOURCE, "keyway:recv", {data}, [=, this] {
    Tensors bytes{data.bytes()};
    return std::vector{host_->recvAnysource(bytes, tag)};
  });
}

WorkPtr StagedBackend::barrier(const c10d::BarrierOptions &options) {
  c10d::BarrierOptions those;
  those.timeout = options.timeout;
  return staging_->launch(OpType::BARRIER, "keyway:barrier", {},
                          [=, this] { return std::vector{host_->barrier(those)}; });
}

WorkPtr StagedBackend::allreduce(OpType type, const char *title, const Tensors &tensors,
                                 const c10d::AllreduceOptions &options) {
  if (is_there(vendor_, tensors, options.reduceOp)) {
    return staging_->launch_there(type, title, {}, tensors,
                                  [=, this](const auto &, const auto &out, kw_stream *stream) {
                                    vendor_->all_reduce(tensors[0], out[0], options.reduceOp, stream);
                                  });
  }
  return reduced(type, title, Staged(tensors, in_and_out), options.reduceOp, [=, this](Tensors &operands, ReduceOp op) {
    c10d::AllreduceOptions those = options;
    those.reduceOp = std::move(op);
    return host_->allreduce(operands, those);
  });
}

WorkPtr StagedBackend::reduced(OpType type, const char *title, const Staged &data, const ReduceOp &op,
                               const std::function<WorkPtr(Tensors &, ReduceOp)> &call) {
  const Reduction reduction(op, data.flat.scalar_type(), size_);
  const at::Tensor operand = reduction.operand(data.flat);
  return staging_->launch(
      type, title, {data},
      [=] {
        reduction.before(data.flat, operand);
        Tensors operands{operand};
        return std::vector{call(operands, reduction.host_op())};
      },
      [=] { reduction.after(operand, data.flat); });
}

WorkPtr StagedBackend::all_gather(OpType type, const char *title, const std::vector<Tensors> &outputs,
                                  const std::vector<Tensors> &inputs, const c10d::AllgatherOptions &options) {
  const std::vector<Staged> staged = pairs(title, outputs, inputs);
  for (size_t i = 0; i < staged.size(); i += 2) check_shares(title, staged[i + 1], staged[i], size_);
  return staging_->launch(type, title, staged, [=, this] {
    std::vector<WorkPtr> works;
    for (size_t i = 0; i < staged.size(); i += 2) {
      at::Tensor to = staged[i].bytes(), from = staged[i + 1].bytes();
      works.push_back(host_->_allgather_base(to, from, options));
    }
    return works;
  });
}

WorkPtr StagedBackend::reduce_scatter(OpType type, const char *title, const std::vector<Tensors> &outputs,
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
  return staging_->launch(
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

WorkPtr StagedBackend::gather(const Tensors &outputs, const Tensors &inputs, const c10d::GatherOptions &options) {
  std::vector<Staged> staged{Staged(inputs, in)};
  if (rank_ == options.rootRank) {
    staged.push_back(Staged(outputs, out));
    check_shares("gather", staged[0], staged[1], size_);
  }
  return staging_->launch(OpType::GATHER, "keyway:gather", staged, [=, this] {
    Tensors from{staged[0].bytes()};
    std::vector<Tensors> to;
    if (staged.size() > 1) to.push_back(staged[1].bytes().tensor_split(size_));
    return std::vector{host_->gather(to, from, options)};
  });
}

std::vector<int64_t> StagedBackend::split_bytes(std::vector<int64_t> rows, const at::Tensor &tensor) const {
  c10d::checkSplitSizes(rows, tensor, size_);
  const auto bytes = static_cast<int64_t>(tensor.nbytes());
  if (rows.empty()) return std::vector<int64_t>(size_, bytes / size_);
  for (int64_t &each : rows) each *= tensor.size(0) == 0 ? 0 : bytes / tensor.size(0);
  return rows;
}

WorkPtr StagedBackend::all_to_all(OpType type, const char *title, const Staged &to, const Staged &from,
                                  std::vector<int64_t> to_bytes, std::vector<int64_t> from_bytes,
                                  const c10d::AllToAllOptions &options) {
  TORCH_CHECK_TYPE(to.flat.scalar_type() == from.flat.scalar_type(), title, ": the outputs are ", to.flat.scalar_type(),
                   " and the inputs ", from.flat.scalar_type(), "; cast one of them");
  return staging_->launch(type, title, {to, from}, [=, this]() mutable {
    at::Tensor output = to.bytes(), input = from.bytes();
    return std::vector{host_->alltoall_base(output, input, to_bytes, from_bytes, options)};
  });
}

}  // namespace

c10::intrusive_ptr<c10d::Backend> make_staged_backend(const c10::intrusive_ptr<c10d::Backend> &host, bool by_vendor) {
  return c10::make_intrusive<StagedBackend>(host, by_vendor);
}

void end_staging() {
  if (!in_bad_fork()) Crew::end_all(); /* there are no threads there */
}

}  // namespace torch_keyway
