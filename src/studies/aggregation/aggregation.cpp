// The study aggregation: when and at which level GPU threads should collect what they append or
// send.
#include <string>
#include <vector>

#include "solvers/configuration.hpp"
#include "src/studies/aggregation/aggregation_claims.hpp"
#include "src/studies/aggregation/aggregation_row.hpp"
#include "src/studies/aggregation/parts.hpp"
#include "src/studies/rows.hpp"

namespace tessera {
namespace {

void measure([[maybe_unused]] StudyRecord& record) {
  if constexpr (kHasCuda) {
    measure_appends(record);
    measure_updates(record);
    measure_routing(record);
    measure_divergence(record);
    measure_probes(record);
    measure_host_queue(record);
  }
}

}  // namespace

StudyInfo aggregation_study() {
  return {
      .name = "aggregation",
      .question = "when should GPU threads collect what they append or send, and at which level?",
      .document = "document 004",
      .needs = "a GPU; two cores or more for the queue to the host",
      .processors = {Processor::gpu},
      .variants = {"lane",
                   "warp",
                   block_variant(64),
                   block_variant(128),
                   block_variant(256),
                   block_variant(1024),
                   "direct-atomic",
                   "sorted",
                   "binned",
                   "direct",
                   "indirect",
                   "counting-sort",
                   "radix-sort",
                   "predicated",
                   "warp-append",
                   "barrier",
                   "given-order",
                   "brick-order",
                   "pinned-copy",
                   "queue"},
      .layout = aggregation_layout(),
      .claims = aggregation_claims(),
      .measure = measure};
}

}  // namespace tessera
