import { inflateRawSync } from 'node:zlib';
import type { PageData } from '../../../src/writers/html/page-data.ts';

/** The data of a page, as JSON. @throws Error if the page has none */
export function htmlText(bytes: Uint8Array): string {
  const [, base64] = /<script type="text\/plain" id="data">([A-Za-z0-9+/]+={0,2})<\/script>/.exec(Buffer.from(bytes).toString('latin1')) ?? [];
  if (base64 === undefined) throw new Error('the page has no data');
  return inflateRawSync(Buffer.from(base64, 'base64')).toString();
}

/** The data of a page, with the nodes themselves in place of distances. */
export function readHtml(bytes: Uint8Array): PageData {
  const data = JSON.parse(htmlText(bytes)) as PageData;
  const totals = data.totals.map((one) => {
    let node = 0;
    return {
      ...one,
      node: one.node.map((distance) => {
        node += distance;
        return node;
      }),
    };
  });
  return { ...data, totals };
}

export interface PageFrame {
  readonly name: string;
  readonly fullName: string;
  readonly file: string;
  readonly line: number;
  readonly binary: string;
  readonly kind: number;
  readonly isInlined: boolean;
}

/** The frames of a node, outermost first. @throws Error if something refers to nothing */
export function stackOf({ functions, nodes, strings }: PageData, leaf: number): PageFrame[] {
  const frames: PageFrame[] = [];
  const text = (index: number): string => {
    if (strings[index] === undefined) throw new Error(`no string ${index}`);
    return strings[index];
  };
  for (let node = leaf; ; node -= nodes.caller[node]) {
    const code = nodes.code[node];
    const index = code >> 1;
    if (functions.name[index] === undefined) throw new Error(`node ${node} of ${leaf} has no function`);
    frames.unshift({
      name: text(functions.name[index]),
      fullName: text(functions.fullName[index] || functions.name[index]),
      file: text(functions.file[index]),
      line: functions.line[index],
      binary: text(functions.binary[index]),
      kind: functions.kind[index],
      isInlined: code % 2 === 1,
    });
    if (nodes.caller[node] === 0) return frames;
  }
}
