// This file assembles loads and tries fields at nodes on the GPU.
#include <memory>
#include <optional>
#include <vector>

#include "operators/cells/block_scratch.hpp"
#include "operators/cells/fields/cell_geometry.cuh"
#include "operators/cells/fields/cell_integrator.hpp"
#include "operators/cells/fields/device_program.cuh"
#include "operators/form/device_robin_faces.hpp"
#include "operators/form/on_all_ranks.hpp"
#include "operators/load/device_load.hpp"
#include "operators/load/source_lines.hpp"
#include "solvers/memory/entry_loop.cuh"

namespace tessera {
namespace {

constexpr int kThreads = kScratchThreads;

// Of a shallow program, which needs no stacks in GPU memory.
__device__ double value_of(const FieldProgramView& program, const double (&x)[3]) {
  return evaluate_at<kThreads, double>(program, nullptr, x[0], x[1], x[2]);
}

// What the kernel needs to know of cells, basis and source.
struct LoadArguments {
  CellGrid grid;
  CellRange range;
  PointPlaces points;
  const double* B_transposed;  // [i][q]
  const double* D;             // [q][q]
  FieldProgramView source;
};

// b_i += (f, phi_i) where row i is not constrained, for cells that share no node. One team a
// cell, striding; scratch as load_cell_bytes(). f w |J| [m]^dim -> B^T -> [n]^dim.
template <ScratchPlace place>
__global__ void __launch_bounds__(kThreads)
    source_kernel(LoadArguments g, ScratchView view, double* b, int* is_finite) {
  extern __shared__ __align__(16) char shared_scratch[];
  const CellTeam<place> team(view, shared_scratch);
  double* const scratch = team.template scratch<double>();
  const CellSizes<0, 0> sizes(g.grid, g.points.points);
  const int dim = sizes.dim;
  const int size = sizes.size;
  const bool is_mapped = g.points.nodes.is_mapped;
  double* const values = scratch + (is_mapped ? dim : 1) * size;
  team.for_each_cell(g.range.size(), [&](const TeamCell& cell) {
    const CellPlace here = place_cell(g.grid, g.range, cell.number);
    const PointTensors t = find_at_points(team, sizes, g.grid, g.points, here, nullptr, scratch);
    team.for_each(size, [&](int q) {
      const PointNumbers number(q, sizes.m, dim);
      const PointOfCell point = point_of_cell(sizes, g.grid, g.points, g.D, here, number, q, t);
      const double f = value_of(g.source, point.x);
      if (!isfinite(f)) *is_finite = 0;
      values[q] = f * point.weight;
    });
    __syncthreads();
    const double* const v =
        contract_all_axes(team, g.B_transposed, sizes.n, sizes.m, dim, values, scratch);
    if (!cell.counts) return;
    team.for_each(sizes.nodes, [&](int i) {
      const CellNode node = cell_node(sizes, g.grid, here, i);
      if ((here.fixed & node.faces) == 0U) b[node.lattice] += v[i];
    });
  });
}

// b_i += (f, phi_i) where row i is not constrained, by teams. Returns whether f was finite.
bool add_source_by_teams(const BilinearForm& form, const FieldProgram& source,
                         const DevicePoints& points, DeviceVector<double>& b) {
  const Basis1D& basis = form.discretization->basis;
  const DeviceProgram program(source);
  const DeviceArray<double> B_transposed(transposed<double>(basis.B));
  const DeviceArray<double> D(basis.D.entries);
  DeviceArray<int> is_finite(std::vector<int>{1});
  LoadArguments arguments{};
  arguments.grid = make_cell_grid(form);
  arguments.points = points.view();
  arguments.B_transposed = B_transposed.data();
  arguments.D = D.data();
  arguments.source = program.view();
  const BlockScratch scratch(load_cell_bytes(arguments.grid.dimension, basis.point_count(),
                                             arguments.points.nodes.is_mapped),
                             power(basis.point_count(), arguments.grid.dimension));
  for (const CellRange& color : cell_colors(arguments.grid)) {
    arguments.range = color;
    scratch.with_place([&]<ScratchPlace place>() {
      launch(source_kernel<place>,
             {"the load", scratch.blocks(color.size()), kThreads, scratch.shared_bytes()},
             arguments, scratch.view(), b.data(), is_finite.data());
    });
  }
  return to_host(is_finite).front() == 1;
}

// b_i += (f, phi_i); rows that are constrained may get something, too. Returns whether f was
// finite.
bool add_source(const BilinearForm& form, const ScalarField& source, const FieldProgram& program,
                DeviceVector<double>& b) {
  const Discretization& discretization = *form.discretization;
  const DevicePoints points(discretization);
  const CellGrid grid = make_cell_grid(form);
  const std::optional<DeviceField> field = DeviceField::make(source);
  if (field && has_source_by_lines(grid.dimension, discretization.basis, *field)) {
    return add_source_by_lines(discretization.basis, points.view(), grid, *field, cell_colors(grid),
                               b);
  }
  return add_source_by_teams(form, program, points, b);
}

// b_i -= a(g, phi_i), constrained rows as all others. Returns whether the GPU can do it.
bool subtract_lifted(const BilinearForm& form, const DirichletValues& g, DeviceVector<double>& b) {
  const std::optional<DeviceFields> fields = DeviceFields::make(form, constant_field(0.0));
  if (!fields || fields->form_depends_on_u()) return false;
  DirichletValues negative = g;
  negative.multiply(-1.0);
  DeviceVector<double> lifted(b.layout());
  negative.set(lifted);
  std::vector<CellRange> ranges;
  const CellGrid grid = make_cell_grid(form);
  for (const CellRange& layer : layers_at(grid, form.dirichlet)) {
    const std::vector<CellRange> colors = cell_colors(grid, layer);
    ranges.insert(ranges.end(), colors.begin(), colors.end());
  }
  // Values that the fields must not have are the operator's matter.
  (void)CellIntegrator(*form.discretization).add_integrals(grid, *fields, ranges, lifted, b);
  if (!form.robin.empty()) {
    BilinearForm free = form;
    free.dirichlet.reset();
    DeviceRobinFaces<double>(free).add(lifted, b);
  }
  return true;
}

// What this rank has of b in rows that are not constrained. Returns whether the GPU can do it.
bool add_own_load(const BilinearForm& form, const ScalarField& source, const FieldProgram& program,
                  const std::vector<FluxTerm>& fluxes, const DirichletValues& g,
                  DeviceVector<double>& b) {
  if (!is_zero(source) && !add_source(form, source, program, b)) return false;
  for (const FaceValues& face : flux_loads(form, fluxes)) DeviceFaceValues(face).add(1.0, b);
  return g.are_zero() || subtract_lifted(form, g, b);
}

}  // namespace

bool assemble_device_load(const BilinearForm& form, const ScalarField& source,
                          const std::vector<FluxTerm>& fluxes, const DirichletValues& g,
                          DeviceVector<double>& b) {
  const std::shared_ptr<const FieldProgram> program = shallow_program(source);
  if (program == nullptr) return false;
  if (b.size() == 0) {
    b = DeviceVector<double>(form.layout());
  } else {
    zero_on_device(b.data(), b.size() * static_cast<Index>(sizeof(double)));
  }
  const bool is_done =
      on_all_ranks(form, [&] { return add_own_load(form, source, *program, fluxes, g, b); });
  if (on_any_rank(form.layout(), !is_done)) return false;
  if (form.part != nullptr) form.part->rank->exchange<double, Device>(form.dirichlet).add(b);
  clear_constrained_rows(form, b);
  return true;
}

std::optional<DeviceVector<double>> assemble_device_load(const BilinearForm& form,
                                                         const ScalarField& source,
                                                         const std::vector<FluxTerm>& fluxes,
                                                         const DirichletValues& g) {
  DeviceVector<double> b;
  if (!assemble_device_load(form, source, fluxes, g, b)) return std::nullopt;
  return b;
}

void clear_constrained_rows(const BilinearForm& form, DeviceVector<double>& b) {
  const CellGrid grid = make_cell_grid(form);
  double* const entries = b.data();
  for_each_entry(b.size(), "rows that are constrained", [=] __device__(Index i) {
    if (is_constrained(grid, i)) entries[i] = 0.0;
  });
}

bool is_finite_at_nodes(const Discretization& discretization, const ScalarField& field) {
  const std::shared_ptr<const FieldProgram> shallow = shallow_program(field);
  if (shallow == nullptr) return false;
  const DevicePlaces places(discretization.mapping);
  const DeviceProgram program(*shallow);
  DeviceArray<int> is_finite(std::vector<int>{1});
  const NodePlaces nodes = places.view();
  const FieldProgramView view = program.view();
  int* const result = is_finite.data();
  for_each_entry(discretization.lattice.size(), "a field at nodes", [=] __device__(Index i) {
    const IndexTriple place = nodes.box.position(i);
    double x[3] = {0.0, 0.0, 0.0};
    for (int d = 0; d < nodes.dimension; ++d) {
      x[d] = nodes.position[d][nodes.is_mapped ? i : place[d]];
    }
    if (!isfinite(value_of(view, x))) *result = 0;
  });
  return to_host(is_finite).front() == 1;
}

}  // namespace tessera
