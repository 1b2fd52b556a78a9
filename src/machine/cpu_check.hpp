// This check stops a program on a CPU that it was not built for.
#pragma once

namespace tessera {

/// The instruction sets that this build may use and this CPU or its kernel lacks, as in
/// "avx512f avx512dq"; empty if there are none.
///
/// A program that links the target tessera_cpu_check needs not call it: before main, and before
/// any static object of code compiled for those instruction sets is made, such a program prints
/// one line on standard error and exits with code 3.
const char* missing_cpu_features();

}  // namespace tessera
