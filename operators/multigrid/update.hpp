// A MultigridUpdate makes the levels of a cycle those of another form, in place.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mesh/threads_in_use.hpp"
#include "operators/form/gathered_form.hpp"
#include "operators/form/on_all_ranks.hpp"
#include "operators/form/updatable.hpp"
#include "operators/multigrid/hierarchy.hpp"
#include "operators/multigrid/multigrid.hpp"
#include "operators/multigrid/size.hpp"
#include "solvers/adding_operator.hpp"
#include "solvers/preconditioners/chebyshev.hpp"
#include "solvers/preconditioners/dense_inverse.hpp"
#include "solvers/ranks/stop_together.hpp"

namespace tessera {

/// The operator of a level, which stays where it is when it becomes that of another form.
template <class T, class Space>
class LevelOperator final : public AddingOperator<T, Space> {
 public:
  using V = Vector<T, Space>;

  /// @throws as make_operator()
  LevelOperator(const BilinearForm& form, std::string scatter) : scatter_(std::move(scatter)) {
    make(form);
  }

  /// In place, or made anew where it cannot be. @throws as make_operator()
  void update(const BilinearForm& form) {
    if (update_in_place(*a_, form) == Updated::no) make(form);
  }

  std::int64_t size() const override { return a_->size(); }
  VectorLayout layout() const override { return a_->layout(); }
  std::string name() const override { return a_->name(); }
  Cost cost() const override { return a_->cost(); }
  std::int64_t bytes() const override { return a_->bytes(); }
  const FusedOperations<T, Space>* fused() const override { return a_->fused(); }
  void do_apply(const V& x, V& y) const override { a_->apply(x, y); }
  void do_diagonal(V& d) const override { a_->diagonal(d); }
  bool adds(int vectors_of_pass) const override {
    return as_adding(*a_, vectors_of_pass) != nullptr;
  }

 private:
  void do_apply_to_zeros(const V& x, V& y) const override {
    dynamic_cast<const AddingOperator<T, Space>&>(*a_).apply_to_zeros(x, y);
  }

  void make(const BilinearForm& form) {
    // What is to be made anew is given back first: both together may not fit.
    a_ = nullptr;
    const FormShape shape = whole_shape(form, kProcessorOf<Space>, sizeof(T));
    a_ = make_operator<T, Space>(choose_strategy(shape, scatter_), form);
  }

  std::string scatter_;
  std::unique_ptr<LinearOperator<T, Space>> a_;
};

/// Entries of a dense matrix where a cycle needs them.
template <class T, class Space>
using DenseEntries =
    std::conditional_t<std::is_same_v<Space, Host>, std::vector<double>, DeviceArray<T>>;

/// The inverse of a small form's matrix; of a form of which ranks have parts, that of the whole.
template <class T, class Space>
DenseEntries<T, Space> coarse_inverse(const BilinearForm& form) {
  if (form.part != nullptr) {
    const Discretization& part = *form.discretization;
    const GatheredSpace space(part, *form.part->rank, {part.basis.degree, part.mesh.place().cells});
    const Discretization whole = space.make();
    const BilinearForm gathered = gathered_form(form, space, whole);
    return on_all_ranks(form, [&] { return coarse_inverse<T, Space>(gathered); });
  }
  const auto matrix = [&] {
    // So small that many threads take longer to start than one does for all.
    const ThreadsInUse one(1);
    return make_operator<double>({"csr"}, form);
  }();
  const NullSpace null_space = is_pure_neumann(form) ? NullSpace::constants : NullSpace::none;
  if constexpr (std::is_same_v<Space, Host>) {
    return dense_inverse(*matrix, null_space);
  } else {
    return dense_inverse_on_device<T>(dynamic_cast<const SparseRows<double>&>(*matrix),
                                      matrix->size(), null_space);
  }
}

/// The steps of a smoother for a spectrum, for eigenvalues of D^-1 A, whose mean is 1, from 0.2 on,
/// with more than 4 steps from 0.8 / degree on, if so few steps reduce errors down to there. These
/// ends are a compromise for conjugate gradients around a cycle; solvers/README.md has others.
inline std::vector<double> smoother_steps(int degree, const Spectrum& spectrum) {
  constexpr double kRangePerStep = 4.0;
  const double smallest =
      std::max(0.8 / std::max(degree, 4), spectrum.bound / (kRangePerStep * degree));
  return chebyshev_steps(degree, smallest, interval_end(spectrum, smallest));
}

/// The steps of the solver of the coarsest level. So many Lanczos steps find any large eigenvalue.
inline std::vector<double> coarse_steps(const Spectrum& spectrum) {
  constexpr double kMargin = 1.05;
  const double largest = kMargin * spectrum.bound;
  return chebyshev_steps(coarse_chebyshev_steps(largest / spectrum.smallest), spectrum.smallest,
                         largest);
}
inline constexpr int kCoarseEigenvalueSteps = 48;

/// Takes other coefficients on all levels: operators, diagonals, spectra, the coarsest level's
/// inverse. All is as newly made, and is in the memory that was there; but operators that are not
/// Updatable are made anew, as are levels in one kernel, which are small, and the first update
/// makes two vectors of each other level.
template <class T, class Space>
class MultigridUpdate {
 public:
  using V = Vector<T, Space>;

  /// What changes on a level.
  struct Level {
    /// Null where the operator was given: it has been updated before.
    LevelOperator<T, Space>* a = nullptr;
    /// One of the two, or the last; a level that has none cannot be updated.
    Chebyshev<T, Space>* chebyshev = nullptr;
    DenseMatrix<T, Space>* inverse = nullptr;
    /// Of a level that has none of them: takes another form.
    std::function<void(const BilinearForm&)> update = {};
  };

  MultigridUpdate(Hierarchy& hierarchy, int smoother_degree, std::vector<Level> levels)
      : hierarchy_(hierarchy), smoother_degree_(smoother_degree), levels_(std::move(levels)) {}

  /// @returns no where a level cannot be updated: the cycle then has to be made anew
  Updated operator()(const BilinearForm& form) {
    for (const Level& level : levels_) {
      if (level.chebyshev == nullptr && level.inverse == nullptr && !level.update) {
        return Updated::no;
      }
    }
    hierarchy_.set_fields(form);
    scratch_.resize(levels_.size());
    for (std::size_t l = 0; l < levels_.size(); ++l) {
      const VectorLayout layout = hierarchy_.form(0).layout();
      stop_together(layout);
      // Levels may have to be dropped.
      if (on_any_rank(layout, update_operator(l) == Updated::no)) return Updated::no;
      stop_together(layout);
      update_solver(l);
    }
    return Updated::yes;
  }

 private:
  Updated update_operator(std::size_t l) {
    const Level& level = levels_[l];
    try {
      if (level.a != nullptr) level.a->update(hierarchy_.form(l));
      if (level.update) level.update(hierarchy_.form(l));
    } catch (const BadFieldValue&) {
      return Updated::no;
    }
    return Updated::yes;
  }

  void update_solver(std::size_t l) {
    const Level& level = levels_[l];
    if (level.update) return;
    const BilinearForm& form = hierarchy_.form(l);
    if (level.inverse != nullptr) {
      level.inverse->update(coarse_inverse<T, Space>(form));
      return;
    }
    auto& [r, p] = scratch_[l];
    if (r.size() == 0) scratch_[l] = {V(form.layout()), V(form.layout())};
    if (l + 1 == levels_.size()) {
      level.chebyshev->update(kCoarseEigenvalueSteps, r, p, coarse_steps);
    } else {
      level.chebyshev->update(kEigenvalueSteps, r, p, [this](const Spectrum& spectrum) {
        return smoother_steps(smoother_degree_, spectrum);
      });
    }
  }

  Hierarchy& hierarchy_;
  int smoother_degree_;
  std::vector<Level> levels_;
  std::vector<std::array<V, 2>> scratch_;
};

}  // namespace tessera
