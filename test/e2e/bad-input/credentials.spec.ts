import { describe, expect, it } from '@jest/globals';
import { newApiKeySecret } from '@posthorn/signing';
import type { Answer } from '../api.ts';
import { newRecipient, validEmail } from '../stack.ts';
import { expectRefusal } from './refusal.ts';
import { RefusingStack } from './refusing-stack.ts';

const refusing = RefusingStack.forFile();
const secret = (): string => refusing.stack.tenant.keys.apiUser;
const EMAILS = '/v1/emails';

const otherCase = (text: string): string =>
  text.replace(/.$/, (last) => (last === last.toUpperCase() ? last.toLowerCase() : last.toUpperCase()));

/** Invalid credentials, made from a valid one. */
const INVALID_CREDENTIALS: readonly [string, (secret: string) => string][] = [
  ['another scheme', (key) => `Basic ${btoa(`user:${key}`)}`],
  ['another scheme with the key', (key) => `Token ${key}`],
  ['the key alone', (key) => key],
  ['the scheme alone', () => 'Bearer'],
  ['the scheme and a space', () => 'Bearer '],
  ['nothing', () => ''],
  ['two keys', (key) => `Bearer ${key} ${key}`],
  ['two schemes', (key) => `Bearer Bearer ${key}`],
  ['a list', (key) => `Bearer ${key}, Bearer ${key}`],
  ['a list of keys', (key) => `Bearer ${key},${key}`],
  ['quotes', (key) => `Bearer "${key}"`],
  ['angle brackets', (key) => `Bearer <${key}>`],
  ['a tab', (key) => `Bearer\t${key}`],
  ['no space', (key) => `Bearer${key}`],
  ['a colon', (key) => `Bearer: ${key}`],
  ['a parameter', (key) => `Bearer key=${key}`],
  ['a trailing comma', (key) => `Bearer ${key},`],
  ['a key that is cut off', (key) => `Bearer ${key.slice(0, -1)}`],
  ['the half of a key', (key) => `Bearer ${key.slice(0, 20)}`],
  ['the prefix of a key', () => 'Bearer phk_'],
  ['a key with more behind it', (key) => `Bearer ${key}x`],
  ['a key with more before it', (key) => `Bearer x${key}`],
  ['a key of another kind', (key) => `Bearer ${key.replace('phk_', 'sk_')}`],
  ['a key without its prefix', (key) => `Bearer ${key.replace('phk_', '')}`],
  ['a key with another prefix', (key) => `Bearer ${key.replace('phk_', 'PHK_')}`],
  ['a key in capital letters', (key) => `Bearer ${key.toUpperCase()}`],
  ['a key in small letters', (key) => `Bearer ${key.toLowerCase()}`],
  ['a key the wrong way round', (key) => `Bearer ${[...key].reverse().join('')}`],
  ['one letter in another case', (key) => `Bearer ${otherCase(key.replace(/\d+$/, 'a'))}`],
  ['two letters swapped', (key) => `Bearer ${key.replace(/(.)(.)(.{10})$/, '$2$1x$3').slice(0, -1)}`],
  ['an abbreviated key', (key) => `Bearer ${key.slice(0, 8)}...${key.slice(-4)}`],
  ['zeros', () => `Bearer phk_${'0'.repeat(38)}`],
  ['stars', () => `Bearer phk_${'*'.repeat(38)}`],
  ['a placeholder', () => 'Bearer <API_KEY>'],
  ['null', () => 'Bearer null'],
  ['undefined as text', () => 'Bearer [object Object]'],
  ['a path', () => 'Bearer ../../etc/passwd'],
  ['SQL', () => "Bearer ' OR '1'='1"],
  ['a percent-encoded key', (key) => `Bearer ${key.replace('_', '%5f')}`],
  ['an id', () => 'Bearer aki_01h455vb4pex5vsknk084sn02q'],
  ['something long', () => `Bearer ${'x'.repeat(8_000)}`],
  ['bytes', () => 'Bearer \u00ff\u00fe'],
  ['a JSON Web Token', () => 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.'],
];

describe('A1, A2, X3: invalid credentials', () => {
  it.each(INVALID_CREDENTIALS)('%s', async (_what, value) => {
    const headers = { Authorization: value(secret()) };
    const answer = await refusing.stack.send({}, { key: null, headers });
    expectRefusal(answer, 401, /header|key/);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  });

  it('none at all', async () => {
    const { stack } = refusing;
    expectRefusal(await stack.send({}, { key: null }), 401, 'The `Authorization` header is missing');
    const path = `${EMAILS}/trs_01h455vb4pex5vsknk084sn02q`;
    expectRefusal(await stack.api().get(path, { key: null }), 401, 'missing');
  });

  it('an unknown but well-formed one', async () => {
    expectRefusal(await refusing.stack.send({}, { key: newApiKeySecret() }), 401, 'The API key is not valid');
  });

  it('one in the query', async () => {
    const path = `${EMAILS}?key=${secret()}&access_token=${secret()}&authorization=Bearer%20${secret()}`;
    expectRefusal(await refusing.stack.api().post(path, validEmail(), { key: null }), 401, 'missing');
  });

  it('one in the body', async () => {
    const body = { ...validEmail(), to: newRecipient(), authorization: `Bearer ${secret()}` };
    expectRefusal(await refusing.stack.api().post(EMAILS, body, { key: null }), 401, 'missing');
  });
});

describe('A1: more than one credential', () => {
  it.each([
    ['twice the same', (right: string) => [right, right]],
    ['the right one first', (right: string) => [right, `Bearer ${newApiKeySecret()}`]],
    ['the right one last', (right: string) => ['Basic eDp5', right]],
    ['three of them', (right: string) => [right, '', right]],
    ['one of them empty', (right: string) => ['', right]],
  ])('%s', async (_what, values) => {
    const lines = values(`Bearer ${secret()}`).map(
      (value, n) => `${n % 2 ? 'authorization' : 'Authorization'}: ${value}`,
    );
    expectRefusal(await postWith(lines), 401, 'more than one `Authorization` header');
  });
});

describe('G5: the order of checks', () => {
  it.each(['{', { sendat: 1 }, '', []])('the credential comes before the body: %j', async (body) => {
    expectRefusal(await refusing.stack.api().post(EMAILS, body, { key: null }), 401, 'missing');
  });

  it('the credential comes before the type of the body', async () => {
    const options = { key: null, headers: { 'Content-Type': 'text/plain' } };
    expectRefusal(await refusing.stack.api().post(EMAILS, 'x', options), 401, 'missing');
  });

  it.each(['{', { sendat: 1 }])(`the scope comes before the body: %j`, async (body) => {
    const { viewer: key } = refusing.stack.tenant.keys;
    expectRefusal(await refusing.stack.api().post(EMAILS, body, { key }), 401, 'lacks the scope `api_user`');
  });
});

/** Posts a valid email with exactly these header lines besides the required ones. */
function postWith(lines: readonly string[]): Promise<Answer> {
  const body = JSON.stringify(validEmail());
  const head = ['POST /v1/emails HTTP/1.1', 'Host: x', 'Connection: close', 'Content-Type: application/json'];
  return refusing.stack.api().raw([...head, `Content-Length: ${body.length}`, ...lines], body);
}
