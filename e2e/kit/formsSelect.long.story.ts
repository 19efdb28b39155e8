import type { Locator, Page } from '@playwright/test';
import { expect, test } from '../fixtures.ts';

/** The list of the select that is open; closed ones have none. */
const list = (page: Page): Locator => page.getByRole('listbox');

/** What a screen reader says of the option that the keyboard is at. */
const expectMarked = (control: Locator, text: string): Promise<void> =>
  expect
    .poll(() =>
      control.evaluate(
        (element) => document.getElementById(element.getAttribute('aria-activedescendant') ?? '')?.textContent,
      ),
    )
    .toBe(text);

test('select: one and several values, search, limits, texts, keyboard', async ({ page, platform }) => {
  await page.goto(`${platform.url}/kit/select`);
  const few = page.getByRole('combobox', { name: 'Few' });
  const searched = page.getByRole('combobox', { name: 'Several to search' });

  await test.step('eight options have no search box, nine have', async () => {
    await expect(few).toHaveText('Not chosen');
    await few.click();
    await expect(list(page).getByRole('option')).toHaveCount(8);
    await expect(page.getByRole('combobox', { name: 'Search', exact: true })).toHaveCount(0);
    await page.keyboard.press('Escape');
    await expect(list(page)).toHaveCount(0);
    await expect(few).toBeFocused();

    await searched.click();
    const search = page.getByRole('combobox', { name: 'Search', exact: true });
    await expect(search).toBeFocused();
    await search.fill(' OPTION 9 ');
    await expect(list(page).getByRole('option')).toHaveText(['Option 9']);
    await search.fill('none of them');
    await expect(page.getByText('No matches')).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(searched).toBeFocused();
    await expect(searched).toHaveText('Option 3');
    await expect(list(page)).toHaveCount(0);
  });

  await test.step('the keyboard opens, goes through the list, chooses and moves on', async () => {
    await few.focus();
    await page.keyboard.press('ArrowDown');
    await expect(list(page)).toBeVisible();
    await expectMarked(few, 'Option 1');
    await page.keyboard.press('ArrowDown');
    await expectMarked(few, 'Option 2');
    await page.keyboard.press('Enter');
    await expect(few).toHaveText('Option 2');
    await expect(few).not.toHaveAttribute('aria-activedescendant');
    await expect(few).toBeFocused();
    await searched.focus();
    await page.keyboard.press('Enter');
    const search = page.getByRole('combobox', { name: 'Search', exact: true });
    await expect(search).toBeFocused();
    await page.keyboard.type('option 7');
    await expect(list(page).getByRole('option')).toHaveCount(1);
    await expectMarked(search, 'Option 7');
    await page.keyboard.press('Enter');
    await expect(searched).toHaveText('Option 7');
    await expect(list(page)).toHaveCount(0);
    await expect(searched).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(search).toBeFocused();
    await page.keyboard.press('Tab');
    await expect(list(page)).toHaveCount(0);
    await expect(page.getByTestId('select-nine').getByRole('button', { name: 'Clear' })).toBeFocused();
  });

  await test.step('a value is taken back with what shows on hover or focus', async () => {
    const specimen = page.getByTestId('select-nine');
    const clear = specimen.getByRole('button', { name: 'Clear' });
    await few.focus();
    await page.mouse.move(0, 0);
    await expect(clear).toBeHidden();
    await searched.hover();
    await expect(clear).toBeVisible();
    await page.mouse.move(0, 0);
    await expect(clear).toBeHidden();
    await searched.focus();
    await clear.click();
    await expect(searched).toHaveText('Not chosen');
    await searched.hover();
    await expect(clear).toHaveCount(0);
    // A choice that may be empty says nothing; a required one says so until there is one again.
    await expect(searched).toHaveAccessibleDescription('');
    await few.hover();
    await page.getByTestId('select-eight').getByRole('button', { name: 'Clear' }).click();
    await expect(few).toHaveText('Not chosen');
    await expect(few).toHaveAccessibleDescription('Please choose an option');
    await expect(few).toBeFocused();
    await few.press('Enter');
    await list(page).getByRole('option', { name: 'Option 2' }).click();
    await expect(few).toHaveAccessibleDescription('');
    await expect(list(page)).toHaveCount(0);
  });

  await test.step('of several values one is shown, and the number of the others', async () => {
    const multiple = page.getByRole('combobox', { name: 'Multiple', exact: true });
    await expect(multiple).toHaveText('Option 2+2');
    await expect(page.getByRole('combobox', { name: 'Multiple, two tags' })).toHaveText('Option 2Option 4+1');
    await multiple.click();
    await expect(list(page)).toHaveAttribute('aria-multiselectable', 'true');
    await expect(list(page).getByRole('option', { selected: true })).toHaveCount(3);
    await list(page).getByRole('option', { name: 'Option 1' }).click();
    await expect(multiple).toHaveText('Option 1+3');
    await list(page).getByRole('option', { name: 'Option 1' }).click();
    await expect(list(page)).toBeVisible();
    await page.keyboard.press('Escape');
    await multiple.press('Backspace');
    await expect(multiple).toHaveText('Not chosen');
  });

  await test.step('what is found elsewhere: nothing can be chosen until it is answered, the value keeps its name', async () => {
    const city = page.getByRole('combobox', { name: 'City' });
    await city.click();
    const search = page.getByRole('combobox', { name: 'The beginning of its name' });
    await expect(search).toBeFocused();
    const options = list(page).getByRole('option');
    await expect(options).toHaveCount(4);
    await search.fill('slow');
    await expect(list(page).getByRole('option', { disabled: true })).toHaveCount(4);
    await page.keyboard.press('Enter');
    await expect(options).toHaveCount(4);
    await search.fill('nowhere');
    await expect(page.getByText('No matches')).toBeVisible();
    await search.fill('slow');
    await expect(page.getByText('Searching…')).toBeVisible();
    await search.fill('li');
    await expect(options).toHaveText(['Lima', 'Lisbon']);
    await expectMarked(search, 'Lima');
    await page.keyboard.press('ArrowDown');
    await expectMarked(search, 'Lisbon');
    await page.keyboard.press('Enter');
    await expect(list(page)).toHaveCount(0);
    await expect(city).toHaveText('Lisbon');
    await city.click();
    await expect(options).toHaveCount(4);
    await search.fill('b');
    await expect(options).toHaveText(['Berlin']);
    await expect(city).toHaveText('Lisbon');
    await page.keyboard.press('Escape');
    await expect(list(page)).toHaveCount(0);
    await expect(city).toBeFocused();
    await page.keyboard.press('Delete');
    await expect(city).toHaveText('Not chosen');
  });

  await test.step('objects are shown by one field and kept by another', async () => {
    const server = page.getByRole('combobox', { name: 'Server' });
    await expect(server).toHaveText('training');
    await server.click();
    await expect(list(page).getByRole('option', { name: 'inference' })).toHaveAttribute('aria-disabled', 'true');
    await list(page).getByRole('option', { name: 'inference' }).click({ force: true });
    await expect(page.getByTestId('select-objects-value')).toHaveText('11');
    await list(page).getByRole('option', { name: 'closet' }).click();
    await expect(page.getByTestId('select-objects-value')).toHaveText('13');
    await expect(list(page)).toHaveCount(0);
  });

  await test.step('at most a thousand options are listed, 300 px high', async () => {
    const many = page.getByRole('combobox', { name: 'Many' });
    await many.click();
    await expect(list(page).getByRole('option')).toHaveCount(1000);
    await expect(page.getByText('Only the first 1000 are listed.')).toBeVisible();
    expect((await list(page).boundingBox())?.height).toBeLessThanOrEqual(300);
    await page.getByRole('combobox', { name: 'Search', exact: true }).fill('server 1200');
    await expect(list(page).getByRole('option')).toHaveText(['Server 1200']);
    await page.keyboard.press('Enter');
    await expect(many).toHaveText('Server 1200');
    await expect(list(page)).toHaveCount(0);
  });

  await test.step('the end of the list is told of, at most every 500 ms', async () => {
    const ends = page.getByTestId('select-ends');
    await page.getByRole('combobox', { name: 'Endless' }).click();
    await expect(list(page)).toBeVisible();
    await expect(ends).toHaveText('0');
    await list(page).evaluate((element) => {
      const again = () => {
        if (!element.isConnected) return;
        element.scrollTop = element.scrollTop === 0 ? element.scrollHeight : 0;
        requestAnimationFrame(again);
      };
      again();
    });
    await expect(list(page).getByRole('option')).toHaveCount(100);
    await expect(ends).toHaveText(/^([4-9]|\d\d)$/);
    expect(Number(await page.getByTestId('select-gap').textContent())).toBeGreaterThanOrEqual(500 - 5);
    await page.keyboard.press('Escape');
    await expect(list(page)).toHaveCount(0);
  });

  await test.step('sizes and the other texts', async () => {
    const heights = await page
      .getByTestId('select-sizes')
      .getByRole('combobox')
      .evaluateAll((selects) => selects.map((select) => select.getBoundingClientRect().height));
    expect(heights).toEqual([32, 36, 40, 44]);
    await page.getByRole('combobox', { name: 'Empty' }).click();
    await expect(page.getByText('List is empty')).toBeVisible();
    await page.getByRole('combobox', { name: 'Wrong' }).focus();
    await expect(page.getByText('List is empty')).toHaveCount(0);
    await expect(page.getByRole('combobox', { name: 'Wrong' })).toHaveAccessibleDescription('Please choose an option');
  });
});

test('search box: trimmed text, `/` leads to it, two modes of two widths', async ({ page, platform }) => {
  await page.goto(`${platform.url}/kit/select`);
  const search = page.getByRole('searchbox', { name: 'Search servers' });
  await search.fill('  lab 3 ');
  await expect(page.getByTestId('search-value')).toHaveText('lab 3');
  await page.getByTestId('search').getByRole('button', { name: 'Clear' }).click();
  await expect(page.getByTestId('search-value')).toHaveText('');
  await expect(search).toBeFocused();

  const mode = page.getByRole('combobox', { name: 'Search mode' });
  await expect(mode).toHaveText('Line contains');
  expect((await mode.boundingBox())?.width).toBe(203);
  await mode.click();
  await expect(list(page).getByRole('option')).toHaveText(['Line contains', 'Line contains regex match']);
  await list(page).getByRole('option', { name: 'Line contains regex match' }).click();
  await expect(mode).toHaveText('Line contains regex match');
  expect((await mode.boundingBox())?.width).toBe(260);
  expect(await mode.locator('span').evaluate((span) => span.scrollWidth <= span.clientWidth)).toBe(true);
});
