import { BRAND } from '@stagi/contract/brand.ts';
import type { Language } from '@stagi/contract/languages.ts';

/** What the operator fills into texts: `{{operator.name}}`. */
export const PLACES = ['brand', 'operator.name', 'operator.address', 'operator.date'] as const;
export type Place = (typeof PLACES)[number];
/** The texts of places; an absent or empty one is unset. */
export type Places = Partial<Record<Place, string>>;

export const PLACE = /\{\{([^{}]*)\}\}/g;
export const isPlace = (name: string): name is Place => (PLACES as readonly string[]).includes(name);

/** What stands where the operator has set nothing. */
const UNSET: Record<Language, Record<Exclude<Place, 'brand'>, string>> = {
  en: {
    'operator.name': 'the operator of this installation',
    'operator.address': 'the address that the operator gives on request',
    'operator.date': 'the day on which the operator published this page',
  },
  cn: {
    'operator.name': '本平台的运营方',
    'operator.address': '运营方应要求提供的地址',
    'operator.date': '运营方发布本页之日',
  },
  ru: {
    'operator.name': 'оператор этой установки',
    'operator.address': 'адрес, который оператор сообщает по запросу',
    'operator.date': 'день публикации этой страницы оператором',
  },
  tr: {
    'operator.name': 'bu kurulumun işletmecisi',
    'operator.address': 'işletmecinin talep üzerine verdiği adres',
    'operator.date': 'işletmecinin bu sayfayı yayımladığı gün',
  },
};

export interface FilledPlace {
  text: string;
  isSet: boolean;
}

export function fillPlace(place: Place, places: Places, language: Language): FilledPlace {
  const given = places[place];
  if (given) return { text: given, isSet: true };
  return place === 'brand' ? { text: BRAND, isSet: true } : { text: UNSET[language][place], isSet: false };
}

/** Plain text with its places filled. */
export function fillText(text: string, places: Places, language: Language): string {
  return text.replace(PLACE, (whole, name: string) => (isPlace(name) ? fillPlace(name, places, language).text : whole));
}
