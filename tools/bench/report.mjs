import { boundText, GOAL, GOALS, isWithin, STRETCH, unitText } from './goals.mjs';
import { CHECKPOINTS } from './memory.mjs';
import { latencyText, median, rounded } from './numbers.mjs';

/** The loads for which the statements per email are reported. */
const STATEMENTS_OF = ['accept-32', 'batch-8'];

/**
 * @typedef {object} Row
 * @property {string} id of GOALS
 * @property {number} value the figure that the goal bounds
 * @property {number[]} rounds that figure in each round
 * @property {string} ours
 * @property {string} baseline
 */

/**
 * @param {Partial<Awaited<ReturnType<typeof import('./measure.mjs').measure>>>} results
 * @returns {Row[]}
 */
export function rowsOf(results) {
  return Object.entries(ROWS_OF).flatMap(([name, rows]) =>
    results[name] === undefined ? [] : rows(results[name]),
  );
}

/** By the names of the results, in the order of the report. @type {Record<string, (result: any) => Row[]>} */
const ROWS_OF = {
  accept: (loads) => [
    ...[...loads].map(([id, rounds]) => acceptRow(id, rounds)),
    ...STATEMENTS_OF.map((id) => statementsRow(id, loads.get(id) ?? [])),
  ],
  store: (rounds) => [paceRow('store', rounds, 'ours', 'three bare INSERTs', 'bare')],
  drain: (loads) =>
    [...loads].map(([id, rounds]) => paceRow(id, rounds, 'sender', 'nodemailer loop', 'loop')),
  compose: (rounds) => [paceRow('compose', rounds, 'ours', 'MailComposer', 'mailer')],
  memory: (round) => [memoryRow(round)],
  due: dueRows,
  backlog: backlogRows,
  idle: (rounds) => [latencyRow('idle', rounds)],
  lone: (rounds) => [latencyRow('lone', rounds)],
  posts: (rounds) => [paceRow('posts', rounds, 'ours', 'undici.request', 'bare')],
  tell: (rounds) => [tellRow(rounds)],
  fair: (rounds) => [fairRow(rounds)],
};

function row(id, rounds, ours, baseline = '–') {
  return { id, value: median(rounds), rounds, ours, baseline };
}

function acceptRow(id, rounds) {
  const pace = (side) => {
    const paces = rounds.map((round) => round[side]);
    return `${rounded(median(paces.map(({ perSecond }) => perSecond)))}/s; ${latencyText(paces)}`;
  };
  const figures = rounds.map((round) => (id === 'accept-1' ? round.gateway.medianMs : round.ratio));
  return row(id, figures, pace('gateway'), `Express echo ${pace('echo')}`);
}

function statementsRow(id, rounds) {
  const counts = rounds.map((round) => round.statementsPerEmail);
  return row(`statements-${id}`, counts, rounded(median(counts)));
}

/** A row of two rates. `ours` and `baseline` are the names of the fields in `rounds`. */
function paceRow(id, rounds, ours, what, baseline) {
  const pace = (side) => `${rounded(median(rounds.map((round) => round[side])))}/s`;
  const ratios = rounds.map(({ ratio }) => ratio);
  return row(id, ratios, pace(ours), `${what} ${pace(baseline)}`);
}

function memoryRow({ emails, mib, max, ratio }) {
  const marks = CHECKPOINTS.map(
    (checkpoint, index) => `${rounded(mib[index])} MiB at ${checkpoint * 100} %`,
  ).join(', ');
  return row(
    'memory',
    [ratio],
    `${emails.toLocaleString('en')} emails: ${marks}; at most ${rounded(max)} MiB`,
  );
}

function dueRows({ emails, foundMs, ratio, sender, loop, mib }) {
  const many = `${emails.toLocaleString('en')} emails`;
  const memoryTexts = Object.entries(mib).map(([name, max]) => `${name} ${rounded(max)} MiB`);
  return [
    row('due-found', [foundMs], many),
    row('due-drain', [ratio], `${rounded(sender)}/s`, `nodemailer loop ${rounded(loop)}/s`),
    row('due-memory', [Math.max(...Object.values(mib))], `at most: ${memoryTexts.join(', ')}`),
  ];
}

function backlogRows({ rows, accept, drain, without, withBacklog, redisBytes: [before, after] }) {
  const many = `${rows.toLocaleString('en')} emails wait`;
  const ratios = (rounds, what) => rounded(median(rounds.map((round) => round[what])));
  const kib = (bytes) => `${rounded(bytes / 1_024)} KiB`;
  return [
    row(
      'backlog-accept',
      [accept],
      `${many}: ${ratios(withBacklog, 'accept')} of the echo`,
      `without ${ratios(without, 'accept')}`,
    ),
    row(
      'backlog-drain',
      [drain],
      `${ratios(withBacklog, 'drain')} of the nodemailer loop`,
      `without ${ratios(without, 'drain')}`,
    ),
    row('backlog-redis', [after / before], kib(after), `before ${kib(before)}`),
  ];
}

function latencyRow(id, rounds) {
  const medians = rounds.map((round) => round.medianMs);
  return row(id, medians, latencyText(rounds));
}

function tellRow(rounds) {
  const medianOf = (name) => rounded(median(rounds.map((round) => round[name])));
  const ours = `${medianOf('dispatcher')}/s; ${medianOf('statements')} statements per POST`;
  const ratios = rounds.map(({ ratio }) => ratio);
  return row('tell', ratios, ours, `undici.request ${medianOf('loop')}/s`);
}

function fairRow(rounds) {
  const waits = (side) => latencyText(rounds.map((round) => round[side]));
  const ratios = rounds.map(({ ratio }) => ratio);
  return row('fair', ratios, waits('mixed'), `alone ${waits('alone')}`);
}

/** @param {Row[]} rows @param {Record<string, string>} machine */
export function markdown(rows, machine) {
  const facts = Object.entries(machine).map(([name, value]) => `- ${name}: ${value}`);
  const lines = rows.map(({ id, value, rounds, ours, baseline }) => {
    const goal = /** @type {import('./goals.mjs').Goal} */ (GOALS[id]);
    const spread = `${rounded(Math.min(...rounds))}–${rounded(Math.max(...rounds))}`;
    const figure = `**${rounded(value)}${unitText(goal.unit)}** (${spread})`;
    const verdict = isWithin(goal, STRETCH, value) ? 'stretch' : isWithin(goal, GOAL, value) ? 'yes' : 'no';
    const bounds = [boundText(goal, GOAL), boundText(goal, STRETCH)];
    const cells = [goal.what, ours, baseline, figure, ...bounds, verdict];
    return `| ${cells.join(' | ')} |`;
  });
  return [
    ...facts,
    '',
    '| what | Posthorn | baseline | figure (rounds) | goal | stretch | met |',
    '| --- | --- | --- | --: | --: | --: | --- |',
    ...lines,
  ].join('\n');
}
