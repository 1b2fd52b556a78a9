// A Drift is what a coefficient that depends on u adds to the Jacobian of a non-linear problem.
#pragma once

#include <optional>

#include "mesh/lanes/cell_batches.hpp"
#include "mesh/lanes/host_array.hpp"
#include "mesh/lanes/simd.hpp"
#include "operators/form/bilinear_form.hpp"
#include "solvers/check.hpp"
#include "solvers/memory/vector.hpp"
#include "solvers/ranks/plane_exchange.hpp"

namespace tessera {

/// (dk/du(u) v grad u, grad phi_i): the derivative of (k(u) grad u, grad phi_i) in the direction v,
/// but for (k(u) grad v, grad phi_i). It is not symmetric.
///
/// At quadrature point q it keeps g_q = w |J| dk/du J^-1 J^-T grad_xi u, [batch][axis][q][lane]:
/// dimension values a point. v goes to the points and G^T (g_q v_q) back, by sum factorization:
/// [n]^d -> [m]^d -> [d][m]^d -> [n]^d.
class Drift {
 public:
  /// @param form its coefficient is k, of which its state is u; its discretization must outlive
  ///        the Drift
  /// @throws std::invalid_argument if there is no state, or k depends on u and is no program;
  ///         BadFieldValue if dk/du is not finite at a point
  explicit Drift(const BilinearForm& form);

  /// Takes it at another state of the same form. @throws BadFieldValue
  void update(const BilinearForm& form);

  /// Adds it to y in the rows that are not constrained; v counts as 0 in those that are. The same
  /// bits for any number of threads. Of a form of which ranks have parts it adds what all of them
  /// have, and they call it together.
  void add(const HostVector<double>& v, HostVector<double>& y) const;

  /// Of add().
  double flops() const;
  Index bytes() const;

 private:
  /// Calls f(make(), batch) for each batch, in parallel and color after color of the bricks, with
  /// an object of make() for each thread's bricks.
  template <class Make, class F>
  void for_each_batch(Make&& make, F&& f) const;
  void add_own(const HostVector<double>& v, HostVector<double>& y) const;
  void clear_constrained(const CellBatch& batch, Lanes<double>* values) const;
  Index points() const;

  const Discretization* discretization_;
  FaceSet dirichlet_;
  ScalarField derivative_;
  CellBatches batches_;
  HostArray<Lanes<double>> g_;
  // Of a rank's part: what it adds, and how ranks sum it up.
  mutable HostVector<double> own_;
  std::optional<PlaneExchange<double, Host>> exchange_;
  mutable OneUseAtATime guard_;
};

}  // namespace tessera
