import type { Language } from '@stagi/contract/languages.ts';

/** Why a request to a port is not answered by its container. */
export type PortRefusal =
  | 'notFound'
  | 'signIn'
  | 'forbidden'
  | 'elsewhere'
  | 'invalid'
  | 'silent'
  | 'stopped'
  | 'broken'
  | 'away'
  | 'outdated'
  | 'heldElsewhere'
  | 'held'
  | 'busy'
  | 'unavailable'
  | 'slow';

export const STATUS: Record<PortRefusal, number> = {
  notFound: 404,
  signIn: 401,
  forbidden: 403,
  elsewhere: 403,
  invalid: 400,
  silent: 502,
  stopped: 502,
  broken: 502,
  away: 503,
  outdated: 503,
  heldElsewhere: 503,
  held: 503,
  busy: 429,
  unavailable: 503,
  slow: 504,
};

type Words = Record<PortRefusal, [title: string, explanation: string]>;

export const WORDS: Record<Language, Words> = {
  en: {
    notFound: ['Nothing is here', 'There is no such container, or it has no such port.'],
    signIn: ['Please log in', 'Open this address in a browser, or send an API token.'],
    forbidden: ['Not allowed', 'You do not have the permission to see this container.'],
    elsewhere: ['Not allowed', 'Another website may link to this page, but may neither embed nor use it.'],
    invalid: ['The request is not valid', 'It cannot be passed on to the container.'],
    silent: ['Nothing listens on this port', 'The container runs, but no program in it answers on this port yet.'],
    stopped: ['The container is not running', 'Start it on its page.'],
    broken: ['No valid answer', 'The program in the container broke off, or did not answer with HTTP.'],
    away: ['The server cannot be reached', 'Its agent is not connected now. It reconnects by itself.'],
    outdated: ['The agent of the server is too old', 'It cannot pass requests on. Install it again on the server.'],
    heldElsewhere: [
      'The server cannot be reached from here',
      'It is connected to another process of the platform. Try again in a moment.',
    ],
    held: [
      'The platform is held',
      'This platform was restored from a backup and is held: nothing can be changed until an operator releases it.',
    ],
    busy: ['Too many requests', 'Try again in a moment.'],
    unavailable: ['The service is busy', 'Try again in a moment.'],
    slow: ['No answer in time', 'The program in the container took too long to answer.'],
  },
  cn: {
    notFound: ['此处没有内容', '没有这个容器，或者它没有这个端口。'],
    signIn: ['请登录', '请在浏览器中打开此地址，或发送 API 令牌。'],
    forbidden: ['没有权限', '您没有查看此容器的权限。'],
    elsewhere: ['不允许', '其他网站可以链接到此页面，但不能嵌入或使用它。'],
    invalid: ['请求无效', '无法将其转发给容器。'],
    silent: ['此端口没有程序在监听', '容器正在运行，但其中还没有程序在此端口应答。'],
    stopped: ['容器未运行', '请在其页面上启动它。'],
    broken: ['没有有效的应答', '容器中的程序中断了连接，或没有以 HTTP 应答。'],
    away: ['无法连接到服务器', '它的代理程序目前未连接。它会自动重新连接。'],
    outdated: ['服务器的代理程序版本过旧', '它无法转发请求。请在服务器上重新安装。'],
    heldElsewhere: ['无法从此处连接到服务器', '它连接到平台的另一个进程。请稍后再试。'],
    held: ['平台已暂停', '本平台是从备份恢复的，目前处于暂停状态：在运营人员解除暂停之前，无法更改任何内容。'],
    busy: ['请求过多', '请稍后再试。'],
    unavailable: ['服务繁忙', '请稍后再试。'],
    slow: ['未及时应答', '容器中的程序应答时间过长。'],
  },
  ru: {
    notFound: ['Здесь ничего нет', 'Нет такого контейнера, или у него нет такого порта.'],
    signIn: ['Войдите в систему', 'Откройте этот адрес в браузере или передайте токен API.'],
    forbidden: ['Нет доступа', 'У вас нет права видеть этот контейнер.'],
    elsewhere: [
      'Нет доступа',
      'Другой сайт может ссылаться на эту страницу, но не может встраивать или использовать её.',
    ],
    invalid: ['Неверный запрос', 'Его нельзя передать контейнеру.'],
    silent: [
      'Этот порт никто не слушает',
      'Контейнер работает, но ни одна программа в нём пока не отвечает на этом порту.',
    ],
    stopped: ['Контейнер не запущен', 'Запустите его на его странице.'],
    broken: ['Нет верного ответа', 'Программа в контейнере прервала соединение или ответила не по HTTP.'],
    away: ['Сервер недоступен', 'Его агент сейчас не подключён. Он подключится сам.'],
    outdated: ['Агент сервера устарел', 'Он не умеет передавать запросы. Установите его на сервере заново.'],
    heldElsewhere: [
      'Отсюда сервер недоступен',
      'Он подключён к другому процессу платформы. Повторите попытку чуть позже.',
    ],
    held: [
      'Платформа приостановлена',
      'Эта платформа восстановлена из резервной копии и приостановлена: ничего нельзя изменить, пока оператор не снимет приостановку.',
    ],
    busy: ['Слишком много запросов', 'Повторите попытку чуть позже.'],
    unavailable: ['Сервис занят', 'Повторите попытку чуть позже.'],
    slow: ['Нет ответа вовремя', 'Программа в контейнере отвечала слишком долго.'],
  },
  tr: {
    notFound: ['Burada bir şey yok', 'Böyle bir kapsayıcı yok ya da bu bağlantı noktası onda yok.'],
    signIn: ['Lütfen oturum açın', 'Bu adresi bir tarayıcıda açın ya da bir API anahtarı gönderin.'],
    forbidden: ['İzin yok', 'Bu kapsayıcıyı görme izniniz yok.'],
    elsewhere: ['İzin yok', 'Başka bir site bu sayfaya bağlantı verebilir, ama onu gömemez ve kullanamaz.'],
    invalid: ['İstek geçerli değil', 'Kapsayıcıya iletilemez.'],
    silent: [
      'Bu bağlantı noktasını dinleyen yok',
      'Kapsayıcı çalışıyor, ama içindeki hiçbir program bu bağlantı noktasında henüz yanıt vermiyor.',
    ],
    stopped: ['Kapsayıcı çalışmıyor', 'Onu sayfasından başlatın.'],
    broken: ['Geçerli bir yanıt yok', 'Kapsayıcıdaki program bağlantıyı kesti ya da HTTP ile yanıt vermedi.'],
    away: ['Sunucuya ulaşılamıyor', 'Aracısı şu anda bağlı değil. Kendiliğinden yeniden bağlanır.'],
    outdated: ['Sunucunun aracısı çok eski', 'İstekleri iletemiyor. Onu sunucuda yeniden kurun.'],
    heldElsewhere: [
      'Sunucuya buradan ulaşılamıyor',
      'Platformun başka bir sürecine bağlı. Biraz sonra yeniden deneyin.',
    ],
    held: [
      'Platform beklemede',
      'Bu platform bir yedekten geri yüklendi ve beklemede: bir operatör serbest bırakana kadar hiçbir şey değiştirilemez.',
    ],
    busy: ['Çok fazla istek', 'Biraz sonra yeniden deneyin.'],
    unavailable: ['Hizmet meşgul', 'Biraz sonra yeniden deneyin.'],
    slow: ['Zamanında yanıt yok', 'Kapsayıcıdaki program çok geç yanıt verdi.'],
  },
};
