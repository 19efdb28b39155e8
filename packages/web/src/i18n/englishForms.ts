import english from './en.json' with { type: 'json' };
import { knowEnglishForms } from './i18n.ts';

/** English needs no dictionary but for what stands with a number; importing this file brings it. */
knowEnglishForms(english);
