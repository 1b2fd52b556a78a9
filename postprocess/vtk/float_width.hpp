// A FloatWidth says how a file stores floating-point numbers.
#pragma once

namespace tessera {

/// How floating-point numbers are stored in a file.
enum class FloatWidth { single_precision, double_precision };

}  // namespace tessera
