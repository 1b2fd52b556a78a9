// This file solves the eigenproblem of each axis.
#include "operators/fast_diagonalization/axis_modes.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "mesh/first_failure.hpp"
#include "mesh/saturated.hpp"
#include "solvers/errors.hpp"
#include "solvers/interruption.hpp"

namespace tessera {
namespace {

using Matrix = Eigen::MatrixXd;

// How far from symmetric or proportional matrices may be, in units of their largest entry: the
// modes are as good as if they were equal.
constexpr double kSameness = 1e-13;

// Of the places of a mirrored axis, or all places of an axis.
enum class Part { all, even, odd };

// f(i, j, value) for the entries of an axis's matrix at its free nodes.
template <class F>
void for_each_entry(const AxisFactors& axis, const std::vector<double>& rows, F&& f) {
  const int p = axis.degree;
  const Index begin = axis.constrained[0] ? 1 : 0;
  const Index end = axis.nodes() - (axis.constrained[1] ? 1 : 0);
  for (Index node = begin; node < end; ++node) {
    const Index cell = node / p;
    const auto i = static_cast<int>(node % p);
    const double* row = rows.data() + cell * axis.block_size();
    if (i > 0) row += 2 * p + 1 + (i - 1) * (p + 1);
    const Index first = i == 0 ? node - p : cell * p;
    const int count = i == 0 ? 2 * p + 1 : p + 1;
    for (int j = 0; j < count; ++j) {
      const Index column = first + j;
      if (column >= begin && column < end) f(node - begin, column - begin, row[j]);
    }
  }
}

Index free_nodes(const AxisFactors& axis) {
  return axis.nodes() - (axis.constrained[0] ? 1 : 0) - (axis.constrained[1] ? 1 : 0);
}

// The entries as rows of 2 p + 1, column i - p first.
std::vector<double> band_of(const AxisFactors& axis, const std::vector<double>& rows) {
  const int p = axis.degree;
  std::vector<double> band(static_cast<std::size_t>(free_nodes(axis) * (2 * p + 1)));
  for_each_entry(axis, rows, [&](Index i, Index j, double value) {
    band[i * (2 * p + 1) + j - i + p] = value;
  });
  return band;
}

bool is_own_mirror_image(const AxisFactors& axis, const std::vector<double>& rows) {
  const std::vector<double> band = band_of(axis, rows);
  double largest = 0.0;
  double difference = 0.0;
  // Entry (i, j) is to be (n - 1 - i, n - 1 - j).
  for (std::size_t k = 0; k < band.size(); ++k) {
    largest = std::max(largest, std::abs(band[k]));
    difference = std::max(difference, std::abs(band[k] - band[band.size() - 1 - k]));
  }
  return difference <= kSameness * largest;
}

// P^T A P, P the prolongation of a part of the places to all of them: of half a vector to an even
// or an odd one (that of an odd one is given by its mirror images, last place first), or the
// identity.
Matrix part_of(const AxisFactors& axis, const std::vector<double>& rows, Part part) {
  const Index n = free_nodes(axis);
  const Index pairs = n / 2;
  const Index size = part == Part::all ? n : part == Part::even ? n - pairs : pairs;
  const double sign = part == Part::odd ? -1.0 : 1.0;
  Matrix result = Matrix::Zero(size, size);
  const auto is_mirrored = [&](Index i) { return part != Part::all && i >= n - pairs; };
  for_each_entry(axis, rows, [&](Index i, Index j, double value) {
    if (is_mirrored(i)) value *= sign;
    if (is_mirrored(j)) value *= sign;
    Index row = is_mirrored(i) ? n - 1 - i : i;
    Index column = is_mirrored(j) ? n - 1 - j : j;
    if (part == Part::odd) {
      // The middle node of an odd number has no odd part.
      if (row == size || column == size) return;
      row = size - 1 - row;
      column = size - 1 - column;
    }
    result(row, column) += value;
  });
  return result;
}

struct Problem {
  const AxisFactors* axis;
  Part part;
  std::vector<double>* vectors;
  double* eigenvalues;
  bool solved = true;
};

// K v = lambda M v by M = L L^T and the eigenvectors of L^-1 K L^-T, step by step so that no more
// than kModeMatrices matrices are there at the same time.
void solve(Problem& problem) {
  Matrix mass = part_of(*problem.axis, problem.axis->mass, problem.part);
  const Eigen::LLT<Eigen::Ref<Matrix>> factors(mass);
  problem.solved = factors.info() == Eigen::Success;
  if (!problem.solved) return;
  Matrix stiffness = part_of(*problem.axis, problem.axis->stiffness, problem.part);
  factors.matrixL().solveInPlace<Eigen::OnTheLeft>(stiffness);
  factors.matrixU().solveInPlace<Eigen::OnTheRight>(stiffness);
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(stiffness);
  stiffness.resize(0, 0);
  problem.solved = solver.info() == Eigen::Success;
  if (!problem.solved) return;
  const Matrix& modes = solver.eigenvectors();
  problem.vectors->assign(modes.data(), modes.data() + modes.size());
  Eigen::Map<Matrix> vectors(problem.vectors->data(), modes.rows(), modes.cols());
  factors.matrixU().solveInPlace(vectors);
  std::copy_n(solver.eigenvalues().data(), modes.cols(), problem.eigenvalues);
}

// s with b = s a, or 0 where there is none.
double ratio(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return 0.0;
  std::size_t largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::abs(a[i]) > std::abs(a[largest])) largest = i;
  }
  if (a[largest] == 0.0) {
    const bool both = std::all_of(b.begin(), b.end(), [](double value) { return value == 0.0; });
    return both ? 1.0 : 0.0;
  }
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
    const Index n = free_nodes(axis);
    modes[d].eigenvalues.resize(static_cast<std::size_t>(n));
    if (n == 0) continue;
    modes[d].even = n;
    double* const eigenvalues = modes[d].eigenvalues.data();
    if (n > 1 && is_own_mirror_image(axis, axis.stiffness) &&
        is_own_mirror_image(axis, axis.mass)) {
      modes[d].odd = n / 2;
      modes[d].even = n - n / 2;
      problems.push_back({&axis, Part::even, &modes[d].even_vectors, eigenvalues});
      problems.push_back({&axis, Part::odd, &modes[d].odd_vectors, eigenvalues + modes[d].even});
    } else {
      problems.push_back({&axis, Part::all, &modes[d].even_vectors, eigenvalues});
    }
  }
  FirstFailure failure;
#pragma omp parallel for schedule(dynamic)
  for (std::size_t i = 0; i < problems.size(); ++i) {
    if (stop_requested()) continue;
    failure.guard(static_cast<Index>(i), [&] { solve(problems[i]); });
  }
  failure.rethrow();
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

AxisWork axis_work(const std::vector<std::array<Index, 2>>& parts, int threads) {
  // Matrices of n^2 values that there are at a time in solve(); of solved problems there is one.
  constexpr Index kMatrices = 3;
  // Measured on one core of a server: reduction to tridiagonal form, the rotations of the
  // iteration on the eigenvectors, and the triangular solves.
  constexpr double kSecondsPerCube = 3e-9;
  std::vector<Index> sizes;
  for (const auto& part : parts) sizes.insert(sizes.end(), part.begin(), part.end());
  std::sort(sizes.rbegin(), sizes.rend());
  AxisWork work;
  Saturated peak = 0;
  Saturated held = 0;
  std::vector<double> busy(static_cast<std::size_t>(std::max(threads, 1)));
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Index n = sizes[i];
    const bool is_at_work = i < busy.size();
    peak += Saturated(n) * n * (is_at_work ? kMatrices : 1) * sizeof(double);
    held += Saturated(n) * n * sizeof(double);
    *std::min_element(busy.begin(), busy.end()) += kSecondsPerCube * std::pow(n, 3);
  }
  work.seconds = *std::max_element(busy.begin(), busy.end());
  work.held = held;
  work.peak = peak;
  return work;
}

Index free_nodes(const NodeLattice& lattice, FaceSet dirichlet, int d) {
  return lattice.extents()[d] - (dirichlet[2 * d] ? 1 : 0) - (dirichlet[2 * d + 1] ? 1 : 0);
}

}  // namespace tessera
