// This file has the XML of .pvtu files, and the names of their pieces.
#include "postprocess/vtk/pvtu_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

namespace tessera {
namespace {

constexpr std::size_t kDigits = 4;
constexpr std::string_view kExtension = ".vtu";

// What pieces have of a section; their cells are not declared.
void append_section(const VtuSection& section, std::string& text) {
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "    <P{}{}>\n", section.name, section.attributes);
  for (const VtuArray& array : section.arrays) {
    fmt::format_to(out, "      <PDataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\"/>\n",
                   array.type, array.name, array.components);
  }
  fmt::format_to(out, "    </P{}>\n", section.name);
}

}  // namespace

std::string pvtu_text(const VtuContent& content, std::span<const std::string> pieces) {
  std::string text = fmt::format(
      "<?xml version=\"1.0\"?>\n"
      "<VTKFile type=\"PUnstructuredGrid\" version=\"{}\" byte_order=\"{}\" "
      "header_type=\"UInt64\">\n  <PUnstructuredGrid GhostLevel=\"0\">\n{}",
      content.version, vtk_byte_order(), content.field_data);
  for (const VtuSection& section : content.sections) {
    if (section.name != "Cells") append_section(section, text);
  }
  for (const std::string& piece : pieces) {
    fmt::format_to(std::back_inserter(text), "    <Piece Source=\"{}\"/>\n", piece);
  }
  return text + "  </PUnstructuredGrid>\n</VTKFile>\n";
}

std::string pieces_folder(const std::string& pvtu_name) {
  return std::filesystem::path(pvtu_name).stem().string();
}

std::string piece_name(const std::string& pvtu_name, int rank, int ranks) {
  const std::size_t digits = std::max(kDigits, fmt::formatted_size("{}", ranks - 1));
  return fmt::format("{}/{:0{}}{}", pieces_folder(pvtu_name), rank, digits, kExtension);
}

bool is_piece_name(std::string_view name) {
  if (!name.ends_with(kExtension)) return false;
  name.remove_suffix(kExtension.size());
  return name.size() >= kDigits &&
         std::all_of(name.begin(), name.end(), [](char c) { return '0' <= c && c <= '9'; });
}

}  // namespace tessera
