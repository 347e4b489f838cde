// The part of @langchain/core that peruse/langchain uses.
declare module '@langchain/core/embeddings' {
  export abstract class Embeddings {
    constructor(parameters: object);
    abstract embedDocuments(documents: string[]): Promise<number[][]>;
    abstract embedQuery(document: string): Promise<number[]>;
  }
}
