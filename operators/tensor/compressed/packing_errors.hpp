// PackingErrors tell with how many bits factors can be packed.
#pragma once

#include "mesh/larger_or_nan.hpp"
#include "operators/tensor/compressed/bits.hpp"
#include "operators/tensor/compressed/fixed_point.hpp"

namespace tessera {

/// The largest error of an entry D_ab as a share of sqrt(D_aa D_bb), as bounded by the bits.
struct PackingErrors {
  double of_these = 0.0;  // as it is packed
  double of_few = 0.0;    // if it had few bits

  void add(const PackingErrors& other) {
    of_these = larger_or_nan(of_these, other.of_these);
    of_few = larger_or_nan(of_few, other.of_few);
  }
  /// Whether factors may be packed like this.
  template <class T>
  bool are_small() const {
    return of_these <= compressed_tolerance<T>();
  }
  /// Whether a new operator would have these bits: no fewer would do.
  template <class T>
  bool are_those_of_new(CompressedBits bits) const {
    const bool few_suffice = of_few <= compressed_tolerance<T>();
    return are_small<T>() && few_suffice == (bits == few_bits(sizeof(T)));
  }
};

}  // namespace tessera
