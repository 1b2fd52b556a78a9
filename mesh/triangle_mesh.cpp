#include "mesh/triangle_mesh.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>
#include <utility>

namespace tessera {
namespace {

using Edge = std::array<Index, 2>;

Edge side(const Triangle& triangle, int number) {
  const auto [low, high] = std::minmax(triangle[number], triangle[(number + 1) % 3]);
  return {low, high};
}

/// Maps the bounding square of the points to the cells of a grid.
class CurveGrid {
 public:
  explicit CurveGrid(const std::vector<PlanePoint>& points) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    PlanePoint upper = {-kInfinity, -kInfinity};
    lower_ = {kInfinity, kInfinity};
    for (const PlanePoint& point : points) {
      for (int d = 0; d < 2; ++d) {
        lower_[d] = std::min(lower_[d], point[d]);
        upper[d] = std::max(upper[d], point[d]);
      }
    }
    width_ = std::max(upper[0] - lower_[0], upper[1] - lower_[1]);
  }

  /// How far along the curve a point is.
  [[nodiscard]] std::uint64_t place(const PlanePoint& point) const {
    std::array<std::uint64_t, 2> at;
    for (int d = 0; d < 2; ++d) {
      const double share = width_ > 0.0 ? (point[d] - lower_[d]) / width_ : 0.0;
      at[d] = static_cast<std::uint64_t>(share * static_cast<double>(kSide - 1));
    }
    std::uint64_t place = 0;
    for (std::uint64_t half = kSide / 2; half > 0; half /= 2) {
      const bool right = (at[0] & half) != 0;
      const bool top = (at[1] & half) != 0;
      place += half * half * (right ? (top ? 2U : 3U) : (top ? 1U : 0U));
      // Each quarter is a curve of its own; the lower ones are turned to meet the upper ones.
      if (!top) {
        if (right) at = {kSide - 1 - at[0], kSide - 1 - at[1]};
        std::swap(at[0], at[1]);
      }
    }
    return place;
  }

 private:
  static constexpr std::uint64_t kSide = std::uint64_t{1} << 20U;

  PlanePoint lower_;
  double width_;
};

/// The indices of `keys` in the order that sorts them; equal ones stay in order.
std::vector<Index> sorting_order(const std::vector<std::uint64_t>& keys) {
  std::vector<Index> order(keys.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return keys[a] < keys[b]; });
  return order;
}

std::vector<Index> inverse(const std::vector<Index>& order) {
  std::vector<Index> numbers(order.size());
  for (Index i = 0; i < std::ssize(order); ++i) numbers[order[i]] = i;
  return numbers;
}

}  // namespace

double signed_area(const TriangleMesh& mesh, const Triangle& triangle) {
  const PlanePoint& a = mesh.points[triangle[0]];
  const PlanePoint& b = mesh.points[triangle[1]];
  const PlanePoint& c = mesh.points[triangle[2]];
  return 0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));
}

double signed_area(const TriangleMesh& mesh) {
  double area = 0.0;
  for (const Triangle& triangle : mesh.triangles) area += signed_area(mesh, triangle);
  return area;
}

Index orient(TriangleMesh& mesh) {
  Index turned = 0;
  for (Triangle& triangle : mesh.triangles) {
    if (signed_area(mesh, triangle) < 0.0) {
      std::swap(triangle[1], triangle[2]);
      ++turned;
    }
  }
  return turned;
}

Index TriangleEdges::boundary_count() const {
  return std::count(triangles.begin(), triangles.end(), 1);
}

TriangleEdges edges(const TriangleMesh& mesh) {
  std::vector<Edge> sides;
  sides.reserve(3 * mesh.triangles.size());
  for (const Triangle& triangle : mesh.triangles) {
    for (int number = 0; number < 3; ++number) sides.push_back(side(triangle, number));
  }
  std::sort(sides.begin(), sides.end());
  TriangleEdges result;
  for (const Edge& each : sides) {
    if (result.points.empty() || result.points.back() != each) {
      result.points.push_back(each);
      result.triangles.push_back(0);
    }
    ++result.triangles.back();
  }
  return result;
}

TriangleMesh refined(const TriangleMesh& mesh) {
  const std::vector<Edge> sides = edges(mesh).points;
  TriangleMesh fine;
  fine.points = mesh.points;
  fine.points.reserve(mesh.points.size() + sides.size());
  for (const auto& [i, j] : sides) {
    const PlanePoint& a = mesh.points[i];
    const PlanePoint& b = mesh.points[j];
    fine.points.push_back({0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])});
  }
  fine.triangles.reserve(4 * mesh.triangles.size());
  for (const Triangle& triangle : mesh.triangles) {
    Triangle middle;
    for (int number = 0; number < 3; ++number) {
      const auto found = std::lower_bound(sides.begin(), sides.end(), side(triangle, number));
      middle[number] = std::ssize(mesh.points) + (found - sides.begin());
    }
    for (int corner = 0; corner < 3; ++corner) {
      fine.triangles.push_back({triangle[corner], middle[corner], middle[(corner + 2) % 3]});
    }
    fine.triangles.push_back(middle);
  }
  return fine;
}

PointTriangles triangles_at_points(const TriangleMesh& mesh) {
  PointTriangles result;
  result.first.assign(mesh.points.size() + 1, 0);
  for (const Triangle& triangle : mesh.triangles) {
    for (const Index point : triangle) ++result.first[point + 1];
  }
  std::partial_sum(result.first.begin(), result.first.end(), result.first.begin());
  result.triangles.resize(3 * mesh.triangles.size());
  std::vector<Index> next = result.first;
  for (Index t = 0; t < std::ssize(mesh.triangles); ++t) {
    for (const Index point : mesh.triangles[t]) result.triangles[next[point]++] = t;
  }
  return result;
}

Index largest_degree(const TriangleMesh& mesh) {
  std::vector<Index> degrees(mesh.points.size(), 0);
  for (const Triangle& triangle : mesh.triangles) {
    for (const Index point : triangle) ++degrees[point];
  }
  return degrees.empty() ? 0 : *std::max_element(degrees.begin(), degrees.end());
}

std::vector<std::vector<Index>> greedy_colors(const TriangleMesh& mesh) {
  const PointTriangles around = triangles_at_points(mesh);
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> color(mesh.triangles.size(), kNone);
  std::vector<std::vector<Index>> colors;
  // The last triangle that met a neighbor of this color.
  std::vector<Index> taken_for;
  for (Index t = 0; t < std::ssize(mesh.triangles); ++t) {
    for (const Index point : mesh.triangles[t]) {
      for (Index k = around.first[point]; k < around.first[point + 1]; ++k) {
        const std::size_t neighbor = color[around.triangles[k]];
        if (neighbor != kNone) taken_for[neighbor] = t;
      }
    }
    std::size_t least = 0;
    while (least < colors.size() && taken_for[least] == t) ++least;
    if (least == colors.size()) {
      colors.emplace_back();
      taken_for.push_back(-1);
    }
    color[t] = least;
    colors[least].push_back(t);
  }
  return colors;
}

void renumber_points(TriangleMesh& mesh, const std::vector<Index>& numbers) {
  const Index count = std::ssize(mesh.points);
  std::vector<char> taken(mesh.points.size(), 0);
  if (numbers.size() != mesh.points.size()) {
    throw std::invalid_argument("As many numbers as points are needed");
  }
  for (const Index number : numbers) {
    if (number < 0 || number >= count || taken[number] != 0) {
      throw std::invalid_argument("The numbers of points must be a permutation");
    }
    taken[number] = 1;
  }
  std::vector<PlanePoint> points(mesh.points.size());
  for (Index i = 0; i < count; ++i) points[numbers[i]] = mesh.points[i];
  mesh.points = std::move(points);
  for (Triangle& triangle : mesh.triangles) {
    for (Index& point : triangle) point = numbers[point];
  }
}

void number_randomly(TriangleMesh& mesh, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::vector<Index> numbers(mesh.points.size());
  std::iota(numbers.begin(), numbers.end(), Index{0});
  // std::shuffle differs between libraries. The remainder prefers low numbers by less than 2^-40.
  for (std::size_t left = numbers.size(); left > 1; --left) {
    std::swap(numbers[left - 1], numbers[generator() % left]);
  }
  renumber_points(mesh, numbers);
}

void number_along_hilbert_curve(TriangleMesh& mesh) {
  const CurveGrid grid(mesh.points);
  std::vector<std::uint64_t> keys;
  keys.reserve(mesh.triangles.size());
  for (const Triangle& triangle : mesh.triangles) {
    PlanePoint center = {0.0, 0.0};
    for (const Index point : triangle) {
      for (int d = 0; d < 2; ++d) center[d] += mesh.points[point][d] / 3.0;
    }
    keys.push_back(grid.place(center));
  }
  std::vector<Triangle> sorted;
  sorted.reserve(mesh.triangles.size());
  for (const Index t : sorting_order(keys)) sorted.push_back(mesh.triangles[t]);
  mesh.triangles = std::move(sorted);

  keys.clear();
  for (const PlanePoint& point : mesh.points) keys.push_back(grid.place(point));
  renumber_points(mesh, inverse(sorting_order(keys)));
}

}  // namespace tessera
