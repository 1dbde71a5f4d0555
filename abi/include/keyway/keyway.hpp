/* SPDX-License-Identifier: Apache-2.0
 *
 * Keyway for applications in C++17: devices, streams, events, scopes and tensors that end with their variables, and
 * operators. A header alone: what links with libkeyway has all of it.
 *
 *     keyway::device device("npu:0");
 *     keyway::tensor x(device, {2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
 *     keyway::tensor y = keyway::relu(2 * x - 1);
 *     std::vector<float> numbers = y.read<float>();
 *
 *   - What fails throws keyway::error: its status, and kw_error_message as what(). A tensor that is empty or was moved
 *     from throws std::logic_error; numbers that are of another type or count than the tensor's elements throw
 *     std::invalid_argument. The standard library's own memory may run out: std::bad_alloc.
 *   - Objects can be moved. A copy of a tensor is one more reference to the same memory, which goes with the last.
 *   - Every op there is, by its typed call (keyway/ops.h), which takes a tensor of these as it takes a kw_tensor *:
 *     keyway::result([&](kw_tensor **out) { return kw_gelu(x, "tanh", out); }).
 *   - Operators on tensors broadcast and promote as ATen's; a number keeps its kind: x * 2 of integers has integers.
 */
#ifndef KEYWAY_KEYWAY_HPP
#define KEYWAY_KEYWAY_HPP

#if __cplusplus < 201703L
#error "keyway.hpp needs C++17: compile with -std=c++17, or a later one"
#endif

#include <keyway/functions.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace keyway {

class error : public std::runtime_error {
 public:
  explicit error(kw_status status) : std::runtime_error(text(status)), status_(status) {}
  kw_status status() const noexcept {
    return status_;
  }

 private:
  static const char *text(kw_status status) {
    const char *message = kw_error_message();
    return *message ? message : kw_status_name(status);
  }
  kw_status status_;
};

inline void check(kw_status status) {
  if (status != KW_OK) throw error(status);
}

/* One of Keyway's objects, ended by `End` with its variable. */
template <typename Object, auto End>
class owner {
 public:
  owner() noexcept = default;
  explicit owner(Object *object) noexcept : object_(object) {}
  owner(owner &&other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  owner &operator=(owner &&other) noexcept {
    owner(std::move(other)).swap(*this);
    return *this;
  }
  owner(const owner &) = delete;
  owner &operator=(const owner &) = delete;
  ~owner() {
    if (object_) End(object_);
  }
  void swap(owner &other) noexcept {
    std::swap(object_, other.object_);
  }
  Object *get() const noexcept {
    return object_;
  }
  operator Object *() const noexcept {
    return object_;
  }
  explicit operator bool() const noexcept {
    return object_ != nullptr;
  }

 protected:
  Object *object_ = nullptr;
};

/* An open device: it closes when this and all that was made on it is gone. */
class device : public owner<kw_device, kw_device_close> {
 public:
  /* A name as in `keyway list`, or a policy: "auto", "gpu". */
  explicit device(const char *name = "auto") {
    check(kw_device_open(name, &object_));
  }
  explicit device(const std::string &name) : device(name.c_str()) {}
  std::string name() const {
    return kw_device_name(object_);
  }
  void synchronize() const {
    check(kw_device_synchronize(object_));
  }
};

class event : public owner<kw_event, kw_event_destroy> {
 public:
  explicit event(const device &on) {
    check(kw_event_create(on, &object_));
  }
  void record(kw_stream *stream) const {
    check(kw_event_record(object_, stream));
  }
  void synchronize() const {
    check(kw_event_synchronize(object_));
  }
};

class stream : public owner<kw_stream, kw_stream_destroy> {
 public:
  explicit stream(const device &on) {
    check(kw_stream_create(on, &object_));
  }
  void wait(const event &passed) const {
    check(kw_stream_wait_event(object_, passed));
  }
  void synchronize() const {
    check(kw_stream_synchronize(object_));
  }
};

/* Calls in its block go to its stream, and ops without tensor arguments make theirs on its device. */
class scope : public owner<kw_scope, kw_scope_end> {
 public:
  explicit scope(kw_stream *on) {
    check(kw_scope_begin(on, &object_));
  }
  explicit scope(const device &on) : scope(kw_stream_default(on)) {}
  /* Ends it here, and throws its first failure. */
  void end() {
    check(kw_scope_end(std::exchange(object_, nullptr)));
  }
};

/* The dtype of a type of C++. */
template <typename T>
struct dtype_of;
template <>
struct dtype_of<bool> : std::integral_constant<kw_dtype, KW_BOOL> {};
template <>
struct dtype_of<std::uint8_t> : std::integral_constant<kw_dtype, KW_U8> {};
template <>
struct dtype_of<std::int8_t> : std::integral_constant<kw_dtype, KW_I8> {};
template <>
struct dtype_of<std::int16_t> : std::integral_constant<kw_dtype, KW_I16> {};
template <>
struct dtype_of<std::int32_t> : std::integral_constant<kw_dtype, KW_I32> {};
template <>
struct dtype_of<std::int64_t> : std::integral_constant<kw_dtype, KW_I64> {};
template <>
struct dtype_of<float> : std::integral_constant<kw_dtype, KW_F32> {};
template <>
struct dtype_of<double> : std::integral_constant<kw_dtype, KW_F64> {};

class tensor {
 public:
  tensor() noexcept = default;
  /* Takes the caller's reference. */
  explicit tensor(kw_tensor *object) noexcept : object_(object) {}
  /* Undefined contents. */
  tensor(const device &on, kw_dtype dtype, const std::vector<std::int64_t> &shape) {
    check(kw_tensor_create(on, dtype, static_cast<std::uint32_t>(shape.size()), shape.data(), &object_));
  }
  /* Of numbers in row-major order, as many as the shape has places. */
  template <typename T>
  tensor(const device &on, const std::vector<std::int64_t> &shape, const std::vector<T> &numbers)
      : tensor(on, dtype_of<T>::value, shape) {
    write(numbers);
  }
  tensor(const tensor &other) noexcept : object_(kw_scope_keep(other.object_)) {}
  tensor(tensor &&other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  tensor &operator=(tensor other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~tensor() {
    kw_tensor_release(object_);
  }

  kw_tensor *get() const noexcept {
    return object_;
  }
  operator kw_tensor *() const noexcept {
    return object_;
  }
  explicit operator bool() const noexcept {
    return object_ != nullptr;
  }

  kw_dtype dtype() const {
    return describe().dtype;
  }
  std::int64_t numel() const {
    return describe().numel;
  }
  std::vector<std::int64_t> shape() const;
  std::string format() const;

  /* Wait; the tensor has elements of type T, and as many. */
  template <typename T>
  std::vector<T> read() const;
  template <typename T>
  void write(const std::vector<T> &numbers);
  /* A copy in the memory of a device. */
  tensor to(const device &on) const;

  /* Views of the same memory. */
  tensor view(const std::vector<std::int64_t> &shape) const;
  tensor permute(const std::vector<std::int64_t> &dims) const;
  tensor transpose(std::int64_t dim0, std::int64_t dim1) const;
  tensor select(std::int64_t dim, std::int64_t index) const;
  tensor operator[](std::int64_t index) const {
    return select(0, index);
  }
  tensor slice(std::int64_t dim, std::int64_t start, std::int64_t end = INT64_MAX, std::int64_t step = 1) const;
  tensor unsqueeze(std::int64_t dim) const;
  tensor squeeze(std::int64_t dim) const;

 private:
  const kw_tensor_ref &describe() const;
  template <typename T>
  void check_fit(std::uint64_t count) const;
  kw_tensor *object_ = nullptr;
};

/* What `make` puts where it is shown, of which the caller holds a reference. */
template <typename Make>
tensor made_by(Make make) {
  kw_tensor *made = nullptr;
  check(make(&made));
  return tensor(made);
}

inline const kw_tensor_ref &tensor::describe() const {
  if (!object_) throw std::logic_error("keyway::tensor: it is empty, or was moved from");
  return *kw_tensor_describe(object_);
}
inline std::vector<std::int64_t> tensor::shape() const {
  const kw_tensor_ref &ref = describe();
  return {ref.shape, ref.shape + ref.rank};
}
inline std::string tensor::format() const {
  std::string text(4096, '\0');
  check(kw_tensor_format(object_, &text[0], text.size()));
  text.resize(text.find('\0'));
  return text;
}

template <typename T>
void tensor::check_fit(std::uint64_t count) const {
  static_assert(!std::is_same<T, bool>::value, "std::vector<bool> has no elements in memory: use std::uint8_t");
  const bool bytes = dtype() == KW_BOOL && dtype_of<T>::value == KW_U8;
  if (dtype_of<T>::value != dtype() && !bytes) {
    throw std::invalid_argument(std::string("keyway::tensor: its elements are ") + kw_dtype_name(dtype()) + ", not " +
                                kw_dtype_name(dtype_of<T>::value) + "; cast it first");
  }
  if (count != static_cast<std::uint64_t>(numel())) {
    throw std::invalid_argument("keyway::tensor: it has " + std::to_string(numel()) + " elements, not " +
                                std::to_string(count));
  }
}
template <typename T>
std::vector<T> tensor::read() const {
  check_fit<T>(static_cast<std::uint64_t>(numel()));
  std::vector<T> numbers(static_cast<std::size_t>(numel()));
  check(kw_tensor_read(object_, numbers.data()));
  return numbers;
}
template <typename T>
void tensor::write(const std::vector<T> &numbers) {
  check_fit<T>(numbers.size());
  check(kw_tensor_write(object_, numbers.data()));
}

inline tensor tensor::to(const device &on) const {
  return made_by([&](kw_tensor **out) { return kw_tensor_to(object_, on, out); });
}
inline tensor tensor::view(const std::vector<std::int64_t> &shape) const {
  const std::uint32_t rank = static_cast<std::uint32_t>(shape.size());
  return made_by([&](kw_tensor **out) { return kw_tensor_view(object_, rank, shape.data(), out); });
}
inline tensor tensor::permute(const std::vector<std::int64_t> &dims) const {
  const std::uint32_t rank = static_cast<std::uint32_t>(dims.size());
  return made_by([&](kw_tensor **out) { return kw_tensor_permute(object_, rank, dims.data(), out); });
}
inline tensor tensor::transpose(std::int64_t dim0, std::int64_t dim1) const {
  return made_by([&](kw_tensor **out) { return kw_tensor_transpose(object_, dim0, dim1, out); });
}
inline tensor tensor::select(std::int64_t dim, std::int64_t index) const {
  return made_by([&](kw_tensor **out) { return kw_tensor_select(object_, dim, index, out); });
}
inline tensor tensor::slice(std::int64_t dim, std::int64_t start, std::int64_t end, std::int64_t step) const {
  return made_by([&](kw_tensor **out) { return kw_tensor_slice(object_, dim, start, end, step, out); });
}
inline tensor tensor::unsqueeze(std::int64_t dim) const {
  return made_by([&](kw_tensor **out) { return kw_tensor_unsqueeze(object_, dim, out); });
}
inline tensor tensor::squeeze(std::int64_t dim) const {
  return made_by([&](kw_tensor **out) { return kw_tensor_squeeze(object_, dim, out); });
}

/* The same of a typed call, whose result is the scope's where one is open, and outlives that. */
template <typename Make>
tensor result(Make make) {
  tensor made = made_by(make);
  if (kw_scope_current()) kw_tensor_retain(made);
  return made;
}

/* ---- Operators, and functions that many programs use; all others by result() ------------------------------------- */

#define KW_OPERATOR(sign, name)                                                              \
  inline tensor operator sign(const tensor &a, const tensor &b) {                            \
    return result([&](kw_tensor **out) { return kw_##name##_tensor(a, b, out); });           \
  }                                                                                          \
  template <typename Number, typename = std::enable_if_t<std::is_arithmetic<Number>::value>> \
  tensor operator sign(const tensor &a, Number b) {                                          \
    return result([&](kw_tensor **out) { return kw_##name##_scalar(a, b, out); });           \
  }
KW_OPERATOR(+, add)
KW_OPERATOR(-, sub)
KW_OPERATOR(*, mul)
KW_OPERATOR(/, div)
KW_OPERATOR(<, lt)
KW_OPERATOR(<=, le)
KW_OPERATOR(>, gt)
KW_OPERATOR(>=, ge)
#undef KW_OPERATOR

#define KW_FUNCTION_OF_ONE(name)                                       \
  inline tensor name(const tensor &x) {                                \
    return result([&](kw_tensor **out) { return kw_##name(x, out); }); \
  }
KW_FUNCTION_OF_ONE(abs)
KW_FUNCTION_OF_ONE(exp)
KW_FUNCTION_OF_ONE(log)
KW_FUNCTION_OF_ONE(neg)
KW_FUNCTION_OF_ONE(reciprocal)
KW_FUNCTION_OF_ONE(relu)
KW_FUNCTION_OF_ONE(sigmoid)
KW_FUNCTION_OF_ONE(silu)
KW_FUNCTION_OF_ONE(sqrt)
KW_FUNCTION_OF_ONE(tanh)
#undef KW_FUNCTION_OF_ONE

inline tensor operator-(const tensor &x) {
  return neg(x);
}
template <typename Number, typename = std::enable_if_t<std::is_arithmetic<Number>::value>>
tensor operator+(Number a, const tensor &b) {
  return b + a;
}
template <typename Number, typename = std::enable_if_t<std::is_arithmetic<Number>::value>>
tensor operator*(Number a, const tensor &b) {
  return b * a;
}
template <typename Number, typename = std::enable_if_t<std::is_arithmetic<Number>::value>>
tensor operator-(Number a, const tensor &b) {
  return -b + a;
}
template <typename Number, typename = std::enable_if_t<std::is_arithmetic<Number>::value>>
tensor operator/(Number a, const tensor &b) {
  return reciprocal(b) * a;
}

/* [M, K] by [K, N]. */
inline tensor mm(const tensor &a, const tensor &b) {
  return result([&](kw_tensor **out) { return kw_mm(a, b, out); });
}
inline tensor linear(const tensor &input, const tensor &weight, const tensor &bias = tensor()) {
  return result([&](kw_tensor **out) { return kw_linear(input, weight, bias, out); });
}
inline tensor softmax(const tensor &x, std::int64_t dim) {
  return result([&](kw_tensor **out) { return kw_softmax(x, dim, out); });
}
inline tensor cast(const tensor &x, kw_dtype dtype) {
  return result([&](kw_tensor **out) { return kw_to_copy(x, dtype, out); });
}
inline tensor sum(const tensor &x) {
  return result([&](kw_tensor **out) { return kw_sum(x, out); });
}
inline tensor sum(const tensor &x, const std::vector<std::int64_t> &dims, bool keepdim = false) {
  const kw_ints list = {dims.data(), static_cast<std::uint32_t>(dims.size())};
  return result([&](kw_tensor **out) { return kw_sum_dim_intlist(x, list, keepdim, out); });
}
inline tensor mean(const tensor &x, const std::vector<std::int64_t> &dims, bool keepdim = false) {
  const kw_ints list = {dims.data(), static_cast<std::uint32_t>(dims.size())};
  return result([&](kw_tensor **out) { return kw_mean_dim(x, list, keepdim, out); });
}
inline tensor argmax(const tensor &x, std::int64_t dim, bool keepdim = false) {
  return result([&](kw_tensor **out) { return kw_argmax(x, dim, keepdim, out); });
}

}  // namespace keyway

#endif /* KEYWAY_KEYWAY_HPP */
