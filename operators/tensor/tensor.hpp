// The strategy tensor evaluates B^T D B by 1D matrices, axis after axis.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "mesh/element/sum_factorization.hpp"
#include "mesh/geometry/geometric_factors.hpp"
#include "operators/cells/cell_kernel.hpp"
#include "operators/cells/prefetch.hpp"
#include "operators/cells/scatter.hpp"
#include "operators/form/bilinear_form.hpp"
#include "operators/form/factor_storage.hpp"
#include "operators/form/updatable.hpp"
#include "operators/tensor/batch_geometry.hpp"
#include "operators/tensor/cell_sweeps.hpp"
#include "operators/tensor/compressed/batches.hpp"
#include "operators/tensor/with_rule.hpp"
#include "solvers/linear_operator.hpp"

namespace tessera {

/// One batch of cells by sum factorization: v = B^T D B u with B split into 1D matrices.
///
/// With n = p + 1 nodes and m quadrature points an axis, per cell (3D; z is the slowest index):
///   u [n][n][n] -> B along x, y, z -> U [m][m][m] -> D along each axis -> grad U [3][m][m][m]
///   -> D_q at each point -> D^T along each axis, summed -> [m][m][m] -> B^T -> v [n][n][n]
/// and with a reaction r_q U is added to the sum at the points. Of a mass matrix only that is left:
/// v = B^T r_q B u, of equal cells with a constant M x M x M.
/// (Kronbichler and Kormann 2012, section 3; the collocation derivative as in Deville, Fischer and
/// Mund 2002, section 8.1). The x and y derivatives are taken plane by plane to stay in the L1
/// cache.
///
/// @tparam P degree, M points an axis; 0 = known at run time only (any degree, slower).
template <class T, int dim, int P, int M>
class TensorKernel {
 public:
  using value_type = T;
  static constexpr int dimension = dim;
  static constexpr int degree = P;
  static constexpr bool kTakesCells = false;
  /// Whether apply() asks for rows. Mass matrices do not: they compute so little that the requests
  /// would come all at once, which is slower at high degrees.
  static constexpr bool kAsksForRows = dim == 3 && P >= kMinDegreeToAsk;
  /// Whether there is a kernel for compressed factors.
  static constexpr bool kCanBeCompressed = dim == 3 && P > 0;

  /// With stored factors, also where `storage` was asked for and is of no use: D_q = 0, or numbers
  /// that cannot be packed.
  TensorKernel(const Basis1D& basis, std::shared_ptr<GeometricFactors<T>> factors,
               FactorStorage storage = FactorStorage::stored);
  /// With compressed factors, where kCanBeCompressed.
  TensorKernel(const Basis1D& basis, std::unique_ptr<CompressedBatches<T>> compressed);
  /// With factors that are computed in every application.
  TensorKernel(const Basis1D& basis, std::unique_ptr<const BatchGeometry<T>> geometry);

  static constexpr std::string_view name() { return "tensor"; }
  /// How it stores general factors; nothing with others, which have one way.
  std::optional<FactorStorage> factor_storage() const {
    return kind_ == FactorKind::general ? std::optional(storage_) : std::nullopt;
  }
  int nodes_per_axis() const { return P > 0 ? P + 1 : nodes_; }
  /// Lanes<T> values that apply() and diagonal() need as scratch.
  Index scratch_size() const {
    const bool is_written = geometry_ != nullptr || compressed_ != nullptr;
    return work_size() +
           (is_written ? factor_values(FactorKind::general, reaction_, dim) * power(points(), dim)
                       : 0);
  }
  /// v[i] = sum_j K_c[i][j] u[j] for the cells of a batch, i x fastest: with stored factors by its
  /// number, with computed ones by its cells. Where kAsksForRows, `rows` are
  /// asked for meanwhile.
  void apply(Index batch, const Lanes<T>* u, Lanes<T>* v, Lanes<T>* scratch,
             const RowsAhead<T>& rows = {}) const {
    if constexpr (kCanBeCompressed) {
      if (compressed_ != nullptr) {
        return with_packed_bits<T>(compressed_->bits(), [&]<CompressedBits bits>() {
          apply_compressed<bits>(batch, rows, u, v, scratch);
        });
      }
    }
    apply_factors(factors_->batch(batch), {factors_->batch(batch + 1), rows}, u, v, scratch);
  }
  void apply(const CellBatch& batch, const Lanes<T>* u, Lanes<T>* v, Lanes<T>* scratch) const {
    if (geometry_ == nullptr) return apply(batch.index, u, v, scratch);
    const Lanes<T>* factors = compute_factors(batch, scratch);
    apply_factors(factors, {factors, {}}, u, v, scratch);
  }
  /// d[i] = K_c[i][i], by contracting D_q with the squares and products of B and G.
  void diagonal(Index batch, Lanes<T>* d, Lanes<T>* scratch) const {
    diagonal_of(stored_factors(batch, scratch), d, scratch);
  }
  void diagonal(const CellBatch& batch, Lanes<T>* d, Lanes<T>* scratch) const {
    if (geometry_ == nullptr) return diagonal(batch.index, d, scratch);
    diagonal_of(compute_factors(batch, scratch), d, scratch);
  }

  /// As Updatable. @param before the form that it is of
  Updated update(const CellBatches& batches, const BilinearForm& before, const BilinearForm& form);

  double flops_per_cell() const;
  Index bytes() const {
    return compressed_ != nullptr ? compressed_->bytes()
           : geometry_ != nullptr ? geometry_->bytes()
                                  : factors_->bytes();
  }
  /// What an application reads beside x.
  Index streamed_bytes() const {
    return geometry_ == nullptr ? bytes() : geometry_->streamed_bytes();
  }

 private:
  /// Where the factors come from: one of the three.
  struct Source {
    FactorKind kind;
    ReactionKind reaction;
    FactorStorage storage;  ///< what is asked for
    std::shared_ptr<GeometricFactors<T>> factors = nullptr;
    std::unique_ptr<const BatchGeometry<T>> geometry = nullptr;
    std::unique_ptr<CompressedBatches<T>> compressed = nullptr;
  };
  TensorKernel(const Basis1D& basis, Source source);

  int points() const { return M > 0 ? M : points_; }
  Points where_points_are() const { return collocated_ ? Points::nodes : Points::own; }
  double flops_per_cell_2d() const;
  Updated update_compressed(const CellBatches& batches, const BilinearForm& before,
                            const BilinearForm& form);
  /// Sets the matrices of equal cells.
  void set_separable(const Basis1D& basis);
  /// What the values of reaction_of() are multiplied by.
  T reaction_scale() const {
    return compressed_ != nullptr ? static_cast<T>(compressed_->reaction_scale())
           : geometry_ != nullptr ? T{1}
                                  : static_cast<T>(factors_->reaction_scale());
  }
  /// Scratch of apply() and, before it, of geometry_.
  Index work_size() const {
    const Index m = points();
    const Index own = 2 * power(m, dim) + 3 * m * m;
    return geometry_ == nullptr ? own : std::max(own, geometry_->scratch_size());
  }
  /// The factors of a batch as GeometricFactors has them; those that are computed or unpacked lie
  /// behind the first work_size() values of scratch.
  const Lanes<T>* stored_factors(Index batch, Lanes<T>* scratch) const {
    if (compressed_ == nullptr) return factors_->batch(batch);
    return with_packed_bits<T>(compressed_->bits(), [&]<CompressedBits bits>() {
      return unpack_factors<bits>(batch, scratch);
    });
  }
  const Lanes<T>* compute_factors(const CellBatch& batch, Lanes<T>* scratch) const;
  template <CompressedBits bits>
  const Lanes<T>* unpack_factors(Index batch, Lanes<T>* scratch) const;
  /// What the next batch reads.
  struct Next {
    const Lanes<T>* factors;
    RowsAhead<T> rows;
  };
  void apply_factors(const Lanes<T>* factors, const Next& next, const Lanes<T>* u, Lanes<T>* v,
                     Lanes<T>* scratch) const;
  void diagonal_of(const Lanes<T>* factors, Lanes<T>* d, Lanes<T>* scratch) const;
  void sum_points_of_axis(const Matrix1D& matrix, Index fast, Index slow, const Lanes<T>* in,
                          Lanes<T>* out) const;
  bool is_mass() const { return factors_ != nullptr && factors_->is_mass(); }
  void apply_mass(const Lanes<T>* factors, const Lanes<T>* u, Lanes<T>* v, Lanes<T>* scratch) const;
  /// r_q / reaction_scale() of a batch whose factors are given, where they are stored or computed;
  /// else null.
  const Lanes<T>* reaction_of(const Lanes<T>* factors) const {
    if (reaction_ == ReactionKind::none || kind_ == FactorKind::constant) return nullptr;
    if (is_mass()) return factors;
    return factors + factor_values(kind_, ReactionKind::none, dim) * power(points(), dim);
  }
  /// ru[q] = r_q U[q] at the points first .. first + count - 1 of a batch.
  void multiply_reaction(const Lanes<T>* factors, int first, int count, const Lanes<T>* U,
                         Lanes<T>* ru) const;
  /// apply_factors() with sizes known at compile time.
  void apply_3d(const Lanes<T>* factors, const Next& next, const Lanes<T>* u, Lanes<T>* v,
                Lanes<T>* scratch) const;
  void apply_2d(const Lanes<T>* factors, const Next& next, const Lanes<T>* u, Lanes<T>* v,
                Lanes<T>* scratch) const;
  /// apply_factors() of compressed factors.
  template <CompressedBits bits>
  void apply_compressed(Index batch, const RowsAhead<T>& rows, const Lanes<T>* u, Lanes<T>* v,
                        Lanes<T>* scratch) const;
  void interpolate(const Lanes<T>* u, Lanes<T>* a, Lanes<T>* b) const;
  void integrate(Lanes<T>* a, Lanes<T>* b, Lanes<T>* v) const;
  /// (gx, gy, gz) = D_q (gx, gy, gz) at the points first .. first + count - 1 of a batch.
  void multiply_factors(const Lanes<T>* factors, int first, int count, Lanes<T>* gx, Lanes<T>* gy,
                        Lanes<T>* gz) const;

  FactorKind kind_;
  ReactionKind reaction_;
  FactorStorage storage_;
  std::shared_ptr<GeometricFactors<T>> factors_;
  std::unique_ptr<const BatchGeometry<T>> geometry_;
  std::unique_ptr<CompressedBatches<T>> compressed_;
  int nodes_;
  int points_;
  bool collocated_;
  EvenOddMatrix<T> B_, G_, D_, B_transposed_, D_transposed_;
  /// Compressed factors only, which come without the quadrature weights W: W B, W G and W D W^-1.
  EvenOddMatrix<T> B_weighted_, G_weighted_, D_weighted_;
  std::vector<T> weights_;
  /// Equal cells only: M = B^T W B and s_d K = s_d G^T W G of each axis; that of x has the reaction
  /// as a multiple of M.
  EvenOddMatrix<T> mass_;
  std::array<EvenOddMatrix<T>, 3> stiffness_;
  /// Entry products of the 1D matrices, transposed: [i][q] of B B, G G and B G.
  Matrix1D BB_, GG_, BG_;
};

/// A = sum_c P_c B^T D B P_c^T with the tensor kernel for this dimension, degree and rule.
/// @throws as GeometricFactors
template <class T>
std::unique_ptr<LinearOperator<T, Host>> make_tensor_operator(
    const BilinearForm& form, FactorStorage storage, std::shared_ptr<const CellBatches> batches,
    std::unique_ptr<Scatter<T>> scatter);

}  // namespace tessera
