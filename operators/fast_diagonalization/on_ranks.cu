// This file applies fast diagonalization on the GPUs of ranks: by planes, by lines, and by planes.
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "operators/fast_diagonalization/device_lines.hpp"
#include "operators/fast_diagonalization/device_modes.cuh"
#include "operators/fast_diagonalization/kernels.cuh"
#include "operators/fast_diagonalization/on_ranks.hpp"
#include "operators/fast_diagonalization/rank_kernels.cuh"
#include "operators/form/on_all_ranks.hpp"
#include "solvers/check.hpp"
#include "solvers/memory/side_stream.hpp"
#include "solvers/ranks/gpu/device_carrier.hpp"

namespace tessera {
namespace {

/// Stages, with planes o of n_o and places m of n_m on this rank, and a padded row of R entries
/// (device_lines.hpp has what is exchanged):
///   r [nodes] -> fold x, middle -> [n_m][o][R] -> V_x^T -> V_m^T -> exchange -> blocks
///   -> fold outer -> [n_o][m][R] -> V_o^T -> scale -> V_o -> unfold outer -> blocks -> exchange
///   -> [n_m][o][R] -> V_m -> V_x -> unfold x, middle -> z [nodes]
/// In 2D n_m is that of x, whose modes replace rows: [o][R] -> V_x^T -> [n_m][o] -> exchange. A
/// sweep is one product for each part of its axis. 12 n flops a DoF, half of that where axes are
/// folded; 16 bytes a DoF for each of 11 stages in double precision, and for each of both exchanges
/// 16 (P - 1) / P. No value is packed but by the folding of lines.
///
/// Lines come, are computed and go piece by piece, computed in a stream beside that of the
/// messages, which join at the end. Each exchange sends 8 n (P - 1) / P^2 bytes from each GPU: with
/// k pieces and b bytes a second from GPU to GPU all but 16 n (P - 1) / (P^2 b k) seconds go by
/// while lines are computed, if that takes longer.
///
/// Where ranks have slabs, planes are those that a rank owns: they are folded out of r, into z, and
/// the last plane goes to the next rank as it is. Elsewhere nodes are exchanged before and
/// after. Deterministic.
template <class T>
class DeviceFastDiagonalizationOnRanks final : public FastDiagonalization<T, Device> {
 public:
  using V = DeviceVector<T>;

  DeviceFastDiagonalizationOnRanks(const BilinearForm& form, const NearestSeparable& separable,
                                   const AxisRoles<AxisModes>& modes, const InverseBoxes& boxes,
                                   std::optional<int> pieces)
      : part_(form.part->rank),
        has_middle_(separable.dimension == 3),
        exactness_(separable.exactness),
        eigenvalues_(form, separable, modes),
        padding_(has_middle_ ? Padding::parts : Padding::none),
        x_(modes.x, padding_),
        middle_(modes.middle, Padding::none),
        outer_(modes.outer, Padding::none),
        row_(padded_row(modes.x.size(), sizeof(T))),
        lines_(device_lines(boxes, separable.dimension, rank(), has_middle_ ? row_ : 1)),
        outer_pairs_(modes.outer.odd),
        pieces_(pieces ? *pieces : line_pieces(lines_, sizeof(T))),
        has_nodes_(free_box(modes, separable.dimension).size() > 0),
        in_vector_(places_in(part_->nodes(), part_->partition().cells(rank()),
                             form.discretization->basis.degree)),
        planes_box_(boxes.planes[static_cast<std::size_t>(rank())]),
        scratch_{scratch(separable.dimension), scratch(separable.dimension)},
        piece_{DeviceArray<T>(lines_.piece_size(pieces_)),
               DeviceArray<T>(lines_.piece_size(pieces_))},
        line_places_(places_of_lines()),
        faces_(form.discretization->lattice, form.dirichlet) {
    for (DeviceArray<T>& array : scratch_) zero_on_device(array.data(), array.bytes());
    x_.set_eigenvalues(eigenvalues_.along_x(), padding_);
    if (!has_slabs(part_->partition())) {
      to_planes_.emplace(part_->ranks(), part_->carrier(), boxes.owned, boxes.planes);
      to_part_.emplace(part_->ranks(), part_->carrier(), boxes.planes, boxes.part);
    }
    layout_ = layout_of(modes, to_planes_ ? packed(planes_box_) : in_vector_);
    find_messages();
  }

  std::int64_t size() const override { return part_->nodes().lattice().size(); }

  void do_apply(const V& r, V& z) const override {
    const OneUseAtATime::Use use(guard_);
    if (has_nodes_) {
      to_modes(r);
      sweep_lines();
      to_nodes(z);
    }
    faces_.copy(r.data(), z.data());
    if (has_nodes_ && !to_part_) send_last_plane(z);
  }

  Exactness exactness() const override { return exactness_; }
  std::array<double, 2> eigenvalue_range() const override { return eigenvalues_.range(); }
  Updated update(const BilinearForm& form) override {
    if (eigenvalues_.update(form) == Updated::no) return Updated::no;
    x_.set_eigenvalues(eigenvalues_.along_x(), padding_);
    return Updated::yes;
  }
  std::int64_t bytes() const override {
    return x_.bytes() + middle_.bytes() + outer_.bytes() + line_places_.bytes() +
           2 * (scratch_[0].bytes() + piece_[0].bytes()) +
           (to_planes_ ? to_planes_->bytes() + to_part_->bytes() : 0);
  }

 private:
  int rank() const { return part_->ranks().rank(); }

  // What is exchanged is in the first array as planes, and in the other one as blocks.
  T* planes() const { return scratch_[0].data(); }
  T* others() const { return scratch_[1].data(); }
  // Where padded rows are, and where there is room for nodes.
  T* folded() const { return has_middle_ ? planes() : others(); }
  T* nodes() const { return has_middle_ ? others() : planes(); }

  DeviceArray<T> scratch(int dimension) const {
    return DeviceArray<T>(device_entries(lines_, dimension, row_));
  }

  // Nodes of the planes in the places that they have.
  FoldLayout layout_of(const AxisRoles<AxisModes>& modes, const BoxPlaces& places) const {
    FoldLayout layout{};
    layout.x = {1, static_cast<int>(modes.x.size()), static_cast<int>(modes.x.odd)};
    layout.middle = {places.strides[0], static_cast<int>(modes.middle.size()),
                     static_cast<int>(modes.middle.odd)};
    layout.outer = {places.strides[has_middle_ ? 1 : 0], static_cast<int>(lines_.own_outer), 0};
    layout.first = places.of(planes_box_.first);
    layout.even = static_cast<int>(modes.x.even);
    layout.odd_start = static_cast<int>(padded_rows(modes.x.even, sizeof(T)));
    layout.row = static_cast<int>(row_);
    layout.middle_step = lines_.own_outer * row_;
    layout.outer_step = row_;
    return layout;
  }

  std::vector<LinePlace<T>> places_of_lines() const {
    std::vector<LinePlace<T>> places;
    for (const OuterPlace& node : outer_places(lines_, rank())) {
      places.push_back({(node.rank == rank() ? planes() : others()) + node.first, node.step});
    }
    return places;
  }

  void find_messages() {
    TESSERA_CHECK(part_->ranks().size() == 1 || part_->carrier() != nullptr);
    to_lines_.resize(static_cast<std::size_t>(pieces_));
    from_lines_.resize(to_lines_.size());
    for (int p = 0; p < pieces_; ++p) {
      pieces_done_.push_back(make_event());
      for (int other = 0; other < part_->ranks().size(); ++other) {
        if (other != rank()) add_messages(p, other);
      }
    }
  }

  // Of a piece: this rank's planes at the other's places, and the other's planes at this one's.
  void add_messages(int p, int other) {
    constexpr auto kBytes = static_cast<Index>(sizeof(T));
    const LineBlock& block = lines_.blocks[static_cast<std::size_t>(other)];
    const Index plane_step = lines_.own_outer * lines_.row;
    const Index line_step = lines_.own_places > 0 ? block.lines_size / lines_.own_places : 0;
    const Index their_places = plane_step > 0 ? block.planes_size / plane_step : 0;
    const LinePiece theirs = piece_of(their_places, p);
    const LinePiece mine = piece_of(lines_.own_places, p);
    T* const in_planes = planes() + block.in_planes + theirs.first * plane_step;
    T* const in_lines = others() + block.in_lines + mine.first * line_step;
    const Index planes_bytes = theirs.count * plane_step * kBytes;
    const Index lines_bytes = mine.count * line_step * kBytes;
    if (planes_bytes + lines_bytes == 0) return;
    const auto at = static_cast<std::size_t>(p);
    to_lines_[at].push_back({other, in_planes, in_lines, planes_bytes, lines_bytes});
    from_lines_[at].push_back({other, in_lines, in_planes, lines_bytes, planes_bytes});
  }

  LinePiece piece_of(Index places, int p) const { return line_piece(places, p, pieces_); }

  void exchange(const std::vector<DeviceMessage>& messages) const {
    if (!messages.empty()) part_->carrier()->exchange(messages);
  }

  void to_modes(const V& r) const {
    if (to_planes_) to_planes_->run(r.data(), in_vector_, nodes(), packed(planes_box_));
    if (lines_.own_outer == 0) return;
    fold<FoldDirection::fold>(layout_, to_planes_ ? nodes() : r.data(), folded());
    if (has_middle_) {
      x_.sweep_rows(device_stream(), Direction::to_modes, row_, plane_rows(), planes(), others());
      middle_.sweep(device_stream(), Direction::to_modes, layout_.middle_step, 0, 1, others(),
                    planes());
    } else {
      x_.sweep_rows_to_columns(device_stream(), row_, plane_rows(), others(), planes());
    }
  }

  void to_nodes(V& z) const {
    if (lines_.own_outer > 0) {
      if (has_middle_) {
        middle_.sweep(device_stream(), Direction::to_nodes, layout_.middle_step, 0, 1, planes(),
                      others());
        x_.sweep_rows(device_stream(), Direction::to_nodes, row_, plane_rows(), others(), planes());
      } else {
        x_.sweep_columns_to_rows(device_stream(), row_, plane_rows(), planes(), others());
      }
      fold<FoldDirection::unfold>(layout_, folded(), to_part_ ? nodes() : z.data());
    }
    if (to_part_) to_part_->run(nodes(), packed(planes_box_), z.data(), in_vector_);
  }

  Index plane_rows() const { return layout_.middle.size * lines_.own_outer; }

  // Of planes and blocks, and back to there. All messages are in device_stream(), all lines beside
  // it.
  void sweep_lines() const {
    for (int p = 0; p < pieces_; ++p) {
      exchange(to_lines_[static_cast<std::size_t>(p)]);
      side_.wait_for_main();
      sweep_piece(piece_of(lines_.own_places, p));
      side_.mark(pieces_done_[static_cast<std::size_t>(p)]);
    }
    for (int p = 0; p < pieces_; ++p) {
      SideStream::let_main_wait(pieces_done_[static_cast<std::size_t>(p)]);
      exchange(from_lines_[static_cast<std::size_t>(p)]);
    }
  }

  void sweep_piece(const LinePiece& piece) const {
    if (piece.count == 0) return;
    const Index width = piece.count * lines_.row;
    T* const one = piece_[0].data();
    T* const two = piece_[1].data();
    const LinePlace<T>* const places = line_places_.data();
    fold_lines<FoldDirection::fold>(lines_, piece, outer_pairs_, places, one, side_.get());
    outer_.sweep(side_.get(), Direction::to_modes, width, 0, 1, one, two);
    scale(piece, two);
    outer_.sweep(side_.get(), Direction::to_nodes, width, 0, 1, two, one);
    fold_lines<FoldDirection::unfold>(lines_, piece, outer_pairs_, places, one, side_.get());
  }

  void scale(const LinePiece& piece, T* lines) const {
    const auto places = static_cast<int>(piece.count);
    const Index first = lines_.first_place + piece.first;
    const auto row = static_cast<int>(lines_.row);
    const auto outer = static_cast<int>(lines_.outer);
    const auto divide = [&](int entries, int rows, const T* along_x, const T* along_middle) {
      launch(scale_kernel<T>,
             {"scaling of fast diagonalization", fold_grid(entries, rows, outer), kFoldThreads, 0,
              side_.get()},
             entries, rows, outer, along_x, along_middle, outer_.eigenvalues(), lines);
    };
    if (has_middle_) {
      divide(row, places, x_.eigenvalues(), middle_.eigenvalues() + first);
    } else {
      divide(places, 1, x_.eigenvalues() + first, middle_.eigenvalues());
    }
  }

  // The last plane of a slab to the next rank, where it is the first one, from where it is to where
  // it belongs, with the nodes on faces, whose values all have.
  void send_last_plane(V& z) const {
    const NodeLattice& lattice = part_->nodes().lattice();
    const int axis = lattice.dimension() - 1;
    const Index plane = lattice.stride(axis);
    const Index bytes = plane * static_cast<Index>(sizeof(T));
    const std::optional<int> lower = part_->partition().neighbor(rank(), 2 * axis);
    const std::optional<int> upper = part_->partition().neighbor(rank(), 2 * axis + 1);
    std::vector<DeviceMessage> messages;
    if (lower) messages.push_back({*lower, nullptr, z.data(), 0, bytes});
    if (upper) {
      T* const last = z.data() + (lattice.extents()[axis] - 1) * plane;
      messages.push_back({*upper, last, nullptr, bytes, 0});
    }
    if (!messages.empty()) part_->carrier()->exchange(messages);
  }

  std::shared_ptr<const RankPart> part_;
  bool has_middle_;
  Exactness exactness_;
  ShiftedEigenvalues eigenvalues_;
  Padding padding_;  // of the eigenvalues along x
  DeviceModes<T> x_;
  DeviceModes<T> middle_;
  DeviceModes<T> outer_;
  Index row_;
  DeviceLines lines_;
  Index outer_pairs_;
  int pieces_;
  bool has_nodes_;  // of all ranks
  BoxPlaces in_vector_;
  NodeBox planes_box_;
  mutable std::array<DeviceArray<T>, 2> scratch_;
  mutable std::array<DeviceArray<T>, 2> piece_;  // lines [n_o][places of a piece][row]
  DeviceArray<LinePlace<T>> line_places_;
  SideStream side_;
  KeptFaces faces_;
  // Null where ranks have slabs.
  std::optional<BoxExchange<T, Device>> to_planes_;
  std::optional<BoxExchange<T, Device>> to_part_;
  FoldLayout layout_{};
  // Of each piece.
  std::vector<std::vector<DeviceMessage>> to_lines_;
  std::vector<std::vector<DeviceMessage>> from_lines_;
  std::vector<Event> pieces_done_;
  mutable OneUseAtATime guard_;
};

template <class T>
std::unique_ptr<FastDiagonalization<T, Device>> make_on_gpus(const BilinearForm& form,
                                                             const NearestSeparable& separable,
                                                             std::optional<int> pieces) {
  const AxisRoles<AxisModes> modes = shared_modes(form, separable);
  return on_all_ranks(form, [&] {
    const InverseBoxes boxes =
        inverse_boxes(form.part->rank->partition(), form.discretization->basis.degree,
                      free_box(modes, separable.dimension));
    return std::unique_ptr<FastDiagonalization<T, Device>>(
        std::make_unique<DeviceFastDiagonalizationOnRanks<T>>(form, separable, modes, boxes,
                                                              pieces));
  });
}

}  // namespace

template <class T>
std::unique_ptr<FastDiagonalization<T, Device>> make_fast_diagonalization_in_pieces(
    const BilinearForm& form, const NearestSeparable& separable, int pieces) {
  return make_on_gpus<T>(form, separable, pieces);
}

#define TESSERA_MAKE_FAST_DIAGONALIZATION_ON_RANKS(T)                                           \
  template <>                                                                                   \
  std::unique_ptr<FastDiagonalization<T, Device>> make_fast_diagonalization_on_ranks(           \
      const BilinearForm& form, const NearestSeparable& separable) {                            \
    return make_on_gpus<T>(form, separable, std::nullopt);                                      \
  }                                                                                             \
  template std::unique_ptr<FastDiagonalization<T, Device>> make_fast_diagonalization_in_pieces( \
      const BilinearForm&, const NearestSeparable&, int);
TESSERA_MAKE_FAST_DIAGONALIZATION_ON_RANKS(double)
TESSERA_MAKE_FAST_DIAGONALIZATION_ON_RANKS(float)
#undef TESSERA_MAKE_FAST_DIAGONALIZATION_ON_RANKS

}  // namespace tessera
