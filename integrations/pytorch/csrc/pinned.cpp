/* SPDX-License-Identifier: Apache-2.0
 *
 * Pinned host memory: its blocks, the events that say when copies have passed them, and PyTorch's allocator of them.
 */
#include "pinned.h"
#include "device.h"
#include "status.h"

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

struct Allocator final : c10::Allocator {
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
};

}  // namespace

c10::Allocator *pinned_allocator() {
  static Allocator allocator;
  return &allocator;
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
