// The part of React that peruse/react uses. The package's own declarations do not refer to React's types.
declare module 'react' {
  export function useEffect(effect: () => (() => void) | undefined, dependencies: readonly unknown[]): void;
  export function useState<S>(initial: S): [S, (next: S) => void];
}
