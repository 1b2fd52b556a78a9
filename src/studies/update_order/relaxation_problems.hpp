// These functions make the problems that block Jacobi is run on.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "operators/form/bilinear_form.hpp"
#include "solvers/memory/vector.hpp"
#include "solvers/preconditioners/block_rows.hpp"

namespace tessera {

/// -Laplace u = 1 with u = 0 on the boundary of the unit cube, or of a curved one: cells x cells x
/// cells elements of degree p.
struct RelaxationProblem {
  std::string name;
  int degree;
  Index cells;
  enum class Shape { cube, curved } shape = Shape::cube;
};

/// All of them; the first is the one that the manual of the operators has numbers of.
[[nodiscard]] const std::vector<RelaxationProblem>& relaxation_problems();

/// A problem's form and right-hand side.
struct DiscreteProblem {
  std::unique_ptr<const Discretization> discretization;
  BilinearForm form;
  HostVector<double> load;
};
[[nodiscard]] DiscreteProblem discretize(const RelaxationProblem& problem);

/// How rows are cut into blocks.
enum class BlockShape {
  bricks,  ///< of 8 x 8 x 4 nodes
  runs     ///< of 32 consecutive rows, which is a warp's width
};
struct NamedBlockShape {
  BlockShape shape;
  std::string name;
};
[[nodiscard]] const std::vector<NamedBlockShape>& block_shapes();

/// The blocks of a lattice's rows.
[[nodiscard]] RowBlocks make_blocks(const NodeLattice& lattice, BlockShape shape);

}  // namespace tessera
