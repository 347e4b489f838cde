// Names of generation, images and sound in transformers.js: they exist so that bundles that also name them link, and throw if they are used.
import { PeruseError } from '../face.js';

function otherClass(name: string) {
  const refuse = (): never => {
    throw new PeruseError('unsupported', `${name} is not supported: Peruse reads text with encoders. Use transformers.js for it.`);
  };
  return class {
    constructor() {
      refuse();
    }
    /** Throws 'unsupported'. */
    static async from_pretrained(..._given: readonly unknown[]): Promise<never> {
      return refuse();
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
