#include "operators/axis_modes.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "solvers/errors.hpp"
#include "solvers/interruption.hpp"

namespace tessera {
namespace {

using Matrix = Eigen::MatrixXd;

// How far from symmetric or proportional matrices may be, in units of their largest entry: the
// modes are as good as if they were equal.
constexpr double kSameness = 1e-13;

enum class Parity { even, odd };

// The matrix of an axis at its free nodes.
Matrix dense(const AxisFactors& axis, const std::vector<double>& rows) {
  const int p = axis.degree;
  Matrix full = Matrix::Zero(axis.nodes(), axis.nodes());
  for (Index node = 0; node < axis.nodes(); ++node) {
    const Index cell = node / p;
    const auto i = static_cast<int>(node % p);
    const double* row = rows.data() + cell * axis.block_size();
    if (i > 0) row += 2 * p + 1 + (i - 1) * (p + 1);
    const Index first = i == 0 ? node - p : cell * p;
    const int count = i == 0 ? 2 * p + 1 : p + 1;
    for (int j = 0; j < count; ++j) {
      const Index column = first + j;
      if (column >= 0 && column < axis.nodes()) full(node, column) = row[j];
    }
  }
  const Index begin = axis.constrained[0] ? 1 : 0;
  const Index size = axis.nodes() - begin - (axis.constrained[1] ? 1 : 0);
  return full.block(begin, begin, size, size);
}

bool is_own_mirror_image(const Matrix& a) {
  const double difference = (a - a.reverse()).cwiseAbs().maxCoeff();
  return difference <= kSameness * a.cwiseAbs().maxCoeff();
}

// P^T A P, P the prolongation of half a vector to an even or an odd one; that of an odd one is
// given by its mirror images, last place first.
Matrix half(const Matrix& a, Parity parity) {
  const Index n = a.rows();
  const Index pairs = n / 2;
  const Index size = parity == Parity::even ? n - pairs : pairs;
  const double sign = parity == Parity::even ? 1.0 : -1.0;
  // Columns of A P are sums of two of A, and rows of P^T (A P) likewise.
  Matrix product(n, size);
  for (Index i = 0; i < size; ++i) {
    product.col(i) = a.col(i);
    if (i < pairs) product.col(i) += sign * a.col(n - 1 - i);
  }
  Matrix result = product.topRows(size);
  for (Index i = 0; i < pairs; ++i) {
    result.row(i) += sign * product.row(n - 1 - i);
  }
  if (parity == Parity::odd) return result.reverse();
  return result;
}

struct Problem {
  Matrix stiffness;
  Matrix mass;
  std::vector<double>* vectors;
  double* eigenvalues;
  bool solved = true;
};

void solve(Problem& problem) {
  const Eigen::GeneralizedSelfAdjointEigenSolver<Matrix> solver(problem.stiffness, problem.mass);
  problem.solved = solver.info() == Eigen::Success;
  if (!problem.solved) return;
  const Matrix& vectors = solver.eigenvectors();
  problem.vectors->assign(vectors.data(), vectors.data() + vectors.size());
  std::copy_n(solver.eigenvalues().data(), vectors.cols(), problem.eigenvalues);
}

// s with b = s a, or 0 where there is none.
double ratio(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return 0.0;
  std::size_t largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::abs(a[i]) > std::abs(a[largest])) largest = i;
  }
  if (a[largest] == 0.0) return 0.0;
  const double scale = b[largest] / a[largest];
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::abs(b[i] - scale * a[i]) > kSameness * std::abs(b[largest])) return 0.0;
  }
  return scale > 0.0 ? scale : 0.0;
}

bool is_like(const AxisFactors& a, const AxisFactors& b) {
  return a.degree == b.degree && a.constrained == b.constrained && ratio(a.mass, b.mass) > 0.0 &&
         ratio(a.stiffness, b.stiffness) > 0.0;
}

// The modes of an axis whose matrices are multiples of another's.
AxisModes scaled(const AxisModes& modes, double mass, double stiffness) {
  AxisModes result = modes;
  for (double& value : result.even_vectors) value /= std::sqrt(mass);
  for (double& value : result.odd_vectors) value /= std::sqrt(mass);
  for (double& value : result.eigenvalues) value *= stiffness / mass;
  return result;
}

// What is known of the eigenvalues and rounding may have spoilt.
void clean(const AxisFactors& axis, AxisModes& modes) {
  if (modes.size() == 0) return;
  const bool floats = !axis.constrained[0] && !axis.constrained[1] && axis.end_terms[0] == 0.0 &&
                      axis.end_terms[1] == 0.0;
  const double least = std::numeric_limits<double>::epsilon() *
                       *std::max_element(modes.eigenvalues.begin(), modes.eigenvalues.end());
  for (double& value : modes.eigenvalues) value = std::max(value, least);
  // The constant is even, and the first of its part.
  if (floats) modes.eigenvalues[0] = 0.0;
}

AxisModes single_mode() {
  AxisModes modes;
  modes.even = 1;
  modes.even_vectors = {1.0};
  modes.eigenvalues = {0.0};
  return modes;
}

}  // namespace

std::array<AxisModes, 3> make_axis_modes(const NearestSeparable& separable) {
  std::array<AxisModes, 3> modes;
  std::array<int, 3> same_as = {0, 1, 2};
  std::vector<Problem> problems;
  for (int d = 0; d < separable.dimension; ++d) {
    const AxisFactors& axis = separable.axes[d];
    for (int e = 0; e < d && same_as[d] == d; ++e) {
      if (is_like(separable.axes[e], axis)) same_as[d] = e;
    }
    modes[d].first_free = axis.constrained[0] ? 1 : 0;
    if (same_as[d] != d) continue;
    Matrix stiffness = dense(axis, axis.stiffness);
    Matrix mass = dense(axis, axis.mass);
    const Index n = mass.rows();
    modes[d].eigenvalues.resize(n);
    if (n == 0) continue;
    modes[d].even = n;
    if (n > 1 && is_own_mirror_image(stiffness) && is_own_mirror_image(mass)) {
      modes[d].odd = n / 2;
      modes[d].even = n - n / 2;
      problems.push_back({half(stiffness, Parity::even), half(mass, Parity::even),
                          &modes[d].even_vectors, modes[d].eigenvalues.data()});
      problems.push_back({half(stiffness, Parity::odd), half(mass, Parity::odd),
                          &modes[d].odd_vectors, modes[d].eigenvalues.data() + modes[d].even});
    } else {
      problems.push_back({std::move(stiffness), std::move(mass), &modes[d].even_vectors,
                          modes[d].eigenvalues.data()});
    }
  }
#pragma omp parallel for schedule(dynamic)
  for (std::size_t i = 0; i < problems.size(); ++i) {
    if (!stop_requested()) solve(problems[i]);
  }
  stop_if_requested();
  for (const Problem& problem : problems) {
    if (!problem.solved) throw NumericalBreakdown("an eigenproblem of an axis was not solved");
  }
  for (int d = 0; d < separable.dimension; ++d) {
    const AxisFactors& axis = separable.axes[d];
    if (same_as[d] == d) {
      clean(axis, modes[d]);
    } else {
      const AxisFactors& other = separable.axes[same_as[d]];
      modes[d] = scaled(modes[same_as[d]], ratio(other.mass, axis.mass),
                        ratio(other.stiffness, axis.stiffness));
    }
  }
  if (separable.dimension == 2) modes[2] = single_mode();
  return modes;
}

Index free_nodes(const NodeLattice& lattice, FaceSet dirichlet, int d) {
  return lattice.extents()[d] - (dirichlet[2 * d] ? 1 : 0) - (dirichlet[2 * d + 1] ? 1 : 0);
}

}  // namespace tessera
