/* SPDX-License-Identifier: Apache-2.0
 *
 * What PyTorch's front end asks of an accelerator.
 */
#include "device.h"
#include "generator.h"
#include "pinned.h"
#include "tensor.h"

#include <ATen/detail/PrivateUse1HooksInterface.h>

namespace torch_keyway {

namespace {

struct Hooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override {
    return true;
  }
  bool isAvailable() const override {
    return device_count() > 0;
  }
  bool hasPrimaryContext(c10::DeviceIndex index) const override {
    return index < device_count();
  }
  c10::DeviceIndex deviceCount() const override {
    return device_count();
  }
  c10::DeviceIndex getCurrentDevice() const override {
    return current_device();
  }
  void setCurrentDevice(c10::DeviceIndex index) const override {
    exchange_device(index);
  }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex index) const override {
    return exchange_device(index);
  }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex index) const override {
    return exchange_device(index);
  }

  const at::Generator &getDefaultGenerator(c10::DeviceIndex index) const override {
    return default_generator(index);
  }
  at::Generator getNewGenerator(c10::DeviceIndex index) const override {
    return new_generator(index);
  }
  bool isPinnedPtr(const void *data) const override {
    return is_pinned(data);
  }
  c10::Allocator *getPinnedMemoryAllocator() const override {
    return pinned_allocator();
  }
  c10::Device getDeviceFromPtr(void *data) const override {
    return {device_type, index_of_address(data)};
  }
  void resizePrivateUse1Bytes(const c10::Storage &storage, size_t size) const override {
    resize_storage(storage, size);
  }
};

const bool registered = [] {
  at::RegisterPrivateUse1HooksInterface(new Hooks); /* for the life of the process */
  return true;
}();

}  // namespace

}  // namespace torch_keyway
