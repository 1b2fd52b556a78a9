// A VectorLayout is the length of a vector, and what other ranks have of it.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "solvers/ranks/shared_entries.hpp"

namespace tessera {

/// The length of a rank's vector, and, where there are several ranks, which of its entries they
/// share. Vectors of one operator have one layout, which the operator gives: sums over the entries
/// of a vector with shared ones are sums over all ranks, and all ranks compute them together.
struct VectorLayout {
  std::int64_t size = 0;
  /// Null: no other rank has a part of such vectors.
  std::shared_ptr<const SharedEntries> shared = nullptr;

  VectorLayout() = default;
  explicit VectorLayout(std::int64_t n, std::shared_ptr<const SharedEntries> entries = nullptr)
      : size(n), shared(std::move(entries)) {}

  bool operator==(const VectorLayout&) const = default;

  /// The number that an entry has in the vector of all ranks.
  std::int64_t whole_number(std::int64_t entry) const {
    return shared == nullptr ? entry : shared->numbers().of(entry);
  }
  /// The length of the vector of all ranks.
  std::int64_t whole_size() const {
    return shared == nullptr ? size : shared->numbers().whole_size;
  }
};

/// Whether it is so on one of the ranks that share the vectors, all of which ask.
inline bool on_any_rank(const VectorLayout& layout, bool here) {
  return layout.shared == nullptr ? here : layout.shared->ranks().any(here);
}

}  // namespace tessera
