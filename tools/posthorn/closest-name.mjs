/**
 * The name that is most similar to a mistyped one; undefined when none is similar enough, and before the libs are built.
 *
 * @type {typeof import('@posthorn/kernel').closestName}
 */
export const closestName = await import('@posthorn/kernel').then(
  (kernel) => kernel.closestName,
  (error) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    return () => undefined;
  },
);
