// This file moves a case into natural units, and its results back.
#include "src/case/model.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "operators/form/on_all_ranks.hpp"
#include "operators/load/device_load.hpp"
#include "operators/load/interpolation.hpp"
#include "solvers/memory/device.hpp"
#include "src/case/ranks/rank_partition.hpp"
#include "src/case/setup.hpp"
#include "src/case/system_scale.hpp"

namespace tessera {
namespace {

// A unit such that squares of u / unit are numbers.
double own_unit(const SolutionNorms& u) {
  constexpr double kSafe = 1e100;
  const auto [min, max] = u.extrema();
  const double unit = power_of_2_next_to(std::max(std::abs(min), std::abs(max)));
  return unit < kSafe && unit > 1.0 / kSafe ? 1.0 : unit;
}

}  // namespace

CaseModel make_case_model(const CaseParameters& parameters, Processor makes,
                          const Communicator& ranks,
                          const std::shared_ptr<const DeviceCarrier>& carrier) {
  const BoxMesh mesh = make_box_mesh(parameters);
  std::optional<BoxPartition> partition;
  if (ranks.size() > 1) {
    partition.emplace(case_partition(parameters, ranks.size(), parameters.run.hosts));
  }
  const auto part_of = [&](const BoxMesh& whole) -> std::shared_ptr<const RankPart> {
    if (!partition) return nullptr;
    return std::make_shared<const RankPart>(ranks, *partition, whole, parameters.space.degree,
                                            carrier);
  };
  const auto physical = part_of(mesh);
  Discretization discretization = make_framed_discretization(parameters, makes, physical.get());
  // Levels that ranks gather are made of its mesh, in the frame as all others.
  const auto part = part_of(mesh_in_frame(mesh, discretization));
  PoissonProblem problem = make_problem(parameters);
  problem.part = part;
  const NaturalUnits units = natural_units(problem, discretization, make_initial(parameters));
  return {std::move(discretization), units, in_units(problem, units),
          physical ? physical->mesh() : mesh, part};
}

LinearSystem make_linear_system(const CaseModel& model, const ScalarField& initial,
                                Processor assembles, SolutionPlace wanted) {
  const ScalarField start = in_frame(initial, model.units.frame);
  return make_linear_system(model.problem, model.discretization, start, assembles, wanted);
}

SolutionNumbers solution_numbers(const CaseModel& model, const SolutionNorms& u) {
  const double unit = own_unit(u);
  SolutionNumbers numbers =
      u.solution_numbers(in_frame(model.problem.coefficient, Frame{}, 1.0, unit), unit);
  numbers.min *= unit;
  numbers.max *= unit;
  numbers.integral *= unit * model.units.volume();
  numbers.energy = numbers.energy * unit * model.units.load() * unit;
  numbers.volume *= model.units.volume();
  return numbers;
}

ErrorNorms error_norms(const CaseModel& model, const SolutionNorms& u, const ScalarField& exact) {
  const double unit = own_unit(u);
  ErrorNorms errors = u.error_norms(in_frame(exact, model.units.frame, unit), unit);
  const double root_of_volume = std::sqrt(model.units.volume());
  errors.l2 *= unit * root_of_volume;
  errors.h1_seminorm *= unit * (root_of_volume / model.units.frame.length);
  errors.max *= unit;
  return errors;
}

double integral(const CaseModel& model, const SolutionNorms& u) {
  const double unit = own_unit(u);
  return u.integral(unit) * (unit * model.units.volume());
}

double mean_value(const SolutionNorms& u) {
  const double unit = own_unit(u);
  return u.mean_value(unit) * unit;
}

double max_error(const CaseModel& model, const SolutionNorms& u, const ScalarField& exact) {
  const double unit = own_unit(u);
  return u.max_error(in_frame(exact, model.units.frame, unit), unit) * unit;
}

double mean_value(const CaseModel& model, const SolutionNorms& u, const ScalarField& field) {
  return u.mean_value(in_frame(field, model.units.frame));
}

void interpolate(const CaseModel& model, const ScalarField& field, HostVector<double>& u) {
  interpolate(model.discretization, in_frame(field, model.units.frame), u);
}

void try_at_nodes(const CaseModel& model, const ScalarField& field, Processor tries) {
  const ScalarField framed = in_frame(field, model.units.frame);
  if constexpr (kHasCuda) {
    if (tries == Processor::gpu) {
      const bool is_finite = on_all_ranks(
          model.part.get(), [&] { return is_finite_at_nodes(model.discretization, framed); });
      if (!model.ranks().any(!is_finite)) return;
    }
  }
  // On the host a value that is not allowed is named.
  on_all_ranks(model.part.get(), [&] { try_at_nodes(model.discretization, framed); });
}

}  // namespace tessera
