// These tests stop runs in time and go on with them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/src/program.hpp"

namespace tessera::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// Data, values on faces and reaction depend on t.
constexpr char kCase[] =
    "[mesh]\ndimension = 2\ncells = [3, 4]\n[space]\ndegree = 3\n"
    "[problem]\ncoefficient = \"1 + x\"\ncapacity = \"1 + y\"\nsource = \"sin(5*t)*x\"\n"
    "[boundary]\nleft = { type = \"dirichlet\", value = \"sin(3*t)*y^2\" }\n"
    "right = { type = \"neumann\", value = \"cos(t)\" }\n"
    "[time]\nend = 0.4\nstep = 0.03\ninitial = \"x*y\"\noutput_interval = 0.1\n"
    "checkpoint_interval = 0.15\n"
    "[run]\ndevice = \"cpu\"\nthreads = 1\n"
    "[output]\npicture = false\nprobes = [[0.3, 0.4], [0.9, 0.1]]\n";

class Restarts : public ::testing::Test {
 protected:
  ProgramResult run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "run");
    return run_program(path(), arguments);
  }
  void write_case(const std::string& text = kCase) const { write_file(path() / "case.toml", text); }
  std::filesystem::path path() const { return directory_.path(); }
  std::string text(const std::string& name) const { return read_file(path() / name); }
  void expect_same(const std::string& name) const {
    EXPECT_TRUE(text("whole/" + name) == text("parts/" + name)) << name;
  }
  void expect_same_results() const {
    EXPECT_EQ(names_in(path() / "whole"), names_in(path() / "parts"));
    for (const char* name : {"solution_0002.vtu", "solution_0005.vtu", "solution.pvd", "probes.csv",
                             "steps.csv", "view.py"}) {
      expect_same(name);
    }
    const auto whole = read_json(path() / "whole/result.json");
    const auto parts = read_json(path() / "parts/result.json");
    EXPECT_EQ(whole["time"], parts["time"]);
    EXPECT_EQ(whole["solution"], parts["solution"]);
  }

 private:
  TemporaryDirectory directory_;
};

TEST_F(Restarts, GoOnToTheSameBits) {
  for (const char* method : {"sdirk", "backward-euler", "explicit-rk"}) {
    write_case();
    const std::string setting = std::string("time.method=") + method;
    const std::string step =
        method == std::string("explicit-rk") ? "time.step=0.0003" : "time.step=0.03";
    const std::vector<std::string> arguments = {"case.toml", "--overwrite", "--set",   setting,
                                                "--set",     step,          "--output"};
    auto whole = arguments;
    whole.emplace_back("whole");
    ASSERT_EQ(run(whole).exit_code, 0);
    auto part = arguments;
    part.insert(part.end(), {"parts", "--set", "time.end=0.2"});
    ASSERT_EQ(run(part).exit_code, 0);
    const ProgramResult ran = run({"--restart", "parts", "--set", "time.end=0.4"});
    EXPECT_EQ(ran.exit_code, 0) << ran.errors;
    EXPECT_THAT(ran.output, HasSubstr("goes on from t = 0.2 of parts/checkpoint.h5"));
    expect_same_results();
  }
}

TEST_F(Restarts, KeepPicturesOfBefore) {
  write_case();
  ASSERT_EQ(run({"case.toml", "--output", "parts", "--set", "output.picture=true", "--set",
                 "output.vtk=false", "--set", "time.end=0.2"})
                .exit_code,
            0);
  const std::string first = text("parts/solution_0001.png");
  const std::string animation = text("parts/animation.png");
  // As of an output after the checkpoint.
  write_file(path() / "parts/solution_0004.png", "old");
  write_file(path() / "parts/solution_0009.png", "old");
  const ProgramResult ran = run({"--restart", "parts", "--set", "time.end=0.4"});
  ASSERT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_TRUE(text("parts/solution_0001.png") == first);
  EXPECT_FALSE(text("parts/animation.png") == animation);
  EXPECT_GT(text("parts/solution_0004.png").size(), 3U);
  EXPECT_THAT(names_in(path() / "parts"), Contains("solution_0005.png"));
  EXPECT_THAT(names_in(path() / "parts"), Not(Contains("solution_0009.png")));
}

TEST_F(Restarts, TakeThePreviousOneForADamagedOne) {
  write_case();
  ASSERT_EQ(run({"case.toml", "--output", "whole"}).exit_code, 0);
  ASSERT_EQ(run({"case.toml", "--output", "parts"}).exit_code, 0);
  // The last one is of the end.
  write_file(path() / "parts/checkpoint.h5", "damaged");
  const ProgramResult ran = run({"--restart", "parts", "--quiet"});
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_EQ(ran.errors,
            "tessera: cannot read parts/checkpoint.h5: it is damaged or not complete; the "
            "checkpoint before it is taken\n");
  expect_same_results();
  const auto notes = read_json(path() / "parts/result.json")["notes"];
  EXPECT_THAT(notes, Contains(std::string("cannot read parts/checkpoint.h5: it is damaged or not "
                                          "complete; the checkpoint before it is taken")));
  EXPECT_THAT(run({"--restart", "parts"}).output, HasSubstr("nothing to do"));
}

TEST_F(Restarts, SayOfBothCheckpointsWhyTheyCannotBeRead) {
  write_case();
  ASSERT_EQ(run({"case.toml", "--output", "parts"}).exit_code, 0);
  write_file(path() / "parts/checkpoint.h5", "damaged");
  write_file(path() / "parts/checkpoint_previous.h5", "damaged");
  const ProgramResult ran = run({"--restart", "parts"});
  EXPECT_NE(ran.exit_code, 0);
  EXPECT_EQ(ran.errors,
            "tessera: cannot read parts/checkpoint.h5: it is damaged or not complete; cannot read "
            "parts/checkpoint_previous.h5: it is damaged or not complete\n");
  ASSERT_TRUE(std::filesystem::remove(path() / "parts/checkpoint_previous.h5"));
  EXPECT_EQ(run({"--restart", "parts"}).errors,
            "tessera: cannot read parts/checkpoint.h5: it is damaged or not complete\n");
}

TEST_F(Restarts, OfAnEndedRunHaveNothingToDo) {
  write_case();
  ASSERT_EQ(run({"case.toml", "--output", "out"}).exit_code, 0);
  const std::string before = text("out/result.json");
  const ProgramResult ran = run({"--restart", "out"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_EQ(ran.output,
            "tessera: nothing to do: out/checkpoint.h5 is at the end of the case, t = 0.4; with a "
            "later time.end the run goes on\n");
  EXPECT_EQ(text("out/result.json"), before);
  const ProgramResult later = run({"case.toml", "--restart", "out", "--set", "time.end=0.5"});
  EXPECT_EQ(later.exit_code, 0) << later.errors;
  EXPECT_THAT(names_in(path() / "out"), Contains("solution_0006.vtu"));
  EXPECT_EQ(read_json(path() / "out/result.json")["time"]["end"], 0.5);
}

TEST_F(Restarts, RefuseAnotherProblem) {
  write_case();
  ASSERT_EQ(run({"case.toml", "--output", "out"}).exit_code, 0);
  for (const auto& [setting, expected] : std::vector<std::pair<std::string, std::string>>{
           {"mesh.cells=[3, 5]", "where it is [3, 4]"},
           {"space.degree=2", "where it is 3"},
           {"space.degree=4", "where it is 3"},
           {"problem.source=x", "where it is \"sin(5*t)*x\""},
           {"time.initial=x", "where it is \"x*y\""},
           {"boundary.left.value=0", "where it is \"sin(3*t)*y^2\""},
           {"time.end=0.3", "time.end = 0.3: must be at least 0.4"}}) {
    const ProgramResult ran =
        run({"case.toml", "--restart", "out", "--set", "time.step=0.02", "--set", setting});
    EXPECT_EQ(ran.exit_code, 1) << setting;
    EXPECT_THAT(ran.errors, HasSubstr(expected));
    EXPECT_THAT(ran.errors, HasSubstr(setting.substr(0, setting.find('='))));
  }
  const ProgramResult none = run({"--restart", "nowhere"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_EQ(none.errors, "tessera: cannot read nowhere/checkpoint.h5: No such file or directory\n");
}

TEST_F(Restarts, LoseNoProbesUnasked) {
  write_case();
  ASSERT_EQ(run({"case.toml", "--output", "out", "--set", "time.end=0.2"}).exit_code, 0);
  const std::string before = text("out/probes.csv");
  const std::string text_of_case = kCase;
  write_file(path() / "none.toml", text_of_case.substr(0, text_of_case.find("probes")));
  const std::vector<std::string> others = {"case.toml", "--set",
                                           "output.probes=[[0.3, 0.4], [0.9, 0.2]]"};
  for (std::vector<std::string> arguments : {others, {"none.toml"}}) {
    arguments.insert(arguments.end(), {"--restart", "out"});
    const ProgramResult refused = run(arguments);
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_THAT(refused.errors, HasSubstr("must be as in out/probes.csv (u1: 0.3, 0.4, 0; u2: 0.9, "
                                          "0.1, 0)"));
    arguments.insert(arguments.end(), {"--overwrite", "--output", "other"});
    EXPECT_EQ(run(arguments).exit_code, 0);
    EXPECT_EQ(text("out/probes.csv"), before);
  }
  std::vector<std::string> allowed = others;
  allowed.insert(allowed.end(), {"--restart", "out", "--overwrite"});
  const ProgramResult ran = run(allowed);
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_THAT(ran.errors, HasSubstr("probes.csv begins at the checkpoint"));
}

TEST_F(Restarts, MayBeElsewhere) {
  write_case();
  ASSERT_EQ(run({"case.toml", "--output", "out"}).exit_code, 0);
  const ProgramResult ran = run({"--restart", "out", "--set", "time.end=0.5", "--output", "on"});
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_THAT(names_in(path() / "on"), Not(Contains("solution_0005.vtu")));
  EXPECT_THAT(names_in(path() / "on"), Contains("solution_0006.vtu"));
  EXPECT_THAT(text("on/probes.csv"), HasSubstr(text("out/probes.csv")));
  EXPECT_EQ(run({"--restart", "out", "--set", "time.end=0.5", "--output", "on"}).exit_code, 1);
}

TEST_F(Restarts, OfAdaptiveStepsGoOn) {
  for (const char* method : {"sdirk", "bdf"}) {
    write_case(
        std::string(kCase).replace(std::string(kCase).find("step = 0.03"), 11, "tolerance = 1e-4"));
    const std::string setting = std::string("time.method=") + method;
    ASSERT_EQ(run({"case.toml", "--output", "out", "--overwrite", "--set", setting}).exit_code, 0);
    const ProgramResult ran = run({"--restart", "out", "--set", "time.end=0.6"});
    EXPECT_EQ(ran.exit_code, 0) << ran.errors;
    const bool is_said = ran.output.find("bdf begins again with order 1") != std::string::npos;
    EXPECT_EQ(is_said, method == std::string("bdf"));
  }
}

TEST_F(Restarts, FollowAnInterruption) {
  std::string text = kCase;
  text.replace(text.find("checkpoint_interval = 0.15\n"), 27, "");
  text.replace(text.find("step = 0.03"), 11, "step = 0.0003");
  write_case(text);
  ASSERT_EQ(run({"case.toml", "--output", "whole"}).exit_code, 0);
  EXPECT_THAT(names_in(path() / "whole"), Not(Contains("checkpoint.h5")));
  Program program(path(), {"run", "case.toml", "--output", "parts"});
  ASSERT_TRUE(program.wait_until(
      [&] { return std::filesystem::exists(path() / "parts/solution_0003.vtu"); }));
  program.signal(SIGINT);
  const ProgramResult ran = program.wait();
  ASSERT_EQ(ran.exit_code, 130) << ran.errors;
  EXPECT_THAT(ran.errors, HasSubstr(": tessera run --restart parts\n"));
  EXPECT_THAT(names_in(path() / "parts"), Contains("checkpoint.h5"));
  const ProgramResult later = run({"--restart", "parts"});
  EXPECT_EQ(later.exit_code, 0) << later.errors;
  std::filesystem::remove(path() / "parts/checkpoint.h5");
  expect_same_results();
}

TEST_F(Restarts, ThatAreRefusedLeaveTheResults) {
  write_case();
  ASSERT_EQ(run({"case.toml", "--output", "out"}).exit_code, 0);
  const std::vector<std::string> names = names_in(path() / "out");
  std::vector<std::string> texts;
  for (const std::string& name : names) texts.push_back(text("out/" + name));
  const ProgramResult ran = run({"--restart", "out", "--set", "time.end=0.6", "--set",
                                 "time.method=explicit-rk", "--set", "time.step=0.05"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.errors, HasSubstr("explicit-rk of order 3 is unstable"));
  EXPECT_EQ(names_in(path() / "out"), names);
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_TRUE(text("out/" + names[i]) == texts[i]) << names[i];
  }
}

// 3 * 0.1 is more than 0.3.
TEST_F(Restarts, HaveAnEndThatIsATimeOfOutputOnce) {
  for (const char* method : {"sdirk", "backward-euler"}) {
    write_case();
    const std::string setting = std::string("time.method=") + method;
    ASSERT_EQ(run({"case.toml", "--output", "out", "--overwrite", "--set", "time.end=0.3", "--set",
                   setting})
                  .exit_code,
              0);
    const ProgramResult ran = run({"--restart", "out", "--set", "time.end=0.6"});
    ASSERT_EQ(ran.exit_code, 0) << ran.errors;
    EXPECT_THAT(names_in(path() / "out"), Contains("solution_0007.vtu"));
    EXPECT_THAT(names_in(path() / "out"), Not(Contains("solution_0008.vtu")));
    const auto time = read_json(path() / "out/result.json")["time"];
    EXPECT_EQ(time["outputs"], 7);
    EXPECT_GT(time["smallest_step"].get<double>(), 1e-3);
  }
}

// What an earlier start did by another method is not repeated by the last one's case.
TEST_F(Restarts, SayWhatWasBefore) {
  write_case();
  ASSERT_EQ(run({"case.toml", "--output", "out", "--set", "time.end=0.2"}).exit_code, 0);
  EXPECT_FALSE(read_json(path() / "out/result.json").contains("restart"));
  const ProgramResult ran =
      run({"--restart", "out", "--set", "time.end=0.4", "--set", "time.method=backward-euler",
           "--set", "time.order=1", "--set", "time.step=0.05"});
  ASSERT_EQ(ran.exit_code, 0) << ran.errors;
  const auto result = read_json(path() / "out/result.json");
  const auto restart = result["restart"];
  EXPECT_EQ(restart["t"], 0.2);
  EXPECT_EQ(restart["method"], "sdirk");
  EXPECT_EQ(restart["order"], 3);
  EXPECT_EQ(restart["steps"], 8);
  EXPECT_EQ(result["time"]["steps"], 8 + 4);
  EXPECT_THAT(text("out/case.toml"),
              ::testing::StartsWith("# This run went on from t = 0.2 of "
                                    "\"out/checkpoint.h5\", reached by sdirk "
                                    "of order 3.\n"));
  // It is still the program's, and may be run in its place.
  const ProgramResult again = run({"out/case.toml", "--overwrite"});
  EXPECT_EQ(again.exit_code, 0) << again.errors;
  EXPECT_THAT(text("out/case.toml"), Not(HasSubstr("# This run went on")));
}

TEST_F(Restarts, AreJudgedByTheTimesThatAreLeft) {
  std::string text = kCase;
  text.replace(text.find("1 + x"), 5, "(1 + x)*exp(-20*t)");
  write_case(text);
  const std::vector<std::string> steps = {"--set", "time.method=explicit-rk", "--set",
                                          "time.step=0.003"};
  auto whole = std::vector<std::string>{"case.toml", "--output", "whole"};
  whole.insert(whole.end(), steps.begin(), steps.end());
  EXPECT_THAT(run(whole).errors, HasSubstr("unstable"));
  ASSERT_EQ(run({"case.toml", "--output", "out"}).exit_code, 0);
  auto rest = std::vector<std::string>{"--restart", "out", "--set", "time.end=0.6"};
  rest.insert(rest.end(), steps.begin(), steps.end());
  const ProgramResult ran = run(rest);
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
}

// What a signal left out of an output could not be had any more.
TEST_F(Restarts, LackNothingOfAnOutputThatASignalMet) {
  std::string text = kCase;
  text.replace(text.find("cells = [3, 4]"), 14, "cells = [30, 40]");
  text.replace(text.find("[boundary]"), 0, "exact = \"t + " + long_expression(300) + "\"\n");
  text.replace(text.find("picture = false"), 15, "picture = true");
  write_case(text);
  ASSERT_EQ(run({"case.toml", "--output", "whole"}).exit_code, 0);
  Program program(path(), {"run", "case.toml", "--output", "parts"});
  // Picture and errors follow.
  ASSERT_TRUE(program.wait_until(
      [&] { return std::filesystem::exists(path() / "parts/solution_0002.vtu"); }));
  program.signal(SIGINT);
  const ProgramResult ran = program.wait();
  ASSERT_EQ(ran.exit_code, 130) << ran.errors;
  EXPECT_THAT(names_in(path() / "parts"), Contains("solution_0002.png"));
  const ProgramResult later = run({"--restart", "parts"});
  EXPECT_EQ(later.exit_code, 0) << later.errors;
  expect_same_results();
  EXPECT_GT(read_json(path() / "parts/result.json")["time"]["max_error"]["l2"].get<double>(), 0.0);
}

}  // namespace
}  // namespace tessera::testing
