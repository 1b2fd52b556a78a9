// These templates make preconditioners in any memory and precision.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include "operators/block_jacobi/block_jacobi.hpp"
#include "operators/fast_diagonalization/fast_diagonalization.hpp"
#include "solvers/errors.hpp"
#include "solvers/preconditioners/chebyshev.hpp"
#include "solvers/preconditioners/spectrum.hpp"
#include "src/case/system_scale.hpp"
#include "src/solve/preconditioning.hpp"

namespace tessera {

/// @throws UnsuitableChoice for a preconditioner of this name, which one process has, on several
/// ranks
inline void require_one_process(const BilinearForm& form, const std::string& name) {
  if (form.part == nullptr) return;
  throw UnsuitableChoice(Choice::preconditioner,
                         name + " needs one process; multigrid runs on any number");
}

template <class C, class T, class Space>
PreconditionerSetup<T, Space> multigrid_of(const PreconditionerTask<T, Space>& task) {
  const LinearOperator<C, Space>* finest = nullptr;
  if constexpr (std::is_same_v<C, T>) finest = &task.a;
  MultigridSetup<C, Space> multigrid =
      make_multigrid<C, Space>(task.form, multigrid_options(task.parameters), finest);
  PreconditionerSetup<T, Space> made;
  made.levels = std::move(multigrid.levels);
  made.hierarchy = std::move(multigrid.hierarchy);
  made.update = std::move(multigrid.update);
  if (!multigrid.note.empty()) made.notes.push_back(std::move(multigrid.note));
  Multigrid<C, Space>* const cycle = multigrid.cycle.get();
  made.set_observer = [cycle](CycleObserver* watch) { cycle->set_observer(watch); };
  if constexpr (std::is_same_v<C, T>) {
    made.cycle = [cycle](std::size_t level, const auto& r, auto& z) { cycle->cycle(level, r, z); };
    made.preconditioner = std::move(multigrid.cycle);
  } else {
    struct Rounded {
      Vector<C, Space> r;
      Vector<C, Space> z;
    };
    made.cycle = [cycle, scale = power_of_2_next_to(task.residual_size),
                  rounded = std::make_shared<std::vector<Rounded>>(cycle->level_count())](
                     std::size_t level, const auto& r, auto& z) {
      Rounded& single = (*rounded)[level];
      if (single.r.size() == 0) {
        const VectorLayout layout = cycle->level_operator(level).layout();
        single = {Vector<C, Space>(layout), Vector<C, Space>(layout)};
      }
      convert(r, 1.0 / scale, single.r);
      cycle->cycle(level, single.r, single.z);
      convert(single.z, scale, z);
    };
    auto rounded =
        std::make_unique<InSinglePrecision<Space>>(task.a.layout(), std::move(multigrid.cycle));
    rounded->set_scale(power_of_2_next_to(task.residual_size));
    made.set_residual_size = [single = rounded.get()](double size) {
      single->set_scale(power_of_2_next_to(size));
    };
    made.preconditioner = std::move(rounded);
    // Its operators are its own.
    made.without_update = WithoutUpdate::as_before;
  }
  return made;
}

// What the rows of the table make; a MakePreconditioner each.

template <class T, class Space>
PreconditionerSetup<T, Space> make_none(const PreconditionerTask<T, Space>&) {
  return {};
}

template <class T, class Space>
PreconditionerSetup<T, Space> make_jacobi(const PreconditionerTask<T, Space>& task) {
  PreconditionerSetup<T, Space> made;
  auto jacobi = std::make_unique<Jacobi<T, Space>>(task.a);
  made.update = [&a = task.a, jacobi = jacobi.get()](const BilinearForm&) {
    jacobi->update(a);
    return Updated::yes;
  };
  made.preconditioner = std::move(jacobi);
  return made;
}

template <class T, class Space>
PreconditionerSetup<T, Space> make_chebyshev(const PreconditionerTask<T, Space>& task) {
  const ChebyshevParameters& parameters = task.parameters.solver.chebyshev;
  Vector<T, Space> inverse(task.a.layout());
  task.a.diagonal(inverse);
  invert_entries(inverse);
  const auto interval_of = [parameters](const Spectrum& spectrum) {
    const double smallest = spectrum.bound / parameters.range;
    return std::pair(smallest, interval_end(spectrum, smallest));
  };
  const auto steps_for = [parameters, interval_of](const Spectrum& spectrum) {
    const auto [smallest, largest] = interval_of(spectrum);
    return chebyshev_steps(parameters.degree, smallest, largest);
  };
  const Spectrum spectrum = estimate_spectrum(task.a, inverse, kEigenvalueSteps);
  const auto [smallest, largest] = interval_of(spectrum);
  PreconditionerSetup<T, Space> made;
  made.notes.push_back(
      fmt::format("largest eigenvalue of D^-1 A about {:.4g} ({} Lanczos steps); polynomial of "
                  "degree {} for {:.4g} to {:.4g}",
                  spectrum.largest, spectrum.steps, parameters.degree, smallest, largest));
  auto chebyshev =
      std::make_unique<Chebyshev<T, Space>>(task.a, std::move(inverse), steps_for(spectrum));
  made.update = [chebyshev = chebyshev.get(), steps_for, layout = task.a.layout(),
                 scratch =
                     std::make_shared<std::array<Vector<T, Space>, 2>>()](const BilinearForm&) {
    auto& [r, p] = *scratch;
    if (r.size() == 0) *scratch = {Vector<T, Space>(layout), Vector<T, Space>(layout)};
    chebyshev->update(kEigenvalueSteps, r, p, steps_for);
    return Updated::yes;
  };
  made.preconditioner = std::move(chebyshev);
  return made;
}

template <class T, class Space>
PreconditionerSetup<T, Space> make_multigrid_preconditioner(
    const PreconditionerTask<T, Space>& task) {
  if constexpr (std::is_same_v<T, double>) {
    if (task.parameters.solver.multigrid.precision == Precision::double_precision) {
      return multigrid_of<double>(task);
    }
  }
  return multigrid_of<float>(task);
}

template <class T, class Space>
PreconditionerSetup<T, Space> make_fast_diagonalization_preconditioner(
    const PreconditionerTask<T, Space>& task) {
  auto separable = make_fast_diagonalization<T, Space>(task.form);
  PreconditionerSetup<T, Space> made;
  made.notes.emplace_back(separable->exactness() == Exactness::exact
                              ? "the operator is separable: its inverse is applied"
                              : "the operator is not separable: the inverse of one near to it is "
                                "applied");
  made.update = [separable = separable.get()](const BilinearForm& form) {
    return separable->update(form);
  };
  made.update_cost = UpdateCost::nothing;
  made.exactness = separable->exactness();
  made.preconditioner = std::move(separable);
  return made;
}

template <BlockExchange exchange, class T, class Space>
PreconditionerSetup<T, Space> make_blocks(const PreconditionerTask<T, Space>& task) {
  require_one_process(task.form, task.parameters.solver.preconditioner);
  const BlockJacobiParameters& parameters = task.parameters.solver.block_jacobi;
  const BlockJacobiOptions options{parameters.sweeps, parameters.local_sweeps, 0.0, exchange};
  auto blocks = make_block_jacobi<T, Space>(task.form, options);
  PreconditionerSetup<T, Space> made;
  made.notes.push_back(fmt::format(
      "blocks of nodes: damping {:.3f} of the {} local sweeps, "
      "relaxation {:.3f} of the {} outer ones",
      blocks->damping(), parameters.local_sweeps, blocks->relaxation(), parameters.sweeps));
  made.preconditioner = std::move(blocks);
  return made;
}

template <class T, class Space>
PreconditionerSetup<T, Space> make_synchronous_blocks(const PreconditionerTask<T, Space>& task) {
  return make_blocks<BlockExchange::synchronous>(task);
}

template <class T, class Space>
PreconditionerSetup<T, Space> make_asynchronous_blocks(const PreconditionerTask<T, Space>& task) {
  return make_blocks<BlockExchange::asynchronous>(task);
}

}  // namespace tessera
