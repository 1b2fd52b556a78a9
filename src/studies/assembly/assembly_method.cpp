// Each method of the study assembly is a row of the table here.
#include "src/studies/assembly/assembly_method.hpp"

#include <type_traits>

#include "src/studies/assembly/adders.hpp"
#include "src/studies/assembly/avoiding_methods.hpp"
#include "src/studies/assembly/local_matrices.hpp"
#include "src/studies/assembly/sharing_methods.hpp"

namespace tessera {
namespace {

/// Calls make(local) with the local matrices of a contribution.
template <class Make>
std::unique_ptr<AssemblyMethod> with_local(const AssemblyTask& task, Contribution contribution,
                                           Make&& make) {
  if (contribution.kind == Contribution::Kind::ones) return make(OnesMatrices{});
  return make(StiffnessMatrices(task.mesh, contribution.operations));
}

template <class Adder>
Adder make_adder(const AssemblyTarget& target) {
  if constexpr (std::is_constructible_v<Adder, const AssemblyTarget&>) {
    return Adder(target);
  } else {
    return Adder();
  }
}

template <class Adder>
std::unique_ptr<AssemblyMethod> make_direct(const AssemblyTask& task, Contribution contribution,
                                            const AssemblyTeam& team) {
  return with_local(task, contribution, [&](auto local) -> std::unique_ptr<AssemblyMethod> {
    return std::make_unique<DirectAssembly<decltype(local), Adder>>(
        task, local, make_adder<Adder>(task.target), team.threads);
  });
}

template <template <class> class Method>
std::unique_ptr<AssemblyMethod> make(const AssemblyTask& task, Contribution contribution,
                                     const AssemblyTeam& team) {
  return with_local(task, contribution, [&](auto local) -> std::unique_ptr<AssemblyMethod> {
    return std::make_unique<Method<decltype(local)>>(task, local, team.threads);
  });
}

template <Index additions>
std::unique_ptr<AssemblyMethod> make_transactions(const AssemblyTask& task,
                                                  Contribution contribution,
                                                  const AssemblyTeam& team) {
  return with_local(task, contribution, [&](auto local) -> std::unique_ptr<AssemblyMethod> {
    return std::make_unique<TransactionAssembly<decltype(local)>>(task, local, team, additions);
  });
}

}  // namespace

const std::vector<AssemblyInfo>& assembly_table() {
  using enum AssemblyInfo::Storages;
  using enum AssemblyInfo::Needs;
  static const std::vector<AssemblyInfo> table = {
      {.name = "serial",
       .sharing = Sharing::one_thread,
       .storages = both,
       .in_operators = "scatter = \"serial\"",
       .needs = nothing,
       .make = make_direct<PlainAdder>},
      {.name = "unprotected",
       .sharing = Sharing::unprotected,
       .storages = both,
       .in_operators = "scatter = \"unprotected\", which is for comparisons only",
       .needs = nothing,
       .make = make_direct<UnprotectedAdder>,
       .on_gpu = DeviceAssemblyWay::unprotected},
      {.name = "lock-entry",
       .sharing = Sharing::protects,
       .storages = both,
       .in_operators = "",
       .needs = nothing,
       .make = make_direct<EntryLockAdder>},
      {.name = "lock-row",
       .sharing = Sharing::protects,
       .storages = both,
       .in_operators = "",
       .needs = nothing,
       .make = make_direct<RowLockAdder>},
      {.name = "lock-striped",
       .sharing = Sharing::protects,
       .storages = both,
       .in_operators = "",
       .needs = nothing,
       .make = make_direct<StripedLockAdder>},
      {.name = "atomic",
       .sharing = Sharing::protects,
       .storages = both,
       .in_operators = "scatter = \"atomic\"",
       .needs = nothing,
       .make = make_direct<AtomicAdder>,
       .on_gpu = DeviceAssemblyWay::atomic},
      {.name = "cas",
       .sharing = Sharing::protects,
       .storages = both,
       .in_operators = "",
       .needs = nothing,
       .make = nullptr,
       .on_gpu = DeviceAssemblyWay::cas},
      {.name = "transaction/entry",
       .sharing = Sharing::protects,
       .storages = both,
       .in_operators = "",
       .needs = transactions,
       .make = make_transactions<1>},
      {.name = "transaction/row",
       .sharing = Sharing::protects,
       .storages = both,
       .in_operators = "",
       .needs = transactions,
       .make = make_transactions<3>},
      {.name = "transaction/triangle",
       .sharing = Sharing::protects,
       .storages = both,
       .in_operators = "",
       .needs = transactions,
       .make = make_transactions<kLocalEntries>},
      {.name = "transaction/4",
       .sharing = Sharing::protects,
       .storages = both,
       .in_operators = "",
       .needs = transactions,
       .make = make_transactions<4 * kLocalEntries>},
      {.name = "transaction/16",
       .sharing = Sharing::protects,
       .storages = both,
       .in_operators = "",
       .needs = transactions,
       .make = make_transactions<16 * kLocalEntries>},
      {.name = "transaction/64",
       .sharing = Sharing::protects,
       .storages = both,
       .in_operators = "",
       .needs = transactions,
       .make = make_transactions<64 * kLocalEntries>},
      {.name = "coloring",
       .sharing = Sharing::avoids,
       .storages = both,
       .in_operators = "scatter = \"coloring\", and how the kernel csr is assembled",
       .needs = nothing,
       .make = make<ColoringAssembly>,
       .on_gpu = DeviceAssemblyWay::coloring},
      {.name = "private",
       .sharing = Sharing::avoids,
       .storages = csr,
       .in_operators = "scatter = \"private\"",
       .needs = nothing,
       .make = make<PrivateAssembly>,
       .on_gpu = DeviceAssemblyWay::private_arrays},
      {.name = "rows",
       .sharing = Sharing::avoids,
       .storages = both,
       .in_operators = "",
       .needs = nothing,
       .make = make<RowsAssembly>,
       .on_gpu = DeviceAssemblyWay::rows},
      {.name = "gather",
       .sharing = Sharing::avoids,
       .storages = csr,
       .in_operators = "scatter = \"private\" on a GPU, where each node adds up its own",
       .needs = nothing,
       .make = make<GatherAssembly>,
       .on_gpu = DeviceAssemblyWay::gather},
  };
  return table;
}

}  // namespace tessera
