// These functions move a vector of all ranks through one rank, a chunk at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "solvers/memory/vector.hpp"

namespace tessera {

/// What rank 0 does with the values of a chunk of the whole vector, or how it gets them: they are
/// those of the entries `first`, first + 1, ...
using TakeChunk = std::function<void(std::int64_t first, std::span<const double> values)>;
using GiveChunk = std::function<void(std::int64_t first, std::span<double> values)>;

/// How a vector was gathered: `refused` where rank 0 cannot take anything.
enum class Gathering { done, failed, refused };

/// Calls take() on rank 0 for chunk after chunk of x, in the order of the whole vector. All ranks
/// that share such vectors call this together; the others' `take` is not looked at. No rank holds
/// more than a chunk of others.
/// @param chunk the length of all chunks but the last
/// @param take null where rank 0 cannot take anything: then nothing is sent
/// @returns the same on all ranks, but for what rank 0 throws
/// @throws on rank 0 what take() throws, when the others have sent all; they return `failed`
Gathering gather_whole(const VectorLayout& layout, std::span<const double> x, std::int64_t chunk,
                       const TakeChunk& take);
inline Gathering gather_whole(const HostVector<double>& x, std::int64_t chunk,
                              const TakeChunk& take) {
  return gather_whole(x.layout(), x.span(), chunk, take);
}

/// x = the rank's entries of a whole vector that give() writes on rank 0, chunk after chunk. All
/// ranks call it together.
/// @param give null where rank 0 cannot give anything; that of other ranks is not looked at
/// @returns whether x has its values; false also on the other ranks where give() has thrown
/// @throws on rank 0 what give() throws
bool scatter_whole(std::int64_t chunk, const GiveChunk& give, HostVector<double>& x);

}  // namespace tessera
