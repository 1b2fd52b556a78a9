// This file fills solution.vtu, or the pieces of solution.pvtu, and view.py.
#include "src/commands/run/solution_file.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "mesh/element/basis_1d.hpp"
#include "mesh/partition.hpp"
#include "operators/form/on_all_ranks.hpp"
#include "postprocess/files/human_units.hpp"
#include "postprocess/vtk/view_script.hpp"
#include "solvers/interruption.hpp"
#include "src/case/fields.hpp"
#include "src/case/setup.hpp"
#include "src/version.hpp"

namespace tessera {
namespace {

// The field at the points; NaN where it throws, with the first reason.
std::string evaluate_where_possible(const ScalarField& field, const PointBlock& points,
                                    double* values) {
  try {
    field.evaluate(points, values);
    return "";
  } catch (const BadExpressionValue&) {
    // One of them at least; each is tried below.
  }
  std::string reason;
  for (std::size_t i = 0; i < points.n; ++i) {
    try {
      field.evaluate({1, points.x + i, points.y + i, points.z + i, points.u + i}, values + i);
    } catch (const BadExpressionValue& error) {
      values[i] = std::numeric_limits<double>::quiet_NaN();
      if (reason.empty()) reason = error.key() + " " + error.what();
    }
  }
  return reason;
}

// Finds the images of the middles of cells, and u there.
class CellCenters {
 public:
  CellCenters(const Discretization& discretization, const HostVector<double>& u)
      : discretization_(discretization), u_(u) {
    const NodeLattice& lattice = discretization.lattice;
    const int n = lattice.degree() + 1;
    const Matrix1D at_middle =
        lagrange_values(discretization.basis.nodes, std::vector<double>{0.5});
    const auto size = static_cast<std::size_t>(lattice.nodes_per_cell());
    for (int i = 0; i < static_cast<int>(size); ++i) {
      offsets_.push_back(lattice.offset(i % n, i / n % n, i / (n * n)));
      double weight = at_middle(0, i % n) * at_middle(0, i / n % n);
      if (lattice.dimension() == 3) weight *= at_middle(0, i / (n * n));
      weights_.push_back(weight);
    }
    nodes_.resize(size);
    for (auto& coordinate : x_) coordinate.resize(size);
  }

  // x, y, z and u of the cells first, ...
  void find(Index first, Index count, std::array<std::vector<double>, 4>& centers) {
    for (Index i = 0; i < count; ++i) {
      const std::array<double, 4> center = find_one(first + i);
      for (int a = 0; a < 4; ++a) centers[a][i] = center[a];
    }
  }

 private:
  std::array<double, 4> find_one(Index cell) {
    const Index first =
        discretization_.lattice.first_node(discretization_.mesh.cell_position(cell));
    for (std::size_t i = 0; i < nodes_.size(); ++i) nodes_[i] = first + offsets_[i];
    discretization_.mapping.node_positions(nodes_, x_[0].data(), x_[1].data(), x_[2].data());
    Point x{0.0, 0.0, 0.0};
    double u = 0.0;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      for (int a = 0; a < 3; ++a) x[a] += weights_[i] * x_[a][i];
      u += weights_[i] * u_[nodes_[i]];
    }
    const Point physical = discretization_.frame.physical(x);
    return {physical[0], physical[1], physical[2], u};
  }

  const Discretization& discretization_;
  const HostVector<double>& u_;
  // Of the nodes of a cell: where they are from its first one, and their share of the middle.
  std::vector<Index> offsets_;
  std::vector<double> weights_;
  // Those of the cell that is looked at.
  std::vector<Index> nodes_;
  std::array<std::vector<double>, 3> x_;
};

}  // namespace

std::string program_name() {
  return *kCommit != '\0' ? fmt::format("Tessera {} ({})", kVersion, kCommit)
                          : fmt::format("Tessera {}", kVersion);
}

void SolutionFile::add_exact(const ScalarField& exact) {
  exact_ = on_all_ranks(ranks_, [&] {
    stop_if_requested();
    return values_at_vtu_points(exact, discretization_, parameters_.output.vtu);
  });
}

std::string SolutionFile::add_coefficient(const ScalarField& coefficient) {
  auto [values, complaint] = on_all_ranks(ranks_, [&] {
    stop_if_requested();
    return values_of(coefficient);
  });
  coefficient_ = std::move(values);
  return ranks_.agree(complaint.empty() ? 0 : 1, complaint).message;
}

std::pair<HostArray<double>, std::string> SolutionFile::values_of(
    const ScalarField& coefficient) const {
  constexpr Index kBlock = 256;
  const Index cells = discretization_.mesh.cell_count();
  HostArray<double> values(static_cast<std::size_t>(cells));
  std::vector<std::string> reasons(static_cast<std::size_t>(omp_get_max_threads()));
  parallel_ranges(cells, [&](Range range) {
    std::string& first_reason = reasons[static_cast<std::size_t>(omp_get_thread_num())];
    std::array<std::vector<double>, 4> centers;
    for (auto& center : centers) center.resize(kBlock);
    CellCenters cells_of_thread(discretization_, solution_);
    for (Index first = range.begin; first < range.end; first += kBlock) {
      const Index count = std::min(kBlock, range.end - first);
      cells_of_thread.find(first, count, centers);
      const PointBlock points{static_cast<std::size_t>(count), centers[0].data(), centers[1].data(),
                              centers[2].data(), centers[3].data()};
      std::string reason = evaluate_where_possible(coefficient, points, values.data() + first);
      if (first_reason.empty()) first_reason = std::move(reason);
    }
  });
  const auto is_reason = [](const std::string& reason) { return !reason.empty(); };
  const auto found = std::find_if(reasons.begin(), reasons.end(), is_reason);
  return {std::move(values), found != reasons.end() ? *found : ""};
}

std::vector<PointField> SolutionFile::point_fields() const {
  std::vector<PointField> fields = {{"solution", solution_.span()}};
  if (!exact_.empty()) {
    fields.push_back({"exact", {}, exact_});
    fields.push_back({"error", solution_.span(), exact_});
  }
  return fields;
}

std::vector<CellField> SolutionFile::cell_fields() const {
  if (coefficient_.empty()) return {};
  return {{"coefficient", coefficient_}};
}

std::vector<std::string> SolutionFile::add_to(ResultSet& files, const std::string& name,
                                              const std::string& status,
                                              std::optional<double> time) const {
  const std::vector<PointField> points = point_fields();
  const std::vector<CellField> cells = cell_fields();
  const VtuOptions& options = parameters_.output.vtu;
  const VtuMetadata metadata{parameters_.title, status, program_name(), time};
  VtuWidths widths = vtu_widths(ranks_, discretization_, points, cells, options);
  const auto write = [&](AtomicFile& file) {
    write_vtu(file, discretization_, points, cells, options, metadata, widths);
  };
  if (ranks_.size() == 1) {
    files.add(name, write);
  } else {
    files.add_pieces(name, write, [&](std::span<const std::string> pieces) {
      return pvtu_text(discretization_, points, cells, options, metadata, widths, pieces);
    });
  }
  return std::move(widths.widened);
}

std::string solution_extension(const Communicator& ranks) {
  return ranks.size() == 1 ? ".vtu" : ".pvtu";
}

bool add_solution_file(ResultSet& files, const std::string& name, const CaseParameters& parameters,
                       const Discretization& discretization, const SolutionParts& parts,
                       RunNotes& notes) {
  SolutionFile solution(parameters, discretization, parts.solution, files.ranks());
  if (parts.exact) {
    notes.attempt(name, "has no exact solution and no error",
                  [&] { solution.add_exact(*parts.exact); });
  }
  notes.attempt(name, "has no coefficient", [&] {
    const std::string complaint = solution.add_coefficient(parts.coefficient);
    if (!complaint.empty() && notes.is_first("NaN")) {
      notes.complain(fmt::format("the coefficient in {} is NaN at the centers of some cells: {}",
                                 name, complaint));
    }
  });
  std::vector<std::string> widened;
  const bool is_added = notes.attempt(name, "is missing", [&] {
    widened = solution.add_to(files, name, parts.status, parts.time);
  });
  if (is_added && !widened.empty() && notes.is_first("in double precision")) {
    notes.add(
        fmt::format("{} has {} in double precision: the range of single precision is too small",
                    name, fmt::join(widened, ", ")));
  }
  return is_added;
}

std::string solution_size_text(const CaseParameters& parameters) {
  const BoxMesh mesh = make_box_mesh(parameters);
  const VtuOptions& options = parameters.output.vtu;
  const Index bytes = uncompressed_vtu_bytes(NodeLattice(mesh, parameters.space.degree), mesh,
                                             parameters.problem.exact ? 3 : 1, 1, options);
  return fmt::format("solution.{}, {}, {}", parameters.run.processes > 1 ? "pvtu" : "vtu",
                     bytes_text(bytes),
                     options.compression == VtkCompression::none
                         ? "not compressed"
                         : fmt::format("before compression by {}", name_of(options.compression)));
}

std::string view_script_text(const CaseParameters& parameters, const std::string& status,
                             const std::string& grid_file,
                             std::optional<std::pair<double, double>> series) {
  ViewOptions options;
  options.dimension = parameters.mesh.dimension;
  options.degree =
      parameters.output.vtu.degree > 0 ? parameters.output.vtu.degree : parameters.space.degree;
  options.title = parameters.title;
  options.status = status;
  options.grid_file = grid_file;
  options.series = series;
  return view_script(options);
}

}  // namespace tessera
