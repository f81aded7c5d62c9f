import { describe, expect, it } from '@jest/globals';
import { logInWithToken } from './login.ts';

const REFUSAL = 'the relay has refused the access token';

/** Logs in at a relay with these replies. @returns the commands, and the error if there is one */
async function logIn(accessToken: string, statuses: readonly number[]): Promise<[string[], string?]> {
  const commands: string[] = [];
  const replies = [...statuses];
  const sendCommand = (command: string): Promise<never> => {
    commands.push(command);
    return Promise.resolve({ command, response: '', text: '', status: replies.shift() } as never);
  };
  const credentials = { user: 'joe', pass: accessToken };
  const error = await logInWithToken({ auth: { credentials }, sendCommand }).catch(
    (caught: Error) => caught.message,
  );
  expect(replies).toEqual([]);
  return error === undefined ? [commands] : [commands, error];
}

const sasl = (token: string): string =>
  Buffer.from(`user=joe\x01auth=Bearer ${token}\x01\x01`).toString('base64');

describe('A login with an access token', () => {
  it('is one command while that has 512 octets with its CRLF', async () => {
    const [longest, tooLong] = ['a'.repeat(349), 'a'.repeat(350)];
    expect(await logIn('token', [235])).toEqual([[`AUTH XOAUTH2 ${sasl('token')}`]]);
    expect(await logIn(longest, [235])).toEqual([[`AUTH XOAUTH2 ${sasl(longest)}`]]);
    expect(await logIn(tooLong, [334, 235])).toEqual([['AUTH XOAUTH2', sasl(tooLong)]]);
  });

  it.each([
    ['at once', [535], 1],
    ['after a challenge with the reason', [334, 535], 2],
    ['for a moment', [454], 1],
  ])('that is refused %s is an error', async (_how, statuses, commands) => {
    const [said, error] = await logIn('token', statuses);
    expect([said.length, error]).toEqual([commands, REFUSAL]);
    expect(said.slice(1)).toEqual(statuses.slice(1).map(() => ''));
  });

  it('whose token is too long for the command is refused in the same ways', async () => {
    const token = 'a'.repeat(2_000);
    expect(await logIn(token, [504])).toEqual([['AUTH XOAUTH2'], REFUSAL]);
    expect(await logIn(token, [334, 535])).toEqual([['AUTH XOAUTH2', sasl(token)], REFUSAL]);
    expect(await logIn(token, [334, 334, 535])).toEqual([['AUTH XOAUTH2', sasl(token), ''], REFUSAL]);
  });
});
