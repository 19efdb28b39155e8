import { expect, it } from 'vitest';
import { aDay, forecast } from './forecast.ts';

const price = (STAGI: string, USD = STAGI) => ({
  STAGI: { currency: 'STAGI', decimalValue: STAGI },
  USD: { currency: 'USD', decimalValue: USD },
});
const balance = (has: string, burnPerHour: string, reserve = '0.00') => ({
  isSuccess: true as const,
  clientBalance: { USD: { decimalValue: has }, STAGI: { decimalValue: has } },
  exhausted: false,
  burnPerHour,
  reserve,
  daysLeft: null,
});

it('counts the new server to what is spent already', () => {
  expect(forecast(balance('50.00', '0.10'), price('0.15'))).toEqual({
    burnPerHour: '0.25',
    hours: 200,
    coversAnHour: true,
  });
  expect(forecast(balance('0.20', '0.10'), price('0.15')).coversAnHour).toBe(false);
  expect(forecast(balance('5.00', '0.00'), price('0.00')).hours).toBeNull();
});

it('keeps back what those need that cannot be stopped', () => {
  expect(forecast(balance('0.40', '0.10', '0.05'), price('0.20'), false)).toMatchObject({
    hours: 0.25 / 0.3,
    coversAnHour: false,
  });
  expect(forecast(balance('0.45', '0.10', '0.05'), price('0.20'), false).coversAnHour).toBe(true);
});

it('multiplies without rounding', () => {
  expect(aDay(price('0.000001', '0.07')).STAGI.decimalValue).toBe('0.000024');
  expect(aDay(price('0.000001', '0.07')).USD.decimalValue).toBe('1.68');
});
