// A Machine describes what the process may use of the computer that it runs on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "src/machine/peak_memory.hpp"

namespace tessera {

/// What this process may use of the machine it runs on, for `tessera info` and the provenance of
/// results. Sizes are in bytes; 0 and "unknown" stand for what the system does not tell.
struct Machine {
  std::string cpu_model;
  int logical_cores = 1;   // in the process's affinity, at most a container's CPU quota rounded up
  int physical_cores = 1;  // that these share
  std::string simd;        // what this build uses, as in "AVX-512 (8 doubles)"
  std::int64_t l1d_bytes = 0;        // of one core
  std::int64_t l2_bytes = 0;         // of one core
  std::int64_t l3_bytes = 0;         // of one core's cache, shared with its neighbors
  int l3_count = 0;                  // distinct L3 caches of the cores in the affinity
  std::int64_t memory_bytes = 0;     // of the machine, or a container's limit where that is lower
  std::int64_t available_bytes = 0;  // as available_memory_bytes() says
  std::string compiler;
  std::string os;
};

/// Reads /proc and /sys below root, and asks the system for the rest; never throws for a file that
/// is missing or odd.
Machine describe_machine(const std::filesystem::path& root = "/");

/// One line for result.json: "AMD EPYC, 2 cores, AVX-512 (8 doubles), 23.5 GiB, Debian ...".
std::string machine_summary(const Machine& machine);

/// The GPUs that this build could use.
std::string gpu_summary();

/// Bytes that this process can still allocate without swapping: the kernel's MemAvailable, or what
/// is left below the memory limit of a control group (version 1 or 2) around the process if that is
/// less; there, file pages that the kernel can drop count as free. The largest std::int64_t where
/// nothing is known, so that no run is refused for lack of facts.
std::int64_t available_memory_bytes(const std::filesystem::path& root = "/");

/// The logical CPUs in the process's affinity, in order; at least one.
std::vector<int> usable_cpus();

/// The logical CPUs of the machine, whoever may use them, but no more than a container's CPU quota,
/// rounded up; at least 1.
int host_cpu_count(const std::filesystem::path& root = "/");

/// One logical CPU of each physical core in the process's affinity, in order, but no more than a
/// container's CPU quota, rounded up; at least one.
std::vector<int> one_cpu_per_core(const std::filesystem::path& root = "/");

/// The number of threads that a file asks for: all cores for 0.
int thread_count(int threads);

}  // namespace tessera
