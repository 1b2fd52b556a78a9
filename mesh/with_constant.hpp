// This function turns a number that is known at run time into a constant.
#pragma once

#include <stdexcept>

namespace tessera {

/// f.operator()<value>(), for first <= value <= last. @throws std::invalid_argument for others
template <int first, int last, class F>
auto with_constant(int value, F&& f) {
  if constexpr (first == last) {
    if (value != last) throw std::invalid_argument("a number that no code was compiled for");
    return f.template operator()<last>();
  } else {
    if (value == first) return f.template operator()<first>();
    return with_constant<first + 1, last>(value, f);
  }
}

}  // namespace tessera
