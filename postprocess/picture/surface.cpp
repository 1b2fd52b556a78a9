// This file makes triangles of the faces of a domain and, by marching tetrahedra, of a cut.
#include "postprocess/picture/surface.hpp"

#include <algorithm>
#include <cmath>

namespace tessera {
namespace {

Point difference(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

Point unit_normal(const Point& a, const Point& b) {
  Point normal{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
  const double length = std::hypot(normal[0], normal[1], normal[2]);
  for (double& component : normal) component = length > 0.0 ? component / length : 0.0;
  return normal;
}

/// The face of the domain on which axis `normal` has its first or last plane; in 2D with normal 2
/// the domain itself.
void add_face(const SampledMap& map, int normal, int plane, Surface& surface) {
  const int a = normal == 0 ? 1 : 0;
  const int b = normal == 2 ? 1 : 2;
  const int first = static_cast<int>(surface.vertices.size());
  const auto place = [&](int i, int j) {
    std::array<int, 3> at{};
    at[a] = i;
    at[b] = j;
    at[normal] = plane;
    return at;
  };
  const auto position = [&](int i, int j) -> const Point& {
    const auto at = place(i, j);
    return map.position(at[0], at[1], at[2]);
  };
  const int columns = map.count(a);
  const int rows = map.count(b);
  for (int j = 0; j < rows; ++j) {
    for (int i = 0; i < columns; ++i) {
      const auto at = place(i, j);
      const Point along_a =
          difference(position(std::min(i + 1, columns - 1), j), position(std::max(i - 1, 0), j));
      const Point along_b =
          difference(position(i, std::min(j + 1, rows - 1)), position(i, std::max(j - 1, 0)));
      surface.vertices.push_back(
          {position(i, j), map.box(at[0], at[1], at[2]), unit_normal(along_a, along_b)});
    }
  }
  const int patch = static_cast<int>(surface.patches.size());
  surface.patches.push_back(
      {SurfacePatch::Fixed{normal, map.planes(normal)[plane]}, surface.cut.has_value()});
  const auto add = [&](int i, int j, int k) {
    if (surface.cut) {
      bool is_kept = false;
      for (const int vertex : {i, j, k}) {
        is_kept = is_kept || surface.cut->height(surface.vertices[vertex].position) >= 0.0;
      }
      if (!is_kept) return;
    }
    surface.triangles.push_back({{i, j, k}, patch});
  };
  for (int j = 0; j + 1 < rows; ++j) {
    for (int i = 0; i + 1 < columns; ++i) {
      // Split as the tetrahedra below are, so that faces and cut meet without a gap.
      const int corner = first + j * columns + i;
      add(corner, corner + 1, corner + columns + 1);
      add(corner, corner + columns + 1, corner + columns);
    }
  }
}

/// The corners of the six tetrahedra of a brick; bit d of a corner: the upper end along axis d.
constexpr int kTetrahedra[6][4] = {{0, 1, 3, 7}, {0, 1, 5, 7}, {0, 2, 3, 7},
                                   {0, 2, 6, 7}, {0, 4, 5, 7}, {0, 4, 6, 7}};

struct BrickCorner {
  SurfaceVertex vertex;
  double height;
};

/// Where the cut crosses an edge from a kept corner to one that is not.
SurfaceVertex crossing(const BrickCorner& kept, const BrickCorner& lost) {
  const double t = kept.height / (kept.height - lost.height);
  SurfaceVertex vertex = kept.vertex;
  for (int d = 0; d < 3; ++d) {
    vertex.position[d] += t * (lost.vertex.position[d] - kept.vertex.position[d]);
    vertex.box[d] += t * (lost.vertex.box[d] - kept.vertex.box[d]);
  }
  return vertex;
}

void cut_tetrahedron(const std::array<const BrickCorner*, 4>& corners, int patch,
                     Surface& surface) {
  std::array<const BrickCorner*, 4> kept{};
  std::array<const BrickCorner*, 4> lost{};
  int kept_count = 0;
  int lost_count = 0;
  for (const BrickCorner* corner : corners) {
    if (corner->height >= 0.0) {
      kept[kept_count++] = corner;
    } else {
      lost[lost_count++] = corner;
    }
  }
  const int first = static_cast<int>(surface.vertices.size());
  const auto add = [&](int i, int j, int k) {
    surface.triangles.push_back({{first + i, first + j, first + k}, patch});
  };
  if (kept_count == 2 && lost_count == 2) {
    for (const auto [i, j] : {std::array{0, 0}, {0, 1}, {1, 1}, {1, 0}}) {
      surface.vertices.push_back(crossing(*kept[i], *lost[j]));
    }
    add(0, 1, 2);
    add(0, 2, 3);
  } else if (kept_count > 0 && lost_count > 0) {
    for (int i = 0; i < kept_count; ++i) {
      for (int j = 0; j < lost_count; ++j) {
        surface.vertices.push_back(crossing(*kept[i], *lost[j]));
      }
    }
    add(0, 1, 2);
  }
}

void add_cut(const SampledMap& map, Surface& surface) {
  const CutPlane& cut = *surface.cut;
  const int patch = static_cast<int>(surface.patches.size());
  surface.patches.emplace_back();
  if (map.is_cartesian()) {
    // The middle of the bounds is that of the box, whose coordinates may be others.
    const std::vector<double>& planes = map.planes(cut.axis);
    surface.patches.back().fixed =
        SurfacePatch::Fixed{cut.axis, 0.5 * (planes.front() + planes.back())};
  }
  Point normal{};
  normal[cut.axis] = -1.0;
  std::array<BrickCorner, 8> corners;
  for (int k = 0; k + 1 < map.count(2); ++k) {
    for (int j = 0; j + 1 < map.count(1); ++j) {
      for (int i = 0; i + 1 < map.count(0); ++i) {
        int kept = 0;
        for (int corner = 0; corner < 8; ++corner) {
          const Point& x =
              map.position(i + (corner & 1), j + (corner >> 1 & 1), k + (corner >> 2 & 1));
          corners[corner].vertex.position = x;
          corners[corner].height = cut.height(x);
          if (corners[corner].height >= 0.0) ++kept;
        }
        if (kept == 0 || kept == 8) continue;
        for (int corner = 0; corner < 8; ++corner) {
          corners[corner].vertex.box =
              map.box(i + (corner & 1), j + (corner >> 1 & 1), k + (corner >> 2 & 1));
          corners[corner].vertex.normal = normal;
        }
        for (const auto& tetrahedron : kTetrahedra) {
          cut_tetrahedron({&corners[tetrahedron[0]], &corners[tetrahedron[1]],
                           &corners[tetrahedron[2]], &corners[tetrahedron[3]]},
                          patch, surface);
        }
      }
    }
  }
}

}  // namespace

Surface make_surface(const SampledMap& map) {
  Surface surface;
  if (map.dimension() == 2) {
    add_face(map, 2, 0, surface);
    return surface;
  }
  surface.cut = {1, 0.5 * (map.lower()[1] + map.upper()[1])};
  for (int normal = 0; normal < 3; ++normal) {
    add_face(map, normal, 0, surface);
    add_face(map, normal, map.count(normal) - 1, surface);
  }
  add_cut(map, surface);
  return surface;
}

}  // namespace tessera
