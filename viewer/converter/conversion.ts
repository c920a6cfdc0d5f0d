import { fileName } from '../../src/base/file-name.ts';
import { printable } from '../../src/base/printable.ts';
import { defaultOutputName, FORMATS } from '../../src/pipeline/formats.ts';
import { byId, element } from '../view/dom.ts';
import { ChosenFiles } from './chosen-files.ts';
import { KIND_NAMES } from './file-kinds.ts';
import type { ChosenFile, FileFormat, Reply, Request, ShownFinding } from './messages.ts';
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
/** How long a browser may take to begin with a download. */
const DOWNLOAD_MS = 60_000;

/** The files that were chosen, and what becomes of them. */
export class Conversion {
  readonly #files = new ChosenFiles();
  readonly #format = byId<HTMLSelectElement>('format');
  readonly #save = byId('saving').querySelector('button')!;
  readonly #view = byId<HTMLIFrameElement>('view');
  readonly #progress = byId<HTMLProgressElement>('progress');
  readonly #workerUrl = URL.createObjectURL(new Blob([byId('worker').textContent ?? ''], { type: 'text/javascript' }));
  /** It has the profile, to save it. undefined at first, and when it has ended early */
  #worker: Worker | undefined;
  /** The paths of the recordings that are being converted, and then of those that could be. */
  #recordings: readonly string[] = [];
  /** What is being saved, or will be when the files are converted. */
  #saving: FileFormat | undefined;

  constructor() {
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
    await this.#files.add(chosen);
    this.#list([]);
    if (this.#files.of('recording').length > 0) this.#convert();
    else byId('status').textContent = 'There is no recording among these files yet.';
  }

  /** Shows an error. What is shown besides stays. */
  fail(message: string): void {
    byId('problem').textContent = printable(message);
    byId('problem').hidden = false;
  }

  #convert(): void {
    // What an earlier conversion is doing is of no use any more.
    this.#worker?.terminate();
    const worker = new Worker(this.#workerUrl);
    worker.addEventListener('message', ({ data }: MessageEvent<Reply>) => {
      if (worker === this.#worker) this.#take(data);
    });
    worker.addEventListener('error', ({ message }) => {
      if (worker === this.#worker) this.#end(message || 'the conversion ended early; is there enough memory?');
    });
    this.#worker = worker;
    byId('problem').hidden = true;
    byId('saving').hidden = true;
    this.#view.hidden = true;
    this.#progress.hidden = false;
    this.#progress.max = this.#files.of('recording').reduce((sum, { data }) => sum + data.size, 0);
    this.#progress.removeAttribute('value');
    this.#recordings = this.#files.of('recording').map(({ path }) => path);
    this.#enter('busy', `Converting ${this.#title()} …`);
    this.#ask({
      kind: 'convert',
      recordings: this.#files.of('recording'),
      symbolFiles: this.#files
        .all()
        .filter(({ kind }) => kind !== 'recording' && kind !== 'unreadable')
        .map(({ file }) => file),
      // The last one that was chosen, of several.
      kallsyms: this.#files.of('kallsyms').at(-1)?.path,
      vmlinux: this.#files.of('vmlinux').at(-1)?.path,
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

  /** Lists the files, and what was found while they were converted. The first message is also in the line that opens the list, since few people open it. */
  #list(findings: readonly ShownFinding[]): void {
    const of = (wanted: ShownFinding['severity']): string[] => findings.filter(({ severity }) => severity === wanted).map(({ text }) => text);
    const texts = [...of('loss').map((text) => `data lost: ${text}`), ...of('warning')];
    const files = this.#files.all().map(({ kind, file }) => `${printable(file.path)} (${sizeText(file.data.size)}): ${KIND_NAMES[kind]}`);
    byId('findings').replaceChildren(...texts.map((text) => element('li', '', text)));
    byId('files').replaceChildren(...files.map((text) => element('li', '', text)));
    const first = texts.length === 0 ? [] : [`, ${counted(texts.length, 'message')}`, element('span', '', `: ${texts[0]}`)];
    byId('aboutSummary').replaceChildren(counted(files.length, 'file'), ...first);
    byId('about').hidden = false;
  }
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function download(file: Blob, name: string): void {
  const link = element('a', '');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), DOWNLOAD_MS);
}
