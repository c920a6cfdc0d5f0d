import type { CodeMatch, CodeSpace } from '../modules/code-space.ts';
import type { MemoryMatch } from '../modules/module-memory.ts';
import type { UnwindModule } from '../modules/unwind-module.ts';
import { StackMemory, wordOf } from './stack-memory.ts';

/** Few stacks are larger. */
const MAX_STACK_BYTES = 1 << 26;

/**
 * The memory of the process as far as it is known: the stack dump, and the files that are mapped. Look-ups never wait: what has to be loaded first is noted for
 * whoever loads it, and the stack ends with `pending`.
 */
export class ProcessMemory {
  readonly stack = new StackMemory();
  /** What is mapped. */
  space!: CodeSpace;
  /** What the last look-up that had to wait needs: the module that wants bytes; undefined for a file that is not loaded. */
  wantingModule: UnwindModule | undefined = undefined;
  /** The {@link CodeSpace.file} that is not loaded. */
  wantedFile = -1;
  /** What {@link readWord} found. */
  word = 0n;

  /** To be called before each stack. */
  begin(space: CodeSpace): void {
    this.space = space;
    this.wantingModule = undefined;
  }

  /** Like the code space's own `find`, but notes what has to be loaded first, whatever is looked up later. */
  find(address: number): CodeMatch {
    const { space } = this;
    const match = space.find(address);
    if (match === 'pending') {
      this.wantingModule = undefined;
      this.wantedFile = space.file;
    }
    return match;
  }

  /** The rules of the file that is mapped at an address, if it is loaded. If it is not, nothing is noted. */
  loadedModuleAt(address: number): UnwindModule | undefined {
    const { space } = this;
    return space.find(address) === 'found' ? space.module : undefined;
  }

  /** Whether the code at an address is that of a Go function, as far as the table of Go's runtime is used. */
  isGo(address: number): boolean {
    return this.loadedModuleAt(address)?.isGo(address - this.space.bias) === true;
  }

  /**
   * Whether an address of memory without a file is in the map of the stack. Such a map is recorded if the stack may hold code (for nested functions in GNU C), but
   * that only jumps: nothing returns there.
   */
  isInMapOfStack(address: number): boolean {
    const { space, stack } = this;
    if (Math.abs(address - stack.start) > MAX_STACK_BYTES) return false;
    const map = space.extent?.(address);
    return map !== undefined && map.start < stack.end && map.end > stack.start;
  }

  /** Looks for bytes of a file at an svma, and notes it if they have to be read first. If found, they are where `module.memory` says. */
  findInFile(module: UnwindModule, svma: number, sizeBytes: number): MemoryMatch {
    const match = module.memory.find(svma, sizeBytes);
    if (match === 'wanted') this.wantingModule = module;
    return match;
  }

  /** Reads memory that rules and expressions may read: the dump, and what is read-only in files. */
  readWord(address: number, sizeBytes: number): MemoryMatch {
    const word = this.stack.bytes(address, sizeBytes);
    if (word !== undefined) {
      this.word = word;
      return 'found';
    }
    const match = this.find(address);
    if (match === 'pending') return 'wanted';
    const { module, bias, codeBias = bias } = this.space;
    if (match !== 'found' || module === undefined) return 'absent';
    const inFile = this.findInFile(module, address - codeBias, sizeBytes);
    const { view, offset } = module.memory;
    if (inFile === 'found') this.word = wordOf(view, offset, sizeBytes);
    return inFile;
  }
}
