import { type ComponentProps, createContext, type ReactNode, use, useLayoutEffect, useRef } from 'react';

type Errors = Readonly<Record<string, ReactNode>>;

const FormErrors = createContext<Errors>({});

interface Props extends ComponentProps<'form'> {
  /** By the `name` of a control; shown under it unless it has an error of its own. */
  errors?: Errors;
}

/** A form whose refusals stand under their fields; after sending, the first field that is wrong has the cursor. */
export function Form({ errors = {}, onSubmit, onInput, ...props }: Props) {
  const form = useRef<HTMLFormElement>(null);
  const sent = useRef(false);

  // Errors may come with the submit or later with an answer; each renders this form again.
  useLayoutEffect(() => {
    if (!sent.current || !form.current) return;
    const wrong = firstWrong(form.current);
    if (!wrong) return;
    sent.current = false;
    wrong.focus();
  });

  return (
    <FormErrors value={errors}>
      <form
        noValidate
        {...props}
        ref={form}
        onSubmit={(event) => {
          // React bubbles the submit events of forms in dialogs opened from here up to this form.
          if (event.target === event.currentTarget) sent.current = true;
          onSubmit?.(event);
        }}
        onInput={(event) => {
          sent.current = false;
          onInput?.(event);
        }}
      />
    </FormErrors>
  );
}

/** The error of a control: its own, else what its form knows by its name. */
export function useFieldError(name: string | undefined, own: ReactNode): ReactNode {
  const errors = use(FormErrors);
  return own ?? (name === undefined ? undefined : errors[name]);
}

const FOCUSABLE = 'input:not([type=hidden], :disabled), textarea:not(:disabled), button:not(:disabled), [tabindex="0"]';
const INNERMOST_INVALID = '[aria-invalid="true"]:not(:has([aria-invalid="true"]))';

/**
 * The first invalid control inside of the form or tied to it by a `form` attribute. A group cannot take the focus: its
 * first control does, unless one of its controls is marked as invalid itself.
 */
function firstWrong(form: HTMLFormElement): HTMLElement | null {
  const elsewhere = [...form.elements];
  const wrong = [...document.querySelectorAll<HTMLElement>(INNERMOST_INVALID)].find(
    (element) => form.contains(element) || elsewhere.includes(element),
  );
  if (!wrong) return null;
  return wrong.matches(FOCUSABLE) ? wrong : wrong.querySelector<HTMLElement>(FOCUSABLE);
}
