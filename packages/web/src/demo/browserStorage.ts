/** Choices of the browser that hold in the demo too. */
const SHARED = ['theme', 'language'];

/**
 * Gives this page a storage of its own, in memory: the session of who is signed in is neither read nor changed, whatever
 * part of the app asks for it, and the demo leaves nothing behind. To be called before any other code of the app runs.
 */
export function replaceStorage(signedInAs: Record<string, string>): void {
  const browser = window.localStorage;
  replace('localStorage', storageOf(signedInAs, { shared: SHARED, browser }));
  replace('sessionStorage', storageOf({}, { shared: [], browser }));
}

function replace(name: 'localStorage' | 'sessionStorage', storage: Storage): void {
  Object.defineProperty(window, name, { configurable: true, value: storage });
}

export function storageOf(
  given: Record<string, string>,
  { shared, browser }: { shared: readonly string[]; browser: Storage },
): Storage {
  const own = new Map(Object.entries(given));
  return {
    get length() {
      return own.size;
    },
    key: (index) => [...own.keys()][index] ?? null,
    getItem: (key) => (shared.includes(key) ? browser.getItem(key) : (own.get(key) ?? null)),
    setItem(key, value) {
      if (shared.includes(key)) browser.setItem(key, value);
      else own.set(key, String(value));
    },
    removeItem(key) {
      if (shared.includes(key)) browser.removeItem(key);
      else own.delete(key);
    },
    clear: () => own.clear(),
  };
}
