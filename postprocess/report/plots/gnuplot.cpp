// This file runs gnuplot and makes its SVG fit for pages.
#include "postprocess/report/plots/gnuplot.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "postprocess/report/html.hpp"
#include "postprocess/report/plots/gnuplot_script.hpp"
#include "postprocess/report/plots/palette.hpp"

namespace tessera::report {
namespace {

constexpr char kShapes[] =
    "<circle id=\"gpPt6\" r=\"1\" fill=\"currentColor\" stroke=\"none\"/>"
    "<path id=\"gpPt4\" d=\"M-1,-1h2v2h-2z\" fill=\"currentColor\" stroke=\"none\"/>"
    "<path id=\"gpPt8\" d=\"M0,-1.33L-1.33,0.67h2.66z\" fill=\"currentColor\" stroke=\"none\"/>"
    "<path id=\"gpPt12\" d=\"M0,-1.4L1.4,0L0,1.4L-1.4,0z\" fill=\"currentColor\" stroke=\"none\"/>";

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

File temporary_file() {
  File file(std::tmpfile(), &std::fclose);
  if (!file)
    throw PlotError(fmt::format("no temporary file for gnuplot: {}", std::strerror(errno)));
  return file;
}

std::string content(std::FILE* file) {
  std::string text;
  std::rewind(file);
  std::array<char, 1 << 16> buffer;
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), file)) {
    text.append(buffer.data(), n);
  }
  return text;
}

// What it printed. Without the user's gnuplotrc and locale, so that the same plots are always the
// same text.
std::string run_gnuplot(const std::string& script) {
  const File input = temporary_file();
  const File output = temporary_file();
  const File errors = temporary_file();
  if (std::fwrite(script.data(), 1, script.size(), input.get()) != script.size() ||
      std::fflush(input.get()) != 0) {
    throw PlotError(fmt::format("cannot write gnuplot's commands: {}", std::strerror(errno)));
  }
  std::rewind(input.get());
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fileno(input.get()), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(output.get()), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(errors.get()), STDERR_FILENO);
  std::string name = "gnuplot";
  std::string no_defaults = "-d";
  std::array<char*, 3> arguments = {name.data(), no_defaults.data(), nullptr};
  const char* path = std::getenv("PATH");
  std::string path_variable = fmt::format("PATH={}", path != nullptr ? path : "/usr/bin:/bin");
  std::string locale = "LC_ALL=C";
  std::array<char*, 3> environment = {path_variable.data(), locale.data(), nullptr};
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, name.c_str(), &actions, nullptr, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    throw PlotError(fmt::format(
        "plots need gnuplot, which cannot be started ({}); sudo apt-get install gnuplot-nox",
        std::strerror(error)));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    std::string said = content(errors.get());
    for (char& c : said) c = c == '\n' ? ' ' : c;
    throw PlotError("gnuplot failed: " + said);
  }
  return content(output.get());
}

void replace_all(std::string& text, std::string_view old, std::string_view replacement) {
  for (std::size_t at = 0; (at = text.find(old, at)) != std::string::npos;
       at += replacement.size()) {
    text.replace(at, old.size(), replacement);
  }
}

// Removes from each `begin` to the next `end`.
void remove_all(std::string& text, std::string_view begin, std::string_view end) {
  for (std::size_t at = 0; (at = text.find(begin, at)) != std::string::npos;) {
    const std::size_t stop = text.find(end, at);
    if (stop == std::string::npos) return;
    text.erase(at, stop + end.size() - at);
  }
}

void remove_empty_groups(std::string& text) {
  constexpr std::string_view kEmptyEnd = ">\n</g>\n";
  for (std::size_t at = 0; (at = text.find(kEmptyEnd, at)) != std::string::npos;) {
    const std::size_t begin = text.rfind('<', at);
    if (text.compare(begin, 3, "<g ") == 0) {
      text.erase(begin, at + kEmptyEnd.size() - begin);
      at = begin;
    } else {
      at += kEmptyEnd.size();
    }
  }
}

// A color as gnuplot writes it: of text, and of lines.
void replace_color(std::string& svg, Color color, std::string_view replacement) {
  const auto part = [&](std::size_t i) {
    return std::stoi(std::string(color.light.substr(1 + 2 * i, 2)), nullptr, 16);
  };
  replace_all(svg, fmt::format("rgb({},{},{})", part(0), part(1), part(2)), replacement);
  replace_all(svg, fmt::format("rgb({:3}, {:3}, {:3})", part(0), part(1), part(2)), replacement);
}

std::string finished(std::string svg, const Plot& plot, SvgUse use) {
  const std::size_t box = svg.find("viewBox=\"");
  const std::size_t canvas = svg.find("</defs>");
  const std::size_t end = svg.rfind("</g>");
  if (box == std::string::npos || canvas == std::string::npos || end < canvas) {
    throw PlotError("gnuplot's SVG is not as expected");
  }
  const std::string view = svg.substr(box, svg.find('"', box + 9) + 1 - box);
  svg = svg.substr(canvas + 7, end - canvas - 7);
  remove_all(svg, " id=\"gnuplot_plot", ">");
  replace_all(svg, "<g<title>", "<g><title>");
  remove_all(svg, "<title>", "</title>");
  replace_all(svg, "xlink:href", "href");
  const bool is_file = use == SvgUse::file;
  for (std::size_t i = 0; i < kPalette.size(); ++i) {
    replace_color(svg, kPalette[i],
                  is_file ? std::string(kPalette[i].light) : fmt::format("var(--c{})", i));
  }
  replace_color(svg, kGrid, is_file ? kGrid.light : "var(--grid)");
  replace_all(svg, " color=\"black\"", "");
  replace_all(svg, " color=\"white\"", "");
  for (const std::string_view black : {"'black'", "\"black\"", "'rgb(0,0,0)'", "\"rgb(0,0,0)\"",
                                       "'rgb(  0,   0,   0)'", "\"rgb(  0,   0,   0)\""}) {
    replace_all(svg, black, "\"currentColor\"");
  }
  replace_all(svg, " stroke-linecap=\"butt\" stroke-linejoin=\"miter\"", "");
  // Of titles.
  replace_all(svg, "font-size=\"14.00\"", "font-size=\"14.00\" font-weight=\"600\"");
  replace_all(svg, "\t", "");
  replace_all(svg, "<text> ", "<text>");
  replace_all(svg, " font-family=\"sans-serif\"", "");
  replace_all(svg, " class=\"gridline\"", "");
  replace_all(svg, "  '/>", "'/>");
  remove_empty_groups(svg);
  const std::string name = escaped(plot.title);
  return is_file ? fmt::format(
                       "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
                       "<svg xmlns=\"http://www.w3.org/2000/svg\" {} color=\"#1a1a1a\" "
                       "font-family=\"sans-serif\">"
                       "<title>{}</title><defs>{}</defs>"
                       "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>{}</svg>\n",
                       view, name, kShapes, svg)
                 : fmt::format("<svg class=\"{}\" {} role=\"img\" aria-label=\"{}\">{}</svg>",
                               use == SvgUse::in_page ? "wide" : "narrow", view, name, svg);
}

}  // namespace

std::vector<std::string> draw(const std::vector<Plot>& plots, SvgUse use) {
  std::string script;
  std::vector<std::string> svgs(plots.size());
  std::vector<std::size_t> drawn;
  for (std::size_t n = 0; n < plots.size(); ++n) {
    const std::string commands =
        gnuplot_script(plots[n], static_cast<int>(n),
                       use == SvgUse::in_narrow_page ? PlotShape::narrow : PlotShape::wide);
    if (commands.empty()) continue;
    script += commands;
    drawn.push_back(n);
  }
  if (drawn.empty()) return svgs;
  const std::string output = run_gnuplot(script);
  std::size_t at = 0;
  for (const std::size_t n : drawn) {
    const std::size_t begin = output.find("<svg", at);
    const std::size_t end = output.find("</svg>", at);
    if (begin == std::string::npos || end == std::string::npos) {
      throw PlotError("gnuplot drew fewer plots than it was asked for");
    }
    svgs[n] = finished(output.substr(begin, end - begin), plots[n], use);
    at = end + 6;
  }
  return svgs;
}

void require_gnuplot() { run_gnuplot("exit\n"); }

std::string point_shapes() {
  return fmt::format(
      "<svg width=\"0\" height=\"0\" class=\"shapes\" aria-hidden=\"true\"><defs>{}</defs></svg>\n",
      kShapes);
}

}  // namespace tessera::report
