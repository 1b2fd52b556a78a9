// These tests write parameters and read them back.
#include "tests/src/parameters/registries.hpp"

namespace tessera {
namespace {

constexpr char kFullCase[] = R"toml(
title = "quotes \" and \\ and \t and \u00e9 \u007f"
[mesh]
cells = [4294967297, 1, 2]
lower = [0.1, -1e-300, 0.30000000000000004]
upper = [1e300, 3.141592653589793, 1]
map = ["x", "y", "z + 0.1*sin(pi*x)"]
[space]
degree = 1
points = 6
[problem]
source = 0.1
exact = "x"
[boundary]
left = { type = "robin", alpha = 2, value = "y" }
front = { type = "neumann" }
[operator]
kernel = "csr"
factors = "on-the-fly"
[solver]
relative_tolerance = 1.2345678901234567e-7
)toml";

TEST(RoundTrip, ResolvedCaseGivesIdenticalParameters) {
  const CaseParameters first = parse_case(kFullCase);
  const std::string text = case_registry().to_toml(first);
  const CaseParameters second = parse_case(text);
  EXPECT_EQ(case_registry().to_toml(second), text);
  EXPECT_EQ(second.title, first.title);
  EXPECT_EQ(second.mesh.cells, first.mesh.cells);
  EXPECT_EQ(second.mesh.lower, first.mesh.lower);
  EXPECT_EQ(second.mesh.upper, first.mesh.upper);
  EXPECT_EQ(second.mesh.map, first.mesh.map);
  EXPECT_EQ(second.space.points, first.space.points);
  EXPECT_EQ(second.operation.factors, FactorsChoice::on_the_fly);
  EXPECT_EQ(second.problem.exact, first.problem.exact);
  EXPECT_EQ(second.boundary[0].alpha, "2");
  EXPECT_EQ(second.boundary[5].type, BoundaryType::neumann);
  EXPECT_EQ(second.operation.scatter, "none");
  EXPECT_EQ(second.solver.relative_tolerance, first.solver.relative_tolerance);
}

TEST(RoundTrip, GridLinesKeepEveryBit) {
  const CaseParameters first = parse_case(
      "[mesh]\ncells = [2, 7, 3]\nlower = [0.1, -1, 0.1]\nupper = [0.30000000000000004, 2, 9]\n"
      "spacing = [[0.1, 0.2, 0.30000000000000004], {geometric = 1.1000000000000001}, "
      "{geometric = 1}]\n");
  const std::string text = case_registry().to_toml(first);
  EXPECT_NE(text.find("spacing = [[0.1, 0.2, 0.30000000000000004], { geometric = 1.1 }, "
                      "\"uniform\"]\n"),
            std::string::npos)
      << text;
  const CaseParameters second = parse_case(text);
  EXPECT_EQ(case_registry().to_toml(second), text);
  for (int d = 0; d < 3; ++d) {
    const auto lines = [d](const CaseParameters& p) {
      return grid_lines(p.mesh.spacing[d], p.mesh.lower[d], p.mesh.upper[d], p.mesh.cells[d]);
    };
    EXPECT_EQ(lines(second), lines(first)) << d;
    EXPECT_EQ(lines(first).empty(), d == 2);
  }
}

TEST(RoundTrip, ResolvedCaseWritesEveryDefault) {
  EXPECT_EQ(case_registry().to_toml(parse_case("[mesh]\ndimension = 2\ncells = [3, 4]\n")),
            R"toml(title = ""

[mesh]
dimension = 2
cells = [3, 4]
lower = [0.0, 0.0]
upper = [1.0, 1.0]
spacing = ["uniform", "uniform"]

[space]
degree = 2
nodes = "gauss-lobatto"
quadrature = "gauss"
points = 3

[problem]
coefficient = "1"
reaction = "0"
source = "0"

[boundary]
left = { type = "dirichlet", value = "0" }
right = { type = "dirichlet", value = "0" }
bottom = { type = "dirichlet", value = "0" }
top = { type = "dirichlet", value = "0" }

[operator]
kernel = "auto"
scatter = "auto"
factors = "auto"
precision = "double"

[solver]
method = "cg"
preconditioner = "auto"
relative_tolerance = 1e-08
max_iterations = 1000
initial = "0"
residual_replacement = 0
restart = 30
chebyshev = { degree = 6, range = 30.0 }
multigrid = { levels = 0, coarsening = "auto", smoother = "chebyshev", smoother_degree = 4, precision = "single", start_cycles = 2 }
block_jacobi = { sweeps = 2, local_sweeps = 4 }

[run]
device = "auto"
ranks = "auto"
threads = 0
deterministic = false

[output]
directory = "results"
vtk = true
vtk_precision = "single"
vtk_compression = "lz4"
vtk_degree = 0
picture = true
overwrite = false
)toml");
}

TEST(RoundTrip, SolverKeysKeepTheirValues) {
  const CaseParameters first = parse_case(
      "[mesh]\ncells = [4, 4, 4]\n[solver]\nmethod = \"flexible-cg\"\n"
      "preconditioner = \"multigrid\"\ninitial = \"full-multigrid\"\nresidual_replacement = 50\n"
      "[solver.chebyshev]\ndegree = 9\nrange = 12.5\n"
      "[solver.multigrid]\nlevels = 3\ncoarsening = \"degree-first\"\n"
      "smoother = \"block-asynchronous-jacobi\"\nsmoother_degree = 2\nprecision = \"double\"\n"
      "start_cycles = 5\n[solver.block_jacobi]\nsweeps = 6\nlocal_sweeps = 7\n");
  const std::string text = case_registry().to_toml(first);
  const SolverParameters second = parse_case(text).solver;
  EXPECT_EQ(case_registry().to_toml(parse_case(text)), text);
  EXPECT_EQ(second.method, SolverMethod::flexible_cg);
  EXPECT_EQ(second.preconditioner, "multigrid");
  EXPECT_EQ(second.initial, kFullMultigrid);
  EXPECT_EQ(second.residual_replacement, 50);
  EXPECT_EQ(second.chebyshev.degree, 9);
  EXPECT_EQ(second.chebyshev.range, 12.5);
  EXPECT_EQ(second.multigrid.levels, 3);
  EXPECT_EQ(second.multigrid.coarsening, CoarseningChoice::degree_first);
  EXPECT_EQ(second.multigrid.smoother, SmootherKind::block_asynchronous_jacobi);
  EXPECT_EQ(second.multigrid.smoother_degree, 2);
  EXPECT_EQ(second.multigrid.precision, Precision::double_precision);
  EXPECT_EQ(second.multigrid.start_cycles, 5);
  EXPECT_EQ(second.block_jacobi.sweeps, 6);
  EXPECT_EQ(second.block_jacobi.local_sweeps, 7);
}

TEST(RoundTrip, DefaultsParseBackToTheSameFile) {
  const std::string text = case_registry().defaults_text();
  const CaseParameters parameters = parse_case(text);
  // A 0 that stands for another number stays one, so that the degree can be changed alone.
  std::string resolved = text;
  const std::string points = "\npoints = 0\n";
  ASSERT_NE(text.find(points), std::string::npos);
  resolved.replace(text.find(points), points.size(), "\npoints = 3\n");
  EXPECT_EQ(case_registry().to_toml(parameters, Comments::full), resolved);
  EXPECT_EQ(case_registry().to_toml(parameters),
            case_registry().to_toml(parse_case("[mesh]\ncells = [8, 8, 8]\n")));
}

TEST(RoundTrip, DefaultsDescribeEveryKey) {
  const std::string text = case_registry().defaults_text();
  std::string joined = text;
  for (std::size_t at = joined.find("\n#   "); at != std::string::npos;
       at = joined.find("\n#   ")) {
    joined.replace(at, 5, 1, ' ');
  }
  for (const KeyDescription& key : case_registry().keys()) {
    EXPECT_NE(joined.find(key.description), std::string::npos) << key.name;
    EXPECT_TRUE(key.description.ends_with(".")) << key.name;
    EXPECT_NE(text.find(key.name.substr(key.name.rfind('.') + 1)), std::string::npos) << key.name;
  }
  EXPECT_NE(text.find("# exact = \"sin(pi*x)*sin(pi*y)*sin(pi*z)\"\n"), std::string::npos);
  EXPECT_NE(joined.find("One of \"auto\" | \"csr\" | \"local\" | \"tensor\" | \"kronecker\"."),
            std::string::npos);
  EXPECT_NE(joined.find(
                "in length units of the problem; default: 0 on each axis, or its first grid line."),
            std::string::npos);
}

TEST(RoundTrip, CommentedExamplesAreAccepted) {
  std::string text = case_registry().defaults_text();
  for (const char* key : {"# map = ", "# exact = "}) {
    const auto at = text.find(key);
    ASSERT_NE(at, std::string::npos) << key;
    text.erase(at, 2);
  }
  EXPECT_EQ(parse_case(text).mesh.map.size(), 3U);
}

TEST(RoundTrip, ReferenceNamesEveryKeyOnce) {
  const std::string text = case_registry().reference();
  for (const KeyDescription& key : case_registry().keys()) {
    const std::string name = "| `" + (key.family.empty() ? key.name : key.family) + "` |";
    const auto at = text.find(name);
    ASSERT_NE(at, std::string::npos) << name;
    EXPECT_EQ(text.find(name, at + 1), std::string::npos) << name;
  }
  EXPECT_NE(text.find("| `mesh.cells` | required | an array, one entry per axis, of integers, each "
                      "at least 1 | Number of cells along each axis. |"),
            std::string::npos);
  EXPECT_NE(text.find("| `operator.precision` | `\"double\"` | one of \"double\" \\| \"single\" |"),
            std::string::npos);
  EXPECT_NE(text.find("| `space.points` | degree + 1 |"), std::string::npos);
}

}  // namespace
}  // namespace tessera
