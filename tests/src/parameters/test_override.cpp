// These tests set keys on the command line.
#include "tests/src/parameters/registries.hpp"

namespace tessera {
namespace {

TEST(Override, TomlValuesAndBareWords) {
  const CaseParameters p =
      parse_case(case_with("[space]\ndegree = 3\n"), {{"space.degree=5"},
                                                      {"operator.kernel=local"},
                                                      {"operator.scatter = \"atomic\""},
                                                      {"mesh.cells=[8,9,10]"},
                                                      {"problem.source=sin(pi*x)*y"},
                                                      {"problem.coefficient=2.5"},
                                                      {"title=A word or = two"},
                                                      {"output.vtk=false"},
                                                      {"solver.relative_tolerance=1e-4"}});
  EXPECT_EQ(p.space.degree, 5);
  EXPECT_EQ(p.space.points, 6);
  EXPECT_EQ(p.operation.kernel, "local");
  EXPECT_EQ(p.operation.scatter, "atomic");
  EXPECT_EQ(p.mesh.cells, (std::vector<std::int64_t>{8, 9, 10}));
  EXPECT_EQ(p.problem.source, "sin(pi*x)*y");
  EXPECT_EQ(p.problem.coefficient, "2.5");
  EXPECT_EQ(p.title, "A word or = two");
  EXPECT_FALSE(p.output.vtk);
  EXPECT_EQ(p.solver.relative_tolerance, 1e-4);
}

TEST(Override, LastWinsAndRepairsTheFile) {
  EXPECT_EQ(parse_case(case_with("[space]\ndegree = 0\n"), {{"space.degree=9"}, {"space.degree=7"}})
                .space.degree,
            7);
  EXPECT_EQ(parse_case("", {{"mesh.cells=[1,1,1]"}}).mesh.cells.size(), 3U);
}

// The one that is replaced may be the one that was meant.
TEST(Override, IsRightThoughALaterOneReplacesIt) {
  expect_errors(case_errors(case_with(""), {{"space.degree=99"}, {"space.degree=3"}}),
                {"--set space.degree=99: space.degree = 99: must be an integer from 1 to 32"});
  expect_errors(
      case_errors(case_with(""), {{"space={degre=3}"}, {"space={degree=2}"}}),
      {"--set space={degre=3}: space.degre = 3: unknown key; did you mean space.degree?"});
  EXPECT_EQ(
      case_errors(case_with(""), {{"solver.multigrid={levels=99}"}, {"solver.multigrid.levels=2"}})
          .size(),
      1U);
  // What other keys have to say is of the last values.
  EXPECT_EQ(
      parse_case(case_with(""), {{"mesh.spacing=[\"uniform\", [0, 0.2, 1], \"uniform\"]"},
                                 {"mesh.cells=[4, 2, 4]"},
                                 {"mesh.spacing=[\"uniform\", [0, 0.2, 0.4, 1], \"uniform\"]"},
                                 {"mesh.cells=[4, 3, 4]"}})
          .mesh.cells[1],
      3);
  // Each is wrong once.
  EXPECT_EQ(case_errors(case_with(""), {{"space.degree=99"}, {"space.degree=99"}}).size(), 1U);
  expect_errors(
      case_errors(case_with(""),
                  {{"solver.multigrid.levels=2"}, {"solver.multigrid={smoother_degree=3}"}}),
      {"--set solver.multigrid.levels=2: is lost to --set solver.multigrid={smoother_degree=3}, "
       "which comes later and sets all of solver.multigrid"});
}

TEST(Override, PartOfAFaceOrAllOfIt) {
  const std::string text =
      case_with("[boundary]\nright = { type = \"robin\", value = 3, alpha = 4 }\n");
  const BoundaryParameters part = parse_case(text, {{"boundary.right.alpha=5"}}).boundary[1];
  EXPECT_EQ(part.type, BoundaryType::robin);
  EXPECT_EQ(part.value, "3");
  EXPECT_EQ(part.alpha, "5");
  const BoundaryParameters all =
      parse_case(text, {{"boundary.right={type=\"neumann\"}"}}).boundary[1];
  EXPECT_EQ(all.type, BoundaryType::neumann);
  EXPECT_EQ(all.value, "0");
}

TEST(Override, SameChecksAsTheFile) {
  expect_errors(case_errors(case_with(""), {{"space.degree=0"}}),
                {"--set space.degree=0: space.degree = 0: must be an integer from 1 to 32"});
  expect_errors(case_errors(case_with(""), {{"space.degre=2"}}),
                {"--set space.degre=2: space.degre = 2: unknown key; did you mean space.degree?"});
  expect_errors(case_errors(case_with(""), {{"spcae.degree=2"}}),
                {"--set spcae.degree=2: spcae.degree = 2: unknown table; did you mean [space]?"});
  expect_errors(case_errors(case_with(""), {{"degree=2"}}),
                {"--set degree=2: degree = 2: unknown key; did you mean space.degree?"});
  expect_errors(case_errors(case_with(""), {{"mesh=2"}}),
                {"--set mesh=2: mesh = 2: must be a table, which starts with one line [mesh], not "
                 "an integer"});
  expect_errors(
      case_errors(case_with(""), {{"boundary.left.typ=robin"}}),
      {"--set boundary.left.typ=robin: boundary.left.typ = \"robin\": unknown key; did you mean "
       "boundary.left.type?"});
}

TEST(Override, Malformed) {
  expect_errors(
      case_errors(case_with(""), {{"space.degree"}, {"=3"}, {"space..degree=3"}, {"title="}}),
      {"--set space.degree: must be KEY=VALUE, such as --set space.degree=4",
       "--set =3: \"\" is not a key; must be a dotted name, such as space.degree",
       "--set space..degree=3: \"space..degree\" is not a key; must be a dotted name, "
       "such as space.degree",
       "--set title=: title has no value; an empty string is written --set 'title=\"\"'"});
  const auto unquoted = case_errors(case_with(""), {{"mesh.map=[x,y,z]"}});
  ASSERT_EQ(unquoted.size(), 1U);
  EXPECT_NE(unquoted[0].find("mesh.map: not valid TOML; strings inside arrays and tables need "
                             "quotes"),
            std::string::npos);
}

TEST(Override, MalformedOnesDoNotHideTheFilesErrors) {
  const auto errors = case_errors(case_with("[space]\ndegree = 0\n"), {{"nonsense"}});
  ASSERT_EQ(errors.size(), 2U);
  EXPECT_EQ(errors[0].rfind("case.toml:4: space.degree = 0", 0), 0U);
  EXPECT_EQ(errors[1].rfind("--set nonsense: ", 0), 0U);
}

TEST(Override, ANewlineCannotSmuggleInAnotherKey) {
  EXPECT_EQ(parse_case(case_with(""), {{"title=1\nb = 2"}}).title, "1\nb = 2");
}

TEST(Override, InvalidUtf8IsRefused) {
  expect_errors(case_errors(case_with(""), {{"title=\xff", "--title"}}),
                {"--title: title: the value is not valid UTF-8"});
}

TEST(Override, ShownAsTheUserTypedIt) {
  expect_errors(case_errors(case_with(""), {{"run.threads=-1", "--threads -1"}}),
                {"--threads -1: run.threads = -1: must be an integer from 0 to 4096"});
}

}  // namespace
}  // namespace tessera
