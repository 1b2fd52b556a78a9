// A Page is put together piece by piece: headings, HTML, figures.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "postprocess/report/plots/plot.hpp"

namespace tessera::report {

/// Plots side by side, one a machine; what is seen in them; their numbers.
struct Figure {
  std::vector<Plot> panels = {};
  std::string note = {};
  std::string table = {};  ///< HTML
};

/// A page in one file that needs nothing else.
class Page {
 public:
  explicit Page(std::string title) : title_(std::move(title)) {}

  /// @param level 2 for a section, 3 for a part of one
  void heading(int level, const std::string& text);
  void html(std::string html) { pieces_.emplace_back(std::move(html)); }
  /// Figures without anything between stand side by side where the window is wide.
  void figure(Figure figure) { pieces_.emplace_back(std::move(figure)); }

  std::size_t bytes() const;
  /// @throws PlotError
  std::string text() const;
  /// Each plot as an SVG file, by its name. @throws PlotError
  std::map<std::string, std::string> svg_files() const;

 private:
  std::vector<Plot> plots() const;

  std::string title_;
  std::vector<std::variant<std::string, Figure>> pieces_;
  std::vector<std::string> sections_;
};

/// What begins each page, and by which it is known to be one of ours.
inline constexpr char kGenerator[] = "<meta name=\"generator\" content=\"Tessera report\">";

}  // namespace tessera::report
