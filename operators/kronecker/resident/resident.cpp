// This file prepares resident conjugate gradients for the Kronecker operator.
#include "operators/kronecker/resident/resident.hpp"

#include <limits>

#include "operators/kronecker/factors/stiffness_rounding.hpp"
#include "solvers/memory/cuda_check.hpp"
#include "solvers/memory/device_array.hpp"

namespace tessera {
namespace {

// The same operator with the axes of the mesh in this order.
ResidentData turned_data(const ResidentData& data, const BrickAxes& order) {
  ResidentData turned = data;
  for (int d = 0; d < 3; ++d) {
    turned.axis[d] = data.axis[order[d]];
    turned.matrices[d] = data.matrices[order[d]];
  }
  return turned;
}

class KroneckerResidentCg final : public ResidentCg<double> {
 public:
  KroneckerResidentCg(const ResidentData& data, const TurnedCut& turned, const ResidentRoom& room)
      : operator_(data),
        data_(turned_data(data, turned.order)),
        cut_(turned.cut),
        step_(static_cast<std::int64_t>(cut_.count()) * cut_.size()),
        partial_(2 * cut_.count()),
        shared_count_(cut_.count()) {
    data_.shared_values = room.shared_values;
    data_.max_nodes = cut_.size();
    std::int64_t nodes = 1;
    for (int d = 0; d < 3; ++d) {
      ResidentAxis& axis = data_.axis[d];
      axis.bricks = cut_.bricks[d];
      axis.exchange_stride = static_cast<int>(nodes);
      nodes *= axis.cells * data.degree + axis.bricks;
    }
    exchange_ = DeviceArray<double>(nodes);
    find_shared_nodes();
    data_.step = step_.data();
    data_.exchange = exchange_.data();
    data_.partial = partial_.data();
  }

  void enqueue(int iterations, const ResidentVectors<double>& vectors,
               IterationState* state) override {
    data_.reaction = operator_.reaction;
    if (data_.dimension == 2) {
      launch_resident_cg<2>(data_, cut_, iterations, vectors, state);
    } else {
      launch_resident_cg<3>(data_, cut_, iterations, vectors, state);
    }
  }

 private:
  void find_shared_nodes() {
    const int bricks = cut_.count();
    data_.max_shared = cut_.shared_nodes();
    data_.max_edges = cut_.edge_nodes();
    data_.max_face = cut_.max_face();
    faces_ = DeviceArray<double>(6LL * bricks * data_.max_face);
    face_nodes_ = DeviceArray<FaceNode>(static_cast<std::int64_t>(bricks) * data_.max_shared);
    edge_nodes_ = DeviceArray<EdgeNode>(static_cast<std::int64_t>(bricks) * data_.max_edges);
    launch_shared_nodes(data_, bricks, face_nodes_.data(), edge_nodes_.data(),
                        shared_count_.data());
    data_.faces = faces_.data();
    data_.face_nodes = face_nodes_.data();
    data_.edge_nodes = edge_nodes_.data();
    data_.shared_count = shared_count_.data();
  }

  const ResidentData& operator_;
  ResidentData data_;
  BrickCut cut_;
  DeviceArray<double> step_;
  DeviceArray<double> exchange_;
  DeviceArray<double> partial_;
  DeviceArray<double> faces_;
  DeviceArray<FaceNode> face_nodes_;
  DeviceArray<EdgeNode> edge_nodes_;
  DeviceArray<SharedCount> shared_count_;
};

ResidentMatrices matrices_of(const AxisFactors& axis) {
  ResidentMatrices matrices{};
  const int n = axis.degree + 1;
  const std::vector<double> stiffness =
      rounded_cell_stiffness(axis, std::numeric_limits<double>::digits);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      matrices.entries[distinct_entry(axis.degree, i, j)] = {axis.cell_mass[i * n + j],
                                                             stiffness[i * n + j]};
    }
  }
  return matrices;
}

}  // namespace

ResidentData resident_data(const KroneckerFactors& factors, const IndexBox& nodes) {
  ResidentData data;
  data.degree = factors.axes[0].degree;
  data.dimension = factors.dimension;
  for (int d = 0; d < factors.dimension; ++d) {
    // The last axis of the mesh is the outer one.
    const int place = d == factors.dimension - 1 ? 2 : d;
    const AxisFactors& from = factors.axes[d];
    ResidentAxis& axis = data.axis[place];
    axis.cells = static_cast<int>(from.cells);
    axis.stride = nodes.strides[d];
    for (int side = 0; side < 2; ++side) {
      axis.is_constrained[side] = from.constrained[side];
      axis.end_term[side] = from.end_terms[side];
    }
    data.matrices[place] = matrices_of(from);
  }
  return data;
}

std::unique_ptr<ResidentCg<double>> make_kronecker_resident_cg(const ResidentData& data) {
  const ResidentRoom room{
      device_attribute(cudaDevAttrMultiProcessorCount),
      resident_values(device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin))};
  const std::optional<TurnedCut> cut = best_turned_cut(
      {data.axis[0].cells, data.axis[1].cells, data.axis[2].cells}, data.degree, room);
  if (!cut) return nullptr;
  return std::make_unique<KroneckerResidentCg>(data, *cut, room);
}

}  // namespace tessera
