import { countsOf, tellsProgress } from '../print.mjs';

/** @type {import('../commands.mjs').Command[]} */
export const RECIPIENT_COMMANDS = [
  {
    name: 'erase-recipient',
    sentence:
      'Removes a person: emails, contacts, events and every mention; prints a receipt without the address.',
    operand: {
      name: 'address',
      value: 'ADDRESS',
      sentence: 'the address of the person, after -- if it begins with a hyphen; letter case does not matter',
    },
    flags: {
      workspace: {
        value: 'ID',
        sentence: 'only what this workspace has about the person; without it, what all workspaces have',
      },
      suppress: { sentence: 'send nothing to the person again, even where they were on no suppression list' },
    },
    example: 'erase-recipient ada@example.com --workspace wrk_01h2xcejqtf2nbrexx3vqjhp41',
    run: async ({ useCases, workspaces, erasures, actor }, { address, workspace, suppress = false }) => {
      const found = workspace === undefined ? null : await useCases.requireWorkspace(workspaces, workspace);
      const order = { address, workspaceId: found?.id ?? null, suppress };
      return useCases.eraseRecipient({ workspaces, erasures }, actor, order, tellsProgress('rows searched'));
    },
    show: (receipt) =>
      [
        `Erased at ${receipt.erasedAt.toISOString()}, ${receipt.workspaceId ?? 'in every workspace'}. SHA-256 of the address:`,
        receipt.recipient,
        ...countsOf('rows deleted', receipt.deleted),
        ...countsOf('rows that now contain [erased]', receipt.redacted),
        ...countsOf('rows that still name the person: see docs/operations/data.md', receipt.left),
        `${receipt.cancelled} due emails or deliveries were cancelled.`,
        `${receipt.remembered} workspaces keep a hash, so that nothing they do not want is sent to the person.`,
        ...(receipt.inProgress === 0
          ? []
          : [`${receipt.inProgress} are being sent right now: run this again in a minute.`]),
      ].join('\n'),
  },
];
