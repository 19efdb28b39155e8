/** Marks an English text that is translated where it is shown, so that the check of translations finds it. */
export const text = <S extends string>(english: S): S => english;
