import { Input } from '@mantine/core';
import type { ReactNode } from 'react';

/** An error of several inputs together. */
export function GroupError({ error }: { error: ReactNode }) {
  return error ? <Input.Error mt={4}>{error}</Input.Error> : null;
}
