#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "mesh/errors.hpp"
#include "operators/block_jacobi.hpp"
#include "operators/lattice_transfer.hpp"
#include "operators/multigrid.hpp"
#include "solvers/chebyshev.hpp"
#include "solvers/dense_inverse.hpp"
#include "solvers/interruption.hpp"

namespace tessera {

/// Makes the levels of a multigrid cycle one after the other.
/// @tparam MakeOperator (strategy, form) -> unique_ptr<LinearOperator<T, Space>>
/// @tparam MakeBlockJacobi (form, options) -> unique_ptr<BlockJacobi<T, Space>>
template <class T, class Space, class MakeOperator, class MakeBlockJacobi>
class MultigridAssembly {
 public:
  MultigridAssembly(const StiffnessForm& form, const MultigridOptions& options, Processor processor,
                    MakeOperator make_operator, MakeBlockJacobi make_block_jacobi)
      : options_(options),
        processor_(processor),
        make_operator_(std::move(make_operator)),
        make_block_jacobi_(std::move(make_block_jacobi)) {
    made_.hierarchy = std::make_unique<Hierarchy>(form, options.rules);
  }

  MadeMultigrid<T, Space> make(const LinearOperator<T, Space>* finest) {
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

  // False if the level's mesh is of no use: it and the coarser ones are then dropped.
  bool make_level_operator(std::size_t l, const LinearOperator<T, Space>* given) {
    StiffnessForm form = made_.hierarchy->form(l);
    const StrategyName strategy = level_strategy(form, options_.scatter, processor_);
    levels_.emplace_back();
    if (given != nullptr) {
      levels_[l].a = std::shared_ptr<const LinearOperator<T, Space>>(given, [](const void*) {});
      strategies_.emplace_back(kGiven);
      return true;
    }
    try {
      levels_[l].a = make_operator_(strategy, form);
    } catch (const InvertedCell& error) {
      if (l == 0) throw;
      levels_.pop_back();
      made_.hierarchy->truncate(l);
      made_.note = std::string("coarser meshes would not resolve the map: ") + error.what();
      return false;
    }
    strategies_.push_back(levels_[l].a->name());
    return true;
  }

  void finish_level(std::size_t l) {
    const Hierarchy& hierarchy = *made_.hierarchy;
    MultigridLevel<T, Space>& level = levels_[l];
    const LinearOperator<T, Space>& a = *level.a;
    const Index n = a.size();
    const double vector_bytes = static_cast<double>(n) * sizeof(T);
    LevelSummary summary{hierarchy.shape(l),          n,   strategies_[l],
                         is_given(l) ? 0 : a.bytes(), 0.0, 0.0};
    if (l + 1 == hierarchy.size() && n <= kMostDenseDofs) {
      level.coarse = std::make_unique<DenseMatrix<T, Space>>(coarse_inverse(hierarchy.form(l)));
      summary.bytes += n * n * static_cast<Index>(sizeof(T));
      summary.cycle_bytes = static_cast<double>(n) * vector_bytes;
      made_.levels.push_back(std::move(summary));
      return;
    }
    const bool is_coarsest = l + 1 == hierarchy.size();
    const bool takes_blocks = !is_coarsest && options_.smoother != SmootherKind::chebyshev;
    const double apply_bytes = a.cost().bytes;
    summary.cycle_bytes = smoothed_level_bytes(options_, apply_bytes, vector_bytes);
    if (takes_blocks) {
      auto blocks = make_block_jacobi_(hierarchy.form(l), block_options());
      summary.bytes += blocks->bytes() + 3 * n * static_cast<Index>(sizeof(T));
      summary.cycle_bytes +=
          2.0 * options_.smoother_degree * (static_cast<double>(blocks->bytes()) - apply_bytes);
      level.smoother = std::move(blocks);
    } else {
      summary.bytes += 6 * n * static_cast<Index>(sizeof(T));
      Vector<T, Space> inverse(n);
      a.diagonal(inverse);
      invert_entries(inverse);
      const Spectrum spectrum =
          estimate_spectrum(a, inverse, is_coarsest ? 4 * kEigenvalueSteps : kEigenvalueSteps);
      const double largest = kEigenvalueSafety * spectrum.largest;
      summary.largest_eigenvalue = spectrum.largest;
      if (is_coarsest) {
        const int degree = coarse_degree(largest / spectrum.smallest);
        level.coarse = std::make_unique<Chebyshev<T, Space>>(
            a, std::move(inverse), chebyshev_steps(degree, spectrum.smallest, largest));
        summary.cycle_bytes = degree * (apply_bytes + 4.0 * vector_bytes);
      } else {
        level.smoother = std::make_unique<Chebyshev<T, Space>>(
            a, std::move(inverse), fourth_kind_steps(options_.smoother_degree, largest));
      }
    }
    if (!is_coarsest) {
      auto transfer = std::make_unique<LatticeTransfer<T, Space>>(
          make_prolongation(*hierarchy.form(l + 1).discretization,
                            *hierarchy.form(l).discretization, hierarchy.form(l).dirichlet));
      summary.bytes += transfer->bytes();
      level.to_coarser = std::move(transfer);
    }
    made_.levels.push_back(std::move(summary));
  }

  BlockJacobiOptions block_options() const {
    return {options_.smoother_degree, options_.local_sweeps, 0.0,
            options_.smoother == SmootherKind::block_jacobi ? BlockExchange::synchronous
                                                            : BlockExchange::asynchronous};
  }

  std::vector<double> coarse_inverse(StiffnessForm form) const {
    const StrategyName strategy = level_strategy(form, "serial", Processor::cpu);
    return dense_inverse(*tessera::make_operator<double>(strategy, form),
                         is_pure_neumann(form) ? NullSpace::constants : NullSpace::none);
  }

  // Steps that reduce the error tenfold, bounded.
  static int coarse_degree(double condition) {
    constexpr double kReduction = 10.0;
    constexpr int kMost = 60;
    return std::clamp(
        static_cast<int>(std::ceil(0.5 * std::sqrt(condition) * std::log(2.0 * kReduction))), 2,
        kMost);
  }

  MultigridOptions options_;
  Processor processor_;
  MakeOperator make_operator_;
  MakeBlockJacobi make_block_jacobi_;
  MadeMultigrid<T, Space> made_;
  std::vector<MultigridLevel<T, Space>> levels_;
  std::vector<std::string> strategies_;
};

}  // namespace tessera
