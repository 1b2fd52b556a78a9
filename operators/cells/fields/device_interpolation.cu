// This file interpolates functions in GPU memory.
#include "mesh/index_box.hpp"
#include "operators/cells/fields/device_interpolation.hpp"
#include "solvers/memory/entry_loop.cuh"

namespace tessera {

namespace {

// out = A in along axis d, between boxes of nodes.
void multiply_along(const DeviceInterpolation::Axis& axis, const IndexTriple& from,
                    const IndexTriple& to, int d, const double* in, double* out) {
  const IndexBox box(to);
  const Index inner = box.strides[d];
  const Index rows = to[d];
  const Index columns = from[d];
  const int width = axis.width;
  const Index* const first = axis.first.data();
  const double* const entries = axis.entries.data();
  for_each_entry(box.size(), "interpolating nodal values", [=] __device__(Index at) {
    const Index line = at / inner;
    const Index r = line % rows;
    const double* const values = in + (line / rows * columns + first[r]) * inner + at % inner;
    double sum = 0.0;
    for (int k = 0; k < width; ++k) sum += entries[r * width + k] * values[k * inner];
    out[at] = sum;
  });
}

}  // namespace

DeviceInterpolation::DeviceInterpolation(const std::array<AxisMatrix, 3>& matrices,
                                         const NodeLattice& from, const NodeLattice& to)
    : from_(from.extents()), to_(to.extents()) {
  for (int d = 0; d < from.dimension(); ++d) axes_.emplace_back(matrices[d]);
}

DeviceArray<double> DeviceInterpolation::apply(const double* in) const {
  DeviceArray<double> result;
  IndexTriple extents = from_;
  for (int d = static_cast<int>(axes_.size()) - 1; d >= 0; --d) {
    IndexTriple to = extents;
    to[d] = to_[d];
    DeviceArray<double> out(IndexBox(to).size());
    multiply_along(axes_[static_cast<std::size_t>(d)], extents, to, d, in, out.data());
    // What was read goes now, which waits for the GPU.
    result = std::move(out);
    in = result.data();
    extents = to;
  }
  return result;
}

}  // namespace tessera
