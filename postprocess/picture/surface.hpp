// A Surface is what a picture shows of a mesh, as triangles.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "postprocess/picture/sampled_map.hpp"

namespace tessera {

/// A plane in physical space normal to an axis. What is above it is kept.
struct CutPlane {
  int axis;
  double position;

  /// Of a point; at least 0 where it is kept.
  double height(const Point& x) const { return x[axis] - position; }
};

struct SurfaceVertex {
  Point position;  // physical
  Point box;
  Point normal;  // of length 1 or, where the surface has none, 0
};

/// One smooth part of a surface: a face of the domain, or the cut.
struct SurfacePatch {
  /// On which a box coordinate has one value: the axis and the value.
  struct Fixed {
    int axis;
    double value;
  };
  std::optional<Fixed> fixed;
  /// Whether only what the cut plane keeps is to be seen.
  bool is_cut_open = false;
};

struct SurfaceTriangle {
  std::array<int, 3> vertices;
  int patch;
};

/// What a picture shows of a mesh. In 2D all of it; in 3D, cut open, the part of the boundary that
/// is kept, and the cut.
struct Surface {
  std::vector<SurfaceVertex> vertices;
  std::vector<SurfaceTriangle> triangles;
  std::vector<SurfacePatch> patches;
  std::optional<CutPlane> cut;
};

/// In 3D the cut is normal to y and goes through the center of the bounds, as in view.py.
Surface make_surface(const SampledMap& map);

}  // namespace tessera
