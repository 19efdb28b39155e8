import type { CallError } from '@stagi/contract/errors.ts';
import { useState } from 'react';

const CHANGED_MEANWHILE = 409;

/**
 * The version of what a form was filled in from, to be sent with it. When somebody else has changed that since, the
 * refusal is told once and `refresh` called; what was typed stays, and to save again is then meant.
 */
export function useEditVersion(current: string | undefined, refresh: () => void) {
  // The version at the beginning: the page below may have been read anew meanwhile.
  const [began, setBegan] = useState(current);
  const [isOvertaken, setOvertaken] = useState(false);
  return {
    version: isOvertaken ? undefined : began,
    isOvertaken,
    onRefused(error: CallError): boolean {
      if (error.status !== CHANGED_MEANWHILE) return false;
      setOvertaken(true);
      refresh();
      return true;
    },
    /** After saving, or after taking over what the others entered. */
    begin(next: string | undefined): void {
      setBegan(next);
      setOvertaken(false);
    },
  };
}
