// These functions copy large arrays to and from the GPU through page-locked buffers.
#pragma once

#include <cstdint>

namespace tessera {

/// A copy of at least this many bytes goes through page-locked memory.
inline constexpr std::int64_t kMinStagedCopy = std::int64_t{128} << 20;

/// Copy to and from the GPU through two page-locked buffers of 32 MiB: all threads fill or empty
/// one buffer while the other one is on its way, which is several times as fast as a copy of
/// pageable memory. The copy is complete when the call returns. The buffers live as long as the
/// process. @throws DeviceError
void upload_staged(const void* host, std::int64_t bytes, void* device);
void download_staged(const void* device, std::int64_t bytes, void* host);

}  // namespace tessera
