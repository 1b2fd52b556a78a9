// The kernels that sort points by bricks and evaluate a function there.
#include <algorithm>
#include <array>

#include "solvers/memory/hashed_value.hpp"
#include "src/studies/aggregation/probes/device_probes.hpp"
#include "src/studies/aggregation/routing/counting_sort.cuh"

namespace tessera {
namespace {

constexpr int kThreads = 256;
constexpr int kItems = 16;
constexpr int kTile = kThreads * kItems;
constexpr int kNodes = DeviceProbes::degree + 1;
constexpr int kMaxBricks = DeviceProbes::kMaxBricks;

constexpr double coordinate_of(std::int64_t i, int axis, std::uint64_t seed) {
  return hashed_value(static_cast<std::int64_t>(seed << 40U) + 3 * i + axis) + 0.5;
}

/// Points as kernels see them.
struct PointView {
  const double* x;  // [axis][count]
  std::int64_t count;
};

__global__ void __launch_bounds__(kThreads)
    write_points(std::int64_t count, std::uint64_t seed, double* __restrict__ x) {
  const std::int64_t i = thread_number<kThreads>();
  if (i >= count) return;
  for (int d = 0; d < 3; ++d) x[d * count + i] = coordinate_of(i, d, seed);
}

/// What becomes of a block's counts by brick.
enum class BinStep {
  count,  // they are added to the bricks' counts
  place   // they reserve places, where the points' numbers go
};

// to[b]: of brick b, points so far, or the place of the next one.
template <BinStep step>
__global__ void __launch_bounds__(kThreads)
    bin_points(PointView points, BrickGrid grid, unsigned* to, unsigned* __restrict__ order) {
  __shared__ unsigned counts[kMaxBricks];
  __shared__ unsigned places[kMaxBricks];
  const int thread = static_cast<int>(threadIdx.x);
  const int bricks = grid.bricks();
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kTile + thread;
  for (int b = thread; b < bricks; b += kThreads) counts[b] = 0;
  __syncthreads();
  unsigned brick_of[kItems];
  unsigned rank[kItems];
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const std::int64_t i = first + k * kThreads;
    if (i >= points.count) continue;
    brick_of[k] =
        grid.brick_of(points.x[i], points.x[points.count + i], points.x[2 * points.count + i]);
    rank[k] = append_in_block(brick_of[k], counts);
  }
  __syncthreads();
  for (int b = thread; b < bricks; b += kThreads) {
    if (counts[b] > 0) places[b] = atomicAdd(&to[b], counts[b]);
  }
  if constexpr (step == BinStep::place) {
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
      const std::int64_t i = first + k * kThreads;
      if (i < points.count) order[places[brick_of[k]] + rank[k]] = static_cast<unsigned>(i);
    }
  }
}

// One warp.
__global__ void __launch_bounds__(32)
    find_bricks(const unsigned* counts, int bricks, unsigned* starts) {
  counting_sort::sum_preceding_counts(counts, bricks, starts);
}

/// The Lagrange polynomials along an axis, as LineBasis has them.
struct LineTable {
  double nodes[kNodes];
  double scales[kNodes];  // 1 / prod_{j != i} (t_i - t_j)
};

LineTable line_table(const std::vector<double>& nodes) {
  LineTable table{};
  for (int i = 0; i < kNodes; ++i) {
    table.nodes[i] = nodes[i];
    table.scales[i] = 1.0;
    for (int j = 0; j < kNodes; ++j) {
      if (j != i) table.scales[i] /= nodes[i] - nodes[j];
    }
  }
  return table;
}

struct Line {
  double values[kNodes];
  double slopes[kNodes];
};

__device__ Line line_at(const LineTable& table, double t) {
  Line line;
  double left = 1.0;
  double left_slope = 0.0;
#pragma unroll
  for (int i = 0; i < kNodes; ++i) {
    line.values[i] = left;
    line.slopes[i] = left_slope;
    left_slope = left_slope * (t - table.nodes[i]) + left;
    left *= t - table.nodes[i];
  }
  double right = 1.0;
  double right_slope = 0.0;
#pragma unroll
  for (int i = kNodes - 1; i >= 0; --i) {
    line.slopes[i] = table.scales[i] * (line.slopes[i] * right + line.values[i] * right_slope);
    line.values[i] *= table.scales[i] * right;
    right_slope = right_slope * (t - table.nodes[i]) + right;
    right *= t - table.nodes[i];
  }
  return line;
}

/// A mesh, and a function on it, as kernels see them.
struct ProbedMesh {
  NodePlaces places;
  BrickGrid grid;
  LineTable table;
  const double* u;
};

/// A place in a cell.
struct Located {
  int cell[3];
  double xi[3];
};

__device__ Index first_node_of(const ProbedMesh& mesh, const int (&cell)[3]) {
  return DeviceProbes::degree * mesh.places.box.index(cell[0], cell[1], cell[2]);
}

// The value at a place of the degree-p function with these nodal values.
__device__ double value_at(const ProbedMesh& mesh, const Located& at) {
  const Line x = line_at(mesh.table, at.xi[0]);
  const Line y = line_at(mesh.table, at.xi[1]);
  const Line z = line_at(mesh.table, at.xi[2]);
  const double* const u = mesh.u + first_node_of(mesh, at.cell);
  double value = 0.0;
  for (int k = 0; k < kNodes; ++k) {
    for (int j = 0; j < kNodes; ++j) {
      const double* const row = u + mesh.places.box.index(0, j, k);
      double sum = 0.0;
#pragma unroll
      for (int i = 0; i < kNodes; ++i) sum += x.values[i] * row[i];
      value += z.values[k] * y.values[j] * sum;
    }
  }
  return value;
}

// The position of a place, and J[a][b] = dx_a / dxi_b.
__device__ void map_at(const ProbedMesh& mesh, const Located& at, double (&position)[3],
                       double (&J)[3][3]) {
  const Line x = line_at(mesh.table, at.xi[0]);
  const Line y = line_at(mesh.table, at.xi[1]);
  const Line z = line_at(mesh.table, at.xi[2]);
  const Index first = first_node_of(mesh, at.cell);
#pragma unroll
  for (int d = 0; d < 3; ++d) {
    position[d] = 0.0;
    J[d][0] = J[d][1] = J[d][2] = 0.0;
    const double* const nodes = mesh.places.position[d] + first;
    for (int k = 0; k < kNodes; ++k) {
      for (int j = 0; j < kNodes; ++j) {
        const double* const row = nodes + mesh.places.box.index(0, j, k);
        double sum = 0.0;
        double slope = 0.0;
#pragma unroll
        for (int i = 0; i < kNodes; ++i) {
          sum += x.values[i] * row[i];
          slope += x.slopes[i] * row[i];
        }
        position[d] += z.values[k] * y.values[j] * sum;
        J[d][0] += z.values[k] * y.values[j] * slope;
        J[d][1] += z.values[k] * y.slopes[j] * sum;
        J[d][2] += z.slopes[k] * y.values[j] * sum;
      }
    }
  }
}

// Solves J s = r.
__device__ void solve(const double (&J)[3][3], const double (&r)[3], double (&s)[3]) {
  const double a = J[1][1] * J[2][2] - J[1][2] * J[2][1];
  const double b = J[1][2] * J[2][0] - J[1][0] * J[2][2];
  const double c = J[1][0] * J[2][1] - J[1][1] * J[2][0];
  const double inverse = 1.0 / (J[0][0] * a + J[0][1] * b + J[0][2] * c);
  s[0] = inverse * (r[0] * a + J[0][1] * (J[1][2] * r[2] - r[1] * J[2][2]) +
                    J[0][2] * (r[1] * J[2][1] - J[1][1] * r[2]));
  s[1] = inverse * (J[0][0] * (r[1] * J[2][2] - J[1][2] * r[2]) + r[0] * b +
                    J[0][2] * (J[1][0] * r[2] - r[1] * J[2][0]));
  s[2] = inverse * (J[0][0] * (J[1][1] * r[2] - r[1] * J[2][1]) +
                    J[0][1] * (r[1] * J[2][0] - J[1][0] * r[2]) + r[0] * c);
}

// Where the point would be if the map were the identity.
__device__ Located guess_of(const ProbedMesh& mesh, const double (&X)[3]) {
  Located at;
#pragma unroll
  for (int d = 0; d < 3; ++d) {
    at.cell[d] = mesh.grid.cell_along(X[d]);
    at.xi[d] = X[d] * mesh.grid.cells - at.cell[d];
  }
  return at;
}

// Newton's method: where a step leaves the cell, it goes on in the one that the step ends in.
// Whether it ended in a cell.
__device__ bool locate(const ProbedMesh& mesh, const double (&X)[3], Located& at) {
  constexpr int kMaxSteps = 50;
  // Of a cell. The next step after such a one is below rounding.
  constexpr double kLastStep = 1e-9;
  // So far beyond a cell its polynomials serve as well as its neighbor's.
  constexpr double kSlack = 1e-12;
  for (int n = 0; n < kMaxSteps; ++n) {
    double position[3];
    double J[3][3];
    double step[3];
    map_at(mesh, at, position, J);
    const double rest[3] = {X[0] - position[0], X[1] - position[1], X[2] - position[2]};
    solve(J, rest, step);
    bool is_last = true;
#pragma unroll
    for (int d = 0; d < 3; ++d) {
      // Beyond a cell or two its map says little.
      const double moved = fmin(fmax(step[d], -1.5), 1.5);
      const double xi = at.xi[d] + moved;
      is_last = is_last && fabs(moved) <= kLastStep && xi >= -kSlack && xi <= 1.0 + kSlack;
      if (xi >= -kSlack && xi <= 1.0 + kSlack) {
        at.xi[d] = fmin(fmax(xi, 0.0), 1.0);
        continue;
      }
      const double along = fmin(fmax(at.cell[d] + xi, 0.0), static_cast<double>(mesh.grid.cells));
      at.cell[d] = min(static_cast<int>(along), mesh.grid.cells - 1);
      at.xi[d] = along - at.cell[d];
    }
    if (is_last) return true;
  }
  return false;
}

/// How the cell of a point is found.
enum class CellSearch { division, newton };

// Blocks that a multiprocessor is to have room for: what Newton's method holds takes all registers
// of one.
constexpr int blocks_together(CellSearch search) { return search == CellSearch::newton ? 1 : 2; }

// Point order[n], or n where there is no order, by thread n: one kernel of a mesh, so that both
// have the same bits.
template <CellSearch search>
__global__ void __launch_bounds__(kThreads, blocks_together(search))
    evaluate_points(ProbedMesh mesh, PointView points, const unsigned* __restrict__ order,
                    double* __restrict__ values, unsigned* lost) {
  const std::int64_t n = thread_number<kThreads>();
  if (n >= points.count) return;
  const std::int64_t i = order != nullptr ? order[n] : n;
  const double X[3] = {points.x[i], points.x[points.count + i], points.x[2 * points.count + i]};
  Located at = guess_of(mesh, X);
  if constexpr (search == CellSearch::newton) {
    if (!locate(mesh, X, at)) atomicAdd(lost, 1U);
  }
  values[i] = value_at(mesh, at);
}

Launch over(std::int64_t items, int per_block, const char* name) {
  return {.name = name, .blocks = dim3(blocks_for(items, per_block)), .threads = dim3(kThreads)};
}

}  // namespace

Point DeviceProbes::point(std::int64_t i, std::uint64_t seed) {
  return {coordinate_of(i, 0, seed), coordinate_of(i, 1, seed), coordinate_of(i, 2, seed)};
}

DeviceProbes::DeviceProbes(const Discretization& discretization, std::span<const double> u,
                           std::int64_t points, std::uint64_t seed)
    : places_(discretization.mapping),
      grid_(BrickGrid::with_at_most(static_cast<int>(discretization.mesh.cells()[0]), kMaxBricks)),
      nodes_(discretization.basis.nodes),
      u_(static_cast<std::int64_t>(u.size())),
      points_(points),
      x_(3 * points),
      values_(points),
      order_(points),
      counts_(kMaxBricks),
      next_(kMaxBricks),
      lost_(1) {
  copy_to_device(u.data(), u_.bytes(), u_.data());
  launch(write_points, over(points, kThreads, "placing points"), points, seed, x_.data());
}

void DeviceProbes::sort_by_bricks() {
  const PointView points = {x_.data(), points_};
  zero_on_device(counts_.data(), counts_.bytes());
  launch(bin_points<BinStep::count>, over(points_, kTile, "counting points by brick"), points,
         grid_, counts_.data(), nullptr);
  launch(find_bricks, {.name = "finding bricks", .blocks = dim3(1), .threads = dim3(32)},
         counts_.data(), grid_.bricks(), next_.data());
  launch(bin_points<BinStep::place>, over(points_, kTile, "sorting points by brick"), points, grid_,
         next_.data(), order_.data());
}

double DeviceProbes::seconds(ProbeOrder order) {
  const ProbedMesh mesh = {places_.view(), grid_, line_table(nodes_), u_.data()};
  zero_on_device(lost_.data(), lost_.bytes());
  stopwatch_.start();
  if (order == ProbeOrder::binned) sort_by_bricks();
  launch(mesh.places.is_mapped ? evaluate_points<CellSearch::newton>
                               : evaluate_points<CellSearch::division>,
         over(points_, kThreads, "evaluating at points"), mesh, PointView{x_.data(), points_},
         order == ProbeOrder::binned ? order_.data() : nullptr, values_.data(), lost_.data());
  return stopwatch_.stop();
}

std::int64_t DeviceProbes::lost() const { return to_host(lost_).front(); }

}  // namespace tessera
