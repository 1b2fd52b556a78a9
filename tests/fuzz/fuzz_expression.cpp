// This fuzzer feeds texts to the expression language.
#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/fuzz/fuzz_inputs.hpp"

/// libFuzzer: what escapes is a finding.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tessera::testing::try_expression({reinterpret_cast<const char*>(data), size});
  return 0;
}
