// This file takes parts of test problems.
#include "tests/operators/ranks/rank_problem.hpp"

#include "solvers/configuration.hpp"
#include "solvers/ranks/gpu/device_carrier.hpp"

namespace tessera::testing {
namespace {

// The nodes of a mapped part lie where those of the whole do.
Discretization on_part(const Discretization& whole, const RankPart& part) {
  const NodeLattice& lattice = part.nodes().lattice();
  if (whole.mapping.is_cartesian()) return make_discretization(part.mesh(), whole.basis);
  std::array<HostArray<double>, 3> coordinates;
  for (int d = 0; d < lattice.dimension(); ++d) {
    coordinates[d].resize(static_cast<std::size_t>(lattice.size()));
    part.nodes().copy_to_part(whole.mapping.coordinate(d).data(), coordinates[d].data());
  }
  return {part.mesh(), whole.basis, lattice,
          Mapping(part.mesh(), lattice, whole.basis.nodes, std::move(coordinates))};
}

std::shared_ptr<const DeviceCarrier> carrier_on(Processor place, const Communicator& ranks) {
  if constexpr (kHasCuda) {
    if (place == Processor::gpu) return carrier_maker()(ranks);
  }
  return nullptr;
}

}  // namespace

CarrierMaker& carrier_maker() {
  static CarrierMaker maker;
  if constexpr (kHasCuda) {
    if (!maker) maker = make_staged_carrier;
  }
  return maker;
}

RankProblem::RankProblem(const Communicator& ranks, const BoxPartition& partition,
                         const Problem& whole, Processor place)
    : part_(std::make_shared<const RankPart>(ranks, partition, whole.discretization->mesh,
                                             whole.discretization->lattice.degree(),
                                             carrier_on(place, ranks))),
      discretization_(on_part(*whole.discretization, *part_)),
      form_(form_on_part(whole.form, discretization_, part_)) {
  if (whole.form.state == nullptr) return;
  HostArray<double> state(static_cast<std::size_t>(part_->nodes().lattice().size()));
  part_->nodes().copy_to_part(whole.form.state->data(), state.data());
  form_.state = std::make_shared<const HostState>(std::move(state));
}

}  // namespace tessera::testing
