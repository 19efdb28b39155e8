import { expect, test } from '../fixtures.ts';

test('slider: bounds by keyboard, pointer and boxes; directions; what it refuses', async ({ page, platform }) => {
  await page.goto(`${platform.url}/kit/slider`);
  const value = (name: string) => page.getByTestId(`slider-${name}-value`);

  await test.step('one value is an upper bound', async () => {
    const handle = page.getByRole('slider', { name: 'At most: to' });
    await expect(page.getByTestId('slider-single').getByRole('slider')).toHaveCount(1);
    await handle.press('ArrowRight');
    await expect(value('single')).toHaveText('41');
    await handle.press('Home');
    await expect(value('single')).toHaveText('0');
    await handle.press('End');
    await expect(value('single')).toHaveText('100');
    await expect(handle).toHaveAttribute('aria-valuenow', '100');
    await expect(handle).toHaveAttribute('aria-valuemax', '100');
  });

  await test.step('the boxes are bounded and commit a number with every change', async () => {
    const box = page.getByRole('spinbutton', { name: 'At most: to' });
    await box.fill('7');
    await expect(value('single')).toHaveText('7');
    await box.pressSequentially('5');
    await expect(value('single')).toHaveText('75');
    await box.fill('');
    await expect(value('single')).toHaveText('75');
    await box.pressSequentially('123456');
    await expect(box).toHaveValue('1234');
    await expect(value('single')).toHaveText('100');
    await box.blur();
    await expect(box).toHaveValue('100');
    await expect(box).toHaveAttribute('aria-valuemin', '0');
    await expect(box).toHaveAttribute('aria-valuemax', '9999');
  });

  await test.step('two values are a range whose ends never cross', async () => {
    const range = page.getByTestId('slider-range');
    await expect(range.getByText('from', { exact: true })).toBeVisible();
    await expect(range.getByText('to', { exact: true })).toBeVisible();
    await page.getByRole('slider', { name: 'RAM, GB: from' }).press('ArrowUp');
    await expect(value('range')).toHaveText('[21,70]');
    await page.getByRole('spinbutton', { name: 'RAM, GB: from' }).fill('95');
    await expect(value('range')).toHaveText('[70,70]');
    await page.getByRole('spinbutton', { name: 'RAM, GB: from' }).fill('15');
    await expect(value('range')).toHaveText('[15,70]');
    await range.getByRole('button', { name: 'Move the second to 90' }).click();
    await expect(value('range')).toHaveText('[15,90]');
    await range.getByRole('button', { name: 'Move the third' }).click();
    await expect(page.getByTestId('slider-wrong')).toHaveText('RangeError: Slider: no handle 2, it has 2');
    await expect(value('range')).toHaveText('[15,90]');
  });

  await test.step('the pointer drags a handle', async () => {
    const handle = page.getByRole('slider', { name: 'RAM, GB: to' });
    const at = await handle.boundingBox();
    const track = await page.getByTestId('slider-range').getByRole('slider').first().locator('..').boundingBox();
    if (!at || !track) throw new Error('the slider has no place');
    await page.mouse.move(at.x + at.width / 2, at.y + at.height / 2);
    await page.mouse.down();
    await page.mouse.move(track.x + track.width / 2, at.y + at.height / 2, { steps: 4 });
    await page.mouse.up();
    await expect(value('range')).toHaveText(/^\[15,(49|50|51)\]$/);
  });

  await test.step('fractions by their step, where float is set', async () => {
    await page.getByRole('slider', { name: 'STAGI/h: from' }).press('ArrowRight');
    await expect(value('float')).toHaveText('[0.75,2.25]');
    await page.getByRole('spinbutton', { name: 'STAGI/h: to' }).fill('3.5');
    await expect(value('float')).toHaveText('[0.75,3.5]');
    await page.getByRole('spinbutton', { name: 'At most: to' }).fill('4.5');
    await expect(value('single')).toHaveText(/^(4|45)$/);
  });

  await test.step('right to left the left arrow goes up', async () => {
    await page.getByRole('slider', { name: 'Right to left: to' }).press('ArrowLeft');
    await expect(value('rtl')).toHaveText('[10,61]');
    const [from, to] = await page
      .getByTestId('slider-rtl')
      .getByRole('slider')
      .evaluateAll((handles) => handles.map((handle) => handle.getBoundingClientRect().x));
    expect(from).toBeGreaterThan(to ?? 0);
  });

  await test.step('vertical', async () => {
    const tall = page.getByRole('slider', { name: 'Tall: to' });
    await expect(tall).toHaveAttribute('aria-orientation', 'vertical');
    await tall.press('ArrowUp');
    await expect(value('vertical')).toHaveText('[31,[25,75]]');
    const [low, high] = await page
      .getByTestId('slider-vertical')
      .getByRole('slider', { name: /range/ })
      .evaluateAll((handles) => handles.map((handle) => handle.getBoundingClientRect().y));
    expect(low).toBeGreaterThan(high ?? 0);
  });

  await test.step('a second one on the same element and an empty array are errors', async () => {
    const errors = page.getByTestId('slider-errors');
    await expect(errors.getByText('Slider: there is one on #same already')).toBeVisible();
    await expect(errors.getByText('Slider: the value is an empty array')).toBeVisible();
  });

  const handles = await page
    .getByTestId('slider-looks')
    .getByRole('slider')
    .evaluateAll((found) => found.map((handle) => handle.getBoundingClientRect().height));
  expect(handles.slice(0, 8)).toEqual([16, 16, 20, 20, 16, 16, 20, 20]);
  await expect(page.getByRole('group', { name: 'Wrong range' })).toHaveAccessibleDescription('Nothing has so much RAM');
});
