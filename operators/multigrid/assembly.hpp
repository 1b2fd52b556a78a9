// A MultigridAssembly makes the levels of a cycle, in any memory and precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>
#include <variant>

#include "mesh/errors.hpp"
#include "operators/block_jacobi/block_jacobi.hpp"
#include "operators/cells/element_kernel.hpp"
#include "operators/csr/device_csr.hpp"
#include "operators/multigrid/level_transfer.hpp"
#include "operators/multigrid/multigrid.hpp"
#include "operators/multigrid/size.hpp"
#include "operators/multigrid/update.hpp"
#include "operators/ranks/gathered_preconditioner.hpp"
#include "solvers/errors.hpp"
#include "solvers/preconditioners/chebyshev.hpp"
#include "solvers/preconditioners/dense_inverse.hpp"
#include "solvers/preconditioners/fused_levels.hpp"

namespace tessera {

/// Of a level that smooths or solves by Chebyshev's iteration.
template <class T, class Space>
struct ChebyshevParts {
  Vector<T, Space> inverse_diagonal;
  std::vector<double> steps;
  double largest_eigenvalue = 0.0;
};

template <class T, class Space>
ChebyshevParts<T, Space> make_chebyshev_parts(const LinearOperator<T, Space>& a, LevelPlace place,
                                              int smoother_degree) {
  Vector<T, Space> inverse(a.layout());
  a.diagonal(inverse);
  invert_entries(inverse);
  const bool is_coarsest = place == LevelPlace::coarsest;
  const Spectrum spectrum =
      estimate_spectrum(a, inverse, is_coarsest ? kCoarseEigenvalueSteps : kEigenvalueSteps);
  std::vector<double> steps =
      is_coarsest ? coarse_steps(spectrum) : smoother_steps(smoother_degree, spectrum);
  return {std::move(inverse), std::move(steps), spectrum.largest};
}

/// Makes the levels of a multigrid cycle one after the other.
template <class T, class Space>
class MultigridAssembly {
 public:
  MultigridAssembly(const BilinearForm& form, const MultigridOptions& options)
      : options_(options), layout_(form.layout()) {
    if (form.part != nullptr && options.smoother != SmootherKind::chebyshev) {
      throw UnsuitableChoice(Choice::preconditioner,
                             "multigrid's smoothers by blocks of the matrix need one process; its "
                             "smoother chebyshev runs on any number");
    }
    made_.hierarchy = std::make_unique<Hierarchy>(form, options.rules, options.gather_dofs);
  }

  MultigridSetup<T, Space> make(const LinearOperator<T, Space>* finest) {
    Hierarchy& hierarchy = *made_.hierarchy;
    for (std::size_t l = 0; l < hierarchy.size(); ++l) {
      if (!make_level_operator(l, l == 0 ? finest : nullptr)) break;
    }
    for (std::size_t l = 0; l < hierarchy.size(); ++l) {
      stop_together(layout_);
      finish_level(l);
    }
    if constexpr (kOnDevice) fuse_levels();
    made_.cycle = std::make_unique<Multigrid<T, Space>>(std::move(levels_));
    made_.update = [update = std::make_shared<MultigridUpdate<T, Space>>(
                        hierarchy, options_.smoother_degree, std::move(changing_))](
                       const BilinearForm& form) { return (*update)(form); };
    return std::move(made_);
  }

 private:
  static constexpr bool kOnDevice = std::is_same_v<Space, Device>;
  static constexpr char kGiven[] = "as the case's";
  bool is_given(std::size_t l) const { return strategies_[l] == kGiven; }
  bool is_fused(std::size_t l) const { return strategies_[l] == kInOneKernel; }

  // False if the level is of no use: it and the coarser ones are then dropped.
  bool make_level_operator(std::size_t l, const LinearOperator<T, Space>* given) {
    levels_.emplace_back();
    changing_.emplace_back();
    if (given != nullptr) {
      levels_[l].a = std::shared_ptr<const LinearOperator<T, Space>>(given, [](const void*) {});
      strategies_.emplace_back(kGiven);
      return true;
    }
    stop_together(layout_);
    const std::string reason = made_.hierarchy->reason_of_any_rank(try_own_operator(l));
    if (!reason.empty()) {
      drop_from(l, reason);
      return false;
    }
    strategies_.push_back(levels_[l].a->name());
    return true;
  }

  // Makes the operator of a level, or says why there is none on a coarser one.
  std::string try_own_operator(std::size_t l) {
    try {
      levels_[l].a = make_own_operator(l);
    } catch (const InvertedCell& error) {
      if (l == 0) throw;
      return unresolved_map(error);
    } catch (const BadFieldValue& error) {
      if (l == 0) throw;
      return unresolved_data(error);
    }
    return "";
  }

  std::shared_ptr<const LinearOperator<T, Space>> make_own_operator(std::size_t l) {
    const BilinearForm& form = made_.hierarchy->form(l);
    if constexpr (kOnDevice) {
      // Ranks share no kernel.
      if (form.part == nullptr && tessera::is_fused(Processor::gpu, options_.smoother,
                                                    form.discretization->lattice, form.dirichlet)) {
        auto rows = std::make_shared<RowsOperator<T>>(
            assemble_on_device<T>(form, *make_device_element_kernel<T>(form)));
        fused_rows_.push_back(rows);
        return rows;
      }
    }
    auto made = std::make_shared<LevelOperator<T, Space>>(
        form, level_scatter(*made_.hierarchy, l, options_.scatter));
    changing_[l].a = made.get();
    return made;
  }

  void drop_from(std::size_t l, const std::string& note) {
    levels_.pop_back();
    changing_.pop_back();
    made_.hierarchy->truncate(l);
    made_.note = note;
  }

  void finish_level(std::size_t l) {
    const Hierarchy& hierarchy = *made_.hierarchy;
    MultigridLevel<T, Space>& level = levels_[l];
    const LinearOperator<T, Space>& a = *level.a;
    const Index whole = hierarchy.form(l).layout().whole_size();
    const LevelPlace place = l + 1 == hierarchy.size() ? LevelPlace::coarsest : LevelPlace::inner;
    LevelParts parts{level_work(options_.smoother, place, whole), l, a.size(), sizeof(T)};
    if constexpr (kOnDevice) parts.transfer_vectors = kVectorsOfOnePass;
    if (parts.work == LevelWork::solve_by_inverse) parts.dofs = whole;
    parts.operator_bytes = is_given(l) ? 0 : a.bytes();
    parts.apply_bytes = a.cost().bytes;
    if (a.fused() != nullptr && a.fused()->has_step()) parts.steps = Steps::fused;
    ChebyshevParts<T, Space> chebyshev;
    if (parts.work == LevelWork::smooth_by_blocks) {
      auto blocks = make_block_jacobi<T, Space>(hierarchy.form(l), block_options());
      parts.block_bytes = blocks->bytes();
      level.smoother = std::move(blocks);
    } else if (parts.work != LevelWork::solve_by_inverse) {
      chebyshev = make_chebyshev_parts(a, place, options_.smoother_degree);
      if (place == LevelPlace::coarsest) {
        parts.coarse_steps = static_cast<int>(chebyshev.steps.size());
      }
    }
    const double largest_eigenvalue = chebyshev.largest_eigenvalue;
    if (is_fused(l)) {
      if constexpr (kOnDevice) add_fused(l, std::move(chebyshev), parts);
    } else {
      add_parts(l, std::move(chebyshev), parts);
    }
    made_.levels.push_back({hierarchy.shape(l), whole, strategies_[l], level_bytes(parts),
                            level_cycle_bytes(options_, parts), largest_eigenvalue});
  }

  const NodeLattice& lattice(std::size_t l) const {
    return made_.hierarchy->form(l).discretization->lattice;
  }

  FusedTransfer<T> make_fused_transfer(std::size_t l) const {
    const LatticeProlongation prolongation =
        make_prolongation(*made_.hierarchy, l, ConstrainedValues::zero);
    return {prolongation_rows<T>(prolongation), restriction_rows<T>(prolongation)};
  }

  void add_parts(std::size_t l, ChebyshevParts<T, Space> chebyshev, LevelParts& parts) {
    MultigridLevel<T, Space>& level = levels_[l];
    const auto make_iteration = [&] {
      auto iteration = std::make_unique<Chebyshev<T, Space>>(
          *level.a, std::move(chebyshev.inverse_diagonal), std::move(chebyshev.steps));
      changing_[l].chebyshev = iteration.get();
      return iteration;
    };
    if (parts.work == LevelWork::solve_by_inverse) {
      level.coarse = make_inverse(l);
    } else if (parts.work == LevelWork::solve_by_chebyshev) {
      level.coarse = make_iteration();
    } else if (parts.work == LevelWork::smooth_by_chebyshev) {
      level.smoother = make_iteration();
    }
    if (l + 1 == levels_.size()) return;
    if constexpr (kOnDevice) {
      if (is_fused(l + 1) && made_.hierarchy->form(l).part == nullptr &&
          is_transfer_fused(lattice(l + 1), lattice(l),
                            made_.hierarchy->form(l).discretization->mesh)) {
        to_finer_ = make_fused_transfer(l);
        parts.transfer_bytes = bytes_of(to_finer_.prolongation) + bytes_of(to_finer_.restriction);
        return;
      }
    }
    level.to_coarser = make_transfer<T, Space>(*made_.hierarchy, l, ConstrainedValues::zero);
    parts.transfer_bytes = level.to_coarser->bytes();
  }

  std::unique_ptr<const Preconditioner<T, Space>> make_inverse(std::size_t l) {
    const BilinearForm& form = made_.hierarchy->form(l);
    auto inverse = std::make_unique<DenseMatrix<T, Space>>(coarse_inverse<T, Space>(form));
    changing_[l].inverse = inverse.get();
    if (form.part == nullptr) return inverse;
    return std::make_unique<const GatheredPreconditioner<T, Space>>(std::move(inverse),
                                                                    *form.part->rank);
  }

  void add_fused(std::size_t l, ChebyshevParts<T, Space> chebyshev, LevelParts& parts) {
    FusedLevel<T>& level = fused_.emplace_back();
    level.a = std::static_pointer_cast<const RowsOperator<T>>(levels_[l].a);
    level.steps = std::move(chebyshev.steps);
    level.inverse_diagonal = std::move(chebyshev.inverse_diagonal);
    if (parts.work == LevelWork::solve_by_inverse) {
      level.inverse = coarse_inverse<T, Device>(made_.hierarchy->form(l));
    }
    if (l + 1 == levels_.size()) return;
    level.to_coarser = make_fused_transfer(l);
    parts.transfer_bytes =
        bytes_of(level.to_coarser.prolongation) + bytes_of(level.to_coarser.restriction);
  }

  void fuse_levels() {
    if (fused_.empty()) return;
    const std::size_t first = levels_.size() - fused_.size();
    const auto fused = std::make_shared<FusedLevels<T>>(std::move(fused_), std::move(to_finer_));
    if (first > 0 && levels_[first - 1].to_coarser == nullptr) {
      levels_[first - 1].correction = std::make_unique<FusedCorrection<T>>(fused);
    }
    for (std::size_t l = first; l < levels_.size(); ++l) {
      levels_[l].coarse = std::make_unique<FusedCycle<T>>(fused, l - first);
      const LevelPlace place = l + 1 == levels_.size() ? LevelPlace::coarsest : LevelPlace::inner;
      const Index whole = made_.hierarchy->form(l).layout().whole_size();
      changing_[l].update = [fused, place, level = l - first, rows = fused_rows_[l - first],
                             work = level_work(options_.smoother, place, whole),
                             degree = options_.smoother_degree](const BilinearForm& form) {
        rows->take(assemble_on_device<T>(form, *make_device_element_kernel<T>(form)));
        ChebyshevParts<T, Device> chebyshev;
        DeviceArray<T> inverse;
        if (work == LevelWork::solve_by_inverse) {
          inverse = coarse_inverse<T, Device>(form);
        } else {
          chebyshev = make_chebyshev_parts<T, Device>(*rows, place, degree);
        }
        fused->update(level, std::move(chebyshev.steps), std::move(chebyshev.inverse_diagonal),
                      std::move(inverse));
      };
    }
  }

  BlockJacobiOptions block_options() const {
    return {options_.smoother_degree, options_.local_sweeps, 0.0,
            options_.smoother == SmootherKind::block_jacobi ? BlockExchange::synchronous
                                                            : BlockExchange::asynchronous};
  }

  MultigridOptions options_;
  VectorLayout layout_;  // of the finest level
  MultigridSetup<T, Space> made_;
  std::vector<MultigridLevel<T, Space>> levels_;
  std::vector<typename MultigridUpdate<T, Space>::Level> changing_;
  std::vector<std::string> strategies_;
  std::conditional_t<kOnDevice, std::vector<FusedLevel<T>>, std::monostate> fused_;
  std::conditional_t<kOnDevice, std::vector<std::shared_ptr<RowsOperator<T>>>, std::monostate>
      fused_rows_;  // of the levels that are fused, finest first
  std::conditional_t<kOnDevice, FusedTransfer<T>, std::monostate> to_finer_;
};

template <class T, class Space>
MultigridSetup<T, Space> make_multigrid(const BilinearForm& form, const MultigridOptions& options,
                                        const LinearOperator<T, Space>* finest) {
  return MultigridAssembly<T, Space>(form, options).make(finest);
}

}  // namespace tessera
