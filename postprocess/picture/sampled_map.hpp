// A SampledMap has the physical positions of some lines' crossings across a mesh of any size.
#pragma once

#include <array>
#include <vector>

#include "mesh/discretization.hpp"
#include "postprocess/picture/interpolant.hpp"

namespace tessera {

/// The geometry of a discretization, coarse enough to be drawn at a cost that does not depend on
/// its size: the physical positions of the crossings of some planes across each axis of the box, x
/// fastest, between which the map is as good as linear. Where cells are wide, there are several
/// planes in one; where they are narrow, one for several.
class SampledMap {
 public:
  /// @param discretization in any frame @param intervals about how many there are along an axis, if
  /// the mesh is not Cartesian, which needs one
  SampledMap(const Discretization& discretization, const LineBasis& basis, int intervals);

  int dimension() const { return dimension_; }
  bool is_cartesian() const { return is_cartesian_; }
  /// Box coordinates of the planes across axis d, increasing; the one of the third axis in 2D is 0.
  const std::vector<double>& planes(int d) const { return planes_[d]; }
  int count(int d) const { return static_cast<int>(planes_[d].size()); }
  Point box(int i, int j, int k) const { return {planes_[0][i], planes_[1][j], planes_[2][k]}; }
  const Point& position(int i, int j, int k) const {
    return positions_[(static_cast<std::size_t>(k) * planes_[1].size() + j) * planes_[0].size() +
                      i];
  }
  /// Of all positions.
  const Point& lower() const { return lower_; }
  const Point& upper() const { return upper_; }

 private:
  void fill_cartesian();
  void fill_mapped(const Discretization& discretization, const LineBasis& basis);
  void find_bounds();

  int dimension_;
  bool is_cartesian_;
  std::array<std::vector<double>, 3> planes_;
  std::vector<Point> positions_;
  Point lower_{};
  Point upper_{};
};

}  // namespace tessera
