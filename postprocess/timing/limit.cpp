// This file chooses what limits some work.
#include "postprocess/timing/limit.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "postprocess/files/human_units.hpp"

namespace tessera {

Limit limit_of(const Work& work, const MachineRates& machine) {
  if (work.bytes <= 0.0) return {};
  Limit most;
  double seconds = 0.0;
  const auto move = [&](double bytes, double bytes_per_second, const std::string& name) {
    if (bytes <= 0.0 || bytes_per_second <= 0.0) return;
    const double part = bytes / bytes_per_second;
    seconds += part;
    if (part > most.seconds) most = {part, name};
  };
  const double held = work.held_bytes > 0.0 ? work.held_bytes : work.bytes;
  double placed = 0.0;
  for (const CacheRate& cache : machine.caches) {
    // A cache that was measured slower than the memory was disturbed.
    if (cache.bytes_per_second <= machine.copy_bytes_per_second) continue;
    const double here = std::min(held, cache.bytes);
    move((here - placed) / held * work.bytes, cache.bytes_per_second, cache.name);
    placed = std::max(placed, here);
  }
  move((held - placed) / held * work.bytes, machine.copy_bytes_per_second, "copy");
  const double computing =
      machine.fma_flops_per_second > 0.0 ? work.flops / machine.fma_flops_per_second : 0.0;
  if (computing > seconds) return {computing, "fma"};
  return {seconds, most.name};
}

std::string rates_text(const MachineRates& machine) {
  std::vector<std::string> parts;
  const auto add = [&](const std::string& name, double rate, std::string (*text)(double)) {
    if (rate > 0.0) parts.push_back(fmt::format("{} {}", name, text(rate)));
  };
  add("copy", machine.copy_bytes_per_second, human_bytes_per_second);
  for (const CacheRate& cache : machine.caches) {
    add(cache.name, cache.bytes_per_second, human_bytes_per_second);
  }
  add("fma", machine.fma_flops_per_second, human_flops_per_second);
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace tessera
