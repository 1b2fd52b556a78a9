// This file has the XML of a collection.
#include "postprocess/series/collection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace tessera {

std::string collection_text(std::span<const TimedFile> files) {
  std::string text =
      "<?xml version=\"1.0\"?>\n"
      "<VTKFile type=\"Collection\" version=\"0.1\">\n"
      "  <Collection>\n";
  for (const auto& [t, name] : files) {
    fmt::format_to(std::back_inserter(text),
                   "    <DataSet timestep=\"{:.17g}\" part=\"0\" file=\"{}\"/>\n", t, name);
  }
  return text + "  </Collection>\n</VTKFile>\n";
}

std::string numbered_solution_name(Index number, Index count) {
  const std::size_t digits = std::max<std::size_t>(4, fmt::formatted_size("{}", count));
  return fmt::format("solution_{:0{}}.vtu", number, digits);
}

}  // namespace tessera
