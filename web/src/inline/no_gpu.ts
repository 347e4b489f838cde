export async function noGpu(): Promise<never> {
  throw new Error("it is not in 'peruse/inline': import from 'peruse'.");
}
