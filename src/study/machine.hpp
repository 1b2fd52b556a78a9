// These functions say which processor and how much memory a study measures with.
#pragma once

#include <algorithm>
#include <string>

#include "solvers/memory/device.hpp"
#include "src/machine/machine.hpp"
#include "src/study/setup.hpp"

namespace tessera {

/// The processor that a study measures.
inline std::string study_processor_name(const StudyParameters& study) {
  if constexpr (kHasCuda) {
    if (study_processor(study) == Processor::gpu) return require_device().name;
  }
  return describe_machine().cpu_model;
}

/// What is free of the memory that operators live in, or the study's limit if that is less.
inline Index study_available_bytes(const StudyParameters& study) {
  Index machine = available_memory_bytes();
  if constexpr (kHasCuda) {
    if (study_processor(study) == Processor::gpu) machine = require_device().free_bytes;
  }
  return study.memory_limit > 0 ? std::min<Index>(study.memory_limit, machine) : machine;
}

}  // namespace tessera
