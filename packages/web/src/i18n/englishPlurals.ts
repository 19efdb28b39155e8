import english from './en.json' with { type: 'json' };
import { addEnglishPlurals } from './i18n.ts';

/** English needs no dictionary but for what stands with a number; importing this file brings it. */
addEnglishPlurals(english);
