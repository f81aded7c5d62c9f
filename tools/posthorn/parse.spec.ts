import { describe, expect, it } from '@jest/globals';
import { parse } from './parse.mjs';
import { UsageError } from './usage-error.mjs';

const WORKSPACE = ['--workspace', 'wrk_1'];

/** The error that an invalid call is answered with. */
function fault(...args: string[]): string {
  try {
    parse(args);
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError);
    return (error as Error).message;
  }
  throw new Error('It was accepted.');
}

describe('What an operator types', () => {
  it('is read as a command and its flags', () => {
    const { command, given, json } = parse(['key', 'create', ...WORKSPACE, '--name=The shop', '--json']);
    expect(command?.name).toBe('key create');
    expect(given).toEqual({ workspace: 'wrk_1', name: 'The shop' });
    expect(json).toBe(true);
  });

  it('may have --json before the command', () => {
    expect(parse(['--json', 'workspace', 'list'])).toMatchObject({ json: true, help: false });
  });

  it('takes the longest name for the command', () => {
    expect(parse(['pause', 'list']).command?.name).toBe('status');
    expect(parse(['pause', '--everything', '--reason', 'x']).command?.name).toBe('pause');
  });

  it('may be --version, as with other programs', () => {
    for (const args of [['version'], ['--version'], ['--json', '--version']])
      expect(parse(args)).toMatchObject({ command: { name: 'version' }, given: {}, help: false });
    expect(fault('status', '--version')).toContain('has no flag --version');
  });

  it('may have a value that begins with a hyphen after an equals sign', () => {
    expect(parse(['workspace', 'create', '--name=-1']).given).toEqual({ name: '-1' });
  });

  it('may have an address that begins with a hyphen after two hyphens', () => {
    expect(parse(['erase-recipient', '--suppress', '--', '-ada@example.com']).given).toEqual({
      address: '-ada@example.com',
      suppress: true,
    });
  });

  it.each([
    ['no command', [], undefined],
    ['help', ['help'], undefined],
    ['--help', ['--help'], undefined],
    ['help and the first word of several commands', ['help', 'key'], undefined],
    ['the first word of several commands and --help', ['key', '--help'], undefined],
    ['help and a command', ['help', 'key', 'create'], 'key create'],
    ['a command and --help, whatever else is missing', ['key', 'create', '--help'], 'key create'],
    ['a command and -h', ['pause', '-h'], 'pause'],
  ])('asks for help with %s', (_case, args, name) => {
    const { command, help } = parse(args);
    expect([command?.name, help]).toEqual([name, true]);
  });
});

describe('What an operator mistypes', () => {
  it.each([
    ['a letter of a command', ['workspce', 'create'], 'did you mean `workspace create`?'],
    ['the number of a command', ['keys', 'list'], 'did you mean `key list`?'],
    ['another thing altogether', ['launch'], 'There is no command "launch"; help shows which there are'],
    ['half of a command', ['key'], 'there is `key create`, `key list`, `key delete`'],
    ['a flag before the command', ['--everything', 'pause'], 'Name the command before --everything'],
    ['a letter of a flag', ['workspace', 'list', '--jsno'], 'has no flag --jsno; did you mean --json?'],
    ['a flag like none', ['identity', 'create', '--email', 'a@b.co'], 'identity create --help shows'],
    ['a short flag', ['workspace', 'list', '-x'], 'has no flag -x; workspace list --help shows'],
    ['a flag that every object has', ['workspace', 'list', '--constructor'], 'has no flag --constructor'],
    ['a flag without its value', ['workspace', 'create', '--name'], '--name needs a value: --name=NAME'],
    ['a flag in place of a value', ['workspace', 'create', '--name', '--json'], '--name needs a value'],
    ['a value after a switch', ['pause', '--everything=yes'], '--everything takes no value'],
    ['a flag twice', ['workspace', 'create', '--name', 'a', '--name', 'b'], '--name is given twice'],
    ['words without quotes', ['workspace', 'create', '--name', 'a', 'b'], 'does not take "b"; put quotes'],
    [
      'a word where none is taken',
      ['status', 'x'],
      '`status` does not take "x"; call it without anything else',
    ],
    ['a flag after two hyphens', ['workspace', 'create', '--', '--name', 'a'], 'does not take "--name"'],
    ['an address like a flag', ['erase-recipient', '-ada@example.com'], 'erase-recipient --help shows'],
    [
      'bytes that are not UTF-8',
      ['erase-recipient', 'j\uFFFDrgen@example.com'],
      '"j\uFFFDrgen@example.com" is not UTF-8',
    ],
    ['a flag too few', ['key', 'create', ...WORKSPACE], '`key create` needs --name'],
    [
      'none of several flags',
      ['pause', '--reason', 'x'],
      'needs exactly one of --everything, --emails, --webhooks, --workspace',
    ],
    [
      'all that it needs',
      ['pause'],
      '`pause` needs --reason, and exactly one of --everything, --emails, --webhooks, --workspace, such as: pause --emails --reason "',
    ],
    [
      'an operand that is missing',
      ['erase-recipient'],
      '`erase-recipient` needs ADDRESS (the address of the',
    ],
    [
      'filters of emails for deliveries',
      ['hasten', '--webhooks', '--domain', 'b.example'],
      'does not take --domain and --webhooks',
    ],
    ['two of them', ['pause', '--everything', ...WORKSPACE, '--reason', 'x'], 'needs exactly one of'],
    [
      'two of which one may be',
      ['resume', '--everything', ...WORKSPACE],
      'take --everything and --workspace together',
    ],
    [
      'two that do not go together',
      ['resume', '--fail-before', 'x', '--webhooks'],
      'does not take --fail-before and --webhooks',
    ],
  ])('is named, with how to mend it: %s', (_case, args, words) => {
    expect(fault(...args)).toContain(words);
  });
});
