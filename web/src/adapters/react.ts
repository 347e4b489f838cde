// peruse/react: a pipeline that lives as long as a component. Requires React 17, 18 or 19.
import { type Pipeline, type PipelineOptionsOf, pipeline, type ResolvedTask, type Source, type TaskOrAlias } from 'peruse';
import { useEffect, useState } from 'react';

/** What usePipeline() returns. */
export type PipelineState<T extends TaskOrAlias> =
  /** There is no source. */
  | { status: 'idle'; progress: 0; pipeline?: undefined; error?: undefined }
  /** `progress` is in per cent of all bytes. */
  | { status: 'loading'; progress: number; pipeline?: undefined; error?: undefined }
  | { status: 'ready'; progress: 100; pipeline: Pipeline<ResolvedTask<T>>; error?: undefined }
  | { status: 'error'; progress: 0; pipeline?: undefined; error: Error };

/** Options of usePipeline(): those of pipeline() without the signal. */
export type UsePipelineOptions<T extends TaskOrAlias> = Omit<PipelineOptionsOf<T>, 'signal'>;

/**
 * Loads a pipeline when the component is mounted, and disposes it when the component is unmounted or `task` or `source` change. A later change
 * of `options` alone has no effect. A source that is an object must stay the same object between renders.
 *
 * @param source The model; with null or undefined, nothing is loaded.
 */
export function usePipeline<T extends TaskOrAlias>(
  task: T,
  source: Source | null | undefined,
  options?: UsePipelineOptions<T>,
): PipelineState<T> {
  const key = source instanceof URL ? source.href : source;
  const [kept, setKept] = useState<{ task?: T; key?: unknown; state: PipelineState<T> }>({ state: kLoading });
  useEffect(() => {
    if (source === null || source === undefined) return;
    const controller = new AbortController();
    const show = (state: PipelineState<T>) => {
      if (!controller.signal.aborted) setKept({ task, key, state });
    };
    show(kLoading); // the state of an earlier load of the same source has a pipeline that was disposed
    const given = { ...options } as PipelineOptionsOf<T>;
    const loading = pipeline(task, source, {
      ...given,
      signal: controller.signal,
      progress_callback: (info) => {
        given.progress_callback?.(info);
        if (info.status === 'progress') show({ status: 'loading', progress: info.overall.progress });
      },
    });
    loading.then(
      (loaded) => show({ status: 'ready', progress: 100, pipeline: loaded }),
      (error: Error) => show({ status: 'error', progress: 0, error }),
    );
    return () => {
      controller.abort();
      loading.then((loaded) => loaded.dispose()).catch(() => {});
    };
  }, [task, key]);
  if (key === null || key === undefined) return kIdle;
  return kept.task === task && kept.key === key ? kept.state : kLoading;
}

const kIdle = { status: 'idle', progress: 0 } as const;
const kLoading = { status: 'loading', progress: 0 } as const;
