import { sanitizeText, type Transmission } from '@posthorn/domain';

const ANY_OF = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** The relay takes no address with characters beyond ASCII. */
export const SMTPUTF8_MISSING: Transmission = {
  kind: 'refused',
  stage: 'rcpt',
  reply: {
    code: 550,
    enhancedCode: '5.6.7',
    text: 'Posthorn: an address of the email has characters beyond ASCII before its @, and the relay does not offer SMTPUTF8',
  },
  unasked: true,
};

/** The relay takes only smaller messages. */
export const messageTooLarge = (bytes: number, maxBytes: number): Transmission => ({
  kind: 'refused',
  stage: 'mail',
  reply: {
    code: 552,
    enhancedCode: '5.3.4',
    text: `Posthorn: the message has ${bytes} bytes, and the relay takes ${maxBytes} at most`,
  },
  unasked: true,
});

/** The relay offers no way to log in that we could use. Not `unasked`: it is so for every email, and counts against the relay. */
export const loginMissing = (usable: readonly string[], offered: string): Transmission => ({
  kind: 'refused',
  stage: 'auth',
  reply: {
    code: 504,
    enhancedCode: '5.5.4',
    text: sanitizeText(`Posthorn: logs in by ${ANY_OF.format(usable)}, and the relay offers only ${offered}`),
  },
});
