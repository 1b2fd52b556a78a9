// These tests compare matrices along an axis with dense ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "mesh/coarsening.hpp"
#include "mesh/element/axis_matrix.hpp"
#include "tests/mesh/meshes.hpp"

namespace tessera::testing {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// A mesh whose x axis is tested.
struct Line {
  std::string name;
  BoxMesh mesh;
};

BoxMesh line_mesh(double lower, double upper, Index cells, GridLines lines = {}) {
  return {2, {cells, 1, 1}, {lower, 0, 0}, {upper, 1, 0}, {std::move(lines)}};
}

std::vector<Line> tested_lines() {
  std::vector<Line> lines;
  for (const Index cells : {1, 2, 7, 8}) {
    const std::string text = std::to_string(cells) + " cells ";
    lines.push_back({text + "in [0, 1]", line_mesh(0, 1, cells)});
    lines.push_back({text + "in [-0.5, 1.3]", line_mesh(-0.5, 1.3, cells)});
    lines.push_back({text + "far away", line_mesh(1e6 + 0.3, 1e6 + 3.1, cells)});
    lines.push_back(
        {text + "graded", line_mesh(-0.5, 1.3, cells, geometric_lines(-0.5, 1.3, cells, 1.7))});
  }
  return lines;
}

// Positions of the nodes.
std::vector<double> positions(const AxisSpace& space) {
  const auto p = static_cast<Index>(space.nodes.size()) - 1;
  std::vector<double> x;
  for (Index c = 0; c < space.mesh.cells()[space.d]; ++c) {
    for (Index i = c == 0 ? 0 : 1; i <= p; ++i) {
      x.push_back(space.mesh.grid_line(space.d, c) +
                  space.mesh.cell_width(space.d, c) * space.nodes[i]);
    }
  }
  return x;
}

// A polynomial of the degree on the axis, with kinks at the mesh's lines.
double kinked(const BoxMesh& mesh, int d, int degree, double x) {
  const double length = mesh.upper()[d] - mesh.lower()[d];
  const double t = (x - mesh.lower()[d]) / length;
  double value = 0.4;
  for (int k = 1; k <= degree; ++k) value += std::cos(3.0 * k) * std::pow(t - 0.45, k);
  for (Index i = 1; i < mesh.cells()[d]; ++i) {
    value +=
        0.3 * std::cos(5.0 * static_cast<double>(i)) * std::abs(x - mesh.grid_line(d, i)) / length;
  }
  return value;
}

std::vector<double> dense(const AxisMatrix& matrix) {
  std::vector<double> entries(static_cast<std::size_t>(matrix.rows * matrix.columns));
  for (Index r = 0; r < matrix.rows; ++r) {
    for (int k = 0; k < matrix.width; ++k) {
      entries[r * matrix.columns + matrix.first[r] + k] += matrix.entries[r * matrix.width + k];
    }
  }
  return entries;
}

void expect_well_formed(const AxisMatrix& matrix) {
  ASSERT_EQ(static_cast<Index>(matrix.first.size()), matrix.rows);
  ASSERT_EQ(static_cast<Index>(matrix.entries.size()), matrix.rows * matrix.width);
  for (const Index first : matrix.first) {
    EXPECT_GE(first, 0);
    EXPECT_LE(first + matrix.width, matrix.columns);
  }
}

// Rounding of positions within a cell.
double rounding(const BoxMesh& mesh) {
  double least = std::numeric_limits<double>::infinity();
  for (Index c = 0; c < mesh.cells()[0]; ++c) least = std::min(least, mesh.cell_width(0, c));
  return kEpsilon *
         std::max(1.0, std::max(std::abs(mesh.lower()[0]), std::abs(mesh.upper()[0])) / least);
}

template <class F>
void for_each_pair(F&& f) {
  for (const Line& line : tested_lines()) {
    const Index merged = ceil_div(line.mesh.cells()[0], 2);
    for (const BoxMesh& coarse : {line.mesh, merge_cells(line.mesh, {merged, 1, 1})}) {
      for (const int degree : {1, 2, 3, 4, 8}) {
        for (const int coarse_degree : {1, 2, 4}) {
          if (coarse_degree > degree) continue;
          for (const NodeFamily family : {NodeFamily::gauss_lobatto, NodeFamily::equidistant}) {
            SCOPED_TRACE(line.name + ", " + std::to_string(coarse.cells()[0]) +
                         " coarser, degree " + std::to_string(degree) + " from " +
                         std::to_string(coarse_degree));
            const std::vector<double> nodes = make_nodes(family, degree);
            const std::vector<double> coarse_nodes = make_nodes(family, coarse_degree);
            f(AxisSpace{coarse, 0, coarse_nodes}, AxisSpace{line.mesh, 0, nodes});
          }
        }
      }
    }
  }
}

TEST(EvaluationMatrices, ReproduceFunctionsOfTheCoarserSpace) {
  for_each_pair([](const AxisSpace& coarse, const AxisSpace& fine) {
    const AxisMatrix P = evaluation_matrix(coarse, fine);
    expect_well_formed(P);
    const std::vector<double> from = positions(coarse);
    const std::vector<double> at = positions(fine);
    ASSERT_EQ(P.columns, static_cast<Index>(from.size()));
    ASSERT_EQ(P.rows, static_cast<Index>(at.size()));
    const int degree = static_cast<int>(coarse.nodes.size()) - 1;
    const double tolerance = 100.0 * rounding(fine.mesh);
    for (Index r = 0; r < P.rows; ++r) {
      double value = 0.0;
      double sum = 0.0;
      for (int k = 0; k < P.width; ++k) {
        const double entry = P.entries[r * P.width + k];
        value += entry * kinked(coarse.mesh, 0, degree, from[P.first[r] + k]);
        sum += entry;
      }
      EXPECT_NEAR(value, kinked(coarse.mesh, 0, degree, at[r]), tolerance) << r;
      EXPECT_NEAR(sum, 1.0, 1e-14 + tolerance) << r;
    }
  });
}

// The other way, as maps are taken to coarser nodes: of the finer space on the coarser's nodes.
TEST(EvaluationMatrices, EvaluateTheFinerSpaceAtTheCoarserNodes) {
  for_each_pair([](const AxisSpace& coarse, const AxisSpace& fine) {
    const AxisMatrix R = evaluation_matrix(fine, coarse);
    expect_well_formed(R);
    const std::vector<double> from = positions(fine);
    const std::vector<double> at = positions(coarse);
    const int degree = static_cast<int>(fine.nodes.size()) - 1;
    for (Index r = 0; r < R.rows; ++r) {
      double value = 0.0;
      for (int k = 0; k < R.width; ++k) {
        value += R.entries[r * R.width + k] * kinked(fine.mesh, 0, degree, from[R.first[r] + k]);
      }
      EXPECT_NEAR(value, kinked(fine.mesh, 0, degree, at[r]), 100.0 * rounding(fine.mesh)) << r;
    }
  });
}

TEST(EvaluationMatrices, AreExactWhereNodesCoincide) {
  for_each_pair([](const AxisSpace& coarse, const AxisSpace& fine) {
    const AxisMatrix P = evaluation_matrix(coarse, fine);
    const Index p = static_cast<Index>(coarse.nodes.size()) - 1;
    const Index q = static_cast<Index>(fine.nodes.size()) - 1;
    const Index ratio = coarse.mesh.cells()[0] == fine.mesh.cells()[0] ? 1 : 2;
    const std::vector<double> entries = dense(P);
    for (Index line = 0; line <= coarse.mesh.cells()[0]; ++line) {
      const Index r = q * std::min(ratio * line, fine.mesh.cells()[0]);
      for (Index c = 0; c < P.columns; ++c) {
        EXPECT_EQ(entries[r * P.columns + c], c == p * line ? 1.0 : 0.0) << r << " " << c;
      }
    }
  });
}

TEST(EvaluationMatrices, OfASpaceAtItsOwnNodesAreTheIdentity) {
  for (const NodeFamily family : {NodeFamily::gauss_lobatto, NodeFamily::equidistant}) {
    for (const int degree : {1, 2, 3, 4, 6, 8}) {
      const std::vector<double> nodes = make_nodes(family, degree);
      for (const Index cells : {1, 7, 64, 1000, 5000}) {
        for (const double lower : {0.0, -0.7, 100.0}) {
          const BoxMesh mesh = line_mesh(lower, lower + 1.1, cells);
          EXPECT_TRUE(is_identity(evaluation_matrix({mesh, 0, nodes}, {mesh, 0, nodes})))
              << cells << " cells of degree " << degree << " from " << lower;
        }
      }
    }
  }
}

TEST(AxisMatrices, AreTheIdentityOnlyIfTheyAre) {
  const AxisMatrix identity{3, 3, 2, {0, 1, 1}, {1, 0, 1, 0, 0, 1}};
  EXPECT_TRUE(is_identity(identity));
  AxisMatrix other = identity;
  other.entries[1] = 1e-300;
  EXPECT_FALSE(is_identity(other));
  other = identity;
  other.entries[2] = 0.0;
  EXPECT_FALSE(is_identity(other));
  EXPECT_FALSE(is_identity({2, 3, 1, {0, 1}, {1, 1}}));
}

TEST(AxisMatrices, TransposedHaveTheTransposedEntriesInShortRows) {
  for_each_pair([](const AxisSpace& coarse, const AxisSpace& fine) {
    const AxisMatrix P = evaluation_matrix(coarse, fine);
    const AxisMatrix R = transpose(P);
    expect_well_formed(R);
    ASSERT_EQ(R.rows, P.columns);
    ASSERT_EQ(R.columns, P.rows);
    const std::vector<double> p = dense(P);
    const std::vector<double> r = dense(R);
    int longest = 1;
    for (Index i = 0; i < R.rows; ++i) {
      Index first = R.columns;
      Index last = -1;
      for (Index j = 0; j < R.columns; ++j) {
        EXPECT_EQ(r[i * R.columns + j], p[j * P.columns + i]);
        if (p[j * P.columns + i] == 0.0) continue;
        first = std::min(first, j);
        last = j;
      }
      longest = std::max(longest, static_cast<int>(last - first + 1));
    }
    EXPECT_EQ(R.width, longest);
  });
}

// A column without entries: what a constrained end leaves.
TEST(AxisMatrices, WithAnEmptyColumnAreTransposed) {
  const AxisMatrix matrix{4, 3, 2, {0, 0, 1, 1}, {0, 1, 0, 2, 3, 0, 4, 0}};
  const std::vector<double> expected = {0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0};
  EXPECT_EQ(dense(transpose(matrix)), expected);
}

template <class T>
void expect_product(const AxisMatrix& matrix, const IndexTriple& extents, int d) {
  ASSERT_EQ(extents[d], matrix.columns);
  const std::vector<double> full = dense(matrix);
  IndexTriple to = extents;
  to[d] = matrix.rows;
  std::vector<T> in;
  for (const double value : random_values(extents[0] * extents[1] * extents[2], 3)) {
    in.push_back(static_cast<T>(value));
  }
  const std::vector<T> entries(matrix.entries.begin(), matrix.entries.end());
  const auto n = static_cast<std::size_t>(to[0] * to[1] * to[2]);
  std::vector<T> assigned(n, std::numeric_limits<T>::quiet_NaN());
  multiply_along(matrix, entries, IndexBox(extents), d, in.data(), assigned.data(),
                 LineStore::assign);
  std::vector<T> added(n);
  for (std::size_t i = 0; i < n; ++i) added[i] = static_cast<T>(i % 7);
  multiply_along(matrix, entries, IndexBox(extents), d, in.data(), added.data(), LineStore::add);
  const double tolerance = 20.0 * static_cast<double>(std::numeric_limits<T>::epsilon());
  double difference = 0.0;
  for (Index k = 0; k < to[2]; ++k) {
    for (Index j = 0; j < to[1]; ++j) {
      for (Index i = 0; i < to[0]; ++i) {
        const IndexTriple at = {i, j, k};
        double sum = 0.0;
        for (Index c = 0; c < matrix.columns; ++c) {
          IndexTriple from = at;
          from[d] = c;
          sum += full[at[d] * matrix.columns + c] *
                 static_cast<double>(in[from[0] + extents[0] * (from[1] + extents[1] * from[2])]);
        }
        const auto where = static_cast<std::size_t>(i + to[0] * (j + to[1] * k));
        ASSERT_TRUE(std::isfinite(assigned[where]) && std::isfinite(added[where])) << where;
        difference = std::max(difference, std::abs(assigned[where] - sum));
        difference = std::max(difference,
                              std::abs(added[where] - sum - static_cast<double>(where % 7)) / 7.0);
      }
    }
  }
  EXPECT_LT(difference, tolerance);
}

TEST(AxisMatrices, MultiplyAlongEachAxisAsAPlainLoopDoes) {
  const BoxMesh fine = line_mesh(-0.5, 1.3, 5);
  const BoxMesh coarse = merge_cells(fine, {3, 1, 1});
  const std::vector<double> nodes = make_nodes(NodeFamily::gauss_lobatto, 4);
  const std::vector<double> coarse_nodes = make_nodes(NodeFamily::gauss_lobatto, 2);
  const AxisMatrix P = evaluation_matrix({coarse, 0, coarse_nodes}, {fine, 0, nodes});
  for (const AxisMatrix& matrix : {P, transpose(P)}) {
    for (int d = 0; d < 3; ++d) {
      // The last have rows longer than those that are worked on at a time, the first ones flat.
      for (IndexTriple extents :
           {IndexTriple{5, 4, 1}, IndexTriple{1, 3, 6}, IndexTriple{70, 71, 2}}) {
        extents[d] = matrix.columns;
        if (d == 1 && extents[0] == 70) extents[0] = 5000;
        for (const int threads : {1, 3}) {
          SCOPED_TRACE(::testing::Message() << "axis " << d << ", threads " << threads);
          const ThreadsInUse scope(threads);
          expect_product<double>(matrix, extents, d);
          expect_product<float>(matrix, extents, d);
        }
      }
    }
  }
}

}  // namespace
}  // namespace tessera::testing
