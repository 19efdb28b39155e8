import type { BrowserContext, Page } from '@playwright/test';
import { api } from '@stagi/contract/api.ts';
import { ROLE_PERMISSIONS, ROLES, type Role } from '@stagi/contract/permissions.ts';
import { ROUTES, type Route } from '@stagi/contract/routes.ts';
import { freePort } from '@stagi/contract/testing/freePort.ts';
import type { Plan } from '@stagi/contract/user.ts';
import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import { aContainerWithPort } from '@stagi/server/src/testing/containerWithPort.ts';
import { anInvite, markSteppedUp } from '@stagi/server/src/testing/factories.ts';
import { mailedCode, PASSWORD, type Person } from '@stagi/server/src/testing/person.ts';
import { expectAccessible } from './accessible.ts';
import { sideways } from './cutOffText.ts';
import { expect, test } from './fixtures.ts';
import { withOwnDatabase } from './inProcessApp.ts';
import { openAs, sendSignUpForm, storedWorkspace, typeCode } from './people.ts';

let app: TestApp;
/** What browsers call the platform: hosts of ports lie beside it. */
let url: string;
let appsDomain: string;
let stop: () => Promise<void>;
test.beforeAll(async () => {
  const port = await freePort();
  appsDomain = `apps.localhost:${port}`;
  ({ app, stop } = await withOwnDatabase(() => startTestApp({ PORT: String(port), APPS_DOMAIN: appsDomain })));
  url = app.ctx.config.appOrigin;
});
test.afterAll(() => stop?.());

test('somebody is invited by a link, signs up and joins by it, which its maker sees at once', async ({ browser }) => {
  const ada = await onPlan('Team', await app.signUp('Ada Lovelace'));
  const here = await openAs(browser, url, ada, '/profile/team/invites');
  const rows = here.getByTestId('invite-row');

  const path = await test.step('the link is made and shown once', async () => {
    await expect(here.getByText('Nobody has been invited yet')).toBeVisible();
    await expect(here.getByTestId('seats')).toHaveText('1 of 8 seats of the Team plan are taken');
    await here.getByTestId('invite-create').click();
    const dialog = here.getByTestId('invite-dialog');
    await dialog.getByText('Guest', { exact: true }).click();
    await expectAccessible(here, 'a new join link');
    await here.getByTestId('invite-submit').click();
    await expect(dialog.getByText('This link is shown only once')).toBeVisible();
    const link = await dialog.getByTestId('invite-link').locator('code').textContent();
    expect(link).toMatch(new RegExp(`^${url}/join-client/[\\w-]{43}$`));
    await here.getByTestId('invite-done').click();
    await expect(rows).toHaveCount(1);
    await expect(rows).toContainText('Pending');
    await expect(rows).toContainText('0 of 1');
    expect(await here.content()).not.toContain((link ?? '').slice(-43));
    return new URL(link ?? '').pathname;
  });

  const { there, email } = await test.step('who has no account sees what they join, and signs up', async () => {
    const there = await (await browser.newContext({ viewport: { width: 360, height: 740 } })).newPage();
    await there.goto(url + path);
    await expect(there.getByRole('heading', { level: 1 })).toHaveText('Join Ada Lovelace’s workspace');
    await expect(there.getByText('Ada Lovelace invites you to this workspace.')).toBeVisible();
    await expect(there.getByText('Sees the workspace and its balance')).toBeVisible();
    await expectAccessible(there, 'a join link');
    expect(await sideways(there)).toBeLessThanOrEqual(0);
    const email = `invited-${Date.now()}@example.com`;
    await there.getByTestId('join-sign-up').click();
    await there.getByLabel('Name').fill('Grace Hopper');
    await there.getByLabel('Email').fill(email);
    await there.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await there.getByLabel('Repeat the password').fill(PASSWORD);
    await there.getByRole('button', { name: 'Sign up', exact: true }).last().click();
    await expect(there.getByRole('heading', { level: 1 })).toHaveText('Check your email');
    await typeCode(there, await mailedCode(app.url, email));
    await sendSignUpForm(there);
    return { there, email };
  });

  await test.step('they are led back, join by a press, and are in the workspace', async () => {
    await expect(there.getByRole('heading', { level: 1 })).toHaveText('Join Ada Lovelace’s workspace');
    await expect(there.getByText(`You are logged in as ${email}.`)).toBeVisible();
    await there.getByTestId('join-submit').click();
    await expect(there.getByText('You have joined Ada Lovelace’s workspace')).toBeVisible();
    expect(await storedWorkspace(there, { email })).toBe('Ada Lovelace’s workspace');
    await expect(rows).toContainText('Used up');
    await expect(rows).toContainText('1 of 1');
    await expect(here.getByTestId('seats')).toHaveText('2 of 8 seats of the Team plan are taken');
  });

  await test.step('the link leads nowhere any more', async () => {
    await there.goto(url + path);
    await expect(there.getByRole('heading', { level: 1 })).toHaveText('This invitation can no longer be used');
    await expect(there).toHaveURL(`${url}/expired-invite`);
    await expectAccessible(there, 'an invitation that is over');
  });

  await test.step('a link is found by its state, and revoked', async () => {
    await anInvite(app.ctx, ada, { role: 'Developer' });
    await here.setViewportSize({ width: 360, height: 740 });
    await here.getByRole('button', { name: 'Status' }).click();
    await here.getByRole('menuitemcheckbox', { name: 'Pending' }).click();
    await expect(rows).toHaveCount(1);
    await expect(rows).toContainText('Developer');
    await here.keyboard.press('Escape');
    expect(await sideways(here)).toBeLessThanOrEqual(0);
    await here.getByRole('button', { name: 'Actions for the link of Ada Lovelace' }).click();
    await here.getByTestId('action-revoke-invite').click();
    await here.getByTestId('confirm-submit').click();
    await expect(here.getByText('The join link has been revoked')).toBeVisible();
    await expect(here.getByText('No join link matches')).toBeVisible();
  });
  await here.context().close();
  await there.context().close();
});

test('a workspace without a free seat lets nobody in and says so; who is a member is told that', async ({
  browser,
}) => {
  const ada = await onPlan('Free', await app.signUp('Ada Lovelace'));
  const { code } = await anInvite(app.ctx, ada, { uses: 2 });
  const grace = await app.signUp('Grace Hopper');
  await setRole(ada, grace, 'Guest');
  const late = await app.signUp('Late Comer');

  const here = await openAs(browser, url, ada, '/profile/team');
  await here.getByTestId('invite-create').click();
  await expect(here.getByTestId('seats')).toContainText('2 of 2 seats of the Free plan are taken');
  await expect(here.getByTestId('seats')).toContainText('Nobody can join until a member is removed');
  await expect(here.getByTestId('invite-submit')).toBeDisabled();
  await here.context().close();

  const there = await openAs(browser, url, late, `/join-client/${code}`);
  await there.getByTestId('join-submit').click();
  await expect(there.getByText('All seats of this workspace are taken: its plan allows 2. Ask')).toBeVisible();
  await ada.client(api.clients.removeMember, { userId: grace.userId });
  await there.getByTestId('join-submit').click();
  await expect(there.getByText('You have joined Ada Lovelace’s workspace')).toBeVisible();
  await there.goto(`${url}/join-client/${code}`);
  await expect(there.getByText('You are already a member of this workspace, as Guest.')).toBeVisible();
  await there.getByTestId('join-go').click();
  await expect(there.getByTestId('profile-menu')).toContainText('Ada Lovelace’s workspace');
  await there.context().close();
});

test('each role sees the menu and the pages that it opens, and no others', async ({ browser }) => {
  const ada = await onPlan('Team', await app.signUp('Ada Lovelace'));
  const grace = await app.signUp('Grace Hopper');
  await markSteppedUp(app.ctx, ada);
  await setRole(ada, grace, 'Owner');
  const page = await openAs(browser, url, grace, '/profile/account', ada.workspaceId);
  const gated = Object.values<Route>(ROUTES).filter(
    ({ path, permissions }) => permissions && !path.includes(':') && !permissions.includes('EMPLOYEE'),
  );
  let n = 0;
  const denied: string[] = [];
  page.on('response', (response) => {
    if (response.status() === 403) denied.push(response.url());
  });
  for (const role of ROLES) {
    await ada.client(api.clients.editMember, { userId: grace.userId, role });
    await page.getByTestId('profile-menu').click();
    await expect(page.getByRole('button').filter({ hasText: `Ada Lovelace’s workspace${role}` })).toBeVisible();
    const held = ROLE_PERMISSIONS[role];
    const billing = page.getByRole('dialog').getByRole('link', { name: 'Transactions & Plans' });
    await expect(billing, role).toHaveCount(held.includes('BILLING') ? 1 : 0);
    await page.keyboard.press('Escape');
    const cloud = page.getByTestId('menu-cloud').first();
    if (held.includes('INSTANCE_RENTED')) await expect(cloud).not.toHaveAttribute('aria-disabled', 'true');
    else {
      await expect(cloud).toHaveAttribute('aria-disabled', 'true');
      await cloud.focus();
      await expect(page.getByRole('tooltip')).toHaveText(
        'Cloud needs a permission that your role in this workspace does not include: INSTANCE_RENTED or SELFHOSTED_INSTANCE',
      );
    }
    const projects = page.getByTestId('menu-projects').first();
    if (held.includes('PROJECT')) await expect(projects).not.toHaveAttribute('aria-disabled', 'true');
    else await expect(projects).toHaveAttribute('aria-disabled', 'true');
    for (const { path, permissions, title } of gated) {
      await followLink(page, path);
      const opens = permissions?.some((permission) => held.includes(permission)) === true;
      // In this order: the address is another one at once, the heading of the page before may still stand there.
      await expect(page, `${role} at ${path}`).toHaveURL(`${url}${opens ? path : '/403'}`);
      await expect(page.getByRole('heading', { level: 1 }), `${role} at ${path}`).toHaveText(
        opens ? title : 'No access',
      );
      if (!opens)
        await expect(page.getByRole('main'), `${role} at ${path}`).toContainText(
          `${title} needs a permission that your role in this workspace does not include: ${permissions?.join(' or ')}`,
        );
      n += 1;
    }
    await followLink(page, '/profile/account');
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Account');
  }
  console.log(`pages by role: n = ${n}, calls refused: ${denied.length}`);
  expect(n).toBeGreaterThan(0);
  expect(denied, 'no call is made for a page that is closed').toEqual([]);
  await page.context().close();
});

test('a port of a container opens for who may see it, by way of signing in, and says to others why not', async ({
  browser,
}) => {
  const ada = await app.signUp('Ada Lovelace');
  const { slug } = await aContainerWithPort(app.ctx, ada);
  const host = `http://${slug}-8080.${appsDomain}`;
  const context = await browser.newContext();
  const page = await context.newPage();

  await test.step('a visitor logs in on the way, and is let in', async () => {
    await page.goto(`${host}/notebook?id=1`);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Log in');
    await page.getByLabel('Email').fill(ada.email);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in', exact: true }).last().click();
    await expect(page).toHaveURL(`${host}/notebook?id=1`);
    expect(await portCookies(context, host)).toEqual([
      { name: 'stagi-port', httpOnly: true, sameSite: 'Lax', path: '/' },
      { name: 'stagi-port-of', httpOnly: true, sameSite: 'Lax', path: '/' },
    ]);
  });

  await test.step('without the cookie a logged-in visitor passes by the access page without a press', async () => {
    await context.clearCookies();
    await page.goto(`${host}/again`);
    await expect(page).toHaveURL(`${host}/again`);
    expect(await portCookies(context, host)).toHaveLength(2);
  });

  await test.step('a code that opens nothing, a container that is not there, a foreign address, a role without it', async () => {
    // One that is good and asked for by the same person: but it is another browser that began the way.
    const trip = 'A'.repeat(43);
    const { link } = await ada.client(api.containerAccess.enter, { slug, returnUrl: `${host}/`, trip });
    expect(link).toContain('/.stagi/enter?code=');
    await page.goto(link);
    await expect(
      page.getByText('This link to the container was already used, has expired or was opened in another browser.'),
    ).toBeVisible();
    await expectAccessible(page, 'the access page');
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await sideways(page)).toBeLessThanOrEqual(0);
    await page.getByTestId('container-auth-again').click();
    await expect(page).toHaveURL(`${host}/`);

    await page.goto(`${url}/container-auth/no-such-one?returnUrl=${encodeURIComponent(host)}`);
    await expect(page.getByText('There is no such container')).toBeVisible();
    await page.goto(`${url}/container-auth/${slug}?returnUrl=${encodeURIComponent('https://evil.example/')}`);
    await expect(page.getByText('This address does not belong to the container')).toBeVisible();
    await expect(page).toHaveURL(new RegExp(`^${url}/container-auth/${slug}`));

    const grace = await app.signUp('Grace Hopper');
    const { slug: foreign } = await aContainerWithPort(app.ctx, grace);
    await setRole(grace, ada, 'Guest');
    await page.goto(`http://${foreign}-8080.${appsDomain}/`);
    await expect(page.getByText('No access', { exact: true })).toBeVisible();
  });
  await context.close();
});

async function onPlan(plan: Plan, person: Person): Promise<Person> {
  await app.ctx.db.updateTable('workspace').set({ plan }).where('id', '=', person.workspaceId).execute();
  return person;
}

async function setRole(owner: Person, { userId }: Person, role: Role): Promise<void> {
  await app.ctx.db
    .insertInto('membership')
    .values({ workspace_id: owner.workspaceId, user_id: userId, role })
    .execute();
}

/** Opens a page as somebody, in the workspace of that id or in their first. */
/** Goes on within the page, as a link would. */
async function followLink(page: Page, path: string): Promise<void> {
  await page.evaluate((to) => {
    history.pushState(null, '', to);
    dispatchEvent(new PopStateEvent('popstate'));
  }, path);
}

const portCookies = async (context: BrowserContext, host: string) =>
  (await context.cookies(host)).map(({ name, httpOnly, sameSite, path }) => ({ name, httpOnly, sameSite, path }));
