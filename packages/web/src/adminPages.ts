/** The operators' pages. Their file names are in a file of their own, which visitors' first pages do not contain. */
export const adminPages = {
  promoCodes: async () => (await import('./features/admin/PromoCodesPage.tsx')).PromoCodesPage,
  ledger: async () => (await import('./features/admin/LedgerPage.tsx')).LedgerPage,
  users: async () => (await import('./features/admin/UsersPage.tsx')).UsersPage,
  signUpLinks: async () => (await import('./features/admin/SignUpLinksPage.tsx')).SignUpLinksPage,
  workspaces: async () => (await import('./features/admin/WorkspacesPage.tsx')).WorkspacesPage,
  strays: async () => (await import('./features/admin/StraysPage.tsx')).StraysPage,
  providers: async () => (await import('./features/admin/ProvidersPage.tsx')).ProvidersPage,
  feedback: async () => (await import('./features/admin/FeedbackPage.tsx')).FeedbackPage,
  contact: async () => (await import('./features/admin/ContactPage.tsx')).ContactPage,
  models: async () => (await import('./features/models/admin/AdminModelsPage.tsx')).AdminModelsPage,
  audit: async () => (await import('./features/admin/AdminAuditPage.tsx')).AdminAuditPage,
  site: async () => (await import('./features/admin/SitePage.tsx')).SitePage,
};
