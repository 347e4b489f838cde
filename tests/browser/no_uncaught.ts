// Vitest's set-up for tests that drive Chromium: an error or a rejection that nobody caught in a page or its workers fails the test.
import { afterEach, expect } from 'vitest';
import { takeUncaught } from './uncaught.js';

afterEach(() => {
  expect(takeUncaught(), 'errors that nobody caught, in a page').toEqual([]);
});
