/* SPDX-License-Identifier: Apache-2.0
 *
 * Generators: PyTorch's interface over a generator of Keyway's, and the default one of each device.
 */
#include "generator.h"
#include "device.h"
#include "status.h"

#include <ATen/Utils.h>
#include <ATen/core/TensorBase.h>

#include <cstring>
#include <map>

namespace torch_keyway {

namespace {

/* The state as PyTorch saves it: the struct's fields behind struct_size. Of Philox the first two, as CUDA's are:
 * DTensor reads and sets them. */
struct Saved {
  uint64_t seed, offset;
  uint32_t algorithm, reserved;
};
constexpr size_t philox_size = offsetof(Saved, algorithm);

struct Generator final : c10::GeneratorImpl {
  explicit Generator(c10::DeviceIndex index)
      : GeneratorImpl(c10::Device(device_type, index), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)) {}
  ~Generator() override {
    if (owned) kw_generator_destroy(generator);
  }

  kw_generator_state state() const {
    kw_generator_state state{};
    state.struct_size = sizeof state;
    check(kw_generator_get_state(generator, &state));
    return state;
  }
  void set_current_seed(uint64_t seed) override {
    check(kw_generator_seed(generator, seed));
  }
  uint64_t current_seed() const override {
    return state().seed;
  }
  uint64_t seed() override {
    const uint64_t seed = c10::detail::getNonDeterministicRandom();
    set_current_seed(seed);
    return seed;
  }
  void set_offset(uint64_t offset) override {
    kw_generator_state changed = state();
    changed.offset = offset;
    check(kw_generator_set_state(generator, &changed));
  }
  uint64_t get_offset() const override {
    return state().offset;
  }

  c10::intrusive_ptr<c10::TensorImpl> get_state() const override {
    const kw_generator_state now = state();
    const Saved saved{now.seed, now.offset, now.algorithm, 0};
    const size_t size = now.algorithm == KW_GENERATOR_PHILOX4X32_10 ? philox_size : sizeof saved;
    const at::TensorBase bytes = at::detail::empty_cpu({static_cast<int64_t>(size)}, at::kByte, {}, {}, {}, {});
    std::memcpy(bytes.mutable_data_ptr(), &saved, size);
    return bytes.getIntrusivePtr();
  }
  void set_state(const c10::TensorImpl &bytes) override {
    at::detail::check_rng_state(bytes);
    Saved saved{0, 0, KW_GENERATOR_PHILOX4X32_10, 0};
    const auto size = static_cast<size_t>(bytes.numel());
    TORCH_CHECK(size == philox_size || size == sizeof saved, "the state of a Keyway generator has ", philox_size,
                " or ", sizeof saved, " bytes, not ", size, ": it comes from another kind of device");
    std::memcpy(&saved, bytes.data(), size);
    const kw_generator_state state{sizeof state, saved.algorithm, saved.seed, saved.offset};
    check(kw_generator_set_state(generator, &state));
  }
  Generator *clone_impl() const override {
    auto copy = std::make_unique<Generator>(device_.index());
    check(kw_generator_create(device_at(device_.index()), 0, &copy->generator));
    copy->owned = true;
    const kw_generator_state now = state();
    check(kw_generator_set_state(copy->generator, &now));
    return copy.release();
  }

  kw_generator *generator = nullptr;
  bool owned = false;
};

}  // namespace

const at::Generator &default_generator(c10::DeviceIndex index) {
  static std::mutex mutex;
  static std::map<c10::DeviceIndex, at::Generator> generators;
  if (index < 0) index = current_device();
  std::lock_guard<std::mutex> lock(mutex);
  const auto [place, is_new] = generators.try_emplace(index);
  if (is_new) {
    place->second = at::make_generator<Generator>(index);
    place->second.get<Generator>()->generator = kw_generator_default(device_at(index));
    place->second.set_current_seed(c10::default_rng_seed_val);
  }
  return place->second;
}

at::Generator new_generator(c10::DeviceIndex index) {
  if (index < 0) index = current_device();
  at::Generator made = at::make_generator<Generator>(index);
  auto *generator = made.get<Generator>();
  check(kw_generator_create(device_at(index), c10::default_rng_seed_val, &generator->generator));
  generator->owned = true;
  return made;
}

kw_generator *generator_of(const at::Generator &generator) {
  TORCH_CHECK(generator.device().type() == device_type, "a generator of device ", generator.device(),
              " gives no numbers on this one. Make it with torch.Generator(device=...)");
  return generator.get<Generator>()->generator;
}

}  // namespace torch_keyway
