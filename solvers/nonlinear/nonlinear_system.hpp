// A NonlinearSystem is what Newton's and Picard's iterations solve.
#pragma once

#include <cstdint>

#include "solvers/memory/vector.hpp"
#include "solvers/solver.hpp"

namespace tessera {

/// F(u) = 0. Exceptions of these functions reach the caller of solve_nonlinear() as they are. Where
/// ranks share the vectors, all of them call the functions together, and an exception is one on
/// every rank.
template <class Space>
class NonlinearSystem {
 public:
  using V = Vector<double, Space>;
  virtual ~NonlinearSystem() = default;

  /// The size of all vectors below.
  virtual std::int64_t size() const = 0;
  /// Their layout.
  virtual VectorLayout layout() const { return VectorLayout(size()); }
  /// r = F(u); rows of Dirichlet nodes are 0. Where F is not defined at u, r has an entry that is
  /// not finite: the iteration then tries a shorter step.
  virtual void residual(const V& u, V& r) = 0;
  /// Takes u as the point of the Jacobian (newton), or of A(u) in F(u) = A(u) u - f(u) (picard). u
  /// is one that residual() was asked for, and finite there.
  virtual void linearize(const V& u) = 0;
  /// Solves J(u) x = b, or A(u) x = b, to the relative tolerance from x = 0.
  virtual SolveReport solve(double tolerance, const V& b, V& x) = 0;
};

}  // namespace tessera
