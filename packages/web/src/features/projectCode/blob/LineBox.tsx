import { useState } from 'react';
import { useLocation, useNavigate } from 'react-router';
import { useT } from '../../../i18n/i18n.ts';
import { TextInput } from '../../../ui/form/TextInput.tsx';
import { linesHash, parseLines } from '../codeAddress.ts';
import classes from '../ProjectCode.module.css';

/** Marks a line or a range by keyboard: `10` or `10-20`. */
export function LineBox() {
  const t = useT();
  const navigate = useNavigate();
  const { hash, search } = useLocation();
  const marked = parseLines(hash);
  const shown = marked ? linesHash(marked).replaceAll(/[#L]/g, '') : '';
  const [typed, setTyped] = useState<string | null>(null);

  function go(): void {
    const lines = parseLines(`#L${(typed ?? '').replaceAll(/\s/g, '')}`);
    if (lines) void navigate({ search, hash: linesHash(lines) }, { replace: true, preventScrollReset: true });
    else if (typed?.trim() === '') void navigate({ search, hash: '' }, { replace: true, preventScrollReset: true });
    setTyped(null);
  }

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        go();
      }}
    >
      <TextInput
        size="xs"
        aria-label={t('Go to line, such as 10 or 10-20')}
        placeholder={t('Line')}
        value={typed ?? shown}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        onBlur={() => typed !== null && go()}
        inputMode="numeric"
        autoComplete="off"
        className={classes.lineBox}
        data-testid="line-box"
      />
    </form>
  );
}
