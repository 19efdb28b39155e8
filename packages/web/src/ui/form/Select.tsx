import { type BoxProps, CloseButton, Combobox, Input, InputBase, useCombobox } from '@mantine/core';
import { IconSelector } from '@tabler/icons-react';
import {
  type ComponentProps,
  type FocusEvent,
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useRef,
  useState,
} from 'react';
import { useT } from '../../i18n/i18n.ts';
import { CutText } from '../CutText.tsx';
import { SELECT_OPTION_LIMIT, SELECT_SEARCH_ABOVE, type SELECT_SIZES, SELECT_TAG_LIMIT } from '../kitConstants.ts';
import { type Choice, type ChoiceFields, type Key, matchingChoices, namedChoices } from './choices.ts';
import { mantineSize } from './controlSizes.ts';
import { useFieldError } from './Form.tsx';
import { labelOf, type Named } from './FormItem.tsx';
import classes from './Select.module.css';
import { SelectList } from './SelectList.tsx';

interface Common<O extends Choice> extends ChoiceFields {
  /** Objects may say `disabled`, `description` and `group` of themselves. */
  options: readonly O[];
  optional?: boolean;
  description?: ReactNode;
  error?: ReactNode;
  name?: string;
  size?: (typeof SELECT_SIZES)[number];
  placeholder?: string;
  disabled?: boolean;
  /** The id of the form it belongs to, where it stands outside of it. */
  form?: string;
  /** To choose nothing is an answer too, as in a filter. Otherwise clearing it shows that a choice is required. */
  mayBeEmpty?: boolean;
  /** How many of several values are shown before `+N`. */
  tagLimit?: number;
  leftSection?: ReactNode;
  /** Draws an option in the list; its label is shown otherwise. */
  renderOption?(option: O): ReactNode;
  /** Options are found elsewhere by what is typed here: all that are given are shown, and there is always a search box. */
  found?: FoundElsewhere;
  /** The end of the list is in sight: more may be fetched. At most every 500 ms. */
  onEnd?(): void;
  w?: BoxProps['w'];
  className?: string;
  'data-testid'?: string;
  'data-path'?: string;
  onFocus?: ComponentProps<'button'>['onFocus'];
  onBlur?: ComponentProps<'button'>['onBlur'];
}

interface FoundElsewhere {
  search: string;
  onSearch(text: string): void;
  /** What can be searched by. */
  hint: string;
  /** What is given belongs to an older search: it stays, and none of it can be chosen. */
  stale: boolean;
  /** The list has been opened: now there is something to find. */
  onOpen?(): void;
  /** How the value is called, which may be none of what was found. */
  chosenLabel: string | undefined;
}

interface Single<K extends Key> {
  multiple?: false;
  /** The key of the chosen option; one that no option has counts as none. */
  value?: K | null;
  onChange(value: NoInfer<K> | null): void;
}

interface Multiple<K extends Key> {
  multiple: true;
  value: readonly K[];
  onChange(value: NoInfer<K>[]): void;
}

export type SelectProps<O extends Choice, K extends Key> = Common<O> & Named & (Single<K> | Multiple<K>);

/** One or several of a list. With more than eight options it can be searched. */
export function Select<O extends Choice, K extends Key = string>(props: SelectProps<O, K>) {
  const { label, optional, options, labelField, keyField, size = 's', tagLimit = SELECT_TAG_LIMIT } = props;
  const t = useT();
  const { found } = props;
  const [typed, setTyped] = useState('');
  const search = found?.search ?? typed;
  const setSearch = found?.onSearch ?? setTyped;
  /** The list is rendered some time after it opens. Only then is it announced and can it be navigated. */
  const [drawn, setDrawn] = useState(false);
  const dropdown = useRef<HTMLDivElement>(null);
  const combobox = useCombobox({
    onDropdownOpen: () => found?.onOpen?.(),
    onDropdownClose: (by) => {
      combobox.resetSelectedOption();
      setDrawn(false);
      setSearch('');
      if (by === 'keyboard') combobox.focusTarget();
    },
  });
  const { dropdownOpened: opened } = combobox;
  const choices = namedChoices(options, { labelField, keyField });
  const keys: readonly K[] = props.multiple ? props.value : props.value == null ? [] : [props.value];
  const isChosen = (key: Key) => keys.some((chosen) => String(chosen) === String(key));
  const chosen = choices.filter(({ key }) => isChosen(key));
  const isEmpty = (found ? keys : chosen).length === 0;
  const clearable = !isEmpty && !props.disabled;
  const isRequired = !optional && !props.mayBeEmpty && !props.multiple;
  const [cleared, setCleared] = useState(false);
  const missing = cleared && isEmpty && isRequired ? t('Please choose an option') : undefined;
  const searchable = found !== undefined || choices.length > SELECT_SEARCH_ABOVE;
  const matching = found
    ? choices.map((choice) => ({ ...choice, disabled: choice.disabled || found.stale }))
    : matchingChoices(choices, search);
  const answer = found && !found.stale ? matching.map(({ key }) => key).join() : '';

  // biome-ignore lint/correctness/useExhaustiveDependencies: its functions are new in each render, their work is not
  useEffect(() => {
    if (opened && search !== '') combobox.selectFirstOption();
  }, [search, answer]);

  function begin(index: number): void {
    setDrawn(true);
    combobox.updateSelectedOptionIndex(index);
    if (searchable) combobox.searchRef.current?.focus({ preventScroll: true });
  }

  /**
   * Announces the option to screen readers without rendering a long list again. The library does so only for the arrow
   * keys.
   */
  function announce(id: string | null): void {
    const control = combobox.searchRef.current ?? combobox.targetRef.current;
    if (id) control?.setAttribute('aria-activedescendant', id);
    else control?.removeAttribute('aria-activedescendant');
  }

  function toggle(of: string): void {
    const key = choices.find((choice) => String(choice.key) === of)?.key as K | undefined;
    if (key === undefined) return;
    if (props.multiple) {
      props.onChange(isChosen(key) ? props.value.filter((other) => String(other) !== of) : [...props.value, key]);
    } else {
      props.onChange(key);
      close();
    }
  }

  function clear(): void {
    if (props.multiple) props.onChange([]);
    else props.onChange(null);
    setCleared(true);
    combobox.focusTarget();
  }

  function close(): void {
    combobox.closeDropdown();
    combobox.focusTarget();
  }

  function leave(event: FocusEvent): void {
    const to = event.relatedTarget;
    if (to === combobox.targetRef.current || dropdown.current?.contains(to)) return;
    combobox.closeDropdown();
  }

  function emptyWord(): string {
    if (found?.stale) return t('Searching…');
    return choices.length === 0 && search.trim() === '' ? t('List is empty') : t('No matches');
  }

  function clearByKey(event: KeyboardEvent): void {
    if (!clearable || (event.key !== 'Backspace' && event.key !== 'Delete')) return;
    event.preventDefault();
    clear();
  }

  return (
    <Combobox
      store={combobox}
      onOptionSubmit={toggle}
      size={mantineSize(size)}
      position="bottom-start"
      keepMounted={false}
      shadow="md"
      transitionProps={{ duration: 80 }}
      offset={4}
    >
      <Combobox.Target targetType="button" withExpandedAttribute aria-expanded={opened && drawn}>
        <InputBase
          component="button"
          type="button"
          pointer
          size={mantineSize(size)}
          label={labelOf(label, optional)}
          aria-label={props['aria-label']}
          description={props.description}
          error={useFieldError(props.name, props.error) ?? missing}
          disabled={props.disabled}
          name={props.name}
          form={props.form}
          leftSection={props.leftSection}
          rightSection={<Ends clearable={clearable} onClear={clear} />}
          rightSectionPointerEvents={clearable ? 'auto' : 'none'}
          onClick={() => combobox.toggleDropdown()}
          onKeyDown={clearByKey}
          onFocus={props.onFocus}
          onBlur={(event: FocusEvent<HTMLButtonElement>) => {
            leave(event);
            props.onBlur?.(event);
          }}
          w={props.w}
          className={props.className}
          classNames={{ wrapper: classes.wrapper, input: classes.input }}
          data-testid={props['data-testid']}
          data-path={props['data-path']}
        >
          {found && !props.multiple && props.value != null ? (
            <CutText className={classes.value}>{found.chosenLabel ?? '…'}</CutText>
          ) : chosen.length === 0 ? (
            <Input.Placeholder>{props.placeholder ?? t('Not chosen')}</Input.Placeholder>
          ) : props.multiple ? (
            <Tags labels={chosen.map((choice) => choice.label)} limit={tagLimit} />
          ) : (
            <CutText className={classes.value}>{chosen[0]?.label ?? ''}</CutText>
          )}
        </InputBase>
      </Combobox.Target>
      <Combobox.Dropdown ref={dropdown} data-testid={props['data-testid'] && `${props['data-testid']}-list`}>
        {searchable && (
          <Combobox.Search
            value={search}
            onChange={(event) => setSearch(event.currentTarget.value)}
            role="combobox"
            aria-expanded
            aria-label={found?.hint ?? t('Search')}
            placeholder={found?.hint ?? t('Search')}
            onKeyDown={(event) => {
              // The list is rendered at the end of the page, so Tab must continue from the control.
              if (event.key === 'Tab') combobox.targetRef.current?.focus();
            }}
            onBlur={leave}
          />
        )}
        <SelectList
          choices={matching.slice(0, SELECT_OPTION_LIMIT)}
          cut={matching.length > SELECT_OPTION_LIMIT}
          empty={emptyWord()}
          name={typeof label === 'string' ? label : props['aria-label']}
          multiple={props.multiple === true}
          isChosen={isChosen}
          renderOption={props.renderOption}
          opened={opened}
          onDrawn={begin}
          onMarked={announce}
          onEnd={props.onEnd}
        />
      </Combobox.Dropdown>
    </Combobox>
  );
}

/** The arrow; on hover and focus of the control the clear button replaces it. */
function Ends({ clearable, onClear }: { clearable: boolean; onClear(): void }) {
  const t = useT();
  return (
    <span className={classes.ends} data-clearable={clearable || undefined}>
      <IconSelector size={14} className={classes.arrow} aria-hidden />
      {clearable && <CloseButton size="sm" className={classes.clear} aria-label={t('Clear')} onClick={onClear} />}
    </span>
  );
}

function Tags({ labels, limit }: { labels: readonly string[]; limit: number }) {
  const hidden = labels.slice(limit);
  return (
    <span className={classes.tags}>
      {labels.slice(0, limit).map((label) => (
        <span key={label} className={classes.tag}>
          {label}
        </span>
      ))}
      {hidden.length > 0 && (
        <span className={classes.more} title={hidden.join(', ')}>
          +{hidden.length}
        </span>
      )}
    </span>
  );
}
