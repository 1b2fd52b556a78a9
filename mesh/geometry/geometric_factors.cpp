// This file computes geometric factors and checks Jacobians and coefficients on the way.
#include "mesh/geometry/geometric_factors.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>

#include "mesh/errors.hpp"
#include "mesh/geometry/cell_geometry.hpp"
#include "mesh/geometry/symmetric_factors.hpp"
#include "mesh/partition.hpp"
#include "mesh/saturated.hpp"

namespace tessera {
namespace {

// The failure of the lowest cell, whichever thread met it.
struct FirstFailure {
  Index cell = std::numeric_limits<Index>::max();
  bool inverted = false;
  double value = 0.0;
  Point where{};
};

void check_cell(const BoxMesh& mesh, std::span<const IndexTriple> cells,
                const CellGeometry& geometry, const std::vector<double>& k, FirstFailure& first) {
  for (std::size_t lane = 0; lane < cells.size(); ++lane) {
    const Index cell = mesh.cell_index(cells[lane]);
    if (cell >= first.cell) continue;
    for (int q = 0; q < geometry.points_per_cell(); ++q) {
      const double determinant = geometry.determinant()[q][lane];
      const double coefficient = k[q * kLanes<double> + lane];
      const bool inverted = !(determinant > 0.0);
      const bool usable = coefficient > 0.0 && std::isfinite(coefficient);
      if (!inverted && usable) continue;
      first = {cell,
               inverted,
               inverted ? determinant : coefficient,
               {geometry.position(0)[q][lane], geometry.position(1)[q][lane],
                geometry.position(2)[q][lane]}};
      break;
    }
  }
}

// The entries of D_q at point q of these cells.
template <int dim>
void factors_at(const CellGeometry& geometry, int q, Lanes<double> scale, Lanes<double>* entries) {
  Lanes<double> J[dim][dim];
  for (int a = 0; a < dim; ++a) {
    for (int b = 0; b < dim; ++b) J[a][b] = geometry.jacobian(a, b)[q];
  }
  symmetric_factors(J, scale, entries);
}

// Evaluates the geometry and the coefficient k of the cells of every batch, kLanes<double> cells at
// a time, checks them, and calls f(batch, first lane, geometry, k [q][lane]). Parallel.
template <class F>
void for_each_evaluated(const Discretization& discretization, const CellBatches& batches,
                        const ScalarField& coefficient, F&& f) {
  FirstFailure first;
  parallel_ranges(static_cast<Index>(batches.bricks().size()), [&](Range range) {
    CellGeometry geometry(discretization, discretization.basis);
    std::vector<double> k(static_cast<std::size_t>(geometry.points_per_cell()) * kLanes<double>,
                          coefficient.constant.value_or(0.0));
    FirstFailure mine;
    for (Index b = range.begin; b < range.end; ++b) {
      batches.for_each_batch(batches.bricks()[b], [&](const CellBatch& batch) {
        for (int lane = 0; lane < batches.lanes(); lane += kLanes<double>) {
          const std::span<const IndexTriple> cells(batch.cells.data() + lane, kLanes<double>);
          geometry.evaluate(cells);
          if (!coefficient.constant) coefficient.evaluate(geometry.positions(), k.data());
          check_cell(discretization.mesh, cells, geometry, k, mine);
          f(batch, lane, geometry, k);
        }
      });
    }
#pragma omp critical(tessera_first_failure)
    if (mine.cell < first.cell) first = mine;
  });
  if (first.cell == std::numeric_limits<Index>::max()) return;
  const Point where = discretization.frame.physical(first.where);
  if (first.inverted) {
    const int dimension = discretization.mesh.dimension();
    throw InvertedCell(discretization.mesh.cell_position(first.cell), dimension,
                       first.value * discretization.frame.volume(dimension), where);
  }
  throw BadFieldValue("the coefficient must be positive and finite", where, first.value);
}

void check_constant_coefficient(const BoxMesh& mesh, double k) {
  if (!(k > 0.0) || !std::isfinite(k)) {
    throw BadFieldValue("the coefficient must be positive and finite", mesh.lower(), k);
  }
}

}  // namespace

FactorKind factor_kind(const Mapping& mapping, const ScalarField& coefficient) {
  if (!mapping.has_equal_cells()) return FactorKind::general;
  return coefficient.constant ? FactorKind::constant : FactorKind::scaled;
}

Index geometric_factor_bytes(FactorKind kind, int dimension, Index cells, int points_per_axis,
                             Index value_bytes) {
  const Index points = power(points_per_axis, dimension);
  if (kind == FactorKind::constant) return points * value_bytes;
  const Index entries = kind == FactorKind::general ? factor_entries(dimension) : 1;
  return Saturated(cells) * points * entries * value_bytes;
}

template <class T>
GeometricFactors<T>::GeometricFactors(const Discretization& discretization,
                                      const CellBatches& batches, const ScalarField& coefficient)
    : kind_(factor_kind(discretization.mapping, coefficient)) {
  if (batches.lanes() != kLanes<T>) throw std::invalid_argument("batches of another width");
  const BoxMesh& mesh = discretization.mesh;
  const int dimension = mesh.dimension();
  double volume = 1.0;
  for (int d = 0; kind_ != FactorKind::general && d < dimension; ++d) {
    const double width = mesh.cell_width(d, 0);
    volume *= width;
    axis_scale_[d] = static_cast<T>(1.0 / (width * width));
  }
  const std::vector<double> weights = tensor_weights(discretization.basis.quadrature, dimension);
  if (kind_ == FactorKind::constant) {
    const double k = *coefficient.constant;
    check_constant_coefficient(mesh, k);
    for (const double w : weights) shared_points_.push_back(static_cast<T>(w * volume * k));
    return;
  }
  const Index entries = kind_ == FactorKind::general ? factor_entries(dimension) : 1;
  batch_stride_ = static_cast<Index>(weights.size()) * entries;
  per_batch_.resize(static_cast<std::size_t>(batches.batch_count() * batch_stride_));
  for_each_evaluated(discretization, batches, coefficient,
                     [&](const CellBatch& batch, int first_lane, const CellGeometry& geometry,
                         const std::vector<double>& k_of_point) {
                       Lanes<T>* out = per_batch_.data() + batch.index * batch_stride_;
                       for (int q = 0; q < geometry.points_per_cell(); ++q, out += entries) {
                         Lanes<double> scale;
                         for (int lane = 0; lane < kLanes<double>; ++lane) {
                           scale[lane] =
                               k_of_point[q * kLanes<double> + lane] * geometry.weights()[q];
                         }
                         Lanes<double> values[6];
                         if (kind_ != FactorKind::general) {
                           values[0] = scale * geometry.determinant()[q];
                         } else if (dimension == 2) {
                           factors_at<2>(geometry, q, scale, values);
                         } else {
                           factors_at<3>(geometry, q, scale, values);
                         }
                         for (Index entry = 0; entry < entries; ++entry) {
                           for (int lane = 0; lane < kLanes<double>; ++lane) {
                             out[entry][first_lane + lane] = static_cast<T>(values[entry][lane]);
                           }
                         }
                       }
                     });
}

template <class T>
Index GeometricFactors<T>::bytes() const {
  return static_cast<Index>(shared_points_.size() * sizeof(T) +
                            per_batch_.size() * sizeof(Lanes<T>));
}

void check_geometry(const Discretization& discretization, const ScalarField& coefficient) {
  if (factor_kind(discretization.mapping, coefficient) == FactorKind::constant) {
    check_constant_coefficient(discretization.mesh, *coefficient.constant);
    return;
  }
  const CellBatches batches(discretization.mesh, kLanes<double>,
                            power(discretization.basis.point_count(), 3) * sizeof(double),
                            omp_get_max_threads());
  for_each_evaluated(discretization, batches, coefficient, [](const auto&...) {});
}

template <class T>
HostArray<Lanes<T>> checked_coefficient(const Discretization& discretization,
                                        const CellBatches& batches,
                                        const ScalarField& coefficient) {
  const Index points = power(discretization.basis.point_count(), discretization.mesh.dimension());
  HostArray<Lanes<T>> values;
  if (!coefficient.constant)
    values.resize(static_cast<std::size_t>(batches.batch_count() * points));
  for_each_evaluated(discretization, batches, coefficient,
                     [&](const CellBatch& batch, int first_lane, const CellGeometry&,
                         const std::vector<double>& k_of_point) {
                       if (coefficient.constant) return;
                       Lanes<T>* out = values.data() + batch.index * points;
                       for (Index q = 0; q < points; ++q) {
                         for (int lane = 0; lane < kLanes<double>; ++lane) {
                           out[q][first_lane + lane] =
                               static_cast<T>(k_of_point[q * kLanes<double> + lane]);
                         }
                       }
                     });
  return values;
}

template HostArray<Lanes<double>> checked_coefficient<double>(const Discretization&,
                                                              const CellBatches&,
                                                              const ScalarField&);
template HostArray<Lanes<float>> checked_coefficient<float>(const Discretization&,
                                                            const CellBatches&, const ScalarField&);
template class GeometricFactors<double>;
template class GeometricFactors<float>;

}  // namespace tessera
