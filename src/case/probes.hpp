// These functions find a case's probes in its mesh.
#pragma once

#include <optional>

#include "postprocess/probes/probes.hpp"
#include "src/case/model.hpp"
#include "src/case/setup.hpp"

namespace tessera {

/// The probes of the case, if it has any. The exact solution is tried there, so that what it throws
/// is found before a solve.
/// @throws InputError that names the points outside the mesh; what `exact` throws
std::optional<Probes> make_probes(const CaseModel& model, const LoadedCase& loaded,
                                  const std::optional<ScalarField>& exact);

}  // namespace tessera
