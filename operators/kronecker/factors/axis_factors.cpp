// This file assembles the 1D mass and stiffness matrices of an axis.
#include "operators/kronecker/factors/axis_factors.hpp"

#include <numeric>

#include "mesh/saturated.hpp"

namespace tessera {
namespace {

struct CellMatrices {
  std::vector<double> mass;
  std::vector<double> stiffness;
};

// M_ij = h sum_q w_q m_q B_qi B_qj, K_ij = 1/h sum_q w_q k_q G_qi G_qj.
CellMatrices cell_matrices(const Basis1D& basis, const double* m, const double* k, double width) {
  const int n = basis.node_count();
  CellMatrices cell{std::vector<double>(n * n), std::vector<double>(n * n)};
  for (int q = 0; q < basis.point_count(); ++q) {
    const double mass = basis.quadrature.weights[q] * m[q] * width;
    const double stiffness = basis.quadrature.weights[q] * k[q] / width;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        cell.mass[i * n + j] += mass * basis.B(q, i) * basis.B(q, j);
        cell.stiffness[i * n + j] += stiffness * basis.G(q, i) * basis.G(q, j);
      }
    }
  }
  return cell;
}

// Adds a cell's matrix to the rows of its owner blocks.
void add_cell(const double* cell, Index c, int p, std::vector<double>& rows) {
  const int n = p + 1;
  double* block = rows.data() + c * p * (p + 2);
  double* next = block + p * (p + 2);
  for (int j = 0; j < n; ++j) {
    block[p + j] += cell[j];
    next[j] += cell[p * n + j];
    for (int i = 1; i < p; ++i) block[2 * p + 1 + (i - 1) * n + j] = cell[i * n + j];
  }
}

// The entry of a node's row on the diagonal.
double diagonal_entry(const std::vector<double>& rows, Index node, int p) {
  const double* block = rows.data() + node / p * p * (p + 2);
  const auto i = static_cast<int>(node % p);
  return i == 0 ? block[p] : block[2 * p + 1 + (i - 1) * (p + 1) + i];
}

std::vector<double> diagonal_of(const std::vector<double>& rows, Index nodes, int p) {
  std::vector<double> diagonal(nodes);
  for (Index node = 0; node < nodes; ++node) diagonal[node] = diagonal_entry(rows, node, p);
  return diagonal;
}

// Zeroes the row and the column of the first or the last node.
void constrain_end(int side, Index cells, int p, std::vector<double>& rows) {
  const Index size = static_cast<Index>(p) * (p + 2);
  const Index end_cell = side == 0 ? 0 : cells;
  double* end = rows.data() + end_cell * size;
  for (int j = 0; j <= 2 * p; ++j) end[j] = 0.0;
  // The cell next to the end owns the rows that have the end as a column.
  double* beside = rows.data() + (side == 0 ? 0 : cells - 1) * size;
  const int column = side == 0 ? 0 : p;
  for (int i = 1; i < p; ++i) beside[2 * p + 1 + (i - 1) * (p + 1) + column] = 0.0;
  // And the vertex one cell away.
  if (side == 0) {
    rows[size] = 0.0;
  } else {
    beside[2 * p] = 0.0;
  }
}

}  // namespace

std::vector<double> assembled_without_ends(const AxisFactors& axis,
                                           const std::vector<double>& cell_matrices) {
  const Index square = static_cast<Index>(axis.degree + 1) * (axis.degree + 1);
  std::vector<double> rows((axis.cells + 1) * axis.block_size(), 0.0);
  for (Index c = 0; c < axis.cells; ++c) {
    const Index from = axis.kind == AxisCells::alike ? 0 : c * square;
    add_cell(cell_matrices.data() + from, c, axis.degree, rows);
  }
  return rows;
}

AxisFactors make_axis_factors(const Discretization& discretization, int d,
                              const AxisWeights& weights, AxisCells kind, const AxisEnds& ends) {
  const BoxMesh& mesh = discretization.mesh;
  const Basis1D& basis = discretization.basis;
  AxisFactors axis;
  const int p = axis.degree = basis.degree;
  const Index cells = axis.cells = mesh.cells()[d];
  axis.kind = kind;
  axis.constrained = ends.constrained;
  axis.mass.assign((cells + 1) * axis.block_size(), 0.0);
  axis.stiffness.assign((cells + 1) * axis.block_size(), 0.0);
  CellMatrices cell;
  for (Index c = 0; c < cells; ++c) {
    // Like cells are the same to the last bit: what an end differs by is then its end term alone.
    if (c == 0 || kind == AxisCells::different) {
      const Index first = c * basis.point_count();
      cell = cell_matrices(basis, &weights.mass[first], &weights.stiffness[first],
                           mesh.cell_width(d, c));
      axis.cell_mass.insert(axis.cell_mass.end(), cell.mass.begin(), cell.mass.end());
      axis.cell_stiffness.insert(axis.cell_stiffness.end(), cell.stiffness.begin(),
                                 cell.stiffness.end());
    }
    axis.total_mass += std::accumulate(cell.mass.begin(), cell.mass.end(), 0.0);
    add_cell(cell.mass.data(), c, p, axis.mass);
    add_cell(cell.stiffness.data(), c, p, axis.stiffness);
  }
  for (int side = 0; side < 2; ++side) {
    if (!axis.constrained[side]) continue;
    constrain_end(side, cells, p, axis.mass);
    constrain_end(side, cells, p, axis.stiffness);
  }
  axis.mass_diagonal = diagonal_of(axis.mass, axis.nodes(), p);
  axis.stiffness_diagonal = diagonal_of(axis.stiffness, axis.nodes(), p);
  for (int side = 0; side < 2; ++side) add_end_term(axis, side, ends.terms[side]);
  return axis;
}

void add_end_term(AxisFactors& axis, int side, double value) {
  if (axis.constrained[side]) return;
  axis.end_terms[side] += value;
  const Index block = side == 0 ? 0 : axis.cells * axis.block_size();
  axis.stiffness[block + axis.degree] += value;
  axis.stiffness_diagonal[side == 0 ? 0 : axis.nodes() - 1] += value;
}

Index axis_factor_bytes(int degree, Index cells) {
  const Saturated blocks = Saturated(2 * (cells + 1)) * degree * (degree + 2);
  const Index diagonals = 2 * nodes_along(cells, degree);
  return (blocks + diagonals) * sizeof(double);
}

}  // namespace tessera
