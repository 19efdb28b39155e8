/** The written pages: their files are named here and not in routes.tsx, which every first page loads. */
export const contentPages = {
  docs: async () => (await import('./features/content/DocsPage.tsx')).DocsPage,
  tutorials: async () => (await import('./features/content/TutorialsPage.tsx')).TutorialsPage,
  blog: async () => (await import('./features/content/BlogPage.tsx')).BlogPage,
  legal: async () => (await import('./features/content/LegalPage.tsx')).LegalPage,
};
