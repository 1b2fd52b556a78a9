// The places of everything in a plot, in gnuplot's words.
#include "postprocess/report/plots/gnuplot_script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "postprocess/report/plots/axis_marks.hpp"
#include "postprocess/report/plots/label_spread.hpp"
#include "postprocess/report/plots/palette.hpp"

namespace tessera::report {
namespace {

constexpr double kWideWidth = 440.0;
constexpr double kNarrowWidth = 340.0;
constexpr double kFont = 12.0;
constexpr double kTitleFont = 14.0;
constexpr double kLine = 15.0;
constexpr double kTitleLine = 18.0;
constexpr double kWideBarStep = 22.0;
constexpr double kNarrowBarStep = 38.0;
constexpr double kPlotHeight = 250.0;
constexpr double kBottom = 46.0;
constexpr std::size_t kWideTitleCharacters = 52;
constexpr std::size_t kNarrowTitleCharacters = 38;
constexpr std::size_t kWideLabelCharacters = 27;
constexpr std::size_t kNarrowLabelCharacters = 42;
constexpr std::array<std::string_view, 4> kDashes = {"solid", "(7,4)", "(2,3)", "(8,3,2,3)"};
// Filled circle, square, triangle, diamond.
constexpr std::array<int, 4> kPointTypes = {7, 5, 9, 13};

std::size_t character_count(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

double text_width(const std::string& text) {
  return 0.6 * kFont * static_cast<double>(character_count(text));
}

// A string of gnuplot's in which nothing has a meaning.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') result += '\'';
    result += c == '\n' || c == '\t' ? ' ' : c;
  }
  return result + "'";
}

std::string color_of(int index) {
  return std::string(kPalette[static_cast<std::size_t>(index) % kPalette.size()].light);
}

template <class T, std::size_t N>
T cyclic(const std::array<T, N>& values, int index) {
  return values[static_cast<std::size_t>(index) % N];
}

class Script {
 public:
  Script(const Plot& plot, int number, PlotShape shape)
      : plot_(plot),
        number_(number),
        is_narrow_(shape == PlotShape::narrow),
        width_(is_narrow_ ? kNarrowWidth : kWideWidth),
        title_(wrapped(plot.title, is_narrow_ ? kNarrowTitleCharacters : kWideTitleCharacters)) {}

  std::string text() {
    const auto x = x_range(plot_);
    const auto y = y_range(plot_);
    if (!x || (!y && plot_.bars.empty())) return "";
    x_ = axis_marks(plot_.x.scale, *x);
    top_ = 8.0 + kTitleLine * static_cast<double>(title_.size());
    if (plot_.bars.empty()) {
      y_ = axis_marks(plot_.y.scale, *y);
      lines();
    } else {
      bars();
    }
    return script_;
  }

 private:
  template <class... Arguments>
  void say(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(script_), format, std::forward<Arguments>(arguments)...);
    script_ += '\n';
  }

  // Pixels from the left and the top as gnuplot has them.
  std::string at(double x, double y) const {
    return fmt::format("screen {:.5f}, screen {:.5f}", x / width_, 1.0 - y / height_);
  }

  void begin() {
    say("reset");
    say("set terminal svg size {:.0f},{:.0f} dynamic noenhanced linewidth 1.2 font "
        "'sans-serif,{:.0f}'",
        width_, height_, kFont);
    say("set output");
    say("set encoding utf8\nset border 3 lw 0.8\nset tics nomirror out scale 0.4\nset xtics offset "
        "0,0.3");
    // Texts beside bars would stand on lines of a grid.
    if (plot_.bars.empty()) say("set grid xtics ytics lc rgb '{}' lw 0.6 lt 1", kGrid.light);
    say("set lmargin at screen {:.5f}\nset rmargin at screen {:.5f}", left_ / width_,
        right_ / width_);
    say("set tmargin at screen {:.5f}\nset bmargin at screen {:.5f}", 1.0 - top_ / height_,
        bottom_ / height_);
    double baseline = 0.5 * kTitleLine;
    for (const std::string& line : title_) {
      say("set label {} at {} left font 'sans-serif,{:.0f}'", quoted(line), at(4.0, baseline),
          kTitleFont);
      baseline += kTitleLine;
    }
    say("set label {} at {} center", quoted(plot_.x.label),
        at(0.5 * (left_ + right_), height_ - bottom_ + kBottom - 9.0));
    say_axis("x", plot_.x.scale, x_);
  }

  void say_axis(std::string_view axis, Scale scale, const AxisMarks& marks) {
    if (scale == Scale::logarithmic) say("set logscale {}", axis);
    // Beyond the outer marks, which gnuplot else takes to be outside by rounding.
    const double beyond = scale == Scale::logarithmic ? 1e-6 : 0.0;
    say("set {}range [{:.17g}:{:.17g}]", axis, marks.low * (1.0 - beyond),
        marks.high * (1.0 + beyond));
    std::vector<std::string> texts;
    for (const Mark& mark : marks.marks) {
      texts.push_back(fmt::format("{} {:.17g}", quoted(mark.text), mark.value));
    }
    say("set {}tics ({})", axis, fmt::join(texts, ", "));
  }

  // Where a value of y is, in pixels from the top.
  double place(double y) const {
    const double share = plot_.y.scale == Scale::logarithmic
                             ? std::log(y / y_.low) / std::log(y_.high / y_.low)
                             : (y - y_.low) / (y_.high - y_.low);
    return height_ - bottom_ - share * (height_ - bottom_ - top_);
  }

  bool is_shown(const PlotPoint& point) const {
    return (plot_.x.scale != Scale::logarithmic || point.x > 0.0) &&
           (plot_.y.scale != Scale::logarithmic || point.y > 0.0);
  }

  void lines() {
    double marks_width = 0.0;
    for (const Mark& mark : y_.marks) {
      marks_width = std::max(marks_width, text_width(mark.text));
    }
    std::vector<const Series*> shown;
    double names_width = 0.0;
    for (const Series& series : plot_.series) {
      if (std::none_of(series.points.begin(), series.points.end(),
                       [&](const PlotPoint& point) { return is_shown(point); })) {
        continue;
      }
      shown.push_back(&series);
      names_width = std::max(names_width, text_width(shortened(series.name)));
    }
    const double names_height = kLine * static_cast<double>(shown.size() + 1);
    const bool has_names = names_width > 0.0;
    top_ += 22.0;  // for the label of y
    left_ = 14.0 + marks_width;
    right_ = width_ - (has_names && !is_narrow_ ? names_width + 26.0 : 16.0);
    if (is_narrow_ && has_names) bottom_ += names_height;
    height_ = top_ + bottom_ + (is_narrow_ ? kPlotHeight : std::max(kPlotHeight, names_height));
    begin();
    say_axis("y", plot_.y.scale, y_);
    say("set label {} at {} left", quoted(plot_.y.label), at(4.0, top_ - 14.0));
    if (has_names && is_narrow_) {
      names_below(shown);
    } else if (has_names) {
      names(shown);
    }
    std::vector<std::string> parts;
    for (std::size_t n = 0; n < shown.size(); ++n) {
      const Series& series = *shown[n];
      say("$d{}_{} << EOD", number_, n);
      for (const PlotPoint& point : series.points) {
        if (is_shown(point)) say("{:.9g} {:.9g}", point.x, point.y);
      }
      say("EOD");
      const bool is_marked = series.marks == Marks::points;
      parts.push_back(fmt::format(
          "$d{}_{} using 1:2 with {} lc rgb '{}' dt {} lw 1.5{} notitle", number_, n,
          is_marked ? "linespoints" : "lines", color_of(series.color), cyclic(kDashes, series.dash),
          is_marked ? fmt::format(" pt {} ps 0.5", cyclic(kPointTypes, series.dash)) : ""));
    }
    say("plot {}", fmt::join(parts, ", \\\n  "));
  }

  // Each beside the end of its line, or at a thin line from there.
  void names(const std::vector<const Series*>& shown) {
    std::vector<PlotPoint> ends;
    std::vector<double> wanted;
    for (const Series* series : shown) {
      PlotPoint last = {};
      for (const PlotPoint& point : series->points) {
        if (is_shown(point)) last = point;
      }
      ends.push_back(last);
      wanted.push_back(place(last.y));
    }
    const std::vector<double> places = spread_labels(wanted, kLine, top_, height_ - bottom_);
    for (std::size_t n = 0; n < shown.size(); ++n) {
      const std::string color = color_of(shown[n]->color);
      say("set arrow from {:.9g}, {:.9g} to {} nohead lc rgb '{}' lw 0.6 dt (2,2)", ends[n].x,
          ends[n].y, at(right_ + 12.0, places[n]), color);
      name(*shown[n], right_ + 12.0, places[n]);
    }
  }

  void name(const Series& series, double x, double y) {
    say("set label {} at {} left offset character 0.3, -0.3 point pt {} ps 0.5 lc rgb '{}'",
        quoted(shortened(series.name)), at(x, y), cyclic(kPointTypes, series.dash),
        color_of(series.color));
  }

  // Each at its mark, one below the other.
  void names_below(const std::vector<const Series*>& shown) {
    double y = height_ - bottom_ + kBottom + kLine;
    for (const Series* series : shown) {
      name(*series, 14.0, y);
      y += kLine;
    }
  }

  std::string shortened(const std::string& text) const {
    const std::vector<std::string> lines =
        wrapped(text, is_narrow_ ? kNarrowLabelCharacters : kWideLabelCharacters);
    return lines.size() == 1 ? text : lines.front() + "…";
  }

  void bars() {
    double names_width = 0.0;
    double texts_width = 0.0;
    for (const Bar& bar : plot_.bars) {
      names_width = std::max(names_width, text_width(shortened(bar.name)));
      texts_width = std::max(texts_width, text_width(bar.text));
    }
    // A name stands beside its bar, or above it.
    left_ = is_narrow_ ? 10.0 : names_width + 14.0;
    right_ = width_ - texts_width - 10.0;
    const double rows = static_cast<double>(plot_.bars.size());
    height_ = top_ + bottom_ + (is_narrow_ ? kNarrowBarStep : kWideBarStep) * rows;
    begin();
    say("set yrange [{}:0]\nset ytics scale 0", plot_.bars.size());
    std::vector<std::string> texts;
    const double upper = is_narrow_ ? 0.48 : 0.15;
    const double lower = is_narrow_ ? 0.9 : 0.85;
    double row = 0.0;
    for (const Bar& bar : plot_.bars) {
      if (is_narrow_) {
        say("set label {} at graph 0, first {:.2f} left offset character 0.4, 0",
            quoted(shortened(bar.name)), row + 0.25);
      } else {
        texts.push_back(fmt::format("{} {}", quoted(shortened(bar.name)), row + 0.5));
      }
      say("set object rectangle from {:.9g}, {:.2f} to {:.9g}, {:.2f} fc rgb '{}' fs solid "
          "noborder",
          std::max(x_.low, 0.0), row + upper, bar.value, row + lower, color_of(bar.color));
      say("set label {} at first {:.9g}, first {:.2f} left offset character 0.4, 0",
          quoted(bar.text), bar.value, row + 0.5 * (upper + lower));
      row += 1.0;
    }
    // An empty list would be that of gnuplot's own choice.
    say("{}\nplot NaN notitle",
        is_narrow_ ? "unset ytics" : fmt::format("set ytics ({})", fmt::join(texts, ", ")));
  }

  const Plot& plot_;
  int number_;
  bool is_narrow_;
  double width_;
  std::vector<std::string> title_;
  AxisMarks x_;
  AxisMarks y_;
  double left_ = 0.0;
  double right_ = 0.0;
  double top_ = 0.0;
  double bottom_ = kBottom;
  double height_ = 0.0;
  std::string script_;
};

}  // namespace

std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> lines;
  std::string line;
  std::size_t line_characters = 0;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    std::string word = text.substr(begin, end - begin);
    begin = end + 1;
    std::size_t characters = character_count(word);
    if (line_characters > 0 && line_characters + 1 + characters > width) {
      lines.push_back(line);
      line.clear();
      line_characters = 0;
    }
    while (characters > width) {
      std::size_t bytes = 0;
      for (std::size_t n = 0; n < width; ++n) {
        do ++bytes;
        while (bytes < word.size() && (static_cast<unsigned char>(word[bytes]) & 0xC0U) == 0x80U);
      }
      lines.push_back(word.substr(0, bytes));
      word.erase(0, bytes);
      characters -= width;
    }
    line += (line_characters > 0 ? " " : "") + word;
    line_characters += characters + (line_characters > 0 ? 1 : 0);
  }
  if (!line.empty() || lines.empty()) lines.push_back(line);
  return lines;
}

std::string gnuplot_script(const Plot& plot, int number, PlotShape shape) {
  return Script(plot, number, shape).text();
}

}  // namespace tessera::report
