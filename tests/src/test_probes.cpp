// These tests ask the program for its solution at points.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/src/program.hpp"

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kBentCase[] =
    "[mesh]\ncells = [4, 4, 4]\nmap = [\"x + 0.1*y^2\", \"y\", \"z + 0.1*x*y\"]\n"
    "[space]\ndegree = 4\n[problem]\nsource = \"0\"\nexact = \"x*y*z + x\"\n"
    "[boundary]\nleft = { value = \"x*y*z + x\" }\nright = { value = \"x*y*z + x\" }\n"
    "bottom = { value = \"x*y*z + x\" }\ntop = { value = \"x*y*z + x\" }\n"
    "back = { value = \"x*y*z + x\" }\nfront = { value = \"x*y*z + x\" }\n"
    "[solver]\nrelative_tolerance = 1e-12\n[output]\ndirectory = \"out\"\nvtk = false\n";

class ProbesOfARun : public ::testing::Test {
 protected:
  void SetUp() override { write_file(path() / "case.toml", kBentCase); }
  ProgramResult run(const std::string& probes, const char* command = "run") {
    return run_program(path(), {command, "case.toml", "--set", "output.probes=" + probes});
  }
  const std::filesystem::path& path() const { return directory_.path(); }

 private:
  TemporaryDirectory directory_;
};

TEST_F(ProbesOfARun, AreInItsFilesAndOnTheScreen) {
  const ProgramResult ran = run("[[0.5, 0.5, 0.5], [1.1, 1, 1.1]]");
  ASSERT_EQ(ran.exit_code, 0) << ran.errors;
  const nlohmann::json probes = read_json(path() / "out/result.json")["probes"];
  ASSERT_EQ(probes.size(), 2U);
  EXPECT_NEAR(probes[0]["u"].get<double>(), 0.625, 1e-10);
  EXPECT_NEAR(probes[1]["u"].get<double>(), 1.1 * 1.1 + 1.1, 1e-10);
  EXPECT_EQ(probes[0]["exact"], 0.625);
  EXPECT_LT(std::abs(probes[0]["error"].get<double>()), 1e-10);
  EXPECT_THAT(read_file(path() / "out/probes.csv"),
              StartsWith("x,y,z,u,exact,error\n0.5,0.5,0.5,0.6"));
  EXPECT_THAT(ran.output, HasSubstr("  probe    x    y    z"));
  EXPECT_THAT(read_file(path() / "out/case.toml"),
              HasSubstr("probes = [[0.5, 0.5, 0.5], [1.1, 1.0, 1.1]]"));
}

TEST_F(ProbesOfARun, MayComeFromAFile) {
  std::string points = "x,y,z\n";
  for (int i = 0; i <= 1000; ++i) points += "0.5,0.5,0." + std::to_string(100 + i % 900) + "\n";
  write_file(path() / "points.csv", points);
  const ProgramResult ran = run("points.csv");
  ASSERT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("... 996 more are in probes.csv"));
  EXPECT_TRUE(read_json(path() / "out/result.json")["probes"].is_null());
  const std::string csv = read_file(path() / "out/probes.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1002);
  EXPECT_EQ(run_program(path(), {"run", "out/case.toml", "--output", "again"}).exit_code, 0);
  EXPECT_EQ(read_file(path() / "again/probes.csv"), csv);
}

TEST_F(ProbesOfARun, OutsideTheMeshAreNamedBeforeTheSolve) {
  for (const char* command : {"run", "check"}) {
    const ProgramResult ran = run("[[0.5, 0.5, 0.5], [0.05, 1, 0.5], [2, 0, 0]]", command);
    EXPECT_EQ(ran.exit_code, 1);
    const std::string start =
        "--set output.probes=[[0.5, 0.5, 0.5], [0.05, 1, 0.5], [2, 0, 0]]: output.probes = ";
    const std::string reason =
        "is outside the mesh, whose curved cells of degree 4 lie in the box x from 0 to 1.1, y "
        "from 0 to 1, z from 0 to 1.1\n";
    EXPECT_EQ(ran.errors, start + "[0.05, 1.0, 0.5]: point 2 " + reason + start +
                              "[2.0, 0.0, 0.0]: point 3 " + reason);
    EXPECT_FALSE(std::filesystem::exists(path() / "out"));
  }
  write_file(path() / "points.csv", "0.5,0.5,0.5\n\n0,0,-0.1\n");
  EXPECT_THAT(run("points.csv").errors,
              StartsWith("points.csv:3: output.probes = [0.0, 0.0, -0.1]: point 2 is outside"));
}

TEST_F(ProbesOfARun, AreCountedByCheck) {
  const ProgramResult ran = run("[[0.5, 0.5, 0.5]]", "check");
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("probes: 1, all of them in the mesh\n"));
}

TEST_F(ProbesOfARun, WhoseExactSolutionIsNotThereAreFoundBeforeTheSolve) {
  const ProgramResult ran =
      run_program(path(), {"run", "case.toml", "--set", "output.probes=[[0.123, 0.5, 0.5]]",
                           "--set", "problem.exact=abs(x - 0.123) < 1e-9 ? 0/0 : 1"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.errors, HasSubstr("problem.exact"));
}

}  // namespace
}  // namespace tessera::testing
