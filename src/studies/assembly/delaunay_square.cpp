#include "src/studies/assembly/delaunay_square.hpp"

#include <fmt/format.h>
// Qhull's headers are of C and do not say so to C++; its C++ interface is not C++20.
extern "C" {
#include <libqhull_r/qhull_ra.h>
}

#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace tessera {
namespace {

constexpr double kArea = 4.0;

std::vector<PlanePoint> square_points() {
  constexpr Index kParts = kSquareBoundaryPoints / 4;
  std::vector<PlanePoint> points;
  points.reserve(kSquarePoints);
  for (Index part = 0; part < kSquareBoundaryPoints; ++part) {
    const double along = -1.0 + 2.0 * static_cast<double>(part % kParts) / kParts;
    switch (part / kParts) {
      case 0:
        points.push_back({along, -1.0});
        break;
      case 1:
        points.push_back({1.0, along});
        break;
      case 2:
        points.push_back({-along, 1.0});
        break;
      default:
        points.push_back({-1.0, -along});
        break;
    }
  }
  // Powers of 1 / g, where g^3 = g + 1: the steps of the R2 sequence.
  constexpr PlanePoint kStep = {0.7548776662466927, 0.5698402909980532};
  for (Index k = 0; k < kSquareInteriorPoints; ++k) {
    PlanePoint point;
    for (int d = 0; d < 2; ++d) {
      const double share = std::fmod(0.5 + kStep[d] * static_cast<double>(k), 1.0);
      point[d] = 0.98 * (2.0 * share - 1.0);
    }
    points.push_back(point);
  }
  return points;
}

/// A convex hull by Qhull.
class Hull {
 public:
  Hull() : qhull_(std::make_unique<qhT>()) { qh_zero(qhull_.get(), stderr); }
  Hull(const Hull&) = delete;
  Hull& operator=(const Hull&) = delete;
  ~Hull() {
    // Of its memory all but what comes next.
    qh_freeqhull(qhull_.get(), False);
    int blocks = 0;
    int bytes = 0;
    qh_memfreeshort(qhull_.get(), &blocks, &bytes);
  }

  /// The lower faces of the hull of the points lifted to z = x^2 + y^2, as triangles. Points are
  /// not joggled, and faces of more than three points are divided ("Qt").
  std::vector<Triangle> delaunay_triangles(const std::vector<PlanePoint>& points) {
    std::vector<double> coordinates;
    coordinates.reserve(2 * points.size());
    for (const PlanePoint& point : points) {
      coordinates.insert(coordinates.end(), point.begin(), point.end());
    }
    std::string options = "qhull d Qbb Qt";
    const int failure = qh_new_qhull(qhull_.get(), 2, static_cast<int>(points.size()),
                                     coordinates.data(), False, options.data(), nullptr, stderr);
    if (failure != 0) {
      throw std::runtime_error(
          fmt::format("The triangulation of the square failed: error {} of Qhull", failure));
    }
    std::vector<Triangle> triangles;
    // The last face of the list is a sentinel.
    for (facetT* face = qhull_->facet_list; face->next != nullptr; face = face->next) {
      if (face->upperdelaunay == 0) triangles.push_back(triangle_of(*face));
    }
    return triangles;
  }

 private:
  Triangle triangle_of(const facetT& face) {
    Triangle triangle;
    if (qh_setsize(qhull_.get(), face.vertices) != std::ssize(triangle)) {
      throw std::runtime_error("The triangulation of the square has a face that is no triangle");
    }
    for (int corner = 0; corner < std::ssize(triangle); ++corner) {
      const auto* const vertex = static_cast<const vertexT*>(face.vertices->e[corner].p);
      triangle[corner] = qh_pointid(qhull_.get(), vertex->point);
    }
    return triangle;
  }

  std::unique_ptr<qhT> qhull_;
};

}  // namespace

TriangleMesh delaunay_square() {
  TriangleMesh mesh;
  mesh.points = square_points();
  mesh.triangles = Hull().delaunay_triangles(mesh.points);
  orient(mesh);
  check_square(mesh);
  return mesh;
}

void check_square(const TriangleMesh& mesh) {
  const Index boundary = edges(mesh).boundary_count();
  const double area = signed_area(mesh);
  if (std::ssize(mesh.triangles) != kSquareTriangles || boundary != kSquareBoundaryPoints ||
      !(std::abs(area - kArea) < 1e-12)) {
    throw std::runtime_error(fmt::format(
        "The triangulation of the square has {} triangles, {} edges on the boundary "
        "and the area {}; it must have {}, {} and {}",
        mesh.triangles.size(), boundary, area, kSquareTriangles, kSquareBoundaryPoints, kArea));
  }
}

}  // namespace tessera
