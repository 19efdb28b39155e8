/** The product's name and its currency, in one place. */
export const BRAND = 'Stagi';
export const CURRENCY = 'STAGI';
