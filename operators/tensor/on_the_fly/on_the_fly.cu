// This file has the tensor kernel that computes its factors in every application.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>

#include "mesh/geometry/symmetric_factors.hpp"
#include "operators/cells/fields/device_nodes.hpp"
#include "operators/form/updatable.hpp"
#include "operators/tensor/gpu/coefficient_at_points.hpp"
#include "operators/tensor/gpu/field_at_points.hpp"
#include "operators/tensor/gpu/general_diagonal.hpp"
#include "operators/tensor/on_the_fly/launch.hpp"
#include "operators/tensor/on_the_fly/lines.cuh"
#include "operators/tensor/on_the_fly/on_the_fly.hpp"
#include "operators/tensor/sweeps/sweep_flops.hpp"
#include "solvers/check.hpp"
#include "solvers/errors.hpp"

namespace tessera {
namespace {

template <class T>
class OnTheFlyKernel final : public DeviceCellKernel<T>, public Updatable {
 public:
  explicit OnTheFlyKernel(const BilinearForm& form)
      : form_(form),
        grid_(make_cell_grid(form)),
        points_(form.discretization->basis.point_count()),
        launch_(grid_.dimension == 2 ? make_on_the_fly_launch<T, 2>(form.discretization->basis)
                                     : make_on_the_fly_launch<T, 3>(form.discretization->basis)),
        any_size_(form) {
    if (launch_ == nullptr || form.discretization->mapping.is_cartesian()) {
      throw UnsuitableChoice(Choice::factors,
                             "no geometry on the fly for this mesh, degree or rule");
    }
    if (all_cells(grid_).size() > std::numeric_limits<unsigned>::max()) {
      throw UnsuitableChoice(Choice::factors,
                             "geometry on the fly is for less than 2^32 cells; use \"stored\"");
    }
    check_cells();
    nodes_ = nodes_on_device(form.discretization->mapping);
    if (!form.coefficient.constant) evaluate(FormField::coefficient, k_);
    if (!form.reaction.constant) evaluate(FormField::reaction, c_);
  }

  std::string_view name() const override { return "tensor"; }
  std::optional<FactorStorage> factor_storage() const override { return FactorStorage::on_the_fly; }
  std::string why_no_patches() const override {
    return "the tensor kernel with factors on the fly has no patches";
  }

  void apply(const CellRange& range, const CellSource<T>& source,
             const CellSink<T>& sink) const override {
    TESSERA_CHECK(sink.kind != SinkKind::patch);
    OnTheFlyArguments<T> args{};
    args.grid = grid_;
    args.range = range;
    args.source = source;
    args.sink = sink;
    args.k = k_.data();
    args.reaction = reaction_kind(form_.reaction);
    args.c = c_.data();
    args.constant_c = static_cast<T>(form_.reaction.constant.value_or(0.0));
    for (int d = 0; d < grid_.dimension; ++d) args.positions[d] = nodes_->coordinate(d);
    args.constant_k = static_cast<T>(form_.coefficient.constant.value_or(0.0));
    (*launch_)(args);
  }

  void add_diagonal(const std::vector<CellRange>& colors, T* d) const override {
    add_general_diagonal(form_, grid_, any_size_, colors, d);
  }

  Updated update(const BilinearForm& form) override {
    if (form.coefficient.constant.has_value() != form_.coefficient.constant.has_value() ||
        reaction_kind(form.reaction) != reaction_kind(form_.reaction)) {
      return Updated::no;
    }
    form_ = form;
    // The cells are those before; constants are checked with them.
    const Point where = form.discretization->mesh.lower();
    if (form.coefficient.constant) check_coefficient(*form.coefficient.constant, where);
    if (form.reaction.constant) check_reaction(*form.reaction.constant, form.reaction_sign, where);
    if (!form.coefficient.constant) evaluate(FormField::coefficient, k_);
    if (!form.reaction.constant) evaluate(FormField::reaction, c_);
    return Updated::yes;
  }

  double flops_per_cell() const override {
    const double n = grid_.degree + 1;
    const double m = points_;
    const int dim = grid_.dimension;
    // To the points and back for u, to the points for each coordinate.
    const double sweeps = (1.0 + 0.5 * dim) * side_by_side_flops(dim, n, m);
    const double product = dim == 2 ? 6.0 : 15.0;
    return sweeps + (symmetric_factor_flops(dim) + product) * std::pow(m, dim);
  }

  Index bytes() const override { return streamed_bytes() + any_size_.bytes(); }
  Index streamed_bytes() const override {
    const Index positions = grid_.dimension * form_.discretization->lattice.size();
    return k_.bytes() + c_.bytes() + positions * static_cast<Index>(sizeof(double));
  }

 private:
  // Makes all factors once, some at a time, for what is wrong with cells or coefficient.
  void check_cells() const {
    const Index cells = all_cells(grid_).size();
    const Index stride =
        device_factor_stride(FactorKind::general, grid_.dimension, points_, sizeof(double));
    const Index chunk =
        std::min(factor_chunk_cells(grid_.dimension, points_, sizeof(double)), cells);
    DeviceArray<double> factors(chunk * stride);
    DeviceFactorMaker<double> maker(form_);
    for (Index first = 0; first < cells; first += chunk) {
      maker.make(first, std::min(chunk, cells - first), factors.data(), nullptr);
    }
    maker.check();
  }

  void evaluate(FormField what, DeviceArray<T>& values) const {
    const Index cells = all_cells(grid_).size();
    if (values.size() == 0) values = DeviceArray<T>(cells * power(points_, grid_.dimension));
    const DevicePoints points(*form_.discretization);
    const DeviceState state(form_);
    FieldAtPoints(form_, what, points, state).evaluate(0, cells, values.data());
  }

  BilinearForm form_;
  CellGrid grid_;
  int points_;
  std::unique_ptr<OnTheFlyLaunch<T>> launch_;
  TensorAnySize<T> any_size_;
  std::shared_ptr<const DeviceNodes> nodes_;
  DeviceArray<T> k_;
  DeviceArray<T> c_;
};

}  // namespace

template <class T>
std::unique_ptr<DeviceCellKernel<T>> make_on_the_fly_kernel(const BilinearForm& form) {
  return std::make_unique<OnTheFlyKernel<T>>(form);
}

template std::unique_ptr<DeviceCellKernel<double>> make_on_the_fly_kernel(const BilinearForm&);
template std::unique_ptr<DeviceCellKernel<float>> make_on_the_fly_kernel(const BilinearForm&);

}  // namespace tessera
