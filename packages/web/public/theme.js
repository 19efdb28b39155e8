// Before the first paint: the remembered theme, else the system's, so that nothing flashes; and what is done to a page
// that was drawn ahead before the code that listens is there, which then carries it out.
(() => {
  var root = document.documentElement;
  function stored(key) {
    try {
      return localStorage.getItem(key);
    } catch (_blocked) {
      // Storage can be switched off; then nothing is remembered.
      return null;
    }
  }
  var theme = stored('theme');
  var dark = theme === 'dark' || (theme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  root.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light');

  // Drawn for a visitor without a session, in the browser's language: who is somebody else does not see it.
  var language = stored('language');
  if (stored('refreshToken') || (language && root.dataset.drawn && language !== root.dataset.drawn))
    root.setAttribute('data-other', '');

  // An id token that a provider has put into the address is out of it before any other code runs, and before this
  // address is kept as one that was visited. Its page finds it in this tab's storage.
  if (location.pathname === '/sign-in' && /(^#|&)(id_token|error)=/.test(location.hash)) {
    try {
      sessionStorage.setItem('googleReturn', location.hash.slice(1));
    } catch (_blocked) {
      // The page that it goes to says that nothing came back.
    }
    history.replaceState(null, '', '/auth/google');
    root.removeAttribute('data-drawn');
    root.setAttribute('data-other', '');
  }

  var early = { submitted: null, pressed: null };
  window.early = early;
  function isReady() {
    return root.hasAttribute('data-ready');
  }
  addEventListener(
    'submit',
    (event) => {
      if (isReady()) return;
      event.preventDefault();
      early.submitted = event.target;
    },
    true,
  );
  addEventListener(
    'click',
    (event) => {
      if (isReady() || !event.target.closest) return;
      early.pressed = event.target.closest('button[type=button]');
    },
    true,
  );
})();

// A page whose parts do not arrive would stay white, or dead, for ever: a network that changes under it (VPN, Wi-Fi)
// aborts them. It tries again by itself, a few times and ever later; then it says so.
(() => {
  var TRIES = 3;
  var WORDS = {
    en: ['Stagi could not be loaded', 'Try again'],
    zh: ['无法加载 Stagi', '重试'],
    ru: ['Не удалось загрузить Stagi', 'Попробовать снова'],
    tr: ['Stagi yüklenemedi', 'Yeniden dene'],
  };
  var failed = false;

  // The error of an element does not bubble; that of a module's own await is a rejection.
  addEventListener('error', partFailed, true);
  addEventListener('unhandledrejection', partFailed);

  function partFailed(event) {
    if (failed || document.documentElement.dataset.started !== undefined) return;
    if (event.target instanceof HTMLImageElement) return;
    failed = true;
    var tried = Number(sessionStorage.getItem('bootTries') || 0);
    sessionStorage.setItem('bootTries', String(tried + 1));
    if (!navigator.onLine) addEventListener('online', () => location.reload(), { once: true });
    else if (tried < TRIES) {
      const timer = setTimeout(() => location.reload(), 500 * 2 ** tried);
      // A link of the drawn page that is followed meanwhile is a better try.
      addEventListener('beforeunload', () => clearTimeout(timer));
    } else if (document.readyState === 'complete') say();
    else addEventListener('load', say, { once: true });
  }

  function say() {
    var language = (localStorage.getItem('language') || navigator.language).slice(0, 2).replace('cn', 'zh');
    var words = WORDS[language] || WORDS.en;
    var box = document.createElement('div');
    box.setAttribute('role', 'alert');
    box.style.cssText = 'padding:96px 24px;text-align:center;font:16px system-ui';
    var button = document.createElement('button');
    button.textContent = words[1];
    button.style.font = 'inherit';
    button.onclick = () => {
      sessionStorage.removeItem('bootTries');
      location.reload();
    };
    var sentence = document.createElement('p');
    sentence.textContent = words[0];
    box.append(sentence, button);
    document.body.prepend(box);
  }
})();
