import type { CodeBytes } from '../../memory/code-bytes.ts';
import type { CodeFindings } from '../../modules/code-findings.ts';
import type { UnwindModule } from '../../modules/unwind-module.ts';
import { FileCode } from '../code/file-code.ts';
import { ScanState } from '../code/scan-state.ts';
import { VisitedPlaces } from '../code/visited-places.ts';
import { X86Decoder } from '../decoders/x86/x86-decoder.ts';
import { I386_MODE } from '../decoders/x86/x86-mode.ts';

/** How many instructions of one function are followed, and how many branches of it are noted. */
const [MAX_INSTRUCTIONS, MAX_BRANCHES] = [1 << 10, 32];
/** How many instructions are followed of all functions of one file: about a second. */
const MAX_FILE_INSTRUCTIONS = 1 << 22;
const CALL = 0xe8;
const CALL_BYTES = 5;
/** sub $4, %esp */
const MAKES_ROOM_AGAIN = [0x83, 0xec, 0x04];
const ADDRESS_BYTES = 4;

/** mov (%esp), %reg; ret: the bytes of that, without the register. */
const MOV = 0x8b;
const [FROM_TOP, OPERANDS_WITHOUT_REGISTER] = [0x04, 0xc7];
const TOP = 0x24;
const RET = 0xc3;

/** Knows what i386 functions do to the stack pointer and to registers of their callers, beyond what the calling convention says of all functions. */
export class I386Callees {
  readonly #code: CodeBytes;
  readonly #reader: FileCode;
  readonly #decoder = new X86Decoder(I386_MODE);
  readonly #state = new ScanState();
  readonly #visited = new VisitedPlaces(MAX_INSTRUCTIONS);

  constructor(code: CodeBytes) {
    this.#code = code;
    this.#reader = new FileCode(code);
  }

  /**
   * The register that a function has changed which was called right before an svma, if that is all it does: code that may be anywhere calls such a function to
   * find out where it is (`__x86.get_pc_thunk.bx`). −1 after any other call; meaningless if code has to be read first ({@link CodeBytes.isPending}).
   */
  onlyChangedBefore(module: UnwindModule, svma: number): number {
    const reader = this.#reader;
    reader.begin(module);
    if (!this.#isDirectCall(svma)) return -1;
    const target = this.#targetBefore(svma);
    const operands = reader.byte(target + 1);
    const isThunk =
      reader.byte(target) === MOV &&
      (operands & OPERANDS_WITHOUT_REGISTER) === FROM_TOP &&
      reader.byte(target + 2) === TOP &&
      reader.byte(target + 3) === RET &&
      !reader.isMissing;
    return isThunk ? (operands >> 3) & 7 : -1;
  }

  /**
   * How many bytes of arguments a function has taken off the stack that was called right before an svma; meaningless if code has to be read first
   * ({@link CodeBytes.isPending}). The usual calling convention has functions leave all arguments to the caller, but for the address at which they are to store a
   * structure (i386 psABI, "Functions Returning Structures or Unions").
   *
   * Rules count the stack pointer after such a call as if the arguments were still there, and so does everything else that steps from frame to frame. Only code
   * that goes on after the call sees them gone.
   */
  poppedBefore(module: UnwindModule, svma: number): number {
    this.#reader.begin(module);
    const ofFunction = this.#isDirectCall(svma) ? this.#ofFunction(module, this.#targetBefore(svma)) : -1;
    if (ofFunction >= 0) return ofFunction;
    // A function in another file, or called through a pointer: some compilers always make room for the address again.
    this.#reader.isMissing = false;
    return MAKES_ROOM_AGAIN.every((byte, i) => this.#reader.byte(svma + i) === byte) ? ADDRESS_BYTES : 0;
  }

  #isDirectCall(svma: number): boolean {
    return this.#reader.byte(svma - CALL_BYTES) === CALL && !this.#reader.isMissing;
  }

  #targetBefore(svma: number): number {
    const at = svma - ADDRESS_BYTES;
    return (svma + (this.#reader.half(at) | (this.#reader.half(at + 2) << 16))) >>> 0;
  }

  /** How many bytes a function pops; −1 if that is not known. */
  #ofFunction({ code: findings }: UnwindModule, start: number): number {
    const { poppedArguments } = findings;
    const known = poppedArguments.get(start);
    if (known !== undefined) return known;
    const found = findings.effort.calledInstructions < MAX_FILE_INSTRUCTIONS ? this.#follow(findings, start) : -1;
    if (!this.#code.isPending) poppedArguments.set(start, found);
    return found;
  }

  /** Follows a function up to its first return. */
  #follow(findings: CodeFindings, start: number): number {
    const decoder = this.#decoder;
    this.#visited.clear();
    const targets = [start];
    for (let next = 0, left = MAX_INSTRUCTIONS; next < targets.length; next++) {
      let svma = targets[next];
      while (svma >= 0 && left-- > 0 && !this.#visited.has(svma)) {
        this.#visited.add(svma);
        findings.effort.calledInstructions++;
        this.#reader.isMissing = false;
        const flow = decoder.decode(this.#reader, svma, this.#state);
        if (this.#code.isPending || this.#reader.isMissing) break;
        if (decoder.droppedBytes >= 0) return decoder.droppedBytes;
        if (flow === 'branch' && targets.length < MAX_BRANCHES) targets.push(decoder.target);
        svma = flow === 'jump' ? decoder.target : flow === 'next' || flow === 'call' || flow === 'branch' ? svma + decoder.sizeBytes : -1;
      }
    }
    return -1;
  }
}
