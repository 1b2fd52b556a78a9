// A collection is what ParaView plays: files and their times.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "mesh/index.hpp"

namespace tessera {

/// A file of a collection.
struct TimedFile {
  double t;
  std::string name;  // relative to the collection's folder
};

/// The text of a ParaView collection (.pvd); the times have 17 digits.
std::string collection_text(std::span<const TimedFile> files);

/// "solution_0001.vtu", the number'th of so many files, from 1: with four digits, or as many as the
/// last one needs.
std::string numbered_solution_name(Index number, Index count, std::string_view extension);

/// The number of a file of such a name; nothing of another file.
std::optional<Index> solution_number(std::string_view name);

}  // namespace tessera
