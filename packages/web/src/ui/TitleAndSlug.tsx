import { useRef } from 'react';
import { useT } from '../i18n/i18n.ts';
import { TextInput } from './form/TextInput.tsx';
import { UniqueIdInput } from './form/UniqueIdInput.tsx';
import { slugFromTitle } from './slug.ts';

/** What a form library gives an input: handlers take an event or a plain value. */
interface Bound {
  value?: unknown;
  onChange(eventOrValue: unknown): void;
}

interface Props {
  title: Bound;
  slug: Bound;
  titleLabel?: string;
  placeholder?: string;
  slugHint?: string;
}

/** Title and Unique ID; the second follows the first until it is written by hand. */
export function TitleAndSlug({ title, slug, titleLabel, placeholder, slugHint }: Props) {
  const t = useT();
  const ownSlug = useRef(slug.value !== '' && slug.value !== slugFromTitle(String(title.value ?? '')));
  return (
    <>
      <TextInput
        label={titleLabel ?? t('Title')}
        placeholder={placeholder}
        autoComplete="off"
        data-autofocus
        limit={100}
        {...title}
        value={String(title.value ?? '')}
        onChange={(event) => {
          title.onChange(event);
          if (!ownSlug.current) slug.onChange(slugFromTitle(event.currentTarget.value));
        }}
      />
      <UniqueIdInput
        label={t('Unique ID')}
        description={slugHint ?? t('Letters, digits and hyphens')}
        limit={40}
        {...slug}
        value={String(slug.value ?? '')}
        onChange={(event) => {
          ownSlug.current = event.currentTarget.value !== '';
          slug.onChange(event);
        }}
      />
    </>
  );
}
