// These tests read progress lines under a clock of their own.
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "postprocess/files/progress.hpp"

namespace tessera {
namespace {

class ProgressLines : public ::testing::Test {
 protected:
  double now = 0.0;
  std::ostringstream out;
  const ProgressClock clock = [this] { return now; };

  // 10 iterations a second, residual 10^(-iteration / 10).
  void iterate(Progress& progress, int first, int last) {
    for (int i = first; i <= last; ++i) {
      now = 0.1 * i;
      progress.update(i, std::pow(10.0, -0.1 * i));
    }
  }

  static int count(const std::string& text, const std::string& what) {
    int n = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
    return n;
  }
};

TEST_F(ProgressLines, PlainAtDoublingIntervals) {
  Progress progress(out, ProgressMode::plain, {"cg", 1e-300, 0, 0}, clock);
  iterate(progress, 0, 1000);  // 100 s: lines at 0, 2, 6, 14, 30, 60, 90
  const std::string text = out.str();
  EXPECT_EQ(count(text, "\n"), 7) << text;
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.back(), '\n');
  EXPECT_NE(text.find("cg: iteration 300,"), std::string::npos) << text;
}

TEST_F(ProgressLines, ForetellTheEndFromTheSlope) {
  Progress progress(out, ProgressMode::plain, {"cg", 1e-8, 0, 0}, clock);
  iterate(progress, 0, 20);  // 80 iterations in all: 6 s left at 2 s
  EXPECT_NE(
      out.str().find("cg: iteration 20, residual 1.00e-02 (target 1e-08), 10 it/s, ETA 6.00 s\n"),
      std::string::npos)
      << out.str();
}

TEST_F(ProgressLines, SayWhenTheLimitComesFirst) {
  Progress progress(out, ProgressMode::plain, {"cg", 1e-8, 50, 0}, clock);
  iterate(progress, 0, 20);
  EXPECT_NE(out.str().find("iteration 20 of at most 50"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("limit in 3.00 s"), std::string::npos) << out.str();
  EXPECT_EQ(out.str().find("ETA"), std::string::npos) << out.str();
}

TEST_F(ProgressLines, ForetellNothingFromGrowthNanOrNoTarget) {
  Progress growing(out, ProgressMode::plain, {"cg", 1e-8, 0, 0}, clock);
  Progress broken(out, ProgressMode::plain, {"cg", 1e-8, 0, 0}, clock);
  Progress aimless(out, ProgressMode::plain, {"cg", 0.0, 0, 0}, clock);
  for (int i = 0; i <= 100; ++i) {
    now = 0.1 * i;
    growing.update(i, 1.0 + i);
    broken.update(i, std::nan(""));
    aimless.update(i, std::pow(0.5, i));
  }
  EXPECT_EQ(out.str().find("ETA"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("residual nan"), std::string::npos) << out.str();
}

TEST_F(ProgressLines, LiveAtMostTenTimesASecondAndClearedAtTheEnd) {
  {
    Progress progress(out, ProgressMode::live, {"cg", 1e-8, 0, 80}, clock);
    for (int i = 0; i < 10000; ++i) {
      now = 1e-4 * i;  // 1 s
      progress.update(i, std::exp(-1e-3 * i));
    }
  }
  const std::string text = out.str();
  EXPECT_LE(count(text, "iteration"), 11);
  EXPECT_GE(count(text, "iteration"), 9);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  const std::string clear = "\r\x1b[K";
  EXPECT_EQ(text.substr(0, clear.size()), clear);
  EXPECT_EQ(text.substr(text.size() - clear.size()), clear);
}

TEST_F(ProgressLines, LiveFitsTheTerminal) {
  Progress progress(out, ProgressMode::live, {"cg", 1e-8, 1000, 30}, clock);
  iterate(progress, 0, 20);
  std::istringstream lines(out.str());
  for (std::string line; std::getline(lines, line, '\r');) {
    EXPECT_LE(line.size(), std::string("\x1b[K").size() + 29) << line;
  }
}

TEST_F(ProgressLines, FinishIsFinal) {
  Progress progress(out, ProgressMode::live, {"cg", 1e-8, 0, 80}, clock);
  progress.update(0, 1.0);
  progress.finish();
  const std::string text = out.str();
  now = 10.0;
  progress.update(1, 0.5);
  progress.finish();
  EXPECT_EQ(out.str(), text);
}

TEST_F(ProgressLines, SilentWritesNothing) {
  {
    Progress progress(out, ProgressMode::silent, {"cg", 1e-8, 0, 0}, clock);
    iterate(progress, 0, 1000);
  }
  EXPECT_EQ(out.str(), "");
}

TEST(ProgressMode, IsPlainForFiles) {
  std::FILE* file = std::tmpfile();
  EXPECT_EQ(progress_mode(file), ProgressMode::plain);
  std::fclose(file);
}

}  // namespace
}  // namespace tessera
