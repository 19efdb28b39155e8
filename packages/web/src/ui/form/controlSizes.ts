import { rem } from '@mantine/core';
import type { INPUT_SIZES, SELECT_SIZES } from '../kitConstants.ts';

export type ControlSize = (typeof INPUT_SIZES)[number] | (typeof SELECT_SIZES)[number];

/** What the specification's names of sizes stand for; controls of one size line up in a row. */
export const CONTROL_SIZES: Record<ControlSize, { height: number; font: number }> = {
  xxxs: { height: 24, font: 12 },
  xxs: { height: 28, font: 12 },
  xs: { height: 32, font: 13 },
  s: { height: 36, font: 14 },
  m: { height: 40, font: 14 },
  l: { height: 44, font: 16 },
};

/** Mantine looks up the measures of a size by its name. Ours have names of their own, as both have an `xs`. */
export const mantineSize = (size: ControlSize): string => `kit-${size}`;

/** The variables in which Mantine's inputs look the measures up. */
export const controlSizeVariables: Record<string, string> = Object.fromEntries(
  Object.entries(CONTROL_SIZES).flatMap(([size, { height, font }]) =>
    Object.entries({
      'input-height': height,
      'input-padding-y': Math.round((height - 22) / 2),
      'mantine-font-size': font,
      'ni-chevron-size': height < 32 ? 10 : 14,
      'psi-button-size': height - 10,
      'psi-icon-size': height < 32 ? 14 : 18,
      'combobox-option-padding': [(height - 24) / 2, 10],
    }).map(([name, px]) => [`--${name}-kit-${size}`, [px].flat().map(rem).join(' ')]),
  ),
);
