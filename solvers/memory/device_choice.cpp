// This file asks CUDA and the system which GPUs there are.
#include "solvers/memory/device_choice.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <system_error>
#include <vector>

#include "solvers/memory/cuda_check.hpp"

namespace tessera {
namespace {

constexpr char kVisibleDevices[] = "CUDA_VISIBLE_DEVICES";
constexpr char kHardwareQueues[] = "CUDA_DEVICE_MAX_CONNECTIONS";

// The driver has a file for each GPU, of which a container or a batch system may leave some.
int usable_device_files() {
  constexpr int kMaxFiles = 64;
  int count = 0;
  for (int number = 0; number < kMaxFiles; ++number) {
    const std::string name = "/dev/nvidia" + std::to_string(number);
    if (access(name.c_str(), R_OK | W_OK) == 0) ++count;
  }
  return count;
}

// The entries of the variable up to the first that names no GPU, where CUDA stops reading.
std::vector<std::string> named_devices(const std::string& visible, int devices) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= visible.size();) {
    const std::size_t end = std::min(visible.find(',', begin), visible.size());
    const std::size_t first = std::min(visible.find_first_not_of(' ', begin), end);
    const std::string name = visible.substr(first, end - first);
    begin = end + 1;
    int number = 0;
    const auto read = std::from_chars(name.data(), name.data() + name.size(), number);
    const bool is_number = read.ec == std::errc() && read.ptr == name.data() + name.size();
    const bool is_identifier = name.rfind("GPU-", 0) == 0 || name.rfind("MIG-", 0) == 0;
    if (!(is_identifier || (is_number && number >= 0 && number < devices))) break;
    names.push_back(name);
  }
  return names;
}

}  // namespace

std::optional<std::string> one_visible_device(const char* visible, int devices, int number) {
  if (devices == 0) return std::nullopt;
  if (visible == nullptr) return std::to_string(number % devices);
  const std::vector<std::string> names = named_devices(visible, devices);
  if (names.empty()) return std::nullopt;
  return names[static_cast<std::size_t>(number) % names.size()];
}

std::optional<std::string> users_visible_devices() {
  // As it is at the first call, before this program changes it.
  static const std::optional<std::string> users = [] {
    const char* const visible = std::getenv(kVisibleDevices);
    return visible == nullptr ? std::nullopt : std::optional<std::string>(visible);
  }();
  return users;
}

void set_hardware_queues(int count) {
  static const bool is_users = std::getenv(kHardwareQueues) != nullptr;
  if (!is_users) setenv(kHardwareQueues, std::to_string(count).c_str(), 1);
}

void leave_one_device(int number) {
  const std::optional<std::string> users = users_visible_devices();
  const auto left =
      one_visible_device(users ? users->c_str() : nullptr, usable_device_files(), number);
  if (left) setenv(kVisibleDevices, left->c_str(), 1);
}

int visible_devices() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  // Otherwise the next launch would report the error.
  cudaGetLastError();
  return 0;
}

void choose_device(int number) { check_cuda(cudaSetDevice(number), "choosing a GPU"); }

std::string device_uuid() {
  int device = 0;
  check_cuda(cudaGetDevice(&device), "asking for the current GPU");
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, device), "asking for the GPU's properties");
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "GPU";
  for (std::size_t i = 0; i < sizeof(properties.uuid.bytes); ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    const auto byte = static_cast<unsigned char>(properties.uuid.bytes[i]);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15U];
  }
  return text;
}

}  // namespace tessera
