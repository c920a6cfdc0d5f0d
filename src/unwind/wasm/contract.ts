/** What src/unwind/walk/plain-walk.ts and assembly/unwind/ have to agree on. Both compile this file. */

/** Registers of x86-64 by DWARF number; the last is the return address. */
export const REGISTER_COUNT = 17;
export const SP = 7;
export const FP = 6;
/** The register that carries an exception to its handler. */
export const EXCEPTION_DATA = 0;
export const RETURN_ADDRESS = 16;

/** Maximum number of frames in one stack; further ones are left to the caller. */
export const MAX_FRAMES = 8192;
/** Room for the registers of a sample and the dump of its stack: a record has 64 KB. */
export const INPUT_SIZE_BYTES = 1 << 17;

/** How many results a walk leaves, as doubles. Their places follow. */
export const RESULT_COUNT = 5;
/** How many frames were walked. The current one is not counted, unless the walk is complete. */
export const RESULT_FRAMES = 0;
/** A bit for each register whose value is known. */
export const RESULT_KNOWN = 1;
/** After WALK_WANTS_RANGE: the address of the code. After WALK_WANTS_RULE: the same as an svma of the module. */
export const RESULT_WANTED = 2;
/** After WALK_WANTS_RULE: the module's number. */
export const RESULT_MODULE = 3;
/** The file of the last frame that was walked. */
export const RESULT_FILE = 4;

/** How a walk ends. */
export const WALK_COMPLETE = 0;
/** What is mapped at an address is not known: see RESULT_WANTED. */
export const WALK_WANTS_RANGE = 1;
/** The rule for an address is not known: see RESULT_WANTED and RESULT_MODULE. */
export const WALK_WANTS_RULE = 2;
/** The next step is not plain, or there are as many frames as were asked for. */
export const WALK_LEFT = 3;

/** What an address may have in place of a rule. The places of rules in memory are above 0. */
export const RULE_OUTERMOST = -1;
export const RULE_NOT_PLAIN = -2;
/** Nothing is known about it yet. */
export const RULE_UNKNOWN = -3;
/** How many modules' tables are read; rules of other modules are added one by one. */
export const MAX_TABLE_MODULES = 1024;
