import { z } from 'zod';
import { text } from './text.ts';

type Issue = z.core.$ZodRawIssue;

/**
 * Sets the messages for values that a schema refuses without a message of its own, in the style of the specification
 * (section 5, "Library default messages"). Replaces the library's messages in the whole process.
 */
export function usePlainMessages(): void {
  z.config({ localeError: plainMessage });
}

/** `field`: the path of the refused value, such as `portMappings.0.host`. */
export function plainMessage(issue: Issue): string {
  const field = (issue.path ?? []).join('.') || 'body';
  switch (issue.code) {
    case 'invalid_type':
      return typeMessage(field, issue);
    case 'invalid_value':
      if (issue.input === undefined) return required(field);
      return text('{{field}} must be one of: {{values}}', { field, values: issue.values.map(String).join(', ') });
    case 'too_small':
      return smallMessage(field, issue);
    case 'too_big':
      return bigMessage(field, issue);
    case 'invalid_format':
      return formatMessage(field, issue.format);
    case 'not_multiple_of':
      return text('{{field}} must be a multiple of {{number}}', { field, number: String(issue.divisor) });
    case 'unrecognized_keys':
      return text('There is no field {{fields}}', {
        fields: issue.keys.map((key) => [...(issue.path ?? []), key].join('.')).join(', '),
      });
    default:
      return issue.input === undefined ? required(field) : text('{{field}} is not valid', { field });
  }
}

/** Whether a refused value has no message of its schema's own. */
export const isPlainMessage = ({ message, ...issue }: z.core.$ZodIssue): boolean =>
  [undefined, null].some((input) => plainMessage({ ...issue, input } as Issue) === message);

const required = (field: string): string => text('{{field}} is a required field', { field });

function typeMessage(field: string, { expected, input }: Extract<Issue, { code: 'invalid_type' }>): string {
  if (input === undefined || input === null) return required(field);
  switch (expected) {
    case 'string':
      return text('{{field}} must be a text', { field });
    case 'int':
      return text('{{field}} must be a whole number', { field });
    case 'number':
    case 'bigint':
    case 'nan':
      return text('{{field}} must be a number', { field });
    case 'boolean':
      return text('{{field}} must be true or false', { field });
    case 'array':
    case 'tuple':
    case 'set':
      return text('{{field}} must be a list', { field });
    case 'object':
    case 'record':
    case 'map':
      return text('{{field}} must be an object', { field });
    case 'date':
      return text('{{field}} must be a date', { field });
    default:
      return text('{{field}} is not valid', { field });
  }
}

function smallMessage(field: string, issue: Extract<Issue, { code: 'too_small' }>): string {
  const least = String(issue.minimum);
  switch (issue.origin) {
    case 'string':
      if (issue.input === '') return required(field);
      return issue.exact
        ? text('{{field}} must be exactly {{length}} characters', { field, length: least })
        : text('{{field}} must be at least {{least}} characters', { field, least });
    case 'array':
    case 'set':
    case 'map':
      if (issue.minimum === 1 && !issue.exact) return text('{{field}} must not be empty', { field });
      return issue.exact
        ? text('{{field}} must have exactly {{length}} items', { field, length: least })
        : text('{{field}} must have at least {{least}} items', { field, least });
    case 'date':
      return text('{{field}} must be a later date', { field });
    default:
      return issue.inclusive
        ? text('{{field}} must be greater than or equal to {{least}}', { field, least })
        : text('{{field}} must be greater than {{least}}', { field, least });
  }
}

function bigMessage(field: string, issue: Extract<Issue, { code: 'too_big' }>): string {
  const most = String(issue.maximum);
  switch (issue.origin) {
    case 'string':
      return issue.exact
        ? text('{{field}} must be exactly {{length}} characters', { field, length: most })
        : text('{{field}} must be at most {{most}} characters', { field, most });
    case 'array':
    case 'set':
    case 'map':
      return issue.exact
        ? text('{{field}} must have exactly {{length}} items', { field, length: most })
        : text('{{field}} must have at most {{most}} items', { field, most });
    case 'date':
      return text('{{field}} must be an earlier date', { field });
    default:
      return issue.inclusive
        ? text('{{field}} must be less than or equal to {{most}}', { field, most })
        : text('{{field}} must be less than {{most}}', { field, most });
  }
}

function formatMessage(field: string, format: string): string {
  switch (format) {
    case 'email':
      return text('{{field}} must be a valid email', { field });
    case 'url':
      return text('{{field}} must be a valid URL', { field });
    case 'uuid':
    case 'guid':
      return text('{{field}} must be a valid UUID', { field });
    case 'datetime':
    case 'date':
    case 'time':
      return text('{{field}} must be a valid time in ISO 8601', { field });
    default:
      return text('{{field}} is not in the right format', { field });
  }
}
