// These templates name enumerators.
#pragma once

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string_view>

namespace tessera {

/// An enumerator and its text.
template <class E>
struct Named {
  E enumerator;
  std::string_view name;
};

/// The texts of enumerators 0, 1, 2, ...; does not compile unless the table has them in this order.
template <class E, std::size_t count>
consteval std::array<std::string_view, count> names_in_order(const Named<E> (&table)[count]) {
  std::array<std::string_view, count> names;
  for (std::size_t i = 0; i < count; ++i) {
    if (static_cast<std::size_t>(table[i].enumerator) != i) {
      throw std::logic_error("the names are not in the enumerators' order");
    }
    names[i] = table[i].name;
  }
  return names;
}

/// The texts of an enum's enumerators. An enum is usable in parameters once it has a
/// specialization.
template <class E>
inline constexpr std::nullptr_t kNamesOf = nullptr;

/// The text of an enumerator.
template <class E>
std::string_view name_of(E enumerator) {
  return kNamesOf<E>.at(static_cast<std::size_t>(enumerator));
}

}  // namespace tessera
