// This file finds the probes of a case, or says which of them are not in the mesh.
#include "src/case/probes.hpp"

namespace tessera {

std::optional<Probes> make_probes(const CaseModel& model, const LoadedCase& loaded,
                                  const std::optional<ScalarField>& exact) {
  const ProbePoints& asked = loaded.parameters.output.probes;
  if (asked.points.empty()) return std::nullopt;
  try {
    std::optional<Probes> probes(std::in_place, model.discretization, asked.points, model.ranks());
    if (exact) values_at(asked.points, *exact);
    return probes;
  } catch (const PointsOutside& error) {
    Findings findings = loaded.findings;
    report_points(asked, loaded.parameters.mesh.dimension, error.points(), error.what(), findings);
    throw InputError(findings.diagnostics());
  }
}

}  // namespace tessera
