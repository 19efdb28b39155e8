// Sets the library up before any schema is made.
import './noCodeGeneration.ts';
import { account } from './account.ts';
import { adminClients } from './adminClients.ts';
import { adminModels } from './adminModels.ts';
import { adminSystem } from './adminSystem.ts';
import { adminUsers } from './adminUsers.ts';
import { analytics } from './analytics.ts';
import { apiTokens } from './apiTokens.ts';
import { apps } from './apps.ts';
import { audit } from './audit.ts';
import { auth } from './auth.ts';
import { billing } from './billing.ts';
import type { Call } from './call.ts';
import { clients } from './clients.ts';
import { contact } from './contact.ts';
import { containerAccess } from './containerAccess.ts';
import { containers } from './containers.ts';
import { containerTemplates } from './containerTemplates.ts';
import { content } from './content.ts';
import { feedback } from './feedback.ts';
import { gettingStarted } from './gettingStarted.ts';
import { hardware } from './hardware.ts';
import { identities } from './identities.ts';
import { instances, selfHosted } from './instances.ts';
import { invites } from './invites.ts';
import { ledger } from './ledger.ts';
import { logging } from './logging.ts';
import { metrics } from './metrics.ts';
import { modelEndpoints } from './modelEndpoints.ts';
import { models } from './models.ts';
import { usePlainMessages } from './plainMessages.ts';
import { projectCode } from './projectCode.ts';
import { projects } from './projects.ts';
import { promoCodes } from './promoCodes.ts';
import { providers } from './providers.ts';
import { publicOffers } from './publicOffers.ts';
import { registries } from './registries.ts';
import { secondFactor } from './secondFactor.ts';
import { serverImages } from './serverImages.ts';
import { sessions } from './sessions.ts';
import { sharing } from './sharing.ts';
import { signUpLinks } from './signUpLinks.ts';
import { sshKeys } from './sshKeys.ts';
import { storages } from './storages.ts';
import { strays } from './strays.ts';
import { tasks } from './tasks.ts';
import { transactions } from './transactions.ts';
import { usage } from './usage.ts';
import { user } from './user.ts';
import { volumeFiles } from './volumeFiles.ts';

// Before any schema is used: server, web app and other clients refuse an input with the same messages.
usePlainMessages();

/** The call table: every call of the API. Server, web app, OpenAPI document and command line are generated from it. */
export const api = {
  auth,
  identities,
  sessions,
  apps,
  secondFactor,
  user,
  gettingStarted,
  account,
  clients,
  invites,
  billing,
  transactions,
  usage,
  promoCodes,
  signUpLinks,
  ledger,
  hardware,
  publicOffers,
  models,
  content,
  modelEndpoints,
  instances,
  selfHosted,
  containers,
  containerAccess,
  containerTemplates,
  serverImages,
  registries,
  volumeFiles,
  logging,
  metrics,
  storages,
  sharing,
  projects,
  projectCode,
  tasks,
  sshKeys,
  apiTokens,
  strays,
  providers,
  feedback,
  contact,
  analytics,
  audit,
  adminUsers,
  adminClients,
  adminModels,
  adminSystem,
};
export type Api = typeof api;

export function everyCall(): Call[] {
  return Object.values(api).flatMap((domain) => Object.values(domain) as Call[]);
}
