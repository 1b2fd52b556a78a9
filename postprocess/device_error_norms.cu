// This file integrates a solution and its errors on the GPU.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "mesh/with_constant.hpp"
#include "operators/cells/fields/device_points.hpp"
#include "postprocess/norms_kernels.cuh"
#include "solvers/check.hpp"

namespace tessera {
namespace {

/// A field in GPU memory, with the stacks of so many blocks that evaluate it.
class FieldOnDevice {
 public:
  /// @param most the blocks that there are to be
  FieldOnDevice(const ScalarField& field, Allowed allowed, Index most) : blocks_(most) {
    TESSERA_CHECK(field.constant || field.program != nullptr);
    argument_.allowed = allowed;
    if (field.constant) {
      argument_.constant = *field.constant;
      return;
    }
    program_.emplace(*field.program);
    argument_.program = program_->view();
    if (program_->depth() <= DeviceProgram::kShallow) return;
    blocks_ = std::min(most, norms_stack_blocks(program_->depth()));
    stacks_ = DeviceArray<char>(blocks_ * norms_stack_block_bytes(program_->depth()));
    argument_.stacks = stacks_.data();
  }

  const FieldArgument& argument() const { return argument_; }
  unsigned blocks() const { return static_cast<unsigned>(blocks_); }

 private:
  Index blocks_;
  FieldArgument argument_{};
  std::optional<DeviceProgram> program_;
  DeviceArray<char> stacks_;
};

NormsShape shape_of(const Discretization& discretization) {
  const int dimension = discretization.mesh.dimension();
  return {dimension, discretization.basis.node_count(),
          discretization.mapping.is_cartesian() ? 1 : dimension + 1};
}

std::vector<double> tables_of(const Discretization& discretization, const NormsShape& shape) {
  const Basis1D basis = make_basis(discretization.basis.degree, discretization.basis.family,
                                   QuadratureRule::gauss, shape.points());
  std::vector<double> tables = basis.B.entries;
  tables.resize(static_cast<std::size_t>(shape.padded_rows()) * shape.nodes, 0.0);
  for (const std::vector<double>* more :
       {&basis.D.entries, &basis.quadrature.points, &basis.quadrature.weights}) {
    tables.insert(tables.end(), more->begin(), more->end());
  }
  return tables;
}

CellGrid grid_of(const Discretization& discretization) {
  BilinearForm form;
  form.discretization = &discretization;
  return make_cell_grid(form);
}

using CellKernel = void (*)(CellArguments);

template <int dimension, int degree>
CellKernel cell_kernel_of(const NormsShape& shape) {
  return shape.fields > 1 ? cell_sums_kernel<dimension, true, degree>
                          : cell_sums_kernel<dimension, false, degree>;
}

CellKernel cell_kernel(const NormsShape& shape) {
  constexpr int kMaxUnrolled = 4;
  const int degree = shape.nodes - 1;
  if (shape.dimension == 2) return cell_kernel_of<2, 0>(shape);
  return with_constant<0, kMaxUnrolled>(degree <= kMaxUnrolled ? degree : 0, [&]<int unrolled>() {
    return cell_kernel_of<3, unrolled>(shape);
  });
}

std::shared_ptr<const DeviceVector<double>> copied_to_gpu(const HostVector<double>& u) {
  auto copied = std::make_shared<DeviceVector<double>>(u.size());
  copy(u, *copied);
  return copied;
}

/// Launches by launch_with(outcome in GPU memory), and waits for the outcome.
template <class F>
Outcome outcome_of(F&& launch_with) {
  DeviceArray<Outcome> outcome(std::vector<Outcome>(1));
  launch_with(outcome.data());
  return to_host(outcome)[0];
}

}  // namespace

struct DeviceErrorNorms::Data {
  Data(const Discretization& discretization_in,
       std::shared_ptr<const DeviceVector<double>> solution);

  SolutionArgument divided(double unit, double subtracted) const {
    return {u->data(), subtracted, 1.0 / unit};
  }
  Outcome over_cells(Integrands integrands, const SolutionArgument& solution,
                     const ScalarField& field, Allowed allowed);
  /// The same, but for what the host throws.
  Outcome checked_over_cells(Integrands integrands, const SolutionArgument& solution,
                             const ScalarField& field, Allowed allowed, FoldedCells folded);
  NodeArguments node_arguments(const SolutionArgument& solution) const;
  Index node_blocks() const { return std::min(ceil_div(u->size(), kThreads), kMaxNormsBlocks); }

  const Discretization& discretization;
  NormsShape shape;
  DevicePlaces places;
  std::shared_ptr<const DeviceVector<double>> u;
  DeviceArray<double> tables;
  DeviceArray<double> scratch;
  std::array<DeviceArray<double>, 3> begins;
  std::array<DeviceArray<double>, 3> widths;
  ReductionBuffer<kSums> sums;
};

DeviceErrorNorms::Data::Data(const Discretization& discretization_in,
                             std::shared_ptr<const DeviceVector<double>> solution)
    : discretization(discretization_in),
      shape(shape_of(discretization)),
      places(discretization.mapping),
      u(std::move(solution)),
      tables(tables_of(discretization, shape)),
      scratch(shape.scratch_parts(discretization.mesh.cell_count()) * shape.scratch_values()) {
  const BoxMesh& mesh = discretization.mesh;
  for (int d = 0; d < shape.dimension; ++d) {
    if (places.view().is_mapped) break;
    std::vector<double> begin;
    std::vector<double> width;
    for (Index c = 0; c < mesh.cells()[d]; ++c) {
      begin.push_back(mesh.grid_line(d, c));
      width.push_back(mesh.cell_width(d, c));
    }
    begins[d] = DeviceArray<double>(begin);
    widths[d] = DeviceArray<double>(width);
  }
}

Outcome DeviceErrorNorms::Data::over_cells(Integrands integrands, const SolutionArgument& solution,
                                           const ScalarField& field, Allowed allowed) {
  const Index cells = discretization.mesh.cell_count();
  const CellKernel kernel = cell_kernel(shape);
  const Index shared =
      (shape.table_values() + (shape.fits_shared_memory() ? shape.scratch_values() : 0)) *
      Index{sizeof(double)};
  allow_shared_memory(kernel, shared);
  const auto shared_bytes = static_cast<std::size_t>(shared);
  Index most = std::min<Index>(kMaxNormsBlocks, resident_blocks(kernel, kThreads, shared_bytes));
  most = std::min(most, ceil_div(cells, shape.cells_together()));
  if (scratch.size() > 0) most = std::min(most, shape.scratch_parts(cells));
  const FieldOnDevice on_device(field, allowed, most);

  CellArguments arguments{};
  arguments.grid = grid_of(discretization);
  arguments.cell_count = cells;
  arguments.cells_together = shape.cells_together();
  arguments.u = solution;
  for (int d = 0; d < 3; ++d) {
    arguments.position[d] = places.view().position[d];
    arguments.begin[d] = begins[d].data();
    arguments.width[d] = widths[d].data();
  }
  arguments.tables = tables.data();
  arguments.scratch = scratch.data();
  arguments.scratch_values = shape.scratch_values();
  arguments.field = on_device.argument();
  arguments.integrands = integrands;
  arguments.partial = sums.partial();
  arguments.arrived = sums.arrived();
  return outcome_of([&](Outcome* outcome) {
    arguments.outcome = outcome;
    launch(kernel, {"integrating over the cells", on_device.blocks(), kThreads, shared_bytes},
           arguments);
  });
}

Outcome DeviceErrorNorms::Data::checked_over_cells(Integrands integrands,
                                                   const SolutionArgument& solution,
                                                   const ScalarField& field, Allowed allowed,
                                                   FoldedCells folded) {
  const Outcome outcome = over_cells(integrands, solution, field, allowed);
  const unsigned long long first = folded == FoldedCells::refused
                                       ? std::min(outcome.inverted, outcome.forbidden)
                                       : outcome.forbidden;
  if (first != kNone) check_cell(discretization, static_cast<Index>(first), field, folded);
  return outcome;
}

NodeArguments DeviceErrorNorms::Data::node_arguments(const SolutionArgument& solution) const {
  NodeArguments arguments{};
  arguments.count = u->size();
  arguments.u = solution;
  arguments.is_mapped = !discretization.mapping.is_cartesian();
  for (int d = 0; d < 3; ++d) {
    arguments.extents[d] = discretization.lattice.extents()[d];
    arguments.position[d] = places.view().position[d];
  }
  return arguments;
}

DeviceErrorNorms::DeviceErrorNorms(const Discretization& discretization, HostVector<double>& u,
                                   std::shared_ptr<const DeviceVector<double>> u_on_gpu)
    : u_(&u),
      data_(std::make_unique<Data>(discretization,
                                   u_on_gpu != nullptr ? std::move(u_on_gpu) : copied_to_gpu(u))) {}

DeviceErrorNorms::~DeviceErrorNorms() = default;

std::array<double, 2> DeviceErrorNorms::extrema() const {
  NodeArguments arguments = data_->node_arguments(data_->divided(1.0, subtracted_));
  const Outcome found = outcome_of([&](Outcome* outcome) {
    arguments.outcome = outcome;
    launch(extrema_kernel,
           {"finding extrema", static_cast<unsigned>(data_->node_blocks()), kThreads}, arguments);
  });
  const double largest = from_ordered_bits(found.largest);
  return {std::isnan(largest) ? largest : from_ordered_bits(~found.complement_of_min), largest};
}

SolutionNumbers DeviceErrorNorms::solution_numbers(const ScalarField& coefficient,
                                                   double unit) const {
  const SolutionArgument solution = data_->divided(unit, subtracted_);
  const Outcome found =
      coefficient.depends_on_u
          ? data_->over_cells(Integrands::numbers, solution, coefficient, Allowed::positive)
          : data_->checked_over_cells(Integrands::numbers, solution, coefficient, Allowed::positive,
                                      FoldedCells::refused);
  if (coefficient.depends_on_u && std::min(found.inverted, found.forbidden) != kNone) {
    // Throws, unless the host rounds to a value that is allowed.
    HostVector<double> u(data_->u->layout());
    copy(*data_->u, u);
    tessera::subtract(subtracted_, u);
    return HostSolutionNorms(data_->discretization, u).solution_numbers(coefficient, unit);
  }
  const auto [min, max] = extrema();
  return {min / unit, max / unit, found.sums[1], found.sums[2], found.sums[0]};
}

double DeviceErrorNorms::integral(double unit) const {
  return data_
      ->checked_over_cells(Integrands::numbers, data_->divided(unit, subtracted_),
                           constant_field(0.0), Allowed::finite, FoldedCells::refused)
      .sums[1];
}

MeanParts DeviceErrorNorms::mean_parts(double unit) const {
  const Outcome found =
      data_->checked_over_cells(Integrands::numbers, data_->divided(unit, subtracted_),
                                constant_field(0.0), Allowed::finite, FoldedCells::allowed);
  return {found.sums[1], found.sums[0]};
}

MeanParts DeviceErrorNorms::mean_parts(const ScalarField& field) const {
  const Outcome found = data_->checked_over_cells(Integrands::numbers, {}, field, Allowed::finite,
                                                  FoldedCells::allowed);
  return {found.sums[3], found.sums[0]};
}

ErrorNorms DeviceErrorNorms::error_norms(const ScalarField& exact, double unit) const {
  const Outcome found =
      data_->checked_over_cells(Integrands::errors, data_->divided(unit, subtracted_), exact,
                                Allowed::finite, FoldedCells::refused);
  return {std::sqrt(found.sums[0]), std::sqrt(found.sums[1]), max_error(exact, unit)};
}

double DeviceErrorNorms::max_error(const ScalarField& exact, double unit) const {
  const FieldOnDevice on_device(exact, Allowed::finite, data_->node_blocks());
  NodeArguments arguments = data_->node_arguments(data_->divided(unit, subtracted_));
  arguments.field = on_device.argument();
  const Outcome found = outcome_of([&](Outcome* outcome) {
    arguments.outcome = outcome;
    launch(node_errors_kernel, {"finding the largest error", on_device.blocks(), kThreads},
           arguments);
  });
  if (found.forbidden != kNone) {
    Point x{};
    double value = 0.0;
    data_->discretization.mapping.node_positions(static_cast<Index>(found.forbidden), 1, &x[0],
                                                 &x[1], &x[2]);
    exact.evaluate({1, &x[0], &x[1], &x[2]}, &value);
  }
  return from_ordered_bits(found.largest);
}

void DeviceErrorNorms::subtract(double constant) {
  if (u_->size() > 0) tessera::subtract(constant, *u_);
  subtracted_ += constant;
}

}  // namespace tessera
