import { DEFAULT_RECORDING, STANDARD_STREAM } from '../base/names/input-names.ts';
import type { Diagnostics } from '../base/problems/diagnostics.ts';
import { isBlob, modifiedNsOf } from '../base/streams/blob-source.ts';
import type { Cancellation } from '../base/streams/cancellation.ts';
import type { OpenInput } from '../base/streams/recording-input.ts';
import { RepeatableInput as HostInput, type InputHandle } from '../host/input/repeatable-input.ts';
import { identityOf } from '../host/system/file-identity.ts';
import { OpenedFiles } from '../host/system/opened-files.ts';

/** What else is known about an input. */
interface InputOptions {
  readonly name?: string;
  readonly modifiedNs?: bigint;
}

/** An input on this machine, and the symbol files that were read for it. */
export class FilesInput {
  readonly openedFiles = new OpenedFiles();
  readonly #input: HostInput;
  readonly #modifiedNs: bigint | undefined;

  private constructor(input: HostInput, modifiedNs: bigint | undefined) {
    this.#input = input;
    this.#modifiedNs = modifiedNs;
  }

  /** @throws PerfconvError `io`; `damaged` for a directory recording without its main file */
  static async open(handle: InputHandle, { name = nameOf(handle), modifiedNs }: InputOptions, cancellation: Cancellation): Promise<FilesInput> {
    return new FilesInput(await HostInput.open(handle, name, cancellation), modifiedNs ?? (isBlob(handle) ? modifiedNsOf(handle) : undefined));
  }

  get name(): string {
    return this.#input.name;
  }

  async open(diagnostics: Diagnostics, cancellation: Cancellation): Promise<OpenInput> {
    const opened = await this.#input.open(diagnostics, cancellation);
    return this.#modifiedNs === undefined ? opened : { ...opened, modifiedNs: this.#modifiedNs };
  }

  conflictOfWriting(path: string): string | undefined {
    const symbols = this.openedFiles.pathOf(identityOf(path));
    return symbols === undefined ? this.#input.conflictOfWriting(path) : `overwrite ${symbols}, which symbols were read from`;
  }

  close(): Promise<void> {
    return this.#input.close();
  }
}

/** What an input is called that has neither a path nor another name. */
function nameOf(handle: InputHandle): string {
  if (handle === STANDARD_STREAM) return STANDARD_STREAM;
  return (isBlob(handle) ? handle.name : undefined) ?? DEFAULT_RECORDING;
}
