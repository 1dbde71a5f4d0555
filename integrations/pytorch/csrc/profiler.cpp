/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranges of torch.profiler.record_function as Keyway's, so that they stand in its trace and reach the vendor's tools;
 * and device times for PyTorch's own profiler, by events.
 */
#include "device.h"
#include "status.h"

#include <ATen/record_function.h>
#include <c10/util/ApproximateClock.h>
#include <torch/csrc/profiler/stubs/base.h>

namespace torch_keyway {

namespace {

/* ---- Ranges ------------------------------------------------------------------------------------------------------ */

struct Range final : at::ObserverContext {
  bool pushed = false;
};

/* Ranges that are too deep for Keyway are left out. */
std::unique_ptr<at::ObserverContext> begin_range(const at::RecordFunction &function) {
  auto range = std::make_unique<Range>();
  range->pushed = kw_profile_push(function.name()) == KW_OK;
  return range;
}

void end_range(const at::RecordFunction &, at::ObserverContext *context) {
  if (static_cast<Range *>(context)->pushed) kw_profile_pop();
}

/* ---- Device times ------------------------------------------------------------------------------------------------ */

struct Stubs final : torch::profiler::impl::ProfilerStubs {
  void record(c10::DeviceIndex *device, torch::profiler::impl::ProfilerVoidEventStub *event,
              int64_t *cpu_ns) const override {
    const c10::DeviceIndex index = current_device();
    kw_event *recorded;
    check(kw_event_create(device_at(index), &recorded));
    *event = std::shared_ptr<void>(recorded, [](void *old) { kw_event_destroy(static_cast<kw_event *>(old)); });
    if (device != nullptr) *device = index;
    if (cpu_ns != nullptr) *cpu_ns = c10::getTime();
    check(kw_event_record(recorded, current_stream(index)));
  }
  /* Microseconds. */
  float elapsed(const torch::profiler::impl::ProfilerVoidEventStub *start,
                const torch::profiler::impl::ProfilerVoidEventStub *end) const override {
    auto *first = static_cast<kw_event *>(start->get()), *last = static_cast<kw_event *>(end->get());
    uint64_t ns;
    check(kw_event_synchronize(first));
    check(kw_event_synchronize(last));
    check(kw_event_elapsed(first, last, &ns));
    return static_cast<float>(ns) * 1e-3f;
  }
  void mark(const char *) const override {}
  void rangePush(const char *name) const override {
    kw_profile_push(name);
  }
  void rangePop() const override {
    kw_profile_pop();
  }
  bool enabled() const override {
    return true;
  }
  void onEachDevice(std::function<void(int)> function) const override {
    const c10::DeviceIndex before = current_device();
    for (c10::DeviceIndex index = 0; index < device_count(); ++index) {
      exchange_device(index);
      function(index);
    }
    exchange_device(before);
  }
  void synchronize() const override {
    for (c10::DeviceIndex index = 0; index < device_count(); ++index) check(kw_device_synchronize(device_at(index)));
  }
};

const bool registered = [] {
  at::addGlobalCallback(at::RecordFunctionCallback(&begin_range, &end_range).scopes({at::RecordScope::USER_SCOPE}));
  static Stubs stubs;
  torch::profiler::impl::registerPrivateUse1Methods(&stubs);
  return true;
}();

}  // namespace

}  // namespace torch_keyway
