import { defineConfig } from 'vitest/config';

/** The tests that `secondLook.long.test.ts` looks at; nothing else runs them. */
export default defineConfig({
  test: {
    experimental: { viteModuleRunner: false, nodeLoader: false },
    projects: [{ extends: true, test: { name: 'unit', include: ['scripts/testing/secondLook/*.case.ts'] } }],
  },
});
