/* SPDX-License-Identifier: Apache-2.0
 *
 * Pinned host memory: its blocks, the events that say when copies have passed them, and PyTorch's allocator of them.
 */
#include "pinned.h"
#include "device.h"
#include "status.h"

#include <ATen/core/CachingHostAllocator.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

namespace torch_keyway {

namespace {

struct Block {
  kw_device *device; /* whose memory it is */
  size_t size;
  bool freed;
  std::vector<kw_event *> uses;
};

std::mutex mutex;
std::map<uintptr_t, Block> blocks; /* by address */

std::map<uintptr_t, Block>::iterator find(const void *address) {
  const auto number = reinterpret_cast<uintptr_t>(address);
  auto after = blocks.upper_bound(number);
  if (after == blocks.begin()) return blocks.end();
  --after;
  return number < after->first + after->second.size ? after : blocks.end();
}

/* An event that fails has nothing to wait for either: the failure surfaces at its stream. */
bool passed(Block &block) {
  while (!block.uses.empty() && kw_event_query(block.uses.back()) != KW_ERR_NOT_READY) {
    kw_event_destroy(block.uses.back());
    block.uses.pop_back();
  }
  return block.uses.empty();
}

void reclaim() {
  for (auto block = blocks.begin(); block != blocks.end();) {
    if (block->second.freed && passed(block->second)) {
      kw_host_free(block->second.device, reinterpret_cast<void *>(block->first));
      block = blocks.erase(block);
    } else {
      ++block;
    }
  }
}

void free_block(void *address) {
  std::lock_guard<std::mutex> lock(mutex);
  blocks.at(reinterpret_cast<uintptr_t>(address)).freed = true;
  reclaim();
}

/* Nothing is kept that was freed, but what copies still use. */
struct Allocator final : at::HostAllocator {
  c10::DataPtr allocate(size_t size) override {
    kw_device *device = device_at(current_device());
    std::lock_guard<std::mutex> lock(mutex);
    reclaim();
    void *address = nullptr;
    size = std::max<size_t>(size, 1);
    check(kw_host_alloc(device, size, &address));
    blocks[reinterpret_cast<uintptr_t>(address)] = {device, size, false, {}};
    return {address, address, &free_block, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override {
    return &free_block;
  }
  void copy_data(void *to, const void *from, std::size_t size) const override {
    std::memcpy(to, from, size);
  }
  bool record_event(void *address, void *, c10::Stream stream) override {
    if (!is_pinned(address)) return false;
    use_pinned(address, stream_of(stream));
    return true;
  }
  void empty_cache() override {
    std::lock_guard<std::mutex> lock(mutex);
    reclaim();
  }
  at::HostStats get_stats() override {
    at::HostStats stats;
    std::lock_guard<std::mutex> lock(mutex);
    for (const auto &[address, block] : blocks) {
      stats.allocations.increase(1);
      stats.allocated_bytes.increase(block.size);
      if (block.freed) continue;
      stats.active_requests.increase(1);
      stats.active_bytes.increase(block.size);
    }
    return stats;
  }
  void reset_accumulated_stats() override {} /* what is counted is what there is */
  void reset_peak_stats() override {}
};

Allocator the_allocator;
at::HostAllocatorRegistry<device_type> registered(
    &the_allocator); /* torch.accelerator asks for it by the device's type */

}  // namespace

c10::Allocator *pinned_allocator() {
  return &the_allocator;
}

bool is_pinned(const void *address) {
  std::lock_guard<std::mutex> lock(mutex);
  return find(address) != blocks.end();
}

void use_pinned(const void *address, kw_stream *stream) {
  kw_event *event;
  check(kw_event_create(kw_stream_device(stream), &event));
  check(kw_event_record(event, stream));
  std::lock_guard<std::mutex> lock(mutex);
  find(address)->second.uses.push_back(event);
}

}  // namespace torch_keyway
