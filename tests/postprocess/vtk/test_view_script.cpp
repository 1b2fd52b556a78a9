// These tests run the ParaView script with a stand-in for ParaView.
#include <gtest/gtest.h>

#include <cstdlib>

#include "postprocess/files/atomic_file.hpp"
#include "postprocess/vtk/view_script.hpp"
#include "tests/postprocess/temporary_directory.hpp"

namespace tessera {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Runs the script with a stand-in for ParaView that accepts anything and logs calls to standard
// output.
constexpr const char* kStandIn = R"py(
import sys, types
class Anything:
    def __init__(self, name): object.__setattr__(self, "name", name)
    def __getattr__(self, name): return Anything(self.name + "." + name)
    def __getitem__(self, key): return Anything(self.name + "[]")
    def __setattr__(self, name, value): print("SET", self.name + "." + name, value)
    def __call__(self, *a, **k):
        print("CALL", self.name, k)
        if self.name.endswith("GetBounds"): return (0, 1, 0, 2, 0, 1)
        if self.name.endswith("GetRange"): return (-1.0, 3.0)
        if self.name.endswith("GetNumberOfCells"): return 1000
        return Anything(self.name)
paraview = types.ModuleType("paraview")
simple = types.ModuleType("paraview.simple")
names = """XMLUnstructuredGridReader XMLPartitionedUnstructuredGridReader PVDReader GetAnimationScene AnnotateTimeFilter GetActiveViewOrCreate WarpByScalar Clip Outline Show ColorBy
GetColorTransferFunction GetScalarBar Text SetActiveSource ResetCamera Render SaveScreenshot
Interact""".split()
for n in names: setattr(simple, n, Anything(n))
simple.__all__ = names
paraview.simple = simple
process = types.SimpleNamespace(PROCESS_BATCH=4, GetProcessType=lambda: 4 if "batch" in sys.argv else 0)
paraview.servermanager = types.SimpleNamespace(vtkProcessModule=process)
sys.modules.update({"paraview": paraview, "paraview.simple": simple})
script = sys.argv[1]
in_window = any(argument.startswith("--script") for argument in sys.argv)
sys.argv = [""] if in_window else sys.argv[1:]
names = {"__name__": "__main__"} if in_window else {"__file__": script, "__name__": "__main__"}
exec(compile(open(script).read(), script, "exec"), names)
)py";

class ViewScript : public ::testing::TestWithParam<int> {
 protected:
  const testing::TemporaryDirectory directory;

  void SetUp() override {
    if (std::system("python3 --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no python3";
  }

  std::string run(const std::string& script, const std::string& arguments,
                  const std::string& environment = "") {
    write_text_file(directory.path() / "view.py", script);
    write_text_file(directory.path() / "solution.vtu", "");
    write_text_file(directory.path() / "solution.pvtu", "");
    write_text_file(directory.path() / "solution.pvd", "");
    write_text_file(directory.path() / "stand_in.py", kStandIn);
    const std::string folder = directory.path().string();
    const std::string command = "cd / && env -u DISPLAY -u WAYLAND_DISPLAY " + environment +
                                " python3 " + folder + "/stand_in.py " + folder + "/view.py " +
                                arguments + " > " + folder + "/log 2>&1";
    const int status = std::system(command.c_str());
    std::string log = testing::read_file(directory.path() / "log");
    EXPECT_EQ(status, 0) << log;
    return log;
  }
};

TEST_P(ViewScript, Compiles) {
  ViewOptions options{GetParam(),    4, "solution", "A \"title\" with \\ and\nµ", "not converged",
                      "solution.vtu"};
  write_text_file(directory.path() / "view.py", view_script(options));
  const std::string command =
      "python3 -W error -m py_compile '" + (directory.path() / "view.py").string() + "'";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST_P(ViewScript, OpensTheFileBesideItAndSavesAPictureWithoutADisplay) {
  std::string log = run(view_script({GetParam(), 4, "solution", "title", "", "solution.vtu"}), "");
  EXPECT_TRUE(contains(log, directory.path().string() + "/solution.vtu")) << log;
  EXPECT_TRUE(contains(log, "SET Show.NonlinearSubdivisionLevel 3")) << log;
  EXPECT_TRUE(contains(log, "saved " + directory.path().string() + "/view.png")) << log;
  EXPECT_FALSE(contains(log, "CALL Interact")) << log;
  EXPECT_EQ(contains(log, "CALL WarpByScalar"), GetParam() == 2) << log;
  EXPECT_EQ(contains(log, "CALL Clip"), GetParam() == 3) << log;
}

TEST_P(ViewScript, BatchSavesAPictureOnADisplayToo) {
  const std::string script = view_script({GetParam(), 2, "u", "", "", "solution.vtu"});
  const std::string log = run(script, "batch", "DISPLAY=:0");
  EXPECT_TRUE(contains(log, "saved " + directory.path().string() + "/view.png")) << log;
  EXPECT_TRUE(contains(run(script, "", "DISPLAY=:0"), "CALL Interact"));
}

TEST_P(ViewScript, SavesThePictureThatIsAskedFor) {
  std::string log = run(view_script({GetParam(), 2, "u", "", "", "solution.vtu"}), "/tmp/p.png");
  EXPECT_TRUE(contains(log, "saved /tmp/p.png")) << log;
}

// ParaView 5.11 tells the script nothing there.
TEST_P(ViewScript, FindsTheFileInParaViewsOwnWindow) {
  const std::string script = view_script({GetParam(), 2, "u", "", "", "solution.vtu"});
  const std::string path = directory.path().string();
  for (const char* option : {"--script=", "--script "}) {
    const std::string log = run(script, option + path + "/view.py", "DISPLAY=:0");
    EXPECT_TRUE(contains(log, path + "/solution.vtu")) << log;
    EXPECT_FALSE(contains(log, "CALL Interact")) << log;
    EXPECT_FALSE(contains(log, "saved")) << log;
  }
}

TEST_P(ViewScript, OpensThePiecesOfSeveralRanks) {
  const std::string log =
      run(view_script({GetParam(), 4, "solution", "title", "", "solution.pvtu"}), "");
  EXPECT_TRUE(contains(log, "CALL XMLPartitionedUnstructuredGridReader")) << log;
  EXPECT_FALSE(contains(log, "CALL XMLUnstructuredGridReader")) << log;
  EXPECT_TRUE(contains(log, directory.path().string() + "/solution.pvtu")) << log;
  EXPECT_TRUE(contains(log, "saved " + directory.path().string() + "/view.png")) << log;
}

TEST_P(ViewScript, PlaysASeriesWithOneRangeAndShowsItsEnd) {
  const std::string log =
      run(view_script({GetParam(), 4, "u", "", "", "solution.pvd", std::pair{-2.0, 6.5}}), "");
  EXPECT_TRUE(contains(log, "CALL PVDReader")) << log;
  EXPECT_TRUE(contains(log, directory.path().string() + "/solution.pvd")) << log;
  EXPECT_TRUE(contains(log, "UpdateAnimationUsingDataTimeSteps")) << log;
  EXPECT_TRUE(contains(log, "CALL GetAnimationScene.GoToLast")) << log;
  EXPECT_TRUE(contains(log, "CALL AnnotateTimeFilter")) << log;
  EXPECT_FALSE(contains(log, "GetRange")) << log;
  EXPECT_EQ(contains(log, "SET WarpByScalar.ScaleFactor 0.0"), GetParam() == 2) << log;
}

TEST_P(ViewScript, AConstantSolutionHasNoRangeOfColors) {
  const std::string log =
      run(view_script({GetParam(), 4, "u", "", "", "solution.pvd", std::pair{1.0, 1.0}}), "");
  EXPECT_FALSE(contains(log, "RescaleTransferFunction")) << log;
}

INSTANTIATE_TEST_SUITE_P(Dimensions, ViewScript, ::testing::Values(2, 3));

TEST(ViewScriptText, ShowsThatTheSolverDidNotConverge) {
  const std::string text = view_script({3, 4, "solution", "a", "not converged", "solution.vtu"});
  EXPECT_TRUE(contains(text, "STATUS = \"not converged\"\n"));
}

}  // namespace
}  // namespace tessera
