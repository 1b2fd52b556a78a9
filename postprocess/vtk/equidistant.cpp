// This file blends planes, then rows, then the nodes of a row.
#include "postprocess/vtk/equidistant.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace tessera {
namespace {

// A point that is a node has its value, whatever rounding makes of the polynomials.
Matrix1D sampling_matrix(std::span<const double> nodes, const std::vector<double>& points) {
  constexpr double kTolerance = 1e-15;
  Matrix1D matrix = lagrange_values(nodes, points);
  for (int a = 0; a < matrix.rows; ++a) {
    for (int b = 0; b < matrix.columns; ++b) {
      if (std::abs(points[a] - nodes[b]) > kTolerance) continue;
      double* const row = matrix.entries.data() + a * matrix.columns;
      std::fill_n(row, matrix.columns, 0.0);
      row[b] = 1.0;
    }
  }
  return matrix;
}

// Calls add(b, is_first) for the entries of a row of the matrix that are not 0.
template <class Add>
void for_each_weight(const Matrix1D& matrix, int row, Add add) {
  bool is_first = true;
  for (int b = 0; b < matrix.columns; ++b) {
    const double weight = matrix(row, b);
    if (weight == 0.0) continue;
    add(b, weight, is_first);
    is_first = false;
  }
}

template <class Value>
void accumulate(bool is_first, double weight, Index count, Value value, double* out) {
  if (is_first) {
    for (Index i = 0; i < count; ++i) out[i] = weight * value(i);
  } else {
    for (Index i = 0; i < count; ++i) out[i] += weight * value(i);
  }
}

}  // namespace

EquidistantSampler::EquidistantSampler(const NodeLattice& lattice, std::span<const double> nodes,
                                       const NodeLattice& points)
    : lattice_(lattice),
      points_(points),
      p_(lattice.degree()),
      m_(points.degree()),
      matrix_(sampling_matrix(nodes, make_nodes(NodeFamily::equidistant, m_))) {}

EquidistantSampler::Place EquidistantSampler::place(int axis, Index position) const {
  if (axis >= lattice_.dimension()) return {0, 0};
  const Index last = (points_.extents()[axis] - 1) / m_ - 1;
  const Index cell = std::min(position / m_, last);
  return {cell, static_cast<int>(position - cell * m_)};
}

EquidistantSampler::Columns EquidistantSampler::columns(Index first, Index count) const {
  const Index first_cell = place(0, first).cell;
  return {first_cell, std::max(first_cell + 1, ceil_div(first + count - 1, m_))};
}

Index EquidistantSampler::scratch_size(Index points) const {
  const Index row = std::min(points, points_.extents()[0]);
  return (p_ + 2) * std::min((row / m_ + 2) * p_ + 1, lattice_.extents()[0]);
}

double EquidistantSampler::growth() const {
  double largest = 0.0;
  for (int a = 0; a <= m_; ++a) {
    double sum = 0.0;
    for (int b = 0; b <= p_; ++b) sum += std::abs(matrix_(a, b));
    largest = std::max(largest, sum);
  }
  return std::pow(largest, lattice_.dimension());
}

// One row of nodes at the height of the points.
void EquidistantSampler::blend_planes(std::span<const double> nodal, Columns columns, Index row,
                                      Place z, double* out) const {
  const Index first = lattice_.offset(columns.first * p_, row, z.cell * p_);
  const Index count = width(columns);
  for_each_weight(matrix_, z.point, [&](int c, double weight, bool is_first) {
    const Index node = first + c * lattice_.stride(2);
    const double* const values = nodal.data() + node;
    accumulate(
        is_first, weight, count, [=](Index i) { return values[i]; }, out);
  });
}

void EquidistantSampler::blend_rows(const double* rows, Index width, int point, double* out) const {
  for_each_weight(matrix_, point, [&](int b, double weight, bool is_first) {
    const double* const row = rows + b * width;
    accumulate(
        is_first, weight, width, [=](Index i) { return row[i]; }, out);
  });
}

void EquidistantSampler::sample_row(const double* row, Columns columns, Index first, Index count,
                                    double* out) const {
  for (Index i = first; i < first + count;) {
    const Place x = place(0, i);
    const double* const nodes = row + (x.cell - columns.first) * p_;
    const int end = static_cast<int>(std::min<Index>(m_ + 1, x.point + first + count - i));
    for (int a = x.point; a < end; ++a, ++i) {
      const double* const weights = matrix_.entries.data() + a * (p_ + 1);
      double sum = 0.0;
      for (int b = 0; b <= p_; ++b) sum += weights[b] * nodes[b];
      *out++ = sum;
    }
  }
}

void EquidistantSampler::sample(std::span<const double> nodal, Range points, double* out,
                                double* scratch) const {
  const int rows = p_ + 1;
  // What the rows in the scratch are of.
  struct Held {
    Columns columns;
    Index row;
    Index plane;
    bool operator==(const Held&) const = default;
  };
  std::optional<Held> held;
  for (Index point = points.begin; point < points.end;) {
    const IndexTriple at = points_.node_position(point);
    const Index count = std::min(points_.extents()[0] - at[0], points.end - point);
    const Place y = place(1, at[1]);
    const Held needed{columns(at[0], count), y.cell, at[2]};
    const Index n = width(needed.columns);
    double* const line = scratch + rows * n;
    if (held != needed) {
      for (int b = 0; b < rows; ++b) {
        blend_planes(nodal, needed.columns, y.cell * p_ + b, place(2, at[2]), scratch + b * n);
      }
      held = needed;
    }
    blend_rows(scratch, n, y.point, line);
    sample_row(line, needed.columns, at[0], count, out);
    out += count;
    point += count;
  }
}

}  // namespace tessera
