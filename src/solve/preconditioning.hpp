// These functions make the preconditioner that a case names.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "operators/fast_diagonalization/nearest_separable.hpp"
#include "operators/form/bilinear_form.hpp"
#include "operators/form/updatable.hpp"
#include "operators/multigrid/multigrid.hpp"
#include "solvers/preconditioner.hpp"
#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// What a preconditioner is made for. Form and operator are referred to.
template <class T, class Space>
struct PreconditionerTask {
  const CaseParameters& parameters;
  const BilinearForm& form;
  const LinearOperator<T, Space>& a;
  /// Typical size of an entry of residuals.
  double residual_size;
};

/// What an update of a preconditioner costs: next to nothing, or a set-up.
enum class UpdateCost { nothing, setup };

/// What a preconditioner is where the operator it was made for has changed, and it has not been
/// updated: nothing that is defined, or still the preconditioner of the operator before.
enum class WithoutUpdate { undefined, as_before };

/// The preconditioner of a case with what it refers to.
template <class T, class Space>
struct PreconditionerSetup {
  /// Null: none.
  std::unique_ptr<const Preconditioner<T, Space>> preconditioner;
  /// Of multigrid, else empty.
  std::vector<LevelSummary> levels;
  /// What there is to say about it: an eigenvalue estimate, a hierarchy cut short.
  std::vector<std::string> notes;
  /// For multigrid, sets the observer of its cycles; empty for other preconditioners.
  std::function<void(CycleObserver*)> set_observer;
  /// Of multigrid, else empty: z = V r by the cycle from a level on.
  std::function<void(std::size_t level, const Vector<T, Space>& r, Vector<T, Space>& z)> cycle;
  std::unique_ptr<Hierarchy> hierarchy;
  /// Takes another PreconditionerTask::residual_size; empty where that does not matter.
  std::function<void(double)> set_residual_size;
  /// As Updatable, with the operator updated before; empty: it always has to be made anew.
  std::function<Updated(const BilinearForm& form)> update;
  UpdateCost update_cost = UpdateCost::setup;
  WithoutUpdate without_update = WithoutUpdate::undefined;
  /// Whether it is the inverse of the operator but for rounding.
  Exactness exactness = Exactness::approximate;
};

/// The multigrid of a case; `scatter` of its levels is that of the case.
MultigridOptions multigrid_options(const CaseParameters& parameters);

}  // namespace tessera
