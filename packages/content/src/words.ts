import type { Call } from '@stagi/contract/call.ts';
import type { Language } from '@stagi/contract/languages.ts';
import type { Callout } from './parsePage.ts';

/** The few words that rendering adds to a page, in the page's language. */
interface Words {
  callouts: Record<Callout, string>;
  table: string;
  anyone: string;
  signedIn: string;
  member: string;
}

export const WORDS: Record<Language, Words> = {
  en: {
    callouts: { note: 'Note', tip: 'Tip', warning: 'Warning', danger: 'Danger' },
    table: 'Table',
    anyone: 'anyone',
    signedIn: 'every signed-in user',
    member: 'every member of the workspace',
  },
  cn: {
    callouts: { note: '说明', tip: '提示', warning: '警告', danger: '危险' },
    table: '表格',
    anyone: '任何人',
    signedIn: '所有已登录用户',
    member: '工作空间的所有成员',
  },
  ru: {
    callouts: { note: 'Примечание', tip: 'Совет', warning: 'Внимание', danger: 'Опасно' },
    table: 'Таблица',
    anyone: 'все',
    signedIn: 'все вошедшие пользователи',
    member: 'все участники рабочего пространства',
  },
  tr: {
    callouts: { note: 'Not', tip: 'İpucu', warning: 'Uyarı', danger: 'Tehlike' },
    table: 'Tablo',
    anyone: 'herkes',
    signedIn: 'oturum açmış her kullanıcı',
    member: 'çalışma alanının her üyesi',
  },
};

/** Who may make a call: words, or permissions of which one suffices. */
export function whoMay({ auth }: Call, language: Language): string | readonly string[] {
  const words = WORDS[language];
  if (auth === 'public') return words.anyone;
  if (auth === 'signed-in') return words.signedIn;
  return auth === 'member' ? words.member : auth;
}
