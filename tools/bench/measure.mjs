import { say } from '../stack/progress.mjs';
import { measureAccept } from './accept.mjs';
import { measureBacklog } from './backlog.mjs';
import { measureCompose } from './compose.mjs';
import { measureDrain } from './drain.mjs';
import { measureDue } from './due.mjs';
import { measureFair } from './fair.mjs';
import { measureIdle, measureLone } from './latency.mjs';
import { measureMemory } from './memory.mjs';
import { measurePosts } from './posts.mjs';
import { measureStore } from './store.mjs';
import { measureTell } from './tell.mjs';

/**
 * @typedef {Record<'rounds' | 'warmMs' | 'measureMs' | 'emails' | 'stored' | 'idle' | 'lone' | 'messages' | 'long' | 'workspaces' | 'rows'
 *   | 'posts' | 'tell' | 'fairSeconds', number>} Scale how long or how many
 */

/**
 * Makes the measurements of these kinds, one after the other.
 *
 * @param {string[]} kinds as of `--only`
 * @param {Scale} scale
 * @param {import('./environment.mjs').BenchEnvironment} environment
 */
export async function measure(kinds, scale, environment) {
  const options = { ...scale, onRound: (text) => say(`      ${text}`) };
  const { emails, stored, idle, lone, messages, long, workspaces, rows, posts, tell, fairSeconds } = scale;
  /** @template Result @param {string} kind @param {string} title @param {() => Promise<Result>} work @returns {Promise<Result | undefined>} */
  const ifWanted = async (kind, title, work) => {
    if (!kinds.includes(kind)) return undefined;
    say(`  … ${title}`);
    return work();
  };
  return {
    accept: await ifWanted('accept', 'Accept, no sender running', () => measureAccept(environment, options)),
    store: await ifWanted('store', `Store, ${stored} emails`, () =>
      measureStore(environment, { ...options, emails: stored }),
    ),
    drain: await ifWanted('drain', `Drain, ${emails} emails`, () => measureDrain(environment, options)),
    compose: await ifWanted('compose', `Compose, ${messages} messages`, () => measureCompose(options)),
    memory: await ifWanted('memory', `Memory, ${long} emails`, () =>
      measureMemory(environment, { ...options, emails: long }),
    ),
    due: await ifWanted('due', `Due, ${long} emails of ${workspaces} workspaces in one second`, () =>
      measureDue(environment, { ...options, emails: long }),
    ),
    backlog: await ifWanted('backlog', `Backlog, without and with ${rows} scheduled emails waiting`, () =>
      measureBacklog(environment, options),
    ),
    ...(await ifWanted('latency', `Latency, idle and during a backlog of ${emails}`, async () => ({
      idle: await measureIdle(environment, { ...options, emails: idle }),
      lone: await measureLone(environment, { ...options, emails: lone, backlog: emails }),
    }))),
    posts: await ifWanted('posts', `Posts, ${posts} events to one webhook`, () => measurePosts(options)),
    tell: await ifWanted('tell', `Tell, ${tell} deliveries`, () =>
      measureTell(environment, { ...options, posts: tell }),
    ),
    fair: await ifWanted('fair', 'Fair, 90 healthy webhooks alone and among 10 others', () =>
      measureFair(environment, { ...options, seconds: fairSeconds }),
    ),
  };
}
