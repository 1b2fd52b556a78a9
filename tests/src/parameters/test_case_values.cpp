// These tests read the values of case files.
#include "tests/src/parameters/registries.hpp"

namespace tessera {
namespace {

TEST(CaseValues, Defaults) {
  const CaseParameters p = parse_case(case_with(""));
  EXPECT_EQ(p.title, "");
  EXPECT_EQ(p.mesh.dimension, 3);
  EXPECT_EQ(p.mesh.cells, (std::vector<std::int64_t>{4, 4, 4}));
  EXPECT_EQ(p.mesh.lower, (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(p.mesh.upper, (std::vector<double>{1, 1, 1}));
  EXPECT_TRUE(p.mesh.map.empty());
  ASSERT_EQ(p.mesh.spacing.size(), 3U);
  for (const AxisSpacing& axis : p.mesh.spacing) {
    EXPECT_EQ(axis.ratio, 1.0);
    EXPECT_TRUE(axis.lines.empty());
  }
  EXPECT_EQ(p.space.degree, 2);
  EXPECT_EQ(p.space.points, 3);
  EXPECT_EQ(p.operation.factors, FactorsChoice::automatic);
  EXPECT_EQ(p.space.nodes, NodeFamily::gauss_lobatto);
  EXPECT_EQ(p.space.quadrature, QuadratureRule::gauss);
  EXPECT_EQ(p.problem.coefficient, "1");
  EXPECT_EQ(p.problem.source, "0");
  EXPECT_EQ(p.problem.exact, std::nullopt);
  for (const BoundaryParameters& face : p.boundary) {
    EXPECT_EQ(face.type, BoundaryType::dirichlet);
    EXPECT_EQ(face.value, "0");
    EXPECT_EQ(face.alpha, std::nullopt);
  }
  EXPECT_EQ(p.operation.kernel, "auto");
  EXPECT_EQ(p.operation.scatter, "auto");
  EXPECT_EQ(p.operation.precision, Precision::double_precision);
  EXPECT_EQ(p.solver.preconditioner, "auto");
  EXPECT_EQ(p.solver.relative_tolerance, 1e-8);
  EXPECT_EQ(p.solver.max_iterations, 1000);
  EXPECT_EQ(p.solver.initial, "0");
  EXPECT_EQ(p.run.device, RunDevice::automatic);
  EXPECT_FALSE(p.run.deterministic);
  EXPECT_EQ(p.run.threads, 0);
  EXPECT_EQ(p.output.directory, "results");
  EXPECT_TRUE(p.output.vtk);
  EXPECT_FALSE(p.output.overwrite);
}

TEST(CaseValues, EveryKeyIsStored) {
  const CaseParameters p = parse_case(R"toml(
title = "Poisson"
[mesh]
dimension = 2
cells = [3, 4294967297]
lower = [-1, 0.5]
upper = [1.0, 2]
map = ["x", "y + 0.1*sin(pi*x)"]
[space]
degree = 1
nodes = "equidistant"
quadrature = "gauss-lobatto"
points = 7
[problem]
coefficient = 2
source = 1.5
exact = "x"
[boundary]
right = { type = "dirichlet", value = "y" }
top = { type = "neumann", value = 1 }
bottom = { type = "robin", alpha = 2, value = "x" }
[operator]
kernel = "local"
scatter = "atomic"
factors = "on-the-fly"
precision = "single"
[solver]
method = "cg"
preconditioner = "jacobi"
relative_tolerance = 1e-5
max_iterations = 1e4
initial = "x*y"
[run]
device = "cuda"
threads = 8
[output]
directory = "there"
vtk = false
vtk_precision = "double"
vtk_compression = "zlib"
vtk_degree = 1
overwrite = true
)toml");
  EXPECT_EQ(p.title, "Poisson");
  EXPECT_EQ(p.mesh.dimension, 2);
  EXPECT_EQ(p.mesh.cells, (std::vector<std::int64_t>{3, 4294967297}));
  EXPECT_EQ(p.mesh.lower, (std::vector<double>{-1, 0.5}));
  EXPECT_EQ(p.mesh.upper, (std::vector<double>{1, 2}));
  EXPECT_EQ(p.mesh.map, (std::vector<std::string>{"x", "y + 0.1*sin(pi*x)"}));
  EXPECT_EQ(p.space.degree, 1);
  EXPECT_EQ(p.space.nodes, NodeFamily::equidistant);
  EXPECT_EQ(p.space.quadrature, QuadratureRule::gauss_lobatto);
  EXPECT_EQ(p.space.points, 7);
  EXPECT_EQ(p.operation.factors, FactorsChoice::on_the_fly);
  EXPECT_EQ(p.problem.coefficient, "2");
  EXPECT_EQ(p.problem.source, "1.5");
  EXPECT_EQ(p.problem.exact, "x");
  EXPECT_EQ(p.boundary[1].value, "y");
  EXPECT_EQ(p.boundary[3].type, BoundaryType::neumann);
  EXPECT_EQ(p.boundary[3].value, "1");
  EXPECT_EQ(p.boundary[2].type, BoundaryType::robin);
  EXPECT_EQ(p.boundary[2].alpha, "2");
  EXPECT_EQ(p.boundary[0].type, BoundaryType::dirichlet);
  EXPECT_EQ(p.operation.kernel, "local");
  EXPECT_EQ(p.operation.scatter, "atomic");
  EXPECT_EQ(p.operation.precision, Precision::single_precision);
  EXPECT_EQ(p.solver.preconditioner, "jacobi");
  EXPECT_EQ(p.solver.relative_tolerance, 1e-5);
  EXPECT_EQ(p.solver.max_iterations, 10000);
  EXPECT_EQ(p.solver.initial, "x*y");
  EXPECT_EQ(p.run.device, RunDevice::cuda);
  EXPECT_EQ(p.run.threads, 8);
  EXPECT_EQ(p.output.directory, "there");
  EXPECT_FALSE(p.output.vtk);
  EXPECT_EQ(p.output.vtu.width, FloatWidth::double_precision);
  EXPECT_EQ(p.output.vtu.compression, VtkCompression::zlib);
  EXPECT_EQ(p.output.vtu.degree, 1);
  EXPECT_TRUE(p.output.overwrite);
}

TEST(CaseValues, SpacingsMayDifferFromAxisToAxis) {
  const CaseParameters p = parse_case(
      "[mesh]\ncells = [4, 5, 3]\n"
      "spacing = [\"uniform\", { geometric = 1.2 }, [-1, 0.1, 0.4, 2]]\n");
  ASSERT_EQ(p.mesh.spacing.size(), 3U);
  EXPECT_EQ(p.mesh.spacing[0].ratio, 1.0);
  EXPECT_EQ(p.mesh.spacing[1].ratio, 1.2);
  EXPECT_EQ(p.mesh.spacing[2].lines, (GridLines{-1, 0.1, 0.4, 2}));
  // Corners that are not written follow the lines.
  EXPECT_EQ(p.mesh.lower, (std::vector<double>{0, 0, -1}));
  EXPECT_EQ(p.mesh.upper, (std::vector<double>{1, 1, 2}));
  EXPECT_EQ(grid_lines(p.mesh.spacing[0], 0, 1, 4), GridLines{});
  EXPECT_EQ(grid_lines(p.mesh.spacing[1], 0, 1, 5), geometric_lines(0, 1, 5, 1.2));
  EXPECT_EQ(grid_lines(p.mesh.spacing[2], -1, 2, 3), p.mesh.spacing[2].lines);
}

TEST(CaseValues, SpacingsMayComeFromTheCommandLine) {
  const CaseParameters p = parse_case(
      case_with(""), {{"mesh.spacing=[{geometric=2}, [0, 0.1, 0.2, 0.5, 1], \"uniform\"]"}});
  EXPECT_EQ(p.mesh.spacing[0].ratio, 2.0);
  EXPECT_EQ(p.mesh.spacing[1].lines, (GridLines{0, 0.1, 0.2, 0.5, 1}));
}

TEST(CaseValues, FacesMayBeTables) {
  const CaseParameters p =
      parse_case(case_with("[boundary.left]\ntype = \"neumann\"\n[boundary]\ntop.value = 3\n"));
  EXPECT_EQ(p.boundary[0].type, BoundaryType::neumann);
  EXPECT_EQ(p.boundary[3].value, "3");
}

TEST(CaseValues, FactorsChoicesNameTheirStorages) {
  EXPECT_EQ(storage_of(FactorsChoice::automatic), std::nullopt);
  for (const FactorStorage storage : kFactorStorages) {
    EXPECT_EQ(storage_of(choice_of(storage)), storage);
    EXPECT_EQ(name_of(choice_of(storage)), factor_storage_name(storage));
  }
}

}  // namespace
}  // namespace tessera
