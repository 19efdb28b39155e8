import type { Balance } from '@stagi/contract/billing.ts';
import { expect, it } from 'vitest';
import { forecast, pricePerDay, reserveFor } from './forecast.ts';

const price = (STAGI: string, USD = STAGI) => ({
  STAGI: { currency: 'STAGI', decimalValue: STAGI },
  USD: { currency: 'USD', decimalValue: USD },
});
const balance = (has: string, burnPerHour: string, reserve = '0.00'): Balance => ({
  isSuccess: true,
  clientBalance: { USD: { decimalValue: has }, STAGI: { decimalValue: has } },
  exhausted: false,
  starterRefused: null,
  zero: null,
  burnPerHour,
  reserve,
  daysLeft: null,
});

it('counts the new server to what is spent already', () => {
  expect(forecast(balance('50.00', '0.10'), { price: price('0.15'), canStop: true })).toEqual({
    burnPerHour: '0.25',
    hours: 200,
    needed: '0.25',
    isCovered: true,
  });
  expect(forecast(balance('0.20', '0.10'), { price: price('0.15'), canStop: true }).isCovered).toBe(false);
  expect(forecast(balance('5.00', '0.00'), { price: price('0.00'), canStop: true }).hours).toBeNull();
});

it('keeps back what those need that cannot be stopped', () => {
  expect(forecast(balance('0.40', '0.10', '0.05'), { price: price('0.20'), canStop: false })).toMatchObject({
    hours: 0.25 / 0.3,
    needed: '0.45',
    isCovered: false,
  });
  expect(forecast(balance('0.45', '0.10', '0.05'), { price: price('0.20'), canStop: false }).isCovered).toBe(true);
});

it('sets half an hour aside, rounded down as the platform does', () => {
  expect(reserveFor(price('0.000003'))).toBe('0.000001');
});

it('tells how long a balance lasts as things are', () => {
  expect(forecast(balance('1.05', '0.10', '0.05'))).toMatchObject({ hours: 10, burnPerHour: '0.10' });
  expect(forecast(balance('0.04', '0.10', '0.05')).hours).toBe(0);
  expect(forecast(balance('1.00', '0.00')).hours).toBeNull();
});

it('multiplies without rounding', () => {
  expect(pricePerDay(price('0.000001', '0.07')).STAGI.decimalValue).toBe('0.000024');
  expect(pricePerDay(price('0.000001', '0.07')).USD.decimalValue).toBe('1.68');
});
