// The parts of other packages that adapters use. The declarations of this package do not refer to their types.
declare module '@langchain/core/embeddings' {
  export abstract class Embeddings {
    constructor(parameters: object);
    abstract embedDocuments(documents: string[]): Promise<number[][]>;
    abstract embedQuery(document: string): Promise<number[]>;
  }
}

declare module 'react' {
  export function useEffect(effect: () => (() => void) | undefined, dependencies: readonly unknown[]): void;
  export function useState<S>(initial: S): [S, (next: S) => void];
}
