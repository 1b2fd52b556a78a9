// This file takes failures of output from one rank to the others.
#include "postprocess/ranks/output_on_all_ranks.hpp"

#include "postprocess/files/atomic_file.hpp"

namespace tessera {
namespace {

class OutputErrors final : public ErrorCarrier {
 public:
  std::optional<Texts> texts_of(const std::exception& error) const override {
    const auto* const output = dynamic_cast<const OutputError*>(&error);
    if (output == nullptr) return std::nullopt;
    return Texts{output->path().string(), output->cause()};
  }
  [[noreturn]] void throw_again(const Texts& texts) const override {
    throw OutputError(texts[0], texts[1]);
  }
};

}  // namespace

const ErrorCarrier& output_errors() {
  static const OutputErrors carrier;
  return carrier;
}

}  // namespace tessera
