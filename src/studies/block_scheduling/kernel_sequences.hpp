// Sequences of random kernels, what predictors say of them, and which kernels a mistake needs.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "src/studies/block_scheduling/block_scheduler.hpp"

namespace tessera {

/// The multiprocessors of each kernel's blocks, kernel by kernel, in the sequence of the blocks; -1
/// for a block that has not started.
using BlockPlaces = std::vector<std::vector<int>>;

/// The place of a block that has not started.
inline constexpr int kNotStarted = -1;

/// Kernels of random blocks, threads, registers (of those that there are) and shared memory, of
/// which the last is the first that Algorithm 1 says cannot run beside the others, or as many as
/// are asked for.
/// @param max_shared bytes of a block, at most
[[nodiscard]] std::vector<KernelLaunch> random_sequence(const GpuModel& gpu,
                                                        std::span<const int> registers,
                                                        int max_shared, int max_kernels,
                                                        std::mt19937_64& random);

/// Where the blocks of kernels go that are started in sequence and do not end, but for those that
/// end before the last starts.
[[nodiscard]] BlockPlaces predicted_places(const GpuModel& gpu, PlacementRule rule,
                                           std::span<const KernelLaunch> kernels,
                                           std::span<const int> ended = {});

/// How far a prediction is right.
struct PredictionAgreement {
  bool exact = false;                 ///< each block is on its multiprocessor
  bool same_multiprocessors = false;  ///< each kernel is on the same ones as often
  bool same_company = false;          ///< as many blocks of each kernel run beside the others
};
[[nodiscard]] PredictionAgreement agreement(const BlockPlaces& predicted, const BlockPlaces& seen);

/// A sequence in which no kernel can be left out without the mistake going, too.
/// @param is_mistaken whether a shorter sequence still shows it
[[nodiscard]] std::vector<KernelLaunch> cut_down(
    std::vector<KernelLaunch> kernels,
    const std::function<bool(std::span<const KernelLaunch>)>& is_mistaken);

/// A sequence that was predicted wrongly.
struct Mismatch {
  std::vector<KernelLaunch> kernels;
  BlockPlaces predicted;
  BlockPlaces seen;
};

/// The text of a JSON file of them.
[[nodiscard]] std::string mismatch_json(const GpuModel& gpu, const std::string& machine,
                                        std::uint64_t seed,
                                        const std::vector<Mismatch>& mismatches);

}  // namespace tessera
