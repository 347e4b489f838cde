// Entry of peruse-onnx.js, the reader of ONNX files for browsers. Any bundler can copy the file as it is: it imports and exports nothing.
import type { OnnxPart } from '../sources/onnx_part.js';
import { openOnnx } from './onnx_weights.js';

const part: OnnxPart = { openOnnx };
(globalThis as unknown as Record<symbol, OnnxPart>)[Symbol.for('peruse.onnx')] = part;
