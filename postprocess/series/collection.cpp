// This file has the XML of a collection.
#include "postprocess/series/collection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

namespace tessera {
namespace {

constexpr std::string_view kBegin = "solution_";
constexpr std::size_t kDigits = 4;

}  // namespace

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

std::string numbered_solution_name(Index number, Index count, std::string_view extension) {
  const std::size_t digits = std::max<std::size_t>(kDigits, fmt::formatted_size("{}", count));
  return fmt::format("{}{:0{}}{}", kBegin, number, digits, extension);
}

std::optional<Index> solution_number(std::string_view name) {
  const std::size_t dot = name.find('.');
  if (!name.starts_with(kBegin) || dot == std::string_view::npos) return std::nullopt;
  const std::string_view extension = name.substr(dot);
  if (extension != ".vtu" && extension != ".pvtu" && extension != ".png") return std::nullopt;
  const std::string_view digits = name.substr(kBegin.size(), dot - kBegin.size());
  Index number = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number);
  if (digits.size() < kDigits || error != std::errc() || end != digits.end() || number < 1) {
    return std::nullopt;
  }
  return number;
}

}  // namespace tessera
