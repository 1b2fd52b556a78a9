// This function copies large arrays to the GPU through page-locked buffers.
#pragma once

#include <cstdint>

namespace tessera {

/// A copy of at least this many bytes to the GPU goes through page-locked memory.
inline constexpr std::int64_t kLeastStagedUpload = std::int64_t{128} << 20;

/// Copies to the GPU through two page-locked buffers of 32 MiB: all threads fill one buffer while
/// the other one is on its way, which is several times as fast as a copy from pageable memory. The
/// copy is complete when the call returns. The buffers live as long as the process. @throws
/// DeviceError
void upload_staged(const void* host, std::int64_t bytes, void* device);

}  // namespace tessera
