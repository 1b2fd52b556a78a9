// What stands for each `auto` of a case.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mesh/index.hpp"
#include "src/case/strategy.hpp"
#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// A GPU that this process can use, or why there is none.
struct GpuOffer {
  std::string name;
  Index free_bytes = 0;
  std::string why_none;
};

/// The GPU of this machine, as this build sees it.
GpuOffer offered_gpu();

/// What stands for `run.device = "auto"`: the GPU if there is one, it has what the case names, and
/// the memory that the run is foreseen to need is free there. All keys must be right.
ChosenValue choose_device(const CaseParameters& parameters, const GpuOffer& gpu);

/// Replaces an `auto` device; returns why, if it was one.
std::optional<ChosenValue> resolve_device(CaseParameters& parameters);

/// What stands for `solver.preconditioner = "auto"` in a case whose device is chosen already:
/// fast diagonalization where it is the inverse of the operator, else multigrid, and where that is
/// not for the case chebyshev.
ChosenValue choose_preconditioner(const CaseParameters& parameters);

/// Replaces each `auto` of the case, the device's first, and a method that is not for its matrix;
/// returns what was chosen and why.
std::vector<ChosenValue> resolve_choices(CaseParameters& parameters);

}  // namespace tessera
