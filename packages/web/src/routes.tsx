import { ROUTES, type Route } from '@stagi/contract/routes.ts';
import { type ComponentType, Suspense } from 'react';
import { Navigate, type RouteObject } from 'react-router';
import { CloudRedirect } from './access/CloudRedirect.tsx';
import { cloudLandingPath } from './access/routeGuard.ts';
import { useSignedIn } from './api/session.ts';
import { NotFound } from './errorPages/NotFound.tsx';
import { PageError } from './errorPages/PageError.tsx';
import type { ReadsName } from './firstReads.ts';
import { DefaultLayout } from './layouts/DefaultLayout.tsx';
import { HomeLayout } from './layouts/HomeLayout.tsx';
import { Root } from './layouts/Root.tsx';
import { SignLayout } from './layouts/SignLayout.tsx';
import { lazyComponent, loadChunk } from './lazyChunks.ts';
import type { PageHandle } from './navigation/pageHandle.ts';
import { paths } from './paths.ts';

/** The gallery of the kit is for development and tests. */
const hasKit = () =>
  typeof window !== 'undefined' && ['localhost', '127.0.0.1', '[::1]'].includes(window.location.hostname);

const FeedbackButton = lazyComponent(
  async () => (await import('./features/feedback/FeedbackButton.tsx')).FeedbackButton,
);

// The layouts know no feature: it is handed to those that show it.
const feedback = <SignedInFeedback />;

/** The map of the product: each layout and the pages it holds. What a page asks of its visitor is in `ROUTES`. */
export const routes: RouteObject[] = [
  {
    element: <Root />,
    errorElement: <PageError />,
    hydrateFallbackElement: <></>,
    children: [
      layout(<HomeLayout />, [page(ROUTES.home, async () => (await import('./features/home/HomePage.tsx')).HomePage)]),
      layout(<SignLayout />, [
        page(ROUTES.signIn, async () => (await import('./features/auth/SignInPage.tsx')).SignInPage),
        page(ROUTES.secondFactor, async () => (await import('./features/auth/SecondFactorPage.tsx')).SecondFactorPage),
        page(ROUTES.signUp, async () => (await import('./features/auth/SignUpPage.tsx')).SignUpPage),
        page(ROUTES.signUpForm, async () => (await import('./features/auth/SignUpFormPage.tsx')).SignUpFormPage),
        page(ROUTES.confirmation, async () => (await import('./features/auth/ConfirmationPage.tsx')).ConfirmationPage),
        page(ROUTES.recovery, async () => (await import('./features/auth/RecoveryPage.tsx')).RecoveryPage),
      ]),
      lazyLayout(async () => {
        const { AppLayout } = await import('./layouts/AppLayout.tsx');
        return () => <AppLayout feedback={feedback} />;
      }, [
        {
          path: ROUTES.cloud.path,
          handle: { route: ROUTES.cloud, leadsTo: cloudLandingPath } satisfies PageHandle,
          element: <CloudRedirect />,
        },
        page(
          ROUTES.marketplace,
          async () => {
            const [{ MarketplacePage }, { SshKeyDialog }] = await Promise.all([
              import('./features/marketplace/MarketplacePage.tsx'),
              import('./features/sshKeys/SshKeyDialog.tsx'),
            ]);
            return () => <MarketplacePage SshKeyDialog={SshKeyDialog} />;
          },
          'marketplace',
        ),
        page(
          ROUTES.instances,
          async () => (await import('./features/instances/InstancesPage.tsx')).InstancesPage,
          'instances',
        ),
        tabbed(
          ROUTES.instance,
          async () => {
            const [{ InstancePage }, { ServerContainers }, { SshKeyDialog }] = await Promise.all([
              import('./features/instances/InstancePage.tsx'),
              import('./features/containers/ServerContainers.tsx'),
              import('./features/sshKeys/SshKeyDialog.tsx'),
            ]);
            return () => <InstancePage ServerContainers={ServerContainers} SshKeyDialog={SshKeyDialog} />;
          },
          'instance',
        ),
        page(
          ROUTES.selfInstances,
          async () => (await import('./features/instances/SelfHostedPage.tsx')).SelfHostedPage,
          'selfInstances',
        ),
        tabbed(
          ROUTES.selfInstance,
          async () => {
            const [{ SelfHostedInstancePage }, { ServerContainers }] = await Promise.all([
              import('./features/instances/SelfHostedInstancePage.tsx'),
              import('./features/containers/ServerContainers.tsx'),
            ]);
            return () => <SelfHostedInstancePage ServerContainers={ServerContainers} />;
          },
          'selfInstance',
        ),
        page(
          ROUTES.containers,
          async () => (await import('./features/containers/ContainersPage.tsx')).ContainersPage,
          'containers',
        ),
        tabbed(
          ROUTES.container,
          async () => (await import('./features/containers/ContainerPage.tsx')).ContainerPage,
          'container',
        ),
        page(
          ROUTES.storages,
          async () => (await import('./features/storages/StoragesPage.tsx')).StoragesPage,
          'storages',
        ),
        tabbed(
          ROUTES.storage,
          async () => (await import('./features/storages/StoragePage.tsx')).StoragePage,
          'storage',
        ),
        page(
          ROUTES.projects,
          async () => (await import('./features/projects/ProjectsPage.tsx')).ProjectsPage,
          'projects',
        ),
        {
          path: ROUTES.project.path,
          lazy: once(async () => (await import('./features/projects/ProjectPage.tsx')).ProjectPage),
          children: projectPages(),
        },
        {
          path: ROUTES.profile.path,
          handle: { route: ROUTES.profile, leadsTo: paths.account } satisfies PageHandle,
          element: <Navigate to={paths.account()} replace />,
        },
        page(ROUTES.account, async () => (await import('./features/account/AccountPage.tsx')).AccountPage),
        page(ROUTES.security, async () => (await import('./features/account/security/SecurityPage.tsx')).SecurityPage),
        page(ROUTES.sessions, async () => (await import('./features/account/SessionsPage.tsx')).SessionsPage),
        tabbed(ROUTES.tokens, async () => (await import('./features/apiTokens/TokensPage.tsx')).TokensPage, 'tokens'),
        page(ROUTES.team, async () => (await import('./features/team/TeamPage.tsx')).TeamPage, 'team'),
        page(ROUTES.invites, async () => (await import('./features/team/InvitesPage.tsx')).InvitesPage, 'invites'),
        page(ROUTES.audit, async () => (await import('./features/team/AuditPage.tsx')).AuditPage),
        page(ROUTES.usage, async () => (await import('./features/usage/UsagePage.tsx')).UsagePage, 'usage'),
        page(ROUTES.balance, async () => (await import('./features/billing/BalancePage.tsx')).BalancePage, 'balance'),
        page(ROUTES.sshKeys, async () => (await import('./features/sshKeys/SshKeysPage.tsx')).SshKeysPage, 'sshKeys'),
        {
          path: ROUTES.admin.path,
          handle: { route: ROUTES.admin, leadsTo: paths.adminUsers } satisfies PageHandle,
          element: <Navigate to={paths.adminUsers()} replace />,
        },
        page(
          ROUTES.adminPromoCodes,
          async () => (await import('./features/admin/PromoCodesPage.tsx')).PromoCodesPage,
          'adminPromoCodes',
        ),
        page(
          ROUTES.adminLedger,
          async () => (await import('./features/admin/LedgerPage.tsx')).LedgerPage,
          'adminLedger',
        ),
        page(ROUTES.adminUsers, async () => (await import('./features/admin/UsersPage.tsx')).UsersPage, 'adminUsers'),
        page(
          ROUTES.adminWorkspaces,
          async () => (await import('./features/admin/WorkspacesPage.tsx')).WorkspacesPage,
          'adminWorkspaces',
        ),
        page(
          ROUTES.adminStrays,
          async () => (await import('./features/admin/StraysPage.tsx')).StraysPage,
          'adminStrays',
        ),
        page(
          ROUTES.adminProviders,
          async () => (await import('./features/admin/ProvidersPage.tsx')).ProvidersPage,
          'adminProviders',
        ),
        page(
          ROUTES.adminFeedback,
          async () => (await import('./features/admin/FeedbackPage.tsx')).FeedbackPage,
          'adminFeedback',
        ),
        page(ROUTES.adminAudit, async () => (await import('./features/admin/AdminAuditPage.tsx')).AdminAuditPage),
      ]),
      layout(<DefaultLayout feedback={feedback} />, [
        page(ROUTES.joinClient, async () => (await import('./features/invitation/JoinClientPage.tsx')).JoinClientPage),
        page(
          ROUTES.expiredInvite,
          async () => (await import('./features/invitation/JoinClientPage.tsx')).ExpiredInvitePage,
        ),
        page(
          ROUTES.containerAuth,
          async () => (await import('./features/containerAuth/ContainerAuthPage.tsx')).ContainerAuthPage,
        ),
        page(ROUTES.consent, async () => (await import('./features/apps/ConsentPage.tsx')).ConsentPage),
        page(ROUTES.authGoogle, async () => (await import('./features/auth/GoogleReturnPage.tsx')).GoogleReturnPage),
        page(ROUTES.authGithub, async () => (await import('./features/auth/GithubReturnPage.tsx')).GithubReturnPage),
        page(ROUTES.forbidden, async () => (await import('./errorPages/Forbidden.tsx')).Forbidden),
        ...(hasKit()
          ? [
              {
                ...page(ROUTES.kit, async () => (await import('./features/kit/KitPage.tsx')).KitPage),
                path: `${ROUTES.kit.path}/:section?`,
              },
            ]
          : []),
        { path: '*', element: <NotFound /> },
      ]),
    ],
  },
];

/** The pages of one project, below its header and tabs; each asks `useProject` for it. */
function projectPages(): RouteObject[] {
  return [
    {
      index: true,
      handle: {
        route: ROUTES.project,
        leadsTo: (_permissions, { id }) => paths.project(Number(id)),
      } satisfies PageHandle,
      element: <Navigate to="code/tree" replace />,
    },
    {
      path: `${ROUTES.project.path}/code`,
      handle: {
        route: ROUTES.projectTree,
        leadsTo: (_permissions, { id }) => paths.project(Number(id)),
      } satisfies PageHandle,
      element: <Navigate to="tree" replace />,
    },
    code(
      ROUTES.projectTree,
      async () => (await import('./features/projectCode/tree/TreePage.tsx')).TreePage,
      'projectTree',
    ),
    code(
      ROUTES.projectBlob,
      async () => (await import('./features/projectCode/blob/BlobPage.tsx')).BlobPage,
      'projectBlob',
    ),
    code(
      ROUTES.projectCommit,
      async () => (await import('./features/projectCode/commit/CommitPage.tsx')).CommitPage,
      'projectCommit',
    ),
    code(
      ROUTES.projectCommits,
      async () => (await import('./features/projectCode/commits/CommitsPage.tsx')).CommitsPage,
      'projectCommits',
    ),
    page(
      ROUTES.projectInstances,
      async () => (await import('./features/projects/instances/ProjectInstances.tsx')).ProjectInstances,
      'projectInstances',
    ),
    page(
      ROUTES.projectContainers,
      async () => (await import('./features/containers/ProjectContainers.tsx')).ProjectContainers,
      'projectContainers',
    ),
    page(
      ROUTES.projectActivity,
      async () => (await import('./features/projects/ProjectActivity.tsx')).ProjectActivity,
      'projectActivity',
    ),
    page(
      ROUTES.projectSettings,
      async () => (await import('./features/projects/settings/ProjectSettings.tsx')).ProjectSettings,
      'projectSettings',
    ),
  ];
}

type Load = () => Promise<ComponentType>;

/** A page of its own file, fetched when it is first asked for; `reads` names what is read ahead for it. */
function page(route: Route, load: Load, reads?: ReadsName): RouteObject {
  return {
    path: route.path,
    handle: {
      route,
      reads: reads && (async (visit) => (await loadChunk(() => import('./firstReads.ts'))).firstReads[reads](visit)),
    } satisfies PageHandle,
    lazy: once(load),
  };
}

/** A page whose tabs are the next word of its address; the page reads `useParams().tab`. */
function tabbed(route: Route, load: Load, reads?: ReadsName): RouteObject {
  return { ...page(route, load, reads), path: `${route.path}/:tab?` };
}

/** A page of the code, which reads the parts that follow in its address by itself. */
function code(route: Route, load: Load, reads: ReadsName): RouteObject {
  return { ...page(route, load, reads), path: `${route.path}/*` };
}

/** The same for a layout that a first page of a visitor has no use for. */
function lazyLayout(load: Load, children: RouteObject[]): RouteObject {
  return {
    lazy: once(load),
    children: [{ errorElement: <PageError />, children }],
  };
}

/** Who asks twice gets the same page, not another one that looks like it. */
function once(load: Load): () => Promise<{ Component: ComponentType }> {
  let loaded: Promise<{ Component: ComponentType }> | null = null;
  return () => {
    loaded ??= loadChunk(load).then(
      (Component) => ({ Component }),
      (cause: unknown) => {
        loaded = null;
        throw cause;
      },
    );
    return loaded;
  };
}

function layout(element: React.ReactElement, children: RouteObject[]): RouteObject {
  return { element, children: [{ errorElement: <PageError />, children }] };
}

function SignedInFeedback() {
  return useSignedIn() ? (
    <Suspense>
      <FeedbackButton />
    </Suspense>
  ) : null;
}
