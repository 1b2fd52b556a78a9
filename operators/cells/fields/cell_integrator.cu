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
  DeviceFieldView fields[3];  // k, c, f
  const double* u;
};

// Of k, c and f.
__device__ constexpr Allowed kAllowed[] = {Allowed::positive, Allowed::non_negative,
                                           Allowed::finite};

// r_i += (k(u) grad u, grad phi_i) + (c u - f(u), phi_i) for cells that share no node. One team a
// cell, striding; scratch as integral_cell_bytes(). are_allowed becomes 0 where a field
// has a value that it must not have.
template <ScratchPlace place>
__global__ void __launch_bounds__(kThreads, 4)
    integrals_kernel(const __grid_constant__ IntegralArguments g, ScratchView view, double* r,
                     int* are_allowed) {
  extern __shared__ __align__(16) char shared_scratch[];
  const CellTeam<place> team(view, shared_scratch);
  const CellSizes<0, 0> sizes(g.grid, g.points.points);
  const int dim = sizes.dim;
  double* const scratch = team.template scratch<double>();
  team.for_each_cell(g.range.size(), [&](const TeamCell& cell) {
    const CellPlace here = place_cell(g.grid, g.range, cell.number);
    const PointTensors t = find_at_points(team, sizes, g.grid, g.points, here, g.u, scratch);
    team.for_each(sizes.size, [&](int q) {
      const PointNumbers number(q, sizes.m, dim);
      const PointOfCell point =
          point_of_cell(sizes, g.grid, g.points, g.basis.D, here, number, q, t);
      const double u = t.u[q];
      double gradient[1][3] = {};
      differentiate(g.basis.D, sizes, number, q, t.u, t.room, gradient);
      // One after the other, so that the interpreter is compiled once.
      double values[3] = {};
#pragma unroll 1
      for (int f = 0; f < 3; ++f) {
        const double value = value_at(g.fields[f], point.x, u);
        if (!is_allowed(value, kAllowed[f])) *are_allowed = 0;
#pragma unroll
        for (int i = 0; i < 3; ++i) values[i] = i == f ? value : values[i];
      }
      double flux[3];
      make_flux(point, point.weight * values[0], dim, gradient[0], flux);
      t.free[q] = point.weight * (values[1] * u - values[2]);
#pragma unroll
      for (int a = 0; a < 3; ++a) {
        if (a < dim) t.free[(1 + a) * t.room + q] = flux[a];
      }
    });
    __syncthreads();
    const double* const v = integrate(team, sizes, g.basis, t.free, scratch, t.room);
    if (!cell.counts) return;
    team.for_each(sizes.nodes,
                  [&](int i) { r[cell_node(sizes, g.grid, here, i).lattice] += v[i]; });
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
  arguments.fields[0] = fields.coefficient.view();
  arguments.fields[1] = fields.reaction.view();
  arguments.fields[2] = fields.source.view();
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
