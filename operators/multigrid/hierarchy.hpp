// A Hierarchy is the form discretized on each level.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "mesh/coarsening.hpp"
#include "mesh/errors.hpp"
#include "operators/strategy.hpp"

namespace tessera {

/// The form on each space of plan_levels(), rediscretized: coarser meshes with their maps, the
/// coefficient at the coarser meshes' quadrature points, with the state at the coarser nodes.
class Hierarchy {
 public:
  /// @param finest its discretization is referred to
  Hierarchy(const BilinearForm& finest, const CoarseningRules& rules);

  std::size_t size() const { return forms_.size(); }
  const BilinearForm& form(std::size_t l) const { return forms_[l]; }
  LevelShape shape(std::size_t l) const;
  /// Takes coefficient, reaction, Robin terms and state of another form on all levels.
  void set_fields(const BilinearForm& finest);
  /// Drops levels l and coarser.
  void truncate(std::size_t l);

 private:
  std::vector<std::unique_ptr<const Discretization>> coarser_;
  std::vector<BilinearForm> forms_;
};

/// Why a hierarchy ends before a level on which the map folds over, or on which coefficient or
/// alpha have a value that is not allowed: coarser meshes look at other points than the finest.
std::string unresolved_map(const InvertedCell& error);
std::string unresolved_data(const BadFieldValue& error);

/// Drops the levels that make_multigrid() will drop, found without making operators: evaluates map,
/// coefficient and alpha at the points of all levels but the finest.
/// @return why; empty if none is dropped
std::string drop_unresolved(Hierarchy& hierarchy);

}  // namespace tessera
