/** The content security policy of the page of `-t html`, for those who serve it: in a header, it also covers what precedes it in the page. */
export { POLICY as PAGE_POLICY } from '../writers/html/page.ts';
