// The precisions of weights: their names, how the engine stores them, and the suffixes of their ONNX files. Other files ask for their
// properties.

/** The engine's names. */
export type EngineDtype = 'f32' | 'f16' | 'q8' | 'q4';

interface Precision {
  engine: EngineDtype;
  /** Suffix of the names of ONNX files, as in transformers.js. */
  suffix: string;
}

const kPrecisions = {
  fp32: { engine: 'f32', suffix: '' },
  fp16: { engine: 'f16', suffix: '_fp16' },
  q8: { engine: 'q8', suffix: '_quantized' },
  int8: { engine: 'q8', suffix: '_int8' },
  uint8: { engine: 'q8', suffix: '_uint8' },
  q4: { engine: 'q4', suffix: '_q4' },
  q4f16: { engine: 'q8', suffix: '_q4f16' },
  bnb4: { engine: 'q8', suffix: '_bnb4' },
} as const satisfies Record<string, Precision>;

/** transformers.js's names. */
export type OnnxDtype = keyof typeof kPrecisions;
export const kOnnxDtypes = Object.keys(kPrecisions) as OnnxDtype[];

/** Precisions in which the engine stores weights. Others only name ONNX files. */
export const kDtypes = ['fp32', 'fp16', 'q8', 'q4'] as const;
export type Dtype = (typeof kDtypes)[number];

/** Precisions that are stored as they are quantised. A name must change with its format. */
export const kQuantizedForms = ['q8', 'q4'] as const;
export type QuantizedForm = (typeof kQuantizedForms)[number];
export const kUsualForm = 'q8' satisfies QuantizedForm;
/** 4 bits for token embeddings and linear layers with at least 1,024 inputs and outputs; all other integers as in the usual form. */
export const kSmallestForm = 'q4' satisfies QuantizedForm;

/** Weights as the checkpoint's floats, without loss. */
export const kExact = 'f32' satisfies EngineDtype;

/** Order in which ONNX files are tried if no precision is requested, as in transformers.js on the CPU. */
export const kOnnxOrder: readonly OnnxDtype[] = ['q8', 'fp32', 'int8', 'uint8', 'fp16', 'q4f16', 'q4', 'bnb4'];

export function isOnlyOnnx(dtype: OnnxDtype): boolean {
  return !kDtypes.includes(dtype as Dtype);
}

/** The precision that transformers.js 2's option `quantized` names. */
export function dtypeIfQuantized(quantized: boolean): Dtype {
  return quantized ? 'q8' : 'fp32';
}

/** Precisions of ONNX files of floats that the engine converts to another one while it loads them, in the order of choice. */
export function floatsFor(dtype: 'auto' | OnnxDtype): readonly OnnxDtype[] {
  const floats = ['fp32', 'fp16'] as const;
  return dtype === 'auto' || dtype === 'fp32' || isOnlyOnnx(dtype) ? [] : floats.filter((one) => one !== dtype);
}

/** Whether an ONNX file of this precision may be smaller than the safetensors. */
export function isSmaller(dtype: OnnxDtype): boolean {
  return dtype !== 'fp32';
}

export function isQuantizedForm(dtype: string): dtype is QuantizedForm {
  return kQuantizedForms.includes(dtype as QuantizedForm);
}

export function onnxSuffix(dtype: OnnxDtype): string {
  return kPrecisions[dtype].suffix;
}

/** Returns the engine's precision for weights in floats that are loaded with this option. */
export function engineDtype(dtype: OnnxDtype): EngineDtype {
  return kPrecisions[dtype].engine;
}

/** Whether layers of an ONNX file may be integers. */
export function hasIntegers(dtype: OnnxDtype): boolean {
  return isQuantizedForm(engineDtype(dtype));
}

/** Returns the engine's precision for an ONNX file of this precision. */
export function engineDtypeOfOnnx(dtype: OnnxDtype): EngineDtype {
  return hasIntegers(dtype) ? kUsualForm : engineDtype(dtype);
}

/** Returns the public name of the engine's precision. */
export function dtypeOf(engine: EngineDtype): Dtype {
  return kDtypes.find((dtype) => engineDtype(dtype) === engine)!;
}
