// What is tested at the points of a cell.
#pragma once

namespace tessera {

/// What sweeps from the points to the nodes test beside gradients.
enum class AtPoints { nothing, values };

}  // namespace tessera
