// Products of rows along k. The including shader defines Quad (four neighbours along k), Sums (of four products) and add_products.

// Eight neighbours along k of w, as stored.
struct Eight {
  a: vec4u,
  b: vec4u,
}

// Adds four k of one row and four columns, in order.
fn add_quads(x: Quad, w0: Quad, w1: Quad, w2: Quad, w3: Quad, before: Sums) -> Sums {
  var sums = add_products(x.x, Quad(w0.x, w1.x, w2.x, w3.x), before);
  sums = add_products(x.y, Quad(w0.y, w1.y, w2.y, w3.y), sums);
  sums = add_products(x.z, Quad(w0.z, w1.z, w2.z, w3.z), sums);
  return add_products(x.w, Quad(w0.w, w1.w, w2.w, w3.w), sums);
}
