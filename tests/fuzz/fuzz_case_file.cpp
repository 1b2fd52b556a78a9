// This fuzzer feeds case files to the parser and its checks.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/fuzz_inputs.hpp"

/// libFuzzer: what escapes is a finding.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tessera::testing::try_case_file({reinterpret_cast<const char*>(data), size});
  return 0;
}
