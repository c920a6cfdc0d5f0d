import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SIGNALS } from '../../src/host/program/signals.ts';
import { announceSkipped } from '../support/perf/perf-tool.ts';

const source = (path: string): string => fileURLToPath(new URL(`../../src/${path}`, import.meta.url));
let dir: string;
/** What a thread does that reacts to a signal, and how long to wait for it here: a busy machine must not change the result. */
const ANSWERING: ReadonlySet<string> = new Set(['wait', 'late', 'more', 'spare']);
const PATIENCE_MS = 120_000;

/** A program that supervises a thread, which writes a file and does as its argument says. */
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'perfconv-thread-'));
  writeFileSync(
    join(dir, 'entry.ts'),
    `import { runInThread } from ${JSON.stringify(source('host/program/work-thread.ts'))};
     const [how, graceMs] = process.argv.slice(2);
     process.exitCode = await runInThread(new URL('./work.mjs', import.meta.url), [how], Number(graceMs) || undefined).catch((error) => (console.error(error.code), 77));`,
  );
  writeFileSync(
    join(dir, 'work.ts'),
    `import { parentPort } from 'node:worker_threads';
     import { mkdirSync, writeFileSync, writeSync } from 'node:fs';
     import { endBySignal, receiveSignalsThrough, listenToSignals, tellSupervisor } from ${JSON.stringify(source('host/program/signals.ts'))};
     import { forgetUnfinished, noteUnfinished, removeUnfinished } from ${JSON.stringify(source('host/output/unfinished-files.ts'))};
     receiveSignalsThrough(parentPort);
     const how = process.argv[2];
     let spare;
     const spared = new Promise((resolve) => { spare = resolve; });
     const stopListening = await listenToSignals((signal) => {
       if (how === 'spare') return spare();
       writeSync(2, 'cleaned up');
       removeUnfinished();
       stopListening();
       endBySignal(signal);
     }, how === 'spare' ? ['SIGINT', 'SIGTERM'] : []);
     const work = async () => {
       noteUnfinished('unfinished');
       mkdirSync('unfinished');
       writeFileSync('unfinished/file', '');
       if (how === 'over') { forgetUnfinished('unfinished'); writeSync(1, 'ready'); for (;;); }
       writeSync(1, 'ready');
       if (how === 'busy') for (;;);
       if (how === 'late') for (const end = Date.now() + 100; Date.now() < end; );
       if (how === 'wait') await new Promise((resolve) => setTimeout(resolve, 60_000));
       for (let i = 0; how === 'more'; i++) { noteUnfinished('more' + i); writeFileSync('more' + i, ''); await new Promise((resolve) => setImmediate(resolve)); }
       if (how === 'heap') for (const all = []; ; ) all.push(new Array(1000).fill({}));
       if (how === 'spare') { const timer = setTimeout(() => {}, 60_000); await spared; clearTimeout(timer); }
       if (how === 'stall') await new Promise(() => {});
       if (how === 'throw') throw new TypeError('thrown');
       forgetUnfinished('unfinished');
       return 3;
     };
     const status = await work().finally(stopListening);
     if (how === 'late') await new Promise((resolve) => setTimeout(resolve, 60_000));
     tellSupervisor({ kind: 'done', status });`,
  );
  for (const name of ['entry', 'work']) {
    await build({ input: join(dir, `${name}.ts`), external: [/^node:/], platform: 'node', output: { file: join(dir, `${name}.mjs`), format: 'esm' } });
  }
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function run(how: string, signal?: NodeJS.Signals, flags: readonly string[] = []) {
  const cwd = mkdtempSync(join(dir, 'cwd-'));
  const command = [process.execPath, ...flags, join(dir, 'entry.mjs'), how, String(ANSWERING.has(how) ? PATIENCE_MS : '')];
  // SIGQUIT and SIGXCPU would leave a core file.
  const isWindows = process.platform === 'win32';
  const child = spawn(isWindows ? command[0] : '/bin/sh', isWindows ? command.slice(1) : ['-c', 'ulimit -c 0; exec "$@"', 'sh', ...command], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk));
  if (signal !== undefined) {
    await once(child.stdout, 'data');
    child.kill(signal);
  }
  const [status, endedBy] = await once(child, 'close');
  return { status, endedBy, stderr, left: readdirSync(cwd) };
}

describe.skipIf(process.platform === 'win32')('a thread that works under supervision', () => {
  test.skipIf(process.platform !== 'linux')('handles all that end a process, apart from those that report faults and those that Node needs', () => {
    const faults = ['SIGABRT', 'SIGIOT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV', 'SIGSYS', 'SIGTRAP'];
    const ofNode = ['SIGPIPE', 'SIGXFSZ', 'SIGUSR1', 'SIGPROF'];
    const harmless = ['SIGCHLD', 'SIGCONT', 'SIGURG', 'SIGWINCH', 'SIGTSTP', 'SIGTTIN', 'SIGTTOU'];
    // Another name of SIGIO on Linux, and two that cannot be caught.
    const others = ['SIGPOLL', 'SIGINFO', 'SIGKILL', 'SIGSTOP'];
    expect(
      Object.keys(constants.signals)
        .filter((name) => ![...faults, ...ofNode, ...harmless, ...others].includes(name))
        .sort(),
    ).toEqual([...SIGNALS].sort());
  });

  test.each(SIGNALS)('takes back what it has begun on %s if it reaches its event loop', async (signal) => {
    expect(await run('wait', signal)).toEqual({ status: null, endedBy: signal, stderr: 'cleaned up', left: [] });
  });

  test.each(['SIGINT', 'SIGTERM', 'SIGQUIT'] as const)(
    'may never reach its event loop: %s removes what it was writing, and ends the program',
    async (signal) => {
      expect(await run('busy', signal)).toEqual({ status: null, endedBy: signal, stderr: '', left: [] });
    },
  );

  test('is ended between two pieces of work by a signal that came at the end of the first', async () => {
    expect(await run('late', 'SIGINT')).toMatchObject({ endedBy: 'SIGINT', left: ['unfinished'] });
  });

  test('goes on after a signal that it spares, and not after others', async () => {
    expect(await run('spare', 'SIGTERM')).toEqual({ status: 3, endedBy: null, stderr: '', left: ['unfinished'] });
    expect(await run('spare', 'SIGHUP')).toMatchObject({ status: null, endedBy: 'SIGHUP' });
  });

  test('begins nothing new after it has taken back what it has begun', async () => {
    expect(await run('more', 'SIGTERM')).toEqual({ status: null, endedBy: 'SIGTERM', stderr: 'cleaned up', left: [] });
  });

  test('keeps what it has finished', async () => {
    expect(await run('over', 'SIGINT')).toMatchObject({ endedBy: 'SIGINT', left: ['unfinished'] });
  });

  test('ends with its own status', async () => {
    expect(await run('end')).toEqual({ status: 3, endedBy: null, stderr: '', left: ['unfinished'] });
  });

  test('leaves nothing, and fails, if it waits for something that never comes', async () => {
    expect(await run('stall')).toMatchObject({ status: 77, left: [] });
  });

  test('leaves nothing if it throws', async () => {
    expect(await run('throw')).toMatchObject({ status: 77, left: [] });
  });

  // Node 24 ends the whole process if a thread has no memory left.
  const endsThreadsAlone = Number(process.versions.node.split('.')[0]) < 24;
  if (!endsThreadsAlone) announceSkipped('a thread without memory', `Node ${process.versions.node} ends the whole process`);

  test.skipIf(!endsThreadsAlone)('leaves nothing if it has no memory left', async () => {
    expect(await run('heap', undefined, ['--max-old-space-size=40'])).toMatchObject({ status: 77, stderr: 'ERR_WORKER_OUT_OF_MEMORY\n', left: [] });
  });
});
