/** The pages of the profile. Their file names are in a file of their own, which visitors' first pages do not contain. */
export const profilePages = {
  account: async () => (await import('./features/account/AccountPage.tsx')).AccountPage,
  security: async () => (await import('./features/account/security/SecurityPage.tsx')).SecurityPage,
  sessions: async () => (await import('./features/account/SessionsPage.tsx')).SessionsPage,
  tokens: async () => (await import('./features/apiTokens/TokensPage.tsx')).TokensPage,
  team: async () => (await import('./features/team/TeamPage.tsx')).TeamPage,
  invites: async () => (await import('./features/team/InvitesPage.tsx')).InvitesPage,
  audit: async () => (await import('./features/team/AuditPage.tsx')).AuditPage,
  usage: async () => (await import('./features/usage/UsagePage.tsx')).UsagePage,
  balance: async () => (await import('./features/billing/BalancePage.tsx')).BalancePage,
  sshKeys: async () => (await import('./features/sshKeys/SshKeysPage.tsx')).SshKeysPage,
};
