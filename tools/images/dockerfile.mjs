/** @typedef {{ op: string, flags: Record<string, string>, text: string }} Step */
/** @typedef {{ name: string, from: string, steps: Step[] }} Stage */

const KNOWN = 'WORKDIR COPY RUN ENV USER EXPOSE HEALTHCHECK STOPSIGNAL CMD'.split(' ');

/**
 * Parses a Dockerfile, as far as ours needs.
 *
 * @param {string} text
 * @returns {Map<string, Stage>} in their order
 * @throws for an unknown instruction: if it were skipped, no test would cover it
 */
export function parseDockerfile(text) {
  const stages = /** @type {Map<string, Stage>} */ (new Map());
  let stage = /** @type {Stage | undefined} */ (undefined);
  for (const line of instructionsOf(text)) {
    const [, op = '', rest = ''] = /^([A-Z]+)\s+(.*)$/s.exec(line) ?? refuse(line);
    if (op === 'FROM') {
      const [, from = '', name = ''] = /^(\S+) AS (\S+)$/.exec(rest) ?? refuse(line);
      stage = { name, from, steps: [] };
      stages.set(name, stage);
    } else if (stage === undefined || !KNOWN.includes(op)) refuse(line);
    else stage.steps.push({ op, ...flagsOf(rest) });
  }
  return stages;
}

/** Lines that end with a backslash are continued; those that begin with # are comments. */
function instructionsOf(text) {
  return text
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '');
}

function flagsOf(rest) {
  const flags = /** @type {Record<string, string>} */ ({});
  let text = rest;
  for (let flag; (flag = /^--([a-z-]+)(?:=(\S+))?\s+/.exec(text)); text = text.slice(flag[0].length))
    flags[/** @type {string} */ (flag[1])] = flag[2] ?? 'true';
  return { flags, text };
}

/** @returns {never} */
function refuse(line) {
  throw new Error(`The Dockerfile has an instruction that npm run images does not know: ${line}`);
}
