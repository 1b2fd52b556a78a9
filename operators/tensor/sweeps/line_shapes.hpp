// These tables are the launch shapes of kernels with one thread per line, as measured on H100 and
// H200, and the places of their tensors in shared memory.
#pragma once

#include <iterator>

namespace tessera {

/// Which thread has line (a, b) of a cell.
enum class LineOrder {
  by_cell,  // a + lanes b, one cell after another
  by_rows,  // a + lanes (cell + cells b): rows of neighboring cells are side by side
};

/// A thread a line in 3D. Cells come in groups, whose threads wait for each other: a warp's where
/// all lines of a group fit in one, else the block's.
struct LineShapeRow {
  int cells;  // of a group
  int lanes;  // threads from b to b + 1, at least the lines
  LineOrder order;
  int groups;  // of a block: warps, or 1
  int blocks;  // a multiprocessor, with compressed factors: registers are held down to it
};
/// By points an axis, from 2 on. A multiprocessor has four parts with a quarter of its registers
/// each, so registers are held down where one more warp fits in a part then.
inline constexpr LineShapeRow kDoubleShapes[] = {
    {8, 2, LineOrder::by_rows, 2, 12}, {3, 3, LineOrder::by_rows, 2, 10},
    {2, 4, LineOrder::by_rows, 2, 10}, {5, 5, LineOrder::by_rows, 1, 4},
    {3, 6, LineOrder::by_rows, 1, 4},  {1, 8, LineOrder::by_cell, 1, 8},
    {1, 8, LineOrder::by_cell, 1, 6},  {1, 9, LineOrder::by_cell, 1, 5},
    {1, 10, LineOrder::by_cell, 1, 3}};
inline constexpr LineShapeRow kSingleShapes[] = {
    {8, 2, LineOrder::by_cell, 2, 12}, {3, 3, LineOrder::by_cell, 2, 10},
    {2, 4, LineOrder::by_cell, 2, 10}, {1, 5, LineOrder::by_cell, 2, 10},
    {4, 6, LineOrder::by_cell, 1, 4},  {1, 8, LineOrder::by_cell, 1, 9},
    {1, 8, LineOrder::by_cell, 1, 8},  {1, 9, LineOrder::by_cell, 1, 5},
    {1, 10, LineOrder::by_cell, 1, 4}};
constexpr bool has_line_shape(int points) {
  return points >= 2 && points - 2 < static_cast<int>(std::size(kDoubleShapes));
}
template <class T>
constexpr LineShapeRow line_shape_row(int points) {
  return (sizeof(T) == sizeof(double) ? kDoubleShapes : kSingleShapes)[points - 2];
}

/// Geometry on the fly in 3D has the lines of double precision, and so many blocks: spilled
/// registers cost it less than waiting.
inline constexpr int kOnTheFlyBlocks[] = {12, 10, 8, 4, 4, 6, 6, 4, 3};

/// Equal cells whose coefficient varies, in 3D: the lines of the precision, and so many blocks.
inline constexpr int kScaledBlocks[] = {16, 14, 16, 7, 4, 10, 10, 6, 4};

/// Equal cells with constant coefficients in 3D: by p + 1 points, likewise.
inline constexpr int kSeparableBlocks[] = {16, 16, 16, 7, 5, 12, 10, 6, 4};

/// Where entry (x, y, z) of a cell's tensor lies in shared memory: at x + y_step y + z_step z, and
/// that of the next cell of the group cell_step further. A wavefront takes 16 bytes for each of 8
/// neighboring threads, 8 for each of 16 or 4 for each of 32, if they lie in different banks.
struct LineStrides {
  int y_step;
  int z_step;
  int cell_step;
};

/// By points an axis, from 2 on, what takes the fewest wavefronts of all strides tried: double
/// precision side by side, a tensor of pairs and one of single values, which are between lines
/// along x and y only.
inline constexpr LineStrides kDoublePairs[] = {{3, 5, 10},   {9, 3, 27},   {17, 4, 68},
                                               {9, 41, 205}, {9, 58, 342}, {7, 49, 343},
                                               {65, 8, 519}, {9, 81, 729}, {101, 10, 1009}};
inline constexpr LineStrides kDoubleValues[] = {{3, 5, 10},   {17, 3, 54},  {17, 4, 72},
                                                {49, 9, 245}, {7, 46, 282}, {49, 7, 343},
                                                {65, 8, 519}, {81, 9, 729}, {105, 10, 1045}};

/// In the points: three tensors a cell, one after another.
inline constexpr LineStrides kPoints[] = {{3, 6, 36},    {3, 9, 81},    {5, 20, 240},
                                          {5, 25, 375},  {9, 54, 980},  {7, 56, 1176},
                                          {9, 72, 1728}, {9, 81, 2187}, {11, 110, 3300}};

/// One tensor of pairs. Single precision has it as one of those in the points.
template <class T>
constexpr LineStrides pair_strides(int points) {
  if (sizeof(T) == sizeof(double)) return kDoublePairs[points - 2];
  const LineStrides three = kPoints[points - 2];
  return {three.y_step, three.z_step, points * three.z_step};
}

/// Whether values and derivatives of a 3D cell go from line to line side by side, or derivatives
/// are taken in the points: double precision waits for shared memory, single for multiply-adds.
template <class T>
inline constexpr bool kSideBySide = sizeof(T) == sizeof(double);

/// With compressed factors, multiply-adds are what long lines wait for in double precision too.
template <class T>
constexpr bool is_compressed_side_by_side(int points) {
  return kSideBySide<T> && points < 9;
}

/// Whether compressed factors of few bits wait in registers while u is interpolated, or are asked
/// for into the L2 cache first, where single precision has more lines than registers.
template <class T>
constexpr bool has_factors_in_registers(int points) {
  return sizeof(T) == sizeof(double) || points <= 4;
}

}  // namespace tessera
