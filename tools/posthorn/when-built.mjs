import { NotReady } from './usage-error.mjs';

/**
 * Imports built libs.
 *
 * @template T
 * @param {() => Promise<T>} load
 * @returns {Promise<T>}
 * @throws NotReady when they, or the packages that they need, are not there
 */
export async function whenBuilt(load) {
  try {
    return await load();
  } catch (error) {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new NotReady(
      'Posthorn is not built here: run npm run build (and npm ci before it, in a fresh clone)',
      { cause: error },
    );
  }
}
