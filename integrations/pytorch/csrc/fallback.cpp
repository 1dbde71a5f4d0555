/* SPDX-License-Identifier: Apache-2.0
 *
 * Operators without a kernel: what was defined since `register` and an op of Keyway serves gets one now. Of what none
 * serves PyTorch's own decompositions into others run on the device; what has none runs on PyTorch's CPU if the
 * fallback setting allows it.
 */
#include "fallback.h"
#include "binding.h"
#include "device.h"
#include "status.h"

#include <ATen/native/CPUFallback.h>
#include <keyway/keyway.h>
#include <torch/library.h>

#include <mutex>
#include <set>
#include <utility>

namespace torch_keyway {

namespace {

std::mutex mutex;
std::map<std::string, uint64_t> counts;
std::set<std::string> without_kernel;
std::function<bool(const std::string &)> decompose = [](const std::string &) { return false; };

/* Asked once per operator. Afterwards it has a kernel of its own and comes here no more, or it never will. */
bool find_kernel(const c10::OperatorHandle &handle, const std::string &name) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (without_kernel.count(name) > 0) return false;
  }
  if (register_late(handle) || decompose(name)) return true;
  std::lock_guard<std::mutex> lock(mutex);
  without_kernel.insert(name);
  return false;
}

void count(const std::string &name) {
  std::lock_guard<std::mutex> lock(mutex);
  if (counts[name]++ == 0 && kw_fallback_get() == KW_FALLBACK_WARN) {
    TORCH_WARN(name,
               " runs on the CPU, with copies to and fro: Keyway has no op for it, or not for this dtype (said once)");
  }
}

void fall_back(const c10::OperatorHandle &handle, torch::jit::Stack *stack) {
  const std::string name = c10::toString(handle.operator_name());
  if (find_kernel(handle, name)) return handle.callBoxed(stack);
  TORCH_CHECK_NOT_IMPLEMENTED(kw_fallback_get() != KW_FALLBACK_OFF, name,
                              ": no op of Keyway serves this operator; set KEYWAY_FALLBACK=warn (or call "
                              "torch_keyway.set_fallback(\"warn\")) to run it on the CPU");
  run_on_cpu(handle, stack);
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&fall_back>());
}

}  // namespace

void run_on_cpu(const c10::OperatorHandle &handle, torch::jit::Stack *stack) {
  count(c10::toString(handle.operator_name()));
  at::native::cpu_fallback(handle, stack);
}

void forget_decomposition(const std::string &name) {
  std::lock_guard<std::mutex> lock(mutex);
  without_kernel.insert(name);
}

void set_decompose(std::function<bool(const std::string &)> function) {
  decompose = std::move(function);
}

std::map<std::string, uint64_t> fallback_counts() {
  std::map<std::string, uint64_t> all;
  {
    std::lock_guard<std::mutex> lock(mutex);
    all = counts;
  }
  for (uint32_t i = 0; i < kw_op_count(); ++i) {
    kw_op_info info{};
    info.struct_size = sizeof info;
    check(kw_op_get_info(kw_op_at(i), &info));
    for (c10::DeviceIndex index = 0; index < device_count(); ++index) {
      if (const uint64_t count = kw_op_fallbacks(kw_op_at(i), device_at(index))) all[info.name] += count;
    }
  }
  return all;
}

}  // namespace torch_keyway
