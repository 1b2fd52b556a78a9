// The rules behind the storage of geometric factors.
#include "operators/tensor/factor_choice.hpp"

#include <array>
#include <stdexcept>

#include "operators/tensor/tensor.hpp"

namespace tessera {
namespace {

std::string size_text(const FormShape& shape) {
  return "degree " + std::to_string(shape.degree()) + " with " + std::to_string(shape.points) +
         " points";
}

std::string why_not_unrolled(FactorStorage storage, const FormShape& shape) {
  if (has_fast_tensor_kernel(shape.degree(), shape.points)) return "";
  return std::string(factor_storage_name(storage)) + " is for degrees 1 to " +
         std::to_string(kMaxFastDegree) + " with degree + 1 or degree + 2 points, not for " +
         size_text(shape);
}

// The unrolled kernels on equal cells with a constant coefficient are for every rule.
bool has_patches(const FormShape& shape) {
  return shape.factors() == FactorKind::constant
             ? shape.degree() <= kMaxFastDegree
             : has_fast_tensor_kernel(shape.degree(), shape.points);
}

// Of the kernel of the GPU that has a thread per plane, and no room for a reaction.
constexpr int kPlanesDegree = 2;

struct Rule {
  Processor processor;
  int dimension;
  FactorStorage storage;
  std::string_view reason;
};

// On the GPU of degrees above 1.
constexpr std::array<Rule, 4> kRules = {{
    {Processor::cpu, 2, FactorStorage::stored, "2D on the CPU"},
    {Processor::cpu, 3, FactorStorage::compressed, "3D on the CPU"},
    {Processor::gpu, 2, FactorStorage::stored, "2D on the GPU"},
    {Processor::gpu, 3, FactorStorage::compressed, "3D on the GPU"},
}};

std::string why_not_unrolled_or_scattered(FactorStorage storage, std::string_view scatter,
                                          const FormShape& shape) {
  const std::string reason = why_not_unrolled(storage, shape);
  return reason.empty() ? why_no_scatter(storage, scatter, shape) : reason;
}

}  // namespace

std::string why_no_scatter(FactorStorage storage, std::string_view scatter,
                           const FormShape& shape) {
  if (scatter != kPatchScatter) return "";
  if (storage != FactorStorage::stored) {
    return std::string(factor_storage_name(storage)) +
           " is for the other scatter policies: patch has stored";
  }
  if (has_patches(shape)) return "";
  return "the scatter policy patch is for degrees 1 to " + std::to_string(kMaxFastDegree) +
         (shape.factors() == FactorKind::constant ? "" : " with degree + 1 or degree + 2 points") +
         ", not for " + size_text(shape);
}

std::string why_no_factors(FactorStorage storage, std::string_view scatter,
                           const FormShape& shape) {
  if (storage == FactorStorage::stored) return "";
  const std::string name(factor_storage_name(storage));
  if (shape.factors() != FactorKind::general) {
    return name +
           (storage == FactorStorage::on_the_fly ? " is for mapped meshes"
                                                 : " is for mapped and graded meshes") +
           ": equal cells share their factors";
  }
  switch (storage) {
    case FactorStorage::stored:
      return "";
    case FactorStorage::compressed:
      if (shape.dimension() == 2) return name + " is for 3D: 2D has stored and on-the-fly";
      if (shape.processor == Processor::gpu && shape.reaction != ReactionKind::none &&
          shape.degree() == kPlanesDegree) {
        return name + " takes no reaction at degree " + std::to_string(kPlanesDegree) +
               " on the GPU";
      }
      return why_not_unrolled_or_scattered(storage, scatter, shape);
    case FactorStorage::on_the_fly:
      if (shape.mesh_kind != MeshKind::mapped) {
        return name + " is for mapped meshes: a graded one stores no positions of nodes";
      }
      return why_not_unrolled_or_scattered(storage, scatter, shape);
  }
  throw std::logic_error("a storage of factors without a rule");
}

std::vector<FactorStorage> factor_storages(std::string_view scatter, const FormShape& shape) {
  std::vector<FactorStorage> storages;
  for (const FactorStorage storage : kFactorStorages) {
    if (why_no_factors(storage, scatter, shape).empty()) storages.push_back(storage);
  }
  return storages;
}

ChosenFactors choose_factors(std::string_view scatter, const FormShape& shape) {
  if (shape.factors() != FactorKind::general) return {FactorStorage::stored, "equal cells"};
  if (!has_fast_tensor_kernel(shape.degree(), shape.points)) {
    return {FactorStorage::stored, "no unrolled kernel of this size"};
  }
  if (shape.degree() == 1 && shape.processor == Processor::gpu) {
    return {FactorStorage::stored, "degree 1 on the GPU"};
  }
  for (const Rule& rule : kRules) {
    if (rule.processor != shape.processor || rule.dimension != shape.dimension()) continue;
    if (!why_no_scatter(rule.storage, scatter, shape).empty()) {
      return {FactorStorage::stored, "scatter policy patch"};
    }
    if (!why_no_factors(rule.storage, scatter, shape).empty()) {
      return {FactorStorage::stored, "reaction at degree 2"};
    }
    return {rule.storage, rule.reason};
  }
  throw std::logic_error("no rule for the factors on this processor in this dimension");
}

}  // namespace tessera
