// Tests of postprocess/report/plots: places of labels, marks of axes, and pictures by gnuplot.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "postprocess/report/plots/axis_marks.hpp"
#include "postprocess/report/plots/gnuplot.hpp"
#include "postprocess/report/plots/gnuplot_script.hpp"
#include "postprocess/report/plots/label_spread.hpp"
#include "postprocess/report/plots/series_styles.hpp"

namespace tessera::report {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(LabelSpread, LabelsThatAreFarApartStayWhereTheyWantToBe) {
  EXPECT_THAT(spread_labels({80.0, 10.0, 40.0}, 15.0, 0.0, 100.0), ElementsAre(80.0, 10.0, 40.0));
  EXPECT_TRUE(spread_labels({}, 15.0, 0.0, 100.0).empty());
}

TEST(LabelSpread, LabelsAtOnePlaceAreCenteredThere) {
  EXPECT_THAT(spread_labels({50.0, 50.0, 50.0}, 10.0, 0.0, 100.0), ElementsAre(40.0, 50.0, 60.0));
}

TEST(LabelSpread, LabelsKeepTheirOrderTheGapAndTheEnds) {
  for (const std::vector<double>& wanted :
       {std::vector<double>{99.0, 98.0, 97.0, 1.0, 2.0, 50.0, 51.0},
        {0.0, 0.0, 0.0, 100.0},
        {100.0, 100.0, 99.0, 98.0, 60.0, 71.0},
        {30.0, 44.0, 44.0, 59.0, 60.0}}) {
    const std::vector<double> places = spread_labels(wanted, 14.0, 0.0, 100.0);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_GE(places[i], -1e-9);
      EXPECT_LE(places[i], 100.0 + 1e-9);
      for (std::size_t j = 0; j < wanted.size(); ++j) {
        if (wanted[i] < wanted[j]) {
          EXPECT_GE(places[j] - places[i], 14.0 - 1e-9) << i << " " << j;
        }
      }
    }
  }
}

TEST(LabelSpread, TooManyLabelsOverlapEvenly) {
  EXPECT_THAT(spread_labels({5.0, 5.0, 5.0}, 20.0, 0.0, 10.0), ElementsAre(0.0, 5.0, 10.0));
}

std::vector<std::string> texts(const AxisMarks& axis) {
  std::vector<std::string> texts;
  for (const Mark& mark : axis.marks) texts.push_back(mark.text);
  return texts;
}

TEST(AxisMarks, OfALogarithmicAxisAreOneTwoFiveOrPowersOfTen) {
  EXPECT_THAT(texts(axis_marks(Scale::logarithmic, {9.5, 103.0})),
              ElementsAre("10", "20", "50", "100"));
  EXPECT_THAT(texts(axis_marks(Scale::logarithmic, {2.1, 4.0})), ElementsAre("2", "5"));
  EXPECT_THAT(texts(axis_marks(Scale::logarithmic, {1e-6, 1.0})),
              ElementsAre("10⁻⁶", "10⁻⁵", "10⁻⁴", "0.001", "0.01", "0.1", "1"));
  EXPECT_THAT(texts(axis_marks(Scale::logarithmic, {2e6, 4e6})), ElementsAre("2·10⁶", "5·10⁶"));
}

TEST(AxisMarks, AreFewAndCoverTheValues) {
  for (const double low : {1e-300, 1e-14, 3.3e-3, 1.0, 7.0, 5e12}) {
    for (const double factor : {1.0, 1.01, 3.0, 40.0, 1e5, 1e16}) {
      for (const Scale scale : {Scale::logarithmic, Scale::linear}) {
        const AxisMarks axis = axis_marks(scale, {low, low * factor});
        EXPECT_LE(axis.low, low * (1.0 + 1e-6));
        EXPECT_GE(axis.high, low * factor * (1.0 - 1e-6));
        EXPECT_LT(axis.low, axis.high);
        EXPECT_GE(axis.marks.size(), 2U) << low << " " << factor;
        EXPECT_LE(axis.marks.size(), 10U) << low << " " << factor;
      }
    }
  }
}

TEST(AxisMarks, OfCountsAreWholeNumbers) {
  EXPECT_THAT(texts(axis_marks(Scale::counts, {1.0, 4.0})), ElementsAre("1", "2", "3", "4"));
}

TEST(Wrapped, BreaksBetweenWordsAndInsideThoseThatAreTooLong) {
  EXPECT_THAT(wrapped("one two three", 8), ElementsAre("one two", "three"));
  EXPECT_THAT(wrapped("äöüäöü", 4), ElementsAre("äöüä", "öü"));
  EXPECT_THAT(wrapped("", 4), ElementsAre(""));
}

TEST(SeriesStyles, AFamilyHasOneColorAndItsMembersDashes) {
  SeriesStyles styles;
  const Series atomic = styles.series("tensor/atomic");
  const Series coloring = styles.series("tensor/coloring");
  const Series csr = styles.series("csr");
  EXPECT_EQ(atomic.color, coloring.color);
  EXPECT_NE(atomic.dash, coloring.dash);
  EXPECT_NE(atomic.color, csr.color);
  EXPECT_EQ(styles.series("tensor/atomic").dash, atomic.dash);
}

Plot plot_of(const std::string& title, const std::string& name) {
  return {title,
          {"x", Scale::linear, {}},
          {"y", Scale::logarithmic, {}},
          {{name, {{0.0, 1.0}, {1.0, 10.0}, {2.0, -5.0}}, 1, 1, Marks::points}},
          {}};
}

TEST(Gnuplot, DrawsEachPlotInThePagesColors) {
  const auto svgs =
      draw({plot_of("First", "one"), Plot{}, plot_of("Third", "three")}, SvgUse::in_page);
  ASSERT_EQ(svgs.size(), 3U);
  EXPECT_THAT(svgs[0], AllOf(HasSubstr("First"), HasSubstr(">one<"), HasSubstr("var(--c1)"),
                             HasSubstr("var(--grid)"), Not(HasSubstr("rgb(")),
                             Not(HasSubstr("id=")), Not(HasSubstr("width='"))));
  EXPECT_EQ(svgs[1], "") << "nothing to show";
  EXPECT_THAT(svgs[2], HasSubstr(">three<"));
}

TEST(Gnuplot, TakesNothingInATextForACommand) {
  const std::string nasty = "a'b\"`touch /tmp/x`\n$(id) \\ %s {^2} <b>&amp; @x";
  const auto svgs = draw({plot_of(nasty, nasty)}, SvgUse::file);
  EXPECT_THAT(svgs[0], HasSubstr("`touch /tmp/x`"));
  EXPECT_THAT(svgs[0], AllOf(HasSubstr("&lt;b&gt;&amp;amp;"), Not(HasSubstr("<b>"))));
}

TEST(Gnuplot, MakesTheSamePictureOfTheSamePlot) {
  const std::vector<Plot> plots = {plot_of("Same", "same")};
  EXPECT_EQ(draw(plots, SvgUse::file), draw(plots, SvgUse::file));
}

TEST(Gnuplot, NamesStandBesideBarsAndLines) {
  Plot bars{"Bars",
            {"s", Scale::linear, {}},
            {},
            {},
            {{"solve", 2.0, "2 s", 0}, {"none", 0.0, "0 s", 0}}};
  EXPECT_THAT(draw({bars}, SvgUse::file)[0],
              AllOf(HasSubstr(">solve<"), HasSubstr(">2 s<"), HasSubstr(">none<")));
}

// Of the first text of an SVG picture that is this one, in its units, from the left or the top.
double place_of(const std::string& svg, const std::string& text, int axis) {
  const std::size_t at = svg.find(">" + text + "<");
  EXPECT_NE(at, std::string::npos) << text;
  const std::size_t place = svg.rfind("translate(", at) + 10;
  const std::size_t comma = svg.find(',', place);
  return std::stod(svg.substr(axis == 0 ? place : comma + 1));
}

TEST(Gnuplot, NamesStandBelowOrAboveOnNarrowScreens) {
  const Plot lines = plot_of("Lines", "a name that is too long to stand beside");
  const Plot bars{"Bars", {"s", Scale::linear, {}}, {}, {}, {{"solve", 2.0, "2 s", 0}}};
  const auto svgs = draw({lines, bars}, SvgUse::in_narrow_page);
  EXPECT_THAT(svgs[0], AllOf(HasSubstr("class=\"narrow\""), HasSubstr("viewBox=\"0 0 340 ")));
  const std::string& name = lines.series[0].name;
  EXPECT_GT(place_of(svgs[0], name, 1), place_of(svgs[0], "x", 1));
  EXPECT_LT(place_of(svgs[0], name, 0), 40.0);
  EXPECT_LT(place_of(svgs[1], "solve", 1), place_of(svgs[1], "2 s", 1) - 10.0);
  EXPECT_LT(place_of(svgs[1], "solve", 0), 40.0);
  EXPECT_THAT(draw({lines}, SvgUse::in_page)[0],
              AllOf(HasSubstr("class=\"wide\""), HasSubstr("viewBox=\"0 0 440 ")));
}

TEST(Gnuplot, IsSaidToBeMissingInOneLine) {
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/nowhere", 1);
  EXPECT_THROW(require_gnuplot(), PlotError);
  setenv("PATH", path.c_str(), 1);
  EXPECT_NO_THROW(require_gnuplot());
}

}  // namespace
}  // namespace tessera::report
