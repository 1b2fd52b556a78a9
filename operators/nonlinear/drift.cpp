// This file applies the drift by a loop over cells.
#include "operators/nonlinear/drift.hpp"

#include <cmath>
#include <stdexcept>
#include <vector>

#include "mesh/errors.hpp"
#include "mesh/field/program_field.hpp"
#include "mesh/geometry/cell_geometry.hpp"
#include "mesh/geometry/symmetric_factors.hpp"
#include "mesh/partition.hpp"
#include "operators/cells/add_to_cell.hpp"
#include "operators/cells/batching.hpp"
#include "operators/form/finite_values.hpp"
#include "operators/nonlinear/drift_flops.hpp"

namespace tessera {
namespace {

// Bricks for this many threads, however many there are: their shape orders the additions.
constexpr int kThreadsToCutFor = 16;

// g = scale |J| J^-1 J^-T gradient at point q.
template <int dim>
void flux_at(const CellGeometry& geometry, int q, Lanes<double> scale,
             const std::array<HostArray<Lanes<double>>, 3>& gradient, Lanes<double>* g,
             Index points) {
  Lanes<double> J[dim][dim];
  for (int a = 0; a < dim; ++a) {
    for (int b = 0; b < dim; ++b) J[a][b] = geometry.jacobian(a, b)[q];
  }
  Lanes<double> entries[factor_entries(dim)];
  symmetric_factors(J, scale, entries);
  Lanes<double> sums[dim] = {};
  int entry = 0;
  for (int a = 0; a < dim; ++a) {
    for (int b = a; b < dim; ++b, ++entry) {
      sums[a] += entries[entry] * gradient[b][q];
      if (b != a) sums[b] += entries[entry] * gradient[a][q];
    }
  }
  for (int a = 0; a < dim; ++a) g[a * points + q] = sums[a];
}

// Values at a cell's nodes and points, one object a thread.
struct CellValues {
  explicit CellValues(const Discretization& discretization)
      : evaluator(discretization.basis, discretization.mesh.dimension()),
        nodal(static_cast<std::size_t>(evaluator.nodes_per_cell())),
        at_points(static_cast<std::size_t>(evaluator.points_per_cell())) {
    for (auto& one : flux) one.resize(at_points.size());
  }

  CellEvaluator evaluator;
  HostArray<Lanes<double>> nodal;
  HostArray<Lanes<double>> at_points;
  std::array<HostArray<Lanes<double>>, 3> flux;
};

}  // namespace

Drift::Drift(const BilinearForm& form)
    : discretization_(form.discretization),
      dirichlet_(form.dirichlet),
      derivative_(derivative_in_u(form.coefficient)),
      batches_(discretization_->mesh, kLanes<double>,
               cell_working_set(discretization_->lattice, sizeof(double)), kThreadsToCutFor),
      g_(static_cast<std::size_t>(batches_.batch_count() * discretization_->mesh.dimension() *
                                  points())) {
  if (form.state == nullptr) throw std::invalid_argument("a drift of a form without a state");
  if (form.part) {
    own_ = HostVector<double>(form.layout());
    exchange_.emplace(form.part->rank->exchange<double>(form.dirichlet));
  }
  update(form);
}

Index Drift::points() const {
  return power(discretization_->basis.point_count(), discretization_->mesh.dimension());
}

template <class Make, class F>
void Drift::for_each_batch(Make&& make, F&& f) const {
  for (int color = 0; color < batches_.color_count(); ++color) {
    const auto numbers = batches_.bricks_of_color(color);
    parallel_ranges(static_cast<Index>(numbers.size()), [&](Range range) {
      if (range.size() == 0) return;
      auto mine = make();
      for (Index b = range.begin; b < range.end; ++b) {
        batches_.for_each_batch(batches_.bricks()[numbers[b]],
                                [&](const CellBatch& batch) { f(mine, batch); });
      }
    });
  }
}

void Drift::update(const BilinearForm& form) {
  derivative_ = derivative_in_u(form.coefficient);
  const double* const u = form.state->data();
  const int dimension = discretization_->mesh.dimension();
  const Index points = this->points();
  struct AtPoints {
    CellGeometry geometry;
    CellValues values;
    std::vector<double> derivative;
  };
  for_each_batch(
      [&] {
        return AtPoints{CellGeometry(*discretization_, discretization_->basis, u),
                        CellValues(*discretization_),
                        std::vector<double>(static_cast<std::size_t>(points) * kLanes<double>)};
      },
      [&](AtPoints& at, const CellBatch& batch) {
        const std::span<const IndexTriple> cells(batch.cells.data(), kLanes<double>);
        at.geometry.evaluate(cells);
        derivative_.evaluate(at.geometry.positions(), at.derivative.data());
        require_finite("the derivative of the coefficient in u", at.geometry.positions(),
                       at.derivative, discretization_->frame);
        gather_cells(discretization_->lattice, cells, u, at.values.nodal.data());
        auto& gradient = at.values.flux;
        at.values.evaluator.gradient(at.values.nodal.data(),
                                     {gradient[0].data(), gradient[1].data(), gradient[2].data()});
        Lanes<double>* const g = g_.data() + batch.index * dimension * points;
        for (int q = 0; q < points; ++q) {
          Lanes<double> scale;
          for (int lane = 0; lane < kLanes<double>; ++lane) {
            scale[lane] = at.derivative[q * kLanes<double> + lane] * at.geometry.weights()[q];
          }
          if (dimension == 2) {
            flux_at<2>(at.geometry, q, scale, gradient, g, points);
          } else {
            flux_at<3>(at.geometry, q, scale, gradient, g, points);
          }
        }
      });
}

void Drift::clear_constrained(const CellBatch& batch, Lanes<double>* values) const {
  const int n = discretization_->basis.node_count();
  const Index nodes = power(n, discretization_->mesh.dimension());
  for (int d = 0; d < discretization_->mesh.dimension(); ++d) {
    const Index stride = power(n, d);
    for (const bool upper : {false, true}) {
      if (!dirichlet_[2 * d + (upper ? 1 : 0)]) continue;
      const Index end = upper ? discretization_->mesh.cells()[d] - 1 : 0;
      const Index first = upper ? (n - 1) * stride : 0;
      for (int lane = 0; lane < kLanes<double>; ++lane) {
        if (batch.cells[lane][d] != end) continue;
        for (Index line = first; line < nodes; line += n * stride) {
          for (Index i = line; i < line + stride; ++i) values[i][lane] = 0.0;
        }
      }
    }
  }
}

void Drift::add(const HostVector<double>& v, HostVector<double>& y) const {
  if (!exchange_) {
    add_own(v, y);
    return;
  }
  const OneUseAtATime::Use use(guard_);
  fill(own_, 0.0);
  add_own(v, own_);
  exchange_->add(own_);
  axpy(1.0, own_, y);
}

void Drift::add_own(const HostVector<double>& v, HostVector<double>& y) const {
  const NodeLattice& lattice = discretization_->lattice;
  const int dimension = lattice.dimension();
  const Index points = this->points();
  for_each_batch([&] { return CellValues(*discretization_); },
                 [&](CellValues& cell, const CellBatch& batch) {
                   gather_cells(lattice, std::span(batch.cells.data(), kLanes<double>), v.data(),
                                cell.nodal.data());
                   clear_constrained(batch, cell.nodal.data());
                   cell.evaluator.values(cell.nodal.data(), cell.at_points.data());
                   const Lanes<double>* g = g_.data() + batch.index * dimension * points;
                   for (int a = 0; a < dimension; ++a, g += points) {
                     for (Index q = 0; q < points; ++q) cell.flux[a][q] = g[q] * cell.at_points[q];
                   }
                   std::fill(cell.nodal.begin(), cell.nodal.end(), Lanes<double>{});
                   cell.evaluator.add_integrated_gradient(
                       {cell.flux[0].data(), cell.flux[1].data(), cell.flux[2].data()},
                       cell.nodal.data());
                   clear_constrained(batch, cell.nodal.data());
                   for (int lane = 0; lane < batch.active; ++lane) {
                     add_to_cell(lattice, batch.cells[lane], cell.nodal.data(), lane, y.data());
                   }
                 });
}

Index Drift::bytes() const {
  return static_cast<Index>(g_.size() * sizeof(Lanes<double>)) +
         own_.size() * static_cast<Index>(sizeof(double)) + (exchange_ ? exchange_->bytes() : 0);
}

double Drift::flops() const { return drift_flops(*discretization_); }

}  // namespace tessera
