import { dateTime, table, TO_THE_SECOND } from '../print.mjs';

/** @type {import('../commands.mjs').Command[]} */
export const AUDIT_COMMANDS = [
  {
    name: 'audit list',
    sentence: 'Shows who changed what: the newest hundred changes.',
    flags: {
      workspace: {
        value: 'ID',
        sentence:
          'in this workspace (default: what was done to the whole installation, such as a pause of everything)',
      },
    },
    example: 'audit list --workspace wrk_01h2xcejqtf2nbrexx3vqjhp41',
    run: ({ useCases, workspaces, auditLog }, { workspace }) =>
      useCases.listChanges(workspaces, auditLog, workspace),
    show: (changes) =>
      table(
        changes,
        {
          'DONE (UTC)': ({ createdAt }) => dateTime(createdAt, TO_THE_SECOND),
          'ACTION': ({ action }) => action,
          'BY': ({ actor }) => `${actor.kind} ${actor.name}`,
          'OF': ({ subjectId }) => subjectId,
          'DETAIL': ({ detail }) => JSON.stringify(detail),
        },
        'Nothing has been changed yet.',
      ),
  },
];
