#pragma once

namespace tessera {

/// Execution on the host: memory of the process, loops on OpenMP threads.
///
/// Execution spaces are template parameters, so that mixing memories does not compile.
struct Host {};

}  // namespace tessera
