import { Diagnostics } from '../base/diagnostics.ts';
import { OutputStage } from '../host/output-stage.ts';
import { MergedConversion } from '../pipeline/convert-merged.ts';
import { requireMergeable } from '../pipeline/merge-recordings.ts';
import type { WriteOptions } from '../pipeline/write-profile.ts';
import type { Arguments } from './arguments.ts';
import { mergeInputs } from './merging.ts';
import { checkTerminal, commitOutputs, withOutputs } from './open-outputs.ts';
import { checkConflicts, checkDistinct } from './output-conflicts.ts';
import type { PlannedOutput } from './outputs.ts';
import type { ReadingPlan } from './reading.ts';
import { checkSymbolPaths } from './symbol-paths.ts';
import type { Terminal } from './terminal.ts';
import { reportUnusedOptions } from './writing.ts';

/** Several inputs, and outputs that hold all of them. */
export interface MergePlan {
  readonly inputs: readonly string[];
  readonly reading: ReadingPlan;
  readonly writing: WriteOptions;
  readonly outputs: readonly PlannedOutput[];
}

/** `perfconv a.data b.data -o all.pb.gz`. */
export async function runMergedConvert({ inputs, reading, writing, outputs }: MergePlan, args: Arguments, terminal: Terminal): Promise<number> {
  requireMergeable(outputs.map(({ format }) => format));
  checkTerminal(outputs, terminal);
  checkConflicts(
    inputs.map((input, index) => ({ input, outputs: index === 0 ? outputs : [] })),
    args,
    terminal,
  );
  checkDistinct(inputs, terminal);
  checkSymbolPaths(args, terminal);

  const diagnostics = new Diagnostics();
  reportUnusedOptions(outputs, args, diagnostics);
  const stage = new OutputStage({ opened: reading.openedFiles });
  try {
    return await mergeInputs(
      inputs,
      reading,
      args,
      terminal,
      diagnostics,
      () => stage.discardNow(),
      async (takeAll) => {
        await withOutputs(stage, outputs, terminal, async (opened) => {
          const conversion = new MergedConversion(opened, { ...writing, filter: reading.filter }, diagnostics);
          await takeAll(
            ({ source }, label, options, ofInput) => conversion.add(source, label, options, ofInput),
            () => conversion.writeRecords(),
          );
          await conversion.finish();
        });
        await commitOutputs(stage, args, terminal);
      },
    );
  } finally {
    await stage.discard();
  }
}
