// A RankGpu is the GPU that a rank computes on.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "solvers/ranks/gpu/device_carrier.hpp"
#include "src/machine/rank_places.hpp"

namespace tessera {

/// The GPU of one rank.
struct RankGpu {
  /// "NVIDIA H100 80GB HBM3"
  std::string name;
  /// What no other GPU has.
  std::string uuid;
  /// Why there is none; empty if there is one.
  std::string why_none;
};

/// Chooses the GPU of this rank before it does anything on one, and tells all ranks: of those that
/// it may use the one with its number among the ranks of its host, or, where there are fewer, the
/// one that comes up when they are counted round and round. All ranks call it together.
/// @param places of all ranks
std::vector<RankGpu> choose_gpus(const Communicator& ranks, const std::vector<RankPlace>& places);

/// The numbers of the ranks that have this rank's GPU, itself included.
std::vector<int> ranks_on_gpu(const std::vector<RankGpu>& gpus, int rank);

/// Which ranks have to share a GPU, in one line that says what to do; empty if none have to.
std::string sharing_warning(const std::vector<RankGpu>& gpus);

/// @throws NoDevice on all ranks, with the same message, unless every one has a GPU
void require_gpus(const std::vector<RankGpu>& gpus, const std::vector<RankPlace>& places);

/// What moves values between the ranks' GPUs, and why it is not the fastest; empty if it is.
struct ChosenCarrier {
  std::shared_ptr<const DeviceCarrier> carrier;
  std::string note;
};

/// What may say which carrier is taken, for comparisons: "peers", "nccl" or "host".
inline constexpr char kCarrierVariable[] = "TESSERA_GPU_EXCHANGE";

/// Where every rank has a GPU for itself stores into each other's memory, if all are on one host
/// and reach it, else NCCL, if all find the library; else the way of the host. All ranks call it
/// together, which have chosen their GPUs. @throws DeviceError
ChosenCarrier choose_carrier(const Communicator& ranks, const std::vector<RankGpu>& gpus,
                             const std::vector<RankPlace>& places);

}  // namespace tessera
