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

  // Refusals may come with the submit or an answer later; each of them draws this form anew.
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
          // React hands the submits of forms in dialogs opened from here up to this one.
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

/**
 * Among what the form holds and what belongs to it by its `form` attribute. Groups are wrong as a whole and cannot take
 * the focus: then it goes to the first of what they hold.
 */
function firstWrong(form: HTMLFormElement): HTMLElement | null {
  const elsewhere = [...form.elements];
  const wrong = [...document.querySelectorAll<HTMLElement>('[aria-invalid="true"]')].find(
    (element) => form.contains(element) || elsewhere.includes(element),
  );
  if (!wrong) return null;
  return wrong.matches(FOCUSABLE) ? wrong : wrong.querySelector<HTMLElement>(FOCUSABLE);
}
