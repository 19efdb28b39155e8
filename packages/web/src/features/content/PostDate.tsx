import { LOCALE } from '@stagi/contract/languages.ts';
import { useLanguage } from '../../preferences/preferences.ts';
import { formatDate } from '../../ui/format.ts';

/** The day of a post: the same in every time zone. */
export function PostDate({ date }: { date: string }) {
  const { language } = useLanguage();
  return <time dateTime={date}>{formatDate(`${date}T12:00:00Z`, 'MMMM D, YYYY', LOCALE[language])}</time>;
}
