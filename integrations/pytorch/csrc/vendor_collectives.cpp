/* SPDX-License-Identifier: Apache-2.0
 *
 * The library's functions by their names, its communicator, the calls. Numbers and signatures are those of NCCL's
 * public interface, version 2.
 */
#include "vendor_collectives.h"
#include "device.h"
#include "status.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <keyway/dlpack.h>
#include <keyway/interop.h>

#include <dlfcn.h>

#include <array>
#include <map>
#include <mutex>
#include <optional>

namespace torch_keyway {

using c10d::ReduceOp;

namespace {

/* 128 bytes that one rank makes and all begin with. */
struct UniqueId {
  std::array<char, 128> bytes;
};

template <class... Args>
using Function = int (*)(Args...);

}  // namespace

struct VendorLibrary {
  const char *name;
  Function<UniqueId *> get_unique_id;
  Function<void **, int, UniqueId, int> init;
  Function<void *> destroy;
  const char *(*error_text)(int);
  Function<const void *, void *, size_t, int, int, void *, void *> all_reduce;
  Function<const void *, void *, size_t, int, int, void *, void *> broadcast;
  Function<const void *, void *, size_t, int, int, int, void *, void *> reduce;
  Function<const void *, void *, size_t, int, void *, void *> all_gather;
  Function<const void *, void *, size_t, int, int, void *, void *> reduce_scatter;
};

namespace {

/* ---- Libraries --------------------------------------------------------------------------------------------------- */

template <class Pointer>
bool find(void *file, const char *name, Pointer &out) {
  return (out = reinterpret_cast<Pointer>(dlsym(file, name))) != nullptr;
}

std::optional<VendorLibrary> open_library(const char *name, std::initializer_list<const char *> files) {
  void *file = nullptr;
  for (const char *path : files) {
    if (file == nullptr) file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  }
  VendorLibrary all{};
  all.name = name;
  const bool complete = file != nullptr && find(file, "ncclGetUniqueId", all.get_unique_id) &&
                        find(file, "ncclCommInitRank", all.init) && find(file, "ncclCommDestroy", all.destroy) &&
                        find(file, "ncclGetErrorString", all.error_text) &&
                        find(file, "ncclAllReduce", all.all_reduce) && find(file, "ncclBroadcast", all.broadcast) &&
                        find(file, "ncclReduce", all.reduce) && find(file, "ncclAllGather", all.all_gather) &&
                        find(file, "ncclReduceScatter", all.reduce_scatter);
  return complete ? std::optional(all) : std::nullopt;
}

/* By DLPack's number for the vendor's devices. nullptr: it is not installed, or lacks a name. Never closed. */
const VendorLibrary *library_for(int32_t device_type) {
  static const auto nvidia = open_library("NCCL", {"libnccl.so.2", "libnccl.so"});
  static const auto amd = open_library("RCCL", {"librccl.so.1", "librccl.so"});
  const auto &library = device_type == kDLCUDA ? nvidia : amd;
  return library.has_value() ? &*library : nullptr;
}

/* The vendor's runtime, which the plugin has loaded. */
void *runtime_of(int32_t device_type) {
  const auto amd = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"};
  const auto nvidia = {"libcuda.so.1"};
  void *file = nullptr;
  for (const char *name : device_type == kDLROCM ? std::vector<const char *>(amd) : nvidia) {
    if (file == nullptr) file = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
  }
  return file;
}

/* What makes a device the calling thread's current one in its runtime, which the libraries go by. */
bool make_current(int32_t device_type, int device) {
  void *const file = runtime_of(device_type), *context = nullptr;
  if (file == nullptr) return false;
  if (device_type == kDLROCM) {
    int (*set_device)(int);
    return find(file, "hipSetDevice", set_device) && set_device(device) == 0;
  }
  int (*retain)(void **, int);
  int (*set)(void *);
  return find(file, "cuDevicePrimaryCtxRetain", retain) && find(file, "cuCtxSetCurrent", set) &&
         retain(&context, device) == 0 && set(context) == 0;
}

/* ---- Kinds ------------------------------------------------------------------------------------------------------- */

std::optional<kw_native_handle> native_handle(const at::Tensor &tensor) {
  kw_native_handle handle{};
  handle.struct_size = sizeof handle;
  const kw_status status = kw_device_native_handle(device_at(tensor.device().index()), &handle);
  const bool known = handle.dl_device_type == kDLCUDA || handle.dl_device_type == kDLROCM;
  return status == KW_OK && known ? std::optional(handle) : std::nullopt;
}

std::optional<int> number_of(c10::ScalarType dtype) {
  static const std::map<c10::ScalarType, int> numbers{
      {at::kChar, 0}, {at::kByte, 1},  {at::kInt, 2},    {at::kLong, 4},
      {at::kHalf, 6}, {at::kFloat, 7}, {at::kDouble, 8}, {at::kBFloat16, 9},
  };
  const auto found = numbers.find(dtype);
  return found == numbers.end() ? std::nullopt : std::optional(found->second);
}

std::optional<int> number_of(const ReduceOp &op) {
  if (op == ReduceOp::SUM) return 0;
  if (op == ReduceOp::PRODUCT) return 1;
  if (op == ReduceOp::MAX) return 2;
  if (op == ReduceOp::MIN) return 3;
  return op == ReduceOp::AVG ? std::optional(4) : std::nullopt;
}

void *native_stream(kw_stream *stream) {
  kw_native_handle handle{};
  handle.struct_size = sizeof handle;
  torch_keyway::check(kw_stream_native_handle(stream, &handle));
  return handle.handle;
}

size_t count_of(const at::Tensor &tensor) {
  return static_cast<size_t>(tensor.numel());
}

int dtype_of_all(const at::Tensor &tensor) {
  return *number_of(tensor.scalar_type());
}

}  // namespace

bool VendorCollectives::serves(const at::Tensor &tensor) {
  return tensor.layout() == at::kStrided && number_of(tensor.scalar_type()).has_value() &&
         native_handle(tensor).has_value();
}

bool VendorCollectives::serves(const at::Tensor &tensor, const ReduceOp &op) {
  const bool has_mean = op != ReduceOp::AVG || tensor.is_floating_point();
  return has_mean && number_of(op).has_value() && serves(tensor);
}

/* ---- Communicator ------------------------------------------------------------------------------------------------ */

VendorCollectives::~VendorCollectives() {
  if (communicator_ != nullptr) library_->destroy(communicator_);
}

void VendorCollectives::check(int result, const char *what) const {
  TORCH_CHECK_WITH(DistBackendError, result == 0, library_->name, ", ", what, ": ", library_->error_text(result));
}

void *VendorCollectives::communicator(const at::Tensor &like) {
  const kw_native_handle device = *native_handle(like);
  TORCH_CHECK_WITH(DistBackendError, index_ < 0 || index_ == like.device().index(),
                   "a group's collectives by the vendor's library are for one device of each rank: this one began on ",
                   c10::Device(device_type, index_), ", and the tensor is on ", like.device());
  TORCH_CHECK_WITH(DistBackendError, make_current(device.dl_device_type, device.dl_device_id), like.device(),
                   " cannot be made current in its vendor's runtime");
  if (communicator_ != nullptr) return communicator_;
  library_ = library_for(device.dl_device_type);
  at::Tensor ready = at::tensor({library_ != nullptr ? 1 : 0}, at::kInt);
  c10d::AllreduceOptions least;
  least.reduceOp = ReduceOp::MIN;
  std::vector<at::Tensor> all{ready};
  host_->allreduce(all, least)->wait();
  TORCH_CHECK_WITH(DistBackendError, ready.item<int>() == 1, library_ != nullptr ? "another rank" : "this rank",
                   " has no ", device.dl_device_type == kDLCUDA ? "libnccl.so.2" : "librccl.so.1",
                   ", which KEYWAY_COLLECTIVES=vendor asks for: install it, or unset that on all ranks");
  UniqueId id{};
  if (host_->getRank() == 0) check(library_->get_unique_id(&id), "ncclGetUniqueId");
  std::vector<at::Tensor> bytes{at::from_blob(id.bytes.data(), {static_cast<int64_t>(id.bytes.size())}, at::kChar)};
  host_->broadcast(bytes, {})->wait();
  check(library_->init(&communicator_, host_->getSize(), id, host_->getRank()), "ncclCommInitRank");
  index_ = like.device().index();
  return communicator_;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

void VendorCollectives::all_reduce(const at::Tensor &like, void *data, const ReduceOp &op, kw_stream *stream) {
  void *const group = communicator(like);
  check(library_->all_reduce(data, data, count_of(like), dtype_of_all(like), *number_of(op), group,
                             native_stream(stream)),
        "ncclAllReduce");
}

void VendorCollectives::broadcast(const at::Tensor &like, void *data, int root, kw_stream *stream) {
  void *const group = communicator(like);
  check(library_->broadcast(data, data, count_of(like), dtype_of_all(like), root, group, native_stream(stream)),
        "ncclBroadcast");
}

void VendorCollectives::reduce(const at::Tensor &like, void *data, const ReduceOp &op, int root, kw_stream *stream) {
  void *const group = communicator(like);
  check(library_->reduce(data, data, count_of(like), dtype_of_all(like), *number_of(op), root, group,
                         native_stream(stream)),
        "ncclReduce");
}

void VendorCollectives::all_gather(const at::Tensor &one, const void *from, void *to, kw_stream *stream) {
  void *const group = communicator(one);
  check(library_->all_gather(from, to, count_of(one), dtype_of_all(one), group, native_stream(stream)),
        "ncclAllGather");
}

void VendorCollectives::reduce_scatter(const at::Tensor &one, const void *from, void *to, const ReduceOp &op,
                                       kw_stream *stream) {
  void *const group = communicator(one);
  check(library_->reduce_scatter(from, to, count_of(one), dtype_of_all(one), *number_of(op), group,
                                 native_stream(stream)),
        "ncclReduceScatter");
}

}  // namespace torch_keyway
