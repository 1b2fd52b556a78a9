// NCCL carries values between GPUs without the host.
#pragma once

#include <memory>
#include <string>

#include "solvers/ranks/gpu/device_carrier.hpp"

namespace tessera {

/// What the program loads when it runs, as no build asks for NCCL.
inline constexpr char kNcclLibrary[] = "libnccl.so.2";

/// A carrier by NCCL, whose work is queued, and can be captured. Every rank has a GPU for itself,
/// the one in use; all of them call this together.
///
/// NVLink's multicast, whose sums hang on the order of arrival and which some machines have trouble
/// with, is left off unless NCCL_NVLS_ENABLE is set.
/// @param ranks must outlive the carrier
/// @param library the name of its file
/// @param why_not gets the reason, the same on all ranks, where there is none
/// @returns null if one of the ranks cannot have it
std::shared_ptr<const DeviceCarrier> make_nccl_carrier(const Communicator& ranks,
                                                       const std::string& library,
                                                       std::string& why_not);

}  // namespace tessera
