// This file overlaps the work of the host on one buffer with the transfer of the other.
#include "solvers/memory/staged_copy.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "solvers/memory/cuda_check.hpp"
#include "solvers/memory/cuda_owners.hpp"
#include "solvers/memory/device.hpp"

namespace tessera {
namespace {

// The page-locked buffers are kept, because making them takes a while.
class StagingBuffers {
 public:
  static constexpr std::int64_t kBytes = std::int64_t{32} << 20;

  StagingBuffers() {
    for (int i = 0; i < 2; ++i) {
      buffers_[i] = make_pinned(static_cast<std::size_t>(kBytes));
      sent_[i] = make_event();
    }
  }

  void upload(const void* host, std::int64_t bytes, void* device) {
    const auto* from = static_cast<const std::byte*>(host);
    auto* to = static_cast<std::byte*>(device);
    int current = 0;
    for (std::int64_t done = 0; done < bytes; done += kBytes, current = 1 - current) {
      const std::int64_t count = std::min(kBytes, bytes - done);
      check_cuda(cudaEventSynchronize(sent_[current].get()), "waiting for a copy to the GPU");
      void* const buffer = buffers_[current].get();
      copy(from + done, count, static_cast<std::byte*>(buffer));
      enqueue_copy(to + done, buffer, static_cast<std::size_t>(count), cudaMemcpyHostToDevice,
                   "copying to the GPU");
      record(sent_[current].get());
    }
    synchronize_device();
  }

  void download(const void* device, std::int64_t bytes, void* host) {
    const auto* from = static_cast<const std::byte*>(device);
    auto* to = static_cast<std::byte*>(host);
    const auto enqueue = [&](std::int64_t begin, int buffer) {
      enqueue_copy(buffers_[buffer].get(), from + begin,
                   static_cast<std::size_t>(std::min(kBytes, bytes - begin)),
                   cudaMemcpyDeviceToHost, "copying from the GPU");
      record(sent_[buffer].get());
    };
    enqueue(0, 0);
    int current = 0;
    for (std::int64_t done = 0; done < bytes; done += kBytes, current = 1 - current) {
      if (done + kBytes < bytes) enqueue(done + kBytes, 1 - current);
      check_cuda(cudaEventSynchronize(sent_[current].get()), "waiting for a copy from the GPU");
      copy(static_cast<const std::byte*>(buffers_[current].get()), std::min(kBytes, bytes - done),
           to + done);
    }
  }

 private:
  static void copy(const std::byte* from, std::int64_t count, std::byte* to) {
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

StagingBuffers& staging_buffers() {
  static StagingBuffers buffers;
  return buffers;
}

}  // namespace

void upload_staged(const void* host, std::int64_t bytes, void* device) {
  staging_buffers().upload(host, bytes, device);
}

void download_staged(const void* device, std::int64_t bytes, void* host) {
  staging_buffers().download(device, bytes, host);
}

}  // namespace tessera
