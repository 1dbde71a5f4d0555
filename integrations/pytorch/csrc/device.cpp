/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of devices that were registered, the streams of each, and the device and streams current in a thread.
 */
#include "device.h"
#include "status.h"

#include <c10/util/Exception.h>
#include <torch/csrc/utils/device_lazy_init.h>

#include <array>
#include <atomic>
#include <mutex>

namespace torch_keyway {

namespace {

constexpr int max_devices = 64;
constexpr unsigned pool_size = 32; /* as many as PyTorch keeps for CUDA */

struct Device {
  kw_device *device;
  kw_stream *default_stream;
  unsigned handed_out; /* streams of the pool, with repetitions; under the mutex */
  std::array<kw_stream *, pool_size> pool;
  kw_stream *recording; /* NULL until it is asked for; under the mutex */
};

std::mutex mutex;
std::array<Device, max_devices> devices;
std::atomic<int> count{0};

thread_local c10::DeviceIndex current = 0;
thread_local std::array<c10::StreamId, max_devices> streams{};

Device &entry(c10::DeviceIndex index) {
  if (index < 0) index = current;
  TORCH_CHECK(index < count.load(std::memory_order_acquire), "device index ", static_cast<int>(index),
              " is not there: ", count.load(), " device(s) are registered. Add one with torch_keyway.register(NAME)");
  return devices[index];
}

}  // namespace

c10::DeviceIndex add_device(const char *name) {
  kw_device *device;
  check(kw_device_open(name, &device));
  torch::utils::register_fork_handler_for_device_init(device_type);
  std::lock_guard<std::mutex> lock(mutex);
  const int used = count.load();
  for (int i = 0; i < used; ++i) {
    if (devices[i].device == device) {
      check(kw_device_close(device));
      return static_cast<c10::DeviceIndex>(i);
    }
  }
  TORCH_CHECK(used < max_devices, "there is no room for more than ", max_devices, " devices");
  devices[used] = {device, kw_stream_default(device), 0, {}, nullptr};
  count.store(used + 1, std::memory_order_release);
  return static_cast<c10::DeviceIndex>(used);
}

c10::DeviceIndex device_count() noexcept {
  return static_cast<c10::DeviceIndex>(count.load(std::memory_order_acquire));
}

bool in_bad_fork() {
  return torch::utils::is_device_in_bad_fork(device_type);
}

kw_device *device_at(c10::DeviceIndex index) {
  return entry(index).device;
}

c10::DeviceIndex current_device() noexcept {
  return current;
}

c10::DeviceIndex exchange_device(c10::DeviceIndex index) {
  const c10::DeviceIndex before = current;
  if (index >= 0 && index != before) {
    entry(index);
    current = index;
  }
  return before;
}

kw_stream *stream_of(const c10::Stream &stream) {
  Device &device = entry(stream.device_index());
  return stream.id() == 0 ? device.default_stream : reinterpret_cast<kw_stream *>(stream.id());
}

kw_stream *current_stream(c10::DeviceIndex index) {
  return stream_of(current_torch_stream(index));
}

c10::Stream current_torch_stream(c10::DeviceIndex index) {
  if (index < 0) index = current;
  return c10::Stream(c10::Stream::UNSAFE, c10::Device(device_type, index), streams[index]);
}

c10::Stream exchange_stream(c10::Stream stream) {
  const c10::Stream before = current_torch_stream(stream.device_index());
  streams[before.device_index()] = stream.id();
  return before;
}

namespace {

/* Made when it is first asked for. */
c10::Stream made(c10::DeviceIndex index, kw_device *device, kw_stream *&stream) {
  if (stream == nullptr) check(kw_stream_create(device, &stream));
  return c10::Stream(c10::Stream::UNSAFE, c10::Device(device_type, index), reinterpret_cast<c10::StreamId>(stream));
}

}  // namespace

c10::Stream pool_stream(c10::DeviceIndex index) {
  if (index < 0) index = current;
  Device &device = entry(index);
  std::lock_guard<std::mutex> lock(mutex);
  return made(index, device.device, device.pool[device.handed_out++ % pool_size]);
}

c10::Stream recording_stream(c10::DeviceIndex index) {
  Device &device = entry(index);
  std::lock_guard<std::mutex> lock(mutex);
  return made(index, device.device, device.recording);
}

}  // namespace torch_keyway
