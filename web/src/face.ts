// The public interface of 'peruse': every value and type by name. tests/node/face.test.ts compares it with a report.
export {
  type DescribeOptions,
  describe,
  isSupported,
  type ModelDescription,
  type ModelDownload,
  type VectorDescription,
} from './describe.js';
export type { WeightReport } from './engine/engine.js';
export type { GpuReport, MemoryReport, ProbeReport, UsageReport } from './engine/load_request.js';
export type { Refusal } from './engine/models/describe_model.js';
export type { Variant } from './engine/variant.js';
export { type CustomCache, type Env, env } from './env.js';
export type { OnnxSettings, TransformersJsEnv } from './env_transformers_js.js';
export { type ErrorCode, PeruseError } from './errors.js';
export {
  type CachedFile,
  type CheckedModel,
  type CheckOptions,
  type HasOptions,
  modelCache,
  type PreloadOptions,
  type VerifiedCache,
} from './model_cache.js';
export { load, type Model, type Pipeline, pipeline } from './pipeline.js';
export {
  FeatureExtractionPipeline,
  FillMaskPipeline,
  type PipelineType,
  QuestionAnsweringPipeline,
  TextClassificationPipeline,
  TokenClassificationPipeline,
  ZeroShotClassificationPipeline,
} from './pipeline_classes.js';
export type { ModelInfo, PipelineInfo } from './pipeline_info.js';
export type {
  LabelOptions,
  LabelReaderOptions,
  MaskOptions,
  ModelOptions,
  OptionsByTask,
  PipelineOptions,
  PipelineOptionsOf,
  TaskAdapterOptions,
  TaskOptionsOf,
} from './pipeline_options.js';
export type { Bytes, BytesProgress, FileProgress, ProgressCallback, ProgressInfo, ReadyProgress, TotalProgress } from './progress.js';
export { restore } from './redact/placeholders.js';
export type { Redactor } from './redact/redactor.js';
export type {
  DetailFinder,
  FoundDetail,
  FoundEntity,
  PatternFinder,
  PatternMatch,
  PatternName,
  RedactCall,
  RedactedEntity,
  RedactFinders,
  Redaction,
  RedactionOf,
  RedactionRule,
  RedactionSession,
  RedactOptions,
  RedactPipelineOptions,
  Restoration,
  SessionOptions,
  TextRange,
  UnreadRange,
} from './redact/types.js';
export { createRedactor } from './redactor.js';
export type {
  DuplicateOptions,
  DuplicatePair,
  Embedder,
  EmbedOptions,
  IndexedText,
  IndexItem,
  Metadata,
  SearchFilter,
  SearchHit,
  SearchOptions,
  SemanticIndexOptions,
  TextId,
} from './search/search_types.js';
export { SemanticIndex } from './semantic_index.js';
export type { Source, SourceOptions } from './sources/source.js';
export { type DirectoryHandle, type FileContent, type FilesSource, filesOf } from './sources/source_files.js';
export type { CallOptions } from './tasks/call.js';
export { entityFinder, labelFinder } from './tasks/detail_finders.js';
export type {
  AnswerExplanation,
  ExplainedWord,
  ExplainOptions,
  Explains,
  Explanation,
  LabelExplanationOptions,
  PairExplanation,
  RankingExplanation,
  TextExplanation,
} from './tasks/explanations.js';
export type {
  FeatureExtractionCall,
  FeatureExtractionOptions,
  FeatureExtractionOutput,
  FeaturesList,
  PackedFeatures,
  SparseFeatures,
} from './tasks/feature_extraction.js';
export type { FillMaskCall, FillMaskOptions, FillMaskOutput, MaskProposal } from './tasks/fill_mask.js';
export type {
  AttentionTerms,
  InspectCall,
  InspectedToken,
  InspectInput,
  Inspection,
  InspectOptions,
  TokenIds,
} from './tasks/inspection.js';
export type { ChoiceScore, MultipleChoiceCall } from './tasks/multiple_choice.js';
export type { Answer, QuestionAnsweringCall, QuestionAnsweringOptions, QuestionAnsweringOutput } from './tasks/question_answering.js';
export type { ReplacedTokenDetectionCall, TokenReplacement } from './tasks/replaced_token_detection.js';
export type { NumberArray } from './tasks/results.js';
export type { QuestionInput, ResultStream, StreamInputs, StreamOptions, StreamProgress, Streams } from './tasks/stream.js';
export type {
  ExtractedChoice,
  ExtractedLabel,
  ExtractedRelation,
  ExtractedSpan,
  ExtractedStructure,
  ExtractionResult,
  ExtractionSchema,
  SchemaClassification,
  SchemaField,
  StructuredExtractionCall,
  StructuredExtractionOptions,
} from './tasks/structured_extraction.js';
export type { ResolvedTask, Task, TaskCall, TaskOrAlias } from './tasks/tasks.js';
export type {
  LabelScore,
  TextClassificationCall,
  TextClassificationOptions,
  TextClassificationOutput,
  TextPair,
} from './tasks/text_classification.js';
export type { RankedDocument, TextRankingCall, TextRankingOptions } from './tasks/text_ranking.js';
export type {
  EntityGroup,
  TokenClassificationCall,
  TokenClassificationOptions,
  TokenClassificationOutput,
  TokenEntity,
} from './tasks/token_classification.js';
export type {
  CountOptions,
  DecodeOptions,
  EncodeOptions,
  Encoding,
  PipelineTokenizer,
  WindowOptions,
} from './tasks/tokenizer_calls.js';
export { type BinaryPrecision, cos_sim, dot, max_sim, mean_pooling } from './tasks/vectors.js';
export type {
  ZeroShotClassificationCall,
  ZeroShotClassificationOptions,
  ZeroShotClassificationOutput,
} from './tasks/zero_shot_classification.js';
export type {
  LabelledSpan,
  ZeroShotTokenClassificationCall,
  ZeroShotTokenClassificationOptions,
} from './tasks/zero_shot_token_classification.js';
export { Tensor, type TensorData, type TensorSlice, type TensorType } from './tensor.js';
