/* SPDX-License-Identifier: Apache-2.0
 *
 * Exports and imports storages by handles for other processes (KW_HANDLE_IPC).
 */
#include "share.h"
#include "device.h"
#include "graph.h"
#include "replay.h"
#include "status.h"
#include "tensor.h"

#include <ATen/ops/empty.h>
#include <c10/core/StorageImpl.h>
#include <keyway/interop.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <vector>

namespace torch_keyway {

namespace {

/* What is sent: of kw_external_memory what another process can use. */
struct Named {
  uint64_t size, offset; /* bytes */
  uint8_t ipc[sizeof(kw_external_memory::ipc)];
};

/* Memory that can be named for other processes, of `bytes` and with their contents. */
Handle copy_to_shared(const Handle &bytes, c10::DeviceIndex index) {
  kw_memory_options where{};
  where.struct_size = sizeof where;
  where.flags = KW_MEM_IPC;
  kw_tensor *made;
  const kw_status status =
      kw_tensor_create_in(device_at(index), &where, KW_U8, 1, kw_tensor_describe(bytes.get())->shape, &made);
  TORCH_CHECK_NOT_IMPLEMENTED(status != KW_ERR_UNSUPPORTED, c10::Device(device_type, index), " (",
                              kw_device_name(device_at(index)),
                              ") has no memory that other processes can use. Send tensor.cpu() instead");
  check(status);
  Handle shared(made);
  copy_elements(bytes, shared, current_stream(index));
  return shared;
}

/* Storages that were received, with what names their memory: who sends one on names the first owner's. */
struct Received {
  c10::weak_intrusive_ptr<c10::StorageImpl> storage;
  std::string name;
};

std::mutex mutex;
std::vector<Received> received;

void remember(const c10::Storage &storage, const std::string &name) {
  std::lock_guard<std::mutex> lock(mutex);
  received.erase(std::remove_if(received.begin(), received.end(), [](auto &old) { return old.storage.expired(); }),
                 received.end());
  received.push_back({storage.getWeakStorageImpl(), name});
}

/* The storage that has the memory of that name already; nothing where there is none. */
std::optional<c10::Storage> storage_named(const std::string &name) {
  std::lock_guard<std::mutex> lock(mutex);
  for (const Received &each : received) {
    if (each.name != name) continue;
    if (auto storage = each.storage.lock()) return c10::Storage(std::move(storage));
  }
  return std::nullopt;
}

std::string received_name(const c10::Storage &storage) {
  std::lock_guard<std::mutex> lock(mutex);
  for (const Received &each : received) {
    if (each.storage.lock().get() == storage.unsafeGetStorageImpl()) return each.name;
  }
  return {};
}

}  // namespace

std::string share(const at::Tensor &tensor) {
  const c10::DeviceIndex index = tensor.device().index();
  const c10::Storage &storage = tensor.storage();
  TORCH_CHECK(storage.nbytes() > 0, "a storage without bytes has nothing to share");
  if (const std::string name = received_name(storage); !name.empty()) {
    check(kw_device_synchronize(device_at(index)));
    return name;
  }
  const Handle bytes = bytes_of(storage, 0, storage.nbytes());
  kw_external_memory memory{};
  memory.struct_size = sizeof memory;
  memory.kind = KW_HANDLE_IPC;
  if (kw_tensor_export(bytes.get(), KW_HANDLE_IPC, &memory) != KW_OK) {
    TORCH_CHECK(!application_has_graphs() && !is_lasting(tensor),
                "the tensor's memory would have to move to be shared, and there is a graph that may go on with the "
                "old one: send it once before graphs are recorded, or send tensor.cpu()");
    const Handle shared = copy_to_shared(bytes, index);
    move_storage(storage, shared);
    check(kw_tensor_export(shared.get(), KW_HANDLE_IPC, &memory));
  }
  check(kw_device_synchronize(device_at(index)));
  Named named{memory.size, memory.offset, {}};
  std::memcpy(named.ipc, memory.ipc, sizeof named.ipc);
  return {reinterpret_cast<const char *>(&named), sizeof named};
}

at::Tensor attach(c10::DeviceIndex index, const std::string &bytes) {
  Named named;
  TORCH_CHECK(bytes.size() == sizeof named, "what names shared memory has ", sizeof named, " bytes, not ", bytes.size(),
              ": do both processes have the same torch_keyway?");
  std::memcpy(&named, bytes.data(), sizeof named);
  kw_external_memory memory{};
  memory.struct_size = sizeof memory;
  memory.kind = KW_HANDLE_IPC;
  memory.size = named.size;
  memory.offset = named.offset;
  std::memcpy(memory.ipc, named.ipc, sizeof named.ipc);
  if (const auto storage = storage_named(bytes)) {
    const auto options = at::TensorOptions(at::kByte).device(device_type, index);
    return at::empty({0}, options).set_(*storage, 0, {static_cast<int64_t>(storage->nbytes())}, {1});
  }
  kw_tensor *imported;
  check(kw_tensor_import(device_at(index), &memory, nullptr, nullptr, &imported));
  at::Tensor tensor = wrap(Handle(imported), index);
  remember(tensor.storage(), bytes);
  return tensor;
}

}  // namespace torch_keyway
