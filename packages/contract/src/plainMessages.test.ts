import { expect, it } from 'vitest';
import { z } from 'zod';
import { usePlainMessages } from './plainMessages.ts';

usePlainMessages();

const Pair = z.tuple([z.string(), z.string()]);

it.each<[string, z.ZodType, unknown, string]>([
  ['a missing text', z.string(), undefined, 'a.b is a required field'],
  ['null', z.string(), null, 'a.b is a required field'],
  ['an empty text', z.string().min(1), '', 'a.b is a required field'],
  ['a missing choice', z.enum(['up', 'down']), undefined, 'a.b is a required field'],
  ['a missing variant', z.union([z.string(), z.number()]), undefined, 'a.b is a required field'],
  ['a number for a text', z.string(), 1, 'a.b must be a text'],
  ['a text for a number', z.number(), '1', 'a.b must be a number'],
  ['no number', z.number(), Number.NaN, 'a.b must be a number'],
  ['a fraction', z.number().int(), 1.5, 'a.b must be a whole number'],
  ['a text for a yes', z.boolean(), 'yes', 'a.b must be true or false'],
  ['an object for a list', z.array(z.string()), {}, 'a.b must be a list'],
  ['a text for a pair', Pair, 'x', 'a.b must be a list'],
  ['a text for an object', z.object({}), 'x', 'a.b must be an object'],
  ['a text for a record', z.record(z.string(), z.string()), 'x', 'a.b must be an object'],
  ['a text for a date', z.date(), 'x', 'a.b must be a date'],
  ['another choice', z.enum(['up', 'down']), 'left', 'a.b must be one of: up, down'],
  ['another literal', z.literal(true), false, 'a.b must be one of: true'],
  ['a short text', z.string().min(8), 'abc', 'a.b must be at least 8 characters'],
  ['a long text', z.string().max(2), 'abc', 'a.b must be at most 2 characters'],
  ['a text of another length', z.string().length(2), 'abc', 'a.b must be exactly 2 characters'],
  ['an empty list', z.array(z.string()).min(1), [], 'a.b must not be empty'],
  ['a short list', z.array(z.string()).min(2), [], 'a.b must have at least 2 items'],
  ['a long list', z.array(z.string()).max(2), ['x', 'y', 'z'], 'a.b must have at most 2 items'],
  ['a list of another length', z.array(z.string()).length(2), [], 'a.b must have exactly 2 items'],
  ['a low number', z.number().min(1), 0, 'a.b must be greater than or equal to 1'],
  ['a number not above', z.number().positive(), 0, 'a.b must be greater than 0'],
  ['a high number', z.number().max(100), 101, 'a.b must be less than or equal to 100'],
  ['a number not below', z.number().lt(100), 100, 'a.b must be less than 100'],
  ['an early date', z.date().min(new Date(1)), new Date(0), 'a.b must be a later date'],
  ['a late date', z.date().max(new Date(0)), new Date(1), 'a.b must be an earlier date'],
  ['no email', z.email(), 'x', 'a.b must be a valid email'],
  ['no URL', z.url(), 'x', 'a.b must be a valid URL'],
  ['no UUID', z.uuid(), 'x', 'a.b must be a valid UUID'],
  ['no time', z.iso.datetime(), 'x', 'a.b must be a valid time in ISO 8601'],
  ['another pattern', z.string().regex(/^x$/), 'y', 'a.b is not in the right format'],
  ['no multiple', z.number().multipleOf(5), 4, 'a.b must be a multiple of 5'],
  ['an unknown field', z.strictObject({}), { c: 1 }, 'There is no field a.b.c'],
  ['an unknown key', z.record(z.enum(['x']), z.string()), { y: 'z' }, 'a.b.x is a required field'],
  ['a rule without words', z.string().refine(() => false), 'x', 'a.b is not valid'],
  ['its own words', z.string('Title is required'), undefined, 'Title is required'],
])('says plainly what is wrong: %s', (_, schema, value, message) => {
  const whole = z.object({ a: z.object({ b: schema }) });
  expect(whole.safeParse({ a: { b: value } }).error?.issues[0]?.message).toBe(message);
});

it('names the body when that is wrong itself', () => {
  expect(z.object({}).safeParse([]).error?.issues[0]?.message).toBe('body must be an object');
});
