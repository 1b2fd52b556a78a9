// This file samples the logarithms of a form in the middle of its cells.
#include "operators/fast_diagonalization/log_sums.hpp"

#include <algorithm>
#include <cmath>

#include "mesh/errors.hpp"
#include "mesh/first_failure.hpp"
#include "mesh/partition.hpp"
#include "operators/form/on_all_ranks.hpp"

namespace tessera {
namespace {

constexpr Index kMaxSamples = Index{1} << 20;
// Sums are made a part after the other, so that they do not depend on the number of threads.
constexpr Index kParts = 64;
constexpr Index kBlock = 256;

using Matrix3 = std::array<std::array<double, 3>, 3>;

double determinant_of(const Matrix3& a) {
  return a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) -
         a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
         a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
}

// The middle of a cell and dx/dX there, by the multilinear map of its corners.
struct CellCenter {
  Point x{};
  // Half way to the first corner: for fields without a value in the middle, where the form's own
  // points need not be.
  Point beside{};
  Matrix3 jacobian{};  // [a][d] = dx_a / dX_d
};

CellCenter center_of(const Discretization& discretization, const IndexTriple& cell) {
  const BoxMesh& mesh = discretization.mesh;
  const NodeLattice& lattice = discretization.lattice;
  const int corners = 1 << mesh.dimension();
  std::array<Index, 8> nodes{};
  for (int corner = 0; corner < corners; ++corner) {
    nodes[corner] = lattice.corner_node(cell, corner);
  }
  std::array<std::array<double, 8>, 3> at{};
  discretization.mapping.node_positions({nodes.data(), static_cast<std::size_t>(corners)},
                                        at[0].data(), at[1].data(), at[2].data());
  CellCenter center;
  for (int corner = 0; corner < corners; ++corner) {
    for (int a = 0; a < 3; ++a) {
      const double x = at[a][corner];
      center.x[a] += x / corners;
      center.beside[a] += x * (corner == 0 ? 0.5 + 0.5 / corners : 0.5 / corners);
      for (int d = 0; d < mesh.dimension(); ++d) {
        center.jacobian[a][d] += (corner >> d & 1) != 0 ? x : -x;
      }
    }
  }
  for (int d = 0; d < mesh.dimension(); ++d) {
    const double scale = 2.0 / (corners * mesh.cell_width(d, cell[d]));
    for (int a = 0; a < 3; ++a) center.jacobian[a][d] *= scale;
  }
  if (mesh.dimension() == 2) center.jacobian[2][2] = 1.0;
  return center;
}

// |J| (J^-1 J^-T)_dd: the squared length of row d of the adjugate over |J|.
double metric(const Matrix3& J, double determinant, int d) {
  const int e = (d + 1) % 3;
  const int f = (d + 2) % 3;
  double squares = 0.0;
  for (int a = 0; a < 3; ++a) {
    const int b = (a + 1) % 3;
    const int c = (a + 2) % 3;
    const double cofactor = J[b][e] * J[c][f] - J[b][f] * J[c][e];
    squares += cofactor * cofactor;
  }
  return squares / determinant;
}

// Every `step`-th diagonal i + j + k of the whole mesh's cells: all places along all axes have
// some.
Index sample_step(const BoxMesh& mesh) {
  IndexTriple sorted = mesh.place().cells;
  const Index count = sorted[0] * sorted[1] * sorted[2];
  std::sort(sorted.begin(), sorted.end());
  return std::clamp<Index>(ceil_div(count, kMaxSamples), 1, sorted[1]);
}

// Takes the samples of rows of cells along x, a block of them at a time.
class Sampler {
 public:
  Sampler(const BilinearForm& form, LogSums& sums) : form_(form), sums_(sums) {}

  void add_row(Index row, Index step) {
    const BoxMesh& mesh = form_.discretization->mesh;
    const Index j = row % mesh.cells()[1];
    const Index k = row / mesh.cells()[1];
    const IndexTriple first = mesh.position_in_whole({0, j, k});
    const Index before = (first[0] + first[1] + first[2]) % step;
    for (Index i = (step - before) % step; i < mesh.cells()[0]; i += step) {
      cells_.push_back({i, j, k});
      if (static_cast<Index>(cells_.size()) == kBlock) flush();
    }
  }

  void flush() {
    const Discretization& discretization = *form_.discretization;
    const int dimension = discretization.mesh.dimension();
    const std::size_t n = cells_.size();
    centers_.clear();
    for (auto& x : x_) x.resize(n);
    k_.resize(n);
    for (std::size_t s = 0; s < n; ++s) {
      centers_.push_back(center_of(discretization, cells_[s]));
      for (int a = 0; a < 3; ++a) x_[a][s] = centers_[s].x[a];
    }
    try {
      form_.coefficient.evaluate({n, x_[0].data(), x_[1].data(), x_[2].data()}, k_.data());
    } catch (const BadFieldValue&) {
      // One by one below.
      std::fill(k_.begin(), k_.end(), 0.0);
    }
    sample_reaction();
    for (std::size_t s = 0; s < n; ++s) {
      const CellCenter& center = centers_[s];
      if (!is_allowed(k_[s])) k_[s] = value_near(center);
      const double determinant = determinant_of(center.jacobian);
      if (!(determinant > 0.0)) {
        // That of the map from the unit cell.
        double of_cell = determinant * discretization.frame.volume(dimension);
        for (int d = 0; d < dimension; ++d) {
          of_cell *= discretization.mesh.cell_width(d, cells_[s][d]);
        }
        throw InvertedCell(discretization.mesh.position_in_whole(cells_[s]), dimension, of_cell,
                           discretization.frame.physical(center.x));
      }
      const IndexTriple place = discretization.mesh.position_in_whole(cells_[s]);
      for (int d = 0; d < dimension; ++d) {
        const double value = std::log(k_[s] * metric(center.jacobian, determinant, d));
        for (int e = 0; e < dimension; ++e) sums_.sums[d][e][place[e]] += value;
        sums_.counts[d][place[d]] += 1.0;
      }
      double box_volume = 1.0;
      for (int d = 0; d < dimension; ++d) {
        box_volume *= discretization.mesh.cell_width(d, cells_[s][d]);
      }
      sums_.box_volume += box_volume;
      sums_.reaction += c_[s] * determinant * box_volume;
    }
    cells_.clear();
  }

 private:
  static bool is_allowed(double k) { return k > 0.0 && std::isfinite(k); }

  // Only the mean counts: where the reaction has no value in the middle of a cell, it is left out.
  void sample_reaction() {
    const std::size_t n = cells_.size();
    c_.assign(n, 0.0);
    if (reaction_kind(form_.reaction) == ReactionKind::none) return;
    try {
      form_.reaction.evaluate({n, x_[0].data(), x_[1].data(), x_[2].data()}, c_.data());
    } catch (const BadFieldValue&) {
      std::fill(c_.begin(), c_.end(), 0.0);
    }
    for (double& c : c_) c = c >= 0.0 && std::isfinite(c) ? c : 0.0;
  }

  // k in the middle of a cell or else beside it.
  double value_near(const CellCenter& center) const {
    double k = 0.0;
    try {
      form_.coefficient.evaluate({1, center.x.data(), &center.x[1], &center.x[2]}, &k);
      if (is_allowed(k)) return k;
    } catch (const BadFieldValue&) {
    }
    const Point& x = center.beside;
    form_.coefficient.evaluate({1, x.data(), &x[1], &x[2]}, &k);
    if (is_allowed(k)) return k;
    throw BadFieldValue("the coefficient must be positive and finite",
                        form_.discretization->frame.physical(x), k);
  }

  const BilinearForm& form_;
  LogSums& sums_;
  std::vector<IndexTriple> cells_;
  std::vector<CellCenter> centers_;
  std::array<std::vector<double>, 3> x_;
  std::vector<double> k_;
  std::vector<double> c_;
};

LogSums sample_part(const BilinearForm& form) {
  const BoxMesh& mesh = form.discretization->mesh;
  const Index rows = mesh.cells()[1] * mesh.cells()[2];
  const Index step = sample_step(mesh);
  std::vector<LogSums> parts(kParts, LogSums(mesh.dimension(), mesh.place().cells));
  FirstFailure failure;
#pragma omp parallel for schedule(dynamic)
  for (Index part = 0; part < kParts; ++part) {
    failure.guard(part, [&] {
      Sampler sampler(form, parts[part]);
      const Range range = partition(rows, part, kParts);
      for (Index row = range.begin; row < range.end; ++row) sampler.add_row(row, step);
      sampler.flush();
    });
  }
  failure.rethrow();
  for (Index part = 1; part < kParts; ++part) parts[0].add(parts[part]);
  return std::move(parts[0]);
}

}  // namespace

LogSums::LogSums(int dimension, const IndexTriple& cells) {
  for (int e = 0; e < dimension; ++e) {
    counts[e].assign(cells[e], 0.0);
    for (int d = 0; d < dimension; ++d) sums[d][e].assign(cells[e], 0.0);
  }
}

void LogSums::add(const LogSums& other) {
  box_volume += other.box_volume;
  reaction += other.reaction;
  for (int e = 0; e < 3; ++e) {
    for (std::size_t c = 0; c < counts[e].size(); ++c) {
      counts[e][c] += other.counts[e][c];
      for (int d = 0; d < 3; ++d) {
        if (!sums[d][e].empty()) sums[d][e][c] += other.sums[d][e][c];
      }
    }
  }
}

void LogSums::add_others(const Communicator& ranks) {
  std::array<double, 2> integrals = {box_volume, reaction};
  ranks.sum(integrals);
  box_volume = integrals[0];
  reaction = integrals[1];
  for (int e = 0; e < 3; ++e) {
    ranks.sum(counts[e]);
    for (int d = 0; d < 3; ++d) ranks.sum(sums[d][e]);
  }
}

LogSums sample_logs(const BilinearForm& form) {
  LogSums sums = on_all_ranks(form, [&] { return sample_part(form); });
  if (form.part != nullptr) sums.add_others(form.part->rank->ranks());
  return sums;
}

}  // namespace tessera
