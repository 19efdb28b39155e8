import { useDebouncedValue } from '@mantine/hooks';
import { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import type { Model } from '@stagi/contract/models.ts';
import { filesOf } from '@stagi/perf/quality.ts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { q } from '../../../api/query.ts';
import type { ModelChoice } from '../modelChoice.ts';
import { chosenFile, engineOfFile } from '../setup.ts';

/** After the last change; a drag or a typed number makes one call. */
const PAUSE_MS = 400;
const REFETCH_MS = 60_000;

/** The offers of the marketplace by what a million tokens cost on them. While another choice is asked for, the last answer stays. */
export function useFit(model: Model, choice: ModelChoice) {
  const asked = JSON.stringify(fitInput(model, choice));
  const [settled] = useDebouncedValue(asked, PAUSE_MS);
  const input = useMemo(() => JSON.parse(settled) as InputOf<typeof api.models.fit>, [settled]);
  const query = useQuery({
    ...q(api.models.fit, input, { quiet: true }),
    placeholderData: keepPreviousData,
    refetchInterval: REFETCH_MS,
  });
  return { ...query, isOld: query.isPlaceholderData || settled !== asked };
}

export type FitAnswer = ReturnType<typeof useFit>;

/** What the file of the quality is not published in, or not read by, is left out: the call would refuse it. */
function fitInput({ id, entry }: Model, choice: ModelChoice): InputOf<typeof api.models.fit> {
  const { quality, format, load, lengths, goal } = choice;
  const file = chosenFile(filesOf(entry), quality, choice);
  const engine = file && engineOfFile(file, choice);
  return {
    modelRef: { id },
    quality,
    load,
    lengths,
    goal,
    ...(format && file?.format === format && { format }),
    ...(engine && { engine }),
  };
}
