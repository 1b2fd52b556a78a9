// These functions tell how many blocks of a kernel a multiprocessor holds, and why not more.
#pragma once

#include <string_view>

namespace tessera {

/// What a multiprocessor has. Its registers are in four equal parts, and so are its warps.
struct MultiprocessorLimits {
  int blocks;
  int warps;
  int registers;
  int shared_bytes;
  int reserved_shared_bytes;  ///< that CUDA takes of each block's
};

/// What a kernel takes.
struct KernelResources {
  int threads = 0;       ///< of a block
  int registers = 0;     ///< of a thread
  int shared_bytes = 0;  ///< of a block, static and dynamic
  int local_bytes = 0;   ///< of a thread, where registers do not suffice

  bool operator==(const KernelResources&) const = default;
};

/// What there is too little of for one more block.
enum class OccupancyLimit { blocks, warps, registers, shared_memory };

/// "blocks", "warps", "registers", "shared".
[[nodiscard]] std::string_view limit_name(OccupancyLimit limit);

/// Blocks that a multiprocessor holds at a time; 0 if not even one fits.
struct Occupancy {
  int blocks;
  OccupancyLimit limit;

  bool operator==(const Occupancy&) const = default;
};

/// The least of what blocks, warps, registers (32 r of a warp, rounded up to 256, as many warps as
/// fit into each of the four parts) and shared memory (rounded up to 128 bytes, with what CUDA
/// takes) allow; of equals the first is the limit.
/// @param kernel with at least one thread and one register
[[nodiscard]] Occupancy occupancy(const MultiprocessorLimits& limits,
                                  const KernelResources& kernel);

}  // namespace tessera
