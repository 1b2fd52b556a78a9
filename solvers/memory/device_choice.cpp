// This file asks CUDA which GPUs there are.
#include "solvers/memory/device_choice.hpp"

#include <cstddef>

#include "solvers/memory/cuda_check.hpp"

namespace tessera {

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
