// These tests read, check and write the table [time].
#include "src/parameters/limits.hpp"
#include "tests/src/parameters/registries.hpp"

namespace tessera {
namespace {

// A case in time, with more keys of [time]; its end is 1.
std::string in_time(const std::string& keys = "", const std::string& other_tables = "") {
  return case_with("[time]\nend = 1\n" + keys + other_tables);
}

TimeParameters time_of(const std::string& keys) { return *parse_case(in_time(keys)).time; }

TEST(Time, IsThereWhereTheTableIs) {
  EXPECT_FALSE(parse_case(case_with("")).time);
  const TimeParameters time = time_of("");
  EXPECT_EQ(time.start, 0.0);
  EXPECT_EQ(time.end, 1.0);
  EXPECT_EQ(time.initial, "0");
  EXPECT_EQ(time.method, TimeMethod::sdirk);
  EXPECT_EQ(time.order, 3);
  EXPECT_EQ(time.tolerance, 1e-4);
  EXPECT_FALSE(time.step);
  EXPECT_FALSE(time.output_interval);
}

TEST(Time, OrderFollowsTheMethod) {
  EXPECT_EQ(time_of("method = \"backward-euler\"\n").order, 1);
  EXPECT_EQ(time_of("method = \"bdf\"\n").order, 5);
  EXPECT_EQ(time_of("method = \"bdf\"\norder = 1\n").order, 1);
  EXPECT_EQ(time_of("method = \"explicit-rk\"\n").order, 3);
  EXPECT_EQ(time_of("order = 2\n").order, 2);
  EXPECT_EQ(time_of("order = 4\n").order, 4);
}

TEST(Time, OrderIsOneOfTheMethod) {
  expect_errors(case_errors(in_time("order = 5\n")),
                {"case.toml:5: time.order = 5: must be from 2 to 4 with time.method = \"sdirk\""});
  expect_errors(case_errors(in_time("order = 1\n")),
                {"case.toml:5: time.order = 1: must be from 2 to 4 with time.method = \"sdirk\""});
  expect_errors(case_errors(in_time("method = \"backward-euler\"\norder = 2\n")),
                {"case.toml:6: time.order = 2: must be 1 with time.method = \"backward-euler\""});
  expect_errors(case_errors(in_time("method = \"bdf\"\norder = 6\n")),
                {"case.toml:6: time.order = 6: must be an integer from 1 to 5"});
}

TEST(Time, NeedsAnEnd) {
  expect_errors(case_errors(case_with("[time]\n")),
                {"case.toml:3: time.end: is required, and missing: a number, such as end = 1.0"});
  expect_errors(case_errors(case_with("[time]\nstep = 0.1\n")),
                {"case.toml:3: time.end: is required, and missing: a number, such as end = 1.0"});
  expect_errors(case_errors("time = 3\n" + case_with("[problem]\ncapacity = \"2\"\n")),
                {"case.toml:1: time = 3: must be a table, which starts with one line [time], not "
                 "an integer"});
}

TEST(Time, EndsAfterItsStart) {
  expect_errors(case_errors(in_time("start = 1\n")),
                {"case.toml:4: time.end = 1: must be greater than time.start = 1.0"});
  expect_errors(case_errors(case_with("[time]\nstart = -1e308\nend = 1e308\n")),
                {"case.toml:5: time.end = 1e+308: must be greater than time.start = -1e+308, by a "
                 "finite number"});
  expect_errors(case_errors(case_with("[time]\nend = 1e-300\n")),
                {"case.toml:4: time.end = 1e-300: must be greater than time.start = 0.0, by at "
                 "least 1e-150"});
  EXPECT_EQ(time_of("start = -2\n").start, -2.0);
}

TEST(Time, StepsAdaptOrHaveALength) {
  const TimeParameters fixed = time_of("step = 0.25\n");
  EXPECT_EQ(fixed.step, 0.25);
  EXPECT_FALSE(fixed.tolerance);
  expect_errors(case_errors(in_time("tolerance = 1e-6\nstep = 0.1\n")),
                {"case.toml:6: time.step = 0.1: must be left out with time.tolerance = 1e-06, to "
                 "which steps adapt; only one of them can be given"});
  expect_errors(case_errors(in_time("method = \"bdf\"\nstep = 0.1\n")),
                {"case.toml:6: time.step = 0.1: must be left out with time.method = \"bdf\", which "
                 "chooses its steps: give time.tolerance"});
  expect_errors(case_errors(in_time("tolerance = 1\n")),
                {"case.toml:5: time.tolerance = 1: must be a number greater than 1e-15 and less "
                 "than 1"});
}

TEST(Time, TheCommandLineReplacesTheOtherWayToStep) {
  const auto replaced = [](const std::string& keys, const std::string& assignment) {
    return *parse_case(in_time(keys), {{assignment}}).time;
  };
  const TimeParameters fixed = replaced("tolerance = 1e-6\n", "time.step=0.5");
  EXPECT_EQ(fixed.step, 0.5);
  EXPECT_FALSE(fixed.tolerance);
  const TimeParameters adaptive = replaced("step = 0.5\n", "time.tolerance=1e-3");
  EXPECT_EQ(adaptive.tolerance, 1e-3);
  EXPECT_FALSE(adaptive.step);
}

TEST(Time, TheCommandLineCanMakeTheTable) {
  EXPECT_EQ(parse_case(case_with(""), {{"time.end=2"}}).time->end, 2.0);
}

TEST(Time, StepsAndIntervalsAreNotLostInRounding) {
  expect_errors(case_errors(in_time("step = 0\n")),
                {"case.toml:5: time.step = 0: must be a number greater than 0"});
  expect_errors(case_errors(in_time("step = 1e-17\n")),
                {"case.toml:5: time.step = 1e-17: must be at least 1e-15: less is lost in rounding "
                 "beside the time 1.0"});
  expect_errors(case_errors(in_time("output_interval = -1\n")),
                {"case.toml:5: time.output_interval = -1: must be a number greater than 0"});
  expect_errors(case_errors(in_time("output_interval = 1e-7\n")),
                {"case.toml:5: time.output_interval = 1e-07: makes more than 1000000 outputs "
                 "between time.start = 0.0 and time.end = 1.0; it must be at least 1e-06"});
  expect_errors(case_errors(case_with("[time]\nstart = -1e16\nend = -9999999999999000\n"
                                      "output_interval = 0.1\n")),
                {"case.toml:6: time.output_interval = 0.1: must be at least 10.0: less is lost in "
                 "rounding beside the time 1e+16"});
  EXPECT_EQ(time_of("output_interval = 1e-6\n").output_interval, 1e-6);
  expect_errors(case_errors(in_time("checkpoint_interval = 0\n")),
                {"case.toml:5: time.checkpoint_interval = 0: must be a number greater than 0"});
  expect_errors(case_errors(in_time("checkpoint_interval = 1e-17\n")),
                {"case.toml:5: time.checkpoint_interval = 1e-17: must be at least 1e-15: less is "
                 "lost in rounding beside the time 1.0"});
}

TEST(Time, ExplicitStepsNeedNodesAtWhichTheMassIsLumped) {
  const std::string keys = "method = \"explicit-rk\"\n";
  expect_errors(case_errors(in_time(keys, "[space]\nnodes = \"equidistant\"\n")),
                {"case.toml:7: space.nodes = \"equidistant\": must be \"gauss-lobatto\" with "
                 "time.method = \"explicit-rk\", whose mass is lumped at the nodes"});
  EXPECT_TRUE(case_errors(in_time(keys)).empty());
  EXPECT_TRUE(case_errors(in_time("", "[space]\nnodes = \"equidistant\"\n")).empty());
}

TEST(Time, CapacityMeansNothingWithoutIt) {
  expect_errors(case_errors(case_with("[problem]\ncapacity = \"2\"\n")),
                {"case.toml:4: problem.capacity = \"2\": means nothing without [time]: it is the "
                 "factor of du/dt; leave it out, or give time.end"});
  EXPECT_TRUE(case_errors(case_with("[problem]\ncapacity = 1\n")).empty());
  EXPECT_EQ(parse_case(in_time("", "[problem]\ncapacity = \"2\"\n")).problem.capacity, "2");
}

TEST(Time, RefusesWhatStationaryCasesHave) {
  for (const char* initial : {"x", "full-multigrid"}) {
    expect_errors(
        case_errors(in_time("", "[solver]\npreconditioner = \"multigrid\"\ninitial = \"" +
                                    std::string(initial) + "\"\n")),
        {"case.toml:7: solver.initial = \"" + std::string(initial) +
         "\": must be left out with [time]: time.initial is u at the start, and the solves of a "
         "step start from the one before"});
  }
  expect_errors(
      case_errors(in_time("",
                          "[operator]\nprecision = \"single\"\n[solver]\nrelative_tolerance = "
                          "1e-5\n[run]\ndevice = \"cuda\"\n")),
      {"case.toml:6: operator.precision = \"single\": time steps are computed in double precision "
       "so far; allowed with [time]: \"double\""});
}

TEST(Time, ComesBackFromTheResolvedFile) {
  for (const char* keys :
       {"", "start = -0.1\ninitial = \"x\"\nmethod = \"bdf\"\norder = 2\ntolerance = 1e-7\n",
        "method = \"backward-euler\"\nstep = 0.30000000000000004\noutput_interval = 0.7\n"
        "checkpoint_interval = 0.9\n"}) {
    const CaseParameters first = parse_case(in_time(keys, "[problem]\ncapacity = \"1 + x\"\n"));
    const std::string text = case_registry().to_toml(first);
    const CaseParameters second = parse_case(text);
    EXPECT_EQ(case_registry().to_toml(second), text);
    EXPECT_EQ(second.problem.capacity, "1 + x");
    EXPECT_EQ(second.time->start, first.time->start);
    EXPECT_EQ(second.time->end, first.time->end);
    EXPECT_EQ(second.time->initial, first.time->initial);
    EXPECT_EQ(second.time->method, first.time->method);
    EXPECT_EQ(second.time->order, first.time->order);
    EXPECT_EQ(second.time->tolerance, first.time->tolerance);
    EXPECT_EQ(second.time->step, first.time->step);
    EXPECT_EQ(second.time->output_interval, first.time->output_interval);
    EXPECT_EQ(second.time->checkpoint_interval, first.time->checkpoint_interval);
  }
  const std::string resolved = case_registry().to_toml(parse_case(in_time()));
  EXPECT_NE(resolved.find("\n[time]\nstart = 0.0\nend = 1.0\ninitial = \"0\"\nmethod = \"sdirk\"\n"
                          "order = 3\ntolerance = 0.0001\n"),
            std::string::npos)
      << resolved;
}

TEST(Time, IsACommentAmongTheDefaults) {
  std::string text = case_registry().defaults_text();
  EXPECT_FALSE(parse_case(text).time);
  for (const char* line : {"# [time]\n", "# start = 0.0\n", "# end = 1.0\n", "# initial = \"0\"\n",
                           "# method = \"sdirk\"\n", "# order = 3\n", "# tolerance = 0.0001\n"}) {
    const auto at = text.find(line);
    ASSERT_NE(at, std::string::npos) << line;
    text.erase(at, 2);
  }
  const CaseParameters parameters = parse_case(text);
  EXPECT_EQ(case_registry().to_toml(parameters),
            case_registry().to_toml(parse_case("[mesh]\ncells = [8, 8, 8]\n[time]\nend = "
                                               "1\n")));
}

TEST(Time, HasItsDefaultsInReferenceAndSchema) {
  const std::string reference = case_registry().reference();
  for (const char* row : {"| `time.start` | `0.0` |", "| `time.end` | required in the table |",
                          "| `time.method` | `\"sdirk\"` |", "| `problem.capacity` | `\"1\"` |"}) {
    EXPECT_NE(reference.find(row), std::string::npos) << row;
  }
}

}  // namespace
}  // namespace tessera
