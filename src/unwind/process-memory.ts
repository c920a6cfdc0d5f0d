import type { CodeMatch, CodeSpace } from './code-space.ts';
import type { ExpressionMemory } from './expressions.ts';
import type { MemoryMatch } from './module-memory.ts';
import { StackMemory, wordOf } from './stack-memory.ts';
import type { UnwindModule } from './unwind-module.ts';

/**
 * The memory of the process as far as it is known: the dump of the stack, and the files that are mapped. Looking for something waits for nothing: what has to be
 * loaded first is noted for whoever loads it, and the stack ends with `pending`.
 */
export class ProcessMemory implements ExpressionMemory {
  readonly stack = new StackMemory();
  /** What is mapped. */
  space!: CodeSpace;
  /** What was found last to have to be read first: the module that wants bytes; undefined for a file that is not loaded. */
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

  /** As the code space's own `find`, but notes what has to be loaded first, whatever is looked for later. */
  find(address: number): CodeMatch {
    const { space } = this;
    const match = space.find(address);
    if (match === 'pending') {
      this.wantingModule = undefined;
      this.wantedFile = space.file;
    }
    return match;
  }

  /** The rules of the file that is mapped at an address, if it is loaded; nothing is noted where it is not. */
  loadedModuleAt(address: number): UnwindModule | undefined {
    const { space } = this;
    return space.find(address) === 'found' ? space.module : undefined;
  }

  /** Looks for bytes of a file at an svma, where `module.memory` then is, and notes it where they have to be read first. */
  findInFile(module: UnwindModule, svma: number, sizeBytes: number): MemoryMatch {
    const match = module.memory.find(svma, sizeBytes);
    if (match === 'wanted') this.wantingModule = module;
    return match;
  }

  /** Memory as rules and expressions may read it: the dump, and what is read-only in files. */
  readWord(address: number, sizeBytes: number): MemoryMatch {
    const word = this.stack.bytes(address, sizeBytes);
    if (word !== undefined) {
      this.word = word;
      return 'found';
    }
    const match = this.find(address);
    if (match === 'pending') return 'wanted';
    const { module, bias } = this.space;
    if (match !== 'found' || module === undefined) return 'absent';
    const inFile = this.findInFile(module, address - bias, sizeBytes);
    const { view, offset } = module.memory;
    if (inFile === 'found') this.word = wordOf(view, offset, sizeBytes);
    return inFile;
  }
}
