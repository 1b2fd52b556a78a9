// These tables are the launch shapes of kernels with one thread per line, as measured on H100 and
// H200.
#pragma once

namespace tessera {

/// A thread a line in 3D: how many cells a block has, where a tensor of a cell lies in shared
/// memory, [z][y][x], and which threads have its lines. A wavefront takes 8 bytes for each of 16
/// neighboring threads, if they lie in different banks (16 bytes for each of 8, 4 for each of 32).
struct LineTableRow {
  int rows;    // of a block: warps where a cell's lines fit in one, else cells
  int blocks;  // a multiprocessor, with compressed factors: registers are held down to it
  int lanes;   // thread a + lanes b of a cell has its lines number (a, b)
  int row;     // values from one row to the next, from one plane to the next
  int plane;
  int apart;  // values between two cells, beside their three tensors
};
/// By points an axis, from 2 on. Rows are odd and side by side, but where other strides are faster.
/// A multiprocessor has four parts with a quarter of its registers each, so registers are held down
/// where one more warp fits in a part then.
inline constexpr LineTableRow kDoubleLines[] = {
    {2, 12, 2, 3, 6, 4}, {2, 10, 3, 3, 9, 5}, {2, 8, 4, 5, 20, 0},
    {2, 8, 5, 5, 25, 1}, {3, 4, 6, 9, 54, 8}, {1, 7, 8, 7, 56, 0},
    {1, 6, 8, 9, 72, 0}, {1, 4, 9, 9, 81, 1}, {1, 3, 10, 11, 110, 0}};
inline constexpr LineTableRow kSingleLines[] = {
    {2, 12, 2, 3, 6, 0},  {2, 10, 3, 3, 9, 0}, {2, 10, 4, 5, 20, 0},
    {2, 10, 5, 5, 25, 0}, {4, 4, 6, 9, 54, 8}, {1, 9, 8, 7, 56, 0},
    {1, 8, 8, 9, 72, 0},  {1, 5, 9, 9, 81, 0}, {1, 4, 10, 11, 110, 0}};
template <class T>
constexpr LineTableRow line_table_row(int points) {
  return (sizeof(T) == sizeof(double) ? kDoubleLines : kSingleLines)[points - 2];
}

/// Geometry on the fly in 3D has the lines of double precision, and so many blocks: spilled
/// registers cost it less than waiting.
inline constexpr int kOnTheFlyBlocks[] = {12, 10, 8, 8, 4, 6, 6, 4, 3};

/// Equal cells whose coefficient varies, in 3D: the lines of the precision, and so many blocks.
inline constexpr int kScaledBlocks[] = {16, 14, 16, 14, 4, 10, 10, 6, 4};

/// Equal cells with constant coefficients in 3D: by p + 1 points, likewise.
inline constexpr int kSeparableBlocks[] = {16, 16, 16, 14, 5, 12, 10, 6, 4};

/// Whether values and derivatives of a 3D cell go from line to line side by side, or derivatives
/// are taken in the points: double precision waits for shared memory, single for multiply-adds.
template <class T>
inline constexpr bool kSideBySide = sizeof(T) == sizeof(double);

}  // namespace tessera
