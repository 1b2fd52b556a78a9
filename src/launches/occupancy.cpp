#include "src/launches/occupancy.hpp"

namespace tessera {
namespace {

constexpr int kThreadsPerWarp = 32;
constexpr int kParts = 4;
constexpr int kRegisterUnit = 256;
constexpr int kSharedUnit = 128;

constexpr int units(int value, int unit) { return (value + unit - 1) / unit; }

}  // namespace

std::string_view limit_name(OccupancyLimit limit) {
  switch (limit) {
    case OccupancyLimit::blocks:
      return "blocks";
    case OccupancyLimit::warps:
      return "warps";
    case OccupancyLimit::registers:
      return "registers";
    default:
      return "shared";
  }
}

Occupancy occupancy(const MultiprocessorLimits& limits, const KernelResources& kernel) {
  const int warps = units(kernel.threads, kThreadsPerWarp);
  const int registers_per_warp =
      units(kernel.registers * kThreadsPerWarp, kRegisterUnit) * kRegisterUnit;
  const int warps_by_registers = limits.registers / kParts / registers_per_warp * kParts;
  const int shared =
      units(kernel.shared_bytes, kSharedUnit) * kSharedUnit + limits.reserved_shared_bytes;
  Occupancy least{.blocks = limits.blocks, .limit = OccupancyLimit::blocks};
  const auto take = [&least](int blocks, OccupancyLimit limit) {
    if (blocks < least.blocks) least = {.blocks = blocks, .limit = limit};
  };
  take(limits.warps / warps, OccupancyLimit::warps);
  take(warps_by_registers / warps, OccupancyLimit::registers);
  if (shared > 0) take(limits.shared_bytes / shared, OccupancyLimit::shared_memory);
  return least;
}

}  // namespace tessera
