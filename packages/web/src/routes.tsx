import { ROUTES, type Route } from '@stagi/contract/routes.ts';
import { type ComponentType, Suspense } from 'react';
import { Navigate, type RouteObject } from 'react-router';
import { CloudRedirect } from './access/CloudRedirect.tsx';
import { cloudLandingPath } from './access/routeGuard.ts';
import type { adminPages } from './adminPages.ts';
import { useSignedIn } from './api/session.ts';
import { site } from './api/site.ts';
import type { contentPages } from './contentPages.ts';
import { PageError } from './errorPages/PageError.tsx';
import type { ReadsName } from './firstReads.ts';
import { DefaultLayout } from './layouts/DefaultLayout.tsx';
import { HomeLayout } from './layouts/HomeLayout.tsx';
import { Root } from './layouts/Root.tsx';
import { SignLayout } from './layouts/SignLayout.tsx';
import { lazyComponent, loadChunk } from './lazyChunks.ts';
import type { PageHandle } from './navigation/pageHandle.ts';
import { routerPath } from './navigation/routerPath.ts';
import { paths } from './paths.ts';
import type { profilePages } from './profilePages.ts';
import type { projectPages } from './projectPages.ts';

/** The gallery of the kit is for development and tests. */
const hasKit = () =>
  typeof window !== 'undefined' && ['localhost', '127.0.0.1', '[::1]'].includes(window.location.hostname);

const FeedbackButton = lazyComponent(
  async () => (await import('./features/feedback/FeedbackButton.tsx')).FeedbackButton,
);

const passwordless = async () => (await import('./features/auth/PasswordlessSignInPage.tsx')).PasswordlessSignInPage;

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
        page(ROUTES.signIn, async () =>
          site().isPasswordOff ? passwordless() : (await import('./features/auth/SignInPage.tsx')).SignInPage,
        ),
        page(ROUTES.secondFactor, async () => (await import('./features/auth/SecondFactorPage.tsx')).SecondFactorPage),
        page(ROUTES.signUp, async () =>
          site().signUp || site().isPasswordOff
            ? (await import('./features/auth/RestrictedSignUpPage.tsx')).RestrictedSignUpPage
            : (await import('./features/auth/SignUpPage.tsx')).SignUpPage,
        ),
        page(ROUTES.signUpForm, async () => (await import('./features/auth/SignUpFormPage.tsx')).SignUpFormPage),
        page(ROUTES.confirmation, async () => (await import('./features/auth/ConfirmationPage.tsx')).ConfirmationPage),
        page(ROUTES.recovery, async () =>
          site().isPasswordOff ? passwordless() : (await import('./features/auth/RecoveryPage.tsx')).RecoveryPage,
        ),
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
        page(
          ROUTES.instance,
          async () => {
            const [{ InstancePage }, { ServerContainers, ServerImages }, { SshKeyDialog }] = await Promise.all([
              import('./features/instances/InstancePage.tsx'),
              import('./features/containers/ServerContainers.tsx'),
              import('./features/sshKeys/SshKeyDialog.tsx'),
            ]);
            return () => (
              <InstancePage
                ServerContainers={ServerContainers}
                ServerImages={ServerImages}
                SshKeyDialog={SshKeyDialog}
              />
            );
          },
          'instance',
        ),
        page(
          ROUTES.selfInstances,
          async () => (await import('./features/instances/SelfHostedPage.tsx')).SelfHostedPage,
          'selfInstances',
        ),
        page(
          ROUTES.selfInstance,
          async () => {
            const [{ SelfHostedInstancePage }, { ServerContainers, ServerImages }] = await Promise.all([
              import('./features/instances/SelfHostedInstancePage.tsx'),
              import('./features/containers/ServerContainers.tsx'),
            ]);
            return () => <SelfHostedInstancePage ServerContainers={ServerContainers} ServerImages={ServerImages} />;
          },
          'selfInstance',
        ),
        page(
          ROUTES.containers,
          async () => (await import('./features/containers/ContainersPage.tsx')).ContainersPage,
          'containers',
        ),
        page(
          ROUTES.container,
          async () => (await import('./features/containers/ContainerPage.tsx')).ContainerPage,
          'container',
        ),
        page(
          ROUTES.storages,
          async () => (await import('./features/storages/StoragesPage.tsx')).StoragesPage,
          'storages',
        ),
        page(ROUTES.storage, async () => (await import('./features/storages/StoragePage.tsx')).StoragePage, 'storage'),
        page(ROUTES.projects, projectPage('list'), 'projects'),
        {
          path: ROUTES.project.path,
          lazy: once(projectPage('frame')),
          children: pagesOfProject(),
        },
        page(ROUTES.newTask, projectPage('newTask')),
        page(ROUTES.task, projectPage('task'), 'task'),
        page(ROUTES.taskLogs, projectPage('taskLogs'), 'taskLogs'),
        {
          path: ROUTES.profile.path,
          handle: { route: ROUTES.profile, leadsTo: paths.account } satisfies PageHandle,
          element: <Navigate to={paths.account()} replace />,
        },
        page(ROUTES.account, profilePage('account')),
        page(ROUTES.security, profilePage('security')),
        page(ROUTES.sessions, profilePage('sessions')),
        page(ROUTES.tokens, profilePage('tokens'), 'tokens'),
        page(ROUTES.team, profilePage('team'), 'team'),
        page(ROUTES.invites, profilePage('invites'), 'invites'),
        page(ROUTES.audit, profilePage('audit')),
        page(ROUTES.usage, profilePage('usage'), 'usage'),
        page(ROUTES.balance, profilePage('balance'), 'balance'),
        page(ROUTES.sshKeys, profilePage('sshKeys'), 'sshKeys'),
        {
          path: ROUTES.admin.path,
          handle: { route: ROUTES.admin, leadsTo: paths.adminUsers } satisfies PageHandle,
          element: <Navigate to={paths.adminUsers()} replace />,
        },
        page(ROUTES.adminPromoCodes, adminPage('promoCodes'), 'adminPromoCodes'),
        page(ROUTES.adminLedger, adminPage('ledger'), 'adminLedger'),
        page(ROUTES.adminUsers, adminPage('users'), 'adminUsers'),
        page(ROUTES.adminSignUpLinks, adminPage('signUpLinks'), 'adminSignUpLinks'),
        page(ROUTES.adminWorkspaces, adminPage('workspaces'), 'adminWorkspaces'),
        page(ROUTES.adminStrays, adminPage('strays'), 'adminStrays'),
        page(ROUTES.adminProviders, adminPage('providers'), 'adminProviders'),
        page(ROUTES.adminFeedback, adminPage('feedback'), 'adminFeedback'),
        page(ROUTES.adminContact, adminPage('contact'), 'adminContact'),
        page(ROUTES.adminModels, adminPage('models'), 'adminModels'),
        page(ROUTES.adminAudit, adminPage('audit')),
        page(ROUTES.adminSite, adminPage('site')),
      ]),
      lazyLayout(async () => {
        const { DocsLayout } = await import('./layouts/DocsLayout.tsx');
        return () => <DocsLayout feedback={feedback} />;
      }, [
        page(ROUTES.docs, contentPage('docs'), 'docs'),
        page(ROUTES.tutorials, contentPage('tutorials'), 'tutorials'),
      ]),
      layout(<DefaultLayout feedback={feedback} />, [
        page(ROUTES.blog, contentPage('blog'), 'blog'),
        ...[ROUTES.terms, ROUTES.privacy, ROUTES.aiUse].map((route) => page(route, contentPage('legal'), 'written')),
        page(ROUTES.models, async () => (await import('./features/models/list/ModelsPage.tsx')).ModelsPage, 'models'),
        page(ROUTES.contact, async () => (await import('./features/contact/ContactPage.tsx')).ContactPage),
        page(ROUTES.joinClient, async () => (await import('./features/invitation/JoinClientPage.tsx')).JoinClientPage),
        page(
          ROUTES.expiredInvite,
          async () => (await import('./features/invitation/ExpiredInvitePage.tsx')).ExpiredInvitePage,
        ),
        page(
          ROUTES.containerAuth,
          async () => (await import('./features/containerAuth/ContainerAuthPage.tsx')).ContainerAuthPage,
        ),
        page(ROUTES.consent, async () => (await import('./features/apps/ConsentPage.tsx')).ConsentPage),
        page(ROUTES.authGoogle, async () => (await import('./features/auth/GoogleReturnPage.tsx')).GoogleReturnPage),
        page(ROUTES.authGithub, async () => (await import('./features/auth/GithubReturnPage.tsx')).GithubReturnPage),
        page(ROUTES.authOpenId, async () => (await import('./features/auth/OpenIdReturnPage.tsx')).OpenIdReturnPage),
        page(
          ROUTES.model,
          async () => {
            const [{ ModelPage }, slots] = await Promise.all([
              import('./features/models/detail/ModelPage.tsx'),
              import('./modelSlots.tsx'),
            ]);
            return () => <ModelPage {...slots} />;
          },
          'model',
        ),
        page(ROUTES.forbidden, async () => (await import('./errorPages/Forbidden.tsx')).Forbidden),
        ...(hasKit() ? [page(ROUTES.kit, async () => (await import('./features/kit/KitPage.tsx')).KitPage)] : []),
        { path: '*', lazy: once(async () => (await import('./errorPages/NotFound.tsx')).NotFound) },
      ]),
    ],
  },
];

/** The pages of one project, below its header and tabs; each asks `useProject` for it. */
function pagesOfProject(): RouteObject[] {
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
      path: 'code',
      handle: {
        route: ROUTES.project,
        leadsTo: (_permissions, { id }) => paths.project(Number(id)),
      } satisfies PageHandle,
      element: <Navigate to="tree" replace />,
    },
    page(ROUTES.projectTree, projectPage('tree'), 'projectTree'),
    page(ROUTES.projectBlob, projectPage('blob'), 'projectBlob'),
    page(ROUTES.projectCommit, projectPage('commit'), 'projectCommit'),
    page(ROUTES.projectCommits, projectPage('commits'), 'projectCommits'),
    page(ROUTES.projectInstances, projectPage('instances'), 'projectInstances'),
    page(ROUTES.projectContainers, projectPage('containers'), 'projectContainers'),
    page(ROUTES.projectTasks, projectPage('tasks'), 'projectTasks'),
    page(ROUTES.projectActivity, projectPage('activity'), 'projectActivity'),
    page(ROUTES.projectSettings, projectPage('settings'), 'projectSettings'),
  ];
}

type Load = () => Promise<ComponentType>;

// Pages whose files are named in a file of their own: see there.

function profilePage(name: keyof typeof profilePages): Load {
  return async () => (await import('./profilePages.ts')).profilePages[name]();
}

function projectPage(name: keyof typeof projectPages): Load {
  return async () => (await import('./projectPages.ts')).projectPages[name]();
}

function contentPage(name: keyof typeof contentPages): Load {
  return async () => (await import('./contentPages.ts')).contentPages[name]();
}

function adminPage(name: keyof typeof adminPages): Load {
  return async () => (await import('./adminPages.ts')).adminPages[name]();
}

/**
 * A page of its own file, fetched when it is first asked for; `reads` names what is read ahead for it. It reads its tab,
 * or what else follows in its address, from `useParams()`: `tab`, `*`.
 */
function page(route: Route, load: Load, reads?: ReadsName): RouteObject {
  return {
    path: routerPath(route),
    handle: {
      route,
      reads: reads && (async (visit) => (await loadChunk(() => import('./firstReads.ts'))).firstReads[reads](visit)),
    } satisfies PageHandle,
    lazy: once(load),
  };
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
