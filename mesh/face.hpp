// The faces of a box have numbers and names here.
#pragma once

#include <array>
#include <bitset>
#include <string_view>

namespace tessera {

/// The faces of the box in the order in which they claim shared nodes: face 2 d is the lower end of
/// axis d, face 2 d + 1 the upper.
enum class Face { left, right, bottom, top, back, front };

inline constexpr std::array<std::string_view, 6> kFaceNames = {"left", "right", "bottom",
                                                               "top",  "back",  "front"};

/// A set of faces, by face number.
using FaceSet = std::bitset<6>;

/// The axis that the face is normal to.
constexpr int face_axis(int face) { return face / 2; }

/// Whether the face is at the upper end of its axis.
constexpr bool is_upper_face(int face) { return face % 2 == 1; }

/// Number of faces of a box: 4 or 6.
constexpr int face_count(int dimension) { return 2 * dimension; }

}  // namespace tessera
