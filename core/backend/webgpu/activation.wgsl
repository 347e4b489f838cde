// Included by shaders with an activation, a number of core/ops/activation.h's enum. It is a parameter instead of an override constant,
// because compiling a pipeline per activation costs more than the branch.

// clamp may lose a NaN; comparisons preserve it.
fn clip(x: vec4f, low: f32, high: f32) -> vec4f {
  return select(select(x, vec4f(low), x < vec4f(low)), vec4f(high), x > vec4f(high));
}

// erf as an odd rational function of x, clamped where it is +-1 in float32 (Eigen's generic_fast_erf_float; error about 2 ulp).
fn erf(x: vec4f) -> vec4f {
  let c = clip(x, -4.0, 4.0);
  let s = c * c;
  var p = vec4f(-2.72614225801306e-10);
  p = p * s + 2.77068142495902e-08;
  p = p * s - 2.10102402082508e-06;
  p = p * s - 5.69250639462346e-05;
  p = p * s - 7.34990630326855e-04;
  p = p * s - 2.95459980854025e-03;
  p = p * s - 1.60960333262415e-02;
  var q = vec4f(-1.45660718464996e-05);
  q = q * s - 2.13374055278905e-04;
  q = q * s - 1.68282697438203e-03;
  q = q * s - 7.37332916720468e-03;
  q = q * s - 1.42647390514189e-02;
  return c * p / q;
}

fn gelu(x: vec4f) -> vec4f {
  return 0.5 * x * (1.0 + erf(x * 0.7071067811865476));
}

fn sigmoid(x: vec4f) -> vec4f {
  // exp of non-positive numbers only, to avoid overflow.
  let e = exp(-abs(x));
  return select(e, vec4f(1.0), x >= vec4f()) / (1.0 + e);
}

fn hyperbolic_tangent(x: vec4f) -> vec4f {
  let a = abs(x);
  // Near zero the quotient cancels; the series is exact in float32 there.
  let s = x * x;
  let series = x * (1.0 + s * (-0.33333334 + s * (0.13333334 + s * (-0.053968254 + 0.021869489 * s))));
  let e = exp(-2.0 * a);
  return select(sign(x) * (1.0 - e) / (1.0 + e), series, a < vec4f(0.25));
}

fn mish(x: vec4f) -> vec4f {
  // tanh(ln(1 + e^x)) = n / (n + 2) with n = e^x (e^x + 2)
  let e = exp(min(x, vec4f(20.0)));
  let n = e * (e + 2.0);
  return x * (n / (n + 2.0));
}

fn log_of_one_plus(x: vec4f) -> vec4f {
  // 2 atanh(x / (2 + x)) near zero, where log(1 + x) loses digits.
  let s = x / (2.0 + x);
  let t = s * s;
  let series = 2.0 * s * (1.0 + t * (0.33333334 + t * (0.2 + t * (0.14285715 + t * 0.11111111))));
  return select(log(1.0 + x), series, x < vec4f(0.5));
}

fn activate(x: vec4f, activation: u32) -> vec4f {
  if (activation == 0u) { return x; }
  if (activation == 1u) { return gelu(x); }
  let negative = x < vec4f();
  switch activation {
    case 2u { return 0.5 * x * (1.0 + hyperbolic_tangent(0.7978845608028654 * (x + 0.044715 * x * x * x))); }
    case 3u { return 0.5 * x * (1.0 + hyperbolic_tangent(0.7978845608 * x * (1.0 + 0.044715 * x * x))); }
    case 4u { return clip(gelu(x), -10.0, 10.0); }
    case 5u { return x * sigmoid(1.702 * x); }
    case 6u { return select(x, vec4f(), negative); }
    case 7u { return clip(x, 0.0, 6.0); }
    case 8u { return x * sigmoid(x); }
    case 9u { return mish(x); }
    case 10u { return hyperbolic_tangent(x); }
    case 11u { return sigmoid(x); }
    case 12u { return select(x, 0.01 * x, negative); }
    case 13u { return select(x * x, vec4f(), negative); }
    case 14u { return 0.5 * (1.0 + erf((x - 0.707107) * 2.5066296)); }
    case 15u { return log_of_one_plus(select(x, vec4f(), negative)); }
    case 16u { let y = select(x, vec4f(7.0), x > vec4f(7.0)); return y * sigmoid(1.702 * y); }
    case 17u { return clip(x, -7.0, 7.0) + 1.0; }
    default { return x; }
  }
}
