/** Words in the user agents of programs that follow links and load images without a person, in lower case. */
export const MACHINE_AGENT_WORDS: readonly string[] = [
  // Self-declared bots: Googlebot, bingbot, Applebot, Twitterbot, LinkedInBot, Slackbot, Discordbot, TelegramBot.
  'bot',
  'crawler',
  'spider',
  'scanner',
  // Link previews of chats.
  'facebookexternalhit',
  'whatsapp',
  'skypeuripreview',
  'preview',
  'embedly',
  // Mail filters: Barracuda, Mimecast, Proofpoint, Cloudmark, Symantec and MessageLabs, Trend Micro, Sophos, Zscaler, Microsoft.
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
  // Libraries and headless browsers.
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

/** Makes of phones, in lower case, whose names contain one of these words. */
export const PHONE_MAKES: readonly string[] = ['cubot'];

/**
 * Image proxies that act for a person who opens the email: Gmail's and Yahoo's. For images they take precedence over the words above.
 */
export const IMAGE_PROXIES: readonly string[] = ['googleimageproxy', 'yahoomailproxy'];

/** Complete user agents of proxies that load images when an email arrives, opened or not: Apple Mail's. */
export const PREFETCHING_AGENTS: readonly string[] = ['mozilla/5.0'];
