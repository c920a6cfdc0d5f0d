import { fileName } from '../../src/base/names/file-name.ts';
import { printable } from '../../src/base/text/printable.ts';
import { defaultOutputName, FORMATS } from '../../src/pipeline/formats.ts';
import { notUnpacked } from '../../src/unwrap/wrappings.ts';
import { byId, element } from '../view/dom.ts';
import { download } from '../view/download.ts';
import { ChosenFiles, type KnownFile } from './chosen-files.ts';
import { UNREADABLE } from './dropped-files.ts';
import { KIND_NAMES } from './file-kinds.ts';
import type { ChosenFile, ChosenRecording, FileFormat, IdentifiedFile, Reply, Request, ShownFinding } from './messages.ts';
import { OptionsForm } from './options-form.ts';
import { sizeOf } from './recording-size.ts';
import { sizeText } from './size-text.ts';

const FORMAT_NAMES: Readonly<Record<FileFormat, string>> = {
  html: 'page with a flame graph',
  pprof: 'pprof',
  speedscope: 'speedscope',
  firefox: 'Firefox Profiler',
  chrome: 'Chrome trace',
  cpuprofile: 'CPU profile',
  folded: 'folded stacks',
  script: 'text of perf script',
  parquet: 'Parquet',
  otlp: 'OTLP',
};
const FILE_FORMATS = FORMATS.filter((format) => format !== 'csv');

/** The files that were chosen, and what becomes of them. */
export class Conversion {
  readonly #files = new ChosenFiles((files) => this.#identify(files));
  readonly #options = new OptionsForm(() => this.#convertAll());
  readonly #format = byId<HTMLSelectElement>('format');
  readonly #save = byId('saving').querySelector('button')!;
  readonly #view = byId<HTMLIFrameElement>('view');
  readonly #progress = byId<HTMLProgressElement>('progress');
  readonly #workerUrl: string;
  /** It says what files are. Another one takes its place if it fails. */
  #looker: Worker;
  /** What it is doing last. */
  #looking: Promise<unknown> = Promise.resolve();
  /** It has the profile, to save it. undefined at first, and when it has ended early */
  #worker: Worker | undefined;
  /** The paths of the recordings that are being converted, and then of those that could be. */
  #recordings: readonly string[] = [];
  /** What is being saved, or will be when the files are converted. */
  #saving: FileFormat | undefined;

  /** @param script what workers run */
  constructor(script: string) {
    this.#workerUrl = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
    this.#looker = new Worker(this.#workerUrl);
    this.#format.append(...FILE_FORMATS.map((format) => new Option(FORMAT_NAMES[format], format)));
    byId('saving').addEventListener('submit', (event) => {
      event.preventDefault();
      byId('problem').hidden = true;
      this.#askToSave(this.#format.value as FileFormat);
    });
  }

  /** Adds files, and converts the recordings among all of them once more. */
  async add(chosen: readonly ChosenFile[]): Promise<void> {
    if (chosen.length === 0) return;
    byId('restart').hidden = false;
    byId('status').textContent = `Looking at ${counted(chosen.length, 'file')} …`;
    try {
      await this.#files.add(chosen);
    } catch (error) {
      byId('status').textContent = '';
      throw error;
    }
    this.#list([]);
    if (this.#files.of('recording').length > 0) this.#convertAll();
    else {
      byId('status').textContent = 'There is no recording among these files yet.';
      const [packed] = this.#packedTexts();
      if (packed !== undefined) this.fail(packed);
    }
  }

  /** Shows an error. What is shown besides stays. */
  fail(message: string): void {
    byId('problem').textContent = printable(message);
    byId('problem').hidden = false;
  }

  /** Asks for one thing after the other, since answers do not say what they are to. */
  async #identify(files: readonly ChosenFile[]): Promise<readonly IdentifiedFile[]> {
    const readable = files.filter(({ data }) => data !== UNREADABLE);
    const ask = (): Promise<readonly IdentifiedFile[]> =>
      askToIdentify(this.#looker, readable).catch((error: unknown) => {
        this.#looker.terminate();
        this.#looker = new Worker(this.#workerUrl);
        throw error;
      });
    const asked = this.#looking.then(ask, ask);
    this.#looking = asked;
    const identified = (await asked).values();
    return files.map((file) => (file.data === UNREADABLE ? { kind: 'unreadable', file } : identified.next().value!));
  }

  /** Converts the recordings among the files. */
  #convertAll(): void {
    const { recordings, others } = this.#files.sorted();
    if (recordings.length > 0) this.#convert(recordings, others);
  }

  #convert(recordings: readonly ChosenRecording[], others: readonly KnownFile[]): void {
    // What an earlier conversion is doing is of no use any more.
    this.#worker?.terminate();
    const worker = new Worker(this.#workerUrl);
    const kernelFiles = others.filter(({ kind }) => kind === 'kallsyms' || kind === 'vmlinux');
    worker.addEventListener('message', ({ data }: MessageEvent<Reply>) => {
      if (worker === this.#worker) this.#take(data);
    });
    worker.addEventListener('error', ({ message }) => {
      if (worker === this.#worker) this.#end(message || 'the conversion ended early; is there enough memory?');
    });
    this.#worker = worker;
    byId('problem').hidden = true;
    byId('saving').hidden = true;
    // What was found before may not be true of what follows.
    this.#list([]);
    this.#view.hidden = true;
    this.#progress.hidden = false;
    this.#progress.max = recordings.reduce((sum, { data }) => sum + sizeOf(data), 0);
    this.#progress.removeAttribute('value');
    this.#recordings = recordings.map(({ path }) => path);
    this.#enter('busy', `Converting ${this.#title()} …`);
    this.#ask({
      kind: 'convert',
      recordings,
      // A recording may have the kernel's symbols in its directory.
      symbolFiles: [...recordings.flatMap(({ data }) => (data instanceof Blob ? [] : data.slice(1))), ...filesOf(others, ({ kind }) => kind !== 'unreadable')],
      kallsyms: kernelFiles.filter(({ kind }) => kind === 'kallsyms').map(({ file }) => file.path),
      vmlinux: kernelFiles.filter(({ kind }) => kind === 'vmlinux').map(({ file }) => file.path),
      options: this.#options.chosen(),
    });
  }

  #ask(request: Request): void {
    this.#worker?.postMessage(request);
  }

  #askToSave(format: FileFormat): void {
    this.#saving = format;
    this.#save.disabled = true;
    byId('status').textContent = `Saving ${this.#title()} as ${FORMAT_NAMES[format]} …`;
    this.#ask({ kind: 'save', format });
  }

  #take(reply: Reply): void {
    switch (reply.kind) {
      case 'identified':
        break;
      case 'progress':
        this.#progress.value = reply.bytes;
        break;
      case 'converted':
        this.#progress.hidden = true;
        byId('saving').hidden = false;
        this.#save.disabled = false;
        this.#view.srcdoc = reply.page;
        this.#view.hidden = false;
        this.#list(reply.findings);
        this.#recordings = reply.recordings;
        if (this.#options.chosen().event === undefined) this.#options.offer(reply.events);
        this.#enter('shown', this.#title());
        document.title = `${this.#title()} – perfconv`;
        if (this.#saving !== undefined) this.#askToSave(this.#saving);
        break;
      case 'saved':
        download(reply.file, defaultOutputName(fileName(this.#recordings[0]), reply.format));
        this.#list(reply.findings);
        this.#endSaving();
        break;
      case 'failed':
        this.fail(reply.message);
        this.#list(reply.findings);
        if (document.body.dataset.state === 'busy') this.#endConversion();
        else this.#endSaving();
        break;
    }
  }

  /** The worker is gone, and the profile with it. */
  #end(message: string): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    this.fail(message);
    if (document.body.dataset.state === 'busy') this.#endConversion();
    else this.#endSaving();
    byId('saving').hidden = true;
  }

  #endConversion(): void {
    this.#saving = undefined;
    this.#progress.hidden = true;
    this.#enter('failed', `${this.#title()} cannot be converted`);
  }

  #endSaving(): void {
    this.#saving = undefined;
    this.#save.disabled = false;
    byId('status').textContent = this.#title();
  }

  #title(): string {
    const [first, ...others] = this.#recordings.map((path) => printable(fileName(path)));
    return others.length === 0 ? first : `${first} and ${others.length} more`;
  }

  #enter(state: 'busy' | 'shown' | 'failed', status: string): void {
    document.body.dataset.state = state;
    byId('status').textContent = status;
  }

  /** What to do about files that have to be unpacked first. */
  #packedTexts(): string[] {
    return this.#files.of('bzip2').map(({ path }) => printable(`${path} ${notUnpacked('bzip2', path)}`));
  }

  /** Lists the files, and what was found while they were converted. The first message is also in the line that opens the list, since few people open it. */
  #list(findings: readonly ShownFinding[]): void {
    const of = (wanted: ShownFinding['severity']): string[] => findings.filter(({ severity }) => severity === wanted).map(({ text }) => text);
    const texts = [...of('loss').map((text) => `data lost: ${text}`), ...of('warning'), ...this.#packedTexts()];
    const notes = of('info').map((text) => `note: ${text}`);
    const { recordings, others } = this.#files.sorted();
    const files = [
      ...recordings.map(({ path, data }) => `${printable(path)} (${data instanceof Blob ? '' : `${data.length} files, `}${sizeText(sizeOf(data))}): recording`),
      ...others.map(({ kind, file }) => `${printable(file.path)} (${sizeText(file.data.size)}): ${KIND_NAMES[kind]}`),
    ];
    byId('findings').replaceChildren(...[...texts, ...notes].map((text) => element('li', '', text)));
    byId('files').replaceChildren(...files.map((text) => element('li', '', text)));
    const first = texts.length === 0 ? [] : [`, ${counted(texts.length, 'message')}`, element('span', '', `: ${texts[0]}`)];
    byId('aboutSummary').replaceChildren(counted(this.#files.all().length, 'file'), ...first);
    byId('bars').hidden = false;
  }
}

/** @throws Error with what is wrong */
function askToIdentify(worker: Worker, files: readonly ChosenFile[]): Promise<readonly IdentifiedFile[]> {
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<Reply>) => {
      if (data.kind === 'identified') resolve(data.files);
      else if (data.kind === 'failed') reject(new Error(data.message));
    };
    worker.onerror = ({ message }) => reject(new Error(message || 'the files cannot be looked at; is there enough memory?'));
    worker.postMessage({ kind: 'identify', files } satisfies Request);
  });
}

function filesOf(files: readonly KnownFile[], isWanted: (file: KnownFile) => boolean): ChosenFile[] {
  return files.filter(isWanted).map(({ file }) => file);
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
