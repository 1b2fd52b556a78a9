// These tests read study files.
#include "tests/src/parameters/registries.hpp"

namespace tessera {
namespace {

StudyParameters parse_study(const std::string& text, const std::vector<Override>& overrides = {}) {
  return study_registry().parse(text, "study.toml", overrides).parameters;
}

std::string study_errors(const std::string& text) {
  try {
    parse_study(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Study, Defaults) {
  const StudyParameters p = parse_study("");
  EXPECT_EQ(p.kernels, names_of(kTestKernels));
  EXPECT_EQ(p.scatters, std::vector<std::string>{"auto"});
  EXPECT_EQ(p.dofs, std::vector<std::int64_t>{1000000});
  EXPECT_EQ(p.factors, std::vector<FactorsChoice>{FactorsChoice::automatic});
  EXPECT_EQ(p.map.size(), 3U);
  EXPECT_EQ(p.extra_points, 1);
  EXPECT_EQ(p.applications, 20);
  EXPECT_EQ(p.repetitions, 20);
  EXPECT_EQ(p.time_limit_s, 10);
  EXPECT_EQ(p.agree_tolerance, 1e-12);
  EXPECT_EQ(p.output, "");
  EXPECT_EQ(p.memory_limit, 0);
  EXPECT_EQ(p.solver.relative_tolerance, 1e-9);
  EXPECT_EQ(p.solver.max_iterations, 10000);
}

TEST(Study, ListsAreRead) {
  const StudyParameters p = parse_study(R"toml(
title = "All"
[study]
kernels = ["tensor", "csr"]
scatters = ["atomic", "coloring"]
degrees = [1, 32]
dimensions = [2, 3]
dofs = [1e6, 1000, 3.0e7]
geometry = ["mapped", "uniform"]
factors = ["compressed", "stored", "on-the-fly"]
map = ["x", "y", "z"]
quadrature = "gauss-lobatto"
precision = ["single", "double"]
threads = [1, 0]
memory_limit = 8e9
device = "cuda"
output = "a.csv"
)toml");
  EXPECT_EQ(p.title, "All");
  EXPECT_EQ(p.kernels, (std::vector<std::string>{"tensor", "csr"}));
  EXPECT_EQ(p.degrees, (std::vector<int>{1, 32}));
  EXPECT_EQ(p.dofs, (std::vector<std::int64_t>{1000000, 1000, 30000000}));
  EXPECT_EQ(p.geometry,
            (std::vector<StudyGeometry>{StudyGeometry::mapped, StudyGeometry::uniform}));
  EXPECT_EQ(p.factors, (std::vector<FactorsChoice>{FactorsChoice::compressed, FactorsChoice::stored,
                                                   FactorsChoice::on_the_fly}));
  EXPECT_EQ(p.precision,
            (std::vector<Precision>{Precision::single_precision, Precision::double_precision}));
  EXPECT_EQ(p.memory_limit, 8000000000);
  EXPECT_EQ(p.device, RunDevice::cuda);
  EXPECT_EQ(p.output, "a.csv");
}

TEST(Study, Errors) {
  EXPECT_EQ(study_errors("[study]\nkernels = [\"tensor\", \"cssr\"]\ndegrees = [2, 33]\n"
                         "dimensions = [4]\ndofs = [1.5]\nthreads = []\nprecision = \"double\"\n"
                         "geometry = [\"uniform\", \"uniform\"]\nmap = [\"x\", \"y\"]\n"),
            "study.toml:2: study.kernels = [\"tensor\", \"cssr\"]: entry 2 is \"cssr\": must be "
            "one of \"csr\" | \"local\" | \"tensor\" | \"kronecker\"; did you mean \"csr\"?\n"
            "study.toml:3: study.degrees = [2, 33]: entry 2 is 33: must be an integer from 1 to "
            "32\n"
            "study.toml:4: study.dimensions = [4]: entry 1 is 4: must be an integer from 2 to 3\n"
            "study.toml:5: study.dofs = [1.5]: entry 1 is 1.5: must be an integer from 1 to 1e+15, "
            "not a number\n"
            "study.toml:6: study.threads = []: must be an array of integers, each from 0 to 4096; "
            "it is empty\n"
            "study.toml:7: study.precision = \"double\": must be an array of strings, each one of "
            "\"double\" | \"single\", not a string\n"
            "study.toml:8: study.geometry = [\"uniform\", \"uniform\"]: has \"uniform\" twice\n"
            "study.toml:9: study.map = [\"x\", \"y\"]: must have 3 entries, one per axis, in 2D "
            "too; it has 2");
}

TEST(Study, UnknownKey) {
  EXPECT_EQ(study_errors("[study]\nkernels = [\"auto\"]\n"),
            "study.toml:2: study.kernels = [\"auto\"]: entry 1 is \"auto\": must be one of "
            "\"csr\" | \"local\" | \"tensor\" | \"kronecker\"");
  EXPECT_EQ(study_errors("[study]\nkernel = \"csr\"\n"),
            "study.toml:2: study.kernel = \"csr\": unknown key; did you mean study.kernels?");
}

TEST(Study, SolverHasTheKeysOfCases) {
  const StudyParameters p = parse_study(
      "[solver]\nmethod = \"flexible-cg\"\nresidual_replacement = 7\n"
      "chebyshev = { range = 5 }\nmultigrid = { levels = 3, precision = \"double\" }\n"
      "block_jacobi = { local_sweeps = 9 }\n");
  EXPECT_EQ(p.solver.method, SolverMethod::flexible_cg);
  EXPECT_EQ(p.solver.residual_replacement, 7);
  EXPECT_EQ(p.solver.chebyshev.range, 5);
  EXPECT_EQ(p.solver.multigrid.levels, 3);
  EXPECT_EQ(p.solver.multigrid.precision, Precision::double_precision);
  EXPECT_EQ(p.solver.block_jacobi.local_sweeps, 9);
}

TEST(Study, MovedKeysOfSolversAreAnsweredWithTheirNames) {
  EXPECT_EQ(
      study_errors("[study]\nmethod = \"cg\"\nrelative_tolerance = 1e-8\nsmoother = \"jacobi\"\n"
                   "cycle_precision = \"double\"\nsweeps = 2\n"),
      "study.toml:2: study.method = \"cg\": unknown key; it is solver.method now\n"
      "study.toml:3: study.relative_tolerance = 1e-08: unknown key; it is "
      "solver.relative_tolerance now\n"
      "study.toml:4: study.smoother = \"jacobi\": unknown key; it is "
      "solver.multigrid.smoother now\n"
      "study.toml:5: study.cycle_precision = \"double\": unknown key; it is "
      "solver.multigrid.precision now\n"
      "study.toml:6: study.sweeps = 2: unknown key; it is solver.block_jacobi.sweeps now");
}

TEST(Study, AndCasesHaveTheKeysOfEachPreconditioner) {
  const std::vector<PreconditionerName> more = {
      {"none", MapOfCalls::the_same},
      {"mine", MapOfCalls::the_same, [](Keys<SolverParameters>& keys) {
         keys.add(
             {.name = "solver.mine.degree", .description = "Of mine."},
             [](auto& p) -> auto& { return p.chebyshev.degree; });
       }}};
  const std::string text = "[solver.mine]\ndegree = 3\n";
  EXPECT_EQ(make_study_registry(kTestKernels, kTestScatters, more)
                .parse(text, "study.toml")
                .parameters.solver.chebyshev.degree,
            3);
  EXPECT_EQ(make_case_registry(kTestKernels, kTestScatters, more)
                .parse(case_with(text), "case.toml")
                .parameters.solver.chebyshev.degree,
            3);
}

TEST(Study, MapMayHaveEqualExpressions) {
  EXPECT_EQ(study_errors("[study]\nmap = [\"x\", \"x\", \"z\"]\n"), "");
}

TEST(Study, RoundTrips) {
  const std::string text = study_registry().defaults_text();
  EXPECT_EQ(study_registry().to_toml(parse_study(text), Comments::full), text);
  const std::string resolved = study_registry().to_toml(
      parse_study("[study]\ndofs = [1e6]\ntime_limit_s = 0.1\nagree_tolerance = 3e-13\n"));
  EXPECT_EQ(study_registry().to_toml(parse_study(resolved)), resolved);
  EXPECT_NE(resolved.find("dofs = [1000000]\n"), std::string::npos);
  EXPECT_NE(resolved.find("time_limit_s = 0.1\n"), std::string::npos);
}

TEST(Study, Overrides) {
  EXPECT_EQ(
      parse_study("", {{"study.degrees=[7]"}, {"study.output=\"m.csv\"", "--csv m.csv"}}).output,
      "m.csv");
}

}  // namespace
}  // namespace tessera
