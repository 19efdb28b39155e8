import { useState } from 'react';

/** The rows of a list that a question is about. They stay while its dialog fades; empty before the first is asked. */
export function useAskedRows<Row>() {
  const [rows, setRows] = useState<readonly Row[]>([]);
  const [opened, setOpened] = useState(false);
  return {
    rows,
    opened,
    ask: (about: readonly Row[]) => {
      setRows(about);
      setOpened(true);
    },
    close: () => setOpened(false),
  };
}
