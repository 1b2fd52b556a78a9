// This file integrates over cells on the GPU, with sizes that are known at run time.
#include "operators/cells/fields/cell_integrals.cuh"
#include "operators/cells/fields/device_field.cuh"
#include "solvers/memory/launch.cuh"

namespace tessera {
namespace {

constexpr int kThreads = kScratchThreads;

struct IntegralArguments {
  CellGrid grid;
  CellRange range;
  PointPlaces points;
  BasisTables basis;
  DeviceFieldView coefficient;
  DeviceFieldView reaction;
  DeviceFieldView source;
  const double* u;
};

// r_i += (k(u) grad u, grad phi_i) + (c u - f(u), phi_i) for cells that share no node. One team a
// cell, striding; scratch as integral_cell_bytes(). are_allowed becomes 0 where a field
// has a value that it must not have.
template <ScratchPlace place>
__global__ void __launch_bounds__(kThreads)
    integrals_kernel(const __grid_constant__ IntegralArguments g, ScratchView view, double* r,
                     int* are_allowed) {
  extern __shared__ __align__(16) char shared_scratch[];
  const CellTeam<place> team(view, shared_scratch);
  const int dim = g.grid.dimension;
  const int n = g.grid.degree + 1;
  const int m = g.points.points;
  const int node_count = dim == 3 ? n * n * n : n * n;
  const int size = dim == 3 ? m * m * m : m * m;
  double* const scratch = team.template scratch<double>();
  team.for_each_cell(g.range.size(), [&](const TeamCell& cell) {
    const CellPlace here = place_cell(g.grid, g.range, cell.number);
    const PointTensors t = find_at_points(team, g.grid, g.points, here, g.u, scratch);
    team.for_each(size, [&](int q) {
      const PointNumbers number(q, m, dim);
      const PointOfCell point = point_of_cell(g.grid, g.points, g.basis.D, here, number, q, t);
      const double u = t.u[q];
      double gradient[1][3] = {};
      differentiate(g.basis.D, m, dim, number, q, t.u, t.room, gradient);
      const double k = value_at(g.coefficient, point.x, u);
      const double reaction = value_at(g.reaction, point.x, u);
      const double f = value_at(g.source, point.x, u);
      if (!is_allowed(k, Allowed::positive) || !is_allowed(reaction, Allowed::non_negative) ||
          !is_allowed(f, Allowed::finite)) {
        *are_allowed = 0;
      }
      double flux[3];
      make_flux(point, point.weight * k, dim, gradient[0], flux);
      t.free[q] = point.weight * (reaction * u - f);
#pragma unroll
      for (int a = 0; a < 3; ++a) {
        if (a < dim) t.free[(1 + a) * t.room + q] = flux[a];
      }
    });
    __syncthreads();
    const double* const v = integrate(team, g.basis, dim, n, m, t.free, scratch, t.room);
    if (!cell.counts) return;
    team.for_each(node_count, [&](int i) { r[cell_node(g.grid, here, i).lattice] += v[i]; });
  });
}

}  // namespace

std::optional<DeviceFields> DeviceFields::make(const BilinearForm& form,
                                               const ScalarField& source) {
  std::optional<DeviceField> k = DeviceField::make(form.coefficient);
  std::optional<DeviceField> c = DeviceField::make(form.reaction);
  std::optional<DeviceField> f = DeviceField::make(source);
  if (!k || !c || !f) return std::nullopt;
  return DeviceFields{*std::move(k), *std::move(c), *std::move(f)};
}

CellIntegrator::CellIntegrator(const Discretization& discretization)
    : points_(discretization),
      B_transposed_(transposed<double>(discretization.basis.B)),
      D_(discretization.basis.D.entries),
      D_transposed_(transposed<double>(discretization.basis.D)),
      scratch_(
          integral_cell_bytes(discretization.mesh.dimension(), discretization.basis.point_count(),
                              !discretization.mapping.is_cartesian()),
          power(discretization.basis.point_count(), discretization.mesh.dimension())),
      are_allowed_(1) {}

bool CellIntegrator::add_integrals(const CellGrid& grid, const DeviceFields& fields,
                                   const std::vector<CellRange>& ranges,
                                   const DeviceVector<double>& u, DeviceVector<double>& r) {
  IntegralArguments arguments{};
  arguments.grid = grid;
  arguments.points = points();
  arguments.basis = tables();
  arguments.coefficient = fields.coefficient.view();
  arguments.reaction = fields.reaction.view();
  arguments.source = fields.source.view();
  arguments.u = u.data();
  const int yes = 1;
  copy_to_device(&yes, sizeof(yes), are_allowed_.data());
  for (const CellRange& range : ranges) {
    arguments.range = range;
    scratch_.with_place([&]<ScratchPlace place>() {
      launch(integrals_kernel<place>,
             {"integrals over cells", scratch_.blocks(range.size()), kThreads,
              scratch_.shared_bytes()},
             arguments, scratch_.view(), r.data(), are_allowed_.data());
    });
  }
  return to_host(are_allowed_).front() == 1;
}

}  // namespace tessera
