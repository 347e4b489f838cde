import { PeruseError } from '../errors.js';
import { lookAt } from './look.js';
import type { FileFacts, MissingFile, ModelFile, ModelFolder } from './source.js';

export class EitherFolder implements ModelFolder {
  private chosen_: Promise<ModelFolder> | undefined;

  constructor(
    private readonly first_: ModelFolder,
    private readonly second_: ModelFolder,
  ) {}

  async open(file: string, signal: AbortSignal, firstBytes?: number): Promise<ModelFile | MissingFile> {
    this.chosen_ ??= this.choose(signal);
    return (await this.chosen_).open(file, signal, firstBytes);
  }

  async look(file: string, signal: AbortSignal): Promise<FileFacts | MissingFile> {
    this.chosen_ ??= this.choose(signal);
    return lookAt(await this.chosen_, file, signal);
  }

  async openInForm(file: string, form: string, signal: AbortSignal): Promise<ModelFile | undefined> {
    this.chosen_ ??= this.choose(signal);
    return (await this.chosen_).openInForm?.(file, form, signal);
  }

  private async choose(signal: AbortSignal): Promise<ModelFolder> {
    const config = await this.first_.open('config.json', signal).catch((error: unknown) => {
      // the page's own server is unreachable, so the second folder is used
      if (error instanceof PeruseError && error.code === 'network') return undefined;
      throw error;
    });
    if (!config?.found) return this.second_;
    await config.close();
    return this.first_;
  }
}
