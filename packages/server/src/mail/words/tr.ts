import type { Words } from './words.ts';

export const tr: Words = {
  hello: 'Merhaba {{name}},',
  logIn: 'Giriş yap',
  signUp: 'Kaydol',
  newPassword: 'Yeni parola belirle',
  sessions: 'Oturumlarınıza bakın',
  tokens: 'API token’larınıza bakın',
  security: 'Güvenlik ayarlarınıza bakın',
  when: 'Zaman',
  from: 'Cihaz',
  unknownDevice: 'Bilinmiyor',
  support: 'Destek',
  address: 'Adres',
  description: 'Açıklama',
  reason: 'Neden',
  workspace: 'Çalışma alanı',
  footer: 'Bu e-postayı, {{brand}} üzerinde bu adresle yapılan bir işlem nedeniyle alıyorsunuz.',
  code: {
    subject: '{{code}} {{brand}} onay kodunuzdur',
    lead: 'Kaydınızı tamamlamak için bu kodu girin. Kod {{minutes}} dakika geçerlidir.',
    end: 'Kaydolmadıysanız bu e-postayı yok sayın: kod olmadan hiçbir şey olmaz.',
  },
  registered: {
    subject: 'Zaten bir {{brand}} hesabınız var',
    lead: 'Biri, büyük olasılıkla siz, bu adresle kaydolmayı denedi. Bu adresin zaten bir hesabı var.',
    recovery: 'Parolanızı unuttuysanız yeni bir parola belirleyin.',
    end: 'Bu siz değilseniz bir şey yapmanıza gerek yok.',
  },
  reset: {
    subject: '{{code}} yeni parola için {{brand}} kodunuzdur',
    lead: 'Yeni bir parola belirlemek için bu kodu girin. Kod {{minutes}} dakika geçerlidir.',
    end: 'Bunu siz istemediyseniz bu e-postayı yok sayın: parolanız değişmez. Kodu kimseyle paylaşmayın.',
  },
  newAddress: {
    subject: '{{code}}, yeni adresiniz için {{brand}} kodunuz',
    lead: 'Hesabınızı bu adrese taşımak için bu kodu girin. Kod {{minutes}} dakika geçerlidir.',
    end: 'Bunu siz istemediyseniz bu e-postayı dikkate almayın: kod olmadan hiçbir şey olmaz. Kodu kimseye vermeyin.',
  },
  addressTaken: {
    subject: 'Adresiniz {{brand}} üzerinde kullanılıyor',
    lead: 'Başka bir hesapta (belki o da sizin) oturum açmış biri, o hesabı bu adrese taşımak istedi. Bu adresin zaten kendi hesabı olduğundan hiçbir şey değişmedi.',
    end: 'Adresi diğer hesap için kullanmak istiyorsanız önce bu hesaba giriş yapıp adresini değiştirin ya da hesabı silin. Bunu siz yapmadıysanız yapmanız gereken bir şey yok.',
  },
  emailChanged: {
    subject: '{{brand}} hesabınızın adresi değiştirildi',
    lead: 'Hesabınız başka bir adrese taşındı: artık bu adresle giriş yapılamaz. Diğer tüm cihazlardan çıkış yapıldı.',
    end: 'Bunu siz yapmadıysanız hesabınıza başka biri erişmiş demektir: bize hemen yazın.',
  },
  deleted: {
    subject: '{{brand}} hesabınız silindi',
    lead: 'Hesabınız ve yalnızca size ait olan her şey silindi. Bunları kimse geri getiremez.',
    end: 'Bunu siz yapmadıysanız bize hemen yazın. Bu adresle istediğiniz zaman yeniden kayıt olabilirsiniz.',
  },
  shutOut: {
    subject: '{{brand}} hesabınız devre dışı bırakıldı',
    lead: 'Bir işletmen hesabınızı devre dışı bıraktı. Her yerde oturumunuz kapatıldı; hesap yeniden etkinleştirilene kadar API belirteçleriniz ve SSH anahtarlarınız hiçbir şeyi açmaz. Size ait olanlar silinmedi.',
    end: 'Bunun bir hata olduğunu düşünüyorsanız aşağıdaki adrese yazın.',
  },
  letIn: {
    subject: '{{brand}} hesabınız yeniden etkin',
    lead: 'Bir işletmen hesabınızı yeniden etkinleştirdi. Üyelikleriniz, API belirteçleriniz ve SSH anahtarlarınız eskisi gibi.',
    end: 'Devam etmek için oturum açın.',
  },
  shut: {
    subject: '{{workspace}} çalışma alanı devre dışı bırakıldı',
    lead: 'Bir işletmen bir çalışma alanınızı devre dışı bıraktı. Orada kimse işlem yapamaz, yeni hiçbir şey başlamaz ve kiralanan sunucuları durduruluyor.',
    end: 'Bunun bir hata olduğunu düşünüyorsanız aşağıdaki adrese yazın.',
  },
  opened: {
    subject: '{{workspace}} çalışma alanı yeniden etkin',
    lead: 'Bir işletmen bir çalışma alanınızı yeniden etkinleştirdi. Durdurulan sunucular, biri başlatana kadar durmuş kalır.',
    end: 'Üyeleriniz devam edebilir.',
  },
  noAccount: {
    subject: 'Bu adresle kurtarılacak bir {{brand}} hesabı yok',
    lead: 'Biri, büyük olasılıkla siz, bu adres için yeni bir parola istedi. Bu adresle kurtarılabilecek bir hesap yok; belki başka bir adresle kaydoldunuz.',
    end: 'Bu siz değilseniz bir şey yapmanıza gerek yok.',
  },
  changed: {
    subject: '{{brand}} parolanız değiştirildi',
    lead: 'Hesabınızın parolası değiştirildi ve diğer tüm cihazlardan çıkış yapıldı.',
    end: 'Bunu siz yapmadıysanız hemen yeni bir parola belirleyin.',
  },
  added: {
    subject: '{{brand}} hesabınıza parola eklendi',
    lead: 'Artık hesabınıza parola ile giriş yapılabilir.',
    end: 'Bunu siz yapmadıysanız hemen yeni bir parola belirleyin.',
  },
  device: {
    subject: '{{brand}} hesabınıza yeni giriş',
    lead: 'Hesabınıza daha önce görmediğimiz bir cihazdan giriş yapıldı.',
    end: 'Bu sizseniz bir şey yapmanıza gerek yok. Değilseniz hemen yeni bir parola belirleyin: bu, tüm cihazlardan çıkış yapar.',
  },
  connected: {
    subject: 'Artık {{brand}} hesabınıza {{provider}} ile girilebilir',
    lead: 'Hesabınız {{provider}} ile bağlandı: artık onunla giriş yapabilirsiniz.',
    end: 'Bunu siz yapmadıysanız hesabınızda bağlantıyı kesin ve hemen yeni bir parola belirleyin.',
  },
  disconnected: {
    subject: '{{provider}} ile {{brand}} hesabınızın bağlantısı kesildi',
    lead: 'Artık hesabınıza {{provider}} ile giriş yapılamaz.',
    end: 'Bunu siz yapmadıysanız hemen yeni bir parola belirleyin.',
  },
  app: {
    subject: '{{app}} artık {{brand}} hesabınızla çalışabilir',
    lead: 'Hesabınıza giriş yapmış biri {{app}} uygulamasına izin verdi.',
    end: 'Bunu siz yapmadıysanız hesabınızdaki Oturumlar bölümünden bağlantısını kesin ve hemen yeni bir parola belirleyin: bu, diğer her yerden çıkış yapar.',
  },
  ended: {
    subject: '{{brand}} oturumlarınızdan birini sonlandırdık',
    lead: 'Oturumlarınızdan birinin anahtarı iki kez kullanıldı; bu, biri onu kopyaladığında olur. Güvenlik için o oturumu sonlandırdık: kullanan kişinin yeniden giriş yapması gerekir.',
    end: 'Orada size ait olmayan bir cihaz görürseniz oturumunu sonlandırın ve parolanızı değiştirin.',
  },
  token: {
    subject: 'Yeni bir {{brand}} API token’ı oluşturuldu',
    lead: 'Hesabınız için bir API token’ı oluşturuldu. Bu token’a sahip programlar, oluşturulduğu çalışma alanında sizin adınıza işlem yapabilir.',
    end: 'Bunu siz yapmadıysanız token’ı hemen arşivleyin ve yeni bir parola belirleyin.',
  },
  stepUp: {
    subject: '{{code}}, siz olduğunuzu onaylamak için {{brand}} kodunuz',
    lead: 'Yaptığınız işleme devam etmek için bu kodu girin. {{minutes}} dakika geçerlidir.',
    end: 'Bunu siz istemediyseniz biri hesabınızda oturum açmış demektir: o oturumu sonlandırın ve parolanızı değiştirin. Kodu kimseye vermeyin.',
  },
  totpAdded: {
    subject: '{{brand}} hesabınıza bir doğrulama uygulaması eklendi',
    lead: 'Hesabınıza giriş yapmak için artık bir doğrulama uygulamasının kodu gerekiyor.',
    end: 'Bunu siz yapmadıysanız hemen yeni bir parola belirleyin ve güvenlik ayarlarınıza bakın.',
  },
  totpRemoved: {
    subject: '{{brand}} hesabınızdan doğrulama uygulaması kaldırıldı',
    lead: 'Hesabınıza giriş yapmak için artık doğrulama uygulamasının kodu gerekmiyor.',
    end: 'Bunu siz yapmadıysanız hemen yeni bir parola belirleyin ve güvenlik ayarlarınıza bakın.',
  },
  passkeyAdded: {
    subject: '{{brand}} hesabınıza bir geçiş anahtarı eklendi',
    lead: 'Hesabınızın yeni bir geçiş anahtarı var: tek başına giriş için kullanılabilir ve parolanın yanında istenir.',
    end: 'Bunu siz yapmadıysanız o geçiş anahtarını kaldırın ve hemen yeni bir parola belirleyin.',
  },
  passkeyRemoved: {
    subject: '{{brand}} hesabınızdan bir geçiş anahtarı kaldırıldı',
    lead: 'Hesabınızın geçiş anahtarlarından biri kaldırıldı.',
    end: 'Bunu siz yapmadıysanız hemen yeni bir parola belirleyin ve güvenlik ayarlarınıza bakın.',
  },
  recoveryCodes: {
    subject: '{{brand}} hesabınız için yeni kurtarma kodları',
    lead: 'Hesabınız için yeni kurtarma kodları oluşturuldu. Öncekiler artık geçerli değil.',
    end: 'Bunu siz yapmadıysanız hemen yeni bir parola belirleyin ve güvenlik ayarlarınıza bakın.',
  },
  recoveryCodeUsed: {
    subject: '{{brand}} hesabınızın bir kurtarma kodu kullanıldı',
    lead: 'Biri, doğrulama uygulaması veya geçiş anahtarı yerine kurtarma kodlarınızdan birini kullandı. Bu kod artık geçerli değil.',
    end: 'Siz kullandıysanız kaç kodun kaldığına bakın. Değilse hemen yeni bir parola belirleyin ve yeni kurtarma kodları oluşturun.',
  },
  factorGuessed: {
    subject: 'Biri {{brand}} hesabınıza giriş yapmaya çalışıyor',
    lead: 'Biri hesabınıza girişin ilk adımını, örneğin parolanızla, geçti; ancak ikinci doğrulamada birkaç kez yanıldı. Giriş yapamadı.',
    end: 'Bunu siz yaptıysanız bir şey yapmanız gerekmez. Değilse biri parolanızı biliyor: hemen yeni bir parola belirleyin.',
  },
};
