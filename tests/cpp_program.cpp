/* SPDX-License-Identifier: Apache-2.0
 *
 * The header keyway.hpp in use on cpu:0: who owns what, what is thrown, and what the operators give. Exit status 0: all
 * as it should be.
 */
#include <keyway/keyway.hpp>

#include <cstdlib>
#include <iostream>

using keyway::tensor;

#define CHECK(condition)                                            \
  if (!(condition)) {                                               \
    std::cerr << "line " << __LINE__ << ": " << #condition << '\n'; \
    std::exit(1);                                                   \
  }

static std::uint64_t live(const keyway::device &device) {
  kw_memory_stats stats = {};
  stats.struct_size = sizeof stats;
  keyway::check(kw_memory_get_stats(device, &stats));
  return stats.live;
}

static void is(const tensor &x, const std::string &text) {
  if (x.format() == text) return;
  std::cerr << x.format() << ", and not " << text << '\n';
  std::exit(1);
}

template <typename Failure, typename Run>
std::string thrown(Run run) {
  try {
    run();
  } catch (const Failure &failure) {
    return failure.what();
  }
  std::cerr << "nothing was thrown\n";
  std::exit(1);
}

static void operators(const keyway::device &device) {
  const tensor a(device, {2}, std::vector<float>{1, 2}), b(device, {2}, std::vector<float>{4, 8});
  is(a + b, "tensor([5, 10], f32, cpu:0)");
  is(b - a, "tensor([3, 6], f32, cpu:0)");
  is(a * b, "tensor([4, 16], f32, cpu:0)");
  is(b / a, "tensor([4, 4], f32, cpu:0)");
  is(2 * a - 1, "tensor([1, 3], f32, cpu:0)");
  is(1 - a, "tensor([0, -1], f32, cpu:0)");
  is(8 / b, "tensor([2, 1], f32, cpu:0)");
  is(-a + 0.5, "tensor([-0.5, -1.5], f32, cpu:0)");
  is(a > 1, "tensor([false, true], bool, cpu:0)");
  CHECK((b > a * 4).read<std::uint8_t>() == (std::vector<std::uint8_t>{0, 0}));
  const tensor whole(device, {2}, std::vector<std::int32_t>{1, 2});
  is(whole * 2, "tensor([2, 4], i32, cpu:0)");
  is(whole * 2.0, "tensor([2, 4], f32, cpu:0)");
  is(keyway::sum(keyway::mm(a.unsqueeze(0), b.unsqueeze(1))), "tensor(20, f32, cpu:0)");
  is(keyway::result([&](kw_tensor **out) { return kw_cat(KW_TENSORS(a, b), 0, out); }),
     "tensor([1, 2, 4, 8], f32, cpu:0)");
  is(keyway::mean(a.view({1, 2}), {-1}, true), "tensor([[1.5]], f32, cpu:0)");
  is(keyway::cast(a, KW_I64)[1], "tensor(2, i64, cpu:0)");
}

static void owners(const keyway::device &device) {
  const std::uint64_t before = live(device);
  {
    tensor a(device, {3}, std::vector<float>{1, 2, 3}), same = a;
    CHECK(same.get() == a.get() && live(device) == before + 1);
    tensor moved = std::move(a);
    CHECK(!a && moved.get() == same.get());
    CHECK(thrown<std::logic_error>([&] { a.shape(); }).find("moved from") != std::string::npos);
    moved = moved + 1;
    same = moved;
    CHECK(live(device) == before + 1);
    is(same.slice(0, 1), "tensor([3, 4], f32, cpu:0)");
    CHECK(same.shape() == std::vector<std::int64_t>{3} && same.dtype() == KW_F32 && same.numel() == 3);
    const tensor copy = same.to(device);
    CHECK(copy.get() != same.get() && copy.read<float>() == same.read<float>());
  }
  CHECK(live(device) == before);
  tensor kept;
  {
    keyway::scope scope(device);
    kept = keyway::result([](kw_tensor **out) { return kw_full(KW_INTS(2), 1.5, out); }) + 1;
  }
  is(kept, "tensor([2.5, 2.5], f32, cpu:0)");
  CHECK(live(device) == before + 1);
}

static void failures(const keyway::device &device) {
  const tensor a(device, {2}, std::vector<float>{1, 2}), b(device, {3}, std::vector<float>{1, 2, 3});
  CHECK(thrown<keyway::error>([&] { a + b; }).find("add.Tensor") != std::string::npos);
  try {
    keyway::device("gpu-card");
    CHECK(false);
  } catch (const keyway::error &failure) {
    CHECK(failure.status() == KW_ERR_INVALID_ARGUMENT);
  }
  CHECK(thrown<std::invalid_argument>([&] { a.read<double>(); }).find("f32, not f64") != std::string::npos);
  CHECK(thrown<std::invalid_argument>([&] { tensor(device, {2}, std::vector<float>{1}); }).find("2 elements, not 1") !=
        std::string::npos);
  keyway::scope scope(device);
  kwx_mm(a, b);
  CHECK(thrown<keyway::error>([&] { scope.end(); }).find("mm") != std::string::npos);
}

static void streams(const keyway::device &device) {
  keyway::stream first(device), second(device);
  keyway::event passed(device);
  const tensor a(device, {2}, std::vector<float>{1, 2});
  tensor sum;
  {
    keyway::scope scope(first);
    sum = a + a;
  }
  passed.record(first);
  second.wait(passed);
  second.synchronize();
  keyway::stream moved = std::move(first);
  moved.synchronize();
  is(sum, "tensor([2, 4], f32, cpu:0)");
}

int main() {
  tensor outlives;
  {
    const keyway::device device("cpu:0");
    CHECK(device.name() == "cpu:0");
    operators(device);
    owners(device);
    failures(device);
    streams(device);
    outlives = tensor(device, {1}, std::vector<double>{3});
  }
  is(outlives, "tensor([3], f64, cpu:0)");
  return 0;
}
