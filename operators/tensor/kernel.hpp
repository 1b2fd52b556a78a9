// This is the definition of the tensor kernel of the host.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "mesh/geometry/cell_geometry.hpp"
#include "operators/cells/prefetch.hpp"
#include "operators/tensor/cell_sweeps.hpp"
#include "operators/tensor/tensor.hpp"

namespace tessera {

template <class T, int dim, int P, int M>
TensorKernel<T, dim, P, M>::TensorKernel(const Basis1D& basis, Source source)
    : kind_(source.kind),
      reaction_(source.reaction),
      storage_(source.storage),
      factors_(std::move(source.factors)),
      geometry_(std::move(source.geometry)),
      compressed_(std::move(source.compressed)),
      nodes_(basis.node_count()),
      points_(basis.point_count()),
      collocated_(is_collocated(basis)),
      B_(split_even_odd<T>(basis.B)),
      G_(split_even_odd<T>(basis.G)),
      D_(split_even_odd<T>(basis.D)),
      B_transposed_(split_even_odd<T>(transpose(basis.B))),
      D_transposed_(split_even_odd<T>(transpose(basis.D))),
      BB_(transpose(basis.B)),
      GG_(transpose(basis.G)),
      BG_(BB_) {
  for (std::size_t e = 0; e < BB_.entries.size(); ++e) {
    const double b = BB_.entries[e];
    const double g = GG_.entries[e];
    BB_.entries[e] = b * b;
    GG_.entries[e] = g * g;
    BG_.entries[e] = b * g;
  }
}

template <class T, int dim, int P, int M>
TensorKernel<T, dim, P, M>::TensorKernel(const Basis1D& basis,
                                         std::unique_ptr<const BatchGeometry<T>> geometry)
    : TensorKernel(basis, Source{FactorKind::general, geometry->reaction(),
                                 FactorStorage::on_the_fly, nullptr, std::move(geometry)}) {}

template <class T, int dim, int P, int M>
TensorKernel<T, dim, P, M>::TensorKernel(const Basis1D& basis,
                                         std::shared_ptr<GeometricFactors<T>> factors,
                                         FactorStorage storage)
    : TensorKernel(basis, Source{factors->kind(), factors->reaction(), storage, factors}) {
  if (kind_ == FactorKind::constant) set_separable(basis);
}

template <class T, int dim, int P, int M>
TensorKernel<T, dim, P, M>::TensorKernel(const Basis1D& basis,
                                         std::unique_ptr<CompressedBatches<T>> compressed)
    : TensorKernel(basis,
                   Source{FactorKind::general, compressed->reaction(), FactorStorage::compressed,
                          nullptr, nullptr, std::move(compressed)}) {
  const std::vector<double>& weights = basis.quadrature.weights;
  const auto weighted = [&](Matrix1D matrix, auto weight_of_column) {
    for (int q = 0; q < matrix.rows; ++q) {
      for (int i = 0; i < matrix.columns; ++i) {
        matrix.entries[q * matrix.columns + i] *= weights[q] * weight_of_column(i);
      }
    }
    return split_even_odd<T>(matrix);
  };
  B_weighted_ = weighted(basis.B, [](int) { return 1.0; });
  G_weighted_ = weighted(basis.G, [](int) { return 1.0; });
  D_weighted_ = weighted(basis.D, [&](int q) { return 1.0 / weights[q]; });
  for (const double weight : tensor_weights(basis.quadrature, dim)) {
    weights_.push_back(static_cast<T>(weight));
  }
}

template <class T, int dim, int P, int M>
Updated TensorKernel<T, dim, P, M>::update(const CellBatches& batches, const BilinearForm& before,
                                           const BilinearForm& form) {
  const Discretization& discretization = *form.discretization;
  // What could not be packed may be now.
  const bool is_unpacked =
      storage_ == FactorStorage::compressed && compressed_ == nullptr && !is_mass();
  if (geometry_ != nullptr || is_unpacked || reaction_kind(form.reaction) != reaction_ ||
      factor_kind(discretization.mapping, form.coefficient, form.reaction) != kind_ ||
      tessera::is_mass(form.coefficient, form.reaction) != is_mass()) {
    return Updated::no;
  }
  if (compressed_ != nullptr) return update_compressed(batches, before, form);
  if (!differ_in_number_only(before, form)) {
    factors_->update(discretization, batches, form.coefficient, form.reaction, form.context());
  } else if (reaction_ == ReactionKind::constant) {
    factors_->update_reaction(discretization, form.coefficient, *form.reaction.constant,
                              form.reaction_sign);
  }
  if (kind_ == FactorKind::constant) set_separable(discretization.basis);
  return Updated::yes;
}

template <class T, int dim, int P, int M>
Updated TensorKernel<T, dim, P, M>::update_compressed(const CellBatches& batches,
                                                      const BilinearForm& before,
                                                      const BilinearForm& form) {
  if (!differ_in_number_only(before, form)) return compressed_->update(form, batches);
  if (reaction_ == ReactionKind::constant) compressed_->update_reaction(form);
  return Updated::yes;
}

template <class T, int dim, int P, int M>
void TensorKernel<T, dim, P, M>::set_separable(const Basis1D& basis) {
  const std::vector<double>& weights = basis.quadrature.weights;
  mass_ = split_even_odd<T>(weighted_product(basis.B, weights, 1.0));
  // A point's factor is the product of its weights and the axes' common scale.
  const double scale = factors_->shared_points()[0] / std::pow(weights[0], dim);
  for (int d = 0; d < dim; ++d) {
    Matrix1D stiffness = weighted_product(basis.G, weights, scale * factors_->axis_scale()[d]);
    if (d == 0 && reaction_ != ReactionKind::none) {
      const Matrix1D mass = weighted_product(basis.B, weights, scale * factors_->reaction_scale());
      for (std::size_t e = 0; e < mass.entries.size(); ++e) stiffness.entries[e] += mass.entries[e];
    }
    stiffness_[d] = split_even_odd<T>(stiffness);
  }
}

// u [n]^d -> U [m]^d in a; b is scratch.
template <class T, int dim, int P, int M>
void TensorKernel<T, dim, P, M>::interpolate(const Lanes<T>* u, Lanes<T>* a, Lanes<T>* b) const {
  constexpr int N = P > 0 ? P + 1 : 0;
  const int n = nodes_per_axis();
  const int m = points();
  if (collocated_) {
    const int size = static_cast<int>(power(n, dim));
    for (int i = 0; i < size; ++i) a[i] = u[i];
    return;
  }
  if constexpr (dim == 2) {
    contract<M, N, Parity::even>(B_, 1, n, u, b);  // [n][n] -> [n][m]
    contract<M, N, Parity::even>(B_, m, 1, b, a);  // [n][m] -> [m][m]
  } else {
    contract<M, N, Parity::even>(B_, 1, n * n, u, a);  // [n][n][n] -> [n][n][m]
    contract<M, N, Parity::even>(B_, m, n, a, b);      // [n][n][m] -> [n][m][m]
    contract<M, N, Parity::even>(B_, m * m, 1, b, a);  // [n][m][m] -> [m][m][m]
  }
}

// [m]^d in a -> v [n]^d; b is scratch.
template <class T, int dim, int P, int M>
void TensorKernel<T, dim, P, M>::integrate(Lanes<T>* a, Lanes<T>* b, Lanes<T>* v) const {
  constexpr int N = P > 0 ? P + 1 : 0;
  const int n = nodes_per_axis();
  const int m = points();
  if (collocated_) {
    const int size = static_cast<int>(power(n, dim));
    for (int i = 0; i < size; ++i) v[i] = a[i];
    return;
  }
  if constexpr (dim == 2) {
    contract<N, M, Parity::even>(B_transposed_, m, 1, a, b);  // [m][m] -> [n][m]
    contract<N, M, Parity::even>(B_transposed_, 1, n, b, v);  // [n][m] -> [n][n]
  } else {
    contract<N, M, Parity::even>(B_transposed_, m * m, 1, a, b);  // [m][m][m] -> [n][m][m]
    contract<N, M, Parity::even>(B_transposed_, m, n, b, a);      // [n][m][m] -> [n][n][m]
    contract<N, M, Parity::even>(B_transposed_, 1, n * n, a, v);  // [n][n][m] -> [n][n][n]
  }
}

template <class T, int dim, int P, int M>
[[gnu::always_inline]] inline void TensorKernel<T, dim, P, M>::multiply_factors(
    const Lanes<T>* factors, int first, int count, Lanes<T>* gx, Lanes<T>* gy,
    [[maybe_unused]] Lanes<T>* gz) const {
  if (kind_ == FactorKind::general) {
    constexpr int kEntries = factor_entries(dim);
    const Lanes<T>* entries = factors + Index{first} * kEntries;
    for (int q = 0; q < count; ++q, entries += kEntries) {
      if constexpr (dim == 2) {
        multiply_by_entries(entries, gx[q], gy[q]);
      } else {
        multiply_by_entries(entries, gx[q], gy[q], gz[q]);
      }
    }
    return;
  }
  const auto& scale = factors_->axis_scale();
  const bool shared = kind_ == FactorKind::constant;
  const T* shared_points = shared ? factors_->shared_points().data() + first : nullptr;
  const Lanes<T>* own_points = shared ? nullptr : factors + first;
  for (int q = 0; q < count; ++q) {
    const Lanes<T> s = shared ? broadcast(shared_points[q]) : own_points[q];
    gx[q] *= scale[0] * s;
    gy[q] *= scale[1] * s;
    if constexpr (dim == 3) gz[q] *= scale[2] * s;
  }
}

template <class T, int dim, int P, int M>
void TensorKernel<T, dim, P, M>::multiply_reaction(const Lanes<T>* factors, int first, int count,
                                                   const Lanes<T>* U, Lanes<T>* ru) const {
  const Lanes<T>* own = reaction_of(factors);
  const T scale = reaction_scale();
  for (int q = 0; q < count; ++q) {
    if (own != nullptr) {
      ru[q] = scale * own[first + q] * U[q];
    } else {
      const double shared = factors_->reaction_scale() * factors_->shared_points()[first + q];
      ru[q] = static_cast<T>(shared) * U[q];
    }
  }
}

template <class T, int dim, int P, int M>
const Lanes<T>* TensorKernel<T, dim, P, M>::compute_factors(const CellBatch& batch,
                                                            Lanes<T>* scratch) const {
  Lanes<T>* factors = scratch + work_size();
  geometry_->evaluate(batch, scratch, factors);
  return factors;
}

template <class T, int dim, int P, int M>
void TensorKernel<T, dim, P, M>::apply_factors(const Lanes<T>* factors,
                                               [[maybe_unused]] const Next& next, const Lanes<T>* u,
                                               Lanes<T>* v, Lanes<T>* scratch) const {
  if (is_mass()) return apply_mass(factors, u, v, scratch);
  if constexpr (dim == 2 && P > 0) return apply_2d(factors, next, u, v, scratch);
  if constexpr (dim == 3 && P > 0) return apply_3d(factors, next, u, v, scratch);
  const int m = points();
  const int plane = m * m;
  const int volume = static_cast<int>(power(m, dim));
  Lanes<T>* a = scratch;
  Lanes<T>* b = a + volume;
  Lanes<T>* gx = b + volume;
  Lanes<T>* gy = gx + plane;
  Lanes<T>* ru = gy + plane;
  const bool reacts = reaction_ != ReactionKind::none;
  const auto add_reaction = [&](Lanes<T>* to) {
    for (int q = 0; q < plane; ++q) to[q] += ru[q];
  };

  interpolate(u, a, b);
  if constexpr (dim == 2) {
    if (reacts) multiply_reaction(factors, 0, plane, a, ru);
    contract<M, M, Parity::odd>(D_, 1, m, a, gx);
    contract<M, M, Parity::odd>(D_, m, 1, a, gy);
    multiply_factors(factors, 0, plane, gx, gy, nullptr);
    contract<M, M, Parity::odd>(D_transposed_, 1, m, gx, a);
    contract<M, M, Parity::odd, Store::add>(D_transposed_, m, 1, gy, a);
    if (reacts) add_reaction(a);
  } else {
    contract<M, M, Parity::odd>(D_, plane, 1, a, b);  // b = dU/dz, [m][m][m]
    for (int k = 0; k < m; ++k) {                     // a, b: one z plane [m][m] at a time
      Lanes<T>* a_k = a + k * plane;
      Lanes<T>* b_k = b + k * plane;
      if (reacts) multiply_reaction(factors, k * plane, plane, a_k, ru);
      contract<M, M, Parity::odd>(D_, 1, m, a_k, gx);
      contract<M, M, Parity::odd>(D_, m, 1, a_k, gy);
      multiply_factors(factors, k * plane, plane, gx, gy, b_k);
      contract<M, M, Parity::odd>(D_transposed_, 1, m, gx, a_k);
      contract<M, M, Parity::odd, Store::add>(D_transposed_, m, 1, gy, a_k);
      if (reacts) add_reaction(a_k);
    }
    contract<M, M, Parity::odd, Store::add>(D_transposed_, plane, 1, b, a);
  }
  integrate(a, b, v);
}

template <class T, int dim, int P, int M>
void TensorKernel<T, dim, P, M>::apply_mass(const Lanes<T>* factors, const Lanes<T>* u, Lanes<T>* v,
                                            Lanes<T>* scratch) const {
  constexpr int N = P > 0 ? P + 1 : 0;
  const int n = nodes_per_axis();
  const int volume = static_cast<int>(power(points(), dim));
  Lanes<T>* a = scratch;
  if (kind_ == FactorKind::constant) {
    // The matrix of x has the reaction.
    contract<N, N, Parity::even>(stiffness_[0], 1, static_cast<int>(power(n, dim - 1)), u, v);
    for (int d = 1; d < dim; ++d) {
      contract<N, N, Parity::even>(mass_, static_cast<int>(power(n, d)),
                                   static_cast<int>(power(n, dim - 1 - d)), v, v);
    }
    return;
  }
  interpolate(u, a, a + volume);
  multiply_reaction(factors, 0, volume, a, a);
  integrate(a, a + volume, v);
}

template <class T, int dim, int P, int M>
double TensorKernel<T, dim, P, M>::flops_per_cell() const {
  const double n = nodes_per_axis();
  const double m = points();
  if (is_mass() && kind_ == FactorKind::constant) {
    return dim * std::pow(n, dim - 1) * even_odd_line_flops(nodes_per_axis(), nodes_per_axis());
  }
  constexpr bool kCompiled3d = dim == 3 && P > 0;
  if (kCompiled3d && kind_ == FactorKind::constant) {
    return n * n * (7.0 * n * n + 10.0 * n);  // products; lines folded and unfolded
  }
  // Compressed factors have quadrature weights in B.
  const bool interpolates = !collocated_ || compressed_ != nullptr;
  double sweeps = 0.0;
  if (interpolates) {
    for (int d = 0; d < dim; ++d) {
      sweeps += 2.0 * static_cast<double>(std::pow(m, d) * std::pow(n, dim - 1 - d)) *
                even_odd_line_flops(m, n);
    }
  }
  if (is_mass()) return sweeps + 2.0 * std::pow(m, dim);
  const double computing = geometry_ == nullptr ? 0.0 : geometry_->flops_per_cell();
  if constexpr (dim == 2 && P > 0) return flops_per_cell_2d() + computing;
  // Compiled, the z derivative is from the nodes and shares its lines with the values, if these are
  // not the nodes'; on the way back the two are added as halves.
  const bool shares_lines = kCompiled3d && interpolates;
  const double last = shares_lines ? m * n + m : even_odd_line_flops(m, m);
  sweeps += 2.0 * std::pow(m, dim - 1) * ((dim - 1) * even_odd_line_flops(m, m) + last);
  const double at_point = (kind_ == FactorKind::general ? dim * (2.0 * dim - 1.0) : 2.0 * dim) +
                          (reaction_ == ReactionKind::none ? 0.0
                           : kind_ == FactorKind::constant ? 2.0
                                                           : 3.0) +
                          (compressed_ == nullptr ? 0.0 : 6.0);  // offsets
  const double sums = shares_lines ? 1.0 : dim - 1.0;
  return sweeps + std::pow(m, dim) * (at_point + sums) + computing;
}

}  // namespace tessera
