import type { Page } from '@playwright/test';
import { expect, test } from '../fixtures.ts';

const open = async (page: Page, url: string, section: string) => {
  await page.goto(`${url}/kit/${section}`);
  await expect(page.getByTestId(`kit-${section}`).getByRole('heading', { level: 2 }).first()).toBeVisible();
};

test('text inputs: sizes, masks, lower case, numbers and passwords', async ({ page, platform }) => {
  await open(page, platform.url, 'inputs');
  const heights = await page
    .getByTestId('input-sizes')
    .locator('input')
    .evaluateAll((inputs) => inputs.map((input) => input.getBoundingClientRect().height));
  expect(heights).toEqual([24, 28, 32, 36, 40]);

  await test.step('a label, a hint and an error belong to their input', async () => {
    await expect(page.getByLabel('Name', { exact: true })).toHaveAccessibleDescription('As you call it');
    const email = page.getByLabel('Email', { exact: true });
    await expect(email).toHaveAccessibleDescription('Enter a valid email');
    await expect(email).toHaveAttribute('aria-invalid', 'true');
    await expect(page.getByText('Enter a valid email')).toBeVisible();
  });

  await test.step('masks put the signs between the digits and keep the cursor in place', async () => {
    const date = page.getByLabel('Date', { exact: true });
    await date.pressSequentially('31a12b2026 9');
    await expect(date).toHaveValue('31/12/2026');
    await date.press('Home');
    await date.press('Delete');
    await expect(date).toHaveValue('11/22/026');
    expect(await date.evaluate((input: HTMLInputElement) => input.selectionStart)).toBe(0);
    await date.press('0');
    await expect(date).toHaveValue('01/12/2026');
    expect(await date.evaluate((input: HTMLInputElement) => input.selectionStart)).toBe(1);
    await date.fill('');
    await expect(date).toHaveValue('');
    const time = page.getByLabel('Time', { exact: true });
    await time.pressSequentially('0930');
    await expect(time).toHaveValue('09:30');
    await time.press('Backspace');
    await time.press('Backspace');
    await expect(time).toHaveValue('09');
  });

  await test.step('a Unique ID turns to lower case as it is typed, wherever the cursor is', async () => {
    const slug = page.getByLabel('Unique ID', { exact: true });
    await slug.pressSequentially('GPU-Box');
    await expect(slug).toHaveValue('gpu-box');
    await slug.press('Home');
    await slug.press('A');
    await slug.press('B');
    await expect(slug).toHaveValue('abgpu-box');
  });

  await test.step('numbers spin by their step, within their bounds', async () => {
    const count = page.getByRole('spinbutton', { name: 'Count' });
    await count.press('ArrowUp');
    await expect(count).toHaveValue('3');
    await expect(count).toHaveAttribute('aria-valuenow', '3');
    await count.fill('10');
    await count.press('ArrowUp');
    await expect(count).toHaveValue('10');
    await count.fill('99');
    await count.blur();
    await expect(count).toHaveValue('10');
    await page.getByTestId('input-number').locator('[data-direction=down]').first().click();
    await expect(count).toHaveValue('9');
    const share = page.getByRole('spinbutton', { name: 'Share' });
    await share.press('ArrowUp');
    await expect(share).toHaveValue('0.75');
  });

  await test.step('a password is shown on demand, by keyboard too', async () => {
    const password = page.getByLabel('Password', { exact: true });
    await expect(password).toHaveAttribute('type', 'password');
    await password.focus();
    await page.keyboard.press('Tab');
    const toggle = page.getByRole('button', { name: 'Show the password' }).first();
    await expect(toggle).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(password).toHaveAttribute('type', 'text');
    await expect(toggle).toHaveAttribute('aria-pressed', 'true');
  });

  await test.step('text of several lines has its colours and sizes', async () => {
    const styles = await page
      .getByTestId('textarea-colors')
      .locator('textarea:visible')
      .evaluateAll((areas) =>
        areas.slice(0, 6).map((area) => {
          const { backgroundColor, fontSize } = getComputedStyle(area);
          return [backgroundColor, fontSize];
        }),
      );
    expect(new Set(styles.map(([background]) => background)).size).toBe(3);
    expect(styles.map(([, font]) => font)).toEqual(['13px', '14px', '13px', '14px', '13px', '14px']);
  });
});

test('choices: groups, their names, the keyboard and their errors', async ({ page, platform }) => {
  await open(page, platform.url, 'choices');
  const gpus = page.getByRole('group', { name: 'GPUs' });
  await expect(gpus).toHaveAccessibleDescription('Each belongs to one container at a time');
  await gpus.getByLabel('#0 H100 80 GB').check();
  await expect(page.getByTestId('checkbox-group-value')).toHaveText('[0,2]');
  await gpus.getByLabel('#2 H100 80 GB').press('Space');
  await expect(page.getByTestId('checkbox-group-value')).toHaveText('[0]');
  await expect(gpus.getByLabel('#1 H100 80 GB')).toBeDisabled();

  const topic = page.getByRole('radiogroup', { name: 'Topic', exact: true });
  await topic.getByLabel('Report an issue').check();
  await topic.getByLabel('Report an issue').press('ArrowDown');
  await expect(topic.getByLabel('Suggest a feature')).toBeChecked();
  await expect(topic.getByLabel('Suggest a feature')).toBeFocused();

  const wrong = page.getByRole('radiogroup', { name: 'Wrong topic' });
  await expect(wrong).toHaveAttribute('aria-invalid', 'true');
  await expect(wrong).toHaveAccessibleDescription('Please choose an option');

  const plan = page.getByRole('radiogroup', { name: 'Plan', exact: true });
  await plan.getByText('8 GPUs at a time').click({ force: true });
  await expect(plan.getByRole('radio', { name: 'Team' })).toBeChecked();
  await expect(plan.getByRole('radio', { name: 'Enterprise' })).toBeDisabled();
  await plan.getByRole('radio', { name: 'Team' }).press('ArrowUp');
  await expect(plan.getByRole('radio', { name: 'Free' })).toBeChecked();
});

test('a form: errors by name under their fields, the cursor in the first that is wrong', async ({ page, platform }) => {
  await open(page, platform.url, 'form');
  const form = page.getByTestId('form');
  await form.getByRole('button', { name: 'Send' }).click();
  const subject = form.getByLabel('Subject');
  await expect(subject).toBeFocused();
  await expect(subject).toHaveAccessibleDescription('Subject is required');
  await subject.fill('A subject');
  await expect(subject).toBeFocused();

  await form.getByRole('button', { name: 'Send' }).click();
  await expect(form.getByLabel('Report an issue')).toBeFocused();
  await page.keyboard.press('Space');
  await form.getByRole('button', { name: 'Send' }).click();
  const kind = form.getByRole('combobox', { name: 'Kind' });
  await expect(kind).toBeFocused();
  await expect(kind).toHaveAccessibleDescription('Please choose an option');
  const items = page.getByTestId('form-items');
  await expect(items.getByLabel('Wrong colour')).toHaveAccessibleDescription('Too pale to be read');
  await expect(items.getByLabel('Notes')).toHaveAccessibleName('Notes optional');
});
