import { type UseFormReturnType, useForm } from '@mantine/form';
import type { Call, InputOf, OutputOf } from '@stagi/contract/call.ts';
import { type CallError, fieldErrors } from '@stagi/contract/errors.ts';
import { type SyntheticEvent, useRef } from 'react';
import { useT } from '../i18n/i18n.ts';
import { toast } from '../ui/toasts.ts';
import { refusalText, toastFailure } from './messages.ts';
import { withSchemas } from './schemas.ts';
import { useCall } from './useCall.ts';

interface Options<C extends Call, Values extends object> {
  initialValues: Values;
  /** Converts the form's values to the call's input. Left out: they have the same shape. */
  toInput?(values: Values): unknown;
  /** Maps a field name of the contract to the form's, where they differ. */
  fieldOf?(path: string): string;
  /** Errors by field beyond the contract's rules, about values that are not sent. */
  alsoCheck?(values: NoInfer<Values>): Record<string, string>;
  /** Called at each submit, before validation. */
  onSubmit?(): void;
  onDone(output: OutputOf<C>, input: InputOf<C>): void;
  /** Handles a refusal before it is mapped to fields. Returns true when it has been shown. */
  onRefused?(error: CallError): boolean;
}

export interface CallForm<Values extends object> {
  form: UseFormReturnType<Values>;
  /** Props of a Mantine input: value, change handler, and its error in the person's language. */
  field(path: string, options?: { type?: 'input' | 'checkbox' }): FieldProps;
  /** For the `onSubmit` of a `Form`: checks by the contract's schema, sends, puts refusals under their fields. */
  submit(event?: SyntheticEvent<HTMLFormElement>): void;
  loading: boolean;
}

/** Value, change handler and error, as Mantine's own form types them. */
export type FieldProps = ReturnType<UseFormReturnType<Record<string, unknown>>['getInputProps']>;

/** A form over one call: the contract's rules before sending, the server's refusals after, at their fields. */
export function useCallForm<C extends Call, Values extends object>(
  of: C,
  {
    initialValues,
    toInput = (values) => values,
    fieldOf = (path) => path,
    alsoCheck = () => ({}),
    onSubmit,
    onDone,
    onRefused,
  }: Options<C, Values>,
): CallForm<Values> {
  const t = useT();
  const form = useForm<Values>({ initialValues });
  const checking = useRef(false);
  const { run, loading } = useCall(of, {
    onDone,
    onRefused: (error) => {
      if (onRefused?.(error)) return true;
      showRefusal(error);
      return true;
    },
  });

  function field(path: string, options?: { type?: 'input' | 'checkbox' }): FieldProps {
    const { error, ...props } = form.getInputProps(path as never, options);
    return { ...props, error: typeof error === 'string' ? t(error) : error };
  }

  function submit(event?: SyntheticEvent<HTMLFormElement>): void {
    event?.preventDefault();
    if (loading || checking.current) return;
    checking.current = true;
    onSubmit?.();
    void check().finally(() => {
      checking.current = false;
    });
  }

  async function check(): Promise<void> {
    const whole = await withSchemas(of).catch((cause: unknown) => {
      console.warn('The rules of this form could not be fetched', cause);
      return null;
    });
    if (!whole) {
      toast.error(t('This could not be loaded'));
      return;
    }
    const parsed = whole.input.safeParse(toInput(form.values));
    const errors = { ...renamed(issuesByPath(parsed.error?.issues ?? [])), ...alsoCheck(form.values) };
    if (!parsed.success || Object.keys(errors).length > 0) {
      form.setErrors(errors);
      return;
    }
    form.clearErrors();
    await run(parsed.data as InputOf<C>);
  }

  /** Under its fields. A refusal that names none of them is a toast; the client has shown it already except for 400 and 200. */
  function showRefusal(error: CallError): void {
    const errors = fieldErrors(error);
    if (!Object.keys(errors).some(isOfThisForm)) {
      if (error.status === 400 || error.status === 200) toastFailure(error);
      return;
    }
    const sameForAll = error.body?.fieldMessages === undefined;
    const translated = sameForAll
      ? toldOnce(Object.keys(errors).filter(isOfThisForm), refusalText(error.message, error.body))
      : errors;
    form.setErrors(renamed(translated));
  }

  /** An error of a field that this form does not show must be a toast. */
  function isOfThisForm(path: string): boolean {
    return (fieldOf(path).split('.')[0] ?? '') in form.values;
  }

  function renamed<Told>(errors: Record<string, Told>): Record<string, Told> {
    return Object.fromEntries(Object.entries(errors).map(([path, message]) => [fieldOf(path), message]));
  }

  return { form, field, submit, loading };
}

/** One text for several fields stands under the last of them; the others are only marked. */
export function toldOnce(paths: readonly string[], told: string): Record<string, string | true> {
  const last = paths.at(-1);
  return Object.fromEntries(paths.map((path) => [path, path === last ? told : true]));
}

/** The first error of each field, keyed as forms spell paths: `portMappings.0.host`. */
export function issuesByPath(issues: readonly { path: PropertyKey[]; message: string }[]): Record<string, string> {
  const errors: Record<string, string> = {};
  for (const issue of issues) errors[issue.path.map(String).join('.')] ??= issue.message;
  return errors;
}
