// A Hierarchy is the form discretized on each level.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "mesh/coarsening.hpp"
#include "mesh/errors.hpp"
#include "operators/ranks/gathered_space.hpp"
#include "operators/strategy.hpp"

namespace tessera {

/// On several ranks a coarser level of at most so many DoFs a rank is gathered: about 8 exchanges
/// in each cycle, of microseconds each, cost more than to compute all of it on every rank.
inline constexpr Index kGatherDofs = 4000;
/// Of more ranks that many count, as every rank gets the summand of each.
inline Index gathering_ranks(int ranks) { return std::min(ranks, 16); }
/// On GPUs a level of so many DoFs in total takes as long on one as on several, which exchange
/// (measured on two and four H200, 250 thousand to 2 million tried).
inline constexpr Index kGpuGatherDofs = 250'000;
inline Index gather_dofs(Processor processor, int ranks) {
  return processor == Processor::gpu ? kGpuGatherDofs / gathering_ranks(ranks) : kGatherDofs;
}

/// The form on each space of plan_levels(), rediscretized: coarser meshes with their maps, the
/// coefficient at the coarser meshes' quadrature points, with the state at the coarser nodes.
///
/// Of a form of which ranks have parts, the levels are those of the whole. The finer ones are
/// shared out as the finest is. From some level on they are *gathered*: every rank has them as a
/// whole, in memory and in work as one process has, and with the same bits. That is the first level
/// but the finest that is small, or whose cells are not those of the finer one merged two by two
/// within each part; such a level may be large. All ranks call the functions together.
class Hierarchy {
 public:
  /// @param finest its discretization is referred to
  /// @param gather_dofs levels of at most so many DoFs a rank are gathered
  Hierarchy(const BilinearForm& finest, const CoarseningRules& rules,
            Index gather_dofs = kGatherDofs);

  std::size_t size() const { return forms_.size(); }
  const BilinearForm& form(std::size_t l) const { return forms_[l]; }
  /// Of the whole level.
  LevelShape shape(std::size_t l) const;
  /// Takes coefficient, reaction, Robin terms and state of another form on all levels.
  void set_fields(const BilinearForm& finest);
  /// Drops levels l and coarser, on all ranks.
  void truncate(std::size_t l);

  /// The step from a level that is shared out to the first one that is gathered; null from others.
  const GatheredSpace* gather_from(std::size_t l) const {
    return !is_gathered(l) && l + 1 < size() && is_gathered(l + 1) ? gather_.get() : nullptr;
  }
  /// Whether the level is a whole on every rank of several.
  bool is_gathered(std::size_t l) const {
    return forms_[0].part != nullptr && forms_[l].part == nullptr;
  }
  /// Of the reasons that ranks have that of the lowest one, on all of them; empty if none has any.
  std::string reason_of_any_rank(const std::string& reason) const;

 private:
  // The form on the next coarser level.
  BilinearForm coarser_form(const LevelShape& shape, Index gather_dofs);
  // The state of the finer level's form at the nodes of level l.
  std::shared_ptr<const FormState> state_on(std::size_t l) const;

  std::vector<std::unique_ptr<const Discretization>> coarser_;
  std::vector<BilinearForm> forms_;
  std::unique_ptr<const GatheredSpace> gather_;
};

/// How cells of kernel tensor add on a level where this policy is asked for: all ranks that have a
/// gathered level must have the same bits, whatever their threads.
std::string level_scatter(const Hierarchy& hierarchy, std::size_t l, const std::string& scatter);

/// Why a hierarchy ends before a level on which the map folds over, or on which coefficient or
/// alpha have a value that is not allowed: coarser meshes look at other points than the finest.
std::string unresolved_map(const InvertedCell& error);
std::string unresolved_data(const BadFieldValue& error);

/// Drops the levels that make_multigrid() will drop, found without making operators: evaluates map,
/// coefficient and alpha at the points of all levels but the finest.
/// @return why; empty if none is dropped
std::string drop_unresolved(Hierarchy& hierarchy);

}  // namespace tessera
