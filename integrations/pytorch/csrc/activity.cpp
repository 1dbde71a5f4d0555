/* SPDX-License-Identifier: Apache-2.0
 *
 * What Keyway's devices did, for torch.profiler: the events of Keyway's trace, as activities of Kineto's, which links
 * each kernel with the operator that launched it.
 */
#include "device.h"
#include "status.h"

#include <libkineto.h>
#include <output_base.h>

#ifndef USE_KINETO /* PyTorch's headers ask, and its wheels have it */
#define USE_KINETO
#endif
#include <torch/csrc/profiler/standalone/privateuse1_profiler.h>

#include <unistd.h>

#include <map>
#include <string_view>

namespace torch_keyway {

namespace {

using libkineto::ActivityType;

/* The operators that the calling thread is in, by Kineto's numbers. */
thread_local std::vector<uint64_t> operators;

struct Event {
  ActivityType type;
  std::string name;
  uint64_t begin, end; /* CLOCK_MONOTONIC, nanoseconds */
  uint64_t stream, call;
  kw_device *device; /* nullptr: the calling thread did it */
  int32_t thread;
  uint64_t in_operator; /* 0: unknown */
};

bool is(const char *text, std::string_view other) {
  return text == other;
}

ActivityType type_of(const kw_trace_event &event) {
  if (event.device == nullptr) return ActivityType::PRIVATEUSE1_RUNTIME;
  if (is(event.name, "copy")) return ActivityType::GPU_MEMCPY;
  return is(event.name, "fill") ? ActivityType::GPU_MEMSET : ActivityType::CONCURRENT_KERNEL;
}

/* What the host did has its category in it, but for copies: their names say which way. */
std::string name_of(const kw_trace_event &event) {
  if (is(event.category, "launch")) return std::string("launch ") + event.name;
  return is(event.category, "sync") ? std::string("wait for ") + event.name : event.name;
}

/* Operators and ranges are PyTorch's own in its trace. */
bool is_of_interest(const char *category) {
  return !is(category, "op") && !is(category, "range") && !is(category, "load");
}

int64_t nanoseconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

class Session final : public libkineto::IActivityProfilerSession {
 public:
  explicit Session(const std::set<ActivityType> &types) : types_(types) {}
  ~Session() override {
    if (listening_) kw_trace_listen(nullptr, nullptr);
  }

  void start() override {
    to_epoch_ = nanoseconds(CLOCK_REALTIME) - nanoseconds(CLOCK_MONOTONIC);
    began_ = nanoseconds(CLOCK_REALTIME);
    listening_ = kw_trace_listen(&Session::hear, this) == KW_OK;
    if (!listening_) errors_.emplace_back(std::string("no activity of devices: ") + kw_error_message());
  }
  void stop() override {
    for (c10::DeviceIndex index = 0; index < device_count(); ++index) {
      if (kw_device_synchronize(device_at(index)) != KW_OK) errors_.emplace_back(kw_error_message());
    }
    if (listening_) kw_trace_listen(nullptr, nullptr);
    listening_ = false;
    ended_ = nanoseconds(CLOCK_REALTIME);
  }
  std::vector<std::string> errors() override {
    return errors_;
  }
  void processTrace(libkineto::ActivityLogger &logger) override {
    processTrace(
        logger, [](int32_t) { return nullptr; }, began_, ended_);
  }
  void processTrace(libkineto::ActivityLogger &logger, libkineto::getLinkedActivityCallback linked, int64_t from,
                    int64_t to) override;
  std::unique_ptr<libkineto::DeviceInfo> getDeviceInfo() override {
    return nullptr; /* there may be several: processTrace names them */
  }
  std::vector<libkineto::ResourceInfo> getResourceInfos() override {
    return {};
  }
  std::unique_ptr<libkineto::CpuTraceBuffer> getTraceBuffer() override {
    return std::move(buffer_);
  }

  void pushCorrelationId(uint64_t id) override {
    operators.push_back(id);
  }
  void popCorrelationId() override {
    if (!operators.empty()) operators.pop_back();
  }

 private:
  /* Keyway calls it in one thread at a time. */
  static void KW_CALL hear(const kw_trace_event *event, void *user);
  void name_rows(libkineto::ActivityLogger &logger) const;
  void add(const Event &event, const libkineto::getLinkedActivityCallback &linked);

  const std::set<ActivityType> types_;
  bool listening_ = false;
  int64_t to_epoch_ = 0, began_ = 0, ended_ = 0; /* nanoseconds */
  std::vector<std::string> errors_;
  std::vector<Event> events_;
  std::map<uint64_t, uint64_t> launched_by_; /* operators, by the number of a launch */
  std::unique_ptr<libkineto::CpuTraceBuffer> buffer_;
};

void Session::hear(const kw_trace_event *event, void *user) {
  auto *session = static_cast<Session *>(user);
  const ActivityType type = type_of(*event);
  if (!is_of_interest(event->category)) return;
  const uint64_t in_operator = event->device != nullptr || operators.empty() ? 0 : operators.back();
  if (event->call != 0 && in_operator != 0) session->launched_by_[event->call] = in_operator;
  if (session->types_.count(type) == 0) return;
  session->events_.push_back({type, name_of(*event), event->begin_ns, event->end_ns, event->stream, event->call,
                              event->device, event->device == nullptr ? gettid() : 0, in_operator});
}

c10::DeviceIndex index_of(const kw_device *device) {
  for (c10::DeviceIndex index = 0; index < device_count(); ++index) {
    if (device_at(index) == device) return index;
  }
  return -1; /* the application's own, which PyTorch does not know */
}

/* Below those of the host's threads. */
void Session::name_rows(libkineto::ActivityLogger &logger) const {
  std::set<std::pair<c10::DeviceIndex, uint64_t>> streams;
  for (const Event &event : events_) {
    if (event.device != nullptr) streams.emplace(index_of(event.device), event.stream);
  }
  std::set<c10::DeviceIndex> named;
  for (const auto &[index, stream] : streams) {
    if (index >= 0 && named.insert(index).second) {
      const char *name = kw_device_name(device_at(index));
      logger.handleDeviceInfo({index, libkineto::kExceedMaxPid + index, name, name}, began_);
    }
    logger.handleResourceInfo(
        {static_cast<int64_t>(stream), static_cast<int64_t>(stream), index, "stream " + std::to_string(stream)},
        began_);
  }
}

void Session::add(const Event &event, const libkineto::getLinkedActivityCallback &linked) {
  buffer_->emplace_activity(buffer_->span, event.type, event.name);
  libkineto::GenericTraceActivity &activity = *buffer_->activities.back();
  activity.startTime = static_cast<int64_t>(event.begin) + to_epoch_;
  activity.endTime = static_cast<int64_t>(event.end) + to_epoch_;
  activity.id = static_cast<int32_t>(event.call);
  const bool of_device = event.device != nullptr;
  activity.device = of_device ? index_of(event.device) : getpid();
  activity.resource = of_device ? static_cast<int64_t>(event.stream) : event.thread;
  activity.threadId = event.thread;
  if (event.stream != 0) activity.addMetadataQuoted("stream", std::to_string(event.stream));
  uint64_t in_operator = event.in_operator;
  const auto launch = launched_by_.find(event.call);
  if (event.call != 0 && launch != launched_by_.end()) {
    in_operator = launch->second;
    activity.flow.id = static_cast<uint32_t>(event.call);
    activity.flow.type = libkineto::kLinkAsyncCpuGpu;
    activity.flow.start = !of_device;
  }
  if (in_operator != 0) activity.linked = linked(static_cast<int32_t>(in_operator));
}

void Session::processTrace(libkineto::ActivityLogger &logger, libkineto::getLinkedActivityCallback linked, int64_t from,
                           int64_t to) {
  buffer_ = std::make_unique<libkineto::CpuTraceBuffer>();
  buffer_->span = libkineto::TraceSpan(began_, ended_, "keyway");
  name_rows(logger);
  for (const Event &event : events_) {
    const int64_t begin = static_cast<int64_t>(event.begin) + to_epoch_;
    if (begin >= from && begin <= to) add(event, linked);
  }
  for (const auto &activity : buffer_->activities) activity->log(logger);
}

class Profiler final : public libkineto::IActivityProfiler {
 public:
  const std::string &name() const override {
    return name_;
  }
  const std::set<ActivityType> &availableActivities() const override {
    return types_;
  }
  std::unique_ptr<libkineto::IActivityProfilerSession> configure(const std::set<ActivityType> &types,
                                                                 const libkineto::Config &) override {
    std::set<ActivityType> wanted;
    for (const ActivityType type : types_) {
      if (types.count(type) != 0) wanted.insert(type);
    }
    if (wanted.empty()) return nullptr;
    return std::make_unique<Session>(wanted);
  }
  std::unique_ptr<libkineto::IActivityProfilerSession> configure(int64_t, int64_t, const std::set<ActivityType> &types,
                                                                 const libkineto::Config &config) override {
    return configure(types, config);
  }

 private:
  const std::string name_ = "keyway";
  const std::set<ActivityType> types_{ActivityType::CONCURRENT_KERNEL, ActivityType::GPU_MEMCPY,
                                      ActivityType::GPU_MEMSET, ActivityType::PRIVATEUSE1_RUNTIME};
};

REGISTER_PRIVATEUSE1_PROFILER(Profiler);

}  // namespace

}  // namespace torch_keyway
