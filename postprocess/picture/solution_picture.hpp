// The picture of a solution, drawn without a display.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mesh/discretization.hpp"
#include "postprocess/picture/camera.hpp"
#include "postprocess/picture/canvas/annotation.hpp"
#include "postprocess/picture/canvas/font.hpp"
#include "postprocess/picture/interpolant.hpp"
#include "postprocess/picture/sampled_map.hpp"
#include "postprocess/picture/surface.hpp"
#include "postprocess/picture/surface_pixels.hpp"

namespace tessera {

/// What a picture says beside what it shows.
struct PictureText {
  std::string title;
  /// What is wrong with the solution, such as "not converged: ..."; empty if nothing is.
  std::string status;
  /// "Tessera VERSION".
  std::string program;
};

/// A picture, and what is missing in it.
struct SolutionPicture {
  /// The content of a PNG file of 1200 x 900 pixels.
  std::string png;
  /// A sentence, empty if nothing is missing.
  std::string complaint;
};

/// In pixels.
struct PictureSize {
  int width = 1200;
  int height = 900;
};

/// A solution as a picture shows it, to be drawn in the colors of any range.
struct SampledSolution {
  Captions captions;
  /// The range of the fractions: the least and the greatest value.
  std::pair<double, double> range;
  /// Of the pixels that show something, as in SurfacePixels.
  std::vector<float> fractions;
};

/// Draws Q_p functions: in 2D with iso-lines, in 3D cut open as view.py does it. The time depends
/// on the number of pixels rather than of cells: the geometry is sampled once, a function evaluated
/// where a pixel shows it. Values that are not finite are grey.
class SolutionPainter {
 public:
  /// @param discretization in any frame; is referred to
  /// @throws std::bad_alloc, std::runtime_error of a library
  explicit SolutionPainter(const Discretization& discretization, PictureSize size = {});

  /// @param values of the nodes, [lattice.size()]
  /// @param range the least and the greatest value, where they are known; many values are then not
  /// gone through
  SampledSolution sample(std::span<const double> values, std::pair<double, double> range,
                         const PictureText& text);
  /// @param sampled by this painter @param range of the colors
  SolutionPicture draw(const SampledSolution& sampled, std::pair<double, double> range);

 private:
  const Discretization& discretization_;
  PictureSize size_;
  LineBasis basis_;
  SampledMap map_;
  Surface surface_;
  Camera camera_;
  Font font_;
  // Of the last one that was sampled or drawn.
  SurfacePixels pixels_;
};

/// What it takes of memory at most, with so many threads.
Index picture_bytes(int dimension, bool is_mapped, int threads);

}  // namespace tessera
