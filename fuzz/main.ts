import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Child } from './campaign/child-process.ts';
import { runCampaign } from './campaign/run.ts';
import { projectRoot } from './project-root.ts';
import { SEED_KINDS, type SeedKind } from './seeds/seed.ts';
import { readInput } from './seeds/seeds.ts';
import { thoroughPlans } from './target/plan.ts';

const USAGE = `npm run fuzz -- [--seconds N] [--count N] [--seed S] [--from INDEX] [--kind K]... [--findings DIR]
npm run fuzz -- --replay PATH...

Reads mutated recordings and looks for anything but a result or a typed error.
  --seconds N     how long; default 60
  --count N       how many inputs at most
  --seed S        a whole number; the same one gives the same inputs; default: a new one
  --from INDEX    the first input; default 0
  --kind K        ${SEED_KINDS.join(', ')}; may be given several times; default all
  --findings DIR  where findings are kept; default .tmp/fuzz-findings
  --replay        reads files or directories in every way, and prints what goes wrong
$PERFCONV_CORPUS names a folder whose files/ are mutated, too, if they have less than 64 KB.
Ends with status 1 when something was found.`;

try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}

/** @returns whether the library did nothing wrong */
async function main(): Promise<boolean> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h' },
      seconds: { type: 'string', default: '60' },
      count: { type: 'string', default: 'Infinity' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
      from: { type: 'string', default: '0' },
      kind: { type: 'string', multiple: true, default: [...SEED_KINDS] },
      findings: { type: 'string', default: join(projectRoot(), '.tmp/fuzz-findings') },
      replay: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return true;
  }
  if (values.replay) return replayAll(positionals);
  if (positionals.length > 0) throw new RangeError(`${positionals[0]}: only --replay takes paths`);
  const causes = await runCampaign({
    seed: numberOf('--seed', values.seed),
    kinds: values.kind.map(kindOf),
    corpus: process.env.PERFCONV_CORPUS ?? '',
    from: numberOf('--from', values.from),
    count: values.count === 'Infinity' ? Number.MAX_SAFE_INTEGER / 2 : numberOf('--count', values.count),
    seconds: numberOf('--seconds', values.seconds),
    findings: values.findings,
    print: (line) => console.log(line),
  });
  return causes === 0;
}

async function replayAll(paths: readonly string[]): Promise<boolean> {
  const child = new Child();
  let isSound = true;
  try {
    for (const path of paths) {
      const files = readInput(path);
      for (const plan of thoroughPlans(files)) {
        const what = await child.try({ files, plan });
        if (what === undefined) continue;
        console.log(`${path}: ${JSON.stringify(plan)}\n${what}`);
        isSound = false;
      }
    }
  } finally {
    child.close();
  }
  console.log(isSound ? 'no findings' : 'findings');
  return isSound;
}

function numberOf(option: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${option} ${text}: expected a whole number`);
  return value;
}

function kindOf(text: string): SeedKind {
  const kind = SEED_KINDS.find((one) => one === text);
  if (kind === undefined) throw new RangeError(`--kind ${text}: expected one of ${SEED_KINDS.join(', ')}`);
  return kind;
}
