/** User agents of programs that open links and load images without a person, by words of theirs in lower case. */
export const MACHINE_WORDS: readonly string[] = [
  // What calls itself one: Googlebot, bingbot, Applebot, Twitterbot, LinkedInBot, Slackbot, Discordbot, TelegramBot.
  'bot',
  'crawler',
  'spider',
  'scanner',
  // Chats that show what a link leads to.
  'facebookexternalhit',
  'whatsapp',
  'skypeuripreview',
  'preview',
  'embedly',
  // Filters of mail: Barracuda, Mimecast, Proofpoint, Cloudmark, Symantec and MessageLabs, Trend Micro, Sophos, Zscaler, Microsoft.
  'barracuda',
  'mimecast',
  'proofpoint',
  'cloudmark',
  'symantec',
  'messagelabs',
  'trendmicro',
  'sophos',
  'zscaler',
  'bitdefender',
  'forcepoint',
  'fortinet',
  'microsoft office existence discovery',
  'ms-office; msoffice',
  // Libraries and browsers without a window.
  'curl/',
  'wget/',
  'python-requests',
  'python-urllib',
  'python-httpx',
  'aiohttp',
  'go-http-client',
  'java/',
  'apache-httpclient',
  'libwww-perl',
  'node-fetch',
  'undici',
  'axios/',
  'headlesschrome',
  'phantomjs',
  'ruby',
  'guzzlehttp',
];

/**
 * Proxies that load the images of an email when a person opens it, in place of that person: Gmail's and Yahoo's. They win over the words above
 * for an image; nobody clicks by way of them.
 */
export const IMAGE_PROXIES: readonly string[] = ['googleimageproxy', 'yahoomailproxy'];

/** The whole user agent of a proxy that loads images when an email arrives, opened or not: Apple Mail's. */
export const PREFETCHING_AGENTS: readonly string[] = ['mozilla/5.0'];
