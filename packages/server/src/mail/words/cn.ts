import type { Words } from './words.ts';

export const cn: Words = {
  hello: '{{name}}，您好：',
  logIn: '登录',
  signUp: '注册',
  newPassword: '设置新密码',
  sessions: '查看您的会话',
  tokens: '查看您的 API 令牌',
  when: '时间',
  from: '设备',
  unknownDevice: '未知',
  address: 'IP 地址',
  description: '说明',
  workspace: '工作空间',
  footer: '您收到此邮件，是因为有人在 {{brand}} 使用了此邮箱地址进行操作。',
  code: {
    subject: '{{code}} 是您的 {{brand}} 验证码',
    lead: '请输入此验证码以完成注册。验证码在 {{minutes}} 分钟内有效。',
    end: '如果您没有注册，请忽略此邮件：没有验证码，就不会发生任何操作。',
  },
  registered: {
    subject: '您已拥有 {{brand}} 账户',
    lead: '有人（可能是您本人）尝试使用此邮箱注册，但该邮箱已有账户。',
    recovery: '如果您忘记了密码，可以设置新密码。',
    end: '如果不是您本人操作，无需理会。',
  },
  reset: {
    subject: '{{code}} 是您的 {{brand}} 密码重置验证码',
    lead: '请输入此验证码以设置新密码。验证码在 {{minutes}} 分钟内有效。',
    end: '如果您没有提出请求，请忽略此邮件：您的密码不会改变。请勿将验证码告诉任何人。',
  },
  noAccount: {
    subject: '此邮箱没有可恢复的 {{brand}} 账户',
    lead: '有人（可能是您本人）为此邮箱请求设置新密码，但没有可用此邮箱恢复的账户；您可能使用了其他邮箱注册。',
    end: '如果不是您本人操作，无需理会。',
  },
  changed: {
    subject: '您的 {{brand}} 密码已更改',
    lead: '您账户的密码已更改，其他所有设备均已退出登录。',
    end: '如果不是您本人操作，请立即设置新密码。',
  },
  added: {
    subject: '您的 {{brand}} 账户已添加密码',
    lead: '您的账户现在可以使用密码登录。',
    end: '如果不是您本人操作，请立即设置新密码。',
  },
  device: {
    subject: '您的 {{brand}} 账户有新的登录',
    lead: '有人从一台我们从未见过的设备登录了您的账户。',
    end: '如果是您本人，无需理会。如果不是，请立即设置新密码：所有设备都将退出登录。',
  },
  ended: {
    subject: '我们结束了您的一个 {{brand}} 会话',
    lead: '您的一个会话的密钥被使用了两次，这通常意味着有人复制了它。为安全起见，我们结束了该会话：使用者需要重新登录。',
    end: '如果您在其中看到不属于您的设备，请结束其会话并更改密码。',
  },
  token: {
    subject: '已创建新的 {{brand}} API 令牌',
    lead: '您的账户创建了一个 API 令牌。拥有该令牌的程序可以在其所属工作空间内以您的名义进行操作。',
    end: '如果不是您本人操作，请立即归档该令牌并设置新密码。',
  },
};
