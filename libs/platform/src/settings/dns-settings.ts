import { IsOptional } from 'class-validator';
import { HasForm } from './has-form.ts';
import { IsNameServers, parseNameServers } from './name-servers.ts';
import { IsWholeNumber } from './is-whole-number.ts';
import { Setting } from './setting.ts';

/** The name of an `include` (RFC 7208, section 7.1), without macros: receivers take a record with any other for an error. */
const INCLUDE = /^(?=.{1,200}$)(?:[\w-]+\.)+[A-Za-z0-9-]+\.?$/;

/** DNS look-ups, and the expected records of sending domains. */
export class DnsSettings {
  @Setting('The name servers used to look up the records of sending domains and the receivers of webhooks.', {
    defaultText: "the system's",
    example: '192.0.2.53,[2001:db8::53]:5353',
  })
  @IsOptional()
  @IsNameServers()
  DNS_SERVERS?: string;

  @Setting('How long a DNS look-up may take, including all its retries, in milliseconds.')
  @IsWholeNumber(100, 15_000)
  DNS_TIMEOUT_MS = 5_000;

  @Setting(
    'The name that the SPF record of a sending domain must include so that the relay may send for it; workspaces are told to add it.',
    { defaultText: 'not said; workspaces are told to ask', example: '_spf.relay.example' },
  )
  @IsOptional()
  @HasForm('a full name such as _spf.relay.example', (text) => INCLUDE.test(text))
  SPF_INCLUDE?: string;

  /** The options of `@posthorn/dns`. */
  get options(): { servers: readonly string[]; timeoutMs: number } {
    const servers = this.DNS_SERVERS === undefined ? [] : parseNameServers(this.DNS_SERVERS)!;
    return { servers, timeoutMs: this.DNS_TIMEOUT_MS };
  }
}
