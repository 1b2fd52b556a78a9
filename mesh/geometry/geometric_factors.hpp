// GeometricFactors are what a form has at the quadrature points of all cells: D_q and r_q.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "mesh/discretization.hpp"
#include "mesh/geometry/factor_kind.hpp"
#include "mesh/lanes/cell_batches.hpp"
#include "mesh/lanes/host_array.hpp"
#include "mesh/lanes/simd.hpp"
#include "mesh/scalar_field.hpp"

namespace tessera {

/// The middle factor of A = sum_c P B^T D B P^T: D_q = w_q |J| k J^-1 J^-T at quadrature point q,
/// and r_q = w_q |J| c where there is a reaction.
///
/// Layouts, fastest index last: `constant` point_factors [q]; `scaled` [batch][q][lane];
/// `general` [batch][q][entry][lane] with entries xx xy yy in 2D, xx xy xz yy yz zz in 3D.
/// For the first two D_q = point factor * diag(axis_scale). In each batch values [q][lane] follow
/// D_q, and r_q = reaction_scale * such a value; with `constant` r_q = reaction_scale * point
/// factor. Of a mass matrix there are only these: D_q is 0, and `constant` point factors are those
/// of k = 1.
template <class T>
class GeometricFactors {
 public:
  /// @param batches of kLanes<T> cells
  /// @throws InvertedCell naming the first cell with |J| <= 0 at a quadrature point,
  ///         BadFieldValue if the coefficient is not positive and finite at one, or the reaction
  ///         is negative or not finite; std::invalid_argument if they depend on a u that is not
  ///         known.
  GeometricFactors(const Discretization& discretization, const CellBatches& batches,
                   const ScalarField& coefficient,
                   const ScalarField& reaction = constant_field(0.0),
                   const FieldContext& context = {});

  /// Computes the factors of other fields of the same kinds in the same memory. @throws as the
  /// constructor
  void update(const Discretization& discretization, const CellBatches& batches,
              const ScalarField& coefficient, const ScalarField& reaction,
              const FieldContext& context);
  /// Takes another reaction that is a number, where there is such a one already.
  /// @throws BadFieldValue
  void update_reaction(const Discretization& discretization, const ScalarField& coefficient,
                       double reaction, ReactionSign sign);

  FactorKind kind() const { return kind_; }
  ReactionKind reaction() const { return reaction_; }
  /// Whether D_q is 0.
  bool is_mass() const { return is_mass_; }
  /// c / k for `constant`; else c if it is a number, and 1 where it is not.
  double reaction_scale() const { return reaction_scale_; }
  /// 1 / h_d^2 of the equal cells; 0 for `general` and for a mass matrix.
  const std::array<T, 3>& axis_scale() const { return axis_scale_; }
  const std::vector<T>& shared_points() const { return shared_points_; }
  /// First entry of a batch, for `scaled` and `general`.
  const Lanes<T>* batch(Index index) const { return per_batch_.data() + index * batch_stride_; }
  Index bytes() const;

 private:
  FactorKind kind_;
  ReactionKind reaction_;
  bool is_mass_;
  double reaction_scale_ = 1.0;
  std::array<T, 3> axis_scale_{};
  std::vector<T> shared_points_;  // [q]
  Index batch_stride_ = 0;
  HostArray<Lanes<T>> per_batch_;
};

/// @throws BadFieldValue for a reaction that is not finite, or has a sign that it must not have
void check_reaction(const BoxMesh& mesh, double c, ReactionSign sign);

/// The bytes that the factors of a mesh will take, known before they are made.
Index geometric_factor_bytes(FactorKind kind, ReactionKind reaction, int dimension, Index cells,
                             int points_per_axis, Index value_bytes);

/// Whether a pass over all cells goes on.
enum class Pass { goes_on, ends };

/// Takes the factors of kLanes<double> cells of a batch, from lane `first_lane` on: D_q [q][entry]
/// and behind them, where there is a reaction, w_q |J| c [q], without c where that is a number.
using TakeFactors =
    std::function<Pass(const CellBatch& batch, int first_lane, const Lanes<double>* factors)>;

/// Computes factors of FactorKind::general, D_q of a coefficient that is not 0, in double precision
/// for any width of batches and hands them to `take`, which several threads call, each for bricks
/// of its own. Once it says so, the pass ends with the cells that threads are at.
/// @throws as the constructor of GeometricFactors, unless it has ended before all cells were seen
void for_each_general_factors(const Discretization& discretization, const CellBatches& batches,
                              const ScalarField& coefficient, const ScalarField& reaction,
                              const FieldContext& context, const TakeFactors& take);

/// Evaluates Jacobians, coefficient and reaction at every quadrature point, and keeps nothing.
/// @throws as the constructor of GeometricFactors
void check_geometry(const Discretization& discretization, const ScalarField& coefficient,
                    const ScalarField& reaction = constant_field(0.0),
                    const FieldContext& context = {});

/// k and c at the quadrature points, each [batch][q][lane]; empty if it is constant.
template <class T>
struct FieldsAtPoints {
  HostArray<Lanes<T>> coefficient;
  HostArray<Lanes<T>> reaction;
};

/// Jacobians and fields are checked as above. @throws as the constructor of GeometricFactors
template <class T>
FieldsAtPoints<T> checked_fields(const Discretization& discretization, const CellBatches& batches,
                                 const ScalarField& coefficient, const ScalarField& reaction,
                                 const FieldContext& context);

extern template class GeometricFactors<double>;
extern template class GeometricFactors<float>;

}  // namespace tessera
