import { boundText, type SmtpReply } from '@posthorn/domain';

/** `smtp; 550-5.1.1 …`: the type says that it is the reply of an SMTP server (RFC 3464, section 2.3.6). */
const TYPED = /^([\w.-]{1,40})[ \t]*;[ \t]*/;
const ENHANCED = String.raw`[245]\.\d{1,3}\.\d{1,3}`;
const CODE_FIRST = new RegExp(`^([245]\\d\\d)(?:[ -]|$)[ \\t]*(?:#?(${ENHANCED})(?=[ :;]|$))?`);
/** Where a server wraps what the other one said in words of its own, both codes together are unmistakable. */
const CODES_WITHIN = new RegExp(`\\b([45]\\d\\d)[ -](${ENHANCED})\\b`);
const STATUS = new RegExp(`^(${ENHANCED})\\b`);
/** Of a reply of several lines each line brings its codes along. */
const REPEATED_CODES = new RegExp(`(?:^|\\s)[245]\\d\\d[ -](?:#?${ENHANCED}(?=[ :;]|$))?[ \\t]*`, 'g');

/** What a status means as a code where no reply is quoted: codes that mean nothing in particular, so that the status decides. */
const CODE_OF_CLASS: Readonly<Record<string, number>> = { '2': 250, '4': 450, '5': 554 };

/**
 * The reply that a delivery status quotes, or one that follows from its status alone.
 *
 * @param diagnostic the value of `Diagnostic-Code`
 * @param status the value of `Status` (RFC 3463)
 * @returns undefined when there is neither
 */
export function quotedReply(
  diagnostic: string | undefined,
  status: string | undefined,
): SmtpReply | undefined {
  const ofStatus = STATUS.exec(status ?? '')?.[1];
  const [typed = '', type = ''] = TYPED.exec(diagnostic ?? '') ?? [];
  const said = (diagnostic ?? '').slice(typed.length);
  const [, code, enhanced] = (type.toLowerCase() === 'smtp' || type === '' ? codesIn(said) : null) ?? [];
  const meant = code === undefined ? CODE_OF_CLASS[ofStatus?.[0] ?? ''] : Number(code);
  if (meant === undefined) return undefined;
  const text = boundText(code === undefined ? said : said.replace(REPEATED_CODES, ' '));
  // An enhanced code of another class than the code's contradicts it (RFC 2034, section 4).
  const enhancedCode = [enhanced, ofStatus].find((each) => each?.[0] === String(meant)[0]);
  return enhancedCode === undefined ? { code: meant, text } : { code: meant, enhancedCode, text };
}

function codesIn(said: string): RegExpExecArray | null {
  return CODE_FIRST.exec(said) ?? CODES_WITHIN.exec(said);
}
