// transformers.js's questions about stored models.
import { type HasOptions, modelCache } from '../face.js';

/** Questions about stored models. */
export const ModelRegistry = {
  /** Whether a model's files are stored. */
  is_cached(model: string, options: HasOptions = {}): Promise<boolean> {
    return modelCache.has(model, options);
  },
  /** The same for a pipeline, whose task is not needed. */
  is_pipeline_cached(_task: string, model: string, options: HasOptions = {}): Promise<boolean> {
    return modelCache.has(model, options);
  },
};
