// Jacobi rotations of one matrix by one thread block, in an order that depends on the size alone. Used by *_cuda.cu
// files of several op families, on both platforms of language.h. All threads of the block must call these functions;
// blocks are whole warps.
#pragma once

#include "src/device/cuda/reduce.h"

namespace sindri::cuda {

struct IndexPair {
  int64_t p, q;  ///< p < q
};
/// Returns pair k (0 … players/2 - 1) of round 0 … players - 2 of a tournament in which every two of `players` (an even
/// number) meet once. The pairs of a round have no player in common.
SINDRI_DEVICE IndexPair tournament_pair(int64_t players, int64_t round, int64_t k) {
  const int64_t ring = players - 1, a = k == 0 ? ring : (round + k) % ring, b = k == 0 ? round : (round - k + ring) % ring;
  return a < b ? IndexPair{a, b} : IndexPair{b, a};
}

/// x, y = cos·x - sin·y, sin·x + cos·y.
struct Rotation {
  double c, s;
  SINDRI_DEVICE void turn(double* x, double* y) const {
    const double old = *x;
    *x = c * old - s * *y;
    *y = s * old + c * *y;
  }
};
/// Returns tan of the rotation that makes the off-diagonal element 0: `twice` is (y - x)/(that element)/2 (Golub and
/// Van Loan, section 8.5.2).
SINDRI_DEVICE double jacobi_tangent(double twice) { return (twice >= 0 ? 1 : -1) / (abs(twice) + sqrt(twice * twice + 1)); }

/// Makes symmetric a [n, n], rows lda apart, diagonal. Row i of v [n, n], initially the identity, becomes the
/// eigenvector of a's diagonal element i. rotations: memory of n + 1 doubles that all threads can access; partial:
/// shared memory of one double per warp. A round rotates n/2 disjoint pairs: a then consists of 2x2 blocks, each
/// computed once by one thread and written to both sides of the diagonal. Returns false if 60 sweeps did not suffice.
template <class A, class Partial> SINDRI_DEVICE bool jacobi_eigen(A&& a, int64_t lda, double* v, int64_t n, double* rotations, Partial&& partial) {
  const int64_t half = (n + 1) / 2, players = 2 * half, thread = threadIdx.x, threads = blockDim.x;
  double squares = 0;
  for (int64_t e = thread; e < n * n; e += threads) {
    const double x = a[e / n * lda + e % n];
    squares += x * x;
    v[e] = e / n == e % n ? 1 : 0;
  }
  const double least = 1e-16 * sqrt(block_sum(squares, partial));
  for (int sweep = 0; sweep < 60; ++sweep) {
    double rotated = 0;
    for (int64_t round = 0; round < players - 1; ++round) {
      __syncthreads();
      for (int64_t k = thread; k < half; k += threads) {
        const IndexPair pair = tournament_pair(players, round, k);
        Rotation r{1, 0};
        if (pair.q < n) {
          const double app = a[pair.p * lda + pair.p], aqq = a[pair.q * lda + pair.q], apq = a[pair.q * lda + pair.p];
          if (abs(apq) > least) {
            const double t = jacobi_tangent((aqq - app) / (2 * apq));
            r.c = 1 / sqrt(t * t + 1);
            r.s = t * r.c;
            rotated = 1;
          }
        }
        rotations[2 * k] = r.c, rotations[2 * k + 1] = r.s;
      }
      __syncthreads();
      for (int64_t e = thread; e < half * half; e += threads) {
        const int64_t i = e / half, j = e % half;
        if (j > i) continue;
        const IndexPair row = tournament_pair(players, round, i), column = tournament_pair(players, round, j);
        const Rotation left{rotations[2 * i], rotations[2 * i + 1]}, right{rotations[2 * j], rotations[2 * j + 1]};
        if (left.s == 0 && right.s == 0) continue;
        const bool two_rows = row.q < n, two_columns = column.q < n;
        if (i == j) {  // s is not 0, so neither index is padding
          const double apq = a[row.q * lda + row.p], t = left.s / left.c;
          a[row.p * lda + row.p] = a[row.p * lda + row.p] - t * apq;
          a[row.q * lda + row.q] = a[row.q * lda + row.q] + t * apq;
          a[row.q * lda + row.p] = 0.0;
          a[row.p * lda + row.q] = 0.0;
          continue;
        }
        double pp = a[row.p * lda + column.p], pq = two_columns ? a[row.p * lda + column.q] : 0.0;
        double qp = two_rows ? a[row.q * lda + column.p] : 0.0, qq = two_rows && two_columns ? a[row.q * lda + column.q] : 0.0;
        right.turn(&pp, &pq), right.turn(&qp, &qq);
        left.turn(&pp, &qp), left.turn(&pq, &qq);
        a[row.p * lda + column.p] = pp, a[column.p * lda + row.p] = pp;
        if (two_columns) a[row.p * lda + column.q] = pq, a[column.q * lda + row.p] = pq;
        if (two_rows) a[row.q * lda + column.p] = qp, a[column.p * lda + row.q] = qp;
        if (two_rows && two_columns) a[row.q * lda + column.q] = qq, a[column.q * lda + row.q] = qq;
      }
      for (int64_t e = thread; e < half * n; e += threads) {
        const int64_t k = e / n, at = e % n;
        const Rotation r{rotations[2 * k], rotations[2 * k + 1]};
        if (r.s == 0) continue;
        const IndexPair pair = tournament_pair(players, round, k);
        r.turn(v + pair.p * n + at, v + pair.q * n + at);
      }
    }
    if (block_reduce(rotated, partial, Larger()) == 0) {
      __syncthreads();
      return true;
    }
  }
  return false;
}

/// Returns the factor, 1 or -1, that makes a vector's first component of largest magnitude (to 1 part in 10^9)
/// positive. Computed by one warp.
SINDRI_DEVICE double positive_largest(const double* x, int64_t n) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  double largest = 0;
  for (int64_t i = lane; i < n; i += 32) largest = max(largest, abs(x[i]));
  largest = warp_max(largest) * (1 - 1e-9);
  int64_t first = n;
  for (int64_t i = lane; i < n && first == n; i += 32)
    if (abs(x[i]) >= largest) first = i;
  first = warp_reduce(first, Smaller());
  return first < n && x[first] < 0 ? -1 : 1;
}

/// Returns the position of value i of n in sorted order: the number of values before it. Equal values keep their order.
template <bool kAscending, class Values> SINDRI_DEVICE int64_t place_in_order(Values&& value, int64_t i, int64_t n) {
  const double own = value(i);
  int64_t before = 0;
  for (int64_t j = 0; j < n; ++j) {
    const double other = value(j);
    if (other == own ? j < i : kAscending ? other < own : other > own) ++before;
  }
  return before;
}

}  // namespace sindri::cuda
