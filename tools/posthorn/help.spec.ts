import { describe, expect, it } from '@jest/globals';
import { ROLE_NAMES } from '@posthorn/domain';
import { COMMANDS } from './commands.mjs';
import { helpOn, overview } from './help.mjs';
import { parse } from './parse.mjs';

/** The words of an example, split as a shell would. */
const wordsOf = (text: string): string[] =>
  [...text.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');

describe('The help', () => {
  it('has a line for every command', () => {
    for (const { name, sentence } of COMMANDS) {
      expect(overview()).toMatch(new RegExp(`^ {2}${name} +${sentence.slice(0, 20)}`, 'm'));
    }
  });

  it('describes every command in a sentence', () => {
    for (const { sentence } of COMMANDS) expect(sentence).toMatch(/^[A-Z].*\.$/);
  });

  it.each(COMMANDS.map((command) => [command.name, command] as const))(
    'of `%s` names every flag and an example that works',
    (_name, command) => {
      const text = helpOn(command);
      for (const flag of [...Object.keys(command.flags), 'json']) expect(text).toContain(`  --${flag}`);
      expect(text).toContain(command.example);
      expect(parse(wordsOf(command.example))).toMatchObject({ command, help: false });
    },
  );

  it('shows required, optional and alternative flags', () => {
    const identity = COMMANDS.find(({ name }) => name === 'identity create')!;
    expect(helpOn(identity)).toContain(
      'identity create (--domain DOMAIN | --address ADDRESS) --workspace ID [--verified]',
    );
  });

  it('names every role that a key can have', () => {
    const { flags } = COMMANDS.find(({ name }) => name === 'key create')!;
    for (const role of ROLE_NAMES) expect(flags.role!.sentence).toContain(role);
  });
});
