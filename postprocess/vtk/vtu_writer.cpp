// This file says how the arrays of a solution's file are made.
#include "postprocess/vtk/vtu_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "mesh/partition.hpp"
#include "mesh/saturated.hpp"
#include "postprocess/vtk/vtk_cells.hpp"
#include "postprocess/vtk/vtu_file.hpp"

namespace tessera {
namespace {

// The points and cells as they go into the file: cells are those of the mesh, or parts of them.
struct FileGrid {
  FileGrid(const BoxMesh& mesh, int space_degree, const VtuOptions& options)
      : points(mesh, options.degree > 0 ? options.degree : space_degree),
        degree(points.degree() <= kMaxVtkDegree ? points.degree() : 1),
        refinement(points.degree() / degree) {
    for (int d = 0; d < mesh.dimension(); ++d) cells[d] = mesh.cells()[d] * refinement;
  }

  Index cell_count() const { return cells[0] * cells[1] * cells[2]; }
  Index cell_size() const { return power(degree + 1, points.dimension()); }
  IndexTriple cell_position(Index cell) const {
    const Index row = cell / cells[0];
    return {cell % cells[0], row % cells[1], row / cells[1]};
  }
  // 32 bits halve the largest array of the file where they suffice.
  Index id_bytes() const {
    constexpr Index kMost = std::numeric_limits<std::int32_t>::max();
    const bool is_small = Saturated(cell_count()) * cell_size() <= kMost && points.size() <= kMost;
    return is_small ? sizeof(std::int32_t) : sizeof(std::int64_t);
  }

  NodeLattice points;
  int degree;
  Index refinement;  // file cells along an axis of a mesh cell
  IndexTriple cells{1, 1, 1};
};

Index number_bytes(FloatWidth width) { return width == FloatWidth::double_precision ? 8 : 4; }

const char* float_type(FloatWidth width) {
  return width == FloatWidth::double_precision ? "Float64" : "Float32";
}

// Calls work(pointer) with `out` as the numbers that it is filled with.
template <class Work>
void as_floats(FloatWidth width, std::byte* out, Work work) {
  if (width == FloatWidth::double_precision) {
    work(reinterpret_cast<double*>(out));
  } else {
    work(reinterpret_cast<float*>(out));
  }
}

template <class Work>
void as_ids(Index id_bytes, std::byte* out, Work work) {
  if (id_bytes == sizeof(std::int64_t)) {
    work(reinterpret_cast<std::int64_t*>(out));
  } else {
    work(reinterpret_cast<std::int32_t*>(out));
  }
}

// Every `stride`-th number of `out`.
template <class Value>
void store(const double* values, Index count, Index stride, Value* out) {
  for (Index i = 0; i < count; ++i) out[i * stride] = static_cast<Value>(values[i]);
}

// Whether single precision has numbers of up to this magnitude, if what is made of them is at most
// `growth` as large: it is in its range, and what is below that is less than a rounding error
// beside it.
bool single_holds(double largest, double growth) {
  using Limits = std::numeric_limits<float>;
  constexpr double kLeast = static_cast<double>(Limits::min()) / Limits::epsilon();
  return largest == 0.0 ||
         (largest >= kLeast && largest * growth <= static_cast<double>(Limits::max()));
}

// What is not finite counts as 0: it is the same in both precisions.
double largest_magnitude(const NodalFunction& function) {
  const double* const values = function.values.data();
  const double* const minus = function.minus.data();
  double largest = 0.0;
#pragma omp parallel for schedule(static) reduction(max : largest)
  for (std::size_t i = 0; i < function.values.size(); ++i) {
    const double value = std::abs(minus != nullptr ? values[i] - minus[i] : values[i]);
    if (value <= std::numeric_limits<double>::max()) largest = std::max(largest, value);
  }
  return largest;
}

// Physical positions of the file's points.
class Positions {
 public:
  /// Both are referred to.
  Positions(const Discretization& space, const EquidistantSampler& sampler, const FileGrid& grid)
      : mapping_(space.mapping), frame_(space.frame), sampler_(sampler) {
    if (!mapping_.is_cartesian()) return;
    box_.emplace(space.mesh, grid.points,
                 make_nodes(NodeFamily::equidistant, grid.points.degree()));
  }

  bool fit_in_single(const BoxMesh& mesh) const {
    for (int d = 0; d < mesh.dimension(); ++d) {
      const double largest = box_ ? std::max(std::abs(mesh.lower()[d]), std::abs(mesh.upper()[d]))
                                  : largest_magnitude({mapping_.coordinate(d)});
      const double bound = std::abs(frame_.origin[d]) + frame_.length * largest;
      if (!single_holds(bound, box_ ? 1.0 : sampler_.growth())) return false;
    }
    return true;
  }

  /// x, y, z of each point.
  template <class Value>
  void write(Range points, Value* out, std::vector<double>& scratch) const {
    const Index n = points.size();
    std::array<double*, 3> axes;
    for (Index d = 0; d < 3; ++d) axes[d] = scratch.data() + d * n;
    if (box_) {
      box_->node_positions(points.begin, n, axes[0], axes[1], axes[2]);
    }
    for (int d = 0; d < 3; ++d) {
      if (!box_ && !mapping_.coordinate(d).empty()) {
        sampler_.sample({mapping_.coordinate(d)}, points, axes[d], scratch.data() + 3 * n);
      } else if (!box_) {
        std::fill_n(axes[d], n, 0.0);
      }
      for (Index i = 0; i < n; ++i) axes[d][i] = frame_.origin[d] + frame_.length * axes[d][i];
      store(axes[d], n, 3, out + d);
    }
  }

 private:
  const Mapping& mapping_;
  const Frame frame_;
  const EquidistantSampler& sampler_;
  std::optional<Mapping> box_;
};

double* grown(std::vector<double>& scratch, Index size) {
  if (scratch.size() < static_cast<std::size_t>(size)) scratch.resize(size);
  return scratch.data();
}

VtuArray position_array(const Positions& positions, const EquidistantSampler& sampler,
                        const FileGrid& grid, FloatWidth width) {
  return {
      "Points",
      float_type(width),
      3,
      grid.points.size(),
      3 * number_bytes(width),
      [&positions, &sampler, width](Range points, std::byte* out, std::vector<double>& scratch) {
        grown(scratch, 3 * points.size() + sampler.scratch_size(points.size()));
        as_floats(width, out, [&](auto* numbers) { positions.write(points, numbers, scratch); });
      }};
}

VtuArray point_array(const PointField& field, const EquidistantSampler& sampler,
                     const FileGrid& grid, FloatWidth width) {
  return {field.name,
          float_type(width),
          1,
          grid.points.size(),
          number_bytes(width),
          [&field, &sampler, width](Range points, std::byte* out, std::vector<double>& scratch) {
            const Index n = points.size();
            double* const values = grown(scratch, n + sampler.scratch_size(n));
            sampler.sample(field.function, points, values, values + n);
            as_floats(width, out, [&](auto* numbers) { store(values, n, 1, numbers); });
          }};
}

VtuArray cell_array(const CellField& field, const BoxMesh& mesh, const FileGrid& grid,
                    FloatWidth width) {
  return {field.name,
          float_type(width),
          1,
          grid.cell_count(),
          number_bytes(width),
          [&field, &mesh, &grid, width](Range cells, std::byte* out, std::vector<double>&) {
            as_floats(width, out, [&](auto* numbers) {
              for (Index c = cells.begin; c < cells.end; ++c) {
                IndexTriple position = grid.cell_position(c);
                for (Index& i : position) i /= grid.refinement;
                const double value = field.values[mesh.cell_index(position)];
                *numbers++ = static_cast<std::remove_pointer_t<decltype(numbers)>>(value);
              }
            });
          }};
}

// The ids of each cell's nodes, where they end, and the cell's type.
VtuSection cell_section(const FileGrid& grid) {
  const Index id_bytes = grid.id_bytes();
  const char* const id_type = id_bytes == sizeof(std::int64_t) ? "Int64" : "Int32";
  const Index size = grid.cell_size();
  const auto make_ids = [&grid, id_bytes, offsets = vtk_node_offsets(grid.points, grid.degree)](
                            Range cells, std::byte* out, std::vector<double>&) {
    as_ids(id_bytes, out, [&](auto* ids) {
      using Id = std::remove_pointer_t<decltype(ids)>;
      for (Index c = cells.begin; c < cells.end; ++c) {
        IndexTriple first = grid.cell_position(c);
        for (int d = 0; d < grid.points.dimension(); ++d) first[d] *= grid.degree;
        const Index node = grid.points.node_index(first);
        for (const Index offset : offsets) *ids++ = static_cast<Id>(node + offset);
      }
    });
  };
  const auto make_ends = [id_bytes, size](Range cells, std::byte* out, std::vector<double>&) {
    as_ids(id_bytes, out, [&](auto* ends) {
      using Id = std::remove_pointer_t<decltype(ends)>;
      for (Index c = cells.begin; c < cells.end; ++c) *ends++ = static_cast<Id>((c + 1) * size);
    });
  };
  const auto type = static_cast<std::byte>(vtk_cell_type(grid.points.dimension(), grid.degree));
  const auto make_types = [type](Range cells, std::byte* out, std::vector<double>&) {
    std::fill_n(out, cells.size(), type);
  };
  const Index count = grid.cell_count();
  return {"Cells",
          "",
          {{"connectivity", id_type, 1, count, id_bytes * size, make_ids},
           {"offsets", id_type, 1, count, id_bytes, make_ends},
           {"types", "UInt8", 1, count, 1, make_types}}};
}

// Strings are the numbers of their bytes, each with a 0 behind it.
std::string field_data(const VtuMetadata& metadata) {
  std::string text = "    <FieldData>\n";
  const auto add = [&text](const char* name, const std::string& value) {
    if (value.empty()) return;
    text += fmt::format(
        "      <DataArray type=\"String\" Name=\"{}\" NumberOfTuples=\"1\" format=\"ascii\">\n"
        "        ",
        name);
    for (const char c : value) text += fmt::format("{} ", static_cast<unsigned char>(c));
    text += "0\n      </DataArray>\n";
  };
  add("title", metadata.title);
  add("status", metadata.status);
  add("program", metadata.program);
  if (metadata.time) {
    text += fmt::format(
        "      <DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" "
        "format=\"ascii\">\n        {:.17g}\n      </DataArray>\n",
        *metadata.time);
  }
  return text + "    </FieldData>\n";
}

void check_size(const std::string& name, std::span<const double> values, Index expected) {
  if (static_cast<Index>(values.size()) != expected) {
    throw std::invalid_argument("field " + name + " has the wrong number of values");
  }
}

}  // namespace

std::vector<std::string> write_vtu(const std::filesystem::path& path, const Discretization& space,
                                   std::span<const PointField> point_fields,
                                   std::span<const CellField> cell_fields,
                                   const VtuOptions& options, const VtuMetadata& metadata) {
  AtomicFile file(path);
  std::vector<std::string> widened =
      write_vtu(file, space, point_fields, cell_fields, options, metadata);
  file.commit();
  return widened;
}

std::vector<std::string> write_vtu(AtomicFile& file, const Discretization& space,
                                   std::span<const PointField> point_fields,
                                   std::span<const CellField> cell_fields,
                                   const VtuOptions& options, const VtuMetadata& metadata) {
  for (const auto& [name, function] : point_fields) {
    check_size(name, function.values, space.lattice.size());
    if (!function.minus.empty()) check_size(name, function.minus, space.lattice.size());
  }
  for (const auto& [name, values] : cell_fields) check_size(name, values, space.mesh.cell_count());

  std::vector<std::string> widened;
  const auto width_of = [&](const std::string& name, bool fits_in_single) {
    if (options.width == FloatWidth::double_precision || fits_in_single) return options.width;
    widened.push_back(name);
    return FloatWidth::double_precision;
  };
  const FileGrid grid(space.mesh, space.lattice.degree(), options);
  const EquidistantSampler sampler(space.lattice, space.basis.nodes, grid.points);
  const Positions positions(space, sampler, grid);

  VtuSection points{"Points", "", {}};
  points.arrays.push_back(position_array(
      positions, sampler, grid, width_of("positions", positions.fit_in_single(space.mesh))));
  VtuSection point_data{"PointData", "", {}};
  if (!point_fields.empty()) {
    point_data.attributes = fmt::format(" Scalars=\"{}\"", point_fields.front().name);
  }
  for (const PointField& field : point_fields) {
    const bool fits = single_holds(largest_magnitude(field.function), sampler.growth());
    point_data.arrays.push_back(point_array(field, sampler, grid, width_of(field.name, fits)));
  }
  VtuSection cell_data{"CellData", "", {}};
  for (const CellField& field : cell_fields) {
    const bool fits = single_holds(largest_magnitude({field.values}), 1.0);
    cell_data.arrays.push_back(cell_array(field, space.mesh, grid, width_of(field.name, fits)));
  }
  const bool is_renumbered = space.mesh.dimension() == 3 && grid.degree > 1;
  write_vtu_file(
      file,
      {is_renumbered ? "2.2" : "1.0",
       field_data(metadata),
       grid.points.size(),
       grid.cell_count(),
       {std::move(point_data), std::move(cell_data), std::move(points), cell_section(grid)}},
      options.compression);
  return widened;
}

Index vtu_working_bytes(const NodeLattice& lattice, const BoxMesh& mesh, int threads,
                        const VtuOptions& options) {
  const FileGrid grid(mesh, lattice.degree(), options);
  const EquidistantSampler sampler(lattice, make_nodes(NodeFamily::equidistant, lattice.degree()),
                                   grid.points);
  const Index numbers = numbers_per_vtu_block(options.width);
  const Index scratch = (numbers + sampler.scratch_size(numbers)) * Index{sizeof(double)};
  return vtu_block_bytes(threads) + threads * scratch;
}

Index uncompressed_vtu_bytes(const NodeLattice& lattice, const BoxMesh& mesh, int point_field_count,
                             int cell_field_count, const VtuOptions& options) {
  const FileGrid grid(mesh, lattice.degree(), options);
  const Index number = number_bytes(options.width);
  // Each cell has an id per node, an end and a type.
  const Index cell_bytes = grid.id_bytes() * (grid.cell_size() + 1) + 1 + number * cell_field_count;
  return Saturated(grid.points.size()) * number * (3 + point_field_count) +
         Saturated(grid.cell_count()) * cell_bytes;
}

}  // namespace tessera
