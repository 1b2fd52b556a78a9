// This file computes surface elements at the quadrature points of a face.
#include "mesh/element/face_quadrature.hpp"

#include <cmath>

#include "mesh/partition.hpp"

namespace tessera {
namespace {

// Products of 1D tables over the tangential axes: out[q][i] = first[q0][i0] * second[q1][i1].
std::vector<double> tabulate(const Matrix1D& first, const Matrix1D& second) {
  std::vector<double> table;
  for (int q1 = 0; q1 < second.rows; ++q1) {
    for (int q0 = 0; q0 < first.rows; ++q0) {
      for (int i1 = 0; i1 < second.columns; ++i1) {
        for (int i0 = 0; i0 < first.columns; ++i0) {
          table.push_back(first(q0, i0) * second(q1, i1));
        }
      }
    }
  }
  return table;
}

double surface_element(const double (&tangent)[2][3], int dimension) {
  const auto& s = tangent[0];
  const auto& t = tangent[1];
  if (dimension == 2) return std::hypot(s[0], s[1]);
  return std::hypot(s[1] * t[2] - s[2] * t[1], s[2] * t[0] - s[0] * t[2],
                    s[0] * t[1] - s[1] * t[0]);
}

}  // namespace

void FaceQuadrature::cell_nodes(Index cell, int degree, Index* indices) const {
  const Index a = cell % cells[0];
  const Index b = cell / cells[0];
  const int rows = dimension == 3 ? degree + 1 : 1;
  int i = 0;
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column <= degree; ++column) {
      indices[i++] = nodes.node(degree * a + column, degree * b + row);
    }
  }
}

FaceQuadrature make_face_quadrature(const Discretization& discretization, int face) {
  return make_face_quadrature(discretization, discretization.basis, face);
}

FaceQuadrature make_face_quadrature(const Discretization& discretization, const Basis1D& basis,
                                    int face) {
  const int dimension = discretization.mesh.dimension();
  const Matrix1D one{1, 1, {1.0}};
  FaceQuadrature result{};
  result.face = face;
  result.dimension = dimension;
  result.nodes = face_nodes(discretization.lattice, face);
  result.cells = {discretization.mesh.cells()[result.nodes.axes[0]],
                  dimension == 3 ? discretization.mesh.cells()[result.nodes.axes[1]] : 1};
  result.shape = tabulate(basis.B, dimension == 3 ? basis.B : one);
  const std::vector<double> slope[2] = {tabulate(basis.G, dimension == 3 ? basis.B : one),
                                        tabulate(basis.B, dimension == 3 ? basis.G : one)};
  result.points_per_cell = static_cast<int>(power(basis.point_count(), dimension - 1));
  result.nodes_per_cell = static_cast<int>(power(basis.node_count(), dimension - 1));
  const auto total = static_cast<std::size_t>(result.cell_count() * result.points_per_cell);
  for (auto* values : {&result.x, &result.y, &result.z, &result.measure}) values->resize(total);

  parallel_ranges(result.cell_count(), [&](Range range) {
    const int n = result.nodes_per_cell;
    std::vector<Index> indices(n);
    std::vector<double> position[3];
    for (auto& coordinate : position) coordinate.resize(n);
    for (Index cell = range.begin; cell < range.end; ++cell) {
      result.cell_nodes(cell, basis.degree, indices.data());
      discretization.mapping.node_positions(indices, position[0].data(), position[1].data(),
                                            position[2].data());
      // Positions are taken relative to a node of the cell, so that tangents lose no digits to the
      // size of the box.
      const double origin[3] = {position[0][0], position[1][0], position[2][0]};
      for (int d = 0; d < 3; ++d) {
        for (double& coordinate : position[d]) coordinate -= origin[d];
      }
      for (int q = 0; q < result.points_per_cell; ++q) {
        double point[3] = {};
        double tangent[2][3] = {};
        for (int i = 0; i < n; ++i) {
          for (int d = 0; d < 3; ++d) {
            point[d] += result.shape[q * n + i] * position[d][i];
            for (int t = 0; t < dimension - 1; ++t) {
              tangent[t][d] += slope[t][q * n + i] * position[d][i];
            }
          }
        }
        const int nq = basis.point_count();
        const double weight = basis.quadrature.weights[q % nq] *
                              (dimension == 3 ? basis.quadrature.weights[q / nq] : 1.0);
        const Index at = cell * result.points_per_cell + q;
        result.x[at] = origin[0] + point[0];
        result.y[at] = origin[1] + point[1];
        result.z[at] = origin[2] + point[2];
        result.measure[at] = weight * surface_element(tangent, dimension);
      }
    }
  });
  return result;
}

}  // namespace tessera
