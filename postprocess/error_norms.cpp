// This file evaluates solutions at quadrature points and sums in a fixed order.
#include "postprocess/error_norms.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "mesh/errors.hpp"
#include "mesh/field/program_field.hpp"
#include "mesh/geometry/cell_geometry.hpp"
#include "mesh/partition.hpp"
#include "postprocess/product_on_cells.hpp"
#include "solvers/interruption.hpp"

namespace tessera {
namespace {

constexpr Index kBatchesPerBlock = 16;
constexpr Index kNodeBlock = 1024;

Basis1D norm_basis(const Discretization& discretization) {
  const Basis1D& basis = discretization.basis;
  return make_basis(basis.degree, basis.family, QuadratureRule::gauss, basis.degree + kExtraPoints);
}

/// A batch of cells at the quadrature points of the norms.
class CellIntegrals {
 public:
  explicit CellIntegrals(const Discretization& discretization)
      : discretization_(discretization),
        basis_(norm_basis(discretization)),
        geometry_(discretization, basis_),
        nodal_(static_cast<std::size_t>(geometry_.evaluator().nodes_per_cell())),
        values_(points()),
        field_(points()),
        dimension_(discretization.mesh.dimension()) {
    for (auto& component : gradient_) component.resize(points());
  }

  std::size_t points() const { return static_cast<std::size_t>(geometry_.points_per_cell()); }

  /// Moves to cells first .. first + kLanes - 1; lanes beyond the mesh weigh nothing.
  void visit(Index first) {
    const Index count = discretization_.mesh.cell_count();
    std::array<IndexTriple, kLanes<double>> cells;
    for (int lane = 0; lane < kLanes<double>; ++lane) {
      cells[lane] = discretization_.mesh.cell_position(std::min(first + lane, count - 1));
      weight_[lane] = first + lane < count ? 1.0 : 0.0;
    }
    cells_ = cells;
    geometry_.evaluate(cells_);
  }
  /// @throws InvertedCell unless all Jacobian determinants are positive.
  void require_positive_determinants() const;
  /// w_q |J|.
  Lanes<double> measure(std::size_t q) const {
    return weight_ * geometry_.weights()[q] * geometry_.determinant()[q];
  }
  /// values = u_h at the points.
  const HostArray<Lanes<double>>& evaluate(std::span<const double> u) {
    gather_cells(discretization_.lattice, cells_, u.data(), nodal_.data());
    geometry_.evaluator().values(nodal_.data(), values_.data());
    return values_;
  }
  /// values -= field at the points.
  void subtract(const ScalarField& field) {
    const HostArray<Lanes<double>>& at_points = evaluate(field);
    for (std::size_t q = 0; q < points(); ++q) values_[q] -= at_points[q];
  }
  /// The field at the points; where it depends on u, at the present values.
  const HostArray<Lanes<double>>& evaluate(const ScalarField& field) {
    PointBlock positions = geometry_.positions();
    if (field.depends_on_u) positions.u = reinterpret_cast<const double*>(values_.data());
    field.evaluate(positions, reinterpret_cast<double*>(field_.data()));
    return field_;
  }
  /// values -= the product at the points, whose gradient is then that of gradient_error_squared().
  void subtract(const ProductOnCells& product) {
    product.gather(cells_, lines_);
    const auto& [fx, fy, fz] = lines_.value;
    const auto& [gx, gy, gz] = lines_.slope;
    for (auto& component : field_gradient_) component.resize(points());
    std::size_t q = 0;
    for (std::size_t z = 0; z < fz.size(); ++z) {
      for (std::size_t y = 0; y < fy.size(); ++y) {
        const Lanes<double> of_yz = fy[y] * fz[z];
        const Lanes<double> along_y = gy[y] * fz[z];
        const Lanes<double> along_z = fy[y] * gz[z];
        for (std::size_t x = 0; x < fx.size(); ++x, ++q) {
          values_[q] -= fx[x] * of_yz;
          field_gradient_[0][q] = gx[x] * of_yz;
          field_gradient_[1][q] = fx[x] * along_y;
          field_gradient_[2][q] = fx[x] * along_z;
        }
      }
    }
  }
  /// Prepares |grad|^2 of the polynomial that has the present values at the points.
  void differentiate() {
    geometry_.evaluator().differentiate(
        values_.data(), {gradient_[0].data(), gradient_[1].data(), gradient_[2].data()});
  }
  /// grad of the same polynomial at point q.
  std::array<Lanes<double>, 3> gradient(std::size_t q) const;
  Lanes<double> gradient_squared(std::size_t q) const { return squared(gradient(q)); }
  /// |grad of the polynomial - grad of a field|^2 for the gradient of field_gradient().
  Lanes<double> gradient_error_squared(std::size_t q) const {
    std::array<Lanes<double>, 3> difference = gradient(q);
    for (int d = 0; d < dimension_; ++d) difference[d] -= field_gradient_[d][q];
    return squared(difference);
  }
  /// Evaluates the derivatives of a field at the points.
  void evaluate_gradient_of(const FieldProgram& field) {
    std::array<double*, 3> to;
    for (int d = 0; d < 3; ++d) {
      field_gradient_[d].resize(points());
      to[d] = reinterpret_cast<double*>(field_gradient_[d].data());
    }
    evaluate_gradient(field, geometry_.positions(), to);
  }

 private:
  static Lanes<double> squared(const std::array<Lanes<double>, 3>& vector) {
    return vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2];
  }

  Lanes<double> weight_{};
  const Discretization& discretization_;
  Basis1D basis_;
  CellGeometry geometry_;
  std::array<IndexTriple, kLanes<double>> cells_{};
  HostArray<Lanes<double>> nodal_;
  HostArray<Lanes<double>> values_;
  HostArray<Lanes<double>> field_;
  std::array<HostArray<Lanes<double>>, 3> gradient_;
  std::array<HostArray<Lanes<double>>, 3> field_gradient_;
  ProductOnCells::Lines lines_;
  int dimension_;
};

void CellIntegrals::require_positive_determinants() const {
  Lanes<double> least = geometry_.determinant()[0];
  for (std::size_t q = 1; q < points(); ++q) {
    const Lanes<double> determinant = geometry_.determinant()[q];
    least = determinant < least ? determinant : least;
  }
  for (int lane = 0; lane < kLanes<double>; ++lane) {
    if (least[lane] > 0.0) continue;
    std::size_t q = 0;
    while (geometry_.determinant()[q][lane] > 0.0) ++q;
    const Frame& frame = discretization_.frame;
    throw InvertedCell(
        discretization_.mesh.position_in_whole(cells_[lane]), dimension_,
        geometry_.determinant()[q][lane] * frame.volume(dimension_),
        frame.physical({geometry_.position(0)[q][lane], geometry_.position(1)[q][lane],
                        geometry_.position(2)[q][lane]}));
  }
}

// J^-T g with J^-T = cofactors / determinant.
std::array<Lanes<double>, 3> CellIntegrals::gradient(std::size_t q) const {
  const auto J = [&](int a, int b) { return geometry_.jacobian(a, b)[q]; };
  const Lanes<double> inverse = 1.0 / geometry_.determinant()[q];
  std::array<Lanes<double>, 3> result{};
  if (dimension_ == 2) {
    result[0] = (J(1, 1) * gradient_[0][q] - J(1, 0) * gradient_[1][q]) * inverse;
    result[1] = (J(0, 0) * gradient_[1][q] - J(0, 1) * gradient_[0][q]) * inverse;
    return result;
  }
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < 3; ++b) result[a] += geometry_.cofactor(a, b, q) * gradient_[b][q];
    result[a] *= inverse;
  }
  return result;
}

/// Sums f(cells, sums) over all batches: f adds into `count` sums of lanes.
template <std::size_t count, class F>
std::array<double, count> sum_over_cells(const Discretization& discretization, F&& f) {
  const Index batches = ceil_div(discretization.mesh.cell_count(), kLanes<double>);
  const Index blocks = ceil_div(batches, kBatchesPerBlock);
  std::vector<std::array<double, count>> partial(static_cast<std::size_t>(blocks));
  parallel_ranges(blocks, [&](Range range) {
    CellIntegrals cells(discretization);
    for (Index block = range.begin; block < range.end; ++block) {
      std::array<Lanes<double>, count> sums{};
      const Index end = std::min(batches, (block + 1) * kBatchesPerBlock);
      for (Index batch = block * kBatchesPerBlock; batch < end; ++batch) {
        cells.visit(batch * kLanes<double>);
        f(cells, sums);
      }
      for (std::size_t k = 0; k < count; ++k) {
        partial[block][k] = 0.0;
        for (int lane = 0; lane < kLanes<double>; ++lane) partial[block][k] += sums[k][lane];
      }
    }
  });
  std::array<double, count> total{};
  for (const auto& sums : partial) {
    for (std::size_t k = 0; k < count; ++k) total[k] += sums[k];
  }
  return total;
}

template <class Values>
MeanParts mean_parts_of(const Discretization& discretization, const Values& of) {
  const auto [volume, integral] = sum_over_cells<2>(
      discretization, [&](CellIntegrals& cells, std::array<Lanes<double>, 2>& sums) {
        const auto& values = cells.evaluate(of);
        for (std::size_t q = 0; q < cells.points(); ++q) {
          sums[0] += cells.measure(q);
          sums[1] += cells.measure(q) * values[q];
        }
      });
  return {integral, volume};
}

// The larger one, or NaN if either is NaN.
double max_or_nan(double a, double b) { return std::isnan(a) || a > b ? a : b; }

}  // namespace

std::array<double, 2> extrema(std::span<const double> u) {
  double least = u[0];
  double largest = u[0];
  bool has_nan = false;
#pragma omp parallel for schedule(static) reduction(min                           \
                                                    : least) reduction(max        \
                                                                       : largest) \
    reduction(||                                                                  \
              : has_nan)
  for (std::size_t i = 0; i < u.size(); ++i) {
    least = std::min(least, u[i]);
    largest = std::max(largest, u[i]);
    has_nan = has_nan || std::isnan(u[i]);
  }
  if (has_nan) least = largest = std::numeric_limits<double>::quiet_NaN();
  return {least, largest};
}

SolutionNumbers solution_numbers(const Discretization& discretization, std::span<const double> u,
                                 const ScalarField& coefficient) {
  const auto [volume, integral, energy] = sum_over_cells<3>(
      discretization, [&](CellIntegrals& cells, std::array<Lanes<double>, 3>& sums) {
        cells.require_positive_determinants();
        const auto& values = cells.evaluate(u);
        cells.differentiate();
        const auto& k = cells.evaluate(coefficient);
        for (std::size_t q = 0; q < cells.points(); ++q) {
          const Lanes<double> measure = cells.measure(q);
          sums[0] += measure;
          sums[1] += measure * values[q];
          sums[2] += 0.5 * measure * k[q] * cells.gradient_squared(q);
        }
      });
  const auto [min, max] = extrema(u);
  return {min, max, integral, energy, volume};
}

ErrorNorms larger_of_each(const ErrorNorms& a, const ErrorNorms& b) {
  const auto larger = [](double x, double y) {
    return std::isnan(x) || std::isnan(y) ? x + y : std::max(x, y);
  };
  return {larger(a.l2, b.l2), larger(a.h1_seminorm, b.h1_seminorm), larger(a.max, b.max)};
}

ErrorNorms error_norms(const Discretization& discretization, std::span<const double> u,
                       const ScalarField& exact) {
  const std::optional<ProductOnCells> product =
      ProductOnCells::of(discretization, norm_basis(discretization).quadrature.points, exact);
  const bool has_gradient = product || exact.program != nullptr;
  const auto [l2, h1] = sum_over_cells<2>(
      discretization, [&](CellIntegrals& cells, std::array<Lanes<double>, 2>& sums) {
        cells.require_positive_determinants();
        const auto& values = cells.evaluate(u);
        if (has_gradient) cells.differentiate();
        if (product) {
          // As fields do, which are long work.
          stop_if_requested();
          cells.subtract(*product);
        } else {
          if (has_gradient) cells.evaluate_gradient_of(*exact.program);
          cells.subtract(exact);
        }
        if (!has_gradient) cells.differentiate();
        for (std::size_t q = 0; q < cells.points(); ++q) {
          const Lanes<double> measure = cells.measure(q);
          sums[0] += measure * values[q] * values[q];
          sums[1] += measure *
                     (has_gradient ? cells.gradient_error_squared(q) : cells.gradient_squared(q));
        }
      });
  return {std::sqrt(l2), std::sqrt(h1), max_error(discretization, u, exact)};
}

double max_error(const Discretization& discretization, std::span<const double> u,
                 const ScalarField& exact) {
  double result = 0.0;
  parallel_ranges(static_cast<Index>(u.size()), [&](Range range) {
    std::vector<double> buffer(4 * kNodeBlock);
    double* const x = buffer.data();
    double* const values = x + 3 * kNodeBlock;
    double largest = 0.0;
    for (Index first = range.begin; first < range.end; first += kNodeBlock) {
      const Index n = std::min(kNodeBlock, range.end - first);
      discretization.mapping.node_positions(first, n, x, x + kNodeBlock, x + 2 * kNodeBlock);
      exact.evaluate({static_cast<std::size_t>(n), x, x + kNodeBlock, x + 2 * kNodeBlock}, values);
      for (Index i = 0; i < n; ++i) {
        largest = max_or_nan(largest, std::abs(u[first + i] - values[i]));
      }
    }
#pragma omp critical(tessera_max_at_nodes)
    result = max_or_nan(result, largest);
  });
  return result;
}

double integral(const Discretization& discretization, std::span<const double> u) {
  return sum_over_cells<1>(discretization,
                           [&](CellIntegrals& cells, std::array<Lanes<double>, 1>& sums) {
                             cells.require_positive_determinants();
                             const auto& values = cells.evaluate(u);
                             for (std::size_t q = 0; q < cells.points(); ++q) {
                               sums[0] += cells.measure(q) * values[q];
                             }
                           })[0];
}

MeanParts mean_parts(const Discretization& discretization, std::span<const double> u) {
  return mean_parts_of(discretization, u);
}

MeanParts mean_parts(const Discretization& discretization, const ScalarField& field) {
  return mean_parts_of(discretization, field);
}

double mean_value(const Discretization& discretization, std::span<const double> u) {
  return mean_parts(discretization, u).mean();
}

double mean_value(const Discretization& discretization, const ScalarField& field) {
  return mean_parts(discretization, field).mean();
}

void check_cell(const Discretization& discretization, Index cell, const ScalarField& field,
                FoldedCells folded) {
  CellIntegrals cells(discretization);
  cells.visit(cell / kLanes<double> * kLanes<double>);
  if (folded == FoldedCells::refused) cells.require_positive_determinants();
  cells.evaluate(field);
}

}  // namespace tessera
