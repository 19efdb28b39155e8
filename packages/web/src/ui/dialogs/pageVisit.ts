import { createContext } from 'react';

/** Names the present visit of a page; the app says when one ends and the next begins. */
export const PageVisit = createContext('');
