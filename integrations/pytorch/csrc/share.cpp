/* SPDX-License-Identifier: Apache-2.0
 *
 * Exports and imports storages by handles for other processes (KW_HANDLE_IPC).
 */
#include "share.h"
#include "device.h"
#include "graph.h"
#include "status.h"
#include "tensor.h"

#include <c10/core/StorageImpl.h>
#include <keyway/interop.h>

#include <cstring>

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

}  // namespace

std::string share(const at::Tensor &tensor) {
  const c10::DeviceIndex index = tensor.device().index();
  const c10::Storage &storage = tensor.storage();
  TORCH_CHECK(storage.nbytes() > 0, "a storage without bytes has nothing to share");
  const Handle bytes = bytes_of(storage, 0, storage.nbytes());
  kw_external_memory memory{};
  memory.struct_size = sizeof memory;
  memory.kind = KW_HANDLE_IPC;
  if (kw_tensor_export(bytes.get(), KW_HANDLE_IPC, &memory) != KW_OK) {
    TORCH_CHECK(!has_graphs(),
                "the tensor's memory would have to move to be shared, and a graph that was recorded may go on with the "
                "old one: send it once before anything is recorded, or send tensor.cpu()");
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
  kw_tensor *imported;
  check(kw_tensor_import(device_at(index), &memory, nullptr, nullptr, &imported));
  return wrap(Handle(imported), index);
}

}  // namespace torch_keyway
