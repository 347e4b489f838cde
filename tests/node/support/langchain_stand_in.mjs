// In place of @langchain/core/embeddings.
export class Embeddings {}
