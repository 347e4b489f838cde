export * from 'peruse/transformers';
