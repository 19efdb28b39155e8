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
