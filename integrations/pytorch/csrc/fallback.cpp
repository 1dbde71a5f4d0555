/* SPDX-License-Identifier: Apache-2.0
 *
 * Operators that no op of Keyway serves: PyTorch's CPU runs them if the fallback setting allows it.
 */
#include "fallback.h"

#include <ATen/native/CPUFallback.h>
#include <keyway/keyway.h>
#include <torch/library.h>

#include <mutex>

namespace torch_keyway {

namespace {

std::mutex mutex;
std::map<std::string, uint64_t> counts;

void count(const c10::OperatorHandle &handle) {
  const std::string name = c10::toString(handle.operator_name());
  std::lock_guard<std::mutex> lock(mutex);
  if (counts[name]++ == 0 && kw_fallback_get() == KW_FALLBACK_WARN) {
    TORCH_WARN(name, " has no op in Keyway: it runs on the CPU, with copies to and fro (said once)");
  }
}

void fall_back(const c10::OperatorHandle &handle, torch::jit::Stack *stack) {
  TORCH_CHECK_NOT_IMPLEMENTED(kw_fallback_get() != KW_FALLBACK_OFF, handle.operator_name(),
                              ": no op of Keyway serves this operator; set KEYWAY_FALLBACK=warn (or call "
                              "torch_keyway.set_fallback(\"warn\")) to run it on the CPU");
  count(handle);
  at::native::cpu_fallback(handle, stack);
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&fall_back>());
}

}  // namespace

std::map<std::string, uint64_t> fallback_counts() {
  std::lock_guard<std::mutex> lock(mutex);
  return counts;
}

void reset_fallback_counts() {
  std::lock_guard<std::mutex> lock(mutex);
  counts.clear();
}

}  // namespace torch_keyway
