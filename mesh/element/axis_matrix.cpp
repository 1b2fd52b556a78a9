// This file makes evaluation matrices along an axis, and multiplies by them on a lattice.
#include "mesh/element/axis_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "mesh/node_lattice.hpp"

namespace tessera {
namespace {

// Weights below this are rounding: values are of order 1.
constexpr double kRounding = 1e-13;
constexpr double kExactWeights[] = {0.0, 1.0};
// The number of values of a row that are worked on at a time, so that they stay in the first-level
// cache.
constexpr Index kBlock = 1024;

std::vector<double> grid_lines(const AxisSpace& space) {
  std::vector<double> lines(static_cast<std::size_t>(space.mesh.cells()[space.d] + 1));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    lines[i] = space.mesh.grid_line(space.d, static_cast<Index>(i));
  }
  return lines;
}

// How many cells of `at` each cell of `from` consists of, where all cells of both are equal; else
// 0.
Index equal_cells_in_cell(const AxisSpace& from, const AxisSpace& at) {
  const int d = from.d;
  const PlaceInWhole& from_place = from.mesh.place();
  const PlaceInWhole& at_place = at.mesh.place();
  if (!from.mesh.is_uniform(d) || !at.mesh.is_uniform(d)) return 0;
  if (from_place.lower[d] != at_place.lower[d] || from_place.upper[d] != at_place.upper[d])
    return 0;
  const Index cells = at.mesh.cells()[d] / from.mesh.cells()[d];
  const bool are_the_same = cells * from.mesh.cells()[d] == at.mesh.cells()[d] &&
                            cells * from_place.cells[d] == at_place.cells[d] &&
                            cells * from_place.first_cell[d] == at_place.first_cell[d];
  return are_the_same ? cells : 0;
}

// Returns the number in `exact` that the value is up to rounding, or the value if there is none.
double snapped(double value, std::span<const double> exact, double rounding) {
  for (const double candidate : exact) {
    if (std::abs(value - candidate) < rounding) return candidate;
  }
  return value;
}

}  // namespace

AxisMatrix transpose(const AxisMatrix& matrix) {
  std::vector<Index> begin(static_cast<std::size_t>(matrix.columns), matrix.rows);
  std::vector<Index> end(static_cast<std::size_t>(matrix.columns), 0);
  const auto for_each_entry = [&](auto&& f) {
    for (Index r = 0; r < matrix.rows; ++r) {
      for (int k = 0; k < matrix.width; ++k) {
        const double entry = matrix.entries[r * matrix.width + k];
        if (entry != 0.0) f(r, matrix.first[r] + k, entry);
      }
    }
  };
  for_each_entry([&](Index r, Index c, double) {
    begin[c] = std::min(begin[c], r);
    end[c] = std::max(end[c], r + 1);
  });
  AxisMatrix result{matrix.columns, matrix.rows, 1, {}, {}};
  for (Index c = 0; c < matrix.columns; ++c) {
    result.width = std::max(result.width, static_cast<int>(end[c] - begin[c]));
  }
  for (Index c = 0; c < matrix.columns; ++c) {
    result.first.push_back(std::clamp<Index>(begin[c], 0, matrix.rows - result.width));
  }
  result.entries.assign(static_cast<std::size_t>(result.rows * result.width), 0.0);
  for_each_entry([&](Index r, Index c, double entry) {
    result.entries[c * result.width + r - result.first[c]] = entry;
  });
  return result;
}

bool is_identity(const AxisMatrix& matrix) {
  if (matrix.rows != matrix.columns) return false;
  for (Index r = 0; r < matrix.rows; ++r) {
    for (int k = 0; k < matrix.width; ++k) {
      const double expected = matrix.first[r] + k == r ? 1.0 : 0.0;
      if (matrix.entries[r * matrix.width + k] != expected) return false;
    }
  }
  return true;
}

AxisMatrix evaluation_matrix(const AxisSpace& from, const AxisSpace& at) {
  const std::vector<double> from_lines = grid_lines(from);
  const std::vector<double> at_lines = grid_lines(at);
  const auto p = static_cast<Index>(from.nodes.size()) - 1;
  const auto q = static_cast<Index>(at.nodes.size()) - 1;
  const auto from_cells = static_cast<Index>(from_lines.size()) - 1;
  const auto at_cells = static_cast<Index>(at_lines.size()) - 1;
  const double largest = std::max(std::abs(from_lines.front()), std::abs(from_lines.back()));
  const Index equal_cells = equal_cells_in_cell(from, at);
  AxisMatrix matrix{
      nodes_along(at_cells, q), nodes_along(from_cells, p), static_cast<int>(p + 1), {}, {}};
  // The values at a place on [0, 1] in a cell of `from`.
  const auto add_row = [&](Index first, double place, double rounding) {
    const double local[] = {snapped(place, from.nodes, rounding)};
    matrix.first.push_back(first);
    for (const double value : lagrange_values(from.nodes, local).entries) {
      matrix.entries.push_back(snapped(value, kExactWeights, kRounding));
    }
  };
  for (Index node = 0; node < matrix.rows; ++node) {
    const Index c = std::min(node / q, at_cells - 1);
    if (equal_cells > 0) {
      // By numbers of cells, so that all cells of `from` have the same bits.
      const double place = static_cast<double>(c % equal_cells) + at.nodes[node - c * q];
      add_row(c / equal_cells * p, place / static_cast<double>(equal_cells), kRounding);
      continue;
    }
    const double width = at_lines[c + 1] - at_lines[c];
    // The last node has the bits that it has as the first one of a part that comes after.
    const double x =
        node == matrix.rows - 1 ? at_lines.back() : at_lines[c] + width * at.nodes[node - c * q];
    // A node on a grid line is searched a little inside its cell, so that rounding does not matter.
    const double inside = x + 1e-6 * (at_lines[c] + width / 2 - x);
    const auto above = std::upper_bound(from_lines.begin(), from_lines.end(), inside);
    const Index cell = std::clamp<Index>(above - from_lines.begin() - 1, 0, from_cells - 1);
    const double begin = from_lines[cell];
    const double from_width = from_lines[cell + 1] - begin;
    const double rounding = 8.0 * std::numeric_limits<double>::epsilon() * largest / from_width;
    add_row(cell * p, (x - begin) / from_width, std::max(rounding, kRounding));
  }
  return matrix;
}

namespace {

// Multiplies along x, where the values of a line lie together.
template <class T>
void multiply_along_x(const AxisMatrix& matrix, const T* entries, Index lines, const T* in, T* out,
                      LineStore store) {
#pragma omp parallel for schedule(static)
  for (Index line = 0; line < lines; ++line) {
    const T* u = in + line * matrix.columns;
    T* v = out + line * matrix.rows;
    for (Index r = 0; r < matrix.rows; ++r) {
      T sum = store == LineStore::add ? v[r] : T{0};
      for (int k = 0; k < matrix.width; ++k) {
        sum += entries[r * matrix.width + k] * u[matrix.first[r] + k];
      }
      v[r] = sum;
    }
  }
}

// Multiplies along another axis, by rows of `inner` values that lie together.
template <class T>
void multiply_rows(const AxisMatrix& matrix, const T* entries, Index inner, Index outer,
                   const T* in, T* out, LineStore store) {
  // All rows of a block come one after the other, so that what they share stays in the cache.
#pragma omp parallel for collapse(2) schedule(static)
  for (Index o = 0; o < outer; ++o) {
    for (Index begin = 0; begin < inner; begin += kBlock) {
      const Index count = std::min(kBlock, inner - begin);
      for (Index r = 0; r < matrix.rows; ++r) {
        T* v = out + (o * matrix.rows + r) * inner + begin;
        if (store == LineStore::assign) std::fill_n(v, count, T{0});
        for (int k = 0; k < matrix.width; ++k) {
          const T entry = entries[r * matrix.width + k];
          if (entry == T{0}) continue;
          const T* u = in + (o * matrix.columns + matrix.first[r] + k) * inner + begin;
#pragma omp simd
          for (Index i = 0; i < count; ++i) v[i] += entry * u[i];
        }
      }
    }
  }
}

}  // namespace

template <class T>
void multiply_along(const AxisMatrix& matrix, const std::vector<T>& entries, const IndexBox& box,
                    int d, const T* in, T* out, LineStore store) {
  const Index lines = box.count() / matrix.columns;
  const Index inner = box.strides[d];
  if (d == 0) {
    multiply_along_x(matrix, entries.data(), lines, in, out, store);
  } else {
    multiply_rows(matrix, entries.data(), inner, lines / inner, in, out, store);
  }
}

template void multiply_along(const AxisMatrix&, const std::vector<double>&, const IndexBox&, int,
                             const double*, double*, LineStore);
template void multiply_along(const AxisMatrix&, const std::vector<float>&, const IndexBox&, int,
                             const float*, float*, LineStore);

HostArray<double> multiply_along_all(const std::array<AxisMatrix, 3>& matrices,
                                     const IndexTriple& from, const IndexTriple& to,
                                     const double* in) {
  IndexTriple extents = from;
  HostArray<double> result;
  for (int d = 2; d >= 0; --d) {
    if (matrices[d].rows == 0) continue;
    IndexTriple next_extents = extents;
    next_extents[d] = to[d];
    HostArray<double> next(static_cast<std::size_t>(IndexBox(next_extents).size()));
    multiply_along(matrices[d], matrices[d].entries, IndexBox(extents), d, in, next.data(),
                   LineStore::assign);
    result = std::move(next);
    in = result.data();
    extents = next_extents;
  }
  return result;
}

}  // namespace tessera
