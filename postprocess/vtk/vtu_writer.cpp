// This file builds the unstructured grid that VTK writes.
#include "postprocess/vtk/vtu_writer.hpp"

#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkCellType.h>
#include <vtkDoubleArray.h>
#include <vtkFieldData.h>
#include <vtkFloatArray.h>
#include <vtkHigherOrderHexahedron.h>
#include <vtkHigherOrderQuadrilateral.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkSmartPointer.h>
#include <vtkStringArray.h>
#include <vtkTypeInt64Array.h>
#include <vtkUnstructuredGrid.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "mesh/partition.hpp"
#include "mesh/saturated.hpp"
#include "postprocess/files/atomic_file.hpp"
#include "postprocess/vtk/vtk_file.hpp"

namespace tessera {
namespace {

// The cells as they go into the file: those of the mesh, or their p^d parts.
struct FileCells {
  BoxMesh mesh;
  int degree;
  Index refinement;  // file cells along an axis of a mesh cell
};

FileCells file_cells(const BoxMesh& mesh, int degree) {
  if (degree <= kMaxVtkDegree) return {mesh, degree, 1};
  IndexTriple cells = mesh.cells();
  for (int d = 0; d < mesh.dimension(); ++d) cells[d] *= degree;
  return {BoxMesh(mesh.dimension(), cells, mesh.lower(), mesh.upper()), 1, degree};
}

int vtk_cell_type(int dimension, int degree) {
  if (dimension == 2) return degree == 1 ? VTK_QUAD : VTK_LAGRANGE_QUADRILATERAL;
  return degree == 1 ? VTK_HEXAHEDRON : VTK_LAGRANGE_HEXAHEDRON;
}

// Entry v is how far VTK's node v lies from the cell's first node in the lattice.
std::vector<Index> vtk_node_offsets(const NodeLattice& lattice, int degree) {
  const int order[3] = {degree, degree, degree};
  std::vector<Index> offsets(static_cast<std::size_t>(power(degree + 1, lattice.dimension())));
  const int k_end = lattice.dimension() == 3 ? degree : 0;
  for (int k = 0; k <= k_end; ++k) {
    for (int j = 0; j <= degree; ++j) {
      for (int i = 0; i <= degree; ++i) {
        const int v = lattice.dimension() == 3
                          ? vtkHigherOrderHexahedron::PointIndexFromIJK(i, j, k, order)
                          : vtkHigherOrderQuadrilateral::PointIndexFromIJK(i, j, order);
        offsets[v] = lattice.offset(i, j, k);
      }
    }
  }
  return offsets;
}

vtkSmartPointer<vtkCellArray> make_cells(const NodeLattice& lattice, const FileCells& cells) {
  const NodeLattice file_lattice(cells.mesh, cells.degree);
  const std::vector<Index> node_offsets = vtk_node_offsets(lattice, cells.degree);
  const Index cell_size = static_cast<Index>(node_offsets.size());
  const Index count = cells.mesh.cell_count();
  vtkNew<vtkTypeInt64Array> offsets;
  vtkNew<vtkTypeInt64Array> connectivity;
  offsets->SetNumberOfValues(count + 1);
  connectivity->SetNumberOfValues(count * cell_size);
  auto* offset = offsets->GetPointer(0);
  auto* nodes = connectivity->GetPointer(0);
  parallel_ranges(count, [&](Range range) {
    for (Index c = range.begin; c < range.end; ++c) {
      const Index first = file_lattice.first_node(cells.mesh.cell_position(c));
      offset[c] = c * cell_size;
      for (Index v = 0; v < cell_size; ++v) nodes[c * cell_size + v] = first + node_offsets[v];
    }
  });
  offset[count] = count * cell_size;
  auto array = vtkSmartPointer<vtkCellArray>::New();
  array->SetData(offsets, connectivity);
  return array;
}

// Whether single precision has these numbers, given the largest magnitude of them: it is in its
// range, and what is below that is less than a rounding error beside it.
bool single_holds(double largest) {
  using Limits = std::numeric_limits<float>;
  constexpr double kLeast = static_cast<double>(Limits::min()) / Limits::epsilon();
  return largest == 0.0 || (largest >= kLeast && largest <= static_cast<double>(Limits::max()));
}

// 0 for what is not finite, which is the same in both precisions.
double finite_magnitude(double value) { return std::isfinite(value) ? std::abs(value) : 0.0; }

double largest_magnitude(std::span<const double> values) {
  double largest = 0.0;
#pragma omp parallel for schedule(static) reduction(max : largest)
  for (std::size_t i = 0; i < values.size(); ++i) {
    largest = std::max(largest, finite_magnitude(values[i]));
  }
  return largest;
}

// The same along each axis.
std::array<double, 3> largest_coordinates(const EquidistantPositions& positions, Index count) {
  constexpr Index kBlock = 1024;
  double largest_x = 0.0;
  double largest_y = 0.0;
  double largest_z = 0.0;
#pragma omp parallel for schedule(static) reduction(max                                 \
                                                    : largest_x) reduction(max          \
                                                                           : largest_y) \
    reduction(max                                                                       \
              : largest_z)
  for (Index first = 0; first < count; first += kBlock) {
    std::array<double, kBlock> x;
    std::array<double, kBlock> y;
    std::array<double, kBlock> z;
    const Index n = std::min(kBlock, count - first);
    positions.node_positions(first, n, x.data(), y.data(), z.data());
    for (Index i = 0; i < n; ++i) {
      largest_x = std::max(largest_x, finite_magnitude(x[i]));
      largest_y = std::max(largest_y, finite_magnitude(y[i]));
      largest_z = std::max(largest_z, finite_magnitude(z[i]));
    }
  }
  return {largest_x, largest_y, largest_z};
}

template <class Array>
vtkSmartPointer<vtkPoints> make_points(const EquidistantPositions& positions, Index count) {
  constexpr Index kBlock = 1024;
  vtkNew<Array> array;
  array->SetNumberOfComponents(3);
  array->SetNumberOfTuples(count);
  auto* out = array->GetPointer(0);
  using Value = std::remove_pointer_t<decltype(out)>;
  parallel_ranges(count, [&](Range range) {
    std::vector<double> buffer(3 * kBlock);
    double* const x = buffer.data();
    for (Index first = range.begin; first < range.end; first += kBlock) {
      const Index n = std::min(kBlock, range.end - first);
      positions.node_positions(first, n, x, x + kBlock, x + 2 * kBlock);
      for (Index i = 0; i < n; ++i) {
        for (int d = 0; d < 3; ++d)
          out[3 * (first + i) + d] = static_cast<Value>(x[d * kBlock + i]);
      }
    }
  });
  auto points = vtkSmartPointer<vtkPoints>::New();
  points->SetData(array);
  return points;
}

vtkSmartPointer<vtkDataArray> make_array(const std::string& name, std::span<const double> values,
                                         FloatWidth width) {
  const Index count = static_cast<Index>(values.size());
  vtkSmartPointer<vtkDataArray> result;
  if (width == FloatWidth::double_precision) {
    auto array = vtkSmartPointer<vtkDoubleArray>::New();
    // VTK takes no pointer to const; the writer only reads, and 1 says that it must not free.
    array->SetArray(const_cast<double*>(values.data()), count, 1);
    result = array;
  } else {
    auto array = vtkSmartPointer<vtkFloatArray>::New();
    array->SetNumberOfValues(count);
    float* const out = array->GetPointer(0);
    parallel_ranges(count, [&](Range range) {
      for (Index i = range.begin; i < range.end; ++i) out[i] = static_cast<float>(values[i]);
    });
    result = array;
  }
  result->SetName(name.c_str());
  return result;
}

std::vector<double> spread_to_file_cells(const BoxMesh& mesh, const FileCells& cells,
                                         std::span<const double> values) {
  std::vector<double> spread(static_cast<std::size_t>(cells.mesh.cell_count()));
  for (Index c = 0; c < cells.mesh.cell_count(); ++c) {
    IndexTriple position = cells.mesh.cell_position(c);
    for (int d = 0; d < mesh.dimension(); ++d) position[d] /= cells.refinement;
    spread[c] = values[mesh.cell_index(position)];
  }
  return spread;
}

void add_metadata(vtkUnstructuredGrid& grid, const char* name, const std::string& text) {
  if (text.empty()) return;
  vtkNew<vtkStringArray> array;
  array->SetName(name);
  array->InsertNextValue(text);
  grid.GetFieldData()->AddArray(array);
}

template <class Field>
void check_sizes(std::span<const Field> fields, Index expected) {
  for (const Field& field : fields) {
    if (static_cast<Index>(field.values.size()) != expected) {
      throw std::invalid_argument("field " + field.name + " has the wrong number of values");
    }
  }
}

}  // namespace

std::vector<std::string> write_vtu(AtomicFile& file, const NodeLattice& lattice,
                                   const BoxMesh& mesh, const EquidistantPositions& positions,
                                   std::span<const PointField> point_fields,
                                   std::span<const CellField> cell_fields, FloatWidth width,
                                   const VtuMetadata& metadata) {
  check_sizes(point_fields, lattice.size());
  check_sizes(cell_fields, mesh.cell_count());

  std::vector<std::string> widened;
  const auto width_of = [&](const std::string& name, bool is_held) {
    if (width == FloatWidth::double_precision || is_held) return width;
    widened.push_back(name);
    return FloatWidth::double_precision;
  };
  const auto width_of_field = [&](const auto& field) {
    return width_of(field.name, single_holds(largest_magnitude(field.values)));
  };
  const std::array<double, 3> extents = largest_coordinates(positions, lattice.size());
  const FloatWidth width_of_points =
      width_of("positions", std::all_of(extents.begin(), extents.end(), single_holds));

  const FileCells cells = file_cells(mesh, lattice.degree());
  vtkNew<vtkUnstructuredGrid> grid;
  grid->SetPoints(width_of_points == FloatWidth::double_precision
                      ? make_points<vtkDoubleArray>(positions, lattice.size())
                      : make_points<vtkFloatArray>(positions, lattice.size()));
  grid->SetCells(vtk_cell_type(mesh.dimension(), cells.degree), make_cells(lattice, cells));
  for (const PointField& field : point_fields) {
    grid->GetPointData()->AddArray(make_array(field.name, field.values, width_of_field(field)));
  }
  if (!point_fields.empty()) {
    grid->GetPointData()->SetActiveScalars(point_fields.front().name.c_str());
  }
  std::vector<std::vector<double>> spread;
  for (const CellField& field : cell_fields) {
    std::span<const double> values = field.values;
    if (cells.refinement > 1) {
      values = spread.emplace_back(spread_to_file_cells(mesh, cells, values));
    }
    grid->GetCellData()->AddArray(make_array(field.name, values, width_of_field(field)));
  }
  add_metadata(*grid, "title", metadata.title);
  add_metadata(*grid, "status", metadata.status);
  add_metadata(*grid, "program", metadata.program);

  const std::string failure = write_vtk_file(file.temporary_path(), *grid);
  if (!failure.empty()) throw OutputError(file.path(), failure);
  return widened;
}

Index vtk_grid_bytes(const NodeLattice& lattice, const BoxMesh& mesh, int rounded_fields,
                     FloatWidth width) {
  const FileCells cells = file_cells(mesh, lattice.degree());
  const bool rounds = width == FloatWidth::single_precision;
  const Index number = rounds ? sizeof(float) : sizeof(double);
  const Index cell_size = power(cells.degree + 1, lattice.dimension());
  // Each cell has its ids, an offset and a type, and the coefficient where it is rounded or spread
  // to smaller cells.
  const Index cell_bytes = 8 * cell_size + 8 + 1 + (rounds ? sizeof(float) : 0) +
                           (cells.refinement > 1 ? sizeof(double) : 0);
  return Saturated(lattice.size()) * number * (3 + rounded_fields) +
         Saturated(cells.mesh.cell_count()) * cell_bytes;
}

}  // namespace tessera
