// This file overlaps the filling of one upload buffer with the transfer of the other.
#include "solvers/memory/staged_upload.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "solvers/memory/cuda_check.hpp"
#include "solvers/memory/cuda_owners.hpp"
#include "solvers/memory/device.hpp"

namespace tessera {
namespace {

// The page-locked buffers are kept, because making them takes a while.
class UploadBuffers {
 public:
  static constexpr std::int64_t kBytes = std::int64_t{32} << 20;

  UploadBuffers() {
    for (int i = 0; i < 2; ++i) {
      buffers_[i] = make_pinned(static_cast<std::size_t>(kBytes));
      sent_[i] = make_event();
    }
  }

  void copy(const void* host, std::int64_t bytes, void* device) {
    const auto* from = static_cast<const std::byte*>(host);
    auto* to = static_cast<std::byte*>(device);
    int current = 0;
    for (std::int64_t done = 0; done < bytes; done += kBytes, current = 1 - current) {
      const std::int64_t count = std::min(kBytes, bytes - done);
      check_cuda(cudaEventSynchronize(sent_[current].get()), "waiting for a copy to the GPU");
      void* const buffer = buffers_[current].get();
      fill(from + done, count, static_cast<std::byte*>(buffer));
      enqueue_copy(to + done, buffer, static_cast<std::size_t>(count), cudaMemcpyHostToDevice,
                   "copying to the GPU");
      record(sent_[current].get());
    }
    synchronize_device();
  }

 private:
  static void fill(const std::byte* from, std::int64_t count, std::byte* to) {
    constexpr std::int64_t kPiece = std::int64_t{1} << 18;
#pragma omp parallel for schedule(static)
    for (std::int64_t begin = 0; begin < count; begin += kPiece) {
      std::memcpy(to + begin, from + begin,
                  static_cast<std::size_t>(std::min(kPiece, count - begin)));
    }
  }

  Pinned buffers_[2];
  Event sent_[2];
};

}  // namespace

void upload_staged(const void* host, std::int64_t bytes, void* device) {
  static UploadBuffers buffers;
  buffers.copy(host, bytes, device);
}

}  // namespace tessera
