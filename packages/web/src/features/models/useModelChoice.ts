import type { Model } from '@stagi/contract/models.ts';
import { useMemo } from 'react';
import { useAddressParams } from '../../navigation/useAddressParams.ts';
import { choiceIn, type ModelChoice, putChoice } from './modelChoice.ts';

/** What is chosen on the page of a model. It is kept in the address, so that a link shows the same. */
export function useModelChoice(model: Pick<Model, 'qualities' | 'contextLength'>): {
  choice: ModelChoice;
  choose(changed: Partial<ModelChoice>): void;
} {
  const [params, changeParams] = useAddressParams();
  const choice = useMemo(() => choiceIn(params, model), [params, model]);
  return {
    choice,
    choose: (changed) => changeParams((next) => putChoice(next, changed, model), { replace: true }),
  };
}
