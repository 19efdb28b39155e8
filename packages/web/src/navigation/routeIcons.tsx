import { ROUTES } from '@stagi/contract/routes.ts';
import {
  IconApi,
  IconBox,
  IconBriefcase,
  IconBuildingStore,
  IconChartBar,
  IconCloud,
  IconDatabase,
  IconDevices,
  IconFileText,
  IconGhost2,
  IconGitBranch,
  IconHistory,
  IconKey,
  IconLink,
  IconLogin,
  IconMessage2,
  IconReceipt2,
  IconScale,
  IconServer2,
  IconServerBolt,
  IconShieldLock,
  IconTicket,
  IconUser,
  IconUserCog,
  IconUserPlus,
  IconUsers,
} from '@tabler/icons-react';

const ICONS: Record<string, typeof IconBox> = {
  [ROUTES.marketplace.path]: IconBuildingStore,
  [ROUTES.instances.path]: IconServerBolt,
  [ROUTES.selfInstances.path]: IconServer2,
  [ROUTES.storages.path]: IconDatabase,
  [ROUTES.containers.path]: IconBox,
  [ROUTES.projects.path]: IconGitBranch,
  [ROUTES.account.path]: IconUser,
  [ROUTES.security.path]: IconShieldLock,
  [ROUTES.sessions.path]: IconDevices,
  [ROUTES.team.path]: IconUsers,
  [ROUTES.balance.path]: IconReceipt2,
  [ROUTES.usage.path]: IconChartBar,
  [ROUTES.tokens.path]: IconApi,
  [ROUTES.sshKeys.path]: IconKey,
  [ROUTES.invites.path]: IconLink,
  [ROUTES.audit.path]: IconHistory,
  [ROUTES.adminPromoCodes.path]: IconTicket,
  [ROUTES.adminLedger.path]: IconScale,
  [ROUTES.adminUsers.path]: IconUserCog,
  [ROUTES.adminWorkspaces.path]: IconBriefcase,
  [ROUTES.adminStrays.path]: IconGhost2,
  [ROUTES.adminProviders.path]: IconCloud,
  [ROUTES.adminFeedback.path]: IconMessage2,
  [ROUTES.adminAudit.path]: IconHistory,
  [ROUTES.signUp.path]: IconUserPlus,
  [ROUTES.signIn.path]: IconLogin,
};

/** The icon of a page, the same in the navigation and in the palette. */
export function RouteIcon({ path }: { path: string }) {
  const Icon = ICONS[path] ?? IconFileText;
  return <Icon size={16} aria-hidden="true" />;
}
