/** The workspace that a command is about. @type {import('../commands.mjs').Flag} */
export const WORKSPACE_FLAG = {
  value: 'ID',
  required: true,
  sentence: 'the id of the workspace, as `workspace list` shows it',
};
