#include "operators/kronecker_factors.hpp"

#include <cmath>
#include <stdexcept>

#include "mesh/errors.hpp"
#include "operators/device_kronecker.hpp"
#include "operators/kronecker_any.hpp"

namespace tessera {
namespace {

// The coefficient's factor along an axis; all of a constant one goes to the first axis.
ScalarField axis_coefficient(const ScalarField& coefficient, int d) {
  if (coefficient.constant) return constant_field(d == 0 ? *coefficient.constant : 1.0);
  return (*coefficient.factors)[d];
}

// The coefficient's factor at the quadrature points of all cells along an axis, and where these
// are.
struct AxisValues {
  std::vector<double> points;  // [cell][q]
  std::vector<double> values;  // [cell][q]
};

AxisValues values_along(const Discretization& discretization, const ScalarField& k, int d) {
  const BoxMesh& mesh = discretization.mesh;
  const std::vector<double>& points = discretization.basis.quadrature.points;
  const Index cells = mesh.cells()[d];
  std::array<std::vector<double>, 3> x;
  for (int a = 0; a < 3; ++a) x[a].assign(cells * points.size(), mesh.lower()[a]);
  for (Index c = 0; c < cells; ++c) {
    const double begin = mesh.grid_line(d, c);
    const double width = mesh.grid_line(d, c + 1) - begin;
    for (std::size_t q = 0; q < points.size(); ++q) {
      x[d][c * points.size() + q] = begin + width * points[q];
    }
  }
  std::vector<double> values(x[d].size());
  k.evaluate({values.size(), x[0].data(), x[1].data(), x[2].data()}, values.data());
  return {std::move(x[d]), std::move(values)};
}

// A product of factors is positive at all points if it is on a line of them along each axis.
void check_positive(const StiffnessForm& form, const std::array<AxisValues, 3>& axes) {
  const int dimension = form.discretization->mesh.dimension();
  for (int d = 0; d < dimension; ++d) {
    Point where = form.discretization->mesh.lower();
    double others = 1.0;
    for (int a = 0; a < dimension; ++a) {
      where[a] = axes[a].points[0];
      if (a != d) others *= axes[a].values[0];
    }
    for (std::size_t i = 0; i < axes[d].values.size(); ++i) {
      double value = others * axes[d].values[i];
      if (value > 0.0 && std::isfinite(value)) continue;
      where[d] = axes[d].points[i];
      // A field that checks its values says it better.
      form.coefficient.evaluate({1, where.data(), &where[1], &where[2]}, &value);
      throw BadFieldValue("the coefficient must be positive and finite", where, value);
    }
  }
}

struct CellMatrices {
  std::vector<double> mass;
  std::vector<double> stiffness;
};

// M_ij = h sum_q w_q k_q B_qi B_qj, K_ij = 1/h sum_q w_q k_q G_qi G_qj.
CellMatrices cell_matrices(const Basis1D& basis, const double* k, double width) {
  const int n = basis.node_count();
  CellMatrices cell{std::vector<double>(n * n), std::vector<double>(n * n)};
  for (int q = 0; q < basis.point_count(); ++q) {
    const double w = basis.quadrature.weights[q] * k[q];
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        cell.mass[i * n + j] += w * width * basis.B(q, i) * basis.B(q, j);
        cell.stiffness[i * n + j] += w / width * basis.G(q, i) * basis.G(q, j);
      }
    }
  }
  return cell;
}

// Adds a cell's matrix to the rows of its owner blocks.
void add_cell(const std::vector<double>& cell, Index c, int p, std::vector<double>& rows) {
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

bool is_foldable(const RobinTerm& term, const ScalarField& coefficient, int dimension) {
  if (!term.alpha.constant) return false;
  if (coefficient.constant) return true;
  for (int d = 0; d < dimension; ++d) {
    if (d != term.face / 2 && !(*coefficient.factors)[d].constant) return false;
  }
  return true;
}

// Moves the scale of all factors to the first, so that none of them is huge and another tiny.
void gather_scale(int dimension, std::array<AxisValues, 3>& axes) {
  for (int d = 1; d < dimension; ++d) {
    const double scale = axes[d].values[0];
    for (double& value : axes[d].values) value /= scale;
    for (double& value : axes[0].values) value *= scale;
  }
}

// alpha divided by the coefficient's factors along the face, which its mass matrices have and which
// do not vary there.
double end_term(const RobinTerm& term, const std::array<AxisValues, 3>& axes, int dimension) {
  double alpha = *term.alpha.constant;
  for (int d = 0; d < dimension; ++d) {
    if (d != term.face / 2) alpha /= axes[d].values[0];
  }
  return alpha;
}

AxisFactors make_axis(const StiffnessForm& form, int d, const std::vector<double>& k_of_point,
                      std::array<double, 2> end_terms) {
  const Discretization& discretization = *form.discretization;
  const BoxMesh& mesh = discretization.mesh;
  const Basis1D& basis = discretization.basis;
  AxisFactors axis;
  const int p = axis.degree = basis.degree;
  const Index cells = axis.cells = mesh.cells()[d];
  axis.mass.assign((cells + 1) * axis.block_size(), 0.0);
  axis.stiffness.assign((cells + 1) * axis.block_size(), 0.0);
  axis.kind = mesh.is_uniform(d) && axis_coefficient(form.coefficient, d).constant
                  ? AxisCells::alike
                  : AxisCells::different;
  CellMatrices cell;
  for (Index c = 0; c < cells; ++c) {
    // Like cells are the same to the last bit: what an end differs by is then its end term alone.
    if (c == 0 || axis.kind == AxisCells::different) {
      cell = cell_matrices(basis, &k_of_point[c * basis.point_count()], mesh.cell_width(d, c));
    }
    if (c == 0) {
      axis.cell_mass = cell.mass;
      axis.cell_stiffness = cell.stiffness;
    }
    add_cell(cell.mass, c, p, axis.mass);
    add_cell(cell.stiffness, c, p, axis.stiffness);
  }
  axis.stiffness[p] += end_terms[0];
  axis.stiffness[cells * axis.block_size() + p] += end_terms[1];
  for (int side = 0; side < 2; ++side) {
    axis.constrained[side] = form.dirichlet[2 * d + side];
    if (!axis.constrained[side]) continue;
    constrain_end(side, cells, p, axis.mass);
    constrain_end(side, cells, p, axis.stiffness);
  }
  axis.mass_diagonal = diagonal_of(axis.mass, axis.nodes(), p);
  axis.stiffness_diagonal = diagonal_of(axis.stiffness, axis.nodes(), p);
  return axis;
}

}  // namespace

std::string why_not_kronecker(const StiffnessForm& form) {
  if (!form.discretization->mapping.is_cartesian()) {
    return "the kernel kronecker needs an axis-aligned mesh, and this one is mapped";
  }
  if (!is_separable(form.coefficient)) {
    return "the kernel kronecker needs a coefficient that is constant or a product of factors that "
           "depend on one coordinate each";
  }
  return "";
}

KroneckerFactors make_kronecker_factors(const StiffnessForm& form) {
  const std::string reason = why_not_kronecker(form);
  if (!reason.empty()) throw std::invalid_argument(reason);
  KroneckerFactors factors;
  factors.dimension = form.discretization->mesh.dimension();
  std::array<AxisValues, 3> k;
  for (int d = 0; d < factors.dimension; ++d) {
    k[d] = values_along(*form.discretization, axis_coefficient(form.coefficient, d), d);
  }
  check_positive(form, k);
  gather_scale(factors.dimension, k);
  std::array<std::array<double, 2>, 3> end_terms{};
  for (const RobinTerm& term : form.robin) {
    if (!is_foldable(term, form.coefficient, factors.dimension)) {
      factors.other_robin.push_back(term);
      continue;
    }
    const double alpha = *term.alpha.constant;
    if (!(alpha >= 0.0) || !std::isfinite(alpha)) {
      throw BadFieldValue("alpha must be finite and not negative",
                          form.discretization->mesh.lower(), alpha);
    }
    end_terms[term.face / 2][term.face % 2] += end_term(term, k, factors.dimension);
  }
  for (int d = 0; d < factors.dimension; ++d) {
    factors.axes[d] = make_axis(form, d, k[d].values, end_terms[d]);
  }
  return factors;
}

Index axis_factor_bytes(int degree, Index cells) {
  const Index blocks = 2 * (cells + 1) * degree * (degree + 2);
  const Index diagonals = 2 * (degree * cells + 1);
  return (blocks + diagonals) * static_cast<Index>(sizeof(double));
}

Index device_kronecker_bytes(const BoxMesh& mesh, int degree, Index value_bytes) {
  Index values = mesh.dimension() == 2 ? 2 : 0;  // the diagonal of the third axis
  Index plane = 1;
  Index planes = 1;
  for (int d = 0; d < mesh.dimension(); ++d) {
    values += axis_factor_bytes(degree, mesh.cells()[d]) / static_cast<Index>(sizeof(double));
    (d == 2 ? planes : plane) *= degree * mesh.cells()[d] + 1;
  }
  if (degree > kMostFastDegree) {
    values += 4 * plane * kronecker_slab_planes(degree, mesh.dimension(), planes);
  }
  return values * value_bytes +
         kronecker_partial_sums(plane * planes) * static_cast<Index>(sizeof(double)) +
         static_cast<Index>(sizeof(unsigned));
}

}  // namespace tessera
