/* SPDX-License-Identifier: Apache-2.0
 *
 * Keyway's counts of memory as PyTorch's statistics.
 */
#include "memory.h"
#include "device.h"
#include "status.h"

#include <map>
#include <mutex>

namespace torch_keyway {

namespace {

using Stats = c10::CachingDeviceAllocator::DeviceStats;

std::mutex mutex;
std::map<c10::DeviceIndex, kw_memory_stats> starts; /* of what is counted since reset_accumulated_stats */

kw_memory_stats stats_of(c10::DeviceIndex index) {
  kw_memory_stats stats{};
  stats.struct_size = sizeof stats;
  check(kw_memory_get_stats(device_at(index), &stats));
  return stats;
}

kw_memory_stats start_of(c10::DeviceIndex index) {
  std::lock_guard<std::mutex> lock(mutex);
  const auto start = starts.find(index);
  return start == starts.end() ? kw_memory_stats{} : start->second;
}

c10::CachingAllocator::Stat &all(c10::CachingAllocator::StatArray &stats) {
  return stats[static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE)];
}

void set_count(c10::CachingAllocator::StatArray &stats, uint64_t made, uint64_t freed) {
  c10::CachingAllocator::Stat &count = all(stats);
  count.allocated = static_cast<int64_t>(made);
  count.freed = static_cast<int64_t>(freed);
}

void set_level(c10::CachingAllocator::StatArray &stats, uint64_t current, uint64_t peak) {
  c10::CachingAllocator::Stat &level = all(stats);
  level.current = static_cast<int64_t>(current);
  level.peak = static_cast<int64_t>(peak);
}

}  // namespace

Stats memory_stats(c10::DeviceIndex index) {
  const kw_memory_stats now = stats_of(index), start = start_of(index);
  Stats stats{};
  all(stats.allocation).current = all(stats.active).current = static_cast<int64_t>(now.live);
  set_count(stats.allocation, now.allocations - start.allocations,
            (now.allocations - now.live) - (start.allocations - start.live));
  set_level(stats.allocated_bytes, now.allocated, now.allocated_peak);
  set_level(stats.active_bytes, now.allocated, now.allocated_peak);
  all(stats.segment).current = static_cast<int64_t>(now.plugin_allocs - now.plugin_frees);
  set_count(stats.segment, now.plugin_allocs - start.plugin_allocs, now.plugin_frees - start.plugin_frees);
  set_level(stats.reserved_bytes, now.held, now.held_peak);
  stats.num_alloc_retries = static_cast<int64_t>(now.oom_retries - start.oom_retries);
  stats.num_ooms = static_cast<int64_t>(now.oom_failures - start.oom_failures);
  stats.num_device_alloc = all(stats.segment).allocated;
  stats.num_device_free = all(stats.segment).freed;
  return stats;
}

void reset_accumulated_stats(c10::DeviceIndex index) {
  const kw_memory_stats now = stats_of(index);
  std::lock_guard<std::mutex> lock(mutex);
  starts[index] = now;
}

void reset_peak_stats(c10::DeviceIndex index) {
  check(kw_memory_reset_peak(device_at(index)));
}

std::vector<kw_memory_block> memory_blocks(c10::DeviceIndex index) {
  std::vector<kw_memory_block> blocks;
  check(kw_memory_for_each_block(
      device_at(index),
      [](const kw_memory_block *block, void *all) {
        static_cast<std::vector<kw_memory_block> *>(all)->push_back(*block);
      },
      &blocks));
  return blocks;
}

std::pair<size_t, size_t> memory_info(c10::DeviceIndex index) {
  uint64_t free, total;
  check(kw_memory_get_usage(device_at(index), &free, &total));
  return {free, total};
}

void empty_caches() {
  for (c10::DeviceIndex index = 0; index < device_count(); ++index) check(kw_memory_trim(device_at(index)));
}

}  // namespace torch_keyway
