// A Limit is the least time that a machine can take for some work, and what sets it.
#pragma once

#include <string>
#include <vector>

#include "postprocess/timing/timers.hpp"

namespace tessera {

/// One level of caches: those of all cores that work together.
struct CacheRate {
  std::string name;    // "L2"
  double bytes = 0.0;  // that fit in it
  double bytes_per_second = 0.0;
};

/// How fast a machine is, measured; 0: not known.
struct MachineRates {
  double copy_bytes_per_second = 0.0;  // between cores and memory
  double fma_flops_per_second = 0.0;   // of multiply-adds, in the precision of the work
  std::vector<CacheRate> caches = {};  // the smallest first
};

/// The least time of some work, max(time to move its bytes, flops / multiply-add rate), and which
/// of the two it is. The data fill the caches from the smallest on, and what fits in none comes
/// from the memory in every call: each part at the bandwidth of its place. Where moving takes
/// longer, the name is that of the place that takes most of it, "L1", "L2", "L3" or "copy", the
/// memory; else "fma".
struct Limit {
  double seconds = 0.0;  // 0: not known
  std::string name = {};

  /// What part of the limit is reached in so many seconds, at most 1 but for what the model leaves
  /// out.
  double share(double in_seconds) const { return in_seconds > 0.0 ? seconds / in_seconds : 0.0; }
};

/// The limit of one call; work without bytes has none, whatever it computes.
Limit limit_of(const Work& work, const MachineRates& machine);

/// "copy 21.4 GB/s, L2 210 GB/s, fma 118 GFLOP/s": what is known.
std::string rates_text(const MachineRates& machine);

}  // namespace tessera
