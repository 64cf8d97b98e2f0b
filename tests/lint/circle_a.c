/* SPDX-License-Identifier: BSD-3-Clause */
/* One half of a circle, which circles.py must find. */
int circle_a(int n);
int circle_b(int n);

int circle_a(int n) {
  return n > 0 ? circle_b(n - 1) : n;
}
