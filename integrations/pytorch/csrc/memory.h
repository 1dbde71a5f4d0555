/* SPDX-License-Identifier: Apache-2.0
 *
 * What PyTorch asks of a device's caching allocator besides memory: its counts, in torch.accelerator and
 * torch.<name>.
 */
#pragma once

#include <c10/core/CachingDeviceAllocator.h>

#include <keyway/keyway.h>

#include <utility>
#include <vector>

namespace torch_keyway {

/* Keyway's counts under PyTorch's names; what PyTorch counts by size and by pool stands under `all`. Thread-safe, as
 * all of these. */
c10::CachingDeviceAllocator::DeviceStats memory_stats(c10::DeviceIndex index);
/* Counts of what was ever made or freed start anew. */
void reset_accumulated_stats(c10::DeviceIndex index);
/* Peaks start anew. */
void reset_peak_stats(c10::DeviceIndex index);
/* What the allocator has, segment by segment. */
std::vector<kw_memory_block> memory_blocks(c10::DeviceIndex index);
/* Bytes that are free on the device, and all of them; throws where neither driver nor plugin tell. */
std::pair<size_t, size_t> memory_info(c10::DeviceIndex index);
/* Gives the cached memory of all devices back. */
void empty_caches();

}  // namespace torch_keyway
