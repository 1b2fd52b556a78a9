// Bounds of the time that blocks take on a GPU.
#pragma once

#include <span>

#include "src/studies/claims.hpp"

namespace tessera {

/// sum / S + (1 - 1/S) longest: S slots that are never idle while a block waits are done by then,
/// whatever block they take first (Graham 1969).
/// @param slots at least 1
[[nodiscard]] double graham_bound(std::span<const double> seconds, double slots);

/// W (2 r + 1) c_LS + W (r + 1) c_C + chain, in cycles: whenever the last of W warps does not
/// advance, the unit that it needs is busy with another.
/// @param cycles_per_load, cycles_per_multiply_add of a warp's instruction on a busy unit
/// @param chain cycles of one warp alone
[[nodiscard]] double program_bound(int warps, int repetitions, double cycles_per_load,
                                   double cycles_per_multiply_add, double chain);

/// Claims F5 and F6.
[[nodiscard]] Finding programs_keep_bounds(const StudyTable& table);
[[nodiscard]] Finding kernels_keep_bounds(const StudyTable& table);

/// Variants and parts on the GPU.
inline constexpr char kProgram[] = "program";
inline constexpr char kBlocks[] = "blocks";
inline constexpr char kKernel[] = "kernel";

}  // namespace tessera
