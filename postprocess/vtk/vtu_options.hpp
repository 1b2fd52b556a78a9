// VtuOptions say how a solution is stored in a file.
#pragma once

namespace tessera {

/// How floating-point numbers are stored in a file.
enum class FloatWidth { single_precision, double_precision };

/// How the blocks of a file are compressed.
enum class VtkCompression { none, lz4, zlib };

/// How a solution is stored in a file.
struct VtuOptions {
  FloatWidth width = FloatWidth::single_precision;
  VtkCompression compression = VtkCompression::lz4;
  /// Of the cells in the file, which have degree + 1 equidistant points an axis; 0 = that of the
  /// space.
  int degree = 0;
};

}  // namespace tessera
