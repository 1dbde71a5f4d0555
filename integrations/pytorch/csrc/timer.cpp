/* SPDX-License-Identifier: Apache-2.0
 *
 * The times that DistributedDataParallel takes of its steps, by events of the device.
 */
#include "device.h"

#include <c10/core/Event.h>
#include <torch/csrc/distributed/c10d/reducer_timer.hpp>

#include <map>

namespace torch_keyway {

namespace {

class DeviceTimer final : public c10d::Timer {
 public:
  explicit DeviceTimer(c10::Device device) : index_(device.index()) {}

  void record(Event event) override {
    Timer::record(event);
    events_.try_emplace(event, device_type, c10::EventFlag::BACKEND_DEFAULT)
        .first->second.record(current_torch_stream(index_));
  }
  std::optional<int64_t> measureDifference(Event start, Event end) override {
    const auto first = events_.find(start), last = events_.find(end);
    if (first == events_.end() || last == events_.end()) return std::nullopt;
    first->second.synchronize();
    last->second.synchronize();
    uint64_t ns; /* not known when the end is one of the step before */
    auto *from = static_cast<kw_event *>(first->second.eventId());
    auto *to = static_cast<kw_event *>(last->second.eventId());
    return kw_event_elapsed(from, to, &ns) == KW_OK ? std::optional(static_cast<int64_t>(ns)) : std::nullopt;
  }

 private:
  c10::DeviceIndex index_;
  std::map<Event, c10::Event> events_;
};

}  // namespace

}  // namespace torch_keyway

namespace c10d {

C10_REGISTER_TYPED_CLASS(TimerRegistry, torch_keyway::device_type, torch_keyway::DeviceTimer)

}  // namespace c10d
