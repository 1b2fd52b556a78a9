// A Vector is an L-vector on the host or the GPU, with the operations that solvers need.
#pragma once

#include <cassert>
#include <cstdint>
#include <span>
#include <utility>

#include "solvers/check.hpp"
#include "solvers/execution.hpp"
#include "solvers/memory/device_array.hpp"
#include "solvers/memory/vector_layout.hpp"

namespace tessera {

template <class T, class Space>
class Vector;

/// An L-vector on the host: owning, move-only and 64-byte aligned. Its pages are first touched by
/// the threads that use them in every loop below (the static split of parallel loops).
template <class T>
class Vector<T, Host> {
 public:
  using value_type = T;

  Vector() = default;
  /// n zeros, which no other rank has. @throws std::bad_alloc
  explicit Vector(std::int64_t n) : Vector(VectorLayout(n)) {}
  /// Zeros. @throws std::bad_alloc
  explicit Vector(VectorLayout layout);
  ~Vector();
  Vector(Vector&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), layout_(std::exchange(other.layout_, {})) {}
  Vector& operator=(Vector&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(layout_, other.layout_);
    return *this;
  }
  Vector(const Vector&) = delete;
  Vector& operator=(const Vector&) = delete;

  std::int64_t size() const { return layout_.size; }
  const VectorLayout& layout() const { return layout_; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](std::int64_t i) {
    assert(0 <= i && i < size());
    return data_[i];
  }
  const T& operator[](std::int64_t i) const {
    assert(0 <= i && i < size());
    return data_[i];
  }
  std::span<T> span() { return {data_, static_cast<std::size_t>(size())}; }
  std::span<const T> span() const { return {data_, static_cast<std::size_t>(size())}; }

 private:
  T* data_ = nullptr;
  VectorLayout layout_;
};

template <class T>
using HostVector = Vector<T, Host>;

/// An L-vector on the GPU: owning, move-only. The operations below are asynchronous unless they
/// return a value or touch the host. @throws DeviceError
template <class T>
class Vector<T, Device> {
 public:
  using value_type = T;

  Vector() = default;
  /// n zeros, which no other rank has. @throws DeviceOutOfMemory
  explicit Vector(std::int64_t n) : Vector(VectorLayout(n)) {}
  /// Zeros. @throws DeviceOutOfMemory
  explicit Vector(VectorLayout layout) : values_(layout.size), layout_(std::move(layout)) {
    zero_on_device(values_.data(), values_.bytes());
  }
  Vector(Vector&& other) noexcept
      : values_(std::move(other.values_)), layout_(std::exchange(other.layout_, {})) {}
  Vector& operator=(Vector&& other) noexcept {
    std::swap(values_, other.values_);
    std::swap(layout_, other.layout_);
    return *this;
  }
  Vector(const Vector&) = delete;
  Vector& operator=(const Vector&) = delete;

  std::int64_t size() const { return layout_.size; }
  const VectorLayout& layout() const { return layout_; }
  T* data() { return values_.data(); }
  const T* data() const { return values_.data(); }

 private:
  DeviceArray<T> values_;
  VectorLayout layout_;
};

template <class T>
using DeviceVector = Vector<T, Device>;

// All vectors of one operation have the same size, and those of a sum the same layout; else the
// program ends (check.hpp). Sums are over all ranks that share entries (entry_sums.hpp).

/// y = x between host and GPU.
template <class T>
void copy(const HostVector<T>& x, DeviceVector<T>& y) {
  TESSERA_CHECK(x.size() == y.size());
  copy_to_device(x.data(), y.size() * static_cast<std::int64_t>(sizeof(T)), y.data());
}
template <class T>
void copy(const DeviceVector<T>& x, HostVector<T>& y) {
  TESSERA_CHECK(x.size() == y.size());
  copy_to_host(x.data(), x.size() * static_cast<std::int64_t>(sizeof(T)), y.data());
}

/// x_i = value.
template <class T>
void fill(HostVector<T>& x, T value);
template <class T>
void fill(DeviceVector<T>& x, T value);

/// y = x.
template <class T>
void copy(const HostVector<T>& x, HostVector<T>& y);
template <class T>
void copy(const DeviceVector<T>& x, DeviceVector<T>& y);

/// sum_i x_i y_i, summed in double over fixed blocks of entries and then over the blocks in order:
/// the same bits for any number of threads.
template <class T>
double dot(const HostVector<T>& x, const HostVector<T>& y);
/// The same sum over thread blocks and then over the blocks in order: the same bits in every run on
/// the same GPU model. Where ranks share the vectors it is over all of them.
template <class T>
double dot(const DeviceVector<T>& x, const DeviceVector<T>& y);

/// sqrt(dot(x, x)).
template <class T>
double norm(const HostVector<T>& x);

/// y += a x.
template <class T>
void axpy(T a, const HostVector<T>& x, HostVector<T>& y);
template <class T>
void axpy(T a, const DeviceVector<T>& x, DeviceVector<T>& y);

/// y = x + b y.
template <class T>
void aypx(const HostVector<T>& x, T b, HostVector<T>& y);
template <class T>
void aypx(const DeviceVector<T>& x, T b, DeviceVector<T>& y);

/// The largest number of vectors that combine() takes.
inline constexpr int kMaxCombinedVectors = 16;
/// y = sum_k a_k x_k in one pass; y may be one of the x_k. There is at least one, and all have the
/// size of y.
template <class T>
void combine(std::span<const T> a, std::span<const HostVector<T>* const> x, HostVector<T>& y);
template <class T>
void combine(std::span<const T> a, std::span<const DeviceVector<T>* const> x, DeviceVector<T>& y);

/// z_i = x_i y_i.
template <class T>
void multiply(const HostVector<T>& x, const HostVector<T>& y, HostVector<T>& z);
template <class T>
void multiply(const DeviceVector<T>& x, const DeviceVector<T>& y, DeviceVector<T>& z);

/// x_i = 1 / x_i.
template <class T>
void invert_entries(HostVector<T>& x);
template <class T>
void invert_entries(DeviceVector<T>& x);

/// x += a p and r -= a q in one pass; returns dot(r, r) of the new r.
template <class T>
double update_solution_and_residual(T a, const HostVector<T>& p, const HostVector<T>& q,
                                    HostVector<T>& x, HostVector<T>& r);

/// r -= a q and p = r + b p in one pass; returns dot(r, r) of the new r.
template <class T>
double update_residual_and_direction(T a, T b, const HostVector<T>& q, HostVector<T>& r,
                                     HostVector<T>& p);

/// The same, and x += c (p - r) + a p before it, in one pass.
template <class T>
double update_all(T a, T b, T c, const HostVector<T>& q, HostVector<T>& x, HostVector<T>& r,
                  HostVector<T>& p);

/// z += a (x - y)
template <class T>
void add_differences(T a, const HostVector<T>& x, const HostVector<T>& y, HostVector<T>& z);

/// r = b - r; returns dot(r, r) of the new r.
template <class T>
double subtract_from(const HostVector<T>& b, HostVector<T>& r);

}  // namespace tessera
