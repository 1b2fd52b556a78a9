// This file gathers texts, all of them as long as the longest.
#include "solvers/ranks/gather_texts.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tessera {

std::vector<std::string> gather_texts(const Communicator& ranks, const std::string& text) {
  const std::vector<std::uint64_t> lengths = ranks.all_gather(std::uint64_t{text.size()});
  const std::size_t longest = *std::max_element(lengths.begin(), lengths.end());
  std::string mine = text;
  mine.resize(longest);
  std::string all(longest * lengths.size(), '\0');
  ranks.all_gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)));
  std::vector<std::string> texts;
  for (std::size_t r = 0; r < lengths.size(); ++r) {
    texts.push_back(all.substr(r * longest, lengths[r]));
  }
  return texts;
}

}  // namespace tessera
