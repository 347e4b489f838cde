import { PeruseError } from '../errors.js';
import type { MissingFile, ModelFile, ModelFolder } from './source.js';

export class EitherFolder implements ModelFolder {
  private chosen_: Promise<ModelFolder> | undefined;

  constructor(
    private readonly first_: ModelFolder,
    private readonly second_: ModelFolder,
  ) {}

  async open(file: string, signal: AbortSignal): Promise<ModelFile | MissingFile> {
    this.chosen_ ??= this.choose(signal);
    return (await this.chosen_).open(file, signal);
  }

  private async choose(signal: AbortSignal): Promise<ModelFolder> {
    const config = await this.first_.open('config.json', signal).catch((error: unknown) => {
      if (error instanceof PeruseError && error.code === 'network') return undefined; // the page's own server is unreachable
      throw error;
    });
    if (!config?.found) return this.second_;
    await config.close();
    return this.first_;
  }
}
