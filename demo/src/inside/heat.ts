/** The value of a colour variable of the style sheet, [red, green, blue]. */
function colour(name: string): [number, number, number] {
  const hex = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  return [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) as [number, number, number];
}

/** Draws `map`, [size, size]. Takes square roots, which make small weights visible. */
export function paint(canvas: HTMLCanvasElement, map: Float32Array, size: number): void {
  canvas.width = canvas.height = size;
  const context = canvas.getContext('2d');
  if (!context) return;
  const [low, high] = [colour('--card'), colour('--accent')];
  const image = context.createImageData(size, size);
  const most = map.reduce((a, b) => Math.max(a, b), 1e-6);
  for (const [cell, weight] of map.entries()) {
    const share = Math.sqrt(weight / most);
    for (const channel of [0, 1, 2] as const) image.data[4 * cell + channel] = low[channel] + share * (high[channel] - low[channel]);
    image.data[4 * cell + 3] = 255;
  }
  context.putImageData(image, 0, 0);
}

/** Draws rows of positive and negative numbers in two colours, with the background colour for zero. */
export function paintSigned(canvas: HTMLCanvasElement, numbers: Float32Array, rows: number, columns: number): void {
  [canvas.width, canvas.height] = [columns, rows];
  const context = canvas.getContext('2d');
  if (!context) return;
  const [zero, above, below] = [colour('--card'), colour('--accent'), colour('--below')];
  const image = context.createImageData(columns, rows);
  // Three times the root mean square gets the full colour, so that one large number does not make all others pale.
  const most = 3 * Math.sqrt(numbers.reduce((sum, number) => sum + number * number, 0) / Math.max(numbers.length, 1)) || 1;
  for (const [cell, number] of numbers.entries()) {
    const share = Math.min(1, Math.abs(number) / most);
    const high = number > 0 ? above : below;
    for (const channel of [0, 1, 2] as const) image.data[4 * cell + channel] = zero[channel] + share * (high[channel] - zero[channel]);
    image.data[4 * cell + 3] = 255;
  }
  context.putImageData(image, 0, 0);
}

/** Reduces the map to at most `limit` rows and columns; each new cell is the largest of those that it replaces. */
export function shrink(map: Float32Array, size: number, limit: number): { map: Float32Array; size: number } {
  if (size <= limit) return { map, size };
  const small = new Float32Array(limit * limit);
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      const cell = Math.floor((row * limit) / size) * limit + Math.floor((column * limit) / size);
      small[cell] = Math.max(small[cell] ?? 0, map[row * size + column] ?? 0);
    }
  }
  return { map: small, size: limit };
}

/** How each canvas is drawn. */
const kDraws = new WeakMap<HTMLCanvasElement, () => void>();

/** Draws the canvas, and again by repaint(). */
export function drawn(canvas: HTMLCanvasElement, draw: () => void): void {
  kDraws.set(canvas, draw);
  draw();
}

/** Draws all canvases in `root` again. Call it for a part of the page that was out of it, because the colours may have changed meanwhile. */
export function repaint(root: ParentNode): void {
  for (const canvas of root.querySelectorAll('canvas')) kDraws.get(canvas)?.();
}

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => repaint(document));
