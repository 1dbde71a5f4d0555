/* SPDX-License-Identifier: Apache-2.0
 *
 * Recording a compiled function, and running what was recorded.
 */
#include "replay.h"
#include "device.h"
#include "settings.h"
#include "status.h"

#include <ATen/EmptyTensor.h>
#include <ATen/MemoryOverlap.h>

#include <algorithm>
#include <unordered_map>

namespace torch_keyway {

namespace {

/* Storages that are lasting, by how many Replays say so. */
class Lasting {
 public:
  void add(const c10::StorageImpl *storage) {
    std::lock_guard<std::mutex> lock(mutex_);
    ++counts_[storage];
  }
  void remove(const c10::StorageImpl *storage) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto place = counts_.find(storage);
    if (--place->second == 0) counts_.erase(place);
  }
  bool has(const c10::StorageImpl *storage) {
    std::lock_guard<std::mutex> lock(mutex_);
    return counts_.count(storage) > 0;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<const c10::StorageImpl *, int> counts_;
};

Lasting &lasting_storages() {
  static auto *all = new Lasting; /* a Replay may go after the end of main */
  return *all;
}

size_t stretch_size(const at::Tensor &tensor) {
  return at::detail::computeStorageNbytes(tensor.sizes(), tensor.strides(), tensor.itemsize());
}

Handle stretch_of(const at::Tensor &tensor, size_t size) {
  return bytes_of(tensor.storage(), static_cast<size_t>(tensor.storage_offset()) * tensor.itemsize(), size);
}

bool same_number(const c10::IValue &a, const c10::IValue &b) {
  if (a.isInt()) return b.isInt() && a.toInt() == b.toInt();
  if (a.isDouble()) return b.isDouble() && a.toDouble() == b.toDouble();
  return a.isNone() && b.isNone();
}

void check_plain(const at::Tensor &tensor) {
  TORCH_CHECK(tensor.device().type() == device_type, "a tensor of it is on ", tensor.device());
  TORCH_CHECK(!tensor.is_conj() && !tensor.is_neg(), "a tensor of it is marked to be taken conjugated or negated");
}

}  // namespace

bool is_lasting(const at::Tensor &tensor) {
  return tensor.device().type() == device_type && lasting_storages().has(tensor.storage().unsafeGetStorageImpl());
}

/* ---- Recording --------------------------------------------------------------------------------------------------- */

Replay::Replay(std::shared_ptr<std::mutex> lock, const Values &given, const std::vector<size_t> &lasting)
    : lock_(std::move(lock)) {
  for (const c10::IValue &value : given) {
    if (!value.isTensor()) continue;
    check_plain(value.toTensor());
    const c10::DeviceIndex index = value.toTensor().device().index();
    TORCH_CHECK(index_ < 0 || index_ == index, "its tensors are on several devices");
    index_ = index;
  }
  TORCH_CHECK(index_ >= 0, "it has no tensor to begin with");
  stream_ = current_stream(index_);
  follow_settings(true);
  math_ = kw_math_mode_get();
  deterministic_ = kw_deterministic_get();
  for (size_t i = 0; i < given.size(); ++i) {
    const bool in_place = std::find(lasting.begin(), lasting.end(), i) != lasting.end();
    inputs_.push_back(make_input(given[i], in_place));
  }
}

Replay::Input Replay::make_input(const c10::IValue &value, bool in_place) const {
  Input input;
  input.value = value;
  input.is_tensor = value.isTensor();
  if (!input.is_tensor) return input;
  const at::Tensor tensor = value.toTensor();
  input.type = tensor.scalar_type();
  input.sizes.assign(tensor.sizes().begin(), tensor.sizes().end());
  input.strides.assign(tensor.strides().begin(), tensor.strides().end());
  if (in_place) {
    const Handle view = view_of(tensor);
    const kw_tensor_ref *ref = kw_tensor_describe(view.get());
    input.in_place = true;
    input.mem = ref->mem;
    input.offset = ref->offset;
    return input;
  }
  input.size = stretch_size(tensor);
  const at::Tensor own = tensor_on(storage_on(new_bytes(input.size, index_), input.size, index_), input.type);
  own.unsafeGetTensorImpl()->set_sizes_and_strides(input.sizes, input.strides);
  /* Element by element would be wrong where several lie in one place, and take longer where they fill a stretch. */
  input.whole = tensor.is_non_overlapping_and_dense() || at::has_internal_overlap(tensor) != at::MemOverlap::No;
  input.view = input.whole ? stretch_of(own, input.size) : view_of(own);
  input.value = own;
  return input;
}

Replay::Values Replay::inputs() const {
  Values values;
  for (const Input &input : inputs_) values.push_back(input.value);
  return values;
}

void Replay::begin() {
  before_ = exchange_stream(recording_stream(index_));
  try {
    recorder_.emplace(stream_of(recording_stream(index_)));
  } catch (...) {
    abandon();
    throw;
  }
}

void Replay::abandon() {
  recorder_.reset();
  if (before_.has_value()) exchange_stream(*before_);
  before_.reset();
}

void Replay::end(const Values &results, const std::vector<size_t> &written, size_t kept_from) {
  graph_ = recorder_->end();
  abandon();
  for (const size_t i : written) inputs_[i].written = true;
  for (size_t i = 0; i < results.size(); ++i) results_.push_back(make_result(results[i], i >= kept_from));
  for (Input &input : inputs_) {
    if (!input.is_tensor) continue;
    if (input.in_place) {
      input.lasting = input.value.toTensor().storage().unsafeGetStorageImpl();
      lasting_storages().add(input.lasting);
    }
    input.value = {}; /* the graph has its memory */
  }
  for (const Memory &kept : kept_) lasting_storages().add(kept.storage.unsafeGetStorageImpl());
  for (Memory &copied : copied_) copied.storage = {};
}

Replay::Result Replay::make_result(const c10::IValue &value, bool is_kept) {
  Result result{};
  if (!value.isTensor()) {
    result.kind = Result::constant;
    result.value = value;
    return result;
  }
  const at::Tensor tensor = value.toTensor();
  check_plain(tensor);
  result.type = tensor.scalar_type();
  result.sizes.assign(tensor.sizes().begin(), tensor.sizes().end());
  result.strides.assign(tensor.strides().begin(), tensor.strides().end());
  result.offset = tensor.storage_offset();
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!inputs_[i].is_tensor) continue;
    const at::Tensor input = inputs_[i].value.toTensor();
    if (!input.is_alias_of(tensor)) continue;
    result.kind = input.is_same(tensor) ? Result::input : Result::view_of_input;
    result.index = i;
    result.offset -= input.storage_offset();
    return result;
  }
  result.kind = is_kept ? Result::kept : Result::copied;
  result.index = find_memory(is_kept ? kept_ : copied_, tensor.storage());
  return result;
}

size_t Replay::find_memory(std::vector<Memory> &all, const c10::Storage &storage) {
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].storage.is_alias_of(storage)) return i;
  }
  all.push_back({storage, storage.nbytes(), bytes_of(storage, 0, storage.nbytes())});
  return all.size() - 1;
}

Replay::~Replay() {
  abandon();
  if (graph_ == nullptr) return;
  for (const Memory &kept : kept_) lasting_storages().remove(kept.storage.unsafeGetStorageImpl());
  for (const Input &input : inputs_) {
    if (input.lasting != nullptr) lasting_storages().remove(input.lasting);
  }
  kw_graph_destroy(graph_);
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

bool Replay::fits(const Input &input, const c10::IValue &value) const {
  if (!input.is_tensor) return same_number(input.value, value);
  if (!value.isTensor()) return false;
  const at::Tensor &given = value.toTensor();
  if (given.device() != c10::Device(device_type, index_) || given.scalar_type() != input.type ||
      given.sizes() != c10::IntArrayRef(input.sizes) || given.strides() != c10::IntArrayRef(input.strides) ||
      given.is_conj() || given.is_neg()) {
    return false;
  }
  if (!input.in_place) return true;
  const Handle view = view_of(given);
  const kw_tensor_ref *ref = kw_tensor_describe(view.get());
  return ref->mem == input.mem && ref->offset == input.offset;
}

void Replay::copy_in(const Input &input, const at::Tensor &given, bool back) const {
  if (given.numel() == 0) return;
  const Handle view = input.whole ? stretch_of(given, input.size) : view_of(given);
  copy_elements(back ? input.view : view, back ? view : input.view, stream_);
}

void Replay::hand_over(Memory &kept) {
  if (kept.storage.use_count() == 1) return;
  const Handle moved = new_bytes(kept.size, index_);
  if (kept.size > 0) copy_elements(kept.bytes, moved, stream_);
  move_storage(kept.storage, moved);
  c10::Storage next = storage_on(kept.bytes, kept.size, index_);
  lasting_storages().remove(kept.storage.unsafeGetStorageImpl());
  kept.storage = std::move(next);
  lasting_storages().add(kept.storage.unsafeGetStorageImpl());
}

/* A copy of what the graph has made: results that share memory go on doing so. */
void Replay::copy_out(Memory &copied) const {
  const Handle bytes = new_bytes(copied.size, index_);
  if (copied.size > 0) copy_elements(copied.bytes, bytes, stream_);
  copied.storage = storage_on(bytes, copied.size, index_);
}

c10::IValue Replay::give(const Result &result, const Values &given) const {
  if (result.kind == Result::constant) return result.value;
  if (result.kind == Result::input) return given[result.index];
  at::Tensor tensor;
  int64_t offset = result.offset;
  if (result.kind == Result::view_of_input) {
    const at::Tensor &base = given[result.index].toTensor();
    tensor = tensor_on(base.storage(), result.type);
    if (!base.is_inference()) {
      tensor.unsafeGetTensorImpl()->set_version_counter(base.unsafeGetTensorImpl()->version_counter());
    }
    offset += base.storage_offset();
  } else {
    tensor = tensor_on((result.kind == Result::kept ? kept_ : copied_)[result.index].storage, result.type);
  }
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(result.sizes, result.strides, offset);
  return tensor;
}

std::optional<Replay::Values> Replay::run(const Values &given) {
  if (given.size() != inputs_.size() || current_stream(index_) != stream_) return std::nullopt;
  follow_settings(true);
  if (kw_math_mode_get() != math_ || kw_deterministic_get() != deterministic_) return std::nullopt;

  std::lock_guard<std::mutex> lock(*lock_);
  for (size_t i = 0; i < given.size(); ++i) {
    if (!fits(inputs_[i], given[i])) return std::nullopt;
  }
  for (Memory &kept : kept_) hand_over(kept);
  for (size_t i = 0; i < given.size(); ++i) {
    if (inputs_[i].view.get() != nullptr) copy_in(inputs_[i], given[i].toTensor(), false);
  }
  check(kw_graph_launch(graph_, stream_));
  for (size_t i = 0; i < given.size(); ++i) {
    if (!inputs_[i].written) continue;
    const at::Tensor &changed = given[i].toTensor();
    if (inputs_[i].view.get() != nullptr) copy_in(inputs_[i], changed, true);
    if (!changed.is_inference()) changed.unsafeGetTensorImpl()->bump_version();
  }
  for (Memory &copied : copied_) copy_out(copied);
  Values results;
  results.reserve(results_.size());
  for (const Result &result : results_) results.push_back(give(result, given));
  for (Memory &copied : copied_) copied.storage = {}; /* it is the caller's alone */
  return results;
}

}  // namespace torch_keyway
