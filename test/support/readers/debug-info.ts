import { expect } from 'vitest';
import { DebugInfo, type DebugInfoOptions } from '../../../src/dwarf/debug-info.ts';
import type { SourceFrame, SourceFunction } from '../../../src/symbol-table/code-symbols.ts';
import { AT, type AttributePlan, type DiePlan, type DwarfBuilder, FORM, TAG, type UnitPlan } from '../builders/dwarf/dwarf-builder.ts';
import { memorySections } from '../builders/dwarf/memory-sections.ts';

/** What debug information says about some addresses. */
export interface Looked {
  /** Functions at each address, innermost first, as name or linkage name with the line of the frame; `?` for no function. */
  readonly chains: Record<string, string>;
  readonly frames: ReadonlyMap<number, readonly SourceFrame[]>;
  readonly info: DebugInfo;
}

/** @param hasCodeAtZero whether 0 is an address like any other */
export function sectionsOf(builder: DwarfBuilder, hasCodeAtZero = false) {
  const { littleEndian, addressSize } = builder;
  return memorySections(builder.content(), { littleEndian, addressSize, hasCodeAtZero });
}

export async function look(builder: DwarfBuilder, addresses: readonly number[], options: DebugInfoOptions & { hasCodeAtZero?: boolean } = {}): Promise<Looked> {
  const info = await DebugInfo.open(sectionsOf(builder, options.hasCodeAtZero), options);
  const frames = await lookIn(info, addresses);
  const chains: Record<string, string> = {};
  for (const [address, chain] of frames) chains[address.toString(16)] = chain.map((frame) => `${nameOf(frame.function)}:${frame.line}`).join(' < ');
  return { chains, frames, info };
}

/** The frames at each address; each is given once. */
export async function lookIn(info: DebugInfo, addresses: readonly number[]): Promise<Map<number, readonly SourceFrame[]>> {
  const frames = new Map<number, readonly SourceFrame[]>();
  await info.lookup(Float64Array.from(addresses), (index, found) => {
    expect(frames.has(addresses[index])).toBe(false);
    frames.set(addresses[index], [...found]);
  });
  return frames;
}

export function nameOf(one: SourceFunction | undefined): string {
  return one === undefined ? '?' : one.linkageName || one.name;
}

export const die = (tag: number, attributes: readonly AttributePlan[], children?: readonly DiePlan[], more: Partial<DiePlan> = {}): DiePlan => ({
  tag,
  attributes,
  ...(children && { children }),
  ...more,
});

export const extent = (low: number, size: number): AttributePlan[] => [
  [AT.low_pc, FORM.addr, low],
  [AT.high_pc, FORM.data4, size],
];
export const named = (name: string): AttributePlan => [AT.name, FORM.string, name];
export const subprogram = (name: string, low: number, size: number, children?: readonly DiePlan[], more: readonly AttributePlan[] = []): DiePlan =>
  die(TAG.subprogram, [named(name), ...extent(low, size), ...more], children);
export const unit = (children: readonly DiePlan[], attributes: readonly AttributePlan[] = extent(0x1000, 0x1000)): UnitPlan => ({
  root: die(TAG.compile_unit, [named('a.c'), ...attributes], children),
});
