/** The version of this release; a test holds it equal to package.json's. */
export const RELEASE = '0.1.0';
