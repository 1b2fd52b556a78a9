// The colors of values.
#pragma once

#include "postprocess/picture/canvas/image.hpp"

namespace tessera {

/// The color of t in [0, 1] in Viridis, dark violet to yellow, which the color-blind can tell apart
/// and which stays in order without colors. NaN is grey.
Color viridis(double t);

}  // namespace tessera
