// Entry of peruse-onnx.js, the ONNX reader for browsers. It neither imports nor exports, so bundlers can copy the file unchanged.
import type { OnnxPart } from '../sources/onnx_part.js';
import { openStatic } from '../sources/static_embeddings.js';
import { openOnnx } from './onnx_weights.js';

const part: OnnxPart = { openOnnx, openStatic };
(globalThis as unknown as Record<symbol, OnnxPart>)[Symbol.for('peruse.onnx')] = part;
