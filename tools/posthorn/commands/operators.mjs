import { dateTime, table } from '../print.mjs';

const NAME_FLAG = { value: 'NAME', required: true, sentence: 'the name that the operator signs in with' };
const ONCE = 'It is shown only this once and stored nowhere: save it now.';

/** @type {import('../commands.mjs').Command[]} */
export const OPERATOR_COMMANDS = [
  {
    name: 'operator create',
    sentence: 'Creates an account for the dashboard and shows its password, only this once.',
    flags: {
      name: NAME_FLAG,
      role: { value: 'ROLE', sentence: 'viewer looks, operator also acts (default: viewer)' },
    },
    example: 'operator create --name ada --role operator',
    run: ({ useCases, operators, actor }, { name, role }) =>
      useCases.createOperator(operators, actor, { name, role }),
    show: ({ name, role, password }) =>
      `Created the ${role} ${name}. The password:\n\n  ${password}\n\n${ONCE}`,
  },
  {
    name: 'operator list',
    sentence: 'Lists the accounts of the dashboard.',
    flags: {},
    example: 'operator list',
    run: ({ operators }) => operators.list(),
    show: (accounts) =>
      table(
        accounts,
        {
          'NAME': ({ name }) => name,
          'ROLE': ({ role }) => role,
          'CREATED (UTC)': ({ createdAt }) => dateTime(createdAt),
          'LAST SIGNED IN (UTC)': ({ signedInAt }) => (signedInAt === null ? 'never' : dateTime(signedInAt)),
        },
        'There is none yet, so the dashboard is closed; create one: operator create --name NAME',
      ),
  },
  {
    name: 'operator password',
    sentence:
      'Gives an account a new password, shows it only this once, and signs the account out everywhere.',
    flags: { name: NAME_FLAG },
    example: 'operator password --name ada',
    run: ({ useCases, operators, actor }, { name }) => useCases.resetOperatorPassword(operators, actor, name),
    show: ({ name, password }) => `The new password of ${name}:\n\n  ${password}\n\n${ONCE}`,
  },
  {
    name: 'operator delete',
    sentence: 'Removes an account of the dashboard and signs it out everywhere.',
    flags: { name: NAME_FLAG },
    example: 'operator delete --name ada',
    run: ({ useCases, operators, actor }, { name }) => useCases.removeOperator(operators, actor, name),
    show: ({ name }) => `Removed ${name}.`,
  },
];
