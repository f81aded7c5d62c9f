/** How each kind of secret that Posthorn issues begins: by that, scanners find one that leaked, and logs mask all of them. */
export const SECRET_PREFIXES = {
  apiKey: 'phk_',
  operatorPassword: 'php_',
  webhookToken: 'wht_',
  invitation: 'phi_',
  verification: 'phv_',
  unsubscribe: 'phu_',
  open: 'pho_',
  click: 'phc_',
} as const;

/** The prefix of a kind of secret. */
export type SecretPrefix = (typeof SECRET_PREFIXES)[keyof typeof SECRET_PREFIXES];
