import { queryClient } from '../api/query.ts';
import { beginWithTitle } from '../navigation/pageTitle.tsx';
import { whenUsed } from '../ui/whenIdle.ts';
import { ANSWERS_ID, type PrerenderedAnswers } from './prerenderedPages.ts';

/** Puts the answers of the page into the cache, so that its first render is what was prerendered. */
export function takePrerenderedAnswers(): PrerenderedAnswers | null {
  const element = document.getElementById(ANSWERS_ID);
  if (!element) return null;
  const taken = JSON.parse(element.textContent) as PrerenderedAnswers;
  storeAnswers(window.location.pathname, taken);
  const readAgain = () =>
    Promise.all(
      taken.answers.flatMap(({ keys }) =>
        keys.map((queryKey) => queryClient.invalidateQueries({ queryKey, exact: true })),
      ),
    );
  // They are true as long as nobody changed anything, else the server marks the page: then the page asks as soon as it is drawn.
  if (document.documentElement.dataset.outdated === undefined) whenUsed(readAgain);
  else void readAgain();
  return taken;
}

export function storeAnswers(pathname: string, { title, answers }: PrerenderedAnswers): void {
  for (const { keys, output } of answers) for (const key of keys) queryClient.setQueryData(key, output);
  if (title !== undefined) beginWithTitle(pathname, title);
}
