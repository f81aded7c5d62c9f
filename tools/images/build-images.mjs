import { cpSync, existsSync, globSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { basename, delimiter, dirname, join, relative } from 'node:path';
import { run } from '../stack/processes.mjs';
import { nodeBinary, ROOT } from '../stack/runtime.mjs';
import { parseDockerfile } from './dockerfile.mjs';

/**
 * @typedef {object} Image
 * @property {string} root the folder that is its `/`
 * @property {string} workdir
 * @property {Record<string, string>} env
 * @property {string} user
 * @property {string[]} [cmd]
 * @property {string[]} [healthcheck]
 */

/**
 * Carries out the Dockerfile without a container engine: a folder for each stage, links in place of layers. The folders must be outside of
 * the repository, or else Node would find modules there that the image does not have.
 */
export class Images {
  /** @type {Map<string, Promise<Image>>} */
  #built = new Map();
  #stages = parseDockerfile(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'));
  #ignored = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n').filter(Boolean).map(patternOf);

  /** @param {string} directory where the stages' folders are made */
  constructor(directory) {
    this.directory = directory;
  }

  /** The stages that can be started: those with files of an app and a command. */
  get targets() {
    return [...this.#stages.values()]
      .filter(({ steps }) => steps.some(({ op }) => op === 'CMD'))
      .map(({ name }) => name);
  }

  /** @param {string} name of a stage @returns {Promise<Image>} */
  build(name) {
    let image = this.#built.get(name);
    if (image === undefined) this.#built.set(name, (image = this.#buildStage(name)));
    return image;
  }

  async #buildStage(name) {
    const { from, steps } = this.#stages.get(name) ?? fail(`The Dockerfile has no stage ${name}`);
    const root = join(this.directory, name);
    mkdirSync(root, { recursive: true });
    const base = this.#stages.has(from) ? await this.build(from) : undefined;
    if (base !== undefined) await link(base.root, root);
    const image = /** @type {Image} */ ({ workdir: '/', env: {}, user: 'root', ...base, root });
    for (const step of steps) await this.#do(step, image);
    return image;
  }

  async #do({ op, flags, text }, image) {
    if (op === 'WORKDIR') mkdirSync(join(image.root, (image.workdir = text)), { recursive: true });
    else if (op === 'ENV') image.env = { ...image.env, ...Object.fromEntries([text.split('=')]) };
    else if (op === 'USER') image.user = text;
    else if (op === 'CMD') image.cmd = JSON.parse(text);
    else if (op === 'HEALTHCHECK')
      image.healthcheck = JSON.parse(text.slice(text.indexOf('CMD') + 3).replace(/^.*?\[/s, '['));
    else if (op === 'RUN') await this.#run(text, image);
    else if (op === 'COPY') await this.#copy(flags, text.split(/\s+/), image);
  }

  async #run(command, { root, workdir, env }) {
    const PATH = [dirname(nodeBinary()), process.env.PATH].join(delimiter);
    // Nx caches earlier builds; an image is built from scratch.
    const given = { ...process.env, ...env, PATH, NX_DAEMON: 'false', NX_SKIP_NX_CACHE: 'true' };
    await run({ command: 'sh', args: ['-c', command], cwd: join(root, workdir), env: given });
  }

  async #copy(flags, words, { root, workdir }) {
    const target = /** @type {string} */ (words.at(-1));
    const from = flags.from === undefined ? undefined : await this.build(flags.from);
    for (const source of words.slice(0, -1)) {
      const base = from?.root ?? ROOT;
      const pattern = source.replace(/^\//, '');
      const found = pattern.includes('*') ? globSync(pattern, { cwd: base }) : [pattern];
      if (found.length === 0 || !existsSync(join(base, found[0] ?? '')))
        fail(`COPY ${source}: there is no such file`);
      for (const path of found) {
        const into =
          'parents' in flags ? join(target, afterPivot(pattern, path)) : intoOf(base, path, target, words);
        await this.#put(
          join(base, path),
          join(root, into.startsWith('/') ? '' : workdir, into),
          from === undefined,
        );
      }
    }
  }

  async #put(source, target, isContext) {
    mkdirSync(dirname(target), { recursive: true });
    if (!isContext && statSync(source).isDirectory()) return link(source, target);
    const filter = (path) => !isContext || !this.#isIgnored(relative(ROOT, path));
    return cpSync(source, target, { recursive: true, verbatimSymlinks: true, filter });
  }

  #isIgnored(path) {
    return this.#ignored.some((pattern) => pattern.test(path));
  }
}

/** The path inside the image: of `a/./b/c` only `b/c`. */
function afterPivot(pattern, path) {
  const pivot = pattern.indexOf('/./');
  return pivot < 0 ? path : relative(pattern.slice(0, pivot), path);
}

/** The content of a folder is copied into the target; a file is, if the target is a folder. */
function intoOf(base, path, target, words) {
  const isFile = !statSync(join(base, path)).isDirectory();
  return isFile && (target.endsWith('/') || target === '.' || words.length > 2)
    ? join(target, basename(path))
    : target;
}

/** Equivalent to a copy, but instantaneous: linked files are never changed. */
async function link(source, target) {
  mkdirSync(target, { recursive: true });
  if (existsSync(source)) await run({ command: 'cp', args: ['-al', `${source}/.`, target] });
}

function patternOf(line) {
  const [start, rest] = line.startsWith('**/') ? ['(?:^|/)', line.slice(3)] : ['^', line];
  const body = rest.replaceAll('.', '\\.').replaceAll('*', '[^/]*');
  return new RegExp(`${start}${body}(?:/|$)`);
}

/** @returns {never} */
function fail(message) {
  throw new Error(message);
}
