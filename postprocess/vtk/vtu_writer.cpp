// This file puts a solution's file together, and says how its numbers are stored.
#include "postprocess/vtk/vtu_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "mesh/partition.hpp"
#include "mesh/saturated.hpp"
#include "operators/form/on_all_ranks.hpp"
#include "postprocess/vtk/pvtu_writer.hpp"

namespace tessera {
namespace {

// Whether single precision has numbers of up to this magnitude, if what is made of them is at most
// `growth` as large: it is in its range, and what is below that is less than a rounding error
// beside it.
bool single_holds(double largest, double growth) {
  using Limits = std::numeric_limits<float>;
  constexpr double kMinMagnitude = static_cast<double>(Limits::min()) / Limits::epsilon();
  return largest == 0.0 ||
         (largest >= kMinMagnitude && largest * growth <= static_cast<double>(Limits::max()));
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

// Hexahedra of degree 2 and more are numbered as of file version 2.2.
const char* file_version(const VtuGrid& grid) {
  return grid.points.dimension() == 3 && grid.degree > 1 ? "2.2" : "1.0";
}

void check_size(const std::string& name, std::span<const double> values, Index expected) {
  if (static_cast<Index>(values.size()) != expected) {
    throw std::invalid_argument("field " + name + " has the wrong number of values");
  }
}

void check_sizes(const Discretization& space, std::span<const PointField> point_fields,
                 std::span<const CellField> cell_fields, const VtuOptions& options) {
  const Index points = VtuGrid(space.mesh, space.lattice.degree(), options).points.size();
  for (const auto& [name, nodal, given] : point_fields) {
    if (!nodal.empty() || given.empty()) check_size(name, nodal, space.lattice.size());
    if (!given.empty()) check_size(name, given, points);
  }
  for (const auto& [name, values] : cell_fields) check_size(name, values, space.mesh.cell_count());
}

// How much smaller than the numbers that it is of a difference may be.
double least_share(const PointField& field) {
  const bool is_difference = !field.nodal.empty() && !field.given.empty();
  return is_difference ? std::numeric_limits<double>::epsilon() : 1.0;
}

// What the arrays of a file are made with.
class FileMaker {
 public:
  FileMaker(const Discretization& space, const VtuOptions& options)
      : space_(space),
        grid_(space.mesh, space.lattice.degree(), options),
        sampler_(space.lattice, space.basis.nodes, grid_.points),
        positions_(space, sampler_, grid_) {}
  FileMaker(const FileMaker&) = delete;
  FileMaker& operator=(const FileMaker&) = delete;

  // Of each coordinate, each point field and each cell field.
  std::vector<double> largest_magnitudes(std::span<const PointField> point_fields,
                                         std::span<const CellField> cell_fields) const {
    std::vector<double> largest;
    largest.reserve(3 + point_fields.size() + cell_fields.size());
    for (int d = 0; d < space_.mesh.dimension(); ++d) {
      largest.push_back(positions_.largest(space_.mesh, d));
    }
    for (const PointField& field : point_fields) {
      largest.push_back(std::max(largest_magnitude(field.nodal), largest_magnitude(field.given)));
    }
    for (const CellField& field : cell_fields) {
      largest.push_back(largest_magnitude(field.values));
    }
    return largest;
  }
  double growth_of_positions() const { return positions_.growth(); }
  double growth_of_values() const { return sampler_.growth(); }

  HostArray<double> values_at_points(const ScalarField& field) const {
    constexpr Index kBlock = 1024;
    const Index count = grid_.points.size();
    HostArray<double> values(static_cast<std::size_t>(count));
    parallel_ranges(ceil_div(count, kBlock), [&](Range blocks) {
      std::vector<double> scratch;
      for (Index block = blocks.begin; block < blocks.end; ++block) {
        const Range points{block * kBlock, std::min((block + 1) * kBlock, count)};
        const auto [x, y, z] = positions_.find(points, scratch);
        field.evaluate({static_cast<std::size_t>(points.size()), x, y, z},
                       values.data() + points.begin);
      }
    });
    return values;
  }

  // Refers to this and to the fields.
  VtuContent content(std::span<const PointField> point_fields,
                     std::span<const CellField> cell_fields, const VtuMetadata& metadata,
                     const VtuWidths& widths) const {
    VtuSection point_data{"PointData", "", {}};
    if (!point_fields.empty()) {
      point_data.attributes = fmt::format(" Scalars=\"{}\"", point_fields.front().name);
    }
    for (std::size_t i = 0; i < point_fields.size(); ++i) {
      point_data.arrays.push_back(
          point_array(point_fields[i], sampler_, grid_, widths.of_points[i]));
    }
    VtuSection cell_data{"CellData", "", {}};
    for (std::size_t i = 0; i < cell_fields.size(); ++i) {
      cell_data.arrays.push_back(
          cell_array(cell_fields[i], space_.mesh, grid_, widths.of_cells[i]));
    }
    VtuSection points{"Points", "", {position_array(positions_, grid_, widths.positions)}};
    return {file_version(grid_),
            field_data(metadata),
            grid_.points.size(),
            grid_.cell_count(),
            {std::move(point_data), std::move(cell_data), std::move(points), cell_section(grid_)}};
  }

 private:
  const Discretization& space_;
  VtuGrid grid_;
  EquidistantSampler sampler_;
  VtuPositions positions_;
};

}  // namespace

VtuWidths vtu_widths(const Communicator& ranks, const Discretization& space,
                     std::span<const PointField> point_fields,
                     std::span<const CellField> cell_fields, const VtuOptions& options) {
  struct Sizes {
    std::vector<double> largest;
    double growth_of_positions;
    double growth_of_values;
  };
  Sizes sizes = on_all_ranks(ranks, [&] {
    check_sizes(space, point_fields, cell_fields, options);
    const FileMaker maker(space, options);
    return Sizes{maker.largest_magnitudes(point_fields, cell_fields), maker.growth_of_positions(),
                 maker.growth_of_values()};
  });
  ranks.max(sizes.largest);

  VtuWidths widths;
  const auto width_of = [&](const std::string& name, bool fits_in_single) {
    if (options.width == FloatWidth::double_precision || fits_in_single) return options.width;
    widths.widened.push_back(name);
    return FloatWidth::double_precision;
  };
  auto largest = sizes.largest.begin();
  bool positions_fit = true;
  for (int d = 0; d < space.mesh.dimension(); ++d) {
    positions_fit = single_holds(*largest++, sizes.growth_of_positions) && positions_fit;
  }
  widths.positions = width_of("positions", positions_fit);
  for (const PointField& field : point_fields) {
    const double share = least_share(field);
    widths.of_points.push_back(
        width_of(field.name, single_holds(share * *largest++, sizes.growth_of_values / share)));
  }
  for (const CellField& field : cell_fields) {
    widths.of_cells.push_back(width_of(field.name, single_holds(*largest++, 1.0)));
  }
  return widths;
}

void write_vtu(AtomicFile& file, const Discretization& space,
               std::span<const PointField> point_fields, std::span<const CellField> cell_fields,
               const VtuOptions& options, const VtuMetadata& metadata, const VtuWidths& widths) {
  check_sizes(space, point_fields, cell_fields, options);
  const FileMaker maker(space, options);
  write_vtu_file(file, maker.content(point_fields, cell_fields, metadata, widths),
                 options.compression);
}

HostArray<double> values_at_vtu_points(const ScalarField& field, const Discretization& space,
                                       const VtuOptions& options) {
  return FileMaker(space, options).values_at_points(field);
}

std::vector<std::string> write_vtu(AtomicFile& file, const Discretization& space,
                                   std::span<const PointField> point_fields,
                                   std::span<const CellField> cell_fields,
                                   const VtuOptions& options, const VtuMetadata& metadata) {
  VtuWidths widths = vtu_widths(single_rank(), space, point_fields, cell_fields, options);
  write_vtu(file, space, point_fields, cell_fields, options, metadata, widths);
  return std::move(widths.widened);
}

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

std::string pvtu_text(const Discretization& space, std::span<const PointField> point_fields,
                      std::span<const CellField> cell_fields, const VtuOptions& options,
                      const VtuMetadata& metadata, const VtuWidths& widths,
                      std::span<const std::string> pieces) {
  const FileMaker maker(space, options);
  return pvtu_text(maker.content(point_fields, cell_fields, metadata, widths), pieces);
}

Index vtu_working_bytes(const NodeLattice& lattice, const BoxMesh& mesh, int threads,
                        const VtuOptions& options) {
  const VtuGrid grid(mesh, lattice.degree(), options);
  const EquidistantSampler sampler(lattice, make_nodes(NodeFamily::equidistant, lattice.degree()),
                                   grid.points);
  const Index numbers = numbers_per_vtu_block(options.width);
  const Index scratch = (numbers + sampler.scratch_size(numbers)) * Index{sizeof(double)};
  return vtu_block_bytes(threads) + threads * scratch;
}

Index uncompressed_vtu_bytes(const NodeLattice& lattice, const BoxMesh& mesh, int point_field_count,
                             int cell_field_count, const VtuOptions& options) {
  const VtuGrid grid(mesh, lattice.degree(), options);
  const Index number = number_bytes(options.width);
  // Each cell has an id per node, an end and a type.
  const Index cell_bytes = grid.id_bytes() * (grid.cell_size() + 1) + 1 + number * cell_field_count;
  return Saturated(grid.points.size()) * number * (3 + point_field_count) +
         Saturated(grid.cell_count()) * cell_bytes;
}

}  // namespace tessera
