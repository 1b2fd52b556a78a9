// These tests read the pieces of ranks, which are threads, back with VTK.
#include <gtest/gtest.h>
#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkFieldData.h>
#include <vtkIdList.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkSmartPointer.h>
#include <vtkStringArray.h>
#include <vtkUnstructuredGrid.h>
#include <vtkXMLPUnstructuredGridReader.h>
#include <vtkXMLUnstructuredGridReader.h>

#include <algorithm>
#include <cmath>

#include "postprocess/vtk/pvtu_writer.hpp"
#include "postprocess/vtk/vtu_writer.hpp"
#include "tests/postprocess/rank_cases.hpp"
#include "tests/postprocess/temporary_directory.hpp"

namespace tessera::testing {
namespace {

namespace fs = std::filesystem;
using Grid = vtkSmartPointer<vtkUnstructuredGrid>;

template <class Reader>
Grid read(const fs::path& path) {
  vtkNew<Reader> reader;
  reader->SetFileName(path.c_str());
  reader->Update();
  return reader->GetOutput();
}

// Two functions of the nodes and one of the cells, on the whole mesh or a part.
struct Fields {
  Fields(const Discretization& space, std::vector<double> u, double scale)
      : solution(std::move(u)), exact(solution.size()) {
    for (double& value : solution) value *= scale;
    for (std::size_t i = 0; i < exact.size(); ++i) exact[i] = std::sin(solution[i]);
    for (Index c = 0; c < space.mesh.cell_count(); ++c) {
      const IndexTriple at = space.mesh.cell_position(c);
      const IndexTriple& first = space.mesh.place().first_cell;
      numbers.push_back(static_cast<double>(at[0] + first[0] + 100 * (at[1] + first[1]) +
                                            10000 * (at[2] + first[2])));
    }
    points = {{"solution", solution}, {"error", solution, exact}};
    cells = {{"number", numbers}};
  }
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;

  std::vector<double> solution;
  std::vector<double> exact;
  std::vector<double> numbers;
  std::vector<PointField> points;
  std::vector<CellField> cells;
};

const VtuMetadata kMetadata = {"a <title>", "not converged", "Tessera", 0.375};

std::vector<std::string> piece_names(int ranks) {
  std::vector<std::string> names;
  for (int rank = 0; rank < ranks; ++rank) {
    names.push_back(piece_name("solution.pvtu", rank, ranks));
  }
  return names;
}

// Writes solution.vtu as one rank, and solution.pvtu with its pieces; returns what is in double
// precision on each rank, and in solution.vtu.
std::vector<std::vector<std::string>> write_both(const fs::path& folder, const RankGrid& grid,
                                                 const ProblemOptions& options,
                                                 const VtuOptions& file, double scale = 1.0) {
  const Problem whole = make_problem(options);
  const std::vector<double> u = random_values(whole.size(), 3);
  const Fields whole_fields(*whole.discretization, u, scale);
  const int count = grid[0] * grid[1] * grid[2];
  std::vector<std::vector<std::string>> widened(static_cast<std::size_t>(count + 1));
  widened.back() = write_vtu(folder / "solution.vtu", *whole.discretization, whole_fields.points,
                             whole_fields.cells, file, kMetadata);
  fs::create_directories(folder / pieces_folder("solution.pvtu"));
  run_on_threads(count, [&](const Communicator& ranks) {
    const RankCase ours(ranks, grid, options);
    const Discretization& space = ours.mine.discretization();
    const HostVector<double> mine = ours.mine.taken<double>(u);
    const Fields fields(space, {mine.data(), mine.data() + mine.size()}, scale);
    const VtuWidths widths = vtu_widths(ranks, space, fields.points, fields.cells, file);
    widened[static_cast<std::size_t>(ranks.rank())] = widths.widened;
    const std::vector<std::string> names = piece_names(count);
    AtomicFile piece(folder / names[static_cast<std::size_t>(ranks.rank())]);
    write_vtu(piece, space, fields.points, fields.cells, file, kMetadata, widths);
    piece.commit();
    if (ranks.rank() != 0) return;
    write_text_file(folder / "solution.pvtu",
                    pvtu_text(space, fields.points, fields.cells, file, kMetadata, widths, names));
  });
  return widened;
}

// What a cell has: its number, and the place and the values of each of its points, in order.
std::vector<std::vector<double>> sorted_cells(vtkUnstructuredGrid& grid) {
  std::vector<std::vector<double>> cells;
  vtkDataArray& numbers = *grid.GetCellData()->GetArray("number");
  for (vtkIdType c = 0; c < grid.GetNumberOfCells(); ++c) {
    std::vector<double> cell = {numbers.GetTuple1(c), static_cast<double>(grid.GetCellType(c))};
    vtkNew<vtkIdList> points;
    grid.GetCellPoints(c, points);
    for (vtkIdType i = 0; i < points->GetNumberOfIds(); ++i) {
      const vtkIdType point = points->GetId(i);
      const double* const x = grid.GetPoint(point);
      cell.insert(cell.end(), x, x + 3);
      for (const char* const name : {"solution", "error"}) {
        cell.push_back(grid.GetPointData()->GetArray(name)->GetTuple1(point));
      }
    }
    cells.push_back(std::move(cell));
  }
  std::sort(cells.begin(), cells.end());
  return cells;
}

void expect_same_types(vtkUnstructuredGrid& found, vtkUnstructuredGrid& expected) {
  EXPECT_EQ(found.GetPoints()->GetDataType(), expected.GetPoints()->GetDataType());
  for (const char* const name : {"solution", "error"}) {
    EXPECT_EQ(found.GetPointData()->GetArray(name)->GetDataType(),
              expected.GetPointData()->GetArray(name)->GetDataType())
        << name;
  }
  EXPECT_EQ(found.GetCellData()->GetArray("number")->GetDataType(),
            expected.GetCellData()->GetArray("number")->GetDataType());
}

class Pvtu : public OnRanks {};

TEST_P(Pvtu, ShowsWhatTheFileOfOneRankShows) {
  VtuOptions file;
  for (const ProblemOptions& options : cases()) {
    SCOPED_TRACE(describe(options));
    const TemporaryDirectory directory;
    file.width = options.geometry == Geometry::graded ? FloatWidth::single_precision
                                                      : FloatWidth::double_precision;
    write_both(directory.path(), GetParam(), options, file);
    const Grid one = read<vtkXMLUnstructuredGridReader>(directory.path() / "solution.vtu");
    const Grid several = read<vtkXMLPUnstructuredGridReader>(directory.path() / "solution.pvtu");
    ASSERT_EQ(several->GetNumberOfCells(), one->GetNumberOfCells());
    ASSERT_GT(several->GetNumberOfCells(), 0);
    EXPECT_EQ(sorted_cells(*several), sorted_cells(*one));
    expect_same_types(*several, *one);
    EXPECT_EQ(several->GetPointData()->GetScalars(), several->GetPointData()->GetArray("solution"));
    Index points = 0;
    for (const std::string& name : piece_names(count())) {
      points += read<vtkXMLUnstructuredGridReader>(directory.path() / name)->GetNumberOfPoints();
    }
    EXPECT_EQ(several->GetNumberOfPoints(), points);
  }
}

TEST_P(Pvtu, StoresTheSameNumbersInAllPiecesWhereASingleRankNeedsDoublePrecision) {
  ProblemOptions options = cases().back();
  for (const double scale : {1e200, 1e-200}) {
    const TemporaryDirectory directory;
    const auto widened = write_both(directory.path(), GetParam(), options, {}, scale);
    for (const std::vector<std::string>& names : widened) EXPECT_EQ(names, widened.back());
    // Of a difference more is not known than what it is of.
    EXPECT_EQ(widened.back(), (std::vector<std::string>{"solution", "error"}));
    const Grid one = read<vtkXMLUnstructuredGridReader>(directory.path() / "solution.vtu");
    const Grid several = read<vtkXMLPUnstructuredGridReader>(directory.path() / "solution.pvtu");
    expect_same_types(*several, *one);
    EXPECT_EQ(sorted_cells(*several), sorted_cells(*one));
  }
}

TEST_P(Pvtu, SaysWhatTheSolutionIs) {
  const TemporaryDirectory directory;
  write_both(directory.path(), GetParam(), cases().front(), {});
  const Grid grid = read<vtkXMLPUnstructuredGridReader>(directory.path() / "solution.pvtu");
  vtkFieldData& data = *grid->GetFieldData();
  const auto text_of = [&](const char* name) {
    const auto* const array = vtkStringArray::SafeDownCast(data.GetAbstractArray(name));
    return array == nullptr ? "" : const_cast<vtkStringArray*>(array)->GetValue(0);
  };
  EXPECT_EQ(text_of("title"), kMetadata.title);
  EXPECT_EQ(text_of("status"), kMetadata.status);
  EXPECT_EQ(text_of("program"), kMetadata.program);
  ASSERT_NE(data.GetArray("TimeValue"), nullptr);
  EXPECT_EQ(data.GetArray("TimeValue")->GetTuple1(0), 0.375);
}

INSTANTIATE_TEST_SUITE_P(Grids, Pvtu, ::testing::ValuesIn(rank_grids()), grid_name);

TEST(PieceNames, AreOfOneLength) {
  EXPECT_EQ(piece_name("solution.pvtu", 3, 4), "solution/0003.vtu");
  EXPECT_EQ(piece_name("solution_0007.pvtu", 42, 10001), "solution_0007/00042.vtu");
  EXPECT_TRUE(is_piece_name("0003.vtu") && is_piece_name("12345.vtu"));
  for (const char* const name :
       {"003.vtu", "0003.png", "a003.vtu", ".0003.vtu", ".0003.vtu.1.tmp"}) {
    EXPECT_FALSE(is_piece_name(name)) << name;
  }
}

// A magnitude that single precision holds on one rank and not on the other.
TEST(VtuWidths, AreThoseOfTheLargestMagnitudeOfAllRanks) {
  run_on_threads(2, [](const Communicator& ranks) {
    ProblemOptions options;
    options.dimension = 2;
    options.geometry = Geometry::cartesian;
    options.cells = {2, 1, 1};
    const RankCase ours(ranks, {2, 1, 1}, options);
    const Discretization& space = ours.mine.discretization();
    const auto widened = [&](double first, double second) {
      const std::vector<double> u(static_cast<std::size_t>(space.lattice.size()),
                                  ranks.rank() == 0 ? first : second);
      const std::vector<PointField> fields = {{"u", {u}}};
      const VtuWidths widths = vtu_widths(ranks, space, fields, {}, {});
      EXPECT_EQ(widths.of_points[0] == FloatWidth::double_precision, !widths.widened.empty());
      return !widths.widened.empty();
    };
    EXPECT_TRUE(widened(1.0, 1e200));
    EXPECT_FALSE(widened(1.0, 1e-200));
    EXPECT_TRUE(widened(1e-200, 0.0));
    EXPECT_FALSE(widened(0.0, 0.0));
    // A wrong size on one rank is told to both.
    const std::vector<double> u(static_cast<std::size_t>(space.lattice.size()) + ranks.rank());
    const std::vector<PointField> fields = {{"u", {u}}};
    EXPECT_THROW(vtu_widths(ranks, space, fields, {}, {}), std::exception);
  });
}

}  // namespace
}  // namespace tessera::testing
