// A MultigridAssembly makes the levels of a cycle, in any memory and precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "mesh/errors.hpp"
#include "operators/block_jacobi/block_jacobi.hpp"
#include "operators/multigrid/lattice_transfer.hpp"
#include "operators/multigrid/multigrid.hpp"
#include "operators/multigrid/size.hpp"
#include "solvers/interruption.hpp"
#include "solvers/preconditioners/chebyshev.hpp"
#include "solvers/preconditioners/dense_inverse.hpp"

namespace tessera {

/// Makes the levels of a multigrid cycle one after the other.
template <class T, class Space>
class MultigridAssembly {
 public:
  MultigridAssembly(const BilinearForm& form, const MultigridOptions& options) : options_(options) {
    made_.hierarchy = std::make_unique<Hierarchy>(form, options.rules);
  }

  MultigridSetup<T, Space> make(const LinearOperator<T, Space>* finest) {
    Hierarchy& hierarchy = *made_.hierarchy;
    for (std::size_t l = 0; l < hierarchy.size(); ++l) {
      stop_if_requested();
      if (!make_level_operator(l, l == 0 ? finest : nullptr)) break;
    }
    for (std::size_t l = 0; l < hierarchy.size(); ++l) {
      stop_if_requested();
      finish_level(l);
    }
    made_.cycle = std::make_unique<Multigrid<T, Space>>(std::move(levels_));
    return std::move(made_);
  }

 private:
  static constexpr char kGiven[] = "as the case's";
  bool is_given(std::size_t l) const { return strategies_[l] == kGiven; }

  // False if the level is of no use: it and the coarser ones are then dropped.
  bool make_level_operator(std::size_t l, const LinearOperator<T, Space>* given) {
    const BilinearForm& form = made_.hierarchy->form(l);
    levels_.emplace_back();
    if (given != nullptr) {
      levels_[l].a = std::shared_ptr<const LinearOperator<T, Space>>(given, [](const void*) {});
      strategies_.emplace_back(kGiven);
      return true;
    }
    try {
      const FormShape shape = form_shape(form, kProcessorOf<Space>, sizeof(T));
      levels_[l].a = make_operator<T, Space>(choose_strategy(shape, options_.scatter), form);
    } catch (const InvertedCell& error) {
      if (l == 0) throw;
      drop_from(l, unresolved_map(error));
      return false;
    } catch (const BadFieldValue& error) {
      if (l == 0) throw;
      drop_from(l, unresolved_data(error));
      return false;
    }
    strategies_.push_back(levels_[l].a->name());
    return true;
  }

  void drop_from(std::size_t l, const std::string& note) {
    levels_.pop_back();
    made_.hierarchy->truncate(l);
    made_.note = note;
  }

  void finish_level(std::size_t l) {
    const Hierarchy& hierarchy = *made_.hierarchy;
    MultigridLevel<T, Space>& level = levels_[l];
    const LinearOperator<T, Space>& a = *level.a;
    const Index n = a.size();
    const LevelPlace place = l + 1 == hierarchy.size() ? LevelPlace::coarsest : LevelPlace::inner;
    LevelParts parts{level_work(options_.smoother, place, n), l, n, sizeof(T)};
    parts.operator_bytes = is_given(l) ? 0 : a.bytes();
    parts.apply_bytes = a.cost().bytes;
    double largest_eigenvalue = 0.0;
    if (parts.work == LevelWork::solve_by_inverse) {
      level.coarse = std::make_unique<DenseMatrix<T, Space>>(coarse_inverse(hierarchy.form(l)));
    } else if (parts.work == LevelWork::smooth_by_blocks) {
      auto blocks = make_block_jacobi<T, Space>(hierarchy.form(l), block_options());
      parts.block_bytes = blocks->bytes();
      level.smoother = std::move(blocks);
    } else {
      Vector<T, Space> inverse(n);
      a.diagonal(inverse);
      invert_entries(inverse);
      const bool is_coarsest = place == LevelPlace::coarsest;
      const Spectrum spectrum =
          estimate_spectrum(a, inverse, is_coarsest ? 4 * kEigenvalueSteps : kEigenvalueSteps);
      const double largest = kEigenvalueSafety * spectrum.largest;
      largest_eigenvalue = spectrum.largest;
      if (is_coarsest) {
        parts.coarse_steps = coarse_chebyshev_steps(largest / spectrum.smallest);
        level.coarse = std::make_unique<Chebyshev<T, Space>>(
            a, std::move(inverse), chebyshev_steps(parts.coarse_steps, spectrum.smallest, largest));
      } else {
        level.smoother = std::make_unique<Chebyshev<T, Space>>(
            a, std::move(inverse), fourth_kind_steps(options_.smoother_degree, largest));
      }
    }
    if (place != LevelPlace::coarsest) {
      auto transfer = std::make_unique<LatticeTransfer<T, Space>>(
          make_prolongation(*hierarchy.form(l + 1).discretization,
                            *hierarchy.form(l).discretization, hierarchy.form(l).dirichlet));
      parts.transfer_bytes = transfer->bytes();
      level.to_coarser = std::move(transfer);
    }
    made_.levels.push_back({hierarchy.shape(l), n, strategies_[l], level_bytes(parts),
                            level_cycle_bytes(options_, parts), largest_eigenvalue});
  }

  BlockJacobiOptions block_options() const {
    return {options_.smoother_degree, options_.local_sweeps, 0.0,
            options_.smoother == SmootherKind::block_jacobi ? BlockExchange::synchronous
                                                            : BlockExchange::asynchronous};
  }

  static std::vector<double> coarse_inverse(const BilinearForm& form) {
    const FormShape shape = form_shape(form, Processor::cpu, sizeof(double));
    return dense_inverse(*make_operator<double>(choose_strategy(shape, "serial"), form),
                         is_pure_neumann(form) ? NullSpace::constants : NullSpace::none);
  }

  MultigridOptions options_;
  MultigridSetup<T, Space> made_;
  std::vector<MultigridLevel<T, Space>> levels_;
  std::vector<std::string> strategies_;
};

template <class T, class Space>
MultigridSetup<T, Space> make_multigrid(const BilinearForm& form, const MultigridOptions& options,
                                        const LinearOperator<T, Space>* finest) {
  return MultigridAssembly<T, Space>(form, options).make(finest);
}

}  // namespace tessera
