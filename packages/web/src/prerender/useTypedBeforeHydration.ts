import type { UseFormReturnType } from '@mantine/form';
import { useLayoutEffect } from 'react';

/**
 * Takes what a person or the browser put into the fields of a prerendered form before React ran into the
 * form's state. Hydration keeps it in the field, but the next render would overwrite it with the empty state.
 */
export function useTypedBeforeHydration<Values extends Record<string, string>>(form: UseFormReturnType<Values>): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, right after hydration
  useLayoutEffect(() => {
    for (const path of Object.keys(form.values)) {
      const field = form.getInputNode(path) ?? document.querySelector(`[name="${path}"]:checked`);
      const isText = field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement;
      if (isText && field.value !== '') form.setFieldValue(path, field.value as never);
    }
  }, []);
}
