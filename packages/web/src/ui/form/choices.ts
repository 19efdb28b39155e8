export type Key = string | number;

/** One of what can be chosen: a plain value, or an object with a label and a key under the names of its fields. */
export type Choice = Key | object;

export interface ChoiceFields {
  /** The field of an object that is shown; default `label`. */
  labelField?: string;
  /** The field of an object that stands for it in the value; default `value`. */
  keyField?: string;
}

export interface NamedChoice<O> {
  key: Key;
  label: string;
  /** A line below the label; the field `description` of an object. */
  description: string | undefined;
  disabled: boolean;
  /** The heading it stands under; the field `group` of an object. */
  group: string | undefined;
  of: O;
}

/** Reads what is shown and what is kept of each choice. */
export function namedChoices<O extends Choice>(
  options: readonly O[],
  { labelField = 'label', keyField = 'value' }: ChoiceFields = {},
): NamedChoice<O>[] {
  return options.map((of) => {
    if (typeof of !== 'object') {
      return { key: of as Key, label: String(of), description: undefined, disabled: false, group: undefined, of };
    }
    const fields = of as Record<string, unknown>;
    return {
      key: fields[keyField] as Key,
      label: String(fields[labelField]),
      description: textOf(fields.description),
      disabled: fields.disabled === true,
      group: textOf(fields.group),
      of,
    };
  });
}

/** Those whose label holds the text, whatever case and however many blanks around it. */
export function matchingChoices<N extends { label: string }>(choices: readonly N[], search: string): N[] {
  const wanted = search.trim().toLowerCase();
  return wanted === '' ? [...choices] : choices.filter(({ label }) => label.toLowerCase().includes(wanted));
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
