import { readFileSync } from 'node:fs';
import { expect } from '@playwright/test';
import { api } from '@stagi/contract/api.ts';
import { httpSender, signUp } from '@stagi/server/src/testing/person.ts';
import { expectAccessible } from './accessible.ts';
import { sideways } from './cutOffText.ts';
import { test } from './fixtures.ts';

test('an owner reads the audit log, narrows, checks and exports it', async ({ page, platform }) => {
  const email = `audit-${Date.now()}@example.com`;
  const owner = await signUp(platform.url, httpSender(platform.url), { name: 'Ada Lovelace', email });
  await owner.client(api.sshKeys.generate, { title: 'laptop' });
  const { entity } = await owner.client(api.sshKeys.generate, { title: 'desk' });
  await owner.client(api.sshKeys.delete, { id: entity.id });
  // Refused, and no toast here: what a program was told is told again in the log.
  await expect(owner.client(api.containers.start, { id: 999_999 })).rejects.toMatchObject({ status: 404 });

  await page.goto(`${platform.url}/configuration.json`);
  await page.evaluate(
    ({ accessToken, refreshToken }) => Object.assign(localStorage, { accessToken, refreshToken, authType: 'email' }),
    owner.tokens(),
  );
  await page.goto(`${platform.url}/profile/team/audit`);
  const rows = page.getByTestId('audit-row');
  await expect(rows).toHaveCount(4);
  await expect(rows.nth(0)).toContainText('Started a container');
  await expect(rows.nth(0)).toContainText('Refused');
  await expect(rows.nth(1)).toContainText('Deleted an SSH key');
  await expect(rows.nth(1)).toContainText('desk');
  await expect(rows.nth(1)).toContainText(email);
  await expectAccessible(page, 'audit log');

  await page.getByTestId('audit-verify').click();
  await expect(page.getByText('The chain is intact: 4 entries')).toBeVisible();
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByTestId('audit-export').click()]);
  expect(file.suggestedFilename()).toMatch(/^audit-\d+-\d{4}-\d\d-\d\d\.csv$/);
  const lines = readFileSync(await file.path(), 'utf8')
    .trimEnd()
    .split('\r\n');
  expect(lines).toHaveLength(5);
  expect(lines[4]).toMatch(/^1,.*,ssh-key\/generate,ssh-key,\d+,laptop,done,/);

  await page.getByRole('button', { name: 'Outcome' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Refused' }).click();
  await expect(rows).toHaveCount(1);
  await expect(page).toHaveURL(/status=refused/);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Outcome: Refused' }).click();
  await page.getByRole('menuitem', { name: 'Clear' }).click();
  await expect(rows).toHaveCount(4);

  await page.getByRole('button', { name: 'About' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'SSH keys' }).click();
  await expect(rows).toHaveCount(3);
  await page.keyboard.press('Escape');
  await page.setViewportSize({ width: 360, height: 740 });
  await expect(rows).toHaveCount(3);
  await expect(rows.nth(2)).toContainText('laptop');
  expect(await sideways(page)).toBeLessThanOrEqual(0);
});
