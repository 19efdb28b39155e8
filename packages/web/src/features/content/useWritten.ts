import { api } from '@stagi/contract/api.ts';
import type { ContentSection } from '@stagi/contract/content.ts';
import { useQuery } from '@tanstack/react-query';
import { useLocation } from 'react-router';
import { q } from '../../api/query.ts';
import { usePageTitle } from '../../navigation/pageTitle.tsx';
import { useLanguage } from '../../preferences/preferences.ts';

/** The written page of the address on screen, in the language of the screen. Texts change with a release only. */
export function useWrittenPage() {
  const { language } = useLanguage();
  const path = useLocation().pathname.replace(/\/$/, '');
  const { data, error, isFetching, refetch } = useQuery({
    ...q(api.content.page, { path, language }),
    staleTime: Infinity,
  });
  const page = data?.entity;
  usePageTitle(page?.title);
  return { page, error, retrying: isFetching, retry: () => void refetch() };
}

/** What is written in a section, in reading order; undefined while it loads. */
export function useWrittenList(section: ContentSection) {
  const { language } = useLanguage();
  const { data, error, isFetching, refetch } = useQuery({
    ...q(api.content.list, { section, language }),
    staleTime: Infinity,
  });
  return { entries: data?.entities, error, retrying: isFetching, retry: () => void refetch() };
}
