#include "src/solution_file.hpp"

#include <fmt/format.h>

#include <vector>

#include "mesh/partition.hpp"
#include "operators/interpolation.hpp"
#include "postprocess/atomic_file.hpp"
#include "postprocess/equidistant.hpp"
#include "postprocess/view_script.hpp"
#include "postprocess/vtu_writer.hpp"
#include "src/version.hpp"

namespace tessera {
namespace {

HostArray<double> coefficient_of_cells(const Discretization& discretization,
                                       const ScalarField& coefficient) {
  const BoxMesh& mesh = discretization.mesh;
  const NodeLattice& lattice = discretization.lattice;
  const int corners = 1 << mesh.dimension();
  HostArray<double> values(static_cast<std::size_t>(mesh.cell_count()));
  parallel_ranges(mesh.cell_count(), [&](Range range) {
    constexpr Index kBlock = 256;
    std::vector<double> centers[3];
    for (auto& center : centers) center.resize(kBlock);
    for (Index first = range.begin; first < range.end; first += kBlock) {
      const Index count = std::min(kBlock, range.end - first);
      for (Index i = 0; i < count; ++i) {
        Point sum{0.0, 0.0, 0.0};
        for (int corner = 0; corner < corners; ++corner) {
          IndexTriple vertex = mesh.cell_position(first + i);
          for (int d = 0; d < mesh.dimension(); ++d) vertex[d] += corner >> d & 1;
          Point x;
          discretization.mapping.node_positions(lattice.vertex_node(vertex), 1, x.data(), &x[1],
                                                &x[2]);
          for (int d = 0; d < 3; ++d) sum[d] += x[d];
        }
        for (int d = 0; d < 3; ++d) centers[d][i] = sum[d] / corners;
      }
      coefficient.evaluate({static_cast<std::size_t>(count), centers[0].data(), centers[1].data(),
                            centers[2].data()},
                           values.data() + first);
    }
  });
  return values;
}

}  // namespace

std::string program_name() {
  return *kCommit != '\0' ? fmt::format("Tessera {} ({})", kVersion, kCommit)
                          : fmt::format("Tessera {}", kVersion);
}

void write_solution(const std::filesystem::path& directory, const CaseParameters& parameters,
                    const Discretization& discretization, const ShownFields& fields,
                    HostVector<double>& solution, const std::string& status) {
  const NodeLattice& lattice = discretization.lattice;
  const std::vector<double>& nodes = discretization.basis.nodes;
  std::vector<PointField> point_fields = {{"solution", solution.span()}};
  HostVector<double> exact;
  HostVector<double> error;
  if (fields.exact) {
    exact = HostVector<double>(lattice.size());
    error = HostVector<double>(lattice.size());
    interpolate(discretization, *fields.exact, exact);
    copy(solution, error);
    axpy(-1.0, exact, error);
    point_fields.push_back({"exact", exact.span()});
    point_fields.push_back({"error", error.span()});
  }
  for (HostVector<double>* values : {&solution, &exact, &error}) {
    if (values->size() > 0) to_equidistant(lattice, nodes, values->span(), values->span());
  }
  const HostArray<double> coefficient = coefficient_of_cells(discretization, fields.coefficient);
  const std::vector<CellField> cell_fields = {{"coefficient", coefficient}};
  const EquidistantPositions positions(discretization.mesh, discretization.mapping, nodes);
  write_vtu(directory / "solution.vtu", lattice, discretization.mesh, positions, point_fields,
            cell_fields, parameters.output.vtk_precision,
            {parameters.title, status, program_name()});
}

void write_view_script(const std::filesystem::path& directory, const CaseParameters& parameters,
                       const std::string& status) {
  ViewOptions options;
  options.dimension = parameters.mesh.dimension;
  options.degree = parameters.space.degree;
  options.title = parameters.title;
  options.status = status;
  write_text_file(directory / "view.py", view_script(options));
}

}  // namespace tessera
