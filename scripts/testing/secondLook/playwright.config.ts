import { defineConfig } from '@playwright/test';

/** The stories that `secondLook.long.test.ts` looks at; nothing else runs them. */
export default defineConfig({
  testDir: '.',
  projects: [{ name: 'browser', testMatch: '*.storyCase.ts' }],
});
