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
  /** @type {Parameters<typeof import('./report.mjs').rowsOf>[0]} */
  const results = {};
  if (kinds.includes('accept')) {
    say('  … Accept, no sender running');
    results.accept = await measureAccept(environment, options);
  }
  if (kinds.includes('store')) {
    say(`  … Store, ${stored} emails`);
    results.store = await measureStore(environment, { ...options, emails: stored });
  }
  if (kinds.includes('drain')) {
    say(`  … Drain, ${emails} emails`);
    results.drain = await measureDrain(environment, options);
  }
  if (kinds.includes('compose')) {
    say(`  … Compose, ${messages} messages`);
    results.compose = await measureCompose(options);
  }
  if (kinds.includes('memory')) {
    say(`  … Memory, ${long} emails`);
    results.memory = await measureMemory(environment, { ...options, emails: long });
  }
  if (kinds.includes('due')) {
    say(`  … Due, ${long} emails of ${workspaces} workspaces in one second`);
    results.due = await measureDue(environment, { ...options, emails: long });
  }
  if (kinds.includes('backlog')) {
    say(`  … Backlog, without and with ${rows} scheduled emails waiting`);
    results.backlog = await measureBacklog(environment, options);
  }
  if (kinds.includes('latency')) {
    say(`  … Latency, idle and during a backlog of ${emails}`);
    results.idle = await measureIdle(environment, { ...options, emails: idle });
    results.lone = await measureLone(environment, { ...options, emails: lone, backlog: emails });
  }
  if (kinds.includes('posts')) {
    say(`  … Posts, ${posts} events to one webhook`);
    results.posts = await measurePosts(options);
  }
  if (kinds.includes('tell')) {
    say(`  … Tell, ${tell} deliveries`);
    results.tell = await measureTell(environment, { ...options, posts: tell });
  }
  if (kinds.includes('fair')) {
    say('  … Fair, 90 healthy webhooks alone and among 10 others');
    results.fair = await measureFair(environment, { ...options, seconds: fairSeconds });
  }
  return results;
}
