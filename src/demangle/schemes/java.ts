import type { DemangleStyle } from './style.ts';

const PRIMITIVES: ReadonlyMap<string, string> = new Map([
  ['B', 'byte'],
  ['C', 'char'],
  ['D', 'double'],
  ['F', 'float'],
  ['I', 'int'],
  ['J', 'long'],
  ['S', 'short'],
  ['Z', 'boolean'],
]);

/** perf 6.1 cuts its result at this many times the name's length. */
const PERF_GROWTH = 3;

/** A type in a method's descriptor. For an array, the name is that of its elements. */
interface FieldType {
  readonly name: string;
  readonly dimensions: number;
  readonly isClass: boolean;
}

/**
 * Demangles `Ljava/lang/String;charAt(I)C`, which is how agents of the JVM name methods: the class's descriptor, the name and the method's
 * descriptor (Java Virtual Machine Specification, 4.3). Return types are left out, as perf does.
 * @param style `simple` also leaves out the parameters. `no-params` gives what perf 6.1 prints, which has the parameters: arrays of classes
 * lose their brackets to the next primitive type, there is no dot before `<init>`, and all is cut at three times the name's length
 * (`LFoo;f([LBar;I)V`: `Foo.f(Bar, int[])`). `full` gets all that right: `Foo.f(Bar[], int)`
 * @returns undefined if it is no such name
 */
export function demangleJava(name: string, style: DemangleStyle): string | undefined {
  if (name[0] !== 'L') return undefined;
  const classEnd = name.indexOf(';');
  const open = name.indexOf('(', classEnd + 1);
  if (classEnd < 2 || open <= classEnd + 1) return undefined;
  const className = name.slice(1, classEnd);
  const method = name.slice(classEnd + 1, open);
  if (/[[(]/.test(className) || /[;[/]/.test(method)) return undefined;
  const parameters = parseDescriptor(name, open + 1);
  if (parameters === undefined) return undefined;
  const isLikePerf = style === 'no-params';
  const path = `${dotted(className)}${isLikePerf && method.startsWith('<') ? '' : '.'}${method}`;
  if (style === 'simple') return path;
  const shown = `${path}(${(isLikePerf ? perfNames(parameters) : parameters.map(typeName)).join(', ')})`;
  // Does not cut in the middle of a character.
  return isLikePerf ? shown.slice(0, PERF_GROWTH * name.length).replace(/[\ud800-\udbff]$/, '') : shown;
}

/** The parameter types of a method whose descriptor extends from `from` to the name's end; undefined if it is not valid. */
function parseDescriptor(name: string, from: number): FieldType[] | undefined {
  const types: FieldType[] = [];
  let at = from;
  while (name[at] !== ')') {
    at = parseType(name, at, types);
    if (at < 0) return undefined;
  }
  const end = name[at + 1] === 'V' ? at + 2 : parseType(name, at + 1, []);
  return end === name.length ? types : undefined;
}

/** @returns where the type ends, −1 if there is none */
function parseType(name: string, from: number, types: FieldType[]): number {
  let at = from;
  while (name[at] === '[') at++;
  const dimensions = at - from;
  const primitive = PRIMITIVES.get(name[at]);
  if (primitive !== undefined) {
    types.push({ name: primitive, dimensions, isClass: false });
    return at + 1;
  }
  if (name[at] !== 'L') return -1;
  const end = name.indexOf(';', at);
  if (end < at + 2) return -1;
  types.push({ name: dotted(name.slice(at + 1, end)), dimensions, isClass: true });
  return end + 1;
}

function typeName({ name, dimensions }: FieldType): string {
  return name + '[]'.repeat(dimensions);
}

function perfNames(types: readonly FieldType[]): string[] {
  let pending = 0;
  return types.map(({ name, dimensions, isClass }) => {
    pending += dimensions;
    if (isClass) return name;
    const shown = name + '[]'.repeat(pending);
    pending = 0;
    return shown;
  });
}

function dotted(className: string): string {
  return className.replaceAll('/', '.');
}
