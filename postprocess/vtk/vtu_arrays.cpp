// This file makes the arrays of a solution's file, block after block.
#include "postprocess/vtk/vtu_arrays.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "mesh/partition.hpp"
#include "mesh/saturated.hpp"
#include "postprocess/vtk/vtk_cells.hpp"

namespace tessera {
namespace {

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

double* grown(std::vector<double>& scratch, Index size) {
  if (scratch.size() < static_cast<std::size_t>(size)) scratch.resize(size);
  return scratch.data();
}

}  // namespace

VtuGrid::VtuGrid(const BoxMesh& mesh, int space_degree, const VtuOptions& options)
    : points(mesh, options.degree > 0 ? options.degree : space_degree),
      degree(points.degree() <= kMaxVtkDegree ? points.degree() : 1),
      refinement(points.degree() / degree) {
  for (int d = 0; d < mesh.dimension(); ++d) cells[d] = mesh.cells()[d] * refinement;
}

Index VtuGrid::id_bytes() const {
  constexpr Index kMaxInt32 = std::numeric_limits<std::int32_t>::max();
  const bool is_small =
      Saturated(cell_count()) * cell_size() <= kMaxInt32 && points.size() <= kMaxInt32;
  return is_small ? sizeof(std::int32_t) : sizeof(std::int64_t);
}

VtuPositions::VtuPositions(const Discretization& space, const EquidistantSampler& sampler,
                           const VtuGrid& grid)
    : mapping_(space.mapping), frame_(space.frame), sampler_(sampler) {
  if (!mapping_.is_cartesian()) return;
  box_.emplace(space.mesh, grid.points, make_nodes(NodeFamily::equidistant, grid.points.degree()));
}

double VtuPositions::largest(const BoxMesh& mesh, int d) const {
  const double own = box_ ? std::max(std::abs(mesh.lower()[d]), std::abs(mesh.upper()[d]))
                          : largest_magnitude(mapping_.coordinate(d));
  return std::abs(frame_.origin[d]) + frame_.length * own;
}

std::array<double*, 3> VtuPositions::find(Range points, std::vector<double>& scratch) const {
  const Index n = points.size();
  grown(scratch, 3 * n + sampler_.scratch_size(n));
  std::array<double*, 3> axes;
  for (Index d = 0; d < 3; ++d) axes[d] = scratch.data() + d * n;
  if (box_) box_->node_positions(points.begin, n, axes[0], axes[1], axes[2]);
  for (int d = 0; d < 3; ++d) {
    if (!box_ && !mapping_.coordinate(d).empty()) {
      sampler_.sample(mapping_.coordinate(d), points, axes[d], scratch.data() + 3 * n);
    } else if (!box_) {
      std::fill_n(axes[d], n, 0.0);
    }
    for (Index i = 0; i < n; ++i) axes[d][i] = frame_.origin[d] + frame_.length * axes[d][i];
  }
  return axes;
}

Index number_bytes(FloatWidth width) { return width == FloatWidth::double_precision ? 8 : 4; }

double largest_magnitude(std::span<const double> values) {
  double largest = 0.0;
#pragma omp parallel for schedule(static) reduction(max : largest)
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = std::abs(values[i]);
    if (value <= std::numeric_limits<double>::max()) largest = std::max(largest, value);
  }
  return largest;
}

VtuArray position_array(const VtuPositions& positions, const VtuGrid& grid, FloatWidth width) {
  return {"Points",
          float_type(width),
          3,
          grid.points.size(),
          3 * number_bytes(width),
          [&positions, width](Range points, std::byte* out, std::vector<double>& scratch) {
            const std::array<double*, 3> axes = positions.find(points, scratch);
            as_floats(width, out, [&](auto* numbers) {
              for (int d = 0; d < 3; ++d) store(axes[d], points.size(), 3, numbers + d);
            });
          }};
}

VtuArray point_array(const PointField& field, const EquidistantSampler& sampler,
                     const VtuGrid& grid, FloatWidth width) {
  return {field.name,
          float_type(width),
          1,
          grid.points.size(),
          number_bytes(width),
          [&field, &sampler, width](Range points, std::byte* out, std::vector<double>& scratch) {
            const Index n = points.size();
            const double* given = field.given.empty() ? nullptr : field.given.data() + points.begin;
            double* const values = grown(scratch, n + sampler.scratch_size(n));
            if (!field.nodal.empty()) {
              sampler.sample(field.nodal, points, values, values + n);
              for (Index i = 0; given != nullptr && i < n; ++i) values[i] -= given[i];
            } else {
              std::copy_n(given, n, values);
            }
            as_floats(width, out, [&](auto* numbers) { store(values, n, 1, numbers); });
          }};
}

VtuArray cell_array(const CellField& field, const BoxMesh& mesh, const VtuGrid& grid,
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

VtuSection cell_section(const VtuGrid& grid) {
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

}  // namespace tessera
