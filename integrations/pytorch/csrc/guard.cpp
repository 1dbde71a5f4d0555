/* SPDX-License-Identifier: Apache-2.0
 *
 * What PyTorch asks of a device in general: current device and stream, streams and events, threads for gradients.
 */
#include "device.h"
#include "graph.h"
#include "status.h"
#include "tensor.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/engine.h>

#include <algorithm>

namespace torch_keyway {

namespace {

kw_event *as_event(void *event) {
  return static_cast<kw_event *>(event);
}

/* KW_OK is yes, KW_ERR_NOT_READY no. */
bool answer(kw_status status) {
  if (status == KW_ERR_NOT_READY) return false;
  check(status);
  return true;
}

/* How many devices this thread tells PyTorch of at least. */
thread_local c10::DeviceIndex announced = 0;

/* Dtypes that the device converts from. */
c10::DeviceCapability capability_of(kw_device *device) {
  static const kw_op *cast = kw_op_find("_to_copy");
  c10::DeviceCapability capability;
  uint64_t &bits = capability.capability_data.capability_bits;
  bits = 0;
  for (kw_dtype dtype = 0; is_known(dtype); ++dtype) {
    if (kw_op_support(cast, device, dtype) != KW_SUPPORT_NONE) {
      bits |= uint64_t{1} << static_cast<unsigned>(dtype_of(dtype));
    }
  }
  return capability;
}

/* An event is made when it is first recorded, which tells its device. */
void record_on(const c10::Stream &stream, void **event) {
  kw_event *recorded = as_event(*event);
  if (recorded == nullptr) {
    check(kw_event_create(device_at(stream.device_index()), &recorded));
    *event = recorded;
  }
  check(kw_event_record(recorded, stream_of(stream)));
}

struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override {
    return device_type;
  }
  c10::DeviceIndex deviceCount() const noexcept override {
    return std::max(device_count(), announced);
  }

  c10::DeviceCapability getDeviceCapability(c10::Device device) const override {
    return capability_of(device_at(device.index()));
  }

  c10::Device getDevice() const override {
    return {device_type, current_device()};
  }
  void setDevice(c10::Device device) const override {
    exchange_device(device.index());
  }
  c10::Device exchangeDevice(c10::Device device) const override {
    return {device_type, exchange_device(device.index())};
  }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    if (device.index() < device_count()) exchange_device(device.index());
  }
  void synchronizeDevice(const c10::DeviceIndex index) const override {
    check(kw_device_synchronize(device_at(index)));
  }

  c10::Stream getStream(c10::Device device) const override {
    return current_torch_stream(device.index());
  }
  c10::Stream getDefaultStream(c10::Device device) const override {
    return c10::Stream(c10::Stream::DEFAULT,
                       c10::Device(device_type, device.has_index() ? device.index() : current_device()));
  }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool) const override {
    return pool_stream(device.index());
  }
  c10::Stream getNewStream(c10::Device device, int) const override {
    return pool_stream(device.index());
  }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    return exchange_stream(stream);
  }
  void *getStreamNativeHandle(const c10::Stream stream) const override {
    return stream_of(stream);
  }
  bool queryStream(const c10::Stream &stream) const override {
    return answer(kw_stream_query(stream_of(stream)));
  }
  void synchronizeStream(const c10::Stream &stream) const override {
    check(kw_stream_synchronize(stream_of(stream)));
  }

  bool isStreamCapturing(const c10::Stream &stream) const override {
    return is_recording(stream_of(stream));
  }

  void record(void **event, const c10::Stream &stream, const c10::DeviceIndex, const c10::EventFlag) const override {
    record_on(stream, event);
  }
  void block(void *event, const c10::Stream &stream) const override {
    if (event != nullptr) check(kw_stream_wait_event(stream_of(stream), as_event(event)));
  }
  bool queryEvent(void *event) const override {
    return event == nullptr || answer(kw_event_query(as_event(event)));
  }
  void synchronizeEvent(void *event) const override {
    if (event != nullptr) check(kw_event_synchronize(as_event(event)));
  }
  void destroyEvent(void *event, const c10::DeviceIndex) const noexcept override {
    if (event != nullptr) kw_event_destroy(as_event(event));
  }
  double elapsedTime(void *start, void *end, const c10::DeviceIndex) const override {
    uint64_t ns;
    check(kw_event_elapsed(as_event(start), as_event(end), &ns));
    return static_cast<double>(ns) * 1e-6; /* milliseconds */
  }
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard)

}  // namespace

void start_autograd() {
  announced = 16;
  torch::autograd::Engine::get_default_engine().initialize_device_threads_pool();
  announced = 0;
}

void pass_autograd(c10::DeviceIndex index) {
  const at::AutoGradMode with_gradients(true);
  const at::Tensor x = at::empty({1}, at::device(c10::Device(device_type, index))).requires_grad_();
  torch::autograd::grad({x.view({1, 1})}, {x}, {at::empty({1, 1}, x.options().requires_grad(false))});
}

void end_autograd() {
  for (c10::DeviceIndex index = 0; index < device_count(); ++index) {
    try {
      pass_autograd(index);
    } catch (const c10::Error &) { /* a device that is lost, or that has no thread */
    }
  }
}

}  // namespace torch_keyway
