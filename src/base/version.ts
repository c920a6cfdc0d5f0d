/**
 * The version of this package. It is here as well as in package.json, which does not exist in a browser, and which would have to be read at every start of the
 * program; a test of the command line compares the two.
 */
export const VERSION = '0.1.0';

/** What formats name as the program that wrote them. */
export const EXPORTER = `perfconv@${VERSION}`;
