import { ROUTES, type Route } from '@stagi/contract/routes.ts';

export interface Section {
  under: string;
  title: string;
  places: readonly Route[];
}

/** The operators' own pages. */
export const ADMINISTRATION: Section = {
  under: ROUTES.admin.path,
  title: ROUTES.admin.title,
  places: [
    ROUTES.adminUsers,
    ROUTES.adminSignUpLinks,
    ROUTES.adminWorkspaces,
    ROUTES.adminStrays,
    ROUTES.adminProviders,
    ROUTES.adminPromoCodes,
    ROUTES.adminLedger,
    ROUTES.adminModels,
    ROUTES.adminFeedback,
    ROUTES.adminContact,
    ROUTES.adminAudit,
    ROUTES.adminSite,
  ],
};

/** The parts of the signed-in product whose pages are listed under the header. */
export const SECTIONS: readonly Section[] = [
  {
    under: ROUTES.cloud.path,
    title: ROUTES.cloud.title,
    places: [ROUTES.marketplace, ROUTES.instances, ROUTES.selfInstances, ROUTES.storages, ROUTES.containers],
  },
  {
    under: ROUTES.profile.path,
    title: ROUTES.profile.title,
    places: [ROUTES.account, ROUTES.team, ROUTES.balance, ROUTES.usage, ROUTES.tokens, ROUTES.sshKeys],
  },
  ADMINISTRATION,
];
