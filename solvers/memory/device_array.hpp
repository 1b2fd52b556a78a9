// A DeviceArray owns values in GPU memory.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace tessera {

/// Uninitialized GPU memory. @throws DeviceOutOfMemory, DeviceError
void* allocate_on_device(std::int64_t bytes);
/// @param bytes the size that was asked for
void free_on_device(void* pointer, std::int64_t bytes) noexcept;
/// Copies between host and GPU, complete when the call returns. @throws DeviceError
void copy_to_device(const void* host, std::int64_t bytes, void* device);
void copy_to_host(const void* device, std::int64_t bytes, void* host);
void zero_on_device(void* device, std::int64_t bytes);

/// n values in GPU memory, uninitialized unless made from values: owning, move-only.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  explicit DeviceArray(std::int64_t n)
      : data_(static_cast<T*>(allocate_on_device(n * static_cast<std::int64_t>(sizeof(T))))),
        size_(n) {}
  explicit DeviceArray(const std::vector<T>& values)
      : DeviceArray(static_cast<std::int64_t>(values.size())) {
    copy_to_device(values.data(), bytes(), data_);
  }
  ~DeviceArray() { free_on_device(data_, bytes()); }
  DeviceArray(DeviceArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  std::int64_t size() const { return size_; }
  std::int64_t bytes() const { return size_ * static_cast<std::int64_t>(sizeof(T)); }
  T* data() { return data_; }
  const T* data() const { return data_; }

 private:
  T* data_ = nullptr;
  std::int64_t size_ = 0;
};

/// Copies all values to the host.
template <class T>
std::vector<T> to_host(const DeviceArray<T>& array) {
  std::vector<T> values(static_cast<std::size_t>(array.size()));
  copy_to_host(array.data(), array.bytes(), values.data());
  return values;
}

}  // namespace tessera
