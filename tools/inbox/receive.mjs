import { domainToASCII } from 'node:url';
import { SMTPServer } from 'smtp-server';
import { nameOf } from './returned-mail.mjs';

/** The maximum size of a mail. */
const LARGEST_MAIL_BYTES = 50 * 1024 * 1024;

/** Recipients that are refused, to try out failures: by the local part of the address, up to a `+`. */
const REFUSED = new Map([
  ['bounced', { code: 550, text: '5.1.1 No such user here' }],
  ['blocked', { code: 554, text: '5.7.1 Refused by policy' }],
  ['delayed', { code: 451, text: '4.7.1 Try again later' }],
]);

/**
 * The SMTP server: accepts every login, and every mail for all recipients but those of {@link REFUSED}; answers 250 once the mail is on the
 * disk. It offers no TLS, because a careful client would reject its self-signed certificate.
 *
 * @param {import('./mailbox.mjs').Mailbox} mailbox
 * @param {import('./returned-mail.mjs').ReturnedMail} [returnedMail] default: nothing is reported about accepted mails
 */
export function createReceiver(mailbox, returnedMail) {
  return new SMTPServer({
    banner: 'Posthorn inbox',
    authOptional: true,
    allowInsecureAuth: true,
    hideSTARTTLS: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    size: LARGEST_MAIL_BYTES,
    // Strict parsing rejects addresses of 254 bytes, the maximum (RFC 5321, section 4.5.3.1.3, without the brackets).
    lenientAddressParsing: true,
    logger: false,
    onAuth: (auth, _session, done) => done(null, { user: auth.username ?? 'somebody' }),
    onRcptTo: ({ address }, _session, done) => done(refusalFor(address)),
    onData: (stream, session, done) => receive({ mailbox, returnedMail }, stream, session, done),
  });
}

function receive({ mailbox, returnedMail }, stream, session, done) {
  /** @type {Buffer[]} */
  const chunks = [];
  stream.on('data', (chunk) => chunks.push(chunk));
  stream.on('error', done);
  stream.on('end', () => {
    if (stream.sizeExceeded) return done(refusal(552, 'The mail is too large'));
    const { mailFrom, rcptTo } = session.envelope;
    const envelope = {
      from: mailFrom === false ? '' : asSaid(mailFrom.address),
      to: rcptTo.map(({ address }) => asSaid(address)),
      helo: session.hostNameAppearsAs || undefined,
    };
    const source = Buffer.concat(chunks);
    mailbox.keep(envelope, source).then(
      ({ id }) => {
        done(null, `Kept as ${id}`);
        returnedMail?.reportOn(envelope, source);
      },
      (error) => done(refusal(451, `Could not be kept: ${error.message}`)),
    );
  });
}

/** @param {string} address @returns {Error | undefined} */
function refusalFor(address) {
  const refused = REFUSED.get(nameOf(address));
  return refused && refusal(refused.code, refused.text);
}

/**
 * The address as sent in the envelope: `smtp-server` converts punycode domains to Unicode, and nobody could find the mail by the address
 * that Posthorn sent it to.
 *
 * @param {string} address
 */
export function asSaid(address) {
  const at = address.lastIndexOf('@') + 1;
  return `${address.slice(0, at)}${domainToASCII(address.slice(at)) || address.slice(at)}`;
}

function refusal(responseCode, message) {
  return Object.assign(new Error(message), { responseCode });
}
