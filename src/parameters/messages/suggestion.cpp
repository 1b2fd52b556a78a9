// This file measures how far words are apart.
#include "src/parameters/messages/suggestion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace tessera {

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same(char a, char b) {
  // gauss_lobatto for gauss-lobatto is the same word to a person.
  const auto normal = [](char c) { return c == '-' ? '_' : lower(c); };
  return normal(a) == normal(b);
}

/// Whether one word holds the other: "tol" was probably meant as "relative_tolerance".
bool contains(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

}  // namespace

int edit_distance(std::string_view a, std::string_view b) {
  const std::size_t columns = b.size() + 1;
  std::vector<int> distance((a.size() + 1) * columns);
  const auto at = [&](std::size_t i, std::size_t j) -> int& { return distance[i * columns + j]; };
  for (std::size_t i = 0; i <= a.size(); ++i) at(i, 0) = static_cast<int>(i);
  for (std::size_t j = 0; j <= b.size(); ++j) at(0, j) = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int replaced = at(i - 1, j - 1) + (same(a[i - 1], b[j - 1]) ? 0 : 1);
      at(i, j) = std::min({replaced, at(i - 1, j) + 1, at(i, j - 1) + 1});
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1])) {
        at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
      }
    }
  }
  return at(a.size(), b.size());
}

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates) {
  std::optional<std::string> best;
  int best_distance = 0;
  for (const std::string& candidate : candidates) {
    const int distance = edit_distance(word, candidate);
    const auto longer = static_cast<int>(std::max(word.size(), candidate.size()));
    const bool shortened = word.size() >= 3 && contains(candidate, word);
    if (distance > std::max(1, longer / 3) && !shortened) continue;
    if (!best || distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string list_choices(std::span<const std::string> choices) {
  return fmt::format("\"{}\"", fmt::join(choices, "\" | \""));
}

}  // namespace tessera
