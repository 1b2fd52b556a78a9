// This file writes the page around the pieces.
#include "postprocess/report/page.hpp"

#include <fmt/format.h>

#include <iterator>

#include "postprocess/report/html.hpp"
#include "postprocess/report/plots/gnuplot.hpp"
#include "postprocess/report/plots/palette.hpp"
#include "postprocess/report/style.hpp"

namespace tessera::report {
namespace {

std::string colors(std::string_view Color::*shade) {
  std::string css;
  for (std::size_t i = 0; i < kPalette.size(); ++i) {
    fmt::format_to(std::back_inserter(css), "--c{}:{};", i, kPalette[i].*shade);
  }
  return css + fmt::format("--grid:{};", kGrid.*shade);
}

// A name of letters, digits and hyphens.
std::string file_stem(const std::string& title) {
  std::string stem;
  for (const char c : title) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (is_plain) {
      stem += c;
    } else if (c >= 'A' && c <= 'Z') {
      stem += static_cast<char>(c - 'A' + 'a');
    } else if (!stem.empty() && stem.back() != '-') {
      stem += '-';
    }
  }
  while (stem.ends_with('-')) stem.pop_back();
  constexpr std::size_t kMaxLength = 80;
  return stem.empty() ? "plot" : stem.substr(0, kMaxLength);
}

}  // namespace

void Page::heading(int level, const std::string& text) {
  std::string id;
  if (level == 2) {
    sections_.push_back(text);
    id = fmt::format(" id=\"section{}\"", sections_.size());
  }
  html(fmt::format("<h{0}{1}>{2}</h{0}>\n", level, id, escaped(text)));
}

std::size_t Page::bytes() const {
  // Of a plot in both widths, about.
  constexpr std::size_t kPlotBytes = 32'000;
  std::size_t sum = 0;
  for (const auto& piece : pieces_) {
    if (const auto* figure = std::get_if<Figure>(&piece)) {
      sum += figure->table.size() + figure->panels.size() * kPlotBytes;
    } else {
      sum += std::get<std::string>(piece).size();
    }
  }
  return sum;
}

std::vector<Plot> Page::plots() const {
  std::vector<Plot> plots;
  for (const auto& piece : pieces_) {
    if (const auto* figure = std::get_if<Figure>(&piece)) {
      plots.insert(plots.end(), figure->panels.begin(), figure->panels.end());
    }
  }
  return plots;
}

std::string Page::text() const {
  const std::vector<std::string> wide = draw(plots(), SvgUse::in_page);
  const std::vector<std::string> narrow = draw(plots(), SvgUse::in_narrow_page);
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{}\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>\n"
      ":root{{{}}}\n@media (prefers-color-scheme: dark){{:root{{{}}}}}\n{}</style>\n</head>\n"
      "<body>\n{}<main>\n<h1>{}</h1>\n",
      kGenerator, escaped(title_), colors(&Color::light), colors(&Color::dark), kStyle,
      point_shapes(), escaped(title_));
  page += "<nav>";
  for (std::size_t n = 0; n < sections_.size(); ++n) {
    page += fmt::format("<a href=\"#section{}\">{}</a>\n", n + 1, escaped(sections_[n]));
  }
  page += "</nav>\n";
  std::size_t plot = 0;
  bool among_figures = false;
  for (const auto& piece : pieces_) {
    const auto* figure = std::get_if<Figure>(&piece);
    if (among_figures != (figure != nullptr)) {
      among_figures = figure != nullptr;
      page += among_figures ? "<div class=\"figures\">\n" : "</div>\n";
    }
    if (figure == nullptr) {
      page += std::get<std::string>(piece);
      continue;
    }
    page += figure->panels.size() > 1 ? "<figure class=\"wide\"><div class=\"panels\">"
                                      : "<figure><div class=\"panels\">";
    for (std::size_t n = 0; n < figure->panels.size(); ++n, ++plot) {
      page += wide[plot] + narrow[plot];
    }
    page += "</div>\n";
    if (!figure->note.empty()) {
      page += fmt::format("<figcaption>{}</figcaption>\n", escaped(figure->note));
    }
    page += figure->table + "</figure>\n";
  }
  return page + (among_figures ? "</div>\n" : "") + "</main>\n</body>\n</html>\n";
}

std::map<std::string, std::string> Page::svg_files() const {
  const std::vector<Plot> all = plots();
  const std::vector<std::string> svgs = draw(all, SvgUse::file);
  std::map<std::string, std::string> files;
  for (std::size_t n = 0; n < all.size(); ++n) {
    if (svgs[n].empty()) continue;
    const std::string stem = file_stem(all[n].title);
    std::string name = stem + ".svg";
    for (int copy = 2; files.contains(name); ++copy) name = fmt::format("{}-{}.svg", stem, copy);
    files[name] = svgs[n];
  }
  return files;
}

}  // namespace tessera::report
