// Vitest set-up: an uncaught error in a page of Chromium or its workers fails the test.
import { afterEach, expect } from 'vitest';
import { takeUncaught } from './uncaught.js';

afterEach(() => {
  expect(takeUncaught(), 'errors that nobody caught, in a page').toEqual([]);
});
