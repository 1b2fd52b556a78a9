// These tests read written files back with VTK.
#include <gtest/gtest.h>
#include <vtkCell.h>
#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkCellType.h>
#include <vtkDataArray.h>
#include <vtkFieldData.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkSmartPointer.h>
#include <vtkStringArray.h>
#include <vtkUnstructuredGrid.h>
#include <vtkXMLUnstructuredGridReader.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <tuple>

#include "postprocess/files/atomic_file.hpp"
#include "postprocess/vtk/vtu_writer.hpp"
#include "tests/postprocess/temporary_directory.hpp"

namespace tessera {
namespace {

using testing::TemporaryDirectory;

enum class Shape { cartesian, mapped };

ScalarField field(const std::function<double(double, double, double)>& f) {
  return {[f](const PointBlock& block, double* values) {
            for (std::size_t i = 0; i < block.n; ++i) {
              values[i] = f(block.x[i], block.y[i], block.z[i]);
            }
          },
          {}};
}

Discretization make_space(int dimension, int degree, NodeFamily family, Shape shape,
                          IndexTriple cells = {3, 2, 2}) {
  const BoxMesh mesh(dimension, cells, {0.0, -0.5, 0.25}, {1.0, 0.5, 1.0});
  const Basis1D basis = make_basis(degree, family, QuadratureRule::gauss, degree + 1);
  const NodeLattice lattice(mesh, degree);
  if (shape == Shape::cartesian) return {mesh, basis, lattice, {mesh, lattice, basis.nodes}};
  const auto wave = [](double x, double y, double z) { return std::sin(2 * x + 3 * y - z); };
  const std::array<ScalarField, 3> map = {
      field([=](double x, double y, double z) { return x + 0.05 * wave(x, y, z); }),
      field([=](double x, double y, double z) { return y + 0.04 * wave(z, x, y) * x; }),
      field([=](double x, double y, double z) { return z - 0.06 * wave(y, z, x); })};
  return {mesh, basis, lattice, {mesh, lattice, basis.nodes, map}};
}

std::vector<double> sample(const Discretization& space,
                           const std::function<double(double, double, double)>& f) {
  const auto n = static_cast<std::size_t>(space.lattice.size());
  std::vector<double> x(n), y(n), z(n), values(n);
  space.mapping.node_positions(0, space.lattice.size(), x.data(), y.data(), z.data());
  for (std::size_t i = 0; i < n; ++i) values[i] = f(x[i], y[i], z[i]);
  return values;
}

vtkSmartPointer<vtkUnstructuredGrid> read(const std::filesystem::path& path) {
  vtkNew<vtkXMLUnstructuredGridReader> reader;
  reader->SetFileName(path.c_str());
  reader->Update();
  return reader->GetOutput();
}

// A polynomial of full degree in each coordinate, different in each.
double polynomial(int degree, double x, double y, double z) {
  double px = 0.3, py = -0.2, pz = 0.7;
  for (int i = 0; i < degree; ++i) {
    px = px * x + 1.0 / (i + 1);
    py = py * y - 0.4 + 0.1 * i;
    pz = pz * z + (i % 2 == 0 ? 0.5 : -0.3);
  }
  return px * py * pz;
}

// The isoparametric cell map, evaluated by its definition.
Point map_of_cell(const Discretization& space, Index cell, const double* at) {
  const int p = space.lattice.degree();
  const int dimension = space.mesh.dimension();
  std::array<Matrix1D, 3> l;
  for (int d = 0; d < 3; ++d) l[d] = lagrange_values(space.basis.nodes, {at + d, 1});
  const Index first = space.lattice.first_node(space.mesh.cell_position(cell));
  Point result{};
  for (int k = 0; k <= (dimension == 3 ? p : 0); ++k) {
    for (int j = 0; j <= p; ++j) {
      for (int i = 0; i <= p; ++i) {
        Point node;
        space.mapping.node_positions(
            first + i + j * space.lattice.stride(1) + k * space.lattice.stride(2), 1, node.data(),
            &node[1], &node[2]);
        const double weight = l[0](0, i) * l[1](0, j) * (dimension == 3 ? l[2](0, k) : 1.0);
        for (int d = 0; d < 3; ++d) result[d] += weight * node[d];
      }
    }
  }
  return result;
}

class Vtu : public ::testing::TestWithParam<std::tuple<int, int, Shape>> {
 protected:
  const int dimension = std::get<0>(GetParam());
  const int degree = std::get<1>(GetParam());
  const Shape shape = std::get<2>(GetParam());
  const TemporaryDirectory directory;
  const std::filesystem::path path = directory.path() / "solution.vtu";
};

TEST_P(Vtu, ShowsTheFiniteElementFunctionBetweenItsNodes) {
  const Discretization space = make_space(dimension, degree, NodeFamily::gauss_lobatto, shape);
  const auto f = [&](double x, double y, double z) {
    return polynomial(degree, x, y, dimension == 3 ? z : 1.0);
  };
  const std::vector<double> values = sample(space, f);
  const std::vector<double> xs = sample(space, [](double x, double, double) { return x; });
  std::vector<double> numbers(static_cast<std::size_t>(space.mesh.cell_count()));
  for (std::size_t c = 0; c < numbers.size(); ++c) numbers[c] = static_cast<double>(c);
  const std::vector<PointField> point_fields = {{"solution", values}, {"x", xs}};
  const std::vector<CellField> cell_fields = {{"number", numbers}};
  write_vtu(path, space, point_fields, cell_fields, {FloatWidth::double_precision}, {});
  EXPECT_EQ(directory.entry_count(), 1);

  const auto grid = read(path);
  ASSERT_EQ(grid->GetNumberOfPoints(), space.lattice.size());
  ASSERT_EQ(grid->GetNumberOfCells(), space.mesh.cell_count());
  vtkDataArray* solution = grid->GetPointData()->GetArray("solution");
  vtkDataArray* x_field = grid->GetPointData()->GetArray("x");
  ASSERT_NE(solution, nullptr);
  ASSERT_NE(x_field, nullptr);
  EXPECT_EQ(grid->GetPointData()->GetScalars(), solution);
  const int expected_type = dimension == 2
                                ? (degree == 1 ? VTK_QUAD : VTK_LAGRANGE_QUADRILATERAL)
                                : (degree == 1 ? VTK_HEXAHEDRON : VTK_LAGRANGE_HEXAHEDRON);
  std::mt19937 engine(3);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  const auto cell_size = static_cast<std::size_t>(space.lattice.nodes_per_cell());
  for (Index c = 0; c < space.mesh.cell_count(); ++c) {
    ASSERT_EQ(grid->GetCellType(c), expected_type);
    EXPECT_EQ(grid->GetCellData()->GetArray("number")->GetComponent(c, 0), double(c));
    vtkCell* cell = grid->GetCell(c);
    ASSERT_EQ(static_cast<std::size_t>(cell->GetNumberOfPoints()), cell_size);
    for (int sample = 0; sample < 5; ++sample) {
      const double at[3] = {uniform(engine), uniform(engine),
                            dimension == 3 ? uniform(engine) : 0.0};
      std::vector<double> weights(cell_size);
      double x[3];
      int sub_cell = 0;
      cell->EvaluateLocation(sub_cell, at, x, weights.data());
      cell->InterpolateFunctions(at, weights.data());
      double value = 0.0;
      double x_value = 0.0;
      for (std::size_t v = 0; v < cell_size; ++v) {
        const vtkIdType point = cell->GetPointId(static_cast<int>(v));
        value += weights[v] * solution->GetComponent(point, 0);
        x_value += weights[v] * x_field->GetComponent(point, 0);
      }
      const Point expected = map_of_cell(space, c, at);
      for (int d = 0; d < 3; ++d) ASSERT_NEAR(x[d], expected[d], 1e-12);
      ASSERT_NEAR(x_value, x[0], 1e-12);
      if (shape == Shape::cartesian) {
        ASSERT_NEAR(value, f(x[0], x[1], x[2]), 1e-12);
      }
    }
  }
}

TEST_P(Vtu, SaysVersion22WhereTheNumberingOfHexahedraMatters) {
  const Discretization space = make_space(dimension, degree, NodeFamily::equidistant, shape);
  write_vtu(path, space, {}, {}, {FloatWidth::double_precision}, {});
  const std::string head = testing::read_file(path).substr(0, 400);
  const std::string version = dimension == 3 && degree > 1 ? "2.2" : "1.0";
  EXPECT_EQ(head.substr(0, head.find('\n')),
            "<VTKFile type=\"UnstructuredGrid\" version=\"" + version +
                "\" byte_order=\"LittleEndian\" header_type=\"UInt64\" "
                "compressor=\"vtkLZ4DataCompressor\">");
}

INSTANTIATE_TEST_SUITE_P(Cells, Vtu,
                         ::testing::Combine(::testing::Values(2, 3),
                                            ::testing::Values(1, 2, 3, 4, 5, 7, 10),
                                            ::testing::Values(Shape::cartesian, Shape::mapped)),
                         [](const auto& test) {
                           return "d" + std::to_string(std::get<0>(test.param)) + "_p" +
                                  std::to_string(std::get<1>(test.param)) +
                                  (std::get<2>(test.param) == Shape::mapped ? "_mapped" : "");
                         });

void expect_equal(vtkDataArray* a, vtkDataArray* b) {
  ASSERT_NE(a, nullptr);
  ASSERT_EQ(a->GetDataType(), b->GetDataType());
  ASSERT_EQ(a->GetNumberOfValues(), b->GetNumberOfValues());
  for (vtkIdType i = 0; i < a->GetNumberOfTuples(); ++i) {
    for (int c = 0; c < a->GetNumberOfComponents(); ++c) {
      ASSERT_EQ(a->GetComponent(i, c), b->GetComponent(i, c)) << i;
    }
  }
}

class VtuFile : public ::testing::Test {
 protected:
  const TemporaryDirectory directory;
  const std::filesystem::path path = directory.path() / "solution.vtu";
};

TEST_F(VtuFile, HoldsTitleStatusProgramAndTime) {
  const Discretization space = make_space(2, 2, NodeFamily::gauss_lobatto, Shape::cartesian);
  write_vtu(path, space, {}, {}, {FloatWidth::double_precision},
            {"a <title> & \"more\", µ", "not converged", "", 0.1});
  const auto grid = read(path);
  const auto text = [&](const char* name) {
    auto* array = vtkStringArray::SafeDownCast(grid->GetFieldData()->GetAbstractArray(name));
    return array == nullptr ? std::string("(none)") : std::string(array->GetValue(0));
  };
  EXPECT_EQ(text("title"), "a <title> & \"more\", µ");
  EXPECT_EQ(text("status"), "not converged");
  EXPECT_EQ(text("program"), "(none)");
  vtkDataArray* const time = grid->GetFieldData()->GetArray("TimeValue");
  ASSERT_NE(time, nullptr);
  EXPECT_EQ(time->GetTuple1(0), 0.1);
}

TEST_F(VtuFile, SinglePrecisionIsSmallerAndRightToSevenDigits) {
  const Discretization space =
      make_space(3, 4, NodeFamily::gauss_lobatto, Shape::mapped, {6, 6, 6});
  const std::vector<double> values =
      sample(space, [](double x, double y, double z) { return std::sin(5 * x) * y + z; });
  const std::vector<PointField> fields = {{"solution", values}};
  write_vtu(path, space, fields, {}, {FloatWidth::single_precision}, {});
  const auto grid = read(path);
  vtkDataArray* solution = grid->GetPointData()->GetArray("solution");
  ASSERT_EQ(solution->GetDataType(), VTK_FLOAT);
  ASSERT_EQ(grid->GetPoints()->GetDataType(), VTK_FLOAT);
  std::vector<double> expected(values.size());
  const EquidistantSampler sampler(space.lattice, space.basis.nodes, space.lattice);
  std::vector<double> scratch(static_cast<std::size_t>(sampler.scratch_size(space.lattice.size())));
  sampler.sample({values}, {0, space.lattice.size()}, expected.data(), scratch.data());
  for (Index i = 0; i < space.lattice.size(); ++i) {
    ASSERT_EQ(solution->GetComponent(i, 0), static_cast<float>(expected[i]));
  }
  const auto size = std::filesystem::file_size(path);
  write_vtu(path, space, fields, {}, {FloatWidth::double_precision}, {});
  EXPECT_LT(size, std::filesystem::file_size(path));
}

TEST_F(VtuFile, DegreesBeyondVtkBecomeLinearCells) {
  const int degree = kMaxVtkDegree + 2;
  const Discretization space =
      make_space(2, degree, NodeFamily::gauss_lobatto, Shape::cartesian, {2, 3, 1});
  const auto f = [](double x, double y, double) { return x * x - 3 * y; };
  const std::vector<double> values = sample(space, f);
  const std::vector<double> numbers = {0, 1, 2, 3, 4, 5};
  const std::vector<PointField> point_fields = {{"solution", values}};
  const std::vector<CellField> cell_fields = {{"number", numbers}};
  write_vtu(path, space, point_fields, cell_fields, {FloatWidth::double_precision}, {});
  const auto grid = read(path);
  ASSERT_EQ(grid->GetNumberOfPoints(), space.lattice.size());
  ASSERT_EQ(grid->GetNumberOfCells(), 6 * degree * degree);
  for (vtkIdType i = 0; i < grid->GetNumberOfPoints(); ++i) {
    double x[3];
    grid->GetPoint(i, x);
    ASSERT_NEAR(grid->GetPointData()->GetScalars()->GetComponent(i, 0), f(x[0], x[1], 0.0), 1e-12);
  }
  for (vtkIdType c = 0; c < grid->GetNumberOfCells(); ++c) {
    ASSERT_EQ(grid->GetCellType(c), VTK_QUAD);
    double bounds[6];
    grid->GetCellBounds(c, bounds);
    const int i = 0.5 * (bounds[0] + bounds[1]) < 0.5 ? 0 : 1;
    const int j = static_cast<int>(3 * (0.5 * (bounds[2] + bounds[3]) + 0.5));
    ASSERT_EQ(grid->GetCellData()->GetArray("number")->GetComponent(c, 0), i + 2 * j);
  }
}

TEST_F(VtuFile, ManyBlocksSurviveCompressionOnAllThreads) {
  const Discretization space =
      make_space(3, 3, NodeFamily::equidistant, Shape::cartesian, {20, 17, 13});
  std::mt19937 engine(5);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  std::vector<double> values(static_cast<std::size_t>(space.lattice.size()));
  for (double& value : values) value = uniform(engine);
  const std::vector<PointField> fields = {{"first", values}, {"solution", values}};
  write_vtu(path, space, fields, {}, {FloatWidth::double_precision}, {});
  const auto grid = read(path);
  ASSERT_EQ(grid->GetNumberOfPoints(), space.lattice.size());
  const Index last = space.mesh.cell_count() - 1;
  EXPECT_EQ(grid->GetCell(last)->GetPointId(6), space.lattice.size() - 1);
  for (const char* name : {"first", "solution"}) {
    vtkDataArray* array = grid->GetPointData()->GetArray(name);
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(array->GetComponent(static_cast<vtkIdType>(i), 0), values[i]);
    }
  }
}

TEST_F(VtuFile, AllCompressionsHoldTheSameNumbers) {
  const Discretization space =
      make_space(3, 4, NodeFamily::gauss_lobatto, Shape::mapped, {14, 12, 9});
  const std::vector<double> values =
      sample(space, [](double x, double y, double z) { return std::sin(5 * x) * y + z; });
  const std::vector<double> cells(static_cast<std::size_t>(space.mesh.cell_count()), 2.5);
  const std::vector<PointField> point_fields = {{"solution", values}};
  const std::vector<CellField> cell_fields = {{"number", cells}};
  VtuOptions options{FloatWidth::single_precision, VtkCompression::none};
  write_vtu(path, space, point_fields, cell_fields, options, {});
  const auto plain = read(path);
  const auto plain_size = std::filesystem::file_size(path);
  const auto foreseen =
      static_cast<std::uintmax_t>(uncompressed_vtu_bytes(space.lattice, space.mesh, 1, 1, options));
  EXPECT_GE(plain_size, foreseen);
  EXPECT_LE(plain_size, foreseen + 2 * 4096);
  for (const auto compression : {VtkCompression::lz4, VtkCompression::zlib}) {
    options.compression = compression;
    write_vtu(path, space, point_fields, cell_fields, options, {});
    EXPECT_LT(std::filesystem::file_size(path), plain_size);
    const auto grid = read(path);
    expect_equal(grid->GetPoints()->GetData(), plain->GetPoints()->GetData());
    expect_equal(grid->GetPointData()->GetScalars(), plain->GetPointData()->GetScalars());
    expect_equal(grid->GetCellData()->GetArray("number"), plain->GetCellData()->GetArray("number"));
    expect_equal(grid->GetCells()->GetConnectivityArray(),
                 plain->GetCells()->GetConnectivityArray());
    expect_equal(grid->GetCells()->GetOffsetsArray(), plain->GetCells()->GetOffsetsArray());
  }
}

TEST_F(VtuFile, ExactValuesAreThoseAtItsPoints) {
  for (const Shape shape : {Shape::cartesian, Shape::mapped}) {
    for (const int degree : {0, 2, 5}) {
      const Discretization space = make_space(3, 3, NodeFamily::gauss_lobatto, shape);
      const std::vector<double> values =
          sample(space, [](double x, double y, double z) { return x * y - z; });
      const ScalarField exact =
          field([](double x, double y, double z) { return std::sin(3 * x) * y + z; });
      const VtuOptions options{FloatWidth::double_precision, VtkCompression::none, degree};
      const HostArray<double> given = values_at_vtu_points(exact, space, options);
      const std::vector<PointField> fields = {
          {"solution", values}, {"exact", {}, given}, {"error", values, given}};
      write_vtu(path, space, fields, {}, options, {});
      const auto grid = read(path);
      ASSERT_EQ(grid->GetNumberOfPoints(), static_cast<Index>(given.size()));
      const auto value = [&](const char* name, Index i) {
        return grid->GetPointData()->GetArray(name)->GetComponent(i, 0);
      };
      for (Index i = 0; i < grid->GetNumberOfPoints(); ++i) {
        const double* const at = grid->GetPoint(i);
        ASSERT_NEAR(value("exact", i), std::sin(3 * at[0]) * at[1] + at[2], 1e-14);
        ASSERT_NEAR(value("error", i), value("solution", i) - value("exact", i), 1e-15);
      }
    }
  }
}

TEST_F(VtuFile, CellsOfALowerDegreeHaveTheValuesOfTheSpace) {
  const Discretization space = make_space(3, 4, NodeFamily::gauss_lobatto, Shape::mapped);
  const auto f = [](double x, double y, double z) { return std::sin(5 * x) * y + z; };
  const std::vector<double> values = sample(space, f);
  const std::vector<double> x = sample(space, [](double a, double, double) { return a; });
  const std::vector<PointField> fields = {{"solution", values}, {"x", x}};
  const VtuOptions all{FloatWidth::double_precision, VtkCompression::lz4};
  write_vtu(path, space, fields, {}, all, {});
  const auto fine = read(path);
  // Points of degree 2 are every other one of degree 4.
  VtuOptions options = all;
  options.degree = 2;
  write_vtu(path, space, fields, {}, options, {});
  const auto grid = read(path);
  const NodeLattice points(space.mesh, 2);
  ASSERT_EQ(grid->GetNumberOfPoints(), points.size());
  ASSERT_EQ(grid->GetNumberOfCells(), space.mesh.cell_count());
  EXPECT_EQ(grid->GetCell(0)->GetNumberOfPoints(), 27);
  for (Index i = 0; i < points.size(); ++i) {
    IndexTriple at = points.node_position(i);
    for (Index& index : at) index *= 2;
    const Index j = space.lattice.node_index(at);
    for (const char* name : {"solution", "x"}) {
      ASSERT_NEAR(grid->GetPointData()->GetArray(name)->GetComponent(i, 0),
                  fine->GetPointData()->GetArray(name)->GetComponent(j, 0), 1e-13);
    }
    for (int d = 0; d < 3; ++d) ASSERT_NEAR(grid->GetPoint(i)[d], fine->GetPoint(j)[d], 1e-13);
  }
}

// What readers with a recent expat need: see vtu_file.cpp.
TEST_F(VtuFile, TagOfTheDataEndsABlockOfReaders) {
  const Discretization space = make_space(2, 2, NodeFamily::gauss_lobatto, Shape::cartesian);
  for (const std::string title : {"", "a title", "a title of another length"}) {
    write_vtu(path, space, {}, {}, {}, {title, "", ""});
    const std::string text = testing::read_file(path);
    const std::size_t name = text.find("<AppendedData");
    ASSERT_NE(name, std::string::npos);
    EXPECT_EQ((name + std::string("<AppendedData").size()) % 4096, 0U);
    EXPECT_EQ(text.find('>', name) - name, 48U);
    EXPECT_EQ(text.find("<AppendedData encoding=\"raw\" "), name);
  }
}

TEST_F(VtuFile, SizeBeforeCompressionIsKnown) {
  const NodeLattice lattice(BoxMesh(3, {2, 3, 4}, {0, 0, 0}, {1, 1, 1}), 2);
  const BoxMesh mesh(3, {2, 3, 4}, {0, 0, 0}, {1, 1, 1});
  VtuOptions options;
  EXPECT_EQ(uncompressed_vtu_bytes(lattice, mesh, 1, 1, options),
            5 * 7 * 9 * 16 + 24 * (27 * 4 + 4 + 1 + 4));
  options.degree = 1;
  EXPECT_EQ(uncompressed_vtu_bytes(lattice, mesh, 1, 1, options),
            3 * 4 * 5 * 16 + 24 * (8 * 4 + 4 + 1 + 4));
}

TEST_F(VtuFile, IdsHave64BitsWhereTheyNeedThem) {
  const BoxMesh mesh(3, {1000, 1000, 1000}, {0, 0, 0}, {1, 1, 1});
  const NodeLattice lattice(mesh, 1);
  EXPECT_EQ(uncompressed_vtu_bytes(lattice, mesh, 0, 0, {}),
            lattice.size() * 12 + mesh.cell_count() * (8 * 8 + 8 + 1));
}

TEST_F(VtuFile, WrongFieldSizesAreRefusedBeforeWriting) {
  const Discretization space = make_space(2, 2, NodeFamily::gauss_lobatto, Shape::cartesian);
  const std::vector<double> values(3);
  const std::vector<PointField> point_fields = {{"solution", values}};
  const std::vector<CellField> cell_fields = {{"number", values}};
  EXPECT_THROW(write_vtu(path, space, point_fields, {}, {FloatWidth::double_precision}, {}),
               std::invalid_argument);
  EXPECT_THROW(write_vtu(path, space, {}, cell_fields, {FloatWidth::double_precision}, {}),
               std::invalid_argument);
  EXPECT_EQ(directory.entry_count(), 0);
}

// What is thrown, and what is printed meanwhile, when a grid of some 100 KiB is written.
std::pair<std::string, std::string> failure(const std::filesystem::path& path) {
  const Discretization space =
      make_space(3, 3, NodeFamily::gauss_lobatto, Shape::mapped, {10, 10, 10});
  std::string cause;
  ::testing::internal::CaptureStderr();
  ::testing::internal::CaptureStdout();
  try {
    write_vtu(path, space, {}, {}, {FloatWidth::double_precision}, {});
  } catch (const OutputError& error) {
    EXPECT_EQ(error.path(), path);
    cause = error.cause();
  }
  const std::string out = ::testing::internal::GetCapturedStdout();
  return {cause, out + ::testing::internal::GetCapturedStderr()};
}

TEST_F(VtuFile, FileThatMayNotGrowThrowsQuietlyAndLeavesNothing) {
  for (const std::size_t limit : {0, 100, 5000, 50000, 200000}) {
    const testing::FileSizeLimit file_size_limit(limit);
    const TemporaryDirectory place;
    const auto [cause, printed] = failure(place.path() / "solution.vtu");
    EXPECT_EQ(cause, "File too large") << limit;
    EXPECT_EQ(printed, "") << limit;
    EXPECT_EQ(place.entry_count(), 0) << limit;
  }
}

TEST_F(VtuFile, FullDiskThrowsQuietlyAndLeavesNothing) {
  const testing::SmallDisk disk;
  if (!disk.mounted()) GTEST_SKIP() << "this user may not mount a small disk";
  const auto [cause, printed] = failure(disk.directory().path() / "solution.vtu");
  EXPECT_EQ(cause, "No space left on device");
  EXPECT_EQ(printed, "");
  EXPECT_EQ(disk.directory().entry_count(), 0);
}

TEST_F(VtuFile, MissingDirectoryIsNamed) {
  const auto [cause, printed] = failure(directory.path() / "missing" / "solution.vtu");
  EXPECT_EQ(cause, "No such file or directory");
  EXPECT_EQ(printed, "");
}

class RangeOfSinglePrecision : public ::testing::Test {
 protected:
  // Writes x, times a factor, as a field of points and of cells.
  std::vector<std::string> write(double factor, double length = 1.0) {
    const BoxMesh mesh(2, {3, 2, 1}, {0.0, 0.0, 0.0}, {length, 1.0, 0.0});
    const Basis1D basis = make_basis(1, NodeFamily::gauss_lobatto, QuadratureRule::gauss, 2);
    const NodeLattice lattice(mesh, 1);
    const Discretization space{mesh, basis, lattice, {mesh, lattice, basis.nodes}};
    values_ = sample(space, [&](double x, double, double) { return factor * (x / length); });
    cells_ = std::vector<double>(6, 1.0);
    const std::vector<PointField> points = {{"solution", values_}};
    const std::vector<CellField> cells = {{"coefficient", cells_}};
    std::vector<std::string> widened = write_vtu(directory_.path() / "a.vtu", space, points, cells,
                                                 {FloatWidth::single_precision}, {});
    grid_ = read(directory_.path() / "a.vtu");
    return widened;
  }
  void expect_values(double relative_error) {
    vtkDataArray& array = *grid_->GetPointData()->GetArray("solution");
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const double value = array.GetComponent(static_cast<vtkIdType>(i), 0);
      EXPECT_NEAR(value, values_[i], relative_error * std::abs(values_[i])) << i;
    }
  }
  int type_of(const char* name) { return grid_->GetPointData()->GetArray(name)->GetDataType(); }

  TemporaryDirectory directory_;
  std::vector<double> values_;
  std::vector<double> cells_;
  vtkSmartPointer<vtkUnstructuredGrid> grid_;
};

TEST_F(RangeOfSinglePrecision, HoldsUsualNumbers) {
  for (const double factor : {1.0, 1e-30, 1e38, 0.0}) {
    EXPECT_TRUE(write(factor).empty()) << factor;
    EXPECT_EQ(type_of("solution"), VTK_FLOAT);
    expect_values(1e-6);
  }
}

TEST_F(RangeOfSinglePrecision, LosesNoNumbersBeyondIt) {
  for (const double factor : {1e39, 1e300, 1e-39, 1e-33, 1e-300}) {
    EXPECT_EQ(write(factor), std::vector<std::string>{"solution"}) << factor;
    EXPECT_EQ(type_of("solution"), VTK_DOUBLE);
    EXPECT_EQ(grid_->GetCellData()->GetArray("coefficient")->GetDataType(), VTK_FLOAT);
    expect_values(0.0);
  }
}

// Where most of a field is of order 1, what is 0 in single precision is less than its rounding.
TEST_F(RangeOfSinglePrecision, MayLoseWhatIsNothingBesideTheRest) {
  write(1.0);
  cells_[0] = 1e-50;
  const BoxMesh mesh(2, {3, 2, 1}, {0.0, 0.0, 0.0}, {1.0, 1.0, 0.0});
  const Basis1D basis = make_basis(1, NodeFamily::gauss_lobatto, QuadratureRule::gauss, 2);
  const NodeLattice lattice(mesh, 1);
  const Discretization space{mesh, basis, lattice, {mesh, lattice, basis.nodes}};
  const std::vector<CellField> cells = {{"coefficient", cells_}};
  EXPECT_TRUE(
      write_vtu(directory_.path() / "a.vtu", space, {}, cells, {FloatWidth::single_precision}, {})
          .empty());
}

TEST_F(RangeOfSinglePrecision, LosesNoPositions) {
  for (const double length : {1e-40, 1e40}) {
    EXPECT_EQ(write(1.0, length), std::vector<std::string>{"positions"});
    EXPECT_EQ(grid_->GetPoint(3)[0], length);
  }
}

}  // namespace
}  // namespace tessera
