// Makes the page of `-t html` from the files of this folder, as text in src/, so that the writer needs no file. Part of `npm run generate`: what is generated is
// kept with the sources, and a test fails if it is out of date.

import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Where the page goes, from the root of the repository. */
export const TARGET = 'src/writers/html/page.ts';

/** The text of the target. @throws Error if the page cannot be made */
export async function compilePage() {
  const [style, script] = [minifiedStyle(textOf('style.css')), await bundledScript()];
  const policy = ["default-src 'none'", `script-src '${hashOf(script)}'`, `style-src '${hashOf(style)}'`, "base-uri 'none'", "form-action 'none'"].join('; ');
  const parts = { CSP: policy, STYLE: style, SCRIPT: script };
  const page = textOf('page.html')
    .replaceAll(/<!-- .*? -->\n/g, '')
    .replaceAll(/%(CSP)%|\/\* (STYLE|SCRIPT) \*\//g, (_, attribute, content) => parts[attribute ?? content]);
  const [beforeTitle, beforeData, afterData] = page.split(/%TITLE%|%DATA%/);
  return `// Made from viewer/ by \`npm run generate\`. Not to be edited.

/** The page up to its title. */
export const BEFORE_TITLE = ${literal(beforeTitle)};

/** From the title to the data. */
export const BEFORE_DATA = ${literal(beforeData)};

/** The rest. */
export const AFTER_DATA = ${literal(afterData)};
`;
}

async function bundledScript() {
  const { output } = await build({
    cwd: ROOT,
    input: 'viewer/main.ts',
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
  if (output.length !== 1 || /<\/script|<!--|[^\x00-\x7f]/i.test(script)) throw new Error('the script does not fit into a page');
  return script;
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
