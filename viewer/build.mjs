// Makes the page of `-t html` from the files of this folder, as text in src/, so that the writer needs no file. Part of `npm run generate`: what is generated is
// kept with the sources, and a test fails if it is out of date.

import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateRawSync } from 'node:zlib';
import { build } from 'rolldown';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Where the page goes, from the root of the repository. */
export const TARGET = 'src/writers/html/page.ts';

/** The text of the target. @throws Error if the page cannot be made */
export async function compilePage() {
  const { text, policy } = await profilePage();
  const [beforeTitle, beforeData, afterData] = text.split(/%TITLE%|%DATA%/);
  return `// Made from viewer/ by \`npm run generate\`. Not to be edited.

/** The content security policy that the page contains. */
export const POLICY = ${literal(policy)};

/** The page up to its title. */
export const BEFORE_TITLE = ${literal(beforeTitle)};

/** From the title to the data. */
export const BEFORE_DATA = ${literal(beforeData)};

/** The rest. */
export const AFTER_DATA = ${literal(afterData)};
`;
}

/** The page that converts recordings in a browser, one file. @throws Error if the page cannot be made */
export async function compileConverter() {
  const shown = await profilePage();
  const worker = await bundledScript('viewer/converter/worker.ts');
  const { script } = await bundledScript('viewer/converter/main.ts');
  const style = minifiedStyle(textOf('common.css') + textOf('converter/style.css'));
  // The page shows the other one in a frame, which has its policy, too. No address can be asked for anything.
  const policy = [
    ...["default-src 'none'", 'worker-src blob:', "base-uri 'none'", "form-action 'none'"],
    ...[`script-src '${hashOf(script)}' '${shown.scriptHash}' 'wasm-unsafe-eval'`, `style-src '${hashOf(style)}' '${shown.styleHash}'`],
  ].join('; ');
  const packedWorker = deflateRawSync(worker.script, { level: 9 }).toString('base64');
  return filled(textOf('converter/page.html'), { CSP: policy, STYLE: style, SCRIPT: script, WORKER: packedWorker, LICENSES: licensesOf(worker.dependencies) });
}

/** The page of `-t html`, still without a title and data. */
async function profilePage() {
  const style = minifiedStyle(textOf('common.css') + textOf('style.css'));
  const { script } = await bundledScript('viewer/main.ts');
  const [styleHash, scriptHash] = [hashOf(style), hashOf(script)];
  const policy = ["default-src 'none'", `script-src '${scriptHash}'`, `style-src '${styleHash}'`, "base-uri 'none'", "form-action 'none'"].join('; ');
  return { text: filled(textOf('page.html'), { CSP: policy, STYLE: style, SCRIPT: script }), policy, styleHash, scriptHash };
}

/** A page with its parts, and without comments. */
function filled(page, parts) {
  return page
    .replaceAll(/<!-- .*? -->\n/g, '')
    .replaceAll(/%(CSP)%|\/\* (STYLE|SCRIPT|WORKER|LICENSES) \*\//g, (_, attribute, content) => parts[attribute ?? content]);
}

async function bundledScript(entry) {
  const { output } = await build({
    cwd: ROOT,
    input: entry,
    platform: 'browser',
    transform: { target: 'es2022' },
    write: false,
    onLog(level, { message }) {
      if (level === 'warn') throw new Error(message);
    },
    output: { format: 'iife', comments: false, minify: { compress: true, mangle: true, codegen: { removeWhitespace: true, asciiOnly: true } } },
  });
  const script = output[0].code.trim();
  // HTML's parser must not find the script's end, nor a comment, in it.
  if (output.length !== 1 || /<\/script|<!--|[^\x00-\x7f]/i.test(script)) throw new Error(`the script of ${entry} does not fit into a page`);
  return { script, dependencies: output[0].moduleIds.filter((id) => id.includes('/node_modules/')) };
}

/**
 * What the licenses of perfconv and of the modules that a script contains ask for: their notices and their texts.
 * @throws Error for a module of another package than those whose licenses are here
 */
export function licensesOf(modules) {
  const ofPackage = (name) => modules.filter((id) => id.includes(`/node_modules/${name}/`));
  const protobuf = ofPackage('@bufbuild/protobuf');
  const known = [...protobuf, ...ofPackage('xz-decompress'), ...ofPackage('pako')];
  const other = modules.find((id) => !known.includes(id));
  if (other !== undefined) throw new Error(`the license of ${other} is not in the page`);
  const notices = protobuf.map((id) => /^(?:\/\/.*\n)+/.exec(readFileSync(id, 'utf8'))?.[0].replaceAll(/^\/\/ ?/gm, '') ?? '');
  const texts = [
    readFileSync(join(ROOT, 'LICENSE'), 'utf8'),
    ...['It contains', textOf('converter/licenses/xz-decompress.txt'), textOf('converter/licenses/pako.txt')],
    ...['and parts of @bufbuild/protobuf:', ...new Set(notices)],
  ];
  const all = [...texts, textOf('converter/licenses/Apache-2.0.txt')].map((text) => text.trim()).join('\n\n');
  if (/[<&]/.test(all)) throw new Error('the licenses do not fit into a page');
  return all;
}

/** Without comments and indentation. */
function minifiedStyle(style) {
  const text = style.replaceAll(/\/\*.*?\*\//gs, '').replaceAll(/\s*\n\s*/g, '');
  if (/<|[^\x00-\x7f]/.test(text)) throw new Error('the style does not fit into a page');
  return text;
}

function hashOf(text) {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

function textOf(name) {
  return readFileSync(join(ROOT, 'viewer', name), 'utf8');
}

/** A literal in single quotes, as the formatter writes them. */
function literal(text) {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(join(ROOT, TARGET), await compilePage());
