// A CaseModel is a case's problem on its mesh in natural units.
#pragma once

#include <memory>

#include "cases/problem/natural_units.hpp"
#include "mesh/geometry/natural_frame.hpp"
#include "operators/ranks/rank_part.hpp"
#include "postprocess/solution_norms.hpp"
#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// A case's problem on its mesh, both in natural units: what is computed with in between the case,
/// whose expressions are in its own units, and the results, which are in those again.
struct CaseModel {
  Discretization discretization;
  NaturalUnits units;
  PoissonProblem problem;
  /// The mesh in physical space.
  BoxMesh physical_mesh;
  /// Where several ranks compute the case: this one's part, of which all of the above is, and so
  /// the system and the solution; all ranks call what uses them together. Null: the whole.
  std::shared_ptr<const RankPart> part = nullptr;

  const Communicator& ranks() const { return part ? part->ranks() : single_rank(); }
  /// Those of the whole.
  Index dof_count() const {
    return part ? part->nodes().whole().dof_count() : discretization.lattice.dof_count();
  }
};

// What may be made on the GPU ranks make on the host, wherever they compute.

/// @param makes, @throws as make_framed_discretization(), make_problem()
/// @param ranks that compute the case, each a part of it; all of them call this together
/// @param carrier what moves values between their GPUs; null where they compute on the host
CaseModel make_case_model(const CaseParameters& parameters, Processor makes = Processor::cpu,
                          const Communicator& ranks = single_rank(),
                          const std::shared_ptr<const DeviceCarrier>& carrier = nullptr);

/// The system of the model from the case's initial values; x in the case's units, b in those of
/// loads. @param assembles, wanted, @throws as make_linear_system()
LinearSystem make_linear_system(const CaseModel& model, const ScalarField& initial,
                                Processor assembles = Processor::cpu,
                                SolutionPlace wanted = SolutionPlace::host);

/// Numbers of the solution u in the case's units. @throws InvertedCell, what the field throws
SolutionNumbers solution_numbers(const CaseModel& model, const SolutionNorms& u);

/// Errors in the case's units. @param exact a function of physical positions
ErrorNorms error_norms(const CaseModel& model, const SolutionNorms& u, const ScalarField& exact);

/// Integral of the solution u, its mean, and max |u_i - exact(node i)|. @throws as error_norms.hpp
double integral(const CaseModel& model, const SolutionNorms& u);
double mean_value(const SolutionNorms& u);
double max_error(const CaseModel& model, const SolutionNorms& u, const ScalarField& exact);

/// The mean of a function of physical positions, computed where those of u are.
double mean_value(const CaseModel& model, const SolutionNorms& u, const ScalarField& field);

/// As interpolate() and try_at_nodes(), of a function of physical positions.
void interpolate(const CaseModel& model, const ScalarField& field, HostVector<double>& u);
void try_at_nodes(const CaseModel& model, const ScalarField& field,
                  Processor tries = Processor::cpu);

}  // namespace tessera
