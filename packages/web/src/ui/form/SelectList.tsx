import { Combobox } from '@mantine/core';
import { useThrottledCallback } from '@mantine/hooks';
import { IconCheck } from '@tabler/icons-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { useT } from '../../i18n/i18n.ts';
import { SELECT_END_THROTTLE_MS, SELECT_MAX_HEIGHT_PX, SELECT_OPTION_LIMIT } from '../kitConstants.ts';
import type { Choice, Key, NamedChoice } from './choices.ts';
import classes from './Select.module.css';

interface Props<O extends Choice> {
  choices: readonly NamedChoice<O>[];
  /** Whether more match than are shown. */
  cut: boolean;
  /** What stands in place of no choices. */
  empty: string;
  name: string | undefined;
  multiple: boolean;
  isChosen(key: Key): boolean;
  renderOption?(option: O): ReactNode;
  opened: boolean;
  /** The list is on the screen, some time after it was opened; with the index of the option that is marked. */
  onDrawn(index: number): void;
  /** Which option is marked, by its id, whoever marked it. */
  onMarked(id: string | null): void;
  onEnd?(): void;
}

/** At this distance from the end of the list more of it is requested. */
const NEAR_END_PX = 10;

/** The open list of a select. */
export function SelectList<O extends Choice>(props: Props<O>) {
  const { choices, cut, empty, name, multiple, opened, onEnd } = props;
  const t = useT();
  const list = useRef<HTMLDivElement>(null);
  const signalEnd = useThrottledCallback(() => onEnd?.(), SELECT_END_THROTTLE_MS);

  function watchEnd(): void {
    const element = list.current;
    if (!element || !onEnd) return;
    if (element.scrollHeight - element.scrollTop - element.clientHeight <= NEAR_END_PX) signalEnd();
  }

  // The list stays rendered for a moment after it closes, and may be opened again meanwhile.
  // biome-ignore lint/correctness/useExhaustiveDependencies: told once each time it is open
  useEffect(() => {
    if (opened) props.onDrawn(list.current ? markFirst(list.current) : -1);
  }, [opened]);

  const isEmpty = choices.length === 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the element is another when the list was empty
  useEffect(() => {
    const element = list.current;
    if (!element) return;
    const tell = () => props.onMarked(element.querySelector('[data-combobox-selected]')?.id ?? null);
    const observer = new MutationObserver(tell);
    observer.observe(element, { subtree: true, childList: true, attributeFilter: ['data-combobox-selected'] });
    tell();
    return () => {
      observer.disconnect();
      props.onMarked(null);
    };
  }, [isEmpty]);

  // A list too short to be scrolled has its end in sight from the beginning.
  // biome-ignore lint/correctness/useExhaustiveDependencies: looked at when the list grows, as well as when it is scrolled
  useEffect(watchEnd, [choices.length]);

  if (isEmpty) {
    return (
      <Combobox.Options>
        <Combobox.Empty role="status">{empty}</Combobox.Empty>
      </Combobox.Options>
    );
  }
  return (
    <>
      <Combobox.Options
        ref={list}
        mah={SELECT_MAX_HEIGHT_PX}
        className={classes.list}
        aria-label={name}
        aria-multiselectable={multiple || undefined}
        onScroll={watchEnd}
      >
        {byGroup(choices).map(([group, members]) =>
          group === undefined ? (
            members.map((choice) => <Option key={choice.key} choice={choice} {...props} />)
          ) : (
            <Combobox.Group key={group} label={group}>
              {members.map((choice) => (
                <Option key={choice.key} choice={choice} {...props} />
              ))}
            </Combobox.Group>
          ),
        )}
      </Combobox.Options>
      {cut && (
        <Combobox.Footer className="muted">
          {t('Only the first {{limit}} are listed. Search to narrow them down.', { limit: SELECT_OPTION_LIMIT })}
        </Combobox.Footer>
      )}
    </>
  );
}

/** Marks the chosen option, else the first. Scrolls only the list: it is not placed on the page yet. */
function markFirst(list: HTMLElement): number {
  const options = [...list.querySelectorAll<HTMLElement>('[data-combobox-option]')];
  const chosen = options.findIndex((option) => option.matches('[data-combobox-active]'));
  const index = chosen >= 0 ? chosen : options.findIndex((option) => !option.matches('[data-combobox-disabled]'));
  const option = options[index];
  if (!option) return -1;
  option.setAttribute('data-combobox-selected', 'true');
  list.scrollTop = option.offsetTop - (list.clientHeight - option.offsetHeight) / 2;
  return index;
}

type OptionProps<O extends Choice> = Pick<Props<O>, 'isChosen' | 'renderOption'> & { choice: NamedChoice<O> };

function Option<O extends Choice>({ choice, isChosen, renderOption }: OptionProps<O>) {
  const chosen = isChosen(choice.key);
  return (
    <Combobox.Option
      value={String(choice.key)}
      active={chosen}
      disabled={choice.disabled}
      aria-selected={chosen}
      className={classes.option}
    >
      <span className={classes.optionBody}>
        {renderOption ? renderOption(choice.of) : choice.label}
        {choice.description && <span className={classes.optionHint}>{choice.description}</span>}
      </span>
      {chosen && <IconCheck size={14} aria-hidden className={classes.check} />}
    </Combobox.Option>
  );
}

/** In the order in which the groups appear; those without one each stay where they are first met. */
function byGroup<O extends Choice>(choices: readonly NamedChoice<O>[]): [string | undefined, NamedChoice<O>[]][] {
  const groups = new Map<string | undefined, NamedChoice<O>[]>();
  for (const choice of choices) {
    const members = groups.get(choice.group);
    if (members) members.push(choice);
    else groups.set(choice.group, [choice]);
  }
  return [...groups];
}
