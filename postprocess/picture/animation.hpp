// An animation is a file of several pictures that browsers play.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mesh/index.hpp"
#include "postprocess/picture/solution_picture.hpp"

namespace tessera {

/// What a run in time keeps to draw an animation of: so many outputs at most.
inline constexpr PictureSize kAnimationSize = {800, 600};
inline constexpr int kMaxAnimationFrames = 48;

struct AnimationFrame {
  /// The content of a PNG file; all have one size.
  std::string png;
  /// How long it is seen, up to 65 s.
  double seconds;
};

/// The content of an animated PNG (APNG), which plays again and again; what knows no animations
/// shows the first frame. @param frames at least one
std::string animated_png(std::span<const AnimationFrame> frames);

/// The frames of such a file; none of a file that is no animation.
std::vector<AnimationFrame> frames_of(std::string_view file);

/// Every second frame and the last one, seen as long as those that they stand for.
std::vector<AnimationFrame> every_second(const std::vector<AnimationFrame>& frames);

/// What the frames of so many outputs take of memory at most, with the file.
Index animation_bytes(int dimension, Index outputs);

}  // namespace tessera
