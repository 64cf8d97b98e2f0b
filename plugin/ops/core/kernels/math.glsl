// SPDX-License-Identifier: BSD-3-Clause
// Functions of one float with a stated accuracy. GLSL's own are allowed errors that a model shows (sin: 2^-11, atan:
// 4096 units in the last place), and differ from device to device; these are the same everywhere.
//
// The polynomials are near-minimax fits (reweighted least squares at Chebyshev nodes, in double precision). Errors
// named below are of the whole function in float32 arithmetic, measured over dense samples against double precision.
#ifndef LEAT_MATH_GLSL_
#define LEAT_MATH_GLSL_

#define LEAT_INFINITY uintBitsToFloat(0x7f800000u)

// Tests on bits: optimisers may assume that there is no NaN in arithmetic, but not in integers.
bool leat_isnan(float x) { return (floatBitsToUint(x) & 0x7fffffffu) > 0x7f800000u; }
bool leat_isinf(float x) { return (floatBitsToUint(x) & 0x7fffffffu) == 0x7f800000u; }
float leat_nan() { return uintBitsToFloat(0x7fc00000u); }

// x * 2^k for k in [-280, 280], without a subnormal step in between.
float leat_scale(float x, int k) {
  int half_k = k >> 1;
  return x * uintBitsToFloat(uint(half_k + 127) << 23) * uintBitsToFloat(uint(k - half_k + 127) << 23);
}

// e^x, 2 ulp. ln 2 is split so that k * (high part) is exact. Without a branch, so that a thread works on several at
// once.
float leat_exp(float x) {
  float a = clamp(x, -110.0, 90.0);
  float k = roundEven(a * 1.44269504);
  precise float r = (a - k * 0.693359375) + k * 2.12194440e-4;
  float p = 0.5 + r * (0.166665182 + r * (0.041666206 + r * (0.00836888794 + r * 0.00139504857)));
  precise float y = 1.0 + (r + r * r * p);
  y = leat_scale(y, int(k));
  return leat_isnan(x) ? x : y;
}

// e^x - 1, 3 ulp.
float leat_expm1(float x) {
  if (abs(x) > 0.34) return leat_exp(x) - 1.0;
  float p = 0.5 + x * (0.166665182 + x * (0.041666206 + x * (0.00836888794 + x * 0.00139504857)));
  return x + x * x * p;
}

// Splits a positive finite x into m in [sqrt(1/2), sqrt(2)) and a power of two.
float leat_split(float x, out int k) {
  k = 0;
  if (x < 1.17549435e-38) {
    x *= 16777216.0;
    k = -24;
  }
  uint bits = floatBitsToUint(x) - 0x3f3504f3u;
  k += int(bits) >> 23;
  return uintBitsToFloat((bits & 0x007fffffu) + 0x3f3504f3u);
}

// log(1 + f) for f in [sqrt(1/2) - 1, sqrt(2) - 1].
float leat_log_near(float f) {
  float p = 0.06915447;
  p = p * f - 0.11789934;
  p = p * f + 0.11873008;
  p = p * f - 0.12384330;
  p = p * f + 0.14218652;
  p = p * f - 0.16669251;
  p = p * f + 0.20002227;
  p = p * f - 0.24999987;
  p = p * f + 0.33333310;
  precise float y = f + (f * f * f * p - 0.5 * f * f);
  return y;
}

// log x, 2 ulp.
float leat_log(float x) {
  if (leat_isnan(x)) return x;
  if (x == 0.0) return -LEAT_INFINITY;
  if (x < 0.0) return leat_nan();
  if (leat_isinf(x)) return x;
  int k;
  float f = leat_split(x, k) - 1.0;
  precise float y = float(k) * 0.693359375 + (leat_log_near(f) - float(k) * 2.12194440e-4);
  return y;
}

// log(1 + x) for x >= 0, 3 ulp. Where rounding 1 + x would lose digits of x the polynomial takes x as it is.
float leat_log1p(float x) { return x < 0.41421356 ? leat_log_near(x) : leat_log(1.0 + x); }

// sqrt x, exact at 0 and infinity, where x * inversesqrt(x) is not.
float leat_sqrt(float x) {
  if (leat_isnan(x) || x == 0.0 || x == LEAT_INFINITY) return x;
  if (x < 0.0) return leat_nan();
  return sqrt(x);
}

// tanh x, 3 ulp. Without a branch, as leat_exp().
float leat_tanh(float x) {
  float a = abs(x), s = x * x;
  float p = -0.33333331 +
            s * (0.13333210 + s * (-0.053947203 + s * (0.021702968 + s * (-0.0081826737 + s * 0.0021475370))));
  float near = x + x * s * p;
  float y = 1.0 - 2.0 / (leat_exp(2.0 * min(a, 20.0)) + 1.0);
  float far = leat_isnan(x) ? x : x < 0.0 ? -y : y;
  return a < 0.625 ? near : far;
}

// 1 / (1 + e^-x), 4 ulp where the result is normal; e^-x overflows to infinity and the result to 0.
float leat_sigmoid(float x) { return 1.0 / (1.0 + leat_exp(-x)); }

// erf x, absolute error below 1.4e-7. Near 0 a polynomial in x^2; beyond, 1 - e^-q(x) with q fitted to -log(1 - erf x).
// Without a branch, as leat_exp().
float leat_erf(float x) {
  float a = abs(x), s = x * x;
  float p = 1.12837911 +
            s * (-0.37612626 +
                 s * (0.11283600 +
                      s * (-0.026854444 + s * (0.0051895352 + s * (-0.00080208411 + s * 7.8891193e-5)))));
  float near = x * p;
  float t = min(a, 4.0);
  float q = -8.43837483e-7;
  q = q * t + 1.34538287e-5;
  q = q * t - 7.17057410e-5;
  q = q * t - 7.07588260e-5;
  q = q * t + 0.00327794999;
  q = q * t - 0.0236934796;
  q = q * t + 0.106798828;
  q = q * t + 0.634312928;
  q = q * t + 1.12915576;
  q = q * t - 0.000116642754;
  float y = 1.0 - leat_exp(-q);
  float far = leat_isnan(x) ? x : x < 0.0 ? -y : y;
  return a < 1.0 ? near : far;
}

// The bits of 2/pi, for arguments that a three-part pi/2 cannot reduce.
const uint LEAT_TWO_OVER_PI[8] = uint[8](0u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u,
                                         0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu);

// x = quadrant * pi/2 + r with r in [-pi/4, pi/4], for finite x of any size.
float leat_reduce(float x, out uint quadrant) {
  if (abs(x) < 8192.0) {
    // Each part of pi/2 but the last has few enough bits that its product with k is exact.
    float k = roundEven(x * 0.636619772);
    quadrant = uint(int(k));
    precise float r = ((x - k * 1.5703125) - k * 4.83751297e-4) - k * 7.54979013e-8;
    return r;
  }
  // |x| = m * 2^e with m of 24 bits. Of m * 2/pi only the bits around the binary point matter: 96 bits of 2/pi are
  // enough.
  uint bits = floatBitsToUint(x);
  int e = int((bits >> 23) & 0xffu) - 150;
  uint m = (bits & 0x007fffffu) | 0x00800000u;
  // The window's first bit counts 2 after the shift by 2^e (bit 31 of the table counts 1); e is in [-10, 104].
  int position = e + 30;
  int word = position >> 5;
  int shift = position & 31;
  uint w0 = LEAT_TWO_OVER_PI[word];
  uint w1 = LEAT_TWO_OVER_PI[word + 1];
  uint w2 = LEAT_TWO_OVER_PI[word + 2];
  uint w3 = LEAT_TWO_OVER_PI[word + 3];
  if (shift != 0) {
    w0 = (w0 << shift) | (w1 >> (32 - shift));
    w1 = (w1 << shift) | (w2 >> (32 - shift));
    w2 = (w2 << shift) | (w3 >> (32 - shift));
  }
  // The product modulo 4 in units of 2^-62: the upper bits of m * w0 are whole turns and fall off.
  uint64_t product =
      (uint64_t(m) * uint64_t(w0) << 32) + uint64_t(m) * uint64_t(w1) + ((uint64_t(m) * uint64_t(w2)) >> 32);
  uint64_t rounded = product + (uint64_t(1) << 61);
  quadrant = uint(rounded >> 62);
  int64_t fraction = int64_t(product - (uint64_t(quadrant) << 62));
  float r = float(fraction) * 3.40612158e-19;
  if (x < 0.0) {
    quadrant = 0u - quadrant;
    r = -r;
  }
  return r;
}

// sin (turn 0) and cos (turn 1), absolute error below 1.3e-7 for every finite x.
float leat_sin(float x, uint turn) {
  if (leat_isnan(x) || leat_isinf(x)) return leat_nan();
  uint quadrant;
  float r = leat_reduce(x, quadrant);
  quadrant += turn;
  float s = r * r;
  float y;
  if ((quadrant & 1u) == 0u) {
    y = r + r * s * (-0.16666667 + s * (0.00833332911 + s * (-0.000198393303 + s * 2.71827435e-6)));
  } else {
    y = 1.0 - 0.5 * s + s * s * (0.041666668 + s * (-0.00138888857 + s * (2.47999701e-5 + s * -2.72448915e-7)));
  }
  return (quadrant & 2u) == 0u ? y : -y;
}

// atan x, 3 ulp; asin and acos, 4 ulp.
float leat_atan(float x) {
  if (leat_isnan(x)) return x;
  float a = abs(x);
  float base = 0.0;
  float t = a;
  if (a > 2.41421356) {
    base = 1.57079633;
    t = -1.0 / a;
  } else if (a > 0.414213562) {
    base = 0.785398163;
    t = (a - 1.0) / (a + 1.0);
  }
  float s = t * t;
  float y =
      base + (t + t * s * (-0.33333316 + s * (0.19998489 + s * (-0.14243849 + s * (0.10595998 - s * 0.060834456)))));
  return x < 0.0 ? -y : y;
}
float leat_asin(float x) {
  return abs(x) > 1.0 ? leat_nan() : leat_atan(x / leat_sqrt((1.0 - x) * (1.0 + x)));
}
float leat_acos(float x) {
  return abs(x) > 1.0 ? leat_nan() : 2.0 * leat_atan(leat_sqrt((1.0 - x) / (1.0 + x)));
}

// e^x / 2, which overflows later than e^x.
float leat_half_exp(float x) { return x < 88.5 ? 0.5 * leat_exp(x) : leat_exp(x - 0.69314718); }
float leat_sinh(float x) {
  float a = abs(x);
  if (a < 0.5) {
    float s = x * x;
    return x * (1.0 + s * (0.16666667 + s * (0.0083333333 + s * 0.00019841270)));
  }
  float y = leat_half_exp(a) - leat_half_exp(-a);
  return x < 0.0 ? -y : y;
}
float leat_cosh(float x) { return leat_half_exp(abs(x)) + leat_half_exp(-abs(x)); }
float leat_asinh(float x) {
  float a = abs(x);
  float y;
  if (a > 1.0e9) {
    y = leat_log(a) + 0.69314718;
  } else {
    y = leat_log1p(a + a * a / (1.0 + leat_sqrt(a * a + 1.0)));
  }
  return x < 0.0 ? -y : y;
}
float leat_acosh(float x) {
  if (x > 1.0e9) return leat_log(x) + 0.69314718;
  float t = x - 1.0;
  return x < 1.0 ? leat_nan() : leat_log1p(t + leat_sqrt(t * (t + 2.0)));
}
float leat_atanh(float x) {
  float a = abs(x);
  if (a > 1.0) return leat_nan();
  float y = 0.5 * leat_log1p(2.0 * a / (1.0 - a));
  return x < 0.0 ? -y : y;
}

// 2^t for |t| <= 1 / 2.
float leat_exp2_near(float t) {
  float p = 0.000154667110 + t * 1.53149467e-5;
  p = p * t + 0.00133334310;
  p = p * t + 0.00961803645;
  p = p * t + 0.0555041097;
  p = p * t + 0.240226507;
  p = p * t + 0.693147182;
  return 1.0 + t * p;
}

// x^y as C's powf() defines it.
float leat_pow(float x, float y) {
  if (y == 0.0 || x == 1.0) return 1.0;
  if (leat_isnan(x) || leat_isnan(y)) return leat_nan();
  float a = abs(x);
  bool whole = abs(y) >= 16777216.0 || floor(y) == y;
  bool odd = whole && abs(y) < 16777216.0 && (int(y) & 1) != 0;
  float sign = floatBitsToUint(x) >= 0x80000000u && odd ? -1.0 : 1.0;
  if (leat_isinf(y)) return a == 1.0 ? 1.0 : (a > 1.0) == (y > 0.0) ? LEAT_INFINITY : 0.0;
  if (a == 0.0) return y > 0.0 ? sign * 0.0 : sign * LEAT_INFINITY;
  if (leat_isinf(a)) return y > 0.0 ? sign * LEAT_INFINITY : sign * 0.0;
  if (x < 0.0 && !whole) return leat_nan();
  if (whole && abs(y) <= 8.0) {
    // Repeated squaring: exact for small whole numbers, at most 4 roundings otherwise.
    float power = 1.0;
    float square = a;
    for (int n = int(abs(y)); n != 0; n >>= 1) {
      if ((n & 1) != 0) power *= square;
      square *= square;
    }
    // The reciprocal of an overflown or subnormal power is not the result; the general way below is.
    if (power > 1.0e-37 && power < 1.0e37) return sign * (y < 0.0 ? 1.0 / power : power);
  }
  if (y == 0.5) return leat_sqrt(a);
  // log2 a = k + f with |f| <= 1 / 2. The product of y's halves with k is exact, so only y * f is rounded.
  y = clamp(y, -1.0e11, 1.0e11);
  int k;
  float f = leat_split(a, k) - 1.0;
  precise float l = leat_log_near(f) * 1.44269504;
  float high = uintBitsToFloat(floatBitsToUint(y) & 0xfffff000u);
  precise float low = y - high;
  precise float u = high * float(k);
  precise float v = low * float(k) + y * l;
  float ku = roundEven(clamp(u, -1.0e6, 1.0e6));
  precise float rest = (u - ku) + v;
  if (abs(u) > 1.0e6 || abs(rest) > 1.0e6) {
    // The sum decides alone: far beyond the range of float.
    return sign * (u + v > 0.0 ? LEAT_INFINITY : 0.0);
  }
  float kv = roundEven(rest);
  float t = rest - kv;
  float n = ku + kv;
  if (n > 130.0) return sign * LEAT_INFINITY;
  if (n < -155.0) return sign * 0.0;
  return sign * leat_scale(leat_exp2_near(t), int(n));
}

// The upper half of the product.
uint64_t leat_multiply_high(uint64_t a, uint64_t b) {
  uint64_t a0 = a & 0xffffffffUL, a1 = a >> 32, b0 = b & 0xffffffffUL, b1 = b >> 32;
  uint64_t middle = a1 * b0 + ((a0 * b0) >> 32);
  return a1 * b1 + (middle >> 32) + ((a0 * b1 + (middle & 0xffffffffUL)) >> 32);
}

// The whole part of x^y for x from 2 to 2^63 - 1 and y > 0, at most 2^63 - 1. In fixed point, because float has too few
// digits for it; off by less than 2^-51 of itself, which is added, so that a power that is whole comes out whole.
uint64_t leat_whole_pow(uint64_t x, float y) {
  const uint64_t most = 0x7fffffffffffffffUL;
  if (y >= 63.0) return most;
  if (y < 1.0e-9) return uint64_t(1);
  // log2 x in units of 2^-57, bit by bit: squaring a number in [1, 2), in units of 2^-63, doubles its logarithm.
  uint upper = uint(x >> 32);
  int top = upper != 0u ? 32 + findMSB(upper) : findMSB(uint(x));
  uint64_t m = x << (63 - top);
  uint64_t l = uint64_t(top);
  for (int i = 0; i < 57; ++i) {
    m = leat_multiply_high(m, m);
    uint64_t bit = m >> 63;
    l = (l << 1) | bit;
    m <<= 1u - uint(bit);
  }
  // Times y, which is 24 bits times 2^-shift.
  uint bits = floatBitsToUint(y);
  uint shift = 150u - (bits >> 23);
  uint64_t digits = uint64_t((bits & 0x007fffffu) | 0x00800000u);
  uint64_t high = leat_multiply_high(l, digits);
  if (high >> (shift - 7u) >= uint64_t(63)) return most;
  uint64_t z = (high << (64u - shift)) | ((l * digits) >> shift);
  // 2^z = 2^whole * e^t, both t and its powers in units of 2^-64, their sum in units of 2^-62.
  uint whole = uint(z >> 57);
  uint64_t t = leat_multiply_high(z << 7, 0xb17217f7d1cf79abUL);
  uint64_t term = t >> 2;
  uint64_t power = (uint64_t(1) << 62) + term;
  for (uint k = 2u; k < 20u; ++k) {
    term = leat_multiply_high(term, t) / uint64_t(k);
    power += term;
  }
  power += power >> 51;
  return min(power >> (62u - whole), most);
}

// Remainder of x / y with the sign of x, exact, as C's fmodf().
float leat_fmod(float x, float y) {
  if (leat_isnan(x) || leat_isnan(y) || leat_isinf(x) || y == 0.0) return leat_nan();
  uint a = floatBitsToUint(x) & 0x7fffffffu;
  uint b = floatBitsToUint(y) & 0x7fffffffu;
  if (a < b) return x;
  int ea = max(int(a >> 23), 1);
  int eb = max(int(b >> 23), 1);
  uint ma = (a & 0x007fffffu) | (a >= 0x00800000u ? 0x00800000u : 0u);
  uint mb = (b & 0x007fffffu) | (b >= 0x00800000u ? 0x00800000u : 0u);
  ma %= mb;
  for (; ea > eb && ma != 0u; --ea) {
    ma = (ma << 1) % mb;
  }
  // ma * 2^(eb - 150), put together without a rounding.
  uint result = 0u;
  if (ma != 0u) {
    int up = 23 - findMSB(ma);
    int e = eb - up;
    result = e > 0 ? ((ma << up) & 0x007fffffu) | (uint(e) << 23) : ma << (eb - 1);
  }
  return uintBitsToFloat(result | (floatBitsToUint(x) & 0x80000000u));
}

#endif
