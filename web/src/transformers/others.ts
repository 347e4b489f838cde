// Names of generation, images and sound in transformers.js: they exist so that bundles that also name them link, and throw if they are used. Only
// LogLevel does not throw.
import { PeruseError } from '../face.js';

/** A function that throws, because Peruse does not have what is named. */
export function refusing(name: string): (..._given: readonly unknown[]) => never {
  return () => {
    throw new PeruseError('unsupported', `${name} is not supported: Peruse reads text with encoders. Use transformers.js for it.`);
  };
}

/** A function under another name (other_names.ts), which throws if it is called. */
export const otherFunction = /* @__PURE__ */ refusing('This function of transformers.js');

/** A class under another name (other_names.ts), which throws if it is used. It cannot know its name, so its errors name the model. */
export const OtherClass = /* @__PURE__ */ otherClass('This class of transformers.js');

function otherClass(name: string) {
  return class {
    constructor() {
      refusing(name)();
    }
    /** Throws 'unsupported'. */
    static async from_pretrained(source?: unknown, ..._given: readonly unknown[]): Promise<never> {
      return refusing(typeof source === 'string' ? `${name} (for '${source}')` : name)();
    }
  };
}

export const AutoFeatureExtractor = /* @__PURE__ */ otherClass('AutoFeatureExtractor');
export const AutoImageProcessor = /* @__PURE__ */ otherClass('AutoImageProcessor');
export const AutoModelForAudioClassification = /* @__PURE__ */ otherClass('AutoModelForAudioClassification');
export const AutoModelForAudioTextToText = /* @__PURE__ */ otherClass('AutoModelForAudioTextToText');
export const AutoModelForCTC = /* @__PURE__ */ otherClass('AutoModelForCTC');
export const AutoModelForCausalLM = /* @__PURE__ */ otherClass('AutoModelForCausalLM');
export const AutoModelForDepthEstimation = /* @__PURE__ */ otherClass('AutoModelForDepthEstimation');
export const AutoModelForImageClassification = /* @__PURE__ */ otherClass('AutoModelForImageClassification');
export const AutoModelForImageFeatureExtraction = /* @__PURE__ */ otherClass('AutoModelForImageFeatureExtraction');
export const AutoModelForImageSegmentation = /* @__PURE__ */ otherClass('AutoModelForImageSegmentation');
export const AutoModelForImageTextToText = /* @__PURE__ */ otherClass('AutoModelForImageTextToText');
export const AutoModelForImageToImage = /* @__PURE__ */ otherClass('AutoModelForImageToImage');
export const AutoModelForMaskGeneration = /* @__PURE__ */ otherClass('AutoModelForMaskGeneration');
export const AutoModelForObjectDetection = /* @__PURE__ */ otherClass('AutoModelForObjectDetection');
export const AutoModelForSeq2SeqLM = /* @__PURE__ */ otherClass('AutoModelForSeq2SeqLM');
export const AutoModelForSpeechSeq2Seq = /* @__PURE__ */ otherClass('AutoModelForSpeechSeq2Seq');
export const AutoModelForTextToSpectrogram = /* @__PURE__ */ otherClass('AutoModelForTextToSpectrogram');
export const AutoModelForTextToWaveform = /* @__PURE__ */ otherClass('AutoModelForTextToWaveform');
export const AutoModelForVision2Seq = /* @__PURE__ */ otherClass('AutoModelForVision2Seq');
export const AutoModelForZeroShotObjectDetection = /* @__PURE__ */ otherClass('AutoModelForZeroShotObjectDetection');
export const AutoProcessor = /* @__PURE__ */ otherClass('AutoProcessor');
export const CLIPTextModelWithProjection = /* @__PURE__ */ otherClass('CLIPTextModelWithProjection');
export const CLIPVisionModelWithProjection = /* @__PURE__ */ otherClass('CLIPVisionModelWithProjection');
export const DynamicCache = /* @__PURE__ */ otherClass('DynamicCache');
export const InterruptableStoppingCriteria = /* @__PURE__ */ otherClass('InterruptableStoppingCriteria');
export const RawAudio = /* @__PURE__ */ otherClass('RawAudio');
export const RawImage = /* @__PURE__ */ otherClass('RawImage');
export const StoppingCriteria = /* @__PURE__ */ otherClass('StoppingCriteria');
export const StoppingCriteriaList = /* @__PURE__ */ otherClass('StoppingCriteriaList');
export const TextStreamer = /* @__PURE__ */ otherClass('TextStreamer');
export const WhisperForConditionalGeneration = /* @__PURE__ */ otherClass('WhisperForConditionalGeneration');
export const WhisperTextStreamer = /* @__PURE__ */ otherClass('WhisperTextStreamer');
export const BaseStreamer = /* @__PURE__ */ otherClass('BaseStreamer');
export const GenerationConfig = /* @__PURE__ */ otherClass('GenerationConfig');
export const LogitsProcessorList = /* @__PURE__ */ otherClass('LogitsProcessorList');
export const LogitsWarper = /* @__PURE__ */ otherClass('LogitsWarper');
export const PretrainedConfig = /* @__PURE__ */ otherClass('PretrainedConfig');
export const RawVideo = /* @__PURE__ */ otherClass('RawVideo');
export const RawVideoFrame = /* @__PURE__ */ otherClass('RawVideoFrame');
export const interpolate = /* @__PURE__ */ refusing('interpolate');
export const interpolate_4d = /* @__PURE__ */ refusing('interpolate_4d');
export const load_audio = /* @__PURE__ */ refusing('load_audio');
export const load_image = /* @__PURE__ */ refusing('load_image');
export const load_video = /* @__PURE__ */ refusing('load_video');
export const rand = /* @__PURE__ */ refusing('rand');
export const randn = /* @__PURE__ */ refusing('randn');
/** transformers.js's generator of random numbers. */
export const random = /* @__PURE__ */ Object.freeze({
  Random: /* @__PURE__ */ otherClass('random.Random'),
  seed: /* @__PURE__ */ refusing('random.seed'),
  random: /* @__PURE__ */ refusing('random.random'),
  gauss: /* @__PURE__ */ refusing('random.gauss'),
  shuffle: /* @__PURE__ */ refusing('random.shuffle'),
  choices: /* @__PURE__ */ refusing('random.choices'),
});
export const read_audio = /* @__PURE__ */ refusing('read_audio');
export const rfft = /* @__PURE__ */ refusing('rfft');
/** transformers.js's values of `env.logLevel`, which changes nothing in Peruse. */
export const LogLevel = Object.freeze({ DEBUG: 10, INFO: 20, WARNING: 30, ERROR: 40, NONE: 50 });
