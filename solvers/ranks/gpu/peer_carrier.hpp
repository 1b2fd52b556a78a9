// Ranks of one host store into the memory of each other's GPUs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "solvers/ranks/gpu/device_carrier.hpp"

namespace tessera {

/// The most ranks that a peer carrier has.
inline constexpr int kMaxPeers = 8;

/// GPU memory that each of so many ranks gives for what the others store there.
constexpr std::int64_t peer_inbox_bytes(int ranks) {
  return ranks * ((std::int64_t{16} << 20) + (std::int64_t{2} << 10) + 256);
}

/// A carrier for ranks on one host that have a GPU each and reach each other's memory, as over
/// NVLink: one kernel stores what is sent in the receiver's memory, tells it by a flag, waits for
/// what comes and copies it, or adds it where planes are added. All of it is queued, and can be
/// captured. It starts at once, where NCCL loads its kernels for a second, and takes less time for
/// a message.
///
/// The kernel waits for that of the other rank: both GPUs have to run, as they do where each rank
/// has one for itself. All ranks call this together.
/// @param ranks must outlive the carrier
/// @param why_not gets the reason, the same on all ranks, where there is none
/// @returns null if one of the ranks cannot have it
std::shared_ptr<const DeviceCarrier> make_peer_carrier(const Communicator& ranks,
                                                       std::string& why_not);

}  // namespace tessera
