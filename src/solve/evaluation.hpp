// An Evaluation holds the numbers of a solution.
#pragma once

#include <memory>
#include <optional>

#include "mesh/scalar_field.hpp"
#include "postprocess/solution_norms.hpp"
#include "solvers/execution.hpp"
#include "src/case/model.hpp"
#include "src/commands/run/run_notes.hpp"

namespace tessera {

/// The numbers of a solution; NaN for what could not be computed.
struct Evaluation {
  SolutionNumbers solution;
  /// Where the exact solution is known.
  std::optional<ErrorNorms> error;
};

/// Computes the numbers of u on the processor of the run, or, with a note that says why, on the
/// host. @param u, model must outlive the result
/// @param u_on_gpu the solution where u is empty; the host gets it if it has to compute
std::unique_ptr<SolutionNorms> make_solution_norms(
    const CaseModel& model, HostVector<double>& u, const std::optional<ScalarField>& exact,
    Processor processor, RunNotes& notes,
    const std::shared_ptr<DeviceVector<double>>& u_on_gpu = nullptr);

/// Takes their means off the solution and the exact solution: those of a pure Neumann problem are
/// meant up to a constant. An exact solution whose mean is not to be had goes away.
void shift_to_mean_zero(const CaseModel& model, SolutionNorms& u, std::optional<ScalarField>& exact,
                        RunNotes& notes);

/// Computes what it can: what fails, or is skipped as the run was asked to stop, becomes NaN and a
/// note.
Evaluation evaluate(const CaseModel& model, const SolutionNorms& u,
                    const std::optional<ScalarField>& exact, RunNotes& notes);

}  // namespace tessera
