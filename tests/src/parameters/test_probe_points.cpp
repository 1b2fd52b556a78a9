// These tests read points of case files and of CSV files.
#include "src/parameters/probes/probe_file.hpp"
#include "tests/src/parameters/registries.hpp"

namespace tessera {
namespace {

constexpr char kList[] = "[output]\nprobes = [\n[0.5, 0.5, 0.5],\n[1, 0, 0.25]]\n";

ProbePoints read_points(const std::string& text, int dimension, std::vector<std::string>& errors) {
  ProbePoints probes{.file = "points.csv"};
  Findings findings("case.toml");
  read_probe_points(text, dimension, probes, findings);
  for (const Diagnostic& found : findings.diagnostics()) errors.push_back(format_diagnostic(found));
  return probes;
}

std::vector<std::string> errors_in(const std::string& text, int dimension = 3) {
  std::vector<std::string> errors;
  read_points(text, dimension, errors);
  return errors;
}

std::vector<Point> points_in(const std::string& text, int dimension = 3) {
  std::vector<std::string> errors;
  const ProbePoints probes = read_points(text, dimension, errors);
  EXPECT_EQ(errors, std::vector<std::string>());
  EXPECT_EQ(probes.points.size(), probes.lines.size());
  return probes.points;
}

const std::vector<Point> kTwo = {{0.5, -1e-3, 2.0}, {1.0, 2.0, 3.0}};

TEST(ProbePoints, AreListed) {
  const ProbePoints probes = parse_case(case_with(kList)).output.probes;
  EXPECT_EQ(probes.points, (std::vector<Point>{{0.5, 0.5, 0.5}, {1.0, 0.0, 0.25}}));
  EXPECT_EQ(probes.lines, (std::vector<int>{5, 6}));
  EXPECT_TRUE(parse_case(case_with("")).output.probes.points.empty());
}

TEST(ProbePoints, AreInTheResolvedCase) {
  const CaseParameters parameters = parse_case(case_with(kList));
  const std::string text = case_registry().to_toml(parameters);
  EXPECT_NE(text.find("probes = [[0.5, 0.5, 0.5], [1.0, 0.0, 0.25]]\n"), std::string::npos);
  EXPECT_EQ(parse_case(text).output.probes.points, parameters.output.probes.points);
}

TEST(ProbePoints, HaveAsManyCoordinatesAsTheMeshHasAxes) {
  expect_errors(case_errors(case_with("[output]\nprobes = [[0, 0, 0],\n[1, 2], [0.5, 0.5]]\n")),
                {"case.toml:5: output.probes = [1.0, 2.0]: point 2 must have 3 coordinates, since "
                 "mesh.dimension = 3",
                 "case.toml:5: output.probes = [0.5, 0.5]: point 3 must have 3 coordinates, since "
                 "mesh.dimension = 3"});
  expect_errors(case_errors("mesh = { dimension = 2, cells = [4, 4] }\n"
                            "[output]\nprobes = [[0, 0, 0]]\n"),
                {"case.toml:3: output.probes = [0.0, 0.0, 0.0]: point 1 must have 2 coordinates, "
                 "since mesh.dimension = 2"});
}

TEST(ProbePoints, OfAnotherKindAreErrors) {
  const std::string allowed =
      "must be an array of points, each an array of its coordinates, or the name of a CSV file of "
      "them";
  const std::string line = "case.toml:4: output.probes = ";
  const auto expect_error = [&](const std::string& value, const std::string& message) {
    expect_errors(case_errors(case_with("[output]\nprobes = " + value + "\n")),
                  {line + value + ": " + message});
  };
  expect_error("3", allowed + ", not an integer");
  expect_error("[]", allowed + "; it is empty");
  expect_error("\"\"",
               "must not be empty; the name of a CSV file is needed, or an array of points");
  expect_error("[0.5]", "point 1 is 0.5: must be an array of numbers, such as [0.5, 0.5, 0.5]");
  expect_error("[[0.5]]", "point 1 is [0.5]: must have 2 or 3 coordinates, as the mesh has axes");
  expect_error("[[0.5, \"a\"]]", "point 1 is [0.5, \"a\"]: its coordinates must be finite numbers");
  expect_error("[[0.5, 0.5, inf]]",
               "point 1 is [0.5, 0.5, inf]: its coordinates must be finite numbers");
  expect_error("\"no/such.csv\"", "there is no such file, seen from the working directory");
  expect_error("\"/\"", "it is no file, but a directory, a device or a pipe");
}

TEST(ProbeFile, HasAPointPerLine) {
  EXPECT_EQ(points_in("0.5,-1e-3,2\n1,2,3\n"), kTwo);
  EXPECT_EQ(points_in("\xEF\xBB\xBF# from a map\r\n\r\n 0.5 , -1e-3, +2\r\n1,2,3"), kTwo);
  EXPECT_EQ(points_in("1,2\n", 2), (std::vector<Point>{{1.0, 2.0, 0.0}}));
}

TEST(ProbeFile, MayHaveAHeader) {
  EXPECT_EQ(points_in("x,y,z\n0.5,-1e-3,2\n1,2,3\n"), kTwo);
  EXPECT_EQ(points_in("name,\"z\",u,y,x\nA,2,7,-1e-3,0.5\nB,3,8,2,1\n"), kTwo);
  EXPECT_EQ(points_in("x,y,z\n1,2,0\n", 2), (std::vector<Point>{{1.0, 2.0, 0.0}}));
}

TEST(ProbeFile, NamesEachWrongLine) {
  expect_errors(errors_in("x,y,z\n1,2,3\n1,2\n\n1,two,3\n1,2,nan\n"),
                {"points.csv:3: output.probes = 1,2: has 2 values, and the header has 3 columns",
                 "points.csv:5: output.probes = 1,two,3: y is \"two\": must be a finite number",
                 "points.csv:6: output.probes = 1,2,nan: z is \"nan\": must be a finite number"});
  expect_errors(errors_in("1,2,3\n4;5;6\n"),
                {"points.csv:2: output.probes = 4;5;6: has 1 value; needed: x,y,z, since "
                 "mesh.dimension = 3"});
  expect_errors(errors_in("a,b\n1,2\n"),
                {"points.csv:1: output.probes = a,b: is no point, and as a header it has no column "
                 "x; needed: x,y,z, since mesh.dimension = 3"});
  expect_errors(errors_in("1,2,3\n", 2),
                {"points.csv:1: output.probes = 1,2,3: has 3 values; needed: x,y, since "
                 "mesh.dimension = 2"});
}

TEST(ProbeFile, WithoutPointsIsAnError) {
  expect_errors(errors_in(""), {"points.csv: output.probes: has no points"});
  expect_errors(errors_in("x,y,z\n# none\n"), {"points.csv: output.probes: has no points"});
}

TEST(ProbeFile, NamesTheFirstOfManyWrongLines) {
  std::string text = "1,2,3\n";
  for (int i = 0; i < 100; ++i) text += "1,2\n";
  const std::vector<std::string> errors = errors_in(text);
  ASSERT_EQ(errors.size(), 11U);
  EXPECT_EQ(errors[0], "points.csv: output.probes: 90 more lines are wrong");
  EXPECT_EQ(errors[10].substr(0, 14), "points.csv:11:");
}

}  // namespace
}  // namespace tessera
