import { defaultOutputName, FORMATS } from '../../src/pipeline/formats.ts';
import { byId, element } from '../view/dom.ts';
import { type FileKind, identify, KIND_NAMES } from './file-kinds.ts';
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
  /** By path. */
  readonly #files = new Map<string, { readonly kind: FileKind; readonly file: ChosenFile }>();
  readonly #format = byId<HTMLSelectElement>('format');
  readonly #save = byId('saving').querySelector('button')!;
  readonly #view = byId<HTMLIFrameElement>('view');
  readonly #progress = byId<HTMLProgressElement>('progress');
  readonly #workerUrl = URL.createObjectURL(new Blob([byId('worker').textContent ?? ''], { type: 'text/javascript' }));
  /** It has the profile, to save it. undefined at first */
  #worker: Worker | undefined;

  constructor() {
    this.#format.append(...FILE_FORMATS.map((format) => new Option(FORMAT_NAMES[format], format)));
    byId('saving').addEventListener('submit', (event) => {
      event.preventDefault();
      this.#save.disabled = true;
      this.#ask({ kind: 'save', format: this.#format.value as FileFormat });
    });
  }

  /** Adds files, and converts the recordings among all of them once more. */
  async add(chosen: readonly ChosenFile[]): Promise<void> {
    for (const one of chosen) {
      const { kind, file } = await identify(one);
      this.#files.set(one.path, { kind, file });
    }
    if (this.#files.size === 0) return;
    byId('restart').hidden = false;
    this.#list([]);
    if (this.#of('recording').length > 0) this.#convert();
    else byId('status').textContent = 'There is no recording among these files yet.';
  }

  /** Shows an error. What is shown besides stays. */
  fail(message: string): void {
    const problem = byId('problem');
    problem.textContent = message;
    problem.hidden = false;
    this.#progress.hidden = true;
    this.#save.disabled = false;
    if (document.body.dataset.state === 'busy') this.#enter('failed', `${this.#title()} cannot be converted`);
  }

  #convert(): void {
    // What an earlier conversion is doing is of no use any more.
    this.#worker?.terminate();
    this.#worker = new Worker(this.#workerUrl);
    this.#worker.addEventListener('message', ({ data }: MessageEvent<Reply>) => this.#take(data));
    this.#worker.addEventListener('error', ({ message }) => this.fail(message || 'the conversion ended early; is there enough memory?'));
    byId('problem').hidden = true;
    byId('saving').hidden = true;
    this.#view.hidden = true;
    this.#progress.hidden = false;
    this.#progress.max = this.#of('recording').reduce((sum, { data }) => sum + data.size, 0);
    this.#progress.removeAttribute('value');
    this.#enter('busy', `Converting ${this.#title()} …`);
    const symbolFiles = [...this.#files.values()].filter(({ kind }) => kind !== 'recording').map(({ file }) => file);
    this.#ask({
      ...{ kind: 'convert', recordings: this.#of('recording'), symbolFiles },
      ...{ kallsyms: this.#of('kallsyms').at(0)?.path, vmlinux: this.#of('vmlinux').at(0)?.path },
    });
  }

  #ask(request: Request): void {
    this.#worker?.postMessage(request);
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
        this.#enter('shown', this.#title());
        break;
      case 'saved':
        this.#save.disabled = false;
        download(reply.file, defaultOutputName(baseName(this.#of('recording')[0].path), reply.format));
        break;
      case 'failed':
        this.fail(reply.message);
        break;
    }
  }

  #of(wanted: FileKind): ChosenFile[] {
    return [...this.#files.values()].filter(({ kind }) => kind === wanted).map(({ file }) => file);
  }

  #title(): string {
    const [first, ...others] = this.#of('recording').map(({ path }) => baseName(path));
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
    const files = [...this.#files.values()].map(({ kind, file }) => `${file.path} (${sizeText(file.data.size)}): ${KIND_NAMES[kind]}`);
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

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function download(file: Blob, name: string): void {
  const link = element('a', '');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), DOWNLOAD_MS);
}
