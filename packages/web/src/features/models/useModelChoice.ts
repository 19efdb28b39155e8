import type { Model } from '@stagi/contract/models.ts';
import { useMemo } from 'react';
import { useSearchParams } from 'react-router';
import { choiceIn, type ModelChoice, withChoice } from './modelChoice.ts';

/** What is chosen on the page of a model. It is kept in the address, so that a link shows the same. */
export function useModelChoice(model: Pick<Model, 'qualities' | 'contextLength'>): {
  choice: ModelChoice;
  choose(changed: Partial<ModelChoice>): void;
} {
  const [search, setSearch] = useSearchParams();
  const choice = useMemo(() => choiceIn(search, model), [search, model]);
  return {
    choice,
    choose: (changed) =>
      setSearch((current) => withChoice(current, changed, model), { replace: true, preventScrollReset: true }),
  };
}
