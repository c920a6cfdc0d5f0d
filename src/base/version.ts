/**
 * The version of this package. Written down here as well as in package.json, which programs in a browser do not have, and which every start of the program
 * would read; a test of the command line compares the two.
 */
export const VERSION = '0.1.0';

/** What formats name as the program that wrote them. */
export const EXPORTER = `perfconv@${VERSION}`;
