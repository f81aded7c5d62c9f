import { sanitizeText, GOAL, GOALS, isWithin, STRETCH, unitText } from './goals.mjs';
import { MARKS } from './memory.mjs';
import { median, shown } from './numbers.mjs';

/** The loads of which the statements an email are told. */
const STATEMENTS_OF = ['accept-32', 'batch-8'];

/**
 * @typedef {object} Row
 * @property {string} id of GOALS
 * @property {number} value what the goal is about
 * @property {number[]} rounds the same of each round
 * @property {string} ours
 * @property {string} yardstick
 */

/**
 * @param {{ accept?: Map<string, import('./accept.mjs').AcceptRound[]>, store?: import('./store.mjs').StoreRound[],
 *   drain?: Map<string, import('./drain.mjs').DrainRound[]>,
 *   idle?: import('./latency.mjs').Latency[], lone?: import('./latency.mjs').Latency[], posts?: import('./posts.mjs').PostRound[],
 *   tell?: import('./tell.mjs').TellRound[], fair?: import('./fair.mjs').FairRound[], compose?: import('./compose.mjs').ComposeRound[],
 *   memory?: import('./memory.mjs').MemoryRound, due?: import('./due.mjs').DueRound, backlog?: import('./backlog.mjs').BacklogResult }} results
 * @returns {Row[]}
 */
export function rowsOf({
  accept,
  store,
  drain,
  compose,
  memory,
  due,
  backlog,
  idle,
  lone,
  posts,
  tell,
  fair,
}) {
  return [
    ...[...(accept ?? [])].map(([id, rounds]) => acceptRow(id, rounds)),
    ...(accept ? STATEMENTS_OF.map((id) => statementsRow(id, accept.get(id) ?? [])) : []),
    ...(store ? [paceRow('store', store, 'ours', 'three bare INSERTs', 'bare')] : []),
    ...[...(drain ?? [])].map(([id, rounds]) => paceRow(id, rounds, 'sender', 'nodemailer loop', 'loop')),
    ...(compose ? [paceRow('compose', compose, 'ours', 'MailComposer', 'mailer')] : []),
    ...(memory ? [memoryRow(memory)] : []),
    ...(due ? dueRows(due) : []),
    ...(backlog ? backlogRows(backlog) : []),
    ...(idle ? [latencyRow('idle', idle)] : []),
    ...(lone ? [latencyRow('lone', lone)] : []),
    ...(posts ? [paceRow('posts', posts, 'ours', 'undici.request', 'bare')] : []),
    ...(tell ? [tellRow(tell)] : []),
    ...(fair ? [fairRow(fair)] : []),
  ];
}

function row(id, rounds, ours, yardstick = '–') {
  return { id, value: median(rounds), rounds, ours, yardstick };
}

function acceptRow(id, rounds) {
  const pace = (side) => {
    const of = (name) => shown(median(rounds.map((round) => round[side][name])));
    return `${of('perSecond')}/s; ${of('medianMs')} ms, p99 ${of('p99Ms')} ms`;
  };
  const judged = rounds.map((round) => (id === 'accept-1' ? round.gateway.medianMs : round.ratio));
  return row(id, judged, pace('gateway'), `Express echo ${pace('echo')}`);
}

function statementsRow(id, rounds) {
  const counts = rounds.map((round) => round.statementsPerEmail);
  return row(`statements-${id}`, counts, shown(median(counts)));
}

/** What is measured in so many a second, beside a yardstick; each is named as the rounds have it. */
function paceRow(id, rounds, ours, what, yardstick) {
  const pace = (side) => `${shown(median(rounds.map((round) => round[side])))}/s`;
  const ratios = rounds.map(({ ratio }) => ratio);
  return row(id, ratios, pace(ours), `${what} ${pace(yardstick)}`);
}

function memoryRow({ emails, mib, max, ratio }) {
  const marks = MARKS.map((mark, index) => `${shown(mib[index])} MiB at ${mark * 100} %`).join(', ');
  return row('memory', [ratio], `${emails.toLocaleString('en')} emails: ${marks}; at most ${shown(max)} MiB`);
}

function dueRows({ emails, ripeMs, ratio, sender, loop, mib }) {
  const many = `${emails.toLocaleString('en')} emails`;
  const held = Object.entries(mib).map(([name, max]) => `${name} ${shown(max)} MiB`);
  return [
    row('due-ripe', [ripeMs], many),
    row('due-drain', [ratio], `${shown(sender)}/s`, `nodemailer loop ${shown(loop)}/s`),
    row('due-memory', [Math.max(...Object.values(mib))], `at most: ${held.join(', ')}`),
  ];
}

function backlogRows({ rows, accept, drain, alone, beside, redisBytes: [before, after] }) {
  const many = `${rows.toLocaleString('en')} emails wait`;
  const ratios = (rounds, what) => shown(median(rounds.map((round) => round[what])));
  const kib = (bytes) => `${shown(bytes / 1_024)} KiB`;
  return [
    row(
      'backlog-accept',
      [accept],
      `${many}: ${ratios(beside, 'accept')} of the echo`,
      `alone ${ratios(alone, 'accept')}`,
    ),
    row(
      'backlog-drain',
      [drain],
      `${ratios(beside, 'drain')} of the nodemailer loop`,
      `alone ${ratios(alone, 'drain')}`,
    ),
    row('backlog-redis', [after / before], kib(after), `before ${kib(before)}`),
  ];
}

function latencyRow(id, rounds) {
  const medians = rounds.map((round) => round.medianMs);
  const p99 = median(rounds.map((round) => round.p99Ms));
  return row(id, medians, `${shown(median(medians))} ms, p99 ${shown(p99)} ms`);
}

function tellRow(rounds) {
  const medianOf = (name) => shown(median(rounds.map((round) => round[name])));
  const ours = `${medianOf('dispatcher')}/s; ${medianOf('statements')} statements a POST`;
  const ratios = rounds.map(({ ratio }) => ratio);
  return row('tell', ratios, ours, `undici.request ${medianOf('loop')}/s`);
}

function fairRow(rounds) {
  const waits = (side) => {
    const of = (name) => shown(median(rounds.map((round) => round[side][name])));
    return `${of('medianMs')} ms, p99 ${of('p99Ms')} ms`;
  };
  const ratios = rounds.map(({ ratio }) => ratio);
  return row('fair', ratios, waits('beside'), `alone ${waits('alone')}`);
}

/** @param {Row[]} rows @param {Record<string, string>} machine */
export function markdown(rows, machine) {
  const facts = Object.entries(machine).map(([name, value]) => `- ${name}: ${value}`);
  const lines = rows.map(({ id, value, rounds, ours, yardstick }) => {
    const goal = /** @type {import('./goals.mjs').Goal} */ (GOALS[id]);
    const spread = `${shown(Math.min(...rounds))}–${shown(Math.max(...rounds))}`;
    const figure = `**${shown(value)}${unitText(goal.unit)}** (${spread})`;
    const verdict = isWithin(goal, STRETCH, value) ? 'stretch' : isWithin(goal, GOAL, value) ? 'yes' : 'no';
    const bounds = [sanitizeText(goal, GOAL), sanitizeText(goal, STRETCH)];
    const cells = [goal.what, ours, yardstick, figure, ...bounds, verdict];
    return `| ${cells.join(' | ')} |`;
  });
  return [
    ...facts,
    '',
    '| what | Posthorn | yardstick | figure (rounds) | goal | stretch | met |',
    '| --- | --- | --- | --: | --: | --: | --- |',
    ...lines,
  ].join('\n');
}
