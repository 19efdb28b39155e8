import { createContext, type ReactNode, useContext, useMemo, useState } from 'react';

interface Choice {
  chosen: string | null;
  choose(name: string): void;
}

const Chosen = createContext<Choice>({ chosen: null, choose: () => undefined });

/** Groups of tabs within that have the same tab show it together. */
export function ChosenTab({ children }: { children: ReactNode }) {
  const [chosen, choose] = useState<string | null>(null);
  const value = useMemo(() => ({ chosen, choose }), [chosen]);
  return <Chosen value={value}>{children}</Chosen>;
}

/** The tab that a group of those names shows, and how to show another. */
export function useChosenTab(names: readonly string[]): [shown: string, choose: (name: string) => void] {
  const { chosen, choose } = useContext(Chosen);
  const [last, setLast] = useState(names[0] ?? '');
  const shown = chosen !== null && names.includes(chosen) ? chosen : last;
  // It stays when another group shows what this one does not have.
  if (shown !== last) setLast(shown);
  return [shown, choose];
}
